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
    /// All lanes' results.
    type Results: Default;
    /// Puts one lane's result.
    fn put(results: &mut Self::Results, lane: usize, value: Self);
    /// Writes the lanes of the mask.
    fn store(results: &Self::Results, lanes: &mut Lanes, rows: &Rows, mask: u32);
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
            type Results = [Self; LANES];
            #[inline(always)]
            fn put(results: &mut Self::Results, lane: usize, value: Self) {
                results[lane] = value;
            }
            #[inline(always)]
            fn store(results: &Self::Results, lanes: &mut Lanes, rows: &Rows, mask: u32) {
                lanes.set(rows.d, results, mask);
            }
        }
        impl Target for ($number, bool) {
            const SLOTS: &'static [Slot] = &[
                Slot { width: Width::$width, float: $float },
                Slot { width: Width::Pred, float: None },
            ];
            type Results = ([$number; LANES], u32);
            #[inline(always)]
            fn put(results: &mut Self::Results, lane: usize, value: Self) {
                results.0[lane] = value.0;
                results.1 |= u32::from(value.1) << lane;
            }
            #[inline(always)]
            fn store(results: &Self::Results, lanes: &mut Lanes, rows: &Rows, mask: u32) {
                lanes.set(rows.d, &results.0, mask);
                lanes.set_pred(rows.e, results.1, mask);
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
    type Results = u32;
    #[inline(always)]
    fn put(results: &mut u32, lane: usize, value: Self) {
        *results |= u32::from(value) << lane;
    }
    #[inline(always)]
    fn store(results: &u32, lanes: &mut Lanes, rows: &Rows, mask: u32) {
        lanes.set_pred(rows.d, *results, mask);
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

/// A lane's function of four sources, which may be nothing, and of [`Rows::extra`].
pub trait Function<D, A, B, C, E>: Copy + 'static {
    /// Calls it. Always inlined: else it would be compiled for any processor.
    fn call(self, a: A, b: B, c: C, e: E, x: u32) -> D;
}

macro_rules! wrapped {
    (
        $Wrapped:ident ($($argument:ident: $A:ty),+)
        of ($($parameter:ident: $P:ty),+; $x:ident) with $($S:ident)+
    ) => {
        /// A lane's function of fewer sources.
        #[derive(Clone, Copy)]
        pub struct $Wrapped<F>(pub F);

        impl<D, $($S: Source,)+ F> Function<D, $($P),+> for $Wrapped<F>
        where
            F: Fn($($A),+) -> D + Copy + 'static,
        {
            #[inline(always)]
            #[allow(unused_variables, reason = "most functions take less than all")]
            fn call(self, $($parameter: $P,)+ $x: u32) -> D {
                (self.0)($($argument),+)
            }
        }
    };
}

wrapped!(Of1 (a: A) of (a: A, b: (), c: (), e: (); x) with A);
wrapped!(Of2 (a: A, b: B) of (a: A, b: B, c: (), e: (); x) with A B);
wrapped!(Of3 (a: A, b: B, c: C) of (a: A, b: B, c: C, e: (); x) with A B C);
wrapped!(Of4 (a: A, b: B, c: C, e: E) of (a: A, b: B, c: C, e: E; x) with A B C E);
wrapped!(Of1x (a: A, x: u32) of (a: A, b: (), c: (), e: (); x) with A);
wrapped!(Of2x (a: A, b: B, x: u32) of (a: A, b: B, c: (), e: (); x) with A B);
wrapped!(Of3x (a: A, b: B, c: C, x: u32) of (a: A, b: B, c: C, e: (); x) with A B C);
wrapped!(Of4x (a: A, b: B, c: C, e: E, x: u32) of (a: A, b: B, c: C, e: E; x) with A B C E);

/// A lane's function over four sources and [`Rows::extra`].
struct Map<D, A, B, C, E, F>(PhantomData<(D, A, B, C, E, F)>);

impl<D, A, B, C, E, F> Kernel for Map<D, A, B, C, E, F>
where
    D: Target,
    A: Source,
    B: Source,
    C: Source,
    E: Source,
    F: Function<D, A, B, C, E>,
{
    #[inline(always)]
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32) {
        let lane_function = closure::<F>();
        let a = A::row(lanes, rows.a);
        let b = B::row(lanes, rows.b);
        let c = C::row(lanes, rows.c);
        let f = E::row(lanes, rows.f);
        let mut results = D::Results::default();
        for lane in 0..LANES {
            let (a, b) = (A::at(a, lane), B::at(b, lane));
            let value = lane_function.call(a, b, C::at(c, lane), E::at(f, lane), rows.extra);
            D::put(&mut results, lane, value);
        }
        D::store(&results, lanes, rows, mask);
    }
}

/// A lane's function that is right but for odd results, which another one mends.
struct Mended<D, A, B, C, F, O, M>(PhantomData<(D, A, B, C, F, O, M)>);

impl<D, A, B, C, F, O, M> Kernel for Mended<D, A, B, C, F, O, M>
where
    D: Target<Results = [D; LANES]>,
    A: Source,
    B: Source,
    C: Source,
    F: Fn(A, B, C) -> D + Copy + 'static,
    O: Fn(D) -> bool + Copy + 'static,
    M: Fn(A, B, C, D) -> D + Copy + 'static,
{
    #[inline(always)]
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32) {
        let (lane_function, is_odd) = (closure::<F>(), closure::<O>());
        let a = A::row(lanes, rows.a);
        let b = B::row(lanes, rows.b);
        let c = C::row(lanes, rows.c);
        let mut results = [D::default(); LANES];
        let mut odd = 0;
        for (lane, result) in results.iter_mut().enumerate() {
            let value = lane_function(A::at(a, lane), B::at(b, lane), C::at(c, lane));
            odd |= u32::from(is_odd(value));
            *result = value;
        }
        if odd != 0 {
            mend(&mut results, |lane, value| {
                closure::<M>()(A::at(a, lane), B::at(b, lane), C::at(c, lane), value)
            });
        }
        D::store(&results, lanes, rows, mask);
    }
}

#[cold]
#[inline(never)]
fn mend<D: Copy>(results: &mut [D; LANES], mend: impl Fn(usize, D) -> D) {
    for (lane, result) in results.iter_mut().enumerate() {
        *result = mend(lane, *result);
    }
}

/// A form whose function `f` is right where `is_odd` denies; elsewhere `mend` makes the result, out
/// of the sources and what `f` gave. `is_odd` may say yes too often, seldom.
pub fn mended<D, A, B, C, F, O, M>(_: F, _: O, _: M) -> Form
where
    D: Target<Results = [D; LANES]>,
    A: Source,
    B: Source,
    C: Source,
    F: Fn(A, B, C) -> D + Copy + 'static,
    O: Fn(D) -> bool + Copy + 'static,
    M: Fn(A, B, C, D) -> D + Copy + 'static,
{
    Form {
        results: D::SLOTS.to_vec(),
        sources: [A::SLOT, B::SLOT, C::SLOT].into_iter().flatten().collect(),
        ..Form::of::<Mended<D, A, B, C, F, O, M>>()
    }
}

/// A function of masks of lanes.
struct Masks<F>(PhantomData<F>);

impl<F: Fn(u32, u32) -> u32 + Copy + 'static> Kernel for Masks<F> {
    #[inline(always)]
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32) {
        let result = closure::<F>()(lanes.pred(rows.a), lanes.pred(rows.b));
        lanes.set_pred(rows.d, result, mask);
    }
}

/// A form of predicates, all lanes at once; of one source, the function's second is to be left
/// alone.
pub fn masks<F: Fn(u32, u32) -> u32 + Copy + 'static>(sources: usize, _: F) -> Form {
    Form {
        results: bool::SLOTS.to_vec(),
        sources: bool::SLOTS.repeat(sources),
        ..Form::of::<Masks<F>>()
    }
}

/// A form of a wrapped function.
pub fn map<D, A, B, C, E, F>(_: F) -> Form
where
    D: Target,
    A: Source,
    B: Source,
    C: Source,
    E: Source,
    F: Function<D, A, B, C, E>,
{
    Form {
        results: D::SLOTS.to_vec(),
        sources: [A::SLOT, B::SLOT, C::SLOT, E::SLOT].into_iter().flatten().collect(),
        ..Form::of::<Map<D, A, B, C, E, F>>()
    }
}

macro_rules! ops {
    ($($text:literal $op:ident $Wrapped:ident ($($S:ident)+) ($($A:ty),+);)*) => {$(
        #[doc = $text]
        pub fn $op<D: Target, $($S: Source),+>(f: impl Fn($($A),+) -> D + Copy + 'static) -> Form {
            map($Wrapped(f))
        }
    )*};
}

ops! {
    "A form of one source." op1 Of1 (A) (A);
    "A form of two sources." op2 Of2 (A B) (A, B);
    "A form of three sources." op3 Of3 (A B C) (A, B, C);
    "A form of four sources." op4 Of4 (A B C E) (A, B, C, E);
    "A form of one source whose function sees [`Rows::extra`]." op1x Of1x (A) (A, u32);
    "A form of two sources whose function sees [`Rows::extra`]." op2x Of2x (A B) (A, B, u32);
    "A form of three sources whose function sees [`Rows::extra`]."
        op3x Of3x (A B C) (A, B, C, u32);
    "A form of four sources whose function sees [`Rows::extra`]."
        op4x Of4x (A B C E) (A, B, C, E, u32);
}
