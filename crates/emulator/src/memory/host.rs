//! The host's side: allocations, copies, symbols.

use std::sync::Arc;

use super::allocation::{Allocation, Plan, Symbol, SymbolSpace};
use super::device::Device;
use super::findings::{Findings, Raw, What};
use super::mapping::{self, PAGE};
use super::{PARAM_BASE, WINDOW};
use crate::finding::Severity;
use crate::machine::{Fault, MemoryKind};

/// Device allocations begin at multiples of this.
const ALIGN: u64 = 256;

/// Bytes between allocations that belong to none.
const RED_ZONE: u64 = 256;

/// What holds an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contained {
    /// What kind of memory it is.
    pub kind: MemoryKind,
    /// Where the allocation begins.
    pub base: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

/// All memory of a device, and what happened to it.
#[derive(Debug)]
pub struct Memory {
    table: Vec<Arc<Allocation>>,
    next: u64,
    capacity: u64,
    used: u64,
    counts: [u64; 3],
    findings: Findings,
    pub(super) stamp: u32,
    pub(super) launched: Option<Arc<Device>>,
}

impl Memory {
    /// Of a device with so many bytes. None if the range of device addresses can't be reserved.
    pub fn new(capacity: u64) -> Option<Self> {
        mapping::reserve().then(|| Self {
            table: Vec::new(),
            next: PARAM_BASE + WINDOW,
            capacity,
            used: 0,
            counts: [0; 3],
            findings: Findings::new(),
            stamp: 0,
            launched: None,
        })
    }

    /// Bytes of device memory, and how many of them are free.
    pub fn capacity(&self) -> (u64, u64) {
        (self.capacity, self.capacity - self.used)
    }

    /// What the host's calls did wrong since this was last asked.
    pub fn take_findings(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }

    pub(super) fn table(&self) -> &[Arc<Allocation>] {
        &self.table
    }

    /// Allocates; none if there is not so much memory.
    pub fn allocate(&mut self, bytes: u64, kind: MemoryKind) -> Option<u64> {
        let counted = if kind == MemoryKind::Host { 0 } else { bytes };
        if counted > self.capacity - self.used {
            return None;
        }
        let base =
            if kind == MemoryKind::Device { Some(self.reserve(bytes, ALIGN)?) } else { None };
        let number = self.counts[kind as usize] + 1;
        let plan = Plan { base, bytes, kind, symbol: None, number, registered: false };
        let base = self.insert(Allocation::new(plan)?);
        self.counts[kind as usize] = number;
        self.used += counted;
        Some(base)
    }

    fn reserve(&mut self, bytes: u64, align: u64) -> Option<u64> {
        let base = self.next.checked_next_multiple_of(align.max(1))?;
        let next =
            base.checked_add(bytes)?.checked_add(RED_ZONE)?.checked_next_multiple_of(ALIGN)?;
        if next > mapping::RANGE_START + mapping::RANGE_BYTES {
            return None;
        }
        self.next = next;
        Some(base)
    }

    fn insert(&mut self, allocation: Allocation) -> u64 {
        let base = allocation.base;
        let end = allocation.end();
        // The host may get an address again that it freed; what lay there is forgotten.
        self.table.retain(|old| !old.is_freed() || old.end() <= base || old.base >= end);
        let at = self.table.partition_point(|a| a.base <= base);
        self.table.insert(at, Arc::new(allocation));
        base
    }

    /// Takes over memory of the host, at its own address. Says whether none of it was known before.
    pub fn register_host(&mut self, address: u64, bytes: u64) -> bool {
        let end = address.saturating_add(bytes);
        let overlaps = |a: &Arc<Allocation>| !a.is_freed() && a.base < end && address < a.end();
        if bytes == 0 || self.table.iter().any(overlaps) {
            return false;
        }
        let plan = Plan {
            base: Some(address),
            bytes,
            kind: MemoryKind::Host,
            symbol: None,
            number: 0,
            registered: true,
        };
        let Some(allocation) = Allocation::new(plan) else { return false };
        self.insert(allocation);
        true
    }

    /// Gives back memory of the host that was registered at an address; whether it was.
    pub fn unregister_host(&mut self, address: u64) -> bool {
        let known = |a: &Arc<Allocation>| a.base == address && a.number == 0 && !a.is_freed();
        let at = self.table.iter().position(|a| a.kind == MemoryKind::Host && known(a));
        at.is_some_and(|at| {
            self.table.remove(at);
            true
        })
    }

    /// Defines a variable of a module, filled with its initial value and zeros; its address. None
    /// if there is no memory for it.
    pub fn define_symbol(
        &mut self,
        name: &str,
        space: SymbolSpace,
        bytes: u64,
        align: u64,
        element_bytes: u32,
        init: &[u8],
    ) -> Option<u64> {
        let (base, kind) = match space {
            SymbolSpace::Managed => (None, MemoryKind::Managed),
            _ => (Some(self.reserve(bytes, align.max(ALIGN))?), MemoryKind::Device),
        };
        let symbol = Symbol { name: name.to_owned(), space, element_bytes };
        let plan = Plan { base, bytes, kind, symbol: Some(symbol), number: 0, registered: false };
        let allocation = Allocation::new(plan)?;
        allocation.bytes_from(allocation.base).write(0, init);
        allocation.pages().iter().for_each(super::page::Page::fill);
        Some(self.insert(allocation))
    }

    /// Frees what was allocated at an address.
    ///
    /// # Errors
    /// [`Fault::IllegalAddress`] if nothing was, or it is freed already; this is a finding too.
    pub fn free(&mut self, address: u64) -> Result<(), Fault> {
        let at = self.table.binary_search_by_key(&address, |a| a.base).ok();
        let found = at.map(|at| &self.table[at]);
        let what = match found {
            Some(a) if a.is_freed() => What::DoubleFree,
            Some(a) if a.symbol.is_none() && a.number != 0 => {
                if a.kind != MemoryKind::Host {
                    self.used -= a.bytes;
                }
                a.free();
                return Ok(());
            }
            _ => What::BadFree,
        };
        let bytes = found.map_or(0, |a| a.bytes);
        self.tell(what, Severity::Error, address, bytes, 1);
        Err(Fault::IllegalAddress)
    }

    fn tell(&mut self, what: What, severity: Severity, address: u64, bytes: u64, count: u64) {
        self.findings.add(Raw {
            what,
            severity,
            pc: None,
            block: 0,
            warp: 0,
            lanes: 0,
            write: false,
            atomic: false,
            address,
            bytes,
            other: None,
            count,
        });
    }

    /// What holds an address, if anything that is not freed does.
    pub fn contains(&self, address: u64) -> Option<Contained> {
        let at = self.table.partition_point(|a| a.base <= address).checked_sub(1)?;
        let a = &self.table[at];
        let within = address < a.end() || address == a.base;
        (within && !a.is_freed()).then_some(Contained {
            kind: a.kind,
            base: a.base,
            bytes: a.bytes,
        })
    }

    fn holder(&mut self, address: u64, bytes: u64) -> Result<Arc<Allocation>, Fault> {
        let at = self.table.partition_point(|a| a.base <= address).checked_sub(1);
        let found = at.map(|at| Arc::clone(&self.table[at]));
        match found {
            Some(a) if a.holds(address, bytes) && !a.is_freed() => Ok(a),
            found => {
                let freed = found.is_some_and(|a| a.is_freed() && address < a.end());
                let what = if freed { What::Freed } else { What::OutOfBounds };
                self.tell(what, Severity::Error, address, bytes, 1);
                Err(Fault::IllegalAddress)
            }
        }
    }

    /// Copies to the host. What is not initialised is a finding.
    ///
    /// # Errors
    /// [`Fault::IllegalAddress`] if the range is in no allocation; this is a finding too.
    pub fn read(&mut self, address: u64, to: &mut [u8]) -> Result<(), Fault> {
        let a = self.holder(address, to.len() as u64)?;
        let mut unwritten = 0;
        let mut travelled = 0;
        pieces(address, to.len() as u64, |at, offset, len| {
            let to = &mut to[offset..offset + len];
            let page = a.page(at);
            if page.is_whole() {
                a.bytes_from(at).read(0, to);
                return;
            }
            let page = page.lock();
            a.bytes_from(at).read(0, to);
            let missing = len as u64 - u64::from(page.init.count((at % PAGE) as u32, len as u32));
            *(if page.travelled { &mut travelled } else { &mut unwritten }) += missing;
        });
        if travelled > 0 {
            self.tell(What::CopiedUninitialised, Severity::Error, address, travelled, 1);
        }
        if unwritten > 0 {
            self.tell(What::CopiedUnwritten, Severity::Warning, address, unwritten, 1);
        }
        Ok(())
    }

    /// Copies from the host.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Fault> {
        let a = self.holder(address, from.len() as u64)?;
        pieces(address, from.len() as u64, |at, offset, len| {
            a.initialise(at, len, |bytes| bytes.write(0, &from[offset..offset + len]));
        });
        Ok(())
    }

    /// Sets bytes to a value.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn fill(&mut self, address: u64, value: u8, bytes: u64) -> Result<(), Fault> {
        let a = self.holder(address, bytes)?;
        pieces(address, bytes, |at, _, len| {
            a.initialise(at, len, |bytes| bytes.fill(0, len, value));
        });
        Ok(())
    }

    /// Copies within the device's address space; what is initialised is copied with it.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Fault> {
        let source = self.holder(from, bytes)?;
        let target = self.holder(to, bytes)?;
        let mut buffer = vec![0; PAGE as usize];
        let mut copy = |at: u64, offset: usize, len: usize| {
            let origin = from + offset as u64;
            let mut known = super::init::Init::None;
            pieces(origin, len as u64, |at, offset, len| {
                let page = source.page(at).lock();
                source.bytes_from(at).read(0, &mut buffer[offset..offset + len]);
                for byte in 0..len as u32 {
                    if page.init.covers((at % PAGE) as u32 + byte, 1) {
                        known.set(offset as u32 + byte, 1);
                    }
                }
            });
            target.initialise(at, len, |bytes| bytes.write(0, &buffer[..len]));
            if !known.covers(0, len as u32) {
                let mut page = target.page(at).lock();
                for byte in (0..len as u32).filter(|byte| !known.covers(*byte, 1)) {
                    page.init.clear((at % PAGE) as u32 + byte, 1);
                }
            }
        };
        if to > from && to < from + bytes {
            let mut all = Vec::new();
            pieces(to, bytes, |at, offset, len| all.push((at, offset, len)));
            all.into_iter().rev().for_each(|(at, offset, len)| copy(at, offset, len));
        } else {
            pieces(to, bytes, copy);
        }
        Ok(())
    }

    /// What was never freed becomes a finding: the program ends.
    pub fn finish(&mut self) {
        let left: Vec<_> = self.table.iter().filter(|a| !a.is_freed() && a.number != 0).collect();
        let Some(first) = left.first() else { return };
        let (address, count) = (first.base, left.len() as u64);
        let bytes = left.iter().map(|a| a.bytes).sum();
        self.tell(What::Leak, Severity::Warning, address, bytes, count);
    }
}

impl Allocation {
    /// Writes bytes of one page, which are initialised then.
    fn initialise(&self, at: u64, len: usize, write: impl FnOnce(super::bytes::Bytes)) {
        let page = self.page(at);
        let start = at.max(at / PAGE * PAGE);
        let whole = start == self.base.max(at / PAGE * PAGE)
            && at + len as u64 == self.end().min((at / PAGE + 1) * PAGE);
        if whole {
            // Bytes of the page that are not the allocation's are never asked for.
            write(self.bytes_from(at));
            page.fill();
            return;
        }
        let mut page = page.lock();
        write(self.bytes_from(at));
        page.init.set((at % PAGE) as u32, len as u32);
    }
}

/// Splits a range at borders of pages: address, offset in the range, length.
fn pieces(address: u64, bytes: u64, mut f: impl FnMut(u64, usize, usize)) {
    let end = address + bytes;
    let mut at = address;
    while at < end {
        let next = end.min((at / PAGE + 1) * PAGE);
        f(at, (at - address) as usize, (next - at) as usize);
        at = next;
    }
}
