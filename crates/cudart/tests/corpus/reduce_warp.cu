// Reductions by warp shuffles, atomics, in two phases, and by the last block to finish.
//
// case: warp_down  expect: clean
// case: warp_xor_all_lanes  expect: clean
// case: block_by_warps  expect: clean
// case: block_by_warps_no_barrier  expect: race error shared at: @pw, @pr
// case: block_atomic  expect: clean
// case: one_atomic_a_thread  expect: clean
// case: last_block  expect: clean
// case: last_block_no_fence  expect: race error gpu at: @nfw, @nfr
// case: last_block_resets_counter  expect: clean
// case: warp_synchronous_volatile  expect: race warning at: @v32, @v16, @v8, @v4, @v2, @v1
// case: warp_synchronous_syncwarp  expect: clean
// case: warp_synchronous_plain  expect: race error shared at: @wsplain
// case: min_max_by_shuffle  expect: clean
// case: segmented_by_16  expect: clean
// case: block_result_to_all  expect: clean
// case: block_result_reused_no_barrier  expect: race error shared at: @usew, @user
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
static std::vector<int> numbers(int n) {
    std::vector<int> v(n);
    for (int i = 0; i < n; i++) v[i] = (i * 57 + 5) % 301 - 150;
    return v;
}

static int total(const std::vector<int>& v) {
    int sum = 0;
    for (int x : v) sum += x;
    return sum;
}

template <class Kernel> static int run(Kernel kernel, int n, int blocks, int threads,
                                       bool check = true) {
    std::vector<int> h = numbers(n);
    int* in = upload(h);
    int* sum = zeros<int>(1);
    kernel<<<blocks, threads>>>(in, sum, n);
    int got = take(sum, 1)[0];
    CHECK(cudaFree(in));
    return verdict(!check || got == total(h));
}

__device__ int warpSum(int v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

__global__ void warpDown(const int* in, int* sum, int n) {
    int v = 0;
    for (int i = threadIdx.x; i < n; i += 32) v += in[i];
    v = warpSum(v);
    if (threadIdx.x == 0) *sum = v;
}

static int case_warp_down() { return run(warpDown, 1000, 1, 32); }

__global__ void warpXor(const int* in, int* out) {
    int v = in[threadIdx.x];
    for (int mask = 1; mask < 32; mask *= 2) v += __shfl_xor_sync(0xffffffff, v, mask);
    out[threadIdx.x] = v;
}

static int case_warp_xor_all_lanes() {
    std::vector<int> h = numbers(64);
    int* in = upload(h);
    int* out = zeros<int>(64);
    warpXor<<<1, 64>>>(in, out);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) {
        int sum = 0;
        for (int k = 0; k < 32; k++) sum += h[i / 32 * 32 + k];
        good = good && r[i] == sum;
    }
    return verdict(good);
}

template <bool Barrier> __device__ int blockSum(int v) {
    __shared__ int partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warpSum(v);
    if (lane == 0) partial[warp] = v;  // @pw
    if (Barrier) __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? partial[lane] : 0;  // @pr
    if (warp == 0) v = warpSum(v);
    return v;
}

template <bool Barrier> __global__ void blockByWarps(const int* in, int* sum, int n) {
    int v = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) v += in[i];
    v = blockSum<Barrier>(v);
    if (threadIdx.x == 0) *sum = v;
}

static int case_block_by_warps() { return run(blockByWarps<true>, 3000, 1, 256); }
static int case_block_by_warps_no_barrier() {
    return run(blockByWarps<false>, 3000, 1, 256, false);
}

__global__ void blockAtomic(const int* in, int* sum, int n) {
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        v += in[i];
    }
    v = warpSum(v);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
}

static int case_block_atomic() { return run(blockAtomic, 3000, 5, 96); }

__global__ void oneAtomicEach(const int* in, int* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, in[i]);
}

static int case_one_atomic_a_thread() { return run(oneAtomicEach, 2000, 16, 128); }

__device__ unsigned finished = 0;
__device__ int partials[64];

// Each block stores its part and then counts itself; who counts last adds up the parts.
// Fences on both sides make the parts visible.
template <bool Fence> __global__ void lastBlock(const int* in, int* sum, int n) {
    __shared__ int s[128];
    __shared__ bool last;
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        v += in[i];
    }
    s[threadIdx.x] = v;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = s[0];  // @nfw
        if (Fence) __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
        if (Fence) __threadfence();
    }
    __syncthreads();
    if (last) {
        v = threadIdx.x < gridDim.x ? partials[threadIdx.x] : 0;  // @nfr
        v = warpSum(v);
        if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
    }
}

static int case_last_block() { return run(lastBlock<true>, 5000, 12, 128); }
static int case_last_block_no_fence() { return run(lastBlock<false>, 5000, 12, 128, false); }

static int case_last_block_resets_counter() {
    std::vector<int> h = numbers(5000);
    int* in = upload(h);
    int* sum = zeros<int>(1);
    for (int k = 0; k < 3; k++) lastBlock<true><<<7, 128>>>(in, sum, 5000);
    int got = take(sum, 1)[0];
    CHECK(cudaFree(in));
    return verdict(got == 3 * total(h));
}

// The style of old codes: the last warp goes on without barriers, trusting volatile.
__device__ void lastWarpVolatile(volatile int* s, int t) {
    s[t] += s[t + 32];  // @v32
    s[t] += s[t + 16];  // @v16
    s[t] += s[t + 8];   // @v8
    s[t] += s[t + 4];   // @v4
    s[t] += s[t + 2];   // @v2
    s[t] += s[t + 1];   // @v1
}

__global__ void warpSynchronousVolatile(const int* in, int* sum, int n) {
    __shared__ int s[128];
    int t = threadIdx.x, v = 0;
    for (int i = t; i < n; i += 128) v += in[i];
    s[t] = v;
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) lastWarpVolatile(s, t);
    if (t == 0) *sum = s[0];
}

static int case_warp_synchronous_volatile() {
    return run(warpSynchronousVolatile, 1000, 1, 128, false);
}

__global__ void warpSynchronousSyncwarp(const int* in, int* sum, int n) {
    __shared__ int s[128];
    int t = threadIdx.x, v = 0;
    for (int i = t; i < n; i += 128) v += in[i];
    s[t] = v;
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        v = s[t];
        for (int offset = 32; offset > 0; offset /= 2) {
            v += s[t + offset];
            __syncwarp();
            s[t] = v;
            __syncwarp();
        }
    }
    if (t == 0) *sum = s[0];
}

static int case_warp_synchronous_syncwarp() {
    return run(warpSynchronousSyncwarp, 1000, 1, 128);
}

__global__ void warpSynchronousPlain(const int* in, int* sum, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, v = 0;
    for (int i = t; i < n; i += 64) v += in[i];
    s[t] = v;
    __syncthreads();
    if (t < 32) {
        for (int offset = 32; offset > 0; offset /= 2) s[t] += s[t + offset];  // @wsplain
    }
    if (t == 0) *sum = s[0];
}

static int case_warp_synchronous_plain() {
    return run(warpSynchronousPlain, 1000, 1, 64, false);
}

__global__ void minMax(const int* in, int* out, int n) {
    __shared__ int lows[4], highs[4];
    int low = in[0], high = in[0];
    for (int i = threadIdx.x; i < n; i += 128) {
        low = min(low, in[i]);
        high = max(high, in[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        low = min(low, __shfl_down_sync(~0u, low, offset));
        high = max(high, __shfl_down_sync(~0u, high, offset));
    }
    if (threadIdx.x % 32 == 0) {
        lows[threadIdx.x / 32] = low;
        highs[threadIdx.x / 32] = high;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 4; w++) {
            low = min(low, lows[w]);
            high = max(high, highs[w]);
        }
        out[0] = low;
        out[1] = high;
    }
}

static int case_min_max_by_shuffle() {
    std::vector<int> h = numbers(777);
    int* in = upload(h);
    int* out = zeros<int>(2);
    minMax<<<1, 128>>>(in, out, 777);
    std::vector<int> r = take(out, 2);
    CHECK(cudaFree(in));
    int low = h[0], high = h[0];
    for (int v : h) {
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    return verdict(r[0] == low && r[1] == high);
}

__global__ void segments(const int* in, int* out) {
    int v = in[threadIdx.x];
    for (int offset = 8; offset > 0; offset /= 2) v += __shfl_down_sync(~0u, v, offset, 16);
    if (threadIdx.x % 16 == 0) out[threadIdx.x / 16] = v;
}

static int case_segmented_by_16() {
    std::vector<int> h = numbers(96), want(6, 0);
    for (int i = 0; i < 96; i++) want[i / 16] += h[i];
    int* in = upload(h);
    int* out = zeros<int>(6);
    segments<<<1, 96>>>(in, out);
    std::vector<int> r = take(out, 6);
    CHECK(cudaFree(in));
    return verdict(r == want);
}

// A block-wide sum that all threads get, used several times in a row.
template <bool BarrierBeforeReuse> __device__ int sumForAll(int v) {
    __shared__ int parts[8];
    v = warpSum(v);
    if (BarrierBeforeReuse) __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;  // @usew
    __syncthreads();
    v = 0;
    for (int w = 0; w < 8; w++) v += parts[w];  // @user
    return v;
}

template <bool BarrierBeforeReuse> __global__ void repeatedSums(const int* in, int* sum, int n) {
    int v = 0, mine = 0;
    for (int i = threadIdx.x; i < n; i += 256) mine += in[i];
    for (int k = 1; k <= 3; k++) v += sumForAll<BarrierBeforeReuse>(k * mine);
    if (threadIdx.x == 200) *sum = v / 6;
}

static int case_block_result_to_all() { return run(repeatedSums<true>, 2000, 1, 256); }
static int case_block_result_reused_no_barrier() {
    return run(repeatedSums<false>, 2000, 1, 256, false);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"warp_down", case_warp_down},
    {"warp_xor_all_lanes", case_warp_xor_all_lanes},
    {"block_by_warps", case_block_by_warps},
    {"block_by_warps_no_barrier", case_block_by_warps_no_barrier},
    {"block_atomic", case_block_atomic},
    {"one_atomic_a_thread", case_one_atomic_a_thread},
    {"last_block", case_last_block},
    {"last_block_no_fence", case_last_block_no_fence},
    {"last_block_resets_counter", case_last_block_resets_counter},
    {"warp_synchronous_volatile", case_warp_synchronous_volatile},
    {"warp_synchronous_syncwarp", case_warp_synchronous_syncwarp},
    {"warp_synchronous_plain", case_warp_synchronous_plain},
    {"min_max_by_shuffle", case_min_max_by_shuffle},
    {"segmented_by_16", case_segmented_by_16},
    {"block_result_to_all", case_block_result_to_all},
    {"block_result_reused_no_barrier", case_block_result_reused_no_barrier},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
