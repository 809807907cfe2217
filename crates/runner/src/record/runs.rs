//! One fresh process of a program: its deadline, its raw streams, and what it loads while it runs.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::lesson::Program;
use proofrun_core::record::model::{Ended, RunRecord};

use crate::system::process::{self, Cancel, Command, Status};

use super::watch::Watch;
use super::{On, RecordError};

/// A run to make.
pub(super) struct Fresh<'a> {
    pub(super) on: &'a On<'a>,
    pub(super) program: &'a Program,
    /// The folder that holds the executable, in which it is run.
    pub(super) folder: &'a Utf8Path,
    /// From 0.
    pub(super) index: u32,
}

/// A run that was made.
pub(super) struct Ran {
    pub(super) record: RunRecord,
    /// Whether a process of it is still there and can't be killed.
    pub(super) stuck: bool,
}

/// Runs a program once and keeps its raw streams.
///
/// # Errors
/// When it can't be started, it loads a CUDA runtime of its own, the recorder is asked to stop, or
/// the disk refuses. How the program ends is no error: it is what gets recorded.
pub(super) fn run(fresh: &Fresh<'_>, cancel: &Cancel) -> Result<Ran, RecordError> {
    let mut watch = Watch::default();
    let command = command(fresh.on, fresh.program, fresh.folder);
    let ended = match command.run_watched(cancel, &mut |pid| watch.look(pid)) {
        Ok(ended) => ended,
        Err(process::Error::Unkillable { .. }) => return unkillable(fresh),
        Err(error) => return Err(error.into()),
    };
    let (status, exit) = match ended.status {
        Status::Exit(status) => (Ended::Exited, Some(status)),
        Status::Signal(_) => (Ended::Signalled, None),
        Status::Hung => (Ended::Hung, None),
        Status::TooMuchOutput => (Ended::TooMuchOutput, None),
        Status::Cancelled => return Err(RecordError::Cancelled),
    };
    if let Some(library) = watch.found {
        return Err(RecordError::ForeignRuntime { program: fresh.program.name.clone(), library });
    }
    let wall_ms = u64::try_from(ended.wall.as_millis()).unwrap_or(u64::MAX);
    let record = keep(fresh, status, exit, wall_ms, (&ended.stdout, &ended.stderr))?;
    Ok(Ran { record, stuck: !ended.survivors.is_empty() })
}

/// It hung, was killed, and does not go: its streams went with whoever read them.
fn unkillable(fresh: &Fresh<'_>) -> Result<Ran, RecordError> {
    let wall_ms = u64::from(fresh.on.lesson.run.deadline_s) * 1000;
    Ok(Ran { record: keep(fresh, Ended::Hung, None, wall_ms, (b"", b""))?, stuck: true })
}

fn keep(
    fresh: &Fresh<'_>,
    ended: Ended,
    exit: Option<i32>,
    wall_ms: u64,
    streams: (&[u8], &[u8]),
) -> Result<RunRecord, RecordError> {
    let name = |stream| format!("{}.run-{}.{stream}", fresh.program.name, fresh.index);
    let (stdout, stderr) = (name("stdout"), name("stderr"));
    fresh.on.work.write(&stdout, streams.0)?;
    fresh.on.work.write(&stderr, streams.1)?;
    Ok(RunRecord { ended, exit, wall_ms, stdout, stderr })
}

/// The program's command in the folder that holds its executable.
fn command(on: &On<'_>, program: &Program, folder: &Utf8Path) -> Command {
    let deadline = Duration::from_secs(u64::from(on.lesson.run.deadline_s));
    on.surroundings
        .around(Command::new(executable(program, folder)), &on.lesson.run.environment)
        .args(program.run.iter().skip(1))
        .cwd(folder)
        .deadline(deadline)
}

/// `./name` of the run command, within the folder.
pub(super) fn executable(program: &Program, folder: &Utf8Path) -> Utf8PathBuf {
    let word = program.run.first().map_or("", String::as_str);
    folder.join(word.strip_prefix("./").unwrap_or(word))
}
