//! A lesson program as text: tokens, digests, header comment, snippets, marked copies.
//!
//! Owns everything that is read out of a `.cu` or `.cuh` file without compiling it. **Invariant:
//! what is a comment, a string or code is decided by [`lex`] alone**, so that a marker inside a raw
//! string is never a marker and an edit of a comment never changes [`code_digest`]. It stands at
//! the start of the flow: a Lesson's programs are read here, and a Build and a Record bind the
//! digests that this module computes.
//!
//! All functions take text of at most [`MAX_TEXT_BYTES`] (see [`check_text`]) and are linear in it.

mod code;
mod copies;
mod cursor;
mod directive;
mod header;
mod includes;
mod lex;
mod literal;
mod problem;
mod regions;
mod snippets;
mod spans;
mod status;
mod text;

pub use code::code_digest;
pub use copies::{MarkedCopy, check_copies, copies, replace_copies};
pub(crate) use header::missing;
pub use header::{CommandLine, Header};
pub use includes::{Include, includes};
pub use lex::{Lexed, lex};
pub use problem::{Problem, ProblemKind, check_lexing};
pub use snippets::{Snippet, merge_snippets, snippets};
pub use spans::{Span, SpanKind};
pub use status::{StatusError, StatusParagraph, StatusWord, replace_status};
pub use text::{
    MAX_TEXT_BYTES, NotText, check_size, check_text, conflict_markers, lf_normalised, text_digest,
};
pub(crate) use text::{TextLine, differing_line, lines, quote};
