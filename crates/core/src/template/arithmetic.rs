//! Reading expressions: precedence, functions, names.
//!
//! **Invariant: nesting and length are limited, so that neither reading nor evaluating one can
//! exhaust the stack.** Field bodies and `repeat` lines call it.

use super::error::{Fault, TemplateError};
use super::expr::{EvalError, Expr, Op, Scope};
use super::field::{Dimension, Fact, Field, FieldId};
use super::names::{Lookup, Names, Why};
use super::token::{Token, Tokens};
use crate::decimal::Decimal;

/// How deep parentheses and functions nest.
const MAX_NESTING: u32 = 32;

const OPERAND: &str = "write an integer, a device fact, or a count or derived field above";

/// Reads expressions against what is defined above them.
#[derive(Clone, Copy)]
pub(super) struct Expressions<'p> {
    pub(super) fields: &'p [Field],
    pub(super) names: &'p Names,
}

impl Expressions<'_> {
    /// An expression, as far as it goes.
    pub(super) fn parse(self, t: &mut Tokens<'_>) -> Result<Expr, Fault> {
        self.sum(t, 0)
    }

    fn sum(self, t: &mut Tokens<'_>, depth: u32) -> Result<Expr, Fault> {
        let mut left = self.product(t, depth)?;
        loop {
            let op = match t.peek() {
                Some(Token::Sign('+')) => Op::Add,
                Some(Token::Sign('-')) => Op::Sub,
                _ => return Ok(left),
            };
            t.advance();
            left = Expr::Binary(op, Box::new(left), Box::new(self.product(t, depth)?));
        }
    }

    fn product(self, t: &mut Tokens<'_>, depth: u32) -> Result<Expr, Fault> {
        let mut left = self.operand(t, depth)?;
        loop {
            let op = match t.peek() {
                Some(Token::Sign('*')) => Op::Mul,
                Some(Token::Sign('/')) => Op::Div,
                Some(Token::Sign('%')) => Op::Rem,
                _ => return Ok(left),
            };
            t.advance();
            left = Expr::Binary(op, Box::new(left), Box::new(self.operand(t, depth)?));
        }
    }

    fn operand(self, t: &mut Tokens<'_>, depth: u32) -> Result<Expr, Fault> {
        if depth > MAX_NESTING {
            let message = format!("an expression nests deeper than {MAX_NESTING}");
            return Err(t.error(message, "name a part of it as a field of its own").into());
        }
        let refused = t.error(format!("an integer expected, found {}", t.found()), OPERAND);
        match t.peek() {
            Some(Token::Number(digits)) => {
                let value = digits.parse::<i128>().ok();
                let fits = value.filter(|value| Decimal::new(*value, 0).is_some());
                let value = fits.ok_or(refused)?;
                t.advance();
                Ok(Expr::Integer(value))
            }
            Some(Token::Sign('(')) => {
                t.advance();
                let inner = self.sum(t, depth + 1)?;
                t.expect(')', "close the parenthesis")?;
                Ok(inner)
            }
            Some(Token::Name(name)) => match (Op::function(name), Fact::parse(name)) {
                (Some(op), _) => self.call(op, t, depth),
                (None, Some(fact)) if fact.is_integer() => {
                    t.advance();
                    Ok(Expr::Fact(fact))
                }
                (None, Some(_)) => Err(refused.into()),
                (None, None) => {
                    let id = self.field(name, t)?;
                    t.advance();
                    Ok(Expr::Field(id))
                }
            },
            _ => Err(refused.into()),
        }
    }

    fn call(self, op: Op, t: &mut Tokens<'_>, depth: u32) -> Result<Expr, Fault> {
        const HINT: &str = "a function takes two arguments: `min(a, b)`";
        t.advance();
        t.expect('(', HINT)?;
        let first = self.sum(t, depth + 1)?;
        t.expect(',', HINT)?;
        let second = self.sum(t, depth + 1)?;
        t.expect(')', HINT)?;
        Ok(Expr::Binary(op, Box::new(first), Box::new(second)))
    }

    /// The field that `name`, the next token, means here.
    pub(super) fn field(self, name: &str, t: &Tokens<'_>) -> Result<FieldId, Fault> {
        let message = match self.names.look_up(name) {
            Lookup::Field(id) => return Ok(id),
            Lookup::Broken => return Err(Fault::Consequence),
            Lookup::Hidden(Why::List) => {
                format!("`{name}` is a list: its `repeat` block has ended")
            }
            Lookup::Hidden(Why::Unordered) => {
                format!("`{name}` stands in another line of the same `unordered` block")
            }
            Lookup::Unknown => format!("`{name}` is not defined above"),
        };
        Err(t.error(message, "use a field that has one value above this place").into())
    }

    /// That all fields named in `expr` are integers.
    pub(super) fn check_integers(
        self,
        expr: &Expr,
        at: &TemplateError,
    ) -> Result<(), TemplateError> {
        let integer = |id: &FieldId| self.fields[*id].kind.dimension() == Some(Dimension::Integer);
        let Some(id) = expr.fields().into_iter().find(|id| !integer(id)) else { return Ok(()) };
        let name = self.fields[id].name.clone().unwrap_or_default();
        let message = format!("`{name}` is no integer, and arithmetic is on integers");
        Err(TemplateError { message, hint: OPERAND.to_owned(), ..at.clone() })
    }
}

/// That arithmetic on plain numbers alone has a value; the others are seen with a run.
pub(super) fn check_constant(expr: &Expr, at: &TemplateError) -> Result<(), TemplateError> {
    match expr.value(Scope { device: None, values: &[] }) {
        Ok(_) | Err(EvalError::Unread) => Ok(()),
        Err(error) => {
            let message = format!("the expression has no value: {error}");
            let hint = "change its numbers".to_owned();
            Err(TemplateError { message, hint, ..at.clone() })
        }
    }
}
