//! CUDA's error codes, their names and what is said of them: facts of the runtime, from
//! `errors.txt`.

use std::ffi::CStr;

use proofrun_emulator::machine::Fault;

/// An error code of the runtime: never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub i32);

/// What a function of the runtime comes to.
pub type Outcome = Result<(), Code>;

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The code.
    pub code: i32,
    /// `cudaErrorInvalidValue`.
    pub name: &'static CStr,
    /// `invalid argument`.
    pub text: &'static CStr,
}

include!(concat!(env!("OUT_DIR"), "/errors.rs"));

/// For a code that isn't in the table.
const UNKNOWN: &CStr = c"unrecognized error code";

#[expect(missing_docs, reason = "named as driver_types.h names them")]
impl Code {
    pub const INVALID_VALUE: Self = Self(1);
    pub const MEMORY_ALLOCATION: Self = Self(2);
    pub const INITIALIZATION: Self = Self(3);
    pub const INVALID_PITCH: Self = Self(12);
    pub const INVALID_SYMBOL: Self = Self(13);
    pub const INVALID_COPY_DIRECTION: Self = Self(21);
    pub const DEVICES_UNAVAILABLE: Self = Self(46);
    pub const MISSING_CONFIGURATION: Self = Self(52);
    pub const INVALID_DEVICE_FUNCTION: Self = Self(98);
    pub const INVALID_DEVICE: Self = Self(101);
    pub const INVALID_KERNEL_IMAGE: Self = Self(200);
    pub const NO_KERNEL_IMAGE: Self = Self(209);
    pub const UNSUPPORTED_LIMIT: Self = Self(215);
    pub const PEER_ACCESS_UNSUPPORTED: Self = Self(217);
    pub const INVALID_PTX: Self = Self(218);
    pub const INVALID_HANDLE: Self = Self(400);
    pub const SYMBOL_NOT_FOUND: Self = Self(500);
    pub const NOT_READY: Self = Self(600);
    pub const ILLEGAL_ADDRESS: Self = Self(700);
    pub const OUT_OF_RESOURCES: Self = Self(701);
    pub const LAUNCH_TIMEOUT: Self = Self(702);
    pub const ASSERT: Self = Self(710);
    pub const ALREADY_REGISTERED: Self = Self(712);
    pub const NOT_REGISTERED: Self = Self(713);
    pub const ILLEGAL_INSTRUCTION: Self = Self(715);
    pub const MISALIGNED_ADDRESS: Self = Self(716);
    pub const LAUNCH_FAILURE: Self = Self(719);
    pub const COOPERATIVE_TOO_LARGE: Self = Self(720);
    pub const NOT_PERMITTED: Self = Self(800);
    pub const NOT_SUPPORTED: Self = Self(801);
    pub const UNKNOWN: Self = Self(999);
}

impl Code {
    /// `cudaErrorInvalidValue`, as text.
    pub fn name(self) -> &'static str {
        name(self.0).to_str().unwrap_or_default()
    }

    /// `invalid argument`, as text.
    pub fn text(self) -> &'static str {
        text(self.0).to_str().unwrap_or_default()
    }
}

impl From<&Fault> for Code {
    fn from(fault: &Fault) -> Self {
        match fault {
            Fault::IllegalAddress => Self::ILLEGAL_ADDRESS,
            Fault::MisalignedAddress => Self::MISALIGNED_ADDRESS,
            Fault::Assert => Self::ASSERT,
            Fault::LaunchFailure => Self::LAUNCH_FAILURE,
            Fault::Timeout => Self::LAUNCH_TIMEOUT,
            Fault::Unsupported(_) => Self::ILLEGAL_INSTRUCTION,
        }
    }
}

fn row(code: i32) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.code == code)
}

/// The name of a code, 0 among them.
pub fn name(code: i32) -> &'static CStr {
    row(code).map_or(UNKNOWN, |row| row.name)
}

/// What is said of a code, 0 among them.
pub fn text(code: i32) -> &'static CStr {
    row(code).map_or(UNKNOWN, |row| row.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_names_and_texts() {
        assert_eq!(name(0), c"cudaSuccess");
        assert_eq!(Code::ILLEGAL_ADDRESS.name(), "cudaErrorIllegalAddress");
        assert_eq!(Code::ILLEGAL_ADDRESS.text(), "an illegal memory access was encountered");
        assert_eq!(name(5555), UNKNOWN);
    }

    #[test]
    fn a_fault_is_said_as_its_code_is() {
        for fault in
            [Fault::IllegalAddress, Fault::MisalignedAddress, Fault::Assert, Fault::LaunchFailure]
        {
            assert_eq!(fault.to_string(), Code::from(&fault).text());
        }
    }
}
