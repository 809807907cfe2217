//! Video instructions (PTX ISA 9.7.18) without operand selectors: on whole words, or on all halves or
//! bytes of them.

use super::Form;
use super::kernel::{op2x, op3x};
use super::words::{Kind, Words};

/// What is done with two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Add,
    Subtract,
    Difference,
    Minimum,
    Maximum,
    Average,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

const ACTIONS: [Action; 14] = [
    Action::Add,
    Action::Subtract,
    Action::Difference,
    Action::Minimum,
    Action::Maximum,
    Action::Average,
    Action::ShiftLeft,
    Action::ShiftRight,
    Action::Equal,
    Action::NotEqual,
    Action::Less,
    Action::LessEqual,
    Action::Greater,
    Action::GreaterEqual,
];

/// What is done with the result and `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    Add,
    Minimum,
    Maximum,
}

const THENS: [Then; 4] = [Then::Nothing, Then::Add, Then::Minimum, Then::Maximum];

/// A video instruction; it fits the extra bits.
#[derive(Debug, Clone, Copy)]
struct Video {
    action: Action,
    then: Then,
    signed: bool,
    signed_a: bool,
    signed_b: bool,
    saturate: bool,
    wrap: bool,
}

impl Video {
    fn pack(self) -> u32 {
        let flags = [self.signed, self.signed_a, self.signed_b, self.saturate, self.wrap];
        let bits = flags.iter().fold(0, |bits, flag| bits << 1 | u32::from(*flag));
        bits << 8 | (self.then as u32) << 4 | self.action as u32
    }

    fn unpack(bits: u32) -> Self {
        let flag = |at: u32| bits >> (12 - at) & 1 == 1;
        Self {
            action: ACTIONS[(bits as usize & 15).min(ACTIONS.len() - 1)],
            then: THENS[bits as usize >> 4 & 3],
            signed: flag(0),
            signed_a: flag(1),
            signed_b: flag(2),
            saturate: flag(3),
            wrap: flag(4),
        }
    }

    fn act(self, a: i64, b: i64) -> i64 {
        let amount = if self.wrap { b & 31 } else { b.min(32) };
        match self.action {
            Action::Add => a + b,
            Action::Subtract => a - b,
            Action::Difference => (a - b).abs(),
            Action::Minimum => a.min(b),
            Action::Maximum => a.max(b),
            Action::Average => (a + b + i64::from(a + b >= 0)) >> 1,
            Action::ShiftLeft => a << amount,
            Action::ShiftRight => a >> amount,
            Action::Equal => i64::from(a == b),
            Action::NotEqual => i64::from(a != b),
            Action::Less => i64::from(a < b),
            Action::LessEqual => i64::from(a <= b),
            Action::Greater => i64::from(a > b),
            Action::GreaterEqual => i64::from(a >= b),
        }
    }

    /// The result of two elements of so many bits.
    fn element(self, a: i64, b: i64, bits: u32) -> i64 {
        let result = self.act(a, b);
        match (self.saturate, self.signed) {
            (false, _) => result,
            (true, true) => result.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (true, false) => result.clamp(0, (1 << bits) - 1),
        }
    }

    /// All elements of two words, and what follows.
    fn elements(self, a: u32, b: u32, c: u32, bits: u32) -> u32 {
        let mut sum = c;
        let mut merged = 0;
        for at in 0..32 / bits {
            let (a, b) = (part(a, at, bits, self.signed_a), part(b, at, bits, self.signed_b));
            let result = self.element(a, b, bits);
            sum = sum.wrapping_add(result as u32);
            merged |= (result as u32 & (u32::MAX >> (32 - bits))) << (at * bits);
        }
        if self.then == Then::Add { sum } else { merged }
    }

    /// Two words, and what follows.
    fn words(self, a: u32, b: u32, c: u32) -> u32 {
        let result = self.element(part(a, 0, 32, self.signed_a), part(b, 0, 32, self.signed_b), 32);
        let result = result as u32;
        let before = |a: u32, b: u32| if self.signed { (a as i32) < b as i32 } else { a < b };
        match self.then {
            Then::Nothing => result,
            Then::Add => result.wrapping_add(c),
            Then::Minimum if before(c, result) => c,
            Then::Maximum if before(result, c) => c,
            Then::Minimum | Then::Maximum => result,
        }
    }
}

/// An element of a word, extended.
fn part(word: u32, at: u32, bits: u32, signed: bool) -> i64 {
    let moved = word >> (at * bits) << (32 - bits);
    if signed { i64::from(moved as i32 >> (32 - bits)) } else { i64::from(moved >> (32 - bits)) }
}

/// Finds a video instruction.
pub fn select(words: &mut Words<'_>) -> Option<Form> {
    if words.opcode == "vmad" {
        return vmad(words);
    }
    let name = words.opcode.trim_end_matches(['2', '4']);
    let size = words.opcode.strip_prefix(name)?;
    let comparisons = [
        ("eq", Action::Equal),
        ("ne", Action::NotEqual),
        ("lt", Action::Less),
        ("le", Action::LessEqual),
        ("gt", Action::Greater),
        ("ge", Action::GreaterEqual),
    ];
    let action = match name {
        "vadd" => Action::Add,
        "vsub" => Action::Subtract,
        "vabsdiff" => Action::Difference,
        "vmin" => Action::Minimum,
        "vmax" => Action::Maximum,
        "vavrg" => Action::Average,
        "vshl" => Action::ShiftLeft,
        "vshr" => Action::ShiftRight,
        _ => words.one_of(&comparisons)?,
    };
    let signed = if name == "vset" { false } else { is_signed(words)? };
    let (signed_a, signed_b) = (is_signed(words)?, is_signed(words)?);
    let shifts = matches!(action, Action::ShiftLeft | Action::ShiftRight);
    let wrap = shifts && words.one_of(&[("wrap", true), ("clamp", false)])?;
    let saturate = name != "vset" && words.take("sat");
    let mut thens = vec![("add", Then::Add)];
    if size.is_empty() {
        thens.extend([("min", Then::Minimum), ("max", Then::Maximum)]);
    }
    let then = words.one_of(&thens).unwrap_or(Then::Nothing);
    if shifts && signed_b || saturate && then == Then::Add && !size.is_empty() {
        return None;
    }
    let video = Video { action, then, signed, signed_a, signed_b, saturate, wrap };
    let form = match size {
        "2" => op3x(|a, b, c, x| Video::unpack(x).elements(a, b, c, 16)),
        "4" => op3x(|a, b, c, x| Video::unpack(x).elements(a, b, c, 8)),
        _ if then == Then::Nothing => op2x(|a, b, x| Video::unpack(x).words(a, b, 0)),
        _ => op3x(|a, b, c, x| Video::unpack(x).words(a, b, c)),
    };
    Some(form.with_extra(video.pack()))
}

fn is_signed(words: &mut Words<'_>) -> Option<bool> {
    match words.kind()? {
        Kind::U32 => Some(false),
        Kind::S32 => Some(true),
        _ => None,
    }
}

const MORE: u32 = 1 << 8;
const SATURATE: u32 = 2 << 8;
const SIGNED_A: u32 = 4 << 8;
const SIGNED_B: u32 = 8 << 8;

/// `vmad`: `a * b + c`, with `.po` one more, scaled and saturated.
fn vmad(words: &mut Words<'_>) -> Option<Form> {
    let _ = is_signed(words)?;
    let (a, b) = (is_signed(words)?, is_signed(words)?);
    let mut extra = words.one_of(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0);
    for (set, flag) in
        [(words.take("po"), MORE), (words.take("sat"), SATURATE), (a, SIGNED_A), (b, SIGNED_B)]
    {
        extra |= if set { flag } else { 0 };
    }
    Some(op3x(multiply_add).with_extra(extra))
}

fn multiply_add(a: u32, b: u32, c: u32, x: u32) -> u32 {
    let signed = x & (SIGNED_A | SIGNED_B) != 0;
    let a = i128::from(part(a, 0, 32, x & SIGNED_A != 0));
    let b = i128::from(part(b, 0, 32, x & SIGNED_B != 0));
    let c = i128::from(part(c, 0, 32, signed));
    let sum = a * b + c + i128::from(x & MORE != 0);
    let scaled = sum >> (x & 0xff);
    if x & SATURATE == 0 {
        return scaled as u32;
    }
    if signed {
        scaled.clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as u32
    } else {
        scaled.clamp(0, i128::from(u32::MAX)) as u32
    }
}
