//! What became of each lesson and variant that was to be recorded: its line in the summary, and the
//! exit code.

use std::fmt::Write as _;

use camino::Utf8Path;
use proofrun_core::escape::escape;
use proofrun_core::lesson::Lesson;
use proofrun_core::record::faults::judge;
use proofrun_core::record::{Fault, examine};

use crate::course::record_folders;
use crate::record::{RecordError, Recorded};

use super::refused::chain;

/// A line of the summary.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) lesson: String,
    pub(super) variant: String,
    pub(super) outcome: Outcome,
}

/// What became of it.
#[derive(Debug)]
pub(super) enum Outcome {
    /// There is a record; why it can't be published, where it can't.
    Recorded { recorded: Recorded, faults: Vec<Fault> },
    /// The gate forbids it here.
    Gated(String),
    /// It can't be built or run as a lesson must.
    Failed(String),
    /// There is nothing to build it with.
    Absent(String),
    /// Stopped or out of time: the next call goes on.
    Stopped { why: String, budget: bool },
    /// The command line has to be another one.
    Usage(String),
    /// The system refused.
    Unexpected(String),
    /// Nothing was tried any more.
    NotStarted(String),
}

impl Outcome {
    /// Of a recording of this lesson.
    pub(super) fn of(result: Result<Recorded, RecordError>, lesson: &Lesson) -> Self {
        let error = match result {
            Ok(recorded) => {
                return match faults_of(&recorded.folder, lesson) {
                    Ok(faults) => Self::Recorded { recorded, faults },
                    Err(why) => Self::Unexpected(why),
                };
            }
            Err(error) => error,
        };
        let why = chain(&error);
        match error {
            RecordError::Gated(why) => Self::Gated(why),
            RecordError::Build { .. }
            | RecordError::Compile(_)
            | RecordError::ForeignRuntime { .. } => Self::Failed(why),
            RecordError::NoToolkit => Self::Absent(why),
            RecordError::Cancelled => Self::Stopped { why, budget: false },
            RecordError::Budget(_) => Self::Stopped { why, budget: true },
            RecordError::OtherPlan(_) => Self::Usage(why),
            RecordError::Files(_)
            | RecordError::Process(_)
            | RecordError::Key(_)
            | RecordError::Write(_)
            | RecordError::System { .. } => Self::Unexpected(why),
        }
    }

    /// Why nothing after it is worth starting.
    pub(super) fn ends_all(&self) -> Option<String> {
        match self {
            Self::Stopped { budget: true, .. } => Some("the budget is spent".to_owned()),
            Self::Stopped { .. } => Some("stopped".to_owned()),
            _ => self.lost_device().then(|| "the device no longer answers".to_owned()),
        }
    }

    /// Whether the device no longer answers since.
    pub(super) fn lost_device(&self) -> bool {
        matches!(self, Self::Recorded { recorded, .. } if recorded.device_lost.is_some())
    }

    /// The exit code that it asks for; 0 where it asks for none.
    fn code(&self) -> u8 {
        match self {
            Self::Recorded { faults, .. } => {
                faults.iter().map(code_of).max_by_key(rank).unwrap_or(0)
            }
            Self::Gated(_) => 0,
            Self::Failed(_) => 27,
            Self::Absent(_) => 25,
            Self::Stopped { budget: false, .. } | Self::Unexpected(_) => 1,
            Self::Stopped { budget: true, .. } | Self::NotStarted(_) => 20,
            Self::Usage(_) => 2,
        }
    }

    fn told(&self) -> (&'static str, String) {
        match self {
            Self::Recorded { recorded, .. } => {
                let word = if recorded.earlier { "recorded earlier" } else { "recorded" };
                (word, recorded.folder.to_string())
            }
            Self::Gated(why) => ("gated", why.clone()),
            Self::Failed(why) => ("failed", why.clone()),
            Self::Absent(why) => ("not recorded", why.clone()),
            Self::Stopped { why, .. } => ("stopped", why.clone()),
            Self::Usage(why) | Self::Unexpected(why) => ("not recorded", why.clone()),
            Self::NotStarted(why) => ("not started", why.clone()),
        }
    }
}

/// What speaks against publishing a record that is on the disk.
fn faults_of(folder: &Utf8Path, lesson: &Lesson) -> Result<Vec<Fault>, String> {
    let mut found = record_folders(folder).map_err(|error| chain(&error))?;
    let Some(folder) = found.pop() else { return Err("the record is gone".to_owned()) };
    let bytes = folder.files.get("record.toml").map(Vec::as_slice).unwrap_or_default();
    let record = examine::parse(&folder.path, bytes).map_err(|finding| finding.fact)?;
    Ok(judge(lesson, &record, &folder.files).err().unwrap_or_default())
}

/// What a record's fault means for whoever records: the lesson fails, its output is not what it
/// should be, or the record is whole and only can't be published.
fn code_of(fault: &Fault) -> u8 {
    match fault {
        Fault::RunFailed { .. }
        | Fault::RunHung { .. }
        | Fault::TooFewRuns { .. }
        | Fault::ProgramMissing(_)
        | Fault::Sanitizer { .. }
        | Fault::CheckFailed => 27,
        Fault::OutputMismatch { .. } | Fault::RunsDisagree { .. } => 23,
        Fault::DirtyTree | Fault::Throttled(_) | Fault::CheckNotExecuted => 0,
    }
}

/// The order of precedence that the course documents for its exit codes, of those that occur here.
fn rank(code: &u8) -> usize {
    const FIRST_WINS: [u8; 6] = [27, 23, 1, 2, 20, 25];
    let at = FIRST_WINS.iter().position(|known| known == code);
    at.map_or(0, |at| FIRST_WINS.len() - at)
}

/// The exit code of a recording.
pub(super) fn exit_code(rows: &[Row]) -> u8 {
    let code = rows.iter().map(|row| row.outcome.code()).max_by_key(rank).unwrap_or(4);
    let recorded = rows.iter().any(|row| matches!(row.outcome, Outcome::Recorded { .. }));
    // Only gates, and recording was asked for.
    if code == 0 && !recorded { 25 } else { code }
}

/// What is said at the end.
pub(super) fn summary(rows: &[Row], out: &Utf8Path, signed: bool) -> String {
    let mut text = String::new();
    let mut unfinished = false;
    let mut recorded_any = false;
    for Row { lesson, variant, outcome } in rows {
        let (word, what) = outcome.told();
        let _ = writeln!(text, "{word:<16}  {lesson} ({variant}): {}", escape(&what, false));
        if let Outcome::Recorded { recorded, faults } = outcome {
            recorded_any = true;
            for fault in faults {
                let fault = escape(&fault.to_string(), false);
                let _ = writeln!(text, "                  can't be published: {fault}");
            }
            if recorded.earlier {
                text.push_str("                  to record it anew, name another `--out`\n");
            }
            if let Some(state) = &recorded.device_lost {
                let state = escape(state, false);
                let _ = writeln!(text, "                  the device no longer answers: {state}");
            }
        }
        unfinished |= matches!(outcome, Outcome::Stopped { .. } | Outcome::NotStarted(_));
    }
    if unfinished {
        text.push_str("next: call the same again; it goes on where it was\n");
    }
    let gated = |row: &Row| matches!(row.outcome, Outcome::Gated(_));
    if !rows.is_empty() && rows.iter().all(gated) {
        text.push_str(
            "next: nothing could be recorded here; call the same on a host whose device passes \
             the gate\n",
        );
    }
    if recorded_any {
        let sign = if signed { "" } else { " --key FILE --recorder NAME" };
        let name = out.file_name().unwrap_or("records");
        let _ = writeln!(
            text,
            "next: bring `{out}` back and call `cargo xtask import {name}{sign}` in the course"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(outcome: Outcome) -> Row {
        Row { lesson: "l".into(), variant: "v".into(), outcome }
    }

    fn recorded(faults: Vec<Fault>) -> Outcome {
        let recorded = Recorded { folder: "out/l/r".into(), earlier: false, device_lost: None };
        Outcome::Recorded { recorded, faults }
    }

    #[test]
    fn the_first_code_in_the_documented_order_wins() {
        let hung = Fault::RunHung { program: "p".into(), run: 0 };
        let disagree = Fault::RunsDisagree { program: "p".into(), what: "n".into() };
        let gated = || Outcome::Gated("no device".into());
        for (outcomes, expect) in [
            (vec![recorded(vec![])], 0),
            (vec![recorded(vec![Fault::DirtyTree])], 0),
            (vec![recorded(vec![]), gated()], 0),
            (vec![gated(), gated()], 25),
            (vec![recorded(vec![disagree.clone()])], 23),
            (vec![recorded(vec![disagree, hung])], 27),
            (vec![recorded(vec![]), Outcome::Absent("nvcc".into())], 25),
            (vec![Outcome::Stopped { why: "b".into(), budget: true }, gated()], 20),
            (vec![recorded(vec![]), Outcome::NotStarted("b".into())], 20),
            (vec![Outcome::Stopped { why: "c".into(), budget: false }], 1),
            (vec![Outcome::Usage("other plan".into()), gated()], 2),
            (vec![Outcome::Failed("build".into()), Outcome::Unexpected("disk".into())], 27),
            (vec![], 4),
        ] {
            let rows: Vec<Row> = outcomes.into_iter().map(row).collect();
            assert_eq!(exit_code(&rows), expect, "{rows:?}");
        }
    }

    #[test]
    fn the_summary_escapes_what_came_from_outside() {
        let rows = [row(Outcome::Gated("driver broken: \u{1b}[2J".into()))];
        let text = summary(&rows, Utf8Path::new("out"), false);
        assert!(!text.contains('\u{1b}') && text.starts_with("gated"), "{text}");
    }

    #[test]
    fn where_the_gate_forbids_all_the_summary_says_what_to_do() {
        let gated = || row(Outcome::Gated("no device".into()));
        let text = |rows: &[Row]| summary(rows, Utf8Path::new("out"), false);
        let next = "next: nothing could be recorded here";
        assert!(text(&[gated(), gated()]).contains(next));
        assert!(!text(&[gated(), row(recorded(vec![]))]).contains(next));
    }
}
