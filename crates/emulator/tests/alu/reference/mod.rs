//! What forms should give, computed another way than by the code under test: integers in 128 bits,
//! bits one by one, floats by `rustc_apfloat`.

mod bits;
mod compare;
mod convert;
mod floats;
mod integer;

use crate::forms::Form;
pub use floats::{decoded, layout};

/// What a form should give.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// These results, bit for bit.
    Exactly(Vec<u128>),
    /// Numbers of a float type, packed from the lowest, each within an error of a value.
    Within { kind: &'static str, values: Vec<Near> },
}

/// A value and the error allowed: absolute, or relative to the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The exact value, or nearly so; NaN for any NaN.
    pub value: f64,
    /// Allowed absolute error.
    pub absolute: f64,
    /// Allowed error relative to the value.
    pub relative: f64,
}

impl Expected {
    /// One result.
    pub fn one(value: u128) -> Self {
        Self::Exactly(vec![value])
    }
}

/// A form's words, and its operands.
pub struct Case<'a> {
    /// The form.
    pub form: &'a Form,
    /// The sources' bits.
    pub sources: &'a [u128],
    /// Whether a predicate source is negated.
    pub negated: bool,
}

impl Case<'_> {
    /// Whether a word stands after the opcode.
    pub fn has(&self, word: &str) -> bool {
        self.form.modifiers().contains(&word)
    }

    /// The types, in their order.
    pub fn types(&self) -> Vec<String> {
        let is_type = |word: &&str| {
            let start = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'x');
            matches!(start, "u" | "s" | "b" | "f" | "bf" | "pred" | "tf") && *word != "b4e"
                || word.starts_with('e') && word.ends_with("x2")
        };
        self.form.modifiers().into_iter().filter(is_type).map(str::to_owned).collect()
    }

    /// The last type, which most forms have only.
    pub fn kind(&self) -> String {
        self.types().pop().unwrap()
    }
}

/// What a case should give.
pub fn expected(case: &Case<'_>) -> Expected {
    match case.form.opcode() {
        "setp" | "set" | "selp" | "slct" | "testp" => compare::expected(case),
        "cvt" => convert::expected(case),
        "popc" | "clz" | "brev" | "bfind" | "fns" | "bfe" | "bfi" | "szext" | "bmsk" | "and"
        | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "lop3" | "prmt" | "mov" => {
            bits::expected(case)
        }
        _ if case.kind().contains('f') => floats::expected(case),
        _ => integer::expected(case),
    }
}

/// Bits of an integer type, and whether it is signed.
pub fn shape(kind: &str) -> (u32, bool) {
    let bits = kind[1..].trim_end_matches("x2").parse().unwrap();
    (bits, kind.starts_with('s'))
}

/// Low bits as a number.
pub fn number(value: u128, bits: u32, signed: bool) -> i128 {
    let low = value & ones(bits);
    if signed && low >> (bits - 1) & 1 == 1 { low as i128 - (1 << bits) } else { low as i128 }
}

/// So many ones.
pub fn ones(bits: u32) -> u128 {
    if bits == 0 { 0 } else { u128::MAX >> (128 - bits) }
}

/// The limits of an integer type.
pub fn limits(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}
