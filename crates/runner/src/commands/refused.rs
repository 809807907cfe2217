//! Why a command ends without having done its work, each with its exit code.

use std::fmt;

use proofrun_core::escape::escape;

/// A refusal: its words, and the exit code that the course documents for it.
#[derive(Debug)]
pub struct Refused {
    code: u8,
    text: String,
}

impl Refused {
    /// The command line can't be followed: 2.
    pub fn usage(text: impl Into<String>) -> Self {
        Self { code: 2, text: text.into() }
    }

    /// Nothing is selected: 4.
    pub fn nothing(text: impl Into<String>) -> Self {
        Self { code: 4, text: text.into() }
    }

    /// A device or toolkit is asked for and absent: 25.
    pub fn absent(text: impl Into<String>) -> Self {
        Self { code: 25, text: text.into() }
    }

    /// A lesson fails to build or run: 27.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { code: 27, text: text.into() }
    }

    /// Anything else: 1.
    pub fn unexpected(error: impl std::error::Error) -> Self {
        Self { code: 1, text: chain(&error) }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.text, false))
    }
}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Self {
        Self::unexpected(error)
    }
}

/// An error and what caused it, in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        // Some errors repeat their cause in their own words.
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    text
}
