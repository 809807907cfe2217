//! Memory from the system: zero pages on demand, and the range of addresses nothing may be in.

#![allow(unsafe_code, reason = "maps and unmaps memory")]

use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// Where the reserved range begins.
pub const RANGE_START: u64 = 0x3000_0000_0000;

/// Bytes of the reserved range.
pub const RANGE_BYTES: u64 = 1 << 44;

/// Reserves the range of device addresses once a process, so that the host faults if it follows
/// one. Says whether it is reserved.
pub fn reserve() -> bool {
    static RESERVED: OnceLock<bool> = OnceLock::new();
    *RESERVED.get_or_init(|| {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
        let start = RANGE_START as *mut _;
        // SAFETY: with FIXED_NOREPLACE nothing that exists is replaced, and nothing is accessible.
        let mapped =
            unsafe { mmap_anonymous(start, RANGE_BYTES as usize, ProtFlags::empty(), flags) };
        mapped.is_ok_and(|at| at == start)
    })
}

/// Zeroed memory that is there once it is touched.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is plain memory, whoever holds it.
unsafe impl Send for Mapping {}
// SAFETY: it hands out a raw pointer only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// So many bytes and a page more, which nobody uses; none if the system has no more.
    pub fn new(bytes: u64) -> Option<Self> {
        let bytes = usize::try_from(bytes.checked_add(2 * PAGE - 1)? & !(PAGE - 1)).ok()?;
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping wherever the system wants it.
        let start = unsafe { mmap_anonymous(null_mut(), bytes, prot, flags) }.ok()?;
        Some(Self { start: NonNull::new(start.cast())?, bytes })
    }

    /// Where it begins.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and ends with it. That it fails can't be helped.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
