//! Where a course lies, and where this harness keeps things in it.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::MANIFEST_FILE;

use crate::context::Context;
use crate::error::Error;

/// The folder of state that must not be lost: nonces that were issued, journals.
const STATE_FOLDER: &str = ".proofrun";

/// The folder of what can be made again: the managed toolkit, caches.
const TARGET_FOLDER: &str = "target/proofrun";

/// Where a course lies.
#[derive(Debug, Clone)]
pub struct Root {
    path: Utf8PathBuf,
}

impl Root {
    /// The folder.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// State that must not be lost.
    pub fn state(&self) -> Utf8PathBuf {
        self.path.join(STATE_FOLDER)
    }

    /// What can be made again.
    pub fn target(&self) -> Utf8PathBuf {
        self.path.join(TARGET_FOLDER)
    }

    /// The course that a command is about: the one named, the nearest marked folder at or above
    /// the current one, or the folder above a lesson's own. A course whose lessons lie side by side
    /// needs no mark, so none of them may be taken for the course itself.
    ///
    /// # Errors
    /// When the one named is no folder.
    pub fn find(given: Option<Utf8PathBuf>, context: &Context) -> Result<Self, Error> {
        if let Some(given) = given {
            let path = context.cwd.join(given);
            return if path.is_dir() {
                Ok(Self { path })
            } else {
                Err(Error::Usage(format!("`{path}` is no folder; name the course's root")))
            };
        }
        let marks = ["lessons", "research", STATE_FOLDER];
        let mut above = context.cwd.ancestors();
        let marked = above.find(|folder| marks.iter().any(|mark| folder.join(mark).is_dir()));
        let in_lesson = context.cwd.join(MANIFEST_FILE).is_file();
        let beside = context.cwd.parent().filter(|_| in_lesson);
        Ok(Self { path: marked.or(beside).unwrap_or(&context.cwd).to_owned() })
    }
}
