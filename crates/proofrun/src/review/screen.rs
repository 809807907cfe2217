//! The screen of one record: everything that a reviewer checks, the odd first.

use proofrun_core::card::CardState;
use proofrun_core::page::{Holds, HoldsOp, HoldsTerm};
use proofrun_core::publication::RENDER_FORMAT;
use proofrun_core::record::model::{Record, SanitizerOutcome, SignedAt};
use proofrun_core::state::AssessedRecord;

use crate::loaded::Loaded;

use super::rows::{ODD, Rows};
use super::{Subject, changes, diff, odd};

/// The screen of so many columns, `position` being which of how many.
pub fn screen(
    subject: &Subject<'_>,
    loaded: &Loaded,
    position: (usize, usize),
    width: Option<usize>,
) -> String {
    let mut rows = Rows::new(width);
    let record = &subject.record.examined.record;
    title(subject, record, position, &mut rows);
    rows.label("odd");
    let odd = odd::odd(subject, loaded);
    if odd.is_empty() {
        rows.row("nothing, and everything was executed");
    }
    for row in odd {
        rows.marked(ODD, "! ", row);
    }
    if let Some(rendering) = &subject.record.rendering {
        diff::show(subject, rendering, &mut rows);
    }
    holds(subject, &mut rows);
    spread(subject, &mut rows);
    since(subject, &mut rows);
    machine(record, &mut rows);
    rows.into_text()
}

fn title(subject: &Subject<'_>, record: &Record, (at, of): (usize, usize), rows: &mut Rows) {
    let lesson = subject.lesson.files.name();
    rows.heading(&format!("Review {at} of {of}: {lesson} on {}", subject.evidence.pair));
    rows.label("record");
    rows.row(subject.digest().to_string());
    if let Some(rendering) = &subject.record.rendering {
        rows.label("rendering");
        rows.row(format!("{}, format {RENDER_FORMAT}", rendering.digest()));
    }
    let place = match record.signed_at {
        SignedAt::Host => "on the host",
        SignedAt::Import => "at import",
    };
    let commit = record.commit.as_ref().map_or("unknown", |commit| commit.id.as_str());
    let short: String = commit.chars().take(12).collect();
    rows.label("recorded");
    rows.row(format!(
        "{} by {}, signed {place}, commit {short}",
        record.recorded_at, record.recorder
    ));
}

fn holds(subject: &Subject<'_>, rows: &mut Rows) {
    rows.label("holds");
    let mut none = true;
    for result in &subject.lesson.assessment.holds {
        let outcome = result.outcomes.iter().find(|it| it.record == subject.digest());
        let Some(outcome) = outcome else { continue };
        none = false;
        let runs = outcome.runs.len();
        let failing: Vec<String> =
            (0..runs).filter(|run| !outcome.runs[*run]).map(|run| (run + 1).to_string()).collect();
        let claim = claim(&result.holds);
        let line = result.holds.line;
        let held = runs - failing.len();
        let told = format!("{claim} (line {line}): holds in {held} of {runs} runs");
        if failing.is_empty() {
            rows.row(told);
        } else {
            rows.marked(ODD, "! ", format!("{told}, not in run {}", failing.join(", ")));
        }
    }
    if none {
        rows.row("no assertion of the page is about this record");
    }
}

/// An assertion as it is written.
fn claim(holds: &Holds) -> String {
    let op = match holds.op {
        HoldsOp::Less => "<",
        HoldsOp::LessOrEqual => "<=",
        HoldsOp::Greater => ">",
        HoldsOp::GreaterOrEqual => ">=",
    };
    let (HoldsTerm::Number(right) | HoldsTerm::Field(right)) = &holds.right;
    format!("{} {op} {right}", holds.left)
}

/// Each measured field in every run, the shown one in brackets.
fn spread(subject: &Subject<'_>, rows: &mut Rows) {
    rows.label("spread");
    let Some(lesson) = subject.lesson.assessment.lesson() else { return };
    let mut none = true;
    for runs in &subject.record.matched {
        let Some(program) = lesson.program(&runs.program) else { continue };
        let shown = shown_run(subject.record, &runs.program);
        for field in program.template.fields().filter(|field| field.is_measured()) {
            let Some(name) = &field.name else { continue };
            let values = runs.runs.iter().enumerate().map(|(index, run)| {
                let text = run.one(name).map_or("a list", |reading| reading.text.as_str());
                if Some(index) == shown { format!("[{text}]") } else { text.to_owned() }
            });
            let values: Vec<String> = values.collect();
            let unit = field.unit().unwrap_or("");
            let legend = if none { "  (each run; the shown one in brackets)" } else { "" };
            rows.row(format!("{name}: {} {unit}{legend}", values.join(" ")));
            none = false;
        }
    }
    if none {
        rows.row("nothing is measured");
    }
}

fn shown_run(record: &AssessedRecord, program: &str) -> Option<usize> {
    let programs = &record.rendering.as_ref()?.programs;
    programs.iter().find(|it| it.name == program).map(|it| it.run)
}

fn since(subject: &Subject<'_>, rows: &mut Rows) {
    rows.label("since");
    match changes::last_reviewed(subject) {
        None => rows.row("no record of this lesson was reviewed before"),
        Some(old) => {
            let (digest, day) = (old.examined.digest.short(), old.examined.record.recorded_at);
            let day = day.strftime("%Y-%m-%d");
            rows.row(format!("the last reviewed record, {digest} of {day}"));
            for row in changes::changes(&old.examined, &subject.record.examined) {
                rows.row(row);
            }
        }
    }
}

fn machine(record: &Record, rows: &mut Rows) {
    rows.label("card");
    rows.row(format!("before: {}", card(&record.before)));
    rows.row(format!("after:  {}", card(&record.after)));
    rows.label("checks");
    let check = match &record.check {
        None => "Rust checks not executed".to_owned(),
        Some(check) => format!(
            "Rust checks `{}`: {} executed, {} failed, {} not executed",
            check.harness, check.executed, check.failed, check.not_executed
        ),
    };
    rows.row(format!("{}; {check}", sanitizers(record)));
}

/// The tools by what came of them; those that are clean for every program in one phrase.
fn sanitizers(record: &Record) -> String {
    let clean = |tool: &str| {
        let mut rows = record.sanitizer.iter().filter(|row| row.tool == tool);
        rows.all(|row| row.outcome == SanitizerOutcome::Clean)
    };
    let mut tools: Vec<&str> = record.sanitizer.iter().map(|row| row.tool.as_str()).collect();
    tools.dedup();
    let all_clean: Vec<&str> = tools.into_iter().filter(|tool| clean(tool)).collect();
    let others = record.sanitizer.iter().filter(|row| !clean(&row.tool)).map(odd::sanitizer);
    let mut phrases: Vec<String> = others.collect();
    if !all_clean.is_empty() {
        phrases.insert(0, format!("clean: {}", all_clean.join(", ")));
    }
    if phrases.is_empty() { "no sanitizer".to_owned() } else { phrases.join("; ") }
}

fn card(card: &CardState) -> String {
    if let Some(reason) = &card.absent {
        return format!("NVML absent: {reason}");
    }
    let of = |value: Option<u32>, unit: &str| {
        value.map_or_else(|| format!("? {unit}"), |value| format!("{value} {unit}"))
    };
    let watts = card.power_mw.map(|milli| milli.div_ceil(1000));
    let others = match card.other_processes {
        Some(0) => "alone".to_owned(),
        others => of(others, "other processes"),
    };
    let reasons = match &card.throttle_reasons {
        None => "clocks ?".to_owned(),
        Some(reasons) if reasons.is_empty() => "clocks free".to_owned(),
        Some(reasons) => format!("clocks held down by {}", reasons.join(" ")),
    };
    [
        of(card.sm_clock_mhz, "MHz"),
        of(card.memory_clock_mhz, "MHz memory"),
        of(card.temperature_c, "°C"),
        of(watts, "W"),
        of(card.utilisation_percent, "% busy"),
        others,
        reasons,
    ]
    .join(", ")
}
