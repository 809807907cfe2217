//! Findings in words, with source places and names.

use super::findings::{Other, Raw, What};
use super::host::Memory;
use super::object::object;
use crate::finding::{At, Finding, Kind};

/// A source place of a memory instruction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceOf {
    /// The file.
    pub file: String,
    /// From 1; 0 where it isn't known.
    pub line: u32,
    /// From 1; 0 where it isn't known.
    pub column: u32,
    /// See [`At::inlined`].
    pub inlined: Vec<String>,
}

/// A variable in shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedVariable {
    /// Its name, as the source has it.
    pub name: String,
    /// Where in shared memory it begins.
    pub offset: u32,
    /// Bytes of it.
    pub bytes: u32,
    /// Bytes of an element.
    pub element_bytes: u32,
}

/// What the engine knows about the code and the launch.
pub trait Names {
    /// Where a memory instruction was written.
    fn place(&self, pc: u32) -> PlaceOf;
    /// The kernel that runs.
    fn kernel(&self) -> Option<String>;
    /// A block's index by its linear number.
    fn block(&self, block: u32) -> [u32; 3];
    /// The variables in shared memory, dynamic ones included.
    fn shared(&self) -> &[SharedVariable];
    /// The number of the launch.
    fn launch(&self) -> Option<u64>;
    /// See [`Finding::schedule`].
    fn schedule(&self) -> Option<String>;
}

/// Puts a finding into words.
pub fn describe(raw: &Raw, memory: &Memory, names: &dyn Names) -> Finding {
    let mut at = Vec::new();
    if let Some(pc) = raw.pc {
        let what = access(raw.write, raw.atomic, raw.bytes);
        at.push(place(names, pc, what, raw.block, raw.warp, raw.lanes));
        if let Some(other) = raw.other {
            at.push(earlier(names, &other));
        }
    }
    Finding {
        kind: kind(raw.what),
        severity: raw.severity,
        kernel: raw.pc.and_then(|_| names.kernel()),
        message: message(raw),
        at,
        object: object(raw, memory, names.shared()),
        notes: Vec::new(),
        next: next(raw.what).map(str::to_owned),
        launch: raw.pc.and_then(|_| names.launch()),
        schedule: raw.pc.and_then(|_| names.schedule()),
        count: if raw.what == What::Leak { 1 } else { raw.count },
    }
}

fn earlier(names: &dyn Names, other: &Other) -> At {
    let what = match (other.write, other.atomic) {
        (_, true) => "earlier atomic access",
        (true, false) => "earlier write",
        (false, false) => "earlier read",
    };
    place(names, other.pc, what.to_owned(), other.block, other.warp, other.lanes)
}

fn access(write: bool, atomic: bool, bytes: u64) -> String {
    let what = match (write, atomic) {
        (_, true) => "atomic access",
        (true, false) => "write",
        (false, false) => "read",
    };
    format!("{what} of {bytes} byte{}", if bytes == 1 { "" } else { "s" })
}

fn place(names: &dyn Names, pc: u32, what: String, block: u32, warp: u8, lanes: u32) -> At {
    let PlaceOf { file, line, column, inlined } = names.place(pc);
    let block = Some(names.block(block));
    At { file, line, column, what, block, threads: threads(warp, lanes), inlined }
}

/// Lanes of a warp as ranges of threads: `0..32, 64`.
fn threads(warp: u8, lanes: u32) -> String {
    let mut ranges = Vec::new();
    let mut lane = 0;
    while lane < 32 {
        let from = lanes.checked_shr(lane).unwrap_or(0);
        if from == 0 {
            break;
        }
        lane += from.trailing_zeros();
        let run = (lanes >> lane).trailing_ones();
        let first = u32::from(warp) * 32 + lane;
        ranges.push(if run == 1 { first.to_string() } else { format!("{first}..{}", first + run) });
        lane += run;
    }
    ranges.join(", ")
}

fn kind(what: What) -> Kind {
    match what {
        What::Race | What::EqualWrites | What::ReadOnlyPath | What::Unsynchronised => Kind::Race,
        What::OutOfBounds | What::Freed | What::WrongSpace | What::BadFree | What::DoubleFree => {
            Kind::Bounds
        }
        What::Misaligned => Kind::Alignment,
        What::Uninitialised | What::CopiedUninitialised | What::CopiedUnwritten => {
            Kind::Uninitialised
        }
        What::Leak => Kind::Leak,
    }
}

fn message(raw: &Raw) -> String {
    let same = raw.other.is_some_and(|o| o.pc == raw.other_pc() && o.block == raw.block);
    match raw.what {
        What::Race if same && raw.write => {
            "threads write to one place by one instruction, and nothing orders them".to_owned()
        }
        What::Race if raw.atomic || raw.other.is_some_and(|o| o.atomic) => {
            "an atomic access and another access that is not atomic to it meet in one place, \
             and nothing orders them"
                .to_owned()
        }
        What::Race => match (raw.write, raw.other.is_some_and(|o| o.write)) {
            (true, true) => "two writes to one place, and nothing orders them",
            (true, false) => "a write to what another thread reads, and nothing orders them",
            (false, _) => "a read of what another thread writes, and nothing orders them",
        }
        .to_owned(),
        What::EqualWrites => "unordered writes of equal values to one place".to_owned(),
        What::ReadOnlyPath => {
            "the read-only path (ld.global.nc) reads what this launch writes".to_owned()
        }
        What::Unsynchronised => {
            "volatile accesses meet in one place, and neither orders nor synchronises anything"
                .to_owned()
        }
        What::OutOfBounds => format!("{} out of bounds", access(raw.write, raw.atomic, raw.bytes)),
        What::Freed => format!("{} of freed memory", access(raw.write, raw.atomic, raw.bytes)),
        What::WrongSpace => {
            format!("{} in a space it can't access", access(raw.write, raw.atomic, raw.bytes))
        }
        What::Misaligned => {
            format!("{} at a misaligned address", access(raw.write, raw.atomic, raw.bytes))
        }
        What::Uninitialised => "memory is read that nothing wrote".to_owned(),
        What::CopiedUninitialised => format!(
            "{} bytes that come from uninitialised memory are copied to the host",
            grouped(raw.bytes)
        ),
        What::CopiedUnwritten => {
            format!("{} bytes that nothing wrote are copied to the host", grouped(raw.bytes))
        }
        What::BadFree => "a free of what is no allocation".to_owned(),
        What::DoubleFree => "a second free of one allocation".to_owned(),
        What::Leak if raw.count == 1 => {
            format!("an allocation of {} bytes was never freed", grouped(raw.bytes))
        }
        What::Leak => format!(
            "{} allocations of together {} bytes were never freed",
            grouped(raw.count),
            grouped(raw.bytes)
        ),
    }
}

impl Raw {
    fn other_pc(&self) -> u32 {
        self.pc.unwrap_or(u32::MAX)
    }
}

fn next(what: What) -> Option<&'static str> {
    match what {
        What::Race => Some(
            "order the accesses: by a barrier, or by a release and an acquire that both reach \
             the other thread",
        ),
        What::EqualWrites => Some("let one thread write"),
        What::ReadOnlyPath => Some("drop __ldg, or const with __restrict__, for this memory"),
        What::Unsynchronised => Some("use cuda::atomic_ref, or __syncwarp() between the accesses"),
        What::Uninitialised => Some("write the memory before it is read, for instance cudaMemset"),
        _ => None,
    }
}

/// A number with commas: `4,096`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at != 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
