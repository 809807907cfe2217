//! Where variables and parameters lie.

use super::LowerError;
use crate::program::{Program, Slot};
use crate::ptx::ast;

/// Parameters of a kernel take at most this many bytes (PTX ISA 5.1.6.4).
const PARAM_BYTES_MAX: u64 = 32_764;

/// Addresses of functions start here: no memory is there.
const CODE_BASE: u64 = 0x10_0000;

/// The address that a pointer to a function holds.
pub fn function_address(index: usize) -> u64 {
    CODE_BASE + 16 * index as u64
}

/// The function that a pointer points to.
pub fn function_of_address(program: &Program, address: u64) -> Option<usize> {
    let past = address.checked_sub(CODE_BASE)?;
    let index = usize::try_from(past / 16).ok()?;
    (past.is_multiple_of(16) && index < program.functions.len()).then_some(index)
}

/// The size of a variable, if it can be told.
pub(crate) fn bytes_of(variable: &ast::Variable) -> Option<u64> {
    let elements = variable.dims.iter().try_fold(1u64, |all, extent| all.checked_mul(*extent));
    elements?.checked_mul(u64::from(variable.element_bytes))
}

/// The next multiple of an alignment.
pub(crate) fn align_up(offset: u64, align: u32) -> u64 {
    offset.next_multiple_of(u64::from(align.max(1)))
}

/// The parameter bytes of a frame, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParamLayout {
    pub(crate) slots: Vec<(String, Slot)>,
    formals: usize,
    results: usize,
    pub(crate) bytes: u32,
}

impl ParamLayout {
    /// Formal parameters, then return values.
    pub(crate) fn of(function: &ast::Function) -> Result<Self, LowerError> {
        let mut layout = Self::default();
        for variable in &function.prototype.params {
            layout.add(function, variable)?;
        }
        layout.formals = layout.slots.len();
        for variable in &function.prototype.returns {
            layout.add(function, variable)?;
        }
        layout.results = layout.slots.len() - layout.formals;
        Ok(layout)
    }

    /// One more, after all others.
    pub(crate) fn add(
        &mut self,
        function: &ast::Function,
        variable: &ast::Variable,
    ) -> Result<(), LowerError> {
        let size = bytes_of(variable).unwrap_or(u64::MAX);
        let offset = align_up(u64::from(self.bytes), variable.align);
        let end = offset.saturating_add(size);
        // Parameters declared for calls come on top of the formal ones.
        if end > 64 * PARAM_BYTES_MAX {
            let function = function.name.clone();
            return Err(LowerError::Parameters { function, bytes: end });
        }
        let (offset, bytes) = (offset as u32, size as u32);
        self.slots.push((variable.name.clone(), Slot { offset, bytes }));
        self.bytes = end as u32;
        Ok(())
    }

    pub(crate) fn find(&self, name: &str) -> Option<Slot> {
        self.slots.iter().rev().find(|(own, _)| own == name).map(|(_, slot)| *slot)
    }

    pub(crate) fn params(&self) -> Vec<Slot> {
        self.slots[..self.formals].iter().map(|(_, slot)| *slot).collect()
    }

    pub(crate) fn returns(&self) -> Vec<Slot> {
        self.slots[self.formals..][..self.results].iter().map(|(_, slot)| *slot).collect()
    }
}

/// Where a kernel's shared variables lie.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SharedLayout {
    /// Offset of each variable of the program; `None` for those that the kernel doesn't use.
    pub offsets: Vec<Option<u32>>,
    /// Bytes of the static part.
    pub static_bytes: u32,
    /// Where the dynamic part begins.
    pub dynamic_at: u32,
}

impl SharedLayout {
    /// Of a kernel and all that it may call.
    pub fn of(program: &Program, kernel: usize) -> Self {
        let mut used = vec![false; program.shared.len()];
        let indirect = program.traits(kernel).indirect_calls;
        for function in program.reachable(kernel) {
            for variable in &program.functions[function].shared {
                used[*variable] = true;
            }
        }
        if indirect {
            for function in program.functions.iter().filter(|function| !function.entry) {
                for variable in &function.shared {
                    used[*variable] = true;
                }
            }
        }
        let mut offsets = vec![None; program.shared.len()];
        let mut end = 0u64;
        for (index, variable) in program.shared.iter().enumerate() {
            if used[index] && !variable.dynamic {
                let at = align_up(end, variable.align);
                offsets[index] = u32::try_from(at).ok();
                end = at + u64::from(variable.bytes);
            }
        }
        let static_bytes = u32::try_from(end).unwrap_or(u32::MAX);
        let dynamic = program.shared.iter().enumerate().filter(|(_, v)| v.dynamic);
        let align = dynamic.clone().map(|(_, variable)| variable.align).max().unwrap_or(16);
        let dynamic_at = u32::try_from(align_up(end, align)).unwrap_or(u32::MAX);
        for (index, _) in dynamic {
            offsets[index] = used[index].then_some(dynamic_at);
        }
        Self { offsets, static_bytes, dynamic_at }
    }
}
