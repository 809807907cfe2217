//! Operands: each becomes a row.

use super::function::{Builder, Refused, unsupported};
use super::layout::function_address;
use crate::alu;
use crate::lanes::{Row, Width};
use crate::program::{Clock, Op, PresetValue, Special};
use crate::ptx::ast::{self, Operand, StateSpace};

impl Builder<'_, '_> {
    /// The widths of operands' registers; a pair counts as two.
    pub(super) fn widths(&self, operands: &[Operand]) -> Vec<Option<Width>> {
        let mut widths = Vec::with_capacity(operands.len() + 1);
        for operand in operands {
            match operand {
                Operand::Reg(register) | Operand::Not(register) => {
                    widths.push(Some(self.width(*register)));
                }
                Operand::Pair(d, e) => {
                    widths.push(d.map(|register| self.width(register)));
                    widths.push(e.map(|register| self.width(register)));
                }
                _ => widths.push(None),
            }
        }
        widths
    }

    /// A source of plain bits.
    pub(crate) fn source(&mut self, operand: &Operand, width: Width) -> Result<Row, Refused> {
        self.source_as(operand, alu::Slot { width, float: None })
    }

    /// The row of a source operand.
    pub(crate) fn source_as(&mut self, operand: &Operand, slot: alu::Slot) -> Result<Row, Refused> {
        match operand {
            Operand::Reg(register) => Ok(self.row(*register)),
            Operand::Not(register) => self.negated(*register),
            Operand::Int(bits) => match slot.float {
                // An integer in place of a float is its value, as ptxas reads it.
                Some(Width::B32) => {
                    let value = (*bits as i64) as f32;
                    Ok(self.constant(slot.width, u128::from(value.to_bits())))
                }
                Some(Width::B64) => {
                    let value = (*bits as i64) as f64;
                    Ok(self.constant(slot.width, u128::from(value.to_bits())))
                }
                _ => Ok(self.constant(slot.width, u128::from(*bits))),
            },
            Operand::F32(bits) => Ok(self.constant(slot.width, u128::from(*bits))),
            Operand::F64(bits) => {
                let narrow = slot.float == Some(Width::B32) && slot.width == Width::B32;
                let bits = if narrow {
                    u128::from((f64::from_bits(*bits) as f32).to_bits())
                } else {
                    u128::from(*bits)
                };
                Ok(self.constant(slot.width, bits))
            }
            Operand::Special(name) => self.special(name, slot.width),
            Operand::Symbol { name, offset } => self.symbol(name, *offset, slot.width),
            other => unsupported(format!("the operand `{other:?}`")),
        }
    }

    fn negated(&mut self, register: ast::Reg) -> Result<Row, Refused> {
        let a = self.row(register);
        let d = self.new_row(Width::Pred);
        let widths = [Some(Width::Pred), Some(Width::Pred)];
        match alu::select("not", &["pred".to_owned()], &widths) {
            Ok(Some(form)) => {
                let rows = alu::Rows { d, a, ..alu::Rows::default() };
                self.emit_unguarded(Op::Compute(form.compute, rows));
                Ok(d)
            }
            _ => unsupported("a negated predicate"),
        }
    }

    /// The row of a special register; a clock is read into a row of its own.
    pub(crate) fn special(&mut self, name: &str, width: Width) -> Result<Row, Refused> {
        if let Some(special) = Special::by_name(name) {
            return Ok(self.preset(width, PresetValue::Special(special)));
        }
        if name == "WARP_SZ" {
            return Ok(self.constant(width, 32));
        }
        if let Some(clock) = Clock::by_name(name) {
            let d = self.new_row(width);
            self.emit(Op::Clock(clock, d));
            return Ok(d);
        }
        unsupported(format!("the special register `{name}`"))
    }

    /// The row of a variable's or function's address.
    pub(crate) fn symbol(&mut self, name: &str, offset: i64, width: Width) -> Result<Row, Refused> {
        if let Some((_, index)) = self.own_shared.iter().find(|(own, _)| own == name) {
            let index = *index;
            return Ok(self.preset(width, PresetValue::Shared(index, offset)));
        }
        if let Some((_, at)) = self.locals.iter().find(|(own, _)| own == name) {
            let at = (i64::from(*at) + offset) as u32;
            return Ok(self.preset(width, PresetValue::Local(at)));
        }
        if let Some(slot) = self.params.find(name) {
            let at = i64::from(slot.offset) + offset;
            return Ok(self.constant(width, at as u128));
        }
        let global = self.shared.module.variables.iter().find(|variable| variable.name == name);
        if global.is_some_and(|variable| variable.space == StateSpace::Shared) {
            let index = self.shared.shared.iter().position(|variable| variable.name == name);
            if let Some(index) = index {
                if !self.used_shared.contains(&index) {
                    self.used_shared.push(index);
                }
                return Ok(self.preset(width, PresetValue::Shared(index, offset)));
            }
        }
        if let Some(address) = (self.shared.addresses)(name) {
            return Ok(self.constant(width, u128::from(address.wrapping_add_signed(offset))));
        }
        if let Some(index) = self.shared.function(name) {
            return Ok(self.constant(width, u128::from(function_address(index))));
        }
        Err(self.unknown(name, self.places.last().map_or(0, |place| place.ptx_line)).into())
    }
}
