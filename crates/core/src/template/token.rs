//! The words of a field: names, numbers and signs, each with its place in the template.
//!
//! **Invariant: what is between two tokens is blanks only.** The field parser reads them one after
//! another.

use super::error::TemplateError;

/// One token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `[a-z][a-z0-9_]*`
    Name(&'a str),
    /// Digits, with a fraction if a point and digits follow.
    Number(&'a str),
    /// `..`
    Range,
    /// One of `: = + - * / % ( ) , .`
    Sign(char),
}

/// The tokens of one field, read from left to right.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    /// Each with its byte offset in the template.
    tokens: Vec<(usize, Token<'a>)>,
    next: usize,
    /// The offset just past the field's body.
    end: usize,
    line: u32,
}

impl<'a> Tokens<'a> {
    /// Splits `body`, which starts at `offset` of the template, on its line `line`.
    pub(super) fn split(body: &'a str, offset: usize, line: u32) -> Result<Self, TemplateError> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(first) = body[at..].chars().next() {
            let rest = &body[at..];
            let (token, length) = match first {
                ' ' | '\t' => {
                    at += 1;
                    continue;
                }
                'a'..='z' | 'A'..='Z' | '_' => {
                    let word = take(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
                    (Token::Name(word), word.len())
                }
                '0'..='9' => {
                    let number = number(rest);
                    (Token::Number(number), number.len())
                }
                '.' if rest.starts_with("..") => (Token::Range, 2),
                ':' | '=' | '+' | '-' | '*' | '/' | '%' | '(' | ')' | ',' | '.' => {
                    (Token::Sign(first), 1)
                }
                other => {
                    let message = format!("`{}` has no meaning in a field", other.escape_debug());
                    let hint = "literal braces are written `{{` and `}}`";
                    return Err(TemplateError::new(offset + at, line, message, hint));
                }
            };
            tokens.push((offset + at, token));
            at += length;
        }
        Ok(Self { tokens, next: 0, end: offset + body.len(), line })
    }

    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).map(|(_, token)| *token)
    }

    /// The offset of the next token, or of the end.
    pub(super) fn offset(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(offset, _)| *offset)
    }

    pub(super) fn advance(&mut self) -> Option<Token<'a>> {
        let token = self.peek();
        self.next += usize::from(token.is_some());
        token
    }

    /// Takes the token if it is the next one.
    pub(super) fn accept(&mut self, wanted: Token<'_>) -> bool {
        let found = self.peek() == Some(wanted);
        self.next += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, wanted: char, hint: &str) -> Result<(), TemplateError> {
        if self.accept(Token::Sign(wanted)) {
            return Ok(());
        }
        Err(self.error(format!("`{wanted}` expected, found {}", self.found()), hint))
    }

    /// The next token in words.
    pub(super) fn found(&self) -> String {
        match self.peek() {
            None => "the end of the field".to_owned(),
            Some(Token::Name(text) | Token::Number(text)) => format!("`{text}`"),
            Some(Token::Range) => "`..`".to_owned(),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
        }
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: String, hint: impl Into<String>) -> TemplateError {
        TemplateError::new(self.offset(), self.line, message, hint)
    }
}

fn number(text: &str) -> &str {
    let whole = take(text, |byte| byte.is_ascii_digit());
    match text[whole.len()..].strip_prefix('.') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            &text[..whole.len() + 1 + take(rest, |byte| byte.is_ascii_digit()).len()]
        }
        _ => whole,
    }
}

/// The longest start of `text` whose bytes, all ASCII, satisfy `test`.
pub(super) fn take(text: &str, test: impl Fn(u8) -> bool) -> &str {
    let length = text.bytes().position(|byte| !byte.is_ascii() || !test(byte));
    &text[..length.unwrap_or(text.len())]
}
