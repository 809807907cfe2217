//! What a program registers before `main`: fat binaries, and the kernels and variables of each. A
//! binary is loaded when something of it is used first, as the runtime has done by default since
//! CUDA 12.2.

use std::collections::BTreeMap;

use proofrun_emulator::finding::{Kind, Severity};
use proofrun_emulator::machine::{KernelFacts, KernelId, MemoryKind, ModuleId};

use crate::errors::Code;
use crate::fatbinary;
use crate::host;
use crate::runtime::Runtime;

/// All of it.
#[derive(Debug, Default)]
pub struct Registry {
    binaries: Vec<Binary>,
    functions: BTreeMap<u64, Function>,
    variables: BTreeMap<u64, Variable>,
    names: BTreeMap<String, std::ffi::CString>,
}

/// A fat binary.
#[derive(Debug)]
struct Binary {
    wrapper: u64,
    state: State,
    managed: Vec<Managed>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Registered,
    Loaded { module: ModuleId, architecture: u32 },
    Failed(Code),
}

/// A managed variable: the program's pointer to it is set when the binary is loaded.
#[derive(Debug, Clone)]
struct Managed {
    pointer: u64,
    name: String,
}

/// A kernel of a binary.
#[derive(Debug)]
struct Function {
    binary: usize,
    name: String,
    settings: Settings,
}

/// What can be set of a kernel.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// Most dynamic shared memory, where it was set.
    pub max_dynamic: Option<u32>,
    /// The carve-out in percent, where it was set.
    pub carveout: Option<i32>,
}

#[derive(Debug, Clone)]
struct Variable {
    binary: usize,
    name: String,
}

/// A kernel that can be launched or asked about.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// The device's name for it.
    pub id: KernelId,
    /// Its name as its source has it.
    pub name: String,
    /// What the device says of it.
    pub facts: KernelFacts,
    /// What was set of it.
    pub settings: Settings,
    /// The architecture of its PTX: 90.
    pub architecture: u32,
}

impl Registry {
    /// A fat binary, by the address of its wrapper; the handle is a number from 1.
    pub fn add_binary(&mut self, wrapper: u64) -> u64 {
        self.binaries.push(Binary { wrapper, state: State::Registered, managed: Vec::new() });
        self.binaries.len() as u64
    }

    /// A kernel, known to the program by the address of its host stub.
    pub fn add_function(&mut self, handle: u64, address: u64, name: String) {
        if let Some(binary) = self.binary(handle) {
            let settings = Settings::default();
            self.functions.insert(address, Function { binary, name, settings });
        }
    }

    /// A variable, known to the program by the address of its shadow.
    pub fn add_variable(&mut self, handle: u64, address: u64, name: String) {
        if let Some(binary) = self.binary(handle) {
            self.variables.insert(address, Variable { binary, name });
        }
    }

    /// A managed variable, known to the program by a pointer that the runtime sets.
    pub fn add_managed(&mut self, handle: u64, pointer: u64, name: String) {
        if let Some(binary) = self.binary(handle) {
            self.variables.insert(pointer, Variable { binary, name: name.clone() });
            self.binaries[binary].managed.push(Managed { pointer, name });
        }
    }

    /// The settings of a kernel, to change.
    pub fn settings(&mut self, address: u64) -> Option<&mut Settings> {
        self.functions.get_mut(&address).map(|function| &mut function.settings)
    }

    /// A name as a C string that lives as long as the process does.
    pub fn c_name(&mut self, name: &str) -> *const std::ffi::c_char {
        let entry = self.names.entry(name.to_owned());
        entry.or_insert_with(|| std::ffi::CString::new(name).unwrap_or_default()).as_ptr()
    }

    fn binary(&self, handle: u64) -> Option<usize> {
        let index = usize::try_from(handle).ok()?.checked_sub(1)?;
        (index < self.binaries.len()).then_some(index)
    }
}

impl Runtime {
    /// The kernel at the address of its host stub. As on an H200 with driver 580, no address is
    /// an invalid function and an unknown one an invalid handle.
    pub fn kernel(&mut self, address: u64) -> Result<Kernel, Code> {
        if address == 0 {
            return Err(Code::INVALID_DEVICE_FUNCTION);
        }
        let function = self.registry.functions.get(&address).ok_or(Code::INVALID_HANDLE)?;
        let (binary, name, settings) = (function.binary, function.name.clone(), function.settings);
        let (module, architecture) = self.load(binary)?;
        let id = self.machine.kernel(module, &name).ok_or(Code::INVALID_DEVICE_FUNCTION)?;
        let (name, facts) = (self.machine.shown_name(id), self.machine.facts(id).clone());
        Ok(Kernel { id, name, facts, settings, architecture })
    }

    /// Address and size of the variable at the address of its shadow.
    pub fn variable(&mut self, shadow: u64) -> Result<(u64, u64), Code> {
        let variable = self.registry.variables.get(&shadow).ok_or(Code::INVALID_SYMBOL)?.clone();
        let (module, _) = self.load(variable.binary)?;
        self.machine.symbol(module, &variable.name).ok_or(Code::INVALID_SYMBOL)
    }

    /// Loads a binary by its handle, for its managed variables.
    pub fn load_binary(&mut self, handle: u64) -> Result<(), Code> {
        let binary = self.registry.binary(handle).ok_or(Code::INVALID_HANDLE)?;
        self.load(binary).map(drop)
    }

    fn load(&mut self, binary: usize) -> Result<(ModuleId, u32), Code> {
        match self.registry.binaries[binary].state {
            State::Loaded { module, architecture } => Ok((module, architecture)),
            State::Failed(code) => Err(code),
            State::Registered => {
                let loaded = self.load_now(binary);
                self.registry.binaries[binary].state = match loaded {
                    Ok((module, architecture)) => State::Loaded { module, architecture },
                    Err(code) => State::Failed(code),
                };
                loaded
            }
        }
    }

    fn load_now(&mut self, binary: usize) -> Result<(ModuleId, u32), Code> {
        let wrapper = self.registry.binaries[binary].wrapper;
        let chosen = fatbinary::choose(wrapper, self.profile);
        let chosen = chosen.map_err(|refused| {
            self.tell(refused.kind, Severity::Error, refused.message);
            refused.code
        })?;
        let module = self.machine.load(&chosen.ptx).map_err(|why| {
            self.tell(Kind::Unsupported, Severity::Error, why.to_string());
            Code::INVALID_PTX
        })?;
        for managed in self.registry.binaries[binary].managed.clone() {
            let address = self.set_managed(module, &managed)?;
            // In the program's calls, the variable stands for its address.
            self.registry.variables.insert(address, Variable { binary, name: managed.name });
        }
        Ok((module, chosen.architecture))
    }

    fn set_managed(&mut self, module: ModuleId, managed: &Managed) -> Result<u64, Code> {
        let (address, _) =
            self.machine.symbol(module, &managed.name).ok_or(Code::INVALID_SYMBOL)?;
        if self.kind_at(address) != Some(MemoryKind::Managed) {
            let message = format!("the managed variable `{}` is not emulated", managed.name);
            self.tell(Kind::Unsupported, Severity::Error, message);
            return Err(Code::NOT_SUPPORTED);
        }
        match host::write_pointer(managed.pointer, address) {
            true => Ok(address),
            false => Err(Code::INVALID_SYMBOL),
        }
    }
}
