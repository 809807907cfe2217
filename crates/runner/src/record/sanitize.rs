//! compute-sanitizer's four tools over a program. Their timings are of no use and none is kept.

use std::time::{Duration, Instant};

use camino::Utf8Path;
use proofrun_core::lesson::Program;
use proofrun_core::record::model::{SanitizerOutcome, SanitizerRecord};

use crate::system::process::{Cancel, Command, Ended, Status};

use super::runs::executable;
use super::{On, RecordError};

/// The tools, in the order in which they are run.
pub(super) const TOOLS: [&str; 4] = ["memcheck", "racecheck", "initcheck", "synccheck"];

/// The exit status that the tool is asked to use for "errors found": one that no lesson uses.
const FOUND_STATUS: i32 = 86;

/// How much the program and the tool may print together, in bytes.
const REPORT_BYTES_MAX: usize = 8 << 20;

/// The shortest time that a tool is started for.
const WORTH_STARTING: Duration = Duration::from_secs(1);

/// What the tools are run over.
pub(super) struct Run<'a> {
    /// Where reports go, and how the program is run.
    pub(super) on: &'a On<'a>,
    /// compute-sanitizer, where it is there.
    pub(super) sanitizer: Option<&'a Utf8Path>,
    /// The program.
    pub(super) program: &'a Program,
    /// The folder that holds the executable.
    pub(super) folder: &'a Utf8Path,
    /// How long one tool may take.
    pub(super) deadline: Duration,
    /// Set when somebody asks to stop.
    pub(super) cancel: &'a Cancel,
    /// When the budget is spent.
    pub(super) ends: Option<Instant>,
}

impl Run<'_> {
    /// Runs one tool.
    ///
    /// # Errors
    /// When the recorder is asked to stop or the disk refuses. That the tool isn't there, refuses
    /// the device or hangs, or that the budget is spent, is an outcome.
    pub(super) fn tool(&self, tool: &str) -> Result<SanitizerRecord, RecordError> {
        let Some(sanitizer) = self.sanitizer else {
            return Ok(self.left_out(tool, "compute-sanitizer is not on this host"));
        };
        let left = self.ends.map(|ends| ends.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left < WORTH_STARTING) {
            return Ok(self.left_out(tool, "the budget was spent"));
        }
        let deadline = left.map_or(self.deadline, |left| left.min(self.deadline));
        let ended = self.command(sanitizer, tool).deadline(deadline).run(self.cancel)?;
        match ended.status {
            Status::Cancelled => return Err(RecordError::Cancelled),
            Status::Hung if deadline < self.deadline => {
                return Ok(self.left_out(tool, "the budget was spent while it ran"));
            }
            _ => {}
        }
        let log = format!("{}.{tool}.log", self.program.name);
        let report = tool_lines(&ended.stdout);
        self.on.work.write(&log, &report)?;
        let (outcome, reason) = outcome(&ended, &report);
        let clean = outcome == SanitizerOutcome::Clean;
        let errors = if clean { Some(0) } else { counted(&report) };
        let (tool, program) = (tool.to_owned(), self.program.name.clone());
        Ok(SanitizerRecord { tool, program, outcome, errors, reason, log: Some(log) })
    }

    fn command(&self, sanitizer: &Utf8Path, tool: &str) -> Command {
        let own = &self.on.lesson.run.environment;
        self.on
            .surroundings
            .around(Command::new(sanitizer), own)
            .args(["--tool", tool, "--error-exitcode", &FOUND_STATUS.to_string()])
            .arg(executable(self.program, self.folder))
            .args(self.program.run.iter().skip(1))
            .cwd(self.folder)
            .output_max(REPORT_BYTES_MAX, REPORT_BYTES_MAX)
    }

    /// A row for a tool that was not run.
    pub(super) fn left_out(&self, tool: &str, reason: &str) -> SanitizerRecord {
        SanitizerRecord {
            tool: tool.to_owned(),
            program: self.program.name.clone(),
            outcome: SanitizerOutcome::NotExecuted,
            errors: None,
            reason: Some(reason.to_owned()),
            log: None,
        }
    }
}

/// What starts the tool's own lines.
const PREFIX: &str = "=========";

/// The tool's own lines: the program's are left out, since its timings under the tool are of no
/// use.
fn tool_lines(stdout: &[u8]) -> String {
    let text = String::from_utf8_lossy(stdout);
    let own = text.lines().filter(|line| line.starts_with(PREFIX));
    own.map(|line| format!("{line}\n")).collect()
}

/// The outcome by exit status. Only the tool's own refusal has no status of its own, and is read
/// from its report.
fn outcome(ended: &Ended, report: &str) -> (SanitizerOutcome, Option<String>) {
    match ended.status {
        _ if refused(report) => {
            (SanitizerOutcome::DeviceNotSupported, Some("the tool refuses this device".into()))
        }
        Status::Exit(0) => (SanitizerOutcome::Clean, None),
        Status::Exit(FOUND_STATUS) => (SanitizerOutcome::Found, None),
        Status::Exit(status) => {
            (SanitizerOutcome::Found, Some(format!("the program exited with status {status}")))
        }
        Status::Signal(signal) => {
            (SanitizerOutcome::Found, Some(format!("ended by signal {signal}")))
        }
        Status::Hung => (SanitizerOutcome::Hung, Some("killed at its deadline".into())),
        Status::TooMuchOutput => {
            (SanitizerOutcome::Found, Some("its report is longer than the limit".into()))
        }
        Status::Cancelled => (SanitizerOutcome::NotExecuted, Some("stopped".into())),
    }
}

fn refused(report: &str) -> bool {
    let mut lines = report.lines().filter_map(|line| line.strip_prefix(PREFIX));
    lines.any(|line| line.trim_start().starts_with("Error: Device not supported"))
}

/// The count of the tool's last line: `========= ERROR SUMMARY: 3 errors`, or for racecheck
/// `========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)`.
fn counted(report: &str) -> Option<u32> {
    let line = report.lines().rev().find(|line| line.contains(" SUMMARY: "))?;
    let counts = line.split_once(" SUMMARY: ")?.1;
    let errors = counts.split_once('(').map_or(counts, |(_, inner)| inner);
    errors.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(status: Status) -> Ended {
        Ended {
            status,
            stdout: Vec::new(),
            stderr: Vec::new(),
            report: Vec::new(),
            wall: Duration::ZERO,
            survivors: Vec::new(),
        }
    }

    #[test]
    fn an_outcome_follows_from_the_status_and_the_tools_own_refusal() {
        let refusal = "========= Error: Device not supported. Please refer to the list.\n";
        let cases = [
            (Status::Exit(0), "", SanitizerOutcome::Clean),
            (Status::Exit(FOUND_STATUS), "", SanitizerOutcome::Found),
            (Status::Exit(1), "", SanitizerOutcome::Found),
            (Status::Exit(1), refusal, SanitizerOutcome::DeviceNotSupported),
            (Status::Hung, "", SanitizerOutcome::Hung),
            (Status::Signal(11), "", SanitizerOutcome::Found),
        ];
        for (status, report, expect) in cases {
            assert_eq!(outcome(&ended(status), report).0, expect, "{status:?} {report}");
        }
    }

    #[test]
    fn the_count_is_that_of_errors() {
        let cases = [
            ("========= ERROR SUMMARY: 3 errors\n", Some(3)),
            ("========= ERROR SUMMARY: 1 error\n", Some(1)),
            ("========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n", Some(1)),
            ("========= COMPUTE-SANITIZER\n", None),
        ];
        for (report, expect) in cases {
            assert_eq!(counted(report), expect, "{report}");
        }
    }

    #[test]
    fn the_programs_own_lines_are_left_out_of_the_report() {
        let text = b"========= COMPUTE-SANITIZER\nsyncthreads: 113.517 ms\n========= x\n";
        assert_eq!(tool_lines(text), "========= COMPUTE-SANITIZER\n========= x\n");
    }
}
