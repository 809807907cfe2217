// Cooperative launches: all blocks of the grid wait for each other.
//
// case: rotate_blocks  expect: clean
// case: rotate_blocks_block_sync_only  expect: race error gpu at: @rw, @rr
// case: iterated_stencil  expect: clean
// case: iterated_stencil_one_sync  expect: race error gpu at: @sr, @sw
// case: grid_reduction  expect: clean
// case: grid_rank  expect: clean
// case: too_many_blocks  expect: api error
// case: sync_by_some_blocks  expect: deadlock error at: @some
// case: occupancy_sized  expect: clean
#include <cooperative_groups.h>
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

template <class... Args>
static cudaError_t launchCooperative(void (*kernel)(Args...), int blocks, int threads,
                                     Args... args) {
    void* pointers[] = {&args...};
    return cudaLaunchCooperativeKernel((const void*)kernel, dim3(blocks), dim3(threads), pointers,
                                       0, nullptr);
}

__global__ void rotate(int* a, int* b, int n) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = 5 * i;
    grid.sync();
    b[i] = a[(i + blockDim.x + 3) % n];
}

__global__ void rotateBlockSync(int* a, int* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = 5 * i;  // @rw
    cg::this_thread_block().sync();
    b[i] = a[(i + blockDim.x + 3) % n];  // @rr
}

static int runRotate(void (*kernel)(int*, int*, int), bool check) {
    const int n = 4 * 64;
    int *a = zeros<int>(n), *b = zeros<int>(n);
    CHECK(launchCooperative(kernel, 4, 64, a, b, n));
    std::vector<int> r = take(b, n);
    CHECK(cudaFree(a));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && (!check || r[i] == 5 * ((i + 67) % n));
    return verdict(good);
}

static int case_rotate_blocks() { return runRotate(rotate, true); }
static int case_rotate_blocks_block_sync_only() { return runRotate(rotateBlockSync, false); }

template <bool Both> __global__ void smooth(int* data, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < steps; k++) {
        int sum = data[i] + data[(i + 1) % n] + data[(i + n - 1) % n];  // @sr
        if (Both) grid.sync();
        data[i] = sum % 1000;  // @sw
        grid.sync();
    }
}

template <bool Both> static int runSmooth() {
    const int n = 3 * 64;
    std::vector<int> h(n), next(n);
    for (int i = 0; i < n; i++) h[i] = i * 7 % 13;
    int* d = upload(h);
    CHECK(launchCooperative(smooth<Both>, 3, 64, d, n, 4));
    std::vector<int> r = take(d, n);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++) next[i] = (h[i] + h[(i + 1) % n] + h[(i + n - 1) % n]) % 1000;
        h = next;
    }
    return verdict(!Both || r == h);
}

static int case_iterated_stencil() { return runSmooth<true>(); }
static int case_iterated_stencil_one_sync() { return runSmooth<false>(); }

__global__ void gridSum(const int* in, int* partial, int* out, int n) {
    cg::grid_group grid = cg::this_grid();
    __shared__ int s[64];
    int sum = 0, t = threadIdx.x;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = s[0];
    grid.sync();
    if (grid.thread_rank() == 0) {
        sum = 0;
        for (int b = 0; b < (int)gridDim.x; b++) sum += partial[b];
        *out = sum;
    }
}

static int case_grid_reduction() {
    const int n = 3000;
    std::vector<int> h(n);
    int want = 0;
    for (int i = 0; i < n; i++) want += h[i] = i * 3 % 17;
    int *in = upload(h), *partial = zeros<int>(5), *out = zeros<int>(1);
    CHECK(launchCooperative(gridSum, 5, 64, (const int*)in, partial, out, n));
    int got = take(out, 1)[0];
    CHECK(cudaFree(in));
    CHECK(cudaFree(partial));
    return verdict(got == want);
}

__global__ void ranks(int* out) {
    cg::grid_group grid = cg::this_grid();
    int rank = grid.thread_rank();
    out[rank] = grid.is_valid() ? rank + (int)grid.size() : -1;
}

static int case_grid_rank() {
    int* out = zeros<int>(96);
    CHECK(launchCooperative(ranks, 3, 32, out));
    std::vector<int> r = take(out, 96);
    bool good = true;
    for (int i = 0; i < 96; i++) good = good && r[i] == i + 96;
    return verdict(good);
}

// More blocks than can be resident together are refused.
static int case_too_many_blocks() {
    int* out = zeros<int>(32);
    cudaError_t status = launchCooperative(ranks, 1000000, 1024, out);
    bool refused = status == cudaErrorCooperativeLaunchTooLarge;
    refused = refused && cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge;
    CHECK(cudaFree(out));
    return verdict(refused);
}

__global__ void someSync(int* out) {
    cg::grid_group grid = cg::this_grid();
    if (blockIdx.x != 2) grid.sync();  // @some
    out[grid.thread_rank()] = 1;
}

static int case_sync_by_some_blocks() {
    int* out = zeros<int>(96);
    CHECK(launchCooperative(someSync, 3, 32, out));
    take(out, 96);
    return verdict(true);
}

static int case_occupancy_sized() {
    int perSm = 0, sms = 0, supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, ranks, 64, 0));
    bool good = supported == 1 && sms > 0 && perSm > 0;
    int blocks = perSm * sms < 20 ? perSm * sms : 20;
    int* out = zeros<int>(blocks * 64);
    CHECK(launchCooperative(ranks, blocks, 64, out));
    std::vector<int> r = take(out, blocks * 64);
    for (int i = 0; i < blocks * 64; i++) good = good && r[i] == i + blocks * 64;
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"rotate_blocks", case_rotate_blocks},
    {"rotate_blocks_block_sync_only", case_rotate_blocks_block_sync_only},
    {"iterated_stencil", case_iterated_stencil},
    {"iterated_stencil_one_sync", case_iterated_stencil_one_sync},
    {"grid_reduction", case_grid_reduction},
    {"grid_rank", case_grid_rank},
    {"too_many_blocks", case_too_many_blocks},
    {"sync_by_some_blocks", case_sync_by_some_blocks},
    {"occupancy_sized", case_occupancy_sized},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
