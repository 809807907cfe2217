//! The measured figures of a reader beside those of the records, field by field and card by card.
//!
//! **Invariant: only what a reviewer accepted as it is rendered now is called reviewed, and no
//! figure of a record that was rejected or taken back is shown.**

use std::fmt::Write as _;

use proofrun_core::Decimal;
use proofrun_core::assess::Assessment;
use proofrun_core::device::DeviceFacts;
use proofrun_core::escape::escape;
use proofrun_core::lesson::Program;
use proofrun_core::review::Standing;
use proofrun_core::state::{AssessedRecord, Evidence, Pair, RecordState, Shown};
use proofrun_core::template::{Field, Reader};

use super::BOLD;
use crate::words::count;

/// The record of each pair that figures are compared with: the one that is shown, else the newest
/// valid one of today, else the newest valid one.
pub(super) fn recorded(assessment: &Assessment) -> impl Iterator<Item = (&Pair, &AssessedRecord)> {
    assessment.evidence.iter().filter_map(|(pair, evidence)| Some((pair, chosen(evidence)?)))
}

fn chosen(evidence: &Evidence) -> Option<&AssessedRecord> {
    let shown = |record: &&AssessedRecord| is_reviewed(evidence, record);
    let valid = || evidence.records.iter().filter(|record| record.state == RecordState::Valid);
    let stands = || valid().filter(|record| out(record).is_none());
    let today = || stands().find(|record| record.is_of_today());
    let any = || stands().next().or_else(|| valid().next());
    stands().find(shown).or_else(today).or_else(any)
}

/// Why a record's figures are not to be compared with, where they aren't.
fn out(record: &AssessedRecord) -> Option<&'static str> {
    match record.standing {
        Standing::Rejected(_) => Some("rejected"),
        Standing::Revoked(_) => Some("taken back"),
        Standing::None | Standing::Accepted(_) => None,
    }
}

/// The cards that records whose figures count were made on.
pub(super) fn cards(assessment: &Assessment) -> Vec<&DeviceFacts> {
    let counts = recorded(assessment).filter(|(_, record)| out(record).is_none());
    counts.map(|(_, record)| &record.examined.record.device.facts).collect()
}

fn is_reviewed(evidence: &Evidence, record: &AssessedRecord) -> bool {
    matches!(&evidence.shown, Shown::Current(reviewed)
        if reviewed.examined().digest == record.examined.digest)
}

/// A row of the table: who, and the texts of its columns.
struct Row {
    who: String,
    values: [String; 3],
    note: String,
}

/// All measured fields.
pub(super) fn table(
    assessment: &Assessment,
    program: &Program,
    read: &Reader,
    on: Option<&Pair>,
) -> String {
    let records: Vec<_> =
        recorded(assessment).filter(|(pair, _)| on.is_none_or(|on| on == *pair)).collect();
    if records.is_empty() {
        return "no valid record of this lesson yet, so there are no figures to compare with\n"
            .to_owned();
    }
    let mut text = String::new();
    for field in program.template.fields().filter(|field| field.is_measured()) {
        let Some(name) = &field.name else { continue };
        let mut rows = vec![yours(field, read)];
        for (pair, record) in &records {
            let evidence = &assessment.evidence[*pair];
            rows.extend(of_record(name, program, pair, record, evidence));
        }
        let unit = field.unit().map_or_else(String::new, |unit| format!(", {unit}"));
        let title = format!("{}{unit}", escape(name, false));
        let _ = writeln!(
            text,
            "{BOLD}{title:<22}{BOLD:#} {:>9} {:>9} {:>9}",
            "lowest", "median", "highest"
        );
        for Row { who, values: [low, median, high], note } in rows {
            let line = format!("  {who:<20} {low:>9} {median:>9} {high:>9}  {note}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    if text.is_empty() {
        return "this program measures nothing, so there are no figures to compare\n".to_owned();
    }
    text.push_str("the median is the lower one; figures of other cards need not equal yours\n");
    text
}

/// The reader's own values of a field: one, or in a block that repeats, several.
fn yours(field: &Field, read: &Reader) -> Row {
    let readings = read.readings.iter().find(|readings| readings.field.name == field.name);
    let values = readings.map(|readings| readings.list.iter().map(|reading| reading.value));
    let mut values: Vec<Decimal> = values.into_iter().flatten().collect();
    let outside = field
        .bounds
        .filter(|bounds| values.iter().any(|value| !bounds.contain(*value)))
        .map(|bounds| format!("outside {} to {}", bounds.low, bounds.high));
    let note = match (values.is_empty(), outside) {
        (true, _) => "not read: see above".to_owned(),
        (false, outside) => outside.unwrap_or_default(),
    };
    let values = match values.as_slice() {
        [one] => [String::new(), one.to_string(), String::new()],
        _ => spread(&mut values),
    };
    Row { who: "yours".to_owned(), values, note }
}

fn of_record(
    name: &str,
    program: &Program,
    pair: &Pair,
    record: &AssessedRecord,
    evidence: &Evidence,
) -> Option<Row> {
    let who = escape(&pair.to_string(), false);
    if let Some(why) = out(record) {
        return Some(Row { who, values: Default::default(), note: format!("{why}: no figures") });
    }
    let matched = record.matched.iter().find(|matched| matched.program == program.name)?;
    let readings = matched.runs.iter().filter_map(|run| run.readings(name));
    let mut values: Vec<Decimal> =
        readings.flat_map(|readings| readings.list.iter().map(|reading| reading.value)).collect();
    let runs = count(matched.runs.len(), "run");
    let reviewed = match is_reviewed(evidence, record) {
        true => "reviewed",
        false => "recorded, not reviewed",
    };
    let stale = if record.is_of_today() { "" } else { ", of other inputs" };
    let note = format!("{reviewed}{stale}, {runs}");
    Some(Row { who, values: spread(&mut values), note })
}

/// Lowest, lower median, highest.
fn spread(values: &mut [Decimal]) -> [String; 3] {
    values.sort();
    match (values.first(), values.last()) {
        (Some(low), Some(high)) => {
            [low.to_string(), values[(values.len() - 1) / 2].to_string(), high.to_string()]
        }
        _ => Default::default(),
    }
}
