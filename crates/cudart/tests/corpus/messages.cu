// Messages between threads: data, a flag, and what must stand between them.
//
// case: flag_with_fences  expect: clean
// case: no_producer_fence  expect: race error gpu at: @npw, @npr
// case: no_consumer_fence  expect: race error gpu at: @ncw, @ncr
// case: no_fence_at_all  expect: race error gpu at: @nfw, @nfr
// case: plain_flag  expect: race error gpu at: @pfw, @pfr
// case: flag_by_exchange  expect: clean
// case: release_acquire_ptx  expect: clean
// case: relaxed_ptx  expect: race error gpu at: @rxw, @rxr
// case: acquire_cta_between_blocks  expect: race error gpu at: @acw, @acr
// case: whole_block_publishes  expect: clean
// case: whole_block_publishes_no_barrier  expect: race error gpu at: @wbw, @wbr
// case: whole_block_reads_no_barrier  expect: race error gpu at: @wnw, @wnr
// case: ping_pong  expect: clean
// case: ring  expect: clean
// case: ring_reuse_unchecked  expect: race error gpu at: @ringw, @ringr
// schedules: ring_reuse_unchecked
// case: chain_of_three  expect: clean
// case: warp_to_warp_shared  expect: clean
// case: warp_to_warp_shared_no_fence  expect: race error shared at: @wsw, @wsr
// case: seq_counter  expect: clean
// case: grid_barrier_by_hand  expect: clean
// case: grid_barrier_no_fence  expect: race error gpu at: @gbw, @gbr
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
__device__ void waitFor(volatile int* flag, int value) {
    while (*flag != value) {
    }
}

// Block 0 writes data and then a flag; block 1 waits for the flag and reads the data.
__global__ void withFences(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 42;
        data[1] = 43;
        __threadfence();
        *flag = 1;
    } else {
        waitFor(flag, 1);
        __threadfence();
        out[0] = data[0] + data[1];
    }
}

__global__ void noProducerFence(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 42;  // @npw
        *flag = 1;
    } else {
        waitFor(flag, 1);
        __threadfence();
        out[0] = data[0];  // @npr
    }
}

__global__ void noConsumerFence(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 42;  // @ncw
        __threadfence();
        *flag = 1;
    } else {
        waitFor(flag, 1);
        out[0] = data[0];  // @ncr
    }
}

__global__ void noFence(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 42;  // @nfw
        *flag = 1;
    } else {
        waitFor(flag, 1);
        out[0] = data[0];  // @nfr
    }
}

// The fence in the loop keeps the compiler from hoisting the read, yet the flag is plain.
__global__ void plainFlag(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        *flag = 1;  // @pfw
    } else {
        while (*flag == 0) __threadfence();  // @pfr
        __threadfence();
        out[0] = data[0];
    }
}

__global__ void byExchange(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 40;
        data[1] = 45;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicCAS(flag, 1, 2) != 1) {
        }
        __threadfence();
        out[0] = data[0] + data[1];
    }
}

__device__ void storeRelease(int* p, int v) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

__device__ int loadAcquire(const int* p) {
    int v;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

__global__ void releaseAcquire(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 40;
        data[1] = 45;
        storeRelease(flag, 1);
    } else {
        while (loadAcquire(flag) == 0) {
        }
        out[0] = data[0] + data[1];
    }
}

__global__ void relaxedOnly(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 42;  // @rxw
        asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    } else {
        int v;
        do {
            asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
        } while (v == 0);
        out[0] = data[0];  // @rxr
    }
}

__global__ void acquireCta(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 42;  // @acw
        storeRelease(flag, 1);
    } else {
        int v;
        do {
            asm volatile("ld.acquire.cta.global.s32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
        } while (v == 0);
        out[0] = data[0];  // @acr
    }
}

template <class Kernel> static int run(Kernel kernel, int want) {
    int *data = zeros<int>(2), *flag = zeros<int>(1), *out = zeros<int>(1);
    kernel<<<2, 1>>>(data, flag, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    return verdict(want == 0 || got == want);
}

static int case_flag_with_fences() { return run(withFences, 85); }
static int case_no_producer_fence() { return run(noProducerFence, 0); }
static int case_no_consumer_fence() { return run(noConsumerFence, 0); }
static int case_no_fence_at_all() { return run(noFence, 0); }
static int case_plain_flag() { return run(plainFlag, 0); }
static int case_flag_by_exchange() { return run(byExchange, 85); }
static int case_release_acquire_ptx() { return run(releaseAcquire, 85); }
static int case_relaxed_ptx() { return run(relaxedOnly, 0); }
static int case_acquire_cta_between_blocks() { return run(acquireCta, 0); }

// All threads write; a barrier; one thread fences and raises the flag. And the same backwards.
template <bool ProducerBarrier, bool ConsumerBarrier>
__device__ void publish(int* data, volatile int* flag, int* out) {
    int t = threadIdx.x, n = blockDim.x;
    if (blockIdx.x == 0) {
        data[t] = t * t;  // @wbw
        if (ProducerBarrier) __syncthreads();
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (t == 0) {
            waitFor(flag, 1);
            __threadfence();
        }
        if (ConsumerBarrier) __syncthreads();
        out[t] = data[n - 1 - t];  // @wbr
    }
}

__global__ void publishSound(int* data, int* flag, int* out) {
    publish<true, true>(data, flag, out);
}

__global__ void publishNoBarrier(int* data, int* flag, int* out) {
    publish<false, true>(data, flag, out);
}

__global__ void readNoBarrier(int* data, volatile int* flag, int* out) {
    int t = threadIdx.x, n = blockDim.x;
    if (blockIdx.x == 0) {
        data[t] = t * t;  // @wnw
        __syncthreads();
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (t == 0) {
            waitFor(flag, 1);
            __threadfence();
        }
        out[t] = data[n - 1 - t];  // @wnr
    }
}

template <class Kernel> static int runWide(Kernel kernel, bool check) {
    int *data = zeros<int>(96), *flag = zeros<int>(1), *out = zeros<int>(96);
    kernel<<<2, 96>>>(data, flag, out);
    std::vector<int> r = take(out, 96);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    bool good = true;
    for (int i = 0; i < 96; i++) good = good && (!check || r[i] == (95 - i) * (95 - i));
    return verdict(good);
}

static int case_whole_block_publishes() { return runWide(publishSound, true); }
static int case_whole_block_publishes_no_barrier() { return runWide(publishNoBarrier, false); }
static int case_whole_block_reads_no_barrier() { return runWide(readNoBarrier, false); }

// Two blocks take turns in adding to one plain number.
__global__ void pingPong(int* value, volatile int* turn, int rounds) {
    int me = blockIdx.x;
    for (int r = 0; r < rounds; r++) {
        waitFor(turn, 2 * r + me);
        __threadfence();
        *value = *value * 3 + me + 1;
        __threadfence();
        *turn = 2 * r + me + 1;
    }
}

static int case_ping_pong() {
    int *value = zeros<int>(1), *turn = zeros<int>(1);
    pingPong<<<2, 1>>>(value, turn, 6);
    int want = 0;
    for (int k = 0; k < 12; k++) want = want * 3 + k % 2 + 1;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(turn));
    return verdict(take(value, 1)[0] == want);
}

constexpr int SLOTS = 4;

struct Ring {
    int slot[SLOTS];
    int head, tail;
};

// Without the check, the producer may overwrite a slot that isn't read yet.
template <bool Check> __global__ void ring(Ring* ring, int* out, int n) {
    volatile int *head = &ring->head, *tail = &ring->tail;
    if (blockIdx.x == 0) {
        for (int i = 0; i < n; i++) {
            if (Check) {
                while (i - *tail >= SLOTS) {
                }
                __threadfence();
            }
            ring->slot[i % SLOTS] = 5 * i;  // @ringw
            __threadfence();
            *head = i + 1;
        }
    } else {
        for (int i = 0; i < n; i++) {
            while (*head <= i) {
            }
            __threadfence();
            out[i] = ring->slot[i % SLOTS];  // @ringr
            __threadfence();
            *tail = i + 1;
        }
    }
}

template <bool Check> static int runRing() {
    Ring* r = zeros<Ring>(1);
    int* out = zeros<int>(30);
    ring<Check><<<2, 1>>>(r, out, 30);
    std::vector<int> got = take(out, 30);
    CHECK(cudaFree(r));
    bool good = true;
    for (int i = 0; i < 30; i++) good = good && (!Check || got[i] == 5 * i);
    return verdict(good);
}

static int case_ring() { return runRing<true>(); }
static int case_ring_reuse_unchecked() { return runRing<false>(); }

// Block 2 reads what block 0 wrote, having heard of it from block 1 only.
__global__ void chain(int* data, volatile int* flags, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 11;
        __threadfence();
        flags[0] = 1;
    } else if (blockIdx.x == 1) {
        waitFor(&flags[0], 1);
        __threadfence();
        flags[1] = 1;
    } else {
        waitFor(&flags[1], 1);
        __threadfence();
        out[0] = data[0];
    }
}

static int case_chain_of_three() {
    int *data = zeros<int>(1), *flags = zeros<int>(2), *out = zeros<int>(1);
    chain<<<3, 1>>>(data, flags, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(data));
    CHECK(cudaFree(flags));
    return verdict(got == 11);
}

template <bool Fence> __global__ void warpToWarp(int* out) {
    __shared__ int box[32];
    __shared__ volatile int ready;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        box[lane] = 100 + lane;  // @wsw
        if (Fence) {
            __syncwarp();
            __threadfence_block();
        }
        if (lane == 0) ready = 1;
    } else {
        waitFor(&ready, 1);
        if (Fence) __threadfence_block();
        out[lane] = box[31 - lane];  // @wsr
    }
}

template <bool Fence> static int runWarpToWarp() {
    int* out = zeros<int>(32);
    warpToWarp<Fence><<<1, 64>>>(out);
    std::vector<int> r = take(out, 32);
    bool good = true;
    for (int i = 0; i < 32; i++) good = good && (!Fence || r[i] == 131 - i);
    return verdict(good);
}

static int case_warp_to_warp_shared() { return runWarpToWarp<true>(); }
static int case_warp_to_warp_shared_no_fence() { return runWarpToWarp<false>(); }

// A sequence number that is odd while the writer is at work; readers ask for a given even one,
// and the writer goes on only after all have answered.
__global__ void seqCounter(int* pair, volatile int* seq, int* answers, int* out, int rounds) {
    int readers = gridDim.x - 1;
    if (blockIdx.x == 0) {
        for (int r = 0; r < rounds; r++) {
            *seq = 2 * r + 1;
            pair[0] = r;
            pair[1] = -r;
            __threadfence();
            *seq = 2 * r + 2;
            while (atomicAdd(answers, 0) < (r + 1) * readers) {
            }
            __threadfence();
        }
    } else {
        int sum = 0;
        for (int r = 0; r < rounds; r++) {
            waitFor(seq, 2 * r + 2);
            __threadfence();
            sum += 10 * pair[0] + 9 * pair[1];
            __threadfence();
            atomicAdd(answers, 1);
        }
        out[blockIdx.x - 1] = sum;
    }
}

static int case_seq_counter() {
    int *pair = zeros<int>(2), *seq = zeros<int>(1), *answers = zeros<int>(1);
    int* out = zeros<int>(3);
    seqCounter<<<4, 1>>>(pair, seq, answers, out, 6);
    std::vector<int> r = take(out, 3);
    CHECK(cudaFree(pair));
    CHECK(cudaFree(seq));
    CHECK(cudaFree(answers));
    return verdict(r == std::vector<int>(3, 15));
}

// All blocks are resident, so that they can wait for each other.
template <bool Fence> __device__ void gridBarrier(int* arrived, int goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        if (Fence) __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < goal) {
        }
        if (Fence) __threadfence();
    }
    __syncthreads();
}

template <bool Fence> __global__ void rotateBlocks(int* a, int* b, int* arrived) {
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = 3 * i;  // @gbw
    gridBarrier<Fence>(arrived, gridDim.x);
    b[i] = a[(i + blockDim.x + 1) % n];  // @gbr
}

template <bool Fence> static int runGridBarrier() {
    const int n = 4 * 64;
    int *a = zeros<int>(n), *b = zeros<int>(n), *arrived = zeros<int>(1);
    rotateBlocks<Fence><<<4, 64>>>(a, b, arrived);
    std::vector<int> r = take(b, n);
    CHECK(cudaFree(a));
    CHECK(cudaFree(arrived));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && (!Fence || r[i] == 3 * ((i + 65) % n));
    return verdict(good);
}

static int case_grid_barrier_by_hand() { return runGridBarrier<true>(); }
static int case_grid_barrier_no_fence() { return runGridBarrier<false>(); }

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"flag_with_fences", case_flag_with_fences},
    {"no_producer_fence", case_no_producer_fence},
    {"no_consumer_fence", case_no_consumer_fence},
    {"no_fence_at_all", case_no_fence_at_all},
    {"plain_flag", case_plain_flag},
    {"flag_by_exchange", case_flag_by_exchange},
    {"release_acquire_ptx", case_release_acquire_ptx},
    {"relaxed_ptx", case_relaxed_ptx},
    {"acquire_cta_between_blocks", case_acquire_cta_between_blocks},
    {"whole_block_publishes", case_whole_block_publishes},
    {"whole_block_publishes_no_barrier", case_whole_block_publishes_no_barrier},
    {"whole_block_reads_no_barrier", case_whole_block_reads_no_barrier},
    {"ping_pong", case_ping_pong},
    {"ring", case_ring},
    {"ring_reuse_unchecked", case_ring_reuse_unchecked},
    {"chain_of_three", case_chain_of_three},
    {"warp_to_warp_shared", case_warp_to_warp_shared},
    {"warp_to_warp_shared_no_fence", case_warp_to_warp_shared_no_fence},
    {"seq_counter", case_seq_counter},
    {"grid_barrier_by_hand", case_grid_barrier_by_hand},
    {"grid_barrier_no_fence", case_grid_barrier_no_fence},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
