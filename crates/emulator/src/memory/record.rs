//! A run becomes records of the lines it touches.

use super::access::{Access, Order, Proxy};
use super::mapping::PAGE;
use super::page::Shadow;
use super::run::Run;
use super::worker::{Hit, Rest};
use crate::race::line::LINE;
use crate::race::record::{Record, SAME, flag};
use crate::race::rules::Viewer;
use crate::race::{WarpClocks, each};

/// The flags that all records of an instruction have.
pub(super) fn flags(access: &Access<'_>, clocks: &WarpClocks) -> u16 {
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
    pub(super) fn record(
        &mut self,
        page: &mut Shadow,
        run: &Run,
        size: u32,
        flags: u16,
        viewer: &Viewer<'_>,
    ) {
        let flags = self.common.flags | flags;
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
            let (units, lanes, log);
            if run.step == 0 {
                log = SAME;
                lanes = run.mask;
                units = (((1u64 << wide) - 1) << first) as u32;
                rest = 0;
            } else {
                let here = (base + span - offset) / size;
                log = wide.trailing_zeros() as u8;
                lanes = lane.wrapping_sub(first >> log);
                units = spread(rest & low(here), wide) << first;
                lane += here;
                rest = rest.checked_shr(here).unwrap_or(0);
                offset = base + span;
            }
            if units != 0 {
                let new = Record { units, lanes, log, flags, ..self.common };
                line.access(&new, viewer, &mut self.found);
                if !self.found.is_empty() {
                    self.hit(&new, base, unit);
                }
            }
        }
    }

    #[cold]
    fn hit(&mut self, new: &Record, base: u32, unit: u32) {
        let hit = |conflict| Hit { conflict, new: *new, base, unit };
        self.hits.extend(self.found.drain(..).map(hit));
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
    if mask & mask.wrapping_add(1) == 0 {
        return low(mask.count_ones() * times);
    }
    let mut units = 0;
    each(mask, |bit| units |= low(times) << (bit * times));
    units
}
