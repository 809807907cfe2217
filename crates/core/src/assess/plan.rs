//! What publishing and withdrawing make of a lesson's files: the other direction of
//! [`super::page`].
//!
//! **Invariant: a plan writes legitimate texts only: the blank stays blank until its pair is
//! Reviewed, and publishing takes a [`Reviewed`], which nothing but a signed acceptance makes.**
//! Nothing is written here; a caller assesses the lesson as the plan leaves it before it writes.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use crate::lesson::Program;
use crate::page::{EditError, Region};
use crate::publication::{body, is_blank, snapshot, snapshot_name, status_lines};
use crate::source::{StatusError, replace_status};
use crate::state::{Evidence, EvidenceState, Pair, Reviewed, Shown};

use super::files::{LessonFiles, PAGE_FILE, SNAPSHOTS_FOLDER};
use super::text::{LessonText, record_regions};

/// The files that change: by their path within the lesson the new bytes, or nothing for one that
/// goes.
pub type Plan = BTreeMap<Utf8PathBuf, Option<Vec<u8>>>;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The page can't take the new bodies.
    #[error("the page can't take the new text of its regions")]
    Page(#[from] EditError),
    /// A program can't take the new paragraph.
    #[error("`{path}` can't take the new status paragraph")]
    Status {
        /// Which.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        source: StatusError,
    },
    /// The review is of another pair than the primary one.
    #[error("the review is of {found}, and the lesson's page is about {primary}")]
    OtherPair {
        /// What was reviewed.
        found: Pair,
        /// What the page is about.
        primary: Pair,
    },
    /// Nothing that was ever shown was taken back.
    #[error("nothing was withdrawn")]
    NothingWithdrawn,
    /// What was taken back stands nowhere.
    #[error("the page shows nothing that was taken back")]
    NothingShown,
}

/// A lesson as its files and evidence have it.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// Its files.
    pub files: &'a LessonFiles,
    /// Its text.
    pub text: &'a LessonText,
    /// Its evidence.
    pub evidence: &'a BTreeMap<Pair, Evidence>,
    /// The pair that its page is about.
    pub primary: &'a Pair,
}

/// The files as publishing leaves them: everything of the primary pair, and the further regions of
/// pairs that are Reviewed. Regions of other pairs keep the legitimate text that they hold.
///
/// # Errors
/// When the review is of another pair, or a file can't take its new text.
pub fn plan_publish(reviewed: &Reviewed, lesson: Standing<'_>) -> Result<Plan, PlanError> {
    let record = &reviewed.examined().record;
    let found = Pair::new(record.model(), &*record.variant);
    if found != *lesson.primary {
        return Err(PlanError::OtherPair { found, primary: lesson.primary.clone() });
    }
    let current = Shown::Current(Box::new(reviewed.clone()));
    let mut draft = Draft::new(lesson);
    for (index, region) in record_regions(&lesson.text.page) {
        let Some(pair) = lesson.text.region_pair(region, Some(lesson.primary)) else { continue };
        let of_pair = lesson.evidence.get(&pair);
        let is_reviewed = of_pair.is_some_and(|it| it.state == EvidenceState::Reviewed);
        let shown = match of_pair {
            _ if pair == *lesson.primary => &current,
            _ if !is_reviewed && draft.is_blank(region, &pair) => &Shown::Blank,
            Some(of_pair) => &of_pair.shown,
            None => &Shown::Blank,
        };
        draft.region(index, region, &pair, shown);
    }
    draft.header(&current);
    draft.snapshot(lesson.primary, &current);
    draft.into_plan()
}

/// The files as withdrawing leaves them: wherever something stands of a pair that was taken back,
/// the text that says so, or what else may be shown of that pair; its snapshot goes.
///
/// # Errors
/// When nothing was taken back, what was taken back stands nowhere, or a file can't take its new
/// text.
pub fn plan_withdraw(lesson: Standing<'_>) -> Result<Plan, PlanError> {
    let taken_back: BTreeMap<&Pair, &Evidence> =
        lesson.evidence.iter().filter(|(_, of_pair)| is_taken_back(of_pair)).collect();
    if taken_back.is_empty() {
        return Err(PlanError::NothingWithdrawn);
    }
    let mut draft = Draft::new(lesson);
    let mut stands = false;
    let says_something = |program: &Program| {
        program.header.status.as_ref().is_some_and(|paragraph| !is_blank(&paragraph.lines))
    };
    let mut filled: BTreeSet<Pair> = record_regions(&lesson.text.page)
        .filter_map(|(_, region)| {
            let pair = lesson.text.region_pair(region, Some(lesson.primary))?;
            (!draft.is_blank(region, &pair)).then_some(pair)
        })
        .collect();
    if lesson.text.lesson.programs.iter().any(says_something) {
        filled.insert(lesson.primary.clone());
    }
    for (index, region) in record_regions(&lesson.text.page) {
        let Some(pair) = lesson.text.region_pair(region, Some(lesson.primary)) else { continue };
        let of_pair = taken_back.get(&pair).filter(|_| filled.contains(&pair));
        // A further region may be blank beside one that is not; the primary ones all say the same.
        let keeps_blank = pair != *lesson.primary && draft.is_blank(region, &pair);
        match of_pair {
            Some(of_pair) if !keeps_blank => {
                draft.region(index, region, &pair, &of_pair.shown);
                stands = true;
            }
            _ if taken_back.contains_key(&pair) => {}
            _ => draft.keep(&pair),
        }
    }
    match taken_back.get(lesson.primary).filter(|_| filled.contains(lesson.primary)) {
        Some(of_primary) => {
            draft.header(&of_primary.shown);
            draft.snapshot(lesson.primary, &of_primary.shown);
            stands = true;
        }
        None if taken_back.contains_key(lesson.primary) => {}
        None => draft.keep(lesson.primary),
    }
    if stands { draft.into_plan() } else { Err(PlanError::NothingShown) }
}

/// Whether a record of the pair was taken back, and nothing of today is left to publish in its
/// place.
fn is_taken_back(of_pair: &Evidence) -> bool {
    let withdrawn = |record: &crate::state::AssessedRecord| {
        record.standing.withdrawal(&record.examined.digest).is_some()
    };
    of_pair.state != EvidenceState::Reviewed && of_pair.records.iter().any(withdrawn)
}

/// A plan in the making.
struct Draft<'a> {
    lesson: Standing<'a>,
    regions: Vec<(usize, String)>,
    header: Option<Shown>,
    snapshots: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl<'a> Draft<'a> {
    fn new(lesson: Standing<'a>) -> Self {
        Self { lesson, regions: Vec::new(), header: None, snapshots: BTreeMap::new() }
    }

    fn is_blank(&self, region: &Region, pair: &Pair) -> bool {
        let blank = body(&self.lesson.text.lesson, region, pair, &Shown::Blank);
        blank.as_deref() == Some(self.lesson.text.region_body(region))
    }

    fn region(&mut self, index: usize, region: &Region, pair: &Pair, shown: &Shown) {
        // A region of a program that isn't there has no body, and is a finding of its own.
        let Some(text) = body(&self.lesson.text.lesson, region, pair, shown) else { return };
        if self.lesson.text.region_body(region) != text {
            self.regions.push((index, text));
        }
        self.snapshot(pair, shown);
    }

    fn header(&mut self, shown: &Shown) {
        self.header = Some(shown.clone());
    }

    fn snapshot(&mut self, pair: &Pair, shown: &Shown) {
        if let Shown::Current(reviewed) = shown {
            let path = Utf8Path::new(SNAPSHOTS_FOLDER).join(snapshot_name(pair));
            self.snapshots.insert(path, snapshot(reviewed).into_bytes());
        }
    }

    /// The pair's snapshot stays as it lies there.
    fn keep(&mut self, pair: &Pair) {
        let path = Utf8Path::new(SNAPSHOTS_FOLDER).join(snapshot_name(pair));
        if let Some(bytes) = self.lesson.files.get(&path) {
            self.snapshots.insert(path, bytes.to_vec());
        }
    }

    fn into_plan(self) -> Result<Plan, PlanError> {
        let mut plan = Plan::new();
        if !self.regions.is_empty() {
            let page = self.lesson.text.page.replace_regions(&self.regions)?;
            plan.insert(PAGE_FILE.into(), Some(page.into_bytes()));
        }
        for program in &self.lesson.text.lesson.programs {
            let (Some(shown), Some(paragraph)) = (&self.header, &program.header.status) else {
                continue;
            };
            let lines = status_lines(self.lesson.primary, shown, &program.name);
            let bytes = self.lesson.files.get(&program.source).unwrap_or_default();
            let source = String::from_utf8_lossy(bytes);
            let refuse = |source| PlanError::Status { path: program.source.clone(), source };
            let text = replace_status(&source, paragraph, &lines).map_err(refuse)?;
            plan.insert(program.source.clone(), Some(text.into_bytes()));
        }
        let there = self.lesson.files.files.keys();
        let snapshots = there
            .filter(|path| path.starts_with(SNAPSHOTS_FOLDER) && path.extension() == Some("snap"));
        plan.extend(snapshots.map(|path| (path.clone(), None)));
        plan.extend(self.snapshots.into_iter().map(|(path, bytes)| (path, Some(bytes))));
        plan.retain(|path, bytes| self.lesson.files.get(path) != bytes.as_deref());
        Ok(plan)
    }
}
