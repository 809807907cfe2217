//! Several files written and removed together: a redo journal.
//!
//! The order is the whole idea. New contents are staged in the journal's folder and forced to the
//! disk; then `journal.toml`, which lists what each file was and shall be, is moved into place:
//! **that move is the commit**. Only then are the files touched, one by one, and last the journal
//! is dropped. Killed before the commit, nothing has happened; killed after it, [`recover`]
//! finishes.
//!
//! **Invariant: after [`recover`] the files are all old or all new.** A file that is neither
//! (somebody edited it in between) is named and nothing is overwritten.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use serde::{Deserialize, Serialize};

use super::files::{self, Lock};

const JOURNAL: &str = "journal.toml";
const SCHEMA: u32 = 1;
/// The largest journal that is read back.
const JOURNAL_BYTES_MAX: u64 = 16 << 20;
/// The largest file that takes part.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Why several files could not be changed together.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file refused.
    #[error(transparent)]
    File(#[from] files::Error),
    /// A journal is left from a change that was interrupted.
    #[error("an earlier change was interrupted and waits in `{journal}`; recover it first")]
    Unfinished {
        /// The journal's folder.
        journal: Utf8PathBuf,
    },
    /// The journal does not read.
    #[error(
        "the journal `{path}` is damaged: {reason}; look at the files \
         beside it, then remove its folder"
    )]
    Damaged {
        /// The journal's file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is neither what it was nor what it shall be.
    #[error(
        "`{path}` was changed by somebody else during an interrupted change; \
         restore it, then try again"
    )]
    Foreign {
        /// Which file.
        path: Utf8PathBuf,
    },
    /// The test's kill.
    #[cfg(test)]
    #[error("killed before step {0}")]
    Killed(usize),
}

/// What [`recover`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovered {
    /// Nothing was unfinished.
    Nothing,
    /// A change had not been committed and was dropped: all files are old.
    Dropped,
    /// A committed change was finished: all files are new. These are its files.
    Finished(Vec<Utf8PathBuf>),
}

/// A change of several files that has not happened yet. Dropped without a commit, it never happens.
#[derive(Debug)]
pub struct Transaction {
    folder: Utf8PathBuf,
    changes: BTreeMap<Utf8PathBuf, Option<Vec<u8>>>,
    _lock: Lock,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Journal {
    schema: u32,
    #[serde(default)]
    change: Vec<Change>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    path: Utf8PathBuf,
    /// Absent: the file was not there.
    old: Option<Digest>,
    /// Absent: the file shall not be there.
    new: Option<Digest>,
    /// Where the new contents are staged.
    staged: Option<String>,
}

/// Called before each step that changes the disk; tests end the program's life there.
trait Steps {
    fn step(&mut self) -> Result<(), Error>;
}

/// No one interferes.
struct Undisturbed;

impl Steps for Undisturbed {
    fn step(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

impl Transaction {
    /// Begins a change whose journal lives in `journal`, a folder that nothing else uses. Only one
    /// change at a time can be under way in it.
    ///
    /// # Errors
    /// When another process has one under way, or an interrupted one waits to be recovered.
    pub fn new(journal: impl AsRef<Utf8Path>) -> Result<Self, Error> {
        let folder = journal.as_ref().to_owned();
        let lock = lock(&folder)?;
        if folder.join(JOURNAL).exists() {
            return Err(Error::Unfinished { journal: folder });
        }
        files::remove_dir(&folder)?;
        Ok(Self { folder, changes: BTreeMap::new(), _lock: lock })
    }

    /// The file shall hold these bytes. Missing folders are made.
    pub fn write(&mut self, path: impl AsRef<Utf8Path>, bytes: impl Into<Vec<u8>>) -> &mut Self {
        self.changes.insert(path.as_ref().to_owned(), Some(bytes.into()));
        self
    }

    /// The file shall not be there.
    pub fn remove(&mut self, path: impl AsRef<Utf8Path>) -> &mut Self {
        self.changes.insert(path.as_ref().to_owned(), None);
        self
    }

    /// Makes the change happen.
    ///
    /// # Errors
    /// When a file refuses. Either nothing happened, or the journal was committed and [`recover`]
    /// will finish.
    pub fn commit(self) -> Result<(), Error> {
        self.commit_with(&mut Undisturbed)
    }

    fn commit_with(self, steps: &mut dyn Steps) -> Result<(), Error> {
        let staged = self.stage(steps);
        let journal = match staged {
            Ok(journal) => journal,
            #[cfg(test)]
            Err(killed @ Error::Killed(_)) => return Err(killed),
            Err(error) => {
                let _ = files::remove_dir(&self.folder);
                return Err(error);
            }
        };
        apply(&self.folder, &journal, steps)
    }

    /// Everything up to and including the commit.
    fn stage(&self, steps: &mut dyn Steps) -> Result<Journal, Error> {
        steps.step()?;
        files::create_dir(&self.folder)?;
        let mut journal = Journal { schema: SCHEMA, change: Vec::new() };
        for (index, (path, new)) in self.changes.iter().enumerate() {
            let old = digest_of(path)?;
            let staged = new.as_ref().map(|_| format!("{index}"));
            if let (Some(name), Some(bytes)) = (&staged, new) {
                steps.step()?;
                files::write_atomic(self.folder.join(name), bytes)?;
            }
            let new = new.as_ref().map(Digest::of);
            let path = camino::absolute_utf8(path).map_err(files::Error::system("find", path))?;
            journal.change.push(Change { path, old, new, staged });
        }
        let text = toml::to_string(&journal).map_err(|error| Error::Damaged {
            path: self.folder.join(JOURNAL),
            reason: error.to_string(),
        })?;
        steps.step()?;
        files::write_atomic(self.folder.join(JOURNAL), text)?;
        Ok(journal)
    }
}

/// Finishes a change that was committed and interrupted, and drops one that was not committed. To
/// be called before the files are read. All its files lie below `root`: a journal is a file that
/// somebody else could have brought, so one that names another file is not followed anywhere.
///
/// # Errors
/// When another process has a change under way, the journal is damaged or leads out of `root`, or a
/// file is neither old nor new.
pub fn recover(
    journal: impl AsRef<Utf8Path>,
    root: impl AsRef<Utf8Path>,
) -> Result<Recovered, Error> {
    recover_with(journal.as_ref(), root.as_ref(), &mut Undisturbed)
}

fn recover_with(
    folder: &Utf8Path,
    root: &Utf8Path,
    steps: &mut dyn Steps,
) -> Result<Recovered, Error> {
    if !folder.exists() {
        return Ok(Recovered::Nothing);
    }
    let _lock = lock(folder)?;
    let path = folder.join(JOURNAL);
    let text = match files::read_capped(&path, JOURNAL_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.is_not_found() => {
            steps.step()?;
            files::remove_dir(folder)?;
            return Ok(Recovered::Dropped);
        }
        Err(error) => return Err(error.into()),
    };
    let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
    let text = String::from_utf8(text).map_err(|error| damaged(error.to_string()))?;
    let journal: Journal = toml::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if journal.schema != SCHEMA {
        return Err(damaged(format!("schema {} is not {SCHEMA}", journal.schema)));
    }
    let root = root.canonicalize_utf8().map_err(files::Error::system("find", root))?;
    for change in &journal.change {
        let plain = |name: &String| name.parse::<usize>().is_ok();
        if !change.staged.as_ref().is_none_or(plain) || !is_confined(&root, &change.path) {
            return Err(damaged(format!("`{}` is no file of this course", change.path)));
        }
    }
    for change in &journal.change {
        files::remove_leftovers(&change.path)?;
    }
    apply(folder, &journal, steps)?;
    Ok(Recovered::Finished(journal.change.into_iter().map(|change| change.path).collect()))
}

/// Whether a file lies below the root, links followed, and in no hidden folder of it: git's own
/// configuration would start programs.
fn is_confined(root: &Utf8Path, path: &Utf8Path) -> bool {
    let is_plain = |part: Utf8Component<'_>| match part {
        Utf8Component::Normal(name) => !name.starts_with('.'),
        _ => false,
    };
    let mut ancestors = path.ancestors();
    let there = ancestors.find(|ancestor| ancestor.symlink_metadata().is_ok());
    let Some(there) = there.filter(|_| path.is_absolute()) else { return false };
    let Ok(rest) = path.strip_prefix(there) else { return false };
    let real = there.canonicalize_utf8();
    let real = real.ok().and_then(|real| real.strip_prefix(root).ok().map(Utf8Path::to_owned));
    real.is_some_and(|real| {
        real.components().chain(rest.components()).all(is_plain)
            && real.components().chain(rest.components()).next().is_some()
    })
}

/// Everything after the commit. Doing it again changes nothing.
fn apply(folder: &Utf8Path, journal: &Journal, steps: &mut dyn Steps) -> Result<(), Error> {
    // First look at all, so that a foreign file refuses the whole and not the rest.
    for change in &journal.change {
        let now = digest_of(&change.path)?;
        if now != change.old && now != change.new {
            return Err(Error::Foreign { path: change.path.clone() });
        }
    }
    for change in &journal.change {
        if digest_of(&change.path)? == change.new {
            continue;
        }
        steps.step()?;
        apply_one(folder, change)?;
    }
    // The journal's file goes first: without it the rest is staging that nobody committed.
    steps.step()?;
    files::remove_file(folder.join(JOURNAL))?;
    files::sync_folder(folder)?;
    steps.step()?;
    Ok(files::remove_dir(folder)?)
}

fn apply_one(folder: &Utf8Path, change: &Change) -> Result<(), Error> {
    let Some(staged) = &change.staged else {
        files::remove_file(&change.path)?;
        return Ok(change.path.parent().map_or(Ok(()), files::sync_folder)?);
    };
    let staged = folder.join(staged);
    let bytes = files::read_capped(&staged, FILE_BYTES_MAX)?;
    if Some(Digest::of(&bytes)) != change.new {
        let reason = format!("its contents for `{}` are not what was staged", change.path);
        return Err(Error::Damaged { path: staged, reason });
    }
    if let Some(parent) = change.path.parent() {
        files::create_dir(parent)?;
    }
    // Written anew and not moved: the journal may be on another file system than the course.
    Ok(files::write_atomic(&change.path, bytes)?)
}

fn digest_of(path: &Utf8Path) -> Result<Option<Digest>, Error> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(files::Error::NotAFile { path: path.to_owned() }.into()),
        Err(error) => return Err(files::Error::system("read", path)(error).into()),
    }
    Ok(Some(Digest::of(files::read_capped(path, FILE_BYTES_MAX)?)))
}

/// The lock lies beside the folder, because the folder itself comes and goes.
fn lock(folder: &Utf8Path) -> Result<Lock, Error> {
    Ok(files::try_lock(format!("{folder}.lock"))?)
}

#[cfg(test)]
mod tests;
