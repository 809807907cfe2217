//! GitHub's forms: an annotation a finding, and the step's summary in Markdown.

use std::fmt::Write as _;

use proofrun_core::escape::escape;
use proofrun_core::{Finding, Severity};

use super::{Outcome, Report};

/// Workflow commands, one a line. Newlines and `%` in a message are encoded as the runner decodes
/// them (GitHub documentation, "Workflow commands").
pub fn annotations(report: &Report) -> String {
    report.findings().map(annotation).collect()
}

fn annotation(finding: &Finding) -> String {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut text = format!("::{level} file={}", property(finding.place.path.as_str()));
    if let Some(line) = finding.place.line {
        let _ = write!(text, ",line={line}");
    }
    if let Some(column) = finding.place.column {
        let _ = write!(text, ",col={column}");
    }
    let cause = finding.cause.as_ref().map_or_else(String::new, |cause| format!(" ({cause})"));
    let message = escape(&format!("{}{cause}; {}", finding.fact, finding.next), true);
    let message = message.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let _ = writeln!(text, ",title={}::{message}", finding.rule.id());
    text
}

fn property(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    text.replace(':', "%3A").replace(',', "%2C")
}

/// The summary: a row a lesson.
pub fn summary(report: &Report) -> String {
    let mut text = String::from("| lesson | state | steps | errors | warnings |\n");
    text.push_str("| --- | --- | --- | --- | --- |\n");
    for lesson in &report.lessons {
        let steps: Vec<String> = lesson
            .steps
            .iter()
            .map(|step| {
                let what = match &step.outcome {
                    Outcome::Passed { .. } => "ok".to_owned(),
                    Outcome::Failed => "**failed**".to_owned(),
                    Outcome::Gated { reason } => format!("gated: {reason}"),
                    Outcome::NotExecuted { reason } => format!("not executed: {reason}"),
                };
                format!("{}: {what}", step.name)
            })
            .collect();
        let count = |severity| {
            lesson.findings.iter().filter(|finding| finding.severity == severity).count()
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            cell(&lesson.lesson),
            cell(lesson.state.as_deref().unwrap_or("?")),
            cell(&steps.join("; ")),
            count(Severity::Error),
            count(Severity::Warning)
        );
    }
    text
}

fn cell(text: &str) -> String {
    escape(text, false).replace('|', "\\|")
}
