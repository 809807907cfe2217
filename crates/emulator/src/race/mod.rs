//! Happens-before between threads, and what conflicts without it (PTX ISA 8.7 to 8.10).
//!
//! Exact vector clocks over threads. A warp counts epochs for all its lanes: the count goes up
//! after each operation by which a lane may publish what it did (a release, a fence, an arrival at
//! a barrier). An access carries its warp's epoch; it is ordered before another thread if that
//! thread's [`Clock`] knows the accessing thread up to this epoch.
//!
//! - Lanes of a warp are threads like others: only `bar.warp.sync` and barriers order them.
//! - A release pattern is a release operation, or a fence and a later strong write; an acquire
//!   pattern is an acquire operation, or a strong read and a later fence (8.8). They meet in the
//!   [`location::Location`] of the flag they go through, which keeps the releases that its last
//!   write carries. A read-modify-write carries on what it observed, a plain write does not
//!   (8.9.2).
//! - Scopes are held to: a release counts only for threads in its scope, and so for the observing
//!   read and the fences (8.7.1).
//! - Whoever observes a strong write is after that write itself, with no fence (8.9.5: observation
//!   order followed by base causality order). So the thread that got the last ticket of a counter
//!   may reset it by a plain store.
//! - Two `fence.sc` without an observation between them order nothing here, although the ISA
//!   (8.9.3) lets them: counting the order in which they happened to execute would hide real races.
//! - Kernel boundaries order everything: history is that of one launch.

pub mod barrier;
pub mod blocks;
pub mod clock;
pub mod line;
pub mod location;
pub mod record;
pub mod rules;
pub mod warp;

pub use barrier::BarrierClock;
pub use clock::Clock;
pub use warp::{FenceKind, WarpClocks};

use serde::{Deserialize, Serialize};

/// Which threads an operation may synchronise with (PTX ISA 8.5).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Those of the block.
    #[default]
    Cta,
    /// Those of the cluster; of the block, where there are no clusters.
    Cluster,
    /// Those of the device.
    Gpu,
    /// Those of the system.
    Sys,
}

impl Scope {
    /// The scopes that differ on one device, by number: [`Scope::Sys`] counts as [`Scope::Gpu`].
    pub(crate) fn tier(self) -> usize {
        match self {
            Self::Cta => 0,
            Self::Cluster => 1,
            Self::Gpu | Self::Sys => 2,
        }
    }

    pub(crate) fn of_tier(tier: usize) -> Self {
        match tier {
            0 => Self::Cta,
            1 => Self::Cluster,
            _ => Self::Gpu,
        }
    }
}

/// What all threads of a launch agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of a cluster, whose linear numbers follow each other; 1 without clusters.
    pub cluster_blocks: u32,
    /// Whether no code of the kernel can order accesses of different blocks: it has no fence,
    /// release or acquire of a scope beyond the block. Histories are then kept shorter.
    pub isolated: bool,
}

impl Grid {
    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.threads.div_ceil(32)
    }

    /// The lanes of a warp that are threads.
    pub fn lanes(&self, warp: u32) -> u32 {
        match self.threads.saturating_sub(warp * 32) {
            32.. => u32::MAX,
            n => (1 << n) - 1,
        }
    }

    /// Whether a scope, at a thread of one block, includes threads of another.
    pub fn includes(&self, scope: Scope, block: u32, other: u32) -> bool {
        block == other
            || match scope {
                Scope::Cta => false,
                Scope::Cluster => block / self.cluster_blocks == other / self.cluster_blocks,
                Scope::Gpu | Scope::Sys => true,
            }
    }
}

/// Calls a function for each set bit of a mask.
#[inline]
pub(crate) fn each(mask: u32, mut f: impl FnMut(u32)) {
    let mut rest = mask;
    while rest != 0 {
        f(rest.trailing_zeros());
        rest &= rest - 1;
    }
}
