//! The end of a recording: the facts, the list of files, the signature, and one rename.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Unit;
use proofrun_core::Digest;
use proofrun_core::card::CardState;
use proofrun_core::gate::Device;
use proofrun_core::record::model::{
    CheckSummary, FileRecord, ProgramRecord, RECORD_FILE, RECORD_FORMAT, Record, RecordedDevice,
    SIGNATURE_FILE, SanitizerRecord, SignedAt,
};
use proofrun_core::trust::Namespace;

use crate::system::files;

use super::plan::{Built, Plan};
use super::work::Work;
use super::{RecordError, Recorder, environment};

/// What the steps came to.
pub(super) struct Parts<'a> {
    pub(super) plan: &'a Plan,
    pub(super) before: CardState,
    pub(super) after: CardState,
    pub(super) programs: Vec<ProgramRecord>,
    pub(super) sanitizers: Vec<SanitizerRecord>,
    pub(super) check: Option<CheckSummary>,
}

/// Writes the record's folder below `home`, whole, and drops the work folder.
pub(super) fn finish(
    recorder: &Recorder<'_>,
    work: &Work,
    parts: Parts<'_>,
    device: &Device,
    builds: &[Built],
    home: &Utf8Path,
) -> Result<Utf8PathBuf, RecordError> {
    let mut record = facts(recorder, parts, device, builds)?;
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
    files::write_dir_atomic::<RecordError>(&folder, |temporary| {
        for (name, bytes) in &contents {
            files::write_atomic(temporary.join(name), bytes)?;
        }
        Ok(())
    })?;
    files::remove_dir(work.folder())?;
    Ok(folder)
}

fn facts(
    recorder: &Recorder<'_>,
    parts: Parts<'_>,
    device: &Device,
    builds: &[Built],
) -> Result<Record, RecordError> {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let now = recorder.clock.now();
    let recorded_at = now.round(Unit::Second).unwrap_or(now);
    let signed_at = if recorder.signer.is_some() { SignedAt::Host } else { SignedAt::Import };
    let toolkit = builds.first().map(|built| built.toolkit.clone());
    Ok(Record {
        schema: RECORD_FORMAT,
        lesson: parts.plan.lesson.clone(),
        variant: parts.plan.variant.clone(),
        recorded_at,
        recorder: recorder.signer.map(|(name, _)| name.to_owned()).unwrap_or_default(),
        signed_at,
        nonce: recorder.nonce.to_owned(),
        runs: recorder.runs,
        commit: recorder.commit.clone(),
        runner: recorder.runner.clone(),
        toolkit: toolkit.ok_or(RecordError::NoToolkit)?,
        device: RecordedDevice {
            uuid_sha256: device.uuid,
            facts: device.facts.clone(),
            cuda: device.cuda.to_string(),
        },
        before: parts.before,
        after: parts.after,
        environment: environment::recorded(variables),
        program: parts.programs,
        sanitizer: parts.sanitizers,
        check: parts.check,
        file: Vec::new(),
    })
}
