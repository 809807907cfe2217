//! From the files of a lesson's `reviews/` to entries that somebody in the trust root signed.
//!
//! **Invariant: only [`read`] makes a [`SignedEntry`], and everything else that lies in the folder
//! is a finding. A rejection or a revocation that can't be verified doesn't count as one, and fails
//! the lesson all the same, as each of these findings does: breaking a signature is no way to be
//! rid of it.**

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Entry, EntryError};
use crate::Digest;
use crate::finding::{Finding, Findings, Place, Rule};
use crate::trust::{Namespace, Signer, TrustRoot, verify};

/// The most files that are read in one folder.
const FILES_MAX: usize = 4096;

/// A file of a `reviews/` folder, whatever it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewFile {
    /// Relative to the course's root.
    pub path: Utf8PathBuf,
    /// Its exact bytes.
    pub bytes: Vec<u8>,
}

/// An entry whose name, bytes, lesson, reviewer and signature were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedEntry {
    entry: Entry,
    digest: Digest,
    signer: Signer,
    path: Utf8PathBuf,
}

impl SignedEntry {
    /// What is said.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Of the entry's bytes; its name.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Who signed it: the entry's reviewer, with his key.
    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Where it lies, relative to the course's root.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }
}

/// The entries among all the files of the `reviews/` folder of the lesson in folder `lesson` (its
/// name, not its path), in the order of their digests, and what is wrong with the rest.
pub fn read(files: &[ReviewFile], lesson: &str, trust: &TrustRoot) -> (Vec<SignedEntry>, Findings) {
    let mut findings = Findings::new();
    let mut pairs: BTreeMap<Digest, Pair<'_>> = BTreeMap::new();
    for file in files.iter().take(FILES_MAX) {
        let Some((digest, is_entry)) = name_of(&file.path) else {
            let fact = "neither `<digest>.toml` nor `<digest>.sig`";
            let next = "move the file out of the reviews folder";
            findings.push(Finding::error(Rule::ReviewName, Place::file(&file.path), fact, next));
            continue;
        };
        let pair = pairs.entry(digest).or_default();
        let slot = if is_entry { &mut pair.entry } else { &mut pair.signature };
        if slot.replace(file).is_some() {
            let place = Place::file(&file.path);
            let next = "give each file once";
            findings.push(Finding::error(Rule::ReviewName, place, "the file comes twice", next));
            pair.twice = true;
        }
    }
    if let Some(file) = files.get(FILES_MAX) {
        let fact = format!("{} files, and at most {FILES_MAX} are read", files.len());
        let next = "make a fresh record and review that";
        findings.push(Finding::error(Rule::ReviewName, Place::file(&file.path), fact, next));
    }
    let mut entries = Vec::new();
    for (digest, pair) in pairs {
        let before = findings.len();
        let entry = pair.resolve(digest, lesson, trust, &mut findings);
        entries.extend(entry.filter(|_| findings.len() == before && !pair.twice));
    }
    (entries, findings)
}

/// An entry's two files.
#[derive(Default)]
struct Pair<'a> {
    entry: Option<&'a ReviewFile>,
    signature: Option<&'a ReviewFile>,
    twice: bool,
}

impl Pair<'_> {
    fn resolve(
        &self,
        digest: Digest,
        lesson: &str,
        trust: &TrustRoot,
        findings: &mut Findings,
    ) -> Option<SignedEntry> {
        let mut report = |rule, place, fact: String, next: &str| {
            findings.push(Finding::error(rule, place, fact, next));
        };
        let Some(file) = self.entry else {
            let place = Place::file(&self.signature?.path);
            let fact = format!("a signature without `{digest}.toml`");
            report(Rule::ReviewName, place, fact, "restore the entry that it signs");
            return None;
        };
        let restore = "restore the file as it was signed";
        let actual = Digest::of(&file.bytes);
        if actual != digest {
            let fact = format!("the file's bytes have the digest `{actual}`");
            report(Rule::ReviewName, Place::file(&file.path), fact, restore);
        }
        let entry = match Entry::parse(&file.bytes) {
            Ok(entry) => entry,
            Err(errors) => {
                for error in errors {
                    let place = place_of(&error, file);
                    report(Rule::ReviewFile, place, error.to_string(), restore);
                }
                return None;
            }
        };
        if entry.to_toml().as_bytes() != file.bytes {
            let fact = "not in the canonical form of an entry".to_owned();
            report(Rule::ReviewFile, Place::file(&file.path), fact, restore);
        }
        if entry.lesson() != lesson {
            let fact = format!("an entry of lesson `{}` lies in `{lesson}`", entry.lesson());
            let next = "move it back; a review holds for its own lesson only";
            report(Rule::ReviewFile, Place::file(&file.path), fact, next);
        }
        let Some(signature) = self.signature else {
            let fact = format!("entry without its signature `{digest}.sig`");
            report(Rule::SignatureInvalid, Place::file(&file.path), fact, "restore the signature");
            return None;
        };
        let (signed, at) = (&signature.bytes, entry.signed_at());
        match verify(&trust.signers, Namespace::Review, &file.bytes, signed, at) {
            Ok(signer) => {
                if signer.principal() != entry.reviewer() {
                    let (by, named) = (signer.principal(), entry.reviewer());
                    let fact = format!("signed by `{by}`, and the entry names `{named}`");
                    let next = "sign with the reviewer's own key";
                    report(Rule::SignatureInvalid, Place::file(&signature.path), fact, next);
                }
                Some(SignedEntry { entry, digest, signer, path: file.path.clone() })
            }
            Err(error) => {
                let fact = format!("the signature does not count: {error}");
                let next = "restore entry, signature and trust root as they were";
                report(Rule::SignatureInvalid, Place::file(&signature.path), fact, next);
                None
            }
        }
    }
}

/// The digest in a file's name, and whether it is the entry's file rather than the signature's.
fn name_of(path: &Utf8Path) -> Option<(Digest, bool)> {
    let name = path.file_name()?;
    let (stem, is_entry) = match name.strip_suffix(".toml") {
        Some(stem) => (stem, true),
        None => (name.strip_suffix(".sig")?, false),
    };
    Some((stem.parse().ok()?, is_entry))
}

fn place_of(error: &EntryError, file: &ReviewFile) -> Place {
    match (error, std::str::from_utf8(&file.bytes)) {
        (EntryError::Toml { offset, .. }, Ok(text)) => Place::offset(&file.path, text, *offset),
        _ => Place::file(&file.path),
    }
}
