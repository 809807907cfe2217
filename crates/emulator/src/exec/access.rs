//! Loads, stores, atomics and fences: from registers to memory and back.

use super::mbarriers::BYTES;
use super::step::Flow;
use super::values::{get_lane, set_lane};
use super::warp::{Fragment, lanes_of};
use super::{Cx, Poison, Stop, atomics, copies::Copy};
use crate::lanes::{LANES, Row, Width};
use crate::machine::Fault;
use crate::memory::{Access, Outcome, Proxy, SHARED_BASE, WINDOW};
use crate::memory::{Order as MemoryOrder, Space as MemorySpace};
use crate::program::{Atomic, AtomicOp, Fence, FenceKind, Load, Order, Part, Scope, Space, Store};
use crate::race;

fn scope(scope: Scope) -> race::Scope {
    match scope {
        Scope::Block => race::Scope::Cta,
        Scope::Cluster => race::Scope::Cluster,
        Scope::Gpu => race::Scope::Gpu,
        Scope::System => race::Scope::Sys,
    }
}

fn order(order: Order) -> MemoryOrder {
    match order {
        Order::Weak => MemoryOrder::Weak,
        Order::ReadOnly => MemoryOrder::Nc,
        Order::Volatile => MemoryOrder::Volatile,
        Order::Relaxed(within) => MemoryOrder::Relaxed(scope(within)),
        Order::Acquire(within) => MemoryOrder::Acquire(scope(within)),
        Order::Release(within) => MemoryOrder::Release(scope(within)),
        Order::AcquireRelease(within) => MemoryOrder::AcqRel(scope(within)),
    }
}

fn space(space: Space) -> MemorySpace {
    match space {
        Space::Global => MemorySpace::Global,
        Space::Shared => MemorySpace::Shared,
        Space::Local => MemorySpace::Local,
        Space::Const => MemorySpace::Const,
        Space::Param | Space::Generic => MemorySpace::Generic,
    }
}

fn strong(order: Order) -> bool {
    !matches!(order, Order::Weak | Order::ReadOnly)
}

/// The address of one lane.
pub(crate) fn lane_address(
    cx: &Cx<'_, '_>,
    base: Row,
    wide: bool,
    offset: i64,
    lane: usize,
) -> u64 {
    match wide {
        true => cx.lanes().get::<u64>(base)[lane].wrapping_add_signed(offset),
        false => u64::from(cx.lanes().get::<u32>(base)[lane].wrapping_add_signed(offset as i32)),
    }
}

/// The addresses of all lanes.
#[inline]
fn addresses(cx: &Cx<'_, '_>, base: Row, wide: bool, offset: i64) -> [u64; LANES] {
    let lanes = cx.lanes();
    if wide {
        lanes.get::<u64>(base).map(|base| base.wrapping_add_signed(offset))
    } else {
        lanes.get::<u32>(base).map(|base| u64::from(base.wrapping_add_signed(offset as i32)))
    }
}

/// The offset in shared memory of an address that is generic or already one.
pub(crate) fn shared_offset(cx: &Cx<'_, '_>, address: u64) -> Option<u32> {
    let offset = if address >= SHARED_BASE { address - SHARED_BASE } else { address };
    let total = u64::from(cx.launch.shared_bytes());
    (offset < WINDOW && offset < total).then_some(offset as u32)
}

/// The name of a place in shared memory.
pub(crate) fn shared_name(cx: &Cx<'_, '_>, offset: u32) -> String {
    super::sink::shared_name(cx.launch, offset)
}

/// Whether an access touches an mbarrier, which only `mbarrier` may (PTX ISA 9.7.15.16.1).
fn mbarrier_touched(
    cx: &Cx<'_, '_>,
    space: Space,
    addresses: &[u64; LANES],
    bytes: u32,
    mask: u32,
) -> Option<(usize, u32)> {
    if cx.block.mbarriers.all.is_empty() || !matches!(space, Space::Shared | Space::Generic) {
        return None;
    }
    lanes_of(mask).find_map(|lane| {
        let address = addresses[lane];
        let generic = space == Space::Generic;
        if generic && !(SHARED_BASE..SHARED_BASE + WINDOW).contains(&address) {
            return None;
        }
        let offset = shared_offset(cx, address)?;
        Some((lane, cx.block.mbarriers.overlapping(offset, bytes)?))
    })
}

/// Everything that is checked before memory is touched.
fn before(
    cx: &mut Cx<'_, '_>,
    fragment: &Fragment,
    base: Row,
    at: (Space, &[u64; LANES], u32),
    mask: u32,
) -> Option<Flow> {
    if let Some(fault) = cx.check_poison(fragment, base, mask) {
        return Some(fault);
    }
    let (space, addresses, bytes) = at;
    let (lane, offset) = mbarrier_touched(cx, space, addresses, bytes, mask)?;
    let number = cx.number(fragment);
    let what = format!(
        "an ordinary access of {}, which is an mbarrier: it is opaque",
        shared_name(cx, offset)
    );
    cx.sink.barrier(cx.block, cx.warp.index, number, 1 << lane, what);
    Some(Flow::Stop(Stop::Fault(Fault::LaunchFailure)))
}

/// What a fault of an access does to the launch.
fn after(outcome: Outcome) -> Option<Flow> {
    if outcome.faulted == 0 {
        return None;
    }
    let fault =
        if outcome.misaligned != 0 { Fault::MisalignedAddress } else { Fault::IllegalAddress };
    Some(Flow::Stop(Stop::Fault(fault)))
}

/// A hash of what a look saw: place, address, value.
fn look(number: u32, address: u64, value: &[u8]) -> u64 {
    let mut hash = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ address;
    for byte in value.iter().take(16) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash << 1
}

/// `ld`
pub(crate) fn load(cx: &mut Cx<'_, '_>, fragment: &mut Fragment, load: &Load, mask: u32) -> Flow {
    let addresses = addresses(cx, load.base, load.wide, load.offset);
    let size = u32::from(load.bytes) * load.parts.len() as u32;
    let at = (load.space, &addresses, size);
    if let Some(fault) = before(cx, fragment, load.base, at, mask) {
        return fault;
    }
    let params = super::values::params_within(load.space, &addresses, mask);
    if params != 0 {
        super::values::load_generic_param(cx, load, &addresses, params);
    }
    let mask = mask & !params;
    if mask == 0 {
        return Flow::Next;
    }
    let number = cx.number(fragment);
    let access = Access {
        addresses: &addresses,
        mask,
        width: load.bytes,
        count: load.parts.len() as u8,
        space: space(load.space),
        order: order(load.order),
        proxy: Proxy::Generic,
        returns: true,
        pc: number,
    };
    let mut staging = std::mem::take(&mut cx.sink.staging);
    let outcome = cx.view().load(&access, &mut staging);
    for (index, part) in load.parts.iter().enumerate() {
        let Some(row) = part.row else { continue };
        let from = index * usize::from(load.bytes);
        scatter(cx, row, part.width, staging.bytes(), (from, size as usize, load), mask);
        let poison = Poison { lanes: outcome.poison, origin: number };
        cx.set_poison(row, mask, poison);
    }
    let first = mask.trailing_zeros();
    let seen = look(number, addresses[first as usize], staging.lane(first, size));
    cx.sink.staging = staging;
    if let Some(fault) = after(outcome) {
        return fault;
    }
    if strong(load.order) {
        if cx.in_vain(fragment, seen) {
            return cx.nap(fragment);
        }
        return cx.visible(fragment, Flow::Next);
    }
    Flow::Next
}

/// Puts loaded elements into a row.
fn scatter(
    cx: &mut Cx<'_, '_>,
    row: Row,
    width: Width,
    bytes: &[u8],
    (from, stride, load): (usize, usize, &Load),
    mask: u32,
) {
    let lanes = cx.lanes_mut();
    match (width, load.bytes) {
        (Width::B32, 4) => {
            let values: [u32; LANES] = std::array::from_fn(|lane| {
                let at = from + lane * stride;
                u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
            });
            lanes.set(row, &values, mask);
        }
        (Width::B64, 8) => {
            let values: [u64; LANES] = std::array::from_fn(|lane| {
                let at = from + lane * stride;
                let mut value = [0; 8];
                value.copy_from_slice(&bytes[at..at + 8]);
                u64::from_le_bytes(value)
            });
            lanes.set(row, &values, mask);
        }
        _ => {
            for lane in lanes_of(mask) {
                let at = from + lane * stride;
                let own = &bytes[at..at + usize::from(load.bytes)];
                let value = super::values::element(own, load.signed);
                set_lane(cx, row, width, lane, value);
            }
        }
    }
}

/// Puts a row's elements where memory takes them from.
fn gather(cx: &Cx<'_, '_>, part: &Part, bytes: &mut [u8], at: (usize, usize, u8), mask: u32) {
    let (from, stride, size) = at;
    let Some(row) = part.row else { return };
    match (part.width, size) {
        (Width::B32, 4) => {
            let values = cx.lanes().get::<u32>(row);
            for (lane, value) in values.iter().enumerate() {
                let at = from + lane * stride;
                bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
        }
        _ => {
            for lane in lanes_of(mask) {
                let value = get_lane(cx, row, part.width, lane).to_le_bytes();
                let at = from + lane * stride;
                bytes[at..at + usize::from(size)].copy_from_slice(&value[..usize::from(size)]);
            }
        }
    }
}

/// `st`
pub(crate) fn store(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    store: &Store,
    mask: u32,
) -> Flow {
    let addresses = addresses(cx, store.base, store.wide, store.offset);
    let size = u32::from(store.bytes) * store.parts.len() as u32;
    let at = (store.space, &addresses, size);
    if let Some(fault) = before(cx, fragment, store.base, at, mask) {
        return fault;
    }
    let mut staging = std::mem::take(&mut cx.sink.staging);
    let mut poison = Poison::NONE;
    for (index, part) in store.parts.iter().enumerate() {
        let from = index * usize::from(store.bytes);
        let at = (from, size as usize, store.bytes);
        gather(cx, part, staging.bytes_mut(), at, mask);
        if let Some(row) = part.row {
            poison = poison.with(cx.poison(row));
        }
    }
    let access = Access {
        addresses: &addresses,
        mask,
        width: store.bytes,
        count: store.parts.len() as u8,
        space: space(store.space),
        order: order(store.order),
        proxy: Proxy::Generic,
        returns: false,
        pc: cx.number(fragment),
    };
    let outcome = cx.view().store(&access, &mut staging, poison.lanes & mask);
    cx.sink.staging = staging;
    if store.space != Space::Local {
        cx.progressed();
    }
    if let Some(fault) = after(outcome) {
        return fault;
    }
    if strong(store.order) { cx.visible(fragment, Flow::Next) } else { Flow::Next }
}

/// `atom` and `red`
pub(crate) fn atomic(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    atomic: &Atomic,
    mask: u32,
) -> Flow {
    let addresses = addresses(cx, atomic.base, atomic.wide, atomic.offset);
    let at = (atomic.space, &addresses, u32::from(atomic.bytes));
    if let Some(fault) = before(cx, fragment, atomic.base, at, mask) {
        return fault;
    }
    let number = cx.number(fragment);
    let access = Access {
        addresses: &addresses,
        mask,
        width: atomic.bytes,
        count: 1,
        space: space(atomic.space),
        order: order(atomic.order),
        proxy: Proxy::Generic,
        returns: atomic.result.is_some(),
        pc: number,
    };
    let width = width_of(atomic.bytes);
    let operands: [u128; LANES] =
        std::array::from_fn(|lane| get_lane(cx, atomic.operand, width, lane));
    let swaps: [u128; LANES] = std::array::from_fn(|lane| get_lane(cx, atomic.swap, width, lane));
    let mut changed = false;
    let mut staging = std::mem::take(&mut cx.sink.staging);
    let mut update = |lane: u32, bytes: &mut [u8]| {
        let lane = lane as usize;
        let old = super::values::element(bytes, false);
        let new = atomics::compute(atomic.op, atomic.bytes, old, operands[lane], swaps[lane]);
        let Some(new) = new else { return false };
        changed |= new != old;
        bytes.copy_from_slice(&new.to_le_bytes()[..bytes.len()]);
        true
    };
    let poison = cx.poison(atomic.operand).with(cx.poison(atomic.swap)).lanes & mask;
    let replaces = atomic.op == AtomicOp::Exchange;
    let outcome = cx.view().rmw(&access, poison, replaces, &mut update, &mut staging);
    let size = u32::from(atomic.bytes);
    if let Some(row) = atomic.result {
        for lane in lanes_of(mask) {
            let old = super::values::element(staging.lane(lane as u32, size), false);
            set_lane(cx, row, width, lane, old);
        }
        cx.set_poison(row, mask, Poison { lanes: outcome.poison, origin: number });
    }
    let first = mask.trailing_zeros();
    let seen = look(number, addresses[first as usize], staging.lane(first, size));
    cx.sink.staging = staging;
    if let Some(fault) = after(outcome) {
        return fault;
    }
    if changed {
        cx.progressed();
    } else if cx.in_vain(fragment, seen) {
        return cx.nap(fragment);
    }
    cx.visible(fragment, Flow::Next)
}

fn width_of(bytes: u8) -> Width {
    match bytes {
        1 | 2 => Width::B16,
        4 => Width::B32,
        8 => Width::B64,
        _ => Width::B128,
    }
}

/// `fence` and `membar`
pub(crate) fn fence(cx: &mut Cx<'_, '_>, fence: Fence, mask: u32) -> Flow {
    let kind = match fence.kind {
        FenceKind::SequentiallyConsistent => race::FenceKind::Sc,
        FenceKind::AcquireRelease => race::FenceKind::AcqRel,
        FenceKind::Acquire => race::FenceKind::Acquire,
        FenceKind::Release => race::FenceKind::Release,
        // Bulk copies, which alone use another proxy, are not emulated.
        FenceKind::Proxy => return Flow::Next,
    };
    cx.warp.clocks.fence(mask, kind, scope(fence.scope));
    Flow::Next
}

/// A value that nothing wrote decides something: what the load found weighs more.
pub(crate) fn escalate(cx: &mut Cx<'_, '_>, origin: u32, _at: u32, _lanes: u32) {
    cx.sink.memory.escalate(origin);
}

/// The initialisation of an mbarrier, as an access of its bytes.
pub(crate) fn touch_mbarrier(
    cx: &mut Cx<'_, '_>,
    number: u32,
    offset: u32,
    lane: usize,
) -> Option<Flow> {
    let addresses = [u64::from(offset); LANES];
    let mut access = Access::weak(&addresses, 1 << lane, BYTES as u8, MemorySpace::Shared, number);
    access.returns = false;
    let mut staging = crate::memory::Staging::default();
    after(cx.view().store(&access, &mut staging, 0))
}

/// The first use of an mbarrier by lanes, as a strong read of its bytes.
pub(crate) fn see_mbarrier(
    cx: &mut Cx<'_, '_>,
    number: u32,
    offset: u32,
    lanes: u32,
) -> Option<Flow> {
    let addresses = [u64::from(offset); LANES];
    let mut access = Access::weak(&addresses, lanes, BYTES as u8, MemorySpace::Shared, number);
    access.order = MemoryOrder::Relaxed(race::Scope::Cta);
    let mut staging = crate::memory::Staging::default();
    after(cx.view().load(&access, &mut staging))
}

/// Asynchronous copies begin: what they read and write is theirs until they are waited for.
pub(crate) fn announce(
    cx: &mut Cx<'_, '_>,
    number: u32,
    (from, readers): (&[u64; LANES], u32),
    (to, writers): (&[u64; LANES], u32),
    bytes: u8,
) -> Option<Flow> {
    let source = Access::weak(from, readers, bytes, MemorySpace::Global, number);
    let target = Access::weak(to, writers, bytes, MemorySpace::Shared, number);
    let read = cx.view().announce(&source, false);
    after(read).or_else(|| after(cx.view().announce(&target, true)))
}

/// Copies of one instruction that complete together.
pub(crate) fn copy_group(
    cx: &mut Cx<'_, '_>,
    group: &[Option<Copy>; LANES],
    like: Copy,
) -> Option<Flow> {
    let mut mask = 0u32;
    let (mut from, mut to) = ([0u64; LANES], [0u64; LANES]);
    for (lane, copy) in group.iter().enumerate() {
        if let Some(copy) = copy {
            mask |= 1 << lane;
            from[lane] = copy.from;
            to[lane] = copy.to;
        }
    }
    let size = u32::from(like.bytes);
    let mut staging = crate::memory::Staging::default();
    let mut poison = 0;
    if like.read == like.bytes {
        let access = Access::weak(&from, mask, like.bytes, MemorySpace::Global, like.number);
        let outcome = cx.view().load(&access, &mut staging);
        if let Some(fault) = after(outcome) {
            return Some(fault);
        }
        poison = outcome.poison;
    } else {
        for byte in 0..like.read {
            let at = from.map(|address| address.wrapping_add(u64::from(byte)));
            let access = Access::weak(&at, mask, 1, MemorySpace::Global, like.number);
            let mut one = crate::memory::Staging::default();
            let outcome = cx.view().load(&access, &mut one);
            if let Some(fault) = after(outcome) {
                return Some(fault);
            }
            poison |= outcome.poison;
            for lane in lanes_of(mask) {
                staging.lane_mut(lane as u32, size)[usize::from(byte)] =
                    one.lane(lane as u32, 1)[0];
            }
        }
    }
    let mut access = Access::weak(&to, mask, like.bytes, MemorySpace::Shared, like.number);
    access.returns = false;
    let outcome = cx.view().store(&access, &mut staging, poison);
    cx.progressed();
    after(outcome)
}
