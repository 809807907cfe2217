//! Initialisers of variables (PTX ISA 5.4.4).

use super::ast::{Init, Variable};
use super::constant::{self, Number};
use super::cursor::{Cursor, Parsed};
use super::lexer::Kind;

/// The most zeros that short rows of nested initialisers may be filled up with in one module.
pub const MAX_ZEROS: u64 = 1 << 16;

/// Reads an initialiser and flattens it. `zeros` are the filling zeros that are left.
pub fn initialiser(
    cursor: &mut Cursor<'_>,
    variable: &Variable,
    zeros: &mut u64,
) -> Parsed<Vec<Init>> {
    let mut reader = Reader { variable, zeros, out: Vec::new(), filled: 0 };
    let at = cursor.position();
    if cursor.kind() == Kind::OpenBrace {
        reader.braces(cursor, 0)?;
    } else {
        reader.element(cursor)?;
    }
    let open = variable.dims.first() == Some(&0);
    let room: u64 = variable.dims.iter().product();
    if !open && reader.out.len() as u64 > room {
        return Err(cursor.error_at(at, format!("an initialiser of at most {room} elements")));
    }
    Ok(reader.out)
}

struct Reader<'v> {
    variable: &'v Variable,
    zeros: &'v mut u64,
    out: Vec<Init>,
    /// Up to where elements that weren't written are 0.
    filled: u64,
}

impl Reader<'_> {
    /// `{...}` at a dimension of the variable; a text is a row of bytes, like braces. It recurses
    /// as deep as the variable has dimensions.
    fn braces(&mut self, cursor: &mut Cursor<'_>, dimension: usize) -> Parsed<()> {
        let inner = dimension + 1;
        if dimension > self.variable.dims.len().min(8) {
            return Err(cursor.error("an initialiser with no more braces than dimensions"));
        }
        cursor.expect(Kind::OpenBrace, "`{`")?;
        let row: u64 = self.variable.dims.get(inner..).unwrap_or(&[]).iter().product();
        while !cursor.eat(Kind::CloseBrace) {
            let start = self.fill(cursor)?;
            let at = cursor.position();
            let text = cursor.kind() == Kind::Text && row > 1;
            if text || cursor.kind() == Kind::OpenBrace {
                if text {
                    self.text(cursor)?
                } else {
                    self.braces(cursor, inner)?
                }
                if self.out.len() as u64 > start.saturating_add(row) {
                    return Err(cursor.error_at(at, format!("a row of at most {row} elements")));
                }
                self.filled = start.saturating_add(row);
            } else {
                self.element(cursor)?;
            }
            if cursor.kind() != Kind::CloseBrace {
                cursor.expect(Kind::Comma, "`,` or `}` of an initialiser")?;
            }
        }
        Ok(())
    }

    /// Fills up the row before, and gives where the next element goes.
    fn fill(&mut self, cursor: &Cursor<'_>) -> Parsed<u64> {
        let length = self.out.len() as u64;
        let missing = self.filled.saturating_sub(length);
        if missing > *self.zeros {
            return Err(cursor.error("an initialiser with fewer rows left short"));
        }
        *self.zeros -= missing;
        self.out.extend((0..missing).map(|_| Init::Bits(0)));
        Ok(length + missing)
    }

    fn element(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        let init = match (cursor.kind(), cursor.kind_after()) {
            (Kind::Text, _) => return self.text(cursor),
            (Kind::Int, Kind::OpenParen) => masked(cursor)?,
            (Kind::Word, _) if cursor.text() != "WARP_SZ" => address(cursor, None)?,
            _ => {
                let at = cursor.position();
                let number = constant::number(cursor)?;
                let bits = bits_of(number, &self.variable.kind, self.variable.element_bytes);
                Init::Bits(bits.ok_or_else(|| {
                    cursor.error_at(at, format!("a constant for type .{}", self.variable.kind))
                })?)
            }
        };
        self.out.push(init);
        Ok(())
    }

    /// A text in quotes, for 8-bit elements.
    fn text(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        if self.variable.element_bytes != 1 {
            return Err(cursor.error("a number, since elements aren't bytes"));
        }
        let bytes = unquote(cursor.text());
        cursor.skip();
        self.out.extend(bytes.into_iter().map(|byte| Init::Bits(u64::from(byte))));
        Ok(())
    }
}

/// `0xFF00(name)`: one byte of an address (PTX ISA 5.4.4).
fn masked(cursor: &mut Cursor<'_>) -> Parsed<Init> {
    let at = cursor.position();
    let mask: u64 = constant::literal(cursor, "a mask")?;
    let byte = (0..8u8).find(|byte| mask == 0xFF << (8 * byte));
    let byte = byte.ok_or_else(|| cursor.error_at(at, "a mask of one byte, like 0xFF00"))?;
    cursor.expect(Kind::OpenParen, "`(` of a mask")?;
    let init = address(cursor, Some(byte))?;
    cursor.expect(Kind::CloseParen, "`)` of a mask")?;
    Ok(init)
}

/// `name`, `name+4`, `generic(name)`, `generic(name)+4`.
fn address(cursor: &mut Cursor<'_>, byte: Option<u8>) -> Parsed<Init> {
    let generic = cursor.text() == "generic" && cursor.kind_after() == Kind::OpenParen;
    let mut offset = 0;
    let name;
    if generic {
        cursor.skip();
        cursor.skip();
        name = cursor.name("the name of a variable")?.to_owned();
        offset = constant::offset(cursor)?;
        cursor.expect(Kind::CloseParen, "`)` of `generic`")?;
    } else {
        name = cursor.name("the name of a variable or function")?.to_owned();
    }
    offset = constant::offset(cursor)?.wrapping_add(offset);
    Ok(Init::Address { name, offset, generic, byte })
}

/// The bits that a number has in an element of the given type.
fn bits_of(number: Number, kind: &str, bytes: u32) -> Option<u64> {
    match (kind, number) {
        ("f32", number) => single(number).map(|value| u64::from(value.to_bits())),
        ("f64", number) => double(number).map(f64::to_bits),
        (_, Number::Int(bits, _)) => Some(bits),
        ("b32", number) => single(number).map(|value| u64::from(value.to_bits())),
        ("b64", number) => double(number).map(f64::to_bits),
        (_, Number::Single(bits)) if bytes == 4 => Some(u64::from(bits)),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as PTX rounds")]
fn single(number: Number) -> Option<f32> {
    Some(match number {
        Number::Int(bits, true) => bits as f32,
        Number::Int(bits, false) => bits.cast_signed() as f32,
        Number::Single(bits) => f32::from_bits(bits),
        Number::Double(value) => value as f32,
    })
}

#[expect(clippy::cast_precision_loss, reason = "as PTX rounds")]
fn double(number: Number) -> Option<f64> {
    Some(match number {
        Number::Int(bits, true) => bits as f64,
        Number::Int(bits, false) => bits.cast_signed() as f64,
        Number::Single(bits) => f64::from(f32::from_bits(bits)),
        Number::Double(value) => value,
    })
}

/// The bytes of a text in quotes, with its escapes resolved as in C.
pub fn unquote(quoted: &str) -> Vec<u8> {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(next) = bytes.next_if(|byte| matches!(byte, b'0'..=b'7')) else {
                        break;
                    };
                    value = value * 8 + u32::from(next - b'0');
                }
                out.push((value & 0xFF) as u8);
            }
            Some(other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
    out
}
