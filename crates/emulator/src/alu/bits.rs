//! Bit fields and counts (PTX ISA 9.7.1).

use super::Form;
use super::integer::by_kind;
use super::kernel::{op1, op2, op3, op4};
use super::words::{Kind, Words};

/// Finds a form over bits.
pub fn select(words: &mut Words<'_>) -> Option<Form> {
    let kind = words.kind()?;
    Some(match (words.opcode, kind) {
        ("popc", Kind::B32) => op1(u32::count_ones),
        ("popc", Kind::B64) => op1(u64::count_ones),
        ("clz", Kind::B32) => op1(u32::leading_zeros),
        ("clz", Kind::B64) => op1(u64::leading_zeros),
        ("brev", Kind::B32) => op1(u32::reverse_bits),
        ("brev", Kind::B64) => op1(u64::reverse_bits),
        ("bfind", Kind::U32 | Kind::S32 | Kind::U64 | Kind::S64) => bfind(words, kind)?,
        ("fns", Kind::B32) => op3(fns),
        ("bfe", Kind::U32) => op3(|a: u32, b, c| extract(u64::from(a), b, c, 31, false) as u32),
        ("bfe", Kind::S32) => op3(|a: u32, b, c| extract(u64::from(a), b, c, 31, true) as u32),
        ("bfe", Kind::U64) => op3(|a, b, c| extract(a, b, c, 63, false)),
        ("bfe", Kind::S64) => op3(|a, b, c| extract(a, b, c, 63, true)),
        ("bfi", Kind::B32) => {
            op4(|a: u32, b: u32, c, f| insert(u64::from(a), u64::from(b), c, f, 31) as u32)
        }
        ("bfi", Kind::B64) => op4(|a, b, c, f| insert(a, b, c, f, 63)),
        ("szext", Kind::U32 | Kind::S32) => szext(words, kind)?,
        ("bmsk", Kind::B32) if words.take("clamp") => op2(bmsk::<true>),
        ("bmsk", Kind::B32) if words.take("wrap") => op2(bmsk::<false>),
        _ => return None,
    })
}

/// `bfind`: the highest bit that is set, of a negative number the highest that is not.
fn bfind(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    macro_rules! zeros {
        ($T:ident, $a:ident) => {{
            #[allow(unused_comparisons, reason = "of unsigned types none is negative")]
            let found = if $a < 0 { !$a } else { $a };
            found.leading_zeros()
        }};
    }
    Some(if words.take("shiftamt") {
        by_kind!(kind, T => op1(|a: T| {
            let zeros = zeros!(T, a);
            if zeros == T::BITS { u32::MAX } else { zeros }
        }))
    } else {
        by_kind!(kind, T => op1(|a: T| (T::BITS - 1).wrapping_sub(zeros!(T, a))))
    })
}

/// The n-th set bit from a place (9.7.1, `fns`).
fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    if offset == 0 {
        let set = mask.checked_shr(base).unwrap_or(0) & 1 == 1;
        return if set { base } else { u32::MAX };
    }
    let mut position = i64::from(base as i32);
    let mut left = offset.unsigned_abs() - 1;
    while (0..32).contains(&position) {
        if mask >> position & 1 == 1 {
            if left == 0 {
                return position as u32;
            }
            left -= 1;
        }
        position += i64::from(offset.signum());
    }
    u32::MAX
}

/// The low bits, so many.
fn low_bits(length: u32) -> u64 {
    if length >= 64 { u64::MAX } else { (1 << length) - 1 }
}

/// `bfe`: the field's bits past `top` are the sign where it is signed, else zero.
fn extract(a: u64, position: u32, length: u32, top: u32, signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if length == 0 {
        return 0;
    }
    let sign = signed && a >> (position + length - 1).min(top) & 1 == 1;
    let available = (top + 1).saturating_sub(position).min(length);
    let field = a.checked_shr(position).unwrap_or(0) & low_bits(available);
    if sign { field | !low_bits(available) } else { field }
}

/// `bfi`: the low bits of `a` put into `b`.
fn insert(a: u64, b: u64, position: u32, length: u32, top: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if position > top {
        return b;
    }
    let field = low_bits(length) << position;
    b & !field | a << position & field
}

fn szext(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    let signed = kind == Kind::S32;
    let clamp = words.one_of(&[("clamp", true), ("wrap", false)])?;
    Some(match (signed, clamp) {
        (true, true) => op2(extend::<true, true>),
        (true, false) => op2(extend::<true, false>),
        (false, true) => op2(extend::<false, true>),
        (false, false) => op2(extend::<false, false>),
    })
}

/// `szext`: the low `b` bits of `a`, extended; all of `a` where `b` is clamped.
fn extend<const SIGNED: bool, const CLAMP: bool>(a: u32, b: u32) -> u32 {
    let width = b & 31;
    if CLAMP && b >= 32 {
        return a;
    }
    if width == 0 {
        return 0;
    }
    let rest = 32 - width;
    if SIGNED { ((a << rest) as i32 >> rest) as u32 } else { a << rest >> rest }
}

/// `bmsk`: `b` ones from bit `a` on.
fn bmsk<const CLAMP: bool>(a: u32, b: u32) -> u32 {
    if CLAMP && a >= 32 {
        return 0;
    }
    let length = if CLAMP && b >= 32 { 32 } else { b & 31 };
    (low_bits(length) << (a & 31)) as u32
}
