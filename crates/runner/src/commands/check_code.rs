//! `lesson-runner check-code`: the checked launches of a harness on a file of PTX or a cubin.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use proofrun_core::checks::{CheckReport, Outcome};

use crate::check::{CheckOutcome, CheckRequest, check_in_child};
use crate::device::Helper;

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

/// Runs the command and says what came out.
///
/// # Errors
/// If the child can't be started or the answer can't be written.
pub fn run(args: &Args, output: &mut impl Write) -> io::Result<CheckOutcome> {
    let request = CheckRequest {
        code: args.code.clone(),
        harness: args.harness.clone(),
        device: args.device,
        seed: args.seed,
    };
    let deadline = Duration::from_secs(args.deadline_s);
    let outcome = check_in_child(&Helper::this()?, &request, deadline)?;
    match &outcome {
        CheckOutcome::Passed(report) => show(output, "passed", report, args.json)?,
        CheckOutcome::Failed(report) => show(output, "failed", report, args.json)?,
        CheckOutcome::NotExecuted(report) => show(output, "not executed", report, args.json)?,
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
            writeln!(
                output,
                "hung, killed after {} s: {at}; afterwards {after:?}",
                deadline.as_secs()
            )?;
        }
    }
    Ok(outcome)
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
