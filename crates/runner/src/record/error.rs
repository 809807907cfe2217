//! Why a recording did not end in a record.

use std::time::Duration;

use camino::Utf8PathBuf;

use crate::system::{files, process};

/// Why a recording did not end in a record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The gate forbids it here.
    #[error("gated: {0}")]
    Gated(String),
    /// The folder holds the unfinished record of other inputs.
    #[error(
        "`{0}` holds the unfinished record of other inputs; remove it, or name another `--out`"
    )]
    OtherPlan(Utf8PathBuf),
    /// The build failed.
    #[error("program `{program}` does not build: {why}")]
    Build {
        /// Which program.
        program: String,
        /// The first finding.
        why: String,
    },
    /// Compiling could not be tried.
    #[error(transparent)]
    Compile(#[from] crate::compile::Error),
    /// The program would load a CUDA runtime from somewhere.
    #[error(
        "program `{program}` loads the CUDA runtime `{library}` beside or instead of its own \
         static one, and what it loads could be anything; build without `-cudart shared`"
    )]
    ForeignRuntime {
        /// Which program.
        program: String,
        /// What it loads.
        library: String,
    },
    /// No compiler and no prebuilt program.
    #[error("no nvcc here and no prebuilt program in the bundle; bundle with `--prebuilt`")]
    NoToolkit,
    /// Asked to stop.
    #[error("stopped; call it again to go on")]
    Cancelled,
    /// The time asked for is over.
    #[error("the budget of {} s is spent; call it again to go on", .0.as_secs())]
    Budget(Duration),
    /// A file.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// A process.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// Signing.
    #[error(transparent)]
    Key(#[from] crate::keys::KeyError),
    /// Facts that can't be written as TOML.
    #[error("the record's facts can't be written")]
    Write(#[from] toml::ser::Error),
    /// The system.
    #[error("{what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
}
