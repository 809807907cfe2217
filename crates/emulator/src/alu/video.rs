//! SIMD video instructions (PTX ISA 9.7.18) on all halves or bytes of words, without selectors of
//! operands. Those on whole words are refused: hardware computes them in software, and not as the
//! ISA says.

use super::Form;
use super::kernel::op3x;
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
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

const ACTIONS: [Action; 12] = [
    Action::Add,
    Action::Subtract,
    Action::Difference,
    Action::Minimum,
    Action::Maximum,
    Action::Average,
    Action::Equal,
    Action::NotEqual,
    Action::Less,
    Action::LessEqual,
    Action::Greater,
    Action::GreaterEqual,
];

/// A video instruction; it fits the extra bits.
#[derive(Debug, Clone, Copy)]
struct Video {
    action: Action,
    signed: bool,
    signed_a: bool,
    signed_b: bool,
    saturate: bool,
    /// The elements' results are added to `c`.
    sum: bool,
}

impl Video {
    fn pack(self) -> u32 {
        let flags = [self.signed, self.signed_a, self.signed_b, self.saturate, self.sum];
        let bits = flags.iter().rev().fold(0, |bits, flag| bits << 1 | u32::from(*flag));
        bits << 4 | self.action as u32
    }

    fn unpack(bits: u32) -> Self {
        let flag = |at: u32| bits >> (4 + at) & 1 == 1;
        Self {
            action: ACTIONS[(bits as usize & 15).min(ACTIONS.len() - 1)],
            signed: flag(0),
            signed_a: flag(1),
            signed_b: flag(2),
            saturate: flag(3),
            sum: flag(4),
        }
    }

    fn act(self, a: i32, b: i32) -> i32 {
        match self.action {
            Action::Add => a + b,
            Action::Subtract => a - b,
            Action::Difference => (a - b).abs(),
            Action::Minimum => a.min(b),
            Action::Maximum => a.max(b),
            Action::Average => (a + b + i32::from(a + b >= 0)) >> 1,
            Action::Equal => i32::from(a == b),
            Action::NotEqual => i32::from(a != b),
            Action::Less => i32::from(a < b),
            Action::LessEqual => i32::from(a <= b),
            Action::Greater => i32::from(a > b),
            Action::GreaterEqual => i32::from(a >= b),
        }
    }

    /// The result of two elements of so many bits.
    fn element(self, a: i32, b: i32, bits: u32) -> i32 {
        let result = self.act(a, b);
        match (self.saturate, self.signed) {
            (false, _) => result,
            (true, true) => result.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (true, false) => result.clamp(0, (1 << bits) - 1),
        }
    }

    /// All elements of two words: put together, or added to `c`.
    fn elements(self, a: u32, b: u32, c: u32, bits: u32) -> u32 {
        let mut sum = c;
        let mut merged = 0;
        for at in 0..32 / bits {
            let (a, b) = (part(a, at, bits, self.signed_a), part(b, at, bits, self.signed_b));
            let result = self.element(a, b, bits) as u32;
            sum = sum.wrapping_add(result);
            merged |= (result & (u32::MAX >> (32 - bits))) << (at * bits);
        }
        if self.sum { sum } else { merged }
    }
}

/// An element of a word, extended.
fn part(word: u32, at: u32, bits: u32, signed: bool) -> i32 {
    let moved = word >> (at * bits) << (32 - bits);
    if signed { moved as i32 >> (32 - bits) } else { (moved >> (32 - bits)) as i32 }
}

/// Finds a video instruction.
pub fn select(words: &mut Words<'_>) -> Option<Form> {
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
        "vset" => words.one_of(&comparisons)?,
        _ => return None,
    };
    let signed = if name == "vset" { false } else { is_signed(words)? };
    let (signed_a, signed_b) = (is_signed(words)?, is_signed(words)?);
    let saturate = name != "vset" && words.take("sat");
    let sum = !saturate && words.take("add");
    let video = Video { action, signed, signed_a, signed_b, saturate, sum };
    let form = match size {
        "2" => op3x(|a, b, c, x| Video::unpack(x).elements(a, b, c, 16)),
        "4" => op3x(|a, b, c, x| Video::unpack(x).elements(a, b, c, 8)),
        _ => return None,
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
