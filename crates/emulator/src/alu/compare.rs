//! Comparison and selection (PTX ISA 9.7.6, 9.7.7) and `testp` (9.7.3.1).

use std::marker::PhantomData;

use super::float::flush32;
use super::integer::{by_signed, by_size};
use super::kernel::{Kernel, Source, Target, closure, op1, op3, op3x};
use super::words::{Kind, Words};
use super::{Form, NEGATED, Rows, half};
use crate::lanes::{LANES, Lanes};

/// Finds a form of comparison or selection.
pub fn select(words: &mut Words<'_>) -> Option<Form> {
    match words.opcode {
        "setp" => setp(words),
        "set" => set(words),
        "selp" => selp(words),
        "slct" => slct(words),
        _ => testp(words),
    }
}

/// What holds between two values.
const LESS: u32 = 1;
const EQUAL: u32 = 2;
const GREATER: u32 = 4;
const UNORDERED: u32 = 8;

/// The comparisons by what must hold, and whether only integers or only floats have them.
const COMPARISONS: [(&str, (u32, Has)); 18] = [
    ("eq", (EQUAL, Has::All)),
    ("ne", (LESS | GREATER, Has::All)),
    ("lt", (LESS, Has::All)),
    ("le", (LESS | EQUAL, Has::All)),
    ("gt", (GREATER, Has::All)),
    ("ge", (GREATER | EQUAL, Has::All)),
    ("lo", (LESS, Has::Unsigned)),
    ("ls", (LESS | EQUAL, Has::Unsigned)),
    ("hi", (GREATER, Has::Unsigned)),
    ("hs", (GREATER | EQUAL, Has::Unsigned)),
    ("equ", (EQUAL | UNORDERED, Has::Float)),
    ("neu", (LESS | GREATER | UNORDERED, Has::Float)),
    ("ltu", (LESS | UNORDERED, Has::Float)),
    ("leu", (LESS | EQUAL | UNORDERED, Has::Float)),
    ("gtu", (GREATER | UNORDERED, Has::Float)),
    ("geu", (GREATER | EQUAL | UNORDERED, Has::Float)),
    ("num", (LESS | EQUAL | GREATER, Has::Float)),
    ("nan", (UNORDERED, Has::Float)),
];

/// Which types have a comparison (9.7.6, tables of operators).
#[derive(Clone, Copy, PartialEq)]
enum Has {
    All,
    Unsigned,
    Float,
}

/// The types that are compared.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Bits,
    Unsigned,
    Signed,
    Float,
}

fn sort(kind: Kind) -> Option<Sort> {
    Some(match kind {
        Kind::B16 | Kind::B32 | Kind::B64 => Sort::Bits,
        Kind::U16 | Kind::U32 | Kind::U64 => Sort::Unsigned,
        Kind::S16 | Kind::S32 | Kind::S64 => Sort::Signed,
        Kind::F16 | Kind::F16x2 | Kind::Bf16 | Kind::Bf16x2 | Kind::F32 | Kind::F64 => Sort::Float,
        _ => return None,
    })
}

/// The relation that a comparison asks for.
fn comparison(words: &mut Words<'_>, kind: Kind) -> Option<u32> {
    let (relation, has) = words.one_of(&COMPARISONS)?;
    let fits = match (sort(kind)?, has) {
        (Sort::Bits, Has::All) => matches!(relation, EQUAL) || relation == LESS | GREATER,
        (Sort::Bits, _) => false,
        (Sort::Unsigned, has) => has != Has::Float,
        (Sort::Signed, has) => has == Has::All,
        (Sort::Float, has) => has != Has::Unsigned,
    };
    fits.then_some(relation)
}

const AND: u32 = 1;
const OR: u32 = 2;
const XOR: u32 = 3;
/// There is a second result.
const PAIR: u32 = 4;
/// Where the relation stands in the extra bits, where it is no constant.
const RELATION: u32 = 4;
/// Operands are `.bf16`.
const BF16: u32 = 0x200;
/// Subnormal operands are zeros.
const FTZ: u32 = 0x400;
/// Where the index of the value that `set` writes stands.
const TRUTH: u32 = 12;

/// What `set` writes for true: all ones, or 1.0 in a format.
const TRUTHS: [u32; 4] = [u32::MAX, 0x3f80_0000, 0x3c00_3c00, 0x3f80_3f80];

/// Whether a relation holds. LLVM makes one comparison of it.
#[inline(always)]
fn relates<T: PartialOrd + Copy>(a: T, b: T, relation: u32) -> bool {
    let is = |what: u32| relation & what != 0;
    let unordered = a.partial_cmp(&a).is_none() | b.partial_cmp(&b).is_none();
    is(LESS) & (a < b) | is(EQUAL) & (a == b) | is(GREATER) & (a > b) | is(UNORDERED) & unordered
}

/// The form for a relation that is a constant in the lane's function.
macro_rules! by_relation {
    ($relation:expr, $R:ident => $form:expr, [$($value:literal)*]) => {
        match $relation {
            $($value => { const $R: u32 = $value; $form })*
            _ => return None,
        }
    };
}

/// The predicate that the test is combined with.
#[inline(always)]
fn other(lanes: &Lanes, rows: &Rows) -> u32 {
    lanes.pred(rows.c) ^ if rows.extra & NEGATED == 0 { 0 } else { u32::MAX }
}

/// Combines a test with the predicate as the extra bits say.
#[inline(always)]
fn combined(tested: u32, other: u32, extra: u32) -> u32 {
    match extra & 3 {
        AND => tested & other,
        OR => tested | other,
        XOR => tested ^ other,
        _ => tested,
    }
}

/// Tests all lanes.
#[inline(always)]
fn tested<T, F>(lanes: &Lanes, rows: &Rows, test: F) -> u32
where
    T: Source,
    F: Fn(T, T, u32) -> bool + Copy + 'static,
{
    let (a, b) = (T::row(lanes, rows.a), T::row(lanes, rows.b));
    let mut yes = 0;
    for lane in 0..LANES {
        yes |= u32::from(test(T::at(a, lane), T::at(b, lane), rows.extra)) << lane;
    }
    yes
}

/// `setp`
struct SetP<T, F>(PhantomData<(T, F)>);

impl<T, F> Kernel for SetP<T, F>
where
    T: Source,
    F: Fn(T, T, u32) -> bool + Copy + 'static,
{
    #[inline(always)]
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32) {
        let yes = tested::<T, F>(lanes, rows, closure());
        let other = other(lanes, rows);
        lanes.set_pred(rows.d, combined(yes, other, rows.extra), mask);
        if rows.extra & PAIR != 0 {
            lanes.set_pred(rows.e, combined(!yes, other, rows.extra), mask);
        }
    }
}

/// `setp` of pairs of halves: the lower ones' test, and the upper ones'.
struct SetPairs;

impl Kernel for SetPairs {
    #[inline(always)]
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32) {
        let low = tested::<u32, _>(lanes, rows, |a, b, x| test_half(a as u16, b as u16, x));
        let high = |a: u32, b: u32, x| test_half((a >> 16) as u16, (b >> 16) as u16, x);
        let high = tested::<u32, _>(lanes, rows, high);
        let other = other(lanes, rows);
        lanes.set_pred(rows.d, combined(low, other, rows.extra), mask);
        lanes.set_pred(rows.e, combined(high, other, rows.extra), mask);
    }
}

/// `set`: a row of a value for true, and zeros.
struct Set<D, T, F>(PhantomData<(D, T, F)>);

impl<D, T, F> Kernel for Set<D, T, F>
where
    D: Target + Truth,
    T: Source,
    F: Fn(T, T, u32) -> bool + Copy + 'static,
{
    #[inline(always)]
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32) {
        let yes = tested::<T, F>(lanes, rows, closure());
        let yes = combined(yes, other(lanes, rows), rows.extra);
        let truth = D::from_word(TRUTHS[(rows.extra >> TRUTH & 3) as usize]);
        let mut results = D::Results::default();
        for lane in 0..LANES {
            D::put(&mut results, lane, if yes >> lane & 1 == 1 { truth } else { D::default() });
        }
        D::store(&results, lanes, rows, mask);
    }
}

/// `set` of pairs of halves.
struct SetHalves;

impl Kernel for SetHalves {
    #[inline(always)]
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32) {
        let low = tested::<u32, _>(lanes, rows, |a, b, x| test_half(a as u16, b as u16, x));
        let high = |a: u32, b: u32, x| test_half((a >> 16) as u16, (b >> 16) as u16, x);
        let high = tested::<u32, _>(lanes, rows, high);
        let other = other(lanes, rows);
        let (low, high) = (combined(low, other, rows.extra), combined(high, other, rows.extra));
        let truth = TRUTHS[(rows.extra >> TRUTH & 3) as usize];
        let mut values = [0; LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            let part = |yes: u32, bits: u32| if yes >> lane & 1 == 1 { truth & bits } else { 0 };
            *value = part(low, 0xffff) | part(high, 0xffff_0000);
        }
        u32::store(&values, lanes, rows, mask);
    }
}

/// What `set` writes.
trait Truth {
    fn from_word(word: u32) -> Self;
}

impl Truth for u32 {
    fn from_word(word: u32) -> Self {
        word
    }
}

impl Truth for u16 {
    fn from_word(word: u32) -> Self {
        word as Self
    }
}

/// Compares halves by the relation in the extra bits.
fn test_half(a: u16, b: u16, x: u32) -> bool {
    let value = |bits: u16| match (x & BF16 != 0, x & FTZ != 0) {
        (true, _) => f32::from_bits(u32::from(bits) << 16),
        (false, true) if bits & 0x7c00 == 0 => 0.0,
        (false, _) => half::to_f32(bits),
    };
    relates(value(a), value(b), x >> RELATION & 15)
}

/// `.f32` operands by the relation in the extra bits.
fn test_single(a: f32, b: f32, x: u32) -> bool {
    let value = |value: f32| if x & FTZ == 0 { value } else { flush32::<true>(value) };
    relates(value(a), value(b), x >> RELATION & 15)
}

/// Operands by the relation in the extra bits.
fn test_any<T: PartialOrd + Copy>(a: T, b: T, x: u32) -> bool {
    relates(a, b, x >> RELATION & 15)
}

fn setp(words: &mut Words<'_>) -> Option<Form> {
    let kind = words.kind()?;
    let (relation, extra) = condition(words, kind)?;
    let sources = if extra & 3 == 0 { 2 } else { 3 };
    let pair = words.widths.len() > sources + 1;
    let form = match kind {
        Kind::F32 if extra & FTZ != 0 => by_relation!(relation, R => {
            tests(|a: f32, b: f32, _| relates(flush32::<true>(a), flush32::<true>(b), R))
        }, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
        Kind::F32 => by_relation!(relation, R => {
            tests(|a: f32, b: f32, _| relates(a, b, R))
        }, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
        Kind::F64 => by_relation!(relation, R => {
            tests(|a: f64, b: f64, _| relates(a, b, R))
        }, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
        Kind::F16 | Kind::Bf16 if !pair => tests(test_half),
        Kind::F16x2 | Kind::Bf16x2 if pair => Form::of::<SetPairs>().sourced::<u32>(),
        Kind::S16 | Kind::S32 | Kind::S64 => by_signed!(kind, T => by_relation!(relation, R => {
            tests(|a: T, b: T, _| relates(a, b, R))
        }, [1 2 3 4 5 6])),
        _ => by_size!(kind, T => by_relation!(relation, R => {
            tests(|a: T, b: T, _| relates(a, b, R))
        }, [1 2 3 4 5 6])),
    };
    let results = if pair { 2 } else { 1 };
    let form = Form { results: bool::SLOTS.repeat(results), ..form };
    Some(form.combined(extra | if pair { PAIR } else { 0 }))
}

/// A `setp` of a test.
fn tests<T: Source, F: Fn(T, T, u32) -> bool + Copy + 'static>(_: F) -> Form {
    Form::of::<SetP<T, F>>().sourced::<T>()
}

/// A `set` that writes a row of `D`.
fn sets<D, T, F>(_: F) -> Form
where
    D: Target + Truth,
    T: Source,
    F: Fn(T, T, u32) -> bool + Copy + 'static,
{
    Form { results: D::SLOTS.to_vec(), ..Form::of::<Set<D, T, F>>().sourced::<T>() }
}

impl Form {
    /// With two sources of a type.
    fn sourced<T: Source>(mut self) -> Self {
        self.sources.extend(T::SLOT);
        self.sources.extend(T::SLOT);
        self
    }

    /// With what the extra bits combine it with.
    fn combined(mut self, extra: u32) -> Self {
        if extra & 3 != 0 {
            self.sources.extend(bool::SLOT);
        }
        self.with_extra(extra)
    }
}

/// The relation, and the extra bits with all but the pair and the truth.
fn condition(words: &mut Words<'_>, kind: Kind) -> Option<(u32, u32)> {
    let relation = comparison(words, kind)?;
    let combination = words.one_of(&[("and", AND), ("or", OR), ("xor", XOR)]).unwrap_or(0);
    let mut extra = combination | relation << RELATION;
    if matches!(kind, Kind::Bf16 | Kind::Bf16x2) {
        extra |= BF16;
    }
    if words.take("ftz") {
        if !matches!(kind, Kind::F16 | Kind::F16x2 | Kind::F32) {
            return None;
        }
        extra |= FTZ;
    }
    Some((relation, extra))
}

fn set(words: &mut Words<'_>) -> Option<Form> {
    let (result, kind) = (words.kind()?, words.kind()?);
    let (_, extra) = condition(words, kind)?;
    let truth = match result {
        Kind::U16 | Kind::S16 | Kind::U32 | Kind::S32 => 0,
        Kind::F32 => 1,
        Kind::F16 | Kind::F16x2 => 2,
        Kind::Bf16 | Kind::Bf16x2 => 3,
        _ => return None,
    };
    let packed = matches!(kind, Kind::F16x2 | Kind::Bf16x2);
    let form = match result {
        _ if packed => match result {
            Kind::F16x2 | Kind::Bf16x2 | Kind::U32 | Kind::S32 => {
                let form = Form::of::<SetHalves>().sourced::<u32>();
                Form { results: u32::SLOTS.to_vec(), ..form }
            }
            _ => return None,
        },
        Kind::U32 | Kind::S32 | Kind::F32 => set_row::<u32>(kind)?,
        Kind::U16 | Kind::S16 if matches!(kind, Kind::F16 | Kind::Bf16) => set_row::<u16>(kind)?,
        Kind::F16 | Kind::Bf16 => set_row::<u16>(kind)?,
        _ => return None,
    };
    Some(form.combined(extra | truth << TRUTH))
}

fn set_row<D: Target + Truth>(kind: Kind) -> Option<Form> {
    Some(match kind {
        Kind::F32 => sets::<D, _, _>(test_single),
        Kind::F64 => sets::<D, _, _>(test_any::<f64>),
        Kind::F16 | Kind::Bf16 => sets::<D, _, _>(test_half),
        Kind::S16 | Kind::S32 | Kind::S64 => by_signed!(kind, T => sets::<D, _, _>(test_any::<T>)),
        _ => by_size!(kind, T => sets::<D, _, _>(test_any::<T>)),
    })
}

fn selp(words: &mut Words<'_>) -> Option<Form> {
    macro_rules! choose {
        ($T:ident) => {
            op3x(|a: $T, b: $T, c: bool, x| if c != (x & NEGATED != 0) { a } else { b })
        };
    }
    Some(match words.kind()? {
        Kind::F32 => choose!(f32),
        Kind::F64 => choose!(f64),
        kind => by_size!(kind, T => choose!(T)),
    })
}

fn slct(words: &mut Words<'_>) -> Option<Form> {
    let (kind, by) = (words.kind()?, words.kind()?);
    macro_rules! choose {
        ($T:ident) => {
            match by {
                Kind::S32 => op3(|a: $T, b: $T, c: i32| if c >= 0 { a } else { b }),
                // A subnormal number is flushed to a zero of its sign, and -0 is as good as +0; a
                // NaN chooses `b`.
                Kind::F32 if words.take("ftz") => {
                    op3(|a: $T, b: $T, c: f32| if flush32::<true>(c) >= 0.0 { a } else { b })
                }
                Kind::F32 => op3(|a: $T, b: $T, c: f32| if c >= 0.0 { a } else { b }),
                _ => return None,
            }
        };
    }
    Some(match kind {
        Kind::F32 => choose!(f32),
        Kind::F64 => choose!(f64),
        kind => by_size!(kind, T => choose!(T)),
    })
}

fn testp(words: &mut Words<'_>) -> Option<Form> {
    macro_rules! test {
        ($T:ident) => {
            if words.take("finite") {
                op1($T::is_finite)
            } else if words.take("infinite") {
                op1($T::is_infinite)
            } else if words.take("number") {
                op1(|a: $T| !a.is_nan())
            } else if words.take("notanumber") {
                op1($T::is_nan)
            } else if words.take("normal") {
                // Zeros count as normal (9.7.3.1).
                op1(|a: $T| a.is_normal() || a == 0.0)
            } else if words.take("subnormal") {
                op1($T::is_subnormal)
            } else {
                return None;
            }
        };
    }
    Some(match words.kind()? {
        Kind::F32 => test!(f32),
        Kind::F64 => test!(f64),
        _ => return None,
    })
}
