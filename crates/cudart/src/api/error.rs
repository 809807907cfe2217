//! Errors and versions.

use std::ffi::{c_char, c_int};

use crate::call::{ask, last_error, take_last_error};
use crate::errors;
use crate::host::Out;

/// The version of the runtime, and of the driver it would need: 13.0.
const VERSION: c_int = 13_000;

/// The thread's last error, which is forgotten.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> c_int {
    take_last_error()
}

/// The thread's last error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> c_int {
    last_error()
}

/// The name of an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(error: c_int) -> *const c_char {
    errors::name(error).as_ptr()
}

/// What is said of an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(error: c_int) -> *const c_char {
    errors::text(error).as_ptr()
}

/// The driver's version.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDriverGetVersion(version: Out<c_int>) -> c_int {
    ask("cudaDriverGetVersion", |_| version.put(VERSION))
}

/// The runtime's version.
#[unsafe(no_mangle)]
pub extern "C" fn cudaRuntimeGetVersion(version: Out<c_int>) -> c_int {
    ask("cudaRuntimeGetVersion", |_| version.put(VERSION))
}
