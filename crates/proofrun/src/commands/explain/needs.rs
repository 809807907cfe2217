//! What `publish` would need, as a list of what holds and what doesn't.

use proofrun_core::assess::Assessment;
use proofrun_core::state::{AssessedRecord, EvidenceState, PageState, RecordState};

use super::{BOLD, errors};
use crate::attention::is_drift_of_page;
use crate::words::wrapped;

/// The list for the primary pair.
pub(super) fn of(assessment: &Assessment) -> String {
    let evidence = assessment.primary_evidence();
    let records = || evidence.into_iter().flat_map(|evidence| &evidence.records);
    let state = evidence.map(|evidence| &evidence.state);
    let usable =
        |record: &&AssessedRecord| record.state == RecordState::Valid && record.is_of_today();
    let on = match &assessment.primary {
        Some(pair) => format!(" on {pair}"),
        None => String::new(),
    };
    // What publishing writes is no obstacle to it.
    let of_text = errors(assessment).all(|finding| is_drift_of_page(finding.rule));
    let rows = [
        (records().any(|record| usable(&record)), format!("a valid record of today's inputs{on}")),
        (
            state == Some(&EvidenceState::Reviewed),
            "a standing acceptance of exactly what is rendered now".to_owned(),
        ),
        (state != Some(&EvidenceState::Rejected), "no standing reject".to_owned()),
        (of_text, "no error in the lesson's files".to_owned()),
    ];
    let mut text = format!("\n{BOLD}to be published{BOLD:#} it needs\n");
    for (holds, what) in rows {
        let word = if holds { "yes" } else { "no" };
        text.push_str(&wrapped(&format!("  {word:<4} "), 7, &what));
    }
    let page = match assessment.page {
        PageState::Current => "the page shows it already",
        _ => "the page doesn't show it yet: `publish` writes that",
    };
    text + &wrapped("  ", 2, page)
}
