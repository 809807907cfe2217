//! Allocations and symbols.

#![allow(unsafe_code, reason = "pages lie in a mapping; bytes are reached by raw pointers")]

use std::sync::atomic::{AtomicBool, Ordering};

use super::bytes::Bytes;
use super::mapping::{Mapping, PAGE};
use super::page::Page;
use crate::machine::MemoryKind;

/// The space a symbol is declared in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolSpace {
    /// `.global`: `__device__`.
    Global,
    /// `.const`: `__constant__`.
    Const,
    /// `.global .attribute(.managed)`: `__managed__`, which the host reaches too.
    Managed,
}

/// A variable of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, as findings show it.
    pub name: String,
    /// Where it is declared.
    pub space: SymbolSpace,
    /// Bytes of an element.
    pub element_bytes: u32,
}

/// A piece of memory with addresses of its own.
#[derive(Debug)]
pub struct Allocation {
    /// The first address.
    pub base: u64,
    /// How many bytes were asked for.
    pub bytes: u64,
    /// What kind.
    pub kind: MemoryKind,
    /// The symbol, if it is one.
    pub symbol: Option<Symbol>,
    /// Which allocation of its kind it is, from 1; symbols are not counted.
    pub number: u64,
    freed: AtomicBool,
    data: *mut u8,
    _mapping: Option<Mapping>,
    pages: Mapping,
    page_count: usize,
}

// SAFETY: bytes are only accessed under the lock of their page, pages lock themselves.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

/// What an allocation is made from.
pub struct Plan {
    /// See [`Allocation::base`]; none to take the address of new memory.
    pub base: Option<u64>,
    /// See [`Allocation::bytes`].
    pub bytes: u64,
    /// See [`Allocation::kind`].
    pub kind: MemoryKind,
    /// See [`Allocation::symbol`].
    pub symbol: Option<Symbol>,
    /// See [`Allocation::number`].
    pub number: u64,
    /// Whether the bytes are the host's, at `base`.
    pub registered: bool,
}

impl Allocation {
    /// Makes it; none if the system has no memory for it.
    pub fn new(plan: Plan) -> Option<Self> {
        let (mapping, data) = match (plan.registered, plan.base) {
            (true, Some(base)) => (None, base as *mut u8),
            _ => {
                let mapping = Mapping::new(plan.bytes)?;
                let data = mapping.start();
                (Some(mapping), data)
            }
        };
        let base = plan.base.unwrap_or(data as u64);
        let end = base.checked_add(plan.bytes)?;
        let page_count = (end.div_ceil(PAGE) - base / PAGE).max(1) as usize;
        let pages = Mapping::new((page_count * size_of::<Page>()) as u64)?;
        let made = Self {
            base,
            bytes: plan.bytes,
            kind: plan.kind,
            symbol: plan.symbol,
            number: plan.number,
            freed: AtomicBool::new(false),
            data,
            _mapping: mapping,
            pages,
            page_count,
        };
        if plan.kind != MemoryKind::Device {
            made.pages().iter().for_each(Page::fill);
        }
        Some(made)
    }

    /// The first address behind it.
    #[inline(always)]
    pub fn end(&self) -> u64 {
        self.base + self.bytes
    }

    /// Whether it holds a range.
    #[inline(always)]
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        address >= self.base && bytes <= self.bytes && address - self.base <= self.bytes - bytes
    }

    /// Whether it was freed.
    #[inline(always)]
    pub fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Relaxed)
    }

    /// Frees it: its addresses stay taken.
    pub fn free(&self) {
        self.freed.store(true, Ordering::Relaxed);
    }

    /// Whether it is constant memory.
    #[inline(always)]
    pub fn is_const(&self) -> bool {
        self.symbol.as_ref().is_some_and(|s| s.space == SymbolSpace::Const)
    }

    /// Its pages.
    #[inline(always)]
    pub fn pages(&self) -> &[Page] {
        // SAFETY: the mapping has room for them, and all zero is a page.
        unsafe { std::slice::from_raw_parts(self.pages.start().cast(), self.page_count) }
    }

    /// The page of an address of it.
    #[inline(always)]
    pub fn page(&self, address: u64) -> &Page {
        &self.pages()[(address / PAGE - self.base / PAGE) as usize]
    }

    /// The bytes from an address of it to its end. They may be accessed under the locks of the
    /// pages they are in.
    #[inline(always)]
    pub fn bytes_from(&self, address: u64) -> Bytes {
        let offset = address - self.base;
        // SAFETY: within the allocation, which the caller's borrow keeps alive.
        unsafe { Bytes::new(self.data.add(offset as usize), (self.bytes - offset) as usize) }
    }

    /// The addresses of a page of it.
    pub fn page_range(&self, page: usize) -> (u64, u64) {
        let start = (self.base / PAGE + page as u64) * PAGE;
        (start.max(self.base), (start + PAGE).min(self.end()))
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let pages: *mut Page = self.pages.start().cast();
        for at in 0..self.page_count {
            // SAFETY: the pages are this allocation's, and it is borrowed uniquely.
            unsafe { (*pages.add(at)).discard() };
        }
    }
}
