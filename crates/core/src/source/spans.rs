//! What the lexer yields: spans of the text, each of one kind.

use std::borrow::Cow;
use std::ops::Range;

use super::cursor::{newline_at, splice_at};

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpanKind {
    /// `// …` up to, not including, the line end that closes it. Line splices extend it.
    LineComment,
    /// `/* … */`.
    BlockComment,
    /// Blanks: space, tab, form feed, vertical tab. A byte order mark at the very start is one too.
    White,
    /// One line end, LF or CRLF.
    Newline,
    /// A backslash, blanks if any, and a line end: nothing at all to the compiler.
    Splice,
    /// A string literal with its encoding prefix and suffix. After `#include`, the quoted file
    /// name.
    String,
    /// A character literal with its prefix and suffix.
    Char,
    /// A raw string literal with its prefix, delimiters and suffix.
    RawString,
    /// `<…>` where a header's name is expected.
    HeaderName,
    /// An identifier or keyword.
    Ident,
    /// A preprocessing number.
    Number,
    /// An operator or punctuator, the longest that fits. A run of three or more of `<`, `>`, `=` is
    /// one.
    Punct,
    /// Any other single character.
    Other,
}

impl SpanKind {
    /// Whether the compiler sees a token here: neither comment, nor white space, nor a splice.
    pub fn is_code(self) -> bool {
        use SpanKind::{BlockComment, LineComment, Newline, Splice, White};
        !matches!(self, LineComment | BlockComment | White | Newline | Splice)
    }

    /// Whether this is a comment.
    pub fn is_comment(self) -> bool {
        matches!(self, SpanKind::LineComment | SpanKind::BlockComment)
    }
}

/// A piece of the text. The spans of a text follow each other without gaps and cover all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub kind: SpanKind,
    /// Where: byte offsets.
    pub range: Range<usize>,
    /// The physical line it starts on, from 1.
    pub line: u32,
}

impl Span {
    /// The bytes as they stand in `source`, the text that was lexed. Empty for another text's span.
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.range.clone()).unwrap_or_default()
    }

    /// What the compiler sees: without line splices; in a raw string only CRLF becomes LF.
    pub(crate) fn spelling<'a>(&self, source: &'a str) -> Cow<'a, str> {
        let text = self.text(source);
        if !text.contains('\n') {
            return Cow::Borrowed(text);
        }
        if self.kind != SpanKind::RawString {
            return Cow::Owned(without_splices(text));
        }
        let open = text.find('"').unwrap_or(text.len());
        let (prefix, rest) = text.split_at(open);
        Cow::Owned(without_splices(prefix) + &rest.replace("\r\n", "\n"))
    }
}

fn without_splices(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut kept, mut from, mut at) = (String::with_capacity(text.len()), 0, 0);
    while at < bytes.len() {
        if let Some(end) = splice_at(bytes, at) {
            kept.push_str(&text[from..at]);
            (from, at) = (end, end);
        } else if newline_at(bytes, at) == 2 {
            kept.push_str(&text[from..at]);
            (from, at) = (at + 1, at + 2);
        } else {
            at += 1;
        }
    }
    kept.push_str(&text[from..]);
    kept
}
