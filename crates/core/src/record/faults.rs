//! Why a record that is whole can't be published all the same.
//!
//! Such a record is kept: it is evidence of what happened. It never becomes a publication, and
//! beside a good one it does no harm.

use std::collections::BTreeMap;
use std::fmt;

use crate::lesson::Lesson;
use crate::record::examine::Examined;
use crate::record::model::{Ended, ProgramRecord, Record, SanitizerOutcome};
use crate::template::{Matched, agree};

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The work tree differed from its commit.
    DirtyTree,
    /// The card slowed itself down.
    Throttled(String),
    /// Fewer runs than the plan.
    TooFewRuns {
        /// Which program.
        program: String,
        /// How many there are.
        found: usize,
        /// How many there should be.
        planned: u32,
    },
    /// A run exited with a failure or by a signal.
    RunFailed {
        /// Which program.
        program: String,
        /// From 0.
        run: usize,
        /// How it ended, in words.
        how: String,
    },
    /// A run was killed at its deadline.
    RunHung {
        /// Which program.
        program: String,
        /// From 0.
        run: usize,
    },
    /// A run's output does not fit the lesson's template.
    OutputMismatch {
        /// Which program.
        program: String,
        /// From 0.
        run: usize,
        /// The first mismatch, in words.
        what: String,
    },
    /// Two runs disagree in a field that must be the same.
    RunsDisagree {
        /// Which program.
        program: String,
        /// What disagrees, in words.
        what: String,
    },
    /// The lesson's program is not in the record.
    ProgramMissing(String),
    /// A sanitizer counted errors or hung.
    Sanitizer {
        /// Which tool.
        tool: String,
        /// Which program.
        program: String,
    },
    /// A Rust check failed.
    CheckFailed,
    /// The lesson's harness was not executed.
    CheckNotExecuted,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DirtyTree => write!(f, "dirty tree: the commit it names is not what ran"),
            Self::Throttled(why) => write!(f, "throttled: {why}"),
            Self::TooFewRuns { program, found, planned } => {
                write!(f, "too few runs: `{program}` has {found} of {planned}")
            }
            Self::RunFailed { program, run, how } => {
                write!(f, "failed: run {run} of `{program}` {how}")
            }
            Self::RunHung { program, run } => write!(f, "hung: run {run} of `{program}`"),
            Self::OutputMismatch { program, run, what } => {
                write!(f, "output of run {run} of `{program}` doesn't fit the template: {what}")
            }
            Self::RunsDisagree { program, what } => {
                write!(f, "runs of `{program}` disagree: {what}")
            }
            Self::ProgramMissing(program) => write!(f, "program `{program}` was not recorded"),
            Self::Sanitizer { tool, program } => write!(f, "{tool} found errors in `{program}`"),
            Self::CheckFailed => write!(f, "a Rust check failed"),
            Self::CheckNotExecuted => write!(f, "the lesson's Rust checks were not executed"),
        }
    }
}

/// The runs of one program as matched by its template.
#[derive(Debug, Clone)]
pub struct MatchedRuns {
    /// The program's name.
    pub program: String,
    /// A row a run, in order.
    pub runs: Vec<Matched>,
}

/// All reasons why this record can't be published as this lesson's; or its runs, matched.
///
/// # Errors
/// The reasons, at least one.
pub fn matched_runs(lesson: &Lesson, examined: &Examined) -> Result<Vec<MatchedRuns>, Vec<Fault>> {
    judge(lesson, &examined.record, &examined.folder.files)
}

/// As [`matched_runs`], of a record that nobody has signed yet: for whoever has just made it.
///
/// # Errors
/// The reasons, at least one.
pub fn judge(
    lesson: &Lesson,
    record: &Record,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<MatchedRuns>, Vec<Fault>> {
    let mut faults = machine_faults(record);
    for harness in lesson.programs.iter().filter_map(|program| program.harness.as_ref()) {
        match record.check.as_ref().filter(|check| check.harness == *harness) {
            None => faults.push(Fault::CheckNotExecuted),
            Some(check) if !check.passed() => faults.push(Fault::CheckFailed),
            Some(_) => {}
        }
    }
    let file = |name: &str| files.get(name).map_or(&[][..], Vec::as_slice);
    let mut all = Vec::new();
    for program in &lesson.programs {
        let Some(recorded) = record.program(&program.name) else {
            faults.push(Fault::ProgramMissing(program.name.clone()));
            continue;
        };
        run_faults(record, recorded, &mut faults);
        let mut runs = Vec::new();
        for (index, run) in recorded.run.iter().enumerate() {
            match program.template.matches(file(&run.stdout), &record.device.facts) {
                Ok(matched) => runs.push(matched),
                Err(mismatches) => faults.push(Fault::OutputMismatch {
                    program: program.name.clone(),
                    run: index,
                    what: mismatches.first().map(ToString::to_string).unwrap_or_default(),
                }),
            }
        }
        for disagreement in agree(&runs) {
            let what = disagreement.to_string();
            faults.push(Fault::RunsDisagree { program: program.name.clone(), what });
        }
        all.push(MatchedRuns { program: program.name.clone(), runs });
    }
    if faults.is_empty() { Ok(all) } else { Err(faults) }
}

fn machine_faults(record: &Record) -> Vec<Fault> {
    let mut faults = Vec::new();
    if record.commit.as_ref().is_some_and(|commit| commit.dirty) {
        faults.push(Fault::DirtyTree);
    }
    let throttled: std::collections::BTreeSet<&str> =
        [&record.before, &record.after].into_iter().flat_map(|card| card.throttled()).collect();
    if !throttled.is_empty() {
        faults.push(Fault::Throttled(throttled.into_iter().collect::<Vec<_>>().join(", ")));
    }
    for row in &record.sanitizer {
        let bad = matches!(row.outcome, SanitizerOutcome::Found | SanitizerOutcome::Hung);
        if bad || row.errors.is_some_and(|errors| errors > 0) {
            let (tool, program) = (row.tool.clone(), row.program.clone());
            faults.push(Fault::Sanitizer { tool, program });
        }
    }
    faults
}

fn run_faults(record: &Record, recorded: &ProgramRecord, faults: &mut Vec<Fault>) {
    let program = &recorded.name;
    if recorded.run.is_empty() || (recorded.run.len() as u64) < u64::from(record.runs) {
        faults.push(Fault::TooFewRuns {
            program: program.clone(),
            found: recorded.run.len(),
            planned: record.runs,
        });
    }
    for (index, run) in recorded.run.iter().enumerate() {
        let how = match (run.ended, run.exit) {
            (Ended::Exited, Some(0)) => continue,
            (Ended::Hung, _) => {
                faults.push(Fault::RunHung { program: program.clone(), run: index });
                continue;
            }
            (Ended::Exited, Some(status)) => format!("exited with status {status}"),
            (Ended::Exited, None) => "has no exit status".to_owned(),
            (Ended::Signalled, _) => "was ended by a signal".to_owned(),
            (Ended::TooMuchOutput, _) => "printed more than the limit".to_owned(),
        };
        faults.push(Fault::RunFailed { program: program.clone(), run: index, how });
    }
}
