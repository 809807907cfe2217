//! `lesson-runner`: the one binary that a GPU host needs.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use proofrun_core::gate::Probe;
use proofrun_runner::commands::{self, Refused, card, check, check_code, probe, record};

/// Record and check lessons, look at devices, on a host that has nothing else of this course.
#[derive(Debug, Parser)]
#[command(name = "lesson-runner", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Record(record::Args),
    Check(check::Args),
    CheckCode(check_code::Args),
    Probe(probe::Args),
    Card(card::Args),
}

fn main() -> ExitCode {
    if let Some(code) = commands::hidden(std::env::args_os().nth(1).as_deref()) {
        return code;
    }
    match dispatch(Cli::parse().command, &mut io::stdout().lock()) {
        Ok(code) => ExitCode::from(code),
        Err(refused) => {
            // Nothing is left to do where this can't be said either.
            drop(writeln!(io::stderr(), "error: {refused}"));
            ExitCode::from(refused.code())
        }
    }
}

/// Exit codes are those that the course documents; each command says which.
fn dispatch(command: Command, output: &mut impl Write) -> Result<u8, Refused> {
    Ok(match command {
        Command::Record(args) => record::run(&args, output)?,
        Command::Check(args) => check::run(&args, output)?,
        Command::CheckCode(args) => check_code::run(&args, output)?,
        Command::Probe(args) => match probe::run(&args, output)? {
            Probe::Devices { .. } => 0,
            Probe::NoDriver | Probe::DriverWithoutDevice | Probe::DriverBroken { .. } => 25,
        },
        Command::Card(args) => match card::run(&args, output)? {
            0 => 25,
            _ => 0,
        },
    })
}
