//! Launching: on which schedules, on how many threads, or not at all because it was done before.

use std::sync::{Arc, OnceLock};

use super::{Fault, Launch, Launched, Machine, Past};
use crate::exec::{self, Schedule, Sink, Spread, Token};
use crate::finding::{Finding, Kind, Severity};
use crate::lower::SharedLayout;
use crate::memory::Device;
use crate::program::Program;
use crate::race::Grid;
use crate::report::{LaunchEnd, LaunchReport};

/// Bytes of the workspace of cooperative launches: a barrier of the grid, and room.
const WORKSPACE_BYTES: u64 = 4096;

/// Blocks that the hardware would run at once are interleaved, up to this many.
const RESIDENT_MAX: usize = 4096;

/// Earlier launches that are kept to be compared with.
const PAST_MAX: usize = 32;

/// Reads of memory that nothing wrote are named up to this many with a copy to the host.
const UNWRITTEN_PLACES: usize = 4;

/// A thread's local memory beyond what kernels declare, for calls: recursion needs it.
const STACK_BYTES: u32 = 16 << 10;

/// What a launch is, on whatever schedule.
struct Plan<'p> {
    program: Arc<Program>,
    launch: &'p Launch<'p>,
    index: u64,
    workspace: u64,
    /// Whether its blocks may depend on each other.
    across: bool,
}

/// What came of running it.
#[derive(Default)]
struct Run {
    fault: Option<Fault>,
    findings: Vec<Finding>,
    steps: u64,
    schedules: u32,
}

impl Run {
    /// Adds another run: findings at places that are known already only count.
    fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.schedules += other.schedules;
        for finding in other.findings {
            let lines = |of: &Finding| -> Vec<(String, u32, u32)> {
                of.at.iter().map(|at| (at.file.clone(), at.line, at.column)).collect()
            };
            let own = lines(&finding);
            let known = self.findings.iter_mut().find(|known| {
                known.kind == finding.kind
                    && known.severity == finding.severity
                    && lines(known) == own
            });
            match known {
                Some(known) => known.count += finding.count,
                None => self.findings.push(finding),
            }
        }
    }
}

impl Machine {
    /// Runs a kernel to its end.
    pub fn launch(&mut self, launch: &Launch<'_>) -> Launched {
        let index = self.launches;
        self.launches += 1;
        let mut report = LaunchReport {
            index,
            kernel: exec::demangled(&self.facts(launch.kernel).name),
            grid: launch.grid,
            block: launch.block,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            end: LaunchEnd::Ran,
            steps: 0,
            schedules: 1,
        };
        if let Some(steps) = self.repeats(launch) {
            report.end = LaunchEnd::Repeated;
            self.now += steps.max(1);
            return Launched { report, fault: None, findings: Vec::new() };
        }
        let workspace = if launch.cooperative { self.workspace() } else { 0 };
        let Run { fault, findings, steps, schedules } = self.run(launch, index, workspace);
        note_unwritten(self, &findings);
        report.steps = steps;
        report.schedules = schedules;
        report.end = match &fault {
            None => LaunchEnd::Ran,
            Some(Fault::Unsupported(_)) => LaunchEnd::Unsupported,
            Some(_) => LaunchEnd::Faulted,
        };
        self.now += steps.max(1);
        Launched { report, fault, findings }
    }

    /// Whether a launch provably repeats an earlier one, with no finding and nothing printed: same
    /// code, parameters and shape, everything that it read as it was, everything that it wrote as
    /// it left it. How long it took.
    fn repeats(&self, launch: &Launch<'_>) -> Option<u64> {
        if self.options.keep_repeats || self.options.replay.is_some() {
            return None;
        }
        let same = |past: &&Past| {
            past.kernel == launch.kernel
                && past.grid == launch.grid
                && past.block == launch.block
                && past.dynamic_shared_bytes == launch.dynamic_shared_bytes
                && past.params == launch.params
                && self.memory.repeats(&past.footprint)
        };
        self.past.iter().find(same).map(|past| past.steps)
    }

    /// The zeroed workspace by which the blocks of a cooperative launch find each other.
    fn workspace(&mut self) -> u64 {
        let known = self.workspace;
        let address = known.or_else(|| {
            let space = crate::memory::SymbolSpace::Global;
            self.memory.define_symbol("the grid's workspace", space, WORKSPACE_BYTES, 256, 4, &[])
        });
        self.workspace = address;
        let Some(address) = address else { return 0 };
        let _ = self.memory.fill(address, 0, WORKSPACE_BYTES);
        address
    }

    fn spread(&self, launch: &Launch<'_>, across: bool) -> Spread {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.options.threads == 0 { cores } else { self.options.threads };
        if !across {
            return Spread { threads, resident: 1 };
        }
        let block: u32 = launch.block.iter().product();
        let by_threads = self.profile.threads_per_sm / block.next_multiple_of(32).max(32);
        let shared = self.facts(launch.kernel).static_shared_bytes + launch.dynamic_shared_bytes;
        let by_shared = self.profile.shared_bytes_per_sm.checked_div(shared).unwrap_or(u32::MAX);
        let per_sm = by_threads.min(by_shared).min(self.profile.blocks_per_sm).max(1);
        let resident = (per_sm * self.profile.sm_count) as usize;
        Spread { threads: 1, resident: resident.min(RESIDENT_MAX) }
    }

    /// Runs a launch on the schedules that are asked for, the canonical one last: what it leaves is
    /// what the program sees.
    fn run(&mut self, launch: &Launch<'_>, index: u64, workspace: u64) -> Run {
        let program = self.modules[launch.kernel.module.0].program.clone();
        let traits = program.traits(launch.kernel.index);
        let across = traits.across_blocks || traits.perhaps_across || launch.cooperative;
        let plan = Plan { program, launch, index, workspace, across };
        if let Some(token) = self.replayed(index) {
            return self.run_on(&plan, Some(token.schedule), true);
        }
        let explored = if traits.schedule_dependent { self.options.schedules } else { 0 };
        let mut all = Run::default();
        for number in 0..explored {
            let schedule = Schedule::drawn(self.options.seed ^ index << 32, number);
            let run = self.run_on(&plan, Some(schedule), false);
            self.memory.rollback();
            all.add(run);
        }
        let mut canonical = self.run_on(&plan, None, true);
        canonical.add(all);
        canonical
    }

    /// The schedule that a token asks for, if it is of this launch.
    fn replayed(&self, index: u64) -> Option<Token> {
        let token: Token = self.options.replay.as_ref()?.parse().ok()?;
        (token.launch == index).then_some(token)
    }

    /// Runs a launch on one schedule; `kept` if what it does to memory stays.
    fn run_on(&mut self, plan: &Plan<'_>, schedule: Option<Schedule>, kept: bool) -> Run {
        let launch = plan.launch;
        let remember = kept && !self.options.keep_repeats && schedule.is_none();
        let grid = Grid {
            threads: launch.block.iter().product(),
            cluster_blocks: 1,
            isolated: !plan.across,
        };
        let device = self.memory.begin_launch(grid, remember || !kept);
        let context = self.context(plan, &device, schedule);
        let mut sink = Sink::default();
        let spread = self.spread(launch, plan.across);
        let fault = exec::run_launch(&context, spread, &mut sink).err();
        let mut run = Run { fault, steps: sink.steps, schedules: 1, ..Run::default() };
        let printed = std::mem::take(&mut sink.printed);
        let asserted = std::mem::take(&mut sink.asserted);
        let quiet = printed.is_empty();
        if kept {
            printed.into_iter().for_each(|(_, text)| self.printed.extend_from_slice(&text));
            self.asserted.extend(asserted);
        }
        run.findings = exec::in_words(&context, &self.memory, sink);
        if kept {
            let clean = run.fault.is_none() && run.findings.is_empty() && quiet;
            if remember && clean && !launch.cooperative {
                self.remember(launch, run.steps);
            }
            self.memory.end_launch();
        }
        run
    }

    fn context<'c>(
        &self,
        plan: &'c Plan<'_>,
        device: &'c Device,
        schedule: Option<Schedule>,
    ) -> exec::Launch<'c> {
        let (program, launch) = (&*plan.program, plan.launch);
        let kernel = launch.kernel.index;
        let mut bases = Vec::with_capacity(program.functions.len());
        let mut base = 0u32;
        for function in &program.functions {
            bases.push(base);
            base += function.code.len() as u32 + 1;
        }
        let calls = program.reachable(kernel).len() > 1 || program.traits(kernel).indirect_calls;
        let own = program.functions[kernel].local_bytes;
        exec::Launch {
            program,
            kernel,
            bases,
            layout: SharedLayout::of(program, kernel),
            grid: launch.grid,
            block: launch.block,
            dynamic_bytes: launch.dynamic_shared_bytes,
            params: launch.params,
            device,
            local_bytes: if calls { own + STACK_BYTES } else { own },
            templates: program.functions.iter().map(|_| OnceLock::new()).collect(),
            processors: self.profile.sm_count,
            index: plan.index,
            workspace: plan.workspace,
            started: self.now,
            schedule,
        }
    }

    fn remember(&mut self, launch: &Launch<'_>, steps: u64) {
        let Some(footprint) = self.memory.footprint() else { return };
        if self.past.len() == PAST_MAX {
            self.past.remove(0);
        }
        self.past.push(Past {
            kernel: launch.kernel,
            grid: launch.grid,
            block: launch.block,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            params: launch.params.to_vec(),
            footprint,
            steps,
        });
    }
}

/// What calls of the host found, in words.
pub(super) fn host_findings(machine: &mut Machine) -> Vec<Finding> {
    let mut findings = exec::host_in_words(&mut machine.memory);
    for finding in &mut findings {
        // A copy to the host of what came from memory that nothing wrote: kernels read it here.
        if finding.kind == Kind::Uninitialised && finding.severity == Severity::Error {
            finding.at.extend(machine.unwritten.iter().take(UNWRITTEN_PLACES).cloned());
        }
    }
    findings
}

/// Notes reads of what nothing wrote, for a later copy to the host.
fn note_unwritten(machine: &mut Machine, findings: &[Finding]) {
    for finding in findings.iter().filter(|finding| finding.kind == Kind::Uninitialised) {
        for at in &finding.at {
            if !machine
                .unwritten
                .iter()
                .any(|known| (&known.file, known.line) == (&at.file, at.line))
            {
                machine.unwritten.push(at.clone());
            }
        }
    }
}
