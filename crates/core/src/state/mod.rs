//! States: derived, never stored.
//!
//! A pure function of the lesson, its records and its reviews. Three states, each of another thing:
//! of a record ([`RecordState`]), of the evidence of a lesson for a build variant and device model
//! ([`EvidenceState`]), of the page ([`PageState`]). **Invariant: only [`derive`] makes a
//! [`Reviewed`], and nothing is published without one.**

mod evidence;
mod page;
mod pair;
mod reviewed;

pub use evidence::{AssessedRecord, Evidence, EvidenceState, Lacking, RecordState, derive};
pub use page::{PageChoice, PageState, page_state};
pub use pair::Pair;
pub use reviewed::{Reviewed, Shown};
