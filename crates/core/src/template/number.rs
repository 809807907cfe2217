//! Reading one number from the output of a program.
//!
//! **Invariant: a number has one accepted spelling**, and what is not one is named: not finite,
//! wrong decimals, a leading zero, an exponent. Digits are consumed greedily, so reading is linear.

use super::field::plural;
use super::mismatch::Reason;
use super::token::take;
use crate::decimal::Decimal;

/// The most digits of a number with decimals.
const MAX_DIGITS: usize = 18;

/// What a number has to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An integer that may be negative.
    Integer,
    /// An integer from 0 to `u64::MAX`.
    Count,
    /// A non-negative number with exactly so many decimals.
    Decimals(u32),
}

/// Why there is no such number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoNumber {
    pub(super) reason: Reason,
    /// Completes "… at column 5": what was found instead.
    pub(super) why: String,
}

/// A number at the start of `text`, its bytes and its value. With `before_point` the template has a
/// point after it, as in `{major:count}.{minor:count}`, so that an integer ends there.
pub(super) fn read(
    text: &str,
    form: Form,
    before_point: bool,
) -> Result<(&str, Decimal), NoNumber> {
    let refuse = |reason, why: String| Err(NoNumber { reason, why });
    if starts_not_finite(text) {
        return refuse(Reason::NotFinite, "not a finite number".to_owned());
    }
    let negative = text.starts_with('-');
    let digits = &text[usize::from(negative)..];
    let whole = take(digits, |byte| byte.is_ascii_digit());
    if whole.is_empty() {
        let why = if text.starts_with([' ', '\t']) {
            "a blank where the number starts: say `width N` if it is right-aligned"
        } else if text.is_empty() {
            "the end of the line"
        } else {
            "not a number"
        };
        return refuse(Reason::Field, why.to_owned());
    }
    if whole.len() > 1 && whole.starts_with('0') {
        return refuse(Reason::Field, "a number with a needless leading zero".to_owned());
    }
    let fraction = match digits[whole.len()..].strip_prefix('.') {
        Some(_) if before_point && !matches!(form, Form::Decimals(1..)) => "",
        Some(rest) => take(rest, |byte| byte.is_ascii_digit()),
        None => "",
    };
    let length = usize::from(negative) + whole.len();
    let end = match form {
        Form::Integer | Form::Count if !fraction.is_empty() => {
            let why =
                format!("{} where none is expected", plural(fraction.len() as u32, "decimal"));
            return refuse(Reason::Decimals, why);
        }
        Form::Decimals(decimals) if fraction.len() != decimals as usize => {
            return refuse(Reason::Decimals, plural(fraction.len() as u32, "decimal"));
        }
        Form::Decimals(1..) => length + 1 + fraction.len(),
        _ => length,
    };
    if negative && form != Form::Integer {
        return refuse(Reason::Field, "a negative number".to_owned());
    }
    let number = &text[..end];
    let value = number.parse::<Decimal>().ok().filter(|value| match form {
        Form::Integer => true,
        Form::Count => value.mantissa() <= i128::from(u64::MAX),
        Form::Decimals(_) => whole.len() + fraction.len() <= MAX_DIGITS,
    });
    match value {
        Some(value) => Ok((number, value)),
        None if negative && number == "-0" => refuse(Reason::Field, "a negative zero".to_owned()),
        None => refuse(Reason::Field, "a number with too many digits".to_owned()),
    }
}

/// `nan`, `inf`, their signed and longer forms, and `1.#QNAN` of older C libraries.
fn starts_not_finite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let starts = |word: &str| {
        let start = unsigned.as_bytes().get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    starts("nan") || starts("inf") || starts("1.#")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_read_greedily_and_named_when_wrong() {
        let ok = |text: &str, form, expect: &str| {
            assert_eq!(read(text, form, false).map(|(number, _)| number), Ok(expect), "{text}");
        };
        ok("12 ms", Form::Count, "12");
        ok("0", Form::Count, "0");
        ok("18446744073709551615", Form::Count, "18446744073709551615");
        ok("12.", Form::Count, "12");
        ok("-7x", Form::Integer, "-7");
        ok("0.027 ms", Form::Decimals(3), "0.027");
        ok("27 ns", Form::Decimals(0), "27");
        ok("123456789.123456789", Form::Decimals(9), "123456789.123456789");
        let wrong = |text: &str, form, expect| {
            assert_eq!(read(text, form, false).map_err(|no| no.reason), Err(expect), "{text}");
        };
        for text in
            ["nan", "NaN", "-nan", "+inf", "inf", "-Infinity", "nan(0x8)", "1.#QNAN", "-1.#IND"]
        {
            wrong(text, Form::Decimals(3), Reason::NotFinite);
            wrong(text, Form::Count, Reason::NotFinite);
        }
        for text in
            ["", " 0.027", "+0.027", ".027", "-0.027", "00.027", "x", "٣.000", "\u{1b}[1m0.027"]
        {
            wrong(text, Form::Decimals(3), Reason::Field);
        }
        wrong("1234567890123456.789", Form::Decimals(3), Reason::Field);
        for text in ["0.02", "0.0270", "0", "0.", "1e3", "1e-3"] {
            wrong(text, Form::Decimals(3), Reason::Decimals);
        }
        wrong("18446744073709551616", Form::Count, Reason::Field);
        wrong("-1", Form::Count, Reason::Field);
        wrong("007", Form::Count, Reason::Field);
        wrong("1.5", Form::Count, Reason::Decimals);
        wrong("-0", Form::Integer, Reason::Field);
        wrong(&"9".repeat(5000), Form::Integer, Reason::Field);
        wrong("1.5", Form::Decimals(0), Reason::Decimals);
    }

    proptest! {
        #[test]
        fn no_text_panics(
            text in "([0-9.-]{0,9}.{0,40}|.{0,40})",
            decimals in 0..10_u32,
            before_point in any::<bool>(),
        ) {
            for form in [Form::Integer, Form::Count, Form::Decimals(decimals)] {
                if let Ok((number, value)) = read(&text, form, before_point) {
                    prop_assert!(text.starts_with(number));
                    prop_assert_eq!(value.to_string(), number);
                }
            }
        }
    }
}
