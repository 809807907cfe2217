//! Execution: warps as fragments of lanes, blocks as warps, grids as blocks.
//!
//! **Invariant: a fragment runs on one thread at a time, with its block's state to itself.** Blocks
//! may run on several threads where nothing lets them depend on each other; what they share, the
//! device's memory, locks its pages.

mod access;
mod atomics;
mod bars;
mod blocks;
mod calls;
mod collective;
mod collective_step;
mod copies;
mod deadlock;
mod mbarriers;
mod names;
mod presets;
mod printf;
mod run;
mod schedule;
mod sink;
mod step;
mod system;
mod values;
mod warp;

use crate::lanes::{Lanes, Row};
use crate::lower::SharedLayout;
use crate::machine::Fault;
use crate::memory::{Device, Shared, View};
use crate::program::Program;

pub(crate) use names::{host_in_words, in_words};
pub(crate) use run::{Spread, run_launch};
pub use schedule::{NotSchedule, Schedule, Token};
pub(crate) use sink::{Sink, demangled, variable_name};
use step::Flow;
use warp::{Fragment, State, Warp};

/// Vain waits with nothing changed, after which a fragment counts as waiting for good.
const VAIN_WAITS: u32 = 4096;

/// The same where its registers do change: a loop that counts its rounds.
const VAIN_WAITS_MAX: u32 = 1 << 20;

/// At every so many vain waits the registers are looked at.
const HASHED_WAITS: u32 = 512;

/// How often a loop is looked at in a row, to see whether it repeats.
const LOOKS: u32 = 8;

/// Why a fragment stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It ran for long enough.
    Budget,
    /// It waits for something.
    Waiting,
    /// It did what others may see, and the scheduler is asked.
    Visible,
    /// Its lanes ended or wait in a join.
    Gone,
    /// The launch is over.
    Fault(Fault),
}

/// Which lanes of a row hold what nothing wrote, and which load brought it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Poison {
    /// The lanes.
    pub(crate) lanes: u32,
    /// The number of the instruction.
    pub(crate) origin: u32,
}

impl Poison {
    pub(crate) const NONE: Self = Self { lanes: 0, origin: 0 };

    /// Of both; the origin is that of the one that has lanes.
    pub(crate) fn with(self, other: Self) -> Self {
        let origin = if self.lanes != 0 { self.origin } else { other.origin };
        Self { lanes: self.lanes | other.lanes, origin }
    }

    /// Replaces the lanes of a mask.
    pub(crate) fn set(&mut self, mask: u32, new: Self) {
        self.lanes = self.lanes & !mask | new.lanes & mask;
        if new.lanes & mask != 0 {
            self.origin = new.origin;
        }
    }
}

/// A launch, as its fragments see it.
pub(crate) struct Launch<'l> {
    pub(crate) program: &'l Program,
    pub(crate) kernel: usize,
    /// The number of each function's first instruction among all of the program.
    pub(crate) bases: Vec<u32>,
    pub(crate) layout: SharedLayout,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_bytes: u32,
    pub(crate) params: &'l [u8],
    pub(crate) device: &'l Device,
    /// Local memory of a thread, in bytes.
    pub(crate) local_bytes: u32,
    /// Registers as each frame of a function begins, but for what differs between warps.
    pub(crate) templates: Vec<std::sync::OnceLock<Lanes>>,
    /// Multiprocessors of the device.
    pub(crate) processors: u32,
    /// The launch's number on the device.
    pub(crate) index: u64,
    /// The address of the grid's workspace, for cooperative launches.
    pub(crate) workspace: u64,
    /// The model's time when it began, in nanoseconds.
    pub(crate) started: u64,
    /// The schedule; none for the canonical one.
    pub(crate) schedule: Option<Schedule>,
}

impl Launch<'_> {
    /// Threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Bytes of shared memory, to the last one that a variable has.
    pub(crate) fn shared_bytes(&self) -> u32 {
        match self.dynamic_bytes {
            0 => self.layout.static_bytes,
            dynamic => self.layout.dynamic_at + dynamic,
        }
    }

    /// What replays the schedule, unless it is the canonical one.
    pub(crate) fn token(&self) -> Option<String> {
        let schedule = self.schedule?;
        Some(Token { launch: self.index, schedule }.to_string())
    }

    /// Where an instruction number lies: function and program counter.
    pub(crate) fn locate(&self, number: u32) -> (usize, u32) {
        let function = self.bases.partition_point(|base| *base <= number) - 1;
        (function, number - self.bases[function])
    }
}

/// What the warps of a block share.
pub(crate) struct BlockState {
    pub(crate) linear: u32,
    pub(crate) index: [u32; 3],
    pub(crate) bars: bars::Bars,
    pub(crate) mbarriers: mbarriers::Mbarriers,
    /// Warp-instructions so far: the block's clock, with `leap`.
    pub(crate) steps: u64,
    /// Time that passed while everybody only looked at the clock or slept.
    pub(crate) leap: u64,
    /// Threads that have not ended.
    pub(crate) live: u32,
    /// The same, lanes by warp.
    pub(crate) live_lanes: Vec<u32>,
    /// Its shared memory.
    pub(crate) shared: Shared,
    /// What it printed.
    pub(crate) printed: Vec<u8>,
    /// Who gives turns, unless the schedule is the canonical one.
    pub(crate) chooser: Option<schedule::Chooser>,
}

/// Everything that one instruction may touch.
pub(crate) struct Cx<'c, 'l> {
    pub(crate) launch: &'c Launch<'l>,
    pub(crate) block: &'c mut BlockState,
    pub(crate) warp: &'c mut Warp,
    pub(crate) sink: &'c mut Sink,
    /// Steps that changed what others may see, of all blocks that this thread runs.
    pub(crate) progress: &'c mut u64,
    /// The arena of the innermost frame.
    pub(crate) arena: usize,
    /// The number of its function's first instruction.
    pub(crate) base: u32,
    /// Whether backward branches are watched for loops that repeat exactly.
    pub(crate) watching: bool,
}

impl Cx<'_, '_> {
    /// The registers of the innermost frame.
    pub(crate) fn lanes(&self) -> &Lanes {
        &self.warp.arenas[self.arena].lanes
    }

    /// The same, to be written.
    pub(crate) fn lanes_mut(&mut self) -> &mut Lanes {
        &mut self.warp.arenas[self.arena].lanes
    }

    /// The number of the instruction that a fragment is at.
    pub(crate) fn number(&self, fragment: &Fragment) -> u32 {
        self.base + fragment.pc
    }

    /// Marks lanes of a row as clean, or as poisoned.
    pub(crate) fn set_poison(&mut self, row: Row, mask: u32, poison: Poison) {
        let arena = &mut self.warp.arenas[self.arena];
        if arena.poison.is_none() {
            if poison.lanes & mask == 0 {
                return;
            }
            let units = self.launch.program.functions[arena.function].units as usize;
            arena.poison = Some(vec![Poison::NONE; units].into_boxed_slice());
        }
        if let Some(rows) = &mut arena.poison {
            rows[row.0 as usize].set(mask, poison);
        }
    }

    /// The poison of a row.
    pub(crate) fn poison(&self, row: Row) -> Poison {
        let arena = &self.warp.arenas[self.arena];
        arena.poison.as_ref().map_or(Poison::NONE, |rows| rows[row.0 as usize])
    }

    /// Reports a row that decides something, in lanes where it holds what nothing wrote.
    pub(crate) fn check_poison(
        &mut self,
        fragment: &Fragment,
        row: Row,
        mask: u32,
    ) -> Option<Flow> {
        let poison = self.poison(row);
        if poison.lanes & mask != 0 {
            let number = self.number(fragment);
            access::escalate(self, poison.origin, number, poison.lanes & mask);
        }
        None
    }

    /// Goes on, or asks the scheduler first where it wants to be asked.
    pub(crate) fn visible(&mut self, fragment: &mut Fragment, flow: Flow) -> Flow {
        if self.launch.schedule.is_none() {
            return flow;
        }
        match flow {
            Flow::Next => fragment.pc += 1,
            Flow::Goto(pc) => fragment.pc = pc,
            other => return other,
        }
        Flow::Stop(Stop::Visible)
    }

    /// Notes that something changed that others may see.
    pub(crate) fn progressed(&mut self) {
        *self.progress += 1;
    }

    /// Notes that a fragment looked for a change and saw none; `what` tells the look from others.
    /// Whether it has seen just this before, with nothing changed since.
    pub(crate) fn in_vain(&mut self, fragment: &mut Fragment, what: u64) -> bool {
        let progress = *self.progress;
        let waits = &mut fragment.waits;
        if waits.since != progress {
            *waits = warp::Waits { since: progress, ..warp::Waits::default() };
        }
        if waits.seen.contains(&what) {
            waits.count += 1;
            if waits.count.is_multiple_of(HASHED_WAITS) {
                let hash = self.steady_hash();
                let waits = &mut fragment.waits;
                waits.moves = waits.registers != hash;
                waits.registers = hash;
            }
            return true;
        }
        waits.seen[usize::from(waits.next)] = what;
        waits.next = (waits.next + 1) % 4;
        false
    }

    /// Lets a fragment wait, at the next instruction, until something changes.
    pub(crate) fn nap(&mut self, fragment: &mut Fragment) -> Flow {
        fragment.pc += 1;
        fragment.state = State::Napping(*self.progress);
        Flow::Stop(Stop::Waiting)
    }

    /// Finds whether a loop repeats exactly: called at backward branches of a fragment that ran for
    /// long with no progress.
    pub(crate) fn watch(&mut self, fragment: &mut Fragment) {
        let waits = &mut fragment.waits;
        if waits.since != *self.progress {
            *waits = warp::Waits { since: *self.progress, ..warp::Waits::default() };
        }
        waits.looks += 1;
        if waits.looks >= LOOKS {
            self.watching = false;
        }
        let hash = self.steady_hash();
        let waits = &mut fragment.waits;
        match waits.loop_seen {
            Some((pc, seen)) if pc == fragment.pc && seen == hash => {
                waits.stuck = true;
                fragment.state = State::Napping(*self.progress);
            }
            Some((pc, _)) if pc != fragment.pc => {}
            _ => waits.loop_seen = Some((fragment.pc, hash)),
        }
    }

    /// A hash of the registers of the innermost frame, but for those that clocks decide.
    fn steady_hash(&self) -> u64 {
        let arena = &self.warp.arenas[self.arena];
        let function = &self.launch.program.functions[arena.function];
        arena.lanes.hash(&function.steady)
    }

    /// Memory as the warp sees it.
    pub(crate) fn view(&mut self) -> View<'_> {
        View {
            device: self.launch.device,
            shared: &mut self.block.shared,
            local: &mut self.warp.local,
            clocks: &mut self.warp.clocks,
            hint: &mut self.warp.hint,
            findings: &mut self.sink.memory,
        }
    }

    /// The number of the instruction that a fragment which is not running is at.
    pub(crate) fn number_of(&self, fragment: &Fragment) -> u32 {
        let function = fragment.frames.last().map_or(0, |frame| frame.function);
        self.launch.bases[function] + fragment.pc
    }

    /// Prints, in the order of the block's threads.
    pub(crate) fn print(&mut self, text: &[u8]) {
        self.block.printed.extend_from_slice(text);
        self.progressed();
    }

    /// `trap`
    pub(crate) fn trap(&mut self, fragment: &Fragment, mask: u32) -> Flow {
        let number = self.number(fragment);
        let message = "the kernel traps".to_owned();
        self.sink.api(self.block, self.warp.index, number, mask, message);
        Flow::Stop(Stop::Fault(Fault::LaunchFailure))
    }

    /// What is not emulated ends the launch, and is named.
    pub(crate) fn unsupported(&mut self, fragment: &Fragment, what: &str, mask: u32) -> Flow {
        let at = sink::At::new(self.block, self.warp.index, self.number(fragment), mask, "here");
        let message = format!("{what} is not emulated");
        let kind = crate::finding::Kind::Unsupported;
        let severity = crate::finding::Severity::Error;
        self.sink.add(kind, severity, message, vec![at], Vec::new());
        Flow::Stop(Stop::Fault(Fault::Unsupported(what.to_owned())))
    }

    /// `brx.idx` with an index past its table.
    pub(crate) fn bad_branch(&mut self, fragment: &Fragment, index: u32, mask: u32) -> Flow {
        let number = self.number(fragment);
        let message = format!("an indexed branch with index {index}, past its table");
        self.sink.api(self.block, self.warp.index, number, mask, message);
        Flow::Stop(Stop::Fault(Fault::LaunchFailure))
    }
}
