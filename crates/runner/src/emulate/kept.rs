//! Emulated runs that were made earlier, by a digest of all that they depend on: the same program
//! over the same library does the same again.
//!
//! **Invariant: a run is taken from here only if its bytes are those that were kept.** A program
//! that did not end in its time is kept for a run that allows the same time: waiting again would
//! show the same on this machine.

use std::time::Duration;

use camino::Utf8Path;
use proofrun_core::Digest;
use proofrun_emulator::finding::Finding;
use proofrun_emulator::report::LaunchReport;
use serde::{Deserialize, Serialize};

use super::{Emulated, Error, Run, Told};
use crate::compile::Cache;
use crate::system::files;
use crate::system::process::Status;

/// Raised when an entry's meaning changes.
const VERSION: u32 = 1;

/// The largest entry that is read, in bytes.
const ENTRY_BYTES_MAX: u64 = 256 << 20;

/// SIGKILL.
const KILL: i32 = 9;

/// The file that names the entry's digest; by it the cache tells an entry's age.
const OUTCOME_FILE: &str = "outcome.toml";

/// The entry.
const RUN_FILE: &str = "run.json";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    ended: Ended,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    wall_ms: u64,
    device: Option<String>,
    launches: Vec<LaunchReport>,
    findings: Vec<Finding>,
    calls: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Ended {
    Exit(i32),
    Signal(i32),
    Hung,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    version: u32,
    run: Digest,
}

/// The digest of all that a run depends on.
///
/// # Errors
/// When the executable or the library can't be read.
pub fn key(run: &Run<'_>) -> Result<Digest, Error> {
    let bytes = |path: &Utf8Path| files::read_capped(path, ENTRY_BYTES_MAX).map(Digest::of);
    let [before, after] = super::run::around_descriptor(run.configuration);
    let mut parts = vec![
        format!("emulated {VERSION}"),
        bytes(run.executable)?.to_string(),
        bytes(run.library.path())?.to_string(),
        before + &after,
        run.folder.to_string(),
        run.deadline.as_secs().to_string(),
        run.args.len().to_string(),
    ];
    parts.extend(run.args.iter().cloned());
    parts.extend(run.environment.iter().flat_map(|(name, value)| [name.clone(), value.clone()]));
    Ok(Digest::of_parts(parts.into_iter().map(String::into_bytes)))
}

/// The run that was kept under a key.
pub fn load(cache: &Cache, key: Digest) -> Option<Emulated> {
    let folder = cache.folder_of(key);
    let text = files::read_capped(folder.join(OUTCOME_FILE), ENTRY_BYTES_MAX).ok()?;
    let outcome: Outcome = toml::from_str(std::str::from_utf8(&text).ok()?).ok()?;
    let bytes = files::read_capped(folder.join(RUN_FILE), ENTRY_BYTES_MAX).ok()?;
    if outcome.version != VERSION || outcome.run != Digest::of(&bytes) {
        return None;
    }
    let entry: Entry = serde_json::from_slice(&bytes).ok()?;
    let status = match entry.ended {
        Ended::Exit(exit) => Status::Exit(exit),
        Ended::Signal(signal) => Status::Signal(signal),
        Ended::Hung => Status::Hung,
    };
    let told = Told {
        device: entry.device,
        launches: entry.launches,
        findings: entry.findings,
        calls: entry.calls,
        ..Told::default()
    };
    let wall = Duration::from_millis(entry.wall_ms);
    Some(Emulated { status, stdout: entry.stdout, stderr: entry.stderr, wall, told })
}

/// Keeps a run that was followed to its end.
///
/// # Errors
/// When the system refuses.
pub fn store(cache: &Cache, key: Digest, run: &Emulated) -> Result<(), Error> {
    let ended = match run.status {
        Status::Exit(exit) => Ended::Exit(exit),
        // The system's own way out when it is out of memory.
        Status::Signal(KILL) => return Ok(()),
        Status::Signal(signal) => Ended::Signal(signal),
        Status::Hung => Ended::Hung,
        Status::TooMuchOutput | Status::Cancelled => return Ok(()),
    };
    if run.told.unreadable.is_some() || run.told.device.is_none() {
        return Ok(());
    }
    let entry = Entry {
        ended,
        stdout: run.stdout.clone(),
        stderr: run.stderr.clone(),
        wall_ms: u64::try_from(run.wall.as_millis()).unwrap_or(u64::MAX),
        device: run.told.device.clone(),
        launches: run.told.launches.clone(),
        findings: run.told.findings.clone(),
        calls: run.told.calls,
    };
    let bytes = serde_json::to_vec(&entry).expect("an entry is plain data");
    let outcome = Outcome { version: VERSION, run: Digest::of(&bytes) };
    let text = toml::to_string(&outcome).expect("an outcome is plain data");
    let folder = cache.folder_of(key);
    files::remove_dir(&folder)?;
    files::write_dir_cached(&folder, |folder| {
        files::write_new(&folder.join(RUN_FILE), &bytes)?;
        files::write_new(&folder.join(OUTCOME_FILE), text.as_bytes())
    })?;
    Ok(())
}
