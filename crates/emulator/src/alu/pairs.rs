//! Functions of halves over rows of halves, or over rows of pairs of them, each part by itself.

use std::marker::PhantomData;

use super::kernel::{Function, Kernel, Of1x, Of2x, Of3x, Source, Target, closure, map};
use super::{Form, Rows};
use crate::lanes::{LANES, Lanes};

/// An operand of a function of halves: a half, or nothing.
pub trait Part: Source {
    /// Two of them.
    type Pair: Source;
    /// One of two: the lower, or the one 16 bits up.
    fn of(pair: Self::Pair, shift: u32) -> Self;
}

impl Part for u16 {
    type Pair = u32;
    #[inline(always)]
    fn of(pair: u32, shift: u32) -> Self {
        (pair >> shift) as Self
    }
}

impl Part for () {
    type Pair = ();
    #[inline(always)]
    fn of((): (), _: u32) {}
}

/// A function of halves over pairs.
struct Pairs<A, B, C, F>(PhantomData<(A, B, C, F)>);

impl<A, B, C, F> Kernel for Pairs<A, B, C, F>
where
    A: Part,
    B: Part,
    C: Part,
    F: Function<u16, A, B, C, ()>,
{
    #[inline(always)]
    fn run(lanes: &mut Lanes, rows: &Rows, mask: u32) {
        let a = A::Pair::row(lanes, rows.a);
        let b = B::Pair::row(lanes, rows.b);
        let c = C::Pair::row(lanes, rows.c);
        let mut results = [0; LANES];
        // One part after the other: loops of both at once are too large to become vectors.
        for shift in [0, 16] {
            for (lane, result) in results.iter_mut().enumerate() {
                let a = A::of(A::Pair::at(a, lane), shift);
                let b = B::of(B::Pair::at(b, lane), shift);
                let c = C::of(C::Pair::at(c, lane), shift);
                let half = closure::<F>().call(a, b, c, (), rows.extra);
                *result |= u32::from(half) << shift;
            }
        }
        u32::store(&results, lanes, rows, mask);
    }
}

fn halves<A, B, C, F>(packed: bool, f: F) -> Form
where
    A: Part,
    B: Part,
    C: Part,
    F: Function<u16, A, B, C, ()>,
{
    if !packed {
        return map(f);
    }
    Form {
        results: u32::SLOTS.to_vec(),
        sources: [A::Pair::SLOT, B::Pair::SLOT, C::Pair::SLOT].into_iter().flatten().collect(),
        ..Form::of::<Pairs<A, B, C, F>>()
    }
}

/// A form of one source.
pub fn halves1(packed: bool, f: impl Fn(u16, u32) -> u16 + Copy + 'static) -> Form {
    halves(packed, Of1x(f))
}

/// A form of two sources.
pub fn halves2(packed: bool, f: impl Fn(u16, u16, u32) -> u16 + Copy + 'static) -> Form {
    halves(packed, Of2x(f))
}

/// A form of three sources.
pub fn halves3(packed: bool, f: impl Fn(u16, u16, u16, u32) -> u16 + Copy + 'static) -> Form {
    halves(packed, Of3x(f))
}
