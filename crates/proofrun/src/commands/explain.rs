//! `explain`: why a lesson is in the state it is in, and what publishing it needs.

mod history;
mod needs;

use anstyle::{AnsiColor, Style};
use proofrun_core::assess::Assessment;
use proofrun_core::escape::escape;
use proofrun_core::record::model::SignedAt;
use proofrun_core::state::{AssessedRecord, Evidence, PageState, Pair, RecordState, Shown};

use crate::attention::{Attention, errors, next_arguments};
use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{Loaded, LoadedLesson, Selection};
use crate::report::terminal::finding_block;
use crate::words::{ago, count, wrapped};

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();

/// Explains why a lesson is in its state, and what publishing it needs.
///
/// For each device model and build: the records, whether they are valid and of today's inputs and
/// which input changed, and what reviewers said. Then what the page shows, what `publish` would
/// need, and the next step.
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// The lesson, by name, folder or `day-N`.
    #[arg(value_name = "LESSON")]
    lesson: String,
}

impl Explain {
    /// Runs the command.
    ///
    /// # Errors
    /// When the course can't be read or the lesson isn't there.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let loaded = Loaded::read(root, &Selection::named(&[self.lesson]), context)?;
        for lesson in &loaded.lessons {
            context.say(explanation(lesson, context));
        }
        Ok(Exit::Holds)
    }
}

fn explanation(lesson: &LoadedLesson, context: &Context) -> String {
    let assessment = &lesson.assessment;
    let name = lesson.files.name();
    let title = Attention::of(assessment).title();
    let mut text = format!("{BOLD}{}{BOLD:#}  {title}\n", escape(name, false));
    text.push_str(&field("folder", lesson.files.folder.as_str()));
    let Some(resolved) = assessment.lesson() else {
        text.push_str(&field("manifest", "can't be read, so records can't be judged"));
        return text + &error_blocks(assessment) + &next(assessment, name, context);
    };
    let primary = match &assessment.primary {
        Some(pair) => format!("{pair}: its evidence decides what is published"),
        None => format!(
            "none yet: the manifest names no model, so the model of the first record of build {} \
             becomes it",
            resolved.publish.variant
        ),
    };
    text.push_str(&field("primary", &primary));
    for evidence in assessment.evidence.values() {
        text.push_str(&of_pair(assessment, evidence, context));
    }
    if assessment.evidence.is_empty() {
        text.push_str("\nno record, so nothing is known of any device\n");
    }
    text.push_str(&page(assessment));
    text.push_str(&needs::of(assessment));
    text + &error_blocks(assessment) + &next(assessment, name, context)
}

/// A pair's state with each of its records.
fn of_pair(assessment: &Assessment, evidence: &Evidence, context: &Context) -> String {
    let is_primary = assessment.primary.as_ref() == Some(&evidence.pair);
    let mark = if is_primary { " (primary)" } else { "" };
    let pair = escape(&evidence.pair.to_string(), false);
    let mut text = format!("\n{BOLD}{pair}{BOLD:#}  {}{mark}\n", evidence.state);
    if evidence.records.is_empty() {
        text.push_str("  no record\n");
    }
    for record in &evidence.records {
        text.push_str(&of_record(assessment, record, context));
    }
    text
}

fn of_record(assessment: &Assessment, record: &AssessedRecord, context: &Context) -> String {
    let facts = &record.examined.record;
    let device = &facts.device.facts;
    let when = ago(facts.recorded_at, context.clock.now());
    let digest = record.examined.digest.short();
    let mut text = format!("  record {digest}  {} ({when})\n", day(facts.recorded_at));
    let driver = format!("{}, driver {}", device.name, device.driver);
    text.push_str(&detail("device", &driver));
    text.push_str(&detail("toolkit", &facts.toolkit.to_string()));
    let signed = match facts.signed_at {
        SignedAt::Host => "signed on the host",
        SignedAt::Import => "signed at import: the way from the host is not covered",
    };
    text.push_str(&detail("recorder", &format!("{}, {signed}", facts.recorder)));
    match &record.state {
        RecordState::Valid => {
            let runs: usize = facts.program.iter().map(|program| program.run.len()).sum();
            text.push_str(&detail("Valid", &format!("{}, which agree", count(runs, "run"))));
        }
        RecordState::Unpublishable(faults) => {
            for fault in faults {
                text.push_str(&detail("Unpublishable", &fault.to_string()));
            }
        }
    }
    if record.is_of_today() {
        text.push_str(&detail("inputs", "those of today"));
    }
    for input in &record.stale {
        text.push_str(&detail("Stale", &input.to_string()));
    }
    if !record.text_only.is_empty() {
        let files = record.text_only.join(", ");
        let said = format!("only comments or white space changed in {files}: no matter");
        text.push_str(&detail("comments", &said));
    }
    text + &history::of(assessment, record)
}

/// What the page shows now, and of which record.
fn page(assessment: &Assessment) -> String {
    let shown = assessment.primary_evidence().map(|evidence| &evidence.shown);
    let shows = match (assessment.page, shown) {
        (PageState::Current, Some(Shown::Current(reviewed))) => {
            let examined = reviewed.examined();
            format!("record {} as it was reviewed", examined.digest.short())
        }
        (PageState::Current, _) => "a record as it was reviewed".to_owned(),
        (PageState::Blank, _) => "no output: what stands before any review".to_owned(),
        (PageState::Withdrawn, Some(Shown::Withdrawn(withdrawal))) => {
            let (record, by) = (withdrawal.record.short(), &withdrawal.by);
            let since = day(withdrawal.since);
            format!("that record {record} was withdrawn by {by} on {since}: {}", withdrawal.reason)
        }
        (PageState::Withdrawn, _) => "that what it showed was withdrawn".to_owned(),
        (PageState::Drifted, _) => "what no reviewed record says; see the errors".to_owned(),
    };
    let mut text = format!("\n{BOLD}page{BOLD:#}  {}\n", assessment.page);
    text.push_str(&field("shows", &shows));
    let others = assessment.evidence.values().filter(|evidence| {
        Some(&evidence.pair) != assessment.primary.as_ref()
            && is_on_page(assessment, &evidence.pair)
    });
    for evidence in others {
        let shown = match &evidence.shown {
            Shown::Blank => "blank".to_owned(),
            Shown::Current(reviewed) => format!("record {}", reviewed.examined().digest.short()),
            Shown::Withdrawn(_) => "withdrawn".to_owned(),
        };
        text.push_str(&field("region", &format!("on {}: {shown}", evidence.pair)));
    }
    text
}

fn is_on_page(assessment: &Assessment, pair: &Pair) -> bool {
    assessment.text.as_ref().is_some_and(|text| text.pairs_on_page().contains(pair))
}

fn error_blocks(assessment: &Assessment) -> String {
    let blocks: String = errors(assessment).map(finding_block).collect();
    if blocks.is_empty() { blocks } else { format!("\n{RED}errors{RED:#}\n{blocks}") }
}

/// The next step, as something to type where a command does it.
fn next(assessment: &Assessment, name: &str, context: &Context) -> String {
    let program = context.name;
    let step = match (Attention::of(assessment), next_arguments(assessment, name)) {
        (Attention::Tampered, _) => "restore what the errors name from history, or ask who signed \
                                     it; evidence and reviews are never edited"
            .to_owned(),
        (Attention::Rejected, _) => format!(
            "mend what the reject names and record again (`{program} bundle {name}`), or let a \
             reviewer revoke the reject (`{program} review {name} --revoke DIGEST --reason …`)"
        ),
        (Attention::Drifted, Some(next)) if next.starts_with("explain ") => {
            "put the blank text back where the errors say, or record, review, publish".to_owned()
        }
        (Attention::Unverified, Some(next)) if next.starts_with("explain ") => {
            format!("mend what makes the records unpublishable, then `{program} bundle {name}`")
        }
        (_, Some(next)) => format!("{program} {next}"),
        (_, None) => "nothing: it is published".to_owned(),
    };
    let step = wrapped("next: ", 6, &escape(&step, false));
    format!("\n{GREEN}next{GREEN:#}{}", step.trim_start_matches("next"))
}

/// A line about the lesson.
fn field(label: &str, text: &str) -> String {
    wrapped(&format!("  {label:<9} "), 12, &escape(text, false))
}

/// A line about a record.
fn detail(label: &str, text: &str) -> String {
    wrapped(&format!("    {label:<9} "), 14, &escape(text, false))
}

/// The day of a time, in UTC.
fn day(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%d").to_string()
}
