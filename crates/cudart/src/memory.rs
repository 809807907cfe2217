//! Memory: what is allocated, registered and freed, and what a pointer is.

use proofrun_emulator::finding::{Kind, Severity};
use proofrun_emulator::machine::MemoryKind;

use crate::abi::{Copy3d, Copy3dPeer, Extent, Location, PitchedPointer, PointerAttributes};
use crate::copies::DEVICE_TO_DEVICE;
use crate::errors::{Code, Outcome};
use crate::properties::PITCH_ALIGNMENT;
use crate::runtime::Runtime;

/// Portable, mapped, write-combined.
const HOST_FLAGS: u32 = 7;
/// Portable, mapped, I/O memory, read-only.
const REGISTER_FLAGS: u32 = 15;
/// `cudaHostAllocMapped`, which is always on.
const MAPPED: u32 = 2;

// Of `cudaMemLocationType`.
const ON_DEVICE: i32 = 1;
const ON_HOST: std::ops::RangeInclusive<i32> = 2..=4;

// Of `cudaMemoryType`.
const UNREGISTERED: i32 = 0;
const HOST: i32 = 1;
const DEVICE: i32 = 2;
const MANAGED: i32 = 3;
/// What the driver says of memory that belongs to no device.
const NO_DEVICE: i32 = -2;

impl Runtime {
    /// The allocation that holds an address: kind, base and size.
    pub fn held(&self, address: u64) -> Option<(MemoryKind, u64, u64)> {
        self.machine.memory_ref().contains(address).map(|it| (it.kind, it.base, it.bytes))
    }

    /// The kind of memory at an address.
    pub fn kind_at(&self, address: u64) -> Option<MemoryKind> {
        self.held(address).map(|(kind, _, _)| kind)
    }

    /// Memory; address 0 for 0 bytes, of managed memory too.
    pub fn allocate(&mut self, bytes: usize, kind: MemoryKind) -> Result<u64, Code> {
        if bytes == 0 {
            return Ok(0);
        }
        let free = self.profile.memory_bytes.saturating_sub(self.allocated);
        if kind != MemoryKind::Host && bytes as u64 > free {
            return Err(Code::MEMORY_ALLOCATION);
        }
        let address =
            self.machine.memory().allocate(bytes as u64, kind).ok_or(Code::MEMORY_ALLOCATION)?;
        if kind != MemoryKind::Host {
            self.allocated += bytes as u64;
        }
        Ok(address)
    }

    /// Host memory that the device reaches.
    pub fn allocate_host(&mut self, bytes: usize, flags: u32) -> Result<u64, Code> {
        if flags & !HOST_FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let address = self.allocate(bytes, MemoryKind::Host)?;
        if address != 0 {
            self.host_flags.insert(address, flags | MAPPED);
        }
        Ok(address)
    }

    /// Rows that are each aligned: the address and the pitch.
    pub fn allocate_rows(&mut self, width: usize, height: usize) -> Result<(u64, usize), Code> {
        let pitch = width.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(Code::INVALID_VALUE)?;
        let bytes = pitch.checked_mul(height).ok_or(Code::MEMORY_ALLOCATION)?;
        Ok((self.allocate(bytes, MemoryKind::Device)?, pitch))
    }

    /// Slices of rows that are each aligned.
    pub fn allocate_slices(&mut self, extent: Extent) -> Result<PitchedPointer, Code> {
        let rows = extent.height.checked_mul(extent.depth).ok_or(Code::MEMORY_ALLOCATION)?;
        let (pointer, pitch) = self.allocate_rows(extent.width, rows)?;
        Ok(PitchedPointer { pointer, pitch, width: extent.width, height: extent.height })
    }

    /// Frees device or managed memory.
    pub fn free(&mut self, pointer: u64) -> Outcome {
        self.synchronise();
        if pointer == 0 {
            return Ok(());
        }
        match self.held(pointer) {
            Some((MemoryKind::Host, _, _)) => {
                self.wrong_free("host memory, which `cudaFreeHost` frees")
            }
            held => {
                self.machine.memory().free(pointer).map_err(|_| Code::INVALID_VALUE)?;
                self.allocated -= held.map_or(0, |(_, _, bytes)| bytes);
                Ok(())
            }
        }
    }

    /// Frees host memory that the runtime allocated.
    pub fn free_host(&mut self, pointer: u64) -> Outcome {
        if pointer == 0 {
            return Ok(());
        }
        match self.held(pointer) {
            Some((MemoryKind::Device | MemoryKind::Managed, _, _)) => {
                self.wrong_free("the device's memory, which `cudaFree` frees")
            }
            Some((MemoryKind::Host, base, _)) if !self.host_flags.contains_key(&base) => {
                self.wrong_free("registered memory, which the program frees")
            }
            _ => {
                self.machine.memory().free(pointer).map_err(|_| Code::INVALID_VALUE)?;
                self.host_flags.remove(&pointer);
                Ok(())
            }
        }
    }

    fn wrong_free(&mut self, what: &str) -> Outcome {
        let message = format!("`{}` was given {what}", self.current);
        self.tell(Kind::Bounds, Severity::Error, message);
        Err(Code::INVALID_VALUE)
    }

    /// Lets the device reach memory of the program's.
    pub fn register(&mut self, pointer: u64, bytes: usize, flags: u32) -> Outcome {
        if pointer == 0 || bytes == 0 || flags & !REGISTER_FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let last = pointer.checked_add(bytes as u64 - 1).ok_or(Code::INVALID_VALUE)?;
        if self.held(pointer).or_else(|| self.held(last)).is_some() {
            return Err(Code::ALREADY_REGISTERED);
        }
        self.machine.memory().register_host(pointer, bytes as u64);
        Ok(())
    }

    /// Takes that back.
    pub fn unregister(&mut self, pointer: u64) -> Outcome {
        match self.held(pointer) {
            Some((MemoryKind::Host, base, _))
                if base == pointer && !self.host_flags.contains_key(&base) =>
            {
                self.machine.memory().unregister_host(pointer);
                Ok(())
            }
            _ => Err(Code::NOT_REGISTERED),
        }
    }

    /// The start of the host allocation that holds an address.
    pub fn host_memory(&self, pointer: u64) -> Result<u64, Code> {
        match self.held(pointer) {
            Some((MemoryKind::Host, base, _)) => Ok(base),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// Whether a range is managed, for hints about where it should be.
    pub fn managed_range(&self, pointer: u64, location: Location) -> Outcome {
        match location.kind {
            ON_DEVICE if location.id != 0 => return Err(Code::INVALID_DEVICE),
            ON_DEVICE => {}
            kind if ON_HOST.contains(&kind) => {}
            _ => return Err(Code::INVALID_VALUE),
        }
        match self.held(pointer) {
            Some((MemoryKind::Managed, _, _)) => Ok(()),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// What a pointer is.
    pub fn pointer(&self, pointer: u64) -> PointerAttributes {
        let (kind, device, device_pointer, host_pointer) = match self.held(pointer) {
            None => (UNREGISTERED, NO_DEVICE, 0, pointer),
            Some((MemoryKind::Device, _, _)) => (DEVICE, 0, pointer, 0),
            Some((MemoryKind::Managed, _, _)) => (MANAGED, 0, pointer, pointer),
            Some((MemoryKind::Host, _, _)) => (HOST, 0, pointer, pointer),
        };
        PointerAttributes { kind, device, device_pointer, host_pointer, reserved: [0; 8] }
    }

    /// Between devices, of which there is one.
    pub fn copy_between(
        &mut self,
        to: u64,
        to_device: i32,
        from: u64,
        from_device: i32,
        bytes: usize,
    ) -> Outcome {
        if to_device != 0 || from_device != 0 {
            return Err(Code::INVALID_DEVICE);
        }
        self.copy(to, from, bytes, DEVICE_TO_DEVICE)
    }

    /// Slices between devices, of which there is one.
    pub fn copy_slices_between(&mut self, copy: &Copy3dPeer) -> Outcome {
        if copy.to_device != 0 || copy.from_device != 0 {
            return Err(Code::INVALID_DEVICE);
        }
        self.copy_slices(&Copy3d {
            from_array: copy.from_array,
            from_position: copy.from_position,
            from: copy.from,
            to_array: copy.to_array,
            to_position: copy.to_position,
            to: copy.to,
            extent: copy.extent,
            kind: DEVICE_TO_DEVICE,
        })
    }

    /// A limit of the device: what was set, or what an H200 with driver 580 has.
    pub fn limit(&self, limit: i32) -> Result<usize, Code> {
        let default = match limit {
            0 => 1024,
            1 => 8_650_752,
            2 => 8 << 20,
            3 => return Err(Code::UNSUPPORTED_LIMIT),
            4 => 2048,
            5 => 64,
            6 => self.profile.persisting_l2_bytes as usize * 3 / 10,
            _ => return Err(Code::INVALID_VALUE),
        };
        Ok(self.limits.get(&limit).copied().unwrap_or(default))
    }
}
