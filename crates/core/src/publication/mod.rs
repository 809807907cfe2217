//! The Publication: what of a reviewed record stands on the page, in the header and in the
//! snapshot.
//!
//! [`Rendering`] is what a reviewer signs: the parts that follow from the record alone. [`body`],
//! [`status_lines`] and [`snapshot`] put it where it is shown, with the line that names the review.
//! All of them are pure, so that `publish` writes and `verify` compares the same bytes.
//! **Invariant: a rendering quotes a whole run; nothing of two runs is ever spliced.**

mod header;
mod rendering;
mod snapshot;

pub use header::{blank_lines, is_blank, status_lines, verified_lines};
pub use rendering::{ProgramRendering, RENDER_FORMAT, Rendering, body, facts, record_body, render};
pub use snapshot::{snapshot, snapshot_name};
