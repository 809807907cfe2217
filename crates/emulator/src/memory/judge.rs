//! What an instruction did wrong becomes findings.

use super::bytes::Bytes;
use super::findings::{Other, Raw, What};
use super::mapping::PAGE;
use super::run::Run;
use super::worker::{Hit, Op, Worker};
use crate::finding::Severity;
use crate::race::each;
use crate::race::record::{Record, Relation, flag};

impl Worker<'_> {
    /// Puts conflicts into findings. With `values` the staged values are compared with memory's:
    /// unordered writes of what is there already can't change the outcome.
    #[cold]
    pub(super) fn judge(&mut self, bytes: Bytes, run: &Run, values: bool) {
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

    /// Several lanes of one weak instruction store to one address.
    #[cold]
    pub(super) fn judge_together(&mut self, run: &Run) {
        let first = self.staging.lane(run.first, self.size).to_vec();
        let mut equal = true;
        each(run.mask, |lane| equal &= *self.staging.lane(lane, self.size) == *first);
        let (what, severity) = match equal {
            true => (What::EqualWrites, Severity::Warning),
            false => (What::Race, Severity::Error),
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

    /// A lane's access can't be made.
    pub fn fault(&mut self, what: What, run: &Run, op: &Op<'_>) {
        self.staging.lane_mut(run.first, self.size).fill(0);
        self.rest.outcome.faulted |= run.mask;
        if what == What::Misaligned {
            self.rest.outcome.misaligned |= run.mask;
        }
        self.tell_write(what, Severity::Error, run.mask, run.address, None, op.writes());
    }

    pub(super) fn tell(
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
