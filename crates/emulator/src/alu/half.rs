//! Half precision: `.f16`, `.bf16` and their pairs (PTX ISA 9.7.4).

use super::Form;
use super::kernel::{op1x, op2x, op3x};
use super::rules::Rules;
use super::soft::{Class, Format, Number};
use super::words::{Kind, Words};

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

/// A form whose operands are halves, or pairs of them, of which each part goes its own way.
macro_rules! lanewise {
    ($packed:expr, $op:ident, |$($a:ident),+; $x:ident| $lane:expr) => {
        if $packed {
            $op(|$($a: u32,)+ $x: u32| {
                let lane = |$($a: u16,)+ $x: u32| -> u16 { $lane };
                let low = lane($($a as u16,)+ $x);
                let high = lane($(($a >> 16) as u16,)+ $x);
                u32::from(low) | u32::from(high) << 16
            })
        } else {
            $op(|$($a: u16,)+ $x: u32| -> u16 { $lane })
        }
    };
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
    let form = match opcode {
        "add" => lanewise!(packed, op2x, |a, b; x| binary(a, b, x, |a, b, rules| {
            a.add(b, rules.round)
        })),
        "sub" => lanewise!(packed, op2x, |a, b; x| binary(a, b, x, |a, b, rules| {
            a.add(b.negated(), rules.round)
        })),
        "mul" => lanewise!(packed, op2x, |a, b; x| binary(a, b, x, |a, b, _| a.mul(b))),
        "fma" => lanewise!(packed, op3x, |a, b, c; x| {
            Rules::unpack(x).fma(format(x), [a, b, c].map(u64::from)) as u16
        }),
        "neg" => lanewise!(packed, op1x, |a; x| sign(a, x, 0xffff, 0x8000)),
        "abs" => lanewise!(packed, op1x, |a; x| sign(a, x, 0x7fff, 0)),
        "min" | "max" => {
            extra |= extremum_extra(words)?;
            lanewise!(packed, op2x, |a, b; x| extremum(a, b, x))
        }
        _ => return None,
    };
    Some(form.with_extra(extra))
}

fn binary(a: u16, b: u16, x: u32, f: impl Fn(Number, Number, Rules) -> Number) -> u16 {
    let rules = Rules::unpack(x);
    let bits = [u64::from(a), u64::from(b)];
    rules.binary(format(x), bits, |a, b, _| f(a, b, rules)) as u16
}

/// `neg` and `abs`.
fn sign(a: u16, x: u32, and: u16, xor: u16) -> u16 {
    let number = Rules::unpack(x).operand(u64::from(a), format(x));
    match number.class {
        Class::Nan => format(x).nan as u16,
        Class::Zero => a & 0x8000 & and ^ xor,
        _ => a & and ^ xor,
    }
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
        let subnormal =
            bits & infinity == 0 && x & Rules { ftz: true, ..Rules::default() }.pack() != 0;
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
        "tanh" if !ftz => lanewise!(packed, op1x, |a; x| through_f64(a, x, f64::tanh)),
        // `.ftz` is part of the name for `.bf16`, and not there for `.f16` (9.7.4.10).
        "ex2" if ftz == bf16 => lanewise!(packed, op1x, |a; x| through_f64(a, x, f64::exp2)),
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
    let sign = (bits >> 16) as u16 & 0x8000;
    let rest = bits & 0x7fff_ffff;
    // At least 2^-14: the bias shrinks by 112, the fraction loses 13 bits.
    let odd = rest >> 13 & 1;
    let normal = (rest.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13) as u16;
    // Below: adding 1/2 leaves the rounded multiple of 2^-24 in the low bits.
    let small = (f32::from_bits(rest) + 0.5).to_bits().wrapping_sub(0x3f00_0000) as u16;
    let magnitude = match rest {
        0x7f80_0001.. => return 0x7fff,
        0x477f_f000.. => 0x7c00,
        0x3880_0000.. => normal,
        _ => small,
    };
    sign | magnitude
}

/// The `.bf16` nearest, ties to even.
#[inline(always)]
pub fn bf16_from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() { 0x7fff } else { ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16 }
}
