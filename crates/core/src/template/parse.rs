//! The lines and blocks of a template.
//!
//! **Invariant: of a template that parses, every line is matched in one way only**: no two fields
//! touch, no digit follows a number, blocks neither nest nor run into what follows. All errors are
//! reported.

use super::arithmetic::{Expressions, check_constant};
use super::body::{Bodies, follows_from_device};
use super::error::{Fault, TemplateError};
use super::expr::{Expr, Scope};
use super::field::{Field, FieldKind};
use super::line::{Line, Piece};
use super::names::{Names, Why};
use super::token::{Token, Tokens};
use super::{
    Item, MAX_BLOCKS, MAX_FIELD_BYTES, MAX_REPEAT, MAX_TEMPLATE_BYTES, MAX_UNORDERED_LINES,
};
use crate::decimal::Decimal;

const CLOSE: &str = "end the block with a line `{end}`";

/// What a template's text says.
pub(super) struct Parsed {
    pub(super) items: Vec<Item>,
    pub(super) fields: Vec<Field>,
}

/// Reads a whole template.
pub(super) fn parse(text: &str) -> Result<Parsed, Vec<TemplateError>> {
    let mut parser = Parser::default();
    if text.len() > MAX_TEMPLATE_BYTES {
        let message = format!("the template is longer than {MAX_TEMPLATE_BYTES} bytes");
        return Err(vec![TemplateError::new(0, 1, message, "use blocks for repeated lines")]);
    }
    let mut offset = 0;
    let mut number = 0;
    for raw in text.split_inclusive('\n') {
        number += 1;
        // A work tree with CRLF gives a manifest, and so a template, with CRLF; the output has
        // none.
        let line = raw.strip_suffix('\n').unwrap_or(raw);
        parser.line(line.strip_suffix('\r').unwrap_or(line), offset, number);
        offset += raw.len();
    }
    parser.finish(text.len(), number.max(1))
}

enum Kind {
    Repeat {
        low: Expr,
        high: Expr,
        device_dependent: bool,
    },
    Unordered,
    /// A block whose first line has an error.
    Broken,
}

struct Open {
    kind: Kind,
    lines: Vec<Line>,
    offset: usize,
    number: u32,
}

#[derive(Default)]
struct Parser {
    items: Vec<Item>,
    fields: Vec<Field>,
    names: Names,
    open: Option<Open>,
    errors: Vec<TemplateError>,
    /// Where each line starts.
    offsets: Vec<usize>,
    blocks: usize,
}

impl Parser {
    fn line(&mut self, text: &str, offset: usize, number: u32) {
        self.offsets.push(offset);
        match directive(text) {
            Some(("end", _)) => self.end(offset, number),
            Some((word, body)) => self.begin(word, body, offset, number),
            None => {
                let line = self.pieces(text, offset, number);
                match &mut self.open {
                    Some(open) => {
                        open.lines.push(line);
                        if matches!(open.kind, Kind::Unordered) {
                            self.names.hide_recent(Why::Unordered);
                        }
                    }
                    None => {
                        self.items.push(Item::Line(line));
                        self.names.settle();
                    }
                }
            }
        }
    }

    fn error(&mut self, offset: usize, line: u32, message: impl Into<String>, hint: &str) {
        self.errors.push(TemplateError::new(offset, line, message, hint));
    }

    fn begin(&mut self, word: &str, body: &str, offset: usize, number: u32) {
        if let Some(open) = &self.open {
            let message = format!("a block starts inside the block of line {}", open.number);
            self.error(offset, number, message, CLOSE);
            return;
        }
        let kind = if word == "repeat" {
            self.repeat(body, offset + "{repeat".len(), number).unwrap_or_else(|fault| {
                if let Fault::Error(error) = fault {
                    self.errors.push(error);
                }
                Kind::Broken
            })
        } else {
            if !body.trim().is_empty() {
                self.error(offset, number, "`unordered` takes no arguments", "write `{unordered}`");
            }
            Kind::Unordered
        };
        self.blocks += 1;
        if self.blocks == MAX_BLOCKS + 1 {
            let message = format!("more than {MAX_BLOCKS} blocks");
            self.error(offset, number, message, "write some of the lines out");
        }
        self.names.settle();
        self.open = Some(Open { kind, lines: Vec::new(), offset, number });
    }

    fn repeat(&self, body: &str, offset: usize, number: u32) -> Result<Kind, Fault> {
        const HINT: &str = "write `{repeat 4}`, `{repeat 1..8}` or `{repeat sm_count}`";
        let mut t = Tokens::split(body, offset, number)?;
        let expressions = Expressions { fields: &self.fields, names: &self.names };
        let start = t.error(String::new(), HINT);
        let bound = |t: &mut Tokens<'_>| -> Result<Expr, Fault> {
            let at = t.error(String::new(), HINT);
            let expr = expressions.parse(t)?;
            expressions.check_integers(&expr, &at)?;
            check_constant(&expr, &at)?;
            Ok(expr)
        };
        let low = bound(&mut t)?;
        let high = if t.accept(Token::Range) { bound(&mut t)? } else { low.clone() };
        if t.peek().is_some() {
            return Err(t.error(format!("{} is not expected here", t.found()), HINT).into());
        }
        let constant = |expr: &Expr| expr.value(Scope { device: None, values: &[] }).ok();
        let limits = [Decimal::from(0), Decimal::from(MAX_REPEAT)];
        let outside = |value: Decimal| value < limits[0] || value > limits[1];
        let (least, most) = (constant(&low), constant(&high));
        let empty = matches!((least, most), (Some(low), Some(high)) if low > high);
        if empty || least.is_some_and(outside) || most.is_some_and(outside) {
            let message = format!("a block repeats from 0 to {MAX_REPEAT} times, LO not above HI");
            return Err(TemplateError { message, ..start }.into());
        }
        let device_dependent = [&low, &high].iter().any(|e| follows_from_device(e, &self.fields));
        Ok(Kind::Repeat { low, high, device_dependent })
    }

    fn end(&mut self, offset: usize, number: u32) {
        let Some(open) = self.open.take() else {
            self.error(offset, number, "`{end}` ends no block", "remove it");
            return;
        };
        if open.lines.is_empty() {
            self.error(open.offset, open.number, "the block is empty", "put lines into it");
        }
        match open.kind {
            Kind::Repeat { low, high, .. } => {
                self.names.hide_recent(Why::List);
                self.items.push(Item::Repeat { low, high, lines: open.lines, number: open.number });
            }
            Kind::Unordered => {
                if open.lines.len() > MAX_UNORDERED_LINES {
                    let message = format!("more than {MAX_UNORDERED_LINES} lines in any order");
                    self.error(open.offset, open.number, message, "split the block");
                }
                for id in open.lines.iter().flat_map(Line::fields) {
                    if let Some(name) = &self.fields[id].name {
                        self.names.show(name, id);
                    }
                }
                self.items.push(Item::Unordered { lines: open.lines, number: open.number });
            }
            Kind::Broken => self.names.hide_recent(Why::List),
        }
    }

    /// The pieces of one line; errors leave their pieces out.
    fn pieces(&mut self, text: &str, offset: usize, number: u32) -> Line {
        let mut line = Line { number, pieces: Vec::new() };
        let mut literal = String::new();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            match c {
                '{' | '}' if rest[1..].starts_with(c) => {
                    literal.push(c);
                    at += 2;
                    continue;
                }
                '{' => {
                    let body = &rest[1..];
                    let Some(length) =
                        body.find(['{', '}']).filter(|l| body[*l..].starts_with('}'))
                    else {
                        let hint = "close it with `}`; a literal brace is written `{{`";
                        self.error(offset + at, number, "the field is never closed", hint);
                        return line;
                    };
                    line.push_text(std::mem::take(&mut literal));
                    self.field(&body[..length], offset + at, &mut line);
                    at += length + 2;
                    continue;
                }
                '}' => {
                    let hint = "a literal brace is written `}}`";
                    self.error(offset + at, number, "`}` closes no field", hint);
                }
                c if c.is_control() && c != '\t' => {
                    let message = format!("control character `{}`", c.escape_default());
                    self.error(offset + at, number, message, "a lesson prints plain text");
                }
                c => {
                    if literal.is_empty() && c.is_ascii_digit() {
                        self.digit_after_number(&line, offset + at);
                    }
                    literal.push(c);
                }
            }
            at += c.len_utf8();
        }
        line.push_text(literal);
        self.spell_units(&mut line);
        line
    }

    /// A duration or rate is printed with its unit after one blank. A template may spell the unit
    /// out, or leave it to the field; `bare` says that the program prints none.
    fn spell_units(&self, line: &mut Line) {
        let pieces = std::mem::take(&mut line.pieces);
        let mut unit = None;
        for piece in pieces {
            if let Some(unit) = unit.take()
                && !spells(&piece, unit)
            {
                line.push_text(format!(" {unit}"));
            }
            if let Piece::Field { id: Some(id), .. } = &piece {
                unit = self.fields[*id].unit().filter(|_| !self.fields[*id].bare);
            }
            match piece {
                Piece::Text(text) => line.push_text(text),
                field @ Piece::Field { .. } => line.pieces.push(field),
            }
        }
        if let Some(unit) = unit {
            line.push_text(format!(" {unit}"));
        }
    }

    fn digit_after_number(&mut self, line: &Line, offset: usize) {
        if let Some(Piece::Field { id: Some(id), .. }) = line.pieces.last()
            && self.fields[*id].kind.dimension().is_some()
        {
            let message = "a digit directly after a number can't be told from it";
            self.error(offset, line.number, message, "put other text between them");
        }
    }

    fn field(&mut self, body: &str, offset: usize, line: &mut Line) {
        let number = line.number;
        if matches!(line.pieces.last(), Some(Piece::Field { .. })) {
            let message = "two fields stand next to each other";
            self.error(offset, number, message, "put text between them");
        }
        let field = self.read_field(body, offset, number);
        let id = match field {
            Ok(field) => {
                self.fields.push(field);
                Some(self.fields.len() - 1)
            }
            Err(fault) => {
                if let Fault::Error(error) = fault {
                    self.errors.push(error);
                }
                None
            }
        };
        if let Some(name) = defined_name(body) {
            self.names.define(name, id);
        }
        line.pieces.push(Piece::Field { id, source: body.trim().to_owned() });
    }

    fn read_field(&self, body: &str, offset: usize, number: u32) -> Result<Field, Fault> {
        let word = body.split_whitespace().next().unwrap_or_default();
        let message = match word {
            "repeat" | "unordered" | "end" => format!("`{{{word}}}` stands alone on its line"),
            _ if body.len() > MAX_FIELD_BYTES => {
                format!("a field is longer than {MAX_FIELD_BYTES} bytes")
            }
            _ => {
                let repeat = self.open.as_ref().and_then(|open| match open.kind {
                    Kind::Repeat { device_dependent, .. } => Some(device_dependent),
                    Kind::Unordered | Kind::Broken => None,
                });
                let bodies = Bodies { fields: &self.fields, names: &self.names, repeat };
                return bodies.parse(body, Tokens::split(body, offset + 1, number)?);
            }
        };
        let hint = "without text before or after it, blanks included";
        Err(TemplateError::new(offset, number, message, hint).into())
    }

    fn finish(mut self, offset: usize, number: u32) -> Result<Parsed, Vec<TemplateError>> {
        if let Some(open) = self.open.take() {
            self.error(open.offset, open.number, "the block is never closed", CLOSE);
        } else if self.errors.is_empty() && self.items.iter().all(Item::is_blank) {
            let hint = "write the lines that the program prints";
            self.error(offset, number, "zero assertions: the template has no text", hint);
        }
        if self.errors.is_empty() {
            self.check_blocks();
        }
        if self.errors.is_empty() {
            return Ok(Parsed { items: self.items, fields: self.fields });
        }
        self.errors.sort_by_key(|error| error.offset);
        Err(self.errors)
    }

    /// That it is plain from a line of output alone which line of the template it belongs to.
    fn check_blocks(&mut self) {
        let mut errors = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            let (message, hint, number) = match item {
                Item::Repeat { low, high, lines, number } if low != high => {
                    let first = lines.first().map(|line| line.skeleton(&self.fields, false));
                    let following = following(&self.items[index + 1..]);
                    let mut next = following.iter().map(|line| line.skeleton(&self.fields, false));
                    if !next.any(|skeleton| Some(skeleton) == first) {
                        continue;
                    }
                    let message = "a line after the block looks like the block's first line";
                    (message, "change its text, or repeat a fixed number of times", *number)
                }
                Item::Unordered { lines, number } => {
                    let mut seen = std::collections::BTreeSet::new();
                    let reads = |line: &&Line| line.fields().any(|id| self.reads(id));
                    let mut reading = lines.iter().filter(reads);
                    if reading.all(|line| seen.insert(line.skeleton(&self.fields, true))) {
                        continue;
                    }
                    let message = "two lines in any order can't be told from each other";
                    (message, "give each line its own text", *number)
                }
                _ => continue,
            };
            let offset = self.offsets[number as usize - 1];
            errors.push(TemplateError::new(offset, number, message, hint));
        }
        self.errors.append(&mut errors);
    }

    fn reads(&self, id: usize) -> bool {
        !matches!(self.fields[id].kind, FieldKind::Fact(_) | FieldKind::Derived(_))
    }
}

/// Whether a piece begins with this unit as a word, after blanks or none.
fn spells(piece: &Piece, unit: &str) -> bool {
    let Piece::Text(text) = piece else { return false };
    let rest = text.trim_start_matches(' ').strip_prefix(unit);
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The lines that may come directly after a block.
fn following(items: &[Item]) -> Vec<&Line> {
    let mut lines = Vec::new();
    for item in items {
        match item {
            Item::Line(line) => {
                lines.push(line);
                return lines;
            }
            Item::Repeat { low, lines: inner, .. } => {
                lines.extend(inner.first());
                if matches!(low, Expr::Integer(1..)) {
                    return lines;
                }
            }
            Item::Unordered { lines: inner, .. } => {
                lines.extend(inner);
                return lines;
            }
        }
    }
    lines
}

/// The word and the arguments of a line that begins or ends a block.
fn directive(text: &str) -> Option<(&str, &str)> {
    let body = text.strip_prefix('{')?.strip_suffix('}')?;
    let word = ["repeat", "unordered", "end"].into_iter().find(|word| {
        body.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })?;
    (!body.contains(['{', '}'])).then(|| (word, &body[word.len()..]))
}

/// The name that a field's body defines, even if the rest of it has an error.
fn defined_name(body: &str) -> Option<&str> {
    let end = body.find([':', '='])?;
    let name = body[..end].trim();
    (!name.is_empty()).then_some(name)
}
