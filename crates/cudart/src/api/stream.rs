//! Streams.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};

use crate::call::{call, fail};
use crate::errors::Code;
use crate::host::Out;

/// `cudaHostFn_t`.
pub type HostFunction = extern "C" fn(*mut c_void);
/// `cudaStreamCallback_t`.
pub type StreamCallback = extern "C" fn(u64, c_int, *mut c_void);

thread_local! {
    static CAPTURE_MODE: Cell<c_int> = const { Cell::new(0) };
}

/// A stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCreate(stream: Out<u64>) -> c_int {
    call("cudaStreamCreate", |runtime| {
        stream.check()?;
        stream.put(runtime.streams.create(0, 0)?)
    })
}

/// A stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCreateWithFlags(stream: Out<u64>, flags: c_uint) -> c_int {
    call("cudaStreamCreateWithFlags", |runtime| {
        stream.check()?;
        stream.put(runtime.streams.create(flags, 0)?)
    })
}

/// A stream with a priority.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCreateWithPriority(
    stream: Out<u64>,
    flags: c_uint,
    priority: c_int,
) -> c_int {
    call("cudaStreamCreateWithPriority", |runtime| {
        stream.check()?;
        stream.put(runtime.streams.create(flags, priority)?)
    })
}

/// Ends a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamDestroy(stream: u64) -> c_int {
    call("cudaStreamDestroy", |runtime| {
        runtime.streams.destroy(stream)?;
        runtime.synchronise();
        Ok(())
    })
}

/// Its flags.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamGetFlags(stream: u64, flags: Out<c_uint>) -> c_int {
    call("cudaStreamGetFlags", |runtime| flags.put(runtime.streams.get(stream)?.flags))
}

/// Its priority.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamGetPriority(stream: u64, priority: Out<c_int>) -> c_int {
    call("cudaStreamGetPriority", |runtime| priority.put(runtime.streams.get(stream)?.priority))
}

/// Its number.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamGetId(stream: u64, id: Out<u64>) -> c_int {
    call("cudaStreamGetId", |runtime| id.put(runtime.streams.id(stream)?))
}

/// Its device.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamGetDevice(stream: u64, device: Out<c_int>) -> c_int {
    call("cudaStreamGetDevice", |runtime| {
        runtime.streams.get(stream)?;
        device.put(0)
    })
}

/// Whether its work is done: it is.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamQuery(stream: u64) -> c_int {
    call("cudaStreamQuery", |runtime| {
        runtime.streams.get(stream)?;
        runtime.synchronise();
        Ok(())
    })
}

/// Waits for its work.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamSynchronize(stream: u64) -> c_int {
    call("cudaStreamSynchronize", |runtime| {
        runtime.streams.get(stream)?;
        runtime.synchronise();
        Ok(())
    })
}

/// Lets it wait for an event.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamWaitEvent(stream: u64, event: u64, flags: c_uint) -> c_int {
    call("cudaStreamWaitEvent", |runtime| {
        runtime.streams.get(stream)?;
        runtime.streams.event(event)?;
        if flags > 1 { Err(Code::INVALID_VALUE) } else { Ok(()) }
    })
}

/// Ties managed memory to it: of no effect here.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamAttachMemAsync(
    stream: u64,
    _pointer: u64,
    _bytes: usize,
    _flags: c_uint,
) -> c_int {
    call("cudaStreamAttachMemAsync", |runtime| runtime.streams.get(stream).map(drop))
}

/// Whether it is being captured: it isn't.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamIsCapturing(stream: u64, status: Out<c_int>) -> c_int {
    call("cudaStreamIsCapturing", |runtime| {
        runtime.streams.get(stream)?;
        status.put(0)
    })
}

/// Whether it is being captured, and into what.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamGetCaptureInfo(
    stream: u64,
    status: Out<c_int>,
    id: Out<u64>,
    graph: Out<u64>,
    dependencies: Out<u64>,
    edges: Out<u64>,
    count: Out<usize>,
) -> c_int {
    call("cudaStreamGetCaptureInfo", |runtime| {
        runtime.streams.get(stream)?;
        status.put(0)?;
        id.offer(0);
        graph.offer(0);
        dependencies.offer(0);
        edges.offer(0);
        count.offer(0);
        Ok(())
    })
}

/// Copies the attributes of a stream, which are hints.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCopyAttributes(to: u64, from: u64) -> c_int {
    call("cudaStreamCopyAttributes", |runtime| {
        runtime.streams.get(to)?;
        runtime.streams.get(from).map(drop)
    })
}

/// Sets an attribute of a stream, which is a hint.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamSetAttribute(stream: u64, _attribute: c_int, _value: u64) -> c_int {
    call("cudaStreamSetAttribute", |runtime| runtime.streams.get(stream).map(drop))
}

/// Resets persisting lines of L2, which are a hint.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCtxResetPersistingL2Cache() -> c_int {
    call("cudaCtxResetPersistingL2Cache", |runtime| runtime.settle())
}

/// Which calls a capture in this thread forbids: exchanged, and of no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cudaThreadExchangeStreamCaptureMode(mode: Out<c_int>) -> c_int {
    call("cudaThreadExchangeStreamCaptureMode", |_| {
        let wanted = mode.get()?;
        if !(0..=2).contains(&wanted) {
            return Err(Code::INVALID_VALUE);
        }
        mode.put(CAPTURE_MODE.replace(wanted))
    })
}

/// Calls a function of the program after the stream's work.
#[unsafe(no_mangle)]
pub extern "C" fn cudaLaunchHostFunc(
    stream: u64,
    function: Option<HostFunction>,
    data: *mut c_void,
) -> c_int {
    let Some(function) = function else { return fail(Code::INVALID_VALUE) };
    let waited = cudaStreamSynchronize(stream);
    if waited == 0 {
        // The runtime isn't locked here: the function may do what it likes.
        function(data);
    }
    waited
}

/// Calls a function of the program after the stream's work, with the stream's error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamAddCallback(
    stream: u64,
    function: Option<StreamCallback>,
    data: *mut c_void,
    flags: c_uint,
) -> c_int {
    let Some(function) = function.filter(|_| flags == 0) else { return fail(Code::INVALID_VALUE) };
    let waited = cudaStreamSynchronize(stream);
    if waited == 0 {
        function(stream, waited, data);
    }
    waited
}
