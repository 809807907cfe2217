//! Bytes of memory behind a raw pointer: several threads have such pointers to one page, and the
//! page's lock says who may use one.

#![allow(unsafe_code, reason = "copies through raw pointers whose bounds are checked")]

/// A range of bytes that may be shared.
#[derive(Debug, Clone, Copy)]
pub struct Bytes {
    start: *mut u8,
    len: usize,
}

impl Bytes {
    /// # Safety
    /// The range must be memory that stays there as long as this is used, and whoever uses it must
    /// hold the lock that covers what is copied.
    #[inline(always)]
    pub unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self { start, len }
    }

    /// Of a slice, which is borrowed meanwhile by the caller.
    pub fn of(bytes: &mut [u8]) -> Self {
        Self { start: bytes.as_mut_ptr(), len: bytes.len() }
    }

    /// What is left from an offset on.
    #[inline(always)]
    pub fn from(&self, offset: u64) -> Self {
        let offset = offset as usize;
        assert!(offset <= self.len);
        // SAFETY: within the range, or just behind it.
        Self { start: unsafe { self.start.add(offset) }, len: self.len - offset }
    }

    /// Bytes at an offset.
    #[inline(always)]
    pub fn read(&self, offset: usize, to: &mut [u8]) {
        assert!(offset <= self.len && to.len() <= self.len - offset);
        // SAFETY: in bounds; by the contract of `new` nobody else writes it now.
        unsafe { self.start.add(offset).copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) }
    }

    /// Replaces bytes at an offset.
    #[inline(always)]
    pub fn write(&self, offset: usize, from: &[u8]) {
        assert!(offset <= self.len && from.len() <= self.len - offset);
        // SAFETY: in bounds; by the contract of `new` nobody else uses it now.
        unsafe { self.start.add(offset).copy_from_nonoverlapping(from.as_ptr(), from.len()) }
    }

    /// The first bytes; as many as an access of one lane has.
    #[inline(always)]
    pub fn read_small(&self, to: &mut [u8]) {
        match to.len() {
            4 => self.read(0, &mut to[..4]),
            8 => self.read(0, &mut to[..8]),
            _ => self.read(0, to),
        }
    }

    /// Replaces the first bytes; as many as an access of one lane has.
    #[inline(always)]
    pub fn write_small(&self, from: &[u8]) {
        match from.len() {
            4 => self.write(0, &from[..4]),
            8 => self.write(0, &from[..8]),
            _ => self.write(0, from),
        }
    }

    /// Sets bytes at an offset to a value.
    pub fn fill(&self, offset: usize, len: usize, value: u8) {
        assert!(offset <= self.len && len <= self.len - offset);
        // SAFETY: as in `write`.
        unsafe { self.start.add(offset).write_bytes(value, len) }
    }
}
