//! Vector `mov`, and conversions between kinds of addresses.

use super::form::Form;
use super::function::{Builder, Refused, unsupported, width_of_bits};
use crate::lanes::Width;
use crate::program::{Op, Space};
use crate::ptx::ast::{Instruction, Operand};

/// Whether a `mov` packs or unpacks.
pub(crate) fn is_special(_: &Builder<'_, '_>, instruction: &Instruction) -> bool {
    instruction.operands.iter().any(|operand| matches!(operand, Operand::List(_)))
}

/// Bits of the type in a `mov`'s modifiers.
fn bits(instruction: &Instruction) -> Option<u32> {
    instruction.modifiers.iter().find_map(|name| name.get(1..)?.parse().ok())
}

/// The width of one of `count` parts of a scalar.
fn part_width(instruction: &Instruction, count: usize) -> Result<Width, Refused> {
    let bits = bits(instruction).unwrap_or(0);
    let part = bits / u32::try_from(count.max(1)).unwrap_or(1);
    match part {
        16 | 32 | 64 => Ok(width_of_bits(part)),
        // Four bytes of a word are kept in 16-bit rows; the operation would need to know.
        _ => unsupported(format!("`{instruction}`")),
    }
}

pub(crate) fn lower_mov(
    builder: &mut Builder<'_, '_>,
    instruction: &Instruction,
) -> Result<(), Refused> {
    match instruction.operands.as_slice() {
        [Operand::List(parts), source] => {
            let part = part_width(instruction, parts.len())?;
            let whole = width_of_bits(bits(instruction).unwrap_or(0));
            let a = builder.source(source, whole)?;
            let mut rows = Vec::with_capacity(parts.len());
            for operand in parts {
                rows.push(match operand {
                    Operand::Reg(register) => Some(builder.row(*register)),
                    Operand::Sink => None,
                    _ => return unsupported(format!("`{instruction}`")),
                });
            }
            builder.emit(Op::Unpack { a, part, parts: rows });
            Ok(())
        }
        [Operand::Reg(register), Operand::List(parts)] => {
            let part = part_width(instruction, parts.len())?;
            let d = builder.row(*register);
            let mut rows = Vec::with_capacity(parts.len());
            for operand in parts {
                rows.push(builder.source(operand, part)?);
            }
            builder.emit(Op::Pack { d, part, parts: rows });
            Ok(())
        }
        _ => unsupported(format!("`{instruction}`")),
    }
}

pub(crate) fn lower_address(
    builder: &mut Builder<'_, '_>,
    instruction: &Instruction,
) -> Result<(), Refused> {
    let mut form = Form::new(&instruction.modifiers);
    let from_generic = form.take("to");
    let param = form.take("param") || form.take("param::entry");
    let space = if param { Space::Param } else { form.space() };
    let wide = !form.take("u32");
    form.take("u64");
    if let Some(left) = form.left() {
        return unsupported(format!("`{instruction}`: `.{left}`"));
    }
    let (Some(Operand::Reg(register)), Some(source)) =
        (instruction.operands.first(), instruction.operands.get(1))
    else {
        return unsupported(format!("`{instruction}`"));
    };
    let d = builder.row(*register);
    let width = match source {
        Operand::Reg(register) => builder.width(*register),
        _ => Width::B64,
    };
    let a = builder.source(source, width)?;
    if instruction.opcode == "isspacep" {
        if width != Width::B64 {
            return unsupported(format!("`{instruction}`: addresses of 32 bits"));
        }
        builder.emit(Op::IsSpace { d, a, space });
    } else {
        builder.emit(Op::Convert { d, a, space, from_generic, wide });
    }
    Ok(())
}
