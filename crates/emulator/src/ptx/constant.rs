//! Integer and float constants and constant expressions (PTX ISA 4.5).

use super::cursor::{Cursor, Parsed};
use super::lexer::Kind;

/// How deep parentheses and unary operators may nest.
const DEPTH: u32 = 32;

/// A constant number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer as 64 bits, and whether it is unsigned.
    Int(u64, bool),
    /// The bits of a `0f` literal.
    Single(u32),
    /// A `0d` literal or a decimal one.
    Double(f64),
}

/// Whether a constant can begin with the next token.
pub fn begins(cursor: &Cursor<'_>) -> bool {
    use Kind::{Bang, Decimal, Double, Int, Minus, OpenParen, Plus, Single, Tilde};
    matches!(
        cursor.kind(),
        Int | Single | Double | Decimal | Minus | Plus | Tilde | Bang | OpenParen
    ) || (cursor.kind() == Kind::Word && cursor.text() == "WARP_SZ")
}

/// A constant expression; its value is an integer or a float.
pub fn number(cursor: &mut Cursor<'_>) -> Parsed<Number> {
    ternary(cursor, 0)
}

/// A constant expression that must be an integer, as 64 bits.
pub fn integer(cursor: &mut Cursor<'_>) -> Parsed<u64> {
    let at = cursor.position();
    match number(cursor)? {
        Number::Int(bits, _) => Ok(bits),
        _ => Err(cursor.error_at(at, "an integer")),
    }
}

/// A plain integer literal that fits the type.
pub fn literal<T: TryFrom<u64>>(cursor: &mut Cursor<'_>, what: &str) -> Parsed<T> {
    let at = cursor.position();
    let text = cursor.expect(Kind::Int, what)?;
    let value = parse_int(text).and_then(|(bits, _)| T::try_from(bits).ok());
    value.ok_or_else(|| cursor.error_at(at, format!("{what} in range")))
}

/// Offsets that follow a name: `+4`, `-4`, `+-4`, or nothing.
pub fn offset(cursor: &mut Cursor<'_>) -> Parsed<i64> {
    let mut sum = 0i64;
    loop {
        let negative = match cursor.kind() {
            Kind::Plus => false,
            Kind::Minus => true,
            _ => return Ok(sum),
        };
        cursor.skip();
        let at = cursor.position();
        let Number::Int(bits, _) = binary(cursor, 9, 0)? else {
            return Err(cursor.error_at(at, "an integer offset"));
        };
        let term = bits.cast_signed();
        sum = if negative { sum.wrapping_sub(term) } else { sum.wrapping_add(term) };
    }
}

fn ternary(cursor: &mut Cursor<'_>, depth: u32) -> Parsed<Number> {
    let at = cursor.position();
    let condition = binary(cursor, 0, depth)?;
    if !cursor.eat(Kind::Question) {
        return Ok(condition);
    }
    deeper(cursor, depth)?;
    let Number::Int(bits, _) = condition else {
        return Err(cursor.error_at(at, "an integer condition"));
    };
    let yes = ternary(cursor, depth + 1)?;
    cursor.expect(Kind::Colon, "`:` of a conditional constant")?;
    let no = ternary(cursor, depth + 1)?;
    Ok(if bits == 0 { no } else { yes })
}

fn deeper(cursor: &Cursor<'_>, depth: u32) -> Parsed<()> {
    if depth < DEPTH { Ok(()) } else { Err(cursor.error("a constant that nests less deep")) }
}

/// Binds tighter the higher it is.
fn precedence(kind: Kind) -> Option<u32> {
    Some(match kind {
        Kind::PipePipe => 0,
        Kind::AndAnd => 1,
        Kind::Pipe => 2,
        Kind::Caret => 3,
        Kind::And => 4,
        Kind::EqualEqual | Kind::NotEqual => 5,
        Kind::Less | Kind::Greater | Kind::LessEqual | Kind::GreaterEqual => 6,
        Kind::ShiftLeft | Kind::ShiftRight => 7,
        Kind::Plus | Kind::Minus => 8,
        Kind::Star | Kind::Slash | Kind::Percent => 9,
        _ => return None,
    })
}

fn binary(cursor: &mut Cursor<'_>, least: u32, depth: u32) -> Parsed<Number> {
    let mut left = unary(cursor, depth)?;
    loop {
        let operator = cursor.kind();
        let Some(strength) = precedence(operator).filter(|&strength| strength >= least) else {
            return Ok(left);
        };
        let at = cursor.position();
        cursor.skip();
        let right = binary(cursor, strength + 1, depth)?;
        left = combine(operator, left, right)
            .ok_or_else(|| cursor.error_at(at, "an operator that has a value here"))?;
    }
}

fn unary(cursor: &mut Cursor<'_>, depth: u32) -> Parsed<Number> {
    deeper(cursor, depth)?;
    let at = cursor.position();
    let operator = cursor.kind();
    match operator {
        Kind::OpenParen => return parenthesised(cursor, depth),
        Kind::Plus | Kind::Minus | Kind::Tilde | Kind::Bang => cursor.skip(),
        _ => return primary(cursor),
    }
    let value = unary(cursor, depth + 1)?;
    let result = match (operator, value) {
        (Kind::Plus, value) => Some(value),
        (Kind::Minus, Number::Int(bits, _)) => Some(Number::Int(bits.wrapping_neg(), false)),
        (Kind::Minus, Number::Single(bits)) => Some(Number::Single(bits ^ 0x8000_0000)),
        (Kind::Minus, Number::Double(value)) => Some(Number::Double(-value)),
        (Kind::Tilde, Number::Int(bits, unsigned)) => Some(Number::Int(!bits, unsigned)),
        (Kind::Bang, Number::Int(bits, _)) => Some(truth(bits == 0)),
        _ => None,
    };
    result.ok_or_else(|| cursor.error_at(at, "an operator for an integer"))
}

/// `(expression)`, or the casts `(.s64)` and `(.u64)`.
fn parenthesised(cursor: &mut Cursor<'_>, depth: u32) -> Parsed<Number> {
    cursor.skip();
    let cast = match cursor.kind() {
        Kind::Dot if cursor.text() == ".s64" => Some(false),
        Kind::Dot if cursor.text() == ".u64" => Some(true),
        _ => None,
    };
    let Some(unsigned) = cast else {
        let value = ternary(cursor, depth + 1)?;
        cursor.expect(Kind::CloseParen, "`)`")?;
        return Ok(value);
    };
    cursor.skip();
    cursor.expect(Kind::CloseParen, "`)` of a cast")?;
    let at = cursor.position();
    match unary(cursor, depth + 1)? {
        Number::Int(bits, _) => Ok(Number::Int(bits, unsigned)),
        _ => Err(cursor.error_at(at, "an integer")),
    }
}

fn primary(cursor: &mut Cursor<'_>) -> Parsed<Number> {
    let text = cursor.text();
    let value = match cursor.kind() {
        Kind::Int => parse_int(text).map(|(bits, unsigned)| Number::Int(bits, unsigned)),
        Kind::Single => u32::from_str_radix(&text[2..], 16).ok().map(Number::Single),
        Kind::Double => {
            u64::from_str_radix(&text[2..], 16).ok().map(f64::from_bits).map(Number::Double)
        }
        Kind::Decimal => text.parse().ok().map(Number::Double),
        // PTX ISA 4.5.4: the one predefined constant.
        Kind::Word if text == "WARP_SZ" => Some(Number::Int(32, false)),
        _ => return Err(cursor.error("a constant")),
    };
    let value = value.ok_or_else(|| cursor.error("a number of at most 64 bits"))?;
    cursor.skip();
    Ok(value)
}

/// The bits of an integer literal, and whether it is unsigned (PTX ISA 4.5.1).
fn parse_int(text: &str) -> Option<(u64, bool)> {
    let (digits, suffix) = match text.strip_suffix('U') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let lower = digits.to_ascii_lowercase();
    let bits = if let Some(hex) = lower.strip_prefix("0x") {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        u64::from_str_radix(&lower[1..], 8)
    } else {
        lower.parse()
    };
    let bits = bits.ok()?;
    Some((bits, suffix || i64::try_from(bits).is_err()))
}

fn truth(value: bool) -> Number {
    Number::Int(u64::from(value), false)
}

/// The value of a binary operator; operands of mixed sign are unsigned (PTX ISA 4.5.6).
fn combine(operator: Kind, left: Number, right: Number) -> Option<Number> {
    match (left, right) {
        (Number::Int(a, a_unsigned), Number::Int(b, b_unsigned)) => {
            combine_integers(operator, a, b, a_unsigned, b_unsigned)
        }
        (Number::Double(a), Number::Double(b)) => combine_floats(operator, a, b),
        _ => None,
    }
}

fn combine_integers(
    operator: Kind,
    a: u64,
    b: u64,
    a_unsigned: bool,
    b_unsigned: bool,
) -> Option<Number> {
    let unsigned = a_unsigned || b_unsigned;
    let (x, y) = (a.cast_signed(), b.cast_signed());
    let order = if unsigned { a.cmp(&b) } else { x.cmp(&y) };
    let bits = match operator {
        Kind::Plus => a.wrapping_add(b),
        Kind::Minus => a.wrapping_sub(b),
        Kind::Star => a.wrapping_mul(b),
        Kind::Slash if unsigned => a.checked_div(b)?,
        Kind::Slash => x.checked_div(y)?.cast_unsigned(),
        Kind::Percent if unsigned => a.checked_rem(b)?,
        Kind::Percent => x.checked_rem(y)?.cast_unsigned(),
        Kind::And => a & b,
        Kind::Pipe => a | b,
        Kind::Caret => a ^ b,
        Kind::ShiftLeft => {
            let shifted = a.checked_shl(u32::try_from(b).ok()?).unwrap_or(0);
            return Some(Number::Int(shifted, a_unsigned));
        }
        Kind::ShiftRight => {
            let shifted = shift_right(a, u32::try_from(b).ok()?, a_unsigned);
            return Some(Number::Int(shifted, a_unsigned));
        }
        Kind::Less => return Some(truth(order.is_lt())),
        Kind::LessEqual => return Some(truth(order.is_le())),
        Kind::Greater => return Some(truth(order.is_gt())),
        Kind::GreaterEqual => return Some(truth(order.is_ge())),
        Kind::EqualEqual => return Some(truth(a == b)),
        Kind::NotEqual => return Some(truth(a != b)),
        Kind::AndAnd => return Some(truth(a != 0 && b != 0)),
        Kind::PipePipe => return Some(truth(a != 0 || b != 0)),
        _ => return None,
    };
    Some(Number::Int(bits, unsigned))
}

fn shift_right(bits: u64, by: u32, unsigned: bool) -> u64 {
    if unsigned {
        bits.checked_shr(by).unwrap_or(0)
    } else {
        (bits.cast_signed() >> by.min(63)).cast_unsigned()
    }
}

fn combine_floats(operator: Kind, a: f64, b: f64) -> Option<Number> {
    Some(Number::Double(match operator {
        Kind::Plus => a + b,
        Kind::Minus => a - b,
        Kind::Star => a * b,
        Kind::Slash => a / b,
        _ => return None,
    }))
}
