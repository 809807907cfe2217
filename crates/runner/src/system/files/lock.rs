//! Advisory locks: one holder a lock file, released by the kernel when the holder ends, however it
//! ends.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::thread;
use std::time::Duration;

use camino::Utf8Path;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::Error;
use crate::system::process::Cancel;

/// How often a waiting locker looks again.
const TICK: Duration = Duration::from_millis(50);

/// A lock that is held until this is dropped. The lock file stays: removing it would let two
/// holders in.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would leave it held by a child that another thread has forked and that has
        // not got to its exec: it shares the open file. Unlocking holds for all who share it.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Takes the lock, waiting for its holder. `on_wait` is told once who that is.
///
/// # Errors
/// When the wait is cancelled, or the system refuses.
pub fn lock(
    path: impl AsRef<Utf8Path>,
    cancel: &Cancel,
    mut on_wait: impl FnMut(&str),
) -> Result<Lock, Error> {
    let path = path.as_ref();
    let mut told = false;
    loop {
        match try_lock(path) {
            Err(Error::Locked { path, holder }) => {
                if cancel.is_cancelled() {
                    return Err(Error::Cancelled { path, holder });
                }
                if !told {
                    on_wait(&holder);
                    told = true;
                }
                thread::sleep(TICK);
            }
            done => return done,
        }
    }
}

/// Takes the lock if nobody holds it. Its folder is made if it is missing.
///
/// # Errors
/// [`Error::Locked`] with the holder, or the system's refusal.
pub fn try_lock(path: impl AsRef<Utf8Path>) -> Result<Lock, Error> {
    let path = path.as_ref();
    super::create_dir(super::parent(path))?;
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        // The lock's file is emptied: through a link that would be somebody else's.
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
        .map_err(Error::system("lock", path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            return Err(Error::Locked { path: path.to_owned(), holder: holder(&mut file) });
        }
        Err(error) => return Err(Error::system("lock", path)(error.into())),
    }
    // Who holds it is for messages only; that it cannot be written (a full disk) does not make the
    // lock less held.
    let program = std::env::args().next().unwrap_or_default();
    let program = Utf8Path::new(&program).file_name().unwrap_or("a program");
    let _ = file.set_len(0);
    let _ = writeln!(file, "process {} (`{program}`)", std::process::id());
    Ok(Lock { file })
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let _ = file.rewind();
    let _ = file.take(200).read_to_string(&mut text);
    match text.trim() {
        "" => "another process".into(),
        text => text.chars().filter(|char| !char.is_control()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock_file() -> (tempfile::TempDir, camino::Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("a/lock");
        (folder, path)
    }

    #[test]
    fn a_second_holder_is_told_who_the_first_is() {
        let (_folder, path) = lock_file();
        let held = try_lock(&path).unwrap();
        let error = try_lock(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("process {} (", std::process::id())), "{error}");
        drop(held);
        try_lock(&path).unwrap();
    }

    #[test]
    fn waiting_ends_with_the_holder_or_a_cancel() {
        let (_folder, path) = lock_file();
        let held = try_lock(&path).unwrap();
        let cancel = Cancel::new();
        let mut held = Some(held);
        drop(lock(&path, &cancel, |_| held = None).unwrap());
        let _held = try_lock(&path).unwrap();
        let error = lock(&path, &cancel, |_| cancel.cancel()).unwrap_err();
        assert!(matches!(error, Error::Cancelled { .. }));
    }
}
