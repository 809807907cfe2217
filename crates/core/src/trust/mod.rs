//! Who may sign what: the trust root, and SSH signatures over stored bytes.
//!
//! The trust root is two files under `research/`: `allowed_signers` (keys, what they may sign, and
//! when) and `policy.toml` (whether one person may both record and review). Records and reviews are
//! believed only through [`verify`], which takes exact stored bytes, so every later step can rely
//! on a [`Signer`].
//!
//! **Invariants: a line with a finding grants nothing; one key belongs to one principal; a
//! signature has one spelling; and what is missing or unreadable leaves the strictest setting.**
//! Deliberately absent: a clock (the signed time is an argument) and randomness (a new key's seed
//! is an argument).

mod policy;
mod principal;
mod sign;
mod signature;
mod signers;

use camino::Utf8Path;
use ssh_key::public::Ed25519PublicKey;

pub use policy::{Policy, SelfReview};
pub use principal::{NotAPrincipal, Principal};
pub use sign::{SignError, new_key, sign, signer_line};
pub use signature::{Namespace, SignatureError, verify};
pub use signers::{AllowedSigners, Grant, LineError};

use crate::finding::{Finding, Findings, Place, Rule};

/// The longest file of the trust root that is read, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;

/// Everything that decides whether a signature counts.
#[derive(Debug, Clone, Default)]
pub struct TrustRoot {
    /// The keys, and what each may sign.
    pub signers: AllowedSigners,
    /// What one person may do.
    pub policy: Policy,
}

impl TrustRoot {
    /// The trust root of two files, each `None` where it doesn't exist.
    ///
    /// A missing file is a warning, not an error: nobody is trusted and nothing is allowed then, so
    /// every signature is refused by itself, while a course without any evidence needs no trust
    /// root.
    pub fn read(
        signers: (&Utf8Path, Option<&[u8]>),
        policy: (&Utf8Path, Option<&[u8]>),
    ) -> (Self, Findings) {
        let mut findings = Findings::new();
        let mut missing = |path: &Utf8Path, means: &str| {
            let fact = format!("`{path}` does not exist, so {means}");
            let next = "add the file before the first record or review";
            findings.push(Finding::warning(Rule::TrustRoot, Place::file(path), fact, next));
        };
        let (signers, of_signers) = match signers {
            (path, Some(bytes)) => AllowedSigners::parse(path, bytes),
            (path, None) => {
                missing(path, "no signature is trusted");
                Default::default()
            }
        };
        let (policy, of_policy) = match policy {
            (path, Some(bytes)) => Policy::parse(path, bytes),
            (path, None) => {
                missing(path, "nobody may review what he recorded");
                Default::default()
            }
        };
        findings.extend(of_signers);
        findings.extend(of_policy);
        (Self { signers, policy }, findings)
    }
}

/// Who made a signature that was verified. Only [`verify`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    principal: Principal,
    fingerprint: String,
    key: Ed25519PublicKey,
}

impl Signer {
    /// The name that the trust root gives to the key.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The key's fingerprint as `ssh-keygen -l` prints it: `SHA256:` and unpadded base64.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The public key.
    pub fn key(&self) -> &Ed25519PublicKey {
        &self.key
    }
}

/// Whether two signers count as one person: by name or by key, whichever says so first.
///
/// Two keys under two names of one human being can't be told apart from two people; the custody of
/// the trust root has to.
pub fn same_person(a: &Signer, b: &Signer) -> bool {
    a.principal == b.principal || a.key == b.key
}

/// The text of a trust root file, or the finding that says why it has none.
fn text_of<'a>(path: &Utf8Path, bytes: &'a [u8]) -> Result<&'a str, Finding> {
    let refuse = |line: Option<u32>, fact: String, next: &str| {
        let place = Place { line, ..Place::file(path) };
        Err(Finding::error(Rule::TrustRoot, place, fact, next))
    };
    let line_of = |at: usize| {
        let newlines = bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        u32::try_from(newlines + 1).ok()
    };
    if bytes.len() > FILE_BYTES_MAX {
        let fact = format!("{} bytes, and at most {FILE_BYTES_MAX} are read", bytes.len());
        return refuse(None, fact, "shorten the file");
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        let fact = "the file starts with a byte order mark";
        return refuse(Some(1), fact.to_owned(), "save it as UTF-8 without a byte order mark");
    }
    if let Some(first) = bytes.iter().position(|byte| *byte == b'\r') {
        let count = bytes.iter().filter(|byte| **byte == b'\r').count();
        let fact = format!("{count} carriage returns, and lines end in a line feed alone");
        return refuse(line_of(first), fact, "convert the line endings to LF");
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let fact = format!("byte {} is not UTF-8", error.valid_up_to());
            refuse(line_of(error.valid_up_to()), fact, "save the file as UTF-8")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    #[test]
    fn a_missing_trust_root_is_the_strictest_one_and_a_warning() {
        let (root, findings) = TrustRoot::read(("s".into(), None), ("p".into(), None));
        assert_eq!(root.policy.self_review, SelfReview::Forbidden);
        assert_eq!(root.signers.grants().count(), 0);
        let shown: Vec<_> = findings.iter().map(|f| (f.place.path.as_str(), f.severity)).collect();
        assert_eq!(shown, [("s", Severity::Warning), ("p", Severity::Warning)]);
    }

    #[test]
    fn one_person_is_one_name_or_one_key() {
        let signer = |name: &str, key: u8| Signer {
            principal: name.parse().unwrap(),
            fingerprint: String::new(),
            key: Ed25519PublicKey([key; 32]),
        };
        assert!(same_person(&signer("ada", 1), &signer("ada", 2)));
        assert!(same_person(&signer("ada", 1), &signer("bob", 1)));
        assert!(!same_person(&signer("ada", 1), &signer("bob", 2)));
    }
}
