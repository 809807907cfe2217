//! The emulated device as its users see it: the runtime library over it, and the harness's checks.

use crate::finding::Finding;
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
