//! `cp.async`: copies that complete as late as is legal, so that a missing wait shows
//! (PTX ISA 9.7.9.25).

use std::collections::VecDeque;

use super::step::Flow;
use super::warp::{Fragment, lanes_of};
use super::{Cx, access, mbarriers};
use crate::lanes::{LANES, Row};
use crate::program::AsyncCopy;

/// One copy of one lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copy {
    pub(crate) to: u64,
    pub(crate) from: u64,
    /// Bytes written.
    pub(crate) bytes: u8,
    /// Bytes read; the rest is zero.
    pub(crate) read: u8,
    /// The instruction.
    pub(crate) number: u32,
}

/// A lane's copies that are under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct LaneCopies {
    open: Vec<Copy>,
    groups: VecDeque<Vec<Copy>>,
}

/// A warp's.
pub(crate) type Copies = Vec<LaneCopies>;

/// `cp.async` and its groups.
pub(crate) fn copy(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    op: &AsyncCopy,
    mask: u32,
) -> Flow {
    if cx.warp.copies.is_empty() {
        cx.warp.copies = vec![LaneCopies::default(); LANES];
    }
    match op {
        AsyncCopy::Copy { .. } => start(cx, fragment, op, mask),
        AsyncCopy::Commit => {
            for lane in lanes_of(mask) {
                let lane = &mut cx.warp.copies[lane];
                let open = std::mem::take(&mut lane.open);
                lane.groups.push_back(open);
            }
            Flow::Next
        }
        AsyncCopy::Wait(allowed) => {
            let due = |lane: &mut LaneCopies| {
                let count = lane.groups.len().saturating_sub(*allowed as usize);
                lane.groups.drain(..count).flatten().collect()
            };
            complete(cx, mask, due).unwrap_or_else(|| cx.visible(fragment, Flow::Next))
        }
        AsyncCopy::WaitAll => {
            complete(cx, mask, all).unwrap_or_else(|| cx.visible(fragment, Flow::Next))
        }
        AsyncCopy::Arrive { base, wide, offset, no_increment } => {
            if let Some(fault) = complete(cx, mask, all) {
                return fault;
            }
            let number = cx.number(fragment);
            for lane in lanes_of(mask) {
                let address = access::lane_address(cx, *base, *wide, *offset, lane);
                let at = access::shared_offset(cx, address).unwrap_or(u32::MAX);
                let fault = mbarriers::arrive_for_copies(cx, number, at, lane, !no_increment);
                if let Some(fault) = fault {
                    return fault;
                }
            }
            cx.visible(fragment, Flow::Next)
        }
    }
}

fn all(lane: &mut LaneCopies) -> Vec<Copy> {
    let groups = lane.groups.drain(..).flatten();
    let mut all: Vec<Copy> = groups.collect();
    all.append(&mut lane.open);
    all
}

fn start(cx: &mut Cx<'_, '_>, fragment: &Fragment, op: &AsyncCopy, mask: u32) -> Flow {
    let AsyncCopy::Copy { to, from, bytes, source_bytes, ignore } = op else { return Flow::Next };
    for row in [to.0, from.0] {
        if let Some(fault) = cx.check_poison(fragment, row, mask) {
            return fault;
        }
    }
    let number = cx.number(fragment);
    let reads = source_bytes.map(|row| *cx.lanes().get::<u32>(row));
    let ignored = ignore.map_or(0, |(row, negated)| {
        let lanes = cx.lanes().pred(row);
        if negated { !lanes } else { lanes }
    });
    let mut whole = 0;
    for lane in lanes_of(mask) {
        let mut read = reads.map_or(*bytes, |reads| reads[lane].min(u32::from(*bytes)) as u8);
        if ignored >> lane & 1 == 1 {
            read = 0;
        }
        let copy = Copy {
            to: access::lane_address(cx, to.0, to.1, to.2, lane),
            from: access::lane_address(cx, from.0, from.1, from.2, lane),
            bytes: *bytes,
            read,
            number,
        };
        cx.warp.copies[lane].open.push(copy);
        whole |= u32::from(read == *bytes) << lane;
    }
    let address = |at: &(Row, bool, i64)| {
        std::array::from_fn(|lane| access::lane_address(cx, at.0, at.1, at.2, lane))
    };
    let (from, to) = (address(from), address(to));
    access::announce(cx, number, (&from, whole), (&to, mask), *bytes).unwrap_or(Flow::Next)
}

/// Completes what is due of each lane. Copies of one instruction go together.
fn complete(
    cx: &mut Cx<'_, '_>,
    mask: u32,
    due: impl Fn(&mut LaneCopies) -> Vec<Copy>,
) -> Option<Flow> {
    let mut by_lane: Vec<VecDeque<Copy>> = vec![VecDeque::new(); LANES];
    for lane in lanes_of(mask) {
        by_lane[lane] = due(&mut cx.warp.copies[lane]).into();
    }
    loop {
        let next = by_lane.iter().filter_map(|copies| copies.front()).next().copied()?;
        let mut group = [None; LANES];
        for (lane, copies) in by_lane.iter_mut().enumerate() {
            let same = |copy: &&Copy| copy.number == next.number && copy.read == next.read;
            if copies.front().filter(same).is_some() {
                group[lane] = copies.pop_front();
            }
        }
        if let Some(fault) = access::copy_group(cx, &group, next) {
            return Some(fault);
        }
    }
}

/// Threads end: what they never waited for completes.
pub(crate) fn finish(cx: &mut Cx<'_, '_>, _fragment: &Fragment, mask: u32) -> Option<Flow> {
    if cx.warp.copies.is_empty() {
        return None;
    }
    complete(cx, mask, all)
}
