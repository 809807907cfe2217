//! Rows that are filled before a frame runs.

use super::{BlockState, Launch};
use crate::lanes::{ALL, LANES, Lanes, Row, Width};
use crate::program::{PresetValue, Special};

impl Launch<'_> {
    /// A function's registers as its frames begin, but for what differs between warps and depths.
    pub(crate) fn template(&self, function: usize) -> &Lanes {
        self.templates[function].get_or_init(|| {
            let code = &self.program.functions[function];
            let mut lanes = Lanes::new(code.units);
            for preset in &code.presets {
                match &preset.value {
                    PresetValue::Bits(bits) => set_all(&mut lanes, preset.row, preset.width, *bits),
                    PresetValue::Shared(index, offset) => {
                        let at = i64::from(self.layout.offsets[*index].unwrap_or(0)) + offset;
                        set_all(&mut lanes, preset.row, preset.width, at as u64 as u128);
                    }
                    PresetValue::Special(_) | PresetValue::Local(_) => {}
                }
            }
            lanes
        })
    }
}

/// Fills what depends on the warp, and on where the frame's local memory begins.
pub(crate) fn fill(
    launch: &Launch<'_>,
    block: &BlockState,
    warp: u32,
    function: usize,
    local: u32,
    lanes: &mut Lanes,
) {
    for preset in &launch.program.functions[function].presets {
        match &preset.value {
            PresetValue::Special(special) => {
                fill_special(launch, block, warp, *special, lanes, preset.row, preset.width);
            }
            PresetValue::Local(offset) => {
                set_all(lanes, preset.row, preset.width, u128::from(local + offset));
            }
            PresetValue::Bits(_) | PresetValue::Shared(..) => {}
        }
    }
}

fn set_all(lanes: &mut Lanes, row: Row, width: Width, bits: u128) {
    match width {
        Width::Pred => lanes.set_pred(row, if bits & 1 == 1 { ALL } else { 0 }, ALL),
        Width::B16 => *lanes.get_mut(row) = [bits as u16; LANES],
        Width::B32 => *lanes.get_mut(row) = [bits as u32; LANES],
        Width::B64 => *lanes.get_mut(row) = [bits as u64; LANES],
        Width::B128 => *lanes.get_mut(row) = [bits; LANES],
    }
}

/// A thread's index in its block, by dimension.
pub(crate) fn thread_index(block: [u32; 3], linear: u32) -> [u32; 3] {
    [linear % block[0], linear / block[0] % block[1], linear / (block[0] * block[1])]
}

fn fill_special(
    launch: &Launch<'_>,
    block: &BlockState,
    warp: u32,
    special: Special,
    lanes: &mut Lanes,
    row: Row,
    width: Width,
) {
    let value = |lane: u32| special_value(launch, block, warp, special, lane);
    match width {
        Width::B64 => *lanes.get_mut(row) = std::array::from_fn(|lane| value(lane as u32)),
        Width::B16 => *lanes.get_mut(row) = std::array::from_fn(|lane| value(lane as u32) as u16),
        Width::Pred => {
            let set = (0..LANES as u32).filter(|lane| value(*lane) != 0);
            lanes.set_pred(row, set.fold(0, |all, lane| all | 1 << lane), ALL);
        }
        Width::B32 | Width::B128 => {
            *lanes.get_mut(row) = std::array::from_fn(|lane| value(lane as u32) as u32);
        }
    }
}

/// The value of a special register (PTX ISA 10).
fn special_value(
    launch: &Launch<'_>,
    block: &BlockState,
    warp: u32,
    special: Special,
    lane: u32,
) -> u64 {
    let processor = block.linear % launch.processors.max(1);
    u64::from(match special {
        Special::Tid(axis) => thread_index(launch.block, 32 * warp + lane)[axis as usize],
        Special::NTid(axis) => launch.block[axis as usize],
        Special::CtaId(axis) => block.index[axis as usize],
        Special::NCtaId(axis) => launch.grid[axis as usize],
        Special::LaneId => lane,
        Special::WarpId => warp,
        Special::NWarpId => launch.threads().div_ceil(32),
        Special::SmId => processor,
        Special::NSmId => launch.processors,
        Special::GridId => return launch.index,
        Special::LaneMaskEq => 1 << lane,
        Special::LaneMaskLt => (1 << lane) - 1,
        Special::LaneMaskLe => (1u64 << (lane + 1)).wrapping_sub(1) as u32,
        Special::LaneMaskGe => u32::MAX << lane,
        Special::LaneMaskGt => ((u64::from(u32::MAX) << (lane + 1)) & 0xffff_ffff) as u32,
        Special::DynamicSharedBytes => launch.dynamic_bytes,
        Special::TotalSharedBytes => launch.layout.dynamic_at + launch.dynamic_bytes,
        Special::EnvReg(1) => (launch.workspace >> 32) as u32,
        Special::EnvReg(_) => launch.workspace as u32,
        Special::Zero | Special::False => 0,
        Special::One => 1,
    })
}
