//! Where a course lies, and where this harness keeps things in it.

use camino::{Utf8Path, Utf8PathBuf};

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

    /// The course that a command is about: the one named, or the nearest one above.
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
        let marks = ["lessons", "research"];
        let above = context.cwd.ancestors();
        let marked =
            above.into_iter().find(|folder| marks.iter().any(|mark| folder.join(mark).is_dir()));
        Ok(Self { path: marked.unwrap_or(&context.cwd).to_owned() })
    }
}
