//! Blocks: how they begin, and running their warps in turn until all threads ended.

use super::bars::{self, Bars};
use super::mbarriers::Mbarriers;
use super::schedule::{Candidate, Chooser};
use super::warp::{Arena, Fragment, Frame, State, Waits, Warp};
use super::{BlockState, Cx, Launch, Sink, Stop, VAIN_WAITS, VAIN_WAITS_MAX, collective_step};
use super::{deadlock, presets, step};
use crate::lanes::LANES;
use crate::machine::Fault;
use crate::memory::{Local, Shared};
use crate::race::WarpClocks;

/// Warp-instructions that a fragment runs before others get a turn.
const BUDGET: u64 = 20_000;

/// Rounds with no progress before lanes that wait to meet others go on without them.
const PATIENCE: u32 = 3;

/// A block under execution.
pub(crate) struct Block {
    pub(crate) state: BlockState,
    pub(crate) warps: Vec<Warp>,
}

/// Blocks that run side by side on one thread of execution.
pub(crate) struct Resident<'r, 'l> {
    pub(crate) launch: &'r Launch<'l>,
    pub(crate) sink: &'r mut Sink,
    pub(crate) blocks: Vec<Block>,
    pub(crate) progress: u64,
    /// Progress when nothing could run last, and how often that was so since.
    stirred: (u64, u32),
    /// Memory of blocks that ended, to be used again.
    spare: Vec<Shared>,
}

/// A block's index in the grid.
pub(crate) fn block_index(grid: [u32; 3], linear: u32) -> [u32; 3] {
    [linear % grid[0], linear / grid[0] % grid[1], linear / (grid[0] * grid[1])]
}

impl<'r, 'l> Resident<'r, 'l> {
    pub(crate) fn new(launch: &'r Launch<'l>, sink: &'r mut Sink) -> Self {
        Self { launch, sink, blocks: Vec::new(), progress: 0, stirred: (0, 0), spare: Vec::new() }
    }

    /// Adds a block.
    pub(crate) fn begin(&mut self, linear: u32) {
        let launch = self.launch;
        let warps = launch.threads().div_ceil(LANES as u32);
        let mut shared = self.spare.pop().unwrap_or_default();
        shared.restart(launch.shared_bytes());
        let grid = &launch.device.grid;
        let mut state = BlockState {
            linear,
            index: block_index(launch.grid, linear),
            bars: Bars::new(warps as usize),
            mbarriers: Mbarriers::default(),
            steps: 0,
            leap: 0,
            live: launch.threads(),
            live_lanes: (0..warps).map(|warp| grid.lanes(warp)).collect(),
            shared,
            printed: Vec::new(),
            chooser: launch.schedule.map(|schedule| Chooser::new(schedule, linear, warps)),
        };
        let warps = (0..warps).map(|warp| new_warp(launch, &mut state, warp)).collect();
        self.blocks.push(Block { state, warps });
    }

    /// Runs all blocks until each ended or waits for others that are not here.
    pub(crate) fn run(&mut self, next: &dyn Fn() -> Option<u32>, most: usize) -> Result<(), Fault> {
        loop {
            while self.blocks.len() < most {
                let Some(linear) = next() else { break };
                self.begin(linear);
            }
            if self.blocks.is_empty() {
                return Ok(());
            }
            let mut ran = false;
            let mut at = 0;
            while at < self.blocks.len() {
                ran |= self.round(at)?;
                if self.blocks[at].state.live == 0 {
                    self.end(at);
                    ran = true;
                } else {
                    at += 1;
                }
            }
            if !ran {
                self.stir()?;
            }
        }
    }

    fn end(&mut self, at: usize) {
        let block = self.blocks.remove(at);
        self.sink.steps += block.state.steps;
        if !block.state.printed.is_empty() {
            self.sink.printed.push((block.state.linear, block.state.printed));
        }
        self.spare.push(block.state.shared);
    }

    /// Takes what blocks that did not end have told so far.
    pub(crate) fn abandon(&mut self) {
        while !self.blocks.is_empty() {
            self.end(0);
        }
    }

    /// Gives turns to the fragments of a block as its chooser says. Whether any ran.
    fn chosen_round(&mut self, at: usize) -> Result<bool, Fault> {
        let mut ran = false;
        let turns = self.blocks[at].state.chooser.as_mut().map_or(0, Chooser::turns);
        for _ in 0..turns {
            let candidates = self.candidates(at);
            let block = &mut self.blocks[at];
            let Some(chooser) = block.state.chooser.as_mut().filter(|_| !candidates.is_empty())
            else {
                break;
            };
            let chosen = chooser.choose(&candidates);
            let keeps = chooser.until_waiting();
            ran = true;
            let (warp, mut index) = (chosen.warp as usize, chosen.index);
            while self.turn(at, warp, index)? == Stop::Visible && keeps {
                // A fragment that goes on is the last of its warp's.
                index = self.blocks[at].warps[warp].fragments.len() - 1;
            }
        }
        Ok(ran)
    }

    fn candidates(&self, at: usize) -> Vec<Candidate> {
        let block = &self.blocks[at];
        let mut candidates = Vec::new();
        for warp in &block.warps {
            for (index, fragment) in warp.fragments.iter().enumerate() {
                if self.can_run(block, warp, fragment) {
                    let lane = fragment.mask.trailing_zeros();
                    candidates.push(Candidate { warp: warp.index, lane, index });
                }
            }
        }
        candidates
    }

    /// Gives each warp of a block a turn. Whether any ran.
    fn round(&mut self, at: usize) -> Result<bool, Fault> {
        if self.blocks[at].state.chooser.is_some() {
            return self.chosen_round(at);
        }
        let mut ran = false;
        for warp in 0..self.blocks[at].warps.len() {
            let mut turns = 2 * self.blocks[at].warps[warp].fragments.len() + 1;
            while turns > 0
                && let Some(index) = self.ready(at, warp)
            {
                turns -= 1;
                ran = true;
                if self.turn(at, warp, index)? == Stop::Budget {
                    break;
                }
            }
        }
        Ok(ran)
    }

    /// The first fragment of a warp that can go on.
    fn ready(&self, at: usize, warp: usize) -> Option<usize> {
        let block = &self.blocks[at];
        let warp = &block.warps[warp];
        warp.fragments.iter().position(|fragment| self.can_run(block, warp, fragment))
    }

    fn can_run(&self, block: &Block, warp: &Warp, fragment: &Fragment) -> bool {
        match fragment.state {
            State::Ready => true,
            State::Napping(progress) => progress != self.progress,
            State::AtBarrier { id, generation } => block.state.bars.passed(id, generation),
            State::Collective => collective_step::passed(&warp.pending, fragment.mask),
        }
    }

    /// Runs a fragment.
    pub(crate) fn turn(&mut self, at: usize, warp: usize, index: usize) -> Result<Stop, Fault> {
        let block = &mut self.blocks[at];
        let warp = &mut block.warps[warp];
        let mut fragment = warp.fragments.remove(index);
        if let State::Napping(_) = fragment.state {
            fragment.state = State::Ready;
        }
        merge_waiting(&block.state, warp, &mut fragment, index);
        let before = self.progress;
        let mut cx = Cx {
            launch: self.launch,
            block: &mut block.state,
            warp,
            sink: self.sink,
            progress: &mut self.progress,
            arena: 0,
            base: 0,
            watching: fragment.waits.loop_seen.is_some() && fragment.waits.since == before,
        };
        let (left, stop) = step::run(&mut cx, fragment, BUDGET);
        if let Stop::Fault(fault) = stop {
            return Err(fault);
        }
        if let Some(mut fragment) = left {
            if stop == Stop::Budget && self.progress == before {
                // It ran for long and nothing came of it: from now on its loops are watched.
                let waits = &mut fragment.waits;
                if waits.since != before {
                    *waits = Waits { since: before, ..Waits::default() };
                }
                waits.loop_seen.get_or_insert((u32::MAX, 0));
                waits.looks = 0;
            }
            warp.fragments.push(fragment);
        }
        Ok(stop)
    }

    /// Nothing can run: sleepers look again, then lanes that wait to meet others go on without
    /// them.
    fn stir(&mut self) -> Result<(), Fault> {
        if self.stirred.0 != self.progress {
            self.stirred = (self.progress, 0);
        }
        self.stirred.1 += 1;
        let parked = self.blocks.iter().any(|block| block.warps.iter().any(|w| w.parked() != 0));
        if parked && self.stirred.1 > PATIENCE {
            self.release();
            return Ok(());
        }
        let mut woken = false;
        for fragment in self.fragments() {
            let waits = fragment.waits;
            let tired = waits.count >= VAIN_WAITS && !waits.moves || waits.count >= VAIN_WAITS_MAX;
            if matches!(fragment.state, State::Napping(_)) && !waits.stuck && !tired {
                fragment.state = State::Ready;
                woken = true;
            }
        }
        if woken {
            return Ok(());
        }
        if parked {
            self.release();
            return Ok(());
        }
        deadlock::report(self);
        Err(Fault::Timeout)
    }

    fn fragments(&mut self) -> impl Iterator<Item = &mut Fragment> {
        let warps = self.blocks.iter_mut().flat_map(|block| block.warps.iter_mut());
        warps.flat_map(|warp| warp.fragments.iter_mut())
    }

    /// Lets lanes go on that wait in joins for others that can't come.
    fn release(&mut self) {
        for block in &mut self.blocks {
            for warp in &mut block.warps {
                let parked = warp.parked();
                if parked == 0 {
                    continue;
                }
                let waiting: Vec<Fragment> = warp.fragments.clone();
                let mut cx = Cx {
                    launch: self.launch,
                    block: &mut block.state,
                    warp,
                    sink: self.sink,
                    progress: &mut self.progress,
                    arena: 0,
                    base: 0,
                    watching: false,
                };
                for fragment in &waiting {
                    let parked = cx.warp.parked_for(fragment);
                    if parked == 0 {
                        continue;
                    }
                    match fragment.state {
                        State::AtBarrier { .. } => {
                            bars::report_divergent(&mut cx, fragment, parked);
                        }
                        State::Collective => {
                            collective_step::report_divergent(&mut cx, fragment, parked);
                        }
                        State::Ready | State::Napping(_) => {}
                    }
                }
                warp.release_all();
            }
        }
        self.progress += 1;
    }
}

/// Fragments that waited at one barrier at one place go on together.
fn merge_waiting(state: &BlockState, warp: &mut Warp, fragment: &mut Fragment, from: usize) {
    let State::AtBarrier { id, generation } = fragment.state else { return };
    if !state.bars.passed(id, generation) {
        return;
    }
    let mut at = from;
    while at < warp.fragments.len() {
        let other = &warp.fragments[at];
        let same = other.state == fragment.state
            && other.pc == fragment.pc
            && other.frames == fragment.frames
            && other.joins == fragment.joins;
        if same {
            fragment.mask |= other.mask;
            warp.fragments.remove(at);
        } else {
            at += 1;
        }
    }
}

fn new_warp(launch: &Launch<'_>, state: &mut BlockState, index: u32) -> Warp {
    let present = launch.device.grid.lanes(index);
    let code = &launch.program.functions[launch.kernel];
    let mut lanes = launch.template(launch.kernel).clone();
    presets::fill(launch, state, index, launch.kernel, 0, &mut lanes);
    let stride = (code.param_bytes as usize).next_multiple_of(16);
    let mut params = vec![0; stride * LANES];
    for lane in 0..LANES {
        let bytes = launch.params.len().min(stride);
        params[lane * stride..lane * stride + bytes].copy_from_slice(&launch.params[..bytes]);
    }
    let arena =
        Arena { lanes, stride, params, poison: None, users: present, function: launch.kernel };
    let frame = Frame { function: launch.kernel, arena: 0, local: 0, call: 0 };
    let whole = Fragment {
        mask: present,
        pc: 0,
        frames: vec![frame],
        joins: Vec::new(),
        state: State::Ready,
        waits: Waits::default(),
    };
    let fragments = if launch.schedule.is_some_and(|schedule| schedule.split) {
        let lane = |lane: usize| Fragment { mask: 1 << lane, ..whole.clone() };
        super::warp::lanes_of(present).map(lane).collect()
    } else {
        vec![whole]
    };
    Warp {
        index,
        present,
        exited: 0,
        fragments,
        joins: Vec::new(),
        arenas: vec![arena],
        pending: Vec::new(),
        around: Vec::new(),
        copies: Vec::new(),
        clocks: WarpClocks::new(launch.device.grid, state.linear, index as u8),
        local: Local::new(launch.local_bytes),
        hint: 0,
    }
}
