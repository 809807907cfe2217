//! The managed toolkit: pinned wheels, fetched by pip, checked again here, unpacked under
//! `target/`.
//!
//! **Invariant: the toolkit's folder is there whole or not at all, and every byte of it comes from
//! a wheel of the pinned digest.** Its name holds a digest of the pins, so a change of the pins is
//! another folder. No registry is named: pip uses the one that it is set up for.

mod fetch;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use serde::Deserialize;

use crate::system::files;
use crate::system::process::{self, Cancel};
use crate::toolkit::NotAToolkit;

const PINS: &str = include_str!("../pins.toml");

/// The managed toolkit: its pins, and the folder it lives in.
#[derive(Debug, Clone)]
pub struct Managed {
    folder: Utf8PathBuf,
    pins: Pins,
}

/// The pins file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pins {
    release: String,
    root: Utf8PathBuf,
    wheel: Vec<Wheel>,
}

/// One pinned package, for one kind of processor.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wheel {
    package: String,
    version: String,
    platform: String,
    bytes: u64,
    sha256: Digest,
}

/// How far fetching is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Somebody else is at it.
    Waiting {
        /// Who.
        holder: String,
    },
    /// Bytes are arriving.
    Fetching {
        /// So far.
        bytes: u64,
        /// In all.
        bytes_total: u64,
    },
    /// The wheels are being unpacked.
    Unpacking {
        /// So many of them are done.
        wheels: usize,
        /// Of so many.
        wheels_total: usize,
    },
}

/// Why the managed toolkit could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    /// There is none for this machine.
    #[error("no wheels are pinned for `{0}`; install a CUDA toolkit and name it by `--cuda-home`")]
    Platform(String),
    /// No Python.
    #[error("`python3` not found, whose pip fetches it; install Python, or a CUDA toolkit")]
    NoPython,
    /// A Python without pip.
    #[error(
        "`python3 -m pip` is not there; install pip (`python3 -m ensurepip`), or a CUDA toolkit"
    )]
    NoPip,
    /// What arrived is not what was pinned.
    #[error("`{package}` is not the one that is pinned: its digest is `{found}`; do not use it")]
    Hash {
        /// Which package.
        package: String,
        /// What it has instead, as far as it is known.
        found: String,
    },
    /// pip failed: no network, no such version for this machine, a full disk.
    #[error(
        "pip failed:\n{said}\ncheck the network and the disk, or name a toolkit by `--cuda-home`"
    )]
    Pip {
        /// Its last lines.
        said: String,
    },
    /// A wheel does not unpack.
    #[error("`{package}` does not unpack: {said}")]
    Unpack {
        /// Which package.
        package: String,
        /// The last line of what went wrong; a full disk says so here.
        said: String,
    },
    /// It was unpacked and does not work.
    #[error("it was fetched and does not work: {0}")]
    DoesNotWork(NotAToolkit),
    /// Somebody asked to stop.
    #[error("stopped while fetching it; what had arrived was removed")]
    Cancelled,
    /// A file refused.
    #[error(transparent)]
    File(#[from] files::Error),
    /// A process could not be followed.
    #[error(transparent)]
    Process(#[from] process::Error),
}

impl Managed {
    /// The managed toolkit under a folder that may be written to, usually `target/proofrun` of the
    /// course.
    pub fn under(target: &Utf8Path) -> Self {
        let pins: Pins = toml::from_str(PINS).expect("pins.toml is read by a test");
        Self { folder: target.join("toolkit"), pins }
    }

    /// The toolkit's root once it is there.
    pub fn root(&self) -> Utf8PathBuf {
        self.place().join(&self.pins.root)
    }

    /// How many bytes fetching it would bring.
    pub fn bytes_total(&self) -> u64 {
        self.wheels().map(|wheel| wheel.bytes).sum()
    }

    /// Fetches it, unless it is there and works; returns its root. `path` is the PATH for
    /// `python3`.
    ///
    /// # Errors
    /// Why it could not be; nothing half done is left.
    pub fn provision(
        &self,
        path: &str,
        progress: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<Utf8PathBuf, ProvisionError> {
        if self.wheels().next().is_none() {
            return Err(ProvisionError::Platform(std::env::consts::ARCH.into()));
        }
        let place = self.place();
        let _lock = files::lock(self.folder.join("lock"), cancel, |holder| {
            progress(Progress::Waiting { holder: holder.into() });
        })
        .map_err(|error| match error {
            files::Error::Cancelled { .. } => ProvisionError::Cancelled,
            error => error.into(),
        })?;
        files::remove_leftovers(&place)?;
        if place.is_dir() {
            match super::probe(&self.root(), super::Origin::Managed, path, cancel) {
                Ok(_) => return Ok(self.root()),
                Err(NotAToolkit::Cancelled) => return Err(ProvisionError::Cancelled),
                Err(_) => files::remove_dir(&place)?,
            }
        }
        files::write_dir_atomic(&place, |temporary| {
            fetch::fill(self, temporary, path, progress, cancel)
        })?;
        Ok(self.root())
    }

    fn wheels(&self) -> impl Iterator<Item = &Wheel> {
        self.pins.wheel.iter().filter(|wheel| wheel.platform == std::env::consts::ARCH)
    }

    fn place(&self) -> Utf8PathBuf {
        let wheels = self.wheels().map(|wheel| wheel.sha256.to_string());
        let id = Digest::of_parts(wheels.chain([self.pins.root.to_string()])).short();
        self.folder.join(format!("cuda-{}-{id}", self.pins.release))
    }
}

#[cfg(test)]
mod tests;
