//! The shared memory of a block.

use super::bytes::Bytes;
use super::mapping::PAGE;
use super::page::Shadow;

/// The shared memory of the block that a thread runs; used again for the next one.
#[derive(Debug, Default)]
pub struct Shared {
    bytes: u32,
    data: Vec<u8>,
    pages: Vec<Shadow>,
    stamp: u32,
}

impl Shared {
    /// Of so many bytes, static and dynamic ones together.
    pub fn new(bytes: u32) -> Self {
        let mut shared = Self::default();
        shared.restart(bytes);
        shared
    }

    /// A block begins: nothing is initialised, nobody accessed anything.
    pub fn restart(&mut self, bytes: u32) {
        let pages = u64::from(bytes).div_ceil(PAGE) as usize;
        self.bytes = bytes;
        self.stamp = self.stamp.wrapping_add(1).max(1);
        self.pages.resize_with(pages.max(self.pages.len()), Shadow::default);
        self.data.clear();
        self.data.resize(pages * PAGE as usize, 0);
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The bytes, as they are.
    pub fn data(&self) -> &[u8] {
        &self.data[..self.bytes as usize]
    }

    /// The shadow of the page of an offset, and the bytes from there on.
    #[inline(always)]
    pub(super) fn page(&mut self, offset: u64) -> (&mut Shadow, Bytes) {
        let shadow = &mut self.pages[(offset / PAGE) as usize];
        if shadow.stamp != self.stamp {
            shadow.restart(self.stamp);
            shadow.init = super::init::Init::None;
            shadow.travelled = false;
        }
        (shadow, Bytes::of(&mut self.data[offset as usize..self.bytes as usize]))
    }

    /// Bytes that the engine itself writes count as initialised.
    pub fn write(&mut self, offset: u32, bytes: &[u8]) {
        let mut rest = bytes;
        let mut at = offset;
        while !rest.is_empty() {
            let (now, later) =
                rest.split_at(rest.len().min((PAGE - u64::from(at) % PAGE) as usize));
            let (shadow, data) = self.page(u64::from(at));
            shadow.init.set(at % PAGE as u32, now.len() as u32);
            data.write(0, now);
            at += now.len() as u32;
            rest = later;
        }
    }
}
