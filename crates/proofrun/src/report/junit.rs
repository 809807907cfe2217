//! The report as JUnit XML: a suite a lesson, a case a step.

use proofrun_core::escape::escape;
use proofrun_core::{Finding, Severity};
use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use super::{LessonReport, Outcome, Report, Step};
use crate::report::terminal::one_line;
use crate::words::count;

/// The document.
///
/// # Errors
/// When a name can't be written as XML.
pub fn junit(report: &Report) -> Result<String, quick_junit::SerializeError> {
    let mut junit = Junit::new("proofrun verify");
    for lesson in &report.lessons {
        junit.add_test_suite(suite(lesson));
    }
    if !report.course.is_empty() {
        let mut suite = TestSuite::new("course");
        suite.add_test_case(findings_case(&report.course));
        junit.add_test_suite(suite);
    }
    junit.to_string()
}

fn suite(lesson: &LessonReport) -> TestSuite {
    let mut suite = TestSuite::new(shown(&lesson.lesson));
    for step in &lesson.steps {
        suite.add_test_case(TestCase::new(shown(&step.name), status(step)));
    }
    suite.add_test_case(findings_case(&lesson.findings));
    suite
}

/// Gated and not executed are both "skipped" to JUnit, which has no third word; the message says
/// which.
fn status(step: &Step) -> TestCaseStatus {
    let skipped = |message: String| {
        let mut status = TestCaseStatus::skipped();
        status.set_message(shown(&message));
        status
    };
    match &step.outcome {
        Outcome::Passed { .. } => TestCaseStatus::success(),
        Outcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::Gated { reason } => skipped(format!("gated: {reason}")),
        Outcome::NotExecuted { reason } => skipped(format!("not executed: {reason}")),
    }
}

/// A text with all of it to be seen: the writer would drop most of what XML can't hold, and a
/// terminal's escapes.
fn shown(text: &str) -> String {
    escape(text, false).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

fn findings_case(findings: &[Finding]) -> TestCase {
    let errors: Vec<String> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| shown(&one_line(finding)))
        .collect();
    let mut status = TestCaseStatus::success();
    if !errors.is_empty() {
        status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(count(errors.len(), "error"));
        status.set_description(errors.join("\n"));
    }
    TestCase::new("findings", status)
}
