// Tree reductions in shared memory: the classical steps and their classical mistakes.
//
// case: interleaved_modulo  expect: clean
// case: interleaved_stride  expect: clean
// case: sequential  expect: clean
// case: sequential_no_barrier_in_loop  expect: race error shared at: @noloop
// case: sequential_barrier_inside_if  expect: barrier error at: @inif
// case: first_barrier_missing  expect: race error shared at: @load, @tree
// case: add_during_load  expect: clean
// case: two_kernels  expect: clean
// case: not_a_power_of_two  expect: clean
// case: halving_drops_nothing_96  expect: clean
// case: half_too_far  expect: bounds error at: @toofar
// case: max_and_index  expect: clean
// case: result_by_every_thread  expect: race error gpu at: @every
// case: dot_product  expect: clean
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
    for (int i = 0; i < n; i++) v[i] = (i * 73 + 11) % 401 - 200;
    return v;
}

template <class Kernel> static int run(Kernel kernel, int n, int blocks, int threads,
                                       bool check = true) {
    std::vector<int> h = numbers(n);
    int* in = upload(h);
    int* sums = zeros<int>(blocks);
    kernel<<<blocks, threads, threads * sizeof(int)>>>(in, sums, n);
    std::vector<int> r = take(sums, blocks);
    CHECK(cudaFree(in));
    int got = 0, want = 0;
    for (int v : r) got += v;
    for (int v : h) want += v;
    return verdict(!check || got == want);
}

__global__ void interleavedModulo(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

static int case_interleaved_modulo() { return run(interleavedModulo, 2000, 8, 256); }

__global__ void interleavedStride(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        unsigned k = 2 * step * t;
        if (k < blockDim.x) s[k] += s[k + step];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

static int case_interleaved_stride() { return run(interleavedStride, 2000, 8, 256); }

__global__ void sequential(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

static int case_sequential() { return run(sequential, 2000, 8, 256); }

__global__ void noBarrierInLoop(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];  // @noloop
    }
    __syncthreads();
    if (t == 0) sums[blockIdx.x] = s[0];
}

static int case_sequential_no_barrier_in_loop() {
    return run(noBarrierInLoop, 2000, 8, 256, false);
}

__global__ void barrierInsideIf(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) {
            s[t] += s[t + half];
            __syncthreads();  // @inif
        }
    }
    __syncthreads();
    sums[blockIdx.x * blockDim.x + t] = s[0] + t;
}

static int case_sequential_barrier_inside_if() {
    int* in = upload(numbers(256));
    int* sums = zeros<int>(256);
    barrierInsideIf<<<1, 256, 256 * sizeof(int)>>>(in, sums, 256);
    take(sums, 256);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void noFirstBarrier(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;  // @load
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];  // @tree
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

static int case_first_barrier_missing() { return run(noFirstBarrier, 2000, 8, 256, false); }

__global__ void addDuringLoad(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    int mine = i < n ? in[i] : 0;
    if (i + blockDim.x < n) mine += in[i + blockDim.x];
    s[t] = mine;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) s[t] = mine = mine + s[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = mine;
}

static int case_add_during_load() { return run(addDuringLoad, 2000, 8, 128); }

static int case_two_kernels() {
    std::vector<int> h = numbers(16384);
    int* in = upload(h);
    int* sums = zeros<int>(128);
    int* total = zeros<int>(1);
    sequential<<<128, 128, 128 * sizeof(int)>>>(in, sums, 16384);
    sequential<<<1, 128, 128 * sizeof(int)>>>(sums, total, 128);
    int got = take(total, 1)[0], want = 0;
    CHECK(cudaFree(in));
    CHECK(cudaFree(sums));
    for (int v : h) want += v;
    return verdict(got == want);
}

// Any block size: the upper part is folded onto the lower, whatever remains in the middle.
__global__ void anySize(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    unsigned live = blockDim.x;
    while (live > 1) {
        __syncthreads();
        unsigned half = (live + 1) / 2;
        if (t + half < live) s[t] += s[t + half];
        live = half;
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

static int case_not_a_power_of_two() { return run(anySize, 1500, 11, 143); }
static int case_halving_drops_nothing_96() { return run(anySize, 960, 10, 96); }

// Starts with half = blockDim.x instead of blockDim.x / 2.
__global__ void halfTooFar(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];  // @toofar
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

static int case_half_too_far() { return run(halfTooFar, 2048, 8, 256, false); }

struct Best {
    int value, index;
};

__device__ Best better(Best a, Best b) {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

__global__ void maxIndex(const int* in, Best* out, int n) {
    __shared__ Best s[128];
    int t = threadIdx.x;
    Best mine = {-1 << 30, -1};
    for (int i = t; i < n; i += 128) mine = better(mine, {in[i], i});
    s[t] = mine;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) s[t] = better(s[t], s[t + half]);
        __syncthreads();
    }
    if (t == 0) *out = s[0];
}

static int case_max_and_index() {
    std::vector<int> h = numbers(3001);
    int* in = upload(h);
    Best* out = zeros<Best>(1);
    maxIndex<<<1, 128>>>(in, out, 3001);
    Best r = take(out, 1)[0];
    CHECK(cudaFree(in));
    int best = 0;
    for (int i = 0; i < 3001; i++) best = h[i] > h[best] ? i : best;
    return verdict(r.index == best && r.value == h[best]);
}

// The guard of the last line was forgotten, and each thread has another value.
__global__ void everyThreadStores(const int* in, int* sums, int n) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    sums[blockIdx.x] = s[t];  // @every
}

static int case_result_by_every_thread() {
    return run(everyThreadStores, 2000, 8, 256, false);
}

__global__ void dot(const float* a, const float* b, float* out, int n) {
    __shared__ float s[256];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) sum += a[i] * b[i];
    s[threadIdx.x] = sum;
    __syncthreads();
#pragma unroll
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = s[0];
}

static int case_dot_product() {
    std::vector<float> a(1111), b(1111);
    float want = 0;
    for (int i = 0; i < 1111; i++) {
        a[i] = (float)(i % 10);
        b[i] = (float)(i % 7 - 3);
        want += a[i] * b[i];
    }
    float *da = upload(a), *db = upload(b), *out = zeros<float>(1);
    dot<<<1, 256>>>(da, db, out, 1111);
    float r = take(out, 1)[0];
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return verdict(r == want);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"interleaved_modulo", case_interleaved_modulo},
    {"interleaved_stride", case_interleaved_stride},
    {"sequential", case_sequential},
    {"sequential_no_barrier_in_loop", case_sequential_no_barrier_in_loop},
    {"sequential_barrier_inside_if", case_sequential_barrier_inside_if},
    {"first_barrier_missing", case_first_barrier_missing},
    {"add_during_load", case_add_during_load},
    {"two_kernels", case_two_kernels},
    {"not_a_power_of_two", case_not_a_power_of_two},
    {"halving_drops_nothing_96", case_halving_drops_nothing_96},
    {"half_too_far", case_half_too_far},
    {"max_and_index", case_max_and_index},
    {"result_by_every_thread", case_result_by_every_thread},
    {"dot_product", case_dot_product},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
