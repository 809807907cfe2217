//! From a verdict to a signed entry on disk.
//!
//! **Invariant: an entry is written only where the lesson, assessed with it, has no new finding of
//! tampering, and an acceptance only where it then counts.** So the harness never makes a review
//! that its own `verify` refuses.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use proofrun_core::assess::{Assessment, REVIEWS_FOLDER, assess};
use proofrun_core::finding::{Findings, Place};
use proofrun_core::publication::RENDER_FORMAT;
use proofrun_core::record::model::RECORD_FILE;
use proofrun_core::review::{Entry, Rendering, Standing, Verdict};
use proofrun_core::state::RecordState;
use proofrun_core::trust::{Namespace, Principal, SelfReview};
use proofrun_core::{Class, Digest, Finding, Rule, Severity};
use proofrun_runner::keys::SigningKey;
use proofrun_runner::system::transaction::Transaction;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::loaded::{JOURNAL_FOLDER, Loaded, LoadedLesson};

use super::{Subject, subjects};

/// What a reviewer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Publish this record as it renders now.
    Accept(Digest),
    /// Don't.
    Reject(Digest),
    /// An entry, or all acceptances of a record, no longer hold.
    Revoke(Digest),
}

/// Who decides, and why.
#[derive(Debug, Clone, Copy)]
pub struct Reviewer<'a> {
    /// The principal.
    pub name: &'a str,
    /// The private key's file.
    pub key: &'a Utf8Path,
    /// The reason.
    pub reason: &'a str,
}

/// An entry that was written.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its digest.
    pub entry: Digest,
    /// Its lesson.
    pub lesson: String,
    /// Where it lies, from the course's root.
    pub path: Utf8PathBuf,
}

/// Checks, signs and writes.
///
/// # Errors
/// When anything is refused; then nothing was written.
pub fn sign(
    root: &Root,
    context: &Context,
    loaded: &Loaded,
    decision: Decision,
    reviewer: Reviewer<'_>,
) -> Result<Written, Error> {
    let (lesson, verdict) = resolve(loaded, decision)?;
    let name: Principal =
        reviewer.name.parse().map_err(|error| Error::Usage(format!("{error}")))?;
    let key = SigningKey::read(reviewer.key).map_err(Error::system("read the reviewer's key"))?;
    let at = Timestamp::from_second(context.clock.now().as_second())
        .map_err(Error::system("read the clock"))?;
    check_signer(loaded, &name, &key, at)?;
    if let Decision::Accept(record) = decision {
        check_not_the_recorder(loaded, &name, &key, record)?;
    }
    let entry = Entry::new(verdict, lesson.files.name(), name, at, reviewer.reason);
    let entry = entry.map_err(|errors| {
        let all: Vec<_> = errors.iter().map(ToString::to_string).collect();
        Error::Usage(all.join("; "))
    })?;
    let text = entry.to_toml();
    let signature = key.sign(Namespace::Review, text.as_bytes());
    let signature = signature.map_err(Error::system("sign the review"))?;
    let digest = Digest::of(&text);
    let base = Utf8Path::new(REVIEWS_FOLDER);
    let files = BTreeMap::from([
        (base.join(format!("{digest}.toml")), Some(text.into_bytes())),
        (base.join(format!("{digest}.sig")), Some(signature.into_bytes())),
    ]);
    let after = assess(&lesson.files.with(&files), &loaded.course);
    let what = "the review is refused, and nothing was written";
    refuse_any(what, newly_tampered(&lesson.assessment, &after))?;
    if let Decision::Accept(record) = decision {
        check_counts(&after, record, digest)?;
    }
    context.go_on()?;
    let mut change = Transaction::new(root.state().join(JOURNAL_FOLDER))?;
    for (path, bytes) in files {
        let path = root.path().join(&lesson.files.folder).join(path);
        change.write(path, bytes.unwrap_or_default());
    }
    change.commit()?;
    let path = lesson.files.folder.join(base).join(format!("{digest}.toml"));
    Ok(Written { entry: digest, lesson: lesson.files.name().to_owned(), path })
}

/// The lesson that a decision is about, and the verdict in full.
fn resolve(loaded: &Loaded, decision: Decision) -> Result<(&LoadedLesson, Verdict), Error> {
    match decision {
        Decision::Accept(record) => {
            let subject = find_record(loaded, record)?;
            let digest = acceptable(&subject)?;
            let rendering = Rendering { format: RENDER_FORMAT, digest };
            Ok((subject.lesson, Verdict::Accept { record, rendering }))
        }
        Decision::Reject(record) => {
            Ok((find_record(loaded, record)?.lesson, Verdict::Reject { record }))
        }
        Decision::Revoke(target) => {
            let has = |lesson: &&LoadedLesson| {
                lesson.assessment.reviews.iter().any(|entry| *entry.digest() == target)
            };
            let lesson = match loaded.lessons.iter().find(has) {
                Some(lesson) => lesson,
                None => find_record(loaded, target)?.lesson,
            };
            Ok((lesson, Verdict::Revoke { target }))
        }
    }
}

/// The record of this digest.
///
/// # Errors
/// When there is none, or it is tampered with.
pub fn find_record(loaded: &Loaded, digest: Digest) -> Result<Subject<'_>, Error> {
    if let Some(subject) = subjects(loaded).find(|subject| subject.digest() == digest) {
        return Ok(subject);
    }
    for lesson in &loaded.lessons {
        let (folders, _) = lesson.files.evidence();
        let of_digest = |bytes: &Vec<u8>| Digest::of(bytes) == digest;
        for folder in folders {
            if folder.files.get(RECORD_FILE).is_some_and(of_digest) {
                let within = |it: &&Finding| it.place.path.starts_with(&folder.path);
                let findings = lesson.assessment.findings.iter().filter(within).cloned();
                let what = format!("record {digest} is Tampered or can't be read");
                return Err(Error::Refused { what, findings: findings.collect() });
            }
        }
    }
    let fact =
        format!("no record, and where that is asked for no review, has the digest `{digest}`");
    let next = "copy the digest from the screen of `review`, or the name of the entry's file";
    refuse("nothing to review", Rule::NothingSelected, Place::file("."), fact, next)
}

/// The digest of what an acceptance of this record is about.
fn acceptable(subject: &Subject<'_>) -> Result<Digest, Error> {
    let place = Place::file(&subject.record.examined.folder.path);
    let what = "this record can't be accepted";
    if let RecordState::Unpublishable(faults) = &subject.record.state {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let fact = format!("Unpublishable: {}", faults.join("; "));
        return refuse(what, Rule::Unpublishable, place, fact, "record again");
    }
    if !subject.record.is_of_today() {
        let inputs: Vec<String> = subject.record.stale.iter().map(ToString::to_string).collect();
        let fact = format!("Stale: {}", inputs.join("; "));
        return refuse(what, Rule::Stale, place, fact, "record the lesson as it is now");
    }
    match &subject.record.rendering {
        Some(rendering) => Ok(rendering.digest()),
        None => {
            let fact = "nothing can be shown of it: the manifest chooses a run that it lacks";
            refuse(what, Rule::Manifest, place, fact.into(), "mend `[publish] run` in lesson.toml")
        }
    }
}

/// The key must be the reviewer's, for reviews, and count now.
fn check_signer(
    loaded: &Loaded,
    name: &Principal,
    key: &SigningKey,
    at: Timestamp,
) -> Result<(), Error> {
    let place = || Place::file(proofrun_runner::course::SIGNERS_FILE);
    let what = "this key can't sign that review";
    let next = "add the line that `keys new` printed, in a change of its own: `keys add --line …`";
    let grant = key.public_key().key_data().ed25519();
    let grant = grant.and_then(|key| loaded.course.trust.signers.grant(key));
    let Some(grant) = grant else {
        let fact = format!("the key is not listed for `{}`", Namespace::Review);
        return refuse(what, Rule::SignatureInvalid, place(), fact, next);
    };
    let place = Place::line(proofrun_runner::course::SIGNERS_FILE, grant.line());
    let principal = grant.signer().principal();
    if principal != name {
        let fact = format!("the key belongs to `{principal}`, not to `{name}`");
        let next = "give the name that the key is listed under";
        return refuse(what, Rule::SignatureInvalid, place, fact, next);
    }
    if !grant.namespaces().contains(&Namespace::Review) {
        let fact = format!("the key is not listed for `{}`", Namespace::Review);
        return refuse(what, Rule::SignatureInvalid, place, fact, next);
    }
    let early = grant.valid_after().is_some_and(|after| at < after);
    if early || grant.valid_before().is_some_and(|before| at > before) {
        let fact = format!("the key's window does not hold {at}");
        let next = "list a key that counts now";
        return refuse(what, Rule::SignatureInvalid, place, fact, next);
    }
    Ok(())
}

fn check_not_the_recorder(
    loaded: &Loaded,
    name: &Principal,
    key: &SigningKey,
    record: Digest,
) -> Result<(), Error> {
    let subject = find_record(loaded, record)?;
    let recorder = &subject.record.examined.recorder;
    let same_key = key.public_key().key_data().ed25519() == Some(recorder.key());
    let same = recorder.principal() == name || same_key;
    if !same || loaded.course.trust.policy.self_review == SelfReview::Labelled {
        return Ok(());
    }
    let by = if same_key { "key" } else { "name" };
    let fact = format!("this {by} recorded it: `{}`", recorder.principal());
    let place = Place::file(&subject.record.examined.folder.path);
    let what = "nobody accepts his own record here";
    let next = "let somebody else review it; the policy is `research/policy.toml`";
    refuse(what, Rule::SelfReview, place, fact, next)
}

/// An acceptance that would not count is not written: a reject stands, or the record was revoked
/// for good.
fn check_counts(after: &Assessment, record: Digest, entry: Digest) -> Result<(), Error> {
    let all = after.evidence.values().flat_map(|evidence| &evidence.records);
    let Some(found) = all.into_iter().find(|it| it.examined.digest == record) else {
        let what = "this record can't be accepted".to_owned();
        return Err(Error::Refused { what, findings: Vec::new() });
    };
    let (fact, next) = match &found.standing {
        Standing::Accepted(all) if all.iter().any(|it| it.entry == entry) => return Ok(()),
        Standing::Rejected(it) => (
            format!("a reject of `{}` stands: {}", it.by, it.reason),
            format!("first let a reviewer take it back: `review --revoke {}`", it.entry),
        ),
        Standing::Revoked(it) => (
            format!("`{}` revoked the record for good: {}", it.by, it.reason),
            "record again".to_owned(),
        ),
        _ => ("the acceptance would not count".to_owned(), "record again".to_owned()),
    };
    let place = Place::file(&found.examined.folder.path);
    refuse("this record can't be accepted", Rule::Unreviewed, place, fact, &next)
}

/// Findings of tampering that a lesson didn't have before.
pub fn newly_tampered(before: &Assessment, after: &Assessment) -> Findings {
    let had: BTreeSet<&Finding> = before.findings.iter().collect();
    let new = after.findings.iter().filter(|finding| {
        finding.severity == Severity::Error
            && finding.rule.class() == Class::Tampered
            && !had.contains(finding)
    });
    new.cloned().collect()
}

/// # Errors
/// When there is any finding.
pub fn refuse_any(what: &str, findings: Findings) -> Result<(), Error> {
    if findings.is_empty() {
        return Ok(());
    }
    Err(Error::Refused { what: what.to_owned(), findings })
}

fn refuse<T>(what: &str, rule: Rule, place: Place, fact: String, next: &str) -> Result<T, Error> {
    let findings = vec![Finding::error(rule, place, fact, next)];
    Err(Error::Refused { what: what.to_owned(), findings })
}
