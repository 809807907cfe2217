//! One line of a template, and how far a line of output looks like it.
//!
//! **Invariant: literal text and fields alternate and each field has one form, so reading a line is
//! one pass** without going back. What the numbers must be is checked afterwards, in `checks`.

use std::fmt;

use super::field::{Field, FieldId, FieldKind, plural};
use super::mismatch::{Reason, excerpt};
use super::number::{Form, NoNumber, read};
use crate::decimal::Decimal;
use crate::device::DeviceFacts;

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// `id` is `None` only while a template with errors is parsed.
    Field {
        id: Option<FieldId>,
        source: String,
    },
}

/// One line of a template. Its [`fmt::Display`] is the line as the template has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line of the template, from 1.
    pub number: u32,
    pub(super) pieces: Vec<Piece>,
}

/// A number that a line of output has in the place of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) field: FieldId,
    /// Without the blanks of its alignment.
    pub(super) text: String,
    pub(super) value: Decimal,
    /// From 1, in characters.
    pub(super) column: usize,
}

/// Why a line of output is not this line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineFault {
    pub(super) reason: Reason,
    pub(super) detail: String,
}

impl Line {
    pub(super) fn push_text(&mut self, text: String) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(before)) => before.push_str(&text),
            _ => self.pieces.push(Piece::Text(text)),
        }
    }

    /// The fields of the line, from left to right.
    pub(super) fn fields(&self) -> impl Iterator<Item = FieldId> + '_ {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Field { id, .. } => *id,
            Piece::Text(_) => None,
        })
    }

    /// Reads a line of output as this line.
    pub(super) fn read(
        &self,
        output: &str,
        fields: &[Field],
        device: &DeviceFacts,
    ) -> Result<Vec<Token>, LineFault> {
        let mut tokens = Vec::new();
        let (mut at, mut column) = (0, 1);
        for (index, piece) in self.pieces.iter().enumerate() {
            let rest = &output[at..];
            let length = match piece {
                Piece::Text(text) if rest.starts_with(text.as_str()) => text.len(),
                Piece::Text(text) => return Err(text_fault(text, rest, column)),
                Piece::Field { id, source } => {
                    let id = id.expect("a template that parsed has no field with an error");
                    let (length, token) =
                        read_field(id, &fields[id], rest, device, self.has_point(index + 1))
                            .map_err(|no| field_fault(&fields[id], source, column, &no))?;
                    tokens.extend(token.map(|token| Token { column, ..token }));
                    length
                }
            };
            column += rest[..length].chars().count();
            at += length;
        }
        if at < output.len() {
            let rest = excerpt(&output[at..]);
            let detail = format!("the line should end at column {column}, where it has `{rest}`");
            return Err(LineFault { reason: Reason::Text, detail });
        }
        Ok(tokens)
    }

    /// Whether the text at this piece starts with a point.
    fn has_point(&self, index: usize) -> bool {
        matches!(self.pieces.get(index), Some(Piece::Text(text)) if text.starts_with('.'))
    }

    /// Whether a line of output starts the way this one does, though the rest may be wrong.
    pub(super) fn resembles(&self, output: &str) -> bool {
        match self.pieces.first() {
            Some(Piece::Text(text)) => output.starts_with(text.as_str()),
            Some(Piece::Field { .. }) => {
                let start = output.trim_start_matches([' ', '-']);
                start.starts_with(|c: char| c.is_ascii_digit()) || start.starts_with("nan")
            }
            None => output.is_empty(),
        }
    }

    /// A text that is equal for lines that the same output could match. With `exact`, derived
    /// integers are told apart by their expressions.
    pub(super) fn skeleton(&self, fields: &[Field], exact: bool) -> String {
        let mut skeleton = String::new();
        for piece in &self.pieces {
            // Literal text holds no control characters other than tabs, so that 1 marks a field.
            match piece {
                Piece::Text(text) => skeleton.push_str(text),
                Piece::Field { id: None, .. } => {}
                Piece::Field { id: Some(id), source } => {
                    let field = &fields[*id];
                    let class = match (&field.kind, field.decimals()) {
                        (FieldKind::Derived(_), _) if exact => source.clone(),
                        (FieldKind::Fact(fact), None) => fact.name().to_owned(),
                        (_, decimals) => decimals.unwrap_or(0).to_string(),
                    };
                    skeleton.push_str(&format!("\u{1}{class}\u{1}"));
                }
            }
        }
        skeleton
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Piece::Field { source, .. } => write!(f, "{{{source}}}")?,
            }
        }
        Ok(())
    }
}

fn field_fault(field: &Field, source: &str, column: usize, no: &NoNumber) -> LineFault {
    let detail = format!("`{{{source}}}` is {}; column {column} has {}", field.describe(), no.why);
    LineFault { reason: no.reason, detail }
}

fn text_fault(text: &str, rest: &str, column: usize) -> LineFault {
    let same =
        text.chars().zip(rest.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8());
    let same = same.sum::<usize>();
    let column = column + rest[..same].chars().count();
    let expected = excerpt(&text[same..]);
    let found = match excerpt(&rest[same..]) {
        rest if rest.is_empty() => "the line ends".to_owned(),
        rest => format!("the line has `{rest}`"),
    };
    let detail = format!("`{expected}` expected at column {column}, where {found}");
    LineFault { reason: Reason::Text, detail }
}

/// The length of a field in `rest` and its number, if it is one.
fn read_field(
    id: FieldId,
    field: &Field,
    rest: &str,
    device: &DeviceFacts,
    before_point: bool,
) -> Result<(usize, Option<Token>), NoNumber> {
    let refuse = |why| Err(NoNumber { reason: Reason::Field, why });
    if let (FieldKind::Fact(fact), None) = (&field.kind, field.decimals()) {
        let text = fact.text(device);
        if text.is_empty() {
            return refuse("nothing to compare: the fact is empty".to_owned());
        }
        return match rest.starts_with(&text) {
            true => Ok((text.len(), None)),
            false => refuse(format!("`{}`, not `{}`", excerpt(rest), excerpt(&text))),
        };
    }
    let form = match field.kind {
        FieldKind::Fact(_) | FieldKind::Derived(_) => Form::Integer,
        FieldKind::Count => Form::Count,
        _ => Form::Decimals(field.decimals().unwrap_or(0)),
    };
    let blanks = match field.width {
        Some(_) => rest.len() - rest.trim_start_matches(' ').len(),
        None => 0,
    };
    let aligned = &rest[blanks..];
    let (text, value) = read(aligned, form, before_point).map_err(|no| {
        let shown = excerpt(aligned.split(' ').next().unwrap_or_default());
        let why = if shown.is_empty() { no.why } else { format!("`{shown}`: {}", no.why) };
        NoNumber { why, ..no }
    })?;
    let width = field.width.unwrap_or(0) as usize;
    if field.width.is_some() && blanks != width.saturating_sub(text.len()) {
        return refuse(format!("{} before `{text}`", plural(blanks as u32, "blank")));
    }
    let token = Token { field: id, text: text.to_owned(), value, column: 0 };
    Ok((blanks + text.len(), Some(token)))
}
