//! Verifying an SSH signature file over stored bytes.
//!
//! The format is OpenSSH's PROTOCOL.sshsig (version 1), armored as `ssh-keygen -Y sign` writes it. **Invariants:
//! a signature has exactly one spelling, so that any changed byte of its file is found, white space included;
//! and times are judged last, since the signed time is only worth something once the signature holds.**

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

/// Who signed `message` for `namespace`, where the bytes of the signature file say so and the trust root
/// allowed it `at` the signed time (both ends of a key's window included, as in OpenSSH).
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
    let signature = signature.or_else(|error| match before_trailing_data(bytes) {
        Some(armored) if SshSig::from_pem(armored).is_ok() => Err(SignatureError::TrailingData),
        _ => Err(not(&error)),
    })?;
    // The parser lets versions below its own pass. OpenSSH ignores the reserved field without signing it, so
    // anything in there could be changed unseen by it.
    if signature.version() != SshSig::VERSION || !signature.reserved().is_empty() {
        return Err(not(&"version 1 with an empty reserved field expected"));
    }
    let canonical = armor(&signature).map_err(|error| not(&error))?;
    match bytes.strip_prefix(canonical.as_bytes()) {
        Some([]) => Ok(signature),
        Some(_) => Err(SignatureError::TrailingData),
        None => Err(SignatureError::NotCanonical),
    }
}

/// What stands up to the end of the armor, where anything follows it. The parser refuses some of what may
/// follow and reads over the rest, and both should be called the same.
fn before_trailing_data(bytes: &[u8]) -> Option<&[u8]> {
    const END: &[u8] = b"-----END SSH SIGNATURE-----\n";
    let end = bytes.windows(END.len()).position(|window| window == END)? + END.len();
    (end < bytes.len()).then(|| &bytes[..end])
}

/// A signature's one spelling: armor, base64 in lines of 70, a final newline.
pub(super) fn armor(signature: &SshSig) -> Result<String, ssh_key::Error> {
    signature.to_pem(LineEnding::LF)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ssh_key::{HashAlg, PrivateKey, Signature, public::KeyData};

    use super::*;
    use crate::trust::{new_key, sign, signer_line};

    fn key(seed: u8) -> PrivateKey {
        new_key("", &[seed; 32]).unwrap()
    }

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    const NOON: &str = "2025-06-01T12:00:00Z";

    /// Ada (key 1) signs both within June 2025, Bob (key 2) reviews.
    fn signers() -> AllowedSigners {
        let window = (Some(time("2025-06-01T00:00:00Z")), Some(time("2025-06-30T23:59:59Z")));
        let line = |name: &str, seed, namespaces: &[Namespace], window| {
            let name = name.parse().unwrap();
            signer_line(&name, namespaces, window, key(seed).public_key()).unwrap()
        };
        let ada = line("ada", 1, &Namespace::ALL, window);
        let bob = line("bob", 2, &[Namespace::Review], (None, None));
        let (signers, findings) =
            AllowedSigners::parse("s".into(), format!("{ada}\n{bob}\n").as_bytes());
        assert_eq!(findings, []);
        signers
    }

    fn verdict(signature: &[u8], at: &str) -> Result<String, SignatureError> {
        verify(&signers(), Namespace::Record, b"message", signature, time(at))
            .map(|signer| signer.principal().to_string())
    }

    fn signed(seed: u8, namespace: Namespace, message: &[u8]) -> Vec<u8> {
        sign(&key(seed), namespace, message).unwrap().into_bytes()
    }

    #[test]
    fn a_good_signature_names_its_signer() {
        let good = signed(1, Namespace::Record, b"message");
        assert_eq!(verdict(&good, NOON), Ok("ada".to_owned()));
        let sha256 = key(1).sign("record@proofrun", HashAlg::Sha256, b"message").unwrap();
        assert_eq!(verdict(armor(&sha256).unwrap().as_bytes(), NOON), Ok("ada".to_owned()));
    }

    #[test]
    fn each_reason_to_refuse_is_told_apart() {
        let good = signed(1, Namespace::Record, b"message");
        let refuse = |bytes: &[u8], at| verdict(bytes, at).unwrap_err();
        let check = |bytes: &[u8], at, part: &str| {
            let error = refuse(bytes, at).to_string();
            assert!(error.contains(part), "`{error}` lacks `{part}`");
        };
        check(b"", NOON, "not an SSH signature");
        check(&[b'x'; 5000], NOON, "5000 bytes");
        check(
            b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n",
            NOON,
            "not an",
        );
        check(&signed(1, Namespace::Review, b"message"), NOON, "for namespace `review@proofrun`");
        check(&signed(3, Namespace::Record, b"message"), NOON, "not in the trust root");
        check(&signed(2, Namespace::Record, b"message"), NOON, "of `bob` may not sign for `record");
        check(&signed(1, Namespace::Record, b"massage"), NOON, "does not fit the bytes");
        check(&good, "2025-05-31T23:59:59Z", "before the key of `ada` became valid");
        check(&good, "2025-07-01T00:00:00Z", "after the key of `ada` ceased");
        // A changed message is called that, whatever time it states.
        check(&signed(1, Namespace::Record, b"massage"), "2025-07-01T00:00:00Z", "does not fit");
        for tail in ["\n", " ", "x", "-----BEGIN SSH SIGNATURE-----\n"] {
            let error = refuse(&[&good, tail.as_bytes()].concat(), NOON);
            assert_eq!(error, SignatureError::TrailingData, "{tail:?}");
        }
        let text = String::from_utf8(good.clone()).unwrap();
        for changed in [
            text.replace('\n', "\r\n"),
            format!("\n{text}"),
            format!("junk\n{text}"),
            text.trim_end().to_owned(),
            text.replacen('\n', "", 2),
            text.replace("-----\n", "----- \n"),
        ] {
            let error = refuse(changed.as_bytes(), NOON);
            let not = matches!(error, SignatureError::NotASignature(_));
            assert!(not || error == SignatureError::NotCanonical, "{changed}: {error}");
        }
    }

    #[test]
    fn both_ends_of_a_window_are_included() {
        let good = signed(1, Namespace::Record, b"message");
        for at in ["2025-06-01T00:00:00Z", "2025-06-30T23:59:59Z"] {
            assert!(verdict(&good, at).is_ok(), "{at}");
        }
    }

    #[test]
    fn fields_that_the_parser_lets_pass_are_refused() {
        // The same signature with version 0, or with a reserved field, spelled by hand: magic, version, the
        // key's length.
        let good = SshSig::from_pem(signed(1, Namespace::Record, b"message")).unwrap();
        let bytes: Vec<u8> = ssh_encode(&good);
        for (at, what) in [(9, "version"), (6 + 4 + 4 + 51 + 4 + 15 + 3, "reserved")] {
            let mut changed = bytes.clone();
            if what == "version" {
                changed[at] = 0;
            } else {
                changed[at] = 1;
                changed.insert(at + 1, b'x');
            }
            let base64 = base64(&changed);
            let lines: Vec<_> =
                base64.as_bytes().chunks(70).map(|l| String::from_utf8_lossy(l)).collect();
            let armored = format!(
                "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n",
                lines.join("\n")
            );
            let error = verdict(armored.as_bytes(), NOON).unwrap_err().to_string();
            assert!(error.contains("version 1 with an empty reserved field"), "{what}: {error}");
        }
    }

    /// A signature's bytes, through its armor.
    fn ssh_encode(signature: &SshSig) -> Vec<u8> {
        let armored = armor(signature).unwrap();
        let body: String = armored.lines().filter(|line| !line.starts_with("--")).collect();
        let value = |b: u8| ALPHABET.iter().position(|a| *a == b).unwrap() as u32;
        let padding = body.bytes().filter(|b| *b == b'=').count();
        let mut bytes = Vec::new();
        for four in body.replace('=', "A").as_bytes().chunks(4) {
            let bits = four.iter().fold(0, |bits, b| bits << 6 | value(*b));
            bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
        }
        bytes.truncate(bytes.len() - padding);
        bytes
    }

    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    fn base64(bytes: &[u8]) -> String {
        let mut text = String::new();
        for three in bytes.chunks(3) {
            let byte = |at: usize| u32::from(*three.get(at).unwrap_or(&0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for at in 0..4 {
                let digit = ALPHABET[(bits >> (18 - 6 * at) & 63) as usize];
                text.push(if at <= three.len() { digit.into() } else { '=' });
            }
        }
        text
    }

    #[test]
    fn another_key_type_is_refused() {
        let other = KeyData::SkEd25519(ssh_key::public::SkEd25519::new(
            *key(1).public_key().key_data().ed25519().unwrap(),
            "ssh:",
        ));
        let bytes = Signature::new(ssh_key::Algorithm::SkEd25519, [0; 69]).unwrap();
        let other = SshSig::new(other, "record@proofrun", HashAlg::Sha512, bytes).unwrap();
        let error = verdict(armor(&other).unwrap().as_bytes(), NOON).unwrap_err();
        assert!(matches!(error, SignatureError::KeyType(_)), "{error}");
    }

    #[test]
    fn any_changed_byte_is_found() {
        let good = signed(1, Namespace::Record, b"message");
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut changed = good.clone();
                changed[at] ^= 1 << bit;
                assert!(verdict(&changed, NOON).is_err(), "byte {at}, bit {bit}");
            }
            let dropped = [&good[..at], &good[at + 1..]].concat();
            assert!(verdict(&dropped, NOON).is_err(), "byte {at} dropped");
            let doubled = [&good[..=at], &good[at..]].concat();
            assert!(verdict(&doubled, NOON).is_err(), "byte {at} doubled");
            let blank = [&good[..at], b"\n", &good[at..]].concat();
            assert!(verdict(&blank, NOON).is_err(), "a line break before byte {at}");
            assert!(verdict(&good[..at], NOON).is_err(), "cut at byte {at}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
            prop_assert!(verdict(&bytes, NOON).is_err());
        }

        #[test]
        fn no_armored_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let body = base64(&[b"SSHSIG\0\0\0\x01", &bytes[..]].concat());
            let head = "-----BEGIN SSH SIGNATURE-----";
            let armored = format!("{head}\n{body}\n-----END SSH SIGNATURE-----\n");
            prop_assert!(verdict(armored.as_bytes(), NOON).is_err());
        }
    }
}
