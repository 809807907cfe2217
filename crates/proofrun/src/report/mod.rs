//! What `verify` found, and the forms in which it is told: terminal, JSON, JUnit, GitHub.
//!
//! **Invariant: what was not executed is never counted as passed**, in no form.

pub mod github;
pub mod json;
pub mod junit;
pub mod terminal;
#[cfg(test)]
mod tests;

use proofrun_core::{Finding, Severity};
use serde::Serialize;

/// What came of one step of one lesson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// It was done and holds.
    Passed {
        /// Whether an earlier run's digests proved that nothing changed, so that it wasn't done
        /// again.
        cached: bool,
    },
    /// It was done and doesn't hold: the findings say why.
    Failed,
    /// The gate forbids it here.
    Gated {
        /// Such as `needs 8.0, this is 7.5`.
        reason: String,
    },
    /// It was not executed.
    NotExecuted {
        /// Why not.
        reason: String,
    },
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Such as `text`, `evidence`, `compile sm_80`, `run sm_80`.
    pub name: String,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// One lesson.
#[derive(Debug, Clone, Serialize)]
pub struct LessonReport {
    /// Its name.
    pub lesson: String,
    /// Its folder.
    pub folder: String,
    /// The evidence state of its primary pair and the page's, in words; `None` for a lesson that
    /// can't be resolved.
    pub state: Option<String>,
    /// In order.
    pub steps: Vec<Step>,
    /// All of them.
    pub findings: Vec<Finding>,
}

/// A whole run of `verify`.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The version of this form: a reader refuses a newer one.
    pub schema: u32,
    /// In order of their names.
    pub lessons: Vec<LessonReport>,
    /// Findings about the course rather than a lesson.
    pub course: Vec<Finding>,
    /// Sums.
    pub counts: Counts,
}

/// How many of what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Lessons looked at.
    pub lessons: usize,
    /// Builds that compile, those proven by digests included.
    pub compiled: usize,
    /// Of them, those that digests proved unchanged.
    pub cached: usize,
    /// Programs that ran and whose output fits.
    pub executed: usize,
    /// Programs that ran on the emulated device and hold there.
    pub emulated: usize,
    /// Steps that the gate forbids here.
    pub gated: usize,
    /// Steps not executed.
    pub not_executed: usize,
    /// Steps that failed.
    pub failed: usize,
    /// Findings that fail the command.
    pub errors: usize,
    /// Findings that don't.
    pub warnings: usize,
}

impl Report {
    /// A report with its sums.
    pub fn new(lessons: Vec<LessonReport>, course: Vec<Finding>) -> Self {
        let mut counts = Counts { lessons: lessons.len(), ..Counts::default() };
        for step in lessons.iter().flat_map(|lesson| &lesson.steps) {
            match &step.outcome {
                Outcome::Passed { cached } if step.name.starts_with("compile") => {
                    counts.compiled += 1;
                    counts.cached += usize::from(*cached);
                }
                Outcome::Passed { .. } => {
                    counts.executed += usize::from(step.name.starts_with("run"));
                    counts.emulated += usize::from(step.name.starts_with("emulate"));
                }
                Outcome::Failed => counts.failed += 1,
                Outcome::Gated { .. } => counts.gated += 1,
                Outcome::NotExecuted { .. } => counts.not_executed += 1,
            }
        }
        let report = Self { schema: 1, lessons, course, counts };
        let errors =
            report.findings().filter(|finding| finding.severity == Severity::Error).count();
        let warnings = report.findings().count() - errors;
        Self { counts: Counts { errors, warnings, ..counts }, ..report }
    }

    /// All findings, the course's first.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.course.iter().chain(self.lessons.iter().flat_map(|lesson| &lesson.findings))
    }
}
