//! Signing keys in files.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::trust::{Namespace, SignError, sign};
use ssh_key::{Algorithm, LineEnding, PrivateKey};

use crate::system::files;

/// The largest key file that is read, in bytes.
const KEY_BYTES_MAX: u64 = 64 * 1024;

/// Why a key can't sign.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// It is no OpenSSH private key.
    #[error("`{path}` is no OpenSSH private key ({message}); make one with `keys new`")]
    NotAKey {
        /// Which file.
        path: Utf8PathBuf,
        /// What the reader said.
        message: String,
    },
    /// It needs a passphrase.
    #[error(
        "`{0}` is protected by a passphrase, which is not asked for here; for a review, use \
         `review --export` and sign the entry with `ssh-keygen -Y sign`"
    )]
    Encrypted(Utf8PathBuf),
    /// It is of another kind.
    #[error("`{path}` is an {found} key; only ed25519 keys sign here")]
    Algorithm {
        /// Which file.
        path: Utf8PathBuf,
        /// What it is.
        found: String,
    },
    /// A private key would lie where it may be committed.
    #[error("`{path}` lies in the work tree `{tree}`; no private key belongs there")]
    InTree {
        /// Where it was to be written.
        path: Utf8PathBuf,
        /// The tree.
        tree: Utf8PathBuf,
    },
    /// Signing failed.
    #[error(transparent)]
    Sign(#[from] SignError),
}

/// A key that signs.
#[derive(Debug)]
pub struct SigningKey(PrivateKey);

impl SigningKey {
    /// Reads a key file.
    ///
    /// # Errors
    /// When it isn't an unencrypted ed25519 key in OpenSSH's format.
    pub fn read(path: &Utf8Path) -> Result<Self, KeyError> {
        let bytes = files::read_capped(path, KEY_BYTES_MAX)?;
        let key = PrivateKey::from_openssh(&bytes).map_err(|error| KeyError::NotAKey {
            path: path.to_owned(),
            message: error.to_string(),
        })?;
        if key.is_encrypted() {
            return Err(KeyError::Encrypted(path.to_owned()));
        }
        if key.algorithm() != Algorithm::Ed25519 {
            let found = key.algorithm().to_string();
            return Err(KeyError::Algorithm { path: path.to_owned(), found });
        }
        Ok(Self(key))
    }

    /// The signature over these bytes, armored.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn sign(&self, namespace: Namespace, message: &[u8]) -> Result<String, KeyError> {
        Ok(sign(&self.0, namespace, message)?)
    }

    /// The public half.
    pub fn public_key(&self) -> &ssh_key::PublicKey {
        self.0.public_key()
    }
}

/// Writes a new key: the private half, which only its owner may read, and the public half in
/// `FILE.pub`.
///
/// # Errors
/// When either file is there already, or would lie in the work tree `tree`, or the system refuses.
pub fn write_new_key(path: &Utf8Path, tree: &Utf8Path, key: &PrivateKey) -> Result<(), KeyError> {
    let real =
        |path: &Utf8Path| path.canonicalize_utf8().map_err(files::Error::system("find", path));
    let folder = path.parent().filter(|parent| !parent.as_str().is_empty());
    let folder = real(folder.unwrap_or(Utf8Path::new(".")))?;
    // The tree of a course within a larger repository is that repository's.
    let tree = real(tree)?;
    let tree = tree.ancestors().find(|it| it.join(".git").exists()).unwrap_or(&tree);
    if folder.starts_with(tree) {
        return Err(KeyError::InTree { path: path.to_owned(), tree: tree.to_owned() });
    }
    let public = Utf8PathBuf::from(format!("{path}.pub"));
    let text = key.public_key().to_openssh().map_err(SignError::Key)? + "\n";
    let secret = key.to_openssh(LineEnding::LF).map_err(SignError::Key)?;
    create(path, 0o600, secret.as_bytes())?;
    create(&public, 0o644, text.as_bytes()).inspect_err(|_| {
        // A private half without its public one would only be in the way of the next attempt.
        let _ = files::remove_file(path);
    })?;
    Ok(())
}

/// Makes a file that is not there, forced to the disk.
fn create(path: &Utf8Path, mode: u32, bytes: &[u8]) -> Result<(), files::Error> {
    let fail = || files::Error::system("make", path);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path).map_err(fail())?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(fail())
}
