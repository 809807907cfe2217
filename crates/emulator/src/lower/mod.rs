//! From a module as written to a program that runs: names, forms and labels are resolved here.

mod access;
mod calls;
mod data;
mod decides;
mod flow;
mod form;
mod function;
mod layout;
mod operands;
mod places;
mod steady;
mod sync;

use crate::program::{Function, Program, SharedVariable, Traits};
use crate::ptx::ast;

pub(crate) use layout::bytes_of;
pub use layout::{SharedLayout, function_address, function_of_address};

/// Why a module can't be lowered at all. An instruction that isn't known is no such error: it
/// becomes an operation that says so when it is reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// A name that nothing declares.
    #[error("line {line} of the PTX names `{name}`, which nothing declares")]
    UnknownName {
        /// The name.
        name: String,
        /// The line.
        line: u32,
    },
    /// Parameters that no launch can carry.
    #[error(
        "the parameters of `{function}` take {bytes} bytes; 32,764 is the most (PTX ISA 5.1.6)"
    )]
    Parameters {
        /// The function.
        function: String,
        /// What they take.
        bytes: u64,
    },
    /// Local memory that no thread has.
    #[error(
        "`{function}` declares {bytes} bytes of local or shared memory, more than a thread or block has"
    )]
    Storage {
        /// The function.
        function: String,
        /// What it declares.
        bytes: u64,
    },
}

/// Addresses of the module's variables in global and constant memory.
pub type Addresses<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// What functions of one module share while they are lowered.
pub(crate) struct Shared<'a> {
    pub(crate) module: &'a ast::Module,
    pub(crate) addresses: Addresses<'a>,
    pub(crate) shared: Vec<SharedVariable>,
    pub(crate) places: places::Sources,
}

impl Shared<'_> {
    pub(crate) fn function(&self, name: &str) -> Option<usize> {
        function_index(self.module, name)
    }

    pub(crate) fn add_shared(&mut self, variable: &ast::Variable) -> Option<usize> {
        let bytes = bytes_of(variable)?;
        self.shared.push(SharedVariable {
            name: variable.name.clone(),
            bytes: u32::try_from(bytes).ok()?,
            align: variable.align.max(1),
            element_bytes: variable.element_bytes,
            dynamic: variable.external,
        });
        Some(self.shared.len() - 1)
    }
}

/// A function by its name. A declaration may stand before the definition: the definition is meant.
pub(crate) fn function_index(module: &ast::Module, name: &str) -> Option<usize> {
    let mut named = module.functions.iter().enumerate().filter(|(_, f)| f.name == name);
    let defined = named.clone().find(|(_, function)| function.body.is_some());
    defined.or_else(|| named.next()).map(|(index, _)| index)
}

/// Lowers a module.
///
/// # Errors
/// If a name is declared nowhere, or something declared is larger than a device has.
pub fn lower(module: &ast::Module, addresses: Addresses<'_>) -> Result<Program, LowerError> {
    let mut shared =
        Shared { module, addresses, shared: Vec::new(), places: places::Sources::new(module) };
    for variable in module.variables.iter().filter(|v| v.space == ast::StateSpace::Shared) {
        if shared.add_shared(variable).is_none() {
            let bytes = bytes_of(variable).unwrap_or(u64::MAX);
            return Err(LowerError::Storage { function: variable.name.clone(), bytes });
        }
    }
    let mut functions = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        functions.push(match &function.body {
            Some(body) => function::lower_function(&mut shared, function, body)?,
            None => declared(function)?,
        });
    }
    Ok(Program { functions, shared: shared.shared })
}

fn declared(function: &ast::Function) -> Result<Function, LowerError> {
    let layout = layout::ParamLayout::of(function)?;
    Ok(Function {
        name: function.name.clone(),
        entry: function.entry,
        code: Vec::new(),
        units: 0,
        steady: Vec::new(),
        presets: Vec::new(),
        params: layout.params(),
        returns: layout.returns(),
        param_bytes: layout.bytes,
        local_bytes: 0,
        shared: Vec::new(),
        callees: Vec::new(),
        places: Vec::new(),
        max_threads: None,
        traits: Traits::default(),
        defined: false,
    })
}
