// What each call returns, and what the thread's last error is after it: right calls and wrong ones.
//
// `calls.h200.txt` is what this printed on an NVIDIA H200 with driver 580.159.04, built by nvcc 13.0.88 with
// `nvcc -std=c++17 -O3 -arch=sm_90`, on 2026-12-01.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

#define CALL(expression)                                                            \
    do {                                                                            \
        cudaError_t returned = (expression);                                        \
        std::printf("%s: %d, last %d\n", #expression, returned, cudaGetLastError()); \
    } while (0)

#define LAUNCH(kernel, grid, block, shared, ...)                                          \
    do {                                                                                  \
        kernel<<<grid, block, shared>>>(__VA_ARGS__);                                     \
        cudaError_t peeked = cudaPeekAtLastError(), got = cudaGetLastError();             \
        std::printf("%s, %s, %s, %s: %d %d, then %d\n", #kernel, #grid, #block, #shared,  \
                    peeked, got, cudaDeviceSynchronize());                                \
    } while (0)

__global__ void nothing() {}
__global__ void __launch_bounds__(128) bounded() {}

__global__ void fixed(float *data)
{
    __shared__ float tile[4096];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[(threadIdx.x + 1) % blockDim.x];
}

__global__ void sized(float *data)
{
    extern __shared__ float dynamic[];
    dynamic[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = dynamic[(threadIdx.x + 1) % blockDim.x];
}

__constant__ int constants[4];
__device__ int variable[4];
__managed__ int managed[4];
__global__ void uses(int *out) { *out = constants[1] + variable[2] + managed[3]; }

static float *device;
static char host[128];

static void launches()
{
    LAUNCH(nothing, 1, 1, 0);
    LAUNCH(nothing, 0, 1, 0);
    LAUNCH(nothing, 1, 0, 0);
    LAUNCH(nothing, 1, 1024, 0);
    LAUNCH(nothing, 1, 1025, 0);
    LAUNCH(nothing, 1, dim3(1, 1, 64), 0);
    LAUNCH(nothing, 1, dim3(1, 1, 65), 0);
    LAUNCH(nothing, 1, dim3(1, 1025, 1), 0);
    LAUNCH(nothing, 1, dim3(64, 64, 1), 0);
    LAUNCH(nothing, dim3(2147483648u, 1, 1), 1, 0);
    LAUNCH(nothing, dim3(1, 65535, 1), 1, 0);
    LAUNCH(nothing, dim3(1, 65536, 1), 1, 0);
    LAUNCH(nothing, dim3(1, 1, 65536), 1, 0);
    LAUNCH(nothing, 1, 32, 49152);
    LAUNCH(nothing, 1, 32, 49153);
    LAUNCH(nothing, 1, 32, 300000);
    LAUNCH(nothing, 1, 32, size_t(1) << 33);
    LAUNCH(nothing, 1, 32, size_t(-1));
    LAUNCH(bounded, 1, 128, 0);
    LAUNCH(bounded, 1, 129, 0);
    LAUNCH(fixed, 1, 32, 32768, device);
    LAUNCH(fixed, 1, 32, 32769, device);
    LAUNCH(sized, 1, 32, 49152, device);
    LAUNCH(sized, 1, 32, 50000, device);
    void *arguments[1] = {&device};
    CALL(cudaLaunchKernel((const void *)nothing, dim3(1), dim3(32), nullptr, 0, 0));
    CALL(cudaLaunchKernel((const void *)nothing, dim3(0), dim3(32), nullptr, 0, 0));
    CALL(cudaLaunchKernel((const void *)nothing, dim3(1), dim3(1025), nullptr, 0, 0));
    CALL(cudaLaunchKernel((const void *)nothing, dim3(1), dim3(32), nullptr, 50000, 0));
    CALL(cudaLaunchKernel((const void *)sized, dim3(1), dim3(32), arguments, 128, 0));
    CALL(cudaLaunchKernel((const void *)host, dim3(1), dim3(1), arguments, 0, 0));
    CALL(cudaLaunchKernel((const void *)nullptr, dim3(1), dim3(1), arguments, 0, 0));
    CALL(cudaLaunchCooperativeKernel((const void *)nothing, dim3(132 * 32), dim3(64), nullptr, 0, 0));
    CALL(cudaLaunchCooperativeKernel((const void *)nothing, dim3(132 * 32 + 1), dim3(64), nullptr, 0, 0));
    CALL(cudaLaunchCooperativeKernel((const void *)nothing, dim3(132 * 2 + 1), dim3(1024), nullptr, 0, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    CALL(cudaLaunchKernelExC(&config, (const void *)nothing, nullptr));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CALL(cudaLaunchKernelExC(&config, (const void *)nothing, nullptr));
    CALL(cudaDeviceSynchronize());
}

static void show(const char *name, const void *function)
{
    cudaFuncAttributes a;
    std::memset(&a, 0, sizeof a);
    cudaError_t error = cudaFuncGetAttributes(&a, function);
    std::printf("attributes of %s: %d; shared %zu, most dynamic %d, threads %d, ptx %d, binary %d, "
                "carveout %d\n", name, error, a.sharedSizeBytes, a.maxDynamicSharedSizeBytes,
                a.maxThreadsPerBlock, a.ptxVersion, a.binaryVersion, a.preferredShmemCarveout);
    cudaGetLastError();
}

static void functions()
{
    show("nothing", (const void *)nothing);
    show("bounded", (const void *)bounded);
    show("fixed", (const void *)fixed);
    show("sized", (const void *)sized);
    show("none", host);
    const int shared[] = {0, 1024, 16384, 32768, 49152, 65536};
    const int threads[] = {1, 32, 33, 128, 256, 512, 768, 1024, 1025, 0, -1};
    const void *kernels[] = {(const void *)nothing, (const void *)fixed};
    for (int kernel = 0; kernel < 2; kernel++)
        for (int block : threads)
            for (int bytes : shared) {
                int blocks = -7;
                cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                    &blocks, kernels[kernel], block, bytes);
                std::printf("occupancy %d of %d threads, %d bytes: %d, %d blocks\n", kernel, block,
                            bytes, error, blocks);
            }
    for (int blocks = 0; blocks < 6; blocks++) {
        size_t bytes = 0;
        cudaError_t error = cudaOccupancyAvailableDynamicSMemPerBlock(
            &bytes, (const void *)nothing, blocks, 256);
        std::printf("dynamic for %d blocks: %d, %zu bytes\n", blocks, error, bytes);
    }
    cudaGetLastError();
    int grid = 0, block = 0;
    CALL(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 0));
    std::printf("potential %d %d\n", grid, block);
    auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    auto carveout = cudaFuncAttributePreferredSharedMemoryCarveout;
    CALL(cudaFuncSetAttribute(sized, most, 232448));
    CALL(cudaFuncSetAttribute(sized, most, 232449));
    CALL(cudaFuncSetAttribute(sized, most, -1));
    CALL(cudaFuncSetAttribute(fixed, most, 232448));
    CALL(cudaFuncSetAttribute(fixed, most, 232448 - 16384));
    CALL(cudaFuncSetAttribute(sized, carveout, 101));
    CALL(cudaFuncSetAttribute(sized, carveout, -1));
    CALL(cudaFuncSetAttribute(sized, (cudaFuncAttribute)77, 1));
    CALL(cudaFuncSetAttribute((const void *)host, most, 1));
    LAUNCH(sized, 1, 32, 232448, device);
    LAUNCH(sized, 1, 32, 232449, device);
    show("sized", (const void *)sized);
    show("fixed", (const void *)fixed);
    const char *name = nullptr;
    size_t offset = 0, bytes = 0;
    CALL(cudaFuncGetName(&name, (const void *)fixed));
    std::printf("name %s\n", name);
    CALL(cudaFuncGetParamInfo((const void *)fixed, 0, &offset, &bytes));
    std::printf("parameter at %zu of %zu bytes\n", offset, bytes);
    CALL(cudaFuncGetParamInfo((const void *)fixed, 1, &offset, &bytes));
    CALL(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferShared));
    CALL(cudaFuncSetCacheConfig((const void *)host, cudaFuncCachePreferShared));
}

static void copies()
{
    const auto to_device = cudaMemcpyHostToDevice, to_host = cudaMemcpyDeviceToHost;
    const auto inside = cudaMemcpyDeviceToDevice, host_only = cudaMemcpyHostToHost;
    const auto any = cudaMemcpyDefault;
    float *end = device + (1 << 18);
    CALL(cudaMemset(device, 0, 1 << 20));
    CALL(cudaMemcpy(device, host, 64, to_device));
    CALL(cudaMemcpy(host, device, 64, to_device));
    CALL(cudaMemcpy(host, device, 64, to_host));
    CALL(cudaMemcpy(device, host, 64, to_host));
    CALL(cudaMemcpy(device, host, 64, inside));
    CALL(cudaMemcpy(host, device, 64, inside));
    CALL(cudaMemcpy(host, device, 64, host_only));
    CALL(cudaMemcpy(host, host + 32, 32, to_device));
    CALL(cudaMemcpy(host, host + 32, 32, to_host));
    CALL(cudaMemcpy(host, host + 32, 32, inside));
    CALL(cudaMemcpy(device, device + 64, 64, to_device));
    CALL(cudaMemcpy(device, device + 64, 64, to_host));
    CALL(cudaMemcpy(device, device + 64, 64, host_only));
    CALL(cudaMemcpy(device, device + 64, 64, inside));
    CALL(cudaMemcpy(device, host, 64, any));
    CALL(cudaMemcpy(host, host + 32, 32, any));
    CALL(cudaMemcpy(host, host + 32, 32, host_only));
    CALL(cudaMemcpy(device, host, 64, (cudaMemcpyKind)7));
    CALL(cudaMemcpy(nullptr, host, 64, to_device));
    CALL(cudaMemcpy(device, nullptr, 64, to_device));
    CALL(cudaMemcpy(nullptr, nullptr, 0, to_device));
    CALL(cudaMemcpy(end - 4, host, 64, to_device));
    CALL(cudaMemcpy(host, end, 64, to_host));
    CALL(cudaMemcpyAsync(host, device, 64, to_device, 0));
    CALL(cudaMemcpyAsync(host, device, 64, to_host, 0));
    CALL(cudaDeviceSynchronize());
    CALL(cudaMemset(host, 0, 64));
    CALL(cudaMemset(nullptr, 0, 64));
    CALL(cudaMemset(nullptr, 0, 0));
    CALL(cudaMemset(device, 0, (1 << 20) + 4096));
    CALL(cudaMemset(end - 1, 0, 8));
    CALL(cudaMemcpy2D(device, 64, host, 8, 8, 4, to_device));
    CALL(cudaMemcpy2D(device, 4, host, 8, 8, 4, to_device));
    CALL(cudaMemcpy2D(device, 64, host, 4, 8, 4, to_device));
    CALL(cudaMemcpy2D(device, 64, host, 8, 0, 4, to_device));
    CALL(cudaMemset2D(device, 4, 0, 8, 4));
    CALL(cudaMemset2D(device, 64, 0, 8, 4));
    CALL(cudaMemcpyPeer(device, 0, device + 64, 0, 64));
    CALL(cudaMemcpyPeer(device, 1, device + 64, 0, 64));
}

static void allocations()
{
    void *p = host;
    CALL(cudaMalloc(&p, 0));
    std::printf("null %d\n", p == nullptr);
    p = host;
    CALL(cudaMalloc(&p, size_t(1) << 50));
    std::printf("null %d\n", p == nullptr);
    CALL(cudaMalloc((void **)nullptr, 4));
    CALL(cudaFree(nullptr));
    CALL(cudaFree(host));
    CALL(cudaFree(device + 64));
    CALL(cudaMalloc(&p, 300));
    std::printf("aligned %d\n", (size_t)p % 256 == 0);
    CALL(cudaFree(p));
    CALL(cudaFree(p));
    CALL(cudaMemcpy(p, host, 64, cudaMemcpyHostToDevice));
    size_t pitch = 7;
    CALL(cudaMallocPitch(&p, &pitch, 1, 3));
    std::printf("pitch %zu\n", pitch);
    CALL(cudaFree(p));
    CALL(cudaMallocPitch(&p, &pitch, 513, 3));
    std::printf("pitch %zu\n", pitch);
    CALL(cudaFree(p));
    CALL(cudaMallocPitch(&p, &pitch, 0, 3));
    std::printf("pitch %zu null %d\n", pitch, p == nullptr);
    cudaPitchedPtr pitched;
    CALL(cudaMalloc3D(&pitched, make_cudaExtent(100, 5, 3)));
    std::printf("pitch %zu width %zu height %zu\n", pitched.pitch, pitched.xsize, pitched.ysize);
    CALL(cudaMemset3D(pitched, 0, make_cudaExtent(100, 5, 3)));
    CALL(cudaFree(pitched.ptr));
    CALL(cudaMallocAsync(&p, 1000, 0));
    CALL(cudaFreeAsync(p, 0));
    CALL(cudaFreeAsync(p, 0));
    CALL(cudaMallocAsync(&p, 1000, 0));
    CALL(cudaDeviceSynchronize());
    CALL(cudaFree(p));
    CALL(cudaMallocAsync(&p, 0, 0));
    CALL(cudaFreeAsync(nullptr, 0));
    cudaMemPool_t pool;
    CALL(cudaDeviceGetDefaultMemPool(&pool, 0));
}

static void kind_of(const char *name, const void *pointer)
{
    cudaPointerAttributes a;
    std::memset(&a, 0x55, sizeof a);
    cudaError_t error = cudaPointerGetAttributes(&a, pointer);
    std::printf("pointer %s: %d; type %d, device %d, for the device %s, for the host %s\n", name, error,
                a.type, a.device, a.devicePointer == pointer ? "the same" : a.devicePointer ? "other" : "none",
                a.hostPointer == pointer ? "the same" : a.hostPointer ? "other" : "none");
}

static void host_memory()
{
    void *p = nullptr, *q = nullptr;
    unsigned flags = 0;
    int *both = nullptr, *gone = nullptr;
    CALL(cudaMallocHost(&p, 4096));
    CALL(cudaFree(p));
    CALL(cudaFreeHost(p));
    CALL(cudaFreeHost(p));
    CALL(cudaFreeHost(device));
    CALL(cudaFreeHost(nullptr));
    CALL(cudaMallocHost(&p, 0));
    std::printf("null %d\n", p == nullptr);
    CALL(cudaHostAlloc(&p, 64, 99));
    CALL(cudaHostAlloc(&p, 64, cudaHostAllocMapped));
    CALL(cudaHostGetFlags(&flags, p));
    std::printf("flags %u\n", flags);
    CALL(cudaHostGetDevicePointer(&q, p, 0));
    std::printf("the same %d\n", q == p);
    CALL(cudaHostGetDevicePointer(&q, host, 0));
    CALL(cudaHostGetFlags(&flags, host));
    CALL(cudaMemcpy(p, host, 32, cudaMemcpyHostToDevice));
    CALL(cudaMemset(p, 0, 32));
    void *registered = std::aligned_alloc(4096, 8192);
    CALL(cudaHostRegister(registered, 8192, 0));
    CALL(cudaHostRegister(registered, 8192, 0));
    CALL(cudaHostUnregister(registered));
    CALL(cudaHostUnregister(registered));
    CALL(cudaHostRegister(nullptr, 8, 0));
    CALL(cudaHostRegister(registered, 0, 0));
    CALL(cudaHostRegister(registered, 8192, 99));
    CALL(cudaMallocManaged(&both, 4096));
    CALL(cudaMallocManaged(&q, 4096, 7));
    CALL(cudaMallocManaged(&q, 0));
    CALL(cudaMemset(both, 1, 4096));
    CALL(cudaMemcpy(both, host, 32, cudaMemcpyHostToHost));
    CALL(cudaMemcpy(both, host, 32, cudaMemcpyDeviceToHost));
    CALL(cudaFreeHost(both));
    cudaMemLocation here = {cudaMemLocationTypeDevice, {0}}, other = {cudaMemLocationTypeDevice, {5}};
    cudaMemLocation at_host = {cudaMemLocationTypeHost, {0}};
    CALL(cudaMemAdvise(both, 4096, cudaMemAdviseSetReadMostly, here));
    CALL(cudaMemAdvise(device, 4096, cudaMemAdviseSetReadMostly, here));
    CALL(cudaMemPrefetchAsync(both, 4096, here, 0, 0));
    CALL(cudaMemPrefetchAsync(device, 4096, here, 0, 0));
    CALL(cudaMemPrefetchAsync(both, 4096, other, 0, 0));
    CALL(cudaMemPrefetchAsync(both, 4096, at_host, 0, 0));
    cudaMalloc(&gone, 64);
    cudaFree(gone);
    kind_of("device", device);
    kind_of("inside", device + 5);
    kind_of("host", p);
    kind_of("managed", both);
    kind_of("plain", host);
    kind_of("null", nullptr);
    kind_of("freed", gone);
    CALL(cudaFree(both));
    CALL(cudaFreeHost(p));
    std::free(registered);
}

static void symbols()
{
    void *p = nullptr;
    size_t bytes = 0;
    CALL(cudaGetSymbolAddress(&p, constants));
    CALL(cudaGetSymbolSize(&bytes, constants));
    std::printf("%zu bytes\n", bytes);
    CALL(cudaGetSymbolAddress(&p, variable));
    CALL(cudaGetSymbolAddress(&p, managed));
    CALL(cudaGetSymbolAddress(&p, (const void *)host));
    CALL(cudaGetSymbolSize(&bytes, (const void *)host));
    CALL(cudaMemcpyToSymbol(constants, host, 16));
    CALL(cudaMemcpyToSymbol(constants, host, 17));
    CALL(cudaMemcpyToSymbol(constants, host, 8, 12));
    CALL(cudaMemcpyToSymbol(constants, device, 16, 0, cudaMemcpyDeviceToDevice));
    CALL(cudaMemcpyToSymbol(constants, host, 16, 0, cudaMemcpyDeviceToHost));
    CALL(cudaMemcpyFromSymbol(host, variable, 16));
    CALL(cudaMemcpyFromSymbol(host, variable, 20));
    CALL(cudaMemcpyToSymbol((const void *)host, host, 4));
    CALL(cudaMemcpyToSymbol(managed, host, 16));
    managed[1] = 5;
    CALL(cudaMemcpyFromSymbol(host, managed, 16));
    std::printf("managed %d\n", reinterpret_cast<int *>(host)[1]);
}

static int seen;

static void CUDART_CB called_back(cudaStream_t, cudaError_t error, void *data)
{
    seen += 100 + error + *static_cast<int *>(data);
}

static void CUDART_CB called(void *data) { seen += *static_cast<int *>(data); }

static void streams_and_events()
{
    int seven = 7;
    cudaEvent_t a, b, untimed;
    float ms = -1;
    CALL(cudaEventCreate(&a));
    CALL(cudaEventCreate(&b));
    CALL(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    CALL(cudaEventCreateWithFlags(&a, 99));
    CALL(cudaEventQuery(a));
    CALL(cudaEventSynchronize(a));
    CALL(cudaEventElapsedTime(&ms, a, b));
    CALL(cudaEventRecord(a));
    CALL(cudaEventElapsedTime(&ms, a, b));
    CALL(cudaEventRecord(b));
    CALL(cudaEventSynchronize(b));
    CALL(cudaEventElapsedTime(&ms, a, b));
    std::printf("forwards %d\n", ms > 0);
    CALL(cudaEventElapsedTime(&ms, b, a));
    std::printf("backwards %d\n", ms < 0);
    CALL(cudaEventRecord(untimed));
    CALL(cudaEventElapsedTime(&ms, a, untimed));
    CALL(cudaEventRecord(nullptr));
    CALL(cudaEventDestroy(nullptr));
    CALL(cudaEventQuery(nullptr));
    CALL(cudaStreamWaitEvent(0, nullptr, 0));
    CALL(cudaStreamWaitEvent(0, b, 0));
    CALL(cudaStreamWaitEvent(0, b, 5));
    CALL(cudaEventDestroy(a));
    cudaStream_t s, t;
    int priority = 9;
    unsigned flags = 9;
    CALL(cudaStreamCreate(&s));
    CALL(cudaStreamCreateWithFlags(&t, 99));
    CALL(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -99));
    CALL(cudaStreamGetPriority(t, &priority));
    CALL(cudaStreamGetFlags(t, &flags));
    std::printf("priority %d flags %u\n", priority, flags);
    CALL(cudaStreamGetPriority(0, &priority));
    CALL(cudaStreamGetFlags(0, &flags));
    std::printf("priority %d flags %u\n", priority, flags);
    CALL(cudaStreamQuery(s));
    CALL(cudaStreamSynchronize(0));
    CALL(cudaStreamSynchronize(cudaStreamPerThread));
    CALL(cudaStreamDestroy(0));
    CALL(cudaStreamDestroy(cudaStreamLegacy));
    CALL(cudaStreamAddCallback(s, called_back, &seven, 0));
    CALL(cudaLaunchHostFunc(s, called, &seven));
    CALL(cudaStreamSynchronize(s));
    std::printf("seen %d\n", seen);
    CALL(cudaStreamAddCallback(s, called_back, nullptr, 1));
    CALL(cudaLaunchHostFunc(s, nullptr, nullptr));
    cudaStreamCaptureStatus status;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CALL(cudaStreamIsCapturing(s, &status));
    CALL(cudaThreadExchangeStreamCaptureMode(&mode));
    std::printf("mode %d\n", mode);
    CALL(cudaStreamDestroy(s));
    CALL(cudaStreamDestroy(t));
}

static void devices()
{
    int value = 9;
    cudaDeviceProp properties;
    size_t bytes = 0;
    CALL(cudaSetDevice(0));
    CALL(cudaSetDevice(1));
    CALL(cudaSetDevice(-1));
    CALL(cudaGetDevice(&value));
    std::printf("device %d\n", value);
    CALL(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1));
    CALL(cudaGetDeviceProperties(&properties, 1));
    CALL(cudaDeviceCanAccessPeer(&value, 0, 0));
    std::printf("peer %d\n", value);
    CALL(cudaDeviceCanAccessPeer(&value, 0, 1));
    CALL(cudaDeviceEnablePeerAccess(0, 0));
    CALL(cudaDeviceEnablePeerAccess(1, 0));
    CALL(cudaDeviceDisablePeerAccess(0));
    CALL(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    CALL(cudaSetDeviceFlags(999));
    CALL(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    CALL(cudaDeviceSetLimit((cudaLimit)50, 1));
    CALL(cudaDeviceGetLimit(&bytes, (cudaLimit)50));
    CALL(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
    CALL(cudaInitDevice(0, 0, 0));
    CALL(cudaProfilerStart());
    CALL(cudaProfilerStop());
    CALL(cudaCtxResetPersistingL2Cache());
}

static void last_errors()
{
    void *p = nullptr;
    cudaMalloc(&p, size_t(1) << 50);
    cudaError_t right = cudaMalloc(&p, 4);
    std::printf("right %d, still %d\n", right, cudaPeekAtLastError());
    cudaError_t got = cudaGetLastError();
    std::printf("got %d, then %d\n", got, cudaGetLastError());
    CALL(cudaFree(p));
}

int main()
{
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);
    CALL(cudaMalloc(&device, 1 << 20));
    CALL(cudaMemset(device, 0, 1 << 20));
    launches();
    functions();
    copies();
    allocations();
    host_memory();
    symbols();
    streams_and_events();
    devices();
    last_errors();
    CALL(cudaFree(device));
}
