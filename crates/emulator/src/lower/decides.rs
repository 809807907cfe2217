//! Which loads decide branches: a thread that waits for a flag synchronises by it, one that adds up
//! what others wrote does not.

use crate::lanes::Row;
use crate::program::{Instr, Op};

/// Marks the loads whose values take part in deciding a branch.
pub(crate) fn mark(code: &mut [Instr], units: u32) {
    let mut deciding = vec![false; units as usize];
    for instr in code.iter() {
        if let Op::Branch(branch) = &instr.op {
            let rows = instr.guard.map(|guard| guard.row).into_iter().chain(branch.index);
            rows.for_each(|row| deciding[row.0 as usize] = true);
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for instr in code.iter().rev() {
            let (sources, results) = flow(&instr.op);
            if results.iter().any(|row| deciding[row.0 as usize]) {
                for row in sources {
                    changed |=
                        row.0 != 0 && !std::mem::replace(&mut deciding[row.0 as usize], true);
                }
            }
        }
    }
    for instr in code {
        if let Op::Load(load) = &mut instr.op {
            let mut rows = load.parts.iter().filter_map(|part| part.row);
            load.decides = rows.any(|row| deciding[row.0 as usize]);
        }
    }
}

fn flow(op: &Op) -> (Vec<Row>, Vec<Row>) {
    match op {
        Op::Compute(_, rows) => {
            let results = [rows.d, rows.e].into_iter().filter(|row| row.0 != 0).collect();
            (vec![rows.a, rows.b, rows.c, rows.f], results)
        }
        Op::Pack { d, parts, .. } => (parts.clone(), vec![*d]),
        Op::Unpack { a, parts, .. } => (vec![*a], parts.iter().flatten().copied().collect()),
        _ => (Vec::new(), Vec::new()),
    }
}
