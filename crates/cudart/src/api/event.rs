//! Events.

use std::ffi::{c_int, c_uint};

use crate::call::call;
use crate::errors::Outcome;
use crate::host::Out;
use crate::runtime::Runtime;

/// An event that keeps time.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventCreate(event: Out<u64>) -> c_int {
    call("cudaEventCreate", |runtime| {
        event.check()?;
        event.put(runtime.streams.create_event(0)?)
    })
}

/// An event.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventCreateWithFlags(event: Out<u64>, flags: c_uint) -> c_int {
    call("cudaEventCreateWithFlags", |runtime| {
        event.check()?;
        event.put(runtime.streams.create_event(flags)?)
    })
}

/// Records an event.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventRecord(event: u64, stream: u64) -> c_int {
    call("cudaEventRecord", |runtime| record(runtime, event, stream))
}

/// Records an event.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventRecordWithFlags(event: u64, stream: u64, _flags: c_uint) -> c_int {
    call("cudaEventRecordWithFlags", |runtime| record(runtime, event, stream))
}

/// Whether an event has come: it has.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventQuery(event: u64) -> c_int {
    call("cudaEventQuery", |runtime| {
        runtime.streams.event(event)?;
        runtime.synchronise();
        Ok(())
    })
}

/// Waits for an event.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventSynchronize(event: u64) -> c_int {
    call("cudaEventSynchronize", |runtime| {
        runtime.streams.event(event)?;
        runtime.synchronise();
        Ok(())
    })
}

/// Ends an event.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventDestroy(event: u64) -> c_int {
    call("cudaEventDestroy", |runtime| runtime.streams.destroy_event(event))
}

/// Milliseconds of the model between two events.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventElapsedTime(milliseconds: Out<f32>, from: u64, to: u64) -> c_int {
    call("cudaEventElapsedTime", |runtime| milliseconds.put(runtime.streams.elapsed(from, to)?))
}

fn record(runtime: &mut Runtime, event: u64, stream: u64) -> Outcome {
    runtime.streams.get(stream)?;
    runtime.streams.record(event, runtime.machine.nanoseconds())
}
