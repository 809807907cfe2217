//! An emulated run as JSON: the form that research/EMULATE-FORMAT.md describes and
//! research/emulate.schema.json holds it to.

use proofrun_core::Finding;
use proofrun_emulator::finding::Finding as Found;
use proofrun_emulator::report::{LaunchEnd, LaunchReport};
use proofrun_runner::emulate::Emulated;
use proofrun_runner::system::process::Status;
use serde::Serialize;

use super::summary::LIMITS;

/// The version of this form: a reader refuses a newer one.
const SCHEMA: u32 = 1;

/// The whole of `--json`.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    schema: u32,
    device: &'a str,
    arch: String,
    program: Program,
    findings: &'a [Found],
    launches: &'a [LaunchReport],
    schedules: u64,
    steps: u64,
    repeated: usize,
    problems: &'a [Finding],
    notes: &'a [String],
    limits: String,
    exit: u8,
}

/// How the program ended.
#[derive(Debug, Serialize)]
struct Program {
    name: String,
    ended: &'static str,
    exit: Option<i32>,
    signal: Option<i32>,
    stdout: String,
    stderr: String,
}

/// What the document is about.
#[derive(Debug, Clone)]
pub struct About<'a> {
    /// The program's name.
    pub name: String,
    /// The device's.
    pub device: &'a str,
    /// Such as `compute_90`.
    pub arch: String,
    /// What is wrong, besides what the emulated device found.
    pub problems: &'a [Finding],
    /// What is worth a line.
    pub notes: &'a [String],
    /// The command's exit code.
    pub exit: u8,
}

/// The document, of a run or of a program that came to none.
pub fn document<'a>(about: &About<'a>, ran: Option<&'a Emulated>) -> Document<'a> {
    let told = ran.map(|ran| &ran.told);
    let text = |bytes: Option<&Vec<u8>>| {
        bytes.map_or_else(String::new, |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let status = ran.map(|ran| ran.status);
    let program = Program {
        name: about.name.clone(),
        ended: match status {
            None => "not-run",
            Some(Status::Exit(_)) => "exited",
            Some(Status::Signal(_)) => "signalled",
            Some(Status::Hung) => "hung",
            Some(Status::TooMuchOutput) => "too-much-output",
            Some(Status::Cancelled) => "cancelled",
        },
        exit: status.and_then(|status| match status {
            Status::Exit(exit) => Some(exit),
            _ => None,
        }),
        signal: status.and_then(|status| match status {
            Status::Signal(signal) => Some(signal),
            _ => None,
        }),
        stdout: text(ran.map(|ran| &ran.stdout)),
        stderr: text(ran.map(|ran| &ran.stderr)),
    };
    Document {
        schema: SCHEMA,
        device: about.device,
        arch: about.arch.clone(),
        program,
        findings: told.map_or(&[], |told| &told.findings),
        launches: told.map_or(&[], |told| &told.launches),
        schedules: told.map_or(0, |told| told.schedules()),
        steps: told.map_or(0, |told| told.steps()),
        repeated: told.map_or(0, |told| told.ended(LaunchEnd::Repeated)),
        problems: about.problems,
        notes: about.notes,
        limits: LIMITS.map(str::trim).join(" ").trim_start_matches("limits: ").to_owned(),
        exit: about.exit,
    }
}
