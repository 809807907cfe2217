// Scopes: atomics and fences that reach only the block, used between blocks, and their repairs.
//
// case: add_block_within_block  expect: clean
// case: add_block_across_blocks  expect: race error gpu at: @cross
// case: add_gpu_across_blocks  expect: clean
// case: mixed_block_and_gpu  expect: race error gpu at: @mixb, @mixg
// case: cas_block_across_blocks  expect: race error gpu at: @casb
// case: system_and_gpu  expect: clean
// case: block_scope_on_shared  expect: clean
// case: block_scope_own_slot_then_gpu_kernel  expect: clean
// case: fence_block_within_block  expect: clean
// case: fence_block_between_blocks  expect: race error gpu at: @fbw, @fbr
// case: fence_gpu_between_blocks  expect: clean
// case: fence_system_between_blocks  expect: clean
// case: max_block_across_blocks  expect: race error gpu at: @maxb
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
__global__ void addBlock(int* counters) {
    atomicAdd_block(&counters[blockIdx.x], 1);
}

static int case_add_block_within_block() {
    int* d = zeros<int>(4);
    addBlock<<<4, 64>>>(d);
    return verdict(take(d, 4) == std::vector<int>(4, 64));
}

__global__ void addBlockCross(int* counter) {
    atomicAdd_block(counter, 1);  // @cross
}

static int case_add_block_across_blocks() {
    int* d = zeros<int>(1);
    addBlockCross<<<4, 64>>>(d);
    take(d, 1);
    return verdict(true);
}

__global__ void addGpuCross(int* counter) { atomicAdd(counter, 1); }

static int case_add_gpu_across_blocks() {
    int* d = zeros<int>(1);
    addGpuCross<<<4, 64>>>(d);
    return verdict(take(d, 1)[0] == 256);
}

__global__ void mixed(int* counter) {
    if (blockIdx.x == 0) {
        atomicAdd_block(counter, 1);  // @mixb
    } else {
        atomicAdd(counter, 1);  // @mixg
    }
}

static int case_mixed_block_and_gpu() {
    int* d = zeros<int>(1);
    mixed<<<2, 64>>>(d);
    take(d, 1);
    return verdict(true);
}

__global__ void casBlock(int* winner) {
    atomicCAS_block(winner, 0, (int)blockIdx.x + 1);  // @casb
}

static int case_cas_block_across_blocks() {
    int* d = zeros<int>(1);
    casBlock<<<3, 32>>>(d);
    take(d, 1);
    return verdict(true);
}

__global__ void systemAndGpu(int* counter) {
    if (blockIdx.x % 2 == 0) {
        atomicAdd_system(counter, 1);
    } else {
        atomicAdd(counter, 10);
    }
}

static int case_system_and_gpu() {
    int* d = zeros<int>(1);
    systemAndGpu<<<4, 32>>>(d);
    return verdict(take(d, 1)[0] == 64 * 11);
}

__global__ void sharedBlockScope(int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd_block(&sum, (int)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

static int case_block_scope_on_shared() {
    int* d = zeros<int>(3);
    sharedBlockScope<<<3, 100>>>(d);
    return verdict(take(d, 3) == std::vector<int>(3, 4950));
}

__global__ void collect(const int* counters, int* sum) { atomicAdd(sum, counters[threadIdx.x]); }

static int case_block_scope_own_slot_then_gpu_kernel() {
    int *counters = zeros<int>(4), *sum = zeros<int>(1);
    addBlock<<<4, 64>>>(counters);
    collect<<<1, 4>>>(counters, sum);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(counters));
    return verdict(take(sum, 1)[0] == 256);
}

// Warp 0 hands a value in global memory to warp 1 of the same block.
__global__ void withinBlock(int* data, int* flag, int* out) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        data[b] = 40 + b;
        __threadfence_block();
        *(volatile int*)&flag[b] = 1;
    } else if (threadIdx.x == 32) {
        while (*(volatile int*)&flag[b] == 0) {
        }
        __threadfence_block();
        out[b] = data[b];
    }
}

static int case_fence_block_within_block() {
    int *data = zeros<int>(3), *flag = zeros<int>(3), *out = zeros<int>(3);
    withinBlock<<<3, 64>>>(data, flag, out);
    std::vector<int> r = take(out, 3);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    return verdict(r == std::vector<int>({40, 41, 42}));
}

enum Reach { BLOCK, GPU, SYSTEM };

template <Reach reach> __device__ void fence() {
    if (reach == BLOCK) __threadfence_block();
    if (reach == GPU) __threadfence();
    if (reach == SYSTEM) __threadfence_system();
}

// Block 0 hands values to block 1.
template <Reach reach> __global__ void betweenBlocks(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7 * threadIdx.x;  // @fbw
        fence<reach>();
        atomicAdd(flag, 1);
    } else {
        while (atomicAdd(flag, 0) < (int)blockDim.x) {
        }
        fence<reach>();
        out[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];  // @fbr
    }
}

template <Reach reach> static int runBetween() {
    int *data = zeros<int>(32), *flag = zeros<int>(1), *out = zeros<int>(32);
    betweenBlocks<reach><<<2, 32>>>(data, flag, out);
    std::vector<int> r = take(out, 32);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    bool good = true;
    for (int i = 0; i < 32; i++) good = good && (reach == BLOCK || r[i] == 7 * (31 - i));
    return verdict(good);
}

static int case_fence_block_between_blocks() { return runBetween<BLOCK>(); }
static int case_fence_gpu_between_blocks() { return runBetween<GPU>(); }
static int case_fence_system_between_blocks() { return runBetween<SYSTEM>(); }

__global__ void maxBlock(int* best) {
    atomicMax_block(best, (int)(blockIdx.x * 37 + threadIdx.x));  // @maxb
}

static int case_max_block_across_blocks() {
    int* d = zeros<int>(1);
    maxBlock<<<3, 32>>>(d);
    take(d, 1);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"add_block_within_block", case_add_block_within_block},
    {"add_block_across_blocks", case_add_block_across_blocks},
    {"add_gpu_across_blocks", case_add_gpu_across_blocks},
    {"mixed_block_and_gpu", case_mixed_block_and_gpu},
    {"cas_block_across_blocks", case_cas_block_across_blocks},
    {"system_and_gpu", case_system_and_gpu},
    {"block_scope_on_shared", case_block_scope_on_shared},
    {"block_scope_own_slot_then_gpu_kernel", case_block_scope_own_slot_then_gpu_kernel},
    {"fence_block_within_block", case_fence_block_within_block},
    {"fence_block_between_blocks", case_fence_block_between_blocks},
    {"fence_gpu_between_blocks", case_fence_gpu_between_blocks},
    {"fence_system_between_blocks", case_fence_system_between_blocks},
    {"max_block_across_blocks", case_max_block_across_blocks},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
