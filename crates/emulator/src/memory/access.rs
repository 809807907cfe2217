//! What a memory instruction asks for.

use crate::race::Scope;

/// Where an address must lie (PTX ISA 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Anywhere; lanes may differ.
    Generic,
    /// `.global`
    Global,
    /// `.shared` of the own block.
    Shared,
    /// `.local`
    Local,
    /// `.const`
    Const,
}

/// How an access is ordered (PTX ISA 8.4 and 8.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// A plain access.
    Weak,
    /// `ld.global.nc`: memory that nothing writes during the launch.
    Nc,
    /// `.volatile`: as relaxed at system scope.
    Volatile,
    /// `.relaxed`
    Relaxed(Scope),
    /// `.acquire`
    Acquire(Scope),
    /// `.release`
    Release(Scope),
    /// `.acq_rel`
    AcqRel(Scope),
}

impl Order {
    pub(crate) fn scope(self) -> Option<Scope> {
        match self {
            Self::Weak | Self::Nc => None,
            Self::Volatile => Some(Scope::Sys),
            Self::Relaxed(s) | Self::Acquire(s) | Self::Release(s) | Self::AcqRel(s) => Some(s),
        }
    }

    pub(crate) fn acquires(self) -> bool {
        matches!(self, Self::Acquire(_) | Self::AcqRel(_))
    }

    pub(crate) fn releases(self) -> bool {
        matches!(self, Self::Release(_) | Self::AcqRel(_))
    }
}

/// Through which path memory is accessed (PTX ISA 8.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Proxy {
    /// As all plain instructions do.
    #[default]
    Generic,
    /// `cp.async.bulk` and the like.
    Async,
}

/// One memory instruction of a warp.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// The lanes' addresses.
    pub addresses: &'a [u64; 32],
    /// The lanes that take part.
    pub mask: u32,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub width: u8,
    /// Elements of a vector: 1, 2, 4 or 8. All of it is at most 32 bytes.
    pub count: u8,
    /// Where the addresses must lie.
    pub space: Space,
    /// How it is ordered.
    pub order: Order,
    /// Through which path.
    pub proxy: Proxy,
    /// Of [`View::rmw`](super::View::rmw): whether the old value is returned. `red` returns none,
    /// and its read never acquires (PTX ISA 8.8).
    pub returns: bool,
    /// The instruction's number, by which findings name it.
    pub pc: u32,
}

impl<'a> Access<'a> {
    /// A plain access of one element a lane.
    pub fn weak(addresses: &'a [u64; 32], mask: u32, width: u8, space: Space, pc: u32) -> Self {
        Self {
            addresses,
            mask,
            width,
            count: 1,
            space,
            order: Order::Weak,
            proxy: Proxy::Generic,
            returns: true,
            pc,
        }
    }

    /// Bytes a lane.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        u32::from(self.width) * u32::from(self.count)
    }
}

/// What came of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Lanes that read a byte that is not initialised.
    pub poison: u32,
    /// Lanes whose access was not made: out of bounds or misaligned.
    pub faulted: u32,
    /// Of `faulted`, those that were misaligned.
    pub misaligned: u32,
}

/// The values of an instruction's lanes, on their way between registers and memory.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Staging {
    bytes: [u8; 1024],
}

impl Default for Staging {
    fn default() -> Self {
        Self { bytes: [0; 1024] }
    }
}

impl Staging {
    /// All bytes.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8; 1024] {
        &self.bytes
    }

    /// All bytes, to be written.
    #[inline(always)]
    pub fn bytes_mut(&mut self) -> &mut [u8; 1024] {
        &mut self.bytes
    }

    /// The bytes of a lane of an access of so many bytes a lane.
    #[inline(always)]
    pub fn lane(&self, lane: u32, size: u32) -> &[u8] {
        &self.bytes[(lane * size) as usize..][..size as usize]
    }

    /// The bytes of a lane, to be written.
    #[inline(always)]
    pub fn lane_mut(&mut self, lane: u32, size: u32) -> &mut [u8] {
        &mut self.bytes[(lane * size) as usize..][..size as usize]
    }
}
