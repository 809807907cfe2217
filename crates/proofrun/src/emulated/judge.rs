//! What an emulated run's end says: of a refusal that was declared, of a failure, and of an output
//! that a card's record has otherwise.

use proofrun_core::lesson::{Below, Lesson, Program};
use proofrun_core::state::{AssessedRecord, RecordState};
use proofrun_core::template::{agree, findings as mismatch_findings};
use proofrun_core::{DeviceFacts, Finding, Place, Rule};
use proofrun_emulator::profile::Profile;
use proofrun_runner::emulate::Emulated;
use proofrun_runner::system::process::Status;

use super::device;
use super::program::OfLesson;
use crate::loaded::LoadedLesson;

/// What an end says.
#[derive(Debug, Default)]
pub struct Judged {
    /// What is wrong, besides what the emulated device found.
    pub findings: Vec<Finding>,
    /// What is worth a line, and isn't wrong.
    pub notes: Vec<String>,
}

/// Judges a run on a device, of a lesson's program in a variant if it is one's.
pub fn judge(
    of: Option<(OfLesson<'_>, &str)>,
    place: &Place,
    profile: &Profile,
    ran: &Emulated,
) -> Judged {
    let mut judged = Judged::default();
    if ran.told.launches.is_empty() {
        judged.notes.push("nothing was launched".to_owned());
    }
    if let Some((OfLesson { lesson, program, .. }, _)) = of
        && device::capability(profile) < lesson.needs.compute_capability
    {
        refusal(lesson, program, profile, ran, &mut judged);
        return judged;
    }
    if let Some(fact) = failure(ran) {
        // With an error of the emulated device that is what there is to say of a failure.
        if ran.told.errors().next().is_none() {
            judged.findings.push(failed(place, fact, ran));
        }
        return judged;
    }
    match of {
        Some((of, variant)) if ran.told.errors().next().is_none() => {
            compare(of, profile, variant, ran, &mut judged);
        }
        _ => {}
    }
    judged
}

/// How the program failed, if it did.
fn failure(ran: &Emulated) -> Option<String> {
    Some(match ran.status {
        Status::Exit(0) => return None,
        Status::Exit(status) => format!("the program exits with status {status}"),
        Status::Signal(signal) => format!("signal {signal} ends the program"),
        Status::Hung => {
            format!("the program did not end within {} s", ran.wall.as_secs())
        }
        Status::TooMuchOutput => "the program prints more than 64 MiB".to_owned(),
        Status::Cancelled => "stopped".to_owned(),
    })
}

fn failed(place: &Place, fact: String, ran: &Emulated) -> Finding {
    let next = match ran.status {
        Status::Hung => "give it more time with `--timeout`, or make its problem smaller",
        _ => "see what it prints; the emulated device found no error in its kernels",
    };
    let finding = Finding::error(Rule::RunFailed, place.clone(), fact, next);
    let said = String::from_utf8_lossy(&ran.stderr);
    match said.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => finding.because(line.trim()),
        None => finding,
    }
}

/// On a device below the lesson's gate: what the lesson declares of that.
fn refusal(
    lesson: &Lesson,
    program: &Program,
    profile: &Profile,
    ran: &Emulated,
    judged: &mut Judged,
) {
    let (needs, is) = (lesson.needs.compute_capability, device::capability(profile));
    let gate = format!("the lesson needs {needs}, and this device is {is}");
    let is_primary = program.name == lesson.primary().name;
    let Some(below) = lesson.needs.below.as_ref().filter(|_| is_primary) else {
        let ended = ran.status;
        judged.notes.push(format!("{gate}; what it does there isn't declared: {ended}"));
        return;
    };
    let found = undeclared(lesson, program, below, &device::facts(profile), ran);
    if found.is_empty() {
        judged.notes.push(format!("{gate}; it refuses as declared, with {}", ran.status));
    }
    judged.findings.extend(found);
}

/// What of a refusal isn't as it is declared.
fn undeclared(
    lesson: &Lesson,
    program: &Program,
    below: &Below,
    facts: &DeviceFacts,
    ran: &Emulated,
) -> Vec<Finding> {
    let place = Place::file(lesson.folder.join(&program.source));
    let mut findings = Vec::new();
    let next = "refuse devices below the gate, or change `[needs.below]`";
    if ran.status != Status::Exit(below.exit) {
        let (declared, ended) = (below.exit, ran.status);
        let fact = format!(
            "below the gate the program should exit with status {declared}, and ends with {ended}"
        );
        findings.push(Finding::error(Rule::RunFailed, place.clone(), fact, next));
    }
    if let Some(launch) = ran.told.launches.first() {
        let fact = format!("below the gate the program launches `{}`", launch.kernel);
        findings.push(Finding::error(Rule::RunFailed, place.clone(), fact, next));
    }
    for (template, bytes) in [(&below.stdout, &ran.stdout), (&below.stderr, &ran.stderr)] {
        if let Err(mismatches) = template.matches(bytes, facts) {
            findings.extend(mismatch_findings(&place, &mismatches));
        }
    }
    findings
}

/// Compares what the program printed with the template, and with a card's record of it where there
/// is one: all but measurements must be the same.
fn compare(
    of: OfLesson<'_>,
    profile: &Profile,
    variant: &str,
    ran: &Emulated,
    judged: &mut Judged,
) {
    let OfLesson { loaded, program, .. } = of;
    let place = of.place();
    let recorded = recorded(loaded, profile, variant);
    let facts = match recorded {
        Some(record) => record.examined.record.device.facts.clone(),
        None => device::facts(profile),
    };
    let emulated = match program.template.matches_unmeasured(&ran.stdout, &facts) {
        Ok(matched) => matched,
        Err(mismatches) => {
            judged.findings.extend(mismatch_findings(&place, &mismatches));
            return;
        }
    };
    let lines = emulated.lines;
    let of_program = |record: &'_ &AssessedRecord| {
        let mut all = record.matched.iter();
        all.find(|of| of.program == program.name).and_then(|of| of.runs.first().cloned())
    };
    let Some((record, first)) = recorded.and_then(|record| Some((record, of_program(&record)?)))
    else {
        let model = &profile.id;
        judged.notes.push(format!(
            "{lines} lines are as the template has them; no record of {model} to compare with"
        ));
        return;
    };
    let (digest, on) = (record.examined.digest.short(), &record.examined.record.variant);
    for disagreement in agree(&[first, emulated]) {
        let fact = format!(
            "{} is `{}` on the card, and `{}` here",
            disagreement.what, disagreement.first, disagreement.other
        );
        let next = "find what the program's result depends on; if it is right, this harness is not";
        let finding = Finding::error(Rule::EmulatedDiffers, place.clone(), fact, next);
        judged.findings.push(finding.because(format!("record `{digest}` of {}/{on}", profile.id)));
    }
    if judged.findings.is_empty() {
        judged.notes.push(format!(
            "{lines} lines are those of record `{digest}` of {}/{on}, measurements aside",
            profile.id
        ));
    }
}

/// The newest valid record of today on this device: of this build if there is one, else of another.
fn recorded<'a>(
    loaded: &'a LoadedLesson,
    profile: &Profile,
    variant: &str,
) -> Option<&'a AssessedRecord> {
    let model = device::facts(profile).model();
    let valid =
        |record: &&AssessedRecord| record.state == RecordState::Valid && record.is_of_today();
    let of_model = loaded.assessment.evidence.values().filter(|it| it.pair.model == model);
    let mut records: Vec<_> = of_model.flat_map(|it| it.records.iter().filter(valid)).collect();
    records.sort_by_key(|record| record.examined.record.variant != variant);
    records.first().copied()
}
