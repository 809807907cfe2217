//! A lane whose address has nothing to do with its neighbours': the shortest way from address to
//! bytes. It does what [`Worker::part`] does for a run of one lane that publishes and acquires
//! nothing.

use super::bytes::Bytes;
use super::mapping::PAGE;
use super::page::Shadow;
use super::run::Run;
use super::worker::{Op, Worker};
use crate::race::line::LINE;
use crate::race::record::{Record, SAME, flag};
use crate::race::rules::Viewer;

impl Worker<'_> {
    /// One lane's access, whose bytes begin at its address.
    #[inline]
    pub fn lone(
        &mut self,
        page: &mut Shadow,
        bytes: Bytes,
        lane: u32,
        address: u64,
        op: &mut Op<'_>,
    ) {
        if self.rest.common.is(flag::STRONG) && !self.is_quiet(page, op) {
            let run = Run { first: lane, mask: 1 << lane, address, step: 0 };
            self.part(page, bytes, &run, op);
            return;
        }
        let offset = (address % PAGE) as u32;
        let sync = if self.acquires() && !op.is_store() { flag::SYNC } else { 0 };
        match op {
            Op::Load => {
                if !page.init.covers(offset, self.size) {
                    self.lone_poison(lane, address);
                }
                self.lone_record(page, bytes, lane, address, sync);
                bytes.read_small(self.staging.lane_mut(lane, self.size));
            }
            Op::Store { poison } => {
                let poison = *poison >> lane & 1 == 1;
                self.lone_record(page, bytes, lane, address, flag::WRITE);
                bytes.write_small(self.staging.lane(lane, self.size));
                page.overwrite(offset, self.size);
                page.set_init(offset, self.size, poison);
            }
            Op::Announce { .. } => {
                let run = Run { first: lane, mask: 1 << lane, address, step: 0 };
                self.part(page, bytes, &run, op);
            }
            Op::Modify { .. } => {
                let run = Run { first: lane, mask: 1 << lane, address, step: 0 };
                self.modify(page, bytes, &run, op, [sync; 2]);
            }
        }
    }

    /// Records an access by one lane.
    #[inline]
    pub(super) fn lone_record(
        &mut self,
        page: &mut Shadow,
        bytes: Bytes,
        lane: u32,
        address: u64,
        flags: u16,
    ) {
        let offset = (address % PAGE) as u32;
        let line = &mut page.lines[(offset as u64 / LINE) as usize];
        let groups = self.clocks.groups();
        let clock = match groups {
            [(_, clock)] => Some(clock),
            _ => groups.iter().find(|(lanes, _)| lanes >> lane & 1 == 1).map(|(_, clock)| clock),
        };
        let narrow = self.size < 4 || line.is_bytes();
        let (Some(clock), false) = (clock, narrow) else {
            let run = Run { first: lane, mask: 1 << lane, address, step: 0 };
            self.record_in(page, &run, flags);
            self.lone_judge(bytes, &run, flags);
            return;
        };
        let viewer = Viewer { clock, grid: &self.clocks.grid };
        let wide = self.size / 4;
        let new = Record {
            units: low(wide) << (offset % LINE as u32 / 4),
            lanes: 1 << lane,
            log: SAME,
            flags: self.rest.common.flags | flags,
            ..self.rest.common
        };
        if !line.access_fast(&new, &viewer) {
            let run = Run { first: lane, mask: 1 << lane, address, step: 0 };
            self.record_in(page, &run, flags);
            self.lone_judge(bytes, &run, flags);
        }
    }

    #[cold]
    fn lone_poison(&mut self, lane: u32, address: u64) {
        let run = Run { first: lane, mask: 1 << lane, address, step: 0 };
        self.uninitialised(&run, run.mask);
    }

    fn lone_judge(&mut self, bytes: Bytes, run: &Run, flags: u16) {
        if !self.rest.hits.is_empty() {
            let store = flags & (flag::WRITE | flag::ATOMIC) == flag::WRITE;
            self.judge(bytes, run, store);
        }
    }
}

#[inline(always)]
fn low(bits: u32) -> u32 {
    (1u32 << bits) - 1
}
