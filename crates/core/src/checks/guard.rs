//! Guard bands: pattern words before and after a buffer, that nobody may touch.
//!
//! Neighbouring allocations would hide a stray write; a band shows it. The words are signalling
//! NaNs that hold their own position, so a copy of one band over the other shows too, and whatever
//! is computed from a read past the end is a NaN.

/// Bytes of each band: sixteen of the lesson's tiles, and a multiple of the device's allocation
/// alignment, so that the body is aligned as an allocation would be.
pub const GUARD_BYTES: usize = 64 * 1024;

const WORD: usize = 4;

/// The pattern word at this position of a guarded buffer, counted in words of the band.
pub fn guard_word(side: Side, at: usize) -> u32 {
    let mark = match side {
        Side::Before => 0x7FA0_0000,
        Side::After => 0x7F90_0000,
    };
    mark | (at as u32 & 0xFFFF)
}

/// Which band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// In front of the body.
    Before,
    /// Behind it.
    After,
}

/// A touched guard band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "stray write {offset} bytes from the body's start: got 0x{got:08x}, want 0x{want:08x}; \
     {count} guard words touched"
)]
pub struct Stray {
    /// Where the first touched word begins, in bytes from the body's start: negative in front of
    /// it.
    pub offset: i64,
    /// The word found there.
    pub got: u32,
    /// The pattern word.
    pub want: u32,
    /// Touched words in both bands.
    pub count: usize,
}

/// The layout of a body of so many bytes between two bands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarded {
    body_bytes: usize,
}

impl Guarded {
    /// Around a body of `len` f32. Nothing where the bytes of it can't be counted.
    pub fn of_elements(len: usize) -> Option<Self> {
        let body_bytes = len.checked_mul(WORD)?;
        body_bytes.checked_add(2 * GUARD_BYTES)?;
        Some(Self { body_bytes })
    }

    /// Bytes of the whole: band, body, band.
    pub fn total_bytes(self) -> usize {
        self.body_bytes + 2 * GUARD_BYTES
    }

    /// Where the body starts, in bytes.
    pub fn body_offset(self) -> usize {
        GUARD_BYTES
    }

    /// Both bands as they are uploaded, each with its offset in bytes from the start of the whole.
    pub fn bands(self) -> [(usize, Vec<u8>); 2] {
        let made = |side| {
            let mut bytes = Vec::with_capacity(GUARD_BYTES);
            band(side, &mut bytes);
            bytes
        };
        [(0, made(Side::Before)), (GUARD_BYTES + self.body_bytes, made(Side::After))]
    }

    /// The whole as it is uploaded, with these values as the body.
    ///
    /// # Panics
    /// If the number of values is not that of the layout.
    pub fn holding(self, values: &[f32]) -> Vec<u8> {
        assert_eq!(values.len() * WORD, self.body_bytes, "values of the layout's length");
        let mut whole = Vec::with_capacity(self.total_bytes());
        band(Side::Before, &mut whole);
        for value in values {
            whole.extend_from_slice(&value.to_ne_bytes());
        }
        band(Side::After, &mut whole);
        whole
    }

    /// The body's values out of a downloaded whole. Empty if the whole is not of the layout's size:
    /// an empty comparison never passes.
    pub fn body(self, whole: &[u8]) -> Vec<f32> {
        if whole.len() != self.total_bytes() {
            return Vec::new();
        }
        let (words, _) = whole[GUARD_BYTES..GUARD_BYTES + self.body_bytes].as_chunks::<WORD>();
        words.iter().map(|word| f32::from_ne_bytes(*word)).collect()
    }

    /// Whether both bands of a downloaded whole are as they were.
    ///
    /// # Errors
    /// The first touched word. A whole of another size than the layout's counts as touched at its
    /// start.
    pub fn check_bands(self, whole: &[u8]) -> Result<(), Stray> {
        if whole.len() != self.total_bytes() {
            let want = guard_word(Side::Before, 0);
            return Err(Stray { offset: -(GUARD_BYTES as i64), got: 0, want, count: 0 });
        }
        let (before, rest) = whole.split_at(GUARD_BYTES);
        let after = &rest[self.body_bytes..];
        let starts = [-(GUARD_BYTES as i64), self.body_bytes as i64];
        let mut first = None;
        let mut count = 0;
        for ((side, bytes), start) in
            [(Side::Before, before), (Side::After, after)].into_iter().zip(starts)
        {
            for (at, got) in bytes.as_chunks::<WORD>().0.iter().enumerate() {
                let (got, want) = (u32::from_ne_bytes(*got), guard_word(side, at));
                if got != want {
                    count += 1;
                    first.get_or_insert((start + (at * WORD) as i64, got, want));
                }
            }
        }
        match first {
            None => Ok(()),
            Some((offset, got, want)) => Err(Stray { offset, got, want, count }),
        }
    }
}

fn band(side: Side, whole: &mut Vec<u8>) {
    for at in 0..GUARD_BYTES / WORD {
        whole.extend_from_slice(&guard_word(side, at).to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a device holds after its memory was filled and the bands were uploaded.
    fn filled(layout: Guarded, byte: u8) -> Vec<u8> {
        let mut whole = vec![byte; layout.total_bytes()];
        for (offset, band) in layout.bands() {
            whole[offset..offset + band.len()].copy_from_slice(&band);
        }
        whole
    }

    #[test]
    fn what_goes_in_comes_out_and_untouched_bands_pass() {
        let values = [1.0, -0.0, 3.5];
        let layout = Guarded::of_elements(3).unwrap();
        let whole = layout.holding(&values);
        assert_eq!(whole.len(), 2 * 65_536 + 12);
        assert_eq!(layout.body(&whole), values);
        for (offset, band) in layout.bands() {
            assert_eq!(whole[offset..offset + band.len()], band);
        }
        assert_eq!(layout.check_bands(&whole), Ok(()));
        assert!(layout.body(&filled(layout, 0xFF)).iter().all(|v| v.to_bits() == u32::MAX));
    }

    #[test]
    fn any_touched_byte_of_a_band_is_found_with_its_offset() {
        let layout = Guarded::of_elements(5).unwrap();
        let body = 20_i64;
        for (byte, offset) in [
            (0, -65_536),
            (65_535, -4),
            (65_536 + 20, body),
            (65_536 + 21, body),
            (2 * 65_536 + 19, body + 65_532),
        ] {
            let mut whole = filled(layout, 0);
            whole[byte] ^= 1;
            let stray = layout.check_bands(&whole).unwrap_err();
            assert_eq!((stray.offset, stray.count), (offset, 1), "{byte}");
        }
        let mut whole = filled(layout, 0);
        whole[65_536..65_556].fill(0xAB);
        assert_eq!(layout.check_bands(&whole), Ok(()));
    }

    #[test]
    fn a_band_copied_over_the_other_or_shifted_is_touched() {
        let layout = Guarded::of_elements(1).unwrap();
        let mut whole = filled(layout, 0);
        let (before, after) = whole.split_at_mut(65_540);
        after.copy_from_slice(&before[..65_536]);
        assert_eq!(layout.check_bands(&whole).unwrap_err().count, 16_384);
        let mut whole = filled(layout, 0);
        whole.copy_within(0..65_532, 4);
        assert!(layout.check_bands(&whole).is_err());
    }

    #[test]
    fn a_whole_of_another_size_never_passes() {
        let layout = Guarded::of_elements(4).unwrap();
        for whole in [vec![], filled(layout, 0)[1..].to_vec()] {
            assert!(layout.check_bands(&whole).is_err());
            assert!(layout.body(&whole).is_empty());
        }
        assert_eq!(Guarded::of_elements(usize::MAX / 2), None);
    }

    #[test]
    fn guard_words_are_signalling_nans() {
        for side in [Side::Before, Side::After] {
            for at in [0, 1, 0xFFFF] {
                let word = guard_word(side, at);
                assert!(f32::from_bits(word).is_nan() && word & 0x0040_0000 == 0, "{word:#x}");
            }
        }
    }
}
