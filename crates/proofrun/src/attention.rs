//! What a lesson wants from its maintainer, and the command that gives it: what `status` groups by
//! and `explain` ends with.
//!
//! A pure function of a lesson's assessment. **Invariant: every lesson is in exactly one group**,
//! the first that fits in the order of [`Attention`], and only [`Attention::Published`] wants
//! nothing.

use proofrun_core::assess::{Assessment, unfounded};
use proofrun_core::state::{AssessedRecord, EvidenceState, PageState, Shown};
use proofrun_core::{Class, Finding, Rule, Severity};
use serde::Serialize;

/// The groups, what wants attention first coming first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attention {
    /// A record, a review or the trust root is not what was signed.
    Tampered,
    /// The lesson's own files have errors.
    Broken,
    /// The page says what no reviewed record says.
    Drifted,
    /// A reject stands against the lesson as it is.
    Rejected,
    /// A valid record of the lesson as it is waits for a review.
    AwaitingReview,
    /// What was shown was taken back, and nothing has come in its place.
    Withdrawn,
    /// Records, but of other inputs.
    Stale,
    /// No valid record.
    Unverified,
    /// Reviewed, and the page doesn't show it yet.
    Unpublished,
    /// Reviewed, and the page shows it.
    Published,
}

impl Attention {
    /// Every group, in order.
    pub const ALL: [Self; 10] = [
        Self::Tampered,
        Self::Broken,
        Self::Drifted,
        Self::Rejected,
        Self::AwaitingReview,
        Self::Withdrawn,
        Self::Stale,
        Self::Unverified,
        Self::Unpublished,
        Self::Published,
    ];

    /// The group of a lesson.
    pub fn of(assessment: &Assessment) -> Self {
        let errors = || errors(assessment);
        if errors().any(|finding| finding.rule.class() == Class::Tampered) {
            return Self::Tampered;
        }
        if assessment.text.is_none() || errors().any(|finding| !is_drift_of_page(finding.rule)) {
            return Self::Broken;
        }
        if assessment.page == PageState::Drifted || errors().next().is_some() {
            return Self::Drifted;
        }
        let primary = assessment.primary_evidence().map(|evidence| &evidence.state);
        match primary {
            Some(EvidenceState::Rejected) => Self::Rejected,
            _ if records(assessment).any(AssessedRecord::awaits_review) => Self::AwaitingReview,
            Some(EvidenceState::Reviewed) if assessment.is_published() => Self::Published,
            Some(EvidenceState::Reviewed) => Self::Unpublished,
            // What is Recorded and doesn't wait was revoked as a record: only a fresh one helps.
            Some(EvidenceState::Recorded) => Self::Withdrawn,
            _ if assessment.page == PageState::Withdrawn => Self::Withdrawn,
            Some(EvidenceState::Stale(_)) => Self::Stale,
            Some(EvidenceState::Unverified) | None => Self::Unverified,
        }
    }

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Tampered => "Tampered",
            Self::Broken => "Errors",
            Self::Drifted => "Drifted",
            Self::Rejected => "Rejected",
            Self::AwaitingReview => "Awaiting review",
            Self::Withdrawn => "Withdrawn",
            Self::Stale => "Stale",
            Self::Unverified => "Unverified",
            Self::Unpublished => "Reviewed, not published",
            Self::Published => "Published",
        }
    }
}

/// The errors among the findings.
pub fn errors(assessment: &Assessment) -> impl Iterator<Item = &Finding> {
    assessment.findings.iter().filter(|finding| finding.severity == Severity::Error)
}

/// The arguments of the command that comes next, without the program's name; `None` where nothing
/// is wanted.
pub fn next_arguments(assessment: &Assessment, lesson: &str) -> Option<String> {
    let verb = match Attention::of(assessment) {
        Attention::Tampered | Attention::Rejected => "explain",
        Attention::Broken if errors(assessment).all(|finding| is_synced(finding.rule)) => "sync",
        Attention::Broken => "verify",
        Attention::Drifted => match assessment.primary_evidence().map(|e| &e.shown) {
            Some(Shown::Current(_)) => "publish",
            Some(Shown::Withdrawn(_)) => "withdraw",
            Some(Shown::Blank) | None if !unfounded(assessment).is_empty() => "sync",
            Some(Shown::Blank) | None => "explain",
        },
        Attention::AwaitingReview => "review",
        Attention::Withdrawn | Attention::Stale => "bundle",
        Attention::Unverified if records(assessment).next().is_some() => "explain",
        Attention::Unverified => "bundle",
        Attention::Unpublished => "publish",
        Attention::Published => return None,
    };
    Some(format!("{verb} {lesson}"))
}

/// Every record of the lesson that could be examined.
pub fn records(assessment: &Assessment) -> impl Iterator<Item = &AssessedRecord> {
    assessment.evidence.values().flat_map(|evidence| &evidence.records)
}

/// Whether a rule is about the renderings that `publish` and `withdraw` write.
pub fn is_drift_of_page(rule: Rule) -> bool {
    matches!(rule, Rule::RegionDrifted | Rule::StatusDrifted | Rule::SnapshotDrifted)
}

/// What `sync` mends.
fn is_synced(rule: Rule) -> bool {
    matches!(rule, Rule::SnippetDiffers | Rule::CopyDiffers)
}
