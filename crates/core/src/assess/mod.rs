//! Assessing a lesson: all that can be said of it without a compiler or a device, in one pass.
//!
//! Bytes in, an [`Assessment`] out: the resolved lesson, its evidence by pair, the page's state,
//! and every finding. [`course`] reads what belongs to the course, [`text`] the lesson's own files,
//! [`evidence`] its records and reviews, [`page`] compares what the page says with what it may say.
//! **Invariant: one broken part doesn't hide the findings of another.**

pub mod append_only;
pub mod blank;
pub mod course;
pub mod evidence;
pub mod files;
pub mod holds;
pub mod page;
pub mod pasted;
pub mod plan;
pub mod states;
pub mod text;

use std::collections::BTreeMap;

use crate::finding::Findings;
use crate::lesson::Lesson;
use crate::record::stale::Sources;
use crate::review::SignedEntry;
use crate::state::{Evidence, EvidenceState, PageState, Pair};

pub use append_only::{append_only, is_append_only};
pub use blank::{Unfounded, is_tampering, unfounded};
pub use course::Course;
pub use files::{
    EVIDENCE_FOLDER, LessonFiles, MANIFEST_FILE, PAGE_FILE, REVIEWS_FOLDER, SNAPSHOTS_FOLDER,
    Stranger,
};
pub use holds::{HoldsOutcome, HoldsResult};
pub use plan::{Plan, PlanError, plan_publish, plan_withdraw};
pub use text::{LessonText, read};

/// A lesson, assessed.
#[derive(Debug, Clone)]
pub struct Assessment {
    /// The lesson and its text; `None` where it can't be resolved.
    pub text: Option<LessonText>,
    /// Its evidence, by pair; the primary pair is always there once a model is known.
    pub evidence: BTreeMap<Pair, Evidence>,
    /// The pair that decides whether the lesson is published.
    pub primary: Option<Pair>,
    /// Its reviews, those that count.
    pub reviews: Vec<SignedEntry>,
    /// The page's state.
    pub page: PageState,
    /// Its assertions, and what came of them.
    pub holds: Vec<HoldsResult>,
    /// Everything found.
    pub findings: Findings,
}

impl Assessment {
    /// The resolved lesson.
    pub fn lesson(&self) -> Option<&Lesson> {
        self.text.as_ref().map(|text| &text.lesson)
    }

    /// Its sources' digests.
    pub fn sources(&self) -> Option<&Sources> {
        self.text.as_ref().map(|text| &text.sources)
    }

    /// Whether the lesson is Published: its primary evidence Reviewed and its page Current.
    pub fn is_published(&self) -> bool {
        let reviewed = |evidence: &Evidence| evidence.state == EvidenceState::Reviewed;
        self.page == PageState::Current && self.primary_evidence().is_some_and(reviewed)
    }

    /// The evidence of the primary pair.
    pub fn primary_evidence(&self) -> Option<&Evidence> {
        self.evidence.get(self.primary.as_ref()?)
    }
}

/// Assesses a lesson within its course.
pub fn assess(files: &LessonFiles, course: &Course) -> Assessment {
    let (text, mut findings) = match read(files, course) {
        Ok((text, findings)) => (Some(text), findings),
        Err(findings) => (None, findings),
    };
    let mut assessment = Assessment {
        text: None,
        evidence: BTreeMap::new(),
        primary: None,
        reviews: Vec::new(),
        page: PageState::Blank,
        holds: Vec::new(),
        findings: Vec::new(),
    };
    let (records, entries) = evidence::read(files, course, &mut findings);
    if let Some(text) = &text {
        let derived = evidence::derive(text, course, records, &entries, &mut findings);
        assessment.primary = derived.primary;
        assessment.evidence = derived.evidence;
        let compared =
            page::compare(files, text, &assessment.evidence, assessment.primary.as_ref());
        assessment.page = compared.state;
        findings.extend(compared.findings);
        findings.extend(pasted::findings(files, text));
        findings.extend(page::targets(text, &assessment.evidence));
        assessment.holds = holds::evaluate(text, &assessment.evidence, assessment.primary.as_ref());
        findings.extend(holds::findings(text, &assessment.holds));
        findings.extend(states::findings(
            text,
            &assessment.evidence,
            assessment.primary.as_ref(),
            assessment.page,
        ));
    }
    assessment.text = text;
    assessment.reviews = entries;
    assessment.findings = findings;
    assessment
}
