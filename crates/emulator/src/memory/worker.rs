//! One instruction of a warp at work: checks, records and moves the bytes of its runs.

use super::access::{Access, Outcome, Staging};
use super::bytes::Bytes;
use super::findings::{Findings, What};
use super::local::Local;
use super::mapping::PAGE;
use super::page::Shadow;
use super::record::flags;
use super::run::Run;
use crate::finding::Severity;
use crate::race::location::{Carried, Location, Writer};
use crate::race::record::{Conflict, Record, flag};
use crate::race::rules::Viewer;
use crate::race::{Scope, WarpClocks, each};

/// What an instruction does to memory.
pub enum Op<'a> {
    /// It loads.
    Load,
    /// It stores.
    Store {
        /// Lanes whose values came from uninitialised memory.
        poison: u32,
    },
    /// An asynchronous copy begins, which will access memory some time until it is waited for:
    /// nobody knows of that access before.
    Announce {
        /// Whether it will write.
        writes: bool,
    },
    /// It reads, modifies and writes.
    Modify {
        /// Lanes whose operands came from uninitialised memory.
        poison: u32,
        /// Whether the new value doesn't depend on the old one.
        replaces: bool,
        /// Makes the new value of a lane in place; whether it is written.
        modify: &'a mut dyn FnMut(u32, &mut [u8]) -> bool,
    },
}

impl Op<'_> {
    /// Whether it may write.
    pub fn writes(&self) -> bool {
        !matches!(self, Self::Load | Self::Announce { writes: false })
    }

    /// Whether it is only recorded.
    pub fn is_announced(&self) -> bool {
        matches!(self, Self::Announce { .. })
    }

    pub(super) fn is_store(&self) -> bool {
        matches!(self, Self::Store { .. })
    }
}

/// A conflict, and where in the page its units are.
pub(super) struct Hit {
    pub(super) conflict: Conflict,
    pub(super) new: Record,
    /// The offset of unit 0.
    pub(super) base: u32,
    /// Bytes of a unit.
    pub(super) unit: u32,
}

/// An instruction at work.
pub struct Worker<'a> {
    /// The instruction.
    pub access: &'a Access<'a>,
    /// Bytes a lane.
    pub size: u32,
    pub(super) staging: &'a mut Staging,
    pub(super) clocks: &'a mut WarpClocks,
    pub(super) rest: Rest<'a>,
}

/// What is changed while the clocks are read.
pub(super) struct Rest<'a> {
    pub(super) findings: &'a mut Findings,
    pub(super) outcome: Outcome,
    /// What records of the instruction have in common.
    pub(super) common: Record,
    /// Conflicts of the line at hand.
    pub(super) found: Vec<Conflict>,
    /// Conflicts of the run at hand.
    pub(super) hits: Vec<Hit>,
}

impl<'a> Worker<'a> {
    /// Begins.
    #[inline]
    pub fn new(
        access: &'a Access<'a>,
        staging: &'a mut Staging,
        clocks: &'a mut WarpClocks,
        findings: &'a mut Findings,
        announced: bool,
    ) -> Self {
        let record = Record {
            block: clocks.block,
            warp: clocks.warp,
            epoch: if announced { u32::MAX } else { clocks.epoch() },
            pc: access.pc,
            flags: flags(access, clocks),
            ..Record::default()
        };
        let rest = Rest {
            findings,
            outcome: Outcome::default(),
            common: record,
            found: Vec::new(),
            hits: Vec::new(),
        };
        Self { access, size: access.size(), staging, clocks, rest }
    }

    /// Ends.
    #[inline]
    pub fn finish(self) -> Outcome {
        if self.access.order.releases() {
            self.clocks.advance();
        }
        self.rest.outcome
    }

    /// A run within one page, whose bytes begin at the run's address.
    #[inline]
    pub fn part(&mut self, page: &mut Shadow, bytes: Bytes, run: &Run, op: &mut Op<'_>) {
        match self.access.order.scope() {
            Some(_) if op.is_store() && run.step == 0 && !run.mask.is_power_of_two() => {
                // One after the other: who observes the last observes no other.
                each(run.mask, |lane| self.part(page, bytes, &run.lane(lane), op));
            }
            Some(scope) if !self.is_quiet(page, op) => self.strong(page, bytes, run, op, scope),
            _ => {
                let sync = if self.acquires() && !op.is_store() { flag::SYNC } else { 0 };
                self.batch(page, bytes, run, op, sync);
            }
        }
    }

    /// Whether it acquires; the read of a `red` never does (PTX ISA 8.8).
    pub(super) fn acquires(&self) -> bool {
        self.access.returns && self.access.order.acquires()
    }

    /// Whether a strong operation has nothing to do with releases and acquires.
    pub(super) fn is_quiet(&self, page: &Shadow, op: &Op<'_>) -> bool {
        let order = self.access.order;
        page.locations.is_empty()
            && !order.releases()
            && (!self.acquires() || self.clocks.awaits_nothing())
            && (!op.writes() || self.clocks.carries_nothing())
    }

    fn strong(
        &mut self,
        page: &mut Shadow,
        bytes: Bytes,
        run: &Run,
        op: &mut Op<'_>,
        scope: Scope,
    ) {
        if run.step == 0 && !op.writes() {
            let sync = self.observe(page, run, scope);
            self.batch(page, bytes, run, op, sync);
            return;
        }
        let start = run.address;
        each(run.mask, |lane| {
            let run = &run.lane(lane);
            let bytes = bytes.from(run.address - start);
            match op {
                Op::Load | Op::Announce { .. } => {
                    let sync = self.observe(page, run, scope);
                    self.batch(page, bytes, run, op, sync);
                }
                Op::Store { .. } => self.strong_store(page, bytes, run, op, scope),
                Op::Modify { .. } => self.strong_modify(page, bytes, run, op, scope),
            }
        });
    }

    fn observe(&mut self, page: &Shadow, run: &Run, scope: Scope) -> u16 {
        let offset = (run.address % PAGE) as u32;
        let location = page.locations.get(&offset).filter(|l| u32::from(l.bytes) == self.size);
        let acquires = self.acquires();
        let seen = self.clocks.observe(run.mask, run.address, scope, acquires, location);
        if seen || acquires { flag::SYNC } else { 0 }
    }

    fn strong_store(
        &mut self,
        page: &mut Shadow,
        bytes: Bytes,
        run: &Run,
        op: &mut Op<'_>,
        scope: Scope,
    ) {
        let mut carried = Carried::default();
        let releases = self.access.order.releases();
        self.clocks.publish(run.first, run.address, scope, releases, &mut carried);
        let sync = if carried.is_empty() { 0 } else { flag::SYNC };
        self.batch(page, bytes, run, op, sync);
        self.put_location(page, run, scope, carried);
    }

    fn strong_modify(
        &mut self,
        page: &mut Shadow,
        bytes: Bytes,
        run: &Run,
        op: &mut Op<'_>,
        scope: Scope,
    ) {
        let offset = (run.address % PAGE) as u32;
        let known = page.locations.get(&offset).filter(|l| u32::from(l.bytes) == self.size);
        let known = known.cloned();
        let order = self.access.order;
        let seen = self.access.returns
            && self.clocks.observe(run.mask, run.address, scope, order.acquires(), known.as_ref());
        let read = if seen || self.acquires() { flag::SYNC } else { 0 };
        let carries = order.releases() || self.clocks.carries(run.first, run.address);
        let write = if carries { read | flag::SYNC } else { read };
        if self.modify(page, bytes, run, op, [read, write]) == 0 {
            return;
        }
        let mut carried = Carried::default();
        self.clocks.publish(run.first, run.address, scope, order.releases(), &mut carried);
        // A chain goes on if this is morally strong with the last write (PTX ISA 8.9.2).
        if let Some(known) = known
            && known.meets(&self.clocks.grid, self.clocks.block, scope)
        {
            carried.merge(&known.carried);
        }
        self.put_location(page, run, scope, carried);
    }

    fn put_location(&mut self, page: &mut Shadow, run: &Run, scope: Scope, carried: Carried) {
        let offset = (run.address % PAGE) as u32;
        page.overwrite(offset, self.size);
        if !carried.is_empty() {
            let writer = Writer { block: self.clocks.block, scope };
            let bytes = self.size as u8;
            page.locations.insert(offset, Location { bytes, writer, carried });
        }
    }

    /// A run whose lanes publish and acquire nothing any more.
    #[inline]
    fn batch(&mut self, page: &mut Shadow, bytes: Bytes, run: &Run, op: &mut Op<'_>, flags: u16) {
        match op {
            Op::Load => self.load(page, bytes, run, flags),
            Op::Announce { writes } => {
                let write = if *writes { flag::WRITE } else { 0 };
                self.record_in(page, run, flags | write);
                if !self.rest.hits.is_empty() {
                    self.judge(bytes, run, false);
                }
            }
            Op::Store { poison } => {
                let poison = *poison;
                self.store(page, bytes, run, poison, flags);
            }
            Op::Modify { .. } => {
                self.modify(page, bytes, run, op, [flags; 2]);
            }
        }
    }

    #[inline]
    fn load(&mut self, page: &mut Shadow, bytes: Bytes, run: &Run, flags: u16) {
        let offset = (run.address % PAGE) as u32;
        let span = run.span(self.size) as u32;
        if !page.init.covers(offset, span) {
            self.poisoned(page, run);
        }
        self.record_in(page, run, flags);
        if !self.rest.hits.is_empty() {
            self.judge(bytes, run, false);
        }
        let size = self.size as usize;
        let to = self.staging.bytes_mut();
        if run.step == 0 {
            let first = run.first as usize * size;
            bytes.read(0, &mut to[first..first + size]);
            each(run.mask & (run.mask - 1), |lane| {
                to.copy_within(first..first + size, lane as usize * size);
            });
        } else if run.is_dense() {
            let first = run.first as usize * size;
            bytes.read(0, &mut to[first..first + span as usize]);
        } else {
            each(run.mask, |lane| {
                let at = ((lane - run.first) * run.step) as usize;
                bytes.read(at, &mut to[lane as usize * size..][..size]);
            });
        }
    }

    #[cold]
    fn poisoned(&mut self, page: &Shadow, run: &Run) {
        let mut lanes = 0;
        each(run.mask, |lane| {
            let offset = (run.at(lane) % PAGE) as u32;
            if !page.init.covers(offset, self.size) {
                lanes |= 1 << lane;
            }
        });
        self.uninitialised(run, lanes);
    }

    pub(super) fn uninitialised(&mut self, run: &Run, lanes: u32) {
        if lanes != 0 {
            self.rest.outcome.poison |= lanes;
            let address = run.at(lanes.trailing_zeros());
            self.tell(What::Uninitialised, Severity::Warning, lanes, address, None);
        }
    }

    fn store(&mut self, page: &mut Shadow, bytes: Bytes, run: &Run, poison: u32, flags: u16) {
        for at in 0..self.clocks.groups().len() {
            let (lanes, clock) = &self.clocks.groups()[at];
            let part = run.only(*lanes);
            if part.mask == 0 {
                continue;
            }
            let viewer = Viewer { clock, grid: &self.clocks.grid };
            self.rest.record(page, &part, self.size, flags | flag::WRITE, &viewer);
            if !self.rest.hits.is_empty() {
                self.judge(bytes, &part, true);
            }
            if part.step == 0 && !part.mask.is_power_of_two() {
                self.judge_together(&part);
            }
            self.put(bytes, &part);
        }
        let offset = (run.address % PAGE) as u32;
        page.overwrite(offset, run.span(self.size) as u32);
        if poison & run.mask == 0 && (run.step == 0 || run.is_dense()) {
            page.init.set(offset, run.span(self.size) as u32);
        } else {
            each(run.mask, |lane| {
                let offset = (run.at(lane) % PAGE) as u32;
                page.set_init(offset, self.size, poison >> lane & 1 == 1);
            });
        }
    }

    /// Writes the lanes' values; of several at one address the highest lane's stays.
    fn put(&self, bytes: Bytes, run: &Run) {
        let size = self.size as usize;
        let from = self.staging.bytes();
        if run.step == 0 {
            let last = 31 - run.mask.leading_zeros();
            bytes.write(0, &from[last as usize * size..][..size]);
        } else if run.is_dense() {
            let first = run.first as usize * size;
            bytes.write(0, &from[first..first + run.span(self.size) as usize]);
        } else {
            each(run.mask, |lane| {
                let at = ((lane - run.first) * run.step) as usize;
                bytes.write(at, &from[lane as usize * size..][..size]);
            });
        }
    }

    /// Lets each lane modify its bytes, in order; the lanes that wrote. The flags are for lanes
    /// that only read, and for those that wrote.
    pub(super) fn modify(
        &mut self,
        page: &mut Shadow,
        bytes: Bytes,
        run: &Run,
        op: &mut Op<'_>,
        flags: [u16; 2],
    ) -> u32 {
        let Op::Modify { poison, replaces, modify } = op else { return 0 };
        let (poison, replaces) = (*poison, *replaces);
        let size = self.size as usize;
        let mut wrote = 0;
        let mut unknown = 0;
        each(run.mask, |lane| {
            let at = ((lane - run.first) * run.step) as usize;
            let offset = (run.at(lane) % PAGE) as u32;
            let known = page.init.covers(offset, self.size);
            unknown |= u32::from(!known) << lane;
            let old = self.staging.lane_mut(lane, self.size);
            bytes.read(at, old);
            let mut new = [0; 32];
            new[..size].copy_from_slice(old);
            if modify(lane, &mut new[..size]) {
                wrote |= 1 << lane;
                bytes.write(at, &new[..size]);
                let poison = poison >> lane & 1 == 1 || !known && !replaces;
                page.set_init(offset, self.size, poison);
                page.overwrite(offset, self.size);
            }
        });
        if self.access.returns || !replaces {
            self.uninitialised(run, unknown);
        }
        self.record_modified(page, run, wrote, flags);
        if !self.rest.hits.is_empty() {
            self.judge(bytes, run, false);
        }
        wrote
    }

    /// Records read-modify-writes; those at one address in the order in which they happened.
    fn record_modified(&mut self, page: &mut Shadow, run: &Run, wrote: u32, flags: [u16; 2]) {
        let flags = [flags[0] | flag::ATOMIC, flags[1] | flag::ATOMIC | flag::WRITE];
        if run.step != 0 {
            self.record_in(page, &run.only(wrote), flags[1]);
            self.record_in(page, &run.only(!wrote), flags[0]);
            return;
        }
        let mut rest = run.mask;
        while rest != 0 {
            let writes = rest & rest.wrapping_neg() & wrote != 0;
            let alike = if writes { rest & wrote } else { rest & !wrote };
            // Up to the first lane that did otherwise.
            let other = rest & !alike;
            let mut lanes = alike & (other & other.wrapping_neg()).wrapping_sub(1);
            if writes && !lanes.is_power_of_two() {
                // Who observes the last of them observes all, but is after the last one only.
                lanes &= !(1 << (31 - lanes.leading_zeros()));
            }
            self.record_in(page, &run.only(lanes), flags[usize::from(writes)]);
            rest &= !lanes;
        }
    }

    pub(super) fn record_in(&mut self, page: &mut Shadow, run: &Run, flags: u16) {
        if let [(_, clock)] = self.clocks.groups() {
            let viewer = Viewer { clock, grid: &self.clocks.grid };
            self.rest.record(page, run, self.size, flags, &viewer);
            return;
        }
        for (group, clock) in self.clocks.groups() {
            let part = run.only(*group);
            if part.mask != 0 {
                let viewer = Viewer { clock, grid: &self.clocks.grid };
                self.rest.record(page, &part, self.size, flags, &viewer);
            }
        }
    }

    /// A run of local memory.
    pub fn local(&mut self, local: &mut Local, run: &Run, offset: u32, op: &mut Op<'_>) {
        let mut unknown = 0;
        each(run.mask, |lane| {
            let at = offset + (lane - run.first) * run.step;
            let staged = self.staging.lane_mut(lane, self.size);
            match op {
                Op::Load => unknown |= u32::from(!local.read(lane, at, staged)) << lane,
                Op::Announce { .. } => {}
                Op::Store { poison } => local.write(lane, at, staged, *poison >> lane & 1 == 1),
                Op::Modify { poison, replaces, modify } => {
                    let known = local.read(lane, at, staged);
                    unknown |= u32::from(!known) << lane;
                    let mut new = [0; 32];
                    let new = &mut new[..staged.len()];
                    new.copy_from_slice(staged);
                    if modify(lane, new) {
                        let poison = *poison >> lane & 1 == 1 || !known && !*replaces;
                        local.write(lane, at, new, poison);
                    }
                }
            }
        });
        self.uninitialised(run, unknown);
    }
}
