//! Half precision: `.f16`, `.bf16` and their pairs (PTX ISA 9.7.4).

use super::Form;
use super::pairs::{halves1, halves2, halves3};
use super::rules::Rules;
use super::soft::{Format, Number, Round};
use super::words::{Kind, Words};

/// `.ftz` in packed [`Rules`].
const FTZ: u32 = 1 << 3;
/// Set in the extra bits for `.bf16`.
const BF16: u32 = 1 << Rules::BITS;
/// `.NaN`
const NAN: u32 = 2 << Rules::BITS;
/// `.xorsign.abs`
const XORSIGN: u32 = 4 << Rules::BITS;
/// `max` rather than `min`.
const MAX: u32 = 8 << Rules::BITS;

fn format(x: u32) -> Format {
    if x & BF16 == 0 { Format::F16 } else { Format::BF16 }
}

/// Finds a form of half precision.
pub fn select(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    let packed = matches!(kind, Kind::F16x2 | Kind::Bf16x2);
    let bf16 = matches!(kind, Kind::Bf16 | Kind::Bf16x2);
    let ftz = words.take("ftz");
    let opcode = words.opcode;
    if words.take("approx") {
        return approximate(words, packed, bf16, ftz);
    }
    if ftz && bf16 {
        return None;
    }
    let round = words.take("rn");
    let relu = words.take("relu");
    let sat = words.take("sat");
    let allowed = match opcode {
        "fma" => round && !(sat && (relu || bf16)),
        "add" | "sub" | "mul" => !(relu || sat && bf16),
        _ => !round && !relu && !sat,
    };
    if !allowed {
        return None;
    }
    let rules = Rules { ftz, sat, relu, ..Rules::default() };
    let mut extra = rules.pack() | if bf16 { BF16 } else { 0 };
    let form = match (opcode, ftz || sat) {
        ("add" | "sub" | "mul" | "fma", false) => near(opcode, packed, bf16, relu)?,
        _ => soft(opcode, packed, words, &mut extra)?,
    };
    Some(form.with_extra(extra))
}

/// What goes bit by bit, or through software.
fn soft(opcode: &str, packed: bool, words: &mut Words<'_>, extra: &mut u32) -> Option<Form> {
    Some(match opcode {
        "add" => halves2(packed, |a, b, x| binary(a, b, x, |a, b, round| a.add(b, round))),
        "sub" => {
            halves2(packed, |a, b, x| binary(a, b, x, |a, b, round| a.add(b.negated(), round)))
        }
        "mul" => halves2(packed, |a, b, x| binary(a, b, x, |a, b, _| a.mul(b))),
        "fma" => halves3(packed, |a, b, c, x| {
            Rules::unpack(x).fma(format(x), [a, b, c].map(u64::from)) as u16
        }),
        "neg" => halves1(packed, |a, x| sign(a, x, 0xffff, 0x8000)),
        "abs" => halves1(packed, |a, x| sign(a, x, 0x7fff, 0)),
        "min" | "max" => {
            *extra |= extremum_extra(words)?;
            halves2(packed, extremum)
        }
        _ => return None,
    })
}

/// Arithmetic without `.ftz` and `.sat`: of `.f16` by way of `f32`, of `.bf16` of `f64`, in which
/// the products are exact.
fn near(opcode: &str, packed: bool, bf16: bool, relu: bool) -> Option<Form> {
    // A function, since a closure that isn't inlined would be compiled for any processor.
    macro_rules! by_format {
        ($wide:ident, $sum:ident, $narrow:ident) => {{
            #[inline(always)]
            fn fma(a: u16, b: u16, c: u16) -> u16 {
                $narrow($sum($wide(a) * $wide(b), $wide(c)))
            }
            match opcode {
                "add" => halves2(packed, |a, b, _| $narrow($sum($wide(a), $wide(b)))),
                "sub" => halves2(packed, |a, b, _| $narrow($sum($wide(a), -$wide(b)))),
                "mul" => halves2(packed, |a, b, _| $narrow($wide(a) * $wide(b))),
                "fma" if relu => halves3(packed, |a, b, c, _| cut(fma(a, b, c))),
                "fma" => halves3(packed, |a, b, c, _| fma(a, b, c)),
                _ => return None,
            }
        }};
    }
    Some(if bf16 {
        by_format!(bf16_to_f64, sum64, bf16_from_f64)
    } else {
        by_format!(to_f32, sum32, from_f32)
    })
}

/// `.relu`: a NaN has no sign here.
#[inline(always)]
fn cut(half: u16) -> u16 {
    if half & 0x8000 == 0 { half } else { 0 }
}

#[inline(always)]
fn bf16_to_f64(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

macro_rules! sum {
    ($name:ident, $T:ident) => {
        /// A sum rounded to an odd last bit where it isn't exact: to round it again, to less than
        /// half as many bits, is as good as to round the exact sum.
        #[inline(always)]
        fn $name(a: $T, b: $T) -> $T {
            let sum = a + b;
            let from_b = sum - a;
            let error = (a - (sum - from_b)) + (b - from_b);
            let bits = sum.to_bits();
            // False for the NaN that infinities leave.
            let inexact = error.abs() > 0.0;
            let away = (error > 0.0) == (sum > 0.0);
            let odd = if away { bits | 1 } else { bits.wrapping_sub(1) };
            $T::from_bits(if inexact && bits & 1 == 0 { odd } else { bits })
        }
    };
}
sum!(sum32, f32);
sum!(sum64, f64);

/// The `.bf16` nearest, ties to even.
#[inline(always)]
fn bf16_from_f64(value: f64) -> u16 {
    const FRACTION: i64 = 7;
    const BIAS: i64 = 127;
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff_ffff_ffff;
    let exponent = (magnitude >> 52) as i64 - 1023;
    // Further below, all is lost to rounding.
    let below = (1 - BIAS - exponent).clamp(0, FRACTION + 2);
    let shift = (52 - FRACTION + below) as u64;
    let significand = magnitude & 0xf_ffff_ffff_ffff | 1 << 52;
    let odd = significand >> shift & 1;
    let kept = (significand + (1 << (shift - 1)) - 1 + odd) >> shift;
    let field = (exponent + BIAS - 1).max(0) as u64;
    let rounded = ((field << FRACTION) + kept).min(0x7f80);
    let sign = (bits >> 48) as u16 & 0x8000;
    if magnitude > 0x7ff0_0000_0000_0000 { 0x7fff } else { sign | rounded as u16 }
}

fn binary(a: u16, b: u16, x: u32, f: impl Fn(Number, Number, Round) -> Number) -> u16 {
    Rules::unpack(x).binary(format(x), [u64::from(a), u64::from(b)], f) as u16
}

/// `neg` and `abs`.
fn sign(a: u16, x: u32, and: u16, xor: u16) -> u16 {
    let infinity = format(x).max as u16 + 1;
    let flushed = x & FTZ != 0 && a & infinity == 0;
    let a = if flushed { a & 0x8000 } else { a };
    if a & 0x7fff > infinity { 0x7fff } else { a & and ^ xor }
}

fn extremum_extra(words: &mut Words<'_>) -> Option<u32> {
    let mut extra = if words.opcode == "max" { MAX } else { 0 };
    if words.take("NaN") {
        extra |= NAN;
    }
    if words.take("xorsign") {
        if !words.take("abs") {
            return None;
        }
        extra |= XORSIGN;
    }
    Some(extra)
}

/// `min` and `max` of halves: their bits in order, as sign and magnitude.
fn extremum(a: u16, b: u16, x: u32) -> u16 {
    let format = format(x);
    let infinity = format.max as u16 + 1;
    let flush = |bits: u16| {
        let subnormal = bits & infinity == 0 && x & FTZ != 0;
        if subnormal { bits & 0x8000 } else { bits }
    };
    let (a, b) = (flush(a), flush(b));
    let sign = (a ^ b) & 0x8000;
    let (a, b) = if x & XORSIGN == 0 { (a, b) } else { (a & 0x7fff, b & 0x7fff) };
    let nan = |bits: u16| bits & 0x7fff > infinity;
    let order = |bits: u16| {
        if bits & 0x8000 == 0 { i32::from(bits) } else { -1 - i32::from(bits & 0x7fff) }
    };
    let less = (order(a) < order(b)) != (x & MAX != 0);
    let chosen = match (nan(a), nan(b)) {
        (true, true) => return format.nan as u16,
        (true, false) | (false, true) if x & NAN != 0 => return format.nan as u16,
        (true, false) => b,
        (false, true) => a,
        (false, false) if less => a,
        (false, false) => b,
    };
    if x & XORSIGN == 0 { chosen } else { chosen | sign }
}

/// `tanh` and `ex2`, which are approximate.
fn approximate(words: &mut Words<'_>, packed: bool, bf16: bool, ftz: bool) -> Option<Form> {
    let form = match words.opcode {
        "tanh" if !ftz => halves1(packed, |a, x| through_f64(a, x, f64::tanh)),
        // `.ftz` is part of the name for `.bf16`, and not there for `.f16` (9.7.4.10).
        "ex2" if ftz == bf16 => halves1(packed, |a, x| through_f64(a, x, f64::exp2)),
        _ => return None,
    };
    let rules = Rules { ftz, ..Rules::default() };
    let extra = rules.pack() | if bf16 { BF16 } else { 0 };
    Some(Form { approximate: true, ..form }.with_extra(extra))
}

fn through_f64(a: u16, x: u32, f: impl Fn(f64) -> f64) -> u16 {
    let rules = Rules::unpack(x);
    let operand = rules.operand(u64::from(a), format(x));
    let value = f(f64::from_bits(operand.encode(Format::F64, rules.round, false)));
    rules.result(Number::decode(value.to_bits(), Format::F64), format(x)) as u16
}

/// The value of an `.f16`.
#[inline(always)]
pub fn to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7fff) << 13;
    // The exponent's bias grows by 112; of a subnormal number the product makes a normal one.
    let scaled = f32::from_bits(rest) * f32::from_bits(0x7780_0000);
    let special = rest | 0x7f80_0000;
    let magnitude = if rest >= 0x0f80_0000 { special } else { scaled.to_bits() };
    f32::from_bits(sign | magnitude)
}

/// The `.f16` nearest, ties to even.
#[inline(always)]
pub fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = bits >> 16 & 0x8000;
    let rest = bits & 0x7fff_ffff;
    // At least 2^-14: the bias shrinks by 112, the fraction loses 13 bits.
    let odd = rest >> 13 & 1;
    let normal = rest.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13;
    // Below: adding 1/2 leaves the rounded multiple of 2^-24 in the low bits.
    let small = (f32::from_bits(rest) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let finite = if rest >= 0x3880_0000 { normal } else { small };
    let magnitude = if rest >= 0x477f_f000 { 0x7c00 } else { finite };
    (if rest > 0x7f80_0000 { 0x7fff } else { sign | magnitude }) as u16
}

/// The `.bf16` nearest, ties to even.
#[inline(always)]
pub fn bf16_from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() { 0x7fff } else { ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16 }
}
