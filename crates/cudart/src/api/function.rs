//! Kernels, and what can be asked of them.

use std::ffi::{c_char, c_int, c_uint};

use crate::abi::FunctionAttributes;
use crate::call::call;
use crate::errors::Code;
use crate::host::Out;

/// All about a kernel.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFuncGetAttributes(to: Out<FunctionAttributes>, function: u64) -> c_int {
    call("cudaFuncGetAttributes", |runtime| {
        to.check()?;
        to.put(runtime.function_attributes(function)?)
    })
}

/// Sets an attribute of a kernel.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFuncSetAttribute(function: u64, attribute: c_int, value: c_int) -> c_int {
    call("cudaFuncSetAttribute", |runtime| {
        runtime.set_function_attribute(function, attribute, value)
    })
}

/// The same, by the kernel's handle.
#[unsafe(no_mangle)]
pub extern "C" fn cudaKernelSetAttributeForDevice(
    kernel: u64,
    attribute: c_int,
    value: c_int,
    device: c_int,
) -> c_int {
    call("cudaKernelSetAttributeForDevice", |runtime| {
        if device != 0 {
            return Err(Code::INVALID_DEVICE);
        }
        runtime.set_function_attribute(kernel, attribute, value)
    })
}

/// Sets the cache configuration of a kernel, which is a hint.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFuncSetCacheConfig(function: u64, _config: c_int) -> c_int {
    call("cudaFuncSetCacheConfig", |runtime| runtime.kernel(function).map(drop))
}

/// Sets the width of banks, which has had no effect since 5.0.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFuncSetSharedMemConfig(function: u64, _config: c_int) -> c_int {
    call("cudaFuncSetSharedMemConfig", |runtime| runtime.kernel(function).map(drop))
}

/// The mangled name of a kernel.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFuncGetName(name: Out<*const c_char>, function: u64) -> c_int {
    call("cudaFuncGetName", |runtime| {
        name.check()?;
        let kernel = runtime.kernel(function)?;
        name.put(runtime.registry.c_name(&kernel.facts.name))
    })
}

/// Offset and size of a parameter.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFuncGetParamInfo(
    function: u64,
    index: usize,
    offset: Out<usize>,
    bytes: Out<usize>,
) -> c_int {
    call("cudaFuncGetParamInfo", |runtime| {
        let kernel = runtime.kernel(function)?;
        let (at, size) = *kernel.facts.params.get(index).ok_or(Code::INVALID_VALUE)?;
        offset.put(at as usize)?;
        bytes.offer(size as usize);
        Ok(())
    })
}

/// Blocks that a multiprocessor holds at once.
#[unsafe(no_mangle)]
pub extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: Out<c_int>,
    function: u64,
    threads: c_int,
    dynamic: usize,
) -> c_int {
    call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", |runtime| {
        blocks.check()?;
        blocks.put(runtime.resident(function, threads, dynamic)?)
    })
}

/// The same; the flag is about caches.
#[unsafe(no_mangle)]
pub extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: Out<c_int>,
    function: u64,
    threads: c_int,
    dynamic: usize,
    flags: c_uint,
) -> c_int {
    call("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", |runtime| {
        blocks.check()?;
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        blocks.put(runtime.resident(function, threads, dynamic)?)
    })
}

/// Dynamic shared memory with which so many blocks fit.
#[unsafe(no_mangle)]
pub extern "C" fn cudaOccupancyAvailableDynamicSMemPerBlock(
    bytes: Out<usize>,
    function: u64,
    blocks: c_int,
    threads: c_int,
) -> c_int {
    call("cudaOccupancyAvailableDynamicSMemPerBlock", |runtime| {
        bytes.check()?;
        bytes.put(runtime.dynamic_for(function, blocks, threads)?)
    })
}
