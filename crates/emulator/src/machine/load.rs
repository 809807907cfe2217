//! Loading a module: its variables get memory, its code is lowered.

use std::collections::HashMap;
use std::sync::Arc;

use super::{KernelFacts, Loaded, Machine, ModuleId};
use crate::lower::{self, SharedLayout, function_address};
use crate::memory::SymbolSpace;
use crate::program::Program;
use crate::ptx::ast::{self, Init, StateSpace};

/// Why a module can't be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The text is no PTX that is known here.
    #[error("the PTX can't be read: {0}")]
    Parse(String),
    /// A name or a size.
    #[error(transparent)]
    Lower(#[from] lower::LowerError),
    /// No room for its variables.
    #[error("no memory for the variable `{name}` of {bytes} bytes")]
    Memory {
        /// The variable.
        name: String,
        /// Its size.
        bytes: u64,
    },
}

impl Machine {
    /// Loads PTX.
    ///
    /// # Errors
    /// If the text can't be read, names what isn't there, or needs more memory than there is. An
    /// instruction that is not emulated is no error here.
    pub fn load(&mut self, ptx: &str) -> Result<ModuleId, LoadError> {
        let module = crate::ptx::parse(ptx).map_err(|error| LoadError::Parse(error.to_string()))?;
        let symbols = self.define_variables(&module)?;
        let by_name: HashMap<&str, u64> =
            symbols.iter().map(|(name, address, _)| (name.as_str(), *address)).collect();
        let program = lower::lower(&module, &|name| by_name.get(name).copied())?;
        self.initialise(&module, &by_name);
        let facts = (0..program.functions.len()).map(|index| facts(&program, &module, index));
        let facts = facts.collect();
        self.modules.push(Loaded { program: Arc::new(program), facts, symbols });
        Ok(ModuleId(self.modules.len() - 1))
    }

    fn define_variables(
        &mut self,
        module: &ast::Module,
    ) -> Result<Vec<(String, u64, u64)>, LoadError> {
        let inner = module.functions.iter().filter_map(|function| function.body.as_ref());
        let inner = inner.flat_map(|body| &body.variables);
        let mut symbols: Vec<(String, u64, u64)> = Vec::new();
        for variable in module.variables.iter().chain(inner) {
            let space = match variable.space {
                StateSpace::Global if variable.managed => SymbolSpace::Managed,
                StateSpace::Global => SymbolSpace::Global,
                StateSpace::Const => SymbolSpace::Const,
                StateSpace::Shared | StateSpace::Local | StateSpace::Param => continue,
            };
            if symbols.iter().any(|(name, ..)| *name == variable.name) {
                continue;
            }
            let bytes = lower::bytes_of(variable).unwrap_or(u64::MAX);
            let name = crate::exec::variable_name(&variable.name);
            let (align, element) = (u64::from(variable.align), variable.element_bytes);
            let address = self.memory.define_symbol(&name, space, bytes, align, element, &[]);
            let Some(address) = address else {
                return Err(LoadError::Memory { name: variable.name.clone(), bytes });
            };
            symbols.push((variable.name.clone(), address, bytes));
        }
        Ok(symbols)
    }

    /// Writes initial values, now that every address is known.
    fn initialise(&mut self, module: &ast::Module, addresses: &HashMap<&str, u64>) {
        let inner = module.functions.iter().filter_map(|function| function.body.as_ref());
        let inner = inner.flat_map(|body| &body.variables);
        for variable in module.variables.iter().chain(inner) {
            let Some(at) = addresses.get(variable.name.as_str()) else { continue };
            if variable.init.is_empty() {
                continue;
            }
            let bytes = initial_bytes(module, variable, addresses);
            // The variable was defined with at least this size: only a longer initialiser, which
            // the parser refuses, could fail.
            let limit = lower::bytes_of(variable).unwrap_or(0) as usize;
            let _ = self.memory.write(*at, &bytes[..bytes.len().min(limit)]);
        }
    }
}

fn initial_bytes(
    module: &ast::Module,
    variable: &ast::Variable,
    addresses: &HashMap<&str, u64>,
) -> Vec<u8> {
    let size = variable.element_bytes as usize;
    let mut bytes = Vec::with_capacity(variable.init.len() * size);
    for init in &variable.init {
        let value = match init {
            Init::Bits(bits) => *bits,
            Init::Address { name, offset, byte, .. } => {
                let function = || lower::function_index(module, name).map(function_address);
                let address = addresses.get(name.as_str()).copied().or_else(function);
                let address = address.unwrap_or(0).wrapping_add_signed(*offset);
                byte.map_or(address, |byte| address >> (8 * u32::from(byte)) & 0xff)
            }
        };
        let mut wide = [0u8; 16];
        wide[..8].copy_from_slice(&value.to_le_bytes());
        bytes.extend_from_slice(&wide[..size.min(16)]);
    }
    bytes
}

/// Registers that a thread would hold at least, by their declaration: PTX has as many as it likes,
/// so this is no more than a plausible number for programs that ask.
fn registers(module: &ast::Module, index: usize) -> u32 {
    let body = module.functions[index].body.as_ref();
    let declared: u64 = body.map_or(0, |body| {
        body.registers.iter().map(|register| u64::from(register.bits.div_ceil(32))).sum()
    });
    u32::try_from((declared / 3).clamp(16, 64)).unwrap_or(64)
}

fn facts(program: &Program, module: &ast::Module, index: usize) -> KernelFacts {
    let function = &program.functions[index];
    let local = program.reachable(index).into_iter().map(|f| program.functions[f].local_bytes);
    let constants = module.variables.iter().filter(|v| v.space == StateSpace::Const);
    let const_bytes: u64 = constants.filter_map(lower::bytes_of).sum();
    let end = function.params.iter().map(|slot| slot.offset + slot.bytes).max();
    KernelFacts {
        name: function.name.clone(),
        params: function.params.iter().map(|slot| (slot.offset, slot.bytes)).collect(),
        param_bytes: end.unwrap_or(0),
        static_shared_bytes: SharedLayout::of(program, index).static_bytes,
        local_bytes: local.sum(),
        const_bytes: u32::try_from(const_bytes).unwrap_or(u32::MAX),
        registers: registers(module, index),
        max_threads: function.max_threads.unwrap_or(1024).min(1024),
    }
}
