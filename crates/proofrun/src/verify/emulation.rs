//! What no card here may run, on the emulated device: built a second time for it, run with every
//! access checked, and held to the template and to a card's record.
//!
//! **Invariant: a program that can't be emulated is not executed**, which is neither a pass nor a
//! failure. The canonical schedule runs always; seeded ones where the code is newer than every
//! record of it. A run that was made before, of the same program over the same library, is not made
//! again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proofrun_core::argv::{Arch, Code};
use proofrun_core::finding::Findings;
use proofrun_core::state::{AssessedRecord, RecordState};
use proofrun_core::{Finding, Place, Rule};
use proofrun_emulator::profile::Profile;
use proofrun_runner::compile::{Cache, Outcome as Compiled};
use proofrun_runner::emulate::{self, Configuration, Emulated, Library, Run, check_toolkit, kept};
use proofrun_runner::system::process::Status;
use proofrun_runner::toolkit::Toolkit;
use rayon::prelude::*;

use super::builds::{BuildKey, Builds, chain, step_name};
use super::progress::Progress;
use super::{Rules, Steps};
use crate::cli::Root;
use crate::context::Context;
use crate::emulated::judge::judge;
use crate::emulated::program::{OfLesson, build_lesson, names};
use crate::emulated::{SCHEDULES, as_finding, device, has_error, unsupported};
use crate::error::Error;
use crate::loaded::{Loaded, LoadedLesson};
use crate::report::Outcome;

/// How long one program may take: whoever waits for `verify` has others, too.
const DEADLINE_OF_ONE: Duration = Duration::from_secs(60);

/// Runs what was gated.
///
/// # Errors
/// When it is asked to stop.
pub fn run(
    root: &Root,
    context: &Context,
    loaded: &Loaded,
    builds: &Builds,
    gated: &BTreeSet<BuildKey>,
    rules: &Rules,
    steps: &mut BTreeMap<String, Steps>,
) -> Result<(), Error> {
    if !context.emulates || gated.is_empty() {
        return Ok(());
    }
    let Ok(toolkit) = &builds.toolkit else { return Ok(()) };
    let lessons = loaded.lessons.iter();
    let jobs: Vec<Job<'_>> = lessons
        .flat_map(|lesson| {
            let own = gated.iter().filter(|key| key.lesson == lesson.files.name());
            own.filter_map(|key| Job::of(lesson, key))
        })
        .collect();
    let there = device::library(context).and_then(|it| check_toolkit(toolkit).map(|()| it));
    let library = match there {
        Ok(library) => library,
        Err(error) => {
            let text = error.to_string();
            let reason = text.split("; ").next().unwrap_or_default();
            for job in &jobs {
                job.not_executed(reason.to_owned(), steps);
            }
            return Ok(());
        }
    };
    let host = Host { root, context, toolkit, library: &library };
    let built = host.build(&jobs, rules)?;
    let progress = Progress::of_emulation(context, jobs.len());
    for (job, built) in jobs.iter().zip(&built) {
        progress.emulating(job.key);
        let cached = host.run(job, built, steps)?;
        progress.emulated(job.key, cached);
    }
    progress.finish();
    Ok(())
}

/// A program in a variant, on a device that takes it.
struct Job<'a> {
    loaded: &'a LoadedLesson,
    of: OfLesson<'a>,
    key: &'a BuildKey,
    arch: Arch,
    /// Or why there is none.
    profile: Result<&'static Profile, String>,
}

impl<'a> Job<'a> {
    fn of(loaded: &'a LoadedLesson, key: &'a BuildKey) -> Option<Self> {
        let lesson = loaded.assessment.lesson()?;
        let program = lesson.program(&key.program)?;
        let of = OfLesson { loaded, lesson, program };
        let arch = lesson.build(program, &key.variant)?.virtual_arch();
        Some(Self { loaded, of, key, arch, profile: profile(of, arch) })
    }

    fn push(&self, outcome: Outcome, findings: Findings, steps: &mut BTreeMap<String, Steps>) {
        let own = steps.entry(self.key.lesson.clone()).or_default();
        own.findings.extend(findings);
        own.push(step_name("emulate", self.loaded, self.key), outcome);
    }

    fn not_executed(&self, reason: String, steps: &mut BTreeMap<String, Steps>) {
        self.push(Outcome::NotExecuted { reason }, Findings::new(), steps);
    }

    /// How many seeded schedules it runs on: none where a card ran this very code.
    fn schedules(&self) -> u32 {
        let is_of_today =
            |record: &AssessedRecord| record.state == RecordState::Valid && record.is_of_today();
        let evidence = self.loaded.assessment.evidence.values();
        let recorded = evidence.flat_map(|evidence| &evidence.records).any(is_of_today);
        if recorded { 0 } else { SCHEDULES }
    }
}

/// The lesson's own device if it passes the gate, else the one that most programs are for.
fn profile(of: OfLesson<'_>, arch: Arch) -> Result<&'static Profile, String> {
    let needs = &of.lesson.needs;
    if needs.gpus > 1 {
        return Err(format!("needs {} devices, and one is emulated", needs.gpus));
    }
    let passes = |profile: &&'static Profile| {
        let is = device::capability(profile);
        is >= needs.compute_capability && arch.compiles_for(is)
    };
    let usual = Profile::by_name(device::DEFAULT);
    let mut all = of.profile().into_iter().chain(usual).chain(Profile::ALL);
    all.find(passes).ok_or_else(|| format!("no emulated device takes `{}`", Code::Virtual(arch)))
}

/// What all of them run with.
struct Host<'a> {
    root: &'a Root,
    context: &'a Context,
    toolkit: &'a Toolkit,
    library: &'a Library,
}

impl Host<'_> {
    fn build(
        &self,
        jobs: &[Job<'_>],
        rules: &Rules,
    ) -> Result<Vec<Result<Compiled, String>>, Error> {
        let cache = Cache::under(&self.root.target());
        let (toolkit, cancel) = (self.toolkit, &self.context.cancel);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(rules.jobs).build();
        let pool = pool.map_err(Error::system("start threads"))?;
        let progress = Progress::of_builds(self.context, jobs.len());
        let built = pool.install(|| {
            let made = jobs.par_iter().map(|job| {
                let built = build_lesson(job.of, job.arch, toolkit, &cache, cancel);
                let built = built.map_err(|error| chain(&error));
                progress.built(job.key, &built);
                built
            });
            made.collect()
        });
        progress.finish();
        self.context.go_on()?;
        Ok(built)
    }

    /// Whether it was run earlier.
    fn run(
        &self,
        job: &Job<'_>,
        built: &Result<Compiled, String>,
        steps: &mut BTreeMap<String, Steps>,
    ) -> Result<bool, Error> {
        let place = job.of.place();
        let profile = match &job.profile {
            Ok(profile) => *profile,
            Err(reason) => {
                job.not_executed(reason.clone(), steps);
                return Ok(false);
            }
        };
        let ran = match built {
            Err(why) => Err(unbuilt(&place, why)),
            Ok(built) => match &built.product {
                Some(product) => self.emulated(job, profile, &product.executable)?,
                None => Err(built.findings(&job.of.lesson.folder, &place.path, &[])),
            },
        };
        let (ran, cached) = match ran {
            Ok(ran) => ran,
            Err(findings) => {
                job.push(Outcome::Failed, findings, steps);
                return Ok(false);
            }
        };
        if let Some(reason) = unsupported(&ran.told.findings) {
            // What follows from a kernel that did not run says nothing of the program.
            job.not_executed(reason, steps);
            return Ok(cached);
        }
        if ran.status == Status::Hung && ran.told.errors().next().is_none() {
            // A deadlock would be a finding: this one is much work.
            let reason = format!("it did not end within {} s", ran.wall.as_secs());
            job.not_executed(reason, steps);
            return Ok(cached);
        }
        let judged = judge(Some((job.of, &job.key.variant)), &place, profile, &ran);
        let found = ran.told.findings.iter().map(|found| as_finding(found, &place));
        let findings: Findings = judged.findings.into_iter().chain(found).collect();
        let outcome = match has_error(&findings) {
            true => Outcome::Failed,
            false => Outcome::Passed { cached },
        };
        job.push(outcome, findings, steps);
        Ok(cached)
    }

    /// The run, and whether it was made earlier; or why it can't be made.
    fn emulated(
        &self,
        job: &Job<'_>,
        profile: &Profile,
        executable: &camino::Utf8Path,
    ) -> Result<Result<(Emulated, bool), Findings>, Error> {
        let configuration = Configuration {
            device: profile.id.to_owned(),
            schedules: job.schedules(),
            seed: 1,
            replay: None,
            keep_repeats: false,
            threads: 0,
            timeline: None,
            report: -1,
        };
        let run = Run {
            executable,
            args: job.of.program.run.get(1..).unwrap_or_default(),
            environment: &job.of.lesson.run.environment,
            folder: self.root.path(),
            library: self.library,
            runtime_name: self.toolkit.runtime_name(),
            configuration: &configuration,
            deadline: DEADLINE_OF_ONE,
            own_stdin: false,
        };
        let ran = self.kept_or_run(&run);
        self.context.go_on()?;
        let place = job.of.place();
        let unread = |line: &String| {
            let fact = "what the emulated device tells can't be read";
            let next = "run `emulate` on the lesson, and report what it says";
            vec![Finding::error(Rule::RunFailed, place.clone(), fact, next).because(line)]
        };
        Ok(match ran {
            Err(error) => {
                let fact = format!("the program can't be run: {}", chain(&error));
                let next = "run `emulate` on the lesson to see more";
                Err(vec![Finding::error(Rule::RunFailed, place, fact, next)])
            }
            Ok((ran, cached)) => match &ran.told.unreadable {
                Some(line) => Err(unread(line)),
                None => {
                    let names = names(self.root.path(), self.toolkit);
                    Ok((ran.with_files(|file| names.of(file)), cached))
                }
            },
        })
    }

    fn kept_or_run(&self, run: &Run<'_>) -> Result<(Emulated, bool), emulate::Error> {
        let cache = Cache::under(&self.root.target());
        let key = kept::key(run)?;
        if let Some(kept) = kept::load(&cache, key) {
            return Ok((kept, true));
        }
        let ran = emulate::run(run, &self.context.cancel, &mut |_| {})?;
        kept::store(&cache, key, &ran)?;
        Ok((ran, false))
    }
}

fn unbuilt(place: &Place, why: &str) -> Findings {
    let fact = format!("it can't be built for the emulated device: {why}");
    let next = "mend what it names, and verify again";
    vec![Finding::error(Rule::Builds, place.clone(), fact, next)]
}
