//! Who uses a card: one file a card and user, locked while programs are timed on it.

use camino::Utf8PathBuf;
use proofrun_core::Digest;

/// The lock file of a card. It lies in the system's temporary folder, so that every checkout and
/// bundle of a user on this host means the same one; another user's work shows in a record as
/// another process on the card.
///
/// # Errors
/// When the name of that folder is not UTF-8.
pub fn lock_file(uuid: &Digest) -> Result<Utf8PathBuf, camino::FromPathBufError> {
    let folder = Utf8PathBuf::try_from(std::env::temp_dir())?;
    let user = rustix::process::getuid().as_raw();
    Ok(folder.join(format!("proofrun-{user}")).join(format!("device-{}.lock", uuid.short())))
}
