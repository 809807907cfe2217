//! Integer expressions of derived fields: `min(2 * sm_count, 4097)`.
//!
//! **Invariant: evaluation is exact or an error, never a wrapped or rounded number.** The parser
//! builds an [`Expr`] from names that are defined above it; the matcher evaluates it against one
//! run.

use super::field::{Fact, FieldId};
use super::reader::Known;
use crate::decimal::Decimal;

/// An integer expression, its names resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A number as written.
    Integer(i128),
    /// A device fact that is an integer.
    Fact(Fact),
    /// An earlier field, as an index into the template's fields.
    Field(usize),
    /// An operation on two of them.
    Binary(Op, Box<Expr>, Box<Expr>),
}

/// The operations. Division rounds down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`, rounded down
    Div,
    /// `a % b`, what `/` leaves
    Rem,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
    /// `ceil_div(a, b)`, rounded up
    CeilDiv,
}

/// Why an expression has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// It needs a field that could not be read; that field has its own mismatch.
    #[error("a field that it needs could not be read")]
    Unread,
    /// A value beyond the limits of [`Decimal`].
    #[error("the arithmetic overflows")]
    Overflow,
    /// A division by zero.
    #[error("it divides by zero")]
    DivisionByZero,
}

/// What an expression is evaluated against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) device: Option<Known<'a>>,
    /// The latest value of each field.
    pub(super) values: &'a [Option<Decimal>],
}

impl Expr {
    /// Its value, which fits a [`Decimal`].
    pub(super) fn value(&self, scope: Scope<'_>) -> Result<Decimal, EvalError> {
        Decimal::new(self.eval(scope)?, 0).ok_or(EvalError::Overflow)
    }

    fn eval(&self, scope: Scope<'_>) -> Result<i128, EvalError> {
        match self {
            Self::Integer(value) => Ok(*value),
            Self::Fact(fact) => {
                let value = scope.device.and_then(|device| device.integer(*fact));
                value.map(i128::from).ok_or(EvalError::Unread)
            }
            Self::Field(id) => {
                let value = scope.values.get(*id).copied().flatten();
                value.map(Decimal::mantissa).ok_or(EvalError::Unread)
            }
            Self::Binary(op, left, right) => op.apply(left.eval(scope)?, right.eval(scope)?),
        }
    }

    /// Whether any part of it satisfies `test`.
    pub(super) fn any(&self, test: &dyn Fn(&Expr) -> bool) -> bool {
        let inner = || match self {
            Self::Binary(_, left, right) => left.any(test) || right.any(test),
            _ => false,
        };
        test(self) || inner()
    }

    /// The fields that it names.
    pub(super) fn fields(&self) -> Vec<FieldId> {
        match self {
            Self::Field(id) => vec![*id],
            Self::Binary(_, left, right) => [left.fields(), right.fields()].concat(),
            Self::Integer(_) | Self::Fact(_) => Vec::new(),
        }
    }
}

impl Op {
    fn apply(self, a: i128, b: i128) -> Result<i128, EvalError> {
        let divides = matches!(self, Self::Div | Self::Rem | Self::CeilDiv);
        if divides && b == 0 {
            return Err(EvalError::DivisionByZero);
        }
        let value = match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Div => floor_div(a, b),
            Self::Rem => floor_div(a, b).and_then(|q| a.checked_sub(q.checked_mul(b)?)),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
            Self::CeilDiv => {
                floor_div(a, b).and_then(|q| q.checked_add(i128::from(q.checked_mul(b)? != a)))
            }
        };
        value.ok_or(EvalError::Overflow)
    }

    /// The function of this name.
    pub(super) fn function(name: &str) -> Option<Self> {
        match name {
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            "ceil_div" => Some(Self::CeilDiv),
            _ => None,
        }
    }
}

fn floor_div(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let rounded_up = a % b != 0 && (a < 0) != (b < 0);
    quotient.checked_sub(i128::from(rounded_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_rounds_down_and_ceil_div_up() {
        // Every sign, whole and not: floor and ceiling as defined on the rationals.
        let table = [
            (7, 2, 3, 1, 4),
            (-7, 2, -4, 1, -3),
            (7, -2, -4, -1, -3),
            (-7, -2, 3, -1, 4),
            (6, 2, 3, 0, 3),
            (-6, 2, -3, 0, -3),
            (0, 5, 0, 0, 0),
        ];
        for (a, b, floor, rest, ceiling) in table {
            assert_eq!(Op::Div.apply(a, b), Ok(floor), "{a} / {b}");
            assert_eq!(Op::Rem.apply(a, b), Ok(rest), "{a} % {b}");
            assert_eq!(Op::CeilDiv.apply(a, b), Ok(ceiling), "ceil {a} / {b}");
        }
    }

    #[test]
    fn overflow_and_division_by_zero_are_errors() {
        for op in [Op::Div, Op::Rem, Op::CeilDiv] {
            assert_eq!(op.apply(1, 0), Err(EvalError::DivisionByZero));
            assert_eq!(op.apply(i128::MIN, -1), Err(EvalError::Overflow));
        }
        for (op, a, b) in [
            (Op::Add, i128::MAX, 1),
            (Op::Sub, i128::MIN, 1),
            (Op::Mul, i128::MAX, 2),
            (Op::Mul, i128::MIN, -1),
        ] {
            assert_eq!(op.apply(a, b), Err(EvalError::Overflow), "{op:?}");
        }
        let scope = Scope { device: None, values: &[None] };
        assert_eq!(Expr::Field(0).value(scope), Err(EvalError::Unread));
        assert_eq!(Expr::Fact(Fact::SmCount).value(scope), Err(EvalError::Unread));
        assert_eq!(Expr::Integer(10_i128.pow(26)).value(scope), Err(EvalError::Overflow));
    }
}
