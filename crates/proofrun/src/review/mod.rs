//! Review: what a reviewer sees, and how a verdict becomes a signed entry.
//!
//! [`screen`](screen::screen) shows one record; [`sign`] checks a verdict, signs it and writes it;
//! [`export`] and [`arrivals`] carry reviews to somebody elsewhere and back. **Invariants: no byte
//! from outside reaches the screen but through [`rows::Rows`], which escapes it; nothing is written
//! that `verify` would call tampered.**

pub mod arrivals;
mod changes;
mod diff;
pub mod export;
pub mod odd;
pub mod rows;
pub mod screen;
pub mod sign;

use proofrun_core::Digest;
use proofrun_core::state::{AssessedRecord, Evidence};

use crate::loaded::{Loaded, LoadedLesson};

/// A record and where it belongs.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its lesson.
    pub lesson: &'a LoadedLesson,
    /// The evidence of its pair.
    pub evidence: &'a Evidence,
    /// The record.
    pub record: &'a AssessedRecord,
}

impl Subject<'_> {
    /// The record's digest.
    pub fn digest(&self) -> Digest {
        self.record.examined.digest
    }
}

/// Every record of the selected lessons.
pub fn subjects(loaded: &Loaded) -> impl Iterator<Item = Subject<'_>> {
    loaded.lessons.iter().flat_map(|lesson| {
        lesson.assessment.evidence.values().flat_map(move |evidence| {
            evidence.records.iter().map(move |record| Subject { lesson, evidence, record })
        })
    })
}

/// The records that await a review, lesson by lesson.
pub fn awaiting(loaded: &Loaded) -> Vec<Subject<'_>> {
    subjects(loaded).filter(|subject| subject.record.awaits_review()).collect()
}
