//! The sixteen barriers of a block (PTX ISA 9.7.15.1).

use std::collections::VecDeque;
use std::sync::Arc;

use super::step::Flow;
use super::warp::{Fragment, State, lanes_of};
use super::{Cx, Stop};
use crate::finding::{Kind, Severity};
use crate::machine::Fault;
use crate::program::{Bar, BarKind, Count};
use crate::race::{BarrierClock, Clock};

/// Barriers of a block.
pub(crate) const BARRIERS: usize = 16;

/// All barriers of a block.
pub(crate) struct Bars {
    pub(crate) slots: Vec<Slot>,
}

/// One barrier.
#[derive(Default)]
pub(crate) struct Slot {
    /// Phases that completed.
    pub(crate) generation: u64,
    /// Threads that complete the phase; `None` for all of the block.
    expected: Option<u32>,
    /// Who arrived in this phase, by warp.
    pub(crate) arrived: Vec<u32>,
    /// Who of them waits, by warp.
    waiting: Vec<u32>,
    /// Whether reductions are under way.
    reduces: bool,
    /// The first instruction of the phase, and whether it was aligned.
    pub(crate) first: Option<(u32, bool)>,
    joined: BarrierClock,
    popc: u32,
    total: u32,
    /// What completed phases left for those who waited.
    done: VecDeque<Done>,
}

struct Done {
    generation: u64,
    clock: Option<Arc<Clock>>,
    popc: u32,
    total: u32,
    left: u32,
}

impl Bars {
    pub(crate) fn new(warps: usize) -> Self {
        let slot = || Slot { arrived: vec![0; warps], waiting: vec![0; warps], ..Slot::default() };
        Self { slots: std::iter::repeat_with(slot).take(BARRIERS).collect() }
    }

    /// Whether the phase that a fragment waits for completed.
    pub(crate) fn passed(&self, id: u8, generation: u64) -> bool {
        self.slots[usize::from(id)].generation != generation
    }
}

impl Slot {
    fn busy(&self) -> bool {
        self.arrived.iter().any(|lanes| *lanes != 0)
    }

    /// Threads that arrived. A warp whose live lanes all arrived counts in full where the barrier
    /// has a count: it is in warps that the hardware counts.
    fn count(&self, live: &[u32]) -> u32 {
        let by_warp = self.arrived.iter().enumerate();
        by_warp
            .map(|(warp, lanes)| match self.expected {
                Some(_) if *lanes != 0 && lanes & live[warp] == live[warp] => 32,
                _ => lanes.count_ones(),
            })
            .sum()
    }
}

/// `bar` and `barrier`, or going on behind it.
pub(crate) fn bar(cx: &mut Cx<'_, '_>, fragment: &mut Fragment, bar: &Bar, mask: u32) -> Flow {
    if let State::AtBarrier { id, generation } = fragment.state {
        return resume(cx, fragment, bar, mask, id, generation);
    }
    let number = cx.number(fragment);
    let ids = *cx.lanes().get::<u32>(bar.id);
    let first = mask.trailing_zeros() as usize;
    let id = ids[first];
    if id as usize >= BARRIERS || lanes_of(mask).any(|lane| ids[lane] != id) {
        let what = if id as usize >= BARRIERS {
            format!("barrier {id} is none of the 16 that a block has")
        } else {
            "lanes of a warp name different barriers".to_owned()
        };
        cx.sink.barrier(cx.block, cx.warp.index, number, mask, what);
        return Flow::Stop(Stop::Fault(Fault::LaunchFailure));
    }
    let expected = match bar.count {
        Count::All => None,
        Count::Row(row) => Some(cx.lanes().get::<u32>(row)[first]),
    };
    if let Some(fault) = check_count(cx, number, expected, mask) {
        return fault;
    }
    if let Some(fault) = arrive(cx, number, bar, id as usize, expected, mask) {
        return fault;
    }
    let slot = &cx.block.bars.slots[id as usize];
    let generation = slot.generation;
    if bar.kind == BarKind::Arrive {
        complete_if_full(cx, id as usize);
        return cx.visible(fragment, Flow::Next);
    }
    complete_if_full(cx, id as usize);
    fragment.state = State::AtBarrier { id: id as u8, generation };
    if cx.block.bars.passed(id as u8, generation) {
        return resume(cx, fragment, bar, mask, id as u8, generation);
    }
    Flow::Stop(Stop::Waiting)
}

fn check_count(cx: &mut Cx<'_, '_>, number: u32, expected: Option<u32>, mask: u32) -> Option<Flow> {
    let count = expected?;
    let threads = cx.launch.threads().next_multiple_of(32);
    if count == 0 || count % 32 != 0 || count > threads {
        let what = format!(
            "a count of {count} threads: it must be a multiple of 32, and at most the {threads} of \
             the block"
        );
        cx.sink.barrier(cx.block, cx.warp.index, number, mask, what);
        return Some(Flow::Stop(Stop::Fault(Fault::LaunchFailure)));
    }
    None
}

/// Adds lanes to the phase.
fn arrive(
    cx: &mut Cx<'_, '_>,
    number: u32,
    bar: &Bar,
    id: usize,
    expected: Option<u32>,
    mask: u32,
) -> Option<Flow> {
    let truths = {
        let truths = cx.lanes().pred(bar.source.0);
        if bar.source.1 { !truths } else { truths }
    };
    let reduces = matches!(bar.kind, BarKind::Popc | BarKind::And | BarKind::Or);
    let warp = cx.warp.index as usize;
    let slot = &mut cx.block.bars.slots[id];
    let mut wrong = None;
    if !slot.busy() {
        slot.expected = expected;
        slot.reduces = reduces;
        slot.first = Some((number, bar.aligned));
        (slot.popc, slot.total) = (0, 0);
    } else if slot.expected != expected {
        wrong = Some("threads arrive with different counts in one phase".to_owned());
    } else if slot.reduces != reduces {
        wrong = Some("a reduction and a plain barrier meet in one phase".to_owned());
    } else if slot.arrived[warp] & mask != 0 {
        wrong = Some("a thread arrives twice in one phase".to_owned());
    }
    let other = slot.first.filter(|(first, aligned)| {
        *first != number && *aligned && bar.aligned && slot.expected.is_none()
    });
    slot.arrived[warp] |= mask;
    for (lanes, _) in &mut cx.warp.around {
        *lanes &= !mask;
    }
    if bar.kind != BarKind::Arrive {
        slot.waiting[warp] |= mask;
    }
    slot.popc += (truths & mask).count_ones();
    slot.total += mask.count_ones();
    slot.joined.arrive(&mut cx.warp.clocks, mask);
    let first_number = slot.first.map_or(number, |(first, _)| first);
    cx.progressed();
    if let Some(what) = wrong {
        let what = format!("barrier {id}: {what}");
        cx.sink.barrier_at_two(cx.block, cx.warp.index, (number, first_number), mask, what);
        return Some(Flow::Stop(Stop::Fault(Fault::LaunchFailure)));
    }
    if let Some((first, _)) = other {
        let what = format!(
            "barrier {id}: threads of the block wait at different instructions for each other"
        );
        cx.sink.barrier_at_two(cx.block, cx.warp.index, (number, first), mask, what);
    }
    None
}

/// Completes the phase if all came.
pub(crate) fn complete_if_full(cx: &mut Cx<'_, '_>, id: usize) {
    let block = &mut *cx.block;
    let slot = &mut block.bars.slots[id];
    let count = slot.count(&block.live_lanes);
    let full = match slot.expected {
        Some(expected) => count >= expected,
        None => count >= block.live,
    };
    if slot.busy() && full {
        let clock = slot.joined.complete();
        let left: u32 = slot.waiting.iter().map(|lanes| lanes.count_ones()).sum();
        let (popc, total) = (slot.popc, slot.total);
        if left > 0 {
            slot.done.push_back(Done { generation: slot.generation, clock, popc, total, left });
        }
        slot.generation += 1;
        slot.arrived.fill(0);
        slot.waiting.fill(0);
        *cx.progress += 1;
    }
}

/// Threads ended: barriers that waited for all may be full now.
pub(crate) fn recheck(cx: &mut Cx<'_, '_>) {
    for id in 0..BARRIERS {
        if cx.block.bars.slots[id].busy() {
            complete_if_full(cx, id);
        }
    }
}

/// Goes on behind a barrier.
fn resume(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    bar: &Bar,
    mask: u32,
    id: u8,
    generation: u64,
) -> Flow {
    fragment.state = State::Ready;
    let slot = &mut cx.block.bars.slots[usize::from(id)];
    let Some(at) = slot.done.iter().position(|done| done.generation == generation) else {
        return Flow::Next;
    };
    let done = &mut slot.done[at];
    let (clock, popc, total) = (done.clock.clone(), done.popc, done.total);
    done.left = done.left.saturating_sub(mask.count_ones());
    if done.left == 0 {
        slot.done.remove(at);
    }
    if let Some(clock) = clock {
        cx.warp.clocks.resume(mask, &clock);
    }
    match bar.kind {
        BarKind::Popc => cx.lanes_mut().set::<u32>(bar.result, &[popc; 32], mask),
        BarKind::And => {
            cx.lanes_mut().set_pred(bar.result, if popc == total { mask } else { 0 }, mask);
        }
        BarKind::Or => cx.lanes_mut().set_pred(bar.result, if popc > 0 { mask } else { 0 }, mask),
        BarKind::Sync | BarKind::Arrive => {}
    }
    cx.visible(fragment, Flow::Next)
}

/// Lanes wait in a join while others of their warp wait for them at an aligned barrier: the barrier
/// stands in code that not all threads run.
pub(crate) fn report_divergent(cx: &mut Cx<'_, '_>, fragment: &Fragment, parked: u32) {
    let State::AtBarrier { id, .. } = fragment.state else { return };
    let Some((_, aligned)) = cx.block.bars.slots[usize::from(id)].first else { return };
    let own = cx.number_of(fragment);
    if !aligned {
        // They may still come to it elsewhere; if they end without, it is an error.
        cx.warp.around.push((parked, own));
        return;
    }
    report_around(cx, id, own, fragment.mask, parked);
}

/// Lanes end that went around a barrier which others of their warp waited at.
pub(crate) fn check_around(cx: &mut Cx<'_, '_>, mask: u32) {
    let around = std::mem::take(&mut cx.warp.around);
    for (lanes, number) in around {
        if lanes & mask != 0 {
            report_around(cx, 0, number, 0, lanes & mask);
        }
        if lanes & !mask != 0 {
            cx.warp.around.push((lanes & !mask, number));
        }
    }
}

fn report_around(cx: &mut Cx<'_, '_>, id: u8, own: u32, waiting: u32, parked: u32) {
    let what = format!("barrier {id} stands in code that not all threads of the block run");
    let note = super::sink::At::new(cx.block, cx.warp.index, own, waiting, "waits here");
    let others = format!(
        "threads {} of the warp go around it",
        super::sink::thread_ranges(&[(cx.warp.index, parked)])
    );
    cx.sink.add(Kind::Barrier, Severity::Error, what, vec![note], vec![others]);
}
