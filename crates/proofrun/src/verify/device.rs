//! The gate, and on a device that passes it, the run: one at a time a device.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proofrun_core::gate::{self, CarriedCode, CudaVersion, Device, Gate, Probe};
use proofrun_core::lesson::{Below, Lesson, Program};
use proofrun_core::template::findings as mismatch_findings;
use proofrun_core::{Finding, Place, Rule};
use proofrun_runner::compile::Product;
use proofrun_runner::device::lock_file;
use proofrun_runner::record::environment;
use proofrun_runner::system::files;
use proofrun_runner::system::process::{self, Command, Ended, Status};

use crate::context::Context;
use crate::error::Error;
use crate::loaded::{Loaded, LoadedLesson};
use crate::report::Outcome;

use super::Steps;
use super::builds::{BuildKey, Builds, keys, step_name};

/// What came of the gate.
#[derive(Debug, Default)]
pub struct Gates {
    /// How many programs ran.
    pub executed: usize,
    /// The builds that no device here may run.
    pub gated: BTreeSet<BuildKey>,
}

/// Gates every build and runs what passes.
///
/// # Errors
/// When it is asked to stop, or a program can't be started.
pub fn run(
    context: &Context,
    loaded: &Loaded,
    builds: &Builds,
    steps: &mut BTreeMap<String, Steps>,
) -> Result<Gates, Error> {
    // Waking a driver takes a process and a moment, and without a program there is nothing to gate.
    let probe = if builds.any_product() { (context.probe)() } else { Probe::NoDriver };
    let mut gates = Gates::default();
    for lesson in &loaded.lessons {
        let own = steps.entry(lesson.files.name().to_owned()).or_default();
        for key in keys(lesson) {
            context.go_on()?;
            let runner = Runner { context, builds, probe: &probe, lesson, key: &key };
            let executed = runner.run(own)?;
            gates.executed += usize::from(executed);
            let last = own.steps.last().map(|step| &step.outcome);
            if matches!(last, Some(Outcome::Gated { .. })) {
                gates.gated.insert(key);
            }
        }
    }
    Ok(gates)
}

struct Runner<'a> {
    context: &'a Context,
    builds: &'a Builds,
    probe: &'a Probe,
    lesson: &'a LoadedLesson,
    key: &'a BuildKey,
}

impl Runner<'_> {
    /// Whether the program was executed.
    fn run(&self, own: &mut Steps) -> Result<bool, Error> {
        let name = step_name("run", self.lesson, self.key);
        let resolved = self.lesson.assessment.lesson();
        let found = resolved.and_then(|lesson| Some((lesson, lesson.program(&self.key.program)?)));
        let Some((lesson, program)) = found else { return Ok(false) };
        let built = self.builds.outcome(self.key);
        let Some(product) = built.and_then(|built| built.product.as_ref()) else {
            let reason = "not compiled".to_owned();
            own.push(name, Outcome::NotExecuted { reason });
            return Ok(false);
        };
        let needs =
            gate::Needs { capability: lesson.needs.compute_capability, gpus: lesson.needs.gpus };
        match gate::gate(needs, &self.carried(lesson, program, product), self.probe, 0) {
            Gate::Runnable(_) => {
                let Some(device) = self.probe.devices().first() else { return Ok(false) };
                let before = own.findings.len();
                match self.execute(lesson, program, product, device) {
                    Ok(ended) => own.findings.extend(judge(lesson, program, device, &ended)),
                    // One program that can't be started hides nothing of the others.
                    Err(Error::Process(error)) => {
                        own.findings.push(unstarted(lesson, program, &error))
                    }
                    Err(error) => return Err(error),
                }
                let failed = own.findings.len() > before;
                own.push(
                    name,
                    if failed { Outcome::Failed } else { Outcome::Passed { cached: false } },
                );
                Ok(true)
            }
            Gate::Gated(mut reason) => {
                self.refusal(lesson, program, product, &mut reason, own)?;
                own.push(name, Outcome::Gated { reason });
                Ok(false)
            }
        }
    }

    /// What the executable carries: machine code as the command says, PTX as it was made.
    fn carried(&self, lesson: &Lesson, program: &Program, product: &Product) -> CarriedCode {
        let command = lesson.build(program, &self.key.variant);
        let ptx = product.ptx.first().map_or("", |ptx| ptx.text.as_str());
        let release = self.builds.toolkit.as_ref().ok().map(|toolkit| &toolkit.release);
        let runtime = release.and_then(|release| release.parse::<CudaVersion>().ok());
        command.map_or_else(CarriedCode::default, |command| {
            CarriedCode::of_build(&command, ptx, runtime)
        })
    }

    /// Below the capability floor, a program that says what it does there is held to that.
    fn refusal(
        &self,
        lesson: &Lesson,
        program: &Program,
        product: &Product,
        reason: &mut String,
        own: &mut Steps,
    ) -> Result<(), Error> {
        let (Some(device), Some(below)) = (self.probe.devices().first(), &lesson.needs.below)
        else {
            return Ok(());
        };
        let is_below = device.facts.compute_capability < lesson.needs.compute_capability;
        if !is_below || program.name != lesson.primary().name {
            return Ok(());
        }
        let ended = self.execute(lesson, program, product, device)?;
        let found = judge_refusal(lesson, program, below, device, &ended);
        reason.push_str(match found.is_empty() {
            true => "; refuses as declared",
            false => "; does not refuse as declared",
        });
        own.findings.extend(found);
        Ok(())
    }

    fn execute(
        &self,
        lesson: &Lesson,
        program: &Program,
        product: &Product,
        device: &Device,
    ) -> Result<Ended, Error> {
        let lock = lock_file(&device.uuid).map_err(Error::system("find the device's lock"))?;
        let context = self.context;
        let _held = files::lock(&lock, &context.cancel, &mut |holder: &str| {
            context.note(format!("waiting for the device, which {holder} uses\n"));
        })?;
        product.check()?;
        let deadline = Duration::from_secs(u64::from(lesson.run.deadline_s));
        let mut command = environment::scrubbed(Command::new(&product.executable))
            .args(&program.run[1..])
            .deadline(deadline);
        for (name, value) in &lesson.run.environment {
            command = command.env(name, value);
        }
        let ended = command.run(&context.cancel)?;
        context.go_on()?;
        Ok(ended)
    }
}

fn unstarted(lesson: &Lesson, program: &Program, error: &process::Error) -> Finding {
    let place = Place::file(lesson.folder.join(&program.source));
    let fact = format!("the program can't be run: {error}");
    let next = "run it by hand with the README's commands";
    Finding::error(Rule::RunFailed, place, fact, next)
}

/// What a run's end says: the exit status first, then the output by the typed template.
fn judge(lesson: &Lesson, program: &Program, device: &Device, ended: &Ended) -> Vec<Finding> {
    let place = Place::file(lesson.folder.join(&program.source));
    let failed = |fact: String| {
        let next = "run it by hand with the README's commands";
        let text = String::from_utf8_lossy(&ended.stderr);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        let finding = Finding::error(Rule::RunFailed, place.clone(), fact, next);
        vec![match last {
            Some(line) => finding.because(line.trim()),
            None => finding,
        }]
    };
    match ended.status {
        Status::Exit(0) => {}
        Status::Exit(status) => return failed(format!("the program exits with status {status}")),
        Status::Signal(signal) => return failed(format!("signal {signal} ends the program")),
        Status::Hung => {
            return failed(format!("the program hung: killed after {} s", lesson.run.deadline_s));
        }
        Status::TooMuchOutput => return failed("the program prints more than 1 MiB".into()),
        Status::Cancelled => return failed("stopped".into()),
    }
    match program.template.matches(&ended.stdout, &device.facts) {
        Ok(_) => Vec::new(),
        Err(mismatches) => mismatch_findings(&place, &mismatches),
    }
}

fn judge_refusal(
    lesson: &Lesson,
    program: &Program,
    below: &Below,
    device: &Device,
    ended: &Ended,
) -> Vec<Finding> {
    let place = Place::file(lesson.folder.join(&program.source));
    let mut findings = Vec::new();
    if ended.status != Status::Exit(below.exit) {
        let fact = format!(
            "below the gate the program should exit with status {}, and ends as {:?}",
            below.exit, ended.status
        );
        let next = "refuse cards below the gate, or change `[needs.below]`";
        findings.push(Finding::error(Rule::RunFailed, place.clone(), fact, next));
    }
    for (template, bytes) in [(&below.stdout, &ended.stdout), (&below.stderr, &ended.stderr)] {
        if let Err(mismatches) = template.matches(bytes, &device.facts) {
            findings.extend(mismatch_findings(&place, &mismatches));
        }
    }
    findings
}
