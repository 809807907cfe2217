//! The accesses of a warp.

use super::access::{Access, Outcome, Space, Staging};
use super::device::{Device, Place, window};
use super::findings::{Findings, What};
use super::local::Local;
use super::run::Run;
use super::shared::Shared;
use super::worker::{Op, Worker};
use super::{LOCAL_BASE, SHARED_BASE, WINDOW};
use crate::race::{WarpClocks, each};

/// What a warp sees, for one memory instruction.
pub struct View<'a> {
    /// Global memory.
    pub device: &'a Device,
    /// The block's shared memory.
    pub shared: &'a mut Shared,
    /// The warp's local memory.
    pub local: &'a mut Local,
    /// The warp's clocks.
    pub clocks: &'a mut WarpClocks,
    /// A number the warp keeps between accesses: where it found its last allocation.
    pub hint: &'a mut u32,
    /// Where findings go.
    pub findings: &'a mut Findings,
}

impl View<'_> {
    /// Loads.
    pub fn load(&mut self, access: &Access<'_>, out: &mut Staging) -> Outcome {
        self.access(access, out, &mut Op::Load)
    }

    /// Stores; lanes in `poison` store values that came from uninitialised memory.
    pub fn store(&mut self, access: &Access<'_>, values: &mut Staging, poison: u32) -> Outcome {
        self.access(access, values, &mut Op::Store { poison })
    }

    /// An asynchronous copy begins whose access will be made when it is waited for: until then it
    /// may happen at any time, and is ordered before nobody's.
    pub fn announce(&mut self, access: &Access<'_>, writes: bool) -> Outcome {
        self.access(access, &mut Staging::default(), &mut Op::Announce { writes })
    }

    /// Reads, modifies and writes, lane by lane. The function gets the lane and the old bytes in
    /// place, to be replaced by the new ones, and says whether it writes. `old` gets the old
    /// values. With `replaces` the new value doesn't depend on the old one, as with `atom.exch`.
    pub fn rmw(
        &mut self,
        access: &Access<'_>,
        poison: u32,
        replaces: bool,
        modify: &mut dyn FnMut(u32, &mut [u8]) -> bool,
        old: &mut Staging,
    ) -> Outcome {
        self.access(access, old, &mut Op::Modify { poison, replaces, modify })
    }

    fn access(&mut self, access: &Access<'_>, staging: &mut Staging, op: &mut Op<'_>) -> Outcome {
        let mut worker =
            Worker::new(access, staging, self.clocks, self.findings, op.is_announced());
        let size = access.size();
        let mut memory =
            Spaces { device: self.device, shared: self.shared, local: self.local, hint: self.hint };
        let mut rest = access.mask;
        while rest != 0 {
            let mut run = Run::next(access.addresses, rest, size);
            rest &= !run.mask;
            memory.run(&mut worker, &mut run, op);
        }
        worker.finish()
    }
}

/// The memory that a warp sees.
struct Spaces<'a> {
    device: &'a Device,
    shared: &'a mut Shared,
    local: &'a mut Local,
    hint: &'a mut u32,
}

impl Spaces<'_> {
    fn run(&mut self, worker: &mut Worker<'_>, run: &mut Run, op: &mut Op<'_>) {
        run.address += match worker.access.space {
            Space::Shared if run.address < WINDOW => SHARED_BASE,
            Space::Local if run.address < WINDOW => LOCAL_BASE,
            _ => 0,
        };
        let aligned = run.address & u64::from(worker.size - 1) == 0;
        if aligned && self.resolved(worker, run, op) {
            return;
        }
        if run.mask.is_power_of_two() {
            self.fault(worker, run, aligned, op);
        } else {
            each(run.mask, |lane| self.run(worker, &mut run.lane(lane), op));
        }
    }

    /// Makes the accesses of a run, if all of it is in one piece of memory that may be accessed so.
    #[inline]
    fn resolved(&mut self, worker: &mut Worker<'_>, run: &Run, op: &mut Op<'_>) -> bool {
        let space = worker.access.space;
        let span = run.span(worker.size);
        match window(run.address) {
            None => {
                let global = matches!(space, Space::Generic | Space::Global | Space::Const);
                let Some(at) = self.device.locate(run.address, span, self.hint) else {
                    return false;
                };
                let constant = self.device.table[at].is_const();
                let fits = match space {
                    Space::Const => constant,
                    Space::Global => !constant,
                    _ => true,
                };
                if !global || !fits || constant && op.writes() {
                    return false;
                }
                self.global(worker, run, at, op);
                true
            }
            Some((0, offset)) if matches!(space, Space::Generic | Space::Shared) => {
                let fits = offset + span <= u64::from(self.shared.bytes());
                if fits {
                    self.shared(worker, run, offset, op);
                }
                fits
            }
            Some((1, offset)) if matches!(space, Space::Generic | Space::Local) => {
                let fits = offset + span <= u64::from(self.local.bytes());
                if fits {
                    worker.local(self.local, run, offset as u32, op);
                }
                fits
            }
            Some(_) => false,
        }
    }

    #[inline]
    fn global(&mut self, worker: &mut Worker<'_>, run: &Run, at: usize, op: &mut Op<'_>) {
        let allocation = &*self.device.table[at];
        if run.mask.is_power_of_two() {
            let (lane, address) = (run.first, run.address);
            let mut page = self.device.open(allocation, at, address, op);
            worker.lone(&mut page, allocation.bytes_from(address), lane, address, op);
            return;
        }
        run.in_pages(worker.size, |part| {
            let mut page = self.device.open(allocation, at, part.address, op);
            worker.part(&mut page, allocation.bytes_from(part.address), part, op);
        });
    }

    #[inline]
    fn shared(&mut self, worker: &mut Worker<'_>, run: &Run, offset: u64, op: &mut Op<'_>) {
        if run.mask.is_power_of_two() {
            let (page, bytes) = self.shared.page(offset);
            worker.lone(page, bytes, run.first, run.address, op);
            return;
        }
        run.in_pages(worker.size, |part| {
            let (page, bytes) = self.shared.page(offset + (part.address - run.address));
            worker.part(page, bytes, part, op);
        });
    }

    #[cold]
    fn fault(&self, worker: &mut Worker<'_>, run: &Run, aligned: bool, op: &Op<'_>) {
        let space = worker.access.space;
        let expected = match window(run.address) {
            None => matches!(space, Space::Generic | Space::Global | Space::Const),
            Some((0, _)) => matches!(space, Space::Generic | Space::Shared),
            Some(_) => matches!(space, Space::Generic | Space::Local),
        };
        let size = u64::from(worker.size);
        let what = match self.device.place(run.address) {
            _ if !aligned => What::Misaligned,
            _ if !expected => What::WrongSpace,
            Place::In(a) if a.is_freed() => What::Freed,
            Place::In(a) if a.holds(run.address, size) => What::WrongSpace,
            _ => What::OutOfBounds,
        };
        worker.fault(what, run, op);
    }
}
