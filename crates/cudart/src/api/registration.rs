//! What nvcc's code calls before `main` and around launches.

use std::cell::RefCell;
use std::ffi::{c_char, c_int};

use crate::abi::Dim3;
use crate::call::{call, enter, fail};
use crate::errors::Code;
use crate::host::{In, Out};

/// What `<<<…>>>` pushed and the kernel's host stub pops.
#[derive(Debug, Clone, Copy)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: u64,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Registers a fat binary by its wrapper; the handle is for the other registrations.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinary(wrapper: u64) -> u64 {
    enter("__cudaRegisterFatBinary", |runtime| runtime.registry.add_binary(wrapper)).unwrap_or(0)
}

/// All of a binary has been registered.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_handle: u64) {}

/// The program ends: nothing is taken back, as its destructors may still call.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaUnregisterFatBinary(_handle: u64) {}

/// Registers a kernel by its host stub.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFunction(handle: u64, stub: u64, _device: u64, name: In<c_char>) {
    // A program that is no program of nvcc's may pass no name: nothing can be registered then.
    let Ok(name) = name.text() else { return };
    let _ = enter("__cudaRegisterFunction", |runtime| {
        runtime.registry.add_function(handle, stub, name)
    });
}

/// Registers a variable by its shadow.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterVar(handle: u64, shadow: u64, _device: u64, name: In<c_char>) {
    let Ok(name) = name.text() else { return };
    let _ =
        enter("__cudaRegisterVar", |runtime| runtime.registry.add_variable(handle, shadow, name));
}

/// Registers a managed variable by the pointer that is to be set.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterManagedVar(
    handle: u64,
    pointer: u64,
    _device: u64,
    name: In<c_char>,
) {
    let Ok(name) = name.text() else { return };
    let _ = enter("__cudaRegisterManagedVar", |runtime| {
        runtime.registry.add_managed(handle, pointer, name)
    });
}

/// Before the program touches a managed variable: its binary is loaded. True if that went well.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule(handle: u64) -> c_char {
    let loaded = call("__cudaInitModule", |runtime| runtime.load_binary(handle));
    c_char::from(loaded == 0)
}

/// `<<<…>>>`: 0 lets the host stub be called.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: u64,
) -> u32 {
    CONFIGURATIONS.with_borrow_mut(|all| all.push(Configuration { grid, block, shared, stream }));
    0
}

/// In the host stub: what was pushed.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaPopCallConfiguration(
    grid: Out<Dim3>,
    block: Out<Dim3>,
    shared: Out<usize>,
    stream: Out<u64>,
) -> c_int {
    let Some(pushed) = CONFIGURATIONS.with_borrow_mut(Vec::pop) else {
        return fail(Code::MISSING_CONFIGURATION);
    };
    let put = grid
        .put(pushed.grid)
        .and_then(|()| block.put(pushed.block))
        .and_then(|()| shared.put(pushed.shared))
        .and_then(|()| stream.put(pushed.stream));
    put.map_or_else(fail, |()| 0)
}
