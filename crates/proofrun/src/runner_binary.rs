//! Where the `lesson-runner` that a bundle carries comes from.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_runner::bundle::RUNNER_FILE;
use proofrun_runner::system::process::{Command, Stream};
use std::time::Duration;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;

/// How long building it may take on a slow machine.
const BUILD_DEADLINE: Duration = Duration::from_secs(1800);

/// The runner's file: the one named, the one that this workspace builds, or the one beside this
/// program.
///
/// # Errors
/// When there is none, or it doesn't build.
pub fn find(
    given: Option<&Utf8Path>,
    root: &Root,
    context: &Context,
) -> Result<Utf8PathBuf, Error> {
    if let Some(given) = given {
        return Ok(context.cwd.join(given));
    }
    if root.path().join("crates/runner/Cargo.toml").is_file() {
        return build(root, context);
    }
    let this = std::env::current_exe().map_err(Error::system("find this program's file"))?;
    let this = Utf8PathBuf::try_from(this).map_err(Error::system("read this program's path"))?;
    let beside = this.with_file_name(RUNNER_FILE);
    if beside.is_file() {
        return Ok(beside);
    }
    Err(Error::Usage(format!(
        "no `{RUNNER_FILE}` beside `{this}`; call `cargo install --path crates/runner` in a copy of \
         Proofrun's repository, or name one with `--runner`"
    )))
}

fn build(root: &Root, context: &Context) -> Result<Utf8PathBuf, Error> {
    context.note("building lesson-runner\n");
    let cargo = context.variable("CARGO").unwrap_or_else(|| "cargo".to_owned());
    let command = Command::new(cargo)
        .args(["build", "--release", "--locked", "--package", "proofrun-runner"])
        .args(["--bin", RUNNER_FILE])
        .cwd(root.path())
        .deadline(BUILD_DEADLINE)
        .output_max(64 << 20, 64 << 20);
    let ended = command.run_with(&context.cancel, &mut |stream, line| {
        if stream == Stream::Stderr && line.trim_start().starts_with("error") {
            context.note(format!("{line}\n"));
        }
    })?;
    context.go_on()?;
    if !ended.succeeded() {
        let text = String::from_utf8_lossy(&ended.stderr).into_owned();
        return Err(Error::system("build lesson-runner")(text));
    }
    let target = context.variable("CARGO_TARGET_DIR").map(Utf8PathBuf::from);
    let target = target.map_or_else(|| root.path().join("target"), |dir| root.path().join(dir));
    Ok(target.join("release").join(RUNNER_FILE))
}
