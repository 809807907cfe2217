//! Integer arithmetic (PTX ISA 9.7.1) and extended precision (9.7.2).

use super::Form;
use super::casts;
use super::kernel::{op1, op2, op3, op4};
use super::words::{Kind, Words};

/// The form for a type of 16, 32 or 64 bits, signed or not: `$T` is the type in the expression.
macro_rules! by_kind {
    ($kind:expr, $T:ident => $form:expr) => {{
        match $kind {
            Kind::U16 => {
                type $T = u16;
                $form
            }
            Kind::S16 => {
                type $T = i16;
                $form
            }
            Kind::U32 => {
                type $T = u32;
                $form
            }
            Kind::S32 => {
                type $T = i32;
                $form
            }
            Kind::U64 => {
                type $T = u64;
                $form
            }
            Kind::S64 => {
                type $T = i64;
                $form
            }
            _ => return None,
        }
    }};
}

/// The form for a type whose sign doesn't matter.
macro_rules! by_size {
    ($kind:expr, $T:ident => $form:expr) => {{
        match $kind {
            Kind::U16 | Kind::S16 | Kind::B16 => {
                type $T = u16;
                $form
            }
            Kind::U32 | Kind::S32 | Kind::B32 => {
                type $T = u32;
                $form
            }
            Kind::U64 | Kind::S64 | Kind::B64 => {
                type $T = u64;
                $form
            }
            _ => return None,
        }
    }};
}

/// The form for a signed type.
macro_rules! by_signed {
    ($kind:expr, $T:ident => $form:expr) => {{
        match $kind {
            Kind::S16 => {
                type $T = i16;
                $form
            }
            Kind::S32 => {
                type $T = i32;
                $form
            }
            Kind::S64 => {
                type $T = i64;
                $form
            }
            _ => return None,
        }
    }};
}

/// The form for a type whose products fit a next wider one, `$W`.
macro_rules! by_widened {
    ($kind:expr, $T:ident, $W:ident => $form:expr) => {{
        match $kind {
            Kind::U16 => {
                type $T = u16;
                type $W = u32;
                $form
            }
            Kind::S16 => {
                type $T = i16;
                type $W = i32;
                $form
            }
            Kind::U32 => {
                type $T = u32;
                type $W = u64;
                $form
            }
            Kind::S32 => {
                type $T = i32;
                type $W = i64;
                $form
            }
            Kind::U64 => {
                type $T = u64;
                type $W = u128;
                $form
            }
            Kind::S64 => {
                type $T = i64;
                type $W = i128;
                $form
            }
            _ => return None,
        }
    }};
}
pub(super) use {by_kind, by_signed, by_size};

/// Finds a form of integer arithmetic.
pub fn select(words: &mut Words<'_>) -> Option<Form> {
    let kind = words.kind()?;
    if matches!(kind, Kind::U16x2 | Kind::S16x2) {
        return packed(words, kind);
    }
    let opcode = words.opcode;
    Some(match opcode {
        "add" | "sub" if words.take("cc") => extended(words, kind, false, true)?,
        "mad" if words.take("cc") => mad_carry(words, kind, false, true)?,
        "addc" | "subc" => {
            let writes = words.take("cc");
            extended(words, kind, true, writes)?
        }
        "madc" => {
            let writes = words.take("cc");
            mad_carry(words, kind, true, writes)?
        }
        "add" if words.take("sat") => saturated(kind, op2(i32::saturating_add))?,
        "sub" if words.take("sat") => saturated(kind, op2(i32::saturating_sub))?,
        "add" => by_size!(kind, T => op2(T::wrapping_add)),
        "sub" => by_size!(kind, T => op2(T::wrapping_sub)),
        "mul" => mul(words, kind)?,
        "mad" => mad(words, kind)?,
        "mul24" => mul24(words, kind)?,
        "mad24" => mad24(words, kind)?,
        "sad" => by_kind!(kind, T => op3(|a: T, b: T, c: T| c.wrapping_add(a.abs_diff(b) as T))),
        // Division by zero gives a value that the ISA leaves open; hardware's is all ones.
        "div" if kind == Kind::S32 => op2(divide_signed),
        "div" if kind == Kind::U32 => op2(divide_unsigned),
        "rem" if kind == Kind::S32 => op2(|a: i32, b: i32| {
            let rest = a.wrapping_sub(divide_signed(a, b).wrapping_mul(b));
            if b == 0 { !0 } else { rest }
        }),
        "rem" if kind == Kind::U32 => op2(|a: u32, b: u32| {
            let rest = a.wrapping_sub(divide_unsigned(a, b).wrapping_mul(b));
            if b == 0 { !0 } else { rest }
        }),
        "div" => by_kind!(kind, T => op2(|a: T, b: T| if b == 0 { !0 } else { a.wrapping_div(b) })),
        "rem" => by_kind!(kind, T => op2(|a: T, b: T| if b == 0 { !0 } else { a.wrapping_rem(b) })),
        "abs" => by_signed!(kind, T => op1(T::wrapping_abs)),
        "neg" => by_signed!(kind, T => op1(T::wrapping_neg)),
        "min" if words.take("relu") => saturated(kind, op2(|a: i32, b: i32| a.min(b).max(0)))?,
        "max" if words.take("relu") => saturated(kind, op2(|a: i32, b: i32| a.max(b).max(0)))?,
        "min" => by_kind!(kind, T => op2(|a: T, b: T| a.min(b))),
        "max" => by_kind!(kind, T => op2(|a: T, b: T| a.max(b))),
        "dp4a" => dp4a(words, kind)?,
        "dp2a" => dp2a(words, kind)?,
        _ => return None,
    })
}

/// A quotient by way of `f64`, which is exact: from the integer above, a quotient of 32-bit numbers
/// is further away than half a unit in its last place.
#[inline(always)]
fn divide_signed(a: i32, b: i32) -> i32 {
    let quotient = casts::i32_of_f64(f64::from(a) / f64::from(b));
    let quotient = if b == -1 { a.wrapping_neg() } else { quotient };
    if b == 0 { !0 } else { quotient }
}

/// As [`divide_signed`].
#[inline(always)]
fn divide_unsigned(a: u32, b: u32) -> u32 {
    let quotient = casts::u32_of_f64(f64::from(a) / f64::from(b));
    if b == 0 { !0 } else { quotient }
}

/// What only `.s32` has.
fn saturated(kind: Kind, form: Form) -> Option<Form> {
    (kind == Kind::S32).then_some(form)
}

/// Which part of a product is kept.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Low,
    High,
    Wide,
}

fn part(words: &mut Words<'_>) -> Option<Part> {
    words.one_of(&[("lo", Part::Low), ("hi", Part::High), ("wide", Part::Wide)])
}

fn mul(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    Some(match part(words)? {
        Part::Low => by_size!(kind, T => op2(T::wrapping_mul)),
        Part::High => by_widened!(kind, T, W => op2(|a: T, b: T| {
            ((W::from(a) * W::from(b)) >> T::BITS) as T
        })),
        Part::Wide => match kind {
            Kind::U16 => op2(|a: u16, b: u16| u32::from(a) * u32::from(b)),
            Kind::S16 => op2(|a: i16, b: i16| i32::from(a) * i32::from(b)),
            Kind::U32 => op2(|a: u32, b: u32| u64::from(a) * u64::from(b)),
            Kind::S32 => op2(|a: i32, b: i32| i64::from(a) * i64::from(b)),
            _ => return None,
        },
    })
}

fn mad(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    let saturate = words.take("sat");
    let part = part(words)?;
    if saturate {
        let high = |a: i32, b: i32, c: i32| {
            (((i64::from(a) * i64::from(b)) >> 32) as i32).saturating_add(c)
        };
        return if part == Part::High { saturated(kind, op3(high)) } else { None };
    }
    Some(match part {
        Part::Low => by_size!(kind, T => op3(|a: T, b: T, c: T| a.wrapping_mul(b).wrapping_add(c))),
        Part::High => by_widened!(kind, T, W => op3(|a: T, b: T, c: T| {
            (((W::from(a) * W::from(b)) >> T::BITS) as T).wrapping_add(c)
        })),
        Part::Wide => match kind {
            Kind::U16 => {
                op3(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c))
            }
            Kind::S16 => {
                op3(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c))
            }
            Kind::U32 => {
                op3(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c))
            }
            Kind::S32 => {
                op3(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c))
            }
            _ => return None,
        },
    })
}

/// The 48-bit product of the low 24 bits, zero extended.
fn product24u(a: u32, b: u32) -> u64 {
    u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
}

/// The 48-bit product of the low 24 bits, sign extended.
fn product24s(a: i32, b: i32) -> i64 {
    i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8)
}

fn mul24(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    Some(match (part(words)?, kind) {
        (Part::Low, Kind::U32) => op2(|a, b| product24u(a, b) as u32),
        (Part::Low, Kind::S32) => op2(|a, b| product24s(a, b) as i32),
        (Part::High, Kind::U32) => op2(|a, b| (product24u(a, b) >> 16) as u32),
        (Part::High, Kind::S32) => op2(|a, b| (product24s(a, b) >> 16) as i32),
        _ => return None,
    })
}

fn mad24(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    let saturate = words.take("sat");
    Some(match (part(words)?, kind) {
        (Part::High, Kind::S32) if saturate => {
            op3(|a, b, c: i32| ((product24s(a, b) >> 16) as i32).saturating_add(c))
        }
        _ if saturate => return None,
        (Part::Low, Kind::U32) => op3(|a, b, c| (product24u(a, b) as u32).wrapping_add(c)),
        (Part::Low, Kind::S32) => op3(|a, b, c| (product24s(a, b) as i32).wrapping_add(c)),
        (Part::High, Kind::U32) => op3(|a, b, c| ((product24u(a, b) >> 16) as u32).wrapping_add(c)),
        (Part::High, Kind::S32) => op3(|a, b, c| ((product24s(a, b) >> 16) as i32).wrapping_add(c)),
        _ => return None,
    })
}

/// Both halves of a word.
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Both halves of a word, signed.
fn signed_halves(a: u32, b: u32, f: impl Fn(i16, i16) -> i16) -> u32 {
    halves(a, b, |a, b| f(a as i16, b as i16) as u16)
}

fn packed(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    let signed = kind == Kind::S16x2;
    let relu = words.take("relu");
    Some(match (words.opcode, signed, relu) {
        ("add", _, false) => op2(|a, b| halves(a, b, u16::wrapping_add)),
        ("min", false, false) => op2(|a, b| halves(a, b, |a, b| a.min(b))),
        ("max", false, false) => op2(|a, b| halves(a, b, |a, b| a.max(b))),
        ("min", true, false) => op2(|a, b| signed_halves(a, b, |a, b| a.min(b))),
        ("max", true, false) => op2(|a, b| signed_halves(a, b, |a, b| a.max(b))),
        ("min", true, true) => op2(|a, b| signed_halves(a, b, |a, b| a.min(b).max(0))),
        ("max", true, true) => op2(|a, b| signed_halves(a, b, |a, b| a.max(b).max(0))),
        _ => return None,
    })
}

/// `add.cc`, `addc`, `sub.cc`, `subc`: the carry is a borrow where something is subtracted.
fn extended(words: &Words<'_>, kind: Kind, reads: bool, writes: bool) -> Option<Form> {
    let subtracts = words.opcode.starts_with("sub");
    macro_rules! form {
        ($T:ident, $step:ident) => {
            match (reads, writes) {
                (false, true) => op2(|a: $T, b: $T| a.$step(b, false)),
                (true, false) => op4(|a: $T, b: $T, (): (), f: bool| a.$step(b, f).0),
                (true, true) => op4(|a: $T, b: $T, (): (), f: bool| a.$step(b, f)),
                (false, false) => return None,
            }
        };
    }
    let form = match kind {
        Kind::U32 | Kind::S32 if subtracts => form!(u32, borrowing_sub),
        Kind::U32 | Kind::S32 => form!(u32, carrying_add),
        Kind::U64 | Kind::S64 if subtracts => form!(u64, borrowing_sub),
        Kind::U64 | Kind::S64 => form!(u64, carrying_add),
        _ => return None,
    };
    Some(carried(form, reads, writes))
}

/// The condition code register is no operand of the text.
fn carried(mut form: Form, reads: bool, writes: bool) -> Form {
    if reads {
        form.sources.pop();
    }
    if writes {
        form.results.pop();
    }
    Form { reads_carry: reads, writes_carry: writes, ..form }
}

/// `mad.cc` and `madc`: the carry is that of the addition.
fn mad_carry(words: &mut Words<'_>, kind: Kind, reads: bool, writes: bool) -> Option<Form> {
    let part = part(words)?;
    macro_rules! form {
        ($T:ident, $product:expr) => {
            match (reads, writes) {
                (false, true) => op3(|a: $T, b: $T, c: $T| {
                    let product: fn($T, $T) -> $T = $product;
                    product(a, b).overflowing_add(c)
                }),
                (true, false) => op4(|a: $T, b: $T, c: $T, f: bool| {
                    let product: fn($T, $T) -> $T = $product;
                    product(a, b).wrapping_add(c).wrapping_add($T::from(f))
                }),
                (true, true) => op4(|a: $T, b: $T, c: $T, f: bool| {
                    let product: fn($T, $T) -> $T = $product;
                    product(a, b).carrying_add(c, f)
                }),
                (false, false) => return None,
            }
        };
    }
    let form = match (part, kind) {
        (Part::Low, Kind::U32 | Kind::S32) => form!(u32, u32::wrapping_mul),
        (Part::Low, Kind::U64 | Kind::S64) => form!(u64, u64::wrapping_mul),
        (Part::High, Kind::U32) => form!(u32, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        (Part::High, Kind::S32) => {
            form!(u32, |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32)
        }
        (Part::High, Kind::U64) => {
            form!(u64, |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64)
        }
        (Part::High, Kind::S64) => {
            form!(u64, |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64)
        }
        _ => return None,
    };
    Some(carried(form, reads, writes))
}

/// Byte `at` of a word, extended.
fn byte(word: u32, at: u32, signed: bool) -> i32 {
    let byte = (word >> (8 * at)) as u8;
    if signed { i32::from(byte as i8) } else { i32::from(byte) }
}

/// Half `at` of a word, extended.
fn half(word: u32, at: u32, signed: bool) -> i32 {
    let half = (word >> (16 * at)) as u16;
    if signed { i32::from(half as i16) } else { i32::from(half) }
}

fn dot4<const A: bool, const B: bool>(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(c, |sum, at| sum.wrapping_add((byte(a, at, A) * byte(b, at, B)) as u32))
}

fn dot2<const A: bool, const B: bool, const HIGH: u32>(a: u32, b: u32, c: u32) -> u32 {
    (0..2).fold(c, |sum, at| sum.wrapping_add((half(a, at, A) * byte(b, HIGH * 2 + at, B)) as u32))
}

/// Whether the factors of a dot product are signed.
fn signs(words: &mut Words<'_>, a: Kind) -> Option<(bool, bool)> {
    let signed = |kind| match kind {
        Kind::U32 => Some(false),
        Kind::S32 => Some(true),
        _ => None,
    };
    Some((signed(a)?, signed(words.kind()?)?))
}

fn dp4a(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    Some(match signs(words, kind)? {
        (false, false) => op3(dot4::<false, false>),
        (false, true) => op3(dot4::<false, true>),
        (true, false) => op3(dot4::<true, false>),
        (true, true) => op3(dot4::<true, true>),
    })
}

fn dp2a(words: &mut Words<'_>, kind: Kind) -> Option<Form> {
    let high = part(words)? == Part::High;
    Some(match (signs(words, kind)?, high) {
        ((false, false), false) => op3(dot2::<false, false, 0>),
        ((false, true), false) => op3(dot2::<false, true, 0>),
        ((true, false), false) => op3(dot2::<true, false, 0>),
        ((true, true), false) => op3(dot2::<true, true, 0>),
        ((false, false), true) => op3(dot2::<false, false, 1>),
        ((false, true), true) => op3(dot2::<false, true, 1>),
        ((true, false), true) => op3(dot2::<true, false, 1>),
        ((true, true), true) => op3(dot2::<true, true, 1>),
    })
}
