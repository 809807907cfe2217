//! Recording: gate, build, N fresh processes, Rust checks, sanitizers, and one signed folder at the
//! end.
//!
//! [`Recorder::record`] makes one record: of a lesson, in a variant, on a device. **Invariants:
//! every step's outcome is kept as soon as it is there, so an interrupted recording goes on where
//! it was; all runs of a record lie between its two readings of the card; a record's folder appears
//! whole or not at all; a program that fails or hangs is recorded as that, never left out.**
//!
//! In the flow: a bundle's lesson → [`Plan`] → builds → `batch` (readings and runs) → checks →
//! sanitizers → `finish`. The budget is looked at before each of them. Once it is spent,
//! sanitizers are left out of the record and everything before them waits for the next call.

mod batch;
pub mod environment;
mod error;
mod finish;
mod host;
mod plan;
mod prebuilt;
mod runs;
mod sanitize;
mod watch;
mod work;

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::{LessonFiles, LessonText};
use proofrun_core::gate::{self, Device, Gate, Probe};
use proofrun_core::lesson::Lesson;
use proofrun_core::record::model::{
    CheckOutcome, CheckSummary, Commit, Ended, ProgramRecord, RunnerFacts, SanitizerRecord,
};

use crate::keys::SigningKey;
use crate::system::clock::Clock;
use crate::system::process::Cancel;
use crate::toolkit::Toolkit;

pub use environment::Surroundings;
pub use error::RecordError;
pub use host::{Host, RealHost};
pub use plan::{Built, Plan, course_files};
pub use prebuilt::{PrebuiltProgram, of_outcome, read_prebuilt, write_prebuilt};

use batch::Batch;
use work::Work;

/// What a recording is made with.
pub struct Recorder<'a> {
    /// Devices, card state, Rust checks.
    pub host: &'a dyn Host,
    /// The compiler; without one, the bundle's prebuilt programs are taken.
    pub toolkit: Option<&'a Toolkit>,
    /// The clock that dates records.
    pub clock: &'a dyn Clock,
    /// Set when somebody asks to stop.
    pub cancel: &'a Cancel,
    /// The principal and key that sign, where they are on this host.
    pub signer: Option<(&'a str, &'a SigningKey)>,
    /// The binary that records.
    pub runner: RunnerFacts,
    /// The bundle's commit.
    pub commit: Option<Commit>,
    /// The bundle's nonce.
    pub nonce: &'a str,
    /// Fresh processes of each program.
    pub runs: u32,
    /// When the time asked for is over.
    pub ends: Option<(Instant, Duration)>,
    /// Which device, by the driver's ordinal.
    pub device: u32,
    /// Told at each step: what is being done, and how much of how much is done.
    pub progress: &'a dyn Fn(&Step<'_>),
}

/// A step of a recording.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// `build`, `run 2`, `check`, `racecheck`.
    pub name: &'a str,
    /// The program.
    pub program: &'a str,
    /// Steps done before it.
    pub done: usize,
    /// Steps in all.
    pub of: usize,
}

/// A lesson to record.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its files.
    pub files: &'a LessonFiles,
    /// Its text, resolved.
    pub text: &'a LessonText,
    /// The variant.
    pub variant: &'a str,
    /// Where the bundle keeps this lesson's prebuilt programs of the variant, where it does.
    pub prebuilt: Option<&'a Utf8Path>,
}

/// A record on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its folder.
    pub folder: Utf8PathBuf,
    /// Whether an earlier call had made it: a bundle is recorded once on a card.
    pub earlier: bool,
    /// What the probe said after a program hung, where the device no longer answered: nothing more
    /// can be recorded on it.
    pub device_lost: Option<String>,
}

/// How far a record is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Everything that publishing needs is done: builds, runs, checks.
    Checked,
    /// The record is there.
    End,
}

impl Recorder<'_> {
    /// Makes the record below `out`, or finds the one that an earlier call made.
    ///
    /// # Errors
    /// When the gate forbids it, a program doesn't build, or the recording is stopped: what was
    /// done is kept below `out` and the next call goes on.
    pub fn record(&self, subject: Subject<'_>, out: &Utf8Path) -> Result<Recorded, RecordError> {
        let made = self.make(subject, out, Until::End)?;
        Ok(made.expect("making a record to its end leaves one or an error"))
    }

    /// Does all of [`Recorder::record`] but the sanitizers, which take the longest and which a
    /// record can do without: for a first round over several lessons within one budget. The record
    /// is there afterwards only if an earlier call made it, or the device was lost.
    ///
    /// # Errors
    /// As [`Recorder::record`].
    pub fn prepare(
        &self,
        subject: Subject<'_>,
        out: &Utf8Path,
    ) -> Result<Option<Recorded>, RecordError> {
        self.make(subject, out, Until::Checked)
    }

    fn make(
        &self,
        subject: Subject<'_>,
        out: &Utf8Path,
        until: Until,
    ) -> Result<Option<Recorded>, RecordError> {
        let lesson = &subject.text.lesson;
        let probe = self.host.probe();
        let device =
            gate::admits(needs(lesson), &probe, self.device).map_err(RecordError::Gated)?;
        let surroundings = Surroundings::of_process(self.device, probe.devices().len());
        let plan = Plan::of(self, subject, device, &surroundings);
        let home = out.join(&lesson.name);
        let folder = home.join(plan.work_folder());
        if let Some(folder) = finish::earlier(self, &plan, &home, &folder)? {
            return Ok(Some(Recorded { folder, earlier: true, device_lost: None }));
        }
        if !folder.exists() {
            self.go_on()?;
        }
        let work = Work::open(&folder, &plan.digest)?;
        let on = On { work: &work, lesson, device, surroundings: &surroundings };
        let made = self.steps(&on, subject, &probe, (&plan, &home), until);
        // Nothing is gained by going on from one of these: it would end the same.
        if let Err(
            RecordError::Gated(_)
            | RecordError::NoToolkit
            | RecordError::Build { .. }
            | RecordError::ForeignRuntime { .. },
        ) = &made
        {
            work.drop_unless_run()?;
        }
        made
    }

    fn steps(
        &self,
        on: &On<'_>,
        subject: Subject<'_>,
        probe: &Probe,
        (plan, home): (&Plan, &Utf8Path),
        until: Until,
    ) -> Result<Option<Recorded>, RecordError> {
        let mut counter = Counter::new(on.lesson, self.runs);
        let builds = self.builds(on, subject, probe, &mut counter)?;
        let batch = self.batch(on, &builds, &mut counter)?;
        let check = self.check(on, &builds, &batch, &mut counter)?;
        if until == Until::Checked && batch.lost.is_none() {
            return Ok(None);
        }
        let sanitizers = self.sanitizers(on, &builds, &batch, &mut counter)?;
        let device_lost = batch.lost.clone();
        let programs = programs(on.lesson, &builds, &batch);
        let parts = finish::Parts { plan, batch, programs, sanitizers, check };
        let folder = finish::finish(self, on, parts, &builds, home)?;
        Ok(Some(Recorded { folder, earlier: false, device_lost }))
    }

    fn builds(
        &self,
        on: &On<'_>,
        subject: Subject<'_>,
        probe: &Probe,
        counter: &mut Counter,
    ) -> Result<Vec<Built>, RecordError> {
        let mut builds = Vec::new();
        for program in &on.lesson.programs {
            let name = format!("{}.build", program.name);
            self.begin(on, &name, &counter.next("build", &program.name))?;
            let built = on.work.step(&name, || plan::build(self, on.work, subject, program))?;
            plan::check_executable(on.work, program, &built)?;
            let code = plan::code_of(on.work, subject, program, &built)?;
            if let Gate::Gated(why) = gate::gate(needs(on.lesson), &code, probe, self.device) {
                return Err(RecordError::Gated(why));
            }
            builds.push(built);
        }
        Ok(builds)
    }

    /// The Rust checks of the first program that has a harness; a lesson has at most one.
    fn check(
        &self,
        on: &On<'_>,
        builds: &[Built],
        batch: &Batch,
        counter: &mut Counter,
    ) -> Result<Option<CheckSummary>, RecordError> {
        let mut with_harness =
            on.lesson.programs.iter().zip(builds).filter_map(|(program, built)| {
                program.harness.as_ref().map(|harness| (program, built, harness))
            });
        let Some((program, built, harness)) = with_harness.next() else { return Ok(None) };
        let step = counter.next("check", &program.name);
        if batch.lost.is_some() {
            return Ok(Some(check_left_out(harness)));
        }
        self.begin(on, "check", &step)?;
        let code = on.work.path(&built.record.ptx);
        let summary = on.work.step("check", || {
            let (summary, report) = self.host.check(harness, &code, self.device)?;
            // Checks that a signal to stop has ended say nothing of the lesson.
            self.stopped()?;
            if let (Some(name), Some(report)) = (&summary.report, report) {
                on.work.write(name, report)?;
            }
            Ok(summary)
        })?;
        Ok(Some(summary))
    }

    fn sanitizers(
        &self,
        on: &On<'_>,
        builds: &[Built],
        batch: &Batch,
        counter: &mut Counter,
    ) -> Result<Vec<SanitizerRecord>, RecordError> {
        let mut rows = Vec::new();
        let sanitizer = self.host.sanitizer();
        for (program, built) in on.lesson.programs.iter().zip(builds) {
            let hung = batch.runs(&program.name).iter().any(|run| run.ended == Ended::Hung);
            let run = sanitize::Run {
                on,
                sanitizer: sanitizer.as_deref(),
                program,
                folder: &built.folder(on.work),
                deadline: self.host.sanitizer_deadline(),
                cancel: self.cancel,
                ends: self.ends.map(|(ends, _)| ends),
            };
            for tool in sanitize::TOOLS {
                self.stopped()?;
                (self.progress)(&counter.next(tool, &program.name));
                rows.push(on.work.step(&format!("{}.{tool}", program.name), || {
                    match (&batch.lost, hung) {
                        (Some(_), _) => Ok(run.left_out(tool, "the device no longer answers")),
                        (_, true) => {
                            Ok(run.left_out(tool, "the program hung, and so would the tool"))
                        }
                        (None, false) => run.tool(tool),
                    }
                })?);
            }
        }
        Ok(rows)
    }

    /// Before a step that the record can't do without: says that it begins. Nothing, where it is
    /// done already.
    fn begin(&self, on: &On<'_>, name: &str, step: &Step<'_>) -> Result<(), RecordError> {
        if on.work.is_done(name) {
            return self.stopped();
        }
        self.go_on()?;
        (self.progress)(step);
        Ok(())
    }

    /// An error where there is no time for anything more.
    fn go_on(&self) -> Result<(), RecordError> {
        self.stopped()?;
        match self.ends {
            Some((ends, budget)) if Instant::now() >= ends => Err(RecordError::Budget(budget)),
            _ => Ok(()),
        }
    }

    fn stopped(&self) -> Result<(), RecordError> {
        if self.cancel.is_cancelled() { Err(RecordError::Cancelled) } else { Ok(()) }
    }
}

/// What one record is made on.
struct On<'a> {
    work: &'a Work,
    lesson: &'a Lesson,
    device: &'a Device,
    surroundings: &'a Surroundings,
}

/// What the lesson asks of a host.
pub fn needs(lesson: &Lesson) -> gate::Needs {
    gate::Needs { capability: lesson.needs.compute_capability, gpus: lesson.needs.gpus }
}

fn programs(lesson: &Lesson, builds: &[Built], batch: &Batch) -> Vec<ProgramRecord> {
    let built = lesson.programs.iter().zip(builds);
    let records = built.map(|(program, built)| ProgramRecord {
        name: program.name.clone(),
        build: built.record.clone(),
        command: program.run.clone(),
        environment: lesson.run.environment.clone(),
        run: batch.runs(&program.name).to_vec(),
    });
    records.collect()
}

fn check_left_out(harness: &str) -> CheckSummary {
    CheckSummary {
        harness: harness.to_owned(),
        outcome: CheckOutcome::NotExecuted,
        executed: 0,
        failed: 0,
        not_executed: 0,
        detail: Some("the device no longer answers".to_owned()),
        report: None,
    }
}

/// Counts steps, for progress.
struct Counter {
    done: usize,
    of: usize,
}

impl Counter {
    fn new(lesson: &Lesson, runs: u32) -> Self {
        let each = 1 + runs as usize + sanitize::TOOLS.len();
        let checks = lesson.programs.iter().filter(|program| program.harness.is_some()).count();
        Self { done: 0, of: lesson.programs.len() * each + checks.min(1) }
    }

    /// Counts steps that were done together.
    fn count(&mut self, steps: usize) {
        self.done += steps;
    }

    fn next<'a>(&mut self, name: &'a str, program: &'a str) -> Step<'a> {
        self.done += 1;
        Step { name, program, done: self.done - 1, of: self.of }
    }
}
