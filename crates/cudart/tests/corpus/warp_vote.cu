// Votes, matches, bit tricks and warp-aggregated atomics.
//
// case: ballot  expect: clean
// case: any_all  expect: clean
// case: match_any  expect: clean
// case: match_any_64  expect: clean
// case: match_all  expect: clean
// case: bit_counting  expect: clean
// case: bit_counting_64  expect: clean
// case: lane_masks  expect: clean
// case: aggregated_filter  expect: clean
// case: aggregated_active_mask  expect: clean
// case: aggregated_by_match  expect: clean
// case: leader_elects  expect: clean
// case: loop_until_all_done  expect: clean
// case: parallel_or_block  expect: clean
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
    for (int i = 0; i < n; i++) v[i] = (i * 29 + 17) % 83;
    return v;
}

__global__ void ballots(const int* in, unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned b = __ballot_sync(0xffffffff, in[i] > 40);
    if (threadIdx.x % 32 == 0) out[i / 32] = b;
}

static int case_ballot() {
    std::vector<int> h = numbers(256);
    std::vector<unsigned> want(8, 0);
    for (int i = 0; i < 256; i++) want[i / 32] |= (h[i] > 40 ? 1u : 0u) << i % 32;
    int* in = upload(h);
    unsigned* out = zeros<unsigned>(8);
    ballots<<<2, 128>>>(in, out);
    std::vector<unsigned> r = take(out, 8);
    CHECK(cudaFree(in));
    return verdict(r == want);
}

__global__ void anyAll(const int* in, int* out) {
    int t = threadIdx.x;
    int any = __any_sync(~0u, in[t] == 7), all = __all_sync(~0u, in[t] >= 1);
    out[t] = (any != 0) * 2 + (all != 0);
}

static int case_any_all() {
    std::vector<int> h(96, 3);
    h[5] = 7;    // warp 0: any, all
    h[40] = 0;   // warp 1: neither
    h[64] = 7;   // warp 2: any, not all
    h[95] = -1;
    int *in = upload(h), *out = zeros<int>(96);
    anyAll<<<1, 96>>>(in, out);
    std::vector<int> r = take(out, 96);
    CHECK(cudaFree(in));
    bool good = true;
    const int want[3] = {3, 0, 2};
    for (int t = 0; t < 96; t++) good = good && r[t] == want[t / 32];
    return verdict(good);
}

template <class T> __global__ void matchAny(const T* in, unsigned* out) {
    out[threadIdx.x] = __match_any_sync(0xffffffff, in[threadIdx.x]);
}

template <class T> static int runMatchAny(T factor) {
    std::vector<T> h(64);
    for (int i = 0; i < 64; i++) h[i] = (T)(i * i % 7) * factor;
    T* in = upload(h);
    unsigned* out = zeros<unsigned>(64);
    matchAny<T><<<1, 64>>>(in, out);
    std::vector<unsigned> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) {
        unsigned want = 0;
        for (int k = 0; k < 32; k++) want |= (h[i / 32 * 32 + k] == h[i] ? 1u : 0u) << k;
        good = good && r[i] == want;
    }
    return verdict(good);
}

static int case_match_any() { return runMatchAny<int>(3); }
static int case_match_any_64() { return runMatchAny<unsigned long long>(1ull << 33); }

__global__ void matchAll(const int* in, unsigned* out) {
    int pred = -1;
    unsigned mask = __match_all_sync(0xffffffff, in[threadIdx.x], &pred);
    out[threadIdx.x] = pred ? mask : mask + 1000;
}

static int case_match_all() {
    std::vector<int> h(64, 9);
    h[50] = 8;
    int* in = upload(h);
    unsigned* out = zeros<unsigned>(64);
    matchAll<<<1, 64>>>(in, out);
    std::vector<unsigned> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) good = good && r[i] == (i < 32 ? 0xffffffffu : 1000u);
    return verdict(good);
}

__global__ void bits32(const unsigned* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i];
    out[4 * i] = __popc(v);
    out[4 * i + 1] = __clz(v);
    out[4 * i + 2] = __ffs(v);
    out[4 * i + 3] = __brev(v);
}

static int case_bit_counting() {
    std::vector<unsigned> h = {0u, 1u, 2u, 0x80000000u, 0xffffffffu, 0x00f0f000u, 12345678u};
    for (unsigned k = 1; k < 60; k++) h.push_back(k * 2654435761u);
    int n = h.size();
    unsigned* in = upload(h);
    int* out = zeros<int>(4 * n);
    bits32<<<1, 128>>>(in, out, n);
    std::vector<int> r = take(out, 4 * n);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < n; i++) {
        int count = 0, high = 32, low = 0;
        unsigned reversed = 0;
        for (int b = 0; b < 32; b++) {
            if (!(h[i] >> b & 1)) continue;
            count++;
            high = 31 - b;
            if (low == 0) low = b + 1;
            reversed |= 1u << (31 - b);
        }
        good = good && r[4 * i] == count && r[4 * i + 1] == high && r[4 * i + 2] == low &&
               (unsigned)r[4 * i + 3] == reversed;
    }
    return verdict(good);
}

__global__ void bits64(const unsigned long long* in, unsigned long long* out) {
    int i = threadIdx.x;
    unsigned long long v = in[i];
    out[2 * i] = __brevll(v);
    out[2 * i + 1] = __popcll(v) + 100 * __clzll(v) + 10000 * __ffsll(v);
}

static int case_bit_counting_64() {
    std::vector<unsigned long long> h(32);
    for (int i = 0; i < 32; i++) h[i] = i == 0 ? 0 : 0x9e3779b97f4a7c15ull * i << i;
    unsigned long long *in = upload(h), *out = zeros<unsigned long long>(64);
    bits64<<<1, 32>>>(in, out);
    std::vector<unsigned long long> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 32; i++) {
        unsigned long long reversed = 0;
        int count = 0, high = 64, low = 0;
        for (int b = 0; b < 64; b++) {
            if (!(h[i] >> b & 1)) continue;
            count++;
            high = 63 - b;
            if (low == 0) low = b + 1;
            reversed |= 1ull << (63 - b);
        }
        unsigned long long want = count + 100 * high + 10000 * low;
        good = good && r[2 * i] == reversed && r[2 * i + 1] == want;
    }
    return verdict(good);
}

__device__ unsigned laneMaskLt() {
    unsigned m;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
    return m;
}

__device__ unsigned laneId() {
    unsigned id;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}

__global__ void laneMasks(unsigned* out) {
    unsigned le, eq, ge, gt, warp;
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    unsigned lt = laneMaskLt(), lane = laneId();
    bool good = lane == threadIdx.x % 32 && eq == 1u << lane && lt == eq - 1 && le == (lt | eq) &&
                ge == ~lt && gt == ~le && warp < 32;
    out[threadIdx.x] = good;
}

static int case_lane_masks() {
    unsigned* out = zeros<unsigned>(96);
    laneMasks<<<1, 96>>>(out);
    return verdict(take(out, 96) == std::vector<unsigned>(96, 1));
}

// One atomic a warp: the leader adds the number of all, each takes its place by its rank.
__global__ void aggregatedFilter(const int* in, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && in[i] > 40;
    unsigned mask = __ballot_sync(~0u, keep);
    if (mask == 0) return;
    int base = 0, leader = __ffs(mask) - 1, lane = threadIdx.x % 32;
    if (lane == leader) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(~0u, base, leader);
    if (keep) out[base + __popc(mask & laneMaskLt())] = in[i];
}

__device__ int nextPlace(int* counter) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, place = 0;
    if ((int)laneId() == leader) place = atomicAdd(counter, __popc(active));
    place = __shfl_sync(active, place, leader);
    return place + __popc(active & laneMaskLt());
}

__global__ void aggregatedActive(const int* in, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 40) out[nextPlace(count)] = in[i];
}

template <class Kernel> static int runFilter(Kernel kernel) {
    const int n = 1000;
    std::vector<int> h = numbers(n), want(83, 0), got(83, 0);
    int *in = upload(h), *out = zeros<int>(n), *count = zeros<int>(1);
    kernel<<<8, 128>>>(in, out, count, n);
    std::vector<int> r = take(out, n);
    int found = take(count, 1)[0], expected = 0;
    CHECK(cudaFree(in));
    for (int v : h) {
        if (v > 40) want[v]++, expected++;
    }
    if (found != expected) return verdict(false, "count");
    for (int i = 0; i < found; i++) got[r[i]]++;
    return verdict(got == want);
}

static int case_aggregated_filter() { return runFilter(aggregatedFilter); }
static int case_aggregated_active_mask() { return runFilter(aggregatedActive); }

// Lanes with the same bin add together.
__global__ void byMatch(const int* in, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned live = __ballot_sync(~0u, i < n);
    if (i >= n) return;
    int bin = in[i] % 10;
    unsigned same = __match_any_sync(live, bin);
    if ((int)laneId() == __ffs(same) - 1) atomicAdd(&bins[bin], __popc(same));
}

static int case_aggregated_by_match() {
    std::vector<int> h = numbers(777), want(10, 0);
    for (int v : h) want[v % 10]++;
    int *in = upload(h), *bins = zeros<int>(10);
    byMatch<<<7, 128>>>(in, bins, 777);
    std::vector<int> r = take(bins, 10);
    CHECK(cudaFree(in));
    return verdict(r == want);
}

__global__ void leaderElects(const int* in, int* out) {
    int t = threadIdx.x, v = in[t];
    unsigned todo = 0xffffffff;
    int rounds = 0;
    // Serve one key a round, whoever has it.
    while (todo) {
        int leader = __ffs(todo) - 1;
        int key = __shfl_sync(0xffffffff, v, leader);
        unsigned mine = __ballot_sync(0xffffffff, v == key);
        if (v == key) out[t] = rounds * 100 + __popc(mine);
        todo &= ~mine;
        rounds++;
    }
}

static int case_leader_elects() {
    std::vector<int> h(32);
    for (int i = 0; i < 32; i++) h[i] = i % 5 + i / 20;
    int *in = upload(h), *out = zeros<int>(32);
    leaderElects<<<1, 32>>>(in, out);
    std::vector<int> r = take(out, 32);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 32; i++) {
        int rank = 0, count = 0;
        bool seen[8] = {};
        for (int k = 0; k < 32; k++) {
            count += h[k] == h[i];
            if (seen[h[k]]) continue;
            seen[h[k]] = true;
            int firstOfMine = 0;
            while (h[firstOfMine] != h[i]) firstOfMine++;
            rank += k < firstOfMine;
        }
        good = good && r[i] == rank * 100 + count;
    }
    return verdict(good);
}

__global__ void collatzTogether(const int* in, int* steps, int* rounds) {
    int t = threadIdx.x, v = in[t], count = 0, round = 0;
    while (__any_sync(~0u, v != 1)) {
        if (v != 1) {
            v = v % 2 ? 3 * v + 1 : v / 2;
            count++;
        }
        round++;
    }
    steps[t] = count;
    rounds[t] = round;
}

static int case_loop_until_all_done() {
    std::vector<int> h(32);
    for (int i = 0; i < 32; i++) h[i] = i + 1;
    int *in = upload(h), *steps = zeros<int>(32), *rounds = zeros<int>(32);
    collatzTogether<<<1, 32>>>(in, steps, rounds);
    std::vector<int> s = take(steps, 32), r = take(rounds, 32);
    CHECK(cudaFree(in));
    int most = 0;
    bool good = true;
    for (int i = 0; i < 32; i++) {
        int v = h[i], count = 0;
        for (; v != 1; count++) v = v % 2 ? 3 * v + 1 : v / 2;
        good = good && s[i] == count;
        most = count > most ? count : most;
    }
    return verdict(good && r == std::vector<int>(32, most));
}

__global__ void blockVotes(const int* in, int* out) {
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    int any = __syncthreads_or(v == 5), all = __syncthreads_and(v < 80);
    int count = __syncthreads_count(v > 60);
    if (threadIdx.x == 0) out[blockIdx.x] = (any != 0) * 10000 + (all != 0) * 1000 + count;
}

static int case_parallel_or_block() {
    std::vector<int> h = numbers(5 * 70);
    int *in = upload(h), *out = zeros<int>(5);
    blockVotes<<<5, 70>>>(in, out);
    std::vector<int> r = take(out, 5);
    CHECK(cudaFree(in));
    bool good = true;
    for (int b = 0; b < 5; b++) {
        bool any = false, all = true;
        int count = 0;
        for (int k = 0; k < 70; k++) {
            int v = h[b * 70 + k];
            any = any || v == 5;
            all = all && v < 80;
            count += v > 60;
        }
        good = good && r[b] == any * 10000 + all * 1000 + count;
    }
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"ballot", case_ballot},
    {"any_all", case_any_all},
    {"match_any", case_match_any},
    {"match_any_64", case_match_any_64},
    {"match_all", case_match_all},
    {"bit_counting", case_bit_counting},
    {"bit_counting_64", case_bit_counting_64},
    {"lane_masks", case_lane_masks},
    {"aggregated_filter", case_aggregated_filter},
    {"aggregated_active_mask", case_aggregated_active_mask},
    {"aggregated_by_match", case_aggregated_by_match},
    {"leader_elects", case_leader_elects},
    {"loop_until_all_done", case_loop_until_all_done},
    {"parallel_or_block", case_parallel_or_block},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
