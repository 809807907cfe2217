//! Random programs: accesses and synchronisation by warps of a few blocks, in one order.

use proofrun_emulator::memory::Order;
use proofrun_emulator::race::{FenceKind, Grid, Scope};
use proptest::prelude::*;

/// Blocks that take part.
pub const BLOCKS: u32 = 4;

/// Threads of a block: a whole warp and one of four lanes.
pub const THREADS: u32 = 36;

/// Bytes of global and of shared memory that are accessed.
pub const BYTES: u32 = 256;

/// How bad a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Fine,
    Warning,
    Error,
}

/// A warp: its block and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warp {
    pub block: u32,
    pub warp: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Load,
    Store,
    /// A read-modify-write: whether the old value is returned, and the lanes whose writes happen.
    Modify(bool, u32),
}

#[derive(Clone)]
pub struct Access {
    pub warp: Warp,
    pub mask: u32,
    pub offsets: [u32; 32],
    pub width: u8,
    pub count: u8,
    pub action: Action,
    pub order: Order,
    pub shared: bool,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { warp, mask, offsets, width, count, action, order, shared } = self;
        let space = if *shared { "shared" } else { "global" };
        write!(f, "{action:?} {order:?} {space} {width}x{count} ")?;
        write!(f, "block {} warp {} mask {mask:#x} at", warp.block, warp.warp)?;
        let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
        lanes.take(6).try_for_each(|lane| write!(f, " {}", offsets[lane]))
    }
}

impl Access {
    pub fn is_strong(&self) -> bool {
        !matches!(self.order, Order::Weak | Order::Nc)
    }
}

#[derive(Debug, Clone)]
pub enum Step {
    Access(Access),
    Fence(Warp, u32, FenceKind, Scope),
    WarpSync(Warp, u32),
    /// Lanes of each warp that arrive, and those of them that wait.
    Barrier(u32, [u32; 2], [u32; 2]),
    Release(Warp, u32, Scope, usize),
    Acquire(Warp, u32, Scope, usize),
}

#[derive(Debug, Clone)]
pub struct Program {
    pub grid: Grid,
    /// A step, and whether it is made even if it races.
    pub steps: Vec<(Step, bool)>,
}

fn lanes(warp: u8) -> u32 {
    if warp == 0 { u32::MAX } else { 0xf }
}

fn warp() -> impl Strategy<Value = Warp> {
    (0..BLOCKS, 0..2u8).prop_map(|(block, warp)| Warp { block, warp })
}

/// A warp and lanes of it: few, or all.
fn some() -> impl Strategy<Value = (Warp, u32)> {
    (warp(), prop_oneof![4 => 1..16u32, 2 => Just(u32::MAX), 2 => Just(1u32), 1 => any::<u32>()])
        .prop_map(|(warp, mask)| {
            let mask = mask & lanes(warp.warp);
            (warp, if mask == 0 { 1 } else { mask })
        })
}

/// What a program's operations are drawn from.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Nothing can order accesses of different blocks.
    pub isolated: bool,
    /// The scope of all strong accesses but volatile ones; none if they differ.
    pub scope: Option<Scope>,
}

fn any_scope() -> BoxedStrategy<Scope> {
    prop_oneof![
        2 => Just(Scope::Cta),
        1 => Just(Scope::Cluster),
        4 => Just(Scope::Gpu),
        1 => Just(Scope::Sys)
    ]
    .boxed()
}

/// Scopes of fences, and of what orders other accesses than its own.
fn sync_scope(kind: Kind) -> BoxedStrategy<Scope> {
    if kind.isolated { Just(Scope::Cta).boxed() } else { any_scope() }
}

fn order(kind: Kind) -> BoxedStrategy<Order> {
    let scope = move || kind.scope.map_or_else(any_scope, |scope| Just(scope).boxed());
    // Releases and acquires of isolated blocks reach no other block.
    let syncs = !kind.isolated || kind.scope == Some(Scope::Cta);
    let sync = move |order: fn(Scope) -> Order| {
        scope().prop_map(move |scope| if syncs { order(scope) } else { Order::Relaxed(scope) })
    };
    prop_oneof![
        8 => Just(Order::Weak),
        1 => Just(Order::Nc),
        3 => Just(Order::Volatile),
        4 => scope().prop_map(Order::Relaxed),
        3 => sync(Order::Acquire),
        3 => sync(Order::Release),
        2 => sync(Order::AcqRel),
    ]
    .boxed()
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => Just(Action::Load),
        4 => Just(Action::Store),
        2 => any::<bool>().prop_map(|returns| Action::Modify(returns, u32::MAX)),
        1 => any::<u32>().prop_map(|wrote| Action::Modify(true, wrote)),
    ]
}

/// What an order means for an action that can't have it.
fn fitting(kind: Kind, order: Order, action: Action, count: u8, shared: bool) -> (Order, u8) {
    let scope = kind.scope.unwrap_or(Scope::Gpu);
    let order = match (order, action) {
        (Order::Nc, Action::Load) if !shared => Order::Nc,
        (Order::Nc, Action::Modify(..)) | (Order::Weak, Action::Modify(..)) => {
            Order::Relaxed(scope)
        }
        (Order::Volatile, Action::Modify(..)) => Order::Relaxed(kind.scope.unwrap_or(Scope::Cta)),
        (Order::Nc, _) => Order::Weak,
        (Order::Release(s) | Order::AcqRel(s), Action::Load) => Order::Acquire(s),
        (Order::Acquire(s) | Order::AcqRel(s), Action::Store) => Order::Release(s),
        (order, _) => order,
    };
    let vector = matches!(order, Order::Weak | Order::Nc) && !matches!(action, Action::Modify(..));
    (order, if vector { count } else { 1 })
}

fn offsets() -> impl Strategy<Value = (u8, u32, [u32; 32])> {
    let scatter = proptest::array::uniform32(0..6u32);
    (0..4u8, prop_oneof![3 => 0..6u32, 1 => 0..32u32], scatter)
}

fn access(kind: Kind) -> impl Strategy<Value = Step> {
    let widths = prop_oneof![1 => Just(1u8), 1 => Just(2u8), 6 => Just(4u8), 2 => Just(8u8)];
    let counts = prop_oneof![5 => Just(1u8), 1 => Just(2u8)];
    (some(), offsets(), widths, counts, action(), order(kind), prop::bool::weighted(0.3)).prop_map(
        move |((warp, mask), (pattern, first, scatter), width, count, action, order, shared)| {
            let (order, count) = fitting(kind, order, action, count, shared);
            let size = u32::from(width) * u32::from(count);
            let slots = BYTES / size;
            let offsets = std::array::from_fn(|lane| {
                let slot = match pattern {
                    0 => first,
                    1 | 2 => 112 / size + first + lane as u32,
                    _ => 120 / size + scatter[lane],
                };
                slot % slots * size
            });
            Step::Access(Access { warp, mask, offsets, width, count, action, order, shared })
        },
    )
}

fn fence_kind() -> impl Strategy<Value = FenceKind> {
    prop_oneof![
        1 => Just(FenceKind::Acquire),
        1 => Just(FenceKind::Release),
        3 => Just(FenceKind::AcqRel),
        1 => Just(FenceKind::Sc)
    ]
}

fn most(lanes: u32) -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(u32::MAX), 1 => any::<u32>()].prop_map(move |mask| mask & lanes)
}

fn barrier() -> impl Strategy<Value = Step> {
    let arrive = (most(u32::MAX), most(0xf));
    (0..BLOCKS, arrive, most(u32::MAX)).prop_map(|(block, arrive, wait)| {
        let arrive = [arrive.0, arrive.1];
        Step::Barrier(block, arrive, arrive.map(|mask| mask & wait))
    })
}

fn step(kind: Kind) -> impl Strategy<Value = Step> {
    let fence = (some(), fence_kind(), sync_scope(kind));
    let object = move || (some(), sync_scope(kind), 0..2usize);
    prop_oneof![
        12 => access(kind),
        3 => fence.prop_map(|((warp, mask), kind, scope)| Step::Fence(warp, mask, kind, scope)),
        1 => some().prop_map(|(warp, mask)| Step::WarpSync(warp, mask)),
        2 => barrier(),
        1 => object().prop_map(|((w, m), scope, object)| Step::Release(w, m, scope, object)),
        1 => object().prop_map(|((w, m), scope, object)| Step::Acquire(w, m, scope, object)),
    ]
}

/// Programs of a kind.
pub fn programs(kind: Kind) -> impl Strategy<Value = Program> {
    let clusters = if kind.isolated { Just(1).boxed() } else { (1..=2u32).boxed() };
    let steps = prop::collection::vec((step(kind), prop::bool::weighted(0.05)), 1..60);
    (clusters, steps).prop_map(move |(cluster_blocks, steps)| Program {
        grid: Grid { threads: THREADS, cluster_blocks, isolated: kind.isolated },
        steps,
    })
}

/// Programs whose strong accesses have one scope.
pub fn uniform(isolated: bool) -> impl Strategy<Value = Program> {
    any_scope().prop_flat_map(move |scope| programs(Kind { isolated, scope: Some(scope) }))
}

/// Programs whose strong accesses have any scopes.
pub fn mixed() -> impl Strategy<Value = Program> {
    programs(Kind { isolated: false, scope: None })
}
