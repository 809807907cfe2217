// cuda::barrier in shared memory: counts, tokens, phases, and the mistakes they invite.
//
// case: arrive_and_wait  expect: clean
// case: barrier_initialised_without_sync  expect: race error shared at: @nosyncinit, @nosyncuse
// case: split_arrive_wait  expect: clean
// case: split_reads_before_wait  expect: race error shared at: @sbw, @sbr
// case: many_phases  expect: clean
// case: count_one_too_many  expect: deadlock error at: @toomany
// case: count_one_too_few  expect: race error shared at: @fewr, @feww
// case: producers_and_consumers  expect: clean
// case: producers_never_wait_for_empty  expect: race error shared at: @fill, @drain
// case: arrive_and_drop  expect: clean
// case: arrive_with_update  expect: clean
// case: warp_sized_barriers  expect: clean
#pragma nv_diag_suppress 20054
#include <cuda/barrier>
#include <cuda/std/utility>
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
using Barrier = cuda::barrier<cuda::thread_scope_block>;

template <class Kernel, class F>
static int run(Kernel kernel, int threads, F want, bool check = true) {
    std::vector<int> h(threads);
    for (int i = 0; i < threads; i++) h[i] = i * 13 % 71;
    int *in = upload(h), *out = zeros<int>(threads);
    kernel<<<1, threads>>>(in, out);
    std::vector<int> r = take(out, threads);
    CHECK(cudaFree(in));
    for (int i = 0; i < threads; i++) {
        if (check && r[i] != want(h, i)) return verdict(false);
    }
    return verdict(true);
}

static int unchecked(const std::vector<int>&, int) { return 0; }

__global__ void arriveAndWait(const int* in, int* out) {
    __shared__ Barrier bar;
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    s[t] = in[t];
    bar.arrive_and_wait();
    out[t] = s[127 - t];
}

static int case_arrive_and_wait() {
    return run(arriveAndWait, 128, [](auto& h, int i) { return h[127 - i]; });
}

__global__ void initNoSync(const int* in, int* out) {
    __shared__ Barrier bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);  // @nosyncinit
    s[t] = in[t];
    bar.arrive_and_wait();  // @nosyncuse
    out[t] = s[63 - t];
}

static int case_barrier_initialised_without_sync() {
    return run(initNoSync, 64, unchecked, false);
}

template <bool WaitFirst> __global__ void split(const int* in, int* out) {
    __shared__ Barrier bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    s[t] = in[t];  // @sbw
    Barrier::arrival_token token = bar.arrive();
    int own = in[t] * in[t];
    if (WaitFirst) bar.wait(cuda::std::move(token));
    out[t] = own + s[63 - t];  // @sbr
    if (!WaitFirst) bar.wait(cuda::std::move(token));
}

static int case_split_arrive_wait() {
    return run(split<true>, 64, [](auto& h, int i) { return h[i] * h[i] + h[63 - i]; });
}
static int case_split_reads_before_wait() { return run(split<false>, 64, unchecked, false); }

__global__ void manyPhases(const int* in, int* out) {
    __shared__ Barrier bar;
    __shared__ int s[64];
    int t = threadIdx.x, v = in[t];
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int k = 0; k < 5; k++) {
        s[t] = v;
        bar.arrive_and_wait();
        v = s[(t + 1) % 64] + 1;
        bar.arrive_and_wait();
    }
    out[t] = v;
}

static int case_many_phases() {
    return run(manyPhases, 64, [](auto& h, int i) { return h[(i + 5) % 64] + 5; });
}

__global__ void oneTooMany(const int* in, int* out) {
    __shared__ Barrier bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x + 1);
    __syncthreads();
    s[t] = in[t];
    bar.arrive_and_wait();  // @toomany
    out[t] = s[63 - t];
}

static int case_count_one_too_many() { return run(oneTooMany, 64, unchecked, false); }

// Half of the threads are counted: the phase completes before all have written.
__global__ void tooFew(const int* in, int* out) {
    __shared__ Barrier bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x / 2);
    __syncthreads();
    s[t] = in[t];  // @feww
    bar.arrive_and_wait();
    out[t] = s[63 - t];  // @fewr
}

static int case_count_one_too_few() { return run(tooFew, 64, unchecked, false); }

// Warp 0 fills two buffers in turn, warp 1 empties them.
__global__ void pipeline(int* out, int rounds) {
    __shared__ Barrier full[2], empty[2];
    __shared__ int buffer[2][32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int b = 0; b < 2; b++) {
            init(&full[b], 64);
            init(&empty[b], 64);
        }
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
            int b = r % 2;
            empty[b].arrive_and_wait();
            buffer[b][lane] = r * 50 + lane;
            (void)full[b].arrive();
        }
    } else {
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        for (int r = 0; r < rounds; r++) {
            int b = r % 2;
            full[b].arrive_and_wait();
            out[r * 32 + lane] = buffer[b][31 - lane];
            if (r + 2 < rounds) (void)empty[b].arrive();
        }
    }
}

// Both wait for "full", and nothing tells the producer that the buffer was emptied.
__global__ void fullOnly(int* out, int rounds) {
    __shared__ Barrier full;
    __shared__ int buffer[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) init(&full, 64);
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x < 32) buffer[lane] = r * 50 + lane;  // @fill
        full.arrive_and_wait();
        if (threadIdx.x >= 32) out[r * 32 + lane] = buffer[31 - lane];  // @drain
    }
}

template <class Kernel> static int runPipeline(Kernel kernel, bool check) {
    const int rounds = 6;
    int* out = zeros<int>(rounds * 32);
    kernel<<<1, 64>>>(out, rounds);
    std::vector<int> r = take(out, rounds * 32);
    bool good = true;
    for (int i = 0; i < rounds * 32; i++) {
        good = good && (!check || r[i] == i / 32 * 50 + 31 - i % 32);
    }
    return verdict(good);
}

static int case_producers_and_consumers() { return runPipeline(pipeline, true); }
static int case_producers_never_wait_for_empty() { return runPipeline(fullOnly, false); }

// Threads leave one after another; who stays needn't wait for them any more.
__global__ void dropOut(const int* in, int* out) {
    __shared__ Barrier bar;
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 32; k += 8) {
        if (t < k) {
            bar.arrive_and_drop();
            break;
        }
        s[t] = in[t] + k;
        bar.arrive_and_wait();
        sum += s[31];
        bar.arrive_and_wait();
    }
    out[t] = sum;
}

static int case_arrive_and_drop() {
    return run(dropOut, 32, [](auto& h, int i) {
        int sum = 0;
        for (int k = 0; k <= i && k < 32; k += 8) sum += h[31] + k;
        return sum;
    });
}

// One thread arrives for four.
__global__ void byUpdate(const int* in, int* out) {
    __shared__ Barrier bar;
    __shared__ int s[16];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    if (t % 4 == 0) {
        s[t / 4] = in[t] + in[t + 1] + in[t + 2] + in[t + 3];
        bar.wait(bar.arrive(4));
        out[t] = s[15 - t / 4];
    }
}

static int case_arrive_with_update() {
    return run(byUpdate, 64, [](auto& h, int i) {
        int k = 60 - i;
        return i % 4 ? 0 : h[k] + h[k + 1] + h[k + 2] + h[k + 3];
    });
}

__global__ void warpSized(const int* in, int* out) {
    __shared__ Barrier bar[4];
    __shared__ int s[128];
    int t = threadIdx.x, w = t / 32;
    if (t % 32 == 0) init(&bar[w], 32);
    __syncwarp();
    s[t] = in[t];
    bar[w].arrive_and_wait();
    out[t] = s[w * 32 + 31 - t % 32];
}

static int case_warp_sized_barriers() {
    return run(warpSized, 128, [](auto& h, int i) { return h[i / 32 * 32 + 31 - i % 32]; });
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"arrive_and_wait", case_arrive_and_wait},
    {"barrier_initialised_without_sync", case_barrier_initialised_without_sync},
    {"split_arrive_wait", case_split_arrive_wait},
    {"split_reads_before_wait", case_split_reads_before_wait},
    {"many_phases", case_many_phases},
    {"count_one_too_many", case_count_one_too_many},
    {"count_one_too_few", case_count_one_too_few},
    {"producers_and_consumers", case_producers_and_consumers},
    {"producers_never_wait_for_empty", case_producers_never_wait_for_empty},
    {"arrive_and_drop", case_arrive_and_drop},
    {"arrive_with_update", case_arrive_with_update},
    {"warp_sized_barriers", case_warp_sized_barriers},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
