//! Tokens of PTX (PTX ISA 4).

use logos::Logos;

use super::error::ParseError;

/// The longest text that is read, so that offsets fit 32 bits and memory stays bounded.
pub const MAX_TEXT: usize = 64 << 20;

/// What a token is; its text is looked up by its span.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\x0b\x0c\x00]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub enum Kind {
    /// A name, with what follows it after dots: `%r1`, `%tid.x`, `ld.shared::cta.b32`.
    #[regex(
        r"([a-zA-Z_$][a-zA-Z0-9_$]*|%[a-zA-Z0-9_$]+)(\.[a-zA-Z0-9_]+(::[a-zA-Z0-9_]+)*)*",
        priority = 3
    )]
    Word,
    /// A name after a dot: `.reg`, `.f32`, `.2d`.
    #[regex(r"\.[a-zA-Z0-9_]+(::[a-zA-Z0-9_]+)*", priority = 2)]
    Dot,
    /// An integer of any base.
    #[regex(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)U?", priority = 4)]
    Int,
    /// `0fXXXXXXXX`
    #[regex(r"0[fF][0-9a-fA-F]{8}", priority = 5)]
    Single,
    /// `0dXXXXXXXXXXXXXXXX`
    #[regex(r"0[dD][0-9a-fA-F]{16}", priority = 5)]
    Double,
    /// A decimal number with a point or an exponent.
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?", priority = 4)]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+", priority = 4)]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?", priority = 4)]
    Decimal,
    /// A text in quotes.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Text,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("@")]
    At,
    #[token("|")]
    Pipe,
    #[token("||")]
    PipePipe,
    #[token("!")]
    Bang,
    #[token("~")]
    Tilde,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("<=")]
    LessEqual,
    #[token(">=")]
    GreaterEqual,
    #[token("==")]
    EqualEqual,
    #[token("!=")]
    NotEqual,
    #[token("=")]
    Equal,
    #[token("&")]
    And,
    #[token("&&")]
    AndAnd,
    #[token("^")]
    Caret,
    #[token("?")]
    Question,
    /// After the last token.
    End,
}

/// A token and where it stands, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

/// All tokens of a text; an [`Kind::End`] is the last.
pub fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
    if text.len() > MAX_TEXT {
        return Err(ParseError::too_long(text.len()));
    }
    let mut out = Vec::with_capacity(text.len() / 8);
    for (kind, span) in Kind::lexer(text).spanned() {
        let kind = kind.map_err(|()| ParseError::at(text, span.start, span.end, "a token"))?;
        out.push(token(kind, span.start, span.end));
    }
    out.push(token(Kind::End, text.len(), text.len()));
    Ok(out)
}

#[expect(clippy::cast_possible_truncation, reason = "texts are at most MAX_TEXT bytes")]
fn token(kind: Kind, start: usize, end: usize) -> Token {
    Token { kind, start: start as u32, end: end as u32 }
}
