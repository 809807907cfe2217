//! What this crate needs of the emulated device.

use std::fmt::Debug;

use proofrun_emulator::finding::Finding;
use proofrun_emulator::machine::{
    Fault, KernelFacts, KernelId, Launch, Launched, MemoryKind, ModuleId,
};

mod emulated;
mod plain;
pub use plain::Plain;

/// The emulated device.
pub trait Device: Debug + Send {
    /// Loads a module of PTX.
    fn load(&mut self, ptx: &str) -> Result<ModuleId, String>;
    /// A kernel by its mangled name.
    fn kernel(&self, module: ModuleId, name: &str) -> Option<KernelId>;
    /// What can be asked of it.
    fn facts(&self, kernel: KernelId) -> &KernelFacts;
    /// Address and size of a variable.
    fn symbol(&self, module: ModuleId, name: &str) -> Option<(u64, u64)>;
    /// Memory; `None` where there isn't as much.
    fn allocate(&mut self, bytes: u64, kind: MemoryKind) -> Option<u64>;
    /// Makes memory of the host's visible.
    fn register_host(&mut self, address: u64, bytes: u64);
    /// Takes that back.
    fn unregister_host(&mut self, address: u64);
    /// Frees an allocation; an error for what isn't the start of a live one.
    fn free(&mut self, address: u64) -> Result<(), String>;
    /// The allocation that holds an address.
    fn contains(&self, address: u64) -> Option<(MemoryKind, u64, u64)>;
    /// To the host.
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault>;
    /// From the host.
    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Fault>;
    /// A pattern over a range.
    fn fill(&mut self, address: u64, bytes: u64, pattern: &[u8]) -> Result<(), Fault>;
    /// Inside the device.
    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Fault>;
    /// Runs a kernel to its end.
    fn launch(&mut self, launch: &Launch<'_>) -> Launched;
    /// What was found outside of launches since the last call.
    fn take_findings(&mut self) -> Vec<Finding>;
    /// What device-side `printf` wrote since the last call.
    fn take_printed(&mut self) -> Vec<u8>;
    /// The end of the program: leaks.
    fn finish(&mut self);
    /// The model's clock.
    fn nanoseconds(&self) -> u64;
}
