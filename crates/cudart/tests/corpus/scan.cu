// Prefix sums: Hillis-Steele, Blelloch, by warps, over several blocks.
//
// case: hillis_steele_double_buffer  expect: clean
// case: hillis_steele_two_barriers  expect: clean
// case: hillis_steele_one_buffer_one_barrier  expect: race error shared at: @hsr, @hsw
// case: hillis_steele_wrong_buffer  expect: race error shared at: @wbr, @wbw
// case: blelloch  expect: clean
// case: blelloch_no_barrier_between_phases  expect: race error shared at: @up, @clear
// case: blelloch_down_without_barrier  expect: race error shared at: @down1, @down2, @down3
// case: warp_scan  expect: clean
// case: block_scan_by_warps  expect: clean
// case: block_scan_by_warps_no_barrier  expect: race error shared at: @bsw, @bsr
// case: three_kernels  expect: clean
// case: add_offsets_missing_guard  expect: bounds error at: @offsets
// case: exclusive_from_inclusive  expect: clean
// case: max_scan  expect: clean
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
    for (int i = 0; i < n; i++) v[i] = (i * 41 + 13) % 97;
    return v;
}

// Compares with inclusive sums over segments of the given length.
static bool isScan(const std::vector<int>& in, const std::vector<int>& out, int segment,
                   bool exclusive) {
    int sum = 0;
    for (size_t i = 0; i < in.size(); i++) {
        if (i % segment == 0) sum = 0;
        if (exclusive && out[i] != sum) return false;
        sum += in[i];
        if (!exclusive && out[i] != sum) return false;
    }
    return true;
}

template <class Kernel> static int run(Kernel kernel, int blocks, int threads, int segment,
                                       bool exclusive = false, bool check = true) {
    std::vector<int> h = numbers(blocks * segment);
    int* in = upload(h);
    int* out = zeros<int>(h.size());
    kernel<<<blocks, threads>>>(in, out);
    std::vector<int> r = take(out, h.size());
    CHECK(cudaFree(in));
    return verdict(!check || isScan(h, r, segment, exclusive));
}

__global__ void doubleBuffer(const int* in, int* out) {
    __shared__ int s[2][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0;
    s[0][t] = in[i];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int to = 1 - from;
        s[to][t] = t >= step ? s[from][t] + s[from][t - step] : s[from][t];
        from = to;
        __syncthreads();
    }
    out[i] = s[from][t];
}

static int case_hillis_steele_double_buffer() { return run(doubleBuffer, 3, 256, 256); }

template <bool Both> __global__ void oneBuffer(const int* in, int* out) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = in[i];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int add = t >= step ? s[t - step] : 0;  // @hsr
        if (Both) __syncthreads();
        s[t] += add;  // @hsw
        __syncthreads();
    }
    out[i] = s[t];
}

static int case_hillis_steele_two_barriers() { return run(oneBuffer<true>, 3, 256, 256); }
static int case_hillis_steele_one_buffer_one_barrier() {
    return run(oneBuffer<false>, 3, 256, 256, false, false);
}

// `from` and `to` name the same half.
__global__ void wrongBuffer(const int* in, int* out) {
    __shared__ int s[2][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0;
    s[0][t] = in[i];
    s[1][t] = in[i];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int to = from;
        int sum = t >= step ? s[from][t] + s[from][t - step] : s[from][t];  // @wbr
        s[to][t] = sum;  // @wbw
        from = 1 - to;
        __syncthreads();
    }
    out[i] = s[from][t];
}

static int case_hillis_steele_wrong_buffer() {
    return run(wrongBuffer, 3, 256, 256, false, false);
}

// 128 threads scan 256 elements. The flags leave out a barrier.
template <bool Between, bool Down> __global__ void blelloch(const int* in, int* out) {
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    s[2 * t] = in[base + 2 * t];
    s[2 * t + 1] = in[base + 2 * t + 1];
    int offset = 1;
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            s[b] += s[a];  // @up
        }
        offset *= 2;
    }
    if (Between) __syncthreads();
    if (t == (Between ? 0 : 77)) s[255] = 0;  // @clear
    for (int d = 1; d < 256; d *= 2) {
        offset >>= 1;
        if (Down) __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int left = s[a];  // @down1
            s[a] = s[b];      // @down2
            s[b] += left;     // @down3
        }
    }
    __syncthreads();
    out[base + 2 * t] = s[2 * t];
    out[base + 2 * t + 1] = s[2 * t + 1];
}

static int case_blelloch() { return run(blelloch<true, true>, 3, 128, 256, true); }
static int case_blelloch_no_barrier_between_phases() {
    return run(blelloch<false, true>, 3, 128, 256, true, false);
}
static int case_blelloch_down_without_barrier() {
    return run(blelloch<true, false>, 3, 128, 256, true, false);
}

__device__ int warpScan(int v) {
    int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(0xffffffff, v, step);
        if (lane >= step) v += left;
    }
    return v;
}

__global__ void scanWarps(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = warpScan(in[i]);
}

static int case_warp_scan() { return run(scanWarps, 10, 32, 32); }

template <bool Barrier> __device__ int blockScan(int v) {
    __shared__ int sums[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warpScan(v);
    if (lane == 31) sums[warp] = v;  // @bsw
    if (Barrier) __syncthreads();
    int before = 0;
    for (int w = 0; w < warp; w++) before += sums[w];  // @bsr
    return v + before;
}

template <bool Barrier> __global__ void scanBlocks(const int* in, int* out) {
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = blockScan<Barrier>(in[i]);
}

static int case_block_scan_by_warps() { return run(scanBlocks<true>, 4, 256, 256); }
static int case_block_scan_by_warps_no_barrier() {
    return run(scanBlocks<false>, 4, 256, 256, false, false);
}

__global__ void blockTotals(const int* scanned, int* totals) {
    totals[threadIdx.x] = scanned[threadIdx.x * 256 + 255];
}

__global__ void addOffsets(int* scanned, const int* totals) {
    if (blockIdx.x > 0) scanned[blockIdx.x * 256 + threadIdx.x] += totals[blockIdx.x - 1];
}

static int case_three_kernels() {
    const int blocks = 20;
    std::vector<int> h = numbers(blocks * 256);
    int* in = upload(h);
    int* out = zeros<int>(blocks * 256);
    int* totals = zeros<int>(256);
    int* scanned = zeros<int>(256);
    scanBlocks<true><<<blocks, 256>>>(in, out);
    blockTotals<<<1, blocks>>>(out, totals);
    scanBlocks<true><<<1, 256>>>(totals, scanned);
    addOffsets<<<blocks, 256>>>(out, scanned);
    std::vector<int> r = take(out, blocks * 256);
    CHECK(cudaFree(in));
    CHECK(cudaFree(totals));
    CHECK(cudaFree(scanned));
    return verdict(isScan(h, r, blocks * 256, false));
}

__global__ void addOffsetsUnguarded(int* scanned, const int* totals) {
    scanned[blockIdx.x * 256 + threadIdx.x] += totals[(int)blockIdx.x - 1];  // @offsets
}

static int case_add_offsets_missing_guard() {
    int* out = zeros<int>(4 * 256);
    int* totals = zeros<int>(4);
    addOffsetsUnguarded<<<4, 256>>>(out, totals);
    take(out, 4 * 256);
    CHECK(cudaFree(totals));
    return verdict(true);
}

__global__ void exclusive(const int* in, int* out) {
    int i = blockIdx.x * 256 + threadIdx.x, v = in[i];
    out[i] = blockScan<true>(v) - v;
}

static int case_exclusive_from_inclusive() { return run(exclusive, 2, 256, 256, true); }

__global__ void maxScan(const int* in, int* out, int n) {
    __shared__ int s[2][128];
    int t = threadIdx.x, from = 0;
    s[0][t] = t < n ? in[t] : -1;
    __syncthreads();
    for (int step = 1; step < n; step <<= 1) {
        s[from ^ 1][t] = t >= step ? max(s[from][t], s[from][t - step]) : s[from][t];
        from ^= 1;
        __syncthreads();
    }
    if (t < n) out[t] = s[from][t];
}

static int case_max_scan() {
    std::vector<int> h = numbers(101);
    int* in = upload(h);
    int* out = zeros<int>(101);
    maxScan<<<1, 128>>>(in, out, 101);
    std::vector<int> r = take(out, 101);
    CHECK(cudaFree(in));
    int best = -1;
    bool good = true;
    for (int i = 0; i < 101; i++) {
        best = h[i] > best ? h[i] : best;
        good = good && r[i] == best;
    }
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"hillis_steele_double_buffer", case_hillis_steele_double_buffer},
    {"hillis_steele_two_barriers", case_hillis_steele_two_barriers},
    {"hillis_steele_one_buffer_one_barrier", case_hillis_steele_one_buffer_one_barrier},
    {"hillis_steele_wrong_buffer", case_hillis_steele_wrong_buffer},
    {"blelloch", case_blelloch},
    {"blelloch_no_barrier_between_phases", case_blelloch_no_barrier_between_phases},
    {"blelloch_down_without_barrier", case_blelloch_down_without_barrier},
    {"warp_scan", case_warp_scan},
    {"block_scan_by_warps", case_block_scan_by_warps},
    {"block_scan_by_warps_no_barrier", case_block_scan_by_warps_no_barrier},
    {"three_kernels", case_three_kernels},
    {"add_offsets_missing_guard", case_add_offsets_missing_guard},
    {"exclusive_from_inclusive", case_exclusive_from_inclusive},
    {"max_scan", case_max_scan},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
