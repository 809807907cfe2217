//! What a run printed in the places of a template's fields.
//!
//! **Invariant: only a whole output that fits its template makes a [`Matched`]**, so that what
//! reads one never meets half a run. Runs are compared by `agree`.

use super::field::Field;
use crate::decimal::Decimal;
use crate::device::DeviceFacts;
use crate::digest::Digest;

/// One printed number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// As printed, without the blanks of its alignment.
    pub text: String,
    /// What it says, exactly.
    pub value: Decimal,
}

/// The readings of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readings {
    /// The field.
    pub field: Field,
    /// One, or for a field in a `repeat` block one a round.
    pub list: Vec<Reading>,
}

/// A whole output that fits its template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// Each numeric field of the template, in its order. Facts that are text hold no number and are
    /// left out.
    pub readings: Vec<Readings>,
    /// The device that the output was matched for.
    pub device: DeviceFacts,
    /// The template's text.
    pub template: Digest,
    /// How many lines of output were compared.
    pub lines: u32,
}

impl Matched {
    /// The readings of a field by its name.
    pub fn readings(&self, name: &str) -> Option<&Readings> {
        self.readings.iter().find(|readings| readings.field.name.as_deref() == Some(name))
    }

    /// The reading of a field that is no list.
    pub fn one(&self, name: &str) -> Option<&Reading> {
        let readings = self.readings(name)?;
        if readings.field.repeated { None } else { readings.list.first() }
    }

    /// The readings of a field in a `repeat` block, in the order of the output.
    pub fn list(&self, name: &str) -> Option<&[Reading]> {
        self.readings(name).filter(|readings| readings.field.repeated).map(|r| r.list.as_slice())
    }
}
