//! What is wrong with a template's own text.
//!
//! **Invariant: each error has a place in the template.** The manifest loader adds the offset of
//! the template in `lesson.toml` and makes a [`Finding`] of it.

use crate::finding::{Finding, Place, Rule};

/// One error in a template. All of them are reported, in the order of their offsets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {hint}")]
pub struct TemplateError {
    /// The byte in the template's text at which it is.
    pub offset: usize,
    /// The line of the template, from 1.
    pub line: u32,
    /// What is so.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl TemplateError {
    pub(super) fn new(
        offset: usize,
        line: u32,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { offset, line, message: message.into(), hint: hint.into() }
    }

    /// The finding, at the place in the manifest that the loader knows.
    pub fn finding(&self, place: Place) -> Finding {
        let fact = format!("line {} of the output template: {}", self.line, self.message);
        Finding::error(Rule::TemplateInvalid, place, fact, self.hint.clone())
    }
}

/// Why a field does not parse.
#[derive(Debug)]
pub(super) enum Fault {
    /// An error of its own.
    Error(TemplateError),
    /// It uses a field that has an error of its own, which is reported there.
    Consequence,
}

impl From<TemplateError> for Fault {
    fn from(error: TemplateError) -> Self {
        Self::Error(error)
    }
}
