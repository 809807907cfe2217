//! Conversions.

use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::floats::{decoded, finish, flush, is_nan, layout, nan, round};
use super::{Case, Expected, limits, number, ones, shape};

/// What a case should give.
pub fn expected(case: &Case<'_>) -> Expected {
    let types = case.types();
    let (to, from) = (types[0].as_str(), types[1].as_str());
    if case.has("pack") {
        return Expected::one(pack(case, to));
    }
    if let Some(to) = to.strip_suffix("x2") {
        return Expected::one(packed(case, to, from));
    }
    let source = case.sources[0];
    let bits = match (is_float(to), is_float(from)) {
        (false, false) => integers(case, to, from, source),
        (true, false) => from_integer(case, to, from, source),
        (false, true) => to_integer(case, to, from, source),
        (true, true) => floats(case, to, from, source),
    };
    let register = super::super::values::bits(case.form.results.chars().next().unwrap());
    Expected::one(bits & ones(register))
}

fn is_float(kind: &str) -> bool {
    kind.contains('f')
}

fn integers(case: &Case<'_>, to: &str, from: &str, source: u128) -> u128 {
    let ((bits, signed), (from_bits, from_signed)) = (shape(to), shape(from));
    let value = number(source, from_bits, from_signed);
    let (least, most) = limits(bits, signed);
    let value = if case.has("sat") { value.clamp(least, most) } else { value };
    number(value as u128, bits, signed) as u128
}

fn from_integer(case: &Case<'_>, to: &str, from: &str, source: u128) -> u128 {
    fn of<F: Float>(case: &Case<'_>, to: &str, value: i128) -> u128 {
        finish(case, to, F::from_i128_r(value, round(case)).value)
    }
    let (bits, signed) = shape(from);
    let value = number(source, bits, signed);
    match to {
        "f16" => of::<Half>(case, to, value),
        "bf16" => of::<BFloat>(case, to, value),
        "f32" => of::<Single>(case, to, value),
        _ => of::<Double>(case, to, value),
    }
}

fn to_integer(case: &Case<'_>, to: &str, from: &str, source: u128) -> u128 {
    let (bits, signed) = shape(to);
    let source = flush(from, source, case.has("ftz") && from == "f32");
    if is_nan(from, source) {
        // Zero, but where 64 bits are involved the lowest integer's bits.
        let wide = bits == 64 || from == "f64";
        let value = if wide { 1 << (bits - 1) } else { 0 };
        return number(value, bits, signed) as u128;
    }
    let value = decoded(from, source);
    let rounded = match round(case) {
        Round::TowardZero => value.trunc(),
        Round::TowardNegative => value.floor(),
        Round::TowardPositive => value.ceil(),
        _ => value.round_ties_even(),
    };
    let (least, most) = limits(bits, signed);
    (rounded as i128).clamp(least, most) as u128
}

/// A number of one format, exact, in `.f64`.
fn double(kind: &str, bits: u128) -> Double {
    Double::from_bits(u128::from(decoded(kind, bits).to_bits()))
}

fn rounded<F: Float>(case: &Case<'_>, to: &str, value: Double, flushes: bool) -> u128
where
    Double: FloatConvert<F>,
{
    let result: F = value.convert_r(round(case), &mut false).value;
    // As if exponents had no limit: scaled up, nothing is lost to them.
    let scaled: F = value.scalbn(20).convert_r(round(case), &mut false).value;
    let tiny = scaled.abs() < F::smallest_normalized().scalbn(20);
    let result =
        if flushes && tiny && !result.is_nan() { F::ZERO.copy_sign(result) } else { result };
    finish(case, to, result)
}

fn floats(case: &Case<'_>, to: &str, from: &str, source: u128) -> u128 {
    let ftz = case.has("ftz");
    let modifiers = case.form.modifiers().len();
    let moves = to == from && modifiers == 2 || (to, from) == ("f32", "bf16") && !ftz;
    if moves {
        // No bit of a NaN is lost, nor made.
        let halves = to == "f16" || to == "bf16";
        let shift = layout(to).0 - layout(from).0;
        return if is_nan(from, source) && halves { nan(to) } else { source << shift };
    }
    let source = flush(from, source, ftz && from == "f32");
    if is_nan(from, source) && !case.has("sat") {
        return nan_of(case, to, from, source);
    }
    let value = double(from, source);
    let integral = ["rni", "rzi", "rmi", "rpi"].iter().any(|word| case.has(word));
    let value = if integral { value.round_to_integral(round(case)).value } else { value };
    if case.has("satfinite") && !value.is_nan() {
        return largest(case, to, value);
    }
    match to {
        "f16" => rounded::<Half>(case, to, value, false),
        "bf16" => rounded::<BFloat>(case, to, value, false),
        "tf32" => tensor(case, source),
        "f32" => rounded::<Single>(case, to, value, ftz),
        _ => finish(case, to, value),
    }
}

/// `.satfinite`: no infinity.
fn largest(case: &Case<'_>, to: &str, value: Double) -> u128 {
    let (all, fraction) = layout(to);
    let most = (ones(all - 1 - fraction) << fraction) - 1;
    let result = match to {
        "f16" => rounded::<Half>(case, to, value, false),
        "bf16" => rounded::<BFloat>(case, to, value, false),
        _ => {
            return tensor(
                case,
                u128::from((f64::from_bits(value.to_bits() as u64) as f32).to_bits()),
            );
        }
    };
    let top = 1 << (all - 1);
    if result & (top - 1) > most { result & top | most } else { result }
}

/// `.tf32`: the bits of an `.f32`, the low 13 of which are rounded away.
fn tensor(case: &Case<'_>, source: u128) -> u128 {
    let (sign, magnitude) = (source & 1 << 31, source & ones(31));
    if case.has("relu") && sign != 0 {
        return 0;
    }
    let (low, kept) = (magnitude & ones(13), magnitude >> 13);
    let up = match round(case) {
        Round::TowardZero => false,
        Round::NearestTiesToAway => low >= 1 << 12,
        _ => low > 1 << 12 || low == 1 << 12 && kept & 1 == 1,
    };
    let rounded = (kept + u128::from(up)) << 13;
    let most = 0x7f7f_e000;
    if case.has("satfinite") { sign | rounded.min(most) } else { sign | rounded }
}

/// What becomes of a NaN: with `.f64` on either side its sign and payload are kept.
fn nan_of(case: &Case<'_>, to: &str, from: &str, source: u128) -> u128 {
    if to == "tf32" {
        let cut = case.has("rna") && !case.has("satfinite");
        return if cut { source >> 13 << 13 } else { 0x7fff_e000 };
    }
    if to != "f64" && from != "f64" {
        return nan(to);
    }
    let source = if case.has("ftz") && from == "f32" { nan("f32") } else { source };
    let ((all, fraction), (from_all, from_fraction)) = (layout(to), layout(from));
    let payload = (source & ones(from_fraction)) << 52 >> from_fraction << fraction >> 52;
    let highest = ones(all - 1 - fraction) << fraction;
    let sign = source >> (from_all - 1) << (all - 1);
    sign | highest | 1 << (fraction - 1) | payload
}

/// Two numbers packed into one register, or out of it.
fn packed(case: &Case<'_>, to: &str, from: &str) -> u128 {
    let pitch = |kind: &str| layout(kind).0.next_power_of_two();
    let (high, low) = match from.strip_suffix("x2") {
        None => (case.sources[0], case.sources[1]),
        Some(from) => {
            let width = ones(layout(from).0);
            (case.sources[0] >> pitch(from) & width, case.sources[0] & width)
        }
    };
    let from = from.trim_end_matches("x2");
    small(case, to, from, high) << pitch(to) | small(case, to, from, low)
}

fn small(case: &Case<'_>, to: &str, from: &str, source: u128) -> u128 {
    let value = decoded(from, source);
    let (all, fraction) = layout(to);
    if matches!(to, "e2m1" | "e2m3" | "e3m2") {
        return tiny_format(case, to, value);
    }
    if value.is_nan() {
        return if to == "e4m3" { 0x7f } else { nan(to) };
    }
    if case.has("relu") && value.is_sign_negative() {
        return 0;
    }
    let value = double(from, source);
    let result = match to {
        "f16" => rounded::<Half>(case, to, value, false),
        "bf16" => rounded::<BFloat>(case, to, value, false),
        "e5m2" => rounded::<Float8E5M2>(case, to, value, false),
        _ => {
            let result: Float8E4M3FN = value.convert_r(round(case), &mut false).value;
            // Its infinity is a NaN.
            return match (result.is_nan(), value.is_negative()) {
                (true, negative) => 0x7e | u128::from(negative) << 7,
                (false, _) => result.to_bits(),
            };
        }
    };
    let most = (ones(all - 1 - fraction) << fraction) - 1;
    let top = 1 << (all - 1);
    let finite = case.has("satfinite");
    if finite && result & (top - 1) > most { result & top | most } else { result }
}

/// The nearest of the few numbers of a format, ties to the even one.
fn tiny_format(case: &Case<'_>, to: &str, value: f64) -> u128 {
    let top = 1u128 << (layout(to).0 - 1);
    if value.is_nan() {
        return top - 1;
    }
    let sign = if value.is_sign_negative() { top } else { 0 };
    if case.has("relu") && sign != 0 {
        return 0;
    }
    let distance = |bits: &u128| (decoded(to, *bits) - value.abs().min(1e9)).abs();
    let nearer =
        |a: &u128, b: &u128| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)));
    sign | (0..top).min_by(nearer).unwrap()
}

/// `cvt.pack`: two saturated integers below the third operand's bits.
fn pack(case: &Case<'_>, to: &str) -> u128 {
    let (bits, signed) = shape(to);
    let (least, most) = limits(bits, signed);
    let part =
        |at: usize| number(case.sources[at], 32, true).clamp(least, most) as u128 & ones(bits);
    let above = case.sources.get(2).copied().unwrap_or(0);
    (above << (2 * bits) | part(0) << bits | part(1)) & ones(32)
}
