//! A run becomes records of the lines it touches.

use super::access::{Access, Order, Proxy};
use super::mapping::PAGE;
use super::page::Shadow;
use super::run::Run;
use super::worker::{Hit, Rest};
use crate::race::line::{LINE, SAME, Viewer, flag};
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
        let mut new = self.common;
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
                new.units = (((1u64 << wide) - 1) << first) as u32;
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
