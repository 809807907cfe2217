//! Barriers in shared memory (PTX ISA 9.7.15.16).

use std::collections::BTreeMap;

use super::step::Flow;
use super::warp::{Fragment, lanes_of};
use super::{Cx, Stop, access};
use crate::lanes::LANES;
use crate::machine::Fault;
use crate::program::{Mbarrier, MbarrierOp};
use crate::race::Scope;
use crate::race::location::Carried;

/// The largest count (9.7.15.16.4).
const COUNT_MAX: u32 = (1 << 20) - 1;

/// Bytes of an mbarrier.
pub(crate) const BYTES: u32 = 8;

/// The mbarriers of a block, by their offset in shared memory.
#[derive(Default)]
pub(crate) struct Mbarriers {
    pub(crate) all: BTreeMap<u32, State>,
}

/// One mbarrier.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// Phases that completed.
    pub(crate) phase: u64,
    /// Arrivals that the next phases expect.
    pub(crate) expected: u32,
    /// Arrivals that this phase awaits.
    pub(crate) pending: u32,
    /// Bytes of asynchronous copies that this phase awaits.
    pub(crate) bytes: i64,
    /// Whether a wait for the phase before returned true.
    waited: bool,
    /// What arrivals of this phase released.
    arriving: Carried,
    /// What the last complete phase released.
    complete: Carried,
    /// Who arrived in this phase: warp and lanes.
    pub(crate) arrived: Vec<(u32, u32)>,
    /// Who was seen to come after the initialisation: lanes by warp.
    seen: Vec<u32>,
}

impl Mbarriers {
    /// The mbarrier that an access of so many bytes overlaps.
    pub(crate) fn overlapping(&self, offset: u32, bytes: u32) -> Option<u32> {
        let from = offset.saturating_sub(BYTES - 1);
        let (at, _) = self.all.range(from..offset.saturating_add(bytes)).next()?;
        Some(*at)
    }
}

/// The state that arrive returns, opaque to programs: the phase, and what was pending.
fn token(phase: u64, pending: u32) -> u64 {
    phase << 20 | u64::from(pending)
}

/// Completes the phase if nothing is awaited.
fn complete_if_due(state: &mut State) -> bool {
    if state.pending != 0 || state.bytes != 0 {
        return false;
    }
    state.phase += 1;
    state.pending = state.expected;
    state.complete = std::mem::take(&mut state.arriving);
    state.waited = false;
    state.arrived.clear();
    true
}

/// `mbarrier`
pub(crate) fn mbarrier(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    instr: &Mbarrier,
    mask: u32,
) -> Flow {
    if let MbarrierOp::PendingCount { d, state } = &instr.op {
        let counts = cx.lanes().get::<u64>(*state).map(|token| token as u32 & COUNT_MAX);
        cx.lanes_mut().set::<u32>(*d, &counts, mask);
        return Flow::Next;
    }
    if let Some(fault) = cx.check_poison(fragment, instr.base, mask) {
        return fault;
    }
    let number = cx.number(fragment);
    let mut offsets = [0u32; LANES];
    for lane in lanes_of(mask) {
        let address = access::lane_address(cx, instr.base, instr.wide, instr.offset, lane);
        match access::shared_offset(cx, address) {
            Some(offset) if offset % BYTES == 0 => offsets[lane] = offset,
            _ => {
                let what = format!(
                    "an mbarrier at {address:#x}: it must be in shared memory, at a multiple of 8"
                );
                cx.sink.barrier(cx.block, cx.warp.index, number, 1 << lane, what);
                return Flow::Stop(Stop::Fault(Fault::MisalignedAddress));
            }
        }
    }
    match &instr.op {
        MbarrierOp::Init(row) => {
            let counts = *cx.lanes().get::<u32>(*row);
            for lane in lanes_of(mask) {
                if let Some(fault) = init(cx, number, lane, offsets[lane], counts[lane]) {
                    return fault;
                }
            }
        }
        MbarrierOp::Inval => {
            for lane in lanes_of(mask) {
                if cx.block.mbarriers.all.remove(&offsets[lane]).is_none() {
                    return absent(cx, number, lane, offsets[lane]);
                }
            }
        }
        MbarrierOp::Arrive { .. } => return arrive(cx, fragment, &instr.op, &offsets, mask),
        MbarrierOp::ExpectTx(row) | MbarrierOp::CompleteTx(row) => {
            let sign = if matches!(instr.op, MbarrierOp::ExpectTx(_)) { 1 } else { -1 };
            let bytes = *cx.lanes().get::<u32>(*row);
            for lane in lanes_of(mask) {
                let Some(state) = cx.block.mbarriers.all.get_mut(&offsets[lane]) else {
                    return absent(cx, number, lane, offsets[lane]);
                };
                state.bytes += sign * i64::from(bytes[lane]);
                complete_if_due(state);
            }
        }
        MbarrierOp::Wait { .. } => return wait(cx, fragment, &instr.op, &offsets, mask),
        MbarrierOp::PendingCount { .. } => {}
    }
    cx.progressed();
    cx.visible(fragment, Flow::Next)
}

fn init(cx: &mut Cx<'_, '_>, number: u32, lane: usize, offset: u32, count: u32) -> Option<Flow> {
    let what = if cx.block.mbarriers.all.contains_key(&offset) {
        "initialises an mbarrier that is in use".to_owned()
    } else if count == 0 || count > COUNT_MAX {
        format!("initialises an mbarrier with a count of {count}: 1 to {COUNT_MAX} are allowed")
    } else {
        let state = State {
            phase: 0,
            expected: count,
            pending: count,
            bytes: 0,
            waited: true,
            arriving: Carried::default(),
            complete: Carried::default(),
            arrived: Vec::new(),
            seen: vec![0; cx.launch.threads().div_ceil(32) as usize],
        };
        cx.block.mbarriers.all.insert(offset, state);
        // The object itself is written, as others see who don't wait for it.
        return access::touch_mbarrier(cx, number, offset, lane);
    };
    cx.sink.barrier(cx.block, cx.warp.index, number, 1 << lane, what);
    Some(Flow::Stop(Stop::Fault(Fault::LaunchFailure)))
}

fn absent(cx: &mut Cx<'_, '_>, number: u32, lane: usize, offset: u32) -> Flow {
    let name = access::shared_name(cx, offset);
    let what = format!("{name} is used as an mbarrier and was not initialised");
    cx.sink.barrier(cx.block, cx.warp.index, number, 1 << lane, what);
    Flow::Stop(Stop::Fault(Fault::LaunchFailure))
}

fn arrive(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    op: &MbarrierOp,
    offsets: &[u32; LANES],
    mask: u32,
) -> Flow {
    let MbarrierOp::Arrive { state: result, count, drop, no_complete, expect, release } = op else {
        return Flow::Next;
    };
    let number = cx.number(fragment);
    let counts = count.map_or([1; LANES], |row| *cx.lanes().get::<u32>(row));
    let expects = expect.map(|row| *cx.lanes().get::<u32>(row));
    let mut tokens = [0u64; LANES];
    if let Some(fault) = see(cx, number, offsets, mask) {
        return fault;
    }
    let released = if *release { release_groups(cx, offsets, &counts, mask) } else { mask };
    for lane in lanes_of(mask) {
        let offset = offsets[lane];
        let Some(state) = cx.block.mbarriers.all.get_mut(&offset) else {
            return absent(cx, number, lane, offset);
        };
        if let Some(expects) = expects {
            state.bytes += i64::from(expects[lane]);
        }
        tokens[lane] = token(state.phase, state.pending);
        let count = counts[lane];
        let wrong = if count == 0 || count > state.pending {
            Some(format!(
                "arrives with a count of {count} where {} arrivals are pending in phase {}",
                state.pending, state.phase
            ))
        } else if *no_complete && count == state.pending {
            Some("completes the phase with `.noComplete`".to_owned())
        } else if !state.waited {
            Some(format!(
                "arrives in phase {} before any wait for phase {} returned true",
                state.phase,
                state.phase.wrapping_sub(1)
            ))
        } else {
            None
        };
        if let Some(what) = wrong {
            let what = format!("{} of {}", what, access::shared_name(cx, offset));
            cx.sink.barrier(cx.block, cx.warp.index, number, 1 << lane, what);
            return Flow::Stop(Stop::Fault(Fault::LaunchFailure));
        }
        if released >> lane & 1 == 0 {
            cx.warp.clocks.release(1 << lane, Scope::Cta, &mut state.arriving);
        }
        state.pending -= count;
        if *drop {
            state.expected = state.expected.saturating_sub(count);
        }
        note_arrival(state, cx.warp.index, lane);
        complete_if_due(state);
    }
    if let Some(row) = result {
        cx.lanes_mut().set::<u64>(*row, &tokens, mask);
    }
    cx.progressed();
    cx.visible(fragment, Flow::Next)
}

/// Lanes that share an offset with the first of a mask.
fn first_group(offsets: &[u32; LANES], mask: u32) -> (u32, u32) {
    let offset = offsets[mask.trailing_zeros() as usize];
    let group = lanes_of(mask).filter(|lane| offsets[*lane] == offset);
    (offset, group.fold(0u32, |all, lane| all | 1 << lane))
}

/// Lanes whose arrivals all belong to one phase release together. Returns them.
fn release_groups(
    cx: &mut Cx<'_, '_>,
    offsets: &[u32; LANES],
    counts: &[u32; LANES],
    mask: u32,
) -> u32 {
    let mut left = mask;
    let mut released = 0;
    while left != 0 {
        let (offset, group) = first_group(offsets, left);
        left &= !group;
        let Some(state) = cx.block.mbarriers.all.get_mut(&offset) else { continue };
        let sum: u64 = lanes_of(group).map(|lane| u64::from(counts[lane])).sum();
        if sum <= u64::from(state.pending) {
            cx.warp.clocks.release(group, Scope::Cta, &mut state.arriving);
            released |= group;
        }
    }
    released
}

/// Checks, the first time that lanes use an mbarrier, that its initialisation comes before.
fn see(cx: &mut Cx<'_, '_>, number: u32, offsets: &[u32; LANES], mask: u32) -> Option<Flow> {
    let warp = cx.warp.index as usize;
    let mut left = mask;
    while left != 0 {
        let (offset, group) = first_group(offsets, left);
        left &= !group;
        let Some(state) = cx.block.mbarriers.all.get_mut(&offset) else { continue };
        if state.seen[warp] & group == group {
            continue;
        }
        state.seen[warp] |= group;
        if let Some(fault) = access::see_mbarrier(cx, number, offset, group) {
            return Some(fault);
        }
    }
    None
}

fn note_arrival(state: &mut State, warp: u32, lane: usize) {
    match state.arrived.iter_mut().find(|(own, _)| *own == warp) {
        Some((_, lanes)) => *lanes |= 1 << lane,
        None => state.arrived.push((warp, 1 << lane)),
    }
}

fn wait(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    op: &MbarrierOp,
    offsets: &[u32; LANES],
    mask: u32,
) -> Flow {
    let MbarrierOp::Wait { done, state: token, parity, acquire, may_block } = op else {
        return Flow::Next;
    };
    let number = cx.number(fragment);
    if *may_block && cx.block.chooser.as_mut().is_some_and(|chooser| chooser.spurious()) {
        // `try_wait` may say false for no reason that the program sees (9.7.15.16.16).
        cx.lanes_mut().set_pred(*done, 0, mask);
        return cx.visible(fragment, Flow::Next);
    }
    let mut complete = 0u32;
    if let Some(fault) = see(cx, number, offsets, mask) {
        return fault;
    }
    for lane in lanes_of(mask) {
        let offset = offsets[lane];
        let given = match parity {
            true => u64::from(cx.lanes().get::<u32>(*token)[lane]),
            false => cx.lanes().get::<u64>(*token)[lane] >> 20,
        };
        let Some(state) = cx.block.mbarriers.all.get_mut(&offset) else {
            return absent(cx, number, lane, offset);
        };
        if !parity && given != state.phase && given + 1 != state.phase {
            let phase = state.phase;
            let what = format!(
                "waits for phase {given} of {} in phase {phase}: only it and the one before it are \
                 valid",
                access::shared_name(cx, offset)
            );
            cx.sink.barrier(cx.block, cx.warp.index, number, 1 << lane, what);
            return Flow::Stop(Stop::Fault(Fault::LaunchFailure));
        }
        let is = if *parity { state.phase & 1 != given & 1 } else { given != state.phase };
        if is {
            complete |= 1 << lane;
            state.waited = true;
        }
    }
    if *acquire {
        acquire_groups(cx, offsets, complete);
    }
    cx.lanes_mut().set_pred(*done, complete, mask);
    if complete == mask {
        return cx.visible(fragment, Flow::Next);
    }
    let look = u64::from(number) << 32 | u64::from(offsets[mask.trailing_zeros() as usize]) << 1;
    if cx.in_vain(fragment, look) || complete == 0 {
        return cx.nap(fragment);
    }
    Flow::Next
}

/// Lanes whose wait returned true learn what the phase released.
fn acquire_groups(cx: &mut Cx<'_, '_>, offsets: &[u32; LANES], complete: u32) {
    let mut left = complete;
    while left != 0 {
        let (offset, group) = first_group(offsets, left);
        left &= !group;
        if let Some(state) = cx.block.mbarriers.all.get(&offset) {
            cx.warp.clocks.acquire(group, Scope::Cta, &state.complete);
        }
    }
}

/// `cp.async.mbarrier.arrive` by a lane whose copies are complete.
pub(crate) fn arrive_for_copies(
    cx: &mut Cx<'_, '_>,
    number: u32,
    offset: u32,
    lane: usize,
    increments: bool,
) -> Option<Flow> {
    let Some(state) = cx.block.mbarriers.all.get_mut(&offset) else {
        return Some(absent(cx, number, lane, offset));
    };
    cx.warp.clocks.release(1 << lane, Scope::Cta, &mut state.arriving);
    // Without `.noinc` the pending count is raised by what the arrival takes off again
    // (9.7.15.16.17).
    if !increments {
        state.pending = state.pending.saturating_sub(1);
    }
    note_arrival(state, cx.warp.index, lane);
    complete_if_due(state);
    cx.progressed();
    None
}
