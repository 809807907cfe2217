//! `status`: every lesson in its group, what wants attention first.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use proofrun_core::escape::escape;
use serde::Serialize;

use crate::attention::{Attention, errors, next_arguments, records};
use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{Loaded, LoadedLesson, Selection};
use crate::report::terminal::finding_block;
use crate::words::{COLUMNS, age, count};

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default().bold();

/// How many lessons of a group are shown in a course that is too large to show all.
const SHOWN_MAX: usize = 10;

/// How many lessons a course may have for each to be followed by its next step.
const SMALL_COURSE_MAX: usize = 20;

/// Shows what each lesson lacks, what wants attention first.
///
/// A lesson's row holds its evidence by device model and build, and the age of its newest record;
/// what follows is the command to type next. It changes nothing and compiles nothing: `verify`
/// checks, `explain` says why.
#[derive(Debug, clap::Args)]
pub struct Status {
    /// Lessons to show, by name, folder or `day-N`; by default all.
    #[arg(value_name = "LESSON")]
    lessons: Vec<String>,
    /// Show every lesson of every group.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The whole of `--json`.
#[derive(Debug, Serialize)]
struct Document {
    /// The version of this form: a reader refuses a newer one.
    schema: u32,
    /// How many lessons each group that is not empty has.
    groups: BTreeMap<Attention, usize>,
    /// What wants attention first.
    lessons: Vec<Row>,
}

/// One lesson.
#[derive(Debug, Serialize)]
struct Row {
    lesson: String,
    folder: String,
    #[serde(rename = "state")]
    attention: Attention,
    page: String,
    published: bool,
    evidence: Vec<OfPair>,
    newest_record: Option<Timestamp>,
    errors: usize,
    next: Option<String>,
}

/// The evidence for one device model and build.
#[derive(Debug, Serialize)]
struct OfPair {
    model: String,
    variant: String,
    state: String,
    records: usize,
}

impl Status {
    /// Runs the command.
    ///
    /// # Errors
    /// When the course can't be read or has no lesson.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let loaded = Loaded::read(root, &Selection::named(&self.lessons), context)?;
        let mut rows: Vec<Row> =
            loaded.lessons.iter().map(|lesson| Row::of(lesson, context)).collect();
        // Lessons come in the order of their names, which a stable sort keeps within each group.
        rows.sort_by_key(|row| row.attention);
        if self.json {
            let mut groups = BTreeMap::new();
            for row in &rows {
                *groups.entry(row.attention).or_default() += 1;
            }
            let document = Document { schema: 1, groups, lessons: rows };
            let text = serde_json::to_string_pretty(&document);
            context.say(text.map_err(Error::system("write the status"))? + "\n");
            return Ok(Exit::Holds);
        }
        let all = self.all || !self.lessons.is_empty();
        for finding in &loaded.findings {
            context.say(finding_block(finding));
        }
        context.say(table(&rows, all, context));
        Ok(Exit::Holds)
    }
}

impl Row {
    fn of(lesson: &LoadedLesson, context: &Context) -> Self {
        let assessment = &lesson.assessment;
        let attention = Attention::of(assessment);
        let name = lesson.files.name();
        let evidence = assessment.evidence.values().map(|evidence| OfPair {
            model: evidence.pair.model.clone(),
            variant: evidence.pair.variant.clone(),
            state: evidence.state.to_string(),
            records: evidence.records.len(),
        });
        Self {
            lesson: name.to_owned(),
            folder: lesson.files.folder.to_string(),
            attention,
            page: assessment.page.to_string(),
            published: assessment.is_published(),
            evidence: evidence.collect(),
            newest_record: records(assessment).map(|r| r.examined.record.recorded_at).max(),
            errors: errors(assessment).count(),
            next: next_arguments(assessment, name).map(|next| format!("{} {next}", context.name)),
        }
    }

    /// The models of each evidence state: `Recorded h200/sm_80, h200/sm_90; Stale t4/sm_80`.
    fn evidence(&self) -> String {
        let mut states: Vec<(&str, Vec<String>)> = Vec::new();
        for of_pair in self.evidence.iter().filter(|of_pair| of_pair.records > 0) {
            let pair = format!("{}/{}", of_pair.model, of_pair.variant);
            match states.iter_mut().find(|(state, _)| *state == of_pair.state) {
                Some((_, pairs)) => pairs.push(pair),
                None => states.push((&of_pair.state, vec![pair])),
            }
        }
        if states.is_empty() {
            return "no record".to_owned();
        }
        let parts = states.iter().map(|(state, pairs)| format!("{state} {}", pairs.join(", ")));
        parts.collect::<Vec<_>>().join("; ")
    }

    /// The same where that is too long: `Recorded 12, Stale 2 of 14 models and builds`.
    fn evidence_in(&self, width: usize) -> String {
        let whole = self.evidence();
        if whole.chars().count() <= width {
            return whole;
        }
        let mut states: BTreeMap<&str, usize> = BTreeMap::new();
        for of_pair in self.evidence.iter().filter(|of_pair| of_pair.records > 0) {
            *states.entry(&of_pair.state).or_default() += 1;
        }
        let parts = states.iter().map(|(state, count)| format!("{state} on {count}"));
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// The table for people.
fn table(rows: &[Row], all: bool, context: &Context) -> String {
    let now = context.clock.now();
    let small = rows.len() <= SMALL_COURSE_MAX;
    let mut text = String::new();
    let mut hidden = 0;
    for group in Attention::ALL {
        let of_group: Vec<&Row> = rows.iter().filter(|row| row.attention == group).collect();
        if of_group.is_empty() {
            continue;
        }
        let style = style(group);
        let lessons = count(of_group.len(), "lesson");
        let _ = writeln!(text, "{style}{}{style:#}: {lessons}", group.title());
        let shown = if all || small { of_group.len() } else { SHOWN_MAX.min(of_group.len()) };
        let wide = of_group[..shown].iter().map(|row| row.lesson.chars().count()).max();
        let wide = wide.unwrap_or(0).min(40);
        for row in &of_group[..shown] {
            text.push_str(&line(row, wide, now));
            if let Some(next) = row.next.as_ref().filter(|_| small || shown == 1) {
                let _ = writeln!(text, "    next: {}", escape(next, false));
            }
        }
        if shown < of_group.len() {
            let _ = writeln!(text, "  and {} more", of_group.len() - shown);
            hidden += of_group.len() - shown;
        }
        if !small && shown > 1 {
            text.push_str(&next_steps(&of_group, context.name));
        }
    }
    if hidden > 0 {
        let name = context.name;
        let _ = writeln!(text, "{} in all; `{name} status --all` shows each", rows.len());
    }
    text
}

/// In a large course the next steps of a group, each once.
fn next_steps(rows: &[&Row], name: &str) -> String {
    let verbs = rows.iter().filter_map(|row| {
        let next = row.next.as_deref()?.strip_prefix(name)?;
        Some(next.split_whitespace().next()?.to_owned())
    });
    let verbs: std::collections::BTreeSet<String> = verbs.collect();
    let steps = verbs.iter().map(|verb| format!("    next: {name} {verb} LESSON\n"));
    steps.collect()
}

fn line(row: &Row, wide: usize, now: Timestamp) -> String {
    let age = row.newest_record.map_or_else(String::new, |then| age(then, now));
    let errors = match row.errors {
        0 => String::new(),
        errors => format!("{}; ", count(errors, "error")),
    };
    let page = match (row.attention, row.page.as_str()) {
        (_, "Blank") | (Attention::Published | Attention::Withdrawn | Attention::Drifted, _) => "",
        (_, "Current") => "page shows a record; ",
        (_, "Withdrawn") => "page Withdrawn; ",
        _ => "page Drifted; ",
    };
    let name = escape(&row.lesson, false);
    // Two blanks before, between and after the columns.
    let taken = 2 + wide.max(name.chars().count()) + 2 + errors.len() + page.len();
    let room = COLUMNS.saturating_sub(taken + 2 + age.len());
    let evidence = row.evidence_in(room);
    let text = format!("  {BOLD}{name:<wide$}{BOLD:#}  {errors}{page}{evidence}  {age}");
    text.trim_end().to_owned() + "\n"
}

fn style(group: Attention) -> Style {
    match group {
        Attention::Tampered | Attention::Broken | Attention::Drifted | Attention::Rejected => RED,
        Attention::Published => GREEN,
        _ => YELLOW,
    }
}
