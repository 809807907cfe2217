//! What the reviews of a record add up to.
//!
//! **Invariant: a pure function of a set of entries; no order of theirs and no stated time makes an
//! acceptance count that a rejection or a revocation speaks against.** Times are stated by the
//! signers themselves, and one who backdates must gain nothing: a revocation holds for what it
//! names by digest, whenever either says it was signed. Times only choose among what stands (the
//! latest acceptance is the one shown).
//!
//! The rules, each the safest simple one:
//! - A rejection blocks its record as long as it isn't revoked itself, by anybody but the record's
//!   recorder.
//! - Revoking an acceptance takes away that one; others of the same record stand.
//! - Revoking a record takes away all acceptances of it for ever, later ones too: accept a fresh
//!   record. It leaves rejections alone.
//! - A revocation can't be revoked: accept anew, in a new entry.
//! - The recorder may reject his own record or revoke its acceptance, which only ever takes away.
//!   Whether he may accept it says the policy.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Rendering, SignedEntry, Verdict};
use crate::Digest;
use crate::finding::{Finding, Findings, Place, Rule};
use crate::trust::{Policy, Principal, SelfReview, Signer, same_person};

/// What the reviews of one record add up to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has accepted, rejected or revoked it.
    None,
    /// What these accept may be published: all that stand, the earliest first, never none. One of
    /// them is shown, the first of exactly what is rendered now, so that a further acceptance
    /// changes no page.
    Accepted(Vec<Acceptance>),
    /// It must not be published.
    Rejected(Rejection),
    /// It was taken back.
    Revoked(Revocation),
}

/// An acceptance that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// The record's digest.
    pub record: Digest,
    /// The entry's digest.
    pub entry: Digest,
    /// Who accepted.
    pub by: Principal,
    /// When, as he states it.
    pub at: Timestamp,
    /// What exactly he accepted.
    pub rendering: Rendering,
    /// Why.
    pub reason: String,
    /// Whether recorder and reviewer are one person, which the page then says.
    pub self_review: bool,
}

/// The rejection that stands: of several the latest, on equal times that of the greatest digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The entry's digest.
    pub entry: Digest,
    /// Who rejected.
    pub by: Principal,
    /// When, as he states it.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
}

/// The revocation of the record's latest acceptance, or of the record: of several the earliest, so
/// that a further one doesn't change what a page says about a withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    /// The entry's digest.
    pub entry: Digest,
    /// Who revoked.
    pub by: Principal,
    /// Since when, as he states it.
    pub at: Timestamp,
    /// Why, as it was written.
    pub reason: String,
    /// Whether the record itself was revoked, so that no acceptance of it counts ever again.
    pub whole: bool,
    /// The latest acceptance that it took away; none where the record was revoked and never
    /// accepted.
    pub acceptance: Option<Digest>,
}

/// What `entries`, of the record's lesson, add up to for the record of this digest by this
/// recorder.
///
/// The findings are attempts of the recorder to decide about his own record.
pub fn standing(
    entries: &[SignedEntry],
    record: &Digest,
    recorder: &Signer,
    policy: &Policy,
) -> (Standing, Findings) {
    let mut findings = Findings::new();
    let revocations = Revocations::of(entries);
    let mut rejections = Vec::new();
    let mut standing_acceptances = Vec::new();
    let mut revoked_acceptances = Vec::new();
    for signed in entries {
        match signed.entry().verdict() {
            Verdict::Reject { record: of } if of == record => {
                let lifted = revocations.lift_rejection(signed, recorder, &mut findings);
                if !lifted {
                    rejections.push(signed);
                }
            }
            Verdict::Accept { record: of, rendering } if of == record => {
                let self_review = same_person(signed.signer(), recorder);
                if self_review && policy.self_review == SelfReview::Forbidden {
                    findings.push(refused_self_review(signed));
                } else if revocations.earliest([signed.digest(), record]).is_some() {
                    revoked_acceptances.push(signed);
                } else {
                    standing_acceptances.push((signed, *rendering, self_review));
                }
            }
            _ => {}
        }
    }
    let standing = if let Some(signed) = rejections.into_iter().max_by_key(|e| rank(e)) {
        let (entry, by, at, reason) = parts(signed);
        Standing::Rejected(Rejection { entry, by, at, reason })
    } else if !standing_acceptances.is_empty() {
        standing_acceptances.sort_by_key(|(signed, ..)| rank(signed));
        let accepted = standing_acceptances.into_iter().map(|(signed, rendering, self_review)| {
            let (entry, by, at, reason) = parts(signed);
            Acceptance { record: *record, entry, by, at, rendering, reason, self_review }
        });
        Standing::Accepted(accepted.collect())
    } else {
        let acceptance = revoked_acceptances.into_iter().max_by_key(|e| rank(e));
        let acceptance = acceptance.map(|signed| *signed.digest());
        match revocations.earliest([acceptance.as_ref().unwrap_or(record), record]) {
            Some(signed) => {
                let (entry, by, at, reason) = parts(signed);
                let whole = revocations.naming(record).next().is_some();
                Standing::Revoked(Revocation { entry, by, at, reason, whole, acceptance })
            }
            None => Standing::None,
        }
    };
    (standing, findings)
}

/// Entries that name nothing which exists: a record that the lesson doesn't have, or a revocation
/// of something that is no record and no acceptance or rejection of it. `records` are the digests
/// of all its records.
pub fn check_targets(entries: &[SignedEntry], records: &BTreeSet<Digest>) -> Findings {
    let kinds: BTreeMap<&Digest, &Verdict> =
        entries.iter().map(|signed| (signed.digest(), signed.entry().verdict())).collect();
    let mut findings = Findings::new();
    for signed in entries {
        let (fact, next) = match signed.entry().verdict() {
            Verdict::Accept { record, .. } | Verdict::Reject { record } => {
                if records.contains(record) {
                    continue;
                }
                let fact = format!("the lesson has no record of digest `{record}`");
                (fact, "restore the record; evidence is never removed")
            }
            Verdict::Revoke { target } => match kinds.get(target) {
                Some(Verdict::Revoke { .. }) => {
                    let fact = format!("`{target}` is itself a revocation, and stays one");
                    (fact, "accept the record anew instead")
                }
                Some(_) => continue,
                None if records.contains(target) => continue,
                None => {
                    let fact = format!("the lesson has no entry or record of digest `{target}`");
                    (fact, "revoke by the digest in the entry's name, or by the record's")
                }
            },
        };
        findings.push(Finding::error(Rule::ReviewTarget, Place::file(signed.path()), fact, next));
    }
    findings
}

/// All revocations, by what they name.
struct Revocations<'a>(BTreeMap<&'a Digest, Vec<&'a SignedEntry>>);

impl<'a> Revocations<'a> {
    fn of(entries: &'a [SignedEntry]) -> Self {
        let mut by_target: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for signed in entries {
            if let Verdict::Revoke { target } = signed.entry().verdict() {
                by_target.entry(target).or_default().push(signed);
            }
        }
        for revocations in by_target.values_mut() {
            revocations.sort_by_key(|signed| rank(signed));
        }
        Self(by_target)
    }

    fn naming(&self, target: &Digest) -> impl Iterator<Item = &'a SignedEntry> {
        self.0.get(target).into_iter().flatten().copied()
    }

    fn earliest(&self, targets: [&Digest; 2]) -> Option<&'a SignedEntry> {
        targets.into_iter().filter_map(|target| self.naming(target).next()).min_by_key(|e| rank(e))
    }

    /// Whether somebody other than the recorder revoked this rejection.
    fn lift_rejection(
        &self,
        rejection: &SignedEntry,
        recorder: &Signer,
        findings: &mut Findings,
    ) -> bool {
        let mut lifted = false;
        for signed in self.naming(rejection.digest()) {
            if same_person(signed.signer(), recorder) {
                let who = signed.signer().principal();
                let fact = format!("`{who}` recorded what was rejected, and revokes the rejection");
                let next = "let somebody else revoke it, or make a fresh record";
                let place = Place::file(signed.path());
                findings.push(Finding::error(Rule::SelfReview, place, fact, next));
            } else {
                lifted = true;
            }
        }
        lifted
    }
}

fn refused_self_review(signed: &SignedEntry) -> Finding {
    let who = signed.signer().principal();
    let fact = format!("`{who}` accepts a record that the same name or key recorded");
    let next = "let somebody else review it";
    Finding::error(Rule::SelfReview, Place::file(signed.path()), fact, next)
        .because("the policy says `self_review = \"forbidden\"`")
}

/// Entries in the order of time, and of digests on equal times, so that the order is total.
fn rank(signed: &SignedEntry) -> (Timestamp, Digest) {
    (signed.entry().signed_at(), *signed.digest())
}

fn parts(signed: &SignedEntry) -> (Digest, Principal, Timestamp, String) {
    let entry = signed.entry();
    (*signed.digest(), entry.reviewer().clone(), entry.signed_at(), entry.reason().to_owned())
}
