//! Verifying an SSH signature file over stored bytes.
//!
//! The format is OpenSSH's PROTOCOL.sshsig (version 1), armored as `ssh-keygen -Y sign` writes it.
//! **Invariants: a signature has exactly one spelling, so that any changed byte of its file is
//! found, white space included; and times are judged last, since the signed time is only worth
//! something once the signature holds.**

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use ssh_key::{LineEnding, SshSig};

use super::{AllowedSigners, Principal, Signer};

/// What a signature is for. A signature made for one purpose never counts for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Namespace {
    /// A record: "these runs happened on that device".
    Record,
    /// A review entry: "I accept, reject or revoke".
    Review,
}

impl Namespace {
    /// Both, in the order in which they are written.
    pub const ALL: [Self; 2] = [Self::Record, Self::Review];

    /// As it stands in signatures and in `allowed_signers`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record@proofrun",
            Self::Review => "review@proofrun",
        }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Namespace {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|namespace| namespace.as_str() == text).ok_or(())
    }
}

/// Why a signature doesn't count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The file holds no armored SSH signature of version 1.
    #[error("not an SSH signature: {0}")]
    NotASignature(String),
    /// Something follows the signature, inside or behind its armor.
    #[error("data follows the signature")]
    TrailingData,
    /// The same signature, but not as `ssh-keygen` writes it.
    #[error("not spelled as `ssh-keygen -Y sign` writes it: armor or white space was changed")]
    NotCanonical,
    /// Signed for another purpose.
    #[error("signed for namespace `{found}`, and `{expected}` is needed")]
    WrongNamespace {
        /// What it was signed for.
        found: String,
        /// What was asked for.
        expected: Namespace,
    },
    /// Not ed25519.
    #[error("made with a key of type `{0}`, and only ssh-ed25519 is accepted")]
    KeyType(String),
    /// The trust root doesn't list the key.
    #[error("key `{0}` is not in the trust root")]
    UnknownKey(String),
    /// The trust root lists the key for the other purpose only.
    #[error("key `{fingerprint}` of `{principal}` may not sign for `{namespace}`")]
    NotForNamespace {
        /// Whose key it is.
        principal: Principal,
        /// Which key it is.
        fingerprint: String,
        /// What it was used for.
        namespace: Namespace,
    },
    /// The signature was not made by this key over these bytes.
    #[error("the signature does not fit the bytes: they, or it, were changed")]
    BadSignature,
    /// Signed before the key's window.
    #[error("signed at {at}, before the key of `{principal}` became valid at {from}")]
    NotYetValid {
        /// Whose key it is.
        principal: Principal,
        /// When it was signed.
        at: Timestamp,
        /// The first moment at which the key counts.
        from: Timestamp,
    },
    /// Signed after the key's window.
    #[error("signed at {at}, after the key of `{principal}` ceased to be valid at {until}")]
    Expired {
        /// Whose key it is.
        principal: Principal,
        /// When it was signed.
        at: Timestamp,
        /// The last moment at which the key counts.
        until: Timestamp,
    },
}

/// The longest signature file that is read, in bytes; a real one has about 300.
const SIGNATURE_BYTES_MAX: usize = 4096;

/// Who signed `message` for `namespace`, where the bytes of the signature file say so and the trust
/// root allowed it `at` the signed time (both ends of a key's window included, as in OpenSSH).
///
/// # Errors
/// The first of [`SignatureError`]'s reasons that applies, in the order in which they are declared.
pub fn verify(
    signers: &AllowedSigners,
    namespace: Namespace,
    message: &[u8],
    signature: &[u8],
    at: Timestamp,
) -> Result<Signer, SignatureError> {
    let signature = parse(signature)?;
    if signature.namespace() != namespace.as_str() {
        let found = signature.namespace().chars().take(80).collect();
        return Err(SignatureError::WrongNamespace { found, expected: namespace });
    }
    let Some(key) = signature.public_key().ed25519() else {
        return Err(SignatureError::KeyType(signature.public_key().algorithm().to_string()));
    };
    let Some(grant) = signers.grant(key) else {
        let fingerprint = signature.public_key().fingerprint(ssh_key::HashAlg::Sha256);
        return Err(SignatureError::UnknownKey(fingerprint.to_string()));
    };
    let principal = || grant.signer().principal.clone();
    if !grant.namespaces().contains(&namespace) {
        let fingerprint = grant.signer().fingerprint.clone();
        return Err(SignatureError::NotForNamespace {
            principal: principal(),
            fingerprint,
            namespace,
        });
    }
    let checked = grant.public_key().verify(namespace.as_str(), message, &signature);
    checked.map_err(|_| SignatureError::BadSignature)?;
    if let Some(from) = grant.valid_after().filter(|from| at < *from) {
        return Err(SignatureError::NotYetValid { principal: principal(), at, from });
    }
    if let Some(until) = grant.valid_before().filter(|until| at > *until) {
        return Err(SignatureError::Expired { principal: principal(), at, until });
    }
    Ok(grant.signer().clone())
}

/// The signature in these bytes, if they are its one spelling.
fn parse(bytes: &[u8]) -> Result<SshSig, SignatureError> {
    let not = |why: &dyn fmt::Display| SignatureError::NotASignature(why.to_string());
    if bytes.len() > SIGNATURE_BYTES_MAX {
        return Err(not(&format_args!("{} bytes, at most {SIGNATURE_BYTES_MAX}", bytes.len())));
    }
    let signature = SshSig::from_pem(bytes);
    let signature = signature.map_err(|error| match before_trailing_data(bytes) {
        Some(armored) if SshSig::from_pem(armored).is_ok() => SignatureError::TrailingData,
        _ => not(&error),
    })?;
    // The parser lets versions below its own pass. OpenSSH ignores the reserved field without
    // signing it, so anything in there could be changed unseen by it.
    if signature.version() != SshSig::VERSION || !signature.reserved().is_empty() {
        return Err(not(&"version 1 with an empty reserved field expected"));
    }
    let canonical = armor(&signature).map_err(|error| not(&error))?;
    if bytes == canonical.as_bytes() { Ok(signature) } else { Err(SignatureError::NotCanonical) }
}

/// What stands up to the end of the armor, where anything follows it. The parser refuses that too,
/// but under the name of whatever it stumbles over.
fn before_trailing_data(bytes: &[u8]) -> Option<&[u8]> {
    const END: &[u8] = b"-----END SSH SIGNATURE-----\n";
    let end = bytes.windows(END.len()).position(|window| window == END)? + END.len();
    (end < bytes.len()).then(|| &bytes[..end])
}

/// A signature's one spelling: armor, base64 in lines of 70, a final newline.
pub(super) fn armor(signature: &SshSig) -> Result<String, ssh_key::Error> {
    signature.to_pem(LineEnding::LF)
}
