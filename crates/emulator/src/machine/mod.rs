//! The emulated device as its users see it: the runtime library over it, and the harness's checks.

mod launch;
mod load;

use std::sync::Arc;

use crate::finding::Finding;
use crate::memory::{Footprint, Memory};
use crate::profile::Profile;
use crate::program::Program;
use crate::report::LaunchReport;

/// What a machine is asked to do beyond running.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Schedules beside the canonical one that a launch runs on if its outcome could depend on one.
    pub schedules: u32,
    /// The seed they are drawn from.
    pub seed: u64,
    /// Only this schedule: a token of an earlier finding.
    pub replay: Option<String>,
    /// Whether a launch that provably repeats an earlier one is run all the same.
    pub keep_repeats: bool,
    /// Worker threads; 0 for as many as there are cores.
    pub threads: usize,
}

/// A loaded module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleId(pub usize);

/// A kernel of a loaded module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelId {
    /// The module.
    pub module: ModuleId,
    /// Its number in the module.
    pub index: usize,
}

/// What can be asked of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelFacts {
    /// Its mangled name.
    pub name: String,
    /// Offset and size of each parameter in bytes, in order.
    pub params: Vec<(u32, u32)>,
    /// Bytes of all parameters.
    pub param_bytes: u32,
    /// Bytes of static shared memory.
    pub static_shared_bytes: u32,
    /// Bytes of local memory a thread.
    pub local_bytes: u32,
    /// Bytes of the module's constant memory.
    pub const_bytes: u32,
    /// An estimate of registers a thread: what the PTX holds live, not what ptxas would choose.
    pub registers: u32,
    /// Most threads of a block, by `__launch_bounds__` or the device.
    pub max_threads: u32,
}

/// A launch.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: KernelId,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
    /// The parameters as they lie in memory.
    pub params: &'a [u8],
    /// Whether it was launched as cooperative.
    pub cooperative: bool,
}

/// Why a launch did not complete. The names follow CUDA's error codes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Error 700: an address outside of every allocation.
    #[error("an illegal memory access was encountered")]
    IllegalAddress,
    /// Error 716.
    #[error("misaligned address")]
    MisalignedAddress,
    /// Error 710: device-side `assert`.
    #[error("device-side assert triggered")]
    Assert,
    /// Error 719: a trap, or undefined behaviour of an instruction.
    #[error("unspecified launch failure")]
    LaunchFailure,
    /// Error 702: no live thread can go on.
    #[error("the launch timed out and was terminated")]
    Timeout,
    /// Error 715: an instruction that is not emulated; the finding names it.
    #[error("not emulated: {0}")]
    Unsupported(String),
}

/// What kind of memory is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// `cudaMalloc` and the like: the host can't reach it.
    Device,
    /// `cudaMallocManaged`: both reach it at one address.
    Managed,
    /// `cudaHostAlloc`, `cudaHostRegister`: the host's, mapped.
    Host,
}

/// The outcome of a launch.
#[derive(Debug, Clone)]
pub struct Launched {
    /// What the report says of it.
    pub report: LaunchReport,
    /// Whether it was cut short.
    pub fault: Option<Fault>,
    /// What was found, in order.
    pub findings: Vec<Finding>,
}

/// A module on the device.
struct Loaded {
    program: Arc<Program>,
    facts: Vec<KernelFacts>,
    symbols: Vec<(String, u64, u64)>,
}

/// An earlier launch that a later one may repeat.
struct Past {
    kernel: KernelId,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    params: Vec<u8>,
    footprint: Footprint,
}

/// An emulated device.
pub struct Machine {
    profile: &'static Profile,
    options: Options,
    memory: Memory,
    modules: Vec<Loaded>,
    printed: Vec<u8>,
    asserted: Vec<u8>,
    launches: u64,
    /// The model's time, in nanoseconds.
    now: u64,
    past: Vec<Past>,
    /// The workspace of cooperative launches.
    workspace: Option<u64>,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("profile", &self.profile.id).finish_non_exhaustive()
    }
}

/// The model's time when a program starts: not 0, which programs may take for "never".
const START: u64 = 1_000_000_000;

impl Machine {
    /// A device with nothing on it. `None` if the host gives no address range for its memory.
    pub fn new(profile: &'static Profile, options: Options) -> Option<Self> {
        Some(Self {
            profile,
            options,
            memory: Memory::new(profile.memory_bytes)?,
            modules: Vec::new(),
            printed: Vec::new(),
            asserted: Vec::new(),
            launches: 0,
            now: START,
            past: Vec::new(),
            workspace: None,
        })
    }

    /// What it is.
    pub fn profile(&self) -> &'static Profile {
        self.profile
    }

    /// Its memory, to look at.
    pub fn memory_ref(&self) -> &Memory {
        &self.memory
    }

    /// Its memory.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// A kernel by its mangled name.
    pub fn kernel(&self, module: ModuleId, name: &str) -> Option<KernelId> {
        let index = self.modules.get(module.0)?.program.kernel(name)?;
        Some(KernelId { module, index })
    }

    /// What can be asked of a kernel.
    pub fn facts(&self, kernel: KernelId) -> &KernelFacts {
        &self.modules[kernel.module.0].facts[kernel.index]
    }

    /// The kernel's name as its source has it.
    pub fn shown_name(&self, kernel: KernelId) -> String {
        crate::exec::demangled(&self.facts(kernel).name)
    }

    /// Address and bytes of a module's variable.
    pub fn symbol(&self, module: ModuleId, name: &str) -> Option<(u64, u64)> {
        let symbols = &self.modules.get(module.0)?.symbols;
        symbols.iter().find(|(own, ..)| own == name).map(|(_, address, bytes)| (*address, *bytes))
    }

    /// What host calls found in memory since the last time.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        launch::host_findings(self)
    }

    /// What kernels printed since the last time.
    pub fn take_printed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.printed)
    }

    /// What failed assertions of kernels said since the last time, for standard error.
    pub fn take_asserted(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.asserted)
    }

    /// The program ends: what was never freed is found.
    pub fn finish(&mut self) {
        self.memory.finish();
    }

    /// The model's time, in nanoseconds: a launch takes as long as its longest block has
    /// instructions.
    pub fn nanoseconds(&self) -> u64 {
        self.now
    }
}
