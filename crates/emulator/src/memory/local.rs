//! The local memory of a warp's lanes: each sees its own, so nothing here can race.

/// The local memory of a warp.
#[derive(Debug, Clone, Default)]
pub struct Local {
    bytes: u32,
    data: Vec<u8>,
    /// A bit a byte, lane by lane.
    init: Vec<u64>,
}

impl Local {
    /// Of so many bytes a thread.
    pub fn new(bytes: u32) -> Self {
        let words = bytes.div_ceil(64) as usize;
        Self { bytes, data: vec![0; 32 * bytes as usize], init: vec![0; 32 * words] }
    }

    /// Bytes a thread.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    fn at(&self, lane: u32, offset: u32, size: u32) -> std::ops::Range<usize> {
        let start = (lane * self.bytes + offset) as usize;
        start..start + size as usize
    }

    /// The bytes of a lane; whether all are initialised. The range must be within the bounds.
    pub(super) fn read(&self, lane: u32, offset: u32, to: &mut [u8]) -> bool {
        to.copy_from_slice(&self.data[self.at(lane, offset, to.len() as u32)]);
        let (word, mask) = self.bits(lane, offset, to.len() as u32);
        let low = self.init[word] & mask as u64 == mask as u64;
        let high = (mask >> 64) as u64;
        low && (high == 0 || self.init[word + 1] & high == high)
    }

    /// Replaces the bytes of a lane. The range must be within the bounds.
    pub(super) fn write(&mut self, lane: u32, offset: u32, from: &[u8], poison: bool) {
        let range = self.at(lane, offset, from.len() as u32);
        self.data[range].copy_from_slice(from);
        let (word, mask) = self.bits(lane, offset, from.len() as u32);
        let mut put = |word: usize, mask: u64| {
            if mask != 0 {
                let bits = &mut self.init[word];
                *bits = if poison { *bits & !mask } else { *bits | mask };
            }
        };
        put(word, mask as u64);
        put(word + 1, (mask >> 64) as u64);
    }

    /// The first word of the bits of a range of at most 64 bytes, and the bits in it and the next.
    fn bits(&self, lane: u32, offset: u32, size: u32) -> (usize, u128) {
        let words = self.bytes.div_ceil(64);
        ((lane * words + offset / 64) as usize, ((1u128 << size) - 1) << (offset % 64))
    }
}
