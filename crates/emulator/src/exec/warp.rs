//! A warp: its lanes in fragments that run apart, and the points where they meet again.

use crate::lanes::{LANES, Lanes};
use crate::memory::Local;
use crate::program::NOWHERE;
use crate::race::WarpClocks;

/// A function under execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The function.
    pub(crate) function: usize,
    /// Its registers, in [`Warp::arenas`].
    pub(crate) arena: usize,
    /// Where its local memory begins in each thread's.
    pub(crate) local: u32,
    /// The call that it returns to, in the frame below.
    pub(crate) call: u32,
}

/// Why a fragment can't be picked now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It can.
    Ready,
    /// It looked at something that has not changed since: it waits for the block's progress to pass
    /// this, unless nobody else can run.
    Napping(u64),
    /// It waits at a barrier for this generation to complete.
    AtBarrier { id: u8, generation: u64 },
    /// It waits for other lanes to reach a collective.
    Collective,
}

/// Lanes that run together.
#[derive(Debug, Clone)]
pub(crate) struct Fragment {
    /// Which.
    pub(crate) mask: u32,
    /// Where in the innermost frame's function.
    pub(crate) pc: u32,
    /// Innermost last.
    pub(crate) frames: Vec<Frame>,
    /// Points where it meets others, innermost last, in [`Warp::joins`].
    pub(crate) joins: Vec<usize>,
    /// Whether it can run.
    pub(crate) state: State,
    /// Waits in vain since the last progress of the block, and that progress.
    pub(crate) waits: Waits,
}

/// How often a fragment looked in vain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    /// So often.
    pub(crate) count: u32,
    /// Since this progress.
    pub(crate) since: u64,
    /// What it saw the last times: hashes of place, address and value.
    pub(crate) seen: [u64; 4],
    /// Where the next goes.
    pub(crate) next: u8,
    /// Whether a loop of it repeats exactly, which only others can end.
    pub(crate) stuck: bool,
    /// Where a loop was looked at, and a hash of the registers then.
    pub(crate) loop_seen: Option<(u32, u64)>,
    /// How often loops were looked at.
    pub(crate) looks: u32,
    /// A hash of its registers at some wait.
    pub(crate) registers: u64,
    /// Whether they changed between waits.
    pub(crate) moves: bool,
}

/// A point where lanes that diverged meet.
#[derive(Debug, Clone)]
pub(crate) struct JoinPoint {
    /// Where.
    pub(crate) pc: u32,
    /// In which depth of frames.
    pub(crate) depth: usize,
    /// Who is to come, or came.
    pub(crate) lanes: u32,
    /// Who came.
    pub(crate) arrived: u32,
    /// Their frames.
    pub(crate) frames: Vec<Frame>,
    /// The joins outside of this one.
    pub(crate) outer: Vec<usize>,
}

impl JoinPoint {
    fn free(&self) -> bool {
        self.pc == NOWHERE
    }
}

/// Registers and parameters of one frame.
#[derive(Clone)]
pub(crate) struct Arena {
    /// Registers.
    pub(crate) lanes: Lanes,
    /// Bytes of parameters of a lane.
    pub(crate) stride: usize,
    /// Parameters, lane after lane.
    pub(crate) params: Vec<u8>,
    /// By row: lanes whose value came from memory that nothing wrote. Absent while there are none.
    pub(crate) poison: Option<Box<[super::Poison]>>,
    /// Lanes that are in it; 0 when it is free.
    pub(crate) users: u32,
    /// Whose.
    pub(crate) function: usize,
}

/// 32 lanes, or fewer where a block's size is no multiple.
pub(crate) struct Warp {
    /// Its number in the block.
    pub(crate) index: u32,
    /// Lanes that exist.
    pub(crate) present: u32,
    /// Lanes that ended.
    pub(crate) exited: u32,
    /// Lanes that run apart.
    pub(crate) fragments: Vec<Fragment>,
    /// Where they meet.
    pub(crate) joins: Vec<JoinPoint>,
    /// Registers.
    pub(crate) arenas: Vec<Arena>,
    /// Collectives that wait for lanes.
    pub(crate) pending: Vec<super::collective::Pending>,
    /// Lanes that went around a barrier which others of the warp wait at, and its instruction.
    pub(crate) around: Vec<(u32, u32)>,
    /// Copies under way.
    pub(crate) copies: super::copies::Copies,
    /// What its lanes know of others.
    pub(crate) clocks: WarpClocks,
    /// Its lanes' local memory.
    pub(crate) local: Local,
    /// Where it found its last allocation.
    pub(crate) hint: u32,
}

impl Warp {
    /// Lanes that have not ended.
    pub(crate) fn live(&self) -> u32 {
        self.present & !self.exited
    }

    /// A new meeting point for a fragment, unless its innermost one is the same.
    pub(crate) fn open_join(&mut self, fragment: &mut Fragment, pc: u32) {
        let depth = fragment.frames.len();
        if let Some(innermost) = fragment.joins.last() {
            let join = &self.joins[*innermost];
            if join.pc == pc && join.depth == depth {
                return;
            }
        }
        let join = JoinPoint {
            pc,
            depth,
            lanes: fragment.mask,
            arrived: 0,
            frames: Vec::new(),
            outer: Vec::new(),
        };
        let free = self.joins.iter().position(JoinPoint::free);
        let index = match free {
            Some(index) => {
                self.joins[index] = join;
                index
            }
            None => {
                self.joins.push(join);
                self.joins.len() - 1
            }
        };
        fragment.joins.push(index);
    }

    /// Lets a fragment meet others at its program counter, if it is to meet any there. Whether it
    /// goes on; else its lanes wait in the join.
    pub(crate) fn meet(&mut self, fragment: &mut Fragment) -> bool {
        while let Some(innermost) = fragment.joins.last().copied() {
            let join = &mut self.joins[innermost];
            if join.pc != fragment.pc || join.depth != fragment.frames.len() {
                return true;
            }
            fragment.joins.pop();
            join.arrived |= fragment.mask;
            if join.arrived != join.lanes {
                join.frames.clone_from(&fragment.frames);
                join.outer.clone_from(&fragment.joins);
                return false;
            }
            fragment.mask = join.arrived;
            join.pc = NOWHERE;
        }
        true
    }

    /// Puts lanes of a fragment that diverges straight into its innermost join.
    pub(crate) fn park(&mut self, fragment: &Fragment, mask: u32) {
        let Some((innermost, outer)) = fragment.joins.split_last() else { return };
        let join = &mut self.joins[*innermost];
        join.arrived |= mask;
        join.frames.clone_from(&fragment.frames);
        join.outer = outer.to_vec();
    }

    /// Takes lanes that ended, or went another way for good, out of joins; those that then wait for
    /// nobody go on.
    pub(crate) fn leave_joins(&mut self, joins: &[usize], mask: u32) {
        for index in joins.iter().rev() {
            let join = &mut self.joins[*index];
            join.lanes &= !mask;
            if join.pc == NOWHERE {
                continue;
            }
            if join.lanes == 0 {
                join.pc = NOWHERE;
            } else if join.arrived == join.lanes {
                self.release(*index);
            }
        }
    }

    /// Lets the lanes that wait in a join go on, whoever is missing.
    fn release(&mut self, index: usize) {
        let join = &mut self.joins[index];
        let mask = std::mem::take(&mut join.arrived);
        join.lanes &= !mask;
        let pc = join.pc;
        if join.lanes == 0 {
            join.pc = NOWHERE;
        }
        self.fragments.push(Fragment {
            mask,
            pc,
            frames: join.frames.clone(),
            joins: join.outer.clone(),
            state: State::Ready,
            waits: Waits::default(),
        });
    }

    /// Lets all lanes that wait in joins go on. Returns them, with the places they waited at.
    pub(crate) fn release_all(&mut self) -> Vec<(u32, usize, u32)> {
        let mut released = Vec::new();
        for index in 0..self.joins.len() {
            let join = &self.joins[index];
            if join.pc != NOWHERE && join.arrived != 0 {
                let function = join.frames.last().map_or(0, |frame| frame.function);
                released.push((join.arrived, function, join.pc));
                self.release(index);
            }
        }
        released
    }

    /// Lanes that wait in joins.
    pub(crate) fn parked(&self) -> u32 {
        let waiting = self.joins.iter().filter(|join| join.pc != NOWHERE);
        waiting.fold(0, |all, join| all | join.arrived)
    }

    /// Gives back the registers of a frame, for these lanes.
    pub(crate) fn drop_arena(&mut self, arena: usize, mask: u32) {
        self.arenas[arena].users &= !mask;
    }
}

/// The numbers of a mask's lanes.
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}
