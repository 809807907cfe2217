//! The body of one field, between its braces: `a:ms.3 in 0.8..1.5 width 8`.
//!
//! **Invariant: a field that parses refers only to fields above it, of kinds that fit.** The line
//! parser calls this for each pair of braces.

use super::arithmetic::{Expressions, check_constant};
use super::error::{Fault, TemplateError};
use super::expr::{Expr, Op};
use super::field::{Bounds, Dimension, Fact, Field, FieldId, FieldKind, Unit};
use super::names::Names;
use super::token::{Token, Tokens};

/// The most decimals of a duration, ratio or rate.
pub(super) const MAX_FIELD_DECIMALS: u32 = 9;

/// The widest column.
const MAX_WIDTH: u32 = 200;

const FACTS: &str = "device, cc, sm_count, l2_bytes, memory_bytes, driver";
const KINDS: &str = "count, ns, us, ms, s, ratio or gbps";

/// Reads the bodies of fields against what is defined above them.
pub(super) struct Bodies<'p> {
    pub(super) fields: &'p [Field],
    pub(super) names: &'p Names,
    /// Whether the field stands in a `repeat` block, and whether that block's length follows from
    /// the device.
    pub(super) repeat: Option<bool>,
}

impl Bodies<'_> {
    /// The field, or what is wrong with it.
    pub(super) fn parse(&self, source: &str, mut t: Tokens<'_>) -> Result<Field, Fault> {
        let (name, kind) = self.name_and_kind(&mut t)?;
        let mut field = Field {
            name: name.map(str::to_owned),
            bounds: None,
            width: None,
            bare: false,
            repeated: self.repeat.is_some(),
            device_dependent: self.repeat == Some(true) || self.follows_from_device(&kind),
            source: source.trim().to_owned(),
            kind,
        };
        self.modifiers(&mut field, &mut t)?;
        match t.peek() {
            None => Ok(field),
            Some(_) => {
                let message = format!("{} is not expected here", t.found());
                let hint = "only `in LO..HI`, `width N` and `bare` may follow";
                Err(t.error(message, hint).into())
            }
        }
    }

    fn name_and_kind<'a>(&self, t: &mut Tokens<'a>) -> Result<(Option<&'a str>, FieldKind), Fault> {
        if t.accept(Token::Sign('=')) {
            return Ok((None, FieldKind::Derived(self.integer(t)?)));
        }
        let at_name = t.error(String::new(), "");
        let Some(Token::Name(name)) = t.peek() else {
            let message = format!("a field starts with a name, not with {}", t.found());
            let hint = "write `{n:count}`, `{a:ms.3}`, `{= 2 * sm_count}`, …";
            return Err(t.error(message, hint).into());
        };
        t.advance();
        let colon = t.accept(Token::Sign(':'));
        if !colon && !t.accept(Token::Sign('=')) {
            let hint =
                format!("the facts are {FACTS}; a field of your own has a kind: `{name}:ms.3`");
            let message = format!("`{name}` is no device fact");
            let fact = Fact::parse(name);
            let unknown = TemplateError { message, hint, ..at_name };
            return Ok((None, FieldKind::Fact(fact.ok_or(unknown)?)));
        }
        if let Some((message, hint)) = self.names.refuse(name) {
            return Err(TemplateError { message, hint: hint.to_owned(), ..at_name }.into());
        }
        let kind = if colon { self.kind(t)? } else { FieldKind::Derived(self.integer(t)?) };
        Ok((Some(name), kind))
    }

    fn integer(&self, t: &mut Tokens<'_>) -> Result<Expr, Fault> {
        let start = t.error(String::new(), "");
        let expressions = Expressions { fields: self.fields, names: self.names };
        let expr = expressions.parse(t)?;
        expressions.check_integers(&expr, &start)?;
        check_constant(&expr, &start)?;
        Ok(expr)
    }

    fn kind(&self, t: &mut Tokens<'_>) -> Result<FieldKind, Fault> {
        let unknown = t.error(format!("{} is no kind of field", t.found()), KINDS);
        let Some(Token::Name(word)) = t.advance() else { return Err(unknown.into()) };
        match word {
            "count" => Ok(FieldKind::Count),
            "ratio" => self.ratio(t),
            "gbps" => self.rate(t),
            _ => {
                let unit = Unit::parse(word).ok_or(unknown)?;
                let decimals = decimals(t)?.unwrap_or(0);
                Ok(FieldKind::Duration { unit, decimals })
            }
        }
    }

    fn ratio(&self, t: &mut Tokens<'_>) -> Result<FieldKind, Fault> {
        const HINT: &str = "write `{r:ratio.3 = b / a}` with two fields above";
        let decimals = decimals(t)?.ok_or_else(|| needs_decimals(t, HINT))?;
        t.expect('=', HINT)?;
        let start = t.error("a ratio divides two fields that measure the same".to_owned(), HINT);
        let numerator = self.operand(t, HINT)?;
        t.expect('/', HINT)?;
        let denominator = self.operand(t, HINT)?;
        let dimension = |id: FieldId| self.fields[id].kind.dimension();
        if dimension(numerator).is_none() || dimension(numerator) != dimension(denominator) {
            return Err(start.into());
        }
        Ok(FieldKind::Ratio { decimals, numerator, denominator })
    }

    fn operand(&self, t: &mut Tokens<'_>, hint: &str) -> Result<FieldId, Fault> {
        let not_a_field = t.error(format!("a field's name expected, found {}", t.found()), hint);
        let expressions = Expressions { fields: self.fields, names: self.names };
        match t.peek() {
            Some(Token::Name(name)) if Fact::parse(name).is_none() => {
                let id = expressions.field(name, t)?;
                t.advance();
                Ok(id)
            }
            _ => Err(not_a_field.into()),
        }
    }

    fn rate(&self, t: &mut Tokens<'_>) -> Result<FieldKind, Fault> {
        const HINT: &str = "write `{bw:gbps.1 = BYTES / T}`: an integer over a duration above";
        let decimals = decimals(t)?.ok_or_else(|| needs_decimals(t, HINT))?;
        t.expect('=', HINT)?;
        let start = t.error("a rate divides bytes by a duration".to_owned(), HINT);
        let expressions = Expressions { fields: self.fields, names: self.names };
        let Expr::Binary(Op::Div, bytes, below) = expressions.parse(t)? else {
            return Err(start.into());
        };
        let duration = match *below {
            Expr::Field(id) if self.fields[id].kind.dimension() == Some(Dimension::Time) => id,
            _ => return Err(start.into()),
        };
        expressions.check_integers(&bytes, &start)?;
        check_constant(&bytes, &start)?;
        Ok(FieldKind::Rate { decimals, bytes: *bytes, duration })
    }

    fn modifiers(&self, field: &mut Field, t: &mut Tokens<'_>) -> Result<(), TemplateError> {
        loop {
            let twice = t.error(format!("{} is given twice", t.found()), "keep one");
            let text_or_derived = matches!(field.kind, FieldKind::Fact(_) | FieldKind::Derived(_));
            match t.peek() {
                Some(Token::Name("in")) if text_or_derived => {
                    let message = "an exact field has no bounds".to_owned();
                    return Err(t.error(message, "drop `in LO..HI`: one value is right"));
                }
                Some(Token::Name("width")) if field.decimals().is_none() => {
                    let message = "only numbers are right-aligned".to_owned();
                    return Err(t.error(message, "drop `width N`"));
                }
                Some(Token::Name("in")) if field.bounds.is_some() => return Err(twice),
                Some(Token::Name("width")) if field.width.is_some() => return Err(twice),
                Some(Token::Name("bare")) if field.unit().is_none() => {
                    let message = "only durations and rates have a unit".to_owned();
                    return Err(t.error(message, "drop `bare`"));
                }
                Some(Token::Name("bare")) if field.bare => return Err(twice),
                Some(Token::Name("bare")) => {
                    t.advance();
                    field.bare = true;
                }
                Some(Token::Name("in")) => field.bounds = Some(bounds(t)?),
                Some(Token::Name("width")) => field.width = Some(width(t)?),
                _ => return Ok(()),
            }
        }
    }

    fn follows_from_device(&self, kind: &FieldKind) -> bool {
        match kind {
            FieldKind::Fact(_) => true,
            FieldKind::Derived(expr) => follows_from_device(expr, self.fields),
            _ => false,
        }
    }
}

/// Whether the value of `expr` follows from device facts.
pub(super) fn follows_from_device(expr: &Expr, fields: &[Field]) -> bool {
    expr.any(&|part| match part {
        Expr::Fact(_) => true,
        Expr::Field(id) => fields.get(*id).is_some_and(|field| field.device_dependent),
        _ => false,
    })
}

fn needs_decimals(t: &Tokens<'_>, hint: &str) -> TemplateError {
    t.error("the number of decimals is missing".to_owned(), hint)
}

fn decimals(t: &mut Tokens<'_>) -> Result<Option<u32>, TemplateError> {
    if !t.accept(Token::Sign('.')) {
        return Ok(None);
    }
    let hint = format!("write a number from 0 to {MAX_FIELD_DECIMALS} after the point: `ms.3`");
    let error = t.error(format!("{} is no number of decimals", t.found()), hint);
    match t.advance() {
        Some(Token::Number(digits)) => match digits.parse() {
            Ok(count) if count <= MAX_FIELD_DECIMALS => Ok(Some(count)),
            _ => Err(error),
        },
        _ => Err(error),
    }
}

fn bounds(t: &mut Tokens<'_>) -> Result<Bounds, TemplateError> {
    const HINT: &str = "write `in LO..HI` with plain numbers, LO not above HI";
    t.advance();
    let start = t.error("the bounds are empty: LO is above HI".to_owned(), HINT);
    let number = |t: &mut Tokens<'_>| {
        let error = t.error(format!("a bound expected, found {}", t.found()), HINT);
        match t.advance() {
            Some(Token::Number(digits)) => digits.parse().map_err(|_| error),
            _ => Err(error),
        }
    };
    let low = number(t)?;
    if !t.accept(Token::Range) {
        return Err(t.error(format!("`..` expected, found {}", t.found()), HINT));
    }
    let high = number(t)?;
    if low > high { Err(start) } else { Ok(Bounds { low, high }) }
}

fn width(t: &mut Tokens<'_>) -> Result<u32, TemplateError> {
    t.advance();
    let hint = format!("write `width N` with N from 1 to {MAX_WIDTH}");
    let error = t.error(format!("{} is no width", t.found()), hint);
    match t.advance() {
        Some(Token::Number(digits)) => match digits.parse() {
            Ok(columns) if (1..=MAX_WIDTH).contains(&columns) => Ok(columns),
            _ => Err(error),
        },
        _ => Err(error),
    }
}
