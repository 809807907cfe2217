//! Whether a printed quotient follows from printed numbers.
//!
//! **Invariant: exact.** A number printed with N decimals stands for every value within half a unit
//! of its last place, both ends included, since C's `printf` rounds the exact binary value and
//! sends ties to either side. A printed quotient must be one that values in those intervals can
//! have. All of it is done on integers of any length: floating point would be wrong at exactly the
//! edges that matter.

use super::field::{Field, FieldKind};
use crate::decimal::Decimal;

/// A printed number and what it stands for: `mantissa` over ten to the power of `scale`, in base
/// units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantity {
    /// Not negative.
    mantissa: u128,
    scale: u32,
    /// Whether it was rounded when it was printed; integers were not.
    rounded: bool,
}

impl Quantity {
    /// The quantity that a field printed, durations in seconds; `None` for negative numbers.
    pub(super) fn of(field: &Field, value: Decimal) -> Option<Self> {
        let unit = match field.kind {
            FieldKind::Duration { unit, .. } => unit.exponent(),
            _ => 0,
        };
        let mantissa = u128::try_from(value.mantissa()).ok()?;
        Some(Self { mantissa, scale: value.decimals() + unit, rounded: !field.is_exact() })
    }

    /// An exact integer over `10^scale`.
    pub(super) fn exact(value: Decimal, scale: u32) -> Option<Self> {
        let mantissa = u128::try_from(value.mantissa()).ok()?;
        Some(Self { mantissa, scale: value.decimals() + scale, rounded: false })
    }

    /// Twice the least and the greatest mantissa that it stands for.
    fn doubled(self) -> (u128, u128) {
        let half = u128::from(self.rounded);
        (((2 * self.mantissa).saturating_sub(half)), 2 * self.mantissa + half)
    }

    pub(super) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    fn as_f64(self, doubled: u128) -> f64 {
        doubled as f64 / 2.0 / 10_f64.powi(self.scale as i32)
    }
}

/// Whether `quotient` can be what `numerator` over `denominator` prints. A zero denominator never
/// can.
pub(super) fn follows(quotient: Decimal, numerator: Quantity, denominator: Quantity) -> bool {
    let Some(quotient) = Quantity::exact(quotient, 0).map(|q| Quantity { rounded: true, ..q })
    else {
        return false;
    };
    if denominator.is_zero() {
        return false;
    }
    let (q_low, q_high) = quotient.doubled();
    let (n_low, n_high) = numerator.doubled();
    let (d_low, d_high) = denominator.doubled();
    // q/2·10^-sq against (n/2·10^-sn) / (d/2·10^-sd): cross-multiplied, so that both sides are
    // whole.
    let left = |q: u128, d: u128| product([q, d, power(numerator.scale)]);
    let right = |n: u128| product([2 * n, power(denominator.scale), power(quotient.scale)]);
    left(q_high, d_high) >= right(n_low) && left(q_low, d_low) <= right(n_high)
}

/// The interval of the quotient, for messages only.
pub(super) fn shown(numerator: Quantity, denominator: Quantity, decimals: u32) -> String {
    if denominator.is_zero() {
        return "nothing: the denominator is zero".to_owned();
    }
    let (n_low, n_high) = numerator.doubled();
    let (d_low, d_high) = denominator.doubled();
    let low = numerator.as_f64(n_low) / denominator.as_f64(d_high);
    let high = numerator.as_f64(n_high) / denominator.as_f64(d_low);
    let places = decimals as usize + 2;
    format!("a value from {low:.places$} to {high:.places$}")
}

fn power(exponent: u32) -> u128 {
    10_u128.pow(exponent)
}

/// The product of three factors, most significant limb first, so that arrays compare as numbers.
fn product(factors: [u128; 3]) -> [u64; 6] {
    let mut limbs = [0_u64; 6];
    limbs[0] = 1;
    for factor in factors {
        let mut sum = [0_u64; 6];
        for (shift, half) in [factor as u64, (factor >> 64) as u64].into_iter().enumerate() {
            let mut carry = 0_u128;
            for index in shift..6 {
                // A limb squared, a limb and a carry fit 128 bits; three factors of 128 bits fit
                // six limbs.
                let term = u128::from(limbs[index - shift]) * u128::from(half);
                let total = term + u128::from(sum[index]) + carry;
                sum[index] = total as u64;
                carry = total >> 64;
            }
        }
        limbs = sum;
    }
    limbs.reverse();
    limbs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rounded(text: &str) -> Quantity {
        Quantity { rounded: true, ..exact(text) }
    }

    fn exact(text: &str) -> Quantity {
        Quantity::exact(text.parse().unwrap(), 0).unwrap()
    }

    fn check(quotient: &str, numerator: Quantity, denominator: Quantity, expect: bool) {
        let quotient: Decimal = quotient.parse().unwrap();
        assert_eq!(follows(quotient, numerator, denominator), expect, "{quotient}");
    }

    #[test]
    fn the_edges_of_a_ratio() {
        // 0.031 / 0.027 as printed: [0.0305, 0.0315] / [0.0265, 0.0275] = [1.10909…, 1.18867…].
        // Printed with three decimals a value stands for itself ± 0.0005.
        let (b, a) = (rounded("0.031"), rounded("0.027"));
        for (quotient, expect) in [("1.108", false), ("1.109", true), ("1.148", true)] {
            check(quotient, b, a, expect);
        }
        for (quotient, expect) in [("1.189", true), ("1.190", false), ("0.000", false)] {
            check(quotient, b, a, expect);
        }
    }

    #[test]
    fn both_ends_of_an_interval_belong_to_it() {
        // 1 / 2 exactly is 0.5: printed without decimals a tie, which may go to 0 or to 1.
        for (quotient, expect) in [("0", true), ("1", true), ("2", false)] {
            check(quotient, exact("1"), exact("2"), expect);
        }
        // [0.95, 1.05] / 1: 0.9 stands for up to 0.95, 1.1 for 1.05 and more.
        for (quotient, expect) in [("0.8", false), ("0.9", true), ("1.1", true), ("1.2", false)] {
            check(quotient, rounded("1.0"), exact("1"), expect);
        }
        // The same a digit beyond the edge: [0.95, 1.05] against [0.935, 0.945] and [0.945, 0.955].
        check("0.94", rounded("1.0"), exact("1"), false);
        check("0.95", rounded("1.0"), exact("1"), true);
    }

    #[test]
    fn zero_below_the_line_never_passes() {
        for quotient in ["0", "0.000", "999999999999.000"] {
            check(quotient, rounded("0.000"), rounded("0.000"), false);
            check(quotient, rounded("1.000"), exact("0"), false);
        }
        // Zero above it stands for [0, 0.0005].
        check("0.000", rounded("0.000"), rounded("1.000"), true);
        check("0.001", rounded("0.000"), rounded("1.000"), true);
        check("0.002", rounded("0.000"), rounded("1.000"), false);
    }

    #[test]
    fn long_numbers_are_exact() {
        // 10^26 - 1 over 1 is itself, and not its neighbour two units away.
        let most = "99999999999999999999999999";
        check(most, exact(most), exact("1"), true);
        check("99999999999999999999999997", exact(most), exact("1"), false);
        assert_eq!(product([u128::MAX; 3])[0], u64::MAX);
        assert_eq!(product([u128::MAX, 1, 1])[3..], [0, u64::MAX, u64::MAX]);
    }

    proptest! {
        #[test]
        fn what_printf_rounds_always_passes(b in 1..2_000_000_u64, a in 1..2_000_000_u64) {
            // Microseconds, printed as milliseconds with two decimals (half up), and their true
            // quotient.
            let print = |us: u64| Decimal::new(i128::from((us + 5) / 10), 2).unwrap();
            let (above, below) = (print(b), print(a));
            prop_assume!(below.mantissa() > 0);
            let quotient = Decimal::new(i128::from((2000 * b + a) / (2 * a)), 3).unwrap();
            let rounded = |d: Decimal| Quantity { rounded: true, ..Quantity::exact(d, 0).unwrap() };
            prop_assert!(follows(quotient, rounded(above), rounded(below)));
        }
    }
}
