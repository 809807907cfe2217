//! Reading with limits, and writing so that a file is either whole or not there.
//!
//! **Invariant: a reader never sees half a file or half a folder that was written through here**,
//! whatever kills the writer: contents are written beside their destination, forced to the disk,
//! and moved over it. Every error names the file.

mod lock;
mod tree;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

pub use lock::{Lock, lock, try_lock};
pub use tree::{FileKind, TreeLimits, read_tree};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {action} `{path}`: {source}")]
    System {
        /// What was tried: "write".
        action: &'static str,
        /// With which file.
        path: Utf8PathBuf,
        /// The system's reason; a full disk says so here.
        source: io::Error,
    },
    /// The file is larger than its reader allows.
    #[error("`{path}` is larger than the {bytes_max} bytes allowed")]
    TooLarge {
        /// Which file.
        path: Utf8PathBuf,
        /// The limit.
        bytes_max: u64,
    },
    /// Something else than a regular file stands where one is expected.
    #[error("`{path}` is not a regular file")]
    NotAFile {
        /// Which.
        path: Utf8PathBuf,
    },
    /// A name that is not UTF-8, shown with replacement characters.
    #[error("the name `{shown}` in `{folder}` is not UTF-8; rename it")]
    NotUtf8 {
        /// Where.
        folder: Utf8PathBuf,
        /// The name, lossily.
        shown: String,
    },
    /// A tree with more entries, or deeper folders, than its reader allows.
    #[error("`{path}` {what}; {hint}")]
    TooMuch {
        /// Where reading stopped.
        path: Utf8PathBuf,
        /// What there is too much of.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// Somebody else holds the lock.
    #[error("`{path}` is locked by {holder}; wait for it to end, or end it")]
    Locked {
        /// The lock file.
        path: Utf8PathBuf,
        /// Who wrote itself into the lock file.
        holder: String,
    },
    /// Waiting for a lock was cancelled.
    #[error("stopped while waiting for `{path}`, which is locked by {holder}")]
    Cancelled {
        /// The lock file.
        path: Utf8PathBuf,
        /// Who wrote itself into the lock file.
        holder: String,
    },
}

impl Error {
    /// An error of the system, of a file.
    pub(crate) fn system(
        action: &'static str,
        path: impl AsRef<Utf8Path>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::System { action, path, source }
    }

    /// Whether it says that the file is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Writes a file so that it is either as it was or as it should be. Its folder must exist; an
/// existing file keeps its permissions, and a symbolic link is replaced, not followed.
///
/// # Errors
/// When the system refuses: the destination is untouched and nothing is left beside it.
pub fn write_atomic(path: impl AsRef<Utf8Path>, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    let path = path.as_ref();
    let temporary = sibling(path);
    let mode = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Some(metadata.permissions()),
        _ => None,
    };
    let written = write_beside(&temporary, bytes.as_ref(), mode)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(Error::system("write", path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written?;
    sync_folder(parent(path))
}

fn write_beside(path: &Utf8Path, bytes: &[u8], mode: Option<fs::Permissions>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.sync_all()
}

/// Writes a file that is not there yet, in a folder that nobody else sees yet; not forced to the
/// disk.
///
/// # Errors
/// When it is there, or the system refuses.
pub fn write_new(path: &Utf8Path, bytes: &[u8]) -> Result<(), Error> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(Error::system("write", path))
}

/// Makes a folder so that it is either whole or not there: `fill` is given a temporary sibling. If
/// the destination exists by the time the new folder is whole, it stays and `false` is returned.
///
/// # Errors
/// What `fill` returned, or the system's refusal: nothing is left behind.
pub fn write_dir_atomic<E: From<Error>>(
    path: impl AsRef<Utf8Path>,
    fill: impl FnOnce(&Utf8Path) -> Result<(), E>,
) -> Result<bool, E> {
    write_dir_cached(&path, |temporary| {
        fill(temporary)?;
        Ok(sync_all(temporary)?)
    })
    .and_then(|done| sync_folder(parent(path.as_ref())).map(|()| done).map_err(E::from))
}

/// Like [`write_dir_atomic`], and not forced to the disk: after a power cut the folder may be there
/// with files that are not whole. For caches, whose readers check digests.
///
/// # Errors
/// As [`write_dir_atomic`].
pub fn write_dir_cached<E: From<Error>>(
    path: impl AsRef<Utf8Path>,
    fill: impl FnOnce(&Utf8Path) -> Result<(), E>,
) -> Result<bool, E> {
    let path = path.as_ref();
    let temporary = sibling(path);
    fs::create_dir_all(parent(path)).map_err(Error::system("make the folder of", path))?;
    fs::create_dir(&temporary).map_err(Error::system("make", &temporary))?;
    let done = fill(&temporary).and_then(|()| match fs::rename(&temporary, path) {
        Ok(()) => Ok(true),
        Err(_) if path.is_dir() => Ok(false),
        Err(source) => Err(Error::system("make", path)(source).into()),
    });
    if !matches!(done, Ok(true)) {
        let _ = fs::remove_dir_all(&temporary);
    }
    done
}

/// Moves a folder that is whole to where it is looked for, on the same file system. If the
/// destination is there already, it stays and `false` is returned.
///
/// # Errors
/// When the system refuses.
pub fn move_dir(from: impl AsRef<Utf8Path>, to: impl AsRef<Utf8Path>) -> Result<bool, Error> {
    let to = to.as_ref();
    let moved = match fs::rename(from.as_ref(), to) {
        Ok(()) => true,
        Err(_) if to.is_dir() => false,
        Err(source) => return Err(Error::system("make", to)(source)),
    };
    sync_folder(parent(to)).map(|()| moved)
}

/// Forces a folder's files and names to the disk. One call for the whole file system: a toolkit has
/// thousands of files, and each on its own waits for the disk.
fn sync_all(folder: &Utf8Path) -> Result<(), Error> {
    let opened = File::open(folder).map_err(Error::system("open", folder))?;
    rustix::fs::syncfs(&opened).map_err(|error| Error::system("write", folder)(error.into()))
}

/// Forces a folder's names to the disk.
///
/// # Errors
/// When the system refuses.
pub fn sync_folder(folder: impl AsRef<Utf8Path>) -> Result<(), Error> {
    let folder = folder.as_ref();
    File::open(folder).and_then(|file| file.sync_all()).map_err(Error::system("write", folder))
}

/// Reads a regular file of at most `bytes_max` bytes. A link is followed; a device or a pipe is
/// refused, not waited for.
///
/// # Errors
/// When it is not there, not a file, or larger.
pub fn read_capped(path: impl AsRef<Utf8Path>, bytes_max: u64) -> Result<Vec<u8>, Error> {
    let path = path.as_ref();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .map_err(Error::system("read", path))?;
    let metadata = file.metadata().map_err(Error::system("read", path))?;
    if !metadata.is_file() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    let too_large = || Error::TooLarge { path: path.to_owned(), bytes_max };
    if metadata.len() > bytes_max {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // The file may grow while it is read.
    file.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Error::system("read", path))?;
    if bytes.len() as u64 > bytes_max { Err(too_large()) } else { Ok(bytes) }
}

/// Removes a file; that it was not there is no error.
///
/// # Errors
/// When the system refuses.
pub fn remove_file(path: impl AsRef<Utf8Path>) -> Result<(), Error> {
    let path = path.as_ref();
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::system("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Removes a folder with all it holds; that it was not there is no error.
///
/// # Errors
/// When the system refuses.
pub fn remove_dir(path: impl AsRef<Utf8Path>) -> Result<(), Error> {
    let path = path.as_ref();
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::system("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Makes a folder and those above it.
///
/// # Errors
/// When the system refuses.
pub fn create_dir(path: impl AsRef<Utf8Path>) -> Result<(), Error> {
    fs::create_dir_all(path.as_ref()).map_err(Error::system("make", path))
}

/// Gives a file the run bits that its read bits allow.
///
/// # Errors
/// When the system refuses.
pub fn make_executable(path: impl AsRef<Utf8Path>) -> Result<(), Error> {
    let path = path.as_ref();
    let mode = fs::metadata(path).map_err(Error::system("read", path))?.permissions().mode();
    let mode = mode | ((mode & 0o444) >> 2);
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(Error::system("make executable", path))
}

/// A name beside `path` that nobody else uses; it starts with a dot and says whose it is.
fn sibling(path: &Utf8Path) -> Utf8PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or("root");
    let name: String = name.chars().take(100).collect();
    parent(path).join(format!(".{name}.{}-{count}.tmp", std::process::id()))
}

/// Removes what killed writers of this file left beside it. Only for a caller that knows that
/// nobody is writing it.
///
/// # Errors
/// When the system refuses.
pub fn remove_leftovers(path: impl AsRef<Utf8Path>) -> Result<(), Error> {
    let path = path.as_ref();
    let prefix = format!(".{}.", path.file_name().unwrap_or("root"));
    let folder = parent(path);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.starts_with(&prefix) && name.ends_with(".tmp") {
            let path = folder.join(name);
            if path.is_dir() { remove_dir(path)? } else { remove_file(path)? }
        }
    }
    Ok(())
}

fn parent(path: &Utf8Path) -> &Utf8Path {
    match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    }
}

#[cfg(test)]
mod tests;
