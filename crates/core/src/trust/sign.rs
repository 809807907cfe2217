//! Making keys, signatures and trust root lines: the inverse of what the rest of this module reads.

use jiff::Timestamp;
use ssh_key::private::{Ed25519Keypair, KeypairData};
use ssh_key::{HashAlg, PrivateKey, PublicKey};

use super::signature::armor;
use super::signers::{Window, parse_line};
use super::{LineError, Namespace, Principal};

/// Why nothing was signed or made.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// Another kind of key.
    #[error("the key is of type `{0}`, and only ssh-ed25519 is accepted")]
    KeyType(String),
    /// A key behind a passphrase.
    #[error("the key is encrypted; sign with `ssh-keygen -Y sign` or decrypt it first")]
    Encrypted,
    /// A comment that would break the line it stands in.
    #[error("the comment of a key holds no control characters and at most 200 characters")]
    Comment,
    /// The key could not be used.
    #[error("the key cannot be used")]
    Key(#[from] ssh_key::Error),
}

/// The armored signature of `message` for `namespace`, the exact bytes for a `.sig` file. The same
/// key and message always give the same signature.
///
/// # Errors
/// Where the key is encrypted or not ed25519.
pub fn sign(key: &PrivateKey, namespace: Namespace, message: &[u8]) -> Result<String, SignError> {
    if key.is_encrypted() {
        return Err(SignError::Encrypted);
    }
    if key.public_key().key_data().ed25519().is_none() {
        return Err(SignError::KeyType(key.algorithm().to_string()));
    }
    let signature = key.sign(namespace.as_str(), HashAlg::Sha512, message)?;
    Ok(armor(&signature)?)
}

/// The ed25519 key of these 32 random bytes, which the caller draws.
///
/// # Errors
/// Where the comment would not fit on a line of a public key file.
pub fn new_key(comment: &str, seed: &[u8; 32]) -> Result<PrivateKey, SignError> {
    if comment.chars().any(char::is_control) || comment.chars().count() > 200 {
        return Err(SignError::Comment);
    }
    let pair = Ed25519Keypair::from_seed(seed);
    Ok(PrivateKey::new(KeypairData::Ed25519(pair), comment)?)
}

/// A line for `allowed_signers`, without its newline. It reads back to what was given, or is
/// refused.
///
/// # Errors
/// Every reason for which [`super::AllowedSigners::parse`] would refuse the line: no namespace, a
/// window that is empty or not in whole seconds, a key that isn't ed25519.
pub fn signer_line(
    principal: &Principal,
    namespaces: &[Namespace],
    window: (Option<Timestamp>, Option<Timestamp>),
    key: &PublicKey,
) -> Result<String, Vec<LineError>> {
    let names: Vec<_> = namespaces.iter().map(|namespace| namespace.as_str()).collect();
    let mut line = format!("{principal} namespaces=\"{}\"", names.join(","));
    for (option, time) in [("valid-after", window.0), ("valid-before", window.1)] {
        if let Some(time) = time {
            line.push_str(&format!(",{option}=\"{}\"", Window::spell(time)));
        }
    }
    let public = key.to_openssh().map_err(|error| vec![LineError::Key(error.to_string())])?;
    line = format!("{line} {public}");
    let (read, mut errors) = parse_line(&line);
    if errors.is_empty() && (read.window.after, read.window.before) != window {
        errors.push(LineError::Window("is not in whole seconds"));
    }
    if errors.is_empty() { Ok(line) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::AllowedSigners;

    #[test]
    fn the_key_of_a_published_seed_is_the_published_one() {
        // RFC 8032, section 7.1, test 1: secret key and public key.
        let hex = |text: &str| -> [u8; 32] { *text.parse::<crate::Digest>().unwrap().as_bytes() };
        let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        let key = new_key("c", &seed).unwrap();
        assert_eq!(key.public_key().key_data().ed25519().unwrap().0, public);
        assert!(matches!(new_key("a\nb", &seed), Err(SignError::Comment)));
    }

    #[test]
    fn a_line_reads_back() {
        let key = new_key("ada's laptop", &[7; 32]).unwrap();
        let ada: Principal = "ada@example.org".parse().unwrap();
        let time = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        let window = (time("2025-01-02T03:04:05Z"), time("2026-01-02T00:00:00Z"));
        for namespaces in [&Namespace::ALL[..], &[Namespace::Record], &[Namespace::Review]] {
            for window in [(None, None), (window.0, None), (None, window.1), window] {
                let line = signer_line(&ada, namespaces, window, key.public_key()).unwrap();
                let (signers, findings) = AllowedSigners::parse("s".into(), line.as_bytes());
                assert_eq!(findings, [], "{line}");
                let grant = signers.grants().next().unwrap();
                assert_eq!(grant.signer().principal(), &ada);
                assert!(grant.namespaces().iter().eq(namespaces.iter()));
                assert_eq!((grant.valid_after(), grant.valid_before()), window);
            }
        }
        let refused = |namespaces: &[Namespace], window| {
            signer_line(&ada, namespaces, window, key.public_key()).is_err()
        };
        assert!(refused(&[], (None, None)));
        assert!(refused(&[Namespace::Record], (window.1, window.0)));
        assert!(refused(&[Namespace::Record], (time("2025-01-01T00:00:00.5Z"), None)));
        assert!(refused(&[Namespace::Record], (time("-000009-01-01T00:00:00Z"), None)));
    }
}
