//! The fat binary that nvcc put into a program: which of its PTX fits the device.

use proofrun_emulator::fatbin::{self, FatbinError, Image, Kind as Holds};
use proofrun_emulator::finding::Kind;
use proofrun_emulator::profile::Profile;

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
/// Of a fat binary's header: enough to know its size.
const HEADER_BYTES: usize = 16;

/// Reads the wrapper that the program registered, and chooses.
pub fn choose(wrapper: u64, profile: &Profile) -> Result<Chosen, Refused> {
    let bytes = bytes(wrapper)?;
    choose_from(&bytes, profile)
}

/// Chooses from a fat binary's bytes.
pub fn choose_from(bytes: &[u8], profile: &Profile) -> Result<Chosen, Refused> {
    let images = fatbin::images(bytes).map_err(|error| unreadable(&error))?;
    let Some(best) = fatbin::best_ptx(&images, profile.compute_capability) else {
        return Err(none_fits(&images, profile));
    };
    let ptx = best.text().map_err(|error| unreadable(&error))?;
    Ok(Chosen { ptx, architecture: best.arch })
}

fn bytes(wrapper: u64) -> Result<Vec<u8>, Refused> {
    let broken = || unreadable(&FatbinError::Short("its wrapper"));
    let wrapper = host::read_at(wrapper as *const FatBinaryWrapper).ok_or_else(broken)?;
    if wrapper.magic != WRAPPER_MAGIC {
        return Err(unreadable(&FatbinError::Magic(wrapper.magic)));
    }
    at(wrapper.data as u64)
}

/// The bytes of the fat binary at an address.
pub fn at(address: u64) -> Result<Vec<u8>, Refused> {
    let broken = || unreadable(&FatbinError::Short("its header"));
    let header = host::read(address, HEADER_BYTES).ok_or_else(broken)?;
    let total = fatbin::total_size(&header).map_err(|error| unreadable(&error))?;
    host::read(address, total).ok_or_else(broken)
}

fn unreadable(error: &FatbinError) -> Refused {
    let message = format!("the program holds {error}");
    Refused { code: Code::INVALID_KERNEL_IMAGE, kind: Kind::Unsupported, message }
}

fn none_fits(images: &[Image<'_>], profile: &Profile) -> Refused {
    let ptx = images.iter().filter(|image| image.kind == Holds::Ptx);
    let ptx: Vec<String> = ptx.map(Image::architecture).collect();
    let (major, minor) = profile.compute_capability;
    let held = if ptx.is_empty() { "no PTX".to_owned() } else { ptx.join(", ") };
    let message =
        format!("no PTX of the program fits compute capability {major}.{minor}: it holds {held}");
    Refused { code: Code::NO_KERNEL_IMAGE, kind: Kind::Api, message }
}
