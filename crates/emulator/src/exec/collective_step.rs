//! Lanes come to a collective, wait for the others it names, and take what it gives.

use super::collective::{Brought, Pending, name, run};
use super::step::Flow;
use super::warp::{Fragment, State, lanes_of};
use super::{Cx, Poison, Stop};
use crate::finding::{Kind, Severity};
use crate::lanes::Row;
use crate::machine::Fault;
use crate::program::Collective;

/// A collective, or going on behind it.
pub(crate) fn collective(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    named: Row,
    op: &Collective,
    mask: u32,
) -> Flow {
    if fragment.state == State::Collective {
        return resume(cx, fragment, op, mask);
    }
    if let Some(fault) = cx.check_poison(fragment, named, mask) {
        return fault;
    }
    let named = *cx.lanes().get::<u32>(named);
    let live = cx.warp.live();
    if let Some(fault) = check_members(cx, fragment, op, &named, mask) {
        return fault;
    }
    let mut left = mask;
    let mut all_here = true;
    while left != 0 {
        let group_named = named[left.trailing_zeros() as usize];
        let group = lanes_of(left)
            .filter(|lane| named[*lane] == group_named)
            .fold(0u32, |all, lane| all | 1 << lane);
        left &= !group;
        if group_named & live == group {
            at_once(cx, fragment, op, group);
        } else {
            all_here = false;
            come(cx, op, group_named, group);
        }
    }
    if all_here {
        return cx.visible(fragment, Flow::Next);
    }
    fragment.state = State::Collective;
    if passed(cx.warp.pending.as_slice(), mask) {
        return resume(cx, fragment, op, mask);
    }
    Flow::Stop(Stop::Waiting)
}

/// A lane must be among those it names (PTX ISA 9.7.9.6 and the like).
fn check_members(
    cx: &mut Cx<'_, '_>,
    fragment: &Fragment,
    op: &Collective,
    named: &[u32; 32],
    mask: u32,
) -> Option<Flow> {
    let strangers = lanes_of(mask)
        .filter(|lane| named[*lane] >> lane & 1 == 0)
        .fold(0u32, |all, lane| all | 1 << lane);
    if strangers == 0 {
        return None;
    }
    let what = format!("`{}` is run by lanes that its mask doesn't name", name(op));
    let number = cx.number(fragment);
    cx.sink.barrier(cx.block, cx.warp.index, number, strangers, what);
    Some(Flow::Stop(Stop::Fault(Fault::LaunchFailure)))
}

/// All named lanes that live are here.
fn at_once(cx: &mut Cx<'_, '_>, fragment: &Fragment, op: &Collective, group: u32) {
    if matches!(op, Collective::Sync) {
        cx.warp.clocks.warp_sync(group);
        return;
    }
    let brought = Brought::of(op, cx.lanes());
    let taken = run(op, &brought, group);
    taken.write(op, cx.lanes_mut(), group);
    settle_poison(cx, fragment, op, group, taken.undefined & group);
}

/// A value that no taking part lane brought is undefined; others are as clean as their source.
fn settle_poison(
    cx: &mut Cx<'_, '_>,
    fragment: &Fragment,
    op: &Collective,
    group: u32,
    undefined: u32,
) {
    let (d, source) = match op {
        Collective::Shfl { d, a, .. } | Collective::Match { d, a, .. } => (*d, Some(*a)),
        Collective::Redux { d, a, .. } => (*d, Some(*a)),
        Collective::Vote { d, source, .. } => (*d, Some(source.0)),
        Collective::Sync | Collective::Elect { .. } => return,
    };
    let source = source.map_or(Poison::NONE, |row| cx.poison(row));
    // Which lane's value came is not followed: all are poisoned if one that took part is.
    let lanes = if source.lanes & group != 0 { group } else { 0 };
    let origin = if undefined != 0 { cx.number(fragment) } else { source.origin };
    cx.set_poison(d, group, Poison { lanes: lanes | undefined, origin });
}

/// Some come, and others are awaited.
fn come(cx: &mut Cx<'_, '_>, op: &Collective, named: u32, group: u32) {
    let kind = name(op);
    let same = |pending: &Pending| {
        pending.kind == kind
            && pending.named == named
            && pending.arrived & group == 0
            && !pending.complete()
    };
    let index = match cx.warp.pending.iter().position(same) {
        Some(index) => index,
        None => {
            cx.warp.pending.push(Pending::new(op, named));
            cx.warp.pending.len() - 1
        }
    };
    let lanes = &cx.warp.arenas[cx.arena].lanes;
    cx.warp.pending[index].bring(op, lanes, group);
    cx.progressed();
    recheck(cx);
}

/// Completes collectives that no living lane is missing from.
pub(crate) fn recheck(cx: &mut Cx<'_, '_>) {
    let live = cx.warp.live();
    for index in 0..cx.warp.pending.len() {
        let pending = &mut cx.warp.pending[index];
        if !pending.complete() && pending.named & live & !pending.arrived == 0 {
            let arrived = pending.arrived;
            pending.complete_with(arrived);
            if pending.kind == "bar.warp.sync" {
                cx.warp.clocks.warp_sync(arrived);
            }
            cx.progressed();
        }
    }
}

/// Whether all collectives that these lanes wait in are complete.
pub(crate) fn passed(pending: &[Pending], mask: u32) -> bool {
    let mut own = pending.iter().filter(|pending| pending.arrived & !pending.taken & mask != 0);
    own.all(Pending::complete)
}

fn resume(cx: &mut Cx<'_, '_>, fragment: &mut Fragment, op: &Collective, mask: u32) -> Flow {
    fragment.state = State::Ready;
    let mut undefined = 0;
    for index in 0..cx.warp.pending.len() {
        let pending = &mut cx.warp.pending[index];
        let own = pending.arrived & !pending.taken & mask;
        if own != 0 && pending.complete() {
            let lanes = &mut cx.warp.arenas[cx.arena].lanes;
            undefined |= pending.take(op, lanes, own);
        }
    }
    cx.warp.pending.retain(|pending| pending.taken != pending.arrived);
    settle_poison(cx, fragment, op, mask, undefined);
    cx.visible(fragment, Flow::Next)
}

/// Lanes that a collective names wait in a join, having gone around it.
pub(crate) fn report_divergent(cx: &mut Cx<'_, '_>, fragment: &Fragment, parked: u32) {
    let own = cx.number_of(fragment);
    let waiting = cx.warp.pending.iter().find(|pending| {
        !pending.complete()
            && pending.arrived & fragment.mask != 0
            && pending.named & parked & !pending.arrived != 0
    });
    let Some(pending) = waiting else { return };
    let missing = pending.named & parked & !pending.arrived;
    let what = format!("`{}` names lanes that don't run it", pending.kind);
    let at = super::sink::At::new(cx.block, cx.warp.index, own, fragment.mask, "waits here");
    let note = format!(
        "its mask is {:#010x}; threads {} go around it",
        pending.named,
        super::sink::thread_ranges(&[(cx.warp.index, missing)])
    );
    cx.sink.add(Kind::Barrier, Severity::Error, what, vec![at], vec![note]);
}
