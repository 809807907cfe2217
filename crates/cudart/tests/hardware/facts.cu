// What the runtime says of the device: each attribute, property and limit, a line each.
//
// `facts.h200.txt` is what this printed on an NVIDIA H200 with driver 580.159.04, built by nvcc 13.0.88 with
// `nvcc -std=c++17 -O3 -arch=sm_90`, on 2026-12-01. Left out: what tells one machine from another.

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define ONE(field) std::printf("property " #field " %lld\n", static_cast<long long>(p.field))
#define TWO(field) std::printf("property " #field " %d %d\n", p.field[0], p.field[1])
#define THREE(field) std::printf("property " #field " %d %d %d\n", p.field[0], p.field[1], p.field[2])

// Numbers that `cudaDeviceAttr` reserves, and where the machine's bus has the device.
static bool left_out(int attribute)
{
    switch (attribute) {
    case 33: case 34: case 50: case 139: case 140: case 92: case 93: case 94: case 96:
    case 102: case 103: case 104: case 105: case 107: case 110: case 122: case 123: case 124:
    case 127: case 128: case 132: case 136: case 137: case 141: case 145: case 146:
        return true;
    default:
        return false;
    }
}

static void attributes()
{
    for (int number = 0; number < 155; number++) {
        if (left_out(number)) continue;
        int value = -77;
        cudaError_t error = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(number), 0);
        std::printf("attribute %d: error %d, value %d\n", number, error, value);
    }
}

static void properties()
{
    cudaDeviceProp p;
    std::memset(&p, 0x55, sizeof p);
    cudaGetDeviceProperties(&p, 0);
    std::printf("property name %s\n", p.name);
    ONE(totalGlobalMem); ONE(sharedMemPerBlock); ONE(regsPerBlock); ONE(warpSize); ONE(memPitch);
    ONE(maxThreadsPerBlock); THREE(maxThreadsDim); THREE(maxGridSize); ONE(totalConstMem); ONE(major);
    ONE(minor); ONE(textureAlignment); ONE(texturePitchAlignment); ONE(multiProcessorCount);
    ONE(integrated); ONE(canMapHostMemory); ONE(maxTexture1D); ONE(maxTexture1DMipmap);
    TWO(maxTexture2D); TWO(maxTexture2DMipmap); THREE(maxTexture2DLinear); TWO(maxTexture2DGather);
    THREE(maxTexture3D); THREE(maxTexture3DAlt); ONE(maxTextureCubemap); TWO(maxTexture1DLayered);
    THREE(maxTexture2DLayered); TWO(maxTextureCubemapLayered); ONE(maxSurface1D); TWO(maxSurface2D);
    THREE(maxSurface3D); TWO(maxSurface1DLayered); THREE(maxSurface2DLayered); ONE(maxSurfaceCubemap);
    TWO(maxSurfaceCubemapLayered); ONE(surfaceAlignment); ONE(concurrentKernels); ONE(ECCEnabled);
    ONE(tccDriver); ONE(asyncEngineCount); ONE(unifiedAddressing); ONE(memoryBusWidth);
    ONE(l2CacheSize); ONE(persistingL2CacheMaxSize); ONE(maxThreadsPerMultiProcessor);
    ONE(streamPrioritiesSupported); ONE(globalL1CacheSupported); ONE(localL1CacheSupported);
    ONE(sharedMemPerMultiprocessor); ONE(regsPerMultiprocessor); ONE(managedMemory);
    ONE(isMultiGpuBoard); ONE(multiGpuBoardGroupID); ONE(hostNativeAtomicSupported);
    ONE(pageableMemoryAccess); ONE(concurrentManagedAccess); ONE(computePreemptionSupported);
    ONE(canUseHostPointerForRegisteredMem); ONE(cooperativeLaunch); ONE(sharedMemPerBlockOptin);
    ONE(pageableMemoryAccessUsesHostPageTables); ONE(directManagedMemAccessFromHost);
    ONE(maxBlocksPerMultiProcessor); ONE(accessPolicyMaxWindowSize); ONE(reservedSharedMemPerBlock);
    ONE(hostRegisterSupported); ONE(sparseCudaArraySupported); ONE(hostRegisterReadOnlySupported);
    ONE(timelineSemaphoreInteropSupported); ONE(memoryPoolsSupported); ONE(gpuDirectRDMASupported);
    ONE(gpuDirectRDMAFlushWritesOptions); ONE(gpuDirectRDMAWritesOrdering);
    ONE(memoryPoolSupportedHandleTypes); ONE(deferredMappingCudaArraySupported); ONE(ipcEventSupported);
    ONE(clusterLaunch); ONE(unifiedFunctionPointers); ONE(deviceNumaConfig); ONE(deviceNumaId);
    ONE(mpsEnabled); ONE(hostNumaId); ONE(hostNumaMultinodeIpcSupported);
}

int main()
{
    int count = 0;
    cudaGetDeviceCount(&count);
    std::printf("devices %d\n", count);
    attributes();
    properties();
    for (int number = 0; number < 7; number++) {
        size_t value = 0;
        cudaError_t error = cudaDeviceGetLimit(&value, static_cast<cudaLimit>(number));
        std::printf("limit %d: error %d, value %zu\n", number, error, value);
    }
    int least = 9, greatest = 9, driver = 0, runtime = 0;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    unsigned flags = 0;
    cudaGetDeviceFlags(&flags);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    std::printf("priorities %d to %d, flags %u\n", least, greatest, flags);
    std::printf("driver %d, runtime %d\n", driver, runtime);
}
