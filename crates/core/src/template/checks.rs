//! What the numbers of a line must be: exact values, bounds, ratios and rates.
//!
//! **Invariant: a value that could not be read is never checked in silence**; its own mismatch
//! stands already.

use super::expr::{EvalError, Expr, Scope};
use super::field::{Field, FieldKind};
use super::line::{LineFault, Token};
use super::mismatch::Reason;
use super::reader::Known;
use super::rounding::{Quantity, follows, shown};
use crate::decimal::Decimal;

/// Checks the numbers of one line in order, each against those before it, and enters them into
/// `values`.
pub(super) fn check(
    tokens: &[Token],
    fields: &[Field],
    device: Known<'_>,
    values: &mut [Option<Decimal>],
) -> Vec<LineFault> {
    let mut faults = Vec::new();
    for token in tokens {
        let field = &fields[token.field];
        if field.is_measured() && !device.measures {
            values[token.field] = Some(token.value);
            continue;
        }
        let scope = Scope { device: Some(device), values };
        let mut fault = |reason, must: String| {
            let source = &field.source;
            let (text, column) = (&token.text, token.column);
            let detail = format!("`{{{source}}}` {must}; column {column} has `{text}`");
            faults.push(LineFault { reason, detail });
        };
        if let Some((reason, must)) = relation(field, token.value, scope, fields) {
            fault(reason, must);
        }
        if let Some(bounds) = field.bounds.filter(|bounds| !bounds.contain(token.value)) {
            let must = format!("must be from {} to {}", bounds.low, bounds.high);
            fault(Reason::Bounds, must);
        }
        values[token.field] = Some(token.value);
    }
    faults
}

/// What the value should be, where it follows from others and is not that.
fn relation(
    field: &Field,
    value: Decimal,
    scope: Scope<'_>,
    fields: &[Field],
) -> Option<(Reason, String)> {
    match &field.kind {
        FieldKind::Count | FieldKind::Duration { .. } => None,
        FieldKind::Fact(fact) => exactly(value, &Expr::Fact(*fact), scope),
        FieldKind::Derived(expr) => exactly(value, expr, scope),
        FieldKind::Ratio { decimals, numerator, denominator } => {
            let printed = |id: usize| scope.values[id].map(|value| (&fields[id], value));
            let (top, top_value) = printed(*numerator)?;
            let (bottom, bottom_value) = printed(*denominator)?;
            let above = Quantity::of(top, top_value);
            quotient(value, *decimals, above, Quantity::of(bottom, bottom_value))
        }
        FieldKind::Rate { decimals, bytes, duration } => {
            let bytes = match bytes.value(scope) {
                Ok(bytes) => bytes,
                Err(error) => return no_value(error),
            };
            let time = Quantity::of(&fields[*duration], scope.values[*duration]?);
            // 1e9 bytes a second.
            quotient(value, *decimals, Quantity::exact(bytes, 9), time)
        }
    }
}

fn exactly(value: Decimal, expr: &Expr, scope: Scope<'_>) -> Option<(Reason, String)> {
    match expr.value(scope) {
        Ok(right) if right == value => None,
        Ok(right) => Some((Reason::Field, format!("must be {right}"))),
        Err(error) => no_value(error),
    }
}

fn no_value(error: EvalError) -> Option<(Reason, String)> {
    match error {
        EvalError::Unread => None,
        error => Some((Reason::Expression, format!("has no value: {error}"))),
    }
}

fn quotient(
    value: Decimal,
    decimals: u32,
    above: Option<Quantity>,
    below: Option<Quantity>,
) -> Option<(Reason, String)> {
    let (Some(above), Some(below)) = (above, below) else {
        let must = "divides a negative number, which no ratio or rate does".to_owned();
        return Some((Reason::Ratio, must));
    };
    if follows(value, above, below) {
        return None;
    }
    let must = format!("must follow from the printed numbers, which give {}", {
        shown(above, below, decimals)
    });
    Some((Reason::Ratio, must))
}
