//! Reviews: signed entries about a lesson's records, and what they add up to.
//!
//! An [`Entry`] is one file, `reviews/<digest>.toml`, named after the SHA-256 of its bytes, with
//! its signature in `reviews/<digest>.sig`. [`read`] turns a folder of them into [`SignedEntry`]s,
//! which nothing else can make, and [`standing`] derives from those what a record's review is
//! worth; `publish` goes on from there.
//!
//! **Invariants: an entry whose name, bytes, lesson, reviewer or signature is not as it was signed
//! counts in neither direction, and is a finding; entries only ever add up, so the order of the
//! files and the times that signers state for themselves never make a text appear that a rejection
//! or a revocation took away.**

mod entry;
mod read;
mod standing;
#[cfg(test)]
mod tests;
mod text;
mod withdrawal;

pub use entry::{Entry, EntryError, EntryKind, Rendering, Verdict};
pub use read::{ReviewFile, SignedEntry, read};
pub use standing::{Acceptance, Rejection, Revocation, Standing, check_targets, standing};
pub use withdrawal::Withdrawal;
