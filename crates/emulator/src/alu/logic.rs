//! Logic, shifts, permutations and moves (PTX ISA 9.7.8, 9.7.9.1, 9.7.9.7).

use super::integer::by_size;
use super::kernel::{masks, op1, op2, op3, op4x};
use super::words::{Kind, Words};
use super::{Form, NEGATED};

/// Finds a form of logic.
pub fn select(words: &mut Words<'_>) -> Option<Form> {
    let kind = words.kind()?;
    Some(match words.opcode {
        "and" if kind == Kind::Pred => masks(2, |a, b| a & b),
        "or" if kind == Kind::Pred => masks(2, |a, b| a | b),
        "xor" if kind == Kind::Pred => masks(2, |a, b| a ^ b),
        "not" if kind == Kind::Pred => masks(1, |a, _| !a),
        "and" if is_bits(kind) => by_size!(kind, T => op2(|a: T, b: T| a & b)),
        "or" if is_bits(kind) => by_size!(kind, T => op2(|a: T, b: T| a | b)),
        "xor" if is_bits(kind) => by_size!(kind, T => op2(|a: T, b: T| a ^ b)),
        "not" if is_bits(kind) => by_size!(kind, T => op1(|a: T| !a)),
        "cnot" if is_bits(kind) => by_size!(kind, T => op1(|a: T| T::from(a == 0))),
        "shl" if is_bits(kind) => by_size!(kind, T => op2(|a: T, b: u32| shl!(T, a, b))),
        "shr" => shr(kind)?,
        "shf" if kind == Kind::B32 => shf(words)?,
        "lop3" if kind == Kind::B32 => lop3(words)?,
        "prmt" if kind == Kind::B32 => prmt(words),
        "mov" => mov(kind)?,
        _ => return None,
    })
}

fn is_bits(kind: Kind) -> bool {
    matches!(kind, Kind::B16 | Kind::B32 | Kind::B64)
}

/// Amounts past the width are clamped to it (9.7.8.7).
macro_rules! shl {
    ($T:ident, $a:ident, $b:ident) => {
        if $b < $T::BITS { $a << ($b & ($T::BITS - 1)) } else { 0 }
    };
}
use shl;

fn shr(kind: Kind) -> Option<Form> {
    macro_rules! unsigned {
        ($T:ident) => {
            op2(|a: $T, b: u32| if b < $T::BITS { a >> (b & ($T::BITS - 1)) } else { 0 })
        };
    }
    macro_rules! signed {
        ($T:ident) => {
            op2(|a: $T, b: u32| a >> b.min($T::BITS - 1))
        };
    }
    Some(match kind {
        Kind::U16 | Kind::B16 => unsigned!(u16),
        Kind::U32 | Kind::B32 => unsigned!(u32),
        Kind::U64 | Kind::B64 => unsigned!(u64),
        Kind::S16 => signed!(i16),
        Kind::S32 => signed!(i32),
        Kind::S64 => signed!(i64),
        _ => return None,
    })
}

/// The funnel shift: of `b:a`, the upper half shifted left or the lower shifted right.
fn shf(words: &mut Words<'_>) -> Option<Form> {
    let left = words.one_of(&[("l", true), ("r", false)])?;
    let clamp = words.one_of(&[("clamp", true), ("wrap", false)])?;
    Some(match (left, clamp) {
        (true, true) => op3(|a, b, c: u32| if c < 32 { upper(a, b, c) } else { a }),
        (true, false) => op3(upper),
        (false, true) => op3(|a, b, c: u32| if c < 32 { lower(a, b, c) } else { b }),
        (false, false) => op3(lower),
    })
}

/// The upper word of `b:a` shifted left by up to 31.
#[inline(always)]
fn upper(a: u32, b: u32, amount: u32) -> u32 {
    let amount = amount & 31;
    b << amount | a >> 1 >> (31 - amount)
}

/// The lower word of `b:a` shifted right by up to 31.
#[inline(always)]
fn lower(a: u32, b: u32, amount: u32) -> u32 {
    let amount = amount & 31;
    a >> amount | b << 1 << (31 - amount)
}

/// What a truth table makes of three words, by halving the table with each.
fn look_up(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let row = |at: u32| (table >> at & 1).wrapping_neg();
    let by_c = |at: u32| row(at) ^ c & (row(at) ^ row(at + 1));
    let choose = |with: u32, no: u32, yes: u32| no ^ with & (no ^ yes);
    choose(a, choose(b, by_c(0), by_c(2)), choose(b, by_c(4), by_c(6)))
}

fn lop3(words: &mut Words<'_>) -> Option<Form> {
    let test = |f: bool, x: u32| f != (x & NEGATED != 0);
    let form = if words.take("or") {
        op4x(move |a, b, c, f: bool, x| {
            let d = look_up(a, b, c, x);
            (d, (d != 0) | test(f, x))
        })
    } else if words.take("and") {
        op4x(move |a, b, c, f: bool, x| {
            let d = look_up(a, b, c, x);
            (d, (d != 0) & test(f, x))
        })
    } else {
        op4x(|a, b, c, (): (), x| look_up(a, b, c, x))
    };
    Some(Form { immediate: Some(3), ..form })
}

/// Byte `selector & 7` of `b:a`, or its sign eight times where bit 3 is set.
fn pick(a: u32, b: u32, selector: u32) -> u32 {
    let word = if selector & 4 == 0 { a } else { b };
    let byte = word >> (8 * (selector & 3)) & 0xff;
    let sign = (byte >> 7).wrapping_neg() & 0xff;
    if selector & 8 == 0 { byte } else { sign }
}

/// The four selectors of a mode's row (9.7.9.7, the table of modes), lowest byte first.
fn permute(a: u32, b: u32, rows: [u32; 4], control: u32) -> u32 {
    gather(a, b, rows[control as usize & 3])
}

fn gather(a: u32, b: u32, selectors: u32) -> u32 {
    let byte = |at: u32| pick(a, b, selectors >> (4 * at)) << (8 * at);
    byte(0) | byte(1) | byte(2) | byte(3)
}

fn prmt(words: &mut Words<'_>) -> Form {
    if words.take("f4e") {
        op3(|a, b, c| permute(a, b, [0x3210, 0x4321, 0x5432, 0x6543], c))
    } else if words.take("b4e") {
        op3(|a, b, c| permute(a, b, [0x5670, 0x6701, 0x7012, 0x0123], c))
    } else if words.take("rc8") {
        op3(|a, b, c| permute(a, b, [0x0000, 0x1111, 0x2222, 0x3333], c))
    } else if words.take("ecl") {
        op3(|a, b, c| permute(a, b, [0x3210, 0x3211, 0x3222, 0x3333], c))
    } else if words.take("ecr") {
        op3(|a, b, c| permute(a, b, [0x0000, 0x1110, 0x2210, 0x3210], c))
    } else if words.take("rc16") {
        op3(|a, b, c| permute(a, b, [0x1010, 0x3232, 0x1010, 0x3232], c))
    } else {
        op3(gather)
    }
}

fn mov(kind: Kind) -> Option<Form> {
    Some(match kind {
        Kind::Pred => masks(1, |a, _| a),
        Kind::B16 | Kind::U16 | Kind::S16 => op1(|a: u16| a),
        Kind::B32 | Kind::U32 | Kind::S32 => op1(|a: u32| a),
        Kind::B64 | Kind::U64 | Kind::S64 => op1(|a: u64| a),
        Kind::F32 => op1(|a: f32| a),
        Kind::F64 => op1(|a: f64| a),
        Kind::B128 => op1(|a: u128| a),
        _ => return None,
    })
}
