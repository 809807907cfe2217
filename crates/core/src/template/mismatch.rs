//! What is wrong with an output, in words.
//!
//! **Invariant: text of the program is escaped and cut here**, so that a message can be shown
//! anywhere. The matcher makes a [`Mismatch`] for each fault, and commands turn them into findings.

use std::fmt;

use crate::finding::{Finding, Findings, Place, Rule};

/// The most characters of output in one message.
const MAX_SHOWN: usize = 200;

/// The most characters of output in a remark inside a message.
const MAX_EXCERPT: usize = 40;

/// One difference between an output and its template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {detail}; expected {expected}, found {found}")]
pub struct Mismatch {
    /// The line of the output, from 1; one past the last where lines are missing.
    pub line: u32,
    /// The line of the template, from 1, if one is concerned.
    pub template_line: Option<u32>,
    /// What kind of difference it is.
    pub reason: Reason,
    /// What should be there.
    pub expected: String,
    /// What is there, escaped and cut.
    pub found: String,
    /// Which part of it is wrong, and how.
    pub detail: String,
}

/// The kinds of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Literal text differs.
    Text,
    /// A field is missing, malformed, or not the exact value.
    Field,
    /// NaN or an infinity.
    NotFinite,
    /// A wrong number of decimals.
    Decimals,
    /// A value outside its bounds.
    Bounds,
    /// A ratio or rate that does not follow from the printed numbers.
    Ratio,
    /// An expression without a value: overflow, division by zero, a senseless repeat count.
    Expression,
    /// A line or more is missing.
    TooFewLines,
    /// A line or more is too many.
    TooManyLines,
    /// A line ends with CRLF.
    CarriageReturn,
    /// The last line does not end with a newline.
    NoFinalNewline,
    /// A line is not UTF-8.
    NotUtf8,
    /// A line or the output is longer than is read.
    TooLong,
    /// There is no output, or nothing of it was checked.
    Empty,
}

impl Reason {
    /// What to do about it.
    fn next(self) -> &'static str {
        match self {
            Self::CarriageReturn => "print `\\n` alone at the end of a line",
            Self::NoFinalNewline => "end the last line with `\\n`",
            Self::NotUtf8 => "print UTF-8",
            Self::NotFinite => "find the division by zero or the uninitialised value",
            Self::Bounds => "find why the value moved, or widen the bounds of the field",
            Self::Ratio => "compute the printed ratio or rate from the printed numbers",
            Self::Decimals => "print as many decimals as the field says, or change the field",
            Self::TooLong => "print less: a lesson's output is read by people",
            Self::Empty => "print the result, and flush it before the program ends",
            Self::Expression => "change the expression, or what it is computed from",
            Self::Text | Self::Field | Self::TooFewLines | Self::TooManyLines => {
                "print what the template says, or change the template"
            }
        }
    }
}

impl Mismatch {
    /// The finding, at the place of the output or of the manifest.
    pub fn finding(&self, place: Place) -> Finding {
        let fact = format!(
            "line {} of the output: expected {}, found {}",
            self.line, self.expected, self.found
        );
        Finding::error(Rule::OutputMismatch, place, fact, self.reason.next()).because(&self.detail)
    }
}

/// The findings of all mismatches, at one place.
pub fn findings(place: &Place, mismatches: &[Mismatch]) -> Findings {
    mismatches.iter().map(|mismatch| mismatch.finding(place.clone())).collect()
}

/// Bytes of output with control and invisible characters escaped, cut to 200 characters, in
/// backticks.
pub(super) fn quote(bytes: &[u8]) -> String {
    format!("`{}`", cut(bytes, MAX_SHOWN))
}

/// The start of a text, escaped, for remarks.
pub(super) fn excerpt(text: &str) -> String {
    cut(text.as_bytes(), MAX_EXCERPT)
}

fn cut(bytes: &[u8], characters_max: usize) -> String {
    // At most four bytes a character are looked at, however long the line is.
    let start = &bytes[..bytes.len().min(4 * characters_max)];
    let mut shown = String::new();
    let mut count = 0;
    for chunk in start.utf8_chunks() {
        let valid = chunk.valid().chars().map(escape);
        let invalid = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}"));
        for piece in valid.chain(invalid) {
            count += 1;
            if count > characters_max {
                return shown + "…";
            }
            shown.push_str(&piece);
        }
    }
    if start.len() < bytes.len() { shown + "…" } else { shown }
}

fn escape(c: char) -> String {
    let invisible = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{61c}' | '\u{fff9}'..='\u{fffb}');
    match c {
        '\t' | '\r' | '\\' => c.escape_default().to_string(),
        c if c.is_control() || invisible => format!("\\u{{{:x}}}", u32::from(c)),
        c => c.to_string(),
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Field => "field",
            Self::NotFinite => "not-finite",
            Self::Decimals => "decimals",
            Self::Bounds => "bounds",
            Self::Ratio => "ratio",
            Self::Expression => "expression",
            Self::TooFewLines => "too-few-lines",
            Self::TooManyLines => "too-many-lines",
            Self::CarriageReturn => "carriage-return",
            Self::NoFinalNewline => "no-final-newline",
            Self::NotUtf8 => "not-utf8",
            Self::TooLong => "too-long",
            Self::Empty => "empty",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_printed_cannot_move_the_cursor() {
        let shown = quote(b"a\x1b[2J\r\xff\xc2\x9b\xe2\x80\xaeb\\");
        assert_eq!(shown, r"`a\u{1b}[2J\r\xff\u{9b}\u{202e}b\\`");
    }

    #[test]
    fn long_lines_are_cut_by_characters() {
        assert_eq!(quote("é".repeat(200).as_bytes()), format!("`{}`", "é".repeat(200)));
        assert_eq!(quote("é".repeat(201).as_bytes()), format!("`{}…`", "é".repeat(200)));
        assert_eq!(quote(&vec![b'x'; 1 << 20]).chars().count(), 203);
    }
}
