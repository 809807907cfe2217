//! The registers of a warp, as rows of 32 lanes.
//!
//! A [`Row`] is where a register's 32 values lie, lane by lane, in units of 64 bytes: a row of
//! 16-bit values takes one unit, of 32-bit values two, of 64-bit values four, of 128-bit values
//! eight. A predicate's row takes one unit, of which the first four bytes are a mask of lanes.
//! 8-bit registers are kept in rows of 16-bit values.
//!
//! Immediates, special registers and addresses of variables have rows too, filled when the warp
//! starts, so that an operand is always a row.

#![allow(unsafe_code, reason = "rows are typed views of one aligned arena")]

/// Lanes of a warp.
pub const LANES: usize = 32;

/// All lanes.
pub const ALL: u32 = u32::MAX;

/// Bytes of a row unit.
pub const UNIT: usize = 64;

/// Where a register's lanes lie, in units of [`UNIT`] bytes from the start of the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Row(pub u32);

/// How wide a register is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// A mask of lanes.
    Pred,
    /// 8 and 16 bits.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
    /// 128 bits.
    B128,
}

impl Width {
    /// Units of a row.
    pub const fn units(self) -> u32 {
        match self {
            Self::Pred | Self::B16 => 1,
            Self::B32 => 2,
            Self::B64 => 4,
            Self::B128 => 8,
        }
    }
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Unit(pub(crate) [u8; UNIT]);

/// A type that a row can hold: any bits are a value of it.
///
/// # Safety
/// Every bit pattern must be valid, and the size be 2, 4, 8 or 16 bytes.
pub unsafe trait Value: Copy + 'static {
    /// `new` if the bit is 1, `old` if it is 0: without a branch, so that a loop of it is one of
    /// vectors.
    fn blend(old: Self, new: Self, bit: u32) -> Self;
}

macro_rules! integers {
    ($($number:ty)*) => {$(
        // SAFETY: plain numbers.
        unsafe impl Value for $number {
            #[inline(always)]
            fn blend(old: Self, new: Self, bit: u32) -> Self {
                let chosen = (bit as Self).wrapping_neg();
                old & !chosen | new & chosen
            }
        }
    )*};
}
integers!(u16 i16 u32 i32 u64 i64 u128);

macro_rules! floats {
    ($($number:ty)*) => {$(
        // SAFETY: plain numbers.
        unsafe impl Value for $number {
            #[inline(always)]
            fn blend(old: Self, new: Self, bit: u32) -> Self {
                Self::from_bits(Value::blend(old.to_bits(), new.to_bits(), bit))
            }
        }
    )*};
}
floats!(f32 f64);

/// The registers of one warp.
#[derive(Clone)]
pub struct Lanes {
    units: Box<[Unit]>,
}

impl Lanes {
    /// Registers of so many units, all zero.
    pub fn new(units: u32) -> Self {
        Self { units: vec![Unit([0; UNIT]); units as usize].into_boxed_slice() }
    }

    /// The 32 values of a row.
    #[inline(always)]
    pub fn get<T: Value>(&self, row: Row) -> &[T; LANES] {
        let at = row.0 as usize;
        let units = &self.units[at..at + size_of::<[T; LANES]>() / UNIT];
        // SAFETY: the slice covers exactly the array, its alignment is 64, and any bits are a `T`.
        unsafe { &*units.as_ptr().cast() }
    }

    /// The 32 values of a row, to be written.
    #[inline(always)]
    pub fn get_mut<T: Value>(&mut self, row: Row) -> &mut [T; LANES] {
        let at = row.0 as usize;
        let units = &mut self.units[at..at + size_of::<[T; LANES]>() / UNIT];
        // SAFETY: as in `get`, and the borrow is unique.
        unsafe { &mut *units.as_mut_ptr().cast() }
    }

    /// Writes the lanes of a mask, and leaves the others.
    #[inline(always)]
    pub fn set<T: Value>(&mut self, row: Row, values: &[T; LANES], mask: u32) {
        let target = self.get_mut::<T>(row);
        if mask == ALL {
            *target = *values;
        } else {
            for lane in 0..LANES {
                target[lane] = T::blend(target[lane], values[lane], mask >> lane & 1);
            }
        }
    }

    /// A hash of ranges of units: first and one past the last.
    pub fn hash(&self, ranges: &[(u32, u32)]) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for (start, end) in ranges {
            for unit in &self.units[*start as usize..*end as usize] {
                hasher.update(&unit.0);
            }
        }
        hasher.digest()
    }

    /// Takes the values of another arena of the same size.
    pub fn copy_from(&mut self, other: &Self) {
        self.units.copy_from_slice(&other.units);
    }

    /// A predicate's lanes.
    #[inline(always)]
    pub fn pred(&self, row: Row) -> u32 {
        self.get_unit(row)
    }

    /// Writes the lanes of a mask of a predicate.
    #[inline(always)]
    pub fn set_pred(&mut self, row: Row, values: u32, mask: u32) {
        let merged = self.pred(row) & !mask | values & mask;
        self.units[row.0 as usize].0[..4].copy_from_slice(&merged.to_ne_bytes());
    }

    #[inline(always)]
    fn get_unit(&self, row: Row) -> u32 {
        let unit = &self.units[row.0 as usize].0;
        u32::from_ne_bytes([unit[0], unit[1], unit[2], unit[3]])
    }
}
