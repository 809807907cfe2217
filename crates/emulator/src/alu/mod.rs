//! Instructions that compute registers from registers, lane by lane: all arithmetic, logic,
//! comparison, selection and conversion of the PTX ISA (9.7.1 to 9.7.8).
//!
//! [`select`] turns a form (opcode, modifiers in any order, widths of the operands' registers) into
//! a function over rows. What it doesn't know it refuses by name.

use crate::lanes::{Lanes, Row, Width};

mod approximate;
mod bits;
mod casts;
mod compare;
mod convert;
mod float;
mod half;
mod integer;
mod kernel;
mod logic;
mod narrow;
mod pairs;
mod rules;
mod soft;
mod video;
mod words;

use words::Words;

/// The rows of an instruction's operands. Unused ones are row 0, which every warp keeps zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rows {
    /// The result.
    pub d: Row,
    /// The second result of a pair `p|q`, or the carry that is written.
    pub e: Row,
    /// Sources.
    pub a: Row,
    /// Sources.
    pub b: Row,
    /// Sources.
    pub c: Row,
    /// The fourth source, or the carry that is read.
    pub f: Row,
    /// What the form fixes besides operands: a `lop3` table, a `prmt` mode.
    pub extra: u32,
}

/// Added to [`Rows::extra`] where a predicate source is negated (`!%p`): that of `setp`, `set`,
/// `selp` and `lop3`.
pub const NEGATED: u32 = 0x100;

/// Computes the lanes of a mask.
pub type Compute = fn(&mut Lanes, &Rows, u32);

/// What an operand of a form is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// How wide its row is.
    pub width: Width,
    /// How an immediate in its place is read: a decimal or `0d` float for an `.f32` operand becomes
    /// `f32` bits and so on.
    pub float: Option<Width>,
}

/// A form that was found.
#[derive(Debug, Clone)]
pub struct Form {
    /// The function, for this processor.
    pub compute: Compute,
    /// The same function for any processor: slower, with the same results.
    pub portable: Compute,
    /// The results, in the order of the text: `d` and, of a pair `p|q`, `e`.
    pub results: Vec<Slot>,
    /// The sources in the order of the text: a, b, c, f.
    pub sources: Vec<Slot>,
    /// Which operand of the text, counted from the first source, is an integer constant that goes
    /// to [`Rows::extra`], added to what `extra` says: the table of `lop3`. It has no slot in
    /// `sources`.
    pub immediate: Option<usize>,
    /// See [`Rows::extra`].
    pub extra: u32,
    /// Whether the condition code register is read; its row is then `f`.
    pub reads_carry: bool,
    /// Whether the condition code register is written; its row is then `e`.
    pub writes_carry: bool,
    /// Whether the result's bits are the hardware's own (`ex2.approx`, `sin.approx`): what is
    /// computed here is the correctly rounded value or within the documented error.
    pub approximate: bool,
}

impl Form {
    /// Whether registers are as wide as the rows that the function reads and writes.
    fn fits(&self, widths: &[Option<Width>]) -> bool {
        let mut slots: Vec<Option<Slot>> =
            self.results.iter().chain(&self.sources).copied().map(Some).collect();
        if let Some(position) = self.immediate {
            slots.insert(self.results.len() + position, None);
        }
        let fits = |(slot, width): (&Option<Slot>, &Option<Width>)| match (slot, width) {
            (Some(slot), Some(width)) => slot.width == *width,
            _ => true,
        };
        widths.len() == slots.len() && slots.iter().zip(widths).all(fits)
    }

    fn with_extra(self, extra: u32) -> Self {
        Self { extra, ..self }
    }
}

/// An instruction that is not implemented, or does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{what}` is not emulated")]
pub struct Refused {
    /// The opcode with its suffixes, as written.
    pub what: String,
}

/// Finds a form. `None` if the opcode computes no registers from registers (`ld`, `bra`, `shfl`).
///
/// The widths are those of the operands' registers in the order of the text, results first, a pair
/// `p|q` counting as two, `None` for what is no register. Their number tells `setp` with a pair
/// from `setp` without one; their values matter to `cvt`, whose registers may be wider than its
/// types. A register of another width than the operand has is refused.
pub fn select(
    opcode: &str,
    modifiers: &[String],
    widths: &[Option<Width>],
) -> Result<Option<Form>, Refused> {
    let Some(family) = family(opcode) else { return Ok(None) };
    let mut words = Words::new(opcode, modifiers, widths);
    match family(&mut words) {
        Some(form) if words.is_empty() && form.fits(widths) => Ok(Some(form)),
        _ => Err(words.refused()),
    }
}

type Family = fn(&mut Words<'_>) -> Option<Form>;

fn family(opcode: &str) -> Option<Family> {
    Some(match opcode {
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "abs" | "neg" | "min" | "max" => arithmetic,
        "mul24" | "mad24" | "sad" | "rem" | "dp4a" | "dp2a" | "addc" | "subc" | "madc" => {
            integer::select
        }
        "popc" | "clz" | "bfind" | "fns" | "bfe" | "bfi" | "brev" | "szext" | "bmsk" => {
            bits::select
        }
        "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "copysign" => {
            float::select
        }
        "setp" | "set" | "selp" | "slct" | "testp" => compare::select,
        "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "shf" | "shl" | "shr" | "prmt" | "mov" => {
            logic::select
        }
        "cvt" => convert::select,
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vset"
        | "vadd2" | "vsub2" | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4"
        | "vsub4" | "vavrg4" | "vabsdiff4" | "vmin4" | "vmax4" | "vset4" => video::select,
        _ => return None,
    })
}

/// The opcodes that integers and floats share.
fn arithmetic(words: &mut Words<'_>) -> Option<Form> {
    if words.has_integer_kind() { integer::select(words) } else { float::select(words) }
}
