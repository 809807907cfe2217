//! What checks found, before it is put into words: equal findings are folded as they come.

use std::collections::BTreeMap;

use crate::finding::Severity;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// A race (PTX ISA 8.7.1).
    Race,
    /// Two unordered writes of equal values.
    EqualWrites,
    /// `ld.global.nc` of a location that the launch writes.
    ReadOnlyPath,
    /// Unordered strong accesses, one of them volatile, that synchronise nothing.
    Unsynchronised,
    /// An address in no allocation, or past the end of one.
    OutOfBounds,
    /// An address in memory that was freed.
    Freed,
    /// An address of another space, or a write to constant memory.
    WrongSpace,
    /// An address that is no multiple of the size.
    Misaligned,
    /// A read of bytes that nothing initialised.
    Uninitialised,
    /// A copy to the host of values that came from uninitialised memory.
    CopiedUninitialised,
    /// A copy to the host of memory that nothing wrote.
    CopiedUnwritten,
    /// A free of what is no allocation.
    BadFree,
    /// A second free.
    DoubleFree,
    /// Allocations that were never freed.
    Leak,
}

/// The earlier of two accesses in conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Other {
    /// The block's linear number.
    pub block: u32,
    /// The warp in the block.
    pub warp: u8,
    /// The lanes in conflict.
    pub lanes: u32,
    /// The memory instruction.
    pub pc: u32,
    /// Whether it wrote.
    pub write: bool,
    /// Whether it was a read-modify-write.
    pub atomic: bool,
}

/// A finding. Of those folded into one it tells of the first by block, warp and lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    /// What.
    pub what: What,
    /// How much it weighs.
    pub severity: Severity,
    /// The memory instruction; none for calls of the host.
    pub pc: Option<u32>,
    /// The block's linear number.
    pub block: u32,
    /// The warp in the block.
    pub warp: u8,
    /// The lanes.
    pub lanes: u32,
    /// Whether it wrote.
    pub write: bool,
    /// Whether it was a read-modify-write.
    pub atomic: bool,
    /// The first address concerned.
    pub address: u64,
    /// Bytes a lane; of host calls, bytes concerned.
    pub bytes: u64,
    /// The earlier access, of races.
    pub other: Option<Other>,
    /// How many were folded.
    pub count: u64,
}

type Key = (What, Option<u32>, Option<u32>, u64);

/// Findings of one thread of execution.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    by_key: BTreeMap<Key, Raw>,
}

impl Findings {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Whether there is an error among them.
    pub fn has_errors(&self) -> bool {
        self.by_key.values().any(|raw| raw.severity == Severity::Error)
    }

    /// Adds one.
    pub fn add(&mut self, raw: Raw) {
        let host = if raw.pc.is_none() { raw.address } else { 0 };
        let key = (raw.what, raw.pc, raw.other.map(|o| o.pc), host);
        let Some(known) = self.by_key.get_mut(&key) else {
            self.by_key.insert(key, raw);
            return;
        };
        let place = |r: &Raw| (r.block, r.warp, r.lanes.trailing_zeros(), r.address);
        let count = known.count + raw.count;
        let severity = known.severity.min(raw.severity);
        if place(&raw) < place(known) {
            *known = raw;
        }
        known.count = count;
        known.severity = severity;
    }

    /// Adds those of another thread.
    pub fn merge(&mut self, other: Self) {
        for raw in other.by_key.into_values() {
            self.add(raw);
        }
    }

    /// The uninitialised value that an instruction read reached an address or a branch: an error
    /// from now on.
    pub fn escalate(&mut self, pc: u32) {
        if let Some(raw) = self.by_key.get_mut(&(What::Uninitialised, Some(pc), None, 0)) {
            raw.severity = Severity::Error;
        }
    }

    /// All of them, in an order that doesn't depend on how they came. Writes of equal values at
    /// places that also race otherwise are left out.
    pub fn into_list(self) -> Vec<Raw> {
        let races: Vec<_> = self.by_key.keys().filter(|k| k.0 == What::Race).copied().collect();
        let raced = |key: &Key| {
            matches!(key.0, What::EqualWrites | What::Unsynchronised)
                && races.iter().any(|race| (race.1, race.2) == (key.1, key.2))
        };
        self.by_key.into_iter().filter(|(key, _)| !raced(key)).map(|(_, raw)| raw).collect()
    }
}
