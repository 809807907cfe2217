//! Memory.

use std::ffi::{c_int, c_uint};

use proofrun_emulator::machine::MemoryKind;

use crate::abi::{Extent, Location, PitchedPointer, PointerAttributes};
use crate::call::{ask, call};
use crate::errors::{Code, Outcome};
use crate::host::Out;

/// What a context takes of a device's memory: about half a GiB on an H200 with driver 580.
const CONTEXT_BYTES: u64 = 552_402_944;

/// The handle of the one memory pool.
const POOL: u64 = 0x10;

/// Where an allocation is; null where there is none.
fn give(pointer: &Out<u64>, got: Result<u64, Code>) -> Outcome {
    pointer.put(got.unwrap_or_default())?;
    got.map(drop)
}

fn check_pool(pool: u64) -> Outcome {
    if pool == POOL { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

/// Device memory.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMalloc(pointer: Out<u64>, bytes: usize) -> c_int {
    call("cudaMalloc", |runtime| give(&pointer, runtime.allocate(bytes, MemoryKind::Device)))
}

/// Device memory in a stream's order.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocAsync(pointer: Out<u64>, bytes: usize, stream: u64) -> c_int {
    call("cudaMallocAsync", |runtime| {
        runtime.streams.get(stream)?;
        give(&pointer, runtime.allocate(bytes, MemoryKind::Device))
    })
}

/// Memory that host and device reach.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocManaged(pointer: Out<u64>, bytes: usize, flags: c_uint) -> c_int {
    call("cudaMallocManaged", |runtime| {
        if !matches!(flags, 1 | 2) {
            return Err(Code::INVALID_VALUE);
        }
        give(&pointer, runtime.allocate(bytes, MemoryKind::Managed))
    })
}

/// Host memory that the device reaches.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocHost(pointer: Out<u64>, bytes: usize) -> c_int {
    call("cudaMallocHost", |runtime| give(&pointer, runtime.allocate_host(bytes, 0)))
}

/// Host memory that the device reaches.
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostAlloc(pointer: Out<u64>, bytes: usize, flags: c_uint) -> c_int {
    call("cudaHostAlloc", |runtime| give(&pointer, runtime.allocate_host(bytes, flags)))
}

/// Rows, each one aligned.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocPitch(
    pointer: Out<u64>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
) -> c_int {
    call("cudaMallocPitch", |runtime| {
        pointer.check()?;
        pitch.check()?;
        let (address, each) = runtime.allocate_rows(width, height)?;
        pointer.put(address)?;
        pitch.put(each)
    })
}

/// Slices of rows, each row aligned.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMalloc3D(pitched: Out<PitchedPointer>, extent: Extent) -> c_int {
    call("cudaMalloc3D", |runtime| {
        pitched.check()?;
        pitched.put(runtime.allocate_slices(extent)?)
    })
}

/// Frees device or managed memory.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFree(pointer: u64) -> c_int {
    call("cudaFree", |runtime| runtime.free(pointer))
}

/// Frees device memory in a stream's order.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeAsync(pointer: u64, stream: u64) -> c_int {
    call("cudaFreeAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.free(pointer)
    })
}

/// Frees host memory of the runtime's.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeHost(pointer: u64) -> c_int {
    call("cudaFreeHost", |runtime| runtime.free_host(pointer))
}

/// Lets the device reach memory of the program's.
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostRegister(pointer: u64, bytes: usize, flags: c_uint) -> c_int {
    call("cudaHostRegister", |runtime| runtime.register(pointer, bytes, flags))
}

/// Takes that back.
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostUnregister(pointer: u64) -> c_int {
    call("cudaHostUnregister", |runtime| runtime.unregister(pointer))
}

/// The device's address for host memory, which is the same.
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostGetDevicePointer(device: Out<u64>, host: u64, _flags: c_uint) -> c_int {
    call("cudaHostGetDevicePointer", |runtime| {
        device.check()?;
        runtime.host_memory(host)?;
        device.put(host)
    })
}

/// The flags host memory was made with.
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostGetFlags(flags: Out<c_uint>, host: u64) -> c_int {
    call("cudaHostGetFlags", |runtime| {
        flags.check()?;
        let base = runtime.host_memory(host)?;
        flags.put(runtime.host_flags.get(&base).copied().unwrap_or_default())
    })
}

/// Free and all memory.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemGetInfo(free: Out<usize>, total: Out<usize>) -> c_int {
    call("cudaMemGetInfo", |runtime| {
        let all = runtime.profile.memory_bytes;
        free.put(all.saturating_sub(CONTEXT_BYTES + runtime.allocated) as usize)?;
        total.put(all as usize)
    })
}

/// Address of a variable.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetSymbolAddress(pointer: Out<u64>, symbol: u64) -> c_int {
    call("cudaGetSymbolAddress", |runtime| {
        let (address, _) = runtime.variable(symbol)?;
        pointer.put(address)
    })
}

/// Bytes of a variable.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetSymbolSize(bytes: Out<usize>, symbol: u64) -> c_int {
    call("cudaGetSymbolSize", |runtime| {
        let (_, size) = runtime.variable(symbol)?;
        bytes.put(size as usize)
    })
}

/// A hint about managed memory.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemAdvise(
    pointer: u64,
    _bytes: usize,
    _advice: c_int,
    location: Location,
) -> c_int {
    call("cudaMemAdvise", |runtime| runtime.managed_range(pointer, location))
}

/// Moves managed memory, which is everywhere.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPrefetchAsync(
    pointer: u64,
    _bytes: usize,
    location: Location,
    _flags: c_uint,
    stream: u64,
) -> c_int {
    call("cudaMemPrefetchAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.managed_range(pointer, location)
    })
}

/// The pool of a device: there is one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetDefaultMemPool(pool: Out<u64>, device: c_int) -> c_int {
    call("cudaDeviceGetDefaultMemPool", |_| {
        if device != 0 {
            return Err(Code::INVALID_DEVICE);
        }
        pool.put(POOL)
    })
}

/// The pool in use: the default one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetMemPool(pool: Out<u64>, device: c_int) -> c_int {
    call("cudaDeviceGetMemPool", |_| {
        if device != 0 {
            return Err(Code::INVALID_DEVICE);
        }
        pool.put(POOL)
    })
}

/// Sets an attribute of the pool, which are hints.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPoolSetAttribute(pool: u64, _attribute: c_int, _value: u64) -> c_int {
    call("cudaMemPoolSetAttribute", |_| check_pool(pool))
}

/// Gives memory of the pool back, which it never keeps.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemPoolTrimTo(pool: u64, _bytes: usize) -> c_int {
    call("cudaMemPoolTrimTo", |_| check_pool(pool))
}

/// Device memory from the pool.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocFromPoolAsync(
    pointer: Out<u64>,
    bytes: usize,
    pool: u64,
    stream: u64,
) -> c_int {
    call("cudaMallocFromPoolAsync", |runtime| {
        check_pool(pool)?;
        runtime.streams.get(stream)?;
        give(&pointer, runtime.allocate(bytes, MemoryKind::Device))
    })
}

/// What a pointer is.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPointerGetAttributes(
    attributes: Out<PointerAttributes>,
    pointer: u64,
) -> c_int {
    ask("cudaPointerGetAttributes", |runtime| attributes.put(runtime.pointer(pointer)))
}
