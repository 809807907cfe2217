//! Integer arithmetic, in 128 bits.

use super::{Case, Expected, limits, number, ones, shape};

/// What a case should give.
pub fn expected(case: &Case<'_>) -> Expected {
    if case.form.opcode().starts_with('v') {
        return Expected::one(video(case));
    }
    let kind = case.kind();
    if kind.ends_with("x2") {
        return Expected::one(packed(case, &kind));
    }
    match case.form.opcode() {
        "addc" | "subc" | "madc" => extended(case),
        "add" | "sub" | "mad" if case.has("cc") => extended(case),
        "dp4a" | "dp2a" => Expected::one(dot(case)),
        _ => Expected::one(plain(case, &kind) & ones(result_bits(case, &kind))),
    }
}

fn result_bits(case: &Case<'_>, kind: &str) -> u32 {
    let (bits, _) = shape(kind);
    if case.has("wide") { 2 * bits } else { bits }
}

/// The part of a product that a form keeps, sign and all.
fn product(case: &Case<'_>, a: i128, b: i128, bits: u32, signed: bool) -> i128 {
    // Of two unsigned numbers of 64 bits the product needs all 128.
    let product = a.wrapping_mul(b);
    if case.has("hi") { number((product as u128) >> bits, bits, signed) } else { product }
}

fn plain(case: &Case<'_>, kind: &str) -> u128 {
    let (bits, signed) = shape(kind);
    let value = |at: usize| number(case.sources[at], bits, signed);
    let (least, most) = limits(bits, signed);
    let a = value(0);
    let b = if case.sources.len() > 1 { value(1) } else { 0 };
    let c = if case.sources.len() > 2 { case.sources[2] as i128 } else { 0 };
    let result = match case.form.opcode() {
        "add" => a + b,
        "sub" => a - b,
        "mul" => product(case, a, b, bits, signed),
        "mad" if case.has("sat") => product(case, a, b, bits, signed) + value(2),
        "mad" => product(case, a, b, bits, signed).wrapping_add(c),
        "mul24" | "mad24" => {
            let low = |at: usize| number(case.sources[at], 24, signed);
            let product = low(0) * low(1);
            let kept = if case.has("hi") { product >> 16 } else { product };
            let kept = number(kept as u128, 32, signed);
            kept + if case.form.opcode() == "mad24" { value(2) } else { 0 }
        }
        "sad" => (a - b).abs() + c,
        "div" | "rem" if b == 0 => -1,
        "div" => a / b,
        "rem" => a % b,
        "min" => a.min(b),
        "max" => a.max(b),
        "abs" => a.abs(),
        "neg" => -a,
        other => panic!("{other}"),
    };
    let result = if case.has("sat") { result.clamp(least, most) } else { result };
    let result = if case.has("relu") { result.max(0) } else { result };
    result as u128
}

fn packed(case: &Case<'_>, kind: &str) -> u128 {
    let (bits, signed) = shape(kind);
    let mut all = 0;
    for at in 0..2 {
        let value = |source: usize| number(case.sources[source] >> (16 * at), bits, signed);
        let (a, b) = (value(0), value(1));
        let result = match case.form.opcode() {
            "add" => a + b,
            "min" => a.min(b),
            "max" => a.max(b),
            other => panic!("{other}"),
        };
        let result = if case.has("relu") { result.max(0) } else { result };
        all |= (result as u128 & 0xffff) << (16 * at);
    }
    all
}

/// Sums with a carry; of a difference it is a borrow.
fn extended(case: &Case<'_>) -> Expected {
    let (bits, signed) = shape(&case.kind());
    let opcode = case.form.opcode();
    let reads = opcode.ends_with('c');
    let carry = if reads { *case.sources.last().unwrap() as i128 } else { 0 };
    let unsigned = |at: usize| number(case.sources[at], bits, false);
    let total = match &opcode[..3] {
        "add" => unsigned(0) + unsigned(1) + carry,
        "sub" => unsigned(0) - unsigned(1) - carry,
        _ => {
            let (a, b) = (case.sources[0], case.sources[1]);
            let (a, b) = (number(a, bits, signed), number(b, bits, signed));
            let kept = product(case, a, b, bits, signed);
            number(kept as u128, bits, false) + unsigned(2) + carry
        }
    };
    let out = i128::from(total < 0 || total > ones(bits) as i128) as u128;
    let result = total as u128 & ones(bits);
    Expected::Exactly(if case.has("cc") { vec![result, out] } else { vec![result] })
}

fn dot(case: &Case<'_>) -> u128 {
    let types = case.types();
    let signed = |at: usize| types[at] == "s32";
    let high = if case.has("hi") { 2 } else { 0 };
    let mut sum = case.sources[2] as i128;
    if case.form.opcode() == "dp4a" {
        for at in 0..4 {
            let a = number(case.sources[0] >> (8 * at), 8, signed(0));
            sum += a * number(case.sources[1] >> (8 * at), 8, signed(1));
        }
    } else {
        for at in 0..2 {
            let a = number(case.sources[0] >> (16 * at), 16, signed(0));
            sum += a * number(case.sources[1] >> (8 * (at + high)), 8, signed(1));
        }
    }
    sum as u128 & ones(32)
}

fn video(case: &Case<'_>) -> u128 {
    let opcode = case.form.opcode();
    let (name, ways) = opcode.split_at(opcode.len() - 1);
    let bits = 32 / ways.parse::<u32>().unwrap();
    let mut types = case.types();
    let signed = if name == "vset" { false } else { types.remove(0) == "s32" };
    let (mut merged, mut sum) = (0, case.sources[2] as i128);
    for at in 0..32 / bits {
        let a = number(case.sources[0] >> (bits * at), bits, types[0] == "s32");
        let b = number(case.sources[1] >> (bits * at), bits, types[1] == "s32");
        let result = match name {
            "vadd" => a + b,
            "vsub" => a - b,
            "vabsdiff" => (a - b).abs(),
            "vmin" => a.min(b),
            "vmax" => a.max(b),
            // Half away from zero, of a negative sum towards it.
            "vavrg" if a + b >= 0 => (a + b + 1).div_euclid(2),
            "vavrg" => (a + b).div_euclid(2),
            _ => {
                let order = a.cmp(&b);
                i128::from(
                    case.has("eq") && order.is_eq()
                        || case.has("ne") && order.is_ne()
                        || case.has("lt") && order.is_lt()
                        || case.has("le") && order.is_le()
                        || case.has("gt") && order.is_gt()
                        || case.has("ge") && order.is_ge(),
                )
            }
        };
        let (least, most) = limits(bits, signed);
        let result = if case.has("sat") { result.clamp(least, most) } else { result };
        sum += result;
        merged |= (result as u128 & ones(bits)) << (bits * at);
    }
    if case.has("add") { sum as u128 & ones(32) } else { merged }
}
