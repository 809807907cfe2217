//! Launches: what one read and wrote, and taking it back.

use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::Xxh3;

use super::allocation::Allocation;
use super::device::Device;
use super::host::Memory;
use super::init::Init;
use crate::race::Grid;

/// What a page held, before and after a launch: digests of bytes and of what is initialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageContents {
    /// The first address of it.
    pub address: u64,
    /// Whether the launch read from it.
    pub read: bool,
    /// Whether the launch wrote to it.
    pub written: bool,
    /// Before.
    pub before: u128,
    /// After.
    pub after: u128,
}

/// All pages that a launch touched, by address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Footprint {
    /// The pages.
    pub pages: Vec<PageContents>,
}

impl Memory {
    /// A launch begins. With `undo` it can be taken back, and has a footprint.
    pub fn begin_launch(&mut self, grid: Grid, undo: bool) -> Arc<Device> {
        self.stamp += 1;
        let device = Arc::new(Device {
            grid,
            table: self.table().to_vec(),
            stamp: self.stamp,
            undo,
            touched: Mutex::new(Vec::new()),
        });
        self.launched = Some(Arc::clone(&device));
        device
    }

    /// Takes the last launch back: every byte is as it was before. Only for one that began with
    /// `undo`; says whether it did.
    pub fn rollback(&mut self) -> bool {
        let Some(device) = self.launched.take() else { return false };
        if !device.undo {
            return false;
        }
        for (at, page) in device.touched_pages() {
            let allocation = &device.table[at];
            let mut locked = allocation.pages()[page].lock();
            let Some(undo) = locked.undo.take() else { continue };
            allocation.bytes_from(allocation.page_range(page).0).write(0, &undo.bytes);
            locked.init = undo.init;
            locked.travelled = undo.travelled;
            locked.written = false;
        }
        true
    }

    /// What the last launch read and wrote. Only for one that began with `undo`.
    pub fn footprint(&self) -> Option<Footprint> {
        let device = self.launched.as_ref().filter(|device| device.undo)?;
        let mut pages: Vec<_> = device
            .touched_pages()
            .into_iter()
            .map(|(at, page)| {
                let allocation = &device.table[at];
                let locked = allocation.pages()[page].lock();
                let after = digest(allocation, page, &locked.init);
                let before = locked.undo.as_ref().map_or(after, |u| hash(&u.bytes, &u.init));
                PageContents {
                    address: allocation.page_range(page).0,
                    read: locked.read,
                    written: locked.written,
                    before,
                    after,
                }
            })
            .collect();
        pages.sort_by_key(|page| page.address);
        Some(Footprint { pages })
    }

    /// The launch is over and won't be taken back: its copies of pages are dropped.
    pub fn end_launch(&mut self) {
        let Some(device) = self.launched.take() else { return };
        for (at, page) in device.touched_pages().into_iter().filter(|_| device.undo) {
            device.table[at].pages()[page].lock().undo = None;
        }
    }

    /// Whether a launch with the same code and parameters as an earlier one would repeat it, and
    /// leave memory as it is: all that it read is as it was before, and all that it wrote as it
    /// left it.
    pub fn repeats(&self, earlier: &Footprint) -> bool {
        earlier.pages.iter().all(|page| {
            let at = self.table().partition_point(|a| a.base <= page.address);
            let Some(allocation) = at.checked_sub(1).map(|at| &self.table()[at]) else {
                return false;
            };
            if page.address >= allocation.end() || allocation.is_freed() {
                return false;
            }
            let number =
                page.address / super::mapping::PAGE - allocation.base / super::mapping::PAGE;
            let locked = allocation.pages()[number as usize].lock();
            let now = digest(allocation, number as usize, &locked.init);
            (!page.read || now == page.before) && (!page.written || now == page.after)
        })
    }
}

impl Device {
    fn touched_pages(&self) -> Vec<(usize, usize)> {
        let touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        touched.iter().map(|(at, page)| (*at as usize, *page as usize)).collect()
    }
}

fn digest(allocation: &Allocation, page: usize, init: &Init) -> u128 {
    let (start, end) = allocation.page_range(page);
    let mut bytes = [0; super::mapping::PAGE as usize];
    let bytes = &mut bytes[..(end - start) as usize];
    allocation.bytes_from(start).read(0, bytes);
    hash(bytes, init)
}

fn hash(bytes: &[u8], init: &Init) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(bytes);
    let (kind, words) = init.words();
    hasher.update(&[kind]);
    for word in words {
        hasher.update(&word.to_le_bytes());
    }
    hasher.digest128()
}
