//! Instructions that move values without touching memory that others see.

use super::step::Flow;
use super::warp::{Fragment, lanes_of};
use super::{Cx, Poison};
use crate::lanes::{LANES, Row, Width};
use crate::memory::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW};
use crate::program::{Clock, Load, Part, Space};

/// Vain waits before time leaps.
const PATIENCE: u32 = 64;

/// Reads one element, extended to 128 bits.
pub(crate) fn element(bytes: &[u8], signed: bool) -> u128 {
    let mut wide = [0u8; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let value = u128::from_le_bytes(wide);
    let unused = 128 - 8 * bytes.len() as u32;
    if signed && unused < 128 { ((value << unused) as i128 >> unused) as u128 } else { value }
}

/// Writes one lane of a row.
pub(crate) fn set_lane(cx: &mut Cx<'_, '_>, row: Row, width: Width, lane: usize, value: u128) {
    let lanes = cx.lanes_mut();
    match width {
        Width::Pred => lanes.set_pred(row, if value & 1 == 1 { u32::MAX } else { 0 }, 1 << lane),
        Width::B16 => lanes.get_mut::<u16>(row)[lane] = value as u16,
        Width::B32 => lanes.get_mut::<u32>(row)[lane] = value as u32,
        Width::B64 => lanes.get_mut::<u64>(row)[lane] = value as u64,
        Width::B128 => lanes.get_mut::<u128>(row)[lane] = value,
    }
}

/// Reads one lane of a row.
pub(crate) fn get_lane(cx: &Cx<'_, '_>, row: Row, width: Width, lane: usize) -> u128 {
    let lanes = cx.lanes();
    match width {
        Width::Pred => u128::from(lanes.pred(row) >> lane & 1),
        Width::B16 => u128::from(lanes.get::<u16>(row)[lane]),
        Width::B32 => u128::from(lanes.get::<u32>(row)[lane]),
        Width::B64 => u128::from(lanes.get::<u64>(row)[lane]),
        Width::B128 => lanes.get::<u128>(row)[lane],
    }
}

/// `ld.param`
pub(crate) fn load_param(
    cx: &mut Cx<'_, '_>,
    base: Option<Row>,
    offset: u32,
    bytes: u8,
    signed: bool,
    parts: &[Part],
    mask: u32,
) -> Flow {
    let size = usize::from(bytes);
    for (index, part) in parts.iter().enumerate() {
        let Some(row) = part.row else { continue };
        for lane in lanes_of(mask) {
            let past = base.map_or(0, |base| cx.lanes().get::<u64>(base)[lane] as usize);
            let at = past.wrapping_add(offset as usize).wrapping_add(index * size);
            let arena = &cx.warp.arenas[cx.arena];
            let end = at.wrapping_add(size);
            // Outside of the parameters zeros are read; the compiler never does.
            let value = match arena.params.get(lane * arena.stride..) {
                Some(own) if end >= at => own.get(at..end).map_or(0, |own| element(own, signed)),
                _ => 0,
            };
            set_lane(cx, row, part.width, lane, value);
        }
        cx.set_poison(row, mask, Poison::NONE);
    }
    Flow::Next
}

/// Lanes whose generic address is that of a kernel parameter.
pub(crate) fn params_within(space: Space, addresses: &[u64; LANES], mask: u32) -> u32 {
    if space != Space::Generic {
        return 0;
    }
    let within = |lane: &usize| (PARAM_BASE..PARAM_BASE + WINDOW).contains(&addresses[*lane]);
    lanes_of(mask).filter(within).fold(0, |all, lane| all | 1 << lane)
}

/// `ld` of kernel parameters through generic addresses.
pub(crate) fn load_generic_param(
    cx: &mut Cx<'_, '_>,
    load: &Load,
    addresses: &[u64; LANES],
    mask: u32,
) {
    let size = usize::from(load.bytes);
    for (index, part) in load.parts.iter().enumerate() {
        let Some(row) = part.row else { continue };
        for lane in lanes_of(mask) {
            let at = (addresses[lane] - PARAM_BASE) as usize + index * size;
            let own = cx.launch.params.get(at..at + size);
            let value = own.map_or(0, |own| element(own, load.signed));
            set_lane(cx, row, part.width, lane, value);
        }
        cx.set_poison(row, mask, Poison::NONE);
    }
}

/// `st.param`
pub(crate) fn store_param(
    cx: &mut Cx<'_, '_>,
    offset: u32,
    bytes: u8,
    parts: &[Part],
    mask: u32,
) -> Flow {
    let size = usize::from(bytes);
    for (index, part) in parts.iter().enumerate() {
        let Some(row) = part.row else { continue };
        for lane in lanes_of(mask) {
            let value = get_lane(cx, row, part.width, lane).to_le_bytes();
            let arena = &mut cx.warp.arenas[cx.arena];
            let at = lane * arena.stride + offset as usize + index * size;
            if let Some(own) = arena.params.get_mut(at..at + size) {
                own.copy_from_slice(&value[..size]);
            }
        }
    }
    Flow::Next
}

/// `mov` from parts.
pub(crate) fn pack(cx: &mut Cx<'_, '_>, d: Row, part: Width, parts: &[Row], mask: u32) -> Flow {
    let bits = part.units() * 16;
    let whole = match bits * parts.len() as u32 {
        32 => Width::B32,
        64 => Width::B64,
        _ => Width::B128,
    };
    let mut poison = Poison::NONE;
    for row in parts {
        poison = poison.with(cx.poison(*row));
    }
    for lane in lanes_of(mask) {
        let value = parts.iter().enumerate().fold(0, |all, (index, row)| {
            all | get_lane(cx, *row, part, lane) << (bits * index as u32)
        });
        set_lane(cx, d, whole, lane, value);
    }
    cx.set_poison(d, mask, poison);
    Flow::Next
}

/// `mov` into parts.
pub(crate) fn unpack(
    cx: &mut Cx<'_, '_>,
    a: Row,
    part: Width,
    parts: &[Option<Row>],
    mask: u32,
) -> Flow {
    let bits = part.units() * 16;
    let whole = match bits * parts.len() as u32 {
        32 => Width::B32,
        64 => Width::B64,
        _ => Width::B128,
    };
    let poison = cx.poison(a);
    for lane in lanes_of(mask) {
        let value = get_lane(cx, a, whole, lane);
        for (index, row) in parts.iter().enumerate() {
            if let Some(row) = row {
                set_lane(cx, *row, part, lane, value >> (bits * index as u32));
            }
        }
    }
    for row in parts.iter().flatten() {
        cx.set_poison(*row, mask, poison);
    }
    Flow::Next
}

/// Where the window of a space begins among generic addresses.
fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_BASE,
        Space::Local => LOCAL_BASE,
        Space::Param => PARAM_BASE,
        Space::Global | Space::Const | Space::Generic => 0,
    }
}

/// `cvta`
pub(crate) fn convert(
    cx: &mut Cx<'_, '_>,
    (d, a): (Row, Row),
    space: Space,
    from_generic: bool,
    wide: bool,
    mask: u32,
) -> Flow {
    let base = window(space);
    let poison = cx.poison(a);
    let lanes = cx.lanes_mut();
    if wide {
        let values = lanes.get::<u64>(a).map(|value| {
            if from_generic { value.wrapping_sub(base) } else { value.wrapping_add(base) }
        });
        lanes.set(d, &values, mask);
    } else {
        let values = *lanes.get::<u32>(a);
        lanes.set(d, &values, mask);
    }
    cx.set_poison(d, mask, poison);
    Flow::Next
}

/// `isspacep`
pub(crate) fn is_space(cx: &mut Cx<'_, '_>, d: Row, a: Row, space: Space, mask: u32) -> Flow {
    let mut found = 0;
    for lane in lanes_of(mask) {
        let address = cx.lanes().get::<u64>(a)[lane];
        let within = |base: u64| (base..base + WINDOW).contains(&address);
        let windows = [SHARED_BASE, LOCAL_BASE, PARAM_BASE];
        let is = match space {
            Space::Global => !windows.into_iter().any(within),
            Space::Const | Space::Generic => false,
            other => within(window(other)),
        };
        found |= u32::from(is) << lane;
    }
    cx.lanes_mut().set_pred(d, found, mask);
    Flow::Next
}

/// Reads a clock. The model: a warp-instruction of the block takes one cycle and one nanosecond,
/// and time leaps where everybody only waits for it.
pub(crate) fn clock(
    cx: &mut Cx<'_, '_>,
    fragment: &mut Fragment,
    clock: Clock,
    row: Row,
    mask: u32,
) -> Flow {
    let number = u64::from(cx.number(fragment));
    cx.in_vain(fragment, number << 1 | 1);
    leap(cx, fragment);
    let cycles = cx.block.steps + cx.block.leap;
    let nanoseconds = cx.launch.started + cycles;
    let lanes = cx.lanes_mut();
    match clock {
        Clock::Cycles64 => lanes.set(row, &[cycles; LANES], mask),
        Clock::Nanoseconds => lanes.set(row, &[nanoseconds; LANES], mask),
        Clock::Cycles32 => lanes.set(row, &[cycles as u32; LANES], mask),
        Clock::CyclesHigh => lanes.set(row, &[(cycles >> 32) as u32; LANES], mask),
        Clock::NanosecondsLow => lanes.set(row, &[nanoseconds as u32; LANES], mask),
        Clock::NanosecondsHigh => lanes.set(row, &[(nanoseconds >> 32) as u32; LANES], mask),
    }
    Flow::Next
}

/// Lets time pass faster the longer a fragment has waited in vain.
fn leap(cx: &mut Cx<'_, '_>, fragment: &Fragment) {
    let over = fragment.waits.count.saturating_sub(PATIENCE);
    if over > 0 {
        cx.block.leap = cx.block.leap.saturating_add(1 << (over / 16).min(40));
    }
}

/// `nanosleep`
pub(crate) fn sleep(cx: &mut Cx<'_, '_>, fragment: &mut Fragment, row: Row, mask: u32) -> Flow {
    let longest = lanes_of(mask).map(|lane| cx.lanes().get::<u32>(row)[lane]).max();
    // At most a millisecond (PTX ISA 9.7.19.4).
    let nanoseconds = u64::from(longest.unwrap_or(0).min(1_000_000));
    cx.block.leap = cx.block.leap.saturating_add(nanoseconds);
    let number = u64::from(cx.number(fragment));
    if cx.in_vain(fragment, number << 1 | 1) {
        leap(cx, fragment);
        return cx.nap(fragment);
    }
    Flow::Next
}
