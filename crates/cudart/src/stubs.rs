//! The functions of the runtime that this crate doesn't implement. Each reports its name and fails.

#![allow(unsafe_code, reason = "symbols of C are exported")]

use std::arch::naked_asm;

use proofrun_emulator::finding::{Kind, Severity};

use crate::call;
use crate::errors::Code;

include!(concat!(env!("OUT_DIR"), "/stubs.rs"));

/// Reports a function that isn't emulated.
pub fn missing(name: &'static str) -> i32 {
    call::call(name, |runtime| {
        runtime.tell(Kind::Unsupported, Severity::Error, format!("`{name}` is not emulated"));
        Err(Code::NOT_SUPPORTED)
    })
}
