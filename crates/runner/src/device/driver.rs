//! The driver itself: finding and initialising it, its words for an error, what it says of devices.
//!
//! **Invariant: only a child process calls these**; see the parent module for why.
#![allow(
    unsafe_code,
    reason = "the driver's interface is C, and its first call is made through the raw symbol"
)]

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr;

use cudarc::driver::sys::{self, CUdevice_attribute};
use cudarc::driver::{DriverError, result};
use proofrun_core::device::{Capability, DeviceFacts};
use proofrun_core::gate::CudaVersion;

use super::DeviceError;

/// Finds the library and initialises it, by hand: the answer may be a code that cudarc's enum does
/// not know, and making such a value ends the process.
pub(super) fn init() -> Result<(), DeviceError> {
    // SAFETY: loading the driver's library runs its initialisers, as any program that uses CUDA
    // does.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::NoDriver);
    }
    // SAFETY: the library is there, and is not unloaded again.
    let library = unsafe { sys::culib() };
    let missing = |symbol: &str| DeviceError::NoSymbol { symbol: symbol.to_owned() };
    // SAFETY: the type is that of `cuda.h`, with the enum as the integer that it is in C.
    let cu_init = unsafe { library.get::<unsafe extern "C" fn(c_uint) -> c_int>(b"cuInit\0") };
    // SAFETY: `cuInit` takes 0.
    let answer = unsafe { cu_init.map_err(|_| missing("cuInit"))?(0) };
    if answer == 0 {
        return Ok(());
    }
    Err(of_number("cuInit", i64::from(answer)))
}

/// The error of a call, with the driver's own name and text for it.
pub(super) fn failed(call: &str, error: DriverError) -> DeviceError {
    of_number(call, error.0 as i64)
}

/// The driver's name and text for a code, asked by number.
fn of_number(call: &str, number: i64) -> DeviceError {
    let ask = |symbol: &[u8]| {
        let code = c_int::try_from(number).ok()?;
        type Describe = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;
        let mut text = ptr::null();
        // SAFETY: reached only after the library was found; the types are those of `cuda.h`; the
        // text that is answered is static, and is null where the code is unknown.
        unsafe {
            let describe = sys::culib().get::<Describe>(symbol).ok()?;
            let known = describe(code, &raw mut text) == 0 && !text.is_null();
            known.then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    let name = ask(b"cuGetErrorName\0").unwrap_or_else(|| "unknown".to_owned());
    let mut text = ask(b"cuGetErrorString\0").unwrap_or_else(|| "no text for this code".to_owned());
    // CUDA_ERROR_STUB_LIBRARY of `cuda.h`.
    if number == 34 {
        text.push_str("; the toolkit's stub stands before the driver on the library path");
    }
    DeviceError::of_code(call, number, name, text)
}

/// How many devices the driver shows; `CUDA_VISIBLE_DEVICES` is the driver's to read. After
/// [`init`].
pub(super) fn count() -> Result<u32, DeviceError> {
    let count = result::device::get_count().map_err(|error| failed("cuDeviceGetCount", error))?;
    Ok(u32::try_from(count).unwrap_or(0))
}

/// The CUDA release of the driver's interface. After [`init`].
pub(super) fn interface() -> Result<CudaVersion, DeviceError> {
    let mut number = 0;
    // SAFETY: the pointer is to a live integer.
    let answer = unsafe { sys::cuDriverGetVersion(&raw mut number) };
    answer.result().map_err(|error| failed("cuDriverGetVersion", error))?;
    CudaVersion::from_driver(number).ok_or_else(|| DeviceError::Call {
        call: "cuDriverGetVersion".to_owned(),
        code: "CUDA_SUCCESS".to_owned(),
        number: 0,
        text: format!("it answered `{number}`, which is no version"),
    })
}

/// What the driver says of a device. After [`init`].
pub(super) fn facts(index: u32) -> Result<DeviceFacts, DeviceError> {
    let device = device(index)?;
    let attribute = |which, name: &str| {
        // SAFETY: `device` comes from `cuDeviceGet`.
        let value = unsafe { result::device::get_attribute(device, which) };
        value.map_err(|error| failed(&format!("cuDeviceGetAttribute({name})"), error))
    };
    let number = |which, name: &str| attribute(which, name).map(|v| u32::try_from(v).unwrap_or(0));
    use CUdevice_attribute as A;
    let major = number(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, "compute major")?;
    let minor = number(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, "compute minor")?;
    // SAFETY: `device` comes from `cuDeviceGet`.
    let memory = unsafe { result::device::total_mem(device) };
    let name = result::device::get_name(device);
    Ok(DeviceFacts {
        name: name.map_err(|error| failed("cuDeviceGetName", error))?,
        compute_capability: Capability { major, minor },
        sm_count: number(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "multiprocessors")?,
        l2_bytes: u64::from(number(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, "l2 cache")?),
        memory_bytes: memory.map_err(|error| failed("cuDeviceTotalMem", error))? as u64,
        driver: super::nvml::driver_version(),
    })
}

/// The identifier as `GPU-…` in lower case; hashed by whoever keeps it. After [`init`].
pub(super) fn uuid(index: u32) -> Result<String, DeviceError> {
    let uuid = result::device::get_uuid(device(index)?);
    let bytes = uuid.map_err(|error| failed("cuDeviceGetUuid", error))?.bytes;
    let mut text = "GPU".to_owned();
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 0 | 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{:02x}", *byte as u8));
    }
    Ok(text)
}

/// The driver's handle of a device. After [`init`].
pub(super) fn device(index: u32) -> Result<sys::CUdevice, DeviceError> {
    let ordinal = c_int::try_from(index).unwrap_or(c_int::MAX);
    result::device::get(ordinal).map_err(|error| failed("cuDeviceGet", error))
}
