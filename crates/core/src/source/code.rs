//! The digest of a source's code: what a comment or a formatting edit leaves, and any edit of a
//! token changes.

use std::borrow::Cow;

use super::directive::{Directive, Line};
use super::lex::lex;
use super::spans::{Span, SpanKind};
use crate::digest::Digest;

/// The digest of the tokens of a C++17 or CUDA source, as g++'s preprocessor reads it.
///
/// Comments, blanks, line splices and line ends outside directives do not count; where a directive
/// starts and ends does, and so does whether a `(` touches the name that `#define` defines. Two
/// sources of one digest give the compiler the same tokens and differ at most in
/// - what tells lines: `__LINE__`, `std::source_location`, debug information;
/// - the blanks in texts that the preprocessor makes of code with `#`, such as `assert`'s message,
///   and in the name of a computed include (which [`super::check_lexing`] refuses).
///
/// A source that the lexer is not sure of (see [`super::ProblemKind`]) is digested whole, comments
/// and all, so that no reading of it can hide a change.
pub fn code_digest(source: &str) -> Digest {
    let lexed = lex(source);
    if !lexed.problems.is_empty() {
        return Digest::of_parts(["code 1, whole", &source.replace("\r\n", "\n")]);
    }
    let mut parts = Parts { source, line: Line::default(), name_end: false, list: Vec::new() };
    parts.list.push(Cow::Borrowed("code 1, tokens"));
    lexed.spans.iter().for_each(|span| parts.push(span));
    parts.end_line();
    Digest::of_parts(parts.list.iter().map(|part| part.as_bytes()))
}

// No token starts with a line end, so these parts are told from any token.
const DIRECTIVE_START: &str = "\n#";
const DIRECTIVE_END: &str = "\n";
const PARAMETERS: &str = "\n(";

struct Parts<'a> {
    source: &'a str,
    line: Line,
    /// Whether the span before was the name that `#define` defines, splices aside.
    name_end: bool,
    list: Vec<Cow<'a, str>>,
}

impl Parts<'_> {
    fn end_line(&mut self) {
        if self.line.directive.is_some() {
            self.list.push(Cow::Borrowed(DIRECTIVE_END));
        }
    }
}

impl<'a> Parts<'a> {
    fn push(&mut self, span: &Span) {
        let spelling: Cow<'a, str> = span.spelling(self.source);
        if span.kind == SpanKind::Newline {
            self.end_line();
        }
        let was_directive = self.line.directive.is_some();
        self.line.push(span.kind, &spelling);
        if self.line.directive.is_some() && !was_directive {
            self.list.push(Cow::Borrowed(DIRECTIVE_START));
        }
        if self.name_end && spelling == "(" {
            self.list.push(Cow::Borrowed(PARAMETERS));
        }
        if span.kind != SpanKind::Splice {
            let defined = self.line.directive == Some(Directive::Define) && self.line.tokens == 3;
            self.name_end = defined && span.kind.is_code();
        }
        if span.kind.is_code() {
            self.list.push(spelling);
        }
    }
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
