// Atomic operations of each width and kind, in global and shared memory.
//
// case: add_all_types  expect: clean
// case: sub_exch  expect: clean
// case: min_max_32  expect: clean
// case: min_max_64  expect: clean
// case: and_or_xor  expect: clean
// case: inc_dec_wrap  expect: clean
// case: cas_32_64_16  expect: clean
// case: shared_all  expect: clean
// case: double_by_cas  expect: clean
// case: float_max_by_cas  expect: clean
// case: byte_add_by_cas  expect: clean
// case: old_value_is_unique  expect: clean
// case: system_and_block_scopes  expect: clean
// case: float_sum_exact  expect: clean
// case: plain_read_while_adding  expect: race error gpu at: @peek, @peekadd
// case: plain_clear_while_adding  expect: race error gpu at: @wipe, @wipeadd
// case: atomic_past_end  expect: bounds error at: @pastend
// case: atomic_misaligned  expect: alignment error at: @odd
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
constexpr int BLOCKS = 4, THREADS = 96, N = BLOCKS * THREADS;

template <class T> __global__ void addOne(T* sum, T step) { atomicAdd(sum, step); }

template <class T> static bool tryAdd(T start, T step) {
    T* d = upload(std::vector<T>(1, start));
    addOne<T><<<BLOCKS, THREADS>>>(d, step);
    return take(d, 1)[0] == (T)(start + (T)N * step);
}

static int case_add_all_types() {
    return verdict(tryAdd<int>(-5, -3) && tryAdd<unsigned>(4294967000u, 7) &&
                   tryAdd<unsigned long long>(1ull << 33, 1ull << 31) &&
                   tryAdd<float>(0.5f, 0.25f) && tryAdd<double>(1.0, 1.0 / 1024));
}

__global__ void subExch(int* a, unsigned* b, int* slot, float* fslot, unsigned long long* wide) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicSub(a, 2);
    atomicSub(b, 5u);
    int old = atomicExch(slot, i + 1);
    // Whoever finds the initial 0 says so; every other number is found by nobody but its successor.
    if (old == 0) atomicAdd(a, 1000000);
    atomicExch(fslot, 2.5f);
    atomicExch(wide, 123456789012ull);
}

static int case_sub_exch() {
    int *a = zeros<int>(1), *slot = zeros<int>(1);
    unsigned* b = zeros<unsigned>(1);
    float* f = zeros<float>(1);
    unsigned long long* w = zeros<unsigned long long>(1);
    subExch<<<BLOCKS, THREADS>>>(a, b, slot, f, w);
    bool good = take(a, 1)[0] == 1000000 - 2 * N && take(b, 1)[0] == 0u - 5u * N;
    int last = take(slot, 1)[0];
    good = good && last >= 1 && last <= N && take(f, 1)[0] == 2.5f;
    return verdict(take(w, 1)[0] == 123456789012ull && good);
}

template <class T> __global__ void minMax(T* low, T* high, const T* values) {
    T v = values[blockIdx.x * blockDim.x + threadIdx.x];
    atomicMin(low, v);
    atomicMax(high, v);
}

template <class T> static bool tryMinMax(T step) {
    std::vector<T> h(N);
    T l = 0, u = 0, seed = 1;
    for (int i = 0; i < N; i++) {
        seed = (T)((unsigned long long)seed * (unsigned long long)step + 12345);
        h[i] = seed;
        l = i == 0 || h[i] < l ? h[i] : l;
        u = i == 0 || h[i] > u ? h[i] : u;
    }
    T *values = upload(h), *low = upload(std::vector<T>(1, h[0]));
    T* high = upload(std::vector<T>(1, h[0]));
    minMax<T><<<BLOCKS, THREADS>>>(low, high, values);
    bool good = take(low, 1)[0] == l && take(high, 1)[0] == u;
    CHECK(cudaFree(values));
    return good;
}

static int case_min_max_32() {
    return verdict(tryMinMax<unsigned>(1664525u) && tryMinMax<int>(-7));
}
static int case_min_max_64() {
    return verdict(tryMinMax<unsigned long long>(6364136223846793005ull) &&
                   tryMinMax<long long>(-5));
}

template <class T> __global__ void bits(T* a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int bit = i % (8 * sizeof(T));
    atomicOr(&a[0], (T)1 << bit);
    atomicAnd(&a[1], ~((T)1 << (bit & ~1)));
    atomicXor(&a[2], (T)i << 5);
}

template <class T> static bool tryBits() {
    std::vector<T> h = {0, ~(T)0, 77};
    T* d = upload(h);
    bits<T><<<BLOCKS, THREADS>>>(d);
    std::vector<T> r = take(d, 3);
    T x = 77, odd = 0;
    for (int i = 0; i < N; i++) x ^= (T)i << 5;
    for (size_t b = 1; b < 8 * sizeof(T); b += 2) odd |= (T)1 << b;
    return r[0] == ~(T)0 && r[1] == odd && r[2] == x;
}

static int case_and_or_xor() {
    return verdict(tryBits<unsigned>() && tryBits<unsigned long long>());
}

__global__ void wrap(unsigned* up, unsigned* down, unsigned* seen) {
    unsigned v = atomicInc(up, 9);  // 0 .. 9 and around
    atomicAdd(&seen[v], 1u);
    atomicDec(down, 6);  // 6 .. 0 and around
}

static int case_inc_dec_wrap() {
    unsigned *up = zeros<unsigned>(1), *down = zeros<unsigned>(1), *seen = zeros<unsigned>(10);
    wrap<<<5, 64>>>(up, down, seen);
    bool good = take(seen, 10) == std::vector<unsigned>(10, 32);
    good = good && take(up, 1)[0] == 0;
    return verdict(take(down, 1)[0] == (7 - 320 % 7) % 7 && good);
}

__global__ void claim(int* owner, unsigned long long* wide, unsigned short* narrow, int* wins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, slot = i % 50;
    if (atomicCAS(&owner[slot], -1, i) == -1) atomicAdd(&wins[0], 1);
    unsigned long long mine = (1ull << 40) + i;
    if (atomicCAS(&wide[slot], 0ull, mine) == 0ull) atomicAdd(&wins[1], 1);
    unsigned short old = atomicCAS(&narrow[slot], (unsigned short)7, (unsigned short)(i + 100));
    if (old == 7) atomicAdd(&wins[2], 1);
}

static int case_cas_32_64_16() {
    int* owner = upload(std::vector<int>(50, -1));
    unsigned long long* wide = zeros<unsigned long long>(50);
    unsigned short* narrow = upload(std::vector<unsigned short>(50, 7));
    int* wins = zeros<int>(3);
    claim<<<BLOCKS, THREADS>>>(owner, wide, narrow, wins);
    bool good = take(wins, 3) == std::vector<int>(3, 50);
    std::vector<int> o = take(owner, 50);
    std::vector<unsigned long long> w = take(wide, 50);
    std::vector<unsigned short> s = take(narrow, 50);
    for (int i = 0; i < 50; i++) {
        good = good && o[i] % 50 == i && (w[i] - (1ull << 40)) % 50 == (unsigned)i &&
               (s[i] - 100) % 50 == i;
    }
    return verdict(good);
}

__global__ void sharedAll(int* out, float* fout, unsigned long long* wout) {
    __shared__ int sum, low, high, mask, any, last;
    __shared__ float fsum;
    __shared__ unsigned long long wide;
    __shared__ double dsum;
    if (threadIdx.x == 0) {
        sum = any = last = 0;
        low = 1 << 30;
        high = -low;
        mask = -1;
        fsum = 0;
        wide = 0;
        dsum = 0;
    }
    __syncthreads();
    int i = threadIdx.x;
    atomicAdd(&sum, i);
    atomicMin(&low, 50 - i);
    atomicMax(&high, 3 * i);
    atomicAnd(&mask, ~(i << 8));
    atomicOr(&any, i);
    atomicCAS(&last, 0, 7);
    atomicAdd(&fsum, 0.5f);
    atomicAdd(&wide, 1ull << 35);
    atomicAdd(&dsum, 0.125);
    __syncthreads();
    if (i == 0) {
        out[0] = sum;
        out[1] = low;
        out[2] = high;
        out[3] = mask;
        out[4] = any;
        out[5] = last;
        *fout = fsum + (float)dsum;
        *wout = wide;
    }
}

static int case_shared_all() {
    int* out = zeros<int>(6);
    float* fout = zeros<float>(1);
    unsigned long long* wout = zeros<unsigned long long>(1);
    sharedAll<<<1, 128>>>(out, fout, wout);
    std::vector<int> want = {127 * 64, 50 - 127, 3 * 127, ~(127 << 8), 127, 7};
    bool good = take(out, 6) == want && take(fout, 1)[0] == 64 + 16;
    return verdict(take(wout, 1)[0] == 128ull << 35 && good);
}

// For devices without the instruction: compare and swap the bits until nobody came between.
__device__ double addByCas(double* address, double v) {
    unsigned long long* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = atomicAdd(bits, 0ull), seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(v + __longlong_as_double(seen)));
    } while (old != seen);
    return __longlong_as_double(old);
}

__global__ void addDoubles(double* sum) { addByCas(sum, 0.25 * threadIdx.x); }

static int case_double_by_cas() {
    double* d = zeros<double>(1);
    addDoubles<<<3, 64>>>(d);
    return verdict(take(d, 1)[0] == 3 * 0.25 * 63 * 32);
}

__device__ void maxByCas(float* address, float v) {
    int* bits = reinterpret_cast<int*>(address);
    int old = atomicOr(bits, 0);
    while (__int_as_float(old) < v) {
        int seen = old;
        old = atomicCAS(bits, seen, __float_as_int(v));
        if (old == seen) break;
    }
}

__global__ void maxFloats(const float* in, float* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) maxByCas(best, in[i]);
}

static int case_float_max_by_cas() {
    std::vector<float> h(300);
    float want = -100;
    for (int i = 0; i < 300; i++) {
        h[i] = (float)(i * 91 % 307) * 0.5f - 20.0f;
        want = h[i] > want ? h[i] : want;
    }
    float* in = upload(h);
    float* best = upload(std::vector<float>(1, -100.0f));
    maxFloats<<<3, 128>>>(in, best, 300);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    return verdict(take(best, 1)[0] == want);
}

// Bytes share words: the neighbours must survive.
__device__ void addByte(unsigned char* p, int v) {
    size_t address = reinterpret_cast<size_t>(p);
    unsigned* word = reinterpret_cast<unsigned*>(address & ~(size_t)3);
    unsigned shift = (address & 3) * 8, old = atomicAdd(word, 0u), seen;
    do {
        seen = old;
        unsigned byte = (seen >> shift & 255) + v & 255;
        old = atomicCAS(word, seen, (seen & ~(255u << shift)) | byte << shift);
    } while (old != seen);
}

__global__ void countBytes(unsigned char* counts) { addByte(&counts[threadIdx.x % 16], 3); }

static int case_byte_add_by_cas() {
    unsigned char* d = zeros<unsigned char>(16);
    countBytes<<<2, 128>>>(d);
    return verdict(take(d, 16) == std::vector<unsigned char>(16, 48));
}

__global__ void tickets(unsigned* next, unsigned* owner) {
    unsigned mine = atomicAdd(next, 1u);
    owner[mine] = blockIdx.x * blockDim.x + threadIdx.x + 1;
}

static int case_old_value_is_unique() {
    unsigned *next = zeros<unsigned>(1), *owner = zeros<unsigned>(N);
    tickets<<<BLOCKS, THREADS>>>(next, owner);
    std::vector<unsigned> r = take(owner, N), seen(N + 1, 0);
    for (unsigned v : r) seen[v]++;
    seen[0] = 1;
    return verdict(take(next, 1)[0] == N && seen == std::vector<unsigned>(N + 1, 1));
}

__global__ void scopes(int* perBlock, int* all, unsigned long long* wide) {
    atomicAdd_block(&perBlock[blockIdx.x], 1);
    atomicMax_block(&perBlock[gridDim.x + blockIdx.x], (int)threadIdx.x);
    atomicAdd_system(all, 2);
    atomicAdd_system(wide, 1ull << 32);
}

static int case_system_and_block_scopes() {
    int *perBlock = zeros<int>(8), *all = zeros<int>(1);
    unsigned long long* wide = zeros<unsigned long long>(1);
    scopes<<<4, 96>>>(perBlock, all, wide);
    bool good = take(perBlock, 8) == std::vector<int>({96, 96, 96, 96, 95, 95, 95, 95});
    good = good && take(all, 1)[0] == 2 * N;
    return verdict(take(wide, 1)[0] == (unsigned long long)N << 32 && good);
}

__global__ void sumFloats(const float* in, float* sum, int n) {
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        mine += in[i];
    }
    atomicAdd(sum, mine);
}

static int case_float_sum_exact() {
    std::vector<float> h(3000);
    float want = 0;
    for (int i = 0; i < 3000; i++) want += h[i] = (float)(i % 64) * 0.125f;
    float *in = upload(h), *sum = zeros<float>(1);
    sumFloats<<<4, 64>>>(in, sum, 3000);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    return verdict(take(sum, 1)[0] == want);
}

__global__ void peekWhileAdding(int* counter, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(counter, 1);  // @peekadd
    out[i] = *counter;      // @peek
}

static int case_plain_read_while_adding() {
    int *counter = zeros<int>(1), *out = zeros<int>(N);
    peekWhileAdding<<<BLOCKS, THREADS>>>(counter, out);
    take(out, N);
    CHECK(cudaFree(counter));
    return verdict(true);
}

__global__ void wipeWhileAdding(int* counter) {
    if (threadIdx.x == 0) *counter = 0;  // @wipe
    __syncthreads();
    atomicAdd(counter, 1);  // @wipeadd
}

// Correct for one block; with four, a late block wipes what the others counted.
static int case_plain_clear_while_adding() {
    int* counter = zeros<int>(1);
    wipeWhileAdding<<<BLOCKS, THREADS>>>(counter);
    take(counter, 1);
    return verdict(true);
}

__global__ void addAt(int* a) { atomicAdd(&a[threadIdx.x], 1); }  // @pastend

static int case_atomic_past_end() {
    int* d = zeros<int>(100);
    addAt<<<1, 128>>>(d);
    take(d, 100);
    return verdict(true);
}

__global__ void addUnaligned(unsigned char* bytes) {
    unsigned long long* p = reinterpret_cast<unsigned long long*>(bytes + 4 + 8 * threadIdx.x);
    atomicAdd(p, 1ull);  // @odd
}

static int case_atomic_misaligned() {
    unsigned char* d = zeros<unsigned char>(8 * 33);
    addUnaligned<<<1, 32>>>(d);
    take(d, 8 * 33);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"add_all_types", case_add_all_types},
    {"sub_exch", case_sub_exch},
    {"min_max_32", case_min_max_32},
    {"min_max_64", case_min_max_64},
    {"and_or_xor", case_and_or_xor},
    {"inc_dec_wrap", case_inc_dec_wrap},
    {"cas_32_64_16", case_cas_32_64_16},
    {"shared_all", case_shared_all},
    {"double_by_cas", case_double_by_cas},
    {"float_max_by_cas", case_float_max_by_cas},
    {"byte_add_by_cas", case_byte_add_by_cas},
    {"old_value_is_unique", case_old_value_is_unique},
    {"system_and_block_scopes", case_system_and_block_scopes},
    {"float_sum_exact", case_float_sum_exact},
    {"plain_read_while_adding", case_plain_read_while_adding},
    {"plain_clear_while_adding", case_plain_clear_while_adding},
    {"atomic_past_end", case_atomic_past_end},
    {"atomic_misaligned", case_atomic_misaligned},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
