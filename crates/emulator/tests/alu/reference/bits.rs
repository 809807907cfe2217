//! Bits one by one.

use super::{Case, Expected, ones, shape};

fn bit(value: u128, at: u32) -> bool {
    at < 128 && value >> at & 1 == 1
}

/// The word whose bits a function says.
fn word(bits: u32, f: impl Fn(u32) -> bool) -> u128 {
    (0..bits).filter(|at| f(*at)).fold(0, |word, at| word | 1 << at)
}

/// What a case should give.
#[allow(clippy::too_many_lines, reason = "an instruction an arm")]
pub fn expected(case: &Case<'_>) -> Expected {
    let kind = case.kind();
    let sources = case.sources;
    let a = sources[0];
    let b = sources.get(1).copied().unwrap_or(0);
    let c = sources.get(2).copied().unwrap_or(0);
    let d = sources.get(3).copied().unwrap_or(0);
    if kind == "pred" {
        return Expected::one(match case.form.opcode() {
            "and" => a * b,
            "or" => a.max(b),
            "xor" => (a + b) % 2,
            "not" => 1 - a,
            _ => a,
        });
    }
    let (bits, signed) = shape(&kind);
    let top = bits - 1;
    Expected::one(match case.form.opcode() {
        "popc" => (0..bits).map(|at| u128::from(bit(a, at))).sum(),
        "clz" => (0..bits).rev().take_while(|at| !bit(a, *at)).count() as u128,
        "brev" => word(bits, |at| bit(a, top - at)),
        "bfind" => {
            let sought = !(signed && bit(a, top));
            match (0..bits).rev().find(|at| bit(a, *at) == sought) {
                Some(at) if case.has("shiftamt") => u128::from(top - at),
                Some(at) => u128::from(at),
                None => ones(32),
            }
        }
        "fns" => nth(a, b as u32 as i32, c as u32 as i32),
        "bfe" => {
            let (position, length) = (b as u32 & 255, c as u32 & 255);
            let last = (position + length).saturating_sub(1).min(top);
            let sign = signed && length > 0 && bit(a, last);
            word(bits, |at| {
                if at < length && position + at <= top { bit(a, position + at) } else { sign }
            })
        }
        "bfi" => {
            let (position, length) = (c as u32 & 255, d as u32 & 255);
            word(bits, |at| {
                let inside = at >= position && at - position < length;
                if inside { bit(a, at - position) } else { bit(b, at) }
            })
        }
        "szext" => {
            let all = case.has("clamp") && b >= 32;
            let width = if all { 32 } else { b as u32 & 31 };
            let sign = signed && width > 0 && bit(a, width - 1);
            word(32, |at| if at < width { bit(a, at) } else { sign })
        }
        "bmsk" => {
            let clamp = case.has("clamp");
            let length = if clamp && b >= 32 { 32 } else { b as u32 & 31 };
            let none = clamp && a >= 32;
            let first = a as u32 & 31;
            word(32, |at| !none && at >= first && at < first + length)
        }
        "and" => word(bits, |at| bit(a, at) && bit(b, at)),
        "or" => word(bits, |at| bit(a, at) || bit(b, at)),
        "xor" => word(bits, |at| bit(a, at) != bit(b, at)),
        "not" => word(bits, |at| !bit(a, at)),
        "cnot" => u128::from(a == 0),
        "shl" => word(bits, |at| u128::from(at) >= b && bit(a, at - b as u32)),
        "shr" => word(bits, |at| {
            let from = u128::from(at) + b;
            if from > u128::from(top) { signed && bit(a, top) } else { bit(a, from as u32) }
        }),
        "shf" => {
            let amount = if case.has("clamp") { c.min(32) } else { c & 31 } as u32;
            let both = b << 32 | a;
            let from = if case.has("l") { 32 - amount } else { amount };
            both >> from & ones(32)
        }
        "lop3" => return look_up(case),
        "prmt" => permute(case, b << 32 | a, c as u32),
        "mov" => a,
        other => panic!("{other}"),
    })
}

/// The n-th set bit from a place on, or downwards.
fn nth(mask: u128, base: i32, offset: i32) -> u128 {
    let set = |at: &i64| (0..32).contains(at) && bit(mask, *at as u32);
    let base = i64::from(base);
    let found = match offset {
        0 => Some(base).filter(set),
        1.. => (base.max(0)..32).filter(|at| *at >= base).filter(set).nth(offset as usize - 1),
        _ => (0..=base.min(31)).rev().filter(set).nth(offset.unsigned_abs() as usize - 1),
    };
    // A base outside of the word finds nothing.
    let found = found.filter(|_| offset == 0 || (0..32).contains(&base));
    found.map_or(ones(32), |at| at as u128)
}

fn look_up(case: &Case<'_>) -> Expected {
    let [a, b, c, table, ..] = case.sources[..] else { panic!() };
    let result = word(32, |at| {
        let index = u32::from(bit(a, at)) * 4 + u32::from(bit(b, at)) * 2 + u32::from(bit(c, at));
        bit(table, index)
    });
    let Some(predicate) = case.sources.get(4) else { return Expected::one(result) };
    let predicate = (*predicate == 1) != case.negated;
    let some = result != 0;
    let combined = if case.has("or") { some || predicate } else { some && predicate };
    Expected::Exactly(vec![result, u128::from(combined)])
}

fn permute(case: &Case<'_>, both: u128, control: u32) -> u128 {
    let byte = |at: u32| both >> (8 * (at & 7)) & 0xff;
    let low = control & 3;
    let mut result = 0;
    for at in 0..4 {
        let picked = if case.has("f4e") {
            byte(low + at)
        } else if case.has("b4e") {
            byte(low + 8 - at)
        } else if case.has("rc8") {
            byte(low)
        } else if case.has("ecl") {
            byte(at.max(low))
        } else if case.has("ecr") {
            byte(at.min(low))
        } else if case.has("rc16") {
            byte(2 * (low & 1) + (at & 1))
        } else {
            let selector = control >> (4 * at) & 15;
            let byte = byte(selector);
            let sign = if byte & 0x80 == 0 { 0 } else { 0xff };
            if selector & 8 == 0 { byte } else { sign }
        };
        result |= picked << (8 * at);
    }
    result
}
