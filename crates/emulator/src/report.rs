//! What a program's run over the emulated device tells the harness: a JSON object a line, through a
//! descriptor of its own.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;

/// How a launch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchEnd {
    /// All blocks ran to their end.
    Ran,
    /// It provably repeats an earlier launch, and was skipped.
    Repeated,
    /// The runtime refused it, with an error of CUDA.
    Refused,
    /// It was ended by a fault: an illegal address, a trap, a deadlock.
    Faulted,
    /// An instruction is not emulated.
    Unsupported,
}

/// One launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchReport {
    /// From 0.
    pub index: u64,
    /// The kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
    /// How it ended.
    pub end: LaunchEnd,
    /// Warp-instructions executed, of all schedules.
    pub steps: u64,
    /// Schedules it ran on, the canonical one included.
    pub schedules: u32,
}

/// A line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The library was loaded into the program.
    Started {
        /// The profile's name.
        device: String,
    },
    /// A launch ended.
    Launch(LaunchReport),
    /// Something was found. A later line with the same places replaces an earlier one's count.
    Finding(Box<Finding>),
    /// A timeline that was asked for, see the timeline module.
    Timeline {
        /// Its data, as JSON text.
        data: String,
    },
    /// The program ended in an orderly way, and all was told.
    Ended {
        /// Calls of the runtime.
        calls: u64,
    },
}
