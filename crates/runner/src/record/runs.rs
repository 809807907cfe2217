//! N fresh processes of a program, one after the other, each with a deadline.

use std::time::Duration;

use camino::Utf8Path;
use proofrun_core::lesson::{Program, RunRules};
use proofrun_core::record::model::{Ended, RunRecord};

use crate::system::process::{Cancel, Command, Status};

use super::work::Work;
use super::{RecordError, environment};

/// Runs a program once and keeps its raw streams.
///
/// # Errors
/// When it can't be started, the recorder is asked to stop, or the disk refuses. How the program
/// ends is no error: it is what gets recorded.
pub fn run(
    work: &Work,
    program: &Program,
    rules: &RunRules,
    folder: &Utf8Path,
    index: u32,
    cancel: &Cancel,
) -> Result<RunRecord, RecordError> {
    let ended = command(program, rules, folder).run(cancel)?;
    let (status, exit) = match ended.status {
        Status::Exit(status) => (Ended::Exited, Some(status)),
        Status::Signal(_) => (Ended::Signalled, None),
        Status::Hung => (Ended::Hung, None),
        Status::TooMuchOutput => (Ended::TooMuchOutput, None),
        Status::Cancelled => return Err(RecordError::Cancelled),
    };
    let stdout = format!("{}.run-{index}.stdout", program.name);
    let stderr = format!("{}.run-{index}.stderr", program.name);
    work.write(&stdout, &ended.stdout)?;
    work.write(&stderr, &ended.stderr)?;
    let wall_ms = u64::try_from(ended.wall.as_millis()).unwrap_or(u64::MAX);
    Ok(RunRecord { ended: status, exit, wall_ms, stdout, stderr })
}

/// The program's command in the folder that holds its executable.
pub fn command(program: &Program, rules: &RunRules, folder: &Utf8Path) -> Command {
    let deadline = Duration::from_secs(u64::from(rules.deadline_s));
    let mut command = environment::scrubbed(Command::new(executable(program, folder)))
        .args(&program.run[1..])
        .cwd(folder)
        .deadline(deadline);
    for (name, value) in &rules.environment {
        command = command.env(name, value);
    }
    command
}

/// `./name` of the run command, within the folder.
fn executable(program: &Program, folder: &Utf8Path) -> camino::Utf8PathBuf {
    let word = program.run.first().map_or("", String::as_str);
    folder.join(word.strip_prefix("./").unwrap_or(word))
}
