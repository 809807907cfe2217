//! The record's part of a publication, and the bodies of README regions.

use std::fmt::Write as _;

use crate::digest::Digest;
use crate::lesson::Lesson;
use crate::lesson::RunChoice;
use crate::page::{Region, RegionKind, blank_body};
use crate::record::Examined;
use crate::record::faults::MatchedRuns;
use crate::review::Withdrawal;
use crate::state::{Pair, Shown};
use crate::template::{Matched, Template, median_run};

/// The version of this module's format. A review names it; it matters only where the text changes.
pub const RENDER_FORMAT: u32 = 1;

/// What a reviewer signs: everything that is shown of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendering {
    /// The state line, without the review.
    pub state: String,
    /// The shown run and the spread of each program, in the lesson's order.
    pub programs: Vec<ProgramRendering>,
}

/// What is shown of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRendering {
    /// Its name.
    pub name: String,
    /// From 0.
    pub run: usize,
    /// The `output` region.
    pub output: String,
    /// The `spread` region.
    pub spread: String,
}

impl Rendering {
    /// What a review's `rendering.digest` must be.
    pub fn digest(&self) -> Digest {
        let programs = self.programs.iter();
        let parts = programs.flat_map(|program| [&program.name, &program.output, &program.spread]);
        Digest::of_parts(std::iter::once(&self.state).chain(parts))
    }

    /// All of it as one text, for reviewers and snapshots.
    pub fn text(&self) -> String {
        let mut text = self.state.clone();
        for program in &self.programs {
            let _ = write!(text, "\n{}\n{}", program.output, program.spread);
        }
        text
    }
}

/// Renders a record whose runs fit the lesson's templates.
///
/// `None` when the manifest chooses a run that the record doesn't have.
pub fn render(lesson: &Lesson, examined: &Examined, matched: &[MatchedRuns]) -> Option<Rendering> {
    let mut programs = Vec::new();
    for (index, (program, runs)) in lesson.programs.iter().zip(matched).enumerate() {
        // A further program has no rule of its own, and its fields are other fields: its first run
        // is shown.
        let choice = if index == 0 { &lesson.publish.run } else { &RunChoice::Index(0) };
        let run = published_run(choice, &runs.runs)?;
        let recorded = examined.record.program(&program.name)?;
        let file = &recorded.run.get(run)?.stdout;
        let mut output = fenced(&String::from_utf8_lossy(examined.file(file)));
        let folder = examined.record.folder_name(&examined.digest);
        let _ = writeln!(
            output,
            "\nWhole and as printed, [`{file}`](evidence/{folder}/{file}) of {} runs: {}.",
            recorded.run.len(),
            facts(examined)
        );
        let spread = spread(&program.template, runs, examined);
        programs.push(ProgramRendering { name: program.name.clone(), run, output, spread });
    }
    let toolkit = &examined.record.toolkit;
    let state = format!("**VERIFIED.** {}, built with {toolkit}.\n", facts(examined));
    Some(Rendering { state, programs })
}

/// The index of the run that is shown; `None` when there is no such run.
fn published_run(choice: &RunChoice, runs: &[Matched]) -> Option<usize> {
    match choice {
        RunChoice::Index(index) => (*index < runs.len()).then_some(*index),
        RunChoice::MedianOf(field) => median_run(runs, field),
    }
}

/// The device, build and record, in one phrase, which each part of a rendering holds.
pub fn facts(examined: &Examined) -> String {
    let record = &examined.record;
    let device = &record.device.facts;
    format!(
        "{} (compute capability {}, driver {}), `{}` build, {}, [record `{}`](evidence/{}/record.toml)",
        device.name,
        device.compute_capability,
        device.driver,
        record.variant,
        record.recorded_at.strftime("%Y-%m-%d"),
        examined.digest.short(),
        record.folder_name(&examined.digest),
    )
}

/// A fenced block around a text, its fence longer than any run of backticks inside.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}text\n{text}{newline}{fence}\n")
}

/// A table of the measured fields over all runs.
fn spread(template: &Template, runs: &MatchedRuns, examined: &Examined) -> String {
    let mut rows = String::new();
    for field in template.fields().filter(|field| field.is_measured()) {
        let Some(name) = &field.name else { continue };
        let values = runs.runs.iter().map(|run| Some(run.one(name)?.value));
        let Some(mut values) = values.collect::<Option<Vec<_>>>() else { continue };
        values.sort();
        let (Some(low), Some(high)) = (values.first(), values.last()) else { continue };
        let median = &values[(values.len() - 1) / 2];
        let unit = field.unit().unwrap_or("");
        let _ = writeln!(rows, "| `{name}` | {low} | {median} | {high} | {unit} |");
    }
    if rows.is_empty() {
        return "*This program measures nothing.*\n".to_owned();
    }
    let count = runs.runs.len();
    format!(
        "| field | lowest | lower median | highest | unit |\n| --- | ---: | ---: | ---: | --- |\n{rows}\n\
         Over {count} fresh processes: {}.\n",
        facts(examined)
    )
}

/// The body that a region should have for what its pair shows; `None` for a region of another kind.
pub fn body(lesson: &Lesson, region: &Region, pair: &Pair, shown: &Shown) -> Option<String> {
    if region.kind != RegionKind::Record {
        return None;
    }
    match shown {
        Shown::Blank => blank_body(region).map(str::to_owned),
        Shown::Withdrawn(withdrawal) => Some(withdrawn(pair, withdrawal)),
        Shown::Current(reviewed) => {
            let mut text = record_body(lesson, region, reviewed.rendering())?;
            let review = reviewed.acceptance();
            let day = review.at.strftime("%Y-%m-%d");
            let itself = if review.self_review { ", who recorded it too" } else { "" };
            let _ = writeln!(text, "Reviewed by `{}`{itself} on {day}.", review.by);
            Some(text)
        }
    }
}

/// A region's body as a rendering has it: all that a reviewer signs, without the line that names
/// him. `None` for a region of another kind or of a program that the rendering doesn't have.
pub fn record_body(lesson: &Lesson, region: &Region, rendering: &Rendering) -> Option<String> {
    if region.kind != RegionKind::Record {
        return None;
    }
    let wanted = region.program.as_ref().unwrap_or(&lesson.primary().name);
    let program = rendering.programs.iter().find(|program| program.name == *wanted);
    match region.name.as_str() {
        "state" => Some(rendering.state.clone()),
        "output" => Some(program?.output.clone()),
        "spread" => Some(program?.spread.clone()),
        _ => None,
    }
}

/// What any `record` region says after its record was withdrawn.
fn withdrawn(pair: &Pair, withdrawal: &Withdrawal) -> String {
    format!(
        "**WITHDRAWN** since {}: record `{}` of {pair} no longer stands. `{}` said why: {}\n",
        withdrawal.since.strftime("%Y-%m-%d"),
        withdrawal.record.short(),
        withdrawal.by,
        markdown_line(&withdrawal.reason),
    )
}

/// A reason from outside, as one line that can neither close a marker nor open one.
fn markdown_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('<', "&lt;").replace('>', "&gt;").replace('`', "'")
}
