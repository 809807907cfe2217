//! What a reviewer must see first: the odd, and what was not executed.

use proofrun_core::card::CardState;
use proofrun_core::record::model::{
    CheckOutcome, Record, SanitizerOutcome, SanitizerRecord, SignedAt,
};
use proofrun_core::review::Standing;
use proofrun_core::trust::{Namespace, SelfReview};

use crate::loaded::Loaded;

use super::Subject;

/// The tools of compute-sanitizer that a record may have run.
const TOOLS: [&str; 4] = ["memcheck", "racecheck", "initcheck", "synccheck"];

/// One sentence a thing; never empty text, in the order of weight.
pub fn odd(subject: &Subject<'_>, loaded: &Loaded) -> Vec<String> {
    let record = &subject.record.examined.record;
    let mut odd = Vec::new();
    let errors = crate::publishing::errors(&subject.lesson.assessment).len();
    if errors > 0 {
        odd.push(format!("`verify` finds {errors} errors in this lesson, so `publish` refuses it"));
    }
    people(subject, loaded, &mut odd);
    not_executed(subject, record, &mut odd);
    let cards = [("before", &record.before), ("after", &record.after)];
    for (when, card) in cards {
        odd.extend(card_oddities(when, card));
    }
    history(subject, record, &mut odd);
    odd.extend(streams(subject, record));
    odd
}

fn people(subject: &Subject<'_>, loaded: &Loaded, odd: &mut Vec<String>) {
    let recorder = &subject.record.examined.recorder;
    let trust = &loaded.course.trust;
    let may_review = trust.signers.grants().any(|grant| {
        grant.namespaces().contains(&Namespace::Review)
            && proofrun_core::trust::same_person(grant.signer(), recorder)
    });
    if may_review {
        let policy = match trust.policy.self_review {
            SelfReview::Forbidden => "forbids reviewing the own record",
            SelfReview::Labelled => "allows reviewing the own record, and the page will say so",
        };
        let who = recorder.principal();
        odd.push(format!("the recorder `{who}` may sign reviews too; the policy {policy}"));
    }
    if subject.record.examined.record.signed_at == SignedAt::Import {
        odd.push("signed at import: no signature covers the way from the GPU host".into());
    }
    match &subject.record.standing {
        Standing::Accepted(accepted) => odd.extend(accepted.iter().map(|it| {
            let digest = it.rendering.digest;
            format!("accepted before by `{}`, as another rendering: {digest}", it.by)
        })),
        Standing::Revoked(it) => {
            odd.push(format!("an acceptance was revoked by `{}`: {}", it.by, it.reason));
        }
        Standing::None | Standing::Rejected(_) => {}
    }
}

fn not_executed(subject: &Subject<'_>, record: &Record, odd: &mut Vec<String>) {
    let mut missing: Vec<String> = TOOLS
        .iter()
        .filter(|tool| !record.sanitizer.iter().any(|row| row.tool == **tool))
        .map(|tool| (*tool).to_owned())
        .collect();
    let unclean = record.sanitizer.iter().filter(|row| row.outcome != SanitizerOutcome::Clean);
    missing.extend(unclean.map(sanitizer));
    if !missing.is_empty() {
        odd.push(format!("compute-sanitizer not executed: {}", missing.join(", ")));
    }
    let harness = subject
        .lesson
        .assessment
        .lesson()
        .is_some_and(|lesson| lesson.programs.iter().any(|program| program.harness.is_some()));
    match &record.check {
        None if harness => odd.push("Rust checks not executed".into()),
        None => odd.push("Rust checks not executed: the lesson has no harness".into()),
        Some(check) if check.outcome == CheckOutcome::NotExecuted || !check.passed() => {
            let detail = check.detail.as_deref().unwrap_or("no reason given");
            odd.push(format!("Rust checks: {:?}, {detail}", check.outcome));
        }
        Some(_) => {}
    }
}

/// A tool's row in words, other than `clean`.
pub fn sanitizer(row: &SanitizerRecord) -> String {
    let outcome = match row.outcome {
        SanitizerOutcome::Clean => "clean",
        SanitizerOutcome::Found => "FOUND ERRORS",
        SanitizerOutcome::Hung => "hung",
        SanitizerOutcome::DeviceNotSupported => "device not supported",
        SanitizerOutcome::NotExecuted => "not executed",
    };
    let reason = row.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    format!("{} on {} {outcome}{reason}", row.tool, row.program)
}

fn card_oddities(when: &str, card: &CardState) -> Vec<String> {
    if let Some(reason) = &card.absent {
        return vec![format!("card {when}: NVML absent ({reason}), so throttling is not known")];
    }
    let mut odd = Vec::new();
    if card.throttle_reasons.is_none() {
        odd.push(format!("card {when}: throttle reasons were not read"));
    }
    let reasons = [card.throttled(), card.odd()].concat();
    if !reasons.is_empty() {
        odd.push(format!("card {when}: clocks held down by {}", reasons.join(", ")));
    }
    match card.other_processes {
        Some(0) => {}
        Some(count) => odd.push(format!("card {when}: {count} other processes on it")),
        None => odd.push(format!("card {when}: other processes were not counted")),
    }
    odd
}

fn history(subject: &Subject<'_>, record: &Record, odd: &mut Vec<String>) {
    match &record.commit {
        None => {
            odd.push("no commit is known: the course was no repository when it was bundled".into())
        }
        Some(commit) if commit.dirty => odd.push("the tree differed from its commit".into()),
        Some(_) => {}
    }
    if !subject.record.text_only.is_empty() {
        let files = subject.record.text_only.join(", ");
        odd.push(format!("comments or white space changed since it was recorded: {files}"));
    }
    if record.program.iter().any(|program| program.build.prebuilt) {
        odd.push("executables came with the bundle: the host compiled nothing".into());
    }
    if !record.environment.is_empty() {
        let list: Vec<_> =
            record.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        odd.push(format!("environment on the host: {}", list.join(" ")));
    }
    let same = |other: &&proofrun_core::state::AssessedRecord| {
        other.examined.digest != subject.digest() && other.examined.record.nonce == record.nonce
    };
    if subject.evidence.records.iter().any(|other| same(&other)) {
        odd.push("another record of this pair came of the same bundle: one was chosen".into());
    }
}

/// Programs and compilers that said something where they usually say nothing.
fn streams(subject: &Subject<'_>, record: &Record) -> Vec<String> {
    let examined = &subject.record.examined;
    let mut odd = Vec::new();
    for program in &record.program {
        let spoke = program.run.iter().filter(|run| !examined.file(&run.stderr).is_empty()).count();
        if spoke > 0 {
            odd.push(format!("{} wrote to standard error in {spoke} runs", program.name));
        }
        let log = examined.file(&program.build.log);
        if !log.is_empty() {
            let lines = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
            odd.push(format!(
                "the compiler printed {lines} lines for {}: see {}",
                program.name, program.build.log
            ));
        }
    }
    odd
}
