//! Which registers a clock decides: they change while a loop does nothing but wait.

use crate::lanes::Row;
use crate::program::{Instr, Op};

/// Ranges of units that hold nothing computed from a clock.
///
/// `widths` tells by its first unit how many units a row has.
pub(crate) fn ranges(code: &[Instr], widths: &[u8]) -> Vec<(u32, u32)> {
    let units = widths.len() as u32;
    let mut clocked = vec![false; widths.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for instr in code {
            let (sources, results) = flow(&instr.op);
            let decided = match sources {
                None => true,
                Some(sources) => {
                    sources.iter().any(|row| row.0 != 0 && clocked[row.0 as usize])
                        || instr.guard.is_some_and(|guard| clocked[guard.row.0 as usize])
                }
            };
            if decided {
                changed |= mark(&mut clocked, widths, &results);
            }
        }
    }
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for unit in (0..units).filter(|unit| !clocked[*unit as usize]) {
        match ranges.last_mut() {
            Some((_, end)) if *end == unit => *end += 1,
            _ => ranges.push((unit, unit + 1)),
        }
    }
    ranges
}

/// Sources and results; no sources means that a clock is read.
fn flow(op: &Op) -> (Option<Vec<Row>>, Vec<Row>) {
    match op {
        Op::Compute(_, rows) => {
            let results = [rows.d, rows.e].into_iter().filter(|row| row.0 != 0).collect();
            (Some(vec![rows.a, rows.b, rows.c, rows.f]), results)
        }
        Op::Clock(_, row) => (None, vec![*row]),
        Op::Pack { d, parts, .. } => (Some(parts.clone()), vec![*d]),
        Op::Unpack { a, parts, .. } => (Some(vec![*a]), parts.iter().flatten().copied().collect()),
        _ => (Some(Vec::new()), Vec::new()),
    }
}

/// Marks the units of rows. Whether any is new.
fn mark(clocked: &mut [bool], widths: &[u8], rows: &[Row]) -> bool {
    let mut changed = false;
    for row in rows {
        let first = row.0 as usize;
        changed |= !clocked[first];
        clocked[first..first + usize::from(widths[first])].fill(true);
    }
    changed
}
