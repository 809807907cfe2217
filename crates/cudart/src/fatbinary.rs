//! The fat binary that nvcc put into a program: which of its PTX fits the device.

use proofrun_emulator::finding::Kind;

use crate::abi::FatBinaryWrapper;
use crate::errors::Code;
use crate::host;

/// PTX that fits.
#[derive(Debug)]
pub struct Chosen {
    /// The text.
    pub ptx: String,
    /// What it was compiled for: 90.
    pub architecture: u32,
}

/// Why nothing was chosen.
#[derive(Debug)]
pub struct Refused {
    /// The error that the runtime returns.
    pub code: Code,
    /// What kind of finding it is.
    pub kind: Kind,
    /// What is said of it.
    pub message: String,
}

const WRAPPER_MAGIC: u32 = 0x4662_43b1;
const MAGIC: u32 = 0xba55_ed50;
/// No program holds a fat binary as large.
const MOST_BYTES: u64 = 1 << 32;

/// Reads the wrapper that the program registered, and chooses.
pub fn choose(wrapper: u64, device: u32) -> Result<Chosen, Refused> {
    let bytes = bytes(wrapper).ok_or_else(|| Refused {
        code: Code::INVALID_KERNEL_IMAGE,
        kind: Kind::Unsupported,
        message: "the program registers something that is no fat binary".to_owned(),
    })?;
    best(&bytes, device)
}

fn bytes(wrapper: u64) -> Option<Vec<u8>> {
    let wrapper = host::read_at(wrapper as *const FatBinaryWrapper)?;
    if wrapper.magic != WRAPPER_MAGIC {
        return None;
    }
    let at = wrapper.data as u64;
    let header = host::read(at, 16)?;
    let word = |from: usize| {
        header.get(from..from + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    if word(0)? != MAGIC {
        return None;
    }
    let body = u64::from(word(8)?) | u64::from(word(12)?) << 32;
    let all = body.checked_add(u64::from(word(4)? >> 16)).filter(|bytes| *bytes <= MOST_BYTES)?;
    host::read(at, usize::try_from(all).ok()?)
}

fn best(fat: &[u8], device: u32) -> Result<Chosen, Refused> {
    let number = |at: usize, bytes: usize| {
        fat.get(at..at + bytes)
            .map(|b| b.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte)))
    };
    let mut at = number(6, 2).unwrap_or(16) as usize;
    let mut chosen: Option<Chosen> = None;
    let mut seen = Vec::new();
    while let (Some(kind), Some(header), Some(size)) =
        (number(at, 2), number(at + 4, 4), number(at + 8, 8))
    {
        if header == 0 {
            break;
        }
        let (compressed, architecture) =
            (number(at + 16, 4).unwrap_or(0), number(at + 28, 4).unwrap_or(0) as u32);
        let start = at + header as usize;
        let Some(data) = fat.get(start..start + size as usize) else { break };
        at = start + size as usize;
        if kind != 1 {
            continue;
        }
        seen.push(format!("compute_{architecture}"));
        if compressed != 0 {
            return Err(Refused {
                code: Code::NOT_SUPPORTED,
                kind: Kind::Unsupported,
                message: "compressed PTX is not read".to_owned(),
            });
        }
        if architecture <= device && chosen.as_ref().is_none_or(|c| c.architecture < architecture) {
            let ptx = String::from_utf8_lossy(data).trim_end_matches('\0').to_owned();
            chosen = Some(Chosen { ptx, architecture });
        }
    }
    chosen.ok_or_else(|| Refused {
        code: Code::NO_KERNEL_IMAGE,
        kind: Kind::Api,
        message: format!(
            "no PTX in the program fits compute capability {}.{}: it holds {}",
            device / 10,
            device % 10,
            if seen.is_empty() { "none".to_owned() } else { seen.join(", ") }
        ),
    })
}
