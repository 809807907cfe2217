//! Every form of the arithmetic unit against an independent reference.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod device;
mod forms;
mod reference;
mod values;

use forms::Form;
use reference::{Case, Expected, Near, expected};
use values::Random;

/// Whether results are as they should be; else what is wrong.
fn check(form: &Form, source: &[u128], negated: bool, results: &[u128]) -> Result<(), String> {
    let case = Case { form, sources: source, negated };
    let wanted = expected(&case);
    let good = match &wanted {
        Expected::Exactly(bits) => bits == results,
        Expected::Within { kind, values } => {
            let bits = reference::layout(kind).0;
            let part = |at: usize| results[0] >> (at as u32 * bits) & reference::ones(bits);
            values.iter().enumerate().all(|(at, near)| is_near(kind, *near, part(at), &case))
        }
    };
    if good {
        return Ok(());
    }
    Err(format!("{form:?}, negated {negated}, of {source:x?}: {results:x?}, not {wanted:x?}"))
}

/// Whether bits are within an error of a value: what is subnormal may be flushed or lose bits, what
/// is almost too large may be infinite.
fn is_near(kind: &str, near: Near, bits: u128, case: &Case<'_>) -> bool {
    let value = reference::decoded(kind, bits);
    if near.value.is_nan() || value.is_nan() {
        return near.value.is_nan() && value.is_nan();
    }
    if value == near.value {
        return value != 0.0 || value.is_sign_negative() == near.value.is_sign_negative();
    }
    let (all, fraction) = reference::layout(kind);
    let least = reference::decoded(kind, 1 << fraction);
    let most = reference::decoded(kind, (reference::ones(all - 1 - fraction) << fraction) - 1);
    if value.is_infinite() {
        return near.value.signum() == value.signum() && near.value.abs() * 1.001 > most;
    }
    let flushed = if case.has("ftz") { least } else { reference::decoded(kind, 1) };
    let ulp = near.value.abs() * (-(f64::from(fraction))).exp2();
    let allowed = near.absolute.max(near.relative * near.value.abs()) + ulp / 2.0;
    let small = near.value.abs() <= least && value.abs() <= least;
    let error = (value - near.value).abs();
    error <= allowed || small && error <= flushed
}

/// All tuples of a form, through both functions.
fn test_form(form: &Form, seed: u64, at_least: usize) -> Result<(), String> {
    let found = device::find(form);
    let mut random = Random::new(seed);
    let negatable =
        form.sources.contains('p') && matches!(form.opcode(), "setp" | "set" | "selp" | "lop3");
    let mut tuples = values::tuples(&mut random, &form.sources, at_least);
    if let Some(at) = form.sources.find('i') {
        for warp in tuples.chunks_mut(32) {
            let table = u128::from(random.below(256));
            warp.iter_mut().for_each(|tuple| tuple[at] = table);
        }
    }
    let portable = proofrun_emulator::alu::Form { compute: found.portable, ..found.clone() };
    for (warp, tuples) in tuples.chunks(32).enumerate() {
        let negated = negatable && warp % 3 == 0;
        let results = device::run(form, &found, tuples, u32::MAX, negated);
        for (tuple, results) in tuples.iter().zip(&results) {
            check(form, tuple, negated, results)?;
        }
        let same = device::run(form, &portable, tuples, u32::MAX, negated);
        if same != results {
            return Err(format!("{form:?}: the portable function differs on {tuples:x?}"));
        }
    }
    Ok(())
}

fn test_forms(keep: impl Fn(&Form) -> bool) {
    let forms: Vec<Form> = forms::all().into_iter().filter(keep).collect();
    assert!(!forms.is_empty());
    let seeded = forms.iter().zip(1..);
    let wrong: Vec<String> =
        seeded.filter_map(|(form, seed)| test_form(form, seed, 512).err()).collect();
    let first: Vec<_> = wrong.iter().take(12).collect();
    assert!(wrong.is_empty(), "{} of {} forms: {first:#?}", wrong.len(), forms.len());
}

const COMPARISONS: [&str; 5] = ["setp", "set", "selp", "slct", "testp"];

/// Whether a type of a form is one of floats.
fn is_float(form: &Form) -> bool {
    let float = |word: &str| word.starts_with('f') && word != "f4e" && word != "finite";
    form.modifiers().iter().any(|word| float(word.strip_prefix('b').unwrap_or(word)))
}

#[test]
fn conversions_of_integers() {
    test_forms(|form| form.opcode() == "cvt" && !is_float(form));
}

#[test]
fn conversions_with_floats() {
    test_forms(|form| form.opcode() == "cvt" && is_float(form));
}

#[test]
fn comparisons() {
    test_forms(|form| COMPARISONS.contains(&form.opcode()));
}

fn is_arithmetic(form: &Form) -> bool {
    form.opcode() != "cvt" && !COMPARISONS.contains(&form.opcode())
}

#[test]
fn integers_bits_and_logic() {
    test_forms(|form| is_arithmetic(form) && !is_float(form));
}

#[test]
fn floats_and_halves() {
    test_forms(|form| is_arithmetic(form) && is_float(form));
}
