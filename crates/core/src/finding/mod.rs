//! Findings: what is wrong or odd, where, why, and what to do next.
//!
//! **Invariant: every check reports all its findings, not the first.** A check appends to a
//! [`Findings`] and goes on; only the edge turns them into an exit code, by [`Rule::class`] and the
//! order in [`Class`].

mod rule;

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

pub use rule::{Class, Rule};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The command fails.
    Error,
    /// Shown and counted; the command does not fail for it.
    Warning,
}

/// A place in the course: a path relative to its root, and where it is known the line and column
/// (from 1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// Relative to the course's root, with `/`.
    pub path: Utf8PathBuf,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// From 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Place {
    /// A whole file.
    pub fn file(path: impl AsRef<Utf8Path>) -> Self {
        Self { path: path.as_ref().to_owned(), line: None, column: None }
    }

    /// A line of a file, counted from 1.
    pub fn line(path: impl AsRef<Utf8Path>, line: u32) -> Self {
        Self { line: Some(line), ..Self::file(path) }
    }

    /// The place of a byte offset in `text`.
    pub fn offset(path: impl AsRef<Utf8Path>, text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        Self {
            path: path.as_ref().to_owned(),
            line: u32::try_from(line).ok(),
            column: u32::try_from(column).ok(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path.as_str())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}

/// One finding. The texts are lower-case fragments with values in backticks, and may quote bytes
/// from outside: whoever shows them on a terminal escapes control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// Which rule was broken; decides the exit code.
    pub rule: Rule,
    /// Error or warning.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What is so: "snippet `sync-loop` is never closed".
    pub fact: String,
    /// Why, where that is known and not plain from the fact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What to do about it: "add `// end snippet` after the region".
    pub next: String,
}

impl Finding {
    /// An error.
    pub fn error(
        rule: Rule,
        place: Place,
        fact: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        let severity = Severity::Error;
        Self { rule, severity, place, fact: fact.into(), cause: None, next: next.into() }
    }

    /// A warning.
    pub fn warning(
        rule: Rule,
        place: Place,
        fact: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(rule, place, fact, next) }
    }

    /// The same finding with its cause.
    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }
}

/// What a check found, in the order of discovery.
pub type Findings = Vec<Finding>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_becomes_a_line_and_a_column_in_characters() {
        let text = "ab\ncé|x\n";
        let place = Place::offset("f", text, text.find('|').unwrap());
        assert_eq!(place.to_string(), "f:2:3");
        assert_eq!(Place::offset("f", text, 999).to_string(), "f:3:1");
    }
}
