//! The approximate instructions (PTX ISA 9.7.3): what is computed here is the exact value rounded
//! once, within every documented error; the hardware's bits may differ in the last places.

use super::Form;
use super::float::{finish32, flush32};
use super::kernel::{op1, op2};
use super::words::Words;

/// A form of `.approx` or `.full` for `.f32`.
pub fn single(words: &mut Words<'_>, ftz: bool) -> Option<Form> {
    words.take("approx");
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
        "sin" => one!(f64::sin),
        "cos" => one!(f64::cos),
        "lg2" => one!(f64::log2),
        "ex2" => one!(f64::exp2),
        "tanh" if !ftz => one!(f64::tanh),
        "div" if ftz => op2(divide::<true>),
        "div" => op2(divide::<false>),
        _ => return None,
    };
    Some(Form { approximate: true, ..form })
}

fn divide<const FTZ: bool>(a: f32, b: f32) -> f32 {
    finish32::<FTZ, false>(flush32::<FTZ>(a) / flush32::<FTZ>(b))
}

/// A form of `.approx` for `.f64`: the low 32 bits of a result are zero (9.7.3.14, 9.7.3.17).
pub fn double(words: &mut Words<'_>) -> Option<Form> {
    let ftz = words.take("ftz");
    let form = match (words.opcode, ftz) {
        ("rcp", true) => op1(|a: f64| coarse(1.0 / flush64(a))),
        ("rsqrt", true) => op1(|a: f64| coarse(1.0 / flush64(a).sqrt())),
        ("rsqrt", false) => op1(|a: f64| {
            let root = 1.0 / a.sqrt();
            if root.is_nan() { f64::from_bits(super::soft::Format::F64.nan) } else { root }
        }),
        _ => return None,
    };
    Some(Form { approximate: true, ..form })
}

fn flush64(value: f64) -> f64 {
    if value.is_subnormal() { 0f64.copysign(value) } else { value }
}

fn coarse(value: f64) -> f64 {
    if value.is_nan() {
        return f64::from_bits(super::soft::Format::F64.nan & !0xffff_ffff);
    }
    f64::from_bits(flush64(value).to_bits() & !0xffff_ffff)
}
