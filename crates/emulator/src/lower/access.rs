//! `ld`, `st`, `atom` and `red`.

use super::form::{Element, Form};
use super::function::{Builder, Refused, unsupported};
use crate::lanes::{Row, Width};
use crate::program::{Atomic, AtomicOp, Load, Op, Order, Part, Scope, Space, Store};
use crate::ptx::ast::{Base, Instruction, Operand};

pub(crate) fn lower(
    builder: &mut Builder<'_, '_>,
    instruction: &Instruction,
) -> Result<(), Refused> {
    let mut form = Form::new(&instruction.modifiers);
    match instruction.opcode.as_str() {
        "ld" | "ldu" => load(builder, instruction, &mut form),
        "st" => store(builder, instruction, &mut form),
        _ => atomic(builder, instruction, &mut form),
    }
}

/// An address: its row, whether it has 64 bits, and what is added to it.
pub(crate) fn address(
    builder: &mut Builder<'_, '_>,
    operand: Option<&Operand>,
    text: &Instruction,
) -> Result<(Row, bool, i64), Refused> {
    match operand {
        Some(Operand::Memory { base: Base::Reg(register), offset }) => {
            let width = builder.width(*register);
            if !matches!(width, Width::B32 | Width::B64) {
                return unsupported(format!("`{text}`: an address of this width"));
            }
            Ok((builder.row(*register), width == Width::B64, *offset))
        }
        Some(Operand::Memory { base: Base::Symbol(name), offset }) => {
            Ok((builder.symbol(name, 0, Width::B64)?, true, *offset))
        }
        Some(Operand::Memory { base: Base::None, offset }) => {
            Ok((builder.constant(Width::B64, *offset as u64 as u128), true, 0))
        }
        _ => unsupported(format!("`{text}`: the address")),
    }
}

fn finish(form: &Form<'_>, text: &Instruction) -> Result<(), Refused> {
    match form.left() {
        None => Ok(()),
        Some(left) => unsupported(format!("`{text}`: `.{left}`")),
    }
}

/// Registers that memory is read into, or their constants that it is written from.
fn parts(
    builder: &mut Builder<'_, '_>,
    operand: Option<&Operand>,
    count: usize,
    element: Element,
    reading: bool,
) -> Result<Vec<Part>, Refused> {
    let one = std::slice::from_ref;
    let list = match operand {
        Some(Operand::List(list)) => list.as_slice(),
        Some(single) => one(single),
        None => &[],
    };
    if list.len() != count {
        return unsupported(format!("{} registers for a vector of {count}", list.len()));
    }
    let natural = match element.bytes {
        1 | 2 => Width::B16,
        4 => Width::B32,
        8 => Width::B64,
        _ => Width::B128,
    };
    let mut parts = Vec::with_capacity(count);
    for operand in list {
        parts.push(match operand {
            Operand::Sink if reading => Part { row: None, width: natural },
            Operand::Reg(register) => {
                Part { row: Some(builder.row(*register)), width: builder.width(*register) }
            }
            constant if !reading => {
                let float = match (element.letter, element.bytes) {
                    (b'f', 4) => Some(Width::B32),
                    (b'f', 8) => Some(Width::B64),
                    _ => None,
                };
                let slot = crate::alu::Slot { width: natural, float };
                Part { row: Some(builder.source_as(constant, slot)?), width: natural }
            }
            other => return unsupported(format!("loading into `{other:?}`")),
        });
    }
    Ok(parts)
}

/// Notes what an access means for how launches may be run.
fn note(builder: &mut Builder<'_, '_>, space: Space, order: Order, atomic: bool) {
    if !atomic && matches!(order, Order::Weak | Order::ReadOnly) {
        return;
    }
    builder.traits.schedule_dependent |= space != Space::Local;
    builder.traits.across_blocks |= space == Space::Global;
    builder.traits.perhaps_across |= space == Space::Generic;
}

fn load(
    builder: &mut Builder<'_, '_>,
    text: &Instruction,
    form: &mut Form<'_>,
) -> Result<(), Refused> {
    let param = ["param", "param::entry", "param::func"].map(|name| form.take(name));
    let space = form.space();
    let order = form.order();
    form.take_cache_hints();
    form.take("unified");
    let count = form.vector();
    let Some(element) = form.element() else { return unsupported(format!("`{text}`: its type")) };
    finish(form, text)?;
    let parts = parts(builder, text.operands.first(), count, element, true)?;
    let (bytes, signed) = (element.bytes, element.signed());
    if param.contains(&true) {
        let (base, offset) = param_address(builder, text.operands.get(1), text)?;
        builder.emit(Op::LoadParam { base, offset, bytes, signed, parts });
        return Ok(());
    }
    let (base, wide, offset) = address(builder, text.operands.get(1), text)?;
    let order = if text.opcode == "ldu" { Order::ReadOnly } else { order };
    note(builder, space, order, false);
    let load = Load { space, order, bytes, signed, base, wide, offset, parts, decides: false };
    builder.emit(Op::Load(Box::new(load)));
    Ok(())
}

fn param_address(
    builder: &mut Builder<'_, '_>,
    operand: Option<&Operand>,
    text: &Instruction,
) -> Result<(Option<Row>, u32), Refused> {
    match operand {
        Some(Operand::Memory { base: Base::Symbol(name), offset }) => {
            let Some(slot) = builder.params.find(name) else {
                return Err(builder.unknown(name, text.line).into());
            };
            let at = i64::from(slot.offset) + offset;
            match u32::try_from(at) {
                Ok(at) => Ok((None, at)),
                Err(_) => unsupported(format!("`{text}`: outside of the parameters")),
            }
        }
        Some(Operand::Memory { base: Base::Reg(register), offset }) => {
            let row = builder.row(*register);
            // The row's width is that of an address; the low half holds every offset.
            match u32::try_from(*offset) {
                Ok(offset) => Ok((Some(row), offset)),
                Err(_) => unsupported(format!("`{text}`: a negative offset into parameters")),
            }
        }
        _ => unsupported(format!("`{text}`: the address")),
    }
}

fn store(
    builder: &mut Builder<'_, '_>,
    text: &Instruction,
    form: &mut Form<'_>,
) -> Result<(), Refused> {
    let param = ["param", "param::func"].map(|name| form.take(name));
    let space = form.space();
    let order = form.order();
    form.take_cache_hints();
    let count = form.vector();
    let Some(element) = form.element() else { return unsupported(format!("`{text}`: its type")) };
    finish(form, text)?;
    let bytes = element.bytes;
    let parts = parts(builder, text.operands.get(1), count, element, false)?;
    if param.contains(&true) {
        let (base, offset) = param_address(builder, text.operands.first(), text)?;
        if base.is_some() {
            return unsupported(format!("`{text}`: a computed address"));
        }
        builder.emit(Op::StoreParam { offset, bytes, parts });
        return Ok(());
    }
    let (base, wide, offset) = address(builder, text.operands.first(), text)?;
    note(builder, space, order, false);
    let store = Store { space, order, bytes, base, wide, offset, parts };
    builder.emit(Op::Store(Box::new(store)));
    Ok(())
}

/// What an atomic computes, by its name and type.
fn atomic_op(form: &mut Form<'_>, element: Element) -> Option<AtomicOp> {
    let signed = element.signed();
    let name = form.take_any(&[
        ("and", "and"),
        ("or", "or"),
        ("xor", "xor"),
        ("exch", "exch"),
        ("cas", "cas"),
        ("add", "add"),
        ("inc", "inc"),
        ("dec", "dec"),
        ("min", "min"),
        ("max", "max"),
    ])?;
    let integer = matches!(element.letter, b'u' | b's' | b'b');
    Some(match (name, element.letter, element.bytes) {
        ("and", ..) => AtomicOp::And,
        ("or", ..) => AtomicOp::Or,
        ("xor", ..) => AtomicOp::Xor,
        ("exch", ..) => AtomicOp::Exchange,
        ("cas", ..) => AtomicOp::CompareSwap,
        ("inc", ..) => AtomicOp::Increment,
        ("dec", ..) => AtomicOp::Decrement,
        ("add", b'f', 2) => AtomicOp::AddF16,
        ("add", b'f', 4) if element.pair => AtomicOp::AddF16,
        ("add", b'g', _) => AtomicOp::AddBf16,
        ("add", b'f', 4) => AtomicOp::AddF32,
        ("add", b'f', 8) => AtomicOp::AddF64,
        ("add", ..) if integer => AtomicOp::Add,
        ("min", ..) if integer && signed => AtomicOp::MinSigned,
        ("min", ..) if integer => AtomicOp::MinUnsigned,
        ("max", ..) if integer && signed => AtomicOp::MaxSigned,
        ("max", ..) if integer => AtomicOp::MaxUnsigned,
        _ => return None,
    })
}

fn atomic(
    builder: &mut Builder<'_, '_>,
    text: &Instruction,
    form: &mut Form<'_>,
) -> Result<(), Refused> {
    let space = form.space();
    let order = match form.order() {
        Order::Weak => Order::Relaxed(Scope::Gpu),
        order => order,
    };
    form.take_cache_hints();
    form.take("noftz");
    let Some(element) = form.element() else { return unsupported(format!("`{text}`: its type")) };
    let Some(op) = atomic_op(form, element) else {
        return unsupported(format!("`{text}`: its operation"));
    };
    finish(form, text)?;
    let width = match element.bytes {
        2 => Width::B16,
        4 => Width::B32,
        8 => Width::B64,
        16 => Width::B128,
        _ => return unsupported(format!("`{text}`: its size")),
    };
    let mut operands = text.operands.iter();
    let result = match text.opcode.as_str() {
        "red" => None,
        _ => match operands.next() {
            Some(Operand::Reg(register)) => Some(builder.row(*register)),
            _ => None,
        },
    };
    let (base, wide, offset) = address(builder, operands.next(), text)?;
    let float = match (element.letter, width) {
        (b'f', Width::B32) if !element.pair => Some(Width::B32),
        (b'f', Width::B64) => Some(Width::B64),
        _ => None,
    };
    let slot = crate::alu::Slot { width, float };
    let Some(operand) = operands.next() else { return unsupported(format!("`{text}`")) };
    let operand = builder.source_as(operand, slot)?;
    let swap = match operands.next() {
        Some(swap) if op == AtomicOp::CompareSwap => builder.source_as(swap, slot)?,
        _ => Row(0),
    };
    note(builder, space, order, true);
    let bytes = element.bytes;
    let atomic = Atomic { op, space, order, bytes, base, wide, offset, result, operand, swap };
    builder.emit(Op::Atomic(Box::new(atomic)));
    Ok(())
}
