// cuda::atomic and cuda::atomic_ref: orders, scopes, waits.
//
// case: ref_add_relaxed  expect: clean
// case: atomic_object_in_shared  expect: clean
// case: release_acquire_flag  expect: clean
// case: relaxed_flag  expect: race error gpu at: @rw, @rr
// case: block_scope_between_blocks  expect: race error gpu at: @bsw, @bsr
// case: fences_and_relaxed  expect: clean
// case: compare_exchange_max  expect: clean
// case: lock_acquire_release  expect: clean
// case: lock_relaxed  expect: race error gpu at: @lockrelaxed
// case: rmw_carries_release  expect: clean
// case: ref_block_scope_counter  expect: race error gpu at: @refblock
// case: wait_notify  expect: clean
// case: fetch_operations  expect: clean
#include <cuda/atomic>
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
using Gpu = cuda::atomic_ref<int, cuda::thread_scope_device>;
using Block = cuda::atomic_ref<int, cuda::thread_scope_block>;
constexpr auto relaxed = cuda::memory_order_relaxed;
constexpr auto acquire = cuda::memory_order_acquire;
constexpr auto release = cuda::memory_order_release;
constexpr auto acqRel = cuda::memory_order_acq_rel;

__global__ void addAll(int* sum) { Gpu(*sum).fetch_add(threadIdx.x, relaxed); }

static int case_ref_add_relaxed() {
    int* d = zeros<int>(1);
    addAll<<<4, 64>>>(d);
    return verdict(take(d, 1)[0] == 4 * 63 * 32);
}

__global__ void sharedObject(int* out) {
    __shared__ int raw;
    if (threadIdx.x == 0) raw = 0;
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block> counter(raw);
    counter.fetch_add(2, relaxed);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = counter.load(relaxed);
}

static int case_atomic_object_in_shared() {
    int* d = zeros<int>(3);
    sharedObject<<<3, 96>>>(d);
    return verdict(take(d, 3) == std::vector<int>(3, 192));
}

__global__ void releaseAcquire(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 21;
        Gpu(*flag).store(1, release);
    } else {
        while (Gpu(*flag).load(acquire) == 0) {
        }
        out[0] = 2 * data[0];
    }
}

__global__ void relaxedFlag(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 21;  // @rw
        Gpu(*flag).store(1, relaxed);
    } else {
        while (Gpu(*flag).load(relaxed) == 0) {
        }
        out[0] = 2 * data[0];  // @rr
    }
}

__global__ void blockScope(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 21;  // @bsw
        Block(*flag).store(1, release);
    } else {
        while (Block(*flag).load(acquire) == 0) {
        }
        out[0] = 2 * data[0];  // @bsr
    }
}

__global__ void fencesAndRelaxed(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 21;
        cuda::atomic_thread_fence(release, cuda::thread_scope_device);
        Gpu(*flag).store(1, relaxed);
    } else {
        while (Gpu(*flag).load(relaxed) == 0) {
        }
        cuda::atomic_thread_fence(acquire, cuda::thread_scope_device);
        out[0] = 2 * data[0];
    }
}

template <class Kernel> static int runFlag(Kernel kernel, bool check) {
    int *data = zeros<int>(1), *flag = zeros<int>(1), *out = zeros<int>(1);
    kernel<<<2, 1>>>(data, flag, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    return verdict(!check || got == 42);
}

static int case_release_acquire_flag() { return runFlag(releaseAcquire, true); }
static int case_relaxed_flag() { return runFlag(relaxedFlag, false); }
static int case_block_scope_between_blocks() { return runFlag(blockScope, false); }
static int case_fences_and_relaxed() { return runFlag(fencesAndRelaxed, true); }

__global__ void maxByExchange(const int* in, int* best) {
    Gpu ref(*best);
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    int seen = ref.load(relaxed);
    while (seen < v && !ref.compare_exchange_weak(seen, v, relaxed)) {
    }
}

static int case_compare_exchange_max() {
    std::vector<int> h(256);
    for (int i = 0; i < 256; i++) h[i] = i * 71 % 257;
    int *in = upload(h), *best = zeros<int>(1);
    maxByExchange<<<4, 64>>>(in, best);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    return verdict(take(best, 1)[0] == 256);
}

__global__ void lockSound(int* lock, int* counter) {
    Gpu l(*lock);
    while (l.exchange(1, acquire) != 0) {
    }
    *counter += 1;
    l.store(0, release);
}

__global__ void lockRelaxed(int* lock, int* counter) {
    Gpu l(*lock);
    while (l.exchange(1, relaxed) != 0) {
    }
    *counter += 1;  // @lockrelaxed
    l.store(0, relaxed);
}

template <class Kernel> static int runLock(Kernel kernel, bool check) {
    int *lock = zeros<int>(1), *counter = zeros<int>(1);
    kernel<<<12, 1>>>(lock, counter);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(lock));
    return verdict(take(counter, 1)[0] == 12 || !check);
}

static int case_lock_acquire_release() { return runLock(lockSound, true); }
static int case_lock_relaxed() { return runLock(lockRelaxed, false); }

// The relaxed additions of the blocks in between carry the first one's release on.
__global__ void carried(int* data, int* count, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 21;
        Gpu(*count).fetch_add(1, release);
    } else if (blockIdx.x == 1) {
        while (Gpu(*count).load(relaxed) == 0) {
        }
        Gpu(*count).fetch_add(1, relaxed);
    } else {
        while (Gpu(*count).load(acquire) < 2) {
        }
        out[0] = 2 * data[0];
    }
}

static int case_rmw_carries_release() {
    int *data = zeros<int>(1), *count = zeros<int>(1), *out = zeros<int>(1);
    carried<<<3, 1>>>(data, count, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(data));
    CHECK(cudaFree(count));
    return verdict(got == 42);
}

__global__ void refBlock(int* counter) {
    Block(*counter).fetch_add(1, relaxed);  // @refblock
}

static int case_ref_block_scope_counter() {
    int* d = zeros<int>(1);
    refBlock<<<3, 32>>>(d);
    take(d, 1);
    return verdict(true);
}

__global__ void waits(int* data, int* flag, int* out) {
    Gpu f(*flag);
    if (blockIdx.x == 0) {
        data[0] = 40;
        f.store(7, release);
        f.notify_all();
    } else {
        f.wait(0, acquire);
        atomicAdd(out, data[0]);
    }
}

static int case_wait_notify() {
    int *data = zeros<int>(1), *flag = zeros<int>(1), *out = zeros<int>(1);
    waits<<<4, 1>>>(data, flag, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    return verdict(got == 120);
}

__global__ void fetches(unsigned* a, unsigned long long* wide) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> r0(a[0]), r1(a[1]), r2(a[2]), r3(a[3]);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> w(*wide);
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    r0.fetch_or(1u << t % 32);
    r1.fetch_and(~(1u << t % 16));
    r2.fetch_xor(t, acqRel);
    r3.fetch_max(t * 3, relaxed);
    w.fetch_add(1ull << 33, relaxed);
    w.fetch_sub(1, relaxed);
}

static int case_fetch_operations() {
    unsigned* a = upload(std::vector<unsigned>({0, ~0u, 5, 0}));
    unsigned long long* w = zeros<unsigned long long>(1);
    fetches<<<2, 64>>>(a, w);
    std::vector<unsigned> r = take(a, 4);
    unsigned x = 5;
    for (unsigned t = 0; t < 128; t++) x ^= t;
    bool good = r[0] == ~0u && r[1] == 0xffff0000u && r[2] == x && r[3] == 381;
    return verdict(take(w, 1)[0] == (128ull << 33) - 128 && good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"ref_add_relaxed", case_ref_add_relaxed},
    {"atomic_object_in_shared", case_atomic_object_in_shared},
    {"release_acquire_flag", case_release_acquire_flag},
    {"relaxed_flag", case_relaxed_flag},
    {"block_scope_between_blocks", case_block_scope_between_blocks},
    {"fences_and_relaxed", case_fences_and_relaxed},
    {"compare_exchange_max", case_compare_exchange_max},
    {"lock_acquire_release", case_lock_acquire_release},
    {"lock_relaxed", case_lock_relaxed},
    {"rmw_carries_release", case_rmw_carries_release},
    {"ref_block_scope_counter", case_ref_block_scope_counter},
    {"wait_notify", case_wait_notify},
    {"fetch_operations", case_fetch_operations},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
