//! The work of `verify` after the course is read: builds, gate, runs on a card or on the emulated
//! device, and the report of all of it.
//!
//! **Invariant: each lesson gets every step named, and each step one of four outcomes**; nothing
//! drops out of the report because something before it failed.

pub(crate) mod builds;
mod device;
mod emulation;
mod insta;
pub(crate) mod progress;

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use proofrun_core::finding::Findings;
use proofrun_core::{Finding, Place, Rule, Severity};

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::loaded::{Loaded, LoadedLesson};
use crate::report::{LessonReport, Outcome, Report, Step};

pub use builds::{BuildKey, Builds};

/// How `verify` was asked to work.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Use no network.
    pub offline: bool,
    /// Fail when no device runs anything.
    pub require_device: bool,
    /// Builds side by side.
    pub jobs: usize,
    /// Where the toolkit is.
    pub cuda_home: Option<Utf8PathBuf>,
}

/// What one lesson's steps came to, on the way to its report.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    steps: Vec<Step>,
    findings: Findings,
}

impl Steps {
    fn push(&mut self, name: impl Into<String>, outcome: Outcome) {
        self.steps.push(Step { name: name.into(), outcome });
    }
}

/// Verifies lessons that were read and assessed.
///
/// # Errors
/// When it is asked to stop, or the system fails in a way that is no finding.
pub fn verify(
    root: &Root,
    context: &Context,
    loaded: Loaded,
    mut course: Findings,
    rules: &Rules,
) -> Result<Report, Error> {
    let (builds, loaded) = Builds::make(root, context, loaded, rules)?;
    let mut steps: BTreeMap<String, Steps> = BTreeMap::new();
    for lesson in &loaded.lessons {
        let own = steps.entry(lesson.files.name().to_owned()).or_default();
        text_steps(lesson, own);
        builds.steps(lesson, own);
    }
    let gates = device::run(context, &loaded, &builds, &mut steps)?;
    emulation::run(root, context, &loaded, &builds, &gates.gated, rules, &mut steps)?;
    if rules.require_device && gates.executed == 0 {
        let fact = "a device was required, and nothing was executed on one";
        let next = "run on a host whose card passes the gate of a lesson";
        course.push(Finding::error(Rule::DeviceAbsent, Place::file("."), fact, next));
    }
    course.extend(builds.course_findings());
    course.extend(insta::findings(root, context));
    let lessons = loaded.lessons.iter().map(|lesson| {
        let name = lesson.files.name().to_owned();
        let own = steps.remove(&name).unwrap_or_default();
        let mut findings = lesson.assessment.findings.clone();
        findings.extend(own.findings);
        LessonReport {
            folder: lesson.files.folder.to_string(),
            state: state(lesson),
            steps: own.steps,
            findings,
            lesson: name,
        }
    });
    Ok(Report::new(lessons.collect(), course))
}

/// What reading and assessing already showed, as two steps.
fn text_steps(lesson: &LoadedLesson, own: &mut Steps) {
    let failed = |tampered: bool| {
        lesson.assessment.findings.iter().any(|finding| {
            finding.severity == Severity::Error
                && (finding.rule.class() == proofrun_core::Class::Tampered) == tampered
        })
    };
    let outcome = |failed: bool| match failed {
        true => Outcome::Failed,
        false => Outcome::Passed { cached: false },
    };
    own.push("text", outcome(failed(false)));
    let records = lesson.assessment.evidence.values().map(|evidence| evidence.records.len());
    if records.sum::<usize>() == 0 && !failed(true) {
        let reason = "no record".to_owned();
        own.push("evidence", Outcome::NotExecuted { reason });
    } else {
        own.push("evidence", outcome(failed(true)));
    }
}

/// The lesson's state in words: the page's, and that of each pair's evidence.
pub fn state(lesson: &LoadedLesson) -> Option<String> {
    let assessment = &lesson.assessment;
    assessment.lesson()?;
    let pairs = assessment.evidence.values();
    let mut parts: Vec<String> =
        pairs.map(|evidence| format!("{} {}", evidence.state, evidence.pair)).collect();
    if parts.is_empty() {
        parts.push("Unverified".to_owned());
    }
    let published = assessment.is_published();
    let page = if published { "Published".to_owned() } else { format!("page {}", assessment.page) };
    Some(format!("{page}; {}", parts.join(", ")))
}
