//! The end of the program, after its own destructors: those may still call the runtime.

#![allow(unsafe_code, reason = "a function is placed where ld.so calls it")]

/// ld.so calls the functions here after the program's exit handlers and before the C library's
/// streams are flushed. A program that crashes doesn't come here; what was found by then has been
/// told.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".fini_array"))]
static FINISH: extern "C" fn() = finish;

extern "C" fn finish() {
    crate::call::finish();
}
