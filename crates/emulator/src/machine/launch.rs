//! Launching: on which schedules, on how many threads, or not at all because it was done before.

use std::sync::OnceLock;

use super::{Fault, Launch, Launched, Machine, Past};
use crate::exec::{self, Sink, Spread};
use crate::finding::{Finding, Kind, Severity};
use crate::lower::SharedLayout;
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
        if self.repeats(launch) {
            report.end = LaunchEnd::Repeated;
            return Launched { report, fault: None, findings: Vec::new() };
        }
        let workspace = if launch.cooperative { self.workspace() } else { 0 };
        let (fault, findings, steps) = self.run(launch, index, workspace);
        note_unwritten(self, &findings);
        report.steps = steps;
        report.end = match &fault {
            None => LaunchEnd::Ran,
            Some(Fault::Unsupported(_)) => LaunchEnd::Unsupported,
            Some(_) => LaunchEnd::Faulted,
        };
        self.now += steps.max(1);
        Launched { report, fault, findings }
    }

    /// Whether a launch provably repeats an earlier one, with no finding and nothing printed: same
    /// code, parameters and shape, everything that it read as it was, everything that it wrote as it
    /// left it.
    fn repeats(&self, launch: &Launch<'_>) -> bool {
        !self.options.keep_repeats
            && self.past.iter().any(|past| {
                past.kernel == launch.kernel
                    && past.grid == launch.grid
                    && past.block == launch.block
                    && past.dynamic_shared_bytes == launch.dynamic_shared_bytes
                    && past.params == launch.params
                    && self.memory.repeats(&past.footprint)
            })
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

    fn run(
        &mut self,
        launch: &Launch<'_>,
        index: u64,
        workspace: u64,
    ) -> (Option<Fault>, Vec<Finding>, u64) {
        let program = self.modules[launch.kernel.module.0].program.clone();
        let kernel = launch.kernel.index;
        let traits = program.traits(kernel);
        let across = traits.across_blocks || traits.perhaps_across || launch.cooperative;
        let grid =
            Grid { threads: launch.block.iter().product(), cluster_blocks: 1, isolated: !across };
        let remember = !self.options.keep_repeats;
        let device = self.memory.begin_launch(grid, remember);
        let mut bases = Vec::with_capacity(program.functions.len());
        let mut base = 0u32;
        for function in &program.functions {
            bases.push(base);
            base += function.code.len() as u32 + 1;
        }
        let calls = program.reachable(kernel).len() > 1 || traits.indirect_calls;
        let own = program.functions[kernel].local_bytes;
        let context = exec::Launch {
            program: &program,
            kernel,
            bases,
            layout: SharedLayout::of(&program, kernel),
            grid: launch.grid,
            block: launch.block,
            dynamic_bytes: launch.dynamic_shared_bytes,
            params: launch.params,
            device: &device,
            local_bytes: if calls { own + STACK_BYTES } else { own },
            templates: program.functions.iter().map(|_| OnceLock::new()).collect(),
            processors: self.profile.sm_count,
            index,
            workspace,
            started: self.now,
            visible_stops: false,
            split: false,
        };
        let mut sink = Sink::default();
        let spread = self.spread(launch, across);
        let end = exec::run_launch(&context, spread, &mut sink);
        let steps = sink.steps;
        let printed = std::mem::take(&mut sink.printed);
        let quiet = printed.is_empty();
        for (_, text) in printed {
            self.printed.extend_from_slice(&text);
        }
        self.asserted.append(&mut sink.asserted);
        let findings = exec::in_words(&context, &self.memory, sink);
        if remember && end.is_ok() && findings.is_empty() && quiet && !launch.cooperative {
            self.remember(launch);
        }
        self.memory.end_launch();
        (end.err(), findings, steps)
    }

    fn remember(&mut self, launch: &Launch<'_>) {
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
