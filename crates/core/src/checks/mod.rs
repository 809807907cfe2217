//! Comparisons that cannot pass by accident.
//!
//! **Invariant: nothing compared is never a pass, and neither is a NaN, an infinity, or a buffer
//! that nobody wrote.** Every comparison is written so that NaN fails it (`!(difference <=
//! bound)`), an empty comparison is an error, and so is a bound loose enough to let zeros pass.
//! Around the comparisons: poison for what must be written, and guard bands for what must not.

mod guard;
mod report;

pub use guard::{GUARD_BYTES, Guarded, Side, Stray, guard_word};
pub use report::{
    CheckCase, CheckRecord, CheckReport, Counts, Fault, Outcome, REPORT_SCHEMA, ReportVerdict,
};

/// The byte that outputs are filled with before a checked launch: every word of it is a NaN.
pub const POISON_BYTE: u8 = 0xFF;
/// A word that nobody wrote.
pub const POISON_WORD: u32 = 0xFFFF_FFFF;

/// The first element that differs, and how many do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mismatch {
    /// Of the first element that differs, from 0.
    pub index: usize,
    /// What was got there.
    pub got: f32,
    /// What was wanted there.
    pub want: f32,
    /// How many elements differ.
    pub count: usize,
}

/// Why a comparison did not pass.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum NotEqual {
    /// Nothing was compared.
    #[error("nothing to compare: both sides are empty")]
    Empty,
    /// The sides are of different lengths.
    #[error("`{got}` elements where `{want}` were wanted")]
    Length {
        /// Elements got.
        got: usize,
        /// Elements wanted.
        want: usize,
    },
    /// The bound is no bound: negative, not a number, or loose enough for zeros to pass.
    #[error("`{0}` is no bound for a comparison: at least 0 and below {1} expected")]
    Bound(f64, f64),
    /// Elements differ.
    #[error(
        "wrong at {}: got `{:?}` (0x{:08x}), want `{:?}` (0x{:08x}); {} differ",
        .0.index, .0.got, .0.got.to_bits(), .0.want, .0.want.to_bits(), .0.count
    )]
    Values(Mismatch),
}

/// Every bit equal: NaN equals a NaN of the same bits, +0 differs from -0.
///
/// # Errors
/// If anything differs, lengths differ, or nothing was compared.
pub fn bit_exact(got: &[f32], want: &[f32]) -> Result<(), NotEqual> {
    compare(got, want, |got, want| got.to_bits() == want.to_bits())
}

/// As [`bit_exact`], except that where a NaN is wanted any NaN will do, for the payload is each
/// machine's own; the poison word is not such a NaN, since it means that nobody wrote.
///
/// # Errors
/// As for [`bit_exact`].
pub fn bit_exact_any_nan(got: &[f32], want: &[f32]) -> Result<(), NotEqual> {
    compare(got, want, |got, want| {
        let written = got.to_bits() != POISON_WORD;
        got.to_bits() == want.to_bits() && written || got.is_nan() && want.is_nan() && written
    })
}

/// `|got - want| <= tolerance * |want|`, where the scale is 1 at a wanted 0. Computed in f64, where
/// neither the difference nor the product of two f32 overflows. NaN and infinities never pass,
/// wanted or not.
///
/// # Errors
/// If anything is further off, lengths differ, nothing was compared, or the tolerance is not in
/// `0..1` (from 1 on, a buffer of zeros passes).
pub fn relative(got: &[f32], want: &[f32], tolerance: f64) -> Result<(), NotEqual> {
    if !(0.0..1.0).contains(&tolerance) {
        return Err(NotEqual::Bound(tolerance, 1.0));
    }
    compare(got, want, |got, want| {
        let scale = if want == 0.0 { 1.0 } else { f64::from(want).abs() };
        let difference = (f64::from(got) - f64::from(want)).abs();
        got.is_finite() && want.is_finite() && difference <= tolerance * scale
    })
}

/// The most units in the last place that [`ulp`] accepts as a bound: a thousandth of a binade of
/// f32's 2^23.
pub const ULP_MAX: u32 = 1 << 13;

/// At most `max` units in the last place apart, both zeros being one value. NaN never passes; an
/// infinity passes only where the same infinity is wanted.
///
/// # Errors
/// If anything is further off, lengths differ, nothing was compared, or `max` is above [`ULP_MAX`].
pub fn ulp(got: &[f32], want: &[f32], max: u32) -> Result<(), NotEqual> {
    if max > ULP_MAX {
        return Err(NotEqual::Bound(f64::from(max), f64::from(ULP_MAX) + 1.0));
    }
    compare(got, want, |got, want| {
        if got.is_finite() && want.is_finite() {
            place(got).abs_diff(place(want)) <= max
        } else {
            got == want
        }
    })
}

/// The position of a finite value among all values, both zeros at 0.
fn place(value: f32) -> i32 {
    let magnitude = (value.to_bits() & 0x7FFF_FFFF) as i32;
    if value.is_sign_negative() { -magnitude } else { magnitude }
}

/// The one loop: `equal` says of a pair whether it passes, and whatever it does not affirm fails.
fn compare(got: &[f32], want: &[f32], equal: impl Fn(f32, f32) -> bool) -> Result<(), NotEqual> {
    if got.len() != want.len() {
        return Err(NotEqual::Length { got: got.len(), want: want.len() });
    }
    if got.is_empty() {
        return Err(NotEqual::Empty);
    }
    let mut first = None;
    let mut count = 0;
    for (index, (got, want)) in got.iter().zip(want).enumerate() {
        if !equal(*got, *want) {
            count += 1;
            first.get_or_insert((index, *got, *want));
        }
    }
    match first {
        None => Ok(()),
        Some((index, got, want)) => Err(NotEqual::Values(Mismatch { index, got, want, count })),
    }
}

/// How many elements nobody wrote, and the first of them.
pub fn unwritten(output: &[f32]) -> Option<(usize, usize)> {
    let mut poisoned =
        output.iter().enumerate().filter(|(_, v)| v.to_bits() == POISON_WORD).map(|(at, _)| at);
    let first = poisoned.next()?;
    Some((first, 1 + poisoned.count()))
}

#[cfg(test)]
mod tests;
