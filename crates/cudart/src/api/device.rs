//! Devices.

use std::ffi::{c_char, c_int, c_uint};

use crate::abi::{ChannelFormat, DeviceProperties};
use crate::call::{ask, call};
use crate::errors::{Code, Outcome};
use crate::host::{self, In, Out};
use crate::properties::{attribute, properties};
use crate::streams::GREATEST_PRIORITY;

/// Spin, yield, blocking, map host, resize, sync memory operations.
const DEVICE_FLAGS: c_uint = 0x9f;
const MAP_HOST: c_uint = 8;
const BUS: &str = "0000:00:00.0";

fn check_device(device: c_int) -> Outcome {
    if device == 0 { Ok(()) } else { Err(Code::INVALID_DEVICE) }
}

/// How many devices: one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetDeviceCount(count: Out<c_int>) -> c_int {
    ask("cudaGetDeviceCount", |_| count.put(1))
}

/// The thread's device.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetDevice(device: Out<c_int>) -> c_int {
    ask("cudaGetDevice", |_| device.put(0))
}

/// Chooses the thread's device.
#[unsafe(no_mangle)]
pub extern "C" fn cudaSetDevice(device: c_int) -> c_int {
    ask("cudaSetDevice", |_| check_device(device))
}

/// Chooses and starts a device.
#[unsafe(no_mangle)]
pub extern "C" fn cudaInitDevice(device: c_int, _device_flags: c_uint, _flags: c_uint) -> c_int {
    ask("cudaInitDevice", |_| check_device(device))
}

/// Which device fits best: the one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaChooseDevice(device: Out<c_int>, _wanted: u64) -> c_int {
    ask("cudaChooseDevice", |_| device.put(0))
}

/// Which devices may be used.
#[unsafe(no_mangle)]
pub extern "C" fn cudaSetValidDevices(devices: In<c_int>, count: c_int) -> c_int {
    ask("cudaSetValidDevices", |_| {
        (0..count).try_for_each(|index| check_device(devices.at(index as usize)?))
    })
}

/// All about a device.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetDeviceProperties(to: Out<DeviceProperties>, device: c_int) -> c_int {
    ask("cudaGetDeviceProperties", |runtime| {
        check_device(device)?;
        to.put(properties(runtime.profile))
    })
}

/// One fact about a device.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetAttribute(value: Out<c_int>, number: c_int, device: c_int) -> c_int {
    ask("cudaDeviceGetAttribute", |runtime| {
        check_device(device)?;
        value.check()?;
        value.put(attribute(runtime.profile, number).ok_or(Code::INVALID_VALUE)?)
    })
}

/// Waits for the device.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSynchronize() -> c_int {
    call("cudaDeviceSynchronize", |runtime| {
        runtime.synchronise();
        Ok(())
    })
}

/// Sets a limit.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSetLimit(limit: c_int, value: usize) -> c_int {
    call("cudaDeviceSetLimit", |runtime| {
        runtime.limit(limit)?;
        runtime.limits.insert(limit, value);
        Ok(())
    })
}

/// A limit.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetLimit(value: Out<usize>, limit: c_int) -> c_int {
    call("cudaDeviceGetLimit", |runtime| value.put(runtime.limit(limit)?))
}

/// The device's cache configuration.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetCacheConfig(config: Out<c_int>) -> c_int {
    call("cudaDeviceGetCacheConfig", |runtime| config.put(runtime.cache))
}

/// Sets it, which is a hint.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSetCacheConfig(config: c_int) -> c_int {
    call("cudaDeviceSetCacheConfig", |runtime| {
        if !(0..=3).contains(&config) {
            return Err(Code::INVALID_VALUE);
        }
        runtime.cache = config;
        Ok(())
    })
}

/// The width of shared memory's banks: 4 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetSharedMemConfig(config: Out<c_int>) -> c_int {
    call("cudaDeviceGetSharedMemConfig", |_| config.put(1))
}

/// Sets it, which has had no effect since 5.0.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSetSharedMemConfig(_config: c_int) -> c_int {
    call("cudaDeviceSetSharedMemConfig", |runtime| runtime.settle())
}

/// The least and greatest priority of streams.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetStreamPriorityRange(
    least: Out<c_int>,
    greatest: Out<c_int>,
) -> c_int {
    call("cudaDeviceGetStreamPriorityRange", |_| {
        least.offer(0);
        greatest.offer(GREATEST_PRIORITY);
        Ok(())
    })
}

/// Flags of the device.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetDeviceFlags(flags: Out<c_uint>) -> c_int {
    ask("cudaGetDeviceFlags", |runtime| flags.put(runtime.flags))
}

/// Sets flags of the device, which are hints.
#[unsafe(no_mangle)]
pub extern "C" fn cudaSetDeviceFlags(flags: c_uint) -> c_int {
    ask("cudaSetDeviceFlags", |runtime| {
        if flags & !DEVICE_FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        runtime.flags = flags | MAP_HOST;
        Ok(())
    })
}

/// Where a device is on the bus.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetPCIBusId(to: Out<c_char>, length: c_int, device: c_int) -> c_int {
    ask("cudaDeviceGetPCIBusId", |_| {
        check_device(device)?;
        put_text(&to, length, BUS)
    })
}

/// Which device is there on the bus.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetByPCIBusId(device: Out<c_int>, bus: In<c_char>) -> c_int {
    ask("cudaDeviceGetByPCIBusId", |_| {
        if bus.text()? == BUS { device.put(0) } else { Err(Code::INVALID_DEVICE) }
    })
}

/// Whether one device reaches another's memory: there is one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceCanAccessPeer(can: Out<c_int>, device: c_int, peer: c_int) -> c_int {
    ask("cudaDeviceCanAccessPeer", |_| {
        check_device(device)?;
        check_device(peer)?;
        can.put(0)
    })
}

/// Lets the device reach another's memory: there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceEnablePeerAccess(peer: c_int, _flags: c_uint) -> c_int {
    call("cudaDeviceEnablePeerAccess", |_| {
        check_device(peer)?;
        Err(Code::PEER_ACCESS_UNSUPPORTED)
    })
}

/// Takes that back.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceDisablePeerAccess(peer: c_int) -> c_int {
    call("cudaDeviceDisablePeerAccess", |_| {
        check_device(peer)?;
        Err(Code(705))
    })
}

/// Starts a profiler: there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cudaProfilerStart() -> c_int {
    call("cudaProfilerStart", |runtime| runtime.settle())
}

/// Stops it.
#[unsafe(no_mangle)]
pub extern "C" fn cudaProfilerStop() -> c_int {
    call("cudaProfilerStop", |runtime| runtime.settle())
}

/// Ends the device's context. Memory that is still there is reported as leaked at the program's
/// end.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceReset() -> c_int {
    ask("cudaDeviceReset", |runtime| {
        runtime.synchronise();
        runtime.reset();
        Ok(())
    })
}

/// A texel's format from its parts.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: c_int,
) -> ChannelFormat {
    ChannelFormat { bits: [x, y, z, w], kind }
}

/// A string into a buffer of the program's, cut to its length.
fn put_text(to: &Out<c_char>, length: c_int, text: &str) -> Outcome {
    to.check()?;
    let room = usize::try_from(length).map_err(|_| Code::INVALID_VALUE)?;
    let kept = room.checked_sub(1).ok_or(Code::INVALID_VALUE)?.min(text.len());
    let mut bytes = text.as_bytes()[..kept].to_vec();
    bytes.push(0);
    let put = host::with_mut(to.address(), bytes.len(), |to| to.copy_from_slice(&bytes));
    put.ok_or(Code::INVALID_VALUE)
}
