//! Recording: gate, build, N fresh processes, sanitizers, Rust checks, and one signed folder at the
//! end.
//!
//! [`Recorder::record`] makes one record: of a lesson, in a variant, on a device. **Invariants:
//! every step's outcome is kept as soon as it is there, so an interrupted recording goes on where
//! it was; a record's folder appears whole or not at all; a program that fails or hangs is recorded
//! as that, never left out.**

pub mod environment;
mod finish;
mod host;
mod plan;
mod prebuilt;
mod runs;
mod sanitize;
mod work;

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::LessonFiles;
use proofrun_core::assess::LessonText;
use proofrun_core::gate::{self, CarriedCode, Device, Gate, Probe};
use proofrun_core::lesson::{Lesson, Program};
use proofrun_core::record::model::{
    Commit, Ended, ProgramRecord, RunRecord, RunnerFacts, SanitizerRecord,
};

use crate::keys::SigningKey;
use crate::system::clock::Clock;
use crate::system::process::Cancel;
use crate::system::{files, process};
use crate::toolkit::Toolkit;

pub use host::{Host, RealHost};
pub use plan::{Built, Plan, course_files};
pub use prebuilt::{PrebuiltProgram, of_outcome, read_prebuilt, write_prebuilt};

use work::Work;

/// Why a recording did not end in a record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The gate forbids it here.
    #[error("gated: {0}")]
    Gated(String),
    /// The folder holds the unfinished record of other inputs.
    #[error(
        "`{0}` holds the unfinished record of other inputs; move it away, or name another `--out`"
    )]
    OtherPlan(Utf8PathBuf),
    /// The build failed.
    #[error("program `{program}` does not build: {why}")]
    Build {
        /// Which program.
        program: String,
        /// The first finding.
        why: String,
    },
    /// Compiling could not be tried.
    #[error(transparent)]
    Compile(#[from] crate::compile::Error),
    /// The program would load a CUDA runtime from somewhere.
    #[error(
        "program `{program}` loads the CUDA runtime `{library}` instead of its own static one; \
         what it loads could be anything: build without `-cudart shared`"
    )]
    ForeignRuntime {
        /// Which program.
        program: String,
        /// What it loads.
        library: String,
    },
    /// No compiler and no prebuilt program.
    #[error("no nvcc here and no prebuilt program in the bundle; bundle with `--prebuilt`")]
    NoToolkit,
    /// Asked to stop.
    #[error("stopped; call it again to go on")]
    Cancelled,
    /// The time asked for is over.
    #[error("the budget of {} s is spent; call it again to go on", .0.as_secs())]
    Budget(Duration),
    /// The device no longer answers after a program hung.
    #[error("the device no longer answers after `{program}` hung: {state}")]
    DeviceLost {
        /// Which program.
        program: String,
        /// What the probe says.
        state: String,
    },
    /// A file.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// A process.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// Signing.
    #[error(transparent)]
    Key(#[from] crate::keys::KeyError),
    /// Facts that can't be written as TOML.
    #[error("the record's facts can't be written")]
    Write(#[from] toml::ser::Error),
    /// The system.
    #[error("{what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
}

/// What a recording is made with.
pub struct Recorder<'a> {
    /// Devices, card state, Rust checks.
    pub host: &'a dyn Host,
    /// The compiler, where there is one.
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
    /// Which device.
    pub device: u32,
    /// Told at each step: what is being done, and how much of how much is done.
    pub progress: &'a dyn Fn(&Step<'_>),
}

/// A step of a recording.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// `build`, `run 2`, `racecheck`, `check`.
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

impl Recorder<'_> {
    /// Makes the record and returns its folder below `out`.
    ///
    /// # Errors
    /// When the gate forbids it, a program doesn't build, or the recording is stopped: what was
    /// done is kept below `out` and the next call goes on.
    pub fn record(&self, subject: Subject<'_>, out: &Utf8Path) -> Result<Utf8PathBuf, RecordError> {
        let lesson = &subject.text.lesson;
        let probe = self.host.probe();
        let device = self.gate(lesson, &CarriedCode::default(), &probe)?;
        let plan = Plan::of(self, subject, device);
        let home = out.join(&lesson.name);
        let work = Work::open(
            &home.join(format!(".work-{}-{}", plan.model, subject.variant)),
            &plan.digest,
        )?;
        let builds = self.builds(&work, subject, &probe)?;
        let before = work.step("before", || Ok(self.host.card_state(device)))?;
        let mut counter = Counter::new(lesson, self.runs);
        let mut programs = Vec::new();
        let mut sanitizers = Vec::new();
        for (program, built) in lesson.programs.iter().zip(&builds) {
            let runs = self.runs_of(&work, lesson, program, built, &mut counter)?;
            programs.push(ProgramRecord {
                name: program.name.clone(),
                build: built.record.clone(),
                command: program.run.clone(),
                environment: lesson.run.environment.clone(),
                run: runs,
            });
        }
        let after = work.step("after", || Ok(self.host.card_state(device)))?;
        for ((program, built), recorded) in lesson.programs.iter().zip(&builds).zip(&programs) {
            let hung = recorded.run.iter().any(|run| run.ended == Ended::Hung);
            sanitizers.extend(self.sanitize(&work, lesson, program, built, hung, &mut counter)?);
        }
        let check = self.check(&work, lesson, &builds, &mut counter)?;
        let parts = finish::Parts { plan: &plan, before, after, programs, sanitizers, check };
        finish::finish(self, &work, parts, device, &builds, &home)
    }

    /// The device, if the gate lets this code onto it.
    fn gate<'p>(
        &self,
        lesson: &Lesson,
        code: &CarriedCode,
        probe: &'p Probe,
    ) -> Result<&'p Device, RecordError> {
        let needs =
            gate::Needs { capability: lesson.needs.compute_capability, gpus: lesson.needs.gpus };
        let device = probe.devices().iter().find(|device| device.index == self.device);
        // Before a build there is no code to judge yet: only the floor and the device are.
        let empty = *code == CarriedCode::default();
        match (gate::gate(needs, code, probe, self.device), device) {
            (Gate::Runnable(_), Some(device)) => Ok(device),
            (Gate::Gated(reason), Some(device)) if empty => {
                if device.facts.compute_capability >= needs.capability
                    && probe.devices().len() >= needs.gpus as usize
                {
                    Ok(device)
                } else {
                    Err(RecordError::Gated(reason))
                }
            }
            (Gate::Gated(reason), _) => Err(RecordError::Gated(reason)),
            (Gate::Runnable(_), None) => Err(RecordError::Gated("no device".into())),
        }
    }

    fn builds(
        &self,
        work: &Work,
        subject: Subject<'_>,
        probe: &Probe,
    ) -> Result<Vec<Built>, RecordError> {
        let mut builds = Vec::new();
        for program in &subject.text.lesson.programs {
            self.go_on()?;
            (self.progress)(&Step { name: "build", program: &program.name, done: 0, of: 0 });
            let name = format!("{}.build", program.name);
            let built = work.step(&name, || plan::build(self, work, subject, program))?;
            plan::refuse_foreign_runtime(work, program)?;
            self.gate(&subject.text.lesson, &plan::code_of(self, subject, program, work)?, probe)?;
            builds.push(built);
        }
        Ok(builds)
    }

    fn runs_of(
        &self,
        work: &Work,
        lesson: &Lesson,
        program: &Program,
        built: &Built,
        counter: &mut Counter,
    ) -> Result<Vec<RunRecord>, RecordError> {
        let mut recorded = Vec::new();
        for index in 0..self.runs {
            self.go_on()?;
            let name = format!("run {index}");
            (self.progress)(&counter.next(&name, &program.name));
            let step = format!("{}.run-{index}", program.name);
            let folder = built.folder(work);
            let run = work.step(&step, || {
                runs::run(work, program, &lesson.run, &folder, index, self.cancel)
            })?;
            if run.ended == Ended::Hung {
                self.probe_again(program)?;
            }
            recorded.push(run);
        }
        Ok(recorded)
    }

    /// A hung kernel was killed; whether the device survived that is asked before anything else
    /// runs on it.
    fn probe_again(&self, program: &Program) -> Result<(), RecordError> {
        let probe = self.host.probe();
        if probe.devices().iter().any(|device| device.index == self.device) {
            return Ok(());
        }
        let (program, state) = (program.name.clone(), format!("{probe:?}"));
        Err(RecordError::DeviceLost { program, state })
    }

    fn sanitize(
        &self,
        work: &Work,
        lesson: &Lesson,
        program: &Program,
        built: &Built,
        hung: bool,
        counter: &mut Counter,
    ) -> Result<Vec<SanitizerRecord>, RecordError> {
        let mut rows = Vec::new();
        let sanitizer = self.host.sanitizer();
        for tool in sanitize::TOOLS {
            self.go_on()?;
            (self.progress)(&counter.next(tool, &program.name));
            rows.push(work.step(&format!("{}.{tool}", program.name), || {
                if hung {
                    let reason = "the program hung, and the tool would hang with it";
                    return Ok(sanitize::not_executed(tool, program, reason));
                }
                let run = sanitize::Run {
                    work,
                    sanitizer: sanitizer.as_deref(),
                    program,
                    rules: &lesson.run,
                    folder: &built.folder(work),
                    cancel: self.cancel,
                };
                run.tool(tool)
            })?);
        }
        Ok(rows)
    }

    fn check(
        &self,
        work: &Work,
        lesson: &Lesson,
        builds: &[Built],
        counter: &mut Counter,
    ) -> Result<Option<proofrun_core::record::model::CheckSummary>, RecordError> {
        let with_harness = lesson.programs.iter().zip(builds);
        for (program, built) in with_harness {
            let Some(harness) = &program.harness else { continue };
            self.go_on()?;
            (self.progress)(&counter.next("check", &program.name));
            let code = work.path(&built.record.ptx);
            let summary = work.step("check", || {
                let (summary, report) = self.host.check(harness, &code, self.device)?;
                if let (Some(name), Some(report)) = (&summary.report, report) {
                    work.write(name, report)?;
                }
                Ok(summary)
            })?;
            return Ok(Some(summary));
        }
        Ok(None)
    }

    fn go_on(&self) -> Result<(), RecordError> {
        if self.cancel.is_cancelled() {
            return Err(RecordError::Cancelled);
        }
        match self.ends {
            Some((ends, budget)) if Instant::now() >= ends => Err(RecordError::Budget(budget)),
            _ => Ok(()),
        }
    }
}

/// Counts steps, for progress.
struct Counter {
    done: usize,
    of: usize,
}

impl Counter {
    fn new(lesson: &Lesson, runs: u32) -> Self {
        let each = runs as usize + sanitize::TOOLS.len();
        let checks = lesson.programs.iter().filter(|program| program.harness.is_some()).count();
        Self { done: 0, of: lesson.programs.len() * each + checks.min(1) }
    }

    fn next<'a>(&mut self, name: &'a str, program: &'a str) -> Step<'a> {
        self.done += 1;
        Step { name, program, done: self.done - 1, of: self.of }
    }
}
