//! What the states themselves ask for: the warnings of an honest lesson that lacks something.

use std::collections::BTreeMap;

use crate::finding::{Finding, Findings, Place, Rule};
use crate::state::{Evidence, EvidenceState, PageState, Pair, RecordState};

use super::text::LessonText;

/// One finding a state that wants attention. All are warnings: an honestly Unverified or Stale
/// lesson whose page says so passes `verify`. `publish` asks for more.
pub fn findings(
    text: &LessonText,
    evidence: &BTreeMap<Pair, Evidence>,
    primary: Option<&Pair>,
    page: PageState,
) -> Findings {
    let mut findings = Vec::new();
    for of_pair in evidence.values() {
        records(of_pair, &mut findings);
    }
    let folder = Place::file(&text.lesson.folder);
    let Some(of_primary) = primary.and_then(|pair| evidence.get(pair)) else {
        let fact = "Unverified: no record, and the manifest names no model";
        let next = "record it on a GPU host: `bundle`, then `lesson-runner record`";
        findings.push(Finding::warning(Rule::Unverified, folder, fact, next));
        return findings;
    };
    let pair = &of_primary.pair;
    let warn = |rule, fact: String, next: &str| Finding::warning(rule, folder.clone(), fact, next);
    let name = &text.lesson.name;
    findings.extend(match &of_primary.state {
        EvidenceState::Unverified => Some(warn(
            Rule::Unverified,
            format!("Unverified on {pair}: no valid record"),
            "record it on a GPU host: `bundle`, then `lesson-runner record`",
        )),
        EvidenceState::Stale(inputs) => {
            let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
            let fact = format!("Stale on {pair}: {}", inputs.join("; "));
            Some(warn(Rule::Stale, fact, "record it again: `bundle --stale`"))
        }
        EvidenceState::Recorded => Some(warn(
            Rule::Unreviewed,
            format!("Recorded on {pair}, and nobody has reviewed it"),
            &format!("`review {name}`"),
        )),
        EvidenceState::Rejected => Some(warn(
            Rule::Unreviewed,
            format!("Rejected on {pair}: a reject stands"),
            "mend what the reject names and record again, or let a reviewer revoke it",
        )),
        EvidenceState::Reviewed if page == PageState::Blank => Some(warn(
            Rule::Unreviewed,
            format!("Reviewed on {pair}, and not published"),
            &format!("`publish {name}`"),
        )),
        EvidenceState::Reviewed => None,
    });
    findings
}

fn records(of_pair: &Evidence, findings: &mut Findings) {
    for record in &of_pair.records {
        let place = Place::file(&record.examined.folder.path);
        if let RecordState::Unpublishable(faults) = &record.state {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            let fact = format!("Unpublishable: {}", faults.join("; "));
            let next = "it is kept; record again";
            findings.push(Finding::warning(Rule::Unpublishable, place.clone(), fact, next));
        }
        if record.is_of_today() && !record.text_only.is_empty() {
            let fact = format!(
                "comments or white space changed since this record: {}",
                record.text_only.join(", ")
            );
            let next = "nothing: the review stands, since the code is the same";
            findings.push(Finding::warning(Rule::CommentsChanged, place, fact, next));
        }
    }
}
