//! Floating-point arithmetic of `.f32` and `.f64` (PTX ISA 9.7.3).
//!
//! To nearest even the host's arithmetic is exact; other roundings go through [`super::soft`].

use super::kernel::{mended, op1, op1x, op2, op2x, op3, op3x};
use super::rules::Rules;
use super::soft::{Number, Round};
use super::words::{Kind, Words};
use super::{Form, approximate, half};

/// The NaN that `.f32` instructions make (9.7.3).
pub const NAN32: u32 = 0x7fff_ffff;

/// The NaN that an invalid `.f64` operation makes on hardware.
pub const NAN64: u64 = 0xfff8_0000_0000_0000;

/// The form for flags that are constants in the lane's function.
macro_rules! by_flags {
    ($a:expr, $b:expr, $A:ident, $B:ident => $form:expr) => {
        match ($a, $b) {
            (false, false) => {
                const $A: bool = false;
                const $B: bool = false;
                $form
            }
            (false, true) => {
                const $A: bool = false;
                const $B: bool = true;
                $form
            }
            (true, false) => {
                const $A: bool = true;
                const $B: bool = false;
                $form
            }
            (true, true) => {
                const $A: bool = true;
                const $B: bool = true;
                $form
            }
        }
    };
}

/// Finds a form of floating-point arithmetic.
pub fn select(words: &mut Words<'_>) -> Option<Form> {
    match words.kind()? {
        Kind::F32 => match words.kind() {
            None => single(words),
            Some(from) => mixed(words, from),
        },
        Kind::F64 => double(words),
        Kind::F32x2 => pair(words),
        kind @ (Kind::F16 | Kind::F16x2 | Kind::Bf16 | Kind::Bf16x2) => half::select(words, kind),
        _ => None,
    }
}

fn rounding(words: &mut Words<'_>) -> Option<Round> {
    words.one_of(&[
        ("rn", Round::Near),
        ("rz", Round::Zero),
        ("rm", Round::Down),
        ("rp", Round::Up),
    ])
}

/// A zero of its sign for a subnormal number, with `.ftz`.
#[inline(always)]
pub fn flush32<const FTZ: bool>(value: f32) -> f32 {
    let bits = value.to_bits();
    if FTZ && bits & 0x7f80_0000 == 0 { f32::from_bits(bits & 0x8000_0000) } else { value }
}

/// What every `.f32` result goes through: its NaN, `.ftz`, `.sat`.
#[inline(always)]
pub fn finish32<const FTZ: bool, const SAT: bool>(value: f32) -> f32 {
    if SAT {
        // NaN gives +0 (9.7.3), and so does -0.
        let low = if value > 0.0 { value } else { 0.0 };
        return flush32::<FTZ>(if low > 1.0 { 1.0 } else { low });
    }
    // On bits: LLVM may take one NaN for another.
    let nan = value.to_bits() & 0x7fff_ffff > 0x7f80_0000;
    if nan { f32::from_bits(NAN32) } else { flush32::<FTZ>(value) }
}

/// With `.ftz`, a result that is tiny becomes a zero of its sign even where rounding makes the
/// least normal number of it. `scaled` is the result of the same operation on an operand that is
/// 2^64 times as large: no rounding is hidden there.
fn flush_tiny(value: f32, scaled: f32) -> f32 {
    if scaled.abs() < f32::MIN_POSITIVE * SCALE { 0f32.copysign(value) } else { value }
}

/// Whether a result with `.ftz` may have been tiny.
#[inline(always)]
fn is_least(value: f32) -> bool {
    value.abs() == f32::MIN_POSITIVE
}

/// 2^64.
const SCALE: f32 = 18_446_744_073_709_551_616.0;

/// Whether bits of `.f64` are a NaN.
#[inline(always)]
fn is_nan64(value: f64) -> bool {
    value.to_bits() << 1 > 0xffe0_0000_0000_0000
}

/// A NaN made quiet; a number stays.
#[inline(always)]
pub fn quiet64(value: f64) -> f64 {
    let quiet = if is_nan64(value) { 1 << 51 } else { 0 };
    f64::from_bits(value.to_bits() | quiet)
}

/// What every `.f64` result goes through: a NaN is the last of `operands` that is one, made quiet,
/// else [`NAN64`]. The ISA leaves this open, and so hardware decides which operand comes last: the
/// second, but in a quotient the first.
#[inline(always)]
pub fn finish64(value: f64, operands: [f64; 3]) -> f64 {
    let [a, b, c] = operands;
    let nan = if is_nan64(a) { a } else { f64::from_bits(NAN64) };
    let nan = if is_nan64(b) { b } else { nan };
    let nan = if is_nan64(c) { c } else { nan };
    if is_nan64(value) { quiet64(nan) } else { value }
}

/// Three operations that a rounding mode chooses between: the host's, or soft ones.
fn single(words: &mut Words<'_>) -> Option<Form> {
    let ftz = words.take("ftz");
    let opcode = words.opcode;
    if words.take("approx") {
        return approximate::single(words, ftz, false);
    }
    if opcode == "div" && words.take("full") {
        return approximate::single(words, ftz, true);
    }
    if matches!(opcode, "min" | "max") {
        return extremum(words, ftz);
    }
    let round = rounding(words);
    if round.is_none() && matches!(opcode, "fma" | "div" | "rcp" | "sqrt") {
        return None;
    }
    let sat = words.take("sat");
    if sat && !matches!(opcode, "add" | "sub" | "mul" | "fma" | "mad") {
        return None;
    }
    if let Some(round @ (Round::Zero | Round::Down | Round::Up)) = round {
        let rules = Rules { round, ftz, sat, ..Rules::default() };
        return Some(directed32(opcode)?.with_extra(rules.pack()));
    }
    Some(match opcode {
        "add" => by_flags!(ftz, sat, FTZ, SAT => op2(|a, b| {
            finish32::<FTZ, SAT>(flush32::<FTZ>(a) + flush32::<FTZ>(b))
        })),
        "sub" => by_flags!(ftz, sat, FTZ, SAT => op2(|a, b| {
            finish32::<FTZ, SAT>(flush32::<FTZ>(a) - flush32::<FTZ>(b))
        })),
        "mul" | "fma" | "mad" | "div" | "rcp" if ftz => return flushing(opcode, sat),
        "mul" => {
            by_flags!(false, sat, FTZ, SAT => op2(|a: f32, b: f32| finish32::<FTZ, SAT>(a * b)))
        }
        "fma" | "mad" => by_flags!(false, sat, FTZ, SAT => op3(|a: f32, b, c| {
            finish32::<FTZ, SAT>(a.mul_add(b, c))
        })),
        "div" => op2(|a: f32, b: f32| finish32::<false, false>(a / b)),
        "rcp" => op1(|a: f32| finish32::<false, false>(1.0 / a)),
        "sqrt" => by_flags!(ftz, false, FTZ, SAT => op1(|a| {
            finish32::<FTZ, SAT>(flush32::<FTZ>(a).sqrt())
        })),
        _ if round.is_some() => return None,
        "abs" => by_flags!(ftz, false, FTZ, SAT => op1(|a: f32| {
            finish32::<FTZ, SAT>(a.abs())
        })),
        "neg" => by_flags!(ftz, false, FTZ, SAT => op1(|a: f32| finish32::<FTZ, SAT>(-a))),
        // The sign of `a` on the magnitude of `b`.
        "copysign" if !ftz => op2(|a: f32, b: f32| b.copysign(a)),
        _ => return None,
    })
}

/// With `.ftz`, what can give a tiny result.
fn flushing(opcode: &str, sat: bool) -> Option<Form> {
    #[inline(always)]
    fn flush(value: f32) -> f32 {
        flush32::<true>(value)
    }
    Some(match opcode {
        "mul" => by_flags!(true, sat, FTZ, SAT => mended(
            |a, b, (): ()| finish32::<FTZ, SAT>(flush(a) * flush(b)),
            is_least,
            |a, b, (), value| flush_tiny(value, flush(a) * SCALE * flush(b)),
        )),
        "fma" | "mad" => by_flags!(true, sat, FTZ, SAT => mended(
            |a, b, c| finish32::<FTZ, SAT>(flush(a).mul_add(flush(b), flush(c))),
            is_least,
            |a, b, c, value| {
                flush_tiny(value, (flush(a) * SCALE).mul_add(flush(b), flush(c) * SCALE))
            },
        )),
        "div" => mended(
            |a, b, (): ()| finish32::<true, false>(flush(a) / flush(b)),
            is_least,
            |a, b, (), value| flush_tiny(value, flush(a) * SCALE / flush(b)),
        ),
        _ => mended(
            |a, (): (), (): ()| finish32::<true, false>(1.0 / flush(a)),
            is_least,
            |a, (), (), value| flush_tiny(value, SCALE / flush(a)),
        ),
    })
}

fn directed32(opcode: &str) -> Option<Form> {
    Some(match opcode {
        "add" => op2x(|a, b, x| Rules::unpack(x).binary32(a, b, |a, b, round| a.add(b, round))),
        "sub" => {
            op2x(|a, b, x| Rules::unpack(x).binary32(a, b, |a, b, round| a.add(b.negated(), round)))
        }
        "mul" => op2x(|a, b, x| Rules::unpack(x).binary32(a, b, |a, b, _| a.mul(b))),
        "div" => op2x(|a, b, x| Rules::unpack(x).binary32(a, b, |a, b, _| a.div(b))),
        "fma" | "mad" => op3x(|a, b, c, x| Rules::unpack(x).fma32(a, b, c)),
        "rcp" => op1x(|a, x| Rules::unpack(x).binary32(1.0, a, |a, b, _| a.div(b))),
        "sqrt" => op1x(|a, x| Rules::unpack(x).binary32(a, 1.0, |a, _, _| a.sqrt())),
        _ => return None,
    })
}

fn double(words: &mut Words<'_>) -> Option<Form> {
    let opcode = words.opcode;
    if words.take("approx") {
        return approximate::double(words);
    }
    let round = rounding(words);
    if round.is_none() && matches!(opcode, "fma" | "mad" | "div" | "rcp" | "sqrt") {
        return None;
    }
    if let Some(round @ (Round::Zero | Round::Down | Round::Up)) = round {
        let rules = Rules { round, ..Rules::default() };
        return Some(directed64(opcode)?.with_extra(rules.pack()));
    }
    Some(match opcode {
        "add" => passing(|a, b| a + b),
        "sub" => passing(|a, b| a - b),
        "mul" => passing(|a, b| a * b),
        "fma" | "mad" => mended(
            |a: f64, b, c| a.mul_add(b, c),
            f64::is_nan,
            |a, b, c, value| finish64(value, [a, c, b]),
        ),
        "div" => mended(
            |a: f64, b: f64, (): ()| a / b,
            f64::is_nan,
            |a, b, (), value| finish64(value, [0.0, b, a]),
        ),
        "rcp" => mended(
            |a: f64, (): (), (): ()| 1.0 / a,
            f64::is_nan,
            |a, (), (), value| finish64(value, [0.0, 0.0, a]),
        ),
        "sqrt" => mended(
            |a: f64, (): (), (): ()| a.sqrt(),
            f64::is_nan,
            |a, (), (), value| finish64(value, [0.0, 0.0, a]),
        ),
        _ if round.is_some() => return None,
        // A NaN keeps its sign on hardware.
        "abs" => op1(|a: f64| if is_nan64(a) { quiet64(a) } else { a.abs() }),
        "neg" => op1(|a: f64| if is_nan64(a) { quiet64(a) } else { -a }),
        "min" => op2(|a, b| finish64(min64(a, b), [0.0, a, b])),
        "max" => op2(|a: f64, b: f64| finish64(-min64(-a, -b), [0.0, a, b])),
        "copysign" => op2(|a: f64, b: f64| b.copysign(a)),
        _ => return None,
    })
}

/// An operation of `.f64` that passes NaNs on, of two the second.
fn passing(f: impl Fn(f64, f64) -> f64 + Copy + 'static) -> Form {
    mended(
        move |a: f64, b: f64, (): ()| f(a, b),
        f64::is_nan,
        |a, b, (), value| finish64(value, [0.0, a, b]),
    )
}

fn directed64(opcode: &str) -> Option<Form> {
    Some(match opcode {
        "add" => op2x(|a, b, x| Rules::unpack(x).binary64(a, b, |a, b, round| a.add(b, round))),
        "sub" => {
            op2x(|a, b, x| Rules::unpack(x).binary64(a, b, |a, b, round| a.add(b.negated(), round)))
        }
        "mul" => op2x(|a, b, x| Rules::unpack(x).binary64(a, b, |a, b, _| a.mul(b))),
        "div" => op2x(|a, b, x| {
            let quotient = Rules::unpack(x).binary64(a, b, |a, b, _| a.div(b));
            if is_nan64(a) { quiet64(a) } else { quotient }
        }),
        "fma" | "mad" => op3x(|a, b, c, x| Rules::unpack(x).fma64(a, b, c)),
        "rcp" => op1x(|a, x| Rules::unpack(x).binary64(1.0, a, |a, b, _| a.div(b))),
        "sqrt" => op1x(|a, x| Rules::unpack(x).binary64(a, 1.0, |a, _, _| a.sqrt())),
        _ => return None,
    })
}

/// The lesser, a number rather than a NaN, -0 below +0 (9.7.3.11).
#[inline(always)]
fn min64(a: f64, b: f64) -> f64 {
    let equal = f64::from_bits(a.to_bits() | b.to_bits());
    let lesser = if a < b {
        a
    } else if b < a {
        b
    } else {
        equal
    };
    let lesser = if b.is_nan() { a } else { lesser };
    if a.is_nan() { b } else { lesser }
}

/// The lesser, a number rather than a NaN, -0 below +0 (9.7.3.11).
#[inline(always)]
fn min32(a: f32, b: f32) -> f32 {
    let equal = f32::from_bits(a.to_bits() | b.to_bits());
    let lesser = if a < b {
        a
    } else if b < a {
        b
    } else {
        equal
    };
    let lesser = if b.is_nan() { a } else { lesser };
    if a.is_nan() { b } else { lesser }
}

/// The lesser or the greater; with `NAN`, a NaN of either is the result.
#[inline(always)]
fn extremum32<const MAX: bool, const NAN: bool>(a: f32, b: f32) -> f32 {
    let chosen = if MAX { -min32(-a, -b) } else { min32(a, b) };
    let nan = if NAN { a.is_nan() | b.is_nan() } else { chosen.is_nan() };
    if nan { f32::from_bits(NAN32) } else { chosen }
}

fn extremum(words: &mut Words<'_>, ftz: bool) -> Option<Form> {
    let max = words.opcode == "max";
    let nan = words.take("NaN");
    let xorsign = words.take("xorsign");
    let abs = words.take("abs");
    let three = words.widths.len() == 4;
    let extra = u32::from(ftz);
    let form = if three && !xorsign {
        by_flags!(max, nan, MAX, NAN => op3x(|a: f32, b: f32, c: f32, x| {
            let part = |value: f32| {
                let value = if x & 1 == 1 { flush32::<true>(value) } else { value };
                if x & 2 == 2 { value.abs() } else { value }
            };
            extremum32::<MAX, NAN>(extremum32::<MAX, NAN>(part(a), part(b)), part(c))
        }))
        .with_extra(extra | u32::from(abs) << 1)
    } else if xorsign && abs && !three {
        by_flags!(max, nan, MAX, NAN => op2x(|a: f32, b: f32, x| {
            let part = |value: f32| if x & 1 == 1 { flush32::<true>(value) } else { value };
            let chosen = extremum32::<MAX, NAN>(part(a).abs(), part(b).abs());
            let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
            if chosen.is_nan() { chosen } else { f32::from_bits(chosen.to_bits() | sign) }
        }))
        .with_extra(extra)
    } else if xorsign || abs {
        return None;
    } else if ftz {
        by_flags!(max, nan, MAX, NAN => op2(|a, b| {
            extremum32::<MAX, NAN>(flush32::<true>(a), flush32::<true>(b))
        }))
    } else {
        by_flags!(max, nan, MAX, NAN => op2(extremum32::<MAX, NAN>))
    };
    Some(form)
}

/// Both halves of a pair of `.f32`.
fn both(a: u64, b: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    let part = |bits: u64| f32::from_bits(bits as u32);
    let low = f(part(a), part(b)).to_bits();
    let high = f(part(a >> 32), part(b >> 32)).to_bits();
    u64::from(high) << 32 | u64::from(low)
}

/// `.f32x2`: each half by itself.
fn pair(words: &mut Words<'_>) -> Option<Form> {
    let ftz = words.take("ftz");
    let round = rounding(words);
    if round.is_none() && words.opcode == "fma" {
        return None;
    }
    let rules = Rules { round: round.unwrap_or(Round::Near), ftz, ..Rules::default() };
    let form = match words.opcode {
        "add" => op2x(|a, b, x| {
            both(a, b, |a, b| Rules::unpack(x).binary32(a, b, |a, b, round| a.add(b, round)))
        }),
        "sub" => op2x(|a, b, x| {
            both(a, b, |a, b| {
                Rules::unpack(x).binary32(a, b, |a, b, round| a.add(b.negated(), round))
            })
        }),
        "mul" => op2x(|a, b, x| {
            both(a, b, |a, b| Rules::unpack(x).binary32(a, b, |a: Number, b, _| a.mul(b)))
        }),
        "fma" => op3x(|a: u64, b: u64, c: u64, x| {
            let rules = Rules::unpack(x);
            let at = |shift: u32| {
                let part = |bits: u64| f32::from_bits((bits >> shift) as u32);
                u64::from(rules.fma32(part(a), part(b), part(c)).to_bits()) << shift
            };
            at(0) | at(32)
        }),
        _ => return None,
    };
    Some(form.with_extra(rules.pack()))
}

/// `.f32` arithmetic on halves (9.7.5): `a`, and the `b` of `fma`, are exact in `.f32`.
fn mixed(words: &mut Words<'_>, from: Kind) -> Option<Form> {
    let round = rounding(words);
    if round.is_none() && words.opcode == "fma" {
        return None;
    }
    let bf16 = match from {
        Kind::F16 => 0,
        Kind::Bf16 => 1 << Rules::BITS,
        _ => return None,
    };
    let sat = words.take("sat");
    let rules = Rules { round: round.unwrap_or(Round::Near), sat, ..Rules::default() };
    fn widened(a: u16, x: u32) -> f32 {
        if x >> Rules::BITS == 0 { half::to_f32(a) } else { f32::from_bits(u32::from(a) << 16) }
    }
    let form = match words.opcode {
        "add" => op2x(|a: u16, b: f32, x| {
            Rules::unpack(x).binary32(widened(a, x), b, |a, b, round| a.add(b, round))
        }),
        "sub" => op2x(|a: u16, b: f32, x| {
            Rules::unpack(x).binary32(widened(a, x), b, |a, b, round| a.add(b.negated(), round))
        }),
        "fma" => op3x(|a: u16, b: u16, c: f32, x| {
            Rules::unpack(x).fma32(widened(a, x), widened(b, x), c)
        }),
        _ => return None,
    };
    Some(form.with_extra(rules.pack() | bf16))
}
