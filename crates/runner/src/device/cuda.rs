//! A CUDA device behind [`Backend`], through cudarc.
//!
//! One context and its default stream, so that everything happens in order; every call's error
//! carries the call, and errors that cudarc stores for later (those of `Drop`) are asked for at
//! each step.
#![allow(
    unsafe_code,
    reason = "the driver's interface is C: launches, unset memory and raw symbols are unsafe"
)]

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DevicePtrMut,
    DriverError, LaunchConfig, PushKernelArg, result,
};
use cudarc::nvrtc::Ptx;
use proofrun_core::device::{Capability, DeviceFacts};
use proofrun_core::gate::CudaVersion;

use super::{Arg, Backend, Buffer, DeviceCode, DeviceError, Launch, Module};

/// A CUDA device with a context on it.
pub struct CudaDevice {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    index: u32,
    modules: Vec<Arc<CudaModule>>,
    buffers: Vec<Option<CudaSlice<u8>>>,
}

impl CudaDevice {
    /// A context on the device of this ordinal. Call it in a child process: see the parent module.
    ///
    /// # Errors
    /// If there is no driver, no such device, or no context to be had.
    pub fn open(index: u32) -> Result<Self, DeviceError> {
        init()?;
        device(index)?;
        let context = CudaContext::new(index as usize)
            .map_err(|error| failed("cuDevicePrimaryCtxRetain", error))?;
        // SAFETY: there is one stream, and nothing is used from another.
        unsafe { context.disable_event_tracking() };
        let stream = context.default_stream();
        Ok(Self { context, stream, index, modules: Vec::new(), buffers: Vec::new() })
    }

    /// The result of a call, and with it what an earlier `Drop` left behind.
    fn step<T>(&self, call: &str, result: Result<T, DriverError>) -> Result<T, DeviceError> {
        let value = result.map_err(|error| failed(call, error))?;
        let late = format!("a release before {call}");
        self.context.check_err().map_err(|error| failed(&late, error))?;
        Ok(value)
    }

    fn buffer(&self, call: &str, buffer: Buffer) -> Result<&CudaSlice<u8>, DeviceError> {
        let held = self.buffers.get(buffer.0).and_then(Option::as_ref);
        held.ok_or_else(|| no_buffer(call, buffer))
    }

    fn function(&self, launch: &Launch<'_>) -> Result<CudaFunction, DeviceError> {
        let call = "cuModuleGetFunction";
        if launch.entry.contains('\0') {
            return Err(DeviceError::misuse(call, "the kernel's name holds a NUL"));
        }
        let module = self.modules.get(launch.module.0);
        let module = module.ok_or_else(|| DeviceError::misuse(call, "no such module"))?;
        self.step(call, module.load_function(launch.entry))
    }

    /// The value of an argument: an address as the 64 bits that it is.
    fn value(&self, arg: Arg) -> Result<Value, DeviceError> {
        Ok(match arg {
            Arg::Address { buffer, offset } => {
                let slice = self.buffer("cuLaunchKernel", buffer)?;
                if offset > slice.len() {
                    return Err(DeviceError::misuse(
                        "cuLaunchKernel",
                        "an address past its buffer",
                    ));
                }
                let (start, _order) = slice.device_ptr(&self.stream);
                Value::Wide(start + offset as u64)
            }
            Arg::U64(value) => Value::Wide(value),
            Arg::U32(value) => Value::Narrow(value),
            Arg::F32(value) => Value::Float(value),
        })
    }
}

enum Value {
    Wide(u64),
    Narrow(u32),
    Float(f32),
}

fn no_buffer(call: &str, buffer: Buffer) -> DeviceError {
    DeviceError::misuse(call, format!("no buffer {}, or it was given back", buffer.0))
}

impl Backend for CudaDevice {
    fn facts(&mut self) -> Result<DeviceFacts, DeviceError> {
        facts(self.index)
    }

    fn load(&mut self, code: &DeviceCode) -> Result<Module, DeviceError> {
        let ptx = match code {
            DeviceCode::Ptx(text) if text.contains('\0') => {
                return Err(DeviceError::misuse("cuModuleLoadData", "the PTX holds a NUL"));
            }
            DeviceCode::Ptx(text) => Ptx::from_src(text.as_str()),
            DeviceCode::Native(bytes) => Ptx::from_binary(bytes.clone()),
        };
        let module = self.step("cuModuleLoadData", self.context.load_module(ptx))?;
        self.modules.push(module);
        Ok(Module(self.modules.len() - 1))
    }

    fn allocate(&mut self, bytes: usize) -> Result<Buffer, DeviceError> {
        // SAFETY: every byte is written by `upload` or `fill`, or by a kernel, before anybody
        // relies on its value; any bits make a `u8`.
        let slice = unsafe { self.stream.alloc::<u8>(bytes) };
        let slice = self.step("cuMemAllocAsync", slice)?;
        self.buffers.push(Some(slice));
        Ok(Buffer(self.buffers.len() - 1))
    }

    fn free(&mut self, buffer: Buffer) -> Result<(), DeviceError> {
        let held = self.buffers.get_mut(buffer.0).and_then(Option::take);
        drop(held.ok_or_else(|| no_buffer("cuMemFreeAsync", buffer))?);
        self.step("cuMemFreeAsync", Ok(()))
    }

    fn upload(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<(), DeviceError> {
        let call = "cuMemcpyHtoDAsync";
        let stream = Arc::clone(&self.stream);
        let held = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let slice = held.ok_or_else(|| no_buffer(call, buffer))?;
        if bytes.len() > slice.len() {
            return Err(DeviceError::misuse(call, "more bytes than the buffer holds"));
        }
        let copied = stream.memcpy_htod(bytes, slice);
        self.step(call, copied)?;
        self.synchronise()
    }

    fn download(&mut self, buffer: Buffer) -> Result<Vec<u8>, DeviceError> {
        let call = "cuMemcpyDtoHAsync";
        let slice = self.buffer(call, buffer)?;
        let mut bytes = vec![0; slice.len()];
        let copied = self.stream.memcpy_dtoh(slice, bytes.as_mut_slice());
        self.step(call, copied)?;
        self.synchronise()?;
        Ok(bytes)
    }

    fn fill(&mut self, buffer: Buffer, byte: u8) -> Result<(), DeviceError> {
        let call = "cuMemsetD8Async";
        let stream = Arc::clone(&self.stream);
        let held = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let slice = held.ok_or_else(|| no_buffer(call, buffer))?;
        let len = slice.len();
        let filled = {
            let (start, _order) = slice.device_ptr_mut(&stream);
            // SAFETY: the range is the whole of the allocation, in use by nobody else.
            unsafe { result::memset_d8_async(start, byte, len, stream.cu_stream()) }
        };
        self.step(call, filled)?;
        self.synchronise()
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), DeviceError> {
        let function = self.function(launch)?;
        let values =
            launch.args.iter().map(|arg| self.value(*arg)).collect::<Result<Vec<_>, _>>()?;
        let mut builder = self.stream.launch_builder(&function);
        for value in &values {
            match value {
                Value::Wide(value) => builder.arg(value),
                Value::Narrow(value) => builder.arg(value),
                Value::Float(value) => builder.arg(value),
            };
        }
        let config = LaunchConfig {
            grid_dim: (launch.grid, 1, 1),
            block_dim: (launch.block, 1, 1),
            shared_mem_bytes: launch.dynamic_shared_bytes,
        };
        // SAFETY: what a kernel does with its arguments is its own affair, and a wrong one is what
        // checks are there to find: it runs in a child process, between guard bands, and its faults
        // stay on the device.
        let started = unsafe { builder.launch(config) };
        self.step("cuLaunchKernel", started.map(drop))
    }

    fn synchronise(&mut self) -> Result<(), DeviceError> {
        self.step("cuStreamSynchronize", self.stream.synchronize())
    }
}

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

fn failed(call: &str, error: DriverError) -> DeviceError {
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

fn device(index: u32) -> Result<sys::CUdevice, DeviceError> {
    let ordinal = c_int::try_from(index).unwrap_or(c_int::MAX);
    result::device::get(ordinal).map_err(|error| failed("cuDeviceGet", error))
}
