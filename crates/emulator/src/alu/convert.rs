//! `cvt` (PTX ISA 9.7.9.21) between integers and floats.
//!
//! Registers may be wider than a type: a source's low bits are taken, an integer result is extended
//! by its type's sign.

#![allow(clippy::unnecessary_cast, reason = "macros widen whatever type a register has")]

use super::Form;
use super::casts;
use super::float::{NAN32, finish32, finish64, flush32};
use super::half::{self, bf16_from_f32};
use super::kernel::{op1, op1x};
use super::narrow;
use super::rules::Rules;
use super::soft::{Class, Format, Number, Round};
use super::words::{Kind, Words};
use crate::lanes::Width;

/// Finds a conversion.
pub fn select(words: &mut Words<'_>) -> Option<Form> {
    if words.take("pack") {
        return narrow::pack(words);
    }
    let (to, from) = (words.kind()?, words.kind()?);
    match (Type::of(to), Type::of(from)) {
        (Some(to), Some(from)) => plain(words, to, from),
        _ => narrow::select(words, to, from),
    }
}

/// A type of `cvt` without packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Integer { bits: u32, signed: bool },
    Float(Format),
}

impl Type {
    fn of(kind: Kind) -> Option<Self> {
        let integer = |bits, signed| Some(Self::Integer { bits, signed });
        match kind {
            Kind::U8 => integer(8, false),
            Kind::U16 => integer(16, false),
            Kind::U32 => integer(32, false),
            Kind::U64 => integer(64, false),
            Kind::S8 => integer(8, true),
            Kind::S16 => integer(16, true),
            Kind::S32 => integer(32, true),
            Kind::S64 => integer(64, true),
            Kind::F16 => Some(Self::Float(Format::F16)),
            Kind::Bf16 => Some(Self::Float(Format::BF16)),
            Kind::F32 => Some(Self::Float(Format::F32)),
            Kind::F64 => Some(Self::Float(Format::F64)),
            _ => None,
        }
    }

    fn bits(self) -> u32 {
        match self {
            Self::Integer { bits, .. } => bits,
            Self::Float(format) => format.bits(),
        }
    }

    /// Three or four bits that say which.
    fn pack(self) -> u32 {
        match self {
            Self::Integer { bits, signed } => {
                (bits.trailing_zeros() - 3) | (u32::from(signed) << 2)
            }
            Self::Float(Format::F16) => 8,
            Self::Float(Format::BF16) => 9,
            Self::Float(Format::F32) => 10,
            Self::Float(_) => 11,
        }
    }

    fn unpack(bits: u32) -> Self {
        match bits & 15 {
            8 => Self::Float(Format::F16),
            9 => Self::Float(Format::BF16),
            10 => Self::Float(Format::F32),
            11 => Self::Float(Format::F64),
            bits => Self::Integer { bits: 8 << (bits & 3), signed: bits & 4 != 0 },
        }
    }
}

/// The register of an operand: what is known, else the least that holds the type. Only integers
/// have wider ones.
fn register(words: &Words<'_>, operand: usize, kind: Type, exact: bool) -> Option<Width> {
    let least = match kind.bits() {
        8 | 16 => Width::B16,
        32 => Width::B32,
        _ => Width::B64,
    };
    let width = words.width(operand).unwrap_or(least);
    let holds = match width {
        Width::B16 => 16,
        Width::B32 => 32,
        Width::B64 => 64,
        Width::Pred | Width::B128 => return None,
    };
    let fits = match kind {
        Type::Integer { .. } if !exact => holds >= kind.bits(),
        _ => width == least,
    };
    fits.then_some(width)
}

/// The form for two registers' types.
macro_rules! by_registers {
    ($to:expr, $from:expr, $D:ident, $A:ident => $form:expr) => {
        match $to {
            Width::B16 => { type $D = u16; by_registers!(@ $from, $A => $form) }
            Width::B32 => { type $D = u32; by_registers!(@ $from, $A => $form) }
            _ => { type $D = u64; by_registers!(@ $from, $A => $form) }
        }
    };
    (@ $from:expr, $A:ident => $form:expr) => {
        match $from {
            Width::B16 => { type $A = u16; $form }
            Width::B32 => { type $A = u32; $form }
            _ => { type $A = u64; $form }
        }
    };
}

fn plain(words: &mut Words<'_>, to: Type, from: Type) -> Option<Form> {
    // With `.bf16`, no register is wider.
    let exact = [to, from].contains(&Type::Float(Format::BF16));
    let (d, a) = (register(words, 0, to, exact)?, register(words, 1, from, exact)?);
    let modifiers = Modifiers::read(words, to, from)?;
    if let (Type::Integer { .. }, Type::Integer { .. }) = (to, from) {
        return integers(d, a, to, from, modifiers.rules.sat);
    }
    if let Some(form) = fast(d, a, to, from, modifiers) {
        return Some(form);
    }
    let extra = modifiers.pack() | to.pack() << TO | from.pack() << FROM;
    let form = by_registers!(d, a, D, A => op1x(|a: A, x| general(a as u64, x) as D));
    Some(floating(form, to, from).with_extra(extra))
}

/// Immediates of float types are read as such.
fn floating(mut form: Form, to: Type, from: Type) -> Form {
    let float = |kind| match kind {
        Type::Float(Format::F32) => Some(Width::B32),
        Type::Float(Format::F64) => Some(Width::B64),
        _ => None,
    };
    form.results[0].float = float(to);
    form.sources[0].float = float(from);
    form
}

/// Where the types stand in the extra bits.
const TO: u32 = 16;
const FROM: u32 = 20;
/// Set where the rounding is one to an integer.
const INTEGRAL: u32 = 1 << Rules::BITS;

/// What the words of a conversion say.
#[derive(Debug, Clone, Copy)]
struct Modifiers {
    rules: Rules,
    /// `.rni` and the like.
    integral: bool,
}

impl Modifiers {
    fn read(words: &mut Words<'_>, to: Type, from: Type) -> Option<Self> {
        let integral = words.one_of(&[
            ("rni", Round::Near),
            ("rzi", Round::Zero),
            ("rmi", Round::Down),
            ("rpi", Round::Up),
        ]);
        let round = words.one_of(&[
            ("rn", Round::Near),
            ("rz", Round::Zero),
            ("rm", Round::Down),
            ("rp", Round::Up),
        ]);
        let half = matches!(to, Type::Float(Format::F16 | Format::BF16));
        let narrows = half && from == Type::Float(Format::F32);
        let zeroes = matches!(round, Some(Round::Near | Round::Zero));
        let single = [to, from].contains(&Type::Float(Format::F32));
        let rules = Rules {
            round: integral.or(round).unwrap_or(Round::Near),
            ftz: single && words.take("ftz"),
            sat: can_saturate(to, from) && words.take("sat"),
            relu: narrows && zeroes && words.take("relu"),
            finite: narrows && zeroes && words.take("satfinite"),
        };
        if (rules.relu || rules.finite) && (rules.ftz || rules.sat) {
            return None;
        }
        let fits = match (to, from) {
            (Type::Integer { .. }, Type::Integer { .. }) => integral.is_none() && round.is_none(),
            (Type::Integer { .. }, Type::Float(_)) => integral.is_some() && round.is_none(),
            (Type::Float(_), Type::Integer { .. }) => round.is_some() && integral.is_none(),
            (Type::Float(to), Type::Float(from)) if to == from => round.is_none(),
            (Type::Float(to), Type::Float(from)) => {
                let exact = to.exponent >= from.exponent && to.fraction >= from.fraction;
                integral.is_none() && exact == round.is_none()
            }
        };
        fits.then_some(Self { rules, integral: integral.is_some() })
    }

    fn pack(self) -> u32 {
        self.rules.pack() | if self.integral { INTEGRAL } else { 0 }
    }
}

/// `.sat` is refused where it could change nothing, and for `.bf16`.
fn can_saturate(to: Type, from: Type) -> bool {
    let bf16 = Type::Float(Format::BF16);
    match (to, from) {
        _ if to == bf16 || from == bf16 => false,
        (
            Type::Integer { bits: to, signed: to_signed },
            Type::Integer { bits: from, signed: from_signed },
        ) => from > to || from_signed != to_signed && !(to_signed && to > from),
        _ => true,
    }
}

/// Any conversion but of integers to integers, by the extra bits: the value in the low bits.
fn general(bits: u64, x: u32) -> u64 {
    let (to, from) = (Type::unpack(x >> TO), Type::unpack(x >> FROM));
    let rules = Rules::unpack(x);
    let number = match from {
        Type::Integer { bits: size, signed } => {
            let value = extended(bits, size, signed);
            let negative = signed && (value as i64) < 0;
            Number::integer(negative, if negative { value.wrapping_neg() } else { value })
        }
        // Only `.f32` is flushed.
        Type::Float(Format::F32) => rules.operand(bits, Format::F32),
        Type::Float(format) => Number::decode(bits & low(format.bits()), format),
    };
    let nan = number.class == Class::Nan && !rules.sat;
    match to {
        Type::Float(to) if nan && carries_nan(to, from) => {
            // With `.ftz`, the operand's NaN is that of `.f32` instructions first.
            let bits = if rules.ftz && to == Format::F64 { u64::from(NAN32) } else { bits };
            carried_nan(bits, to, from)
        }
        Type::Integer { bits, signed } => to_integer(number, rules.round, bits, signed, from),
        Type::Float(format) => {
            let integral = x & INTEGRAL != 0;
            let number = if integral { number.integral(rules.round) } else { number };
            Rules { ftz: rules.ftz && format == Format::F32, ..rules }.result(number, format)
        }
    }
}

/// Whether hardware keeps a NaN's sign and payload, which the ISA leaves open: where either is
/// `.f64`.
fn carries_nan(to: Format, from: Type) -> bool {
    from == Type::Float(Format::F64) || to == Format::F64
}

/// A NaN's sign and as much of its fraction as there is room for, made quiet.
fn carried_nan(bits: u64, to: Format, from: Type) -> u64 {
    let Type::Float(from) = from else { return to.nan };
    let sign = bits >> (from.bits() - 1) & 1;
    let fraction = bits << (64 - from.fraction) >> (64 - to.fraction);
    let quiet = 1 << (to.fraction - 1);
    sign << (to.bits() - 1) | (to.max + 1) | quiet | fraction
}

/// The low bits, so many.
fn low(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The low bits, extended.
fn extended(value: u64, bits: u32, signed: bool) -> u64 {
    let rest = 64 - bits;
    if signed { ((value << rest) as i64 >> rest) as u64 } else { value << rest >> rest }
}

/// A number rounded to an integer type, which holds it at its limits.
fn to_integer(number: Number, round: Round, bits: u32, signed: bool, from: Type) -> u64 {
    let value = if number.class == Class::Nan {
        // 9.7.9.21: zero, but with 64 bits on either side the highest bit alone.
        let wide = bits == 64 || from == Type::Float(Format::F64);
        if wide { 1 << (bits - 1) } else { 0 }
    } else {
        let magnitude = number.to_integer(round);
        let limit = match (signed, number.negative) {
            (false, false) => low(bits),
            (false, true) => 0,
            (true, false) => low(bits - 1),
            (true, true) => 1 << (bits - 1),
        };
        let magnitude = magnitude.min(u128::from(limit)) as u64;
        if number.negative { magnitude.wrapping_neg() } else { magnitude }
    };
    extended(value, bits, signed)
}

/// Between integers. Without `.sat`, the low bits extended twice: as the source's type or, of a
/// wider source, as the result's; then as the result's into the register.
fn integers(d: Width, a: Width, to: Type, from: Type, sat: bool) -> Option<Form> {
    if sat {
        let extra = to.pack() << TO | from.pack() << FROM;
        let form = by_registers!(d, a, D, A => op1x(|a: A, x| clamp(a as u64, x) as D));
        return Some(form.with_extra(extra));
    }
    if let Some(form) = whole(d, a, to, from) {
        return Some(form);
    }
    let first = if to.bits() < from.bits() { to } else { from };
    macro_rules! bits {
        ($D:ident) => {
            <$D>::BITS
        };
    }
    Some(by_registers!(d, a, D, A => {
        let shift = |kind: Type| bits!(D).saturating_sub(kind.bits());
        let form = match (is_signed(first), is_signed(to)) {
            (false, false) => op1x(|a: A, x| extend::<D, false, false>(a as D, x)),
            (true, false) => op1x(|a: A, x| extend::<D, true, false>(a as D, x)),
            (false, true) => op1x(|a: A, x| extend::<D, false, true>(a as D, x)),
            (true, true) => op1x(|a: A, x| extend::<D, true, true>(a as D, x)),
        };
        form.with_extra(shift(first) | shift(to) << 8)
    }))
}

/// Between integers that fill their registers.
fn whole(d: Width, a: Width, to: Type, from: Type) -> Option<Form> {
    let bits = |width| match width {
        Width::B16 => 16,
        Width::B32 => 32,
        _ => 64,
    };
    if to.bits() != bits(d) || from.bits() != bits(a) {
        return None;
    }
    macro_rules! signed {
        ($to:ident, $from:ident) => {
            op1(|a: $from| $to::from(a))
        };
    }
    Some(match (d, a) {
        (Width::B32, Width::B16) if is_signed(from) => signed!(i32, i16),
        (Width::B64, Width::B16) if is_signed(from) => signed!(i64, i16),
        (Width::B64, Width::B32) if is_signed(from) => signed!(i64, i32),
        _ => by_registers!(d, a, D, A => op1(|a: A| a as D)),
    })
}

fn is_signed(kind: Type) -> bool {
    matches!(kind, Type::Integer { signed: true, .. })
}

/// A register's bits that are extended in place.
trait Word: Copy {
    fn extend(self, rest: u32, signed: bool) -> Self;
}

macro_rules! words {
    ($($unsigned:ident $signed:ident,)*) => {$(
        impl Word for $unsigned {
            #[inline(always)]
            fn extend(self, rest: u32, signed: bool) -> Self {
                let moved = self << (rest & (Self::BITS - 1));
                let rest = rest & (Self::BITS - 1);
                if signed { (moved as $signed >> rest) as Self } else { moved >> rest }
            }
        }
    )*};
}
words! { u16 i16, u32 i32, u64 i64, }

#[inline(always)]
fn extend<D: Word, const FIRST: bool, const THEN: bool>(value: D, x: u32) -> D {
    value.extend(x & 0xff, FIRST).extend(x >> 8, THEN)
}

/// `.sat` between integers.
fn clamp(value: u64, x: u32) -> u64 {
    let (to, from) = (Type::unpack(x >> TO), Type::unpack(x >> FROM));
    let value = extended(value, from.bits(), is_signed(from));
    let value = if is_signed(from) { i128::from(value as i64) } else { i128::from(value) };
    let (least, most) = if is_signed(to) {
        (-(1 << (to.bits() - 1)), (1 << (to.bits() - 1)) - 1)
    } else {
        (0, (1 << to.bits()) - 1)
    };
    value.clamp(least, most) as u64
}

/// Conversions that the host computes as they should be.
fn fast(d: Width, a: Width, to: Type, from: Type, modifiers: Modifiers) -> Option<Form> {
    let Rules { round, ftz, sat, relu, finite } = modifiers.rules;
    if sat || relu || finite {
        return None;
    }
    match (to, from) {
        (Type::Integer { bits: 32 | 64, signed }, Type::Float(Format::F32)) => {
            from_single(d, to.bits(), signed, round, ftz)
        }
        (Type::Integer { bits: 32 | 64, signed }, Type::Float(Format::F64)) => {
            from_double(d, to.bits(), signed, round)
        }
        (Type::Float(format), Type::Integer { bits: 32 | 64, signed }) if round == Round::Near => {
            from_integer(a, format, from.bits(), signed)
        }
        (Type::Float(to), Type::Float(from)) => floats(to, from, round, modifiers.integral, ftz),
        _ => None,
    }
}

/// The form for a rounding mode that is a constant in the lane's function.
macro_rules! by_round {
    ($round:expr, $R:ident => $form:expr) => {
        match $round {
            Round::Near => {
                const $R: u32 = 0;
                $form
            }
            Round::Zero => {
                const $R: u32 = 1;
                $form
            }
            Round::Down => {
                const $R: u32 = 2;
                $form
            }
            _ => {
                const $R: u32 = 3;
                $form
            }
        }
    };
}

macro_rules! integral {
    ($name:ident, $T:ident) => {
        /// Rounded to an integer.
        #[inline(always)]
        fn $name<const R: u32>(value: $T) -> $T {
            match R {
                0 => value.round_ties_even(),
                1 => value.trunc(),
                2 => value.floor(),
                _ => value.ceil(),
            }
        }
    };
}
integral!(integral32, f32);
integral!(integral64, f64);

/// `.f32` to integers: `as` holds what is too large at the limits, and makes 0 of NaN.
fn from_single(d: Width, bits: u32, signed: bool, round: Round, ftz: bool) -> Option<Form> {
    macro_rules! to {
        ($cast:expr, $nan:expr) => {
            by_round!(round, R => if ftz {
                op1(|a: f32| {
                    let value = $cast(integral32::<R>(flush32::<true>(a)));
                    if a.is_nan() { $nan } else { value }
                })
            } else {
                op1(|a: f32| {
                    let value = $cast(integral32::<R>(a));
                    if a.is_nan() { $nan } else { value }
                })
            })
        };
    }
    Some(match (bits, signed, d) {
        (32, true, Width::B32) => to!(casts::i32_of_f32, 0),
        (32, false, Width::B32) => to!(casts::u32_of_f32, 0),
        (64, true, _) => to!(|value| value as i64, i64::MIN),
        (64, false, _) => to!(|value| value as u64, 1 << 63),
        _ => return None,
    })
}

/// `.f64` to integers.
fn from_double(d: Width, bits: u32, signed: bool, round: Round) -> Option<Form> {
    macro_rules! to {
        ($T:ident, $cast:expr) => {
            by_round!(round, R => op1(|a: f64| {
                let value = $cast(integral64::<R>(a));
                if a.is_nan() { 1 << ($T::BITS - 1) } else { value }
            }))
        };
    }
    Some(match (bits, signed, d) {
        (32, true, Width::B32) => to!(i32, casts::i32_of_f64),
        (32, false, Width::B32) => to!(u32, casts::u32_of_f64),
        (64, true, _) => to!(i64, |value| value as i64),
        (64, false, _) => to!(u64, |value| value as u64),
        _ => return None,
    })
}

/// Integers to `.f32` and `.f64`, to nearest even.
fn from_integer(a: Width, format: Format, bits: u32, signed: bool) -> Option<Form> {
    macro_rules! from {
        ($T:ident) => {
            if format == Format::F32 { op1(|a: $T| a as f32) } else { op1(|a: $T| a as f64) }
        };
    }
    if !matches!(format, Format::F32 | Format::F64) {
        return None;
    }
    Some(match (bits, signed, a) {
        (32, true, Width::B32) => from!(i32),
        (32, false, Width::B32) => from!(u32),
        (64, true, _) => from!(i64),
        (64, false, _) => from!(u64),
        _ => return None,
    })
}

/// `.f32` as `.f64`.
#[inline(always)]
fn widened(a: f32) -> f64 {
    let bits = a.to_bits();
    let nan = u64::from(bits & 0x8000_0000) << 32
        | 0x7ff8_0000_0000_0000
        | u64::from(bits & 0x7f_ffff) << 29;
    if bits & 0x7fff_ffff > 0x7f80_0000 { f64::from_bits(nan) } else { f64::from(a) }
}

/// `.f64` as the nearest `.f32`.
#[inline(always)]
fn narrowed(a: f64) -> f32 {
    let bits = a.to_bits();
    let nan = (bits >> 32 & 0x8000_0000) | 0x7fc0_0000 | (bits >> 29 & 0x7f_ffff);
    if bits << 1 > 0xffe0_0000_0000_0000 { f32::from_bits(nan as u32) } else { a as f32 }
}

/// Between floats.
fn floats(to: Format, from: Format, round: Round, integral: bool, ftz: bool) -> Option<Form> {
    let near = round == Round::Near;
    Some(match (to, from) {
        (Format::F32, Format::F32) if integral && ftz => by_round!(round, R => {
            op1(|a| finish32::<true, false>(integral32::<R>(flush32::<true>(a))))
        }),
        (Format::F32, Format::F32) if integral => by_round!(round, R => {
            op1(|a| finish32::<false, false>(integral32::<R>(a)))
        }),
        (Format::F64, Format::F64) if integral => by_round!(round, R => {
            op1(|a| finish64(integral64::<R>(a), [0.0, 0.0, a]))
        }),
        // What isn't changed is moved, NaNs with all their bits.
        (Format::F32, Format::F32) if !ftz => op1(|a: f32| a),
        (Format::F64, Format::F64) => op1(|a: f64| a),
        (Format::F64, Format::F32) if !ftz => op1(widened),
        (Format::F32, Format::F64) if near && !ftz => op1(narrowed),
        (Format::F32, Format::F16) => op1(|a: u16| finish32::<false, false>(half::to_f32(a))),
        (Format::F32, Format::BF16) if !ftz => op1(|a: u16| f32::from_bits(u32::from(a) << 16)),
        (Format::F16, Format::F32) if near && ftz => {
            op1(|a: f32| half::from_f32(flush32::<true>(a)))
        }
        (Format::F16, Format::F32) if near => op1(half::from_f32),
        (Format::BF16, Format::F32) if near && !ftz => op1(bf16_from_f32),
        _ => return None,
    })
}
