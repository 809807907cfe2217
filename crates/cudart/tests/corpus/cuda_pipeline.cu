// cuda::pipeline, cuda::memcpy_async on barriers, and cooperative_groups::memcpy_async.
//
// case: thread_pipeline  expect: clean
// case: thread_pipeline_no_block_sync  expect: race error shared at: @tpcopy, @tpread
// case: block_pipeline_two_stages  expect: clean
// case: memcpy_async_on_barrier  expect: clean
// case: memcpy_async_on_barrier_no_wait  expect: race error shared at: @mbcopy, @mbread
// case: group_memcpy_async  expect: clean
// case: group_memcpy_async_no_wait  expect: race error shared at: @gmcopy, @gmread
// gap: memcpy_async_on_barrier_no_wait  cp.async is checked where it completes, not where it is issued
//
// arch: compute_80
#pragma nv_diag_suppress 20054
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
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
namespace cg = cooperative_groups;

static std::vector<int> numbers(int n) {
    std::vector<int> v(n);
    for (int i = 0; i < n; i++) v[i] = i * 19 % 211;
    return v;
}

// Kernels that reverse each tile of 64.
template <class Kernel> static int run(Kernel kernel, int blocks, bool check) {
    std::vector<int> h = numbers(256);
    int *in = upload(h), *out = zeros<int>(256);
    kernel<<<blocks, 64>>>(in, out);
    std::vector<int> r = take(out, 256);
    CHECK(cudaFree(in));
    for (int i = 0; i < 256; i++) {
        if (check && r[i] != h[i / 64 * 64 + 63 - i % 64]) return verdict(false);
    }
    return verdict(true);
}

template <bool Sync> __global__ void threadPipeline(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&s[t], &in[i], cuda::aligned_size_t<4>(4), pipe);  // @tpcopy
    pipe.producer_commit();
    pipe.consumer_wait();
    if (Sync) __syncthreads();
    out[i] = s[63 - t];  // @tpread
    pipe.consumer_release();
}

static int case_thread_pipeline() { return run(threadPipeline<true>, 4, true); }
static int case_thread_pipeline_no_block_sync() { return run(threadPipeline<false>, 4, false); }

__global__ void blockPipeline(const int* in, int* out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[2][64];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, fetched = 0;
    for (int k = 0; k < 4; k++) {
        for (; fetched < 4 && fetched < k + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[fetched % 2][t], &in[fetched * 64 + t], sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[k * 64 + t] = s[k % 2][63 - t];
        pipe.consumer_release();
    }
}

static int case_block_pipeline_two_stages() { return run(blockPipeline, 1, true); }

template <bool Wait> __global__ void onBarrier(const int* in, int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) init(&bar, 64);
    __syncthreads();
    cuda::memcpy_async(&s[t], &in[i], sizeof(int), bar);  // @mbcopy
    if (Wait) {
        bar.arrive_and_wait();
    } else {
        __syncthreads();
    }
    out[i] = s[63 - t];  // @mbread
}

static int case_memcpy_async_on_barrier() { return run(onBarrier<true>, 4, true); }
static int case_memcpy_async_on_barrier_no_wait() { return run(onBarrier<false>, 4, false); }

template <bool Wait> __global__ void groupCopy(const int* in, int* out) {
    __shared__ __align__(16) int s[64];
    auto block = cg::this_thread_block();
    int t = threadIdx.x, base = blockIdx.x * 64;
    cg::memcpy_async(block, s, in + base, cuda::aligned_size_t<16>(64 * sizeof(int)));  // @gmcopy
    if (Wait) {
        cg::wait(block);
    } else {
        block.sync();
    }
    out[base + t] = s[63 - t];  // @gmread
}

static int case_group_memcpy_async() { return run(groupCopy<true>, 4, true); }
static int case_group_memcpy_async_no_wait() { return run(groupCopy<false>, 4, false); }

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"thread_pipeline", case_thread_pipeline},
    {"thread_pipeline_no_block_sync", case_thread_pipeline_no_block_sync},
    {"block_pipeline_two_stages", case_block_pipeline_two_stages},
    {"memcpy_async_on_barrier", case_memcpy_async_on_barrier},
    {"memcpy_async_on_barrier_no_wait", case_memcpy_async_on_barrier_no_wait},
    {"group_memcpy_async", case_group_memcpy_async},
    {"group_memcpy_async_no_wait", case_group_memcpy_async_no_wait},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
