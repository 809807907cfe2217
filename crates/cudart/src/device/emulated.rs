//! The emulated device itself.

use proofrun_emulator::finding::Finding;
use proofrun_emulator::machine::{
    Fault, KernelFacts, KernelId, Launch, Launched, Machine, MemoryKind, ModuleId,
};

use super::Device;

impl Device for Machine {
    fn load(&mut self, ptx: &str) -> Result<ModuleId, String> {
        Self::load(self, ptx).map_err(|error| error.to_string())
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Option<KernelId> {
        Self::kernel(self, module, name)
    }

    fn facts(&self, kernel: KernelId) -> &KernelFacts {
        Self::facts(self, kernel)
    }

    fn symbol(&self, module: ModuleId, name: &str) -> Option<(u64, u64)> {
        Self::symbol(self, module, name)
    }

    fn allocate(&mut self, bytes: u64, kind: MemoryKind) -> Option<u64> {
        self.memory().allocate(bytes, kind)
    }

    fn register_host(&mut self, address: u64, bytes: u64) {
        self.memory().register_host(address, bytes);
    }

    fn unregister_host(&mut self, address: u64) {
        self.memory().unregister_host(address);
    }

    fn free(&mut self, address: u64) -> Result<(), String> {
        self.memory().free(address).map_err(|fault| fault.to_string())
    }

    fn contains(&self, address: u64) -> Option<(MemoryKind, u64, u64)> {
        let found = self.memory_ref().contains(address)?;
        Some((found.kind, found.base, found.bytes))
    }

    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        self.memory().read(address, into)
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Fault> {
        self.memory().write(address, from)
    }

    fn fill(&mut self, address: u64, bytes: u64, pattern: &[u8]) -> Result<(), Fault> {
        if let [byte] = pattern {
            return self.memory().fill(address, *byte, bytes);
        }
        let mut whole = pattern.repeat((bytes as usize).div_ceil(pattern.len().max(1)));
        whole.truncate(bytes as usize);
        self.memory().write(address, &whole)
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Fault> {
        self.memory().copy(to, from, bytes)
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Launched {
        Self::launch(self, launch)
    }

    fn take_findings(&mut self) -> Vec<Finding> {
        Self::take_findings(self)
    }

    fn take_printed(&mut self) -> Vec<u8> {
        Self::take_printed(self)
    }

    fn finish(&mut self) {
        Self::finish(self);
    }

    fn nanoseconds(&self) -> u64 {
        Self::nanoseconds(self)
    }
}
