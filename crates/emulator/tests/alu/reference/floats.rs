//! Floating-point arithmetic by `rustc_apfloat`, with `.ftz`, `.sat` and NaNs around it.

use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::{Case, Expected, Near, ones};

/// Bits of a format: all, and of the fraction.
pub fn layout(kind: &str) -> (u32, u32) {
    match kind {
        "f16" => (16, 10),
        "bf16" => (16, 7),
        "f32" => (32, 23),
        "f64" => (64, 52),
        "tf32" => (19, 10),
        "e5m2" => (8, 2),
        "e4m3" => (8, 3),
        "e2m1" => (4, 1),
        "e2m3" => (6, 3),
        "e3m2" => (6, 2),
        other => panic!("{other}"),
    }
}

/// The NaN that a type's instructions make.
pub fn nan(kind: &str) -> u128 {
    if kind == "f64" { 0xfff8 << 48 } else { ones(layout(kind).0 - 1) }
}

/// Whether bits are a NaN of a type with infinities.
pub fn is_nan(kind: &str, bits: u128) -> bool {
    let (all, fraction) = layout(kind);
    let infinity = ones(all - 1 - fraction) << fraction;
    bits & ones(all - 1) > infinity
}

/// Bits with subnormal numbers flushed, if that is asked for.
pub fn flush(kind: &str, bits: u128, ftz: bool) -> u128 {
    let (all, fraction) = layout(kind);
    let subnormal = bits >> fraction & ones(all - 1 - fraction) == 0;
    if ftz && subnormal { bits & 1 << (all - 1) } else { bits }
}

/// The value of bits.
pub fn decoded(kind: &str, bits: u128) -> f64 {
    if kind == "f64" {
        return f64::from_bits(bits as u64);
    }
    let (all, fraction) = layout(kind);
    let field = (bits >> fraction & ones(all - 1 - fraction)) as i32;
    let part = (bits & ones(fraction)) as f64 / f64::from(2).powi(fraction as i32);
    let bias = ones(all - 2 - fraction) as i32;
    let infinite = !matches!(kind, "e4m3" | "e2m1" | "e2m3" | "e3m2");
    let magnitude = match field {
        0 => part * f64::from(2).powi(1 - bias),
        _ if infinite && field == 2 * bias + 1 && part == 0.0 => f64::INFINITY,
        _ if infinite && field == 2 * bias + 1 => f64::NAN,
        _ if kind == "e4m3" && bits & 0x7f == 0x7f => f64::NAN,
        _ => (1.0 + part) * f64::from(2).powi(field - bias),
    };
    if bits >> (all - 1) & 1 == 1 { -magnitude } else { magnitude }
}

/// The rounding mode that the form names.
pub fn round(case: &Case<'_>) -> Round {
    let has = |words: &[&str]| words.iter().any(|word| case.has(word));
    if has(&["rz", "rzi"]) {
        Round::TowardZero
    } else if has(&["rm", "rmi"]) {
        Round::TowardNegative
    } else if has(&["rp", "rpi"]) {
        Round::TowardPositive
    } else if has(&["rna"]) {
        Round::NearestTiesToAway
    } else {
        Round::NearestTiesToEven
    }
}

/// What a case should give.
pub fn expected(case: &Case<'_>) -> Expected {
    let types = case.types();
    let kind = types[0].as_str();
    if case.has("approx") || case.has("full") {
        return approximate(case, kind);
    }
    if types.len() == 2 {
        return Expected::one(mixed(case, &types[1]));
    }
    let Some(part) = kind.strip_suffix("x2") else {
        return Expected::one(one(case, kind, case.sources));
    };
    let bits = layout(part).0;
    let of = |at: u32| {
        let sources: Vec<u128> = case.sources.iter().map(|bits| bits >> at).collect();
        let sources: Vec<u128> = sources.iter().map(|low| low & ones(bits)).collect();
        one(case, part, &sources) << at
    };
    Expected::one(of(0) | of(bits))
}

/// Operands that are exact in `.f32`.
fn mixed(case: &Case<'_>, from: &str) -> u128 {
    let last = case.sources.len() - 1;
    let widened = |(at, bits): (usize, &u128)| {
        if at == last { *bits } else { u128::from((decoded(from, *bits) as f32).to_bits()) }
    };
    let sources: Vec<u128> = case.sources.iter().enumerate().map(widened).collect();
    one(case, "f32", &sources)
}

fn one(case: &Case<'_>, kind: &str, sources: &[u128]) -> u128 {
    let ftz = case.has("ftz");
    let flushed: Vec<u128> = sources.iter().map(|bits| flush(kind, *bits, ftz)).collect();
    match case.form.opcode() {
        "min" | "max" => return extremum(case, kind, sources, &flushed),
        "abs" | "neg" => return sign(case, kind, flushed[0]),
        "copysign" => {
            let top = 1 << (layout(kind).0 - 1);
            return sources[0] & top | sources[1] & (top - 1);
        }
        _ => {}
    }
    if let Some(result) = propagated(case, kind, &flushed) {
        return result;
    }
    match kind {
        "f16" => arithmetic::<Half>(case, kind, &flushed),
        "bf16" => arithmetic::<BFloat>(case, kind, &flushed),
        "f32" => arithmetic::<Single>(case, kind, &flushed),
        _ => arithmetic::<Double>(case, kind, &flushed),
    }
}

/// Of `.f64`, hardware passes a NaN on, made quiet: of two the second, of a quotient's the first.
fn propagated(case: &Case<'_>, kind: &str, sources: &[u128]) -> Option<u128> {
    let order: &[usize] = match case.form.opcode() {
        _ if kind != "f64" => return None,
        "div" => &[0, 1],
        _ if sources.len() == 3 => &[1, 2, 0],
        _ if sources.len() == 2 => &[1, 0],
        _ => &[0],
    };
    let first = order.iter().map(|at| sources[*at]).find(|bits| is_nan(kind, *bits))?;
    Some(first | 1 << 51)
}

/// An operation at two scales: what is tiny shows where exponents have room.
fn arithmetic<F>(case: &Case<'_>, kind: &str, sources: &[u128]) -> u128
where
    F: Float + FloatConvert<Quad>,
    Quad: FloatConvert<F>,
{
    let values: Vec<F> = sources.iter().map(|bits| F::from_bits(*bits)).collect();
    let result = operation(case, &values);
    let ftz = case.has("ftz");
    let tiny = ftz && !result.is_nan() && is_tiny(case, &values);
    let result = if tiny { F::ZERO.copy_sign(result) } else { result };
    finish(case, kind, result)
}

fn operation<F>(case: &Case<'_>, values: &[F]) -> F
where
    F: Float + FloatConvert<Quad>,
    Quad: FloatConvert<F>,
{
    let round = round(case);
    let one = F::from_u128(1).value;
    match case.form.opcode() {
        "add" => values[0].add_r(values[1], round).value,
        "sub" => values[0].sub_r(values[1], round).value,
        "mul" => values[0].mul_r(values[1], round).value,
        "fma" | "mad" => values[0].mul_add_r(values[1], values[2], round).value,
        "div" => values[0].div_r(values[1], round).value,
        "rcp" => one.div_r(values[0], round).value,
        "sqrt" => root(values[0], round),
        other => panic!("{other}"),
    }
}

/// Whether a result is below the least normal number when it is rounded as if exponents had no
/// limit.
fn is_tiny<F>(case: &Case<'_>, values: &[F]) -> bool
where
    F: Float + FloatConvert<Quad>,
    Quad: FloatConvert<F>,
{
    // Far from both ends of the format: scaled up by 2^8, which its precision is less than half of.
    let scale = 20.min(F::MAX_EXP - 2);
    let up = |value: F| value.scalbn(scale);
    let values: Vec<F> = match case.form.opcode() {
        "add" | "sub" => vec![up(values[0]), up(values[1])],
        "mul" if values[0].abs() < values[1].abs() => vec![up(values[0]), values[1]],
        "mul" => vec![values[0], up(values[1])],
        "fma" if values[0].abs() < values[1].abs() => {
            vec![up(values[0]), values[1], up(values[2])]
        }
        "fma" | "mad" => vec![values[0], up(values[1]), up(values[2])],
        "div" => vec![up(values[0]), values[1]],
        // The reciprocal of half as much.
        "rcp" => vec![values[0].scalbn(-scale)],
        _ => return false,
    };
    let result = operation(case, &values);
    let least = F::smallest_normalized().scalbn(scale);
    result.abs() < least
}

/// The square root: of the numbers whose square is not more the greatest, and the one after it.
fn root<F>(value: F, round: Round) -> F
where
    F: Float + FloatConvert<Quad>,
    Quad: FloatConvert<F>,
{
    if value.is_zero() || value.is_nan() || value.is_pos_infinity() {
        return value;
    }
    if value.is_negative() {
        return F::NAN;
    }
    let mut loses = false;
    let square: Quad = value.convert(&mut loses).value;
    let wide = |root: F| -> Quad { root.convert(&mut false).value };
    let (mut low, mut high) = (0u128, F::largest().to_bits() + 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        let root = wide(F::from_bits(middle));
        if (root * root).value <= square { low = middle } else { high = middle }
    }
    let (below, above) = (wide(F::from_bits(low)), wide(F::from_bits(low + 1)));
    if (below * below).value == square {
        return F::from_bits(low);
    }
    let middle = ((below + above).value * Quad::from_u128(1).value.scalbn(-1)).value;
    let up = match round {
        Round::TowardPositive => true,
        Round::NearestTiesToEven => (middle * middle).value < square,
        _ => false,
    };
    F::from_bits(if up { low + 1 } else { low })
}

/// NaNs, `.sat` and `.relu`.
pub fn finish<F: Float>(case: &Case<'_>, kind: &str, result: F) -> u128 {
    let one = F::from_u128(1).value;
    if case.has("sat") {
        let clamped = if result.is_nan() || result.is_negative() {
            F::ZERO
        } else if result > one {
            one
        } else {
            result
        };
        return clamped.to_bits();
    }
    if result.is_nan() {
        return nan(kind);
    }
    if case.has("relu") && result.is_negative() { 0 } else { result.to_bits() }
}

fn sign(case: &Case<'_>, kind: &str, bits: u128) -> u128 {
    if is_nan(kind, bits) {
        return if kind == "f64" { bits | 1 << 51 } else { nan(kind) };
    }
    let top = 1 << (layout(kind).0 - 1);
    if case.form.opcode() == "abs" { bits & (top - 1) } else { bits ^ top }
}

fn extremum(case: &Case<'_>, kind: &str, originals: &[u128], sources: &[u128]) -> u128 {
    let top = 1 << (layout(kind).0 - 1);
    let max = case.form.opcode() == "max";
    let magnitudes = case.has("abs");
    let part = |bits: u128| if magnitudes { bits & (top - 1) } else { bits };
    let mut best: Option<u128> = None;
    let mut some_nan = false;
    // An order of bits with -0 below +0.
    let order = |bits: u128| if bits & top == 0 { bits as i128 } else { -1 - (bits ^ top) as i128 };
    for bits in sources {
        if is_nan(kind, *bits) {
            some_nan = true;
        } else {
            let bits = part(*bits);
            let better = best.is_none_or(|best| (order(bits) > order(best)) == max);
            if better {
                best = Some(bits)
            }
        }
    }
    let Some(best) = best.filter(|_| !(some_nan && case.has("NaN"))) else {
        return propagated(case, kind, sources).unwrap_or(nan(kind));
    };
    if case.has("xorsign") { best | (originals[0] ^ originals[1]) & top } else { best }
}

/// What `.approx` forms may give: by the errors that the ISA states, and its tables of special
/// values.
fn approximate(case: &Case<'_>, kind: &str) -> Expected {
    let part = kind.trim_end_matches("x2");
    let bits = layout(part).0;
    let parts = if part == kind { 1 } else { 2 };
    let near = |at: u32| {
        let operand = |source: &u128| {
            let bits = source >> (at * bits) & ones(bits);
            // The coarse forms of `.f64` look at the upper half only.
            let coarse = part == "f64" && case.has("ftz");
            let bits = if coarse { bits >> 32 << 32 } else { bits };
            decoded(part, flush(part, bits, case.has("ftz")))
        };
        let operands: Vec<f64> = case.sources.iter().map(operand).collect();
        error(case, part, &operands)
    };
    let kind = match part {
        "f16" => "f16",
        "bf16" => "bf16",
        "f32" => "f32",
        _ => "f64",
    };
    Expected::Within { kind, values: (0..parts).map(near).collect() }
}

/// 2 to a power.
fn exp2(power: f64) -> f64 {
    power.exp2()
}

fn error(case: &Case<'_>, kind: &str, operands: &[f64]) -> Near {
    let a = operands[0];
    let relative = |value: f64, relative: f64| Near { value, absolute: 0.0, relative };
    let absolute = |value: f64, absolute: f64| Near { value, absolute, relative: 0.0 };
    match (case.form.opcode(), kind) {
        ("rcp", "f64") => relative(a.recip(), exp2(-19.0)),
        ("rsqrt", "f64") if case.has("ftz") => relative(a.sqrt().recip(), exp2(-19.0)),
        ("rsqrt", "f64") => relative(a.sqrt().recip(), exp2(-51.0)),
        ("rcp", _) => relative(a.recip(), exp2(-23.0)),
        ("sqrt", _) => relative(a.sqrt(), exp2(-23.0)),
        ("rsqrt", _) => relative(a.sqrt().recip(), exp2(-22.9)),
        // Past 2^126 a quotient by `.approx` is 0, or a NaN of an infinity.
        ("div", _) if case.has("approx") && operands[1].abs() > exp2(126.0) => {
            relative(a * 0f64.copysign(operands[1]), 0.0)
        }
        ("div", _) => relative(a / operands[1], exp2(-22.0)),
        ("sin", _) => angle(a, a.sin()),
        ("cos", _) => angle(a, a.cos()),
        ("lg2", _) if (0.5..2.0).contains(&a) => absolute(a.log2(), exp2(-22.0)),
        ("lg2", _) => relative(a.log2(), exp2(-22.0)),
        ("ex2", "f16") => relative(a.exp2(), exp2(-9.9)),
        ("ex2", "bf16") => relative(a.exp2(), exp2(-7.0)),
        ("ex2", _) => relative(a.exp2(), exp2(-22.0)),
        ("tanh", "f16") => absolute(a.tanh(), exp2(-10.987)),
        ("tanh", "bf16") => absolute(a.tanh(), exp2(-8.0)),
        ("tanh", _) => relative(a.tanh(), exp2(-11.0)),
        other => panic!("{other:?}"),
    }
}

/// Errors of sines: stated up to 100 pi, and past that nothing but a value from -1 to 1.
fn angle(a: f64, value: f64) -> Near {
    let absolute = match a.abs() {
        size if size <= 2.0 * std::f64::consts::PI => exp2(-20.5),
        size if size <= 100.0 * std::f64::consts::PI => exp2(-14.7),
        _ if a.is_finite() => 2.0,
        _ => 0.0,
    };
    Near { value, absolute, relative: 0.0 }
}
