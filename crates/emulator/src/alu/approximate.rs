//! The approximate instructions (PTX ISA 9.7.3): what is computed here is the exact value rounded
//! once, within every documented error; the hardware's bits may differ in the last places.

use std::f64::consts::TAU;

use super::Form;
use super::float::{finish32, finish64, flush32};
use super::kernel::{op1, op2};
use super::words::Words;

/// A form of `.approx` or `.full` for `.f32`.
pub fn single(words: &Words<'_>, ftz: bool, full: bool) -> Option<Form> {
    macro_rules! one {
        ($f:expr) => {
            if ftz {
                op1(|a: f32| {
                    let f: fn(f64) -> f64 = $f;
                    finish32::<true, false>(f(f64::from(flush32::<true>(a))) as f32)
                })
            } else {
                op1(|a: f32| {
                    let f: fn(f64) -> f64 = $f;
                    finish32::<false, false>(f(f64::from(a)) as f32)
                })
            }
        };
    }
    let form = match words.opcode {
        "rcp" => one!(|a| 1.0 / a),
        "sqrt" => one!(f64::sqrt),
        "rsqrt" => one!(|a| 1.0 / a.sqrt()),
        "lg2" => one!(f64::log2),
        "ex2" => one!(f64::exp2),
        "tanh" if !ftz => one!(f64::tanh),
        // Subnormal operands are flushed on hardware without `.ftz` too.
        "sin" => op1(|a| finish32::<true, false>(turn(a, f64::sin))),
        "cos" => op1(|a| finish32::<true, false>(turn(a, f64::cos))),
        "div" if full && ftz => op2(divide::<true>),
        "div" if full => op2(divide::<false>),
        "div" if ftz => op2(|a, b| divide_fast(a, b, divide::<true>)),
        "div" => op2(|a, b| divide_fast(a, b, divide::<false>)),
        _ => return None,
    };
    Some(Form { approximate: true, ..form })
}

/// A sine or cosine as hardware takes it: the angle in turns, rounded towards zero to `.f32`, of
/// which the fraction counts. Far from zero little of an angle is left, and of the largest nothing.
fn turn(a: f32, f: fn(f64) -> f64) -> f32 {
    const TURNS: f32 = f32::from_bits(0x3e22_f983);
    // Exact, so that the low bits cut off are the rounding.
    let product = f64::from(flush32::<true>(a)) * f64::from(TURNS);
    let bits = product.to_bits() & !((1 << 29) - 1);
    let turns = f64::from_bits(bits);
    if !turns.is_finite() {
        return f32::NAN;
    }
    if turns.abs() < f64::from(f32::MIN_POSITIVE) {
        return f(0f64.copysign(turns)) as f32;
    }
    let fraction = turns.fract();
    if fraction == 0.0 { f(0f64.copysign(turns)) as f32 } else { f(fraction * TAU) as f32 }
}

fn divide<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let quotient = f64::from(flush32::<FTZ>(a)) / f64::from(flush32::<FTZ>(b));
    let tiny = FTZ && quotient.abs() < f64::from(f32::MIN_POSITIVE);
    finish32::<FTZ, false>(if tiny { 0f32.copysign(quotient as f32) } else { quotient as f32 })
}

/// `div.approx` multiplies by a reciprocal, which is zero past 2^126 (9.7.3.8).
fn divide_fast(a: f32, b: f32, divide: fn(f32, f32) -> f32) -> f32 {
    let large = b.is_finite() && b.abs() > f32::from_bits(0x7e80_0000);
    if large { finish32::<false, false>(a * 0f32.copysign(b)) } else { divide(a, b) }
}

/// A form of `.approx` for `.f64`: the low 32 bits of a result are zero (9.7.3.14, 9.7.3.17).
pub fn double(words: &mut Words<'_>) -> Option<Form> {
    let ftz = words.take("ftz");
    let form = match (words.opcode, ftz) {
        ("rcp", true) => op1(|a: f64| coarse(1.0 / upper(a))),
        ("rsqrt", true) => op1(|a: f64| coarse(1.0 / upper(a).sqrt())),
        ("rsqrt", false) => op1(|a: f64| finish64(1.0 / a.sqrt(), [0.0, 0.0, a])),
        _ => return None,
    };
    Some(Form { approximate: true, ..form })
}

fn flush64(value: f64) -> f64 {
    if value.is_subnormal() { 0f64.copysign(value) } else { value }
}

/// What is looked at: the upper 32 bits.
fn upper(value: f64) -> f64 {
    flush64(f64::from_bits(value.to_bits() & !0xffff_ffff))
}

fn coarse(value: f64) -> f64 {
    if value.is_nan() {
        return f64::from_bits(0x7fff_ffff_0000_0000);
    }
    f64::from_bits(flush64(value).to_bits() & !0xffff_ffff)
}
