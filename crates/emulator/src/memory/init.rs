//! Which bytes of a page are initialised.

use super::mapping::PAGE;

const WORDS: usize = PAGE as usize / 64;

/// A bit a byte, unless all are equal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Init {
    /// No byte is.
    #[default]
    None,
    /// All bytes are.
    All,
    /// Some are; and how many aren't.
    Some(Box<[u64; WORDS]>, u32),
}

impl Init {
    /// Whether all bytes of a range are.
    #[inline(always)]
    pub fn covers(&self, start: u32, bytes: u32) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Some(bits, _) => {
                let mut all = true;
                pieces(start, bytes, |word, mask| all &= bits[word] & mask == mask);
                all
            }
        }
    }

    /// How many bytes of a range are.
    pub fn count(&self, start: u32, bytes: u32) -> u32 {
        match self {
            Self::All => bytes,
            Self::None => 0,
            Self::Some(bits, _) => {
                let mut count = 0;
                pieces(start, bytes, |word, mask| count += (bits[word] & mask).count_ones());
                count
            }
        }
    }

    /// Bytes of a range are from now on.
    #[inline(always)]
    pub fn set(&mut self, start: u32, bytes: u32) {
        if *self != Self::All {
            self.set_some(start, bytes);
        }
    }

    fn set_some(&mut self, start: u32, bytes: u32) {
        if u64::from(bytes) == PAGE {
            *self = Self::All;
            return;
        }
        if *self == Self::None {
            *self = Self::Some(Box::new([0; WORDS]), PAGE as u32);
        }
        let Self::Some(bits, missing) = self else { return };
        pieces(start, bytes, |word, mask| {
            *missing -= (mask & !bits[word]).count_ones();
            bits[word] |= mask;
        });
        if *missing == 0 {
            *self = Self::All;
        }
    }

    /// Bytes of a range aren't any more.
    pub fn clear(&mut self, start: u32, bytes: u32) {
        if *self == Self::None {
            return;
        }
        if *self == Self::All {
            *self = Self::Some(Box::new([u64::MAX; WORDS]), 0);
        }
        let Self::Some(bits, missing) = self else { return };
        pieces(start, bytes, |word, mask| {
            *missing += (mask & bits[word]).count_ones();
            bits[word] &= !mask;
        });
    }

    /// Its bytes, for a digest: empty where all are equal.
    pub fn words(&self) -> (u8, &[u64]) {
        match self {
            Self::None => (0, &[]),
            Self::All => (1, &[]),
            Self::Some(bits, _) => (2, &bits[..]),
        }
    }
}

/// The words of the bits of a range, and which bits of each.
#[inline(always)]
fn pieces(start: u32, bytes: u32, mut f: impl FnMut(usize, u64)) {
    let mut at = start;
    let end = start + bytes;
    while at < end {
        let bit = at % 64;
        let take = (64 - bit).min(end - at);
        let mask = if take == 64 { u64::MAX } else { ((1 << take) - 1) << bit };
        f((at / 64) as usize, mask);
        at += take;
    }
}
