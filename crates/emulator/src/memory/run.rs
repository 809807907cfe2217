//! Lanes whose addresses follow one pattern.

use super::mapping::PAGE;

/// Lanes that access one address, or addresses side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The lane that `address` belongs to; no lane of the mask is below it.
    pub first: u32,
    /// The lanes.
    pub mask: u32,
    /// The address of the first lane.
    pub address: u64,
    /// What lies between the addresses of neighbours: 0 or the size of an access.
    pub step: u32,
}

impl Run {
    /// The longest run that begins with the lowest lane of a mask.
    #[inline]
    pub fn next(addresses: &[u64; 32], mask: u32, size: u32) -> Self {
        let first = mask.trailing_zeros();
        let address = addresses[first as usize];
        let rest = mask & (mask - 1);
        if rest == 0 {
            return Self { first, mask, address, step: 0 };
        }
        let second = rest.trailing_zeros();
        let apart = addresses[second as usize].wrapping_sub(address);
        let step = if apart == 0 {
            0
        } else if apart == u64::from((second - first) * size) {
            size
        } else {
            return Self { first, mask: 1 << first, address, step: 0 };
        };
        let zero = address.wrapping_sub(u64::from(first * step));
        Self { first, mask: mask & following(addresses, zero, step), address, step }
    }

    /// The same lanes as far as they are in a mask.
    pub fn only(&self, mask: u32) -> Self {
        Self { mask: self.mask & mask, ..*self }
    }

    /// One lane of it.
    pub fn lane(&self, lane: u32) -> Self {
        Self { first: lane, mask: 1 << lane, address: self.at(lane), step: 0 }
    }

    /// The address of a lane.
    #[inline(always)]
    pub fn at(&self, lane: u32) -> u64 {
        self.address.wrapping_add(u64::from((lane - self.first) * self.step))
    }

    /// The bytes from the first address to the end of the last access.
    #[inline(always)]
    pub fn span(&self, size: u32) -> u64 {
        u64::from((31 - self.mask.leading_zeros() - self.first) * self.step + size)
    }

    /// Whether the mask has no holes.
    #[inline(always)]
    pub fn is_dense(&self) -> bool {
        let mask = self.mask >> self.first;
        mask & mask.wrapping_add(1) == 0
    }

    /// Splits it at borders of pages; addresses are aligned to the size.
    #[inline(always)]
    pub fn in_pages(&self, size: u32, mut f: impl FnMut(&Self)) {
        let left = PAGE - self.address % PAGE;
        if self.span(size) <= left {
            f(self);
            return;
        }
        // At most 32 lanes of 32 bytes: no more than two pages.
        let lanes = left as u32 / size;
        let low = (1u32 << self.first << lanes) - 1;
        if self.mask & low != 0 {
            f(&self.only(low));
        }
        let first = self.first + lanes;
        f(&Self { first, mask: self.mask & !low, address: self.at(first), step: self.step });
    }
}

/// The lanes whose addresses are so many steps from that of a lane 0.
#[inline(always)]
fn following(addresses: &[u64; 32], zero: u64, step: u32) -> u32 {
    let mut same = [0u8; 32];
    for lane in 0..32 {
        let expected = zero.wrapping_add(lane as u64 * u64::from(step));
        same[lane] = u8::from(addresses[lane] == expected);
    }
    let mut mask = 0;
    for (group, lanes) in same.chunks_exact(8).enumerate() {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(lanes);
        // The lowest bit of each byte, gathered into the highest byte.
        let bits = u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= (bits as u32) << (8 * group);
    }
    mask
}
