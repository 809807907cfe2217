//! Floating-point arithmetic in software, for every format and rounding mode.
//!
//! What the host's own arithmetic gives (`f32` and `f64`, to nearest even) is computed by it
//! elsewhere; the directed roundings and the small formats come from here. A [`Number`] carries 127
//! bits, the lowest of which stands for all that was lost below it, so that one rounding at the end
//! is the only one.

use std::cmp::Ordering;

use super::float::NAN64;

/// A rounding mode (PTX ISA 9.7.3, 9.7.9.21).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// `.rn`: to the nearest, ties to even.
    Near,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards negative infinity.
    Down,
    /// `.rp`: towards positive infinity.
    Up,
    /// `.rna`: to the nearest, ties away from zero.
    Away,
}

/// A binary format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the fraction.
    pub fraction: u32,
    /// The NaN that PTX makes.
    pub nan: u64,
    /// The largest finite number, without a sign.
    pub max: u64,
    /// Whether there are infinities: `max + 1`.
    pub infinite: bool,
}

impl Format {
    /// `.f16`
    pub const F16: Self = Self::ieee(5, 10, 0x7fff);
    /// `.bf16`
    pub const BF16: Self = Self::ieee(8, 7, 0x7fff);
    /// `.f32`
    pub const F32: Self = Self::ieee(8, 23, 0x7fff_ffff);
    /// `.f64`
    pub const F64: Self = Self::ieee(11, 52, NAN64);
    /// `.tf32` without the 13 low bits of its register.
    pub const TF32: Self = Self::ieee(8, 10, 0x3_ffff);
    /// `.e5m2`
    pub const E5M2: Self = Self::ieee(5, 2, 0x7f);
    /// `.e4m3`: no infinities, one NaN.
    pub const E4M3: Self = Self { exponent: 4, fraction: 3, nan: 0x7f, max: 0x7e, infinite: false };
    /// `.e2m1`: no infinities, no NaN; of a NaN the largest number is made.
    pub const E2M1: Self = Self { exponent: 2, fraction: 1, nan: 7, max: 7, infinite: false };
    /// `.e2m3`: likewise.
    pub const E2M3: Self = Self { exponent: 2, fraction: 3, nan: 0x1f, max: 0x1f, infinite: false };
    /// `.e3m2`: likewise.
    pub const E3M2: Self = Self { exponent: 3, fraction: 2, nan: 0x1f, max: 0x1f, infinite: false };

    const fn ieee(exponent: u32, fraction: u32, nan: u64) -> Self {
        let max = (((1 << exponent) - 1) << fraction) - 1;
        Self { exponent, fraction, nan, max, infinite: true }
    }

    /// Bits of a number.
    pub const fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    const fn sign(self, negative: bool) -> u64 {
        (negative as u64) << (self.exponent + self.fraction)
    }
}

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Not a number.
    Nan,
    /// An infinity.
    Infinite,
    /// A zero.
    Zero,
    /// Anything else.
    Finite,
}

/// The leading bit of a finite number's significand.
const TOP: u32 = 126;

/// A number: of a finite one the value is `significand * 2^(exponent - 126)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// What it is.
    pub class: Class,
    /// Whether its sign is set.
    pub negative: bool,
    exponent: i32,
    significand: u128,
}

/// Shifts right; what is lost stays as the lowest bit.
fn jam(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..=127 => value >> by | u128::from(value << (128 - by) != 0),
        _ => u128::from(value != 0),
    }
}

impl Number {
    /// The one NaN.
    pub const NAN: Self = Self::special(Class::Nan, false);

    const fn special(class: Class, negative: bool) -> Self {
        Self { class, negative, exponent: 0, significand: 0 }
    }

    /// A zero.
    pub const fn zero(negative: bool) -> Self {
        Self::special(Class::Zero, negative)
    }

    /// One.
    pub const ONE: Self =
        Self { class: Class::Finite, negative: false, exponent: 0, significand: 1 << TOP };

    /// `value * 2^exponent`, the lowest bit of `value` possibly standing for lost ones if its
    /// leading one is at least bit 64.
    fn scaled(negative: bool, value: u128, exponent: i32) -> Self {
        if value == 0 {
            return Self::zero(negative);
        }
        let zeros = value.leading_zeros();
        let significand = if zeros == 0 { jam(value, 1) } else { value << (zeros - 1) };
        let exponent = exponent + TOP as i32 + 1 - zeros as i32;
        Self { class: Class::Finite, negative, exponent, significand }
    }

    /// An integer.
    pub fn integer(negative: bool, magnitude: u64) -> Self {
        Self::scaled(negative, u128::from(magnitude), 0)
    }

    /// What bits of a format mean.
    pub fn decode(bits: u64, format: Format) -> Self {
        let negative = bits & format.sign(true) != 0;
        let bits = bits & (format.sign(true) - 1);
        let field = (bits >> format.fraction) as i32;
        let fraction = bits & ((1 << format.fraction) - 1);
        if bits > format.max {
            let infinite = format.infinite && fraction == 0;
            let class = if infinite { Class::Infinite } else { Class::Nan };
            return Self::special(class, negative);
        }
        let hidden = u64::from(field != 0) << format.fraction;
        let exponent = field.max(1) - format.bias() - format.fraction as i32;
        Self::scaled(negative, u128::from(fraction | hidden), exponent)
    }

    /// The nearest bits of a format in a rounding mode. `finite` makes the largest finite number of
    /// what is too large, infinities included (`.satfinite`).
    pub fn encode(self, format: Format, round: Round, finite: bool) -> u64 {
        let sign = format.sign(self.negative);
        let magnitude = match self.class {
            Class::Nan => return format.nan,
            Class::Zero => 0,
            Class::Infinite if finite || !format.infinite => format.max,
            Class::Infinite => format.max + 1,
            Class::Finite => self.encode_finite(format, round, finite),
        };
        sign | magnitude
    }

    fn encode_finite(self, format: Format, round: Round, finite: bool) -> u64 {
        let least = 1 - format.bias();
        let below = (least - self.exponent).max(0) as u32;
        let field = (self.exponent.max(least) + format.bias() - 1) as u64;
        let kept = self.rounded(TOP - format.fraction + below, round);
        let magnitude = (field << format.fraction) + kept as u64;
        if magnitude <= format.max {
            return magnitude;
        }
        let infinite = format.infinite
            && !finite
            && match round {
                Round::Near | Round::Away => true,
                Round::Zero => false,
                Round::Down => self.negative,
                Round::Up => !self.negative,
            };
        if infinite { format.max + 1 } else { format.max }
    }

    /// The significand without its low bits, rounded.
    fn rounded(self, low: u32, round: Round) -> u128 {
        let (kept, lost) = match low {
            0..=127 => (self.significand >> low, self.significand << (127 - low) << 1),
            _ => (0, 1),
        };
        let half = 1 << 127;
        let up = match round {
            Round::Near => lost > half || lost == half && kept & 1 == 1,
            Round::Away => lost >= half,
            Round::Zero => false,
            Round::Down => lost != 0 && self.negative,
            Round::Up => lost != 0 && !self.negative,
        };
        kept + u128::from(up)
    }

    /// The integer nearest in a rounding mode, as a magnitude; too large ones are `u128::MAX`.
    pub fn to_integer(self, round: Round) -> u128 {
        match self.class {
            Class::Nan | Class::Zero => 0,
            Class::Infinite => u128::MAX,
            Class::Finite if self.exponent > TOP as i32 => u128::MAX,
            Class::Finite => self.rounded((TOP as i32 - self.exponent) as u32, round),
        }
    }

    /// The number rounded to an integer, its sign kept.
    pub fn integral(self, round: Round) -> Self {
        match self.class {
            Class::Finite if self.exponent < 64 => {
                Self::scaled(self.negative, self.to_integer(round), 0)
            }
            _ => self,
        }
    }

    /// Whether its magnitude is at least 1.
    pub fn is_at_least_one(self) -> bool {
        self.class == Class::Infinite || self.class == Class::Finite && self.exponent >= 0
    }

    /// With the other sign.
    pub fn negated(self) -> Self {
        Self { negative: !self.negative, ..self }
    }

    /// A sum; the mode decides the sign of a zero that two opposite numbers make.
    pub fn add(self, other: Self, round: Round) -> Self {
        match (self.class, other.class) {
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Infinite) if self.negative != other.negative => Self::NAN,
            (Class::Infinite, _) => self,
            (_, Class::Infinite) => other,
            (Class::Zero, Class::Zero) if self.negative == other.negative => self,
            (Class::Zero, Class::Zero) => Self::zero(round == Round::Down),
            (Class::Zero, _) => other,
            (_, Class::Zero) => self,
            _ => self.add_finite(other, round),
        }
    }

    fn add_finite(self, other: Self, round: Round) -> Self {
        let order = self.exponent.cmp(&other.exponent);
        let order = order.then(self.significand.cmp(&other.significand));
        let (large, small) = if order == Ordering::Less { (other, self) } else { (self, other) };
        let aligned = jam(small.significand, large.exponent.abs_diff(small.exponent));
        let exponent = large.exponent - TOP as i32;
        if large.negative == small.negative {
            return Self::scaled(large.negative, large.significand + aligned, exponent);
        }
        match large.significand - aligned {
            0 => Self::zero(round == Round::Down),
            rest => Self::scaled(large.negative, rest, exponent),
        }
    }

    /// A product.
    pub fn mul(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.class, other.class) {
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Zero) | (Class::Zero, Class::Infinite) => Self::NAN,
            (Class::Infinite, _) | (_, Class::Infinite) => Self::special(Class::Infinite, negative),
            (Class::Zero, _) | (_, Class::Zero) => Self::zero(negative),
            _ => {
                let product = (self.significand >> 63) * (other.significand >> 63);
                Self::scaled(negative, product, self.exponent + other.exponent - 126)
            }
        }
    }

    /// A quotient.
    pub fn div(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.class, other.class) {
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Infinite) | (Class::Zero, Class::Zero) => Self::NAN,
            (Class::Infinite, _) | (_, Class::Zero) => Self::special(Class::Infinite, negative),
            (Class::Zero, _) | (_, Class::Infinite) => Self::zero(negative),
            _ => {
                let by = other.significand >> 63;
                let (quotient, rest) = (self.significand / by, self.significand % by);
                let exponent = self.exponent - other.exponent - 63;
                let value = quotient << 2 | u128::from(rest != 0);
                Self::scaled(negative, value, exponent - 2)
            }
        }
    }

    /// A square root.
    pub fn sqrt(self) -> Self {
        match self.class {
            Class::Nan | Class::Zero => self,
            _ if self.negative => Self::NAN,
            Class::Infinite => self,
            Class::Finite => {
                let odd = self.exponent & 1;
                let square = self.significand << odd;
                let root = square.isqrt();
                let value = root << 2 | u128::from(root * root != square);
                Self::scaled(false, value, (self.exponent - odd) / 2 - 63 - 2)
            }
        }
    }

    /// Whether it is below the least normal number of a format, but not zero.
    pub fn is_subnormal(self, format: Format) -> bool {
        self.class == Class::Finite && self.exponent < 1 - format.bias()
    }

    /// A zero of its sign if it is below the least normal number even when it is rounded as if
    /// exponents had no limit.
    pub fn flushed_result(self, format: Format, round: Round) -> Self {
        let kept = self.rounded(TOP - format.fraction, round);
        let carries = kept >> (format.fraction + 1) != 0;
        let tiny = self.exponent + i32::from(carries) < 1 - format.bias();
        if self.class == Class::Finite && tiny { Self::zero(self.negative) } else { self }
    }

    /// A zero of its sign if it is subnormal.
    pub fn flushed(self, format: Format) -> Self {
        if self.is_subnormal(format) { Self::zero(self.negative) } else { self }
    }
}
