//! Flags: what the last strong write to a location carries to those who observe it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::clock::Clock;
use super::{Grid, Scope};

/// Releases on their way to whoever acquires them, by whom they may reach.
///
/// A release of a wide scope also reaches acquires of a narrow one, but only of its own block (or
/// cluster): both scopes must include the other thread (PTX ISA 8.7.1).
#[derive(Debug, Clone, Default)]
pub struct Carried {
    wide: Option<Arc<Clock>>,
    /// By tier of scope and the number of the block or cluster.
    narrow: FxHashMap<(usize, u32), Arc<Clock>>,
}

impl Carried {
    /// Whether nothing is carried.
    pub fn is_empty(&self) -> bool {
        self.wide.is_none() && self.narrow.is_empty()
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.wide = None;
        self.narrow.clear();
    }

    /// Adds a release by a thread of a block.
    pub fn add(&mut self, grid: &Grid, block: u32, scope: Scope, clock: &Arc<Clock>) {
        for tier in 0..=grid.tier(scope) {
            match grid.group(tier, block) {
                None => add_to(&mut self.wide, clock),
                Some(group) => match self.narrow.get_mut(&(tier, group)) {
                    Some(known) => add(known, clock),
                    None => drop(self.narrow.insert((tier, group), Arc::clone(clock))),
                },
            }
        }
    }

    /// Adds what another carries.
    pub fn merge(&mut self, other: &Self) {
        if let Some(clock) = &other.wide {
            add_to(&mut self.wide, clock);
        }
        #[allow(clippy::iter_over_hash_type, reason = "joins into separate entries")]
        for (key, clock) in &other.narrow {
            match self.narrow.get_mut(key) {
                Some(known) => add(known, clock),
                None => drop(self.narrow.insert(*key, Arc::clone(clock))),
            }
        }
    }

    /// The clocks that an acquire of a scope by a thread of a block gets.
    pub fn reaching(
        &self,
        grid: &Grid,
        block: u32,
        scope: Scope,
    ) -> impl Iterator<Item = &Arc<Clock>> {
        let grid = *grid;
        (0..=grid.tier(scope)).filter_map(move |tier| match grid.group(tier, block) {
            None => self.wide.as_ref(),
            Some(group) => self.narrow.get(&(tier, group)),
        })
    }
}

fn add(known: &mut Arc<Clock>, clock: &Arc<Clock>) {
    if Arc::ptr_eq(known, clock) || known.covers(clock) {
        return;
    }
    if clock.covers(known) {
        *known = Arc::clone(clock);
    } else {
        Arc::make_mut(known).join(clock);
    }
}

fn add_to(known: &mut Option<Arc<Clock>>, clock: &Arc<Clock>) {
    match known {
        Some(known) => add(known, clock),
        None => *known = Some(Arc::clone(clock)),
    }
}

impl Grid {
    /// The number of the tier of a scope: without clusters that of clusters is the block's.
    pub(crate) fn tier(&self, scope: Scope) -> usize {
        match scope {
            Scope::Cluster if self.cluster_blocks == 1 => 0,
            _ => scope.tier(),
        }
    }

    /// The number of the block or cluster that a tier means at a block; none for the device.
    fn group(&self, tier: usize, block: u32) -> Option<u32> {
        match tier {
            0 => Some(block),
            1 => Some(block / self.cluster_blocks),
            _ => None,
        }
    }
}

/// Who wrote a location last, by a strong operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// The block.
    pub block: u32,
    /// The operation's scope.
    pub scope: Scope,
}

/// A location whose last write carries releases.
#[derive(Debug, Clone)]
pub struct Location {
    /// Bytes of the operations on it.
    pub bytes: u8,
    /// The last write.
    pub writer: Writer,
    /// What it carries.
    pub carried: Carried,
}

impl Location {
    /// Whether an operation of a scope by a thread of a block is morally strong with the last
    /// write.
    pub fn meets(&self, grid: &Grid, block: u32, scope: Scope) -> bool {
        grid.includes(scope, block, self.writer.block)
            && grid.includes(self.writer.scope, self.writer.block, block)
    }
}
