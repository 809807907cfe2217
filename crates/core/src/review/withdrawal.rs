//! What a page says once what it showed was taken back.

use jiff::Timestamp;

use crate::Digest;
use crate::trust::Principal;

use super::Standing;

/// A record that may no longer be shown: since when, by whom, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// The record's digest.
    pub record: Digest,
    /// The entry that took it back.
    pub entry: Digest,
    /// Since when, as the signer states it.
    pub since: Timestamp,
    /// Who took it back.
    pub by: Principal,
    /// Why, in one line; what else it may hold is its writer's, so a renderer escapes it.
    pub reason: String,
}

impl Standing {
    /// What takes the record back, if anything does: a revocation, or a rejection.
    pub fn withdrawal(&self, record: &Digest) -> Option<Withdrawal> {
        let (entry, since, by, reason) = match self {
            Self::None | Self::Accepted(_) => return None,
            Self::Rejected(it) => (it.entry, it.at, &it.by, &it.reason),
            Self::Revoked(it) => (it.entry, it.at, &it.by, &it.reason),
        };
        let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Withdrawal { record: *record, entry, since, by: by.clone(), reason })
    }
}
