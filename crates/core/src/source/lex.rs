//! The lexer: a C++17 and CUDA source as spans, read the way g++'s preprocessor reads it.
//!
//! It never fails: whatever it is unsure of becomes a [`Problem`]. It does not evaluate `#if`, so
//! text in a group that is compiled out is lexed like any other, as the standard and g++ do.

use super::cursor::{
    Cursor, continues_identifier, is_blank, newline_at, splice_at, starts_identifier,
};
use super::directive::{Directive, Line};
use super::problem::{Problem, ProblemKind};
use super::spans::{Span, SpanKind};

/// A text and its spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexed {
    /// They cover the whole text, in order.
    pub spans: Vec<Span>,
    /// What the lexer is unsure of, in order of lines.
    pub problems: Vec<Problem>,
}

/// Lexes a source. Any text is accepted; time and space are linear in it.
pub fn lex(source: &str) -> Lexed {
    let mut lexer = Lexer {
        source,
        cursor: Cursor { bytes: source.as_bytes(), at: 0 },
        line: Line::default(),
        line_number: 1,
        spans: Vec::new(),
        problems: suspicious_bytes(source.as_bytes()),
    };
    while lexer.cursor.at < source.len() {
        lexer.next();
    }
    lexer.problems.sort_by_key(|problem| problem.line);
    Lexed { spans: lexer.spans, problems: lexer.problems }
}

/// The lexer between two spans.
pub(super) struct Lexer<'a> {
    source: &'a str,
    /// Where the next span starts, or how far into it we are.
    pub cursor: Cursor<'a>,
    /// The logical line so far.
    pub line: Line,
    line_number: u32,
    spans: Vec<Span>,
    problems: Vec<Problem>,
}

impl Lexer<'_> {
    fn next(&mut self) {
        let start = self.cursor.at;
        let kind = self.scan();
        debug_assert!(self.cursor.at > start, "every span has a byte");
        let span = Span { kind, range: start..self.cursor.at, line: self.line_number };
        self.notice(&span);
        self.line.push(kind, &span.spelling(self.source));
        let newlines = span.text(self.source).bytes().filter(|byte| *byte == b'\n').count();
        self.line_number = self.line_number.saturating_add(u32::try_from(newlines).unwrap_or(0));
        self.spans.push(span);
    }

    /// Moves the cursor past the next span and says what it is.
    fn scan(&mut self) -> SpanKind {
        let (bytes, at) = (self.cursor.bytes, self.cursor.at);
        if at == 0 && self.source.starts_with('\u{feff}') {
            self.cursor.at = '\u{feff}'.len_utf8();
            return SpanKind::White;
        }
        if newline_at(bytes, at) > 0 {
            self.cursor.bump();
            return SpanKind::Newline;
        }
        if let Some(end) = splice_at(bytes, at) {
            self.cursor.at = end;
            return SpanKind::Splice;
        }
        match bytes[at] {
            byte if is_blank(byte) => {
                self.cursor.at += bytes[at..].iter().take_while(|byte| is_blank(**byte)).count();
                SpanKind::White
            }
            b'/' if self.cursor.peek_second() == Some(b'/') => self.line_comment(),
            b'/' if self.cursor.peek_second() == Some(b'*') => self.block_comment(),
            b'"' => self.quoted(b'"'),
            b'\'' => self.quoted(b'\''),
            b'<' if self.line.expects_include_operand() || self.line.expects_query_operand() => {
                self.header_name()
            }
            byte if starts_identifier(byte) => self.word(),
            byte if byte.is_ascii_digit() => self.number(),
            b'.' if self.cursor.peek_second().is_some_and(|byte| byte.is_ascii_digit()) => {
                self.number()
            }
            byte => self.punctuation(byte),
        }
    }

    /// The problems that show only once a span's place in its line is known.
    fn notice(&mut self, span: &Span) {
        let text = span.text(self.source);
        let directive = self.line.directive;
        if span.kind.is_code() && self.line.expects_include_operand() {
            let named = matches!(span.kind, SpanKind::String | SpanKind::HeaderName);
            if !named || (span.kind == SpanKind::String && !text.starts_with('"')) {
                self.problem(ProblemKind::ComputedInclude);
            }
        }
        let queried = self.line.expects_query_operand() && span.kind.is_code();
        if queried && !matches!(span.kind, SpanKind::String | SpanKind::HeaderName) {
            self.problem(ProblemKind::HiddenHeaderName);
        }
        if span.kind == SpanKind::RawString && directive.is_some() && text.contains('\n') {
            self.problem(ProblemKind::RawStringInDirective);
        }
        let hidden = match (span.kind, directive) {
            (SpanKind::Ident, Some(Directive::Define)) => {
                let name = span.spelling(self.source);
                name.starts_with("__has_include") || name == "__has_embed"
            }
            (SpanKind::Ident, Some(Directive::Pragma)) => {
                span.spelling(self.source) == "dependency"
            }
            _ => false,
        };
        let unusual = |c: char| !c.is_ascii() && !c.is_alphanumeric();
        if matches!(span.kind, SpanKind::Ident | SpanKind::Number) && text.contains(unusual) {
            self.problem(ProblemKind::UnusualCharacter);
        }
        if hidden {
            self.problem(ProblemKind::HiddenHeaderName);
        }
    }

    /// Notes a problem on the line where the present span starts.
    pub fn problem(&mut self, kind: ProblemKind) {
        self.problems.push(Problem { kind, line: self.line_number });
    }

    fn line_comment(&mut self) -> SpanKind {
        self.cursor.bump_by(2);
        let bytes = self.cursor.bytes;
        let mut from = self.cursor.at;
        loop {
            let rest = &bytes[from..];
            let Some(length) = rest.iter().position(|byte| *byte == b'\n') else {
                self.cursor.at = bytes.len();
                break;
            };
            let line = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
            self.cursor.at = from + line.len();
            let blanks = line.iter().rev().take_while(|byte| is_blank(**byte)).count();
            if !line[..line.len() - blanks].ends_with(b"\\") {
                break;
            }
            from += length + 1;
        }
        SpanKind::LineComment
    }

    fn block_comment(&mut self) -> SpanKind {
        self.cursor.bump_by(2);
        let bytes = self.cursor.bytes;
        while let Some(length) = bytes[self.cursor.at..].iter().position(|byte| *byte == b'*') {
            self.cursor.at += length + 1;
            if self.cursor.peek() == Some(b'/') {
                self.cursor.bump();
                return SpanKind::BlockComment;
            }
        }
        self.cursor.at = bytes.len();
        self.problem(ProblemKind::UnterminatedComment);
        SpanKind::BlockComment
    }

    /// An identifier, or the literal whose prefix it is.
    fn word(&mut self) -> SpanKind {
        let mut short = Vec::new();
        while let Some(byte) = self.cursor.peek().filter(|byte| continues_identifier(*byte)) {
            if short.len() < 4 {
                short.push(byte);
            }
            self.cursor.bump();
        }
        match (short.as_slice(), self.cursor.peek()) {
            (b"R" | b"LR" | b"uR" | b"UR" | b"u8R", Some(b'"')) => self.raw_string(),
            (b"L" | b"u" | b"U" | b"u8", Some(quote @ (b'"' | b'\''))) => self.quoted(quote),
            _ => SpanKind::Ident,
        }
    }

    /// The longest operator that C++17 has. g++ reads `<<<` as `<<` and `<`, nvcc as one token: a
    /// run of three or more of these characters is kept whole, whatever it is.
    fn punctuation(&mut self, first: u8) -> SpanKind {
        const OPERATORS: [&[u8]; 23] = [
            b"%:%:", b"...", b"->*", b"::", b".*", b"->", b"++", b"--", b"+=", b"-=", b"*=", b"/=",
            b"%=", b"^=", b"&=", b"|=", b"!=", b"&&", b"||", b"##", b"%:", b"%>", b":>",
        ];
        if first == b'\\' {
            self.problem(ProblemKind::StrayBackslash);
        }
        if matches!(first, b'<' | b'>' | b'=') {
            let length = self.angle_operator();
            self.cursor.bump_by(length);
            return SpanKind::Punct;
        }
        let longest = OPERATORS.iter().find(|operator| self.cursor.sees(operator));
        self.cursor.bump_by(longest.map_or(1, |operator| operator.len()));
        if b"{}[]#();:?.+-*/%^&|~!,".contains(&first) { SpanKind::Punct } else { SpanKind::Other }
    }

    fn angle_operator(&self) -> usize {
        let mut ahead = self.cursor;
        let mut run = 0;
        while ahead.peek().is_some_and(|byte| matches!(byte, b'<' | b'>' | b'=')) {
            ahead.bump();
            run += 1;
        }
        if run >= 3 {
            return run;
        }
        if run == 2 {
            let pairs: [&[u8]; 5] = [b"<<", b">>", b"<=", b">=", b"=="];
            return if pairs.iter().any(|pair| self.cursor.sees(pair)) { 2 } else { 1 };
        }
        // `<::` is `<` and `::` unless `:` or `>` follows, so that `X<::Y>` needs no blank.
        let global =
            self.cursor.sees(b"<::") && !self.cursor.sees(b"<:::") && !self.cursor.sees(b"<::>");
        let digraph = self.cursor.sees(b"<%") || (self.cursor.sees(b"<:") && !global);
        if digraph { 2 } else { 1 }
    }
}

/// Byte sequences that compilers disagree about wherever they stand, comments and strings included.
fn suspicious_bytes(bytes: &[u8]) -> Vec<Problem> {
    let (mut problems, mut line) = (Vec::new(), 1u32);
    for (at, byte) in bytes.iter().enumerate() {
        let kind = match byte {
            b'\n' => {
                line = line.saturating_add(1);
                None
            }
            b'\r' if newline_at(bytes, at) == 0 => Some(ProblemKind::LoneCarriageReturn),
            0..=8 | 0x0e..=0x1f | 0x7f => Some(ProblemKind::UnusualCharacter),
            b'?' => match bytes.get(at + 1..at + 3) {
                Some([b'?', third]) if b"=/'()!<>-".contains(third) => Some(ProblemKind::Trigraph),
                _ => None,
            },
            b'\\' if bytes.get(at + 1).is_some_and(|byte| is_blank(*byte)) => {
                splice_at(bytes, at).map(|_| ProblemKind::BlankAfterBackslash)
            }
            _ => None,
        };
        problems.extend(kind.map(|kind| Problem { kind, line }));
    }
    problems
}

#[cfg(test)]
#[path = "lex_tests.rs"]
mod tests;
