//! Names of GPU architectures: `sm_80`, `compute_90a`.

use std::fmt;
use std::str::FromStr;

/// A compute capability with the suffix that ties code to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch {
    /// 8 in `sm_86`.
    pub major: u32,
    /// 6 in `sm_86`.
    pub minor: u32,
    /// `a`: this very architecture; `f`: its family. Absent: this one and later ones.
    pub suffix: Option<char>,
}

/// What an executable holds for an architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Machine code, `sm_80`.
    Real(Arch),
    /// PTX, `compute_80`, which the driver compiles for later devices.
    Virtual(Arch),
}

/// Why a text is no architecture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an architecture; write it as `sm_80`")]
pub struct NotAnArch(pub(super) String);

impl Code {
    /// The architecture itself.
    pub fn arch(self) -> Arch {
        match self {
            Self::Real(arch) | Self::Virtual(arch) => arch,
        }
    }
}

impl fmt::Display for Arch {
    /// The digits and the suffix: `90a`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.major, self.minor)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real(arch) => write!(f, "sm_{arch}"),
            Self::Virtual(arch) => write!(f, "compute_{arch}"),
        }
    }
}

impl FromStr for Code {
    type Err = NotAnArch;

    fn from_str(text: &str) -> Result<Self, NotAnArch> {
        let (make, rest): (fn(Arch) -> Self, _) =
            match (text.strip_prefix("sm_"), text.strip_prefix("compute_")) {
                (Some(rest), _) => (Self::Real, rest),
                (_, Some(rest)) => (Self::Virtual, rest),
                _ => return Err(NotAnArch(text.into())),
            };
        arch(rest).map(make).ok_or_else(|| NotAnArch(text.into()))
    }
}

/// Two or three digits, the last of them the minor version, and perhaps a suffix.
fn arch(text: &str) -> Option<Arch> {
    let (digits, suffix) = match text.strip_suffix(['a', 'f']) {
        Some(digits) => (digits, text.chars().last()),
        None => (text, None),
    };
    let right = matches!(digits.len(), 2 | 3)
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    let number: u32 = right.then(|| digits.parse().ok())??;
    Some(Arch { major: number / 10, minor: number % 10, suffix })
}

/// `sm_80,compute_80`, in brackets or without.
pub(super) fn codes(text: &str) -> Option<Vec<Code>> {
    let list = match text.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?,
        None => text,
    };
    list.split(',').map(|code| code.parse().ok()).collect()
}

/// `arch=compute_80,code=[sm_80,compute_80]`.
pub(super) fn gencode(text: &str) -> Option<(Arch, Vec<Code>)> {
    let (arch, list) = text.strip_prefix("arch=")?.split_once(",code=")?;
    match arch.parse().ok()? {
        Code::Virtual(arch) => Some((arch, codes(list)?)),
        Code::Real(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_one_spelling() {
        for text in ["sm_75", "compute_80", "sm_90a", "compute_100f", "sm_121"] {
            assert_eq!(text.parse::<Code>().unwrap().to_string(), text);
        }
        let parsed = "compute_103a".parse();
        assert_eq!(parsed, Ok(Code::Virtual(Arch { major: 10, minor: 3, suffix: Some('a') })));
        for text in ["", "sm_", "sm_8", "sm_8000", "sm_08", "sm_+8", "sm_80 ", "sm_80b", "80", "é"]
        {
            assert!(text.parse::<Code>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_pair_names_a_virtual_architecture_first() {
        let arch = Arch { major: 8, minor: 0, suffix: None };
        let both = vec![Code::Real(arch), Code::Virtual(arch)];
        assert_eq!(gencode("arch=compute_80,code=[sm_80,compute_80]"), Some((arch, both)));
        assert!(gencode("arch=compute_80,code=sm_80").is_some());
        for text in ["arch=sm_80,code=sm_80", "arch=compute_80", "arch=compute_80,code=[sm_80", ""]
        {
            assert_eq!(gencode(text), None, "{text}");
        }
    }
}
