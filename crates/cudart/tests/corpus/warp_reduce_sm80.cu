// The reductions that compute capability 8.0 does in one instruction.
//
// arch: compute_80
// case: add_min_max_unsigned  expect: clean
// case: add_min_max_signed  expect: clean
// case: and_or_xor  expect: clean
// case: subset_of_lanes  expect: clean
// case: two_groups_in_branches  expect: clean
// case: block_total  expect: clean
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
    for (int i = 0; i < n; i++) v[i] = (i * 271 + 33) % 1019 - 500;
    return v;
}

template <class T> __global__ void addMinMax(const int* in, T* out) {
    T v = (T)in[threadIdx.x];
    T sum = __reduce_add_sync(~0u, v), low = __reduce_min_sync(~0u, v);
    T high = __reduce_max_sync(~0u, v);
    if (threadIdx.x % 32 == 7) {
        out[threadIdx.x / 32 * 3] = sum;
        out[threadIdx.x / 32 * 3 + 1] = low;
        out[threadIdx.x / 32 * 3 + 2] = high;
    }
}

template <class T> static int runAddMinMax() {
    std::vector<int> h = numbers(64);
    int* in = upload(h);
    T* out = zeros<T>(6);
    addMinMax<T><<<1, 64>>>(in, out);
    std::vector<T> r = take(out, 6), want;
    CHECK(cudaFree(in));
    for (int w = 0; w < 2; w++) {
        T sum = 0, low = (T)h[w * 32], high = (T)h[w * 32];
        for (int k = 0; k < 32; k++) {
            T v = (T)h[w * 32 + k];
            sum += v;
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        want.insert(want.end(), {sum, low, high});
    }
    return verdict(r == want);
}

static int case_add_min_max_unsigned() { return runAddMinMax<unsigned>(); }
static int case_add_min_max_signed() { return runAddMinMax<int>(); }

__global__ void bits(const int* in, unsigned* out) {
    unsigned v = in[threadIdx.x];
    out[threadIdx.x] = __reduce_and_sync(~0u, v | 0xff000000u);
    out[32 + threadIdx.x] = __reduce_or_sync(~0u, v & 0x00ffu);
    out[64 + threadIdx.x] = __reduce_xor_sync(~0u, v);
}

static int case_and_or_xor() {
    std::vector<int> h = numbers(32);
    int* in = upload(h);
    unsigned* out = zeros<unsigned>(96);
    bits<<<1, 32>>>(in, out);
    std::vector<unsigned> r = take(out, 96);
    CHECK(cudaFree(in));
    unsigned a = ~0u, o = 0, x = 0;
    for (int v : h) {
        a &= (unsigned)v | 0xff000000u;
        o |= v & 0xff;
        x ^= (unsigned)v;
    }
    bool good = true;
    for (int t = 0; t < 32; t++) good = good && r[t] == a && r[32 + t] == o && r[64 + t] == x;
    return verdict(good);
}

__global__ void subset(const int* in, int* out) {
    int v = in[threadIdx.x];
    unsigned mask = __ballot_sync(~0u, v > 0);
    out[threadIdx.x] = v > 0 ? __reduce_add_sync(mask, v) : -1;
}

static int case_subset_of_lanes() {
    std::vector<int> h = numbers(32);
    int *in = upload(h), *out = zeros<int>(32);
    subset<<<1, 32>>>(in, out);
    std::vector<int> r = take(out, 32);
    CHECK(cudaFree(in));
    int sum = 0;
    for (int v : h) sum += v > 0 ? v : 0;
    bool good = true;
    for (int t = 0; t < 32; t++) good = good && r[t] == (h[t] > 0 ? sum : -1);
    return verdict(good);
}

__global__ void twoGroups(int* out) {
    int t = threadIdx.x;
    if (t < 12) {
        out[t] = __reduce_max_sync(0x00000fffu, t * 5);
    } else {
        out[t] = __reduce_min_sync(0xfffff000u, t * 5);
    }
}

static int case_two_groups_in_branches() {
    int* out = zeros<int>(32);
    twoGroups<<<1, 32>>>(out);
    std::vector<int> r = take(out, 32);
    bool good = true;
    for (int t = 0; t < 32; t++) good = good && r[t] == (t < 12 ? 55 : 60);
    return verdict(good);
}

__global__ void blockTotal(const int* in, int* total, int n) {
    __shared__ int parts[4];
    int v = 0;
    for (int i = threadIdx.x; i < n; i += 128) v += in[i];
    v = __reduce_add_sync(~0u, v);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) *total = parts[0] + parts[1] + parts[2] + parts[3];
}

static int case_block_total() {
    std::vector<int> h = numbers(2345);
    int *in = upload(h), *total = zeros<int>(1), want = 0;
    blockTotal<<<1, 128>>>(in, total, 2345);
    int got = take(total, 1)[0];
    CHECK(cudaFree(in));
    for (int v : h) want += v;
    return verdict(got == want);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"add_min_max_unsigned", case_add_min_max_unsigned},
    {"add_min_max_signed", case_add_min_max_signed},
    {"and_or_xor", case_and_or_xor},
    {"subset_of_lanes", case_subset_of_lanes},
    {"two_groups_in_branches", case_two_groups_in_branches},
    {"block_total", case_block_total},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
