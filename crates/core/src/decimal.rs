//! Exact decimal numbers, as programs print them and manifests state them.
//!
//! **Invariant: a value is what its digits say, never a binary approximation; NaN and infinities
//! cannot exist here.** Templates read outputs into [`Decimal`]s, and pages compare them with
//! [`CompareOp`].

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The most significant digits that a mantissa has. With [`MAX_DECIMALS`] it keeps every comparison
/// within `i128`.
pub const MAX_DIGITS: u32 = 26;

/// The most digits after the point.
pub const MAX_DECIMALS: u32 = 12;

const MANTISSA_LIMIT: i128 = 10_i128.pow(MAX_DIGITS);

/// A decimal number: `mantissa` divided by ten to the power of `decimals`.
///
/// Compared by value (`1.0 == 1.00`), displayed with the decimals that it was written with, so that
/// [`fmt::Display`] gives back the text that was parsed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Decimal {
    mantissa: i128,
    decimals: u32,
}

/// Why a text is no decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// Anything but an optional `-`, digits without a needless leading zero, and a point with
    /// digits after it. This is where `nan`, `inf`, `1e3`, `+1`, `.5`, `5.`, `007` and `-0` end.
    #[error("not a plain decimal number such as `12` or `0.125`")]
    Form,
    /// More than [`MAX_DIGITS`] significant digits or [`MAX_DECIMALS`] decimals.
    #[error("more than {MAX_DIGITS} digits or {MAX_DECIMALS} decimals")]
    TooLong,
}

impl Decimal {
    /// A number from its parts; `None` beyond the limits.
    pub fn new(mantissa: i128, decimals: u32) -> Option<Self> {
        let fits = decimals <= MAX_DECIMALS && -MANTISSA_LIMIT < mantissa;
        (fits && mantissa < MANTISSA_LIMIT).then_some(Self { mantissa, decimals })
    }

    /// The integer that the digits without their point make.
    pub fn mantissa(self) -> i128 {
        self.mantissa
    }

    /// How many digits stand after the point.
    pub fn decimals(self) -> u32 {
        self.decimals
    }

    /// The nearest binary number: for plots and prose, never for a check.
    pub fn as_f64(self) -> f64 {
        self.to_string().parse().expect("a decimal's digits are a number to f64 as well")
    }

    fn scaled(self, decimals: u32) -> i128 {
        // At most 26 digits times at most 12 more: below 10^38, which i128 holds.
        self.mantissa * 10_i128.pow(decimals - self.decimals)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let decimals = self.decimals.max(other.decimals);
        self.scaled(decimals).cmp(&other.scaled(decimals))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let scale = 10_u128.pow(self.decimals);
        let magnitude = self.mantissa.unsigned_abs();
        write!(f, "{sign}{}", magnitude / scale)?;
        if self.decimals > 0 {
            let width = self.decimals as usize;
            write!(f, ".{:0width$}", magnitude % scale)?;
        }
        Ok(())
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = match digits.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(DecimalError::Form),
            None => (digits, ""),
        };
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let needless_zero = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || needless_zero || !plain(whole) || !plain(fraction) {
            return Err(DecimalError::Form);
        }
        if fraction.len() > MAX_DECIMALS as usize || whole.len() > MAX_DIGITS as usize {
            return Err(DecimalError::TooLong);
        }
        let digit = |byte: u8| i128::from(byte - b'0');
        let magnitude = whole.bytes().chain(fraction.bytes()).fold(0, |sum, b| sum * 10 + digit(b));
        if negative && magnitude == 0 {
            return Err(DecimalError::Form);
        }
        let mantissa = if negative { -magnitude } else { magnitude };
        Self::new(mantissa, fraction.len() as u32).ok_or(DecimalError::TooLong)
    }
}

impl TryFrom<String> for Decimal {
    type Error = DecimalError;

    fn try_from(text: String) -> Result<Self, DecimalError> {
        text.parse()
    }
}

impl From<Decimal> for String {
    fn from(decimal: Decimal) -> Self {
        decimal.to_string()
    }
}

impl From<u64> for Decimal {
    fn from(integer: u64) -> Self {
        Self { mantissa: i128::from(integer), decimals: 0 }
    }
}

/// How an assertion compares two decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// Why a text is no comparison.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not one of `<`, `<=`, `>`, `>=`")]
pub struct NotACompareOp;

impl CompareOp {
    /// Whether `left OP right` holds, exactly.
    pub fn holds(self, left: Decimal, right: Decimal) -> bool {
        match self {
            Self::Lt => left < right,
            Self::Le => left <= right,
            Self::Gt => left > right,
            Self::Ge => left >= right,
        }
    }
}

impl fmt::Display for CompareOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        })
    }
}

impl FromStr for CompareOp {
    type Err = NotACompareOp;

    fn from_str(text: &str) -> Result<Self, NotACompareOp> {
        match text {
            "<" => Ok(Self::Lt),
            "<=" => Ok(Self::Le),
            ">" => Ok(Self::Gt),
            ">=" => Ok(Self::Ge),
            _ => Err(NotACompareOp),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn one_spelling_for_each_number() {
        for text in ["0", "0.0", "0.125", "12", "-3.50", "18446744073709551615"] {
            assert_eq!(decimal(text).to_string(), text);
        }
        let wrong =
            "nan NaN inf -inf 1e3 1E3 +1 .5 5. 007 -0 -0.000 - 1.-2 1_0 0x10 ١ 1,5 -.5 1.2.3";
        for text in wrong.split(' ').chain(["", " 1", "1 "]) {
            assert_eq!(text.parse::<Decimal>(), Err(DecimalError::Form), "{text}");
        }
    }

    #[test]
    fn the_limits_are_as_documented() {
        let most = "9".repeat(26);
        assert_eq!(decimal(&most).to_string(), most);
        assert_eq!(decimal("0.000000000001").decimals(), 12);
        let too_long = ["1".repeat(27), format!("0.{}", "1".repeat(13)), format!("{most}.1")];
        for text in too_long {
            assert_eq!(text.parse::<Decimal>(), Err(DecimalError::TooLong), "{text}");
        }
        assert_eq!(Decimal::new(0, 13), None);
        assert_eq!(Decimal::new(-(10_i128.pow(26)), 0), None);
    }

    #[test]
    fn order_is_by_value_even_at_the_limits() {
        assert_eq!(decimal("1.0"), decimal("1.000"));
        let ascending = ["-99999999999999999999999999", "-0.001", "0.0", "0.000000000001", "1"];
        for pair in ascending.windows(2) {
            assert!(decimal(pair[0]) < decimal(pair[1]), "{pair:?}");
        }
        assert!(decimal("99999999999999999999999999") > decimal("0.999999999999"));
    }

    #[test]
    fn comparisons_hold_and_fail() {
        let table = [("<", [true, false, false]), ("<=", [true, true, false])];
        let mirrored = [(">", [false, false, true]), (">=", [false, true, true])];
        for (text, expect) in table.into_iter().chain(mirrored) {
            let op: CompareOp = text.parse().unwrap();
            assert_eq!(op.to_string(), text);
            let held = ["0.999", "1.00", "1.001"].map(|left| op.holds(decimal(left), decimal("1")));
            assert_eq!(held, expect, "{text}");
        }
        for wrong in ["=", "==", "!=", "=<", "", "< "] {
            assert_eq!(wrong.parse::<CompareOp>(), Err(NotACompareOp));
        }
    }

    proptest! {
        #[test]
        fn parts_survive_being_written(
            mantissa in -(10_i128.pow(26) - 1)..10_i128.pow(26),
            d in 0..13_u32,
        ) {
            let number = Decimal::new(mantissa, d).unwrap();
            let back: Decimal = number.to_string().parse().unwrap();
            prop_assert_eq!((back.mantissa(), back.decimals()), (mantissa, d));
        }

        #[test]
        fn no_text_panics(text in ".{0,60}") {
            if let Ok(number) = text.parse::<Decimal>() {
                prop_assert_eq!(number.to_string(), text);
            }
        }

        #[test]
        fn small_numbers_order_like_f64(a in -9999..9999_i32, b in -9999..9999_i32) {
            // Four digits with two decimals are told apart by f64.
            let number = |m: i32| Decimal::new(i128::from(m), 2).unwrap();
            let order = number(a).as_f64().total_cmp(&number(b).as_f64());
            prop_assert_eq!(number(a).cmp(&number(b)), order);
        }
    }
}
