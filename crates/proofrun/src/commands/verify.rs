//! `verify`: everything that can be said of the lessons here, in one pass.

use camino::Utf8PathBuf;
use proofrun_core::Digest;
use proofrun_core::assess::{append_only, is_append_only};
use proofrun_core::finding::Findings;
use proofrun_runner::git;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{Loaded, Selection};
use crate::report::{Report, github, json, junit, terminal};
use crate::verify::{self, Rules};

/// Checks lessons: text, evidence, builds, and on a GPU that passes the gate, runs.
///
/// Where no GPU does, programs run on the emulated device, and what it finds is reported.
/// Nothing under `lessons/` is written. What cannot run here is reported as gated or not executed,
/// never as passed; what digests prove unchanged is not done again.
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// Lessons to look at, by name, folder or `day-N`; by default all.
    #[arg(value_name = "LESSON")]
    lessons: Vec<String>,
    /// Only lessons that differ from this revision.
    #[arg(long, value_name = "REV")]
    changed: Option<String>,
    /// Demand that all evidence and reviews of this revision are still there, and trust its keys.
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Write the report as JUnit XML into this file, too.
    #[arg(long, value_name = "FILE")]
    junit: Option<Utf8PathBuf>,
    /// Use no network: without a toolkit here, nothing is compiled.
    #[arg(long)]
    offline: bool,
    /// Fail when no device runs anything.
    #[arg(long)]
    require_device: bool,
    /// How many builds run side by side; by default one a core.
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// The CUDA toolkit's folder.
    #[arg(long, value_name = "DIR")]
    cuda_home: Option<Utf8PathBuf>,
}

impl Verify {
    /// Runs the command.
    ///
    /// # Errors
    /// When the course can't be read, nothing is selected, or it is asked to stop.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let selection = Selection::named(&self.lessons)
            .changed_since(self.changed.as_deref())
            .trusting(self.base.as_deref());
        let loaded = Loaded::read(root, &selection, context)?;
        let mut course = loaded.findings.clone();
        if let Some(revision) = &self.base {
            course.extend(kept_since(root, revision)?);
        }
        let rules = Rules {
            offline: self.offline,
            require_device: self.require_device,
            jobs: self.jobs.map_or_else(default_jobs, std::num::NonZeroUsize::get),
            cuda_home: self.cuda_home.clone(),
        };
        let report = verify::verify(root, context, loaded, course, &rules)?;
        self.tell(&report, context)?;
        Ok(Exit::of(report.findings()))
    }

    fn tell(&self, report: &Report, context: &Context) -> Result<(), Error> {
        if self.json {
            context.say(json::json(report).map_err(Error::system("write the report"))?);
        } else {
            let text = terminal::terminal(report);
            context.say(match context.on_github() {
                true => github::without_commands(&text, &Digest::of(random()).to_string()),
                false => text,
            });
        }
        if let Some(path) = &self.junit {
            let xml = junit::junit(report).map_err(Error::system("write the JUnit report"))?;
            proofrun_runner::system::files::write_atomic(context.cwd.join(path), xml)?;
        }
        if context.on_github() {
            // Workflow commands go where they are read: into the log, which is standard output.
            if !self.json {
                context.say(github::annotations(report));
            }
            if let Some(path) = context.variable("GITHUB_STEP_SUMMARY") {
                // A table begins after a blank line, whatever an earlier command left.
                append(&path, &format!("\n{}", github::summary(report)))?;
            }
        }
        Ok(())
    }
}

/// What no text can have foreseen.
fn random() -> [u8; 32] {
    rand::random()
}

fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// The step's summary file is shared by all commands of the step, so it is appended to.
fn append(path: &str, text: &str) -> Result<(), Error> {
    use std::io::Write as _;
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(Error::system(format!("write the step summary `{path}`")))
}

/// Every append-only file of a revision must still be there, byte for byte.
fn kept_since(root: &Root, revision: &str) -> Result<Findings, Error> {
    let base = git::files_of(root.path(), revision, is_append_only)?;
    let now = |path: &camino::Utf8Path| {
        let full = root.path().join(path);
        // What a link leads to is not the file that was there.
        let plain = full.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        plain.then(|| std::fs::read(full).ok()).flatten()
    };
    Ok(append_only(&base, now, revision))
}
