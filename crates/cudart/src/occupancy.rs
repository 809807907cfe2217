//! How many blocks of a kernel a multiprocessor holds: the documented limits (CUDA C++
//! Programming Guide, "Technical Specifications per Compute Capability", and the formulas of the
//! occupancy calculator). Registers are an estimate from PTX here, so they limit nothing but what
//! is clearly above.

use proofrun_emulator::profile::{MAX_THREADS_PER_BLOCK, Profile, WARP_SIZE};

/// Shared memory is given in units of 128 bytes from 8.0 on, and of 256 before.
fn shared_unit(profile: &Profile) -> u64 {
    if profile.compute_capability.0 >= 8 { 128 } else { 256 }
}

/// Registers are given to warps in units of this.
const REGISTER_UNIT: u32 = 256;
/// Warps are given registers by four schedulers.
const SCHEDULERS: u32 = 4;

/// What a block needs.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// Threads.
    pub threads: u32,
    /// Static and dynamic shared memory.
    pub shared_bytes: u64,
    /// Registers of a thread.
    pub registers: u32,
}

/// Resident blocks of a multiprocessor; 0 where a block doesn't fit.
pub fn blocks_per_sm(profile: &Profile, needs: Needs) -> u32 {
    if needs.threads == 0 || needs.threads > MAX_THREADS_PER_BLOCK {
        return 0;
    }
    let warps = needs.threads.div_ceil(WARP_SIZE);
    let by_warps = profile.threads_per_sm / WARP_SIZE / warps;
    let by_shared = u64::from(profile.shared_bytes_per_sm)
        .checked_div(taken(profile, needs.shared_bytes))
        .unwrap_or(u64::from(profile.blocks_per_sm));
    let by_shared = u32::try_from(by_shared).unwrap_or(u32::MAX);
    profile.blocks_per_sm.min(by_warps).min(by_shared).min(by_registers(profile, needs, warps))
}

/// What a block takes of a multiprocessor's shared memory.
fn taken(profile: &Profile, bytes: u64) -> u64 {
    (bytes + u64::from(profile.reserved_shared_bytes_per_block))
        .next_multiple_of(shared_unit(profile))
}

fn by_registers(profile: &Profile, needs: Needs, warps: u32) -> u32 {
    if needs.registers == 0 {
        return u32::MAX;
    }
    let of_warp = (needs.registers * WARP_SIZE).next_multiple_of(REGISTER_UNIT);
    let resident = profile.registers / of_warp / SCHEDULERS * SCHEDULERS;
    resident / warps
}

/// The most dynamic shared memory with which `blocks` blocks still fit, as the driver computes
/// it: what it reserves of each block isn't taken off (an H200 said so).
pub fn dynamic_shared(profile: &Profile, blocks: u32, static_bytes: u32) -> u64 {
    let unit = shared_unit(profile);
    let each = u64::from(profile.shared_bytes_per_sm) / u64::from(blocks.max(1)) / unit * unit;
    each.saturating_sub(u64::from(static_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofrun_emulator::profile::{H200, RTX4090, T4};

    fn blocks(profile: &Profile, threads: u32, shared_bytes: u64) -> u32 {
        blocks_per_sm(profile, Needs { threads, shared_bytes, registers: 0 })
    }

    /// What an H200 answered, see `tests/hardware`.
    #[test]
    fn an_h200_holds_what_it_said_it_holds() {
        for (threads, counts) in [
            (1, [32, 32, 13, 4]),
            (64, [32, 32, 13, 4]),
            (128, [16, 16, 13, 4]),
            (256, [8, 8, 8, 4]),
            (512, [4, 4, 4, 4]),
            (768, [2, 2, 2, 2]),
            (1024, [2, 2, 2, 2]),
            (1025, [0, 0, 0, 0]),
        ] {
            let got = [0, 1024, 16384, 49152].map(|shared| blocks(&H200, threads, shared));
            assert_eq!(got, counts, "{threads} threads");
        }
    }

    #[test]
    fn other_devices_hold_less() {
        assert_eq!(blocks(&T4, 64, 0), 16);
        assert_eq!(blocks(&T4, 1024, 0), 1);
        assert_eq!(blocks(&T4, 32, 32 << 10), 2);
        assert_eq!(blocks(&RTX4090, 32, 0), 24);
        assert_eq!(blocks(&RTX4090, 512, 0), 3);
        assert_eq!(blocks(&RTX4090, 32, 99 << 10), 1);
    }

    #[test]
    fn registers_limit_blocks_too() {
        let needs = Needs { threads: 256, shared_bytes: 0, registers: 255 };
        assert_eq!(blocks_per_sm(&H200, needs), 1);
        assert_eq!(blocks_per_sm(&H200, Needs { registers: 32, ..needs }), 8);
    }

    #[test]
    fn dynamic_shared_memory_is_shared_among_blocks() {
        assert_eq!(dynamic_shared(&H200, 5, 0), 46_592);
        assert_eq!(dynamic_shared(&H200, 2, 1024), 233_472 / 2 - 1024);
    }
}
