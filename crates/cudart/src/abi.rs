//! The structures of `driver_types.h` and `vector_types.h` of CUDA 13.0, laid out as C lays them
//! out. A test compares each offset with the toolkit's headers.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

/// `dim3`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim3 {
    /// In x.
    pub x: c_uint,
    /// In y.
    pub y: c_uint,
    /// In z.
    pub z: c_uint,
}

impl From<Dim3> for [u32; 3] {
    fn from(dim: Dim3) -> Self {
        [dim.x, dim.y, dim.z]
    }
}

/// `cudaExtent`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// In bytes, for linear memory.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Slices.
    pub depth: usize,
}

/// `cudaPos`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// In bytes, for linear memory.
    pub x: usize,
    /// Rows.
    pub y: usize,
    /// Slices.
    pub z: usize,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PitchedPointer {
    /// The first byte.
    pub pointer: u64,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes of a row that hold data.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Copy3d {
    /// An array to read, or null.
    pub from_array: u64,
    /// Where in it.
    pub from_position: Position,
    /// Memory to read.
    pub from: PitchedPointer,
    /// An array to write, or null.
    pub to_array: u64,
    /// Where in it.
    pub to_position: Position,
    /// Memory to write.
    pub to: PitchedPointer,
    /// How much.
    pub extent: Extent,
    /// `cudaMemcpyKind`.
    pub kind: c_int,
}

/// `cudaMemcpy3DPeerParms`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Copy3dPeer {
    /// An array to read, or null.
    pub from_array: u64,
    /// Where in it.
    pub from_position: Position,
    /// Memory to read.
    pub from: PitchedPointer,
    /// Of which device.
    pub from_device: c_int,
    /// An array to write, or null.
    pub to_array: u64,
    /// Where in it.
    pub to_position: Position,
    /// Memory to write.
    pub to: PitchedPointer,
    /// Of which device.
    pub to_device: c_int,
    /// How much.
    pub extent: Extent,
}

/// `cudaMemLocation`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Location {
    /// `cudaMemLocationType`.
    pub kind: c_int,
    /// The device, where the type is one.
    pub id: c_int,
}

/// `cudaPointerAttributes`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PointerAttributes {
    /// `cudaMemoryType`.
    pub kind: c_int,
    /// The device it belongs to.
    pub device: c_int,
    /// The address for kernels.
    pub device_pointer: u64,
    /// The address for the host.
    pub host_pointer: u64,
    /// Zero.
    pub reserved: [c_long; 8],
}

/// `cudaFuncAttributes`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FunctionAttributes {
    /// Static shared memory.
    pub shared_bytes: usize,
    /// Constant memory.
    pub const_bytes: usize,
    /// Local memory of a thread.
    pub local_bytes: usize,
    /// Most threads of a block.
    pub max_threads: c_int,
    /// Registers of a thread.
    pub registers: c_int,
    /// The architecture of the PTX, times ten.
    pub ptx_version: c_int,
    /// The architecture of the code, times ten.
    pub binary_version: c_int,
    /// Whether it was compiled with `--dlcm=ca`.
    pub cache_mode: c_int,
    /// Most dynamic shared memory of a block.
    pub max_dynamic_shared_bytes: c_int,
    /// In percent, -1 for the driver's choice.
    pub carveout: c_int,
    /// Whether a launch needs a cluster.
    pub cluster_must_be_set: c_int,
    /// The cluster required, all 0 if none.
    pub required_cluster: [c_int; 3],
    /// `cudaClusterSchedulingPolicy`.
    pub cluster_policy: c_int,
    /// Whether clusters may be larger than is portable.
    pub non_portable_cluster: c_int,
    /// Reserved.
    pub reserved: [c_int; 16],
}

/// `cudaLaunchAttribute`: an id, padding to 8 bytes, a union of 64 bytes.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy)]
pub struct LaunchAttribute {
    /// `cudaLaunchAttributeID`.
    pub id: c_int,
    /// To 8 bytes.
    pub padding: [c_char; 4],
    /// The union as words; every member of up to a word each starts at the first.
    pub value: [c_uint; 16],
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LaunchConfig {
    /// Blocks.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Dynamic shared memory.
    pub dynamic_shared_bytes: usize,
    /// The stream.
    pub stream: u64,
    /// Attributes.
    pub attributes: *const LaunchAttribute,
    /// How many.
    pub attribute_count: c_uint,
}

/// `cudaChannelFormatDesc`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ChannelFormat {
    /// Bits of each component.
    pub bits: [c_int; 4],
    /// `cudaChannelFormatKind`.
    pub kind: c_int,
}

/// What nvcc puts into a program for each fat binary: `__fatBinC_Wrapper_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FatBinaryWrapper {
    /// 0x466243b1.
    pub magic: c_uint,
    /// 1; 2 if the device linker made it.
    pub version: c_uint,
    /// The fat binary.
    pub data: *const u8,
    /// A file name, or with version 2 the fat binaries that were linked.
    pub more: *const c_void,
}

/// `cudaDeviceProp`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields are as driver_types.h documents them, in its order")]
pub struct DeviceProperties {
    pub name: [c_char; 256],
    pub uuid: [u8; 16],
    pub luid: [c_char; 8],
    pub luid_device_node_mask: c_uint,
    pub total_global_mem: usize,
    pub shared_mem_per_block: usize,
    pub regs_per_block: c_int,
    pub warp_size: c_int,
    pub mem_pitch: usize,
    pub max_threads_per_block: c_int,
    pub max_threads_dim: [c_int; 3],
    pub max_grid_size: [c_int; 3],
    pub total_const_mem: usize,
    pub major: c_int,
    pub minor: c_int,
    pub texture_alignment: usize,
    pub texture_pitch_alignment: usize,
    pub multi_processor_count: c_int,
    pub integrated: c_int,
    pub can_map_host_memory: c_int,
    pub max_texture_1d: c_int,
    pub max_texture_1d_mipmap: c_int,
    pub max_texture_2d: [c_int; 2],
    pub max_texture_2d_mipmap: [c_int; 2],
    pub max_texture_2d_linear: [c_int; 3],
    pub max_texture_2d_gather: [c_int; 2],
    pub max_texture_3d: [c_int; 3],
    pub max_texture_3d_alt: [c_int; 3],
    pub max_texture_cubemap: c_int,
    pub max_texture_1d_layered: [c_int; 2],
    pub max_texture_2d_layered: [c_int; 3],
    pub max_texture_cubemap_layered: [c_int; 2],
    pub max_surface_1d: c_int,
    pub max_surface_2d: [c_int; 2],
    pub max_surface_3d: [c_int; 3],
    pub max_surface_1d_layered: [c_int; 2],
    pub max_surface_2d_layered: [c_int; 3],
    pub max_surface_cubemap: c_int,
    pub max_surface_cubemap_layered: [c_int; 2],
    pub surface_alignment: usize,
    pub concurrent_kernels: c_int,
    pub ecc_enabled: c_int,
    pub pci_bus_id: c_int,
    pub pci_device_id: c_int,
    pub pci_domain_id: c_int,
    pub tcc_driver: c_int,
    pub async_engine_count: c_int,
    pub unified_addressing: c_int,
    pub memory_bus_width: c_int,
    pub l2_cache_size: c_int,
    pub persisting_l2_cache_max_size: c_int,
    pub max_threads_per_multi_processor: c_int,
    pub stream_priorities_supported: c_int,
    pub global_l1_cache_supported: c_int,
    pub local_l1_cache_supported: c_int,
    pub shared_mem_per_multiprocessor: usize,
    pub regs_per_multiprocessor: c_int,
    pub managed_memory: c_int,
    pub is_multi_gpu_board: c_int,
    pub multi_gpu_board_group_id: c_int,
    pub host_native_atomic_supported: c_int,
    pub pageable_memory_access: c_int,
    pub concurrent_managed_access: c_int,
    pub compute_preemption_supported: c_int,
    pub can_use_host_pointer_for_registered_mem: c_int,
    pub cooperative_launch: c_int,
    pub shared_mem_per_block_optin: usize,
    pub pageable_memory_access_uses_host_page_tables: c_int,
    pub direct_managed_mem_access_from_host: c_int,
    pub max_blocks_per_multi_processor: c_int,
    pub access_policy_max_window_size: c_int,
    pub reserved_shared_mem_per_block: usize,
    pub host_register_supported: c_int,
    pub sparse_cuda_array_supported: c_int,
    pub host_register_read_only_supported: c_int,
    pub timeline_semaphore_interop_supported: c_int,
    pub memory_pools_supported: c_int,
    pub gpu_direct_rdma_supported: c_int,
    pub gpu_direct_rdma_flush_writes_options: c_uint,
    pub gpu_direct_rdma_writes_ordering: c_int,
    pub memory_pool_supported_handle_types: c_uint,
    pub deferred_mapping_cuda_array_supported: c_int,
    pub ipc_event_supported: c_int,
    pub cluster_launch: c_int,
    pub unified_function_pointers: c_int,
    pub device_numa_config: c_int,
    pub device_numa_id: c_int,
    pub mps_enabled: c_int,
    pub host_numa_id: c_int,
    pub gpu_pci_device_id: c_uint,
    pub gpu_pci_subsystem_id: c_uint,
    pub host_numa_multinode_ipc_supported: c_int,
    pub reserved: [c_int; 56],
}
