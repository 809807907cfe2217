//! `lesson-runner check-code`: the checked launches of a harness on a file of PTX or a cubin.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use proofrun_core::checks::{CheckReport, Outcome};

use crate::check::{CheckOutcome, CheckRefused, CheckRequest, check_in_child};
use crate::device::{DeviceError, Helper};

/// Launch the kernels of a harness from a file of PTX or a cubin, and compare what they write with
/// the CPU reference bit for bit, in a process of its own.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file, as `nvcc -ptx` or `nvcc -cubin` makes it.
    code: PathBuf,
    /// The harness, as a lesson's `[check]` names it.
    #[arg(long)]
    harness: String,
    /// The driver's ordinal of the device.
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// The seed of the drawn inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most seconds that all cases may take together.
    #[arg(long, default_value_t = 120)]
    deadline_s: u64,
    /// The report as JSON as well, where there is one.
    #[arg(long)]
    json: bool,
}

/// Runs the command, says what came out, and returns the exit code.
///
/// # Errors
/// If the child can't be started or the answer can't be written.
pub fn run(args: &Args, output: &mut impl Write) -> io::Result<u8> {
    let request = CheckRequest {
        code: args.code.clone(),
        harness: args.harness.clone(),
        device: args.device,
        seed: args.seed,
    };
    let deadline = Duration::from_secs(args.deadline_s);
    let outcome = check_in_child(&Helper::this()?, &request, deadline)?;
    tell(&outcome, output, args.json)?;
    Ok(exit_code(&outcome))
}

/// Says what came of a check.
pub(super) fn tell(outcome: &CheckOutcome, output: &mut impl Write, json: bool) -> io::Result<()> {
    match outcome {
        CheckOutcome::Passed(report) => show(output, "passed", report, json)?,
        CheckOutcome::Failed(report) => show(output, "failed", report, json)?,
        CheckOutcome::NotExecuted(report) => show(output, "not executed", report, json)?,
        CheckOutcome::Refused(why) => {
            writeln!(output, "refused: {}", why.to_string().escape_debug())?;
        }
        CheckOutcome::Crashed { how, case, stderr, after } => {
            let at = case.as_ref().map_or("before the first case".to_owned(), ToString::to_string);
            writeln!(output, "crashed by {how}: {at}; afterwards {after:?}")?;
            writeln!(output, "{}", stderr.trim().escape_debug())?;
        }
        CheckOutcome::Hung { deadline, case, after } => {
            let at = case.as_ref().map_or("before the first case".to_owned(), ToString::to_string);
            let seconds = deadline.as_secs();
            writeln!(output, "hung, killed after {seconds} s: {at}; afterwards {after:?}")?;
        }
    }
    Ok(())
}

/// The exit code: a device or driver that is absent or too old is not a failure of the code; the
/// rest is.
pub(super) fn exit_code(outcome: &CheckOutcome) -> u8 {
    match outcome {
        CheckOutcome::Passed(_) => 0,
        CheckOutcome::Failed(_) | CheckOutcome::Crashed { .. } | CheckOutcome::Hung { .. } => 27,
        CheckOutcome::NotExecuted(_) => 25,
        CheckOutcome::Refused(CheckRefused::Request { .. }) => 2,
        CheckOutcome::Refused(CheckRefused::Device { error }) => match error {
            DeviceError::NoDriver
            | DeviceError::NoDevice
            | DeviceError::NoSymbol { .. }
            | DeviceError::UnsupportedPtx { .. } => 25,
            DeviceError::Call { .. } | DeviceError::Misuse { .. } => 27,
        },
    }
}

fn show(
    output: &mut impl Write,
    verdict: &str,
    report: &CheckReport,
    json: bool,
) -> io::Result<()> {
    for record in &report.records {
        if let Outcome::Failed { faults } = &record.outcome {
            for fault in faults {
                writeln!(output, "{}: {}", record.case, fault.to_string().escape_debug())?;
            }
        }
    }
    let counts = report.counts();
    writeln!(
        output,
        "{verdict}: {} on {} ({}): {} cases executed, {} failed, {} not executed",
        report.harness,
        report.device.name.escape_debug(),
        report.device.compute_capability,
        counts.executed,
        counts.failed,
        counts.not_executed
    )?;
    if json {
        serde_json::to_writer(&mut *output, report)?;
        writeln!(output)?;
    }
    Ok(())
}
