//! The commands of `lesson-runner`, one a file, and the hidden ones by which it starts itself.

pub mod card;
pub mod check;
pub mod check_code;
mod outcome;
pub mod probe;
mod progress;
pub mod record;
mod refused;
mod source;
mod tools;

use std::ffi::OsStr;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::check::{CHECK_COMMAND, answer_request};
use crate::device::{PROBE_COMMAND, probe_here};

pub use refused::Refused;

/// Answers a hidden subcommand; nothing if this is none. Every program that uses
/// [`crate::device::Helper::this`] asks this of its first argument before it does anything else.
pub fn hidden(first: Option<&OsStr>) -> Option<ExitCode> {
    let answered = match first?.to_str()? {
        PROBE_COMMAND => answer_probe(&mut io::stdout().lock()),
        CHECK_COMMAND => answer_request(io::stdin().lock(), &mut io::stdout().lock()),
        _ => return None,
    };
    // A parent that no longer listens needs no word about it.
    Some(answered.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

fn answer_probe(output: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *output, &probe_here())?;
    output.flush()
}
