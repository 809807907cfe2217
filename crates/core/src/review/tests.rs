//! Entries, folders and standings, by model: every field times every operation, every pair of
//! entries.

mod fields;
mod folder;
mod standings;

use jiff::Timestamp;
use ssh_key::PrivateKey;

use super::{Entry, Rendering, ReviewFile, SignedEntry, Verdict, read};
use crate::Digest;
use crate::trust::{AllowedSigners, Namespace, Policy, SelfReview, TrustRoot};
use crate::trust::{new_key, sign, signer_line};

const LESSON: &str = "day-75-async-barriers";
const NOON: &str = "2025-06-01T12:00:00Z";

/// The people of these tests, each with the key of his number as seed.
const PEOPLE: [&str; 4] = ["ada", "bob", "cyd", "dan"];

fn key(name: &str) -> PrivateKey {
    let seed = PEOPLE.iter().position(|person| *person == name).unwrap();
    new_key("", &[u8::try_from(seed).unwrap() + 1; 32]).unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Everybody may sign both; Dan's key ended with 2024.
fn trust(self_review: SelfReview) -> TrustRoot {
    let lines = PEOPLE.map(|name| {
        let end = (name == "dan").then(|| time("2024-12-31T23:59:59Z"));
        let key = key(name);
        let window = (None, end);
        signer_line(&name.parse().unwrap(), &Namespace::ALL, window, key.public_key()).unwrap()
    });
    let (signers, findings) = AllowedSigners::parse("s".into(), lines.join("\n").as_bytes());
    assert_eq!(findings, []);
    TrustRoot { signers, policy: Policy { self_review } }
}

fn record() -> Digest {
    Digest::of("record")
}

fn rendering() -> Rendering {
    Rendering { format: 1, digest: Digest::of("rendering") }
}

fn accept(record: Digest) -> Verdict {
    Verdict::Accept { record, rendering: rendering() }
}

fn reject(record: Digest) -> Verdict {
    Verdict::Reject { record }
}

fn revoke(target: Digest) -> Verdict {
    Verdict::Revoke { target }
}

fn entry(verdict: Verdict, reviewer: &str, at: &str) -> Entry {
    Entry::new(verdict, LESSON, reviewer.parse().unwrap(), time(at), "it is so").unwrap()
}

/// The two files of an entry with these bytes, signed by this person.
fn files(bytes: &[u8], signer: &str) -> [ReviewFile; 2] {
    let path = format!("lessons/{LESSON}/reviews/{}", Digest::of(bytes));
    let signature = sign(&key(signer), Namespace::Review, bytes).unwrap();
    [
        ReviewFile { path: format!("{path}.toml").into(), bytes: bytes.to_vec() },
        ReviewFile { path: format!("{path}.sig").into(), bytes: signature.into_bytes() },
    ]
}

/// Entries as they come out of a folder that was signed properly.
fn signed(entries: &[Entry]) -> Vec<SignedEntry> {
    let of = |entry: &Entry| files(entry.to_toml().as_bytes(), entry.reviewer().as_str());
    let files: Vec<_> = entries.iter().flat_map(of).collect();
    let (signed, findings) = read(&files, LESSON, &trust(SelfReview::Forbidden));
    assert_eq!(findings, []);
    signed
}
