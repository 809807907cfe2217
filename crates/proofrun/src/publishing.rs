//! From a plan to files: what `publish` and `withdraw` share.
//!
//! **Invariant: before a plan is written, the lesson is assessed as the plan leaves it.** `publish`
//! writes only where no error is left, `withdraw` where none is new.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use camino::Utf8Path;
use proofrun_core::assess::plan::Standing;
use proofrun_core::assess::states::{record_next, rejected_next};
use proofrun_core::assess::{Assessment, LessonText, Plan, PlanError, assess};
use proofrun_core::escape::escape;
use proofrun_core::finding::Findings;
use proofrun_core::state::{EvidenceState, Pair};
use proofrun_core::{Finding, Place, Rule, Severity};
use proofrun_runner::system::transaction::Transaction;
use similar::TextDiff;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::loaded::{JOURNAL_FOLDER, Loaded, LoadedLesson};

/// The lesson as a plan takes it; `None` before there is a manifest that reads, and a primary pair.
pub fn standing(lesson: &LoadedLesson) -> Option<Standing<'_>> {
    let Assessment { text, evidence, primary, .. } = &lesson.assessment;
    let (text, primary) = (text.as_ref()?, primary.as_ref()?);
    Some(Standing { files: &lesson.files, text, evidence, primary })
}

/// Errors of the lesson as it is.
pub fn errors(assessment: &Assessment) -> Findings {
    let errors = assessment.findings.iter().filter(|it| it.severity == Severity::Error);
    errors.cloned().collect()
}

/// What is wrong with the lesson as a plan leaves it.
pub fn errors_after(loaded: &Loaded, lesson: &LoadedLesson, plan: &Plan) -> Findings {
    errors(&assess(&lesson.files.with(plan), &loaded.course))
}

/// Writes the files of one lesson as one.
///
/// # Errors
/// When a file refuses.
pub fn write(root: &Root, lesson: &LoadedLesson, plan: Plan) -> Result<(), Error> {
    let mut change = Transaction::new(root.state().join(JOURNAL_FOLDER))?;
    for (path, bytes) in plan {
        let path = root.path().join(&lesson.files.folder).join(path);
        match bytes {
            Some(bytes) => change.write(path, bytes),
            None => change.remove(path),
        };
    }
    Ok(change.commit()?)
}

/// The files of a plan by name, and with `whole` what changes in them.
pub fn tell(context: &Context, lesson: &LoadedLesson, plan: &Plan, whole: bool) {
    let (add, remove) = (style(AnsiColor::Green), style(AnsiColor::Red));
    for (path, bytes) in plan {
        let verb = if bytes.is_some() { "writes" } else { "removes" };
        let place = lesson.files.folder.join(path);
        context.say(format!("  {verb} {}\n", escape(place.as_str(), false)));
        if !whole {
            continue;
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let old = lesson.files.get(path).map(text).unwrap_or_default();
        let new = bytes.as_deref().map(text).unwrap_or_default();
        let mut shown = String::new();
        for line in
            TextDiff::from_lines(&old, &new).unified_diff().context_radius(0).to_string().lines()
        {
            let style = match line.as_bytes().first() {
                Some(b'+') => add,
                Some(b'-') => remove,
                _ => Style::new(),
            };
            let _ = writeln!(shown, "    {style}{}{style:#}", escape(line, false));
        }
        context.say(shown);
    }
}

fn style(color: AnsiColor) -> Style {
    color.on_default()
}

/// A plan that can't be made.
pub fn plan_error(lesson: &LoadedLesson, error: PlanError) -> Error {
    Error::system(format!("change the text of `{}`", lesson.files.name()))(error)
}

/// Why the evidence of the primary pair is not published, as an error; `None` where it is Reviewed.
pub fn not_reviewed(
    lesson: &LoadedLesson,
    text: &LessonText,
    primary: Option<&Pair>,
) -> Option<Finding> {
    let name = lesson.files.name();
    let place = Place::file(&lesson.files.folder);
    let evidence = lesson.assessment.primary_evidence();
    let state = evidence.map_or(&EvidenceState::Unverified, |evidence| &evidence.state);
    let pair = primary.map_or_else(|| text.lesson.publish.variant.clone(), ToString::to_string);
    let (rule, fact, next) = match state {
        EvidenceState::Reviewed => return None,
        EvidenceState::Unverified => (
            Rule::Unverified,
            format!("`{name}` is Unverified on {pair}: no valid record"),
            record_next(name),
        ),
        EvidenceState::Recorded => {
            let lacking = evidence?.lacking();
            let next = match lacking.record {
                true => format!("again, {}", record_next(name)),
                false => format!("let somebody else look: `review {name}`"),
            };
            let fact = format!("`{name}` is Recorded on {pair}, {}", lacking.fact);
            (Rule::Unreviewed, fact, next)
        }
        EvidenceState::Rejected => (
            Rule::Unreviewed,
            format!("`{name}` is Rejected on {pair}: a reject stands"),
            rejected_next(name),
        ),
        EvidenceState::Stale(inputs) => {
            let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
            (
                Rule::Stale,
                format!("`{name}` is Stale on {pair}: {}", inputs.join("; ")),
                format!("again, {}", record_next(name)),
            )
        }
    };
    Some(Finding::error(rule, place, fact, next))
}

/// A finding about a file that isn't as it would be written.
pub fn not_as_written(lesson: &LoadedLesson, path: &Utf8Path) -> Finding {
    let name = lesson.files.name();
    let place = Place::file(lesson.files.folder.join(path));
    let fact = "what was reviewed is not published here";
    Finding::error(Rule::Unreviewed, place, fact, format!("`publish {name}`"))
}
