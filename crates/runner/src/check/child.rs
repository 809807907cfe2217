//! A check in a process of its own: a crash or a hang is an outcome, and the parent knows in which
//! case.
//!
//! The request goes to the child's standard input as one JSON object; on its standard output it
//! answers a line of JSON an event, the last of which is the report or why there is none.

use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use proofrun_core::checks::{CheckCase, CheckReport, ReportVerdict};
use proofrun_core::gate::Probe;
use proofrun_core::kernels::harness;
use serde::{Deserialize, Serialize};

use super::{CheckError, run_check};
use crate::device::{
    CudaDevice, DeviceCode, DeviceError, Helper, PROBE_DEADLINE, probe, run_child,
};

/// The hidden subcommand that a child is started with.
pub const CHECK_COMMAND: &str = "check-child";

/// A request is a path and some numbers.
const REQUEST_BYTES_MAX: u64 = 64 << 10;

/// What to check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    /// The file of PTX or a cubin.
    pub code: PathBuf,
    /// The harness's name.
    pub harness: String,
    /// The driver's ordinal of the device.
    pub device: u32,
    /// The seed from which inputs are drawn.
    pub seed: u64,
}

/// A line of the child's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CheckEvent {
    /// This case is about to be launched.
    Started {
        /// The case.
        case: CheckCase,
    },
    /// The end: all cases.
    Report {
        /// The report.
        report: CheckReport,
    },
    /// The end: the check did not begin.
    Refused {
        /// Why.
        why: CheckRefused,
    },
}

/// Why a check did not begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "refused", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CheckRefused {
    /// The device, or loading the code onto it; "toolkit too new for this driver" among them.
    #[error("{error}")]
    Device {
        /// What it answered.
        error: DeviceError,
    },
    /// The request names what is not there: harness, file, kernel.
    #[error("{text}")]
    Request {
        /// What is not there.
        text: String,
    },
}

impl From<DeviceError> for CheckRefused {
    fn from(error: DeviceError) -> Self {
        Self::Device { error }
    }
}

impl From<CheckError> for CheckRefused {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Device(error) => Self::Device { error },
            CheckError::NoEntry(error) => Self::Request { text: error.to_string() },
        }
    }
}

/// How a check in a child came out. Only [`CheckOutcome::Passed`] is a pass.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckOutcome {
    /// Every case was executed, and none failed.
    Passed(CheckReport),
    /// A case failed.
    Failed(CheckReport),
    /// No case failed, and not all were executed.
    NotExecuted(CheckReport),
    /// The check did not begin.
    Refused(CheckRefused),
    /// The child died, or said what is no answer.
    Crashed {
        /// `signal 11`, `exit status 101`, `no answer`.
        how: String,
        /// The case that was under way.
        case: Option<CheckCase>,
        /// What the child said last on its standard error.
        stderr: String,
        /// What a probe finds afterwards.
        after: Probe,
    },
    /// The child was killed at the deadline.
    Hung {
        /// The deadline.
        deadline: Duration,
        /// The case that was under way.
        case: Option<CheckCase>,
        /// What a probe finds afterwards: a hung card may not answer.
        after: Probe,
    },
}

/// Checks in a child process, which is killed at the deadline. After a crash or a hang the devices
/// are probed.
///
/// # Errors
/// If the child can't be started.
pub fn check_in_child(
    helper: &Helper,
    request: &CheckRequest,
    deadline: Duration,
) -> io::Result<CheckOutcome> {
    let input = serde_json::to_vec(request)?;
    let ended = run_child(helper, CHECK_COMMAND, &input, deadline)?;
    let (case, end) = read_events(&ended.stdout);
    if ended.hung {
        return Ok(CheckOutcome::Hung { deadline, case, after: probe(helper, PROBE_DEADLINE) });
    }
    Ok(match (ended.how, end) {
        (None, Some(CheckEvent::Report { report })) => match report.verdict() {
            ReportVerdict::Passed => CheckOutcome::Passed(report),
            ReportVerdict::Failed => CheckOutcome::Failed(report),
            ReportVerdict::NotExecuted => CheckOutcome::NotExecuted(report),
        },
        (None, Some(CheckEvent::Refused { why })) => CheckOutcome::Refused(why),
        (how, _) => CheckOutcome::Crashed {
            how: how.unwrap_or_else(|| "no answer".to_owned()),
            case,
            stderr: ended.stderr,
            after: probe(helper, PROBE_DEADLINE),
        },
    })
}

/// The last case that was started, and the final event. A line that is no event is no answer.
fn read_events(stdout: &[u8]) -> (Option<CheckCase>, Option<CheckEvent>) {
    let (mut case, mut end) = (None, None);
    for line in stdout.lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(CheckEvent::Started { case: started }) if end.is_none() => case = Some(started),
            Ok(last) if end.is_none() => end = Some(last),
            _ => return (case, None),
        }
    }
    (case, end)
}

/// The child's side: reads the request, checks, answers.
///
/// # Errors
/// If the answer can't be written.
pub fn answer_request(input: impl Read, output: &mut impl Write) -> io::Result<()> {
    let mut lost = None;
    let end = match check(input, &mut |case| {
        let said = say(output, &CheckEvent::Started { case: case.clone() });
        lost = lost.take().or(said.err());
    }) {
        Ok(report) => CheckEvent::Report { report },
        Err(why) => CheckEvent::Refused { why },
    };
    lost.map_or(Ok(()), Err)?;
    say(output, &end)
}

fn check(
    input: impl Read,
    started: &mut dyn FnMut(&CheckCase),
) -> Result<CheckReport, CheckRefused> {
    let request = |text: String| CheckRefused::Request { text };
    let CheckRequest { code, harness: name, device, seed } =
        serde_json::from_reader(input.take(REQUEST_BYTES_MAX))
            .map_err(|error| request(format!("the request is not one: {error}")))?;
    let harness = harness(&name).ok_or_else(|| request(format!("no harness `{name}`")))?;
    let code = DeviceCode::read(&code).map_err(|error| request(error.to_string()))?;
    let mut device = CudaDevice::open(device)?;
    Ok(run_check(&mut device, harness, &code, seed, started)?)
}

/// One line, handed over at once: what is not flushed when the process dies was never said.
fn say(output: &mut impl Write, event: &CheckEvent) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}
