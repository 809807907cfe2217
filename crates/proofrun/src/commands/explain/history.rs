//! What reviewers said of one record, in the order of time.

use proofrun_core::Digest;
use proofrun_core::assess::Assessment;
use proofrun_core::review::{SignedEntry, Standing, Verdict};
use proofrun_core::state::AssessedRecord;

use super::{day, detail};

/// The reviews of a record, each with what revoked it, and what they add up to.
pub(super) fn of(assessment: &Assessment, record: &AssessedRecord) -> String {
    let digest = &record.examined.digest;
    let mut entries: Vec<&SignedEntry> = assessment.reviews.iter().collect();
    entries.sort_by_key(|signed| (signed.entry().signed_at(), *signed.digest()));
    let mut text = String::new();
    for signed in &entries {
        let what = match signed.entry().verdict() {
            Verdict::Accept { record: of, rendering } if of == digest => {
                let now = record.rendering.as_ref().map(|rendering| rendering.digest());
                match now {
                    Some(now) if now == rendering.digest => "accept, of what is rendered now",
                    Some(_) => "accept, of another rendering than today's",
                    None => "accept, and nothing of it can be rendered today",
                }
            }
            Verdict::Reject { record: of } if of == digest => "reject",
            Verdict::Revoke { target } if target == digest => "revoke, of the whole record",
            _ => continue,
        };
        text.push_str(&detail("review", &said(signed, what)));
        for revocation in revocations(&entries, signed.digest()) {
            text.push_str(&detail("  revoked", &said(revocation, "")));
        }
    }
    text + &detail("standing", standing(record))
}

fn said(signed: &SignedEntry, what: &str) -> String {
    let entry = signed.entry();
    let (short, by, on) = (signed.digest().short(), entry.reviewer(), day(entry.signed_at()));
    let comma = if what.is_empty() { "" } else { ", " };
    format!("{short}: {what}{comma}by {by} on {on}: {}", entry.reason())
}

fn revocations<'a>(
    entries: &'a [&SignedEntry],
    target: &'a Digest,
) -> impl Iterator<Item = &'a SignedEntry> {
    let names = move |signed: &&&SignedEntry| match signed.entry().verdict() {
        Verdict::Revoke { target: of } => of == target,
        Verdict::Accept { .. } | Verdict::Reject { .. } => false,
    };
    entries.iter().filter(names).copied()
}

fn standing(record: &AssessedRecord) -> &'static str {
    let now = record.rendering.as_ref().map(|rendering| rendering.digest());
    match &record.standing {
        Standing::None => "nobody has reviewed it",
        Standing::Rejected(_) => "rejected: it must not be published",
        Standing::Revoked(_) => "taken back",
        Standing::Accepted(all) if all.iter().any(|one| Some(one.rendering.digest) == now) => {
            "accepted as it is rendered now"
        }
        Standing::Accepted(_) => "accepted, but not as it is rendered now: review it again",
    }
}
