//! Our structures against the toolkit's headers: sizes and offsets, as the C compiler has them.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::process::Command;

use proofrun_cudart::abi::*;

/// A size or an offset: the expression in C, and ours.
type Row = (String, usize);

macro_rules! layout {
    ($rows:ident, $c:literal, $rust:ty { $($field:ident = $theirs:literal),* $(,)? }) => {
        $rows.push((format!("sizeof({})", $c), size_of::<$rust>()));
        $($rows.push((format!("offsetof({}, {})", $c, $theirs), offset_of!($rust, $field)));)*
    };
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    layout!(rows, "struct dim3", Dim3 { x = "x", y = "y", z = "z" });
    layout!(rows, "struct cudaExtent", Extent { width = "width", height = "height", depth = "depth" });
    layout!(rows, "struct cudaPos", Position { x = "x", y = "y", z = "z" });
    layout!(rows, "struct cudaPitchedPtr", PitchedPointer {
        pointer = "ptr", pitch = "pitch", width = "xsize", height = "ysize",
    });
    layout!(rows, "struct cudaMemcpy3DParms", Copy3d {
        from_array = "srcArray", from_position = "srcPos", from = "srcPtr", to_array = "dstArray",
        to_position = "dstPos", to = "dstPtr", extent = "extent", kind = "kind",
    });
    layout!(rows, "struct cudaMemcpy3DPeerParms", Copy3dPeer {
        from_array = "srcArray", from_position = "srcPos", from = "srcPtr", from_device = "srcDevice",
        to_array = "dstArray", to_position = "dstPos", to = "dstPtr", to_device = "dstDevice",
        extent = "extent",
    });
    layout!(rows, "struct cudaMemLocation", Location { kind = "type", id = "id" });
    layout!(rows, "struct cudaPointerAttributes", PointerAttributes {
        kind = "type", device = "device", device_pointer = "devicePointer", host_pointer = "hostPointer",
    });
    layout!(rows, "struct cudaFuncAttributes", FunctionAttributes {
        shared_bytes = "sharedSizeBytes", const_bytes = "constSizeBytes", local_bytes = "localSizeBytes",
        max_threads = "maxThreadsPerBlock", registers = "numRegs", ptx_version = "ptxVersion",
        binary_version = "binaryVersion", cache_mode = "cacheModeCA",
        max_dynamic_shared_bytes = "maxDynamicSharedSizeBytes", carveout = "preferredShmemCarveout",
        cluster_must_be_set = "clusterDimMustBeSet", required_cluster = "requiredClusterWidth",
        cluster_policy = "clusterSchedulingPolicyPreference",
        non_portable_cluster = "nonPortableClusterSizeAllowed",
    });
    layout!(rows, "struct cudaLaunchAttribute_st", LaunchAttribute { id = "id", value = "val" });
    layout!(rows, "struct cudaLaunchConfig_st", LaunchConfig {
        grid = "gridDim", block = "blockDim", dynamic_shared_bytes = "dynamicSmemBytes",
        stream = "stream", attributes = "attrs", attribute_count = "numAttrs",
    });
    layout!(rows, "struct cudaChannelFormatDesc", ChannelFormat { bits = "x", kind = "f" });
    layout!(rows, "__fatBinC_Wrapper_t", FatBinaryWrapper {
        magic = "magic", version = "version", data = "data", more = "filename_or_fatbins",
    });
    properties(&mut rows);
    more_properties(&mut rows);
    rows
}

fn properties(rows: &mut Vec<Row>) {
    layout!(rows, "struct cudaDeviceProp", DeviceProperties {
        name = "name", uuid = "uuid", luid = "luid", luid_device_node_mask = "luidDeviceNodeMask",
        total_global_mem = "totalGlobalMem", shared_mem_per_block = "sharedMemPerBlock",
        regs_per_block = "regsPerBlock", warp_size = "warpSize", mem_pitch = "memPitch",
        max_threads_per_block = "maxThreadsPerBlock", max_threads_dim = "maxThreadsDim",
        max_grid_size = "maxGridSize", total_const_mem = "totalConstMem", major = "major",
        minor = "minor", texture_alignment = "textureAlignment",
        texture_pitch_alignment = "texturePitchAlignment",
        multi_processor_count = "multiProcessorCount", integrated = "integrated",
        can_map_host_memory = "canMapHostMemory", max_texture_1d = "maxTexture1D",
        max_texture_1d_mipmap = "maxTexture1DMipmap", max_texture_2d = "maxTexture2D",
        max_texture_2d_mipmap = "maxTexture2DMipmap", max_texture_2d_linear = "maxTexture2DLinear",
        max_texture_2d_gather = "maxTexture2DGather", max_texture_3d = "maxTexture3D",
        max_texture_3d_alt = "maxTexture3DAlt", max_texture_cubemap = "maxTextureCubemap",
        max_texture_1d_layered = "maxTexture1DLayered", max_texture_2d_layered = "maxTexture2DLayered",
        max_texture_cubemap_layered = "maxTextureCubemapLayered", max_surface_1d = "maxSurface1D",
        max_surface_2d = "maxSurface2D", max_surface_3d = "maxSurface3D",
        max_surface_1d_layered = "maxSurface1DLayered", max_surface_2d_layered = "maxSurface2DLayered",
        max_surface_cubemap = "maxSurfaceCubemap",
        max_surface_cubemap_layered = "maxSurfaceCubemapLayered",
        surface_alignment = "surfaceAlignment", concurrent_kernels = "concurrentKernels",
        ecc_enabled = "ECCEnabled", pci_bus_id = "pciBusID", pci_device_id = "pciDeviceID",
        pci_domain_id = "pciDomainID", tcc_driver = "tccDriver",
        async_engine_count = "asyncEngineCount", unified_addressing = "unifiedAddressing",
        memory_bus_width = "memoryBusWidth", l2_cache_size = "l2CacheSize",
    });
}

fn more_properties(rows: &mut Vec<Row>) {
    layout!(rows, "struct cudaDeviceProp", DeviceProperties {
        persisting_l2_cache_max_size = "persistingL2CacheMaxSize",
        max_threads_per_multi_processor = "maxThreadsPerMultiProcessor",
        stream_priorities_supported = "streamPrioritiesSupported",
        global_l1_cache_supported = "globalL1CacheSupported",
        local_l1_cache_supported = "localL1CacheSupported",
        shared_mem_per_multiprocessor = "sharedMemPerMultiprocessor",
        regs_per_multiprocessor = "regsPerMultiprocessor", managed_memory = "managedMemory",
        is_multi_gpu_board = "isMultiGpuBoard", multi_gpu_board_group_id = "multiGpuBoardGroupID",
        host_native_atomic_supported = "hostNativeAtomicSupported",
        pageable_memory_access = "pageableMemoryAccess",
        concurrent_managed_access = "concurrentManagedAccess",
        compute_preemption_supported = "computePreemptionSupported",
        can_use_host_pointer_for_registered_mem = "canUseHostPointerForRegisteredMem",
        cooperative_launch = "cooperativeLaunch", shared_mem_per_block_optin = "sharedMemPerBlockOptin",
        pageable_memory_access_uses_host_page_tables = "pageableMemoryAccessUsesHostPageTables",
        direct_managed_mem_access_from_host = "directManagedMemAccessFromHost",
        max_blocks_per_multi_processor = "maxBlocksPerMultiProcessor",
        access_policy_max_window_size = "accessPolicyMaxWindowSize",
        reserved_shared_mem_per_block = "reservedSharedMemPerBlock",
        host_register_supported = "hostRegisterSupported",
        sparse_cuda_array_supported = "sparseCudaArraySupported",
        host_register_read_only_supported = "hostRegisterReadOnlySupported",
        timeline_semaphore_interop_supported = "timelineSemaphoreInteropSupported",
        memory_pools_supported = "memoryPoolsSupported",
        gpu_direct_rdma_supported = "gpuDirectRDMASupported",
        gpu_direct_rdma_flush_writes_options = "gpuDirectRDMAFlushWritesOptions",
        gpu_direct_rdma_writes_ordering = "gpuDirectRDMAWritesOrdering",
        memory_pool_supported_handle_types = "memoryPoolSupportedHandleTypes",
        deferred_mapping_cuda_array_supported = "deferredMappingCudaArraySupported",
        ipc_event_supported = "ipcEventSupported", cluster_launch = "clusterLaunch",
        unified_function_pointers = "unifiedFunctionPointers", device_numa_config = "deviceNumaConfig",
        device_numa_id = "deviceNumaId", mps_enabled = "mpsEnabled", host_numa_id = "hostNumaId",
        gpu_pci_device_id = "gpuPciDeviceID", gpu_pci_subsystem_id = "gpuPciSubsystemID",
        host_numa_multinode_ipc_supported = "hostNumaMultinodeIpcSupported", reserved = "reserved",
    });
}

#[test]
fn every_structure_is_laid_out_as_in_the_headers() {
    let Some(toolkit) = support::toolkit() else { return };
    let rows = rows();
    let mut source = "#include <stddef.h>\n#include <stdio.h>\n#include <cuda_runtime_api.h>\n\
                      #include <fatbinary_section.h>\nint main(void) {\n"
        .to_owned();
    for (expression, _) in &rows {
        writeln!(source, "    printf(\"%zu\\n\", {expression});").unwrap();
    }
    source.push_str("}\n");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), source).unwrap();
    let mut compiler = Command::new("cc");
    compiler.arg(format!("-I{}", toolkit.join("include").display()));
    let built = compiler.args(["-o", "a", "a.c"]).current_dir(folder.path()).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let printed = Command::new(folder.path().join("a")).output().unwrap();
    let theirs = String::from_utf8(printed.stdout).unwrap();
    let theirs: Vec<usize> = theirs.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(theirs.len(), rows.len());
    let wrong: Vec<String> = rows
        .iter()
        .zip(theirs)
        .filter(|((_, ours), theirs)| ours != theirs)
        .map(|((what, ours), theirs)| format!("{what}: {theirs}, ours {ours}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
