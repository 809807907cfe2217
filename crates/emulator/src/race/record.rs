//! Records of accesses to a line.

use super::{Scope, each};

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
    /// Of a write that is also [`LAST`]: a read-modify-write observed it and became the last.
    pub const CHAINED: u16 = 1 << 8;
    /// Of a read: it observed the last write and so the chain that ends there, and is not ordered
    /// after it else. A read has none of the flags of writes, so that the bit means this then.
    pub const SEEN: u16 = CHAINED;
    /// It stands for an earlier access of another block in its scope too, which it made redundant.
    pub const FOREIGN: u16 = 1 << 9;
    /// As [`FOREIGN`], for a write of the chain that it observed.
    pub const LINKED: u16 = 1 << 15;
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

    /// Whether it is a read that observed the last write.
    #[inline(always)]
    pub fn is_seen(&self) -> bool {
        self.flags & (flag::WRITE | flag::SEEN) == flag::SEEN
    }

    /// The flag that a write has when it becomes the last.
    pub(super) fn last(&self) -> u16 {
        if self.is(flag::WRITE) { flag::LAST } else { 0 }
    }

    /// Whether it is the last write.
    #[inline(always)]
    pub fn is_head(&self) -> bool {
        self.flags & (flag::WRITE | flag::LAST | flag::CHAINED) == flag::WRITE | flag::LAST
    }

    /// Whether it is the last write or in the chain that ends there.
    #[inline(always)]
    pub fn is_last(&self) -> bool {
        self.is(flag::LAST)
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
    pub(super) fn is_as_weak_as(&self, old: &Self, observed: bool) -> bool {
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
    pub(super) fn same_map(&self, other: &Self) -> bool {
        self.log == other.log && self.lanes == other.lanes
    }

    /// Whether one record can say both: the same lanes, by the same instruction in the same epoch.
    #[inline(always)]
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.pc == other.pc
            && self.epoch == other.epoch
            && self.flags == other.flags
            && self.same_map(other)
            && self.same_warp(other)
    }

    /// Whether it says all that a read of units of it would say: both are by the same lanes in the
    /// same epoch.
    #[inline(always)]
    pub(super) fn says(&self, new: &Self) -> bool {
        self.epoch == new.epoch
            && self.same_map(new)
            && self.same_warp(new)
            && self.is_as_weak_as(new, false)
    }

    #[inline(always)]
    pub(super) fn same_warp(&self, other: &Self) -> bool {
        self.block == other.block && self.warp == other.warp
    }

    pub(super) fn with_units(mut self, units: u32) -> Self {
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
