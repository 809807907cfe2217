//! A lesson's records and reviews, read from scratch, and what they derive to.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use crate::finding::{Finding, Findings, Place, Rule};
use crate::record::{Examined, examine};
use crate::review::{self, ReviewFile, SignedEntry};
use crate::state::{self, Evidence, Pair};

use super::course::Course;
use super::files::{EVIDENCE_FOLDER, LessonFiles, REVIEWS_FOLDER};
use super::text::LessonText;

/// Examines every record and reads every review. What is tampered with is a finding and counts in
/// neither direction.
pub fn read(
    files: &LessonFiles,
    course: &Course,
    findings: &mut Findings,
) -> (Vec<Examined>, Vec<SignedEntry>) {
    let (folders, loose) = files.evidence();
    for path in loose {
        let next = format!("move it out of `{EVIDENCE_FOLDER}/`: only records lie there");
        let place = Place::file(files.folder.join(path));
        findings.push(Finding::error(
            Rule::RecordTampered,
            place,
            "file belongs to no record",
            next,
        ));
    }
    let mut records = Vec::new();
    for folder in folders {
        match examine(files.name(), folder, &course.trust.signers) {
            Ok(examined) => records.push(examined),
            Err(found) => findings.extend(found),
        }
    }
    check_reuse(&records, findings);
    let (direct, deeper) = review_files(files);
    for file in deeper {
        let next = "move it back; reviews lie side by side";
        let fact = "file lies in a folder of its own below the reviews";
        findings.push(Finding::error(Rule::ReviewName, Place::file(file.path), fact, next));
    }
    let (entries, found) = review::read(&direct, files.name(), &course.trust);
    findings.extend(found);
    let digests: BTreeSet<_> = records.iter().map(|record| record.digest).collect();
    findings.extend(review::check_targets(&entries, &digests));
    (records, entries)
}

/// The files directly in the reviews folder, and those that lie deeper, which count for nothing.
fn review_files(files: &LessonFiles) -> (Vec<ReviewFile>, Vec<ReviewFile>) {
    let kept = files.files.iter().filter(|(path, _)| path.starts_with(REVIEWS_FOLDER));
    let folder = Utf8Path::new(REVIEWS_FOLDER);
    let (direct, deeper): (Vec<_>, Vec<_>) =
        kept.partition(|(path, _)| path.parent() == Some(folder));
    let review = |(path, bytes): (&Utf8PathBuf, &Vec<u8>)| ReviewFile {
        path: files.folder.join(path),
        bytes: bytes.clone(),
    };
    (direct.into_iter().map(review).collect(), deeper.into_iter().map(review).collect())
}

/// A nonce that serves two records of one lesson.
fn check_reuse(records: &[Examined], findings: &mut Findings) {
    let mut seen = BTreeMap::new();
    for record in records {
        let key = (&record.record.nonce, &record.record.variant, record.record.model());
        if let Some(other) = seen.insert(key, &record.folder.path) {
            let fact = format!("record has the nonce, variant and model of `{other}`");
            let next = "keep one of them out: a bundle yields one record of a variant on a model";
            let place = Place::file(&record.folder.path);
            findings.push(Finding::warning(Rule::NonceReused, place, fact, next));
        }
    }
}

/// The evidence by pair, and which pair is the primary one.
#[derive(Debug)]
pub struct Derived {
    /// By pair.
    pub evidence: BTreeMap<Pair, Evidence>,
    /// `None` before the first record of a lesson whose manifest names no model.
    pub primary: Option<Pair>,
}

/// Derives the states of what was read.
pub fn derive(
    text: &LessonText,
    course: &Course,
    records: Vec<Examined>,
    entries: &[SignedEntry],
    findings: &mut Findings,
) -> Derived {
    let primary = primary_pair(text, &records);
    let mut with_standing = Vec::new();
    for examined in records {
        let (standing, found) =
            review::standing(entries, &examined.digest, &examined.recorder, &course.trust.policy);
        findings.extend(found);
        with_standing.push((examined, standing));
    }
    let asked = primary.clone().into_iter().chain(text.pairs_on_page());
    let toolkit = course.toolkit.as_ref();
    let evidence = state::derive(&text.lesson, &text.sources, toolkit, with_standing, asked);
    Derived { evidence, primary }
}

/// The manifest's model, or that of the oldest record: evidence only grows, so that stays the same.
fn primary_pair(text: &LessonText, records: &[Examined]) -> Option<Pair> {
    let rules = &text.lesson.publish;
    let oldest = || {
        let of_variant = records.iter().filter(|record| record.record.variant == rules.variant);
        let oldest = of_variant.min_by_key(|record| (record.record.recorded_at, record.digest));
        oldest.map(|record| record.record.model())
    };
    let model = rules.model.clone().or_else(oldest)?;
    Some(Pair::new(model, rules.variant.clone()))
}
