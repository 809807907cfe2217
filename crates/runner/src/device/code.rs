//! Code for a device as it lies in a file: PTX text, or a cubin.

use std::io::Read;
use std::path::Path;

use object::{Object, ObjectSection};
use proofrun_core::kernels::{NoEntry, choose_entry, entries_of_ptx};

/// Larger than any lesson's code by far.
const CODE_BYTES_MAX: u64 = 64 << 20;

/// Code that a device can load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceCode {
    /// PTX text, which the driver compiles; without a NUL.
    Ptx(String),
    /// A cubin: ELF with native code.
    Native(Vec<u8>),
}

/// Why bytes or a file are no code for a device.
#[derive(Debug, thiserror::Error)]
pub enum NotDeviceCode {
    /// The file can't be read.
    #[error("failed to read the device code: {0}")]
    Read(#[from] std::io::Error),
    /// Too large.
    #[error("device code of more than {CODE_BYTES_MAX} bytes")]
    TooLarge,
    /// Neither PTX nor ELF.
    #[error("neither PTX text nor a cubin: make one with `nvcc -ptx` or `nvcc -cubin`")]
    Unknown,
}

impl DeviceCode {
    /// Reads a file.
    ///
    /// # Errors
    /// If it can't be read, is too large or is neither PTX nor a cubin.
    pub fn read(path: &Path) -> Result<Self, NotDeviceCode> {
        let mut bytes = Vec::new();
        fs_err::File::open(path)?.take(CODE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > CODE_BYTES_MAX {
            return Err(NotDeviceCode::TooLarge);
        }
        Self::of_bytes(bytes)
    }

    /// PTX if it is text that says its version, native code if it is ELF.
    ///
    /// # Errors
    /// If it is neither.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Self, NotDeviceCode> {
        if bytes.starts_with(b"\x7FELF") {
            return Ok(Self::Native(bytes));
        }
        // `cuobjdump` ends extracted PTX with a NUL; none may be inside.
        let mut text = String::from_utf8(bytes).map_err(|_| NotDeviceCode::Unknown)?;
        text.truncate(text.trim_end_matches('\0').len());
        if text.contains('\0') || !text.contains(".version") {
            return Err(NotDeviceCode::Unknown);
        }
        Ok(Self::Ptx(text))
    }

    /// The entry for a kernel's name in the source.
    ///
    /// # Errors
    /// If none fits or several do.
    pub fn entry(&self, name: &str) -> Result<String, NoEntry> {
        match self {
            Self::Ptx(text) => choose_entry(&entries_of_ptx(text), name).map(str::to_owned),
            Self::Native(bytes) => {
                let names = sections(bytes);
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                choose_entry(&names, name).map(str::to_owned)
            }
        }
    }
}

/// A cubin holds the code of a kernel NAME in the section `.text.NAME`.
fn sections(elf: &[u8]) -> Vec<String> {
    let Ok(file) = object::read::elf::ElfFile64::<object::Endianness>::parse(elf) else {
        return Vec::new();
    };
    let names = file.sections().filter_map(|section| section.name().ok().map(str::to_owned));
    names.filter_map(|name| name.strip_prefix(".text.").map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_apart() {
        let of = |bytes: &[u8]| DeviceCode::of_bytes(bytes.to_vec());
        let ptx = ".version 9.0\n.target sm_80\n.entry k() {}\n";
        assert_eq!(of(ptx.as_bytes()).unwrap(), DeviceCode::Ptx(ptx.into()));
        assert_eq!(of(format!("{ptx}\0").as_bytes()).unwrap(), DeviceCode::Ptx(ptx.into()));
        assert!(matches!(of(b"\x7FELF\0\0"), Ok(DeviceCode::Native(_))));
        for wrong in [&b""[..], b"int main() {}", b".version 9.0\0.entry", b"\xFF\xFE.version"] {
            assert!(matches!(of(wrong), Err(NotDeviceCode::Unknown)));
        }
    }

    #[test]
    fn entries_are_found_and_broken_elf_holds_none() {
        let ptx = DeviceCode::of_bytes(b".version 9.0\n.entry _Z1kv() {}\n".to_vec()).unwrap();
        assert_eq!(ptx.entry("k").unwrap(), "_Z1kv");
        let elf = DeviceCode::of_bytes(b"\x7FELF then nothing".to_vec()).unwrap();
        assert!(matches!(elf.entry("k"), Err(NoEntry::Absent { .. })));
    }
}
