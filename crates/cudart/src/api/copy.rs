//! Copies and fills.

use std::ffi::c_int;

use crate::abi::{Copy3d, Copy3dPeer, Extent, PitchedPointer};
use crate::call::call;
use crate::copies::Rows;
use crate::host::In;

/// Between host and device.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpy(to: u64, from: u64, bytes: usize, kind: c_int) -> c_int {
    call("cudaMemcpy", |runtime| {
        let copied = runtime.copy(to, from, bytes, kind);
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemcpy`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpyAsync(
    to: u64,
    from: u64,
    bytes: usize,
    kind: c_int,
    stream: u64,
) -> c_int {
    call("cudaMemcpyAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.copy(to, from, bytes, kind)
    })
}

/// Rows with a pitch.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpy2D(
    to: u64,
    to_pitch: usize,
    from: u64,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> c_int {
    call("cudaMemcpy2D", |runtime| {
        let copied = runtime.copy_rows(
            Rows { start: to, pitch: to_pitch },
            Rows { start: from, pitch: from_pitch },
            width,
            height,
            kind,
        );
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemcpy2D`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpy2DAsync(
    to: u64,
    to_pitch: usize,
    from: u64,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: u64,
) -> c_int {
    call("cudaMemcpy2DAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.copy_rows(
            Rows { start: to, pitch: to_pitch },
            Rows { start: from, pitch: from_pitch },
            width,
            height,
            kind,
        )
    })
}

/// Slices of rows.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpy3D(copy: In<Copy3d>) -> c_int {
    call("cudaMemcpy3D", |runtime| {
        let copied = runtime.copy_slices(&copy.get()?);
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemcpy3D`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpy3DAsync(copy: In<Copy3d>, stream: u64) -> c_int {
    call("cudaMemcpy3DAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.copy_slices(&copy.get()?)
    })
}

/// To a variable.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpyToSymbol(
    symbol: u64,
    from: u64,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> c_int {
    call("cudaMemcpyToSymbol", |runtime| {
        let copied = runtime.copy_to_symbol(symbol, from, bytes, offset, kind);
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemcpyToSymbol`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpyToSymbolAsync(
    symbol: u64,
    from: u64,
    bytes: usize,
    offset: usize,
    kind: c_int,
    stream: u64,
) -> c_int {
    call("cudaMemcpyToSymbolAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.copy_to_symbol(symbol, from, bytes, offset, kind)
    })
}

/// From a variable.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpyFromSymbol(
    to: u64,
    symbol: u64,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> c_int {
    call("cudaMemcpyFromSymbol", |runtime| {
        let copied = runtime.copy_from_symbol(to, symbol, bytes, offset, kind);
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemcpyFromSymbol`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpyFromSymbolAsync(
    to: u64,
    symbol: u64,
    bytes: usize,
    offset: usize,
    kind: c_int,
    stream: u64,
) -> c_int {
    call("cudaMemcpyFromSymbolAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.copy_from_symbol(to, symbol, bytes, offset, kind)
    })
}

/// Between devices, of which there is one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpyPeer(
    to: u64,
    to_device: c_int,
    from: u64,
    from_device: c_int,
    bytes: usize,
) -> c_int {
    call("cudaMemcpyPeer", |runtime| {
        let copied = runtime.copy_between(to, to_device, from, from_device, bytes);
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemcpyPeer`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpyPeerAsync(
    to: u64,
    to_device: c_int,
    from: u64,
    from_device: c_int,
    bytes: usize,
    stream: u64,
) -> c_int {
    call("cudaMemcpyPeerAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.copy_between(to, to_device, from, from_device, bytes)
    })
}

/// Slices between devices, of which there is one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpy3DPeer(copy: In<Copy3dPeer>) -> c_int {
    call("cudaMemcpy3DPeer", |runtime| {
        let copied = runtime.copy_slices_between(&copy.get()?);
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemcpy3DPeer`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpy3DPeerAsync(copy: In<Copy3dPeer>, stream: u64) -> c_int {
    call("cudaMemcpy3DPeerAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.copy_slices_between(&copy.get()?)
    })
}

/// A byte over a range.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemset(to: u64, value: c_int, bytes: usize) -> c_int {
    call("cudaMemset", |runtime| {
        let copied = runtime.fill(to, value, bytes);
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemset`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemsetAsync(to: u64, value: c_int, bytes: usize, stream: u64) -> c_int {
    call("cudaMemsetAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.fill(to, value, bytes)
    })
}

/// A byte over rows.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemset2D(
    to: u64,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
) -> c_int {
    call("cudaMemset2D", |runtime| {
        let copied = runtime.fill_rows(Rows { start: to, pitch }, value, width, height);
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemset2D`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemset2DAsync(
    to: u64,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    stream: u64,
) -> c_int {
    call("cudaMemset2DAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.fill_rows(Rows { start: to, pitch }, value, width, height)
    })
}

/// A byte over slices.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemset3D(to: PitchedPointer, value: c_int, extent: Extent) -> c_int {
    call("cudaMemset3D", |runtime| {
        let copied = runtime.fill_slices(to, value, extent);
        runtime.synchronise();
        copied
    })
}

/// [`cudaMemset3D`] in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemset3DAsync(
    to: PitchedPointer,
    value: c_int,
    extent: Extent,
    stream: u64,
) -> c_int {
    call("cudaMemset3DAsync", |runtime| {
        runtime.streams.get(stream)?;
        runtime.fill_slices(to, value, extent)
    })
}
