//! Memory as a launch sees it.

use std::sync::{Arc, Mutex, PoisonError};

use super::allocation::Allocation;
use super::page::{Locked, Undo};
use super::worker::Op;
use super::{SHARED_BASE, mapping};
use crate::race::Grid;

/// The allocations that exist when a launch begins; shared by all who run its blocks.
#[derive(Debug)]
pub struct Device {
    /// The launch.
    pub grid: Grid,
    pub(super) table: Vec<Arc<Allocation>>,
    pub(super) stamp: u32,
    pub(super) undo: bool,
    /// Pages that were touched: allocation and page.
    pub(super) touched: Mutex<Vec<(u32, u32)>>,
}

/// Where an address is.
pub(super) enum Place<'a> {
    /// In an allocation, which may have been freed.
    In(&'a Allocation),
    /// In none.
    Outside,
}

impl Device {
    /// The allocation that holds a range, if one that is not freed does.
    #[inline(always)]
    pub(super) fn locate(&self, address: u64, bytes: u64, hint: &mut u32) -> Option<usize> {
        let guess = *hint as usize;
        if let Some(known) = self.table.get(guess)
            && known.holds(address, bytes)
            && !known.is_freed()
        {
            return Some(guess);
        }
        let at = self.before(address)?;
        let found = &self.table[at];
        if !found.holds(address, bytes) || found.is_freed() {
            return None;
        }
        *hint = at as u32;
        Some(at)
    }

    fn before(&self, address: u64) -> Option<usize> {
        self.table.partition_point(|a| a.base <= address).checked_sub(1)
    }

    /// What is at an address.
    pub(super) fn place(&self, address: u64) -> Place<'_> {
        match self.before(address).map(|at| &*self.table[at]) {
            Some(found) if address < found.end() => Place::In(found),
            _ => Place::Outside,
        }
    }

    /// Locks a page and prepares it for an operation of the launch.
    #[inline(always)]
    pub(super) fn open<'a>(
        &self,
        allocation: &'a Allocation,
        at: usize,
        address: u64,
        op: &Op<'_>,
    ) -> Locked<'a> {
        let mut page = allocation.page(address).lock();
        self.touch(&mut page, at, address, op.writes());
        page.read |= matches!(op, Op::Modify { .. });
        page
    }

    /// Prepares a page for an access of the launch.
    #[inline(always)]
    fn touch(&self, locked: &mut Locked<'_>, at: usize, address: u64, write: bool) {
        if locked.stamp != self.stamp {
            self.first_touch(locked, at, address);
        }
        if !write {
            locked.read = true;
        } else if !locked.written {
            self.first_write(locked, at, address);
        }
    }

    #[cold]
    fn first_touch(&self, locked: &mut Locked<'_>, at: usize, address: u64) {
        locked.restart(self.stamp);
        let page = address / mapping::PAGE - self.table[at].base / mapping::PAGE;
        let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        touched.push((at as u32, page as u32));
    }

    #[cold]
    fn first_write(&self, locked: &mut Locked<'_>, at: usize, address: u64) {
        locked.written = true;
        if !self.undo {
            return;
        }
        let allocation = &self.table[at];
        let page = address / mapping::PAGE - allocation.base / mapping::PAGE;
        let (start, end) = allocation.page_range(page as usize);
        let mut bytes = vec![0; (end - start) as usize].into_boxed_slice();
        allocation.bytes_from(start).read(0, &mut bytes);
        let undo = Undo { bytes, init: locked.init.clone(), travelled: locked.travelled };
        locked.undo = Some(Box::new(undo));
    }
}

/// The offset of an address in the shared (0) or local (1) window.
#[inline(always)]
pub(super) fn window(address: u64) -> Option<(u64, u64)> {
    let offset = address.wrapping_sub(SHARED_BASE);
    (offset < 2 * super::WINDOW).then_some((offset / super::WINDOW, offset % super::WINDOW))
}
