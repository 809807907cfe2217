//! Whether runs agree, and which of them is the median.
//!
//! **Invariant: exact fields print the same in every run; where they follow from device facts, in
//! every run on an equal device.** Durations, ratios and rates are held to their bounds only, when
//! each run is matched.

use super::matched::{Matched, Readings};
use crate::finding::{Finding, Place, Rule};

/// An exact field that two runs print differently.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("runs {first_run} and {run} disagree in {what}: `{first}`, `{other}`")]
pub struct Disagreement {
    /// The field's name, or its text in braces; with its round for lists, from 0.
    pub what: String,
    /// The earlier run, from 0.
    pub first_run: usize,
    /// The run that differs, from 0.
    pub run: usize,
    /// What the earlier run prints.
    pub first: String,
    /// What the run that differs prints.
    pub other: String,
}

impl Disagreement {
    /// The finding, at the place of the runs.
    pub fn finding(&self, place: Place) -> Finding {
        let next = "find what makes the program print another value each time";
        Finding::error(Rule::RunsDisagree, place, self.to_string(), next)
    }
}

/// Compares each run with the first, or for device-dependent fields with the first on an equal
/// device. One disagreement a field and run.
pub fn agree(runs: &[Matched]) -> Vec<Disagreement> {
    let mut disagreements = Vec::new();
    for (run, matched) in runs.iter().enumerate().skip(1) {
        let alike = runs[..run].iter().position(|earlier| {
            earlier.device == matched.device && earlier.template == matched.template
        });
        if matched.template != runs[0].template {
            disagreements.push(Disagreement {
                what: "the template that they were matched with".to_owned(),
                first_run: 0,
                run,
                first: runs[0].template.short(),
                other: matched.template.short(),
            });
            continue;
        }
        for (index, readings) in matched.readings.iter().enumerate() {
            let earlier = if readings.field.device_dependent { alike } else { Some(0) };
            if let Some(first_run) = earlier.filter(|_| readings.field.is_exact()) {
                let first = &runs[first_run].readings[index];
                disagreements.extend(differ(first, readings, first_run, run));
            }
        }
    }
    disagreements
}

fn differ(one: &Readings, two: &Readings, first_run: usize, run: usize) -> Option<Disagreement> {
    let name = match &two.field.name {
        Some(name) => format!("`{name}`"),
        None => format!("`{{{}}}`", two.field.source),
    };
    if one.list.len() != two.list.len() {
        let what = format!("how many values of {name} they print");
        let (first, other) = (one.list.len().to_string(), two.list.len().to_string());
        return Some(Disagreement { what, first_run, run, first, other });
    }
    let round = one.list.iter().zip(&two.list).position(|(one, two)| one.text != two.text)?;
    let what = if two.field.repeated { format!("{name} of round {round}") } else { name };
    let (first, other) = (one.list[round].text.clone(), two.list[round].text.clone());
    Some(Disagreement { what, first_run, run, first, other })
}

/// The run whose `field` is the lower median, the lowest index where several print that value.
/// `None` if a run has no such field, or it is a list, or there is no run.
pub fn median_run(runs: &[Matched], field: &str) -> Option<usize> {
    let values = runs.iter().map(|run| run.one(field).map(|reading| reading.value));
    let values = values.collect::<Option<Vec<_>>>()?;
    let mut sorted = values.clone();
    sorted.sort();
    let median = sorted.get(sorted.len().checked_sub(1)? / 2)?;
    values.iter().position(|value| value == median)
}
