//! Operands (PTX ISA 6).

use super::ast::{Base, Operand, Reg};
use super::constant::{self, Number};
use super::cursor::{Cursor, Parsed};
use super::lexer::Kind;
use super::scope::{Named, Names};
use super::types;

/// How deep lists may nest.
const DEPTH: u32 = 4;

/// Reads operands with the names of a function.
pub struct Operands<'n, 'a> {
    /// What names stand for.
    pub names: &'n mut Names<'a>,
    /// Whether parentheses hold the lists of a call.
    pub call: bool,
}

/// What a word in an operand is.
enum Meaning {
    Operand(Operand),
    /// A name that offsets may follow.
    Symbol(String),
}

impl<'a> Operands<'_, 'a> {
    /// All operands up to the semicolon, which isn't stepped over.
    pub fn all(
        &mut self,
        cursor: &mut Cursor<'a>,
        modifiers: &mut Vec<String>,
    ) -> Parsed<Vec<Operand>> {
        let mut operands = Vec::new();
        if cursor.kind() == Kind::Semicolon {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(cursor, 0)?);
            // PTX ISA 9.7.9.8: `ld` and `st` may say `.unified` after the address.
            if cursor.eat_text(".unified") {
                modifiers.push("unified".to_owned());
            }
            if cursor.kind() == Kind::Semicolon {
                return Ok(operands);
            }
            cursor.expect(Kind::Comma, "`,` or `;` after an operand")?;
        }
    }

    fn operand(&mut self, cursor: &mut Cursor<'a>, depth: u32) -> Parsed<Operand> {
        if depth > DEPTH {
            return Err(cursor.error("an operand that nests less deep"));
        }
        match cursor.kind() {
            Kind::OpenBrace => self.braces(cursor, depth),
            Kind::OpenParen if self.call => self.list(cursor, Kind::CloseParen, depth),
            Kind::OpenBracket => self.memory(cursor, depth),
            Kind::Bang if cursor.kind_after() == Kind::Word => {
                cursor.skip();
                Ok(Operand::Not(self.predicate(cursor)?))
            }
            _ if constant::begins(cursor) => Ok(immediate(constant::number(cursor)?)),
            Kind::Word => self.word(cursor),
            _ => Err(cursor.error("an operand")),
        }
    }

    fn list(&mut self, cursor: &mut Cursor<'a>, close: Kind, depth: u32) -> Parsed<Operand> {
        cursor.skip();
        let item = |cursor: &mut Cursor<'a>| self.operand(cursor, depth + 1);
        Ok(Operand::List(cursor.list(close, "`,` or the end of a list", item)?))
    }

    /// `{...}`, or `{...}|%p` of texture instructions, which is a list of both.
    fn braces(&mut self, cursor: &mut Cursor<'a>, depth: u32) -> Parsed<Operand> {
        let list = self.list(cursor, Kind::CloseBrace, depth)?;
        if !cursor.eat(Kind::Pipe) {
            return Ok(list);
        }
        Ok(Operand::List(vec![list, Operand::Reg(self.predicate(cursor)?)]))
    }

    /// `[a+4]`, `[a, {...}]`.
    fn memory(&mut self, cursor: &mut Cursor<'a>, depth: u32) -> Parsed<Operand> {
        cursor.skip();
        let at = cursor.position();
        let first = self.operand(cursor, depth + 1)?;
        if cursor.kind() == Kind::Comma {
            let mut items = vec![first];
            while cursor.eat(Kind::Comma) {
                items.push(self.operand(cursor, depth + 1)?);
            }
            cursor.expect(Kind::CloseBracket, "`,` or `]` of an address")?;
            return Ok(Operand::MemoryList(items));
        }
        let after = constant::offset(cursor)?;
        let (base, offset) = match first {
            Operand::Reg(reg) => (Base::Reg(reg), after),
            Operand::Symbol { name, offset } => (Base::Symbol(name), offset.wrapping_add(after)),
            Operand::Int(bits) => (Base::None, bits.cast_signed().wrapping_add(after)),
            _ => return Err(cursor.error_at(at, "a register, variable or integer address")),
        };
        cursor.expect(Kind::CloseBracket, "`]` of an address")?;
        Ok(Operand::Memory { base, offset })
    }

    fn word(&mut self, cursor: &mut Cursor<'a>) -> Parsed<Operand> {
        let text = cursor.text();
        if cursor.kind_after() == Kind::Pipe {
            let first = self.pair_half(cursor)?;
            cursor.skip();
            let second = self.pair_half(cursor)?;
            return Ok(Operand::Pair(first, second));
        }
        let meaning = self.meaning(text).ok_or_else(|| cursor.error(undeclared(text)))?;
        cursor.skip();
        match meaning {
            Meaning::Operand(operand) => Ok(operand),
            Meaning::Symbol(name) => {
                Ok(Operand::Symbol { name, offset: constant::offset(cursor)? })
            }
        }
    }

    /// A register or the sink, beside a `|`.
    fn pair_half(&mut self, cursor: &mut Cursor<'a>) -> Parsed<Option<Reg>> {
        if cursor.eat_text("_") { Ok(None) } else { self.predicate(cursor).map(Some) }
    }

    /// A declared register that isn't a vector.
    pub fn predicate(&mut self, cursor: &mut Cursor<'a>) -> Parsed<Reg> {
        let text = cursor.text();
        if cursor.kind() == Kind::Word
            && let Some(Meaning::Operand(Operand::Reg(reg))) = self.meaning(text)
        {
            cursor.skip();
            return Ok(reg);
        }
        Err(cursor.error("a declared register"))
    }

    fn meaning(&mut self, text: &'a str) -> Option<Meaning> {
        if text == "_" {
            return Some(Meaning::Operand(Operand::Sink));
        }
        let (base, suffix) = text.split_once('.').map_or((text, None), |(b, s)| (b, Some(s)));
        let operand = match (self.names.find(base), suffix) {
            (Some(Named::Register(reg)), None) => Operand::Reg(reg),
            (Some(Named::Register(reg)), Some(suffix)) if is_selector(suffix) => {
                Operand::Selection(reg, suffix.to_owned())
            }
            (Some(Named::Vector(regs)), None) => {
                Operand::List(regs.into_iter().map(Operand::Reg).collect())
            }
            (Some(Named::Vector(regs)), Some(suffix)) => {
                Operand::Reg(*regs.get(component(suffix)?)?)
            }
            (Some(Named::Symbol(name)), None) => return Some(Meaning::Symbol(name)),
            (None, _) if types::is_special(text) => Operand::Special(text.to_owned()),
            (None, None) if !text.starts_with('%') => {
                return Some(Meaning::Symbol(text.to_owned()));
            }
            _ => return None,
        };
        Some(Meaning::Operand(operand))
    }
}

/// What to expect instead of a name that means nothing.
fn undeclared(name: &str) -> &'static str {
    if name.starts_with('%') { "a declared or special register" } else { "an operand" }
}

/// The index of a component by its letter (PTX ISA 6.4.3).
fn component(suffix: &str) -> Option<usize> {
    match suffix {
        "x" | "r" => Some(0),
        "y" | "g" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    }
}

/// Selectors of the video instructions (PTX ISA 9.7.17): `b0`, `h1`, `b3210`.
fn is_selector(suffix: &str) -> bool {
    let digits = suffix.strip_prefix(['b', 'h']).unwrap_or("");
    (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'))
}

fn immediate(number: Number) -> Operand {
    match number {
        Number::Int(bits, _) => Operand::Int(bits),
        Number::Single(bits) => Operand::F32(bits),
        Number::Double(value) => Operand::F64(value.to_bits()),
    }
}
