//! The report for people: a block a lesson, findings as place, fact, cause, next step.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use proofrun_core::escape::escape;
use proofrun_core::{Finding, Severity};

use super::{Counts, LessonReport, Outcome, Report, Step};

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The whole report. Styles are written always; the stream that it goes to drops them where they
/// don't belong.
pub fn terminal(report: &Report) -> String {
    let mut text = String::new();
    for lesson in &report.lessons {
        text.push_str(&lesson_block(lesson));
    }
    for finding in &report.course {
        text.push_str(&finding_block(finding));
    }
    text.push_str(&counts_line(&report.counts));
    text
}

/// One lesson: its state, its steps in a line, its findings.
pub fn lesson_block(lesson: &LessonReport) -> String {
    let mut text = String::new();
    let state = lesson.state.as_deref().unwrap_or("can't be resolved");
    let _ =
        writeln!(text, "{BOLD}{}{BOLD:#}  {}", escape(&lesson.lesson, false), escape(state, false));
    for step in &lesson.steps {
        let _ = writeln!(text, "  {}", step_line(step));
    }
    for finding in &lesson.findings {
        text.push_str(&finding_block(finding));
    }
    text
}

fn step_line(step: &Step) -> String {
    let name = format!("{:<16}", escape(&step.name, false));
    match &step.outcome {
        Outcome::Passed { cached: false } => format!("{name}{GREEN}ok{GREEN:#}"),
        Outcome::Passed { cached: true } => {
            format!("{name}{GREEN}ok{GREEN:#} {DIM}(unchanged){DIM:#}")
        }
        Outcome::Failed => format!("{name}{RED}failed{RED:#}"),
        Outcome::Gated { reason } => format!("{name}gated: {}", escape(reason, false)),
        Outcome::NotExecuted { reason } => {
            format!("{name}{YELLOW}not executed{YELLOW:#}: {}", escape(reason, false))
        }
    }
}

/// A finding over several lines.
pub fn finding_block(finding: &Finding) -> String {
    let (style, word) = match finding.severity {
        Severity::Error => (RED, "error"),
        Severity::Warning => (YELLOW, "warning"),
    };
    let mut text = format!(
        "  {style}{word}{style:#} {BOLD}{}{BOLD:#}: {} {DIM}[{}]{DIM:#}\n",
        escape(&finding.place.to_string(), false),
        indented(&finding.fact),
        finding.rule.id(),
    );
    if let Some(cause) = &finding.cause {
        let _ = writeln!(text, "      because {}", indented(cause));
    }
    let _ = writeln!(text, "      next: {}", indented(&finding.next));
    text
}

/// A finding in one line, for files and logs.
pub fn one_line(finding: &Finding) -> String {
    let cause = finding.cause.as_ref().map_or_else(String::new, |cause| format!(" ({cause})"));
    let text = format!("{}: {}{cause}; next: {}", finding.place, finding.fact, finding.next);
    escape(&text.lines().collect::<Vec<_>>().join(" "), false)
}

fn indented(text: &str) -> String {
    escape(text, true).lines().collect::<Vec<_>>().join("\n      ")
}

/// The last line: what was done, and what was not.
pub fn counts_line(counts: &Counts) -> String {
    let mut parts = vec![
        plural(counts.lessons, "lesson"),
        format!("{} compiled ({} unchanged)", plural(counts.compiled, "build"), counts.cached),
        format!("{} executed", plural(counts.executed, "program")),
        format!("{} gated", counts.gated),
    ];
    if counts.emulated > 0 {
        parts.push(format!("{} emulated", counts.emulated));
    }
    if counts.not_executed > 0 {
        parts.push(format!("{} not executed", plural(counts.not_executed, "step")));
    }
    if counts.failed > 0 {
        parts.push(format!("{} failed", plural(counts.failed, "step")));
    }
    parts.push(plural(counts.errors, "error"));
    parts.push(plural(counts.warnings, "warning"));
    format!("{}\n", parts.join(", "))
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
