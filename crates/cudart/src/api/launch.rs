//! Launches.

use std::ffi::c_int;

use crate::abi::{Dim3, LaunchConfig};
use crate::call::{call, fail, prepare};
use crate::errors::{Code, Outcome};
use crate::host::{self, In, Out};
use crate::launches::Request;
use crate::runtime::Runtime;
use proofrun_emulator::finding::{Kind, Severity};

// Of `cudaLaunchAttributeID`: what changes how a kernel runs. The others are hints about speed.
const COOPERATIVE: c_int = 2;
const CLUSTER: c_int = 4;
const PROGRAMMATIC_EVENT: c_int = 7;
const COMPLETION_EVENT: c_int = 12;
const DEVICE_UPDATABLE: c_int = 13;

/// The handle of a kernel is the address of its host stub, so that either names it. A kernel that
/// can't be had is an error here, and at its launch again.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaGetKernel(kernel: Out<u64>, stub: u64) -> c_int {
    prepare("__cudaGetKernel", |runtime| {
        kernel.put(stub)?;
        runtime.kernel(stub).map(drop)
    })
}

/// The same, for programs.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetKernel(kernel: Out<u64>, stub: u64) -> c_int {
    __cudaGetKernel(kernel, stub)
}

/// The same, as `cudaFunction_t`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetFuncBySymbol(function: Out<u64>, stub: u64) -> c_int {
    __cudaGetKernel(function, stub)
}

/// What `<<<…>>>` becomes.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaLaunchKernel(
    kernel: u64,
    grid: Dim3,
    block: Dim3,
    arguments: u64,
    shared: usize,
    stream: u64,
) -> c_int {
    let request = request(kernel, grid, block, arguments, shared, stream);
    call("<<<…>>>", |runtime| runtime.launch(&request))
}

/// A launch by the address of the host stub.
#[unsafe(no_mangle)]
pub extern "C" fn cudaLaunchKernel(
    function: u64,
    grid: Dim3,
    block: Dim3,
    arguments: u64,
    shared: usize,
    stream: u64,
) -> c_int {
    let request = request(function, grid, block, arguments, shared, stream);
    call("cudaLaunchKernel", |runtime| runtime.launch(&request))
}

/// A launch whose blocks are all resident.
#[unsafe(no_mangle)]
pub extern "C" fn cudaLaunchCooperativeKernel(
    function: u64,
    grid: Dim3,
    block: Dim3,
    arguments: u64,
    shared: usize,
    stream: u64,
) -> c_int {
    let request =
        Request { cooperative: true, ..request(function, grid, block, arguments, shared, stream) };
    call("cudaLaunchCooperativeKernel", |runtime| runtime.launch(&request))
}

/// A launch with attributes.
#[unsafe(no_mangle)]
pub extern "C" fn cudaLaunchKernelExC(
    config: In<LaunchConfig>,
    function: u64,
    arguments: u64,
) -> c_int {
    let config = match config.get() {
        Ok(config) => config,
        Err(code) => return fail(code),
    };
    call("cudaLaunchKernelExC", |runtime| {
        let (grid, block) = (config.grid, config.block);
        let shared = config.dynamic_shared_bytes;
        let plain = request(function, grid, block, arguments, shared, config.stream);
        let (cooperative, event) = attributes(runtime, &config)?;
        runtime.launch(&Request { cooperative, ..plain })?;
        event.map_or(Ok(()), |event| runtime.streams.record(event, runtime.machine.nanoseconds()))
    })
}

fn request(
    function: u64,
    grid: Dim3,
    block: Dim3,
    arguments: u64,
    dynamic_shared_bytes: usize,
    stream: u64,
) -> Request {
    Request {
        function,
        grid: grid.into(),
        block: block.into(),
        dynamic_shared_bytes,
        stream,
        arguments,
        cooperative: false,
    }
}

/// Whether the launch is cooperative, and an event to record after it.
fn attributes(runtime: &mut Runtime, config: &LaunchConfig) -> Result<(bool, Option<u64>), Code> {
    let (mut cooperative, mut event) = (false, None);
    for index in 0..config.attribute_count as usize {
        let pointer = config.attributes.wrapping_add(index);
        let attribute = host::read_at(pointer).ok_or(Code::INVALID_VALUE)?;
        let value = attribute.value;
        match attribute.id {
            COOPERATIVE => cooperative = value[0] != 0,
            CLUSTER if value[..3] != [1, 1, 1] => {
                unsupported(runtime, "thread block clusters are not emulated")?;
            }
            DEVICE_UPDATABLE => {
                unsupported(runtime, "graphs that a device updates are not emulated")?
            }
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => {
                event = Some(u64::from(value[0]) | u64::from(value[1]) << 32);
            }
            _ => {}
        }
    }
    Ok((cooperative, event))
}

fn unsupported(runtime: &mut Runtime, what: &str) -> Outcome {
    runtime.tell(Kind::Unsupported, Severity::Error, what.to_owned());
    Err(Code::NOT_SUPPORTED)
}
