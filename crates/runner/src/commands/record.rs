//! `lesson-runner record`: a bundle's lessons, recorded on this host's device.

use std::cell::RefCell;
use std::io::Write;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use proofrun_core::bundle::Bundle;
use proofrun_core::record::model::{RUNS_DEFAULT, RunnerFacts};

use crate::device::{Helper, PROBE_DEADLINE, lock_file, probe};
use crate::keys::SigningKey;
use crate::record::{RealHost, Recorder, Subject};
use crate::system::clock::SystemClock;
use crate::system::files;
use crate::system::process::Cancel;

use super::Refused;
use super::outcome::{Outcome, Row, exit_code, summary};
use super::progress::Progress;
use super::source::{Chosen, Source};
use super::tools::{self, Tools};

/// Record lessons of a bundle on this host's device: gate, build, run each program in fresh
/// processes, check its kernels from Rust, run compute-sanitizer over it, and keep all of that in
/// one folder a lesson, variant and device.
///
/// Called again after an interruption, it goes on where it was. What the gate forbids is reported,
/// not failed; where it forbids everything, nothing was recorded and the exit code is 25.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Lessons, by name or by `day-N`.
    #[arg(value_name = "LESSON", required_unless_present = "all", conflicts_with = "all")]
    lessons: Vec<String>,
    /// Every lesson of the bundle.
    #[arg(long)]
    all: bool,
    /// Where records go.
    #[arg(long, value_name = "DIR")]
    out: Utf8PathBuf,
    /// The unpacked bundle; by default the folder of this program, else the current one.
    #[arg(long, value_name = "DIR")]
    bundle: Option<Utf8PathBuf>,
    /// How long it may take, such as `30m`: nothing is started after that, and the next call goes
    /// on.
    #[arg(long, value_name = "TIME", value_parser = time)]
    budget: Option<Duration>,
    /// Only this variant.
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Fresh processes of each program.
    #[arg(long, default_value_t = RUNS_DEFAULT, value_parser = runs())]
    runs: u32,
    /// The driver's ordinal of the device.
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// The CUDA toolkit to build with; by default CUDA_HOME, CUDA_PATH, or nvcc on PATH.
    #[arg(long, value_name = "DIR")]
    cuda_home: Option<Utf8PathBuf>,
    /// Take the bundle's prebuilt programs although there is nvcc here.
    #[arg(long)]
    prebuilt: bool,
    /// The recorder's key; without it, records are signed at import.
    #[arg(long, value_name = "FILE", requires = "recorder")]
    key: Option<Utf8PathBuf>,
    /// The recorder's principal in `research/allowed_signers`.
    #[arg(long, value_name = "NAME", requires = "key")]
    recorder: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When it can't begin. What becomes of each lesson is said, and decides the exit code that is
/// returned.
pub fn run(args: &Args, output: &mut impl Write) -> Result<u8, Refused> {
    let begun = Instant::now();
    let cancel = Cancel::on_signals()?;
    let source = Source::open(args.bundle.as_deref())?;
    let Some((folder, bundle)) = &source.bundle else {
        return Err(Refused::usage(format!(
            "`{}` is a checkout, and records are made from a bundle; make one there with \
             `cargo xtask bundle --out DIR` and call its `lesson-runner`",
            source.root
        )));
    };
    let runner = runner_facts(bundle)?;
    let key = args.key.as_deref().map(SigningKey::read).transpose();
    let key = key.map_err(Refused::unexpected)?;
    let chosen = source.choose(&args.lessons, args.variant.as_deref())?;
    let tools = tools::find(args.cuda_home.as_deref(), args.prebuilt, folder, &cancel)?;
    let helper = Helper { cancel: cancel.clone(), ..Helper::this()? };
    let _held = lock_device(args.device, &helper)?;
    let out = absolute(&args.out)?;
    let progress = RefCell::new(Progress::begin(args.budget.map(|budget| begun + budget)));
    progress.borrow_mut().say(&with_what(&tools));
    let host = RealHost::new(helper, tools.sanitizer.clone());
    let recorder = Recorder {
        host: &host,
        toolkit: tools.toolkit.as_ref(),
        clock: &SystemClock::new(),
        cancel: &cancel,
        signer: args.recorder.as_deref().zip(key.as_ref()),
        runner,
        commit: bundle.commit.clone(),
        nonce: &bundle.nonce,
        runs: args.runs,
        ends: args.budget.map(|budget| (begun + budget, budget)),
        device: args.device,
        progress: &|step| progress.borrow_mut().step(step),
    };
    let rows = record_all(&recorder, &source, &chosen, &out, &progress);
    progress.borrow_mut().end();
    write!(output, "{}", summary(&rows, &args.out, args.key.is_some()))?;
    Ok(exit_code(&rows))
}

/// Records all: in a first round everything but the sanitizers, so that a budget is spent on every
/// lesson's runs before it is spent on any sanitizer; in a second round the rest.
fn record_all(
    recorder: &Recorder<'_>,
    source: &Source,
    chosen: &[Chosen],
    out: &Utf8Path,
    progress: &RefCell<Progress>,
) -> Vec<Row> {
    let pairs = chosen.iter().flat_map(|one| one.variants.iter().map(move |name| (one, name)));
    let pairs: Vec<(&Chosen, &String)> = pairs.collect();
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    for round in [Round::Prepare, Round::Record] {
        // A spent budget ends a round, and a lost device both: what was prepared waits for the
        // next call.
        let mut over: Option<String> = outcomes
            .iter()
            .flatten()
            .find(|outcome| outcome.lost_device())
            .and_then(Outcome::ends_all);
        for (index, (one, variant)) in pairs.iter().enumerate() {
            if let Some(Some(_)) = outcomes.get(index) {
                continue;
            }
            let outcome = match &over {
                Some(why) => Some(Outcome::NotStarted(why.clone())),
                None => {
                    progress.borrow_mut().subject(one.files.name(), variant);
                    round.of(recorder, source, (one, variant), out)
                }
            };
            over = over.or_else(|| outcome.as_ref().and_then(Outcome::ends_all));
            match outcomes.get_mut(index) {
                Some(slot) => *slot = outcome,
                None => outcomes.push(outcome),
            }
        }
    }
    let rows = pairs.into_iter().zip(outcomes).filter_map(|((one, variant), outcome)| {
        let (lesson, variant) = (one.files.name().to_owned(), variant.clone());
        Some(Row { lesson, variant, outcome: outcome? })
    });
    rows.collect()
}

#[derive(Clone, Copy)]
enum Round {
    Prepare,
    Record,
}

impl Round {
    /// What becomes of a lesson's variant; `None` where that is left to the next round.
    fn of(
        self,
        recorder: &Recorder<'_>,
        source: &Source,
        (one, variant): (&Chosen, &str),
        out: &Utf8Path,
    ) -> Option<Outcome> {
        let prebuilt = source.prebuilt(one.files.name(), variant);
        let prebuilt = prebuilt.as_deref();
        let subject = Subject { files: &one.files, text: &one.text, variant, prebuilt };
        let made = match self {
            Self::Prepare => recorder.prepare(subject, out).transpose()?,
            Self::Record => recorder.record(subject, out),
        };
        Some(Outcome::of(made, &one.text.lesson))
    }
}

/// This program, which must be the bundle's: nothing that another one recorded is imported.
fn runner_facts(bundle: &Bundle) -> Result<RunnerFacts, Refused> {
    let executable = Digest::of(std::fs::read(std::env::current_exe()?)?);
    if executable != bundle.runner.executable {
        return Err(Refused::usage(
            "this is not the `lesson-runner` of the bundle, and `import` takes no record of \
             another; call the one in the bundle's folder",
        ));
    }
    Ok(RunnerFacts { version: env!("CARGO_PKG_VERSION").to_owned(), executable })
}

/// One recording at a time a device: two would time each other. Where there is no device, nothing
/// is held, and every lesson will be gated.
fn lock_device(device: u32, helper: &Helper) -> Result<Option<files::Lock>, Refused> {
    let probe = probe(helper, PROBE_DEADLINE);
    let Some(found) = probe.devices().iter().find(|found| found.index == device) else {
        return Ok(None);
    };
    let path = lock_file(&found.uuid).map_err(Refused::unexpected)?;
    files::try_lock(path).map(Some).map_err(Refused::unexpected)
}

fn with_what(tools: &Tools) -> String {
    let toolkit = match &tools.toolkit {
        Some(toolkit) => format!("nvcc {} in {}", toolkit.version, toolkit.root),
        None => "the bundle's prebuilt programs".to_owned(),
    };
    let sanitizer = tools.sanitizer.as_ref().map_or("not on this host", |path| path.as_str());
    format!("building with: {toolkit}\ncompute-sanitizer: {sanitizer}")
}

fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf, Refused> {
    Utf8PathBuf::try_from(std::path::absolute(path)?).map_err(Refused::unexpected)
}

/// At least one: a record of no runs says nothing.
fn runs() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=1000)
}

/// `30m`, `1h 30m`, `90s`.
fn time(text: &str) -> Result<Duration, String> {
    let parsed: jiff::SignedDuration =
        text.parse().map_err(|_| "write a time such as `30m`, `90s` or `1h30m`".to_owned())?;
    let time = Duration::try_from(parsed).map_err(|_| "a time can't be negative".to_owned())?;
    let longest = Duration::from_secs(7 * 24 * 3600);
    if time.is_zero() || time > longest {
        return Err("use more than nothing and at most a week".to_owned());
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_time_with_units() {
        for (text, seconds) in [("30m", 1800), ("90s", 90), ("1h30m", 5400), ("1h 30m", 5400)] {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "30", "-1m", "0s", "30 lightyears", "1000h"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
