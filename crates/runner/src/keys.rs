//! Signing keys in files.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::trust::{Namespace, SignError, sign};
use ssh_key::{Algorithm, PrivateKey};

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
