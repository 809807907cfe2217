// __syncthreads where not all threads come by, beside the sound forms that look alike.
//
// case: in_if_then_more_work  expect: barrier error at: @inif
// case: in_if_half_warp  expect: barrier error at: @halfwarp
// case: in_both_branches  expect: barrier error at: @then, @else
// case: in_loop_ragged  expect: barrier error at: @ragged
// case: in_loop_padded  expect: clean
// case: in_switch  expect: barrier error at: @case1
// case: in_function_called_by_some  expect: barrier error at: @infunction
// case: in_function_called_by_all  expect: clean
// case: condition_on_block  expect: clean
// case: condition_on_uniform_value  expect: clean
// case: return_of_whole_warps  expect: clean
// case: return_of_single_lanes  expect: clean
// case: break_before_barrier  expect: barrier error at: @inbreak
// case: data_dependent_if  expect: barrier error at: @datadep
// case: count_in_if  expect: barrier error at: @countif
// case: syncwarp_full_mask_in_branch  expect: deadlock error at: @fullmask
// case: syncwarp_own_mask_in_branch  expect: clean
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
template <class Kernel>
static std::vector<int> launch(Kernel kernel, int n, int blocks, int threads) {
    int* d = zeros<int>(n);
    kernel<<<blocks, threads>>>(d, n);
    return take(d, n);
}

__global__ void inIf(int* out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 64) {
        s[t] += 5;
        __syncthreads();  // @inif
    }
    s[t] *= 2;
    __syncthreads();
    out[t] = s[127 - t];
}

static int case_in_if_then_more_work() {
    launch(inIf, 128, 1, 128);
    return verdict(true);
}

__global__ void halfWarp(int* out, int n) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 16) {
        __syncthreads();  // @halfwarp
        s[t] += s[15 - t] > 100 ? 1 : 2;
    }
    __syncthreads();
    out[t] = s[31 - t];
}

static int case_in_if_half_warp() {
    launch(halfWarp, 32, 1, 32);
    return verdict(true);
}

__global__ void inBoth(int* out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t % 2 == 0) {
        s[t] = 3 * t;
        __syncthreads();  // @then
        out[t] = s[(t + 2) % 128];
    } else {
        s[t] = 7 * t;
        __syncthreads();  // @else
        out[t] = s[(t + 4) % 128] + 1;
    }
    __syncthreads();
    out[t] += s[127 - t];
}

static int case_in_both_branches() {
    launch(inBoth, 128, 1, 128);
    return verdict(true);
}

// 300 elements and 128 threads: the third round has 44 only.
__global__ void ragged(int* out, int n) {
    __shared__ int s[128];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        s[threadIdx.x] = i;
        __syncthreads();  // @ragged
        out[i] = s[threadIdx.x];
    }
    __syncthreads();
    if (threadIdx.x == 0) out[0] = s[5];
}

static int case_in_loop_ragged() {
    launch(ragged, 300, 1, 128);
    return verdict(true);
}

__global__ void padded(int* out, int n) {
    __shared__ int s[128];
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        if (i < n) s[threadIdx.x] = i;
        __syncthreads();
        int last = min(n - base, (int)blockDim.x) - 1;
        if (i < n) out[i] = s[last - threadIdx.x];
        __syncthreads();
    }
}

static int case_in_loop_padded() {
    std::vector<int> r = launch(padded, 300, 1, 128);
    bool good = true;
    for (int i = 0; i < 300; i++) {
        int base = i / 128 * 128, last = base + 127 < 300 ? base + 127 : 299;
        good = good && r[i] == last - (i - base);
    }
    return verdict(good);
}

__global__ void inSwitch(int* out, int n) {
    __shared__ int s[96];
    int t = threadIdx.x;
    s[t] = 1;
    switch (t / 32) {
        case 0:
            s[t] = 2;
            break;
        case 1:
            s[t] = 3;
            __syncthreads();  // @case1
            break;
        default:
            s[t] = 4;
    }
    __syncthreads();
    out[t] = s[95 - t];
}

static int case_in_switch() {
    launch(inSwitch, 96, 1, 96);
    return verdict(true);
}

__device__ __noinline__ int shareAndRead(int* s, int t, int n, int v) {
    s[t] = v;
    __syncthreads();  // @infunction
    return s[n - 1 - t];
}

template <bool All> __global__ void viaFunction(int* out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, v = -1;
    if (All || t < 32) v = shareAndRead(s, t, All ? 64 : 32, t * t);
    __syncthreads();
    s[t] = v;
    __syncthreads();
    out[t] = s[t ^ 1];
}

static int case_in_function_called_by_some() {
    launch(viaFunction<false>, 64, 1, 64);
    return verdict(true);
}
static int case_in_function_called_by_all() {
    std::vector<int> r = launch(viaFunction<true>, 64, 1, 64);
    bool good = true;
    for (int t = 0; t < 64; t++) good = good && r[t] == (63 - (t ^ 1)) * (63 - (t ^ 1));
    return verdict(good);
}

__global__ void byBlock(int* out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = i;
    if (blockIdx.x & 1) {
        __syncthreads();
        out[i] = s[63 - t];
    } else {
        out[i] = s[t];
    }
}

static int case_condition_on_block() {
    std::vector<int> r = launch(byBlock, 256, 4, 64);
    bool good = true;
    for (int i = 0; i < 256; i++) {
        good = good && r[i] == (i / 64 % 2 ? i / 64 * 64 + 63 - i % 64 : i);
    }
    return verdict(good);
}

// The condition is read from shared memory: the same for all, though the compiler can't know.
__global__ void byValue(int* out, int n) {
    __shared__ int s[64], rounds;
    int t = threadIdx.x;
    if (t == 0) rounds = n % 5 + 2;
    s[t] = t;
    __syncthreads();
    for (int k = 0; k < rounds; k++) {
        int v = s[(t + 1) % 64];
        __syncthreads();
        s[t] = v;
        __syncthreads();
    }
    out[t] = s[t];
}

static int case_condition_on_uniform_value() {
    std::vector<int> r = launch(byValue, 64, 1, 64);
    bool good = true;
    for (int t = 0; t < 64; t++) good = good && r[t] == (t + 64 % 5 + 2) % 64;
    return verdict(good);
}

__global__ void someReturn(int* out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = t * 2;
    __syncthreads();
    out[t] = s[n - 1 - t];
}

static int case_return_of_whole_warps() {
    std::vector<int> r = launch(someReturn, 64, 1, 128);
    bool good = true;
    for (int t = 0; t < 64; t++) good = good && r[t] == 2 * (63 - t);
    return verdict(good);
}
static int case_return_of_single_lanes() {
    std::vector<int> r = launch(someReturn, 77, 1, 128);
    bool good = true;
    for (int t = 0; t < 77; t++) good = good && r[t] == 2 * (76 - t);
    return verdict(good);
}

__global__ void breaksOut(int* out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    for (int k = 0; k < 8; k++) {
        if (s[t] > 66) break;
        __syncthreads();  // @inbreak
        s[t] += k;
    }
    __syncthreads();
    out[t] = s[63 - t];
}

static int case_break_before_barrier() {
    launch(breaksOut, 64, 1, 64);
    return verdict(true);
}

__global__ void dataDependent(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (in[t] > 10) {
        s[t] = 10;
        __syncthreads();  // @datadep
    }
    __syncthreads();
    out[t] = s[63 - t];
}

static int case_data_dependent_if() {
    std::vector<int> h(64);
    for (int i = 0; i < 64; i++) h[i] = i * 11 % 17;
    int *in = upload(h), *out = zeros<int>(64);
    dataDependent<<<1, 64>>>(in, out);
    take(out, 64);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void countInIf(int* out, int n) {
    int t = threadIdx.x, c = 0;
    if (t < 96) c = __syncthreads_count(t % 3 == 0);  // @countif
    __syncthreads();
    out[t] = c;
}

static int case_count_in_if() {
    launch(countInIf, 128, 1, 128);
    return verdict(true);
}

// Lanes 16 to 31 wait at their own __syncwarp for lanes that wait elsewhere.
template <bool Own> __global__ void syncwarpInBranch(int* out, int n) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    __syncwarp();
    if (t < 16) {
        if (Own) __syncwarp(0x0000ffff);
        out[t] = s[15 - t];
    } else {
        __syncwarp(Own ? 0xffff0000 : 0xffffffff);  // @fullmask
        out[t] = s[47 - t];
        if (!Own) return;
    }
    if (!Own) {
        // The lower lanes wait for the flag that only the upper lanes could raise.
        while (*(volatile int*)&out[31] == 0) {
        }
        __syncwarp();
    }
}

static int case_syncwarp_full_mask_in_branch() {
    launch(syncwarpInBranch<false>, 32, 1, 32);
    return verdict(true);
}
static int case_syncwarp_own_mask_in_branch() {
    std::vector<int> r = launch(syncwarpInBranch<true>, 32, 1, 32);
    bool good = true;
    for (int t = 0; t < 32; t++) good = good && r[t] == (t < 16 ? 15 - t : 47 - t);
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"in_if_then_more_work", case_in_if_then_more_work},
    {"in_if_half_warp", case_in_if_half_warp},
    {"in_both_branches", case_in_both_branches},
    {"in_loop_ragged", case_in_loop_ragged},
    {"in_loop_padded", case_in_loop_padded},
    {"in_switch", case_in_switch},
    {"in_function_called_by_some", case_in_function_called_by_some},
    {"in_function_called_by_all", case_in_function_called_by_all},
    {"condition_on_block", case_condition_on_block},
    {"condition_on_uniform_value", case_condition_on_uniform_value},
    {"return_of_whole_warps", case_return_of_whole_warps},
    {"return_of_single_lanes", case_return_of_single_lanes},
    {"break_before_barrier", case_break_before_barrier},
    {"data_dependent_if", case_data_dependent_if},
    {"count_in_if", case_count_in_if},
    {"syncwarp_full_mask_in_branch", case_syncwarp_full_mask_in_branch},
    {"syncwarp_own_mask_in_branch", case_syncwarp_own_mask_in_branch},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
