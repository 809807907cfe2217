//! The page's assertions: evaluated on every run of the record that is shown, or that waits to be.
//!
//! An assertion holds only if it holds in *every* run. Where nothing is recorded it was not
//! executed, which is neither.

use std::collections::BTreeMap;

use crate::decimal::{CompareOp, Decimal};
use crate::digest::Digest;
use crate::finding::{Finding, Findings, Place, Rule};
use crate::page::{Holds, HoldsOp, HoldsTerm};
use crate::record::faults::MatchedRuns;
use crate::state::{AssessedRecord, Evidence, Pair, Shown};
use crate::template::Matched;

use super::text::LessonText;

/// An assertion and what came of it.
#[derive(Debug, Clone)]
pub struct HoldsResult {
    /// The assertion.
    pub holds: Holds,
    /// The pair that it is about.
    pub pair: Option<Pair>,
    /// What came of it, for each record of the pair that is shown or of today.
    pub outcomes: Vec<HoldsOutcome>,
}

/// An assertion on one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldsOutcome {
    /// The record.
    pub record: Digest,
    /// Whether this record is what the page shows.
    pub shown: bool,
    /// For each run whether it holds.
    pub runs: Vec<bool>,
}

impl HoldsOutcome {
    /// Whether it holds in every run, of which there is at least one.
    pub fn holds(&self) -> bool {
        !self.runs.is_empty() && self.runs.iter().all(|run| *run)
    }
}

/// Evaluates every assertion of the page.
pub fn evaluate(
    text: &LessonText,
    evidence: &BTreeMap<Pair, Evidence>,
    primary: Option<&Pair>,
) -> Vec<HoldsResult> {
    let evaluated = text.page.holds.iter().map(|holds| {
        let target = holds.target.as_ref();
        let pair = target
            .map(|target| Pair::new(&*target.model, &*target.variant))
            .or_else(|| primary.cloned());
        let of_pair = pair.as_ref().and_then(|pair| evidence.get(pair));
        let outcomes = of_pair.map(|of_pair| outcomes(holds, of_pair)).unwrap_or_default();
        HoldsResult { holds: holds.clone(), pair, outcomes }
    });
    evaluated.collect()
}

fn outcomes(holds: &Holds, evidence: &Evidence) -> Vec<HoldsOutcome> {
    let shown = match &evidence.shown {
        Shown::Current(reviewed) => Some(reviewed.examined().digest),
        Shown::Blank | Shown::Withdrawn(_) => None,
    };
    let of_interest =
        |record: &&AssessedRecord| record.is_of_today() || Some(record.examined.digest) == shown;
    let records = evidence.records.iter().filter(of_interest);
    let outcomes = records.filter_map(|record| {
        let runs = record.matched.first()?;
        let digest = record.examined.digest;
        Some(HoldsOutcome {
            record: digest,
            shown: Some(digest) == shown,
            runs: runs_holding(holds, runs)?,
        })
    });
    outcomes.collect()
}

/// For each run of the primary program whether the assertion holds; `None` for a field that it
/// lacks.
fn runs_holding(holds: &Holds, runs: &MatchedRuns) -> Option<Vec<bool>> {
    runs.runs.iter().map(|run| run_holds(holds, run)).collect()
}

fn run_holds(holds: &Holds, run: &Matched) -> Option<bool> {
    let left = run.one(&holds.left)?.value;
    let right: Decimal = match &holds.right {
        HoldsTerm::Number(text) => text.parse().ok()?,
        HoldsTerm::Field(name) => run.one(name)?.value,
    };
    let op = match holds.op {
        HoldsOp::Less => CompareOp::Lt,
        HoldsOp::LessOrEqual => CompareOp::Le,
        HoldsOp::Greater => CompareOp::Gt,
        HoldsOp::GreaterOrEqual => CompareOp::Ge,
    };
    Some(op.holds(left, right))
}

/// What is wrong with the assertions: fields that don't exist, and those that fail on what the page
/// shows.
pub fn findings(text: &LessonText, results: &[HoldsResult]) -> Findings {
    let mut findings = Vec::new();
    for result in results {
        let place = Place::line(text.page_path(), result.holds.line);
        findings.extend(field_findings(text, result, &place));
        for outcome in result.outcomes.iter().filter(|outcome| !outcome.holds()) {
            let count = outcome.runs.iter().filter(|run| **run).count();
            let fact = format!(
                "the assertion holds in {count} of {} runs of record `{}`",
                outcome.runs.len(),
                outcome.record.short()
            );
            let next = "change the prose that leans on it, and the assertion";
            // Before it is shown, a failing assertion is what a reviewer has to see; once shown,
            // the page is wrong.
            findings.push(if outcome.shown {
                Finding::error(Rule::HoldsFails, place.clone(), fact, next)
            } else {
                Finding::warning(Rule::HoldsFails, place.clone(), fact, next)
            });
        }
    }
    findings
}

fn field_findings(text: &LessonText, result: &HoldsResult, place: &Place) -> Findings {
    let template = &text.lesson.primary().template;
    let right = match &result.holds.right {
        HoldsTerm::Number(_) => None,
        HoldsTerm::Field(name) => Some(name),
    };
    let names = std::iter::once(&result.holds.left).chain(right);
    let unknown = names.filter(|name| {
        let field = template.field(name);
        !field.is_some_and(|field| !field.repeated && field.decimals().is_some())
    });
    let next = "name a numeric field of the output template";
    unknown
        .map(|name| {
            let fact = format!("the output has no single number `{name}`");
            Finding::error(Rule::HoldsField, place.clone(), fact, next)
        })
        .collect()
}
