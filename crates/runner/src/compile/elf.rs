//! What an executable asks of the machine it is started on: libraries, and a version of glibc.

use std::fmt;

use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader as _};
use object::{Endianness, StringTable};

/// What a 64-bit ELF file asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// The libraries it names, such as `libc.so.6`.
    pub libraries: Vec<String>,
    /// The highest version of glibc among its symbols' versions. `None`: it asks for none.
    pub glibc: Option<Glibc>,
    /// Whether the CUDA runtime was linked into it.
    pub static_cudart: bool,
}

/// A version of glibc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Glibc {
    /// 2.
    pub major: u32,
    /// 34 in 2.34.
    pub minor: u32,
}

impl fmt::Display for Glibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Why a file cannot be read as an executable.
#[derive(Debug, thiserror::Error)]
#[error("not a readable 64-bit ELF file: {0}")]
pub struct NotElf(#[from] object::Error);

impl Needs {
    /// Whether it asks the loader for a CUDA runtime.
    pub fn shared_cudart(&self) -> bool {
        self.libraries.iter().any(|name| name.starts_with("libcudart.so"))
    }
}

/// Reads what an executable asks for.
///
/// # Errors
/// When it is no 64-bit ELF file, or a table in it is damaged.
pub fn needs(bytes: &[u8]) -> Result<Needs, NotElf> {
    let header = FileHeader64::<Endianness>::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;
    let mut needs = Needs::default();
    if let Some((entries, link)) = sections.dynamic(endian, bytes)? {
        let strings = sections.strings(endian, bytes, link)?;
        for entry in entries {
            if entry.d_tag.get(endian) == u64::from(object::elf::DT_NEEDED) {
                let at = u32::try_from(entry.d_val.get(endian)).unwrap_or(u32::MAX);
                needs.libraries.extend(string(&strings, at));
            }
        }
    }
    if let Some((mut wanted, link)) = sections.gnu_verneed(endian, bytes)? {
        let strings = sections.strings(endian, bytes, link)?;
        while let Some((_, mut versions)) = wanted.next()? {
            while let Some(version) = versions.next()? {
                let name = string(&strings, version.vna_name.get(endian));
                needs.glibc = needs.glibc.max(name.as_deref().and_then(glibc));
            }
        }
    }
    needs.static_cudart =
        sections.iter().any(|section| section.sh_type(endian) == object::elf::SHT_SYMTAB)
            && defines(&sections, endian, bytes, b"__cudaRegisterFatBinary")?;
    Ok(needs)
}

fn string(strings: &StringTable<'_>, at: u32) -> Option<String> {
    strings.get(at).ok().map(|name| String::from_utf8_lossy(name).into_owned())
}

/// `GLIBC_2.34`, and not `GLIBC_PRIVATE`.
fn glibc(name: &str) -> Option<Glibc> {
    let mut numbers = name.strip_prefix("GLIBC_")?.split('.').map(|number| number.parse().ok());
    Some(Glibc { major: numbers.next()??, minor: numbers.next()?? })
}

fn defines(
    sections: &object::read::elf::SectionTable<'_, FileHeader64<Endianness>>,
    endian: Endianness,
    bytes: &[u8],
    name: &[u8],
) -> Result<bool, NotElf> {
    use object::read::elf::Sym as _;
    let symbols = sections.symbols(endian, bytes, object::elf::SHT_SYMTAB)?;
    Ok(symbols.iter().any(|symbol| {
        !symbol.is_undefined(endian)
            && symbols.symbol_name(endian, symbol).is_ok_and(|found| found == name)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_program_asks_for_glibc() {
        let needs = needs(&std::fs::read("/proc/self/exe").unwrap()).unwrap();
        assert!(needs.libraries.iter().any(|name| name == "libc.so.6"), "{needs:?}");
        assert!(needs.glibc >= Some(Glibc { major: 2, minor: 2 }));
        assert!(!needs.static_cudart && !needs.shared_cudart());
    }

    #[test]
    fn what_is_no_executable_is_refused() {
        let program = std::fs::read("/proc/self/exe").unwrap();
        for bytes in [b"".as_slice(), b"#!/bin/sh\n", &program[..100]] {
            assert!(needs(bytes).is_err());
        }
    }

    #[test]
    fn versions_of_glibc_are_compared_as_numbers() {
        assert!(glibc("GLIBC_2.34") > glibc("GLIBC_2.4"));
        assert_eq!(glibc("GLIBC_2.2.5"), Some(Glibc { major: 2, minor: 2 }));
        for name in ["GLIBC_PRIVATE", "GLIBCXX_3.4", "GLIBC_", "GLIBC_2"] {
            assert_eq!(glibc(name), None);
        }
    }
}
