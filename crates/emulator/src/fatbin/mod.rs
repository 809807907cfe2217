//! Fat binaries: the container in which nvcc puts PTX and machine code for several architectures.
//!
//! The format isn't documented; what is read here was seen in containers that toolkit 13.0 made.
//! Only byte slices are read: how one gets from a registered pointer to them is its user's concern.

mod container;
mod unpack;

pub use container::{images, total_size};

/// What is wrong with a fat binary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FatbinError {
    /// It ends inside something.
    #[error("a fat binary that ends inside {0}")]
    Short(&'static str),
    /// It doesn't begin as fat binaries do.
    #[error("no fat binary: it begins with {0:#010x}, not 0xba55ed50")]
    Magic(u32),
    /// The header is of another version.
    #[error("a fat binary of version {version} with a header of {header} bytes, not of version 1")]
    Version {
        /// The version.
        version: u16,
        /// The header's size.
        header: u16,
    },
    /// A size in it can't be right, or is over what is read.
    #[error("a fat binary in which the size of {what} is {bytes} bytes")]
    Size {
        /// What has the size.
        what: &'static str,
        /// The size.
        bytes: u64,
    },
    /// An image is compressed in a way that isn't known.
    #[error("an image that is compressed in an unknown way (flags {flags:#x})")]
    Compression {
        /// The image's flags.
        flags: u64,
    },
    /// An image's compressed data are broken.
    #[error("an image whose {method} data are broken: {cause}")]
    Corrupt {
        /// `zstd` or `LZ4`.
        method: &'static str,
        /// What the decompressor says.
        cause: String,
    },
}

/// What an image holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// PTX text.
    Ptx,
    /// Machine code.
    Elf,
    /// Something else, like intermediate code for link-time optimisation.
    Other(u16),
}

/// On which devices an image can run beside the one it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Portability {
    /// On later ones: `compute_90`.
    Later,
    /// On later ones of the same family: `compute_100f`.
    Family,
    /// On none: `compute_90a`.
    Exact,
}

/// How an image's bytes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Lz4,
    Zstd,
}

/// One image of a fat binary, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image<'a> {
    /// What it holds.
    pub kind: Kind,
    /// The compute capability, ten times the major number plus the minor: 80, 120.
    pub arch: u32,
    /// Whether the architecture is one with a suffix.
    pub portability: Portability,
    stored: &'a [u8],
    packing: Packing,
    /// Bytes that it has when it is unpacked.
    size: u64,
}

impl Image<'_> {
    /// The image's bytes, decompressed.
    pub fn bytes(&self) -> Result<Vec<u8>, FatbinError> {
        match self.packing {
            Packing::Plain => Ok(self.stored.to_vec()),
            Packing::Lz4 => unpack::lz4(self.stored, self.size),
            Packing::Zstd => unpack::zstd(self.stored, self.size),
        }
    }

    /// The image as text, without the NULs that fill it up.
    pub fn text(&self) -> Result<String, FatbinError> {
        let mut bytes = self.bytes()?;
        let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(length);
        // Paths in `.file` may be in any encoding.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// As nvcc names it: `compute_90a` of PTX, `sm_90` of machine code.
    pub fn architecture(&self) -> String {
        let suffix = match self.portability {
            Portability::Later => "",
            Portability::Family => "f",
            Portability::Exact => "a",
        };
        let prefix = if self.kind == Kind::Elf { "sm" } else { "compute" };
        format!("{prefix}_{}{suffix}", self.arch)
    }

    /// Whether PTX for this architecture may be compiled for a device.
    fn fits(&self, device: u32) -> bool {
        match self.portability {
            Portability::Later => self.arch <= device,
            Portability::Family => self.arch <= device && self.arch / 10 == device / 10,
            Portability::Exact => self.arch == device,
        }
    }
}

/// The PTX that a driver would compile for a device of compute capability `(major, minor)`: that of
/// the highest architecture which fits, of equals the most specific, of those the first.
pub fn best_ptx<'i, 'a>(
    images: &'i [Image<'a>],
    (major, minor): (u32, u32),
) -> Option<&'i Image<'a>> {
    let device = major.checked_mul(10)?.checked_add(minor)?;
    let fitting = images.iter().filter(|image| image.kind == Kind::Ptx && image.fits(device));
    fitting.rev().max_by_key(|image| (image.arch, image.portability))
}
