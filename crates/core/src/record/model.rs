//! `record.toml`: the machine facts of a record, format version 1.
//!
//! The version rule: a reader knows every version up to its own and refuses a newer one by name;
//! within a version no field changes its meaning, and a new field means a new version. Unknown keys
//! are refused. Outputs are not in here: they are plain files beside it, each named in
//! [`Record::file`] with its length and digest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::card::CardState;
use crate::device::DeviceFacts;
use crate::digest::Digest;
use crate::toolkit::ToolkitFacts;

/// The format version that this harness writes, and the highest that it reads.
pub const RECORD_FORMAT: u32 = 1;

/// The file that holds a [`Record`].
pub const RECORD_FILE: &str = "record.toml";

/// The file that holds its signature.
pub const SIGNATURE_FILE: &str = "record.toml.sig";

/// How many fresh processes a record holds unless asked otherwise.
pub const RUNS_DEFAULT: u32 = 5;

/// What was recorded, where, of what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The format version.
    pub schema: u32,
    /// The lesson's folder name.
    pub lesson: String,
    /// The build's name, such as `sm_80`.
    pub variant: String,
    /// When the last run ended, by the host's clock, in whole seconds.
    pub recorded_at: Timestamp,
    /// The principal that signs.
    pub recorder: String,
    /// Where the signature was made.
    pub signed_at: SignedAt,
    /// The nonce that `bundle` issued.
    pub nonce: String,
    /// How many runs a complete record of this plan has, for each program.
    pub runs: u32,
    /// The commit that was bundled, where the course is a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
    /// What recorded.
    pub runner: RunnerFacts,
    /// What compiled.
    pub toolkit: ToolkitFacts,
    /// What ran.
    pub device: RecordedDevice,
    /// The card before the first run.
    pub before: CardState,
    /// The card after the last run.
    pub after: CardState,
    /// `LD_*`, `CUDA_*` and `NVIDIA_*` variables as the programs saw them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The lesson's programs, the primary one first.
    pub program: Vec<ProgramRecord>,
    /// compute-sanitizer, a row a tool and program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sanitizer: Vec<SanitizerRecord>,
    /// The Rust checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckSummary>,
    /// Every other file of the record.
    pub file: Vec<FileRecord>,
}

/// Where a record was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignedAt {
    /// On the GPU host, right after the last run.
    Host,
    /// By whoever imported it: the way from the host was not covered by a signature.
    Import,
}

/// The commit that was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The full object name.
    pub id: String,
    /// Whether the work tree differed from it.
    pub dirty: bool,
}

/// The binary that recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerFacts {
    /// Its version.
    pub version: String,
    /// The digest of its executable file.
    pub executable: Digest,
}

/// The device of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedDevice {
    /// SHA-256 of the card's UUID: two records of one card can be told, the card itself can't.
    pub uuid_sha256: Digest,
    /// What templates can name.
    pub facts: DeviceFacts,
    /// The newest CUDA release whose interface its driver offers, such as `13.0`.
    pub cuda: String,
}

/// One program of the lesson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramRecord {
    /// Its name: the stem of its source.
    pub name: String,
    /// What it was built with and from.
    pub build: BuildRecord,
    /// The command that ran it, as the page shows it.
    pub command: Vec<String>,
    /// Variables that the manifest gave it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Its runs, in order.
    pub run: Vec<RunRecord>,
}

/// A build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuildRecord {
    /// The resolved build command.
    pub argv: Vec<String>,
    /// The compiler's output, a file of the record.
    pub log: String,
    /// The PTX of the shipped flags, a file of the record.
    pub ptx: String,
    /// Digest of the executable: information, since executables are not byte-stable.
    pub executable: Digest,
    /// Whether it was compiled on the host or came with the bundle.
    pub prebuilt: bool,
    /// The source and each repository file that it includes, by path within the lesson.
    pub source: Vec<SourceRecord>,
}

/// The two digests of one source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceRecord {
    /// Relative to the course's root.
    pub path: String,
    /// Of the LF-normalised text, its status paragraph in the UNVERIFIED form.
    pub text: Digest,
    /// Of the tokens: without comments and white space.
    pub code: Digest,
}

/// One fresh process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// How it ended.
    pub ended: Ended,
    /// The exit status, where it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Wall time in milliseconds: not a measurement of the lesson.
    pub wall_ms: u64,
    /// Raw standard output, a file of the record.
    pub stdout: String,
    /// Raw standard error, a file of the record.
    pub stderr: String,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// By itself, with an exit status.
    Exited,
    /// By a signal.
    Signalled,
    /// Killed at its deadline.
    Hung,
    /// Killed for printing more than the limit.
    TooMuchOutput,
}

/// One compute-sanitizer tool over one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SanitizerRecord {
    /// `memcheck`, `racecheck`, `initcheck` or `synccheck`.
    pub tool: String,
    /// The program's name.
    pub program: String,
    /// What came of it.
    pub outcome: SanitizerOutcome,
    /// Errors it counted, where it ran to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u32>,
    /// Why it was not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its report, a file of the record. Timings in it are of no use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// What came of a sanitizer run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SanitizerOutcome {
    /// It ran to its end and counted no error.
    Clean,
    /// It counted errors.
    Found,
    /// It was killed at its deadline.
    Hung,
    /// The tool refuses this device.
    DeviceNotSupported,
    /// It is not there, or the budget was spent.
    NotExecuted,
}

/// The Rust checks of the lesson's kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSummary {
    /// The harness's name.
    pub harness: String,
    /// What came of it.
    pub outcome: CheckOutcome,
    /// Cases that ran.
    pub executed: u32,
    /// Of them, those that failed.
    pub failed: u32,
    /// Cases that did not run.
    pub not_executed: u32,
    /// What there is to say: how it ended, or the first fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Every case, as JSON, a file of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// What came of the Rust checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// Every case ran and passed.
    Passed,
    /// A case failed.
    Failed,
    /// The process that ran them ended by a signal or gave no report.
    Crashed,
    /// It was killed at its deadline.
    Hung,
    /// It was not run.
    NotExecuted,
}

impl CheckSummary {
    /// Whether at least one case ran, and every case passed.
    pub fn passed(&self) -> bool {
        self.outcome == CheckOutcome::Passed
            && self.executed > 0
            && self.failed == 0
            && self.not_executed == 0
    }
}

/// A file of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its name in the record's folder.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its digest.
    pub sha256: Digest,
}

impl Record {
    /// The device's model, a slug of its name.
    pub fn model(&self) -> String {
        self.device.facts.model()
    }

    /// The folder name that a record of this digest must have.
    pub fn folder_name(&self, digest: &Digest) -> String {
        let day = self.recorded_at.strftime("%Y-%m-%d");
        format!("{day}-{}-{}-{}", self.model(), self.variant, digest.short())
    }

    /// As TOML.
    ///
    /// # Errors
    /// When the values can't be written as TOML, such as an integer above 2⁶³.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// The program of this name.
    pub fn program(&self, name: &str) -> Option<&ProgramRecord> {
        self.program.iter().find(|program| program.name == name)
    }

    /// Every file that the facts above name, so that none is listed without a use nor used without
    /// being listed.
    pub fn files_used(&self) -> impl Iterator<Item = &str> {
        let programs = self.program.iter().flat_map(|program| {
            let streams = program.run.iter().flat_map(|run| [&run.stdout, &run.stderr]);
            streams.chain([&program.build.log, &program.build.ptx])
        });
        let sanitizers = self.sanitizer.iter().filter_map(|row| row.log.as_ref());
        let check = self.check.iter().filter_map(|check| check.report.as_ref());
        programs.chain(sanitizers).chain(check).map(String::as_str)
    }
}
