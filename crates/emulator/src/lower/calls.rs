//! `call`: of functions of the module, through pointers, and of the system's functions.

use super::function::{Builder, Refused, unsupported};
use crate::lanes::Width;
use crate::program::{Call, Callee, Op, Slot};
use crate::ptx::ast::{Instruction, Operand};

/// Functions that the device's own system has.
const SYSTEM: &[&str] = &["vprintf", "malloc", "free", "__assertfail", "__nv_cuda_cnp_dummy"];

pub(crate) fn lower(builder: &mut Builder<'_, '_>, text: &Instruction) -> Result<(), Refused> {
    let (results, target, arguments) = pieces(text)?;
    let results = slots(builder, results, text)?;
    let arguments = slots(builder, arguments, text)?;
    let callee = match target {
        Operand::Reg(register) => {
            if builder.width(*register) != Width::B64 {
                return unsupported(format!("`{text}`: a pointer of 32 bits"));
            }
            builder.traits.indirect_calls = true;
            Callee::Pointer(builder.row(*register))
        }
        Operand::Symbol { name, .. } => named(builder, name, text)?,
        _ => return unsupported(format!("`{text}`")),
    };
    builder.emit(Op::Call(Box::new(Call { callee, arguments, results })));
    builder.emit_unguarded(Op::Join);
    Ok(())
}

fn named(builder: &mut Builder<'_, '_>, name: &str, text: &Instruction) -> Result<Callee, Refused> {
    let Some(index) = builder.shared.function(name) else {
        return Err(builder.unknown(name, text.line).into());
    };
    if builder.shared.module.functions[index].body.is_some() {
        if !builder.callees.contains(&index) {
            builder.callees.push(index);
        }
        return Ok(Callee::Function(index));
    }
    if SYSTEM.contains(&name) {
        return Ok(Callee::System(name.to_owned()));
    }
    unsupported(format!("a call of `{name}`, which has no body here"))
}

type Pieces<'a> = (&'a [Operand], &'a Operand, &'a [Operand]);

/// Results, target, arguments. A lone list after the target is the arguments.
fn pieces(text: &Instruction) -> Result<Pieces<'_>, Refused> {
    match text.operands.as_slice() {
        [Operand::List(results), target, Operand::List(arguments), ..] => {
            Ok((results, target, arguments))
        }
        [target, Operand::List(arguments), ..] => Ok((&[], target, arguments)),
        [Operand::List(results), target] => Ok((results, target, &[])),
        [target] => Ok((&[], target, &[])),
        _ => unsupported(format!("`{text}`")),
    }
}

fn slots(
    builder: &Builder<'_, '_>,
    operands: &[Operand],
    text: &Instruction,
) -> Result<Vec<Slot>, Refused> {
    let mut slots = Vec::with_capacity(operands.len());
    for operand in operands {
        let Operand::Symbol { name, .. } = operand else {
            return unsupported(format!("`{text}`: an argument in a register"));
        };
        let Some(slot) = builder.params.find(name) else {
            return Err(builder.unknown(name, text.line).into());
        };
        slots.push(slot);
    }
    Ok(slots)
}
