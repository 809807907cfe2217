// Barriers with a number and a count, through inline PTX.
//
// case: two_halves  expect: clean
// case: producer_consumer  expect: clean
// case: producer_consumer_two_buffers  expect: clean
// case: producer_consumer_one_barrier_only  expect: race error shared at: @poll, @pofill
// case: arrive_only_reader_ahead  expect: race error shared at: @arfill, @arread
// case: reduction_barrier  expect: clean
// case: all_sixteen  expect: clean
// case: count_too_high  expect: deadlock error at: @high
// case: counts_differ  expect: barrier error at: @count64, @count96
// case: swapped_numbers  expect: deadlock error at: @swap12, @swap21
// case: count_not_multiple_of_32  expect: barrier error at: @count48
// case: number_by_register  expect: clean
// case: halves_need_whole_barrier  expect: race error shared at: @hw, @hr
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
__device__ __forceinline__ void syncOn(int number, int count) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(count) : "memory");
}

__device__ __forceinline__ void arriveOn(int number, int count) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(count) : "memory");
}

// Each half of the block reverses its own 64 elements, waiting only for its own threads.
__global__ void twoHalves(int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, half = t / 64;
    s[t] = t * 3;
    syncOn(1 + half, 64);
    out[t] = s[half * 64 + 63 - t % 64];
}

static int case_two_halves() {
    int* d = zeros<int>(128);
    twoHalves<<<1, 128>>>(d);
    std::vector<int> r = take(d, 128);
    bool good = true;
    for (int t = 0; t < 128; t++) good = good && r[t] == 3 * (t / 64 * 64 + 63 - t % 64);
    return verdict(good);
}

// Warp 0 fills a buffer, warp 1 empties it: "full" is barrier 1, "empty" is barrier 2.
__global__ void producerConsumer(int* out, int rounds) {
    __shared__ int buffer[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
            if (r > 0) syncOn(2, 64);
            buffer[lane] = r * 100 + lane;
            arriveOn(1, 64);
        }
    } else {
        for (int r = 0; r < rounds; r++) {
            syncOn(1, 64);
            out[r * 32 + lane] = buffer[31 - lane];
            if (r + 1 < rounds) arriveOn(2, 64);
        }
    }
}

__global__ void twoBuffers(int* out, int rounds) {
    __shared__ int buffer[2][32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
            int b = r & 1;
            if (r > 1) syncOn(3 + b, 64);
            buffer[b][lane] = r * 100 + lane;
            arriveOn(1 + b, 64);
        }
    } else {
        for (int r = 0; r < rounds; r++) {
            int b = r & 1;
            syncOn(1 + b, 64);
            out[r * 32 + lane] = buffer[b][31 - lane];
            if (r + 2 < rounds) arriveOn(3 + b, 64);
        }
    }
}

// "full" is awaited, but nobody waits for "empty".
__global__ void fullOnly(int* out, int rounds) {
    __shared__ int buffer[32];
    int lane = threadIdx.x % 32;
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x < 32) buffer[lane] = r * 100 + lane;  // @pofill
        syncOn(1, 64);
        if (threadIdx.x >= 32) out[r * 32 + lane] = buffer[31 - lane];  // @poll
    }
}

template <class Kernel> static int runRounds(Kernel kernel, bool check = true) {
    int* d = zeros<int>(6 * 32);
    kernel<<<1, 64>>>(d, 6);
    std::vector<int> r = take(d, 6 * 32);
    bool good = true;
    for (int i = 0; i < 6 * 32; i++) {
        good = good && (!check || r[i] == i / 32 * 100 + 31 - i % 32);
    }
    return verdict(good);
}

static int case_producer_consumer() { return runRounds(producerConsumer); }
static int case_producer_consumer_two_buffers() { return runRounds(twoBuffers); }
static int case_producer_consumer_one_barrier_only() { return runRounds(fullOnly, false); }

// The consumer arrives where it ought to wait.
__global__ void readerAhead(int* out) {
    __shared__ int buffer[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        buffer[lane] = 7 * lane;  // @arfill
        syncOn(1, 64);
    } else {
        arriveOn(1, 64);
        out[lane] = buffer[31 - lane];  // @arread
    }
}

static int case_arrive_only_reader_ahead() {
    int* d = zeros<int>(32);
    readerAhead<<<1, 64>>>(d);
    take(d, 32);
    return verdict(true);
}

__global__ void countTrue(const int* in, int* out) {
    int count, t = threadIdx.x;
    asm volatile(
        "{\n .reg .pred p;\n setp.gt.s32 p, %1, 10;\n barrier.red.popc.aligned.u32 %0, 3, 96, p;\n}"
        : "=r"(count) : "r"(in[t]) : "memory");
    out[t] = count;
}

static int case_reduction_barrier() {
    std::vector<int> h(96);
    int want = 0;
    for (int i = 0; i < 96; i++) {
        h[i] = i * 5 % 23;
        want += h[i] > 10;
    }
    int *in = upload(h), *out = zeros<int>(96);
    countTrue<<<1, 96>>>(in, out);
    std::vector<int> r = take(out, 96);
    CHECK(cudaFree(in));
    return verdict(r == std::vector<int>(96, want));
}

// Pairs of warps on barriers 0 to 15.
__global__ void sixteen(int* out) {
    __shared__ int s[1024];
    int t = threadIdx.x, pair = t / 64;
    s[t] = t;
    syncOn(pair, 64);
    out[t] = s[pair * 64 + (t + 32) % 64];
}

static int case_all_sixteen() {
    int* d = zeros<int>(1024);
    sixteen<<<1, 1024>>>(d);
    std::vector<int> r = take(d, 1024);
    bool good = true;
    for (int t = 0; t < 1024; t++) good = good && r[t] == t / 64 * 64 + (t + 32) % 64;
    return verdict(good);
}

// Three warps are asked for, two come, and the third waits for what they would do next.
__global__ void countTooHigh(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = t;
        asm volatile("bar.sync 1, 96;" ::: "memory");  // @high
        out[t] = s[63 - t];
    }
    asm volatile("bar.sync 2, 96;" ::: "memory");
    out[t] += 1;
}

static int case_count_too_high() {
    int* d = zeros<int>(96);
    countTooHigh<<<1, 96>>>(d);
    take(d, 96);
    return verdict(true);
}

__global__ void countsDiffer(int* out) {
    int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");  // @count64
    } else if (t < 64) {
        asm volatile("bar.sync 1, 96;" ::: "memory");  // @count96
    }
    out[t] = t;
}

// Whoever comes first waits, so that two counts meet on one barrier in any order.
static int case_counts_differ() {
    int* d = zeros<int>(96);
    countsDiffer<<<1, 96>>>(d);
    take(d, 96);
    return verdict(true);
}

__global__ void swapped(int* out) {
    int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");  // @swap12
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[t] = 1;
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");  // @swap21
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = 2;
    }
}

static int case_swapped_numbers() {
    int* d = zeros<int>(64);
    swapped<<<1, 64>>>(d);
    take(d, 64);
    return verdict(true);
}

__global__ void count48(int* out, int count) {
    int t = threadIdx.x;
    asm volatile("bar.sync 1, %0;" ::"r"(count) : "memory");  // @count48
    out[t] = t;
}

static int case_count_not_multiple_of_32() {
    int* d = zeros<int>(64);
    count48<<<1, 64>>>(d, 48);
    take(d, 64);
    return verdict(true);
}

__global__ void byRegister(const int* group, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, g = group[t / 32];
    s[t] = t;
    syncOn(g, 64);
    int partner = -1;
    for (int w = 0; w < 4; w++) {
        if (w != t / 32 && group[w] == g) partner = w;
    }
    out[t] = s[partner * 32 + t % 32];
}

static int case_number_by_register() {
    int *group = upload(std::vector<int>({5, 9, 9, 5})), *out = zeros<int>(128);
    byRegister<<<1, 128>>>(group, out);
    std::vector<int> r = take(out, 128);
    CHECK(cudaFree(group));
    bool good = true;
    const int partner[4] = {3, 2, 1, 0};
    for (int t = 0; t < 128; t++) good = good && r[t] == partner[t / 32] * 32 + t % 32;
    return verdict(good);
}

// The halves wait for themselves, and then read from each other.
__global__ void halvesCross(int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t * 3;  // @hw
    syncOn(1 + t / 64, 64);
    out[t] = s[127 - t];  // @hr
}

static int case_halves_need_whole_barrier() {
    int* d = zeros<int>(128);
    halvesCross<<<1, 128>>>(d);
    take(d, 128);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"two_halves", case_two_halves},
    {"producer_consumer", case_producer_consumer},
    {"producer_consumer_two_buffers", case_producer_consumer_two_buffers},
    {"producer_consumer_one_barrier_only", case_producer_consumer_one_barrier_only},
    {"arrive_only_reader_ahead", case_arrive_only_reader_ahead},
    {"reduction_barrier", case_reduction_barrier},
    {"all_sixteen", case_all_sixteen},
    {"count_too_high", case_count_too_high},
    {"counts_differ", case_counts_differ},
    {"swapped_numbers", case_swapped_numbers},
    {"count_not_multiple_of_32", case_count_not_multiple_of_32},
    {"number_by_register", case_number_by_register},
    {"halves_need_whole_barrier", case_halves_need_whole_barrier},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
