//! A place among the tokens, and the steps that every rule of the grammar takes.

use super::error::ParseError;
use super::lexer::{Kind, Token};

/// What parsing something gives.
pub type Parsed<T> = Result<T, ParseError>;

/// Reads tokens from left to right.
pub struct Cursor<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    /// The line that `counted` bytes from the start lie on.
    line: u32,
    counted: usize,
}

impl<'a> Cursor<'a> {
    /// Before the first of the tokens, whose last is [`Kind::End`].
    pub fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        Self { text, tokens, at: 0, line: 1, counted: 0 }
    }

    fn token(&self, at: usize) -> Token {
        let end = Token { kind: Kind::End, start: 0, end: 0 };
        self.tokens.get(at).or(self.tokens.last()).copied().unwrap_or(end)
    }

    /// The index of the next token.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The kind of the next token.
    pub fn kind(&self) -> Kind {
        self.token(self.at).kind
    }

    /// The kind of the token after the next.
    pub fn kind_after(&self) -> Kind {
        self.token(self.at + 1).kind
    }

    /// The kind and text of the token at an index.
    pub fn look(&self, at: usize) -> (Kind, &'a str) {
        let token = self.token(at);
        (token.kind, self.text_of(token))
    }

    /// The text of the next token.
    pub fn text(&self) -> &'a str {
        self.text_of(self.token(self.at))
    }

    fn text_of(&self, token: Token) -> &'a str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    /// The line of the next token, from 1.
    pub fn line(&mut self) -> u32 {
        let start = self.token(self.at).start as usize;
        let between = self.text.as_bytes().get(self.counted..start).unwrap_or(&[]);
        let newlines = between.iter().filter(|&&byte| byte == b'\n').count();
        self.line += u32::try_from(newlines).unwrap_or(0);
        self.counted = self.counted.max(start);
        self.line
    }

    /// Steps over the next token.
    pub fn skip(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    /// Steps over the next token if it is of this kind.
    pub fn eat(&mut self, kind: Kind) -> bool {
        let is = self.kind() == kind;
        if is {
            self.skip();
        }
        is
    }

    /// Steps over the next token if it is this word or dotted name.
    pub fn eat_text(&mut self, text: &str) -> bool {
        let is = matches!(self.kind(), Kind::Word | Kind::Dot) && self.text() == text;
        if is {
            self.skip();
        }
        is
    }

    /// Steps over a token of this kind and gives its text.
    pub fn expect(&mut self, kind: Kind, what: &str) -> Parsed<&'a str> {
        if self.kind() != kind {
            return Err(self.error(what));
        }
        let text = self.text();
        self.skip();
        Ok(text)
    }

    /// A name without dots in it.
    pub fn name(&mut self, what: &str) -> Parsed<&'a str> {
        if self.text().contains('.') {
            return Err(self.error(what));
        }
        self.expect(Kind::Word, what)
    }

    /// An error at the next token.
    pub fn error(&self, expected: impl Into<String>) -> ParseError {
        self.error_at(self.at, expected)
    }

    /// An error at the token of an index.
    pub fn error_at(&self, at: usize, expected: impl Into<String>) -> ParseError {
        let token = self.token(at);
        ParseError::at(self.text, token.start as usize, token.end as usize, expected)
    }

    /// Items with commas between, up to the closing token, which is stepped over. None is fine.
    pub fn list<T>(
        &mut self,
        close: Kind,
        what: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            self.expect(Kind::Comma, what)?;
        }
    }
}
