//! Building a lesson's program the way its README says, in a clean copy, and its PTX beside it.
//!
//! **Invariant: the outcome depends on the request alone**: the named files and nothing else of the
//! course, the command, the toolkit. The environment is scrubbed, and what names the temporary
//! folder is mapped back, so that logs and PTX digests are the same in every folder.
//!
//! In the flow: [`BuildCommand`] and the course's files → [`compile`] → [`Outcome`], kept in a
//! [`Cache`] that is asked first.

pub(crate) mod build;
pub(crate) mod cache;
mod diagnostics;
pub mod elf;
mod findings;
mod ptx;

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use proofrun_core::argv::{Arch, BuildCommand};
use proofrun_core::toolkit::ToolkitFacts;
use serde::{Deserialize, Serialize};

use crate::system::process::Cancel;
use crate::system::{files, process};
use crate::toolkit::Toolkit;

pub use build::course_path;
pub use cache::{Cache, Pruned};
pub use diagnostics::{Diagnostic, Severity, parse as parse_diagnostics};
pub use ptx::{Ptx, digest as ptx_digest};

/// How long a build may take unless something else is asked for.
pub const DEADLINE: Duration = Duration::from_secs(300);

/// Variables by which somebody's environment changes what nvcc and the host compiler do.
pub const NVCC_VARIABLES: [&str; 10] = [
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LD_LIBRARY_PATH",
];

/// What to build.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The command, as header and README state it.
    pub command: &'a BuildCommand,
    /// The folder it is run in, relative to the course's root.
    pub folder: &'a Utf8Path,
    /// The files it may see, by their paths relative to the course's root.
    pub files: &'a BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// What builds it.
    pub toolkit: &'a Toolkit,
    /// How long each call of nvcc may take.
    pub deadline: Duration,
    /// For the emulated device: the architecture whose PTX it is to run. There is no PTX beside
    /// such an executable.
    pub emulated: Option<Arch>,
}

impl Request<'_> {
    /// The words that build the program.
    fn words(&self) -> Vec<String> {
        match self.emulated {
            None => self.command.words(),
            Some(arch) => self.command.emulation_words(arch, &self.toolkit.runtime_name()),
        }
    }
}

/// How a build ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ended", content = "status")]
pub enum BuildStatus {
    /// There is an executable and its PTX.
    Built,
    /// nvcc ended with this exit status, or left no executable (then 0).
    Failed(i32),
    /// This signal ended nvcc; the machine may be out of memory.
    Killed(i32),
    /// It ran past its deadline.
    Hung,
    /// It printed more than 4 MiB.
    TooMuchOutput,
}

/// What came of a build.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: BuildStatus,
    /// What nvcc printed (standard output, then standard error), with paths as the course knows
    /// them.
    pub log: String,
    /// The warnings and errors in the log.
    pub diagnostics: Vec<Diagnostic>,
    /// What was built; there exactly if the status is [`BuildStatus::Built`].
    pub product: Option<Product>,
    /// What built it.
    pub toolkit: ToolkitFacts,
    /// How long the build took, when it was done.
    pub wall: Duration,
    /// Whether it was done earlier, and the cache had it.
    pub cached: bool,
}

/// An executable and its PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The executable, in the cache. Its name is the one that the command gives it.
    pub executable: Utf8PathBuf,
    /// The executable's digest. Builds of the same request differ in it: symbols of temporary
    /// files.
    pub executable_digest: Digest,
    /// The PTX of each `.cu` source, in the command's order.
    pub ptx: Vec<Ptx>,
    /// One digest over all of it; the same in every folder, and for every edit of comments.
    pub ptx_digest: Digest,
}

/// Why a build could not even fail.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the request cannot be laid into the clean copy.
    #[error("the build's file `{0}` leaves the course; name it by a relative path without `..`")]
    Outside(Utf8PathBuf),
    /// A source that the command names is not among the files.
    #[error("the build command names `{0}`, which is not there; correct the name or add the file")]
    MissingSource(Utf8PathBuf),
    /// No compiler for host code.
    #[error("no host compiler: `g++` is not on PATH; install it")]
    NoHostCompiler,
    /// Somebody asked to stop.
    #[error("stopped while building")]
    Cancelled,
    /// A file refused.
    #[error(transparent)]
    File(#[from] files::Error),
    /// A process could not be followed.
    #[error(transparent)]
    Process(#[from] process::Error),
}

impl Outcome {
    /// The warnings whose numbers are not among `known`, and all that have no number.
    pub fn unexpected_warnings<'a>(
        &'a self,
        known: &'a [String],
    ) -> impl Iterator<Item = &'a Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| {
            diagnostic.severity == Severity::Warning
                && !diagnostic.number.as_ref().is_some_and(|number| known.contains(number))
        })
    }
}

/// Builds, or takes from the cache what an earlier build of the same request left there.
///
/// # Errors
/// When the request cannot be carried out, or the system refuses. That the program does not compile
/// is an [`Outcome`].
pub fn compile(request: &Request<'_>, cache: &Cache, cancel: &Cancel) -> Result<Outcome, Error> {
    check(request)?;
    let key = cache.key(request)?;
    if let Some(found) = cache.load(key, request)? {
        return Ok(found);
    }
    // The executable lies in it until it was stored.
    let work = cache.work_folder()?;
    let built = build::build(request, &work, cancel)?;
    cache.store(key, request, built)
}

fn check(request: &Request<'_>) -> Result<(), Error> {
    if request.toolkit.host.is_none() {
        return Err(Error::NoHostCompiler);
    }
    let plain = |path: &Utf8Path| {
        let mut parts = path.components();
        parts.all(|part| matches!(part, camino::Utf8Component::Normal(_)))
    };
    if let Some(path) = request.files.keys().find(|path| !plain(path) || path.as_str().is_empty()) {
        return Err(Error::Outside(path.clone()));
    }
    if !plain(request.folder) {
        return Err(Error::Outside(request.folder.to_owned()));
    }
    for source in request.command.sources() {
        let path = build::normal(&request.folder.join(source));
        if !request.files.contains_key(&path) {
            return Err(Error::MissingSource(path));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
