//! The end of a recording: the facts, the list of files, the signature, and one rename.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use proofrun_core::record::examine::parse;
use proofrun_core::record::model::{
    CheckSummary, FileRecord, ProgramRecord, RECORD_FILE, RECORD_FORMAT, Record, RecordedDevice,
    SIGNATURE_FILE, SanitizerRecord, SignedAt,
};
use proofrun_core::trust::Namespace;

use crate::system::files;

use super::batch::Batch;
use super::plan::{Built, Plan};
use super::{On, RecordError, Recorder};

/// The largest record that is read back, in bytes.
const RECORD_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The folder of the work folder in which the record's own is made.
const MADE_FOLDER: &str = "record";

/// What the steps came to.
pub(super) struct Parts<'a> {
    pub(super) plan: &'a Plan,
    pub(super) batch: Batch,
    pub(super) programs: Vec<ProgramRecord>,
    pub(super) sanitizers: Vec<SanitizerRecord>,
    pub(super) check: Option<CheckSummary>,
}

/// The record that an earlier call made of this bundle, lesson and variant on this card. Its work
/// folder, which a kill between the two may have left, is dropped.
pub(super) fn earlier(
    recorder: &Recorder<'_>,
    plan: &Plan,
    home: &Utf8Path,
    work: &Utf8Path,
) -> Result<Option<Utf8PathBuf>, RecordError> {
    let entries = home.read_dir_utf8().into_iter().flatten().flatten();
    for entry in entries.filter(|entry| !entry.file_name().starts_with('.')) {
        let folder = entry.path().to_owned();
        let bytes = files::read_capped(folder.join(RECORD_FILE), RECORD_BYTES_MAX);
        let Some(record) = bytes.ok().and_then(|bytes| parse(&folder, &bytes).ok()) else {
            continue;
        };
        let same = record.nonce == recorder.nonce
            && (record.lesson == plan.lesson && record.variant == plan.variant)
            && record.device.uuid_sha256 == plan.card;
        if same {
            files::remove_dir(work)?;
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Writes the record's folder below `home`, whole, and drops the work folder.
pub(super) fn finish(
    recorder: &Recorder<'_>,
    on: &On<'_>,
    parts: Parts<'_>,
    builds: &[Built],
    home: &Utf8Path,
) -> Result<Utf8PathBuf, RecordError> {
    let work = on.work;
    let mut record = facts(recorder, on, parts, builds)?;
    let names: BTreeSet<String> = record.files_used().map(str::to_owned).collect();
    let mut contents = Vec::new();
    for name in names {
        let bytes = work.read(&name)?;
        let (path, length) = (name.clone(), bytes.len() as u64);
        record.file.push(FileRecord { path, bytes: length, sha256: Digest::of(&bytes) });
        contents.push((name, bytes));
    }
    let text = record.to_toml()?;
    if let Some((_, key)) = recorder.signer {
        let signature = key.sign(Namespace::Record, text.as_bytes())?;
        contents.push((SIGNATURE_FILE.to_owned(), signature.into_bytes()));
    }
    let folder = home.join(record.folder_name(&Digest::of(&text)));
    contents.push((RECORD_FILE.to_owned(), text.into_bytes()));
    // It is made within the work folder, so that a kill leaves nothing beside it.
    let made = work.path(MADE_FOLDER);
    files::remove_dir(&made)?;
    files::write_dir_atomic::<RecordError>(&made, |temporary| {
        for (name, bytes) in &contents {
            files::write_new(&temporary.join(name), bytes)?;
        }
        Ok(())
    })?;
    files::move_dir(&made, &folder)?;
    files::remove_dir(work.folder())?;
    Ok(folder)
}

fn facts(
    recorder: &Recorder<'_>,
    on: &On<'_>,
    parts: Parts<'_>,
    builds: &[Built],
) -> Result<Record, RecordError> {
    let signed_at = if recorder.signer.is_some() { SignedAt::Host } else { SignedAt::Import };
    let toolkit = builds.first().map(|built| built.toolkit.clone());
    Ok(Record {
        schema: RECORD_FORMAT,
        lesson: parts.plan.lesson.clone(),
        variant: parts.plan.variant.clone(),
        recorded_at: parts.batch.ended_at,
        recorder: recorder.signer.map(|(name, _)| name.to_owned()).unwrap_or_default(),
        signed_at,
        nonce: recorder.nonce.to_owned(),
        runs: recorder.runs,
        commit: recorder.commit.clone(),
        runner: recorder.runner.clone(),
        toolkit: toolkit.ok_or(RecordError::NoToolkit)?,
        device: RecordedDevice {
            uuid_sha256: on.device.uuid,
            facts: on.device.facts.clone(),
            cuda: on.device.cuda.to_string(),
        },
        before: parts.batch.before,
        after: parts.batch.after,
        environment: on.surroundings.recorded(),
        program: parts.programs,
        sanitizer: parts.sanitizers,
        check: parts.check,
        file: Vec::new(),
    })
}
