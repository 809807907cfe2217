//! The program's own memory: what a C caller passes is read and written here and nowhere else.

#![allow(
    unsafe_code,
    reason = "pointers from C are dereferenced; each block says who vouches for them"
)]

use std::ffi::{CStr, c_char};

use crate::errors::{Code, Outcome};

/// Where the caller wants a result. Only C makes one, and vouches that it is null or valid for a
/// `T`.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the result; a null pointer is an invalid value.
    pub fn put(&self, value: T) -> Outcome {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, and the caller vouches for the rest. C promises no alignment here.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Writes the result unless the pointer is null, which the function allows.
    pub fn offer(&self, value: T) {
        // A null pointer is the only way to fail.
        let _ = self.put(value);
    }

    /// Whether a result can be written.
    pub fn check(&self) -> Outcome {
        if self.0.is_null() { Err(Code::INVALID_VALUE) } else { Ok(()) }
    }

    /// The address it points to.
    pub fn address(&self) -> u64 {
        self.0 as u64
    }
}

impl<T: Copy> Out<T> {
    /// What is there now: some results are exchanged.
    pub fn get(&self) -> Result<T, Code> {
        In(self.0.cast_const()).get()
    }
}

/// Something the caller passes by address. Only C makes one, and vouches that it is null or valid.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// What is there; a null pointer is an invalid value.
    pub fn get(&self) -> Result<T, Code> {
        self.at(0)
    }

    /// What is there, in an array.
    pub fn at(&self, index: usize) -> Result<T, Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, and the caller vouches for an array long enough.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    /// The address.
    pub fn address(&self) -> u64 {
        self.0 as u64
    }
}

impl In<c_char> {
    /// The string; a null pointer is an invalid value.
    pub fn text(&self) -> Result<String, Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, and the caller vouches for a string that ends.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// A structure inside one that C passed, by its address.
///
/// `None` for a null pointer. The structure that held the address came from C, which vouches for
/// it.
pub fn read_at<T: Copy>(pointer: *const T) -> Option<T> {
    In(pointer).get().ok()
}

/// Bytes of the program's memory, checked first: `None` where they can't be read.
pub fn read(address: u64, bytes: usize) -> Option<Vec<u8>> {
    let mut copy = vec![0; bytes];
    if !readable(address, bytes) {
        return None;
    }
    // SAFETY: the range was just read by the kernel, and `copy` is as long.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, copy.as_mut_ptr(), bytes) };
    Some(copy)
}

/// Calls `use_it` with the program's memory as a slice; `None` where it can't be read.
pub fn with<R>(address: u64, bytes: usize, use_it: impl FnOnce(&[u8]) -> R) -> Option<R> {
    if !readable(address, bytes) {
        return None;
    }
    // SAFETY: it is mapped, and the caller of the runtime vouches that nothing writes it meanwhile.
    Some(use_it(unsafe { std::slice::from_raw_parts(address as *const u8, bytes) }))
}

/// The same, to write.
pub fn with_mut<R>(address: u64, bytes: usize, use_it: impl FnOnce(&mut [u8]) -> R) -> Option<R> {
    if !readable(address, bytes) {
        return None;
    }
    // SAFETY: it is mapped, and the caller of the runtime vouches that it is theirs to write.
    Some(use_it(unsafe { std::slice::from_raw_parts_mut(address as *mut u8, bytes) }))
}

/// Copies between places of the program's memory that may overlap; `false` where one can't be read.
pub fn copy(to: u64, from: u64, bytes: usize) -> bool {
    if !readable(to, bytes) || !readable(from, bytes) {
        return false;
    }
    // SAFETY: both are mapped, and the caller of the runtime vouches for them.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
    true
}

/// Writes an address into a pointer variable of the program.
pub fn write_pointer(variable: u64, value: u64) -> bool {
    with_mut(variable, size_of::<u64>(), |bytes| bytes.copy_from_slice(&value.to_ne_bytes()))
        .is_some()
}

/// Whether the first and last byte of a range are readable, asked of the kernel, which says no
/// instead of raising a signal. Where it may not be asked (a sandbox), the answer is yes, as the
/// real runtime's is.
pub fn readable(address: u64, bytes: usize) -> bool {
    if bytes == 0 {
        return true;
    }
    let Some(last) = address.checked_add(bytes as u64 - 1) else { return false };
    probe(address) && probe(last)
}

fn probe(address: u64) -> bool {
    let mut byte = 0_u8;
    let local = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: 1 };
    // SAFETY: one local byte is written at most; the remote address is checked by the kernel.
    let read = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    read == 1 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

unsafe extern "C" {
    #[link_name = "stdout"]
    static STDOUT: *mut libc::FILE;
    #[link_name = "stderr"]
    static STDERR: *mut libc::FILE;
}

/// Writes to the program's own standard output stream, in order with what the program writes.
pub fn print(bytes: &[u8]) {
    // SAFETY: the C library's stream lives as long as the process; `fwrite` locks it.
    unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), STDOUT) };
}

/// Writes to the program's own standard error stream.
pub fn complain(bytes: &[u8]) {
    // SAFETY: as in `print`.
    unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), STDERR) };
}

/// Writes all of it to a descriptor; gives up where the descriptor does.
pub fn write_to(descriptor: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the slice is as long as said.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(0) => return,
            Ok(written) => bytes = &bytes[written..],
            Err(_) if std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_not_readable() {
        let here = [7_u8; 16];
        assert!(readable(here.as_ptr() as u64, 16));
        assert_eq!(read(here.as_ptr() as u64, 2), Some(vec![7, 7]));
        assert!(!readable(8, 1));
        assert!(!readable(here.as_ptr() as u64, usize::MAX));
        assert_eq!(read(8, 1), None);
    }

    #[test]
    fn a_null_pointer_for_a_result_is_an_invalid_value() {
        let mut result = 0;
        assert_eq!(Out(&raw mut result).put(5), Ok(()));
        assert_eq!(result, 5);
        assert_eq!(Out(std::ptr::null_mut()).put(5), Err(Code::INVALID_VALUE));
    }
}
