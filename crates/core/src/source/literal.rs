//! The lexer's literals: strings, characters, raw strings, numbers and headers' names.

use super::cursor::{continues_identifier, is_blank, starts_identifier};
use super::lex::Lexer;
use super::problem::ProblemKind;
use super::spans::SpanKind;

/// The longest header's name that is looked for: a bound, so that a line full of `<` stays linear.
const HEADER_NAME_BYTES_MAX: usize = 256;

impl Lexer<'_> {
    /// A string or character literal, from its opening quote.
    pub(super) fn quoted(&mut self, quote: u8) -> SpanKind {
        let header = self.line.expects_include_operand() || self.line.expects_query_operand();
        let (kind, unterminated) = match quote {
            b'"' => (SpanKind::String, ProblemKind::UnterminatedString),
            _ => (SpanKind::Char, ProblemKind::UnterminatedChar),
        };
        self.cursor.bump();
        loop {
            match self.cursor.peek() {
                None | Some(b'\n') => {
                    self.problem(unterminated);
                    return kind;
                }
                // In a header's name a backslash is a character like any other to g++.
                Some(b'\\') if header => {
                    self.problem(ProblemKind::OddHeaderName);
                    self.cursor.bump();
                }
                Some(b'\\') => {
                    self.cursor.bump();
                    if !matches!(self.cursor.peek(), None | Some(b'\n')) {
                        self.cursor.bump();
                    }
                }
                Some(byte) => {
                    self.cursor.bump();
                    if byte == quote {
                        self.suffix();
                        return kind;
                    }
                }
            }
        }
    }

    /// A raw string literal, from its opening quote. Splices inside it are its own bytes.
    pub(super) fn raw_string(&mut self) -> SpanKind {
        self.cursor.bump();
        let (bytes, start) = (self.cursor.bytes, self.cursor.at);
        let delimiter_length =
            bytes[start..].iter().take(17).position(|byte| *byte == b'(').filter(|length| {
                let forbidden = |byte: &u8| is_blank(*byte) || b")\\\r\n\"".contains(byte);
                !bytes[start..start + length].iter().any(forbidden)
            });
        let Some(delimiter_length) = delimiter_length else {
            self.problem(ProblemKind::RawDelimiter);
            self.cursor.bump_while(|byte| byte != b'\n');
            return SpanKind::RawString;
        };
        let body = start + delimiter_length + 1;
        let mut closing = vec![b')'];
        closing.extend_from_slice(&bytes[start..body - 1]);
        closing.push(b'"');
        let Some(length) = find(&bytes[body..], &closing) else {
            self.problem(ProblemKind::UnterminatedRawString);
            self.cursor.at = bytes.len();
            return SpanKind::RawString;
        };
        self.cursor.at = body + length + closing.len();
        self.suffix();
        SpanKind::RawString
    }

    /// A user-defined literal's suffix, which is part of the token.
    fn suffix(&mut self) {
        if !self.cursor.peek().is_some_and(starts_identifier) {
            return;
        }
        self.cursor.bump_while(continues_identifier);
        if matches!(self.cursor.peek(), Some(b'"' | b'\'')) {
            self.problem(ProblemKind::AmbiguousSuffix);
        }
    }

    /// A preprocessing number: far more than numbers, but what the compiler takes for one token.
    pub(super) fn number(&mut self) -> SpanKind {
        self.cursor.bump();
        while let Some(byte) = self.cursor.peek() {
            let next = self.cursor.peek_second();
            let separates = byte == b'\''
                && next.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if separates {
                self.cursor.bump_by(2);
            } else if byte == b'.' || continues_identifier(byte) {
                self.cursor.bump();
                let signed = matches!(byte, b'e' | b'E' | b'p' | b'P');
                if signed && matches!(next, Some(b'+' | b'-')) {
                    self.cursor.bump();
                }
            } else {
                break;
            }
        }
        SpanKind::Number
    }

    /// `<…>` where a header's name is expected; a lone `<` where the line does not close it.
    pub(super) fn header_name(&mut self) -> SpanKind {
        let mut ahead = self.cursor;
        let mut name = Vec::new();
        loop {
            match ahead.peek() {
                Some(b'\n') | None => break,
                Some(_) if name.len() == HEADER_NAME_BYTES_MAX => break,
                Some(byte) => name.push(byte),
            }
            ahead.bump();
            if name.last() == Some(&b'>') {
                self.cursor = ahead;
                let comment = name.windows(2).any(|pair| matches!(pair, b"//" | b"/*"));
                if comment || name.iter().any(|byte| b"\"'\\".contains(byte)) {
                    self.problem(ProblemKind::OddHeaderName);
                }
                return SpanKind::HeaderName;
            }
        }
        self.problem(ProblemKind::OddHeaderName);
        self.cursor.bump();
        SpanKind::Punct
    }
}

/// The first place of `wanted`, whose first byte is `)`. Linear but for at most 18 bytes a match's
/// start.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(length) = bytes[from..].iter().position(|byte| *byte == b')') {
        from += length;
        if bytes[from..].starts_with(wanted) {
            return Some(from);
        }
        from += 1;
    }
    None
}
