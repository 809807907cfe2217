// Histograms: global and shared atomics, private copies, and the versions that lose counts.
//
// case: global_atomics  expect: clean
// case: global_plain_increment  expect: race error gpu at: @plain
// case: shared_atomics  expect: clean
// case: shared_plain_increment  expect: race error shared at: @splain
// case: shared_clear_no_barrier  expect: race error shared at: @clear, @cadd
// case: shared_flush_no_barrier  expect: race error shared at: @fadd, @fread
// case: bin_out_of_range  expect: bounds error at: @range
// case: private_per_warp  expect: clean
// case: private_per_thread  expect: clean
// case: strided_bytes_as_words  expect: clean
// case: weighted_float  expect: clean
// case: global_not_cleared  expect: uninitialised error at: @add
// case: two_dimensional  expect: clean
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
constexpr int BINS = 64;

static std::vector<unsigned char> bytes(int n) {
    std::vector<unsigned char> v(n);
    unsigned state = 12345;
    for (int i = 0; i < n; i++) {
        state = state * 1103515245u + 12345u;
        v[i] = (state >> 16) % BINS;
    }
    return v;
}

template <class Kernel> static int run(Kernel kernel, int blocks, bool check = true) {
    const int n = 4000;
    std::vector<unsigned char> h = bytes(n);
    unsigned char* in = upload(h);
    int* bins = zeros<int>(BINS);
    kernel<<<blocks, 128>>>(in, bins, n);
    std::vector<int> r = take(bins, BINS), want(BINS, 0);
    CHECK(cudaFree(in));
    for (unsigned char b : h) want[b]++;
    return verdict(!check || r == want);
}

__global__ void globalAtomics(const unsigned char* in, int* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[in[i]], 1);  // @add
    }
}

__global__ void globalPlain(const unsigned char* in, int* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        bins[in[i]]++;  // @plain
    }
}

static int case_global_atomics() { return run(globalAtomics, 8); }
static int case_global_plain_increment() { return run(globalPlain, 8, false); }

__global__ void sharedAtomics(const unsigned char* in, int* bins, int n) {
    __shared__ int local[BINS];
    if (threadIdx.x < BINS) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i]], 1);
    }
    __syncthreads();
    if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

static int case_shared_atomics() { return run(sharedAtomics, 6); }

__global__ void sharedPlain(const unsigned char* in, int* bins, int n) {
    __shared__ int local[BINS];
    if (threadIdx.x < BINS) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        local[in[i]]++;  // @splain
    }
    __syncthreads();
    if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

static int case_shared_plain_increment() { return run(sharedPlain, 6, false); }

__global__ void sharedNoClearBarrier(const unsigned char* in, int* bins, int n) {
    __shared__ int local[BINS];
    if (threadIdx.x < BINS) local[threadIdx.x] = 0;  // @clear
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i]], 1);  // @cadd
    }
    __syncthreads();
    if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

static int case_shared_clear_no_barrier() { return run(sharedNoClearBarrier, 6, false); }

__global__ void sharedNoFlushBarrier(const unsigned char* in, int* bins, int n) {
    __shared__ int local[BINS];
    if (threadIdx.x < BINS) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i]], 1);  // @fadd
    }
    if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);  // @fread
}

static int case_shared_flush_no_barrier() { return run(sharedNoFlushBarrier, 6, false); }

// Values of 64 to 255 have no bin.
__global__ void noRangeCheck(const unsigned char* in, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i] * 2], 1);  // @range
}

static int case_bin_out_of_range() { return run(noRangeCheck, 32, false); }

__global__ void privatePerWarp(const unsigned char* in, int* bins, int n) {
    __shared__ int local[4][BINS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int b = lane; b < BINS; b += 32) local[warp][b] = 0;
    __syncwarp();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[warp][in[i]], 1);
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        int sum = 0;
        for (int w = 0; w < 4; w++) sum += local[w][threadIdx.x];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}

static int case_private_per_warp() { return run(privatePerWarp, 5); }

// Byte counters for each thread, as in the well-known 64-bin version; each sees < 256 bytes.
__global__ void privatePerThread(const unsigned char* in, int* bins, int n) {
    __shared__ unsigned char local[BINS][128];
    for (int b = 0; b < BINS; b++) local[b][threadIdx.x] = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        local[in[i]][threadIdx.x]++;
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        int sum = 0;
        for (int t = 0; t < 128; t++) sum += local[threadIdx.x][(t + threadIdx.x) % 128];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}

static int case_private_per_thread() { return run(privatePerThread, 2); }

__global__ void bytesAsWords(const unsigned char* in, int* bins, int n) {
    __shared__ int local[BINS];
    if (threadIdx.x < BINS) local[threadIdx.x] = 0;
    __syncthreads();
    const unsigned* words = reinterpret_cast<const unsigned*>(in);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        unsigned w = words[i];
        for (int k = 0; k < 4; k++) atomicAdd(&local[w >> (8 * k) & 255], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        if (local[b] != 0) atomicAdd(&bins[b], local[b]);
    }
}

static int case_strided_bytes_as_words() { return run(bytesAsWords, 3); }

__global__ void weighted(const unsigned char* in, const float* weight, float* bins, int n) {
    __shared__ float local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&local[in[i]], weight[i]);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(bins + b, local[b]);
}

static int case_weighted_float() {
    const int n = 1000;
    std::vector<unsigned char> h = bytes(n);
    std::vector<float> w(n), want(BINS, 0.0f);
    for (int i = 0; i < n; i++) {
        w[i] = 0.25f * (i % 9);
        want[h[i]] += w[i];
    }
    unsigned char* in = upload(h);
    float* weight = upload(w);
    float* bins = zeros<float>(BINS);
    weighted<<<8, 128>>>(in, weight, bins, n);
    std::vector<float> r = take(bins, BINS);
    CHECK(cudaFree(in));
    CHECK(cudaFree(weight));
    return verdict(r == want);
}

// cudaMalloc clears nothing.
static int case_global_not_cleared() {
    const int n = 4000;
    unsigned char* in = upload(bytes(n));
    int* bins = nullptr;
    CHECK(cudaMalloc(&bins, BINS * sizeof(int)));
    globalAtomics<<<8, 128>>>(in, bins, n);
    take(bins, BINS);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void joint(const unsigned char* x, const unsigned char* y, unsigned* bins, int n) {
    __shared__ unsigned local[16][16];
    local[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    for (int i = t; i < n; i += 256) atomicAdd(&local[y[i] / 4][x[i] / 4], 1u);
    __syncthreads();
    bins[t] = local[threadIdx.y][threadIdx.x];
}

static int case_two_dimensional() {
    const int n = 3000;
    std::vector<unsigned char> x = bytes(n), y(x.rbegin(), x.rend());
    unsigned char *dx = upload(x), *dy = upload(y);
    unsigned* bins = zeros<unsigned>(256);
    joint<<<1, dim3(16, 16)>>>(dx, dy, bins, n);
    std::vector<unsigned> r = take(bins, 256), want(256, 0);
    CHECK(cudaFree(dx));
    CHECK(cudaFree(dy));
    for (int i = 0; i < n; i++) want[y[i] / 4 * 16 + x[i] / 4]++;
    return verdict(r == want);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"global_atomics", case_global_atomics},
    {"global_plain_increment", case_global_plain_increment},
    {"shared_atomics", case_shared_atomics},
    {"shared_plain_increment", case_shared_plain_increment},
    {"shared_clear_no_barrier", case_shared_clear_no_barrier},
    {"shared_flush_no_barrier", case_shared_flush_no_barrier},
    {"bin_out_of_range", case_bin_out_of_range},
    {"private_per_warp", case_private_per_warp},
    {"private_per_thread", case_private_per_thread},
    {"strided_bytes_as_words", case_strided_bytes_as_words},
    {"weighted_float", case_weighted_float},
    {"global_not_cleared", case_global_not_cleared},
    {"two_dimensional", case_two_dimensional},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
