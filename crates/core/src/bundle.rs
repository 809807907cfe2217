//! The bundle: what `bundle` issues for a GPU host, and what `import` demands back.
//!
//! **Invariant: a record comes from a bundle that this course issued.** The nonce ties the two; the
//! lesson list says what the bundle was for.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::record::model::{Commit, FileRecord};
use crate::toolkit::ToolkitFacts;

/// The version of a bundle's form.
pub const BUNDLE_FORMAT: u32 = 1;

/// The file that holds a [`Bundle`].
pub const BUNDLE_FILE: &str = "bundle.toml";

/// The folder of a bundle that holds the course's files.
pub const COURSE_FOLDER: &str = "course";

/// The folder of a bundle that holds executables and PTX, where they were asked for.
pub const PREBUILT_FOLDER: &str = "prebuilt";

/// The file beside a prebuilt executable that holds a [`Prebuilt`].
pub const PREBUILT_FILE: &str = "build.toml";

/// What a bundle holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// [`BUNDLE_FORMAT`].
    pub schema: u32,
    /// 32 random bytes in hexadecimal, used for nothing else.
    pub nonce: String,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// The commit, where the course is a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
    /// The runner that it carries.
    pub runner: BundledRunner,
    /// Its lessons.
    pub lesson: Vec<BundledLesson>,
    /// Every other file, so that a torn copy is seen before an hour of a GPU is spent on it.
    pub file: Vec<FileRecord>,
}

/// The runner of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundledRunner {
    /// Its version.
    pub version: String,
    /// Digest of its executable.
    pub executable: Digest,
    /// The oldest glibc that it runs with, such as `2.34`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glibc: Option<String>,
}

/// A lesson of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundledLesson {
    /// Its name.
    pub name: String,
    /// Its folder below [`COURSE_FOLDER`].
    pub folder: Utf8PathBuf,
    /// The variants to record.
    pub variants: Vec<String>,
}

/// A prebuilt program: what a host without nvcc needs to know of its build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prebuilt {
    /// The resolved build command.
    pub argv: Vec<String>,
    /// What compiled it.
    pub toolkit: ToolkitFacts,
    /// Digest of the executable.
    pub executable: Digest,
    /// Digest of the PTX.
    pub ptx: Digest,
}
