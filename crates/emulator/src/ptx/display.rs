//! Instructions as text, for messages.

use std::fmt;

use super::ast::{Base, Guard, Instruction, Operand, Reg, Register};

/// An instruction with the names of its function's registers.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    instruction: &'a Instruction,
    registers: &'a [Register],
}

impl Instruction {
    /// Shows it with the names of registers.
    pub fn shown<'a>(&'a self, registers: &'a [Register]) -> Shown<'a> {
        Shown { instruction: self, registers }
    }
}

/// Registers are shown by number.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown(&[]).fmt(f)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Guard { register, negated }) = self.instruction.guard {
            write!(f, "@{}{} ", if negated { "!" } else { "" }, self.reg(register))?;
        }
        f.write_str(&self.instruction.opcode)?;
        for modifier in &self.instruction.modifiers {
            write!(f, ".{modifier}")?;
        }
        if !self.instruction.operands.is_empty() {
            f.write_str(" ")?;
        }
        self.list(f, &self.instruction.operands)
    }
}

impl Shown<'_> {
    fn reg(&self, reg: Reg) -> String {
        match self.registers.get(reg.0 as usize) {
            Some(register) => register.name.clone(),
            None => format!("%{}", reg.0),
        }
    }

    fn half(&self, reg: Option<Reg>) -> String {
        reg.map_or_else(|| "_".to_owned(), |reg| self.reg(reg))
    }

    fn list(&self, f: &mut fmt::Formatter<'_>, operands: &[Operand]) -> fmt::Result {
        for (index, operand) in operands.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            self.operand(f, operand)?;
        }
        Ok(())
    }

    fn enclosed(
        &self,
        f: &mut fmt::Formatter<'_>,
        [open, close]: [&str; 2],
        operands: &[Operand],
    ) -> fmt::Result {
        f.write_str(open)?;
        self.list(f, operands)?;
        f.write_str(close)
    }

    fn operand(&self, f: &mut fmt::Formatter<'_>, operand: &Operand) -> fmt::Result {
        match operand {
            Operand::Reg(reg) => f.write_str(&self.reg(*reg)),
            Operand::Not(reg) => write!(f, "!{}", self.reg(*reg)),
            Operand::Pair(first, second) => {
                write!(f, "{}|{}", self.half(*first), self.half(*second))
            }
            Operand::Int(bits) => write!(f, "{}", bits.cast_signed()),
            Operand::F32(bits) => write!(f, "0f{bits:08X}"),
            Operand::F64(bits) => write!(f, "0d{bits:016X}"),
            Operand::Special(name) => f.write_str(name),
            Operand::Symbol { name, offset } => write!(f, "{name}{}", Offset(*offset)),
            Operand::Memory { base, offset } => self.memory(f, base, *offset),
            Operand::MemoryList(operands) => self.enclosed(f, ["[", "]"], operands),
            Operand::List(operands) if self.instruction.opcode == "call" => {
                self.enclosed(f, ["(", ")"], operands)
            }
            Operand::List(operands) => self.enclosed(f, ["{", "}"], operands),
            Operand::Selection(reg, part) => write!(f, "{}.{part}", self.reg(*reg)),
            Operand::Sink => f.write_str("_"),
        }
    }

    fn memory(&self, f: &mut fmt::Formatter<'_>, base: &Base, offset: i64) -> fmt::Result {
        match base {
            Base::Reg(reg) => write!(f, "[{}{}]", self.reg(*reg), Offset(offset)),
            Base::Symbol(name) => write!(f, "[{name}{}]", Offset(offset)),
            Base::None => write!(f, "[{offset}]"),
        }
    }
}

/// Nothing, or bytes with their sign.
struct Offset(i64);

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, "{:+}", self.0) }
    }
}
