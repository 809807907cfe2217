//! GitHub's forms: an annotation a finding, and the step's summary in Markdown.

use std::fmt::Write as _;

use proofrun_core::escape::escape;
use proofrun_core::{Finding, Severity};

use super::terminal::{counts_line, one_line};
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
    let path = escape(finding.place.path.as_str(), false);
    let mut text = format!("::{level} file={}", property(&path));
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

/// A text between lines that keep GitHub from taking a line of it for a workflow command: findings
/// quote what compilers and programs print. `token` is something that the text can't know.
pub fn without_commands(text: &str, token: &str) -> String {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("::stop-commands::{token}\n{text}{newline}::{token}::\n")
}

/// The summary: a row a lesson, then what is wrong with the course itself, then the sums.
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
                    Outcome::Gated { reason } => format!("gated: {}", plain(reason)),
                    Outcome::NotExecuted { reason } => {
                        format!("not executed: {}", plain(reason))
                    }
                };
                format!("{}: {what}", plain(&step.name))
            })
            .collect();
        let count = |severity| {
            lesson.findings.iter().filter(|finding| finding.severity == severity).count()
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            plain(&lesson.lesson),
            plain(lesson.state.as_deref().unwrap_or("can't be resolved")),
            steps.join("; "),
            count(Severity::Error),
            count(Severity::Warning)
        );
    }
    text.push('\n');
    for finding in &report.course {
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = writeln!(text, "- **{level}** {}", plain(&one_line(finding)));
    }
    text + "\n" + &counts_line(&report.counts)
}

/// A text in one line that Markdown takes for nothing but text, in a cell of a table too.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in escape(text, false).chars() {
        if "\\`*_~[]<>&|#!@".contains(c) {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}
