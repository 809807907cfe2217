//! The clocks of a warp's lanes.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::clock::Clock;
use super::location::{Carried, Location};
use super::{Grid, Scope};

/// How many observations that no fence followed yet are kept apart by address.
const PENDING: usize = 16;

/// How many release operations are kept for a later write to the same location.
const RELEASED: usize = 16;

/// What a fence orders (PTX ISA 9.7.15.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceKind {
    /// `fence.acquire`
    Acquire,
    /// `fence.release`
    Release,
    /// `fence.acq_rel`
    AcqRel,
    /// `fence.sc`, `membar`
    Sc,
}

/// What a thread knew when it began a release pattern. Its own accesses are known up to `epoch`.
#[derive(Debug, Clone)]
struct Snapshot {
    base: Arc<Clock>,
    epoch: u32,
}

/// Fences that lanes passed: the last of each tier of scopes.
#[derive(Debug, Clone)]
struct Fenced {
    lanes: u32,
    tiers: [Option<Snapshot>; 3],
}

/// Releases that lanes observed by strong reads: a fence makes an acquire pattern of them.
#[derive(Debug, Clone)]
struct Pending {
    lanes: u32,
    address: u64,
    carried: Carried,
}

/// A release operation: a later strong write to the same location by the same thread belongs to
/// its pattern.
#[derive(Debug, Clone)]
struct Released {
    lane: u32,
    address: u64,
    scope: Scope,
    clock: Arc<Clock>,
}

/// The clocks of a warp's lanes, lanes that know the same kept together.
#[derive(Debug, Clone)]
pub struct WarpClocks {
    /// The block's linear number.
    pub block: u32,
    /// The warp's number in the block.
    pub warp: u8,
    /// The lanes that are threads.
    pub existing: u32,
    /// The launch.
    pub grid: Grid,
    pub(super) epoch: u32,
    groups: SmallVec<[(u32, Arc<Clock>); 1]>,
    fenced: Vec<Fenced>,
    pending: Vec<Pending>,
    released: Vec<Released>,
}

impl WarpClocks {
    /// Of a warp that starts.
    pub fn new(grid: Grid, block: u32, warp: u8) -> Self {
        let clock = Arc::new(Clock::new(block, grid.warps()));
        Self {
            block,
            warp,
            existing: grid.lanes(u32::from(warp)),
            grid,
            epoch: 1,
            groups: smallvec![(u32::MAX, clock)],
            fenced: Vec::new(),
            pending: Vec::new(),
            released: Vec::new(),
        }
    }

    /// The epoch of accesses made now.
    #[inline(always)]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Lanes and what they know.
    #[inline(always)]
    pub fn groups(&self) -> &[(u32, Arc<Clock>)] {
        &self.groups
    }

    pub(crate) fn advance(&mut self) {
        self.epoch += 1;
    }

    /// A fence by lanes (PTX ISA 9.7.15.4).
    pub fn fence(&mut self, lanes: u32, kind: FenceKind, scope: Scope) {
        if kind != FenceKind::Release {
            self.acquire_pending(lanes, None, scope);
        }
        if kind != FenceKind::Acquire {
            self.snapshot(lanes, scope);
            self.advance();
        }
    }

    /// Lanes release to an object outside of memory's cells, such as an mbarrier.
    pub fn release(&mut self, lanes: u32, scope: Scope, to: &mut Carried) {
        let clock = self.publishable(lanes);
        to.add(&self.grid, self.block, scope, &clock);
        self.advance();
    }

    /// Lanes acquire what such an object carries.
    pub fn acquire(&mut self, lanes: u32, scope: Scope, from: &Carried) {
        for clock in from.reaching(&self.grid.clone(), self.block, scope) {
            self.learn(lanes, clock);
        }
    }

    /// `bar.warp.sync` by lanes: each learns of all (PTX ISA 9.7.15.2).
    pub fn warp_sync(&mut self, lanes: u32) {
        let clock = self.publishable(lanes);
        self.set(lanes, &clock);
        self.advance();
    }

    /// Lanes go on behind a barrier they waited at.
    pub fn resume(&mut self, lanes: u32, clock: &Arc<Clock>) {
        self.set(lanes, clock);
    }

    /// All that lanes know together, and what they did.
    fn publishable(&self, lanes: u32) -> Arc<Clock> {
        let mut all: Option<Clock> = None;
        for (group, clock) in &self.groups {
            if group & lanes != 0 {
                match &mut all {
                    None => all = Some(Clock::clone(clock)),
                    Some(all) => all.join(clock),
                }
            }
        }
        let mut all = all.unwrap_or_else(|| Clock::new(self.block, self.grid.warps()));
        all.own.learn(self.warp, lanes, self.existing, self.epoch);
        Arc::new(all)
    }

    fn snapshot(&mut self, lanes: u32, scope: Scope) {
        let tier = self.grid.tier(scope);
        let mut kept: Vec<Fenced> = Vec::new();
        for old in &self.fenced {
            if old.lanes & !lanes != 0 {
                kept.push(Fenced { lanes: old.lanes & !lanes, tiers: old.tiers.clone() });
            }
        }
        for (group, clock) in &self.groups {
            let mut rest = group & lanes;
            let now = Some(Snapshot { base: Arc::clone(clock), epoch: self.epoch });
            for old in self.fenced.iter().filter(|_| tier < 2) {
                let both = old.lanes & rest;
                if both != 0 {
                    let mut tiers = old.tiers.clone();
                    tiers[..=tier].fill(now.clone());
                    kept.push(Fenced { lanes: both, tiers });
                    rest &= !both;
                }
            }
            if rest != 0 {
                let mut tiers = [None, None, None];
                tiers[..=tier].fill(now);
                kept.push(Fenced { lanes: rest, tiers });
            }
        }
        self.fenced = kept;
    }

    fn acquire_pending(&mut self, lanes: u32, address: Option<u64>, scope: Scope) {
        if self.pending.is_empty() {
            return;
        }
        let complete = self.grid.tier(scope) == 2 && address.is_none();
        let mut pending = std::mem::take(&mut self.pending);
        for seen in &mut pending {
            if seen.lanes & lanes != 0 && address.is_none_or(|at| at == seen.address) {
                self.acquire(seen.lanes & lanes, scope, &seen.carried);
                if complete {
                    seen.lanes &= !lanes;
                }
            }
        }
        pending.retain(|seen| seen.lanes != 0);
        self.pending = pending;
    }

    /// Whether a strong write, unless it releases itself, surely carries nothing.
    #[inline]
    pub fn carries_nothing(&self) -> bool {
        self.fenced.is_empty() && self.released.is_empty()
    }

    /// Whether a strong write by a lane, that doesn't release itself, carries something.
    pub(crate) fn carries(&self, lane: u32, address: u64) -> bool {
        self.fenced.iter().any(|f| f.lanes >> lane & 1 == 1)
            || self.released.iter().any(|r| r.lane == lane && r.address == address)
    }

    /// Whether an acquire may find something in what was observed before.
    #[inline]
    pub fn awaits_nothing(&self) -> bool {
        self.pending.is_empty()
    }

    /// Lanes read a location by a strong operation of a scope; `location` is what the write that
    /// they read carries, if anything. Says whether they saw a release.
    pub(crate) fn observe(
        &mut self,
        lanes: u32,
        address: u64,
        scope: Scope,
        acquires: bool,
        location: Option<&Location>,
    ) -> bool {
        let seen = location.filter(|l| l.meets(&self.grid, self.block, scope));
        if acquires {
            self.acquire_pending(lanes, Some(address), scope);
            if let Some(seen) = seen {
                self.acquire(lanes, scope, &seen.carried);
            }
        } else if let Some(seen) = seen {
            self.remember(lanes, address, &seen.carried);
        }
        seen.is_some()
    }

    fn remember(&mut self, lanes: u32, address: u64, carried: &Carried) {
        let same = |p: &&mut Pending| p.lanes == lanes && p.address == address;
        if let Some(known) = self.pending.iter_mut().find(same) {
            known.carried.merge(carried);
            return;
        }
        let mine = self.pending.iter().filter(|p| p.lanes == lanes).count();
        if mine >= PENDING {
            // Which location it came through matters only to an acquire of that very location.
            if let Some(first) = self.pending.iter_mut().find(|p| p.lanes == lanes) {
                first.address = u64::MAX;
                first.carried.merge(carried);
            }
            return;
        }
        self.pending.push(Pending { lanes, address, carried: carried.clone() });
    }

    /// A lane writes a location by a strong operation of a scope: adds what this write carries.
    pub(crate) fn publish(
        &mut self,
        lane: u32,
        address: u64,
        scope: Scope,
        releases: bool,
        to: &mut Carried,
    ) {
        if let Some(fenced) = self.fenced.iter().find(|f| f.lanes >> lane & 1 == 1) {
            let mut last = None;
            for (tier, snapshot) in fenced.tiers.iter().enumerate().rev() {
                let Some(snapshot) = snapshot else { continue };
                if last == Some(snapshot.epoch) {
                    continue;
                }
                last = Some(snapshot.epoch);
                let clock = self.at(&snapshot.base, lane, snapshot.epoch);
                to.add(&self.grid, self.block, Scope::of_tier(tier), &clock);
            }
        }
        for old in self.released.iter().filter(|r| r.lane == lane && r.address == address) {
            to.add(&self.grid, self.block, old.scope, &old.clock);
        }
        if releases {
            let base = self.clock_of(lane);
            let clock = self.at(&base, lane, self.epoch);
            to.add(&self.grid, self.block, scope, &clock);
            self.keep(Released { lane, address, scope, clock });
        }
    }

    fn keep(&mut self, release: Released) {
        let same = |r: &Released| {
            r.lane == release.lane && r.address == release.address && r.scope == release.scope
        };
        if let Some(old) = self.released.iter_mut().find(|r| same(r)) {
            *old = release;
            return;
        }
        if self.released.iter().filter(|r| r.lane == release.lane).count() >= RELEASED
            && let Some(oldest) = self.released.iter().position(|r| r.lane == release.lane)
        {
            self.released.remove(oldest);
        }
        self.released.push(release);
    }

    fn clock_of(&self, lane: u32) -> Arc<Clock> {
        let group = self.groups.iter().find(|(lanes, _)| lanes >> lane & 1 == 1);
        Arc::clone(&group.unwrap_or(&self.groups[0]).1)
    }

    fn at(&self, base: &Arc<Clock>, lane: u32, epoch: u32) -> Arc<Clock> {
        let mut clock = Clock::clone(base);
        clock.own.learn(self.warp, 1 << lane, self.existing, epoch);
        Arc::new(clock)
    }

    fn learn(&mut self, lanes: u32, clock: &Arc<Clock>) {
        let known = |(group, own): &(u32, Arc<Clock>)| group & lanes == 0 || own.covers(clock);
        if self.groups.iter().all(known) {
            return;
        }
        let mut learned: SmallVec<[(u32, Arc<Clock>); 2]> = SmallVec::new();
        for (group, own) in &self.groups {
            if group & lanes != 0 {
                learned.push((group & lanes, Clock::joined(own, clock)));
            }
        }
        for (lanes, clock) in learned {
            self.set(lanes, &clock);
        }
    }

    /// Lanes know this from now on.
    fn set(&mut self, lanes: u32, clock: &Arc<Clock>) {
        if lanes | !self.existing == u32::MAX {
            self.groups = smallvec![(u32::MAX, Arc::clone(clock))];
            return;
        }
        for group in &mut self.groups {
            group.0 &= !lanes;
        }
        self.groups.retain(|group| group.0 != 0);
        let same = |own: &Arc<Clock>| Arc::ptr_eq(own, clock) || **own == **clock;
        match self.groups.iter_mut().find(|(_, own)| same(own)) {
            Some(group) => group.0 |= lanes,
            None => self.groups.push((lanes, Arc::clone(clock))),
        }
    }
}
