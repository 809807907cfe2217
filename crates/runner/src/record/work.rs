//! The work folder of one record in the making: each step's outcome is a file, written once.
//!
//! **Invariant: a step whose outcome file is there is done, and is not done again.** Streams are
//! written before the outcome that names them, so a kill at any moment costs at most the step that
//! was under way.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::system::files;

use super::RecordError;

/// The file that says what the folder is the record of.
const PLAN_FILE: &str = "plan.toml";

/// The step that makes the runs.
pub(super) const RUNS: &str = "runs";

/// The largest file of a record in the making.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A work folder.
#[derive(Debug)]
pub struct Work {
    folder: Utf8PathBuf,
}

impl Work {
    /// Opens the folder for a plan, or makes it. What was begun under another plan is dropped as
    /// long as nothing had been run.
    ///
    /// # Errors
    /// When it holds runs of another plan, or the disk refuses.
    pub fn open(folder: &Utf8Path, plan: &Digest) -> Result<Self, RecordError> {
        let work = Self { folder: folder.to_owned() };
        let path = folder.join(PLAN_FILE);
        if path.exists() {
            let found = files::read_capped(&path, 1024)?;
            if found == plan.to_string().as_bytes() {
                return Ok(work);
            }
            if work.is_done(RUNS) {
                return Err(RecordError::OtherPlan(folder.to_owned()));
            }
        }
        files::remove_dir(folder)?;
        files::create_dir(folder)?;
        files::write_atomic(&path, plan.to_string())?;
        Ok(work)
    }

    /// Drops the folder, unless something was run: then what there is of it is kept.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn drop_unless_run(self) -> Result<(), RecordError> {
        if self.is_done(RUNS) { Ok(()) } else { Ok(files::remove_dir(&self.folder)?) }
    }

    /// Whether a step's outcome is there.
    pub fn is_done(&self, step: &str) -> bool {
        self.path(&step_file(step)).exists()
    }

    /// Where a file of the record lies.
    pub fn path(&self, name: &str) -> Utf8PathBuf {
        self.folder.join(name)
    }

    /// The folder.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Writes a file of the record.
    ///
    /// # Errors
    /// When the disk refuses; nothing half-written is left.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), RecordError> {
        Ok(files::write_atomic(self.path(name), bytes)?)
    }

    /// Reads a file of the record.
    ///
    /// # Errors
    /// When it isn't there.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, RecordError> {
        Ok(files::read_capped(self.path(name), FILE_BYTES_MAX)?)
    }

    /// The outcome of a step: from its file, or by doing it.
    ///
    /// # Errors
    /// What the step returned, or when its outcome can't be kept.
    pub fn step<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        run: impl FnOnce() -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        if let Some(outcome) = self.outcome(name) {
            return Ok(outcome);
        }
        let outcome = run()?;
        let text = toml::to_string(&outcome).map_err(RecordError::Write)?;
        self.write(&step_file(name), text)?;
        Ok(outcome)
    }

    /// The outcome of a step that is done. One that can't be read counts as not done.
    fn outcome<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let bytes = files::read_capped(self.path(&step_file(name)), FILE_BYTES_MAX).ok()?;
        toml::from_str(std::str::from_utf8(&bytes).ok()?).ok()
    }
}

/// Outcome files are no part of the record: what they say goes into `record.toml`.
fn step_file(name: &str) -> String {
    format!("step.{name}.toml")
}
