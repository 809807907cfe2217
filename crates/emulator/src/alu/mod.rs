//! Instructions that compute registers from registers, lane by lane: all arithmetic, logic,
//! comparison, selection and conversion of the PTX ISA (9.7.1 to 9.7.8).
//!
//! [`select`] turns a form (opcode, modifiers in any order, widths of the operands' registers) into
//! a function over rows. What it doesn't know it refuses by name.

use crate::lanes::{Lanes, Row, Width};

/// The rows of an instruction's operands. Unused ones are row 0, which every warp keeps zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rows {
    /// The result.
    pub d: Row,
    /// The second result of `setp` with a pair, or of `add.cc`.
    pub e: Row,
    /// Sources.
    pub a: Row,
    /// Sources.
    pub b: Row,
    /// Sources.
    pub c: Row,
    /// The fourth source: the predicate of `setp.lt.and`, the carry of `addc`.
    pub f: Row,
    /// What the form fixes besides operands: a `lop3` table, a `prmt` mode.
    pub extra: u32,
}

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
    /// The function.
    pub compute: Compute,
    /// The results, in the order of the text: `d` and, of a pair `p|q`, `e`.
    pub results: Vec<Slot>,
    /// The sources in the order of the text: a, b, c, f.
    pub sources: Vec<Slot>,
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
