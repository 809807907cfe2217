//! What runs: functions as arrays of decoded instructions over rows of registers.
//!
//! **Invariant: nothing is decided by text here.** Lowering resolved every name, form and label;
//! what it could not is an [`Op::Unsupported`] that says so when a lane reaches it.

mod op;
mod special;

use std::sync::Arc;

use crate::lanes::{Row, Width};

pub use op::{
    AsyncCopy, Atomic, AtomicOp, Bar, BarKind, Branch, Call, Callee, Collective, Count, Fence,
    FenceKind, Load, MatchKind, Mbarrier, MbarrierOp, Op, Order, Part, ReduxOp, Scope, ShflMode,
    Space, Store, VoteMode,
};
pub use special::{Clock, Special};

/// No program counter.
pub const NOWHERE: u32 = u32::MAX;

/// One instruction.
#[derive(Debug, Clone)]
pub struct Instr {
    /// The predicate that guards it.
    pub guard: Option<Guard>,
    /// What it does.
    pub op: Op,
    /// Which of [`Function::places`] it comes from.
    pub place: u32,
}

/// A guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The predicate's row.
    pub row: Row,
    /// Whether lanes run where it is false.
    pub negated: bool,
}

/// A row that is filled before a frame runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    /// The row.
    pub row: Row,
    /// How wide it is.
    pub width: Width,
    /// With what.
    pub value: PresetValue,
}

/// What fills a row.
#[derive(Debug, Clone, PartialEq)]
pub enum PresetValue {
    /// The same bits in all lanes.
    Bits(u128),
    /// A special register that doesn't change while a warp runs.
    Special(Special),
    /// The address of a shared variable, an index into [`Program::shared`], plus bytes.
    Shared(usize, i64),
    /// An offset in the frame's local memory.
    Local(u32),
}

/// A variable in shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedVariable {
    /// Its name as compiled.
    pub name: String,
    /// Bytes; 0 for the extern array that takes the dynamic part.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// Whether it is the dynamic part.
    pub dynamic: bool,
}

/// Where a parameter lies among the bytes of its frame's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Bytes from the start.
    pub offset: u32,
    /// Its size.
    pub bytes: u32,
}

/// A frame of inlining: where in the source an instruction comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The innermost place first; then where each was inlined.
    pub frames: Vec<PlaceFrame>,
    /// The line of the PTX text.
    pub ptx_line: u32,
    /// The instruction's text, for messages.
    pub text: String,
}

/// One source position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceFrame {
    /// The file, as the compiler named it.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// From 1, or 0.
    pub column: u32,
}

/// What a function does that decides how a launch of it must be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits {
    /// Strong accesses, atomics or fences that reach beyond the block: blocks may depend on each
    /// other.
    pub across_blocks: bool,
    /// Atomics or strong accesses through generic addresses, which may reach beyond the block.
    pub perhaps_across: bool,
    /// Anything by which the outcome may depend on the schedule: atomics, strong accesses,
    /// mbarriers, `activemask`, clocks.
    pub schedule_dependent: bool,
    /// Calls through pointers.
    pub indirect_calls: bool,
}

impl Traits {
    /// Of both.
    pub fn join(self, other: Self) -> Self {
        Self {
            across_blocks: self.across_blocks | other.across_blocks,
            perhaps_across: self.perhaps_across | other.perhaps_across,
            schedule_dependent: self.schedule_dependent | other.schedule_dependent,
            indirect_calls: self.indirect_calls | other.indirect_calls,
        }
    }
}

/// A function or kernel.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its mangled name.
    pub name: String,
    /// Whether it is a kernel.
    pub entry: bool,
    /// Its instructions.
    pub code: Vec<Instr>,
    /// Units of its register arena.
    pub units: u32,
    /// Ranges of units whose values no clock decides: what tells whether a loop repeats.
    pub steady: Vec<(u32, u32)>,
    /// Rows to fill before it runs.
    pub presets: Vec<Preset>,
    /// Its formal parameters in its frame's parameter bytes.
    pub params: Vec<Slot>,
    /// Its return values there.
    pub returns: Vec<Slot>,
    /// Parameter bytes of a frame: formal ones, return values, and those declared for calls.
    pub param_bytes: u32,
    /// Local bytes of a frame.
    pub local_bytes: u32,
    /// Shared variables it names, as indices into [`Program::shared`].
    pub shared: Vec<usize>,
    /// Functions it calls by name.
    pub callees: Vec<usize>,
    /// Where its instructions come from.
    pub places: Vec<Place>,
    /// Most threads by `.maxntid` or `.reqntid`, if said.
    pub max_threads: Option<u32>,
    /// What it does itself.
    pub traits: Traits,
    /// Whether a body was there.
    pub defined: bool,
}

/// A lowered module.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Its functions; calls refer to them by index.
    pub functions: Vec<Function>,
    /// Shared variables of all functions.
    pub shared: Vec<SharedVariable>,
}

impl Program {
    /// A kernel's index by name.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.functions.iter().position(|function| function.entry && function.name == name)
    }

    /// A function and all that it may call by name, itself first.
    pub fn reachable(&self, function: usize) -> Vec<usize> {
        let mut seen = vec![function];
        let mut next = 0;
        while next < seen.len() {
            for callee in &self.functions[seen[next]].callees {
                if !seen.contains(callee) {
                    seen.push(*callee);
                }
            }
            next += 1;
        }
        seen
    }

    /// What a kernel does, its callees included. A call through a pointer may do anything that any
    /// function of the module does.
    pub fn traits(&self, kernel: usize) -> Traits {
        let join = |all: Traits, function: &usize| all.join(self.functions[*function].traits);
        let own = self.reachable(kernel).iter().fold(Traits::default(), join);
        if !own.indirect_calls {
            return own;
        }
        self.functions
            .iter()
            .filter(|function| !function.entry)
            .fold(own, |all, function| all.join(function.traits))
    }
}
