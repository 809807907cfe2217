//! Functions over rows made from functions over lanes.
//!
//! A lane's function is a closure without captures. [`op2`] and its like turn one into a
//! [`Form`]: the loop over the 32 lanes is compiled twice, for any processor and for one with
//! AVX2 and FMA, and the better one that runs here is taken when the form is selected.

#![allow(
    unsafe_code,
    reason = "functions for a processor's features, chosen after asking for them"
)]

use std::marker::PhantomData;
use std::sync::LazyLock;

use super::{Compute, Form, Rows, Slot};
use crate::lanes::{LANES, Lanes, Row, Width};

/// What a lane's function takes.
pub trait Source: Copy + 'static {
    /// A row of them.
    type Row<'a>: Copy;
    /// What the operand is; `None` for `()`, which stands for no operand.
    const SLOT: Option<Slot>;
    /// Finds the row.
    fn row(lanes: &Lanes, row: Row) -> Self::Row<'_>;
    /// One lane's value.
    fn at(row: Self::Row<'_>, lane: usize) -> Self;
}

/// What a lane's function gives.
pub trait Target: Copy + Default + 'static {
    /// What the results are.
    const SLOTS: &'static [Slot];
    /// Writes the lanes of the mask.
    fn store(values: &[Self; LANES], lanes: &mut Lanes, rows: &Rows, mask: u32);
}

macro_rules! numbers {
    ($($number:ty, $width:ident, $float:expr;)*) => {$(
        impl Source for $number {
            type Row<'a> = &'a [Self; LANES];
            const SLOT: Option<Slot> = Some(Slot { width: Width::$width, float: $float });
            #[inline(always)]
            fn row(lanes: &Lanes, row: Row) -> Self::Row<'_> {
                lanes.get(row)
            }
            #[inline(always)]
            fn at(row: Self::Row<'_>, lane: usize) -> Self {
                row[lane]
            }
        }
        impl Target for $number {
            const SLOTS: &'static [Slot] = &[Slot { width: Width::$width, float: $float }];
            #[inline(always)]
            fn store(values: &[Self; LANES], lanes: &mut Lanes, rows: &Rows, mask: u32) {
                lanes.set(rows.d, values, mask);
            }
        }
        impl Target for ($number, bool) {
            const SLOTS: &'static [Slot] = &[
                Slot { width: Width::$width, float: $float },
                Slot { width: Width::Pred, float: None },
            ];
            #[inline(always)]
            fn store(values: &[Self; LANES], lanes: &mut Lanes, rows: &Rows, mask: u32) {
                let mut first = [<$number>::default(); LANES];
                let mut second = 0;
                for lane in 0..LANES {
                    first[lane] = values[lane].0;
                    second |= u32::from(values[lane].1) << lane;
                }
                lanes.set(rows.d, &first, mask);
                lanes.set_pred(rows.e, second, mask);
            }
        }
    )*};
}

numbers! {
    u16, B16, None;
    i16, B16, None;
    u32, B32, None;
    i32, B32, None;
    u64, B64, None;
    i64, B64, None;
    u128, B128, None;
    f32, B32, Some(Width::B32);
    f64, B64, Some(Width::B64);
}

impl Source for bool {
    type Row<'a> = u32;
    const SLOT: Option<Slot> = Some(Slot { width: Width::Pred, float: None });
    #[inline(always)]
    fn row(lanes: &Lanes, row: Row) -> u32 {
        lanes.pred(row)
    }
    #[inline(always)]
    fn at(row: u32, lane: usize) -> Self {
        row >> lane & 1 == 1
    }
}

impl Target for bool {
    const SLOTS: &'static [Slot] = &[Slot { width: Width::Pred, float: None }];
    #[inline(always)]
    fn store(values: &[Self; LANES], lanes: &mut Lanes, rows: &Rows, mask: u32) {
        lanes.set_pred(rows.d, bits(values), mask);
    }
}

impl Source for () {
    type Row<'a> = ();
    const SLOT: Option<Slot> = None;
    #[inline(always)]
    fn row(_: &Lanes, _: Row) {}
    #[inline(always)]
    fn at(_: (), _: usize) {}
}

/// The lanes that are true.
#[inline(always)]
pub fn bits(values: &[bool; LANES]) -> u32 {
    let mut mask = 0;
    for (lane, value) in values.iter().enumerate() {
        mask |= u32::from(*value) << lane;
    }
    mask
}

/// A function over rows.
pub trait Kernel: 'static {
    /// Computes the lanes of the mask. To be inlined into a function for some processor.
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32);
}

fn plain<K: Kernel>(lanes: &mut Lanes, rows: &Rows, mask: u32) {
    K::run(lanes, rows, mask);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn wide<K: Kernel>(lanes: &mut Lanes, rows: &Rows, mask: u32) {
    K::run(lanes, rows, mask);
}

#[cfg(target_arch = "x86_64")]
static WIDE: LazyLock<bool> = LazyLock::new(|| {
    std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("fma")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("lzcnt")
        && std::is_x86_feature_detected!("popcnt")
});

impl Form {
    /// A form of a kernel, without operands yet.
    pub(super) fn of<K: Kernel>() -> Self {
        Self {
            compute: compiled::<K>(),
            portable: plain::<K>,
            results: Vec::new(),
            sources: Vec::new(),
            immediate: None,
            extra: 0,
            reads_carry: false,
            writes_carry: false,
            approximate: false,
        }
    }
}

/// The best function that runs on this processor.
fn compiled<K: Kernel>() -> Compute {
    #[cfg(target_arch = "x86_64")]
    if *WIDE {
        let compute: unsafe fn(&mut Lanes, &Rows, u32) = wide::<K>;
        // SAFETY: the processor has the features, and `wide` asks for nothing else.
        return unsafe {
            std::mem::transmute::<unsafe fn(&mut Lanes, &Rows, u32), Compute>(compute)
        };
    }
    plain::<K>
}

/// The one value of a closure's type that captures nothing.
#[inline(always)]
pub fn closure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "a lane's function captures nothing") };
    // SAFETY: a value of no size is read from nowhere. It exists: `F` is `Copy`, and every caller
    // got one.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

/// A lane's function over four sources and [`Rows::extra`].
struct Map<D, A, B, C, E, F>(PhantomData<(D, A, B, C, E, F)>);

impl<D, A, B, C, E, F> Kernel for Map<D, A, B, C, E, F>
where
    D: Target,
    A: Source,
    B: Source,
    C: Source,
    E: Source,
    F: Fn(A, B, C, E, u32) -> D + Copy + 'static,
{
    #[inline(always)]
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32) {
        let lane_function = closure::<F>();
        let a = A::row(lanes, rows.a);
        let b = B::row(lanes, rows.b);
        let c = C::row(lanes, rows.c);
        let f = E::row(lanes, rows.f);
        let mut values = [D::default(); LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            let (a, b) = (A::at(a, lane), B::at(b, lane));
            *value = lane_function(a, b, C::at(c, lane), E::at(f, lane), rows.extra);
        }
        D::store(&values, lanes, rows, mask);
    }
}

/// A form of four sources whose function sees [`Rows::extra`].
pub fn op4x<D, A, B, C, E, F>(_: F) -> Form
where
    D: Target,
    A: Source,
    B: Source,
    C: Source,
    E: Source,
    F: Fn(A, B, C, E, u32) -> D + Copy + 'static,
{
    Form {
        results: D::SLOTS.to_vec(),
        sources: [A::SLOT, B::SLOT, C::SLOT, E::SLOT].into_iter().flatten().collect(),
        ..Form::of::<Map<D, A, B, C, E, F>>()
    }
}

/// A form of one source.
pub fn op1<D: Target, A: Source>(f: impl Fn(A) -> D + Copy + 'static) -> Form {
    op4x(move |a: A, (): (), (): (), (): (), _| f(a))
}

/// A form of two sources.
pub fn op2<D: Target, A: Source, B: Source>(f: impl Fn(A, B) -> D + Copy + 'static) -> Form {
    op4x(move |a: A, b: B, (): (), (): (), _| f(a, b))
}

/// A form of three sources.
pub fn op3<D, A, B, C>(f: impl Fn(A, B, C) -> D + Copy + 'static) -> Form
where
    D: Target,
    A: Source,
    B: Source,
    C: Source,
{
    op4x(move |a: A, b: B, c: C, (): (), _| f(a, b, c))
}

/// A form of four sources.
pub fn op4<D, A, B, C, E>(f: impl Fn(A, B, C, E) -> D + Copy + 'static) -> Form
where
    D: Target,
    A: Source,
    B: Source,
    C: Source,
    E: Source,
{
    op4x(move |a: A, b: B, c: C, e: E, _| f(a, b, c, e))
}

/// A form of one source whose function sees [`Rows::extra`].
pub fn op1x<D: Target, A: Source>(f: impl Fn(A, u32) -> D + Copy + 'static) -> Form {
    op4x(move |a: A, (): (), (): (), (): (), x| f(a, x))
}

/// A form of two sources whose function sees [`Rows::extra`].
pub fn op2x<D, A, B>(f: impl Fn(A, B, u32) -> D + Copy + 'static) -> Form
where
    D: Target,
    A: Source,
    B: Source,
{
    op4x(move |a: A, b: B, (): (), (): (), x| f(a, b, x))
}

/// A form of three sources whose function sees [`Rows::extra`].
pub fn op3x<D, A, B, C>(f: impl Fn(A, B, C, u32) -> D + Copy + 'static) -> Form
where
    D: Target,
    A: Source,
    B: Source,
    C: Source,
{
    op4x(move |a: A, b: B, c: C, (): (), x| f(a, b, c, x))
}
