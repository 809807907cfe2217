//! Reading a record's folder from scratch: every digest, the signature, the name, the shape.
//!
//! **Invariant: nothing in the folder is believed because it is there.** A record counts only if
//! its signature holds over the exact bytes of `record.toml`, and every other file is the one that
//! it names.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use crate::digest::Digest;
use crate::finding::{Finding, Findings, Place, Rule};
use crate::trust::{AllowedSigners, Namespace, Signer, verify};

use super::model::{RECORD_FILE, RECORD_FORMAT, Record, SIGNATURE_FILE};

/// A record's folder as it lies there.
#[derive(Debug, Clone, Default)]
pub struct EvidenceFolder {
    /// Relative to the course's root.
    pub path: Utf8PathBuf,
    /// Its files, by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What is in it and is no plain file: folders, links, sockets.
    pub strangers: Vec<String>,
}

/// A record that passed every digest and its signature.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The facts.
    pub record: Record,
    /// Digest of `record.toml`: what a review names.
    pub digest: Digest,
    /// Who signed it.
    pub recorder: Signer,
    /// The folder, whose files are now known to be the record's.
    pub folder: EvidenceFolder,
}

impl Examined {
    /// A file of the record.
    pub fn file(&self, name: &str) -> &[u8] {
        self.folder.files.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Examines a folder of a lesson's evidence.
///
/// # Errors
/// All that is wrong with it, each of class Tampered.
pub fn examine(
    lesson: &str,
    folder: EvidenceFolder,
    signers: &AllowedSigners,
) -> Result<Examined, Findings> {
    let mut findings = Vec::new();
    let Some(bytes) = folder.files.get(RECORD_FILE) else {
        return Err(vec![tampered(&folder.path, format!("no `{RECORD_FILE}` in this folder"))]);
    };
    let record = match parse(&folder.path.join(RECORD_FILE), bytes) {
        Ok(record) => record,
        Err(finding) => return Err(vec![finding]),
    };
    let digest = Digest::of(bytes);
    check_names(lesson, &folder, &record, &digest, &mut findings);
    check_files(&folder, &record, &mut findings);
    let recorder = check_signature(&folder, &record, bytes, signers, &mut findings);
    match recorder {
        Some(recorder) if findings.is_empty() => Ok(Examined { record, digest, recorder, folder }),
        _ => Err(findings),
    }
}

fn tampered(path: &Utf8Path, fact: String) -> Finding {
    let next = "restore the file from history; a record is never edited, only made anew";
    Finding::error(Rule::RecordTampered, Place::file(path), fact, next)
}

/// Reads `record.toml`, in a format that this harness knows.
pub fn parse(path: &Utf8Path, bytes: &[u8]) -> Result<Record, Finding> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| tampered(path, "record is not UTF-8".to_owned()))?;
    match toml::from_str::<Record>(text) {
        Ok(record) if record.schema == RECORD_FORMAT => Ok(record),
        read => Err(refusal(path, text, read.err())),
    }
}

/// Why a text is no record of this format: another format before anything that one may hold or
/// lack.
fn refusal(path: &Utf8Path, text: &str, error: Option<toml::de::Error>) -> Finding {
    #[derive(serde::Deserialize)]
    struct Version {
        schema: u32,
    }
    let version = match toml::from_str::<Version>(text) {
        Ok(version) => version.schema,
        Err(error) => {
            let fact = format!("record has no readable `schema`: {}", one_line(error.message()));
            return tampered(path, fact);
        }
    };
    match error {
        Some(error) if version == RECORD_FORMAT => {
            let at = error.span().map_or(0, |span| span.start);
            let fact = format!("record can't be read: {}", one_line(error.message()));
            Finding { place: Place::offset(path, text, at), ..tampered(path, fact) }
        }
        _ => {
            let fact = format!("record format {version} where this harness reads {RECORD_FORMAT}");
            let next = "use the harness that wrote it, or a newer one".into();
            Finding { next, ..tampered(path, fact) }
        }
    }
}

fn one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("; ")
}

fn check_names(
    lesson: &str,
    folder: &EvidenceFolder,
    record: &Record,
    digest: &Digest,
    findings: &mut Findings,
) {
    if record.lesson != lesson {
        let fact = format!("record of lesson `{}` filed under `{lesson}`", record.lesson);
        findings.push(tampered(&folder.path, fact));
    }
    let expect = record.folder_name(digest);
    if folder.path.file_name() != Some(&expect) {
        let fact = format!("record is filed under another name than its own, `{expect}`");
        findings.push(tampered(&folder.path, fact));
    }
    let mut names = BTreeSet::new();
    for program in &record.program {
        if !names.insert(&program.name) {
            let fact = format!("program `{}` is recorded twice", program.name);
            findings.push(tampered(&folder.path, fact));
        }
    }
}

fn check_files(folder: &EvidenceFolder, record: &Record, findings: &mut Findings) {
    for stranger in &folder.strangers {
        let fact = "a record holds plain files only; this is something else".to_owned();
        findings.push(tampered(&folder.path.join(stranger), fact));
    }
    let mut listed = BTreeSet::new();
    for file in &record.file {
        let path = folder.path.join(&file.path);
        if !listed.insert(file.path.as_str()) {
            findings.push(tampered(&path, "file is listed twice".into()));
        }
        let Some(bytes) = folder.files.get(&file.path) else {
            findings.push(tampered(&path, "file of the record is missing".into()));
            continue;
        };
        if bytes.len() as u64 != file.bytes {
            let fact = format!("file has {} bytes where {} were recorded", bytes.len(), file.bytes);
            findings.push(tampered(&path, fact));
        } else if Digest::of(bytes) != file.sha256 {
            findings.push(tampered(&path, "file is not the one that was recorded".into()));
        }
    }
    let own = [RECORD_FILE, SIGNATURE_FILE];
    for name in folder.files.keys().filter(|name| !own.contains(&name.as_str())) {
        if !listed.contains(name.as_str()) {
            let fact = "file is not part of the record in whose folder it lies".into();
            findings.push(tampered(&folder.path.join(name), fact));
        }
    }
    let mut used = BTreeSet::new();
    for name in record.files_used() {
        // A stream that two runs share would make one run count as two.
        if !used.insert(name) {
            let fact = "record uses this file for two things".into();
            findings.push(tampered(&folder.path.join(name), fact));
        }
    }
    for name in used.symmetric_difference(&listed) {
        let fact = if used.contains(name) {
            "record uses this file and doesn't list it"
        } else {
            "record lists this file and doesn't use it"
        };
        findings.push(tampered(&folder.path.join(name), fact.into()));
    }
}

fn check_signature(
    folder: &EvidenceFolder,
    record: &Record,
    bytes: &[u8],
    signers: &AllowedSigners,
    findings: &mut Findings,
) -> Option<Signer> {
    let path = folder.path.join(SIGNATURE_FILE);
    let Some(signature) = folder.files.get(SIGNATURE_FILE) else {
        findings.push(tampered(&path, "record has no signature".into()));
        return None;
    };
    match verify(signers, Namespace::Record, bytes, signature, record.recorded_at) {
        Ok(signer) if signer.principal().as_str() == record.recorder => Some(signer),
        Ok(signer) => {
            let fact = format!(
                "record names `{}` as its recorder and is signed by `{}`",
                record.recorder,
                signer.principal()
            );
            findings.push(tampered(&path, fact));
            None
        }
        Err(error) => {
            let fact = "the record's signature doesn't hold".to_owned();
            findings.push(
                Finding { rule: Rule::RecordSignature, ..tampered(&path, fact) }.because(error),
            );
            None
        }
    }
}
