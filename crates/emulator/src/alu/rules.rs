//! The modifiers of a floating-point form that is computed in software, and what they do.

use super::float::finish64;
use super::soft::{Class, Format, Number, Round};

/// A result's rules; they fit [`super::Rows::extra`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The rounding mode.
    pub round: Round,
    /// `.ftz`: subnormal inputs and results are zeros of their sign.
    pub ftz: bool,
    /// `.sat`: clamped to 0 and 1, NaN to 0.
    pub sat: bool,
    /// `.relu`: negative results are 0.
    pub relu: bool,
    /// `.satfinite`: what is too large is the largest finite number.
    pub finite: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { round: Round::Near, ftz: false, sat: false, relu: false, finite: false }
    }
}

impl Rules {
    /// Bits that [`Rules::pack`] uses.
    pub const BITS: u32 = 7;

    /// As bits of [`super::Rows::extra`].
    pub fn pack(self) -> u32 {
        let flags = [self.ftz, self.sat, self.relu, self.finite];
        let round = match self.round {
            Round::Near => 0,
            Round::Zero => 1,
            Round::Down => 2,
            Round::Up => 3,
            Round::Away => 4,
        };
        flags.iter().rev().fold(0, |bits, flag| bits << 1 | u32::from(*flag)) << 3 | round
    }

    /// Out of the bits.
    #[inline(always)]
    pub fn unpack(bits: u32) -> Self {
        let round = match bits & 7 {
            0 => Round::Near,
            1 => Round::Zero,
            2 => Round::Down,
            3 => Round::Up,
            _ => Round::Away,
        };
        let flag = |at: u32| bits >> at & 1 == 1;
        Self { round, ftz: flag(3), sat: flag(4), relu: flag(5), finite: flag(6) }
    }

    /// An operand.
    pub fn operand(self, bits: u64, format: Format) -> Number {
        let number = Number::decode(bits, format);
        if self.ftz { number.flushed(format) } else { number }
    }

    /// A result's bits.
    pub fn result(self, number: Number, format: Format) -> u64 {
        let number = self.clamped(number);
        let number = if self.ftz { number.flushed_result(format, self.round) } else { number };
        number.encode(format, self.round, self.finite)
    }

    fn clamped(self, number: Number) -> Number {
        if self.relu && number.class != Class::Nan && number.negative {
            return Number::zero(false);
        }
        if !self.sat {
            return number;
        }
        match number.class {
            Class::Nan | Class::Zero => Number::zero(false),
            _ if number.negative => Number::zero(false),
            Class::Infinite => Number::ONE,
            Class::Finite if number.is_at_least_one() => Number::ONE,
            Class::Finite => number,
        }
    }

    /// An operation of two operands.
    pub fn binary(
        self,
        format: Format,
        [a, b]: [u64; 2],
        operation: impl Fn(Number, Number, Round) -> Number,
    ) -> u64 {
        let number = operation(self.operand(a, format), self.operand(b, format), self.round);
        self.result(number, format)
    }

    /// `a * b + c`, rounded once.
    pub fn fma(self, format: Format, [a, b, c]: [u64; 3]) -> u64 {
        let product = self.operand(a, format).mul(self.operand(b, format));
        self.result(product.add(self.operand(c, format), self.round), format)
    }

    /// An operation on `.f32`.
    pub fn binary32(
        self,
        a: f32,
        b: f32,
        operation: impl Fn(Number, Number, Round) -> Number,
    ) -> f32 {
        let bits = [u64::from(a.to_bits()), u64::from(b.to_bits())];
        f32::from_bits(self.binary(Format::F32, bits, operation) as u32)
    }

    /// An operation on `.f64`.
    pub fn binary64(
        self,
        a: f64,
        b: f64,
        operation: impl Fn(Number, Number, Round) -> Number,
    ) -> f64 {
        let result = self.binary(Format::F64, [a.to_bits(), b.to_bits()], operation);
        finish64(f64::from_bits(result), [0.0, a, b])
    }

    /// `a * b + c` of `.f32`.
    pub fn fma32(self, a: f32, b: f32, c: f32) -> f32 {
        let bits = [a, b, c].map(|value| u64::from(value.to_bits()));
        f32::from_bits(self.fma(Format::F32, bits) as u32)
    }

    /// `a * b + c` of `.f64`.
    pub fn fma64(self, a: f64, b: f64, c: f64) -> f64 {
        let result = self.fma(Format::F64, [a, b, c].map(f64::to_bits));
        finish64(f64::from_bits(result), [a, c, b])
    }
}
