//! `allowed_signers`: which key belongs to whom, what it may sign, and when.
//!
//! The file is a strict subset of OpenSSH's (ssh-keygen(1), ALLOWED SIGNERS), so that `ssh-keygen
//! -Y verify` agrees with every line accepted here. **Invariants: a line with a finding grants
//! nothing; a key that stands on two lines counts on neither.**

mod line;
#[cfg(test)]
mod tests;
mod window;

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use jiff::Timestamp;
use ssh_key::public::Ed25519PublicKey;
use ssh_key::{HashAlg, PublicKey};

pub use line::LineError;
pub(super) use line::{Line, parse_line};
pub(super) use window::Window;

use super::{Namespace, Signer, text_of};
use crate::finding::{Finding, Findings, Place, Rule};

/// The keys of a trust root.
#[derive(Debug, Clone, Default)]
pub struct AllowedSigners {
    grants: BTreeMap<Ed25519PublicKey, Grant>,
}

/// What one line grants to one key.
#[derive(Debug, Clone)]
pub struct Grant {
    signer: Signer,
    public_key: PublicKey,
    namespaces: BTreeSet<Namespace>,
    window: Window,
    line: u32,
}

impl AllowedSigners {
    /// The grants in the bytes of `allowed_signers`, and a finding for everything else that stands
    /// in it.
    pub fn parse(path: &Utf8Path, bytes: &[u8]) -> (Self, Findings) {
        let text = match text_of(path, bytes) {
            Ok(text) => text,
            Err(finding) => return (Self::default(), vec![finding]),
        };
        let mut lines = Vec::new();
        for (number, text) in (1..).zip(text.split('\n')) {
            if text.starts_with('#') || text.trim().is_empty() {
                continue;
            }
            lines.push((number, parse_line(text)));
        }
        refuse_repeated_keys(&mut lines);
        let mut signers = Self::default();
        let mut findings = Findings::new();
        for (number, (line, errors)) in lines {
            for error in &errors {
                let place = Place::line(path, number);
                let finding =
                    Finding::error(Rule::TrustRoot, place, error.to_string(), error.next());
                findings.push(finding.because("a line with a finding grants nothing"));
            }
            if errors.is_empty()
                && let Some(grant) = Grant::of(line, number)
            {
                signers.grants.insert(grant.signer.key, grant);
            }
        }
        (signers, findings)
    }

    /// What this key may do.
    pub fn grant(&self, key: &Ed25519PublicKey) -> Option<&Grant> {
        self.grants.get(key)
    }

    /// Every grant, in the order of the keys' bytes.
    pub fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.grants.values()
    }
}

/// A key on two lines would give one person two names, or one name two windows. Lines refused for
/// other reasons take part: they show what was meant.
fn refuse_repeated_keys(lines: &mut [(u32, (Line, Vec<LineError>))]) {
    let mut seen: BTreeMap<Ed25519PublicKey, Vec<usize>> = BTreeMap::new();
    for (at, (_, (line, _))) in lines.iter().enumerate() {
        if let Some(key) = line.key {
            seen.entry(key).or_default().push(at);
        }
    }
    for places in seen.into_values().filter(|places| places.len() > 1) {
        for (rank, at) in places.iter().enumerate() {
            // Each names one other line, the first, so that a long list stays a linear one.
            let other = places[usize::from(rank == 0)];
            let error = LineError::RepeatedKey(lines[other].0);
            lines[*at].1.1.push(error);
        }
    }
}

impl Grant {
    /// What a line without findings grants; such a line is complete.
    fn of(line: Line, number: u32) -> Option<Self> {
        let (principal, key) = (line.principal?, line.key?);
        let public_key = PublicKey::from(key);
        let fingerprint = public_key.fingerprint(HashAlg::Sha256).to_string();
        Some(Self {
            signer: Signer { principal, fingerprint, key },
            public_key,
            namespaces: line.namespaces,
            window: line.window,
            line: number,
        })
    }

    /// Whose key it is.
    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// The key as OpenSSH has it, without a comment.
    pub fn public_key(&self) -> &PublicKey {
        &self.public_key
    }

    /// What it may sign; never empty.
    pub fn namespaces(&self) -> &BTreeSet<Namespace> {
        &self.namespaces
    }

    /// The first moment at which it counts.
    pub fn valid_after(&self) -> Option<Timestamp> {
        self.window.after
    }

    /// The last moment at which it counts.
    pub fn valid_before(&self) -> Option<Timestamp> {
        self.window.before
    }

    /// Its line in the file, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }
}
