//! What an instruction does.

use crate::alu::{Compute, Rows};
use crate::lanes::{Row, Width};

use super::Clock;

/// A state space that an address is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// `.global`
    Global,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// `.param`, of a kernel.
    Param,
    /// None named: the address says it.
    Generic,
}

/// A scope (PTX ISA 8.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Gpu,
    /// `.sys`
    System,
}

/// How an access takes part in the memory model (PTX ISA 8.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// No qualifier, or `.weak`.
    Weak,
    /// `.nc`: through the read-only path.
    ReadOnly,
    /// `.volatile`: relaxed, of system scope.
    Volatile,
    /// `.relaxed`
    Relaxed(Scope),
    /// `.acquire`
    Acquire(Scope),
    /// `.release`
    Release(Scope),
    /// `.acq_rel`
    AcquireRelease(Scope),
}

/// One register of a vector that memory is read to or written from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its row; none for the sink.
    pub row: Option<Row>,
    /// How wide its row is.
    pub width: Width,
}

/// `ld`
#[derive(Debug, Clone)]
pub struct Load {
    /// Where.
    pub space: Space,
    /// How.
    pub order: Order,
    /// Bytes of an element.
    pub bytes: u8,
    /// Whether an element is sign-extended into its register.
    pub signed: bool,
    /// The base address.
    pub base: Row,
    /// Whether the base is 64 bits wide, not 32.
    pub wide: bool,
    /// Added to it.
    pub offset: i64,
    /// Where to.
    pub parts: Vec<Part>,
    /// Whether what it reads takes part in deciding a branch: that of a flag does.
    pub decides: bool,
}

/// `st`
#[derive(Debug, Clone)]
pub struct Store {
    /// Where.
    pub space: Space,
    /// How.
    pub order: Order,
    /// Bytes of an element.
    pub bytes: u8,
    /// The base address.
    pub base: Row,
    /// Whether the base is 64 bits wide, not 32.
    pub wide: bool,
    /// Added to it.
    pub offset: i64,
    /// From where.
    pub parts: Vec<Part>,
}

/// What an atomic operation computes (PTX ISA 9.7.13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Exchange.
    Exchange,
    /// Compare and swap.
    CompareSwap,
    /// Integer addition.
    Add,
    /// Unsigned increment with wrap at the operand.
    Increment,
    /// Unsigned decrement with wrap to the operand.
    Decrement,
    /// Minimum of signed integers.
    MinSigned,
    /// Maximum of signed integers.
    MaxSigned,
    /// Minimum of unsigned integers.
    MinUnsigned,
    /// Maximum of unsigned integers.
    MaxUnsigned,
    /// `.f32` addition; subnormal inputs and results are flushed to zero in global memory's atomics
    /// only where `.ftz` says so.
    AddF32,
    /// `.f64` addition.
    AddF64,
    /// `.f16` or `.f16x2` addition, lane by lane of the packed value.
    AddF16,
    /// `.bf16` or `.bf16x2` addition.
    AddBf16,
}

/// `atom` and `red`
#[derive(Debug, Clone)]
pub struct Atomic {
    /// What.
    pub op: AtomicOp,
    /// Where.
    pub space: Space,
    /// How; of `red`, without acquiring.
    pub order: Order,
    /// Bytes of the location.
    pub bytes: u8,
    /// The base address.
    pub base: Row,
    /// Whether the base is 64 bits wide, not 32.
    pub wide: bool,
    /// Added to it.
    pub offset: i64,
    /// The old value goes here; `None` for `red`.
    pub result: Option<Row>,
    /// The operand.
    pub operand: Row,
    /// Of compare and swap: the value that is swapped in.
    pub swap: Row,
}

/// What a barrier instruction does (PTX ISA 9.7.15.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarKind {
    /// Arrive and wait.
    Sync,
    /// Arrive.
    Arrive,
    /// Arrive, wait, and count the true predicates.
    Popc,
    /// Arrive, wait, and tell whether all are true.
    And,
    /// Arrive, wait, and tell whether any is true.
    Or,
}

/// How many threads a barrier expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// All of the block.
    All,
    /// As many as the row says.
    Row(Row),
}

/// `bar` and `barrier`
#[derive(Debug, Clone)]
pub struct Bar {
    /// What.
    pub kind: BarKind,
    /// Whether all threads of a warp must run the same one.
    pub aligned: bool,
    /// The barrier's number.
    pub id: Row,
    /// How many threads take part.
    pub count: Count,
    /// The result of a reduction: a predicate, or of popc a 32-bit row.
    pub result: Row,
    /// The predicate of a reduction, and whether it is negated.
    pub source: (Row, bool),
}

/// How `shfl` picks a lane (PTX ISA 9.7.9.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShflMode {
    /// By number.
    Idx,
    /// From a lower lane.
    Up,
    /// From a higher lane.
    Down,
    /// By exclusive or.
    Bfly,
}

/// What `vote` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteMode {
    /// Whether all are true.
    All,
    /// Whether any is.
    Any,
    /// Whether all are equal.
    Uni,
    /// Which are true.
    Ballot,
}

/// What `match` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// The lanes with an equal value.
    Any,
    /// Whether all values are equal.
    All,
}

/// What `redux` computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReduxOp {
    /// Sum.
    Add,
    /// Signed minimum.
    MinSigned,
    /// Signed maximum.
    MaxSigned,
    /// Unsigned minimum.
    MinUnsigned,
    /// Unsigned maximum.
    MaxUnsigned,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// An instruction that the named lanes of a warp execute together.
#[derive(Debug, Clone)]
pub enum Collective {
    /// `bar.warp.sync`
    Sync,
    /// `shfl.sync`
    Shfl {
        /// How the lane is picked.
        mode: ShflMode,
        /// The result.
        d: Row,
        /// Whether the source was in range.
        p: Option<Row>,
        /// The value.
        a: Row,
        /// The lane or distance.
        b: Row,
        /// Clamp and segment mask.
        c: Row,
    },
    /// `vote.sync`
    Vote {
        /// What.
        mode: VoteMode,
        /// The result: a predicate, or of ballot a 32-bit row.
        d: Row,
        /// The predicate, and whether it is negated.
        source: (Row, bool),
    },
    /// `match.sync`
    Match {
        /// What.
        kind: MatchKind,
        /// The mask.
        d: Row,
        /// Whether all are equal.
        p: Option<Row>,
        /// The value.
        a: Row,
        /// Whether it has 64 bits.
        wide: bool,
    },
    /// `redux.sync`
    Redux {
        /// What.
        op: ReduxOp,
        /// The result.
        d: Row,
        /// The value.
        a: Row,
    },
    /// `elect.sync`
    Elect {
        /// The elected lane.
        d: Option<Row>,
        /// Whether it is this one.
        p: Row,
    },
}

/// What a fence orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceKind {
    /// `fence.sc` and `membar`.
    SequentiallyConsistent,
    /// `fence.acq_rel`
    AcquireRelease,
    /// `fence.acquire`
    Acquire,
    /// `fence.release`
    Release,
    /// `fence.proxy.*` and `fence.mbarrier_init`: orders accesses of other proxies.
    Proxy,
}

/// `fence` and `membar`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// What.
    pub kind: FenceKind,
    /// For whom.
    pub scope: Scope,
}

/// What an mbarrier instruction does (PTX ISA 9.7.15.16).
#[derive(Debug, Clone)]
pub enum MbarrierOp {
    /// `init` with a count.
    Init(Row),
    /// `inval`
    Inval,
    /// `arrive`, or `arrive_drop`.
    Arrive {
        /// Where the state goes.
        state: Option<Row>,
        /// How many arrive; 1 if none is said.
        count: Option<Row>,
        /// Whether the expected count of later phases falls.
        drop: bool,
        /// Whether the phase must not complete.
        no_complete: bool,
        /// Bytes expected first (`arrive.expect_tx`).
        expect: Option<Row>,
        /// Whether it releases.
        release: bool,
    },
    /// `expect_tx`
    ExpectTx(Row),
    /// `complete_tx`
    CompleteTx(Row),
    /// `test_wait` and `try_wait`
    Wait {
        /// Whether the phase is complete.
        done: Row,
        /// The state, or with `parity` the parity of the phase.
        state: Row,
        /// Whether `state` is a parity (32 bits).
        parity: bool,
        /// Whether it may block, and may say false before the phase is complete.
        may_block: bool,
        /// Whether it acquires.
        acquire: bool,
    },
    /// `pending_count`, of a state.
    PendingCount {
        /// The result.
        d: Row,
        /// The state.
        state: Row,
    },
}

/// `mbarrier`
#[derive(Debug, Clone)]
pub struct Mbarrier {
    /// What.
    pub op: MbarrierOp,
    /// Where the address is given: shared or generic.
    pub space: Space,
    /// The base address.
    pub base: Row,
    /// Whether the base is 64 bits wide, not 32.
    pub wide: bool,
    /// Added to it.
    pub offset: i64,
}

/// `cp.async` and its groups (PTX ISA 9.7.9.25).
#[derive(Debug, Clone)]
pub enum AsyncCopy {
    /// `cp.async.ca/cg.shared.global`
    Copy {
        /// The destination in shared memory.
        to: (Row, bool, i64),
        /// The source in global memory.
        from: (Row, bool, i64),
        /// Bytes written: 4, 8 or 16.
        bytes: u8,
        /// Bytes read, the rest is zero; all if none is said.
        source_bytes: Option<Row>,
        /// A predicate by which the source is ignored, and whether it is negated.
        ignore: Option<(Row, bool)>,
    },
    /// `cp.async.commit_group`
    Commit,
    /// `cp.async.wait_group N`
    Wait(u32),
    /// `cp.async.wait_all`
    WaitAll,
    /// `cp.async.mbarrier.arrive`
    Arrive {
        /// The mbarrier's address.
        base: Row,
        /// Whether the base is 64 bits wide, not 32.
        wide: bool,
        /// Added to it.
        offset: i64,
        /// Whether the pending count is not raised first.
        no_increment: bool,
    },
}

/// A branch.
#[derive(Debug, Clone)]
pub struct Branch {
    /// Where to: one target, or of `brx.idx` several.
    pub targets: Vec<u32>,
    /// The index of `brx.idx`.
    pub index: Option<Row>,
    /// Where the lanes meet again, or [`super::NOWHERE`].
    pub join: u32,
}

/// Who is called.
#[derive(Debug, Clone)]
pub enum Callee {
    /// A function of the module.
    Function(usize),
    /// A pointer.
    Pointer(Row),
    /// A function of the system: `vprintf`, `malloc`, `free`, `__assertfail`.
    System(String),
}

/// A call.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who.
    pub callee: Callee,
    /// The arguments, in the caller's parameter bytes.
    pub arguments: Vec<super::Slot>,
    /// The results, there.
    pub results: Vec<super::Slot>,
}

/// What an instruction does.
#[derive(Debug, Clone)]
pub enum Op {
    /// Computes rows from rows.
    Compute(Compute, Rows),
    /// Where diverged lanes meet.
    Join,
    /// Branches.
    Branch(Box<Branch>),
    /// Reads memory.
    Load(Box<Load>),
    /// Writes memory.
    Store(Box<Store>),
    /// Reads the frame's parameters: bytes from the start, or with a row from what it says.
    LoadParam {
        /// Added to the offset.
        base: Option<Row>,
        /// Bytes from the start.
        offset: u32,
        /// Bytes of an element.
        bytes: u8,
        /// Whether an element is sign-extended.
        signed: bool,
        /// Where to.
        parts: Vec<Part>,
    },
    /// Writes the frame's parameters.
    StoreParam {
        /// Bytes from the start.
        offset: u32,
        /// Bytes of an element.
        bytes: u8,
        /// From where.
        parts: Vec<Part>,
    },
    /// Reads and writes memory at once.
    Atomic(Box<Atomic>),
    /// `fence`
    Fence(Fence),
    /// A barrier of the block.
    Bar(Box<Bar>),
    /// A barrier in shared memory.
    Mbarrier(Box<Mbarrier>),
    /// A copy that completes later.
    AsyncCopy(Box<AsyncCopy>),
    /// Lanes together, with the row of their mask.
    Collective(Row, Box<Collective>),
    /// `activemask`
    ActiveMask(Row),
    /// Reads a clock.
    Clock(Clock, Row),
    /// `nanosleep`
    Sleep(Row),
    /// `mov` of a vector to a scalar: parts from the lowest.
    Pack {
        /// To.
        d: Row,
        /// How wide a part is.
        part: Width,
        /// From.
        parts: Vec<Row>,
    },
    /// `mov` of a scalar to a vector.
    Unpack {
        /// From.
        a: Row,
        /// How wide a part is.
        part: Width,
        /// To; none for the sink.
        parts: Vec<Option<Row>>,
    },
    /// `cvta`: to or from generic.
    Convert {
        /// To.
        d: Row,
        /// From.
        a: Row,
        /// The space that is not generic.
        space: Space,
        /// Whether from generic to the space.
        from_generic: bool,
        /// Whether rows are 64 bits wide.
        wide: bool,
    },
    /// `isspacep`
    IsSpace {
        /// The predicate.
        d: Row,
        /// The generic address.
        a: Row,
        /// The space.
        space: Space,
    },
    /// Calls.
    Call(Box<Call>),
    /// `ret`
    Return,
    /// `exit`
    Exit,
    /// `trap`
    Trap,
    /// `prefetch`, `discard`, `pmevent` and the like: no effect that is modelled.
    Nothing,
    /// What is not emulated: the text of the instruction.
    Unsupported(String),
}
