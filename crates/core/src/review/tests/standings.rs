//! What entries add up to: a table of cases, and laws that hold for any set of entries.

use std::collections::BTreeSet;
use std::slice::from_ref;

use SelfReview::{Forbidden, Labelled};
use proptest::prelude::*;

use super::*;
use crate::review::{Standing, check_targets, standing};
use crate::trust::{Signer, verify};

const EARLIER: &str = "2025-05-01T12:00:00Z";
const LATER: &str = "2025-07-01T12:00:00Z";

/// Somebody as the signer of a record.
fn signer(name: &str) -> Signer {
    let signature = sign(&key(name), Namespace::Record, b"record").unwrap();
    let trust = trust(Forbidden);
    let at = time("2024-06-01T00:00:00Z");
    verify(&trust.signers, Namespace::Record, b"record", signature.as_bytes(), at).unwrap()
}

/// One word and the digest of the entry that decided.
fn summary(standing: &Standing) -> (&'static str, Option<Digest>) {
    match standing {
        Standing::None => ("none", None),
        Standing::Accepted(all) if all[0].self_review => ("self-accepted", Some(all[0].entry)),
        Standing::Accepted(all) => ("accepted", Some(all[0].entry)),
        Standing::Rejected(it) => ("rejected", Some(it.entry)),
        Standing::Revoked(it) => ("revoked", Some(it.entry)),
    }
}

/// What entries about Ada's record add up to, in any order of theirs: the word, which of them
/// decided, and which the findings are about.
#[track_caller]
fn check(
    policy: SelfReview,
    entries: &[Entry],
    word: &str,
    decided: Option<usize>,
    about: &[usize],
) {
    let digest = |at: usize| Digest::of(entries[at].to_toml());
    let mut signed = signed(entries);
    for _ in 0..signed.len().max(1) {
        let policy = Policy { self_review: policy };
        let (found, findings) = standing(&signed, &record(), &signer("ada"), &policy);
        assert_eq!(summary(&found), (word, decided.map(digest)), "{findings:?}");
        let found: BTreeSet<_> =
            findings.iter().map(|f| f.place.path.file_stem().unwrap().to_owned()).collect();
        assert_eq!(found, about.iter().map(|at| digest(*at).to_string()).collect());
        if !signed.is_empty() {
            signed.rotate_left(1);
        }
    }
}

fn digest_of(entry: &Entry) -> Digest {
    Digest::of(entry.to_toml())
}

#[test]
fn acceptances_and_rejections() {
    let (yes, no) = (accept(record()), reject(record()));
    let bob = entry(yes, "bob", NOON);
    let cyd = entry(yes, "cyd", LATER);
    check(Forbidden, &[], "none", None, &[]);
    check(Forbidden, from_ref(&bob), "accepted", Some(0), &[]);
    check(Forbidden, &[cyd.clone(), bob.clone()], "accepted", Some(1), &[]);
    check(Forbidden, &[entry(accept(Digest::of("other")), "bob", NOON)], "none", None, &[]);
    check(Forbidden, &[entry(reject(Digest::of("other")), "bob", NOON)], "none", None, &[]);
    // Any standing rejection blocks, whoever signed it and whenever, the recorder too.
    for (name, at) in [("cyd", EARLIER), ("cyd", LATER), ("bob", LATER), ("ada", EARLIER)] {
        check(Forbidden, &[bob.clone(), entry(no, name, at)], "rejected", Some(1), &[]);
    }
    check(Forbidden, &[entry(no, "cyd", LATER), entry(no, "bob", NOON)], "rejected", Some(0), &[]);
    // The earliest acceptance is shown; on equal times the lesser digest decides.
    let tie = [entry(yes, "bob", NOON), entry(yes, "cyd", NOON)];
    let lesser = usize::from(digest_of(&tie[0]) > digest_of(&tie[1]));
    check(Forbidden, &tie, "accepted", Some(lesser), &[]);
}

#[test]
fn a_recorder_does_not_decide_about_his_own_record() {
    let own = entry(accept(record()), "ada", LATER);
    let bob = entry(accept(record()), "bob", NOON);
    check(Forbidden, from_ref(&own), "none", None, &[0]);
    check(Forbidden, &[own.clone(), bob.clone()], "accepted", Some(1), &[0]);
    check(Labelled, from_ref(&own), "self-accepted", Some(0), &[]);
    check(Labelled, &[own.clone(), bob.clone()], "accepted", Some(1), &[]);
    let no = entry(reject(record()), "bob", NOON);
    let lift = |name| entry(revoke(digest_of(&no)), name, LATER);
    for policy in [Forbidden, Labelled] {
        check(policy, &[no.clone(), lift("ada")], "rejected", Some(0), &[1]);
        check(policy, &[no.clone(), lift("ada"), lift("cyd")], "none", None, &[1]);
        let all = [no.clone(), lift("cyd"), bob.clone()];
        check(policy, &all, "accepted", Some(2), &[]);
        // He may take away, also what he accepted himself.
        let undo = entry(revoke(digest_of(&bob)), "ada", LATER);
        check(policy, &[bob.clone(), undo], "revoked", Some(1), &[]);
    }
}

#[test]
fn revocations_hold_whatever_time_they_state() {
    let bob = entry(accept(record()), "bob", NOON);
    let cyd = entry(accept(record()), "cyd", LATER);
    for at in [EARLIER, NOON, LATER] {
        let one = entry(revoke(digest_of(&bob)), "cyd", at);
        check(Forbidden, &[bob.clone(), one.clone()], "revoked", Some(1), &[]);
        // A new acceptance stands; it has a digest of its own.
        check(Forbidden, &[bob.clone(), one.clone(), cyd.clone()], "accepted", Some(2), &[]);
        // The record itself: all acceptances for ever, and no rejection.
        let all = entry(revoke(record()), "cyd", at);
        check(Forbidden, &[bob.clone(), cyd.clone(), all.clone()], "revoked", Some(2), &[]);
        check(Forbidden, from_ref(&all), "revoked", Some(0), &[]);
        let no = entry(reject(record()), "bob", NOON);
        check(Forbidden, &[all.clone(), no.clone()], "rejected", Some(1), &[]);
        // A revocation stays one.
        let undo = entry(revoke(digest_of(&one)), "bob", LATER);
        check(Forbidden, &[bob.clone(), one, undo], "revoked", Some(1), &[]);
    }
    // Of a revocation of the acceptance and one of the record, the earlier is shown.
    for (of_entry, of_record, decided) in [(EARLIER, LATER, 1), (LATER, EARLIER, 2)] {
        let one = entry(revoke(digest_of(&bob)), "cyd", of_entry);
        let all = entry(revoke(record()), "cyd", of_record);
        check(Forbidden, &[bob.clone(), one, all], "revoked", Some(decided), &[]);
    }
    let unrelated = entry(revoke(Digest::of("other")), "cyd", LATER);
    check(Forbidden, &[bob, unrelated], "accepted", Some(0), &[]);
}

#[test]
fn a_withdrawal_says_since_when_by_whom_and_why() {
    let bob = entry(accept(record()), "bob", NOON);
    let why = "wrong card:\n\n  it was\nanother ";
    let undo = |at| {
        let target = revoke(digest_of(&bob));
        Entry::new(target, LESSON, "cyd".parse().unwrap(), time(at), why).unwrap()
    };
    let signed = signed(&[bob.clone(), undo(LATER), undo(EARLIER)]);
    let policy = Policy::default();
    let (found, _) = standing(&signed, &record(), &signer("ada"), &policy);
    let withdrawal = found.withdrawal(&record()).unwrap();
    assert_eq!(withdrawal.reason, "wrong card: it was another");
    let Standing::Revoked(revocation) = found else { panic!("{found:?}") };
    assert_eq!(revocation.at, time(EARLIER));
    assert_eq!(revocation.by.as_str(), "cyd");
    assert_eq!(revocation.acceptance, Some(digest_of(&bob)));
}

#[test]
fn an_acceptance_says_what_was_seen() {
    let bob = entry(accept(record()), "bob", NOON);
    let (found, _) = standing(&signed(&[bob]), &record(), &signer("ada"), &Policy::default());
    let Standing::Accepted(all) = found else { panic!("{found:?}") };
    let acceptance = all.into_iter().next().unwrap();
    assert_eq!(acceptance.rendering, rendering());
    assert_eq!((acceptance.by.as_str(), acceptance.at), ("bob", time(NOON)));
    assert_eq!(acceptance.reason, "it is so");
}

#[test]
fn what_an_entry_names_must_exist() {
    let bob = entry(accept(record()), "bob", NOON);
    let undo = entry(revoke(digest_of(&bob)), "cyd", LATER);
    let records = BTreeSet::from([record()]);
    let check = |entries: &[Entry], records: &BTreeSet<Digest>, facts: &[&str]| {
        let mut findings = check_targets(&signed(entries), records);
        findings.sort();
        assert_eq!(findings.len(), facts.len(), "{findings:?}");
        for fact in facts {
            assert!(findings.iter().any(|finding| finding.fact.contains(fact)), "{findings:?}");
        }
    };
    check(&[bob.clone(), undo.clone()], &records, &[]);
    check(&[entry(revoke(record()), "cyd", NOON)], &records, &[]);
    check(from_ref(&undo), &records, &["no entry or record of digest"]);
    check(from_ref(&bob), &BTreeSet::new(), &["has no record of digest"]);
    check(&[entry(reject(record()), "cyd", NOON)], &BTreeSet::new(), &["has no record of digest"]);
    let again = entry(revoke(digest_of(&undo)), "bob", LATER);
    check(&[bob, undo, again], &records, &["is itself a revocation"]);
}

/// Some entries about a record, as numbers: kind, person, hour, and which earlier entry is revoked.
fn any_entries() -> impl Strategy<Value = Vec<Entry>> {
    let one = (0..5usize, 0..3usize, 0..3usize, any::<prop::sample::Index>());
    prop::collection::vec(one, 0..7).prop_map(|rows| {
        let mut entries: Vec<Entry> = Vec::new();
        for (kind, person, hour, index) in rows {
            let verdict = match kind {
                0 | 1 => accept(record()),
                2 => reject(record()),
                3 if !entries.is_empty() => revoke(digest_of(index.get(&entries))),
                _ => revoke(record()),
            };
            let made = entry(verdict, PEOPLE[person], [EARLIER, NOON, LATER][hour]);
            if !entries.contains(&made) {
                entries.push(made);
            }
        }
        entries
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Adding a rejection blocks, and adding a revocation of the record never lets an acceptance
    /// stand, whatever else there is; the order of the entries changes nothing.
    #[test]
    fn taking_away_always_wins(entries in any_entries(), labelled in any::<bool>()) {
        let policy = Policy { self_review: if labelled { Labelled } else { Forbidden } };
        let word = |entries: &[Entry]| {
            let mut signed = signed(entries);
            let (found, _) = standing(&signed, &record(), &signer("ada"), &policy);
            signed.reverse();
            let (reversed, _) = standing(&signed, &record(), &signer("ada"), &policy);
            assert_eq!(found, reversed);
            summary(&found).0
        };
        let with = |verdict| {
            // A reason that no other entry has, so that nothing can have revoked it already.
            let reviewer = "cyd".parse().unwrap();
            let made = Entry::new(verdict, LESSON, reviewer, time(EARLIER), "one more").unwrap();
            [&entries[..], &[made]].concat()
        };
        prop_assert_eq!(word(&with(reject(record()))), "rejected");
        prop_assert!(["revoked", "rejected"].contains(&word(&with(revoke(record())))));
        if policy.self_review == Forbidden {
            prop_assert_ne!(word(&entries), "self-accepted");
        }
    }
}
