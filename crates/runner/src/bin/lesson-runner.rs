//! `lesson-runner`: the one binary that a GPU host needs.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use proofrun_core::gate::Probe;
use proofrun_runner::check::{CheckOutcome, CheckRefused};
use proofrun_runner::commands::{self, card, check_code, probe};
use proofrun_runner::device::DeviceError;

/// Compile and run lessons, look at devices, on a host that has nothing else of this course.
#[derive(Debug, Parser)]
#[command(name = "lesson-runner", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Probe(probe::Args),
    Card(card::Args),
    CheckCode(check_code::Args),
}

fn main() -> ExitCode {
    if let Some(code) = commands::hidden(std::env::args_os().nth(1).as_deref()) {
        return code;
    }
    match dispatch(Cli::parse().command, &mut io::stdout().lock()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // Nothing is left to do where this can't be said either.
            drop(writeln!(io::stderr(), "failed: {error}"));
            ExitCode::from(1)
        }
    }
}

/// Exit codes as documented for the course: 27 failed, 25 a required device is absent, 2 usage,
/// 1 unexpected.
fn dispatch(command: Command, output: &mut impl Write) -> io::Result<u8> {
    Ok(match command {
        Command::Probe(args) => match probe::run(&args, output)? {
            Probe::Devices { .. } => 0,
            Probe::NoDriver | Probe::DriverWithoutDevice | Probe::DriverBroken { .. } => 25,
        },
        Command::Card(args) => match card::run(&args, output)? {
            0 => 25,
            _ => 0,
        },
        Command::CheckCode(args) => match check_code::run(&args, output)? {
            CheckOutcome::Passed(_) => 0,
            CheckOutcome::Failed(_) | CheckOutcome::Crashed { .. } | CheckOutcome::Hung { .. } => {
                27
            }
            CheckOutcome::NotExecuted(_) => 25,
            CheckOutcome::Refused(why) => refused(&why),
        },
    })
}

/// A device or driver that is absent or too old is not a failure of the code; the rest is.
fn refused(why: &CheckRefused) -> u8 {
    match why {
        CheckRefused::Request { .. } => 2,
        CheckRefused::Device { error } => match error {
            DeviceError::NoDriver
            | DeviceError::NoDevice
            | DeviceError::NoSymbol { .. }
            | DeviceError::UnsupportedPtx { .. } => 25,
            DeviceError::Call { .. } | DeviceError::Misuse { .. } => 27,
        },
    }
}
