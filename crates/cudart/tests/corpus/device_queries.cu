// Asking the device and the kernels, and other ways to launch.
//
// case: properties  expect: clean
// case: attributes_agree_with_properties  expect: clean
// case: versions  expect: clean
// case: function_attributes  expect: clean
// case: occupancy  expect: clean
// case: occupancy_block_size  expect: clean
// case: launch_by_pointer  expect: clean
// case: launch_ex  expect: clean
// case: kernel_pointer_table  expect: clean
// case: template_kernel_pointer  expect: clean
// case: device_side_registers  expect: clean
// case: clocks_advance  expect: clean
// case: error_strings  expect: clean
// case: limits_and_config  expect: clean
// case: many_launches  expect: clean
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status_ = (call);                                                \
        if (status_ != cudaSuccess) {                                                \
            printf("wrong: line %d: %s\n", __LINE__, cudaGetErrorString(status_));   \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

template <class T> static T* upload(const std::vector<T>& host) {
    T* device = nullptr;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <class T> static T* zeros(size_t count) {
    T* device = nullptr;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemset(device, 0, count * sizeof(T)));
    return device;
}

template <class T> static std::vector<T> take(T* device, size_t count) {
    // Waits for the device, copies an array back and frees it.
    std::vector<T> host(count);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    return host;
}

static int verdict(bool good, const char* what = "result") {
    if (good) {
        printf("ok\n");
    } else {
        printf("wrong: %s\n", what);
    }
    return good ? 0 : 1;
}
static int case_properties() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    bool good = p.name[0] != 0 && p.major >= 7 && p.minor >= 0 && p.multiProcessorCount > 0 &&
                p.warpSize == 32 && p.maxThreadsPerBlock == 1024 &&
                p.sharedMemPerBlock >= 48 * 1024 && p.totalGlobalMem > (1u << 30) &&
                p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[2] == 64 &&
                p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535 &&
                p.totalConstMem == 65536 && p.regsPerBlock >= 65536;
    return verdict(good);
}

static int case_attributes_agree_with_properties() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    auto get = [](cudaDeviceAttr a) {
        int v = -1;
        CHECK(cudaDeviceGetAttribute(&v, a, 0));
        return v;
    };
    bool good = get(cudaDevAttrMaxThreadsPerBlock) == p.maxThreadsPerBlock &&
                get(cudaDevAttrWarpSize) == p.warpSize &&
                get(cudaDevAttrMultiProcessorCount) == p.multiProcessorCount &&
                get(cudaDevAttrComputeCapabilityMajor) == p.major &&
                get(cudaDevAttrComputeCapabilityMinor) == p.minor &&
                get(cudaDevAttrMaxSharedMemoryPerBlock) == (int)p.sharedMemPerBlock &&
                get(cudaDevAttrMaxSharedMemoryPerBlockOptin) == (int)p.sharedMemPerBlockOptin &&
                get(cudaDevAttrMaxThreadsPerMultiProcessor) == p.maxThreadsPerMultiProcessor &&
                get(cudaDevAttrL2CacheSize) == p.l2CacheSize &&
                get(cudaDevAttrMaxGridDimX) == p.maxGridSize[0] &&
                get(cudaDevAttrTotalConstantMemory) == (int)p.totalConstMem;
    return verdict(good);
}

static int case_versions() {
    int driver = 0, runtime = 0, count = 0;
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaGetDeviceCount(&count));
    return verdict(driver >= runtime && runtime >= 12000 && count >= 1);
}

__global__ void usesShared(int* out) {
    __shared__ int s[256];
    s[threadIdx.x] = threadIdx.x * 2;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

__global__ void __launch_bounds__(128) bounded(int* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

static int case_function_attributes() {
    cudaFuncAttributes a, b;
    CHECK(cudaFuncGetAttributes(&a, usesShared));
    CHECK(cudaFuncGetAttributes(&b, bounded));
    bool good = a.sharedSizeBytes == 1024 && a.maxThreadsPerBlock == 1024 && a.numRegs > 0 &&
                b.sharedSizeBytes == 0 && b.maxThreadsPerBlock == 128;
    return verdict(good);
}

static int case_occupancy() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    int small, large;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&small, bounded, 32, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&large, bounded, 128, 48 * 1024));
    int byThreads = p.maxThreadsPerMultiProcessor / 32;
    int byShared = (int)(p.sharedMemPerMultiprocessor / (48 * 1024));
    bool good = small >= 1 && small <= byThreads && small <= p.maxBlocksPerMultiProcessor &&
                large >= 1 && large <= byShared;
    return verdict(good);
}

static int case_occupancy_block_size() {
    int grid = 0, block = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
    bool good = grid >= 1 && block >= 32 && block <= 128 && block % 32 == 0;
    int* out = zeros<int>(2 * block);
    bounded<<<2, block>>>(out);
    return verdict(take(out, 2 * block) == std::vector<int>(2 * block, 1) && good);
}

__global__ void scaleAdd(float a, const float* x, double* y, short n, char plus) {
    int i = threadIdx.x;
    if (i < n) y[i] = a * x[i] + plus;
}

static int case_launch_by_pointer() {
    std::vector<float> h(50);
    for (int i = 0; i < 50; i++) h[i] = (float)i;
    float a = 2.5f, *x = upload(h);
    double* y = zeros<double>(50);
    short n = 50;
    char plus = 7;
    void* arguments[] = {&a, &x, &y, &n, &plus};
    CHECK(cudaLaunchKernel((const void*)scaleAdd, dim3(1), dim3(64), arguments, 0, nullptr));
    std::vector<double> r = take(y, 50);
    CHECK(cudaFree(x));
    bool good = true;
    for (int i = 0; i < 50; i++) good = good && r[i] == 2.5 * i + 7;
    return verdict(good);
}

__global__ void dynamicSum(int* out, int n) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int k = 0; k < n; k++) sum += s[k];
        out[blockIdx.x] = sum;
    }
}

static int case_launch_ex() {
    int* out = zeros<int>(3);
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(3);
    config.blockDim = dim3(64);
    config.dynamicSmemBytes = 64 * sizeof(int);
    config.stream = s;
    CHECK(cudaLaunchKernelEx(&config, dynamicSum, out, 64));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamDestroy(s));
    return verdict(take(out, 3) == std::vector<int>(3, 2016));
}

__global__ void plusOne(int* p) { p[threadIdx.x] += 1; }
__global__ void timesTwo(int* p) { p[threadIdx.x] *= 2; }
__global__ void minusThree(int* p) { p[threadIdx.x] -= 3; }

static int case_kernel_pointer_table() {
    void (*table[])(int*) = {plusOne, timesTwo, minusThree, timesTwo, plusOne};
    int* d = zeros<int>(32);
    for (auto kernel : table) kernel<<<1, 32>>>(d);
    return verdict(take(d, 32) == std::vector<int>(32, -1));
}

template <class T, int N> __global__ void fillN(T* p) {
    for (int k = 0; k < N; k++) p[threadIdx.x * N + k] = (T)(threadIdx.x + k * 0.5);
}

template <class T> static bool tryFill(void (*kernel)(T*), int n) {
    T* d = zeros<T>(32 * n);
    kernel<<<1, 32>>>(d);
    std::vector<T> r = take(d, 32 * n);
    for (int i = 0; i < 32 * n; i++) {
        if (r[i] != (T)(i / n + i % n * 0.5)) return false;
    }
    return true;
}

static int case_template_kernel_pointer() {
    return verdict(tryFill<float>(fillN<float, 3>, 3) && tryFill<double>(fillN<double, 5>, 5) &&
                   tryFill<int>(fillN<int, 2>, 2));
}

__global__ void registers(unsigned* out) {
    unsigned sm, sms, warp, warps, grid;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(warps));
    asm volatile("mov.u32 %0, %%gridid;" : "=r"(grid));
    unsigned dynamic;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic));
    bool good = sm < sms && warp < warps && dynamic == 96 && grid != 0xffffffffu;
    out[blockIdx.x * blockDim.x + threadIdx.x] = good;
}

static int case_device_side_registers() {
    unsigned* out = zeros<unsigned>(128);
    registers<<<2, 64, 96>>>(out);
    return verdict(take(out, 128) == std::vector<unsigned>(128, 1));
}

__global__ void clocks(int* out) {
    long long a = clock64();
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    int v = threadIdx.x;
    for (int k = 0; k < 50; k++) v = v * 7 + (int)clock() % 2;
    unsigned long long u;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(u));
    long long b = clock64();
    out[threadIdx.x] = b > a && u >= t && v != 12345678;
}

static int case_clocks_advance() {
    int* out = zeros<int>(64);
    clocks<<<1, 64>>>(out);
    return verdict(take(out, 64) == std::vector<int>(64, 1));
}

static int case_error_strings() {
    bool good = strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0 &&
                strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0 &&
                strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0 &&
                strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0 &&
                strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0;
    return verdict(good);
}

static int case_limits_and_config() {
    size_t heap, stack;
    CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    CHECK(cudaFuncSetCacheConfig(usesShared, cudaFuncCachePreferShared));
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    CHECK(cudaFuncSetAttribute(usesShared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    int* out = zeros<int>(256);
    usesShared<<<1, 256>>>(out);
    std::vector<int> r = take(out, 256);
    return verdict(heap >= 1 << 20 && stack >= 4096 && r[0] == 510);
}

static int case_many_launches() {
    int* d = zeros<int>(32);
    for (int k = 0; k < 300; k++) plusOne<<<1, 32>>>(d);
    return verdict(take(d, 32) == std::vector<int>(32, 300));
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"properties", case_properties},
    {"attributes_agree_with_properties", case_attributes_agree_with_properties},
    {"versions", case_versions},
    {"function_attributes", case_function_attributes},
    {"occupancy", case_occupancy},
    {"occupancy_block_size", case_occupancy_block_size},
    {"launch_by_pointer", case_launch_by_pointer},
    {"launch_ex", case_launch_ex},
    {"kernel_pointer_table", case_kernel_pointer_table},
    {"template_kernel_pointer", case_template_kernel_pointer},
    {"device_side_registers", case_device_side_registers},
    {"clocks_advance", case_clocks_advance},
    {"error_strings", case_error_strings},
    {"limits_and_config", case_limits_and_config},
    {"many_launches", case_many_launches},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
