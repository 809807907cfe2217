//! A CUDA device behind [`Backend`], through cudarc.
//!
//! One context and its default stream, so that everything happens in order; every call's error
//! carries the call, and errors that cudarc stores for later (those of `Drop`) are asked for at
//! each step.
#![allow(
    unsafe_code,
    reason = "the driver's interface is C: launches, unset memory and raw symbols are unsafe"
)]

use std::ffi::{CString, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DevicePtrMut,
    DriverError, LaunchConfig, PushKernelArg, result,
};
use cudarc::nvrtc::Ptx;
use proofrun_core::device::DeviceFacts;

use super::driver::{device, facts, failed, init};
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
        let module = self
            .step("cuModuleLoadData", self.context.load_module(ptx))
            .map_err(|error| with_log(error, code))?;
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

    fn upload(&mut self, buffer: Buffer, offset: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        let call = "cuMemcpyHtoDAsync";
        let stream = Arc::clone(&self.stream);
        let held = self.buffers.get_mut(buffer.0).and_then(Option::as_mut);
        let slice = held.ok_or_else(|| no_buffer(call, buffer))?;
        let range = offset..offset.saturating_add(bytes.len());
        let mut view = slice
            .try_slice_mut(range)
            .ok_or_else(|| DeviceError::misuse(call, "more bytes than the buffer holds"))?;
        let copied = stream.memcpy_htod(bytes, &mut view);
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

/// The error of a module that did not load, with what the driver's compiler says of it: the load is
/// tried once more with a buffer for that.
fn with_log(mut error: DeviceError, code: &DeviceCode) -> DeviceError {
    let DeviceCode::Ptx(ptx) = code else { return error };
    let (DeviceError::UnsupportedPtx { text, .. } | DeviceError::Call { text, .. }) = &mut error
    else {
        return error;
    };
    let said = compiler_log(ptx);
    let words: Vec<&str> = said.split_whitespace().take(60).collect();
    if !words.is_empty() {
        text.push_str("; ");
        text.push_str(&words.join(" "));
    }
    error
}

fn compiler_log(ptx: &str) -> String {
    const LOG_BYTES: usize = 8192;
    use sys::CUjit_option::{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    let Ok(ptx) = CString::new(ptx) else { return String::new() };
    let mut log = vec![0_u8; LOG_BYTES];
    let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast(), ptr::without_provenance_mut::<c_void>(LOG_BYTES)];
    let mut module = ptr::null_mut();
    // SAFETY: as many options as values; the buffer is as long as said and outlives the call, and
    // a context is current, for the load before this one was made in it. Should it load after all,
    // the module stays until the context goes.
    let _ = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            ptx.as_ptr().cast(),
            options.len() as c_uint,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let said = log.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(said).into_owned()
}
