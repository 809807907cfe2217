//! What a new access means for those recorded before it.

use smallvec::SmallVec;

use super::clock::Clock;
use super::line::List;
use super::record::{Conflict, Record, Relation, SAME, flag};
use super::{Grid, each};

/// In a list of more records than this, who observed the last write may be forgotten.
const WITNESSES: usize = 64;

/// Who makes the new access, and what it knows.
pub struct Viewer<'a> {
    /// What its lanes know.
    pub clock: &'a Clock,
    /// The launch.
    pub grid: &'a Grid,
}

impl Viewer<'_> {
    /// Whether all threads of a record are known up to its epoch.
    #[inline(always)]
    fn knows(&self, old: &Record) -> bool {
        self.clock.part(old.block).is_some_and(|part| part.least(old.warp) >= old.epoch)
    }

    #[inline(always)]
    pub(super) fn before(&self, old: &Record, new: &Record) -> bool {
        (old.same_map(new) && old.same_warp(new) && (old.log != SAME || one(old.lanes)))
            || self.knows(old)
    }

    /// The units among those given at which some thread of the old record is not ordered before
    /// some thread of the new one.
    fn unordered(&self, old: &Record, new: &Record, units: u32) -> u32 {
        if self.before(old, new) {
            return 0;
        }
        let Some(part) = self.clock.part(old.block) else { return units };
        let unknown = !part.knowing(old.warp, old.epoch);
        let own = old.same_warp(new);
        let mut left = 0;
        each(units, |unit| {
            let lanes = new.lanes_at(unit);
            let itself = if own && one(lanes) { lanes } else { 0 };
            left |= u32::from(old.lanes_at(unit) & unknown & !itself != 0) << unit;
        });
        left
    }

    /// The units at which each thread of the old record is ordered before some thread of the new.
    fn superseded(&self, old: &Record, new: &Record, units: u32) -> u32 {
        let own = old.same_warp(new);
        if own && old.same_map(new) || self.knows(old) {
            return units;
        }
        let known = self.clock.part(old.block).map_or(0, |p| p.knowing(old.warp, old.epoch));
        let mut superseded = 0;
        each(units, |unit| {
            let known = if own { known | new.lanes_at(unit) } else { known };
            superseded |= u32::from(old.lanes_at(unit) & !known == 0) << unit;
        });
        superseded
    }

    /// The lanes of the new record that are not ordered after all threads of the old one, at a
    /// unit.
    fn lanes_unordered(&self, old: &Record, new: &Record, unit: u32) -> u32 {
        let known = self.clock.part(old.block).map_or(0, |p| p.knowing(old.warp, old.epoch));
        let unknown = old.lanes_at(unit) & !known;
        let lanes = new.lanes_at(unit);
        match unknown {
            0 => 0,
            itself if old.same_warp(new) && one(itself) => lanes & !itself,
            _ => lanes,
        }
    }

    /// The lanes of the new record that are ordered after some thread of another, at a unit.
    fn lanes_after(&self, by: &Record, new: &Record, unit: u32) -> u32 {
        let known = self.clock.part(by.block).map_or(0, |p| p.knowing(by.warp, by.epoch));
        let lanes = new.lanes_at(unit);
        match by.lanes_at(unit) {
            by_lanes if by_lanes & known != 0 => lanes,
            by_lanes if by.same_warp(new) => lanes & by_lanes,
            _ => 0,
        }
    }

    /// Whether both are strong, overlap completely and include each other (PTX ISA 8.7.1).
    fn morally_strong(&self, old: &Record, new: &Record) -> bool {
        let both = old.flags & new.flags;
        let differ = old.flags ^ new.flags;
        both & flag::STRONG != 0
            && differ & (7 << flag::WIDTH | flag::ASYNC) == 0
            && self.grid.includes(old.scope(), old.block, new.block)
            && self.grid.includes(new.scope(), new.block, old.block)
    }

    /// Whether a new strong access has a scope that includes whomever the old record is of, and
    /// whomever it stands for by a flag.
    fn reaches(&self, new: &Record, old: &Record, flags: u16) -> bool {
        self.grid.includes(new.scope(), new.block, old.block)
            && (!old.is(flags) || new.scope() >= old.scope())
    }

    /// Whether a new access, if it is ordered after an old one, or observes it, makes it redundant.
    fn covers(&self, new: &Record, old: &Record, observed: bool) -> bool {
        new.is_as_weak_as(old, observed)
            && (!new.is(flag::STRONG) || self.reaches(new, old, flag::FOREIGN | flag::LINKED))
    }

    /// Lets a read-modify-write take the place of the last write, if it observes it, both are of
    /// one kind and it makes it redundant. Says whether it did.
    #[inline(always)]
    pub(super) fn link(&self, old: &mut Record, new: &Record) -> bool {
        let own = flag::LAST | flag::CHAINED | flag::FOREIGN | flag::LINKED;
        let alike = old.units == new.units
            && (old.flags ^ new.flags) & !own == 0
            && new.flags & (flag::ATOMIC | flag::WRITE) == flag::ATOMIC | flag::WRITE
            && old.is_head()
            && self.morally_strong(old, new)
            && self.reaches(new, old, flag::FOREIGN | flag::LINKED);
        if alike {
            let stands = old.flags & (flag::FOREIGN | flag::LINKED);
            let mut flags = flag::LAST | old.flags & flag::FOREIGN;
            if stands != 0 || old.block != new.block {
                flags |= flag::LINKED;
                flags |= if self.superseded(old, new, old.units) != 0 { flag::FOREIGN } else { 0 };
            }
            *old = Record { flags: new.flags | flags, ..*new };
        }
        alike
    }

    /// How two accesses conflict, and at which of the units at which they are unordered. At those
    /// of `chain` the new access observes the old one.
    fn conflict(&self, old: &Record, new: &Record, unordered: u32, chain: u32) -> (Relation, u32) {
        if !self.morally_strong(old, new) {
            return (Relation::Race, unordered & !chain);
        }
        if !self.reaches(new, old, flag::FOREIGN) {
            return (Relation::Race, unordered);
        }
        if !self.reaches(new, old, flag::LINKED) && unordered & !chain != 0 {
            return (Relation::Race, unordered & !chain);
        }
        let any = old.flags | new.flags;
        let silent = any & flag::VOLATILE == 0 || any & flag::SYNC != 0;
        (Relation::Volatile, if silent { 0 } else { unordered })
    }
}

#[inline(always)]
fn one(lanes: u32) -> bool {
    lanes & lanes.wrapping_sub(1) == 0
}

/// Adds an access to a list, in which what it makes redundant is dropped.
pub(super) fn record(
    list: &mut List,
    mut new: Record,
    viewer: &Viewer<'_>,
    conflicts: &mut Vec<Conflict>,
) {
    let mut overlapping = 0;
    let mut at = 0;
    for (number, old) in list.iter().enumerate() {
        if old.units & new.units != 0 {
            overlapping += 1;
            at = number;
        }
    }
    if overlapping == 0 {
        add(list, &Record { flags: new.flags | new.last(), ..new });
        return;
    }
    if overlapping == 1 && viewer.link(&mut list[at], &new) || is_covered(list, &new, viewer) {
        return;
    }
    judge(list, &mut new, viewer, conflicts);
}

fn judge(list: &mut List, new: &mut Record, viewer: &Viewer<'_>, conflicts: &mut Vec<Conflict>) {
    let chain = observed_by(list, new, viewer);
    // All are judged before any is dropped: who observed a write may stand behind it.
    let met: SmallVec<[Met; 8]> =
        list.iter().map(|old| meet(list, old, new, chain, viewer, conflicts)).collect();
    let mut witness = 0;
    let mut stands = 0;
    for (at, met) in met.iter().enumerate() {
        let old = list[at];
        let units = old.units & new.units;
        witness |= met.witness;
        stands |= met.flags;
        if !new.is(flag::WRITE) {
            list[at].units &= !met.drop;
            continue;
        }
        list[at].units &= !units;
        let stay = units & !met.drop;
        let unlinked = old.flags & !(flag::LAST | flag::CHAINED);
        let chained = if old.is_last() { old.flags | flag::CHAINED } else { unlinked };
        split(list, &old, stay & !chain, unlinked);
        split(list, &old, stay & chain, chained);
    }
    list.retain(|old| old.units != 0);
    new.flags |= stands;
    new.flags |= new.last();
    for (units, flags) in [(witness, new.flags | flag::SEEN), (!witness, new.flags)] {
        add(list, &Record { units: new.units & units, flags, ..*new });
    }
}

fn split(list: &mut List, old: &Record, units: u32, flags: u16) {
    if units != 0 {
        list.push(Record { units, flags, ..*old });
    }
}

/// The units at which a new access reads the last write, and is morally strong with it: it observes
/// that write, and all in the chain of read-modify-writes that ends there (PTX ISA 8.9.2).
fn observed_by(list: &[Record], new: &Record, viewer: &Viewer<'_>) -> u32 {
    if !new.is(flag::STRONG) || new.is(flag::WRITE) && !new.is(flag::ATOMIC) {
        return 0;
    }
    list.iter()
        .filter(|old| old.is_head())
        .filter(|old| viewer.morally_strong(old, new))
        .fold(0, |units, old| units | old.units & new.units)
}

/// What a new access means for an old record.
#[derive(Default)]
struct Met {
    /// The units at which the old record is redundant now.
    drop: u32,
    /// The units at which the new read observes the old write, which is not ordered before it else.
    witness: u32,
    /// What the new record stands for from now on.
    flags: u16,
}

/// Judges a new access against an old record.
fn meet(
    list: &[Record],
    old: &Record,
    new: &Record,
    chain: u32,
    viewer: &Viewer<'_>,
    conflicts: &mut Vec<Conflict>,
) -> Met {
    let units = old.units & new.units;
    if units == 0 {
        return Met::default();
    }
    let inherited = old.flags & (flag::FOREIGN | flag::LINKED) != 0 || old.block != new.block;
    let covers = viewer.covers(new, old, false);
    let mut drop = if covers { viewer.superseded(old, new, units) } else { 0 };
    let stands = if inherited { flag::FOREIGN } else { 0 };
    if !old.is(flag::WRITE) && !new.is(flag::WRITE) {
        // A witness stays: somebody may be ordered after it and not after the new read.
        if old.is_seen() && list.len() <= WITNESSES {
            drop = 0;
        }
        return Met { drop, witness: 0, flags: if drop != 0 { stands } else { 0 } };
    }
    let mut unordered = viewer.unordered(old, new, units);
    if old.is_last() && unordered != 0 {
        unordered &= !observed_before(list, old, new, unordered, viewer);
    }
    let chain = if old.is_last() { chain & units } else { 0 };
    let (relation, hit) = if (old.flags | new.flags) & flag::NC != 0 {
        (Relation::ReadOnly, units)
    } else {
        viewer.conflict(old, new, unordered, chain)
    };
    if hit != 0 {
        conflicts.push(Conflict { earlier: old.with_units(hit), relation });
    }
    if !new.is(flag::WRITE) {
        return Met { witness: unordered & chain, ..Met::default() };
    }
    if covers {
        drop |= units & !unordered;
    }
    let mut flags = if drop != 0 { stands } else { 0 };
    if chain != 0 && viewer.covers(new, old, true) {
        drop |= chain;
        flags |= old.flags & flag::FOREIGN;
        flags |= if inherited { flag::LINKED } else { 0 };
    }
    if relation != Relation::Volatile {
        drop |= hit;
    }
    Met { drop, witness: 0, flags }
}

/// The units at which a write of the last chain is ordered before a new access, lanes that are
/// after it by themselves aside, through somebody who observed it (PTX ISA 8.9.5): a strong read,
/// or the last read-modify-write.
fn observed_before(
    list: &[Record],
    old: &Record,
    new: &Record,
    units: u32,
    viewer: &Viewer<'_>,
) -> u32 {
    let by =
        |by: &&Record| by.is_seen() || old.is(flag::CHAINED) && by.is_head() && by.is(flag::ATOMIC);
    if !list.iter().any(|record| by(&record)) {
        return 0;
    }
    let mut observed = 0;
    each(units, |unit| {
        let mut left = viewer.lanes_unordered(old, new, unit);
        for record in list.iter().filter(by).filter(|record| record.units >> unit & 1 == 1) {
            left &= !viewer.lanes_after(record, new, unit);
        }
        observed |= u32::from(left == 0) << unit;
    });
    observed
}

/// Whether a new read adds nothing to what is recorded.
fn is_covered(list: &[Record], new: &Record, viewer: &Viewer<'_>) -> bool {
    if new.is(flag::WRITE) {
        return false;
    }
    let mut block = None;
    let mut covered = false;
    for old in list {
        if old.is(flag::WRITE) {
            if old.units & new.units != 0 {
                return false;
            }
        } else if new.units & !old.units == 0 && old.is_as_weak_as(new, false) {
            // Whoever writes here conflicts with a reader of one of two blocks.
            covered |= viewer.grid.isolated && block.is_some_and(|block| block != old.block);
            covered |= old.says(new);
            block = Some(old.block);
        }
    }
    covered
}

/// Adds a record, or adds it to another if one can say both.
fn add(list: &mut List, new: &Record) {
    if new.units == 0 {
        return;
    }
    let joint = |old: &&mut Record| {
        old.is_like(new)
            || old.units == new.units
                && (old.log, new.log) == (SAME, SAME)
                && !new.is(flag::WRITE)
                && old.is_like(&Record { lanes: old.lanes, ..*new })
    };
    match list.iter_mut().find(joint) {
        Some(old) if old.lanes == new.lanes => old.units |= new.units,
        Some(old) => old.lanes |= new.lanes,
        None => list.push(*new),
    }
}
