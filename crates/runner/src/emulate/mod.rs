//! Running a program over the emulated device: built a second time, with PTX inside and without a
//! CUDA runtime, and run with this harness's own runtime in place of NVIDIA's.
//!
//! [`Library`] finds that runtime, [`build`] compiles a file that belongs to no lesson (a lesson's
//! program is built by [`compile`](crate::compile::compile), for the emulated device), [`run`]
//! runs what was built and follows what it tells.
//!
//! **Invariant: an emulated run is no evidence.** Its outcome is a type of its own, and nothing
//! makes a run of a record of it:
//!
//! ```compile_fail,E0277
//! use proofrun_core::record::model::RunRecord;
//! use proofrun_runner::emulate::Emulated;
//!
//! fn evidence(run: Emulated) -> RunRecord {
//!     run.into()
//! }
//! ```
//!
//! What stands there fails for that reason alone; a run of a record is one:
//!
//! ```
//! use proofrun_core::record::model::RunRecord;
//! use proofrun_runner::emulate::Emulated;
//!
//! fn evidence(run: RunRecord) -> RunRecord {
//!     run.into()
//! }
//! # let _: Option<(Emulated, RunRecord)> = None;
//! ```

pub mod kept;
mod library;
mod loose;
mod run;
#[cfg(test)]
mod tests;
mod told;

use camino::Utf8PathBuf;

use crate::compile;
use crate::system::{files, process};
use crate::toolkit::Toolkit;

pub use library::{LIBRARY_FILE, LIBRARY_VARIABLE, Library};
pub use loose::{Loose, build};
pub use proofrun_emulator::configuration::{Configuration, Timeline};
pub use run::{Emulated, Names, News, Run, run};
pub use told::Told;

/// How long a program may run over the emulated device unless something else is asked for.
pub const DEADLINE: std::time::Duration = std::time::Duration::from_secs(600);

/// The release of CUDA whose runtime the emulated device has.
const RELEASE: &str = "13";

/// Why a program could not be built for the emulated device, or not be run over it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The harness's own CUDA runtime isn't where it belongs.
    #[error(
        "the emulated device's library `{LIBRARY_FILE}` is not beside `{beside}`; build it with \
         `cargo build -p proofrun-cudart`, or name it in {LIBRARY_VARIABLE}"
    )]
    NoLibrary {
        /// The executable that it was looked for beside of.
        beside: Utf8PathBuf,
    },
    /// The library that was named isn't there.
    #[error("{LIBRARY_VARIABLE} names `{0}`, which is not there; correct it, or unset it")]
    NamedLibrary(Utf8PathBuf),
    /// A toolkit of another release.
    #[error(
        "the emulated device has the CUDA runtime of release {RELEASE}, and the toolkit in \
         `{root}` is {release}; name one of {RELEASE} with `--cuda-home`, or take it off PATH to \
         have it fetched"
    )]
    Release {
        /// The toolkit's folder.
        root: Utf8PathBuf,
        /// Such as `12.4`.
        release: String,
    },
    /// Building.
    #[error(transparent)]
    Build(#[from] compile::Error),
    /// A file refused.
    #[error(transparent)]
    File(#[from] files::Error),
    /// The program could not be run.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// Somebody asked to stop.
    #[error("stopped while the program ran")]
    Cancelled,
}

/// That programs of a toolkit can be run over the emulated device.
///
/// # Errors
/// When its runtime is of another release.
pub fn check_toolkit(toolkit: &Toolkit) -> Result<(), Error> {
    if toolkit.release.split('.').next() == Some(RELEASE) {
        return Ok(());
    }
    Err(Error::Release { root: toolkit.root.clone(), release: toolkit.release.clone() })
}
