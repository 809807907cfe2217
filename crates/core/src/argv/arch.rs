//! What the flags of a build command say about architectures: machine code, PTX, or both.

use std::fmt;
use std::str::FromStr;

use crate::arch::{Arch, NotAnArch};

/// What an executable holds for an architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Machine code, `sm_80`.
    Real(Arch),
    /// PTX, `compute_80`, which the driver compiles for later devices.
    Virtual(Arch),
}

impl Code {
    /// The architecture itself.
    pub fn arch(self) -> Arch {
        match self {
            Self::Real(arch) | Self::Virtual(arch) => arch,
        }
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
        let arch = text.parse()?;
        Ok(if text.starts_with("sm_") { Self::Real(arch) } else { Self::Virtual(arch) })
    }
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
        assert_eq!(parsed, Ok(Code::Virtual("sm_103a".parse().unwrap())));
        for text in ["", "sm_", "sm_8", "sm_8000", "sm_08", "sm_+8", "sm_80 ", "sm_80b", "80", "é"]
        {
            assert!(text.parse::<Code>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_pair_names_a_virtual_architecture_first() {
        let arch = "sm_80".parse().unwrap();
        let both = vec![Code::Real(arch), Code::Virtual(arch)];
        assert_eq!(gencode("arch=compute_80,code=[sm_80,compute_80]"), Some((arch, both)));
        assert!(gencode("arch=compute_80,code=sm_80").is_some());
        for text in ["arch=sm_80,code=sm_80", "arch=compute_80", "arch=compute_80,code=[sm_80", ""]
        {
            assert_eq!(gencode(text), None, "{text}");
        }
    }
}
