//! Copies and fills. What the real runtime refuses here was measured on an H200 with driver 580:
//! a copy's kind demands device memory on its device sides and nothing of its host sides.

use proofrun_emulator::finding::{Kind, Severity};
use proofrun_emulator::machine::{Fault, MemoryKind};

use crate::abi::{Copy3d, Extent, PitchedPointer};
use crate::errors::{Code, Outcome};
use crate::host;
use crate::runtime::Runtime;

/// `cudaMemcpyKind`, as what it demands of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Direction {
    to_device: bool,
    from_device: bool,
    /// Whether the kind says that the source is the host's.
    from_host: bool,
    /// Whether it says so of the destination.
    to_host: bool,
}

/// `cudaMemcpyHostToDevice`.
pub const HOST_TO_DEVICE: i32 = 1;
/// `cudaMemcpyDeviceToHost`.
pub const DEVICE_TO_HOST: i32 = 2;
/// `cudaMemcpyDeviceToDevice`.
pub const DEVICE_TO_DEVICE: i32 = 3;
/// `cudaMemcpyDefault`.
pub const DEFAULT: i32 = 4;

impl Direction {
    /// Of a kind. Host to host is taken as "whatever the pointers say", which is what the driver
    /// does.
    pub fn of(kind: i32) -> Result<Self, Code> {
        let none = Self { to_device: false, from_device: false, from_host: false, to_host: false };
        match kind {
            0 | DEFAULT => Ok(none),
            HOST_TO_DEVICE => Ok(Self { to_device: true, from_host: true, ..none }),
            DEVICE_TO_HOST => Ok(Self { from_device: true, to_host: true, ..none }),
            DEVICE_TO_DEVICE => Ok(Self { to_device: true, from_device: true, ..none }),
            _ => Err(Code::INVALID_COPY_DIRECTION),
        }
    }
}

/// A rectangle of rows: where it starts, and bytes from row to row.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    /// The first byte.
    pub start: u64,
    /// Bytes from row to row.
    pub pitch: usize,
}

impl Runtime {
    /// `cudaMemcpy` and its kin.
    pub fn copy(&mut self, to: u64, from: u64, bytes: usize, kind: i32) -> Outcome {
        let direction = Direction::of(kind)?;
        if bytes == 0 {
            return Ok(());
        }
        if to == 0 || from == 0 {
            return Err(Code::INVALID_VALUE);
        }
        self.check_side(to, direction.to_device, direction.to_host, "destination")?;
        self.check_side(from, direction.from_device, direction.from_host, "source")?;
        let (to_known, from_known) = (self.knows(to), self.knows(from));
        let device_to = to_known || direction.to_device;
        let device_from = from_known || direction.from_device;
        let done = match (device_to, device_from) {
            (true, true) => Some(self.machine.memory().copy(to, from, bytes as u64)),
            (true, false) => {
                host::with(from, bytes, |bytes| self.machine.memory().write(to, bytes))
            }
            (false, true) => {
                host::with_mut(to, bytes, |bytes| self.machine.memory().read(from, bytes))
            }
            (false, false) => host::copy(to, from, bytes).then_some(Ok(())),
        };
        match done {
            Some(done) => done.map_err(|fault| refused(&fault)),
            None => {
                let (what, at) = if device_to { ("source", from) } else { ("destination", to) };
                self.unmapped(what, at, bytes)
            }
        }
    }

    /// `cudaMemcpy2D` and its kin.
    pub fn copy_rows(
        &mut self,
        to: Rows,
        from: Rows,
        width: usize,
        height: usize,
        kind: i32,
    ) -> Outcome {
        Direction::of(kind)?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        if width > to.pitch || width > from.pitch {
            return Err(Code::INVALID_PITCH);
        }
        if width == to.pitch && width == from.pitch {
            return self.copy(to.start, from.start, width * height, kind);
        }
        for row in 0..height {
            let at = |rows: Rows| rows.start + (row * rows.pitch) as u64;
            self.copy(at(to), at(from), width, kind)?;
        }
        Ok(())
    }

    /// `cudaMemcpy3D` of linear memory.
    pub fn copy_slices(&mut self, copy: &Copy3d) -> Outcome {
        if copy.from_array != 0 || copy.to_array != 0 {
            let message = format!("`{}` of CUDA arrays is not emulated", self.current);
            self.tell(Kind::Unsupported, Severity::Error, message);
            return Err(Code::NOT_SUPPORTED);
        }
        let Extent { width, height, depth } = copy.extent;
        if width == 0 || height == 0 || depth == 0 {
            return Ok(());
        }
        for z in 0..depth {
            let to = slice(copy.to, copy.to_position.x, copy.to_position.y, copy.to_position.z + z);
            let from = slice(
                copy.from,
                copy.from_position.x,
                copy.from_position.y,
                copy.from_position.z + z,
            );
            self.copy_rows(to, from, width, height, copy.kind)?;
        }
        Ok(())
    }

    /// `cudaMemcpyToSymbol` and its kin.
    pub fn copy_to_symbol(
        &mut self,
        symbol: u64,
        from: u64,
        bytes: usize,
        offset: usize,
        kind: i32,
    ) -> Outcome {
        let at = self.inside_symbol(symbol, bytes, offset)?;
        match kind {
            HOST_TO_DEVICE | DEVICE_TO_DEVICE | DEFAULT => self.copy(at, from, bytes, kind),
            _ => Err(Code::INVALID_COPY_DIRECTION),
        }
    }

    /// `cudaMemcpyFromSymbol` and its kin.
    pub fn copy_from_symbol(
        &mut self,
        to: u64,
        symbol: u64,
        bytes: usize,
        offset: usize,
        kind: i32,
    ) -> Outcome {
        let at = self.inside_symbol(symbol, bytes, offset)?;
        match kind {
            DEVICE_TO_HOST | DEVICE_TO_DEVICE | DEFAULT => self.copy(to, at, bytes, kind),
            _ => Err(Code::INVALID_COPY_DIRECTION),
        }
    }

    fn inside_symbol(&mut self, symbol: u64, bytes: usize, offset: usize) -> Result<u64, Code> {
        let (address, size) = self.variable(symbol)?;
        let end = offset.checked_add(bytes).ok_or(Code::INVALID_VALUE)?;
        if end as u64 <= size {
            return Ok(address + offset as u64);
        }
        let message = format!(
            "`{}` of {bytes} bytes at offset {offset} reaches beyond the variable's {size} bytes",
            self.current
        );
        self.tell(Kind::Bounds, Severity::Error, message);
        Err(Code::INVALID_VALUE)
    }

    /// `cudaMemset` and its kin.
    pub fn fill(&mut self, to: u64, value: i32, bytes: usize) -> Outcome {
        if bytes == 0 {
            return Ok(());
        }
        if to == 0 {
            return Err(Code::INVALID_VALUE);
        }
        self.check_side(to, true, false, "destination")?;
        // Of the value, the lowest byte counts.
        let byte = value.to_le_bytes()[0];
        self.machine.memory().fill(to, byte, bytes as u64).map_err(|fault| refused(&fault))
    }

    /// `cudaMemset2D` and its kin.
    pub fn fill_rows(&mut self, to: Rows, value: i32, width: usize, height: usize) -> Outcome {
        if width == 0 || height == 0 {
            return Ok(());
        }
        if height > 1 && width > to.pitch {
            return Err(Code::INVALID_VALUE);
        }
        if width == to.pitch {
            return self.fill(to.start, value, width * height);
        }
        (0..height).try_for_each(|row| self.fill(to.start + (row * to.pitch) as u64, value, width))
    }

    /// `cudaMemset3D` and its kin.
    pub fn fill_slices(&mut self, to: PitchedPointer, value: i32, extent: Extent) -> Outcome {
        (0..extent.depth).try_for_each(|z| {
            self.fill_rows(slice(to, 0, 0, z), value, extent.width, extent.height)
        })
    }

    /// Whether the device knows an address.
    fn knows(&self, address: u64) -> bool {
        self.kind_at(address).is_some()
    }

    /// One side of a copy against its kind. An address that is neither the device's nor the
    /// host's is left to the device, which knows what it was.
    fn check_side(&mut self, at: u64, device: bool, host: bool, side: &str) -> Outcome {
        let held = self.kind_at(at);
        let name = self.current;
        if device && held.is_none() && host::readable(at, 1) {
            let message = format!(
                "the {side} of `{name}` must be device memory, and it is ordinary host memory"
            );
            self.tell(Kind::Api, Severity::Error, message);
            return Err(Code::INVALID_VALUE);
        }
        if host && held == Some(MemoryKind::Device) {
            let message = format!(
                "the {side} of `{name}` is host memory by its kind, and it is the device's"
            );
            self.tell(Kind::Api, Severity::Warning, message);
        }
        Ok(())
    }

    fn unmapped(&mut self, side: &str, at: u64, bytes: usize) -> Outcome {
        let message = format!(
            "the {side} of `{}`, {bytes} bytes at 0x{at:x}, is memory of neither device nor host",
            self.current
        );
        self.tell(Kind::Api, Severity::Error, message);
        Err(Code::INVALID_VALUE)
    }
}

/// A copy outside of an allocation is refused before it starts: no fault of the device follows.
fn refused(fault: &Fault) -> Code {
    match fault {
        Fault::IllegalAddress | Fault::MisalignedAddress => Code::INVALID_VALUE,
        other => Code::from(other),
    }
}

fn slice(memory: PitchedPointer, x: usize, y: usize, z: usize) -> Rows {
    let rows = z * memory.height + y;
    Rows { start: memory.pointer + (rows * memory.pitch + x) as u64, pitch: memory.pitch }
}
