//! The state of each record, and of the evidence of a lesson for a pair.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::lesson::Lesson;
use crate::publication::{Rendering, render};
use crate::record::faults::{MatchedRuns, matched_runs};
use crate::record::stale::{Sources, stale_inputs, text_only_changes};
use crate::record::{Examined, Fault, StaleInput};
use crate::review::Standing;
use crate::toolkit::ToolkitFacts;

use super::pair::Pair;
use super::reviewed::{Reviewed, Shown};

/// The state of a record that could be examined; one that could not is Tampered and has no other
/// state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordState {
    /// Whole, and kept; never published, for these reasons.
    Unpublishable(Vec<Fault>),
    /// Whole, and of agreeing runs that fit the template.
    Valid,
}

/// The state of the evidence for a pair, in the order of precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceState {
    /// A record of the lesson as it is has a standing reject.
    Rejected,
    /// A valid record of the lesson as it is has a standing acceptance of its rendering.
    Reviewed,
    /// A valid record of the lesson as it is waits for a review.
    Recorded,
    /// Valid records, for other inputs: these changed since the newest.
    Stale(Vec<StaleInput>),
    /// No valid record.
    Unverified,
}

impl fmt::Display for EvidenceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rejected => "Rejected",
            Self::Reviewed => "Reviewed",
            Self::Recorded => "Recorded",
            Self::Stale(_) => "Stale",
            Self::Unverified => "Unverified",
        })
    }
}

/// A record with all that follows from it.
#[derive(Debug, Clone)]
pub struct AssessedRecord {
    /// The record.
    pub examined: Arc<Examined>,
    /// Valid or not.
    pub state: RecordState,
    /// Inputs that changed since.
    pub stale: Vec<StaleInput>,
    /// Files whose comments changed since, and whose code did not.
    pub text_only: Vec<String>,
    /// Its runs, for a valid record.
    pub matched: Vec<MatchedRuns>,
    /// What would be shown of it, for a valid record.
    pub rendering: Option<Rendering>,
    /// What its reviews say.
    pub standing: Standing,
}

/// The evidence of a lesson for a pair.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Which pair.
    pub pair: Pair,
    /// Its state.
    pub state: EvidenceState,
    /// The newest first.
    pub records: Vec<AssessedRecord>,
    /// What the page may show.
    pub shown: Shown,
}

/// What a Recorded lesson lacks, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lacking {
    /// The fact, to follow "Recorded on …".
    pub fact: &'static str,
    /// Whether only a fresh record helps, since what there is was taken back for good.
    pub record: bool,
}

impl Evidence {
    /// Why valid records of today are no more than Recorded.
    pub fn lacking(&self) -> Lacking {
        let today = || self.records.iter().filter(|it| it.is_valid() && it.is_of_today());
        let waits = |test: fn(&Standing) -> bool| {
            today().any(|record| record.awaits_review() && test(&record.standing))
        };
        let fact = if waits(|standing| matches!(standing, Standing::None)) {
            "and nobody has reviewed it"
        } else if waits(|standing| matches!(standing, Standing::Accepted(_))) {
            "and accepted, but not as it is rendered now"
        } else if waits(|standing| matches!(standing, Standing::Revoked(_))) {
            "and its acceptance was taken back"
        } else {
            return Lacking { fact: "and the record was taken back", record: true };
        };
        Lacking { fact, record: false }
    }
}

impl AssessedRecord {
    fn new(
        lesson: &Lesson,
        sources: &Sources,
        toolkit: Option<&ToolkitFacts>,
        examined: Arc<Examined>,
        standing: Standing,
    ) -> Self {
        let (state, matched) = match matched_runs(lesson, &examined) {
            Ok(matched) => (RecordState::Valid, matched),
            Err(faults) => (RecordState::Unpublishable(faults), Vec::new()),
        };
        let rendering = match state {
            RecordState::Valid => render(lesson, &examined, &matched),
            RecordState::Unpublishable(_) => None,
        };
        let stale = stale_inputs(lesson, sources, &examined.record, toolkit);
        let text_only = text_only_changes(sources, &examined.record);
        Self { examined, state, stale, text_only, matched, rendering, standing }
    }

    fn is_valid(&self) -> bool {
        self.state == RecordState::Valid
    }

    /// Whether it is of the lesson as it is.
    pub fn is_of_today(&self) -> bool {
        self.stale.is_empty()
    }

    /// Whether it waits for a review: valid, of today, neither accepted as rendered now nor
    /// rejected.
    pub fn awaits_review(&self) -> bool {
        self.is_valid()
            && self.is_of_today()
            && self.reviewed().is_none()
            && !self.is_rejected()
            && !self.is_revoked_whole()
    }

    /// The acceptance of exactly what is rendered now; the earliest, so that a further one changes
    /// nothing.
    fn reviewed(&self) -> Option<Reviewed> {
        let rendering = self.rendering.as_ref()?;
        let Standing::Accepted(acceptances) = &self.standing else { return None };
        acceptances.iter().find_map(|accepted| Reviewed::new(&self.examined, rendering, accepted))
    }

    /// Whether the record itself was revoked, so that no acceptance of it counts ever again.
    pub fn is_revoked_whole(&self) -> bool {
        matches!(&self.standing, Standing::Revoked(revocation) if revocation.whole)
    }

    /// Whether a reject stands.
    pub fn is_rejected(&self) -> bool {
        matches!(self.standing, Standing::Rejected(_))
    }
}

/// Derives the evidence for every pair that has a record, and for those asked for.
pub fn derive(
    lesson: &Lesson,
    sources: &Sources,
    toolkit: Option<&ToolkitFacts>,
    records: Vec<(Examined, Standing)>,
    asked: impl IntoIterator<Item = Pair>,
) -> BTreeMap<Pair, Evidence> {
    let mut pairs: BTreeMap<Pair, Vec<AssessedRecord>> =
        asked.into_iter().map(|pair| (pair, Vec::new())).collect();
    for (examined, standing) in records {
        let pair = Pair::new(examined.record.model(), &*examined.record.variant);
        let examined = Arc::new(examined);
        let record = AssessedRecord::new(lesson, sources, toolkit, examined, standing);
        pairs.entry(pair).or_default().push(record);
    }
    let evidence = pairs.into_iter().map(|(pair, mut records)| {
        records.sort_by_key(|record| {
            std::cmp::Reverse((record.examined.record.recorded_at, record.examined.digest))
        });
        let state = evidence_state(&records);
        let shown = shown(&records);
        (pair.clone(), Evidence { pair, state, records, shown })
    });
    evidence.collect()
}

fn evidence_state(records: &[AssessedRecord]) -> EvidenceState {
    let today = || records.iter().filter(|record| record.is_of_today());
    if today().any(AssessedRecord::is_rejected) {
        return EvidenceState::Rejected;
    }
    if today().any(|record| record.reviewed().is_some()) {
        return EvidenceState::Reviewed;
    }
    if today().any(AssessedRecord::is_valid) {
        return EvidenceState::Recorded;
    }
    let newest = records.iter().find(|record| record.is_valid());
    newest.map_or(EvidenceState::Unverified, |record| EvidenceState::Stale(record.stale.clone()))
}

/// The reviewed record of today, else the newest that was reviewed as it is rendered; else what was
/// taken back last.
fn shown(records: &[AssessedRecord]) -> Shown {
    let today = records.iter().filter(|record| record.is_of_today());
    let older = records.iter().filter(|record| !record.is_of_today());
    if let Some(reviewed) = today.chain(older).find_map(AssessedRecord::reviewed) {
        return Shown::Current(Box::new(reviewed));
    }
    let withdrawals =
        records.iter().filter_map(|record| record.standing.withdrawal(&record.examined.digest));
    match withdrawals.max_by_key(|withdrawal| (withdrawal.since, withdrawal.entry)) {
        Some(withdrawal) => Shown::Withdrawn(Box::new(withdrawal)),
        None => Shown::Blank,
    }
}
