//! The time in which a key counts.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Both ends are included, as in OpenSSH, and both are in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::trust) struct Window {
    /// The first moment.
    pub after: Option<Timestamp>,
    /// The last moment.
    pub before: Option<Timestamp>,
}

impl Window {
    /// The moment that `YYYYMMDDZ`, `YYYYMMDDHHMMZ` or `YYYYMMDDHHMMSSZ` names, or why it names
    /// none.
    pub fn parse(text: &str) -> Result<Timestamp, &'static str> {
        let Some(digits) = text.strip_suffix('Z') else {
            return Err("does not end in `Z`: OpenSSH would read it in the time zone of whoever \
                        verifies, and a key would be valid in one place and not in another");
        };
        if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err("is not YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS before its `Z`");
        }
        let number = |from: usize, len: usize| -> i16 {
            let part = digits.get(from..from + len).unwrap_or("0");
            part.bytes().fold(0, |sum, b| sum * 10 + i16::from(b - b'0'))
        };
        // Two digits fit an i8.
        let two = |from: usize| i8::try_from(number(from, 2)).unwrap_or(i8::MAX);
        let time = DateTime::new(number(0, 4), two(4), two(6), two(8), two(10), two(12), 0)
            .and_then(|time| TimeZone::UTC.to_timestamp(time))
            .map_err(|_| "is not a date of the calendar")?;
        // OpenSSH keeps the time as an unsigned number in which 0 stands for "no limit".
        if time.as_second() > 0 { Ok(time) } else { Err("is not after the start of 1970") }
    }

    /// How a moment is written, in its longest form.
    pub fn spell(time: Timestamp) -> String {
        time.strftime("%Y%m%d%H%M%SZ").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_utc_date_of_the_calendar() {
        for (text, expect) in [
            ("20250102Z", "2025-01-02T00:00:00Z"),
            ("202501020304Z", "2025-01-02T03:04:00Z"),
            ("20250102030405Z", "2025-01-02T03:04:05Z"),
            ("20240229Z", "2024-02-29T00:00:00Z"),
            ("99981231235959Z", "9998-12-31T23:59:59Z"),
        ] {
            let time = Window::parse(text).unwrap();
            assert_eq!(time.to_string(), expect);
            assert_eq!(Window::parse(&Window::spell(time)), Ok(time));
        }
        for text in [
            "",
            "Z",
            "20250102",
            "20250102z",
            "2025010Z",
            "2025010203Z",
            "20250102030Z",
            "20250229Z",
            "20251301Z",
            "20250100Z",
            "202501022400Z",
            "202501020060Z",
            "20250102000060Z",
            "2025-1-2Z",
            "19700101Z",
            "19691231Z",
            "+2025012Z",
            "２0250102Z",
            "20250102ZZ",
        ] {
            assert!(Window::parse(text).is_err(), "{text}");
        }
    }
}
