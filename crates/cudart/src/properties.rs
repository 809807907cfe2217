//! What a program is told of the device: `cudaGetDeviceProperties` and `cudaDeviceGetAttribute`.
//! Facts that differ between devices are in their profiles. The others here are those of an H200
//! with driver 580, and documented alike for each capability from 7.5 on.

use std::ffi::{c_char, c_int};

use proofrun_emulator::profile::{
    CONSTANT_BYTES, MAX_BLOCK, MAX_GRID, MAX_THREADS_PER_BLOCK, Profile, WARP_SIZE,
};

use crate::abi::DeviceProperties;

/// The pitch of `cudaMallocPitch` is a multiple of this: the alignment of textures.
pub const PITCH_ALIGNMENT: usize = 512;
/// The largest pitch of a copy.
const MAX_PITCH: i32 = 0x7fff_ffff;

const TEXTURE_1D: i32 = 131_072;
const TEXTURE_1D_MIPMAP: i32 = 32_768;
const TEXTURE_2D: [i32; 2] = [131_072, 65_536];
const TEXTURE_2D_LINEAR: [i32; 3] = [131_072, 65_000, 2_097_120];
const TEXTURE_3D: [i32; 3] = [16_384; 3];
const TEXTURE_3D_ALT: [i32; 3] = [8192, 8192, 32_768];
const SIDE: i32 = 32_768;
const LAYERS: i32 = 2048;
const CUBEMAP_LAYERS: i32 = 2046;
const TEXTURE_1D_LINEAR: i32 = 268_435_456;

fn int(value: u32) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}

/// Whether the device has the features of that capability.
fn since(profile: &Profile, major: u32) -> c_int {
    c_int::from(profile.compute_capability.0 >= major)
}

/// All that `cudaGetDeviceProperties` tells. No unique identifier: it is no device.
#[allow(clippy::too_many_lines, reason = "a field of the structure a line")]
pub fn properties(profile: &Profile) -> DeviceProperties {
    let mut name = [0; 256];
    for (to, from) in name.iter_mut().zip(profile.name.bytes()) {
        *to = from as c_char;
    }
    let attribute = |number| attribute(profile, number).unwrap_or_default();
    DeviceProperties {
        name,
        uuid: [0; 16],
        luid: [0; 8],
        luid_device_node_mask: 0,
        total_global_mem: profile.memory_bytes as usize,
        shared_mem_per_block: profile.shared_bytes_per_block as usize,
        regs_per_block: int(profile.registers),
        warp_size: int(WARP_SIZE),
        mem_pitch: MAX_PITCH as usize,
        max_threads_per_block: int(MAX_THREADS_PER_BLOCK),
        max_threads_dim: MAX_BLOCK.map(int),
        max_grid_size: MAX_GRID.map(int),
        total_const_mem: CONSTANT_BYTES as usize,
        major: int(profile.compute_capability.0),
        minor: int(profile.compute_capability.1),
        texture_alignment: PITCH_ALIGNMENT,
        texture_pitch_alignment: 32,
        multi_processor_count: int(profile.sm_count),
        integrated: 0,
        can_map_host_memory: 1,
        max_texture_1d: TEXTURE_1D,
        max_texture_1d_mipmap: TEXTURE_1D_MIPMAP,
        max_texture_2d: TEXTURE_2D,
        max_texture_2d_mipmap: [SIDE; 2],
        max_texture_2d_linear: TEXTURE_2D_LINEAR,
        max_texture_2d_gather: [SIDE; 2],
        max_texture_3d: TEXTURE_3D,
        max_texture_3d_alt: TEXTURE_3D_ALT,
        max_texture_cubemap: SIDE,
        max_texture_1d_layered: [SIDE, LAYERS],
        max_texture_2d_layered: [SIDE, SIDE, LAYERS],
        max_texture_cubemap_layered: [SIDE, CUBEMAP_LAYERS],
        max_surface_1d: SIDE,
        max_surface_2d: TEXTURE_2D,
        max_surface_3d: TEXTURE_3D,
        max_surface_1d_layered: [SIDE, LAYERS],
        max_surface_2d_layered: [SIDE, SIDE, LAYERS],
        max_surface_cubemap: SIDE,
        max_surface_cubemap_layered: [SIDE, CUBEMAP_LAYERS],
        surface_alignment: PITCH_ALIGNMENT,
        concurrent_kernels: 1,
        ecc_enabled: attribute(32),
        pci_bus_id: attribute(33),
        pci_device_id: attribute(34),
        pci_domain_id: attribute(50),
        tcc_driver: 0,
        async_engine_count: int(profile.copy_engines),
        unified_addressing: 1,
        memory_bus_width: int(profile.memory_bus_bits),
        l2_cache_size: int(profile.l2_bytes),
        persisting_l2_cache_max_size: int(profile.persisting_l2_bytes),
        max_threads_per_multi_processor: int(profile.threads_per_sm),
        stream_priorities_supported: 1,
        global_l1_cache_supported: 1,
        local_l1_cache_supported: 1,
        shared_mem_per_multiprocessor: profile.shared_bytes_per_sm as usize,
        regs_per_multiprocessor: int(profile.registers),
        managed_memory: 1,
        is_multi_gpu_board: 0,
        multi_gpu_board_group_id: 0,
        host_native_atomic_supported: 0,
        pageable_memory_access: 0,
        concurrent_managed_access: 1,
        compute_preemption_supported: 1,
        can_use_host_pointer_for_registered_mem: 1,
        cooperative_launch: 1,
        shared_mem_per_block_optin: profile.shared_bytes_per_block_optin as usize,
        pageable_memory_access_uses_host_page_tables: 0,
        direct_managed_mem_access_from_host: 0,
        max_blocks_per_multi_processor: int(profile.blocks_per_sm),
        access_policy_max_window_size: int(profile.access_window_bytes),
        reserved_shared_mem_per_block: profile.reserved_shared_bytes_per_block as usize,
        host_register_supported: 1,
        sparse_cuda_array_supported: 1,
        host_register_read_only_supported: attribute(113),
        timeline_semaphore_interop_supported: 1,
        memory_pools_supported: 1,
        gpu_direct_rdma_supported: attribute(116),
        gpu_direct_rdma_flush_writes_options: 1,
        gpu_direct_rdma_writes_ordering: attribute(118),
        memory_pool_supported_handle_types: attribute(119) as u32,
        deferred_mapping_cuda_array_supported: 1,
        ipc_event_supported: 1,
        cluster_launch: attribute(120),
        unified_function_pointers: attribute(129),
        device_numa_config: 0,
        device_numa_id: -1,
        mps_enabled: 0,
        host_numa_id: 0,
        gpu_pci_device_id: profile.pci_device,
        gpu_pci_subsystem_id: 0,
        host_numa_multinode_ipc_supported: 0,
        reserved: [0; 56],
    }
}

/// An attribute by its number in `cudaDeviceAttr`; `None` for a number that isn't one. The reserved
/// numbers, which have no meaning that is documented, are `None` too, though a driver answers them.
pub fn attribute(profile: &Profile, number: c_int) -> Option<c_int> {
    limit(profile, number)
        .or_else(|| of_textures(number))
        .or_else(|| of_device(profile, number))
        .or_else(|| feature(profile, number))
}

/// Limits of kernels.
fn limit(profile: &Profile, number: c_int) -> Option<c_int> {
    Some(match number {
        1 => int(MAX_THREADS_PER_BLOCK),
        2 => int(MAX_BLOCK[0]),
        3 => int(MAX_BLOCK[1]),
        4 => int(MAX_BLOCK[2]),
        5 => int(MAX_GRID[0]),
        6 => int(MAX_GRID[1]),
        7 => int(MAX_GRID[2]),
        8 => int(profile.shared_bytes_per_block),
        9 => int(CONSTANT_BYTES),
        10 => int(WARP_SIZE),
        11 => MAX_PITCH,
        12 | 82 => int(profile.registers),
        39 => int(profile.threads_per_sm),
        75 => int(profile.compute_capability.0),
        76 => int(profile.compute_capability.1),
        81 => int(profile.shared_bytes_per_sm),
        97 => int(profile.shared_bytes_per_block_optin),
        106 => int(profile.blocks_per_sm),
        108 => int(profile.persisting_l2_bytes),
        109 => int(profile.access_window_bytes),
        111 => int(profile.reserved_shared_bytes_per_block),
        _ => return None,
    })
}

/// Limits of textures and surfaces.
fn of_textures(number: c_int) -> Option<c_int> {
    Some(match number {
        14 | 30 => PITCH_ALIGNMENT as c_int,
        51 => 32,
        21 => TEXTURE_1D,
        22 | 56 => TEXTURE_2D[0],
        23 | 57 => TEXTURE_2D[1],
        24..=26 => TEXTURE_3D[number as usize - 24],
        58..=60 => TEXTURE_3D[number as usize - 58],
        47..=49 => TEXTURE_3D_ALT[number as usize - 47],
        70..=72 => TEXTURE_2D_LINEAR[number as usize - 70],
        27 | 28 | 42 | 45 | 46 | 52 | 53 | 55 | 61 | 63 | 64 | 66 | 67 | 73 | 74 | 77 => SIDE,
        29 | 43 | 62 | 65 => LAYERS,
        54 | 68 => CUBEMAP_LAYERS,
        69 => TEXTURE_1D_LINEAR,
        _ => return None,
    })
}

/// The card.
fn of_device(profile: &Profile, number: c_int) -> Option<c_int> {
    Some(match number {
        13 => int(profile.clock_khz),
        16 => int(profile.sm_count),
        32 => c_int::from(profile.ecc),
        33 | 34 | 50 => 0,
        36 => int(profile.memory_clock_khz),
        37 => int(profile.memory_bus_bits),
        38 => int(profile.l2_bytes),
        40 => int(profile.copy_engines),
        87 => int(profile.single_to_double),
        // The bits of an unsigned number.
        139 => profile.pci_device.cast_signed(),
        140 => 0,
        _ => return None,
    })
}

/// What it can do.
fn feature(profile: &Profile, number: c_int) -> Option<c_int> {
    Some(match number {
        // Overlap, mapped host memory, concurrent kernels, one address space, stream priorities,
        // both L1 caches, managed memory and its concurrent access, preemption, registered host
        // pointers, cooperative launch, host registration, sparse arrays, timeline semaphores,
        // memory pools.
        15 | 19 | 31 | 41 | 78 | 79 | 80 | 83 | 89 | 90 | 91 | 95 | 99 | 112 | 114 | 115 => 1,
        // A data centre's card: direct RDMA, its flushes, and read-only registration.
        116 | 117 => c_int::from(profile.ecc),
        113 | 121 | 125 | 142 | 144 => 1,
        118 => 100 * c_int::from(profile.ecc),
        119 => {
            if profile.compute_capability.0 >= 9 {
                9
            } else {
                1
            }
        }
        120 => since(profile, 9),
        129 => 1,
        126 => {
            if profile.compute_capability.0 >= 9 {
                4
            } else {
                1
            }
        }
        44 => 1,
        131 => -1,
        // No time limit, not integrated, default compute mode, no TCC, one GPU on its board, no
        // native host atomics, no pageable access, no remote flushes, no NUMA, no MPS, no
        // graphics interop.
        17 | 18 | 20 | 35 | 84 | 85 | 86 | 88 | 98 | 100 | 101 | 130 | 133 | 134 | 135 | 138
        | 143 | 147 => 0,
        _ => return None,
    })
}
