// Shuffles: each form, all types, widths, partial masks.
//
// case: all_forms  expect: clean
// case: all_types  expect: clean
// case: width_8  expect: clean
// case: out_of_range_keeps_own  expect: clean
// case: broadcast_variable_lane  expect: clean
// case: half_mask  expect: clean
// case: in_divergent_branch  expect: clean
// case: butterfly_minimum  expect: clean
// case: rotate_by_shuffle  expect: clean
// case: transpose_8_by_8  expect: clean
// case: bitonic_in_warp  expect: clean
// case: partial_warp_40_threads  expect: clean
// case: shuffle_orders_no_memory  expect: race error shared at: @snw, @snr
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
__global__ void allForms(int* out) {
    int t = threadIdx.x, v = 1000 + t;
    out[t] = __shfl_sync(~0u, v, 5);
    out[32 + t] = __shfl_up_sync(~0u, v, 3);
    out[64 + t] = __shfl_down_sync(~0u, v, 4);
    out[96 + t] = __shfl_xor_sync(~0u, v, 9);
    out[128 + t] = __shfl_sync(~0u, v, t * 7);
}

static int case_all_forms() {
    int* d = zeros<int>(160);
    allForms<<<1, 32>>>(d);
    std::vector<int> r = take(d, 160);
    bool good = true;
    for (int t = 0; t < 32; t++) {
        good = good && r[t] == 1005 && r[32 + t] == 1000 + (t < 3 ? t : t - 3) &&
               r[64 + t] == 1000 + (t > 27 ? t : t + 4) && r[96 + t] == 1000 + (t ^ 9) &&
               r[128 + t] == 1000 + t * 7 % 32;
    }
    return verdict(good);
}

template <class T> __global__ void shuffleType(const T* in, T* out) {
    int t = threadIdx.x;
    T v = in[t];
    v = __shfl_xor_sync(0xffffffffu, v, 1);
    v = __shfl_down_sync(0xffffffffu, v, 2);
    v = __shfl_sync(0xffffffffu, v, (t + 30) % 32);
    out[t] = v;
}

template <class T> static bool tryType(T factor) {
    std::vector<T> h(32);
    for (int i = 0; i < 32; i++) h[i] = factor * (T)(i + 1);
    T *in = upload(h), *out = zeros<T>(32);
    shuffleType<T><<<1, 32>>>(in, out);
    std::vector<T> r = take(out, 32);
    CHECK(cudaFree(in));
    for (int t = 0; t < 32; t++) {
        int s = (t + 30) % 32;
        s = s + 2 < 32 ? s + 2 : s;
        if (r[t] != h[s ^ 1]) return false;
    }
    return true;
}

static int case_all_types() {
    return verdict(tryType<int>(-70001) && tryType<unsigned>(130000001u) && tryType<float>(1.25f) &&
                   tryType<double>(1e100) && tryType<long long>(-(1ll << 50) - 1) &&
                   tryType<unsigned long long>((1ull << 58) + 3) && tryType<long>(1l << 41) &&
                   tryType<unsigned long>((1ul << 57) - 7));
}

__global__ void width8(int* out) {
    int t = threadIdx.x, v = t * t;
    out[t] = __shfl_sync(~0u, v, 3, 8);
    out[32 + t] = __shfl_up_sync(~0u, v, 1, 8);
    out[64 + t] = __shfl_down_sync(~0u, v, 2, 8);
    out[96 + t] = __shfl_xor_sync(~0u, v, 4, 8);
}

static int case_width_8() {
    int* d = zeros<int>(128);
    width8<<<1, 32>>>(d);
    std::vector<int> r = take(d, 128);
    bool good = true;
    for (int t = 0; t < 32; t++) {
        int base = t / 8 * 8, l = t % 8;
        int up = base + (l < 1 ? l : l - 1), down = base + (l > 5 ? l : l + 2);
        int fixed = base + 3, other = t ^ 4;
        good = good && r[t] == fixed * fixed && r[32 + t] == up * up &&
               r[64 + t] == down * down && r[96 + t] == other * other;
    }
    return verdict(good);
}

__global__ void outOfRange(int* out) {
    int t = threadIdx.x;
    out[t] = __shfl_down_sync(~0u, t, 31);
    out[32 + t] = __shfl_up_sync(~0u, t, 31);
    out[64 + t] = __shfl_xor_sync(~0u, t, 16, 16);
}

// Source lanes beyond the segment give one's own value back.
static int case_out_of_range_keeps_own() {
    int* d = zeros<int>(96);
    outOfRange<<<1, 32>>>(d);
    std::vector<int> r = take(d, 96);
    bool good = true;
    for (int t = 0; t < 32; t++) {
        good = good && r[t] == (t == 0 ? 31 : t) && r[32 + t] == (t == 31 ? 0 : t) &&
               r[64 + t] == (t < 16 ? t : t - 16);
    }
    return verdict(good);
}

__global__ void broadcast(const int* lane, int* out) {
    int t = threadIdx.x, warp = t / 32;
    out[t] = __shfl_sync(~0u, t * 10, lane[warp]);
}

static int case_broadcast_variable_lane() {
    int *lane = upload(std::vector<int>({4, 31, 0})), *out = zeros<int>(96);
    broadcast<<<1, 96>>>(lane, out);
    std::vector<int> r = take(out, 96);
    CHECK(cudaFree(lane));
    bool good = true;
    const int want[3] = {40, 630, 640};
    for (int t = 0; t < 96; t++) good = good && r[t] == want[t / 32];
    return verdict(good);
}

__global__ void halfMask(int* out) {
    int t = threadIdx.x, v = t;
    if (t < 16) {
        for (int m = 8; m > 0; m /= 2) v += __shfl_xor_sync(0x0000ffffu, v, m);
    } else {
        for (int m = 8; m > 0; m /= 2) v = max(v, __shfl_xor_sync(0xffff0000u, v, m));
    }
    out[t] = v;
}

static int case_half_mask() {
    int* d = zeros<int>(32);
    halfMask<<<1, 32>>>(d);
    std::vector<int> r = take(d, 32);
    bool good = true;
    for (int t = 0; t < 32; t++) good = good && r[t] == (t < 16 ? 120 : 31);
    return verdict(good);
}

// The lanes that take part are known from a ballot before the branch.
__global__ void divergent(const int* in, int* out) {
    int t = threadIdx.x, v = in[t];
    bool odd = v % 2 != 0;
    unsigned mask = __ballot_sync(~0u, odd);
    if (odd) {
        int first = __ffs(mask) - 1;
        out[t] = v - __shfl_sync(mask, v, first);
    } else {
        out[t] = __popc(mask);
    }
}

static int case_in_divergent_branch() {
    std::vector<int> h(32);
    for (int i = 0; i < 32; i++) h[i] = (i * 5 + 2) % 19;
    int *in = upload(h), *out = zeros<int>(32);
    divergent<<<1, 32>>>(in, out);
    std::vector<int> r = take(out, 32);
    CHECK(cudaFree(in));
    int first = -1, count = 0;
    for (int v : h) {
        if (v % 2 && first < 0) first = v;
        count += v % 2;
    }
    bool good = true;
    for (int i = 0; i < 32; i++) good = good && r[i] == (h[i] % 2 ? h[i] - first : count);
    return verdict(good);
}

__global__ void butterfly(const float* in, float* out, int* where) {
    int t = threadIdx.x, at = t;
    float v = in[t];
    for (int m = 16; m > 0; m >>= 1) {
        float other = __shfl_xor_sync(~0u, v, m);
        int otherAt = __shfl_xor_sync(~0u, at, m);
        if (other < v || (other == v && otherAt < at)) {
            v = other;
            at = otherAt;
        }
    }
    out[t] = v;
    where[t] = at;
}

static int case_butterfly_minimum() {
    std::vector<float> h(32);
    for (int i = 0; i < 32; i++) h[i] = (float)((i + 9) * 17 % 23) - 3.5f;
    float *in = upload(h), *out = zeros<float>(32);
    int* where = zeros<int>(32);
    butterfly<<<1, 32>>>(in, out, where);
    std::vector<float> r = take(out, 32);
    std::vector<int> w = take(where, 32);
    CHECK(cudaFree(in));
    int best = 0;
    for (int i = 0; i < 32; i++) best = h[i] < h[best] ? i : best;
    return verdict(r == std::vector<float>(32, h[best]) && w == std::vector<int>(32, best));
}

__global__ void rotateLanes(int* data, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = __shfl_sync(0xffffffff, data[i], (i + by) & 31);
}

static int case_rotate_by_shuffle() {
    std::vector<int> h(256);
    for (int i = 0; i < 256; i++) h[i] = 3 * i;
    int* d = upload(h);
    rotateLanes<<<2, 128>>>(d, 5);
    rotateLanes<<<4, 64>>>(d, 27);
    return verdict(take(d, 256) == h);
}

// Each of 8 lanes holds a row; after three exchanges it holds a column.
__global__ void transpose8(const int* in, int* out) {
    int lane = threadIdx.x % 8, base = threadIdx.x / 8 * 64;
    int row[8];
    for (int k = 0; k < 8; k++) row[k] = in[base + lane * 8 + k];
#pragma unroll
    for (int step = 1; step < 8; step *= 2) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (k & step) continue;
            int send = lane & step ? row[k] : row[k | step];
            int got = __shfl_xor_sync(~0u, send, step);
            if (lane & step) {
                row[k] = got;
            } else {
                row[k | step] = got;
            }
        }
    }
    for (int k = 0; k < 8; k++) out[base + lane * 8 + k] = row[k];
}

static int case_transpose_8_by_8() {
    std::vector<int> h(256);
    for (int i = 0; i < 256; i++) h[i] = i * 13;
    int *in = upload(h), *out = zeros<int>(256);
    transpose8<<<1, 32>>>(in, out);
    std::vector<int> r = take(out, 256);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 256; i++) {
        good = good && r[i] == h[i / 64 * 64 + i % 8 * 8 + i / 8 % 8];
    }
    return verdict(good);
}

__global__ void sortWarp(int* data) {
    int lane = threadIdx.x % 32, v = data[threadIdx.x];
    for (int size = 2; size <= 32; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int other = __shfl_xor_sync(~0u, v, stride);
            bool up = (lane & size) == 0, low = (lane & stride) == 0;
            v = up == low ? min(v, other) : max(v, other);
        }
    }
    data[threadIdx.x] = v;
}

static int case_bitonic_in_warp() {
    std::vector<int> h(64);
    for (int i = 0; i < 64; i++) h[i] = i * 37 % 101;
    int* d = upload(h);
    sortWarp<<<1, 64>>>(d);
    std::vector<int> r = take(d, 64);
    bool good = true;
    for (int i = 1; i < 64; i++) good = good && (i == 32 || r[i - 1] <= r[i]);
    return verdict(good);
}

// The second warp has 8 lanes only, and the mask says so.
__global__ void partialWarp(int* out) {
    int t = threadIdx.x, lane = t % 32;
    unsigned mask = __ballot_sync(t < 32 ? 0xffffffffu : 0xffu, true);
    int v = 1;
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(mask, v, step);
        if (lane >= step) v += left;
    }
    out[t] = v;
}

static int case_partial_warp_40_threads() {
    int* d = zeros<int>(40);
    partialWarp<<<1, 40>>>(d);
    std::vector<int> r = take(d, 40);
    bool good = true;
    for (int t = 0; t < 40; t++) good = good && r[t] == t % 32 + 1;
    return verdict(good);
}

// The shuffle waits for the lanes, yet it isn't a fence: s needs a __syncwarp.
__global__ void exchangeThroughShuffle(int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t * 3;  // @snw
    int other = __shfl_xor_sync(~0u, t, 31);
    out[t] = s[other];  // @snr
}

static int case_shuffle_orders_no_memory() {
    int* d = zeros<int>(32);
    exchangeThroughShuffle<<<1, 32>>>(d);
    take(d, 32);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"all_forms", case_all_forms},
    {"all_types", case_all_types},
    {"width_8", case_width_8},
    {"out_of_range_keeps_own", case_out_of_range_keeps_own},
    {"broadcast_variable_lane", case_broadcast_variable_lane},
    {"half_mask", case_half_mask},
    {"in_divergent_branch", case_in_divergent_branch},
    {"butterfly_minimum", case_butterfly_minimum},
    {"rotate_by_shuffle", case_rotate_by_shuffle},
    {"transpose_8_by_8", case_transpose_8_by_8},
    {"bitonic_in_warp", case_bitonic_in_warp},
    {"partial_warp_40_threads", case_partial_warp_40_threads},
    {"shuffle_orders_no_memory", case_shuffle_orders_no_memory},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
