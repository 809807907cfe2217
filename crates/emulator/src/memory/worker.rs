//! One instruction of a warp at work: checks, records and moves the bytes of its runs.

use super::access::{Access, Order, Outcome, Proxy, Staging};
use super::bytes::Bytes;
use super::findings::{Findings, Other, Raw, What};
use super::local::Local;
use super::mapping::PAGE;
use super::page::Shadow;
use super::run::Run;
use crate::finding::Severity;
use crate::race::line::{Conflict, LINE, Record, Relation, SAME, Viewer, flag};
use crate::race::location::{Carried, Location, Writer};
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
        !matches!(self, Self::Load)
    }
}

/// A conflict, and where in the page its units are.
struct Hit {
    conflict: Conflict,
    new: Record,
    /// The offset of unit 0.
    base: u32,
    /// Bytes of a unit.
    unit: u32,
}

/// An instruction at work.
pub struct Worker<'a> {
    /// The instruction.
    pub access: &'a Access<'a>,
    /// Bytes a lane.
    pub size: u32,
    staging: &'a mut Staging,
    clocks: &'a mut WarpClocks,
    rest: Rest<'a>,
}

/// What is changed while the clocks are read.
struct Rest<'a> {
    findings: &'a mut Findings,
    outcome: Outcome,
    /// What records of the instruction have in common.
    record: Record,
    found: Vec<Conflict>,
    hits: Vec<Hit>,
}

impl<'a> Worker<'a> {
    /// Begins.
    #[inline]
    pub fn new(
        access: &'a Access<'a>,
        staging: &'a mut Staging,
        clocks: &'a mut WarpClocks,
        findings: &'a mut Findings,
    ) -> Self {
        let record = Record {
            block: clocks.block,
            warp: clocks.warp,
            epoch: clocks.epoch(),
            pc: access.pc,
            flags: flags(access, clocks),
            ..Record::default()
        };
        let rest = Rest {
            findings,
            outcome: Outcome::default(),
            record,
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
    pub fn part(&mut self, page: &mut Shadow, bytes: Bytes, run: Run, op: &mut Op<'_>) {
        match self.access.order.scope() {
            Some(scope) if !self.is_quiet(page, op) => self.strong(page, bytes, run, op, scope),
            _ => self.batch(page, bytes, run, op, 0),
        }
    }

    /// Whether a strong operation has nothing to do with releases and acquires.
    fn is_quiet(&self, page: &Shadow, op: &Op<'_>) -> bool {
        let order = self.access.order;
        page.locations.is_empty()
            && !order.releases()
            && (!order.acquires() || self.clocks.awaits_nothing())
            && (!op.writes() || self.clocks.carries_nothing())
    }

    fn strong(&mut self, page: &mut Shadow, bytes: Bytes, run: Run, op: &mut Op<'_>, scope: Scope) {
        if run.step == 0 && !op.writes() {
            let sync = self.observe(page, &run, scope);
            self.batch(page, bytes, run, op, sync);
            return;
        }
        let start = run.address;
        each(run.mask, |lane| {
            let run = run.lane(lane);
            let bytes = bytes.from(run.address - start);
            match op {
                Op::Load => {
                    let sync = self.observe(page, &run, scope);
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
        let acquires = self.access.order.acquires();
        let seen = self.clocks.observe(run.mask, run.address, scope, acquires, location);
        if seen || acquires { flag::SYNC } else { 0 }
    }

    fn strong_store(
        &mut self,
        page: &mut Shadow,
        bytes: Bytes,
        run: Run,
        op: &mut Op<'_>,
        scope: Scope,
    ) {
        let mut carried = Carried::default();
        let releases = self.access.order.releases();
        self.clocks.publish(run.first, run.address, scope, releases, &mut carried);
        let sync = if carried.is_empty() { 0 } else { flag::SYNC };
        self.batch(page, bytes, run, op, sync);
        self.put_location(page, &run, scope, carried);
    }

    fn strong_modify(
        &mut self,
        page: &mut Shadow,
        bytes: Bytes,
        run: Run,
        op: &mut Op<'_>,
        scope: Scope,
    ) {
        let offset = (run.address % PAGE) as u32;
        let known = page.locations.get(&offset).filter(|l| u32::from(l.bytes) == self.size);
        let known = known.cloned();
        let order = self.access.order;
        let mut sync = 0;
        // The read of a `red` never acquires (PTX ISA 8.8).
        if self.access.returns
            && self.clocks.observe(run.mask, run.address, scope, order.acquires(), known.as_ref())
        {
            sync = flag::SYNC;
        }
        let mut carried = Carried::default();
        self.clocks.publish(run.first, run.address, scope, order.releases(), &mut carried);
        if !carried.is_empty() || order.acquires() {
            sync = flag::SYNC;
        }
        let wrote = self.modify(page, bytes, run, op, sync);
        if wrote == 0 {
            return;
        }
        // A chain goes on if this is morally strong with the last write (PTX ISA 8.9.2).
        if let Some(known) = known
            && known.meets(&self.clocks.grid, self.clocks.block, scope)
        {
            carried.merge(&known.carried);
        }
        self.put_location(page, &run, scope, carried);
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
    fn batch(&mut self, page: &mut Shadow, bytes: Bytes, run: Run, op: &mut Op<'_>, flags: u16) {
        match op {
            Op::Load => self.load(page, bytes, run, flags),
            Op::Store { poison } => {
                let poison = *poison;
                self.store(page, bytes, run, poison, flags);
            }
            Op::Modify { .. } => {
                self.modify(page, bytes, run, op, flags);
            }
        }
    }

    #[inline]
    fn load(&mut self, page: &mut Shadow, bytes: Bytes, run: Run, flags: u16) {
        let offset = (run.address % PAGE) as u32;
        let span = run.span(self.size) as u32;
        if !page.init.covers(offset, span) {
            self.poisoned(page, &run);
        }
        for at in 0..self.clocks.groups().len() {
            let (lanes, clock) = &self.clocks.groups()[at];
            let part = run.only(*lanes);
            if part.mask != 0 {
                let viewer = Viewer { clock, grid: &self.clocks.grid };
                self.rest.record(page, &part, self.size, flags, &viewer);
            }
        }
        if !self.rest.hits.is_empty() {
            self.judge(bytes, &run, false);
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

    fn uninitialised(&mut self, run: &Run, lanes: u32) {
        if lanes != 0 {
            self.rest.outcome.poison |= lanes;
            let address = run.at(lanes.trailing_zeros());
            self.tell(What::Uninitialised, Severity::Warning, lanes, address, None);
        }
    }

    fn store(&mut self, page: &mut Shadow, bytes: Bytes, run: Run, poison: u32, flags: u16) {
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
                set_init(page, offset, self.size, poison >> lane & 1 == 1);
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

    /// Lets each lane modify its bytes, in order; the lanes that wrote.
    fn modify(
        &mut self,
        page: &mut Shadow,
        bytes: Bytes,
        run: Run,
        op: &mut Op<'_>,
        flags: u16,
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
                set_init(page, offset, self.size, poison);
                page.overwrite(offset, self.size);
            }
        });
        if self.access.returns || !replaces {
            self.uninitialised(&run, unknown);
        }
        for (lanes, write) in [(wrote, flag::WRITE), (run.mask & !wrote, 0)] {
            for at in 0..self.clocks.groups().len() {
                let (group, clock) = &self.clocks.groups()[at];
                let part = run.only(lanes & group);
                if part.mask != 0 {
                    let viewer = Viewer { clock, grid: &self.clocks.grid };
                    let flags = flags | flag::ATOMIC | write;
                    self.rest.record(page, &part, self.size, flags, &viewer);
                }
            }
        }
        if !self.rest.hits.is_empty() {
            self.judge(bytes, &run, false);
        }
        wrote
    }

    /// Puts conflicts into findings. With `values` the staged values are compared with memory's:
    /// unordered writes of what is there already can't change the outcome.
    #[cold]
    fn judge(&mut self, bytes: Bytes, run: &Run, values: bool) {
        for hit in std::mem::take(&mut self.rest.hits) {
            let earlier = hit.conflict.earlier;
            let equal = values && earlier.is(flag::WRITE) && self.is_equal(&hit, bytes, run);
            let (what, severity) = match hit.conflict.relation {
                Relation::Race if equal => (What::EqualWrites, Severity::Warning),
                Relation::Race => (What::Race, Severity::Error),
                Relation::ReadOnly => (What::ReadOnlyPath, Severity::Error),
                Relation::Volatile => (What::Unsynchronised, Severity::Warning),
            };
            let other = Other {
                block: earlier.block,
                warp: earlier.warp,
                lanes: earlier.all_lanes(),
                pc: earlier.pc,
                write: earlier.is(flag::WRITE),
                atomic: earlier.is(flag::ATOMIC),
            };
            let lanes = Record { units: earlier.units, ..hit.new }.all_lanes();
            let unit = earlier.units.trailing_zeros();
            let page = run.address & !(PAGE - 1);
            let address = page + u64::from(hit.base + unit * hit.unit);
            let write = hit.new.is(flag::WRITE);
            self.tell_write(what, severity, lanes, address, Some(other), write);
        }
    }

    /// Whether all lanes of a hit write what is there.
    fn is_equal(&self, hit: &Hit, bytes: Bytes, run: &Run) -> bool {
        let mut equal = true;
        each(hit.conflict.earlier.units, |unit| {
            let at = hit.base + unit * hit.unit - (run.address % PAGE) as u32;
            let len = hit.unit as usize;
            let mut there = [0; 4];
            bytes.read(at as usize, &mut there[..len]);
            each(hit.new.lanes_at(unit), |lane| {
                let inside = at - (lane - run.first) * run.step;
                let new = &self.staging.lane(lane, self.size)[inside as usize..][..len];
                equal &= *new == there[..len];
            });
        });
        equal
    }

    /// Several lanes of one instruction store to one address.
    #[cold]
    fn judge_together(&mut self, run: &Run) {
        let first = self.staging.lane(run.first, self.size).to_vec();
        let mut equal = true;
        each(run.mask, |lane| equal &= *self.staging.lane(lane, self.size) == *first);
        let strong = self.rest.record.is(flag::STRONG);
        let (what, severity) = match (strong, equal) {
            (true, _) if !self.rest.record.is(flag::VOLATILE) || equal => return,
            (true, _) => (What::Unsynchronised, Severity::Warning),
            (false, true) => (What::EqualWrites, Severity::Warning),
            (false, false) => (What::Race, Severity::Error),
        };
        let first = 1 << run.mask.trailing_zeros();
        let other = Other {
            block: self.clocks.block,
            warp: self.clocks.warp,
            lanes: first,
            pc: self.access.pc,
            write: true,
            atomic: false,
        };
        self.tell_write(what, severity, run.mask & !first, run.address, Some(other), true);
    }

    /// A run of local memory.
    pub fn local(&mut self, local: &mut Local, run: Run, offset: u32, op: &mut Op<'_>) {
        let mut unknown = 0;
        each(run.mask, |lane| {
            let at = offset + (lane - run.first) * run.step;
            let staged = self.staging.lane_mut(lane, self.size);
            match op {
                Op::Load => unknown |= u32::from(!local.read(lane, at, staged)) << lane,
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
        self.uninitialised(&run, unknown);
    }

    /// A lane's access can't be made.
    pub fn fault(&mut self, what: What, run: Run, op: &Op<'_>) {
        self.staging.lane_mut(run.first, self.size).fill(0);
        self.rest.outcome.faulted |= run.mask;
        if what == What::Misaligned {
            self.rest.outcome.misaligned |= run.mask;
        }
        self.tell_write(what, Severity::Error, run.mask, run.address, None, op.writes());
    }

    fn tell(
        &mut self,
        what: What,
        severity: Severity,
        lanes: u32,
        address: u64,
        other: Option<Other>,
    ) {
        self.tell_write(what, severity, lanes, address, other, false);
    }

    fn tell_write(
        &mut self,
        what: What,
        severity: Severity,
        lanes: u32,
        address: u64,
        other: Option<Other>,
        write: bool,
    ) {
        self.rest.findings.add(Raw {
            what,
            severity,
            pc: Some(self.access.pc),
            block: self.clocks.block,
            warp: self.clocks.warp,
            lanes,
            write,
            atomic: false,
            address,
            bytes: u64::from(self.size),
            other,
            count: 1,
        });
    }
}

fn set_init(page: &mut Shadow, offset: u32, bytes: u32, poison: bool) {
    if poison {
        page.init.clear(offset, bytes);
        page.travelled = true;
    } else {
        page.init.set(offset, bytes);
    }
}

fn flags(access: &Access<'_>, clocks: &WarpClocks) -> u16 {
    let mut flags = (access.width.trailing_zeros() as u16) << flag::WIDTH;
    if let Some(scope) = access.order.scope() {
        flags |= flag::STRONG | (clocks.grid.tier(scope) as u16) << flag::SCOPE;
    }
    match access.order {
        Order::Volatile => flags |= flag::VOLATILE,
        Order::Nc => flags |= flag::NC,
        _ => {}
    }
    if access.proxy == Proxy::Async {
        flags |= flag::ASYNC;
    }
    flags
}

impl Rest<'_> {
    /// Records a run within one page, line by line.
    #[inline]
    fn record(&mut self, page: &mut Shadow, run: &Run, size: u32, flags: u16, viewer: &Viewer<'_>) {
        let mut new = self.record;
        new.flags |= flags;
        let mut offset = (run.address % PAGE) as u32;
        let mut lane = run.first;
        let mut rest = run.mask >> run.first;
        while rest != 0 {
            let line = &mut page.lines[offset as usize / LINE as usize];
            let narrow = size < 4 || line.is_bytes();
            let (line, span, unit) = if narrow {
                (line.quarter(offset as usize % 128 / 32), 32, 1)
            } else {
                (line, LINE as u32, 4)
            };
            let base = offset & !(span - 1);
            let first = (offset - base) / unit;
            let wide = size / unit;
            if run.step == 0 {
                new.log = SAME;
                new.lanes = run.mask;
                new.units = ((1u64 << wide) - 1 << first) as u32;
                rest = 0;
            } else {
                let lanes = (base + span - offset) / size;
                new.log = wide.trailing_zeros() as u8;
                new.lanes = lane.wrapping_sub(first >> new.log);
                new.units = spread(rest & low(lanes), wide) << first;
                lane += lanes;
                rest = rest.checked_shr(lanes).unwrap_or(0);
                offset = base + span;
            }
            if new.units != 0 {
                line.access(new, viewer, &mut self.found);
                if !self.found.is_empty() {
                    let hit = |conflict| Hit { conflict, new, base, unit };
                    self.hits.extend(self.found.drain(..).map(hit));
                }
            }
        }
    }
}

fn low(bits: u32) -> u32 {
    if bits >= 32 { u32::MAX } else { (1 << bits) - 1 }
}

/// Each bit so many times.
#[inline(always)]
fn spread(mask: u32, times: u32) -> u32 {
    if times == 1 {
        return mask;
    }
    let mut units = 0;
    each(mask, |bit| units |= low(times) << (bit * times));
    units
}
