//! Who accessed a line of 128 bytes: the last writes and the reads since.
//!
//! A record says which units (words; bytes, where an access narrower than a word occurred) one
//! warp-instruction accessed, and which lane accessed which. A coalesced access is one record. A
//! record goes when a later one makes it redundant: whatever conflicts with it would conflict with
//! the later one, at least as badly.

use smallvec::SmallVec;

use super::clock::Clock;
use super::{Grid, Scope, each};

/// A line's size in bytes.
pub const LINE: u64 = 128;

/// More records than this in a list split it into one list a unit.
const SPLIT: usize = 12;

/// [`Record::log`] of a record whose units were all accessed by the same lanes.
pub const SAME: u8 = u8::MAX;

/// Flags of a record.
pub mod flag {
    /// It writes.
    pub const WRITE: u16 = 1;
    /// It is strong (PTX ISA 8.4).
    pub const STRONG: u16 = 1 << 1;
    /// It is a read-modify-write that reads what it replaces, atomically.
    pub const ATOMIC: u16 = 1 << 2;
    /// `.volatile`
    pub const VOLATILE: u16 = 1 << 3;
    /// `ld.global.nc`
    pub const NC: u16 = 1 << 4;
    /// It belongs to the async proxy (PTX ISA 8.6).
    pub const ASYNC: u16 = 1 << 5;
    /// A release pattern may end in it.
    pub const SYNC: u16 = 1 << 6;
    /// Of a write: no later write to these units was recorded, or [`CHAINED`] says so.
    pub const LAST: u16 = 1 << 7;
    /// Of a read: it is ordered after the last write, and the chain that ends there.
    pub const SEEN: u16 = 1 << 8;
    /// Of a write that is also [`LAST`]: a read-modify-write observed it and became the last.
    pub const CHAINED: u16 = 1 << 9;
    /// It stands for an access of another block too, which it made redundant.
    pub const FOREIGN: u16 = 1 << 15;
    /// Where the scope's tier lies: two bits.
    pub const SCOPE: u16 = 10;
    /// Where the logarithm of the element's size lies: three bits.
    pub const WIDTH: u16 = 12;
}

/// One access of a warp to a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Record {
    /// The block.
    pub block: u32,
    /// The warp's epoch.
    pub epoch: u32,
    /// The memory instruction.
    pub pc: u32,
    /// The units.
    pub units: u32,
    /// The lanes, if `log` is [`SAME`]; else what to add to a unit shifted right by `log`.
    pub lanes: u32,
    /// The warp.
    pub warp: u8,
    /// How many bits of a unit's number to drop.
    pub log: u8,
    /// See [`flag`].
    pub flags: u16,
}

impl Record {
    /// Whether it has a flag.
    #[inline(always)]
    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The lanes that accessed a unit of it.
    #[inline(always)]
    pub fn lanes_at(&self, unit: u32) -> u32 {
        if self.log == SAME { self.lanes } else { 1 << (self.lanes.wrapping_add(unit >> self.log)) }
    }

    /// All lanes of it.
    pub fn all_lanes(&self) -> u32 {
        if self.log == SAME {
            return self.lanes;
        }
        let mut lanes = 0;
        each(self.units, |unit| lanes |= self.lanes_at(unit));
        lanes
    }

    /// The scope.
    pub fn scope(&self) -> Scope {
        Scope::of_tier(usize::from(self.flags >> flag::SCOPE & 3))
    }

    /// Whether whatever conflicts with an earlier access, for want of order, would conflict with
    /// this one too, at least as badly. If this one observed it, it answers for its being volatile.
    #[inline(always)]
    fn is_as_weak_as(&self, old: &Self, observed: bool) -> bool {
        if self.is(flag::NC) || !self.is(flag::STRONG) {
            return self.is(flag::NC) || !old.is(flag::NC);
        }
        let differ = self.flags ^ old.flags;
        old.is(flag::STRONG)
            && differ & (7 << flag::WIDTH | flag::ASYNC) == 0
            && self.scope() <= old.scope()
            && (observed || self.is(flag::VOLATILE) || !old.is(flag::VOLATILE))
            && (observed || !self.is(flag::SYNC) || old.is(flag::SYNC))
    }

    #[inline(always)]
    fn same_map(&self, other: &Self) -> bool {
        self.log == other.log && self.lanes == other.lanes
    }

    #[inline(always)]
    fn same_warp(&self, other: &Self) -> bool {
        self.block == other.block && self.warp == other.warp
    }

    fn with_units(mut self, units: u32) -> Self {
        self.units = units;
        self
    }
}

/// How two unordered accesses conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// A race by PTX ISA 8.7.1.
    Race,
    /// Both are strong, one is `.volatile`, neither synchronises.
    Volatile,
    /// `ld.global.nc` of what the launch writes.
    ReadOnly,
}

/// A conflict that was met.
#[derive(Debug, Clone, Copy)]
pub struct Conflict {
    /// The earlier access; its units are those in conflict.
    pub earlier: Record,
    /// How they conflict.
    pub relation: Relation,
}

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
    fn before(&self, old: &Record, new: &Record) -> bool {
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

    /// The units at which each thread of the new record is ordered after some thread of a read.
    fn after_some(&self, read: &Record, new: &Record, units: u32) -> u32 {
        let known = self.clock.part(read.block).map_or(0, |p| p.knowing(read.warp, read.epoch));
        let own = read.same_warp(new);
        let mut after = 0;
        each(units, |unit| {
            let lanes = read.lanes_at(unit);
            let all = lanes & known != 0 || own && new.lanes_at(unit) & !lanes == 0;
            after |= u32::from(all) << unit;
        });
        after
    }

    /// Whether both are strong, overlap completely and include each other (PTX ISA 8.7.1).
    fn morally_strong(&self, old: &Record, new: &Record) -> bool {
        let both = old.flags & new.flags;
        let differ = old.flags ^ new.flags;
        both & flag::STRONG != 0
            && differ & (7 << flag::WIDTH | flag::ASYNC) == 0
            && (!old.is(flag::FOREIGN) || new.scope() == Scope::Gpu)
            && self.grid.includes(old.scope(), old.block, new.block)
            && self.grid.includes(new.scope(), new.block, old.block)
    }

    fn relation(&self, old: &Record, new: &Record) -> Option<Relation> {
        if (old.flags | new.flags) & flag::NC != 0 {
            return Some(Relation::ReadOnly);
        }
        if !self.morally_strong(old, new) {
            return Some(Relation::Race);
        }
        let any = old.flags | new.flags;
        (any & flag::VOLATILE != 0 && any & flag::SYNC == 0).then_some(Relation::Volatile)
    }
}

#[inline(always)]
fn one(lanes: u32) -> bool {
    lanes & lanes.wrapping_sub(1) == 0
}

/// The history of a line, or of a quarter of one in bytes.
#[derive(Debug, Default)]
pub struct Line {
    /// A write, if its units are not empty.
    write: Record,
    /// A read, if its units are not empty.
    read: Record,
    more: Option<Box<More>>,
}

#[derive(Debug)]
enum More {
    /// Further records.
    List(Vec<Record>),
    /// A list a unit; the inline records are unused.
    Units(Box<[Vec<Record>; 32]>),
    /// A history a quarter, in bytes; the inline records are unused.
    Bytes(Box<[Line; 4]>),
}

impl Line {
    /// Forgets everything.
    #[inline]
    pub fn clear(&mut self) {
        self.write.units = 0;
        self.read.units = 0;
        self.more = None;
    }

    /// Whether units are bytes; see [`Line::quarter`].
    #[inline(always)]
    pub fn is_bytes(&self) -> bool {
        matches!(self.more.as_deref(), Some(More::Bytes(_)))
    }

    /// The history of a quarter, in bytes, from now on.
    pub fn quarter(&mut self, quarter: usize) -> &mut Self {
        if !self.is_bytes() {
            self.widen();
        }
        // Asked first, because the borrow of the answer would outlive the other arm.
        match self.is_bytes() {
            true => match self.more.as_deref_mut() {
                Some(More::Bytes(quarters)) => &mut quarters[quarter],
                _ => unreachable!("asked above"),
            },
            false => self,
        }
    }

    /// Records an access, and tells its conflicts with earlier ones.
    #[inline]
    pub fn access(&mut self, new: Record, viewer: &Viewer<'_>, conflicts: &mut Vec<Conflict>) {
        if self.more.is_none() && new.flags & (flag::STRONG | flag::NC) == 0 {
            let written = self.write.units & new.units;
            let free = written == 0 || viewer.before(&self.write, &new);
            if free && new.is(flag::WRITE) {
                let read = self.read.units & new.units;
                if (read == 0 || !self.read.is(flag::NC) && viewer.before(&self.read, &new))
                    && (self.write.units | self.read.units) & !new.units == 0
                {
                    self.write = new;
                    self.write.flags |= flag::LAST;
                    self.read.units = 0;
                    return;
                }
            } else if free && !self.read.is(flag::NC) {
                let covered = self.read.units & !new.units == 0;
                if covered && (self.read.units == 0 || viewer.before(&self.read, &new)) {
                    self.read = new;
                    self.read.flags |= flag::SEEN;
                    return;
                }
            }
        }
        self.access_slowly(new, viewer, conflicts);
    }

    #[inline(never)]
    fn access_slowly(&mut self, new: Record, viewer: &Viewer<'_>, conflicts: &mut Vec<Conflict>) {
        if let Some(More::Units(lists)) = self.more.as_deref_mut() {
            each(new.units, |unit| {
                record(&mut lists[unit as usize], new.with_units(1 << unit), viewer, conflicts);
            });
            return;
        }
        let mut list = self.take_list();
        record(&mut list, new, viewer, conflicts);
        self.put_list(list);
    }

    fn take_list(&mut self) -> Vec<Record> {
        let mut list = match self.more.take().map(|more| *more) {
            Some(More::List(list)) => list,
            Some(More::Units(lists)) => lists.iter().flatten().copied().collect(),
            Some(More::Bytes(_)) | None => Vec::new(),
        };
        for slot in [&mut self.write, &mut self.read] {
            if slot.units != 0 {
                list.push(*slot);
                slot.units = 0;
            }
        }
        list
    }

    fn put_list(&mut self, mut list: Vec<Record>) {
        let units: u32 = list.iter().map(|r| r.units.count_ones()).sum();
        if list.len() > SPLIT && units as usize <= 8 * list.len() {
            let mut lists: Box<[Vec<Record>; 32]> = Box::default();
            for old in &list {
                each(old.units, |unit| lists[unit as usize].push(old.with_units(1 << unit)));
            }
            self.more = Some(Box::new(More::Units(lists)));
            return;
        }
        if let Some(at) = list.iter().rposition(|r| r.is(flag::WRITE)) {
            self.write = list.swap_remove(at);
        }
        if let Some(at) = list.iter().rposition(|r| !r.is(flag::WRITE)) {
            self.read = list.swap_remove(at);
        }
        if !list.is_empty() {
            self.more = Some(Box::new(More::List(list)));
        }
    }

    fn widen(&mut self) {
        let all = self.take_list();
        let mut quarters: Box<[Self; 4]> = Box::default();
        for (at, quarter) in quarters.iter_mut().enumerate() {
            let list = all.iter().filter_map(|r| in_bytes(r, at as u32)).collect();
            quarter.put_list(list);
        }
        self.more = Some(Box::new(More::Bytes(quarters)));
    }
}

/// A record of words as one of the bytes of a quarter.
fn in_bytes(words: &Record, quarter: u32) -> Option<Record> {
    let mut bytes = *words;
    bytes.units = 0;
    each(words.units >> (8 * quarter) & 0xff, |word| bytes.units |= 0xf << (4 * word));
    if words.log != SAME {
        bytes.log = words.log + 2;
        bytes.lanes = words.lanes.wrapping_add((8 * quarter) >> words.log);
    }
    (bytes.units != 0).then_some(bytes)
}

/// Adds an access to a list, in which what it makes redundant is dropped.
fn record(
    list: &mut Vec<Record>,
    mut new: Record,
    viewer: &Viewer<'_>,
    conflicts: &mut Vec<Conflict>,
) {
    if is_covered(list, &new, viewer) {
        return;
    }
    let chain = observed_by(list, &new, viewer);
    // All are judged before any is dropped: who observed a write may stand behind it.
    let met: SmallVec<[Met; 8]> =
        list.iter().map(|old| meet(list, old, &new, chain, viewer, conflicts)).collect();
    let mut seen = u32::MAX;
    for (at, met) in met.iter().enumerate() {
        let old = list[at];
        let units = old.units & new.units;
        seen &= !met.unseen;
        if met.foreign {
            new.flags |= flag::FOREIGN;
        }
        if !new.is(flag::WRITE) {
            list[at].units &= !met.drop;
            continue;
        }
        list[at].units &= !units;
        let stay = units & !met.drop;
        let unlinked = old.flags & !(flag::LAST | flag::CHAINED | flag::SEEN);
        split(list, &old, stay & !chain, unlinked);
        let chained = if old.is(flag::WRITE) { old.flags | flag::CHAINED } else { old.flags };
        split(list, &old, stay & chain, chained & !flag::SEEN);
    }
    list.retain(|old| old.units != 0);
    if new.is(flag::WRITE) {
        new.flags |= flag::LAST;
    } else if seen & new.units == new.units {
        new.flags |= flag::SEEN;
    }
    if !merge(list, &new) {
        list.push(new);
    }
}

fn split(list: &mut Vec<Record>, old: &Record, units: u32, flags: u16) {
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
    let last = |old: &&Record| old.flags & (flag::LAST | flag::CHAINED) == flag::LAST;
    list.iter()
        .filter(last)
        .filter(|old| viewer.morally_strong(old, new))
        .fold(0, |units, old| units | old.units & new.units)
}

/// What a new access means for an old record.
struct Met {
    /// The units at which the old record is redundant now.
    drop: u32,
    /// The units at which the old record is in the chain of the last write and is not ordered before
    /// the new access.
    unseen: u32,
    /// Whether the new record answers for an access of another block.
    foreign: bool,
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
        return Met { drop: 0, unseen: 0, foreign: false };
    }
    let covers = new.is_as_weak_as(old, false);
    let superseded = if covers { viewer.superseded(old, new, units) } else { 0 };
    if !old.is(flag::WRITE) && !new.is(flag::WRITE) {
        let foreign = superseded != 0 && (old.block != new.block || old.is(flag::FOREIGN));
        return Met { drop: superseded, unseen: 0, foreign };
    }
    let mut unordered = viewer.unordered(old, new, units);
    if old.is(flag::LAST) && unordered != 0 {
        unordered &= !observed_before(list, old, new, unordered, viewer);
    }
    let chain = if old.is(flag::LAST) { chain } else { 0 };
    let relation = viewer.relation(old, new);
    let hit = match relation {
        Some(Relation::ReadOnly) => units,
        Some(Relation::Race) => unordered & !chain,
        Some(Relation::Volatile) => unordered,
        None => 0,
    };
    if let Some(relation) = relation
        && hit != 0
    {
        conflicts.push(Conflict { earlier: old.with_units(hit), relation });
    }
    if !new.is(flag::WRITE) {
        let unseen = if old.is(flag::LAST) { unordered & !chain } else { 0 };
        return Met { drop: 0, unseen, foreign: false };
    }
    let mut drop = superseded;
    if covers {
        drop |= units & !unordered;
    }
    if new.is_as_weak_as(old, true) {
        drop |= units & chain;
    }
    let foreign = drop != 0 && (old.block != new.block || old.is(flag::FOREIGN));
    if matches!(relation, Some(Relation::Race | Relation::ReadOnly)) {
        drop |= hit;
    }
    Met { drop, unseen: 0, foreign }
}

/// The units at which a write of the last chain is ordered before a new access through somebody who
/// observed it (PTX ISA 8.9.5): a read ordered after it, or the last read-modify-write.
fn observed_before(
    list: &[Record],
    old: &Record,
    new: &Record,
    units: u32,
    viewer: &Viewer<'_>,
) -> u32 {
    let head = flag::WRITE | flag::ATOMIC | flag::LAST;
    let mut observed = 0;
    for by in list {
        let later = by.flags & (head | flag::CHAINED) == head && old.is(flag::CHAINED);
        if by.is(flag::SEEN) || later {
            observed |= viewer.after_some(by, new, by.units & units & !observed);
        }
    }
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
            covered |= old.epoch == new.epoch && old.same_warp(new) && old.same_map(new);
            block = Some(old.block);
        }
    }
    covered
}

/// Adds to a record of the same instruction and epoch, if one record can say both.
fn merge(list: &mut [Record], new: &Record) -> bool {
    if new.log != SAME {
        return false;
    }
    let same = |old: &&mut Record| {
        old.log == SAME
            && old.epoch == new.epoch
            && old.flags == new.flags
            && old.pc == new.pc
            && old.same_warp(new)
            && (old.lanes == new.lanes || old.units == new.units && !new.is(flag::WRITE))
    };
    let Some(old) = list.iter_mut().find(same) else { return false };
    old.units |= new.units;
    old.lanes |= new.lanes;
    true
}
