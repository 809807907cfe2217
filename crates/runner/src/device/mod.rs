//! Devices: finding them, running code on them, reading the state of a card.
//!
//! **Invariant: whatever can end the process happens in a child.** A missing library, a missing
//! symbol or an error code that the bindings do not know ends a process that calls the driver;
//! [`probe`](fn@probe) and [`check_in_child`](crate::check::check_in_child) therefore ask a child,
//! and its death is an answer. NVML is asked in the process itself: each of its calls returns.
//!
//! The launch side is a trait, [`Backend`], so that another device can stand behind a check.

mod child;
mod code;
mod cuda;
mod driver;
mod error;
mod lock;
mod nvml;
mod probe;

pub use child::Helper;
pub use code::{DeviceCode, NotDeviceCode};
pub use cuda::CudaDevice;
pub use error::DeviceError;
pub use lock::lock_file;
pub use nvml::card_state;
pub use probe::{PROBE_COMMAND, PROBE_DEADLINE, probe, probe_here};

pub(crate) use child::{Ended, run_child};

use proofrun_core::device::DeviceFacts;

/// A loaded module of one backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Module(pub usize);

/// Device memory of one backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer(pub usize);

/// An argument of a launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arg {
    /// The address of a byte of a buffer.
    Address {
        /// The buffer.
        buffer: Buffer,
        /// Bytes from its start.
        offset: usize,
    },
    /// A `size_t`, or any other unsigned number of 64 bits.
    U64(u64),
    /// A number of 32 bits.
    U32(u32),
    /// A `float`.
    F32(f32),
}

/// One launch, in one dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Launch<'a> {
    /// The module that holds the kernel.
    pub module: Module,
    /// The kernel's name in the module, mangled where the compiler did so.
    pub entry: &'a str,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// Dynamic shared memory, in bytes.
    pub dynamic_shared_bytes: u32,
    /// The kernel's arguments, in order.
    pub args: &'a [Arg],
}

/// What a check needs of a device. Every call is complete when it returns, except a launch, whose
/// own error may surface at [`Backend::synchronise`].
pub trait Backend {
    /// What the device is.
    fn facts(&mut self) -> Result<DeviceFacts, DeviceError>;

    /// Loads PTX, which the driver compiles, or native code.
    fn load(&mut self, code: &DeviceCode) -> Result<Module, DeviceError>;

    /// Memory of so many bytes, not cleared.
    fn allocate(&mut self, bytes: usize) -> Result<Buffer, DeviceError>;

    /// Gives memory back; the buffer is not used again.
    fn free(&mut self, buffer: Buffer) -> Result<(), DeviceError>;

    /// Copies into a buffer, so many bytes from its start.
    fn upload(&mut self, buffer: Buffer, offset: usize, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Copies the whole of a buffer.
    fn download(&mut self, buffer: Buffer) -> Result<Vec<u8>, DeviceError>;

    /// Sets every byte of a buffer.
    fn fill(&mut self, buffer: Buffer, byte: u8) -> Result<(), DeviceError>;

    /// Starts a kernel.
    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), DeviceError>;

    /// Waits for all that was started, and reports what went wrong with it.
    fn synchronise(&mut self) -> Result<(), DeviceError>;
}
