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
    let name = &text.lesson.name;
    let record = record_next(name);
    let Some(of_primary) = primary.and_then(|pair| evidence.get(pair)) else {
        let fact = "Unverified: no record, and the manifest names no model";
        findings.push(Finding::warning(Rule::Unverified, folder, fact, record));
        return findings;
    };
    let pair = &of_primary.pair;
    let warn = |rule, fact: String, next: &str| Finding::warning(rule, folder.clone(), fact, next);
    findings.extend(match &of_primary.state {
        EvidenceState::Unverified => {
            Some(warn(Rule::Unverified, format!("Unverified on {pair}: no valid record"), &record))
        }
        EvidenceState::Stale(inputs) => {
            let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
            let fact = format!("Stale on {pair}: {}", inputs.join("; "));
            Some(warn(Rule::Stale, fact, &format!("again, {record}")))
        }
        EvidenceState::Recorded => {
            let lacking = of_primary.lacking();
            let next = match lacking.record {
                true => format!("again, {record}"),
                false => format!("`review {name}`"),
            };
            let fact = format!("Recorded on {pair}, {}", lacking.fact);
            Some(warn(Rule::Unreviewed, fact, &next))
        }
        EvidenceState::Rejected => Some(warn(
            Rule::Unreviewed,
            format!("Rejected on {pair}: a reject stands"),
            &rejected_next(name),
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

/// How a lesson gets a record.
pub fn record_next(lesson: &str) -> String {
    format!(
        "record it: `bundle {lesson}`, then on a GPU host `lesson-runner record {lesson} --out \
         records`"
    )
}

/// What helps against a reject that stands.
pub fn rejected_next(lesson: &str) -> String {
    format!(
        "mend what the reject names, then `bundle {lesson}` and record again; or a reviewer takes \
         the reject back: `review {lesson} --revoke DIGEST`"
    )
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
            let next = "nothing: comments stale no record and no review";
            findings.push(Finding::warning(Rule::CommentsChanged, place, fact, next));
        }
    }
}
