// Sorting networks, compaction, partition, a radix step, merging.
//
// case: bitonic_shared  expect: clean
// case: bitonic_shared_no_barrier  expect: race error shared at: @bra, @brb, @bwa, @bwb
// case: bitonic_global  expect: clean
// case: bitonic_key_value  expect: clean
// case: odd_even  expect: clean
// case: odd_even_all_pairs  expect: race error shared at: @oea, @oeb, @oewa, @oewb
// case: compact_atomic  expect: clean
// case: compact_plain_counter  expect: race error gpu at: @counter
// case: compact_scan  expect: clean
// case: compact_scan_no_barrier  expect: race error shared at: @flag, @sum
// case: compact_output_too_small  expect: bounds error at: @small
// case: radix_one_bit  expect: clean
// case: radix_sort  expect: clean
// case: rank_sort  expect: clean
// case: merge_by_search  expect: clean
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
#include <algorithm>

static std::vector<unsigned> numbers(int n) {
    std::vector<unsigned> v(n);
    unsigned state = 99;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        v[i] = state >> 20;
    }
    return v;
}

static std::vector<unsigned> sorted(std::vector<unsigned> v) {
    std::sort(v.begin(), v.end());
    return v;
}

template <bool Barrier> __global__ void bitonicShared(unsigned* data) {
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned size = 2; size <= 256; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            unsigned other = t ^ stride;
            if (other > t) {
                unsigned a = s[t];      // @bra
                unsigned b = s[other];  // @brb
                if ((a > b) == ((t & size) == 0)) {
                    s[t] = b;      // @bwa
                    s[other] = a;  // @bwb
                }
            }
            if (Barrier) __syncthreads();
        }
    }
    __syncthreads();
    data[blockIdx.x * 256 + t] = s[t];
}

template <bool Barrier> static int runBitonic() {
    std::vector<unsigned> h = numbers(256);
    unsigned* d = upload(h);
    bitonicShared<Barrier><<<1, 256>>>(d);
    std::vector<unsigned> r = take(d, 256);
    return verdict(!Barrier || r == sorted(h));
}

static int case_bitonic_shared() { return runBitonic<true>(); }
static int case_bitonic_shared_no_barrier() { return runBitonic<false>(); }

__global__ void bitonicStep(unsigned* data, unsigned size, unsigned stride) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ stride;
    if (other > i) {
        unsigned a = data[i], b = data[other];
        if ((a > b) == ((i & size) == 0)) {
            data[i] = b;
            data[other] = a;
        }
    }
}

static int case_bitonic_global() {
    const unsigned n = 1024;
    std::vector<unsigned> h = numbers(n);
    unsigned* d = upload(h);
    for (unsigned size = 2; size <= n; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            bitonicStep<<<n / 256, 256>>>(d, size, stride);
        }
    }
    return verdict(take(d, n) == sorted(h));
}

__global__ void bitonicPairs(uint2* data) {
    __shared__ uint2 s[64];
    unsigned t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (unsigned size = 2; size <= 64; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            unsigned low = 2 * t - (t & (stride - 1));
            if (t < 32) {
                uint2 a = s[low], b = s[low + stride];
                if ((a.x > b.x) == ((low & size) == 0)) {
                    s[low] = b;
                    s[low + stride] = a;
                }
            }
            __syncthreads();
        }
    }
    data[t] = s[t];
}

static int case_bitonic_key_value() {
    std::vector<unsigned> keys = numbers(64);
    std::vector<uint2> h(64);
    for (unsigned i = 0; i < 64; i++) h[i] = make_uint2(keys[i] * 64 + i, i);
    uint2* d = upload(h);
    bitonicPairs<<<1, 64>>>(d);
    std::vector<uint2> r = take(d, 64);
    bool good = true;
    for (int i = 0; i < 64; i++) {
        good = good && r[i].x == h[r[i].y].x && (i == 0 || r[i - 1].x < r[i].x);
    }
    return verdict(good);
}

// In each round only pairs that begin at an even (odd) place are compared.
template <bool Alternate> __global__ void oddEven(unsigned* data, int n) {
    __shared__ unsigned s[128];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int round = 0; round < n; round++) {
        if (t + 1 < n && (!Alternate || t % 2 == round % 2)) {
            unsigned a = s[t];      // @oea
            unsigned b = s[t + 1];  // @oeb
            if (a > b) {
                s[t] = b;      // @oewa
                s[t + 1] = a;  // @oewb
            }
        }
        __syncthreads();
    }
    data[t] = s[t];
}

template <bool Alternate> static int runOddEven() {
    std::vector<unsigned> h = numbers(128);
    unsigned* d = upload(h);
    oddEven<Alternate><<<1, 128>>>(d, 128);
    std::vector<unsigned> r = take(d, 128);
    return verdict(!Alternate || r == sorted(h));
}

static int case_odd_even() { return runOddEven<true>(); }
static int case_odd_even_all_pairs() { return runOddEven<false>(); }

__global__ void compactAtomic(const unsigned* in, unsigned* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 3 == 0) {
        int at = atomicAdd(count, 1);
        out[at] = in[i];  // @small
    }
}

static std::vector<unsigned> multiplesOf3(const std::vector<unsigned>& v) {
    std::vector<unsigned> r;
    for (unsigned x : v) {
        if (x % 3 == 0) r.push_back(x);
    }
    return r;
}

static int runCompact(int room) {
    const int n = 2000;
    std::vector<unsigned> h = numbers(n), want = multiplesOf3(h);
    unsigned* in = upload(h);
    unsigned* out = zeros<unsigned>(room);
    int* count = zeros<int>(1);
    compactAtomic<<<16, 128>>>(in, out, count, n);
    std::vector<unsigned> r = take(out, room);
    int found = take(count, 1)[0];
    CHECK(cudaFree(in));
    r.resize(found < room ? found : room);
    // The order is up to the schedule.
    return verdict(sorted(r) == sorted(want));
}

static int case_compact_atomic() { return runCompact(2000); }
static int case_compact_output_too_small() { return runCompact(400); }

__global__ void compactPlain(const unsigned* in, unsigned* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 3 == 0) out[(*count)++] = in[i];  // @counter
}

static int case_compact_plain_counter() {
    unsigned* in = upload(numbers(2000));
    unsigned* out = zeros<unsigned>(2000);
    int* count = zeros<int>(1);
    compactPlain<<<16, 128>>>(in, out, count, 2000);
    take(out, 2000);
    CHECK(cudaFree(in));
    CHECK(cudaFree(count));
    return verdict(true);
}

template <bool Barrier> __global__ void compactScan(const unsigned* in, unsigned* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    bool keep = in[t] % 3 == 0;
    s[t] = keep;  // @flag
    if (Barrier) __syncthreads();
    int at = 0;
    for (int k = 0; k < t; k++) at += s[k];  // @sum
    if (keep) out[at] = in[t];
}

template <bool Barrier> static int runCompactScan() {
    std::vector<unsigned> h = numbers(128), want = multiplesOf3(h);
    unsigned* in = upload(h);
    unsigned* out = zeros<unsigned>(128);
    compactScan<Barrier><<<1, 128>>>(in, out);
    std::vector<unsigned> r = take(out, 128);
    CHECK(cudaFree(in));
    want.resize(128, 0);
    return verdict(!Barrier || r == want);
}

static int case_compact_scan() { return runCompactScan<true>(); }
static int case_compact_scan_no_barrier() { return runCompactScan<false>(); }

// Splits by one bit, keeping the order: zeros first.
__device__ void splitBit(unsigned* s, unsigned* ones, int bit) {
    int t = threadIdx.x, n = blockDim.x;
    unsigned v = s[t], one = v >> bit & 1;
    ones[t] = one;
    __syncthreads();
    for (int step = 1; step < n; step *= 2) {
        unsigned left = t >= step ? ones[t - step] : 0;
        __syncthreads();
        ones[t] += left;
        __syncthreads();
    }
    unsigned zeroCount = n - ones[n - 1], onesBefore = ones[t] - one;
    s[one ? zeroCount + onesBefore : t - onesBefore] = v;
    __syncthreads();
}

__global__ void radix(unsigned* data, int bits) {
    __shared__ unsigned s[128], ones[128];
    s[threadIdx.x] = data[threadIdx.x];
    for (int bit = 0; bit < bits; bit++) splitBit(s, ones, bit);
    data[threadIdx.x] = s[threadIdx.x];
}

static int case_radix_one_bit() {
    std::vector<unsigned> h = numbers(128), want = h;
    unsigned* d = upload(h);
    radix<<<1, 128>>>(d, 1);
    std::stable_partition(want.begin(), want.end(), [](unsigned x) { return x % 2 == 0; });
    return verdict(take(d, 128) == want);
}

static int case_radix_sort() {
    std::vector<unsigned> h = numbers(128);
    unsigned* d = upload(h);
    radix<<<1, 128>>>(d, 12);
    return verdict(take(d, 128) == sorted(h));
}

__global__ void rankSort(const unsigned* in, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i];
    int rank = 0;
    for (int k = 0; k < n; k++) rank += in[k] < v || (in[k] == v && k < i);
    out[rank] = v;
}

static int case_rank_sort() {
    std::vector<unsigned> h = numbers(500);
    unsigned* in = upload(h);
    unsigned* out = zeros<unsigned>(500);
    rankSort<<<4, 128>>>(in, out, 500);
    std::vector<unsigned> r = take(out, 500);
    CHECK(cudaFree(in));
    return verdict(r == sorted(h));
}

__device__ int lowerBound(const unsigned* v, int n, unsigned x, bool orEqual) {
    int low = 0, high = n;
    while (low < high) {
        int mid = (low + high) / 2;
        if (v[mid] < x || (orEqual && v[mid] == x)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

__global__ void mergeBySearch(const unsigned* a, int na, const unsigned* b, int nb,
                              unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < na) {
        out[i + lowerBound(b, nb, a[i], false)] = a[i];
    } else if (i < na + nb) {
        out[i - na + lowerBound(a, na, b[i - na], true)] = b[i - na];
    }
}

static int case_merge_by_search() {
    std::vector<unsigned> all = numbers(700);
    std::vector<unsigned> a(all.begin(), all.begin() + 300), b(all.begin() + 300, all.end());
    a = sorted(a);
    b = sorted(b);
    unsigned *da = upload(a), *db = upload(b), *out = zeros<unsigned>(700);
    mergeBySearch<<<6, 128>>>(da, 300, db, 400, out);
    std::vector<unsigned> r = take(out, 700);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return verdict(r == sorted(all));
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"bitonic_shared", case_bitonic_shared},
    {"bitonic_shared_no_barrier", case_bitonic_shared_no_barrier},
    {"bitonic_global", case_bitonic_global},
    {"bitonic_key_value", case_bitonic_key_value},
    {"odd_even", case_odd_even},
    {"odd_even_all_pairs", case_odd_even_all_pairs},
    {"compact_atomic", case_compact_atomic},
    {"compact_plain_counter", case_compact_plain_counter},
    {"compact_scan", case_compact_scan},
    {"compact_scan_no_barrier", case_compact_scan_no_barrier},
    {"compact_output_too_small", case_compact_output_too_small},
    {"radix_one_bit", case_radix_one_bit},
    {"radix_sort", case_radix_sort},
    {"rank_sort", case_rank_sort},
    {"merge_by_search", case_merge_by_search},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
