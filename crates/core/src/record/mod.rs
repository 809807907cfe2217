//! The Record: N runs of a lesson's build on one device, with every input's digest, and whether it
//! holds.
//!
//! A record is a folder of plain files under `evidence/`: `record.toml` with the machine facts, its
//! signature, and the raw streams, logs and PTX beside it. [`model`] is the format,
//! [`examine`](examine::examine) reads a folder from scratch and trusts nothing in it, [`faults`]
//! says why a record can't be published, [`stale`] compares its inputs with the lesson of today.
//! **Invariant: only [`examine`](examine::examine) makes an [`Examined`], and a [`Record`] in it
//! has passed every digest and the signature.**

pub mod examine;
pub mod faults;
pub mod model;
pub mod stale;

pub use examine::{EvidenceFolder, Examined, examine};
pub use faults::Fault;
pub use model::Record;
pub use stale::StaleInput;
