//! A device with memory that runs no kernel: until the emulator's machine is here.

use std::collections::BTreeMap;

use proofrun_emulator::finding::{Finding, Kind, Severity};
use proofrun_emulator::machine::{
    Fault, KernelFacts, KernelId, Launch, Launched, MemoryKind, ModuleId,
};
use proofrun_emulator::report::{LaunchEnd, LaunchReport};

use super::Device;
use crate::report::about_call;

/// The device.
#[derive(Debug, Default)]
pub struct Plain {
    live: BTreeMap<u64, Block>,
    next: u64,
    findings: Vec<Finding>,
    kernels: Vec<(ModuleId, KernelFacts)>,
    symbols: Vec<(ModuleId, String, u64, u64)>,
    modules: usize,
}

#[derive(Debug)]
struct Block {
    kind: MemoryKind,
    bytes: u64,
    data: Vec<u8>,
    host: u64,
}

impl Plain {
    fn find(&mut self, address: u64, bytes: u64) -> Result<(u64, &mut Block), Fault> {
        let found = self.live.range_mut(..=address).next_back();
        match found.filter(|(base, block)| address + bytes <= **base + block.bytes) {
            Some((base, block)) => Ok((address - base, block)),
            None => {
                let message = format!("{bytes} bytes at 0x{address:x} are in no allocation");
                self.findings.push(about_call(Kind::Bounds, Severity::Error, message));
                Err(Fault::IllegalAddress)
            }
        }
    }

    fn bytes(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>, Fault> {
        let (offset, block) = self.find(address, bytes as u64)?;
        let offset = offset as usize;
        Ok(match block.kind {
            MemoryKind::Device => block.data[offset..offset + bytes].to_vec(),
            _ => crate::host::read(address, bytes).unwrap_or_default(),
        })
    }
}

impl Device for Plain {
    fn load(&mut self, ptx: &str) -> Result<ModuleId, String> {
        let module = ModuleId(self.modules);
        self.modules += 1;
        for piece in ptx.split(".entry ").skip(1) {
            let name = piece.split('(').next().unwrap_or_default().trim().to_owned();
            let count =
                piece.split(')').next().unwrap_or_default().matches(".param").count() as u32;
            let params: Vec<_> = (0..count).map(|index| (index * 8, 8)).collect();
            let facts = KernelFacts {
                name,
                params,
                param_bytes: count * 8,
                static_shared_bytes: 0,
                local_bytes: 0,
                const_bytes: 0,
                registers: 16,
                max_threads: 1024,
            };
            self.kernels.push((module, facts));
        }
        for line in ptx.lines().filter(|line| line.contains(".global ")) {
            let Some((name, size)) = line.split_whitespace().last().and_then(|t| t.split_once('['))
            else {
                continue;
            };
            let bytes: u64 = size.split(']').next().and_then(|n| n.parse().ok()).unwrap_or(4);
            let kind =
                if line.contains(".managed") { MemoryKind::Managed } else { MemoryKind::Device };
            let address = self.allocate(bytes, kind).ok_or("no memory")?;
            self.symbols.push((module, name.to_owned(), address, bytes));
        }
        Ok(module)
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Option<KernelId> {
        let index =
            self.kernels.iter().position(|(of, facts)| *of == module && facts.name == name)?;
        Some(KernelId { module, index })
    }

    fn facts(&self, kernel: KernelId) -> &KernelFacts {
        &self.kernels[kernel.index].1
    }

    fn symbol(&self, module: ModuleId, name: &str) -> Option<(u64, u64)> {
        let found = self.symbols.iter().find(|(of, has, _, _)| *of == module && has == name);
        found.map(|(_, _, address, bytes)| (*address, *bytes))
    }

    fn allocate(&mut self, bytes: u64, kind: MemoryKind) -> Option<u64> {
        if bytes > 1 << 34 {
            return None;
        }
        let mut data = vec![0; bytes as usize];
        let address = match kind {
            MemoryKind::Device => {
                self.next += 1 << 36;
                0x1_0000_0000_0000 + self.next
            }
            _ => data.as_mut_ptr() as u64,
        };
        self.live.insert(address, Block { kind, bytes, data, host: address });
        Some(address)
    }

    fn register_host(&mut self, address: u64, bytes: u64) {
        let block = Block { kind: MemoryKind::Host, bytes, data: Vec::new(), host: address };
        self.live.insert(address, block);
    }

    fn unregister_host(&mut self, address: u64) {
        self.live.remove(&address);
    }

    fn free(&mut self, address: u64) -> Result<(), String> {
        if self.live.remove(&address).is_none() {
            let message = format!("0x{address:x} is not the start of a live allocation");
            self.findings.push(about_call(Kind::Bounds, Severity::Error, message.clone()));
            return Err(message);
        }
        Ok(())
    }

    fn contains(&self, address: u64) -> Option<(MemoryKind, u64, u64)> {
        let (base, block) = self.live.range(..=address).next_back()?;
        (address < base + block.bytes.max(1)).then_some((block.kind, *base, block.bytes))
    }

    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        into.copy_from_slice(&self.bytes(address, into.len())?);
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Fault> {
        let (offset, block) = self.find(address, from.len() as u64)?;
        match block.kind {
            MemoryKind::Device => block.data[offset as usize..][..from.len()].copy_from_slice(from),
            _ => {
                let at = block.host + offset;
                crate::host::with_mut(at, from.len(), |bytes| bytes.copy_from_slice(from));
            }
        }
        Ok(())
    }

    fn fill(&mut self, address: u64, bytes: u64, pattern: &[u8]) -> Result<(), Fault> {
        let all: Vec<u8> = pattern.iter().copied().cycle().take(bytes as usize).collect();
        self.write(address, &all)
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Fault> {
        let data = self.bytes(from, bytes as usize)?;
        self.write(to, &data)
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Launched {
        Launched {
            report: LaunchReport {
                index: 0,
                kernel: self.facts(launch.kernel).name.clone(),
                grid: launch.grid,
                block: launch.block,
                dynamic_shared_bytes: launch.dynamic_shared_bytes,
                end: LaunchEnd::Ran,
                steps: 0,
                schedules: 0,
            },
            fault: None,
            findings: Vec::new(),
        }
    }

    fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    fn take_printed(&mut self) -> Vec<u8> {
        Vec::new()
    }

    fn finish(&mut self) {}

    fn nanoseconds(&self) -> u64 {
        0
    }
}
