//! Comparisons and selections.

use std::cmp::Ordering;

use super::floats::{decoded, flush};
use super::{Case, Expected, number, ones, shape};

/// What a case should give.
pub fn expected(case: &Case<'_>) -> Expected {
    match case.form.opcode() {
        "setp" => setp(case),
        "set" => set(case),
        "selp" => {
            let first = (case.sources[2] == 1) != case.negated;
            Expected::one(case.sources[if first { 0 } else { 1 }])
        }
        "slct" => slct(case),
        _ => testp(case),
    }
}

/// How two operands compare; `None` where one is a NaN.
fn order(case: &Case<'_>, kind: &str, a: u128, b: u128) -> Option<Ordering> {
    if kind.contains('f') {
        let ftz = case.has("ftz");
        return decoded(kind, flush(kind, a, ftz)).partial_cmp(&decoded(kind, flush(kind, b, ftz)));
    }
    let (bits, signed) = shape(kind);
    Some(number(a, bits, signed).cmp(&number(b, bits, signed)))
}

/// Whether the comparison that the form names holds.
fn holds(case: &Case<'_>, order: Option<Ordering>) -> bool {
    let word = case.form.modifiers()[0];
    let Some(order) = order else {
        return matches!(word, "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" | "nan");
    };
    match word {
        "eq" | "equ" => order.is_eq(),
        "ne" | "neu" => order.is_ne(),
        "lt" | "lo" | "ltu" => order.is_lt(),
        "le" | "ls" | "leu" => order.is_le(),
        "gt" | "hi" | "gtu" => order.is_gt(),
        "ge" | "hs" | "geu" => order.is_ge(),
        "num" => true,
        "nan" => false,
        other => panic!("{other}"),
    }
}

fn combine(case: &Case<'_>, test: bool) -> bool {
    let Some(other) = case.sources.get(2) else { return test };
    let other = (*other == 1) != case.negated;
    if case.has("and") {
        test && other
    } else if case.has("or") {
        test || other
    } else {
        test != other
    }
}

fn setp(case: &Case<'_>) -> Expected {
    let kind = case.kind();
    let [a, b, ..] = case.sources[..] else { panic!() };
    let part = |at: u32| {
        let kind = kind.trim_end_matches("x2");
        let half = |value: u128| value >> (16 * at) & 0xffff;
        holds(case, order(case, kind, half(a), half(b)))
    };
    let (first, second) = if kind.ends_with("x2") {
        (part(0), part(1))
    } else {
        let test = holds(case, order(case, &kind, a, b));
        (test, !test)
    };
    let mut results = vec![u128::from(combine(case, first))];
    if case.form.results == "pp" {
        results.push(u128::from(combine(case, second)));
    }
    Expected::Exactly(results)
}

fn set(case: &Case<'_>) -> Expected {
    let types = case.types();
    let kind = &types[1];
    let truth: u128 = match types[0].as_str() {
        "f32" => 0x3f80_0000,
        "f16" => 0x3c00,
        "f16x2" => 0x3c00_3c00,
        "bf16" => 0x3f80,
        "bf16x2" => 0x3f80_3f80,
        "u16" | "s16" => 0xffff,
        _ => 0xffff_ffff,
    };
    let [a, b, ..] = case.sources[..] else { panic!() };
    if !kind.ends_with("x2") {
        let yes = combine(case, holds(case, order(case, kind, a, b)));
        return Expected::one(if yes { truth } else { 0 });
    }
    let kind = kind.trim_end_matches("x2");
    let mut result = 0;
    for at in [0, 16] {
        let order = order(case, kind, a >> at & 0xffff, b >> at & 0xffff);
        if combine(case, holds(case, order)) {
            result |= truth & 0xffff << at;
        }
    }
    Expected::one(result)
}

fn slct(case: &Case<'_>) -> Expected {
    let [a, b, c] = case.sources[..] else { panic!() };
    let first = if case.kind() == "s32" {
        number(c, 32, true) >= 0
    } else {
        decoded("f32", flush("f32", c, case.has("ftz"))) >= 0.0
    };
    Expected::one(if first { a } else { b })
}

fn testp(case: &Case<'_>) -> Expected {
    let (exponent, fraction) = if case.kind() == "f32" { (8, 23) } else { (11, 52) };
    let field = case.sources[0] >> fraction & ones(exponent);
    let some = case.sources[0] & ones(fraction) != 0;
    let highest = field == ones(exponent);
    Expected::one(u128::from(match case.form.modifiers()[0] {
        "finite" => !highest,
        "infinite" => highest && !some,
        "number" => !(highest && some),
        "notanumber" => highest && some,
        "normal" => !highest && (field != 0 || !some),
        "subnormal" => field == 0 && some,
        other => panic!("{other}"),
    }))
}
