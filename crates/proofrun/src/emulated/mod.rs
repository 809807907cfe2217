//! What comes of running a program over the emulated device: how it is built, what it shows while
//! it runs, what its end says, and how all of it is told.
//!
//! **Invariant: nothing of an emulated run is taken for a measurement.** Its lines are marked as
//! its own, and of what it prints only that is compared with a record which is no measurement.

pub mod device;
pub mod document;
pub mod excerpt;
pub mod judge;
pub mod program;
pub mod stream;
pub mod summary;
pub mod watch;

use proofrun_core::{Finding, Place, Rule, Severity};
use proofrun_emulator::finding::{Finding as Found, Kind, Severity as Weight};

/// How many seeded schedules what is new runs on, unless another number is asked for.
pub const SCHEDULES: u32 = 3;

/// What the emulated device could not do, as a reason: `` `cp.async.bulk` at tma.cu:88``. `None`
/// where it could do all.
pub fn unsupported(findings: &[Found]) -> Option<String> {
    let found = findings.iter().find(|found| found.kind == Kind::Unsupported)?;
    Some(match found.at.first() {
        Some(at) => format!("{} at {}:{}", found.message, at.file, at.line),
        None => found.message.clone(),
    })
}

/// The word for a kind, as JSON has it.
pub fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Race => "race",
        Kind::Bounds => "bounds",
        Kind::Uninitialised => "uninitialised",
        Kind::Alignment => "alignment",
        Kind::Barrier => "barrier",
        Kind::Deadlock => "deadlock",
        Kind::Leak => "leak",
        Kind::Unsupported => "unsupported",
        Kind::Api => "api",
    }
}

/// A finding of the emulated device as one of the harness's own, at its first place, or at the
/// program's.
pub fn as_finding(found: &Found, program: &Place) -> Finding {
    let mut places = found.at.iter();
    let place = places.next().map_or_else(|| program.clone(), |at| Place::line(&at.file, at.line));
    let kernel = found.kernel.as_ref().map_or_else(String::new, |name| format!(" in `{name}`"));
    let fact = format!("{}{kernel}: {}", kind_word(found.kind), found.message);
    let others = places.map(|at| format!("{} at {}:{}", at.what, at.file, at.line));
    let causes: Vec<String> = found.object.iter().cloned().chain(others).collect();
    let next = found.next.clone().unwrap_or_else(|| "run `emulate` on it to see both sides".into());
    let finding = match found.severity {
        Weight::Error => Finding::error(Rule::EmulatedFinding, place, fact, next),
        Weight::Warning => Finding::warning(Rule::EmulatedFinding, place, fact, next),
    };
    if causes.is_empty() { finding } else { finding.because(causes.join("; ")) }
}

/// Whether any of them is an error.
pub fn has_error(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
