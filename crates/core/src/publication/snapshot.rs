//! The insta snapshot of what is published of a pair.
//!
//! insta compares loosely (trailing white space, line endings), so its verdict is a convenience for
//! those who use its tools; `verify` compares every byte of the file with what this module makes.

use crate::state::{Pair, Reviewed};

use super::rendering::RENDER_FORMAT;

/// The snapshot's file name: `MODEL-VARIANT.snap`.
pub fn snapshot_name(pair: &Pair) -> String {
    format!("{}-{}.snap", pair.model, pair.variant)
}

/// The whole file: insta's header with its `info`, then the rendering.
pub fn snapshot(reviewed: &Reviewed) -> String {
    let examined = reviewed.examined();
    let review = reviewed.acceptance();
    format!(
        "---\nsource: lesson.toml\ninfo:\n  lesson: {lesson}\n  record: {record}\n  review: {entry}\n  \
         reviewer: {by}\n  render_format: {RENDER_FORMAT}\n  rendering: {digest}\n---\n{text}",
        lesson = examined.record.lesson,
        record = examined.digest,
        entry = review.entry,
        by = review.by,
        digest = reviewed.rendering().digest(),
        text = reviewed.rendering().text(),
    )
}
