//! A device model and a build variant: what evidence is of.

use std::fmt;

use serde::Serialize;

/// A device model and a build variant, written `h200/sm_80`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Pair {
    /// The slug of the device's name.
    pub model: String,
    /// The build's name.
    pub variant: String,
}

impl Pair {
    /// A pair.
    pub fn new(model: impl Into<String>, variant: impl Into<String>) -> Self {
        Self { model: model.into(), variant: variant.into() }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.model, self.variant)
    }
}
