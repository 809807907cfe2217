//! What is wrong with a PTX text, and where.

use std::fmt;

/// The longest piece of the text that an error quotes, in characters.
const QUOTED: usize = 48;

/// A PTX text that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What would have been right there, or what is wrong with what stands there.
    pub expected: String,
    /// The text that stands there; empty at the end of the text.
    pub found: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PTX line {}, column {}: expected {}", self.line, self.column, self.expected)?;
        if self.found.is_empty() {
            f.write_str(", found the end of the text")
        } else {
            write!(f, ", found `{}`", self.found.escape_debug())
        }
    }
}

impl ParseError {
    /// An error at the bytes from `start` to `end` of a text.
    pub(super) fn at(text: &str, start: usize, end: usize, expected: impl Into<String>) -> Self {
        let before = text.get(..start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let lines = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let columns = before[line_start..].chars().count() + 1;
        let found: String = text.get(start..end).unwrap_or("").chars().take(QUOTED).collect();
        Self { line: number(lines), column: number(columns), expected: expected.into(), found }
    }

    /// An error for a text over the limit.
    pub(super) fn too_long(bytes: usize) -> Self {
        Self {
            line: 1,
            column: 1,
            expected: format!("at most {} bytes of PTX", super::lexer::MAX_TEXT),
            found: format!("{bytes} bytes"),
        }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
