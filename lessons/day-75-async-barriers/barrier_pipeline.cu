// Day 75: asynchronous barriers. One pipeline, synchronised in two ways.
//
// Build: nvcc -std=c++17 -O3 -arch=sm_80 -o barrier_pipeline barrier_pipeline.cu
// Run:   ./barrier_pipeline
//
// Status: UNVERIFIED
//   no reviewed record of this code exists, so the page shows no output
//   `cargo xtask status` says what is missing
//
// In every block some warps copy tiles of an array into shared memory (the producers) while the
// other warps compute on a tile that is already there (the consumers). Two tile buffers let both
// work at once. `pipelineSyncthreads` brings the whole block together after every tile;
// `pipelineSplitBarrier` uses four barriers whose arrive and wait are apart, so that each group
// waits only for what it needs. The copy, the arithmetic and the order of the tiles are the same
// lines for both kernels: they differ in their synchronisation and in nothing else.
//
// Knobs: -DPRODUCER_WARPS=1 to 7 (default 4), -DELEMS=n (default 4 * 1024 * 1024 + 611).
//
// MIT License, see the LICENSE file of the course.

#include <cuda/barrier>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifndef PRODUCER_WARPS
#define PRODUCER_WARPS 4
#endif
#ifndef ELEMS
#define ELEMS (4 * 1024 * 1024 + 611)
#endif

// copy: common/cuda_check.cuh
// Ends the program when a CUDA call fails, naming the place, the call and the reason.
// After a launch, check cudaGetLastError(): a launch itself returns nothing.
#define CUDA_CHECK(call)                                                           \
    do {                                                                           \
        const cudaError_t status_ = (call);                                        \
        if (status_ != cudaSuccess) {                                              \
            std::fprintf(stderr, "CUDA error %s:%d: %s: %s\n", __FILE__, __LINE__, \
                         #call, cudaGetErrorString(status_));                      \
            std::exit(EXIT_FAILURE);                                               \
        }                                                                          \
    } while (0)
// end copy

// copy: common/mean_milliseconds.cuh
// The mean time of one call of `work`, in milliseconds: `warmups` calls that are not timed, then
// one pair of CUDA events around `runs` calls on the default stream.
template <class Work>
float meanMilliseconds(int warmups, int runs, Work work) {
    for (int i = 0; i < warmups; ++i) work();
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    CUDA_CHECK(cudaEventRecord(start));
    for (int i = 0; i < runs; ++i) work();
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float total = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&total, start, stop));
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    return total / static_cast<float>(runs);
}
// end copy

constexpr int kThreads = 256;  // the only block size that these kernels are written for
constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kProducers = PRODUCER_WARPS * kWarpSize;  // threads 0 to kProducers - 1 copy
constexpr int kConsumers = kThreads - kProducers;       // the others compute
constexpr int kTile = 1024;                             // floats in a tile: 4 KiB
constexpr int kChain = 64;                              // dependent multiply-adds on each element
constexpr std::size_t kElements{ELEMS};                 // braces: a negative count doesn't compile

// Roles go to whole warps: a warp that held both would have to run one role after the other. And an
// empty group would never arrive, which leaves the other one waiting for good.
static_assert(kThreads % kWarpSize == 0, "the block must consist of whole warps");
static_assert(PRODUCER_WARPS >= 1, "at least one warp must produce");
static_assert(PRODUCER_WARPS < kWarps, "at least one warp must consume");
static_assert(kElements > 0, "there must be something to do");

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

__host__ __device__ constexpr std::size_t tileCount(std::size_t n) {
    return (n + kTile - 1) / kTile;
}

__device__ bool isProducer() { return threadIdx.x < kProducers; }

// The work on one element. Each multiply-add needs the result of the one before it, so an element
// costs the whole chain's latency. `fmaf` rounds once, on the host as on the device: same bits.
__host__ __device__ float chain(float v) {
    for (int i = 0; i < kChain; ++i) v = fmaf(v, 0.999f, 0.25f);
    return v;
}

// The producers' part: copies one tile into a buffer. Neighbouring threads load neighbouring floats
// (the loads coalesce) and store to neighbouring banks (no conflicts). Past the end of the array
// the tile is filled with 0, so that every buffer is written whole and consumers never read what
// nobody wrote.
__device__ void fillTile(float* buffer, const float* in, std::size_t tile, std::size_t n) {
    const std::size_t first = tile * kTile;
    for (int i = threadIdx.x; i < kTile; i += kProducers) {
        buffer[i] = first + i < n ? in[first + i] : 0.0f;
    }
}

// The consumers' part: computes one tile out of a buffer and stores what lies inside the array.
__device__ void computeTile(float* out, const float* buffer, std::size_t tile, std::size_t n) {
    const std::size_t first = tile * kTile;
    for (int i = threadIdx.x - kProducers; i < kTile; i += kConsumers) {
        const float result = chain(buffer[i]);
        if (first + i < n) out[first + i] = result;
    }
}

// Both kernels expect blocks of kThreads and a grid of at most tileCount(n) blocks. A block works
// on every gridDim.x-th tile, from its own index on, and puts them into its two buffers in turn.
//
// extern "C" keeps the names plain in the PTX, where a C++ name has its parameter types spelled
// into it: the course's tests load the PTX through the driver API, which finds kernels by name.

// snippet: sync-loop
extern "C" __global__ void pipelineSyncthreads(const float* __restrict__ in,
                                               float* __restrict__ out, std::size_t n) {
    __shared__ float buffer[2][kTile];
    const std::size_t tiles = tileCount(n);

    // Nothing to compute yet: the consumers only wait for the first tile.
    if (isProducer()) fillTile(buffer[0], in, blockIdx.x, n);
    __syncthreads();

    int b = 0;  // the buffer that holds the current tile
    for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (isProducer()) {
            const std::size_t next = tile + gridDim.x;
            if (next < tiles) fillTile(buffer[b ^ 1], in, next, n);
        } else {
            computeTile(out, buffer[b], tile, n);
        }
        // One barrier for both hazards of the step after it:
        //   read after write: consumers will read b ^ 1, which producers have just written;
        //   write after read: producers will write b, which consumers have just read.
        // It stands outside the branch, because all 256 threads must come to it.
        __syncthreads();
        b ^= 1;
    }
}
// end snippet

// snippet: split-loop
extern "C" __global__ void pipelineSplitBarrier(const float* __restrict__ in,
                                                float* __restrict__ out, std::size_t n) {
    __shared__ float buffer[2][kTile];
    __shared__ BlockBarrier ready[2];   // phase complete: buffer b may be written
    __shared__ BlockBarrier filled[2];  // phase complete: buffer b holds a whole tile
    const std::size_t tiles = tileCount(n);

    if (threadIdx.x < 2) {
        // The count is in threads, and it is all of them: one group arrives and waits, the other
        // only arrives, and a phase is complete once both groups have arrived.
        init(&ready[threadIdx.x], kThreads);
        init(&filled[threadIdx.x], kThreads);
    }
    __syncthreads();  // nobody may use a barrier before it is initialised

    int b = 0;
    if (isProducer()) {
        for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            ready[b].arrive_and_wait();  // until the consumers have handed buffer b back
            fillTile(buffer[b], in, tile, n);
            (void)filled[b].arrive();  // hand it over, and go on without waiting
            b ^= 1;
        }
    } else {
        // Both buffers start out free, and only the consumers can say so.
        (void)ready[0].arrive();
        (void)ready[1].arrive();
        for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            filled[b].arrive_and_wait();  // until the producers have filled buffer b
            computeTile(out, buffer[b], tile, n);
            (void)ready[b].arrive();  // hand it back, and go on without waiting
            b ^= 1;
        }
    }
}
// end snippet

using Kernel = void (*)(const float*, float*, std::size_t);

// What every launch is given: the grid, and the two arrays on the device.
struct LaunchArgs {
    unsigned grid = 0;
    float* in = nullptr;
    float* out = nullptr;
};

void launch(Kernel kernel, const LaunchArgs& args) {
    kernel<<<args.grid, kThreads>>>(args.in, args.out, kElements);
    CUDA_CHECK(cudaGetLastError());
}

// Runs a kernel once and returns what it wrote. All bits of the output are set beforehand, which is
// NaN: an element that the kernel skips can't pass because an earlier launch left the right answer
// there.
std::vector<float> resultOf(Kernel kernel, const LaunchArgs& args) {
    std::vector<float> result(kElements);
    const std::size_t bytes = kElements * sizeof(float);
    CUDA_CHECK(cudaMemset(args.out, 0xFF, bytes));
    launch(kernel, args);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(result.data(), args.out, bytes, cudaMemcpyDeviceToHost));
    return result;
}

// Within 1e-5 of `want`, relative to it (absolute where it is 0). A comparison with NaN is always
// false, so the question must be "is the difference small?": NaN would pass "is it too large? no".
bool isClose(float got, float want) {
    const float scale = want == 0.0f ? 1.0f : std::fabs(want);
    return std::isfinite(got) && std::isfinite(want) && std::fabs(got - want) <= 1e-5f * scale;
}

bool isSameBits(float got, float want) { return std::memcmp(&got, &want, sizeof got) == 0; }

// Ends the program at the first element that doesn't agree: the time of a wrong kernel is no time.
void require(const char* name, const std::vector<float>& got, const std::vector<float>& want,
             bool (*agree)(float, float)) {
    for (std::size_t i = 0; i < kElements; ++i) {
        if (agree(got[i], want[i])) continue;
        std::fprintf(stderr, "%s wrong at %zu: got %.9g, want %.9g\n", name, i, got[i], want[i]);
        std::exit(EXIT_FAILURE);
    }
}

// Names device 0, and ends the program if that has no mbarrier in hardware: `cuda::barrier` is then
// a loop on atomics, and its time would answer another question.
cudaDeviceProp requireDevice() {
    cudaDeviceProp device;
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("GPU: %s (compute capability %d.%d)\n", device.name, device.major, device.minor);
    if (device.major < 8) {
        std::fprintf(stderr,
                     "the hardware mbarrier needs compute capability 8.0 or newer; %s is %d.%d\n",
                     device.name, device.major, device.minor);
        std::exit(EXIT_FAILURE);
    }
    return device;
}

// Two blocks a multiprocessor keep all of them busy, but a block without a tile is one too many.
unsigned gridFor(const cudaDeviceProp& device) {
    const std::size_t wanted = 2 * static_cast<std::size_t>(device.multiProcessorCount);
    return static_cast<unsigned>(std::min(wanted, tileCount(kElements)));
}

LaunchArgs prepare(unsigned grid, const std::vector<float>& input) {
    LaunchArgs args;
    args.grid = grid;
    const std::size_t bytes = kElements * sizeof(float);
    CUDA_CHECK(cudaMalloc(&args.in, bytes));
    CUDA_CHECK(cudaMalloc(&args.out, bytes));
    CUDA_CHECK(cudaMemcpy(args.in, input.data(), bytes, cudaMemcpyHostToDevice));
    return args;
}

// The first kernel is held to the host, the second to the first. So a wrong first kernel ends the
// program before the second is judged.
void requireRightResults(const LaunchArgs& args, const std::vector<float>& input) {
    std::vector<float> reference(kElements);
    std::transform(input.begin(), input.end(), reference.begin(), chain);

    const std::vector<float> sync = resultOf(pipelineSyncthreads, args);
    require("syncthreads", sync, reference, isClose);
    const std::vector<float> split = resultOf(pipelineSplitBarrier, args);
    require("split barrier", split, sync, isSameBits);
}

void reportTimes(const LaunchArgs& args) {
    const int warmups = 3;
    const int runs = 10;
    const float sync =
        meanMilliseconds(warmups, runs, [&] { launch(pipelineSyncthreads, args); });
    const float split =
        meanMilliseconds(warmups, runs, [&] { launch(pipelineSplitBarrier, args); });

    std::printf("mean of %d runs, copies not included\n", runs);
    std::printf("syncthreads:   %.3f ms\n", sync);
    std::printf("split barrier: %.3f ms\n", split);
    std::printf("split/sync:    %.3f\n", split / sync);
}

int main() {
    // A pipeline that hangs should still have shown the lines before it, through a pipe as well.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    const cudaDeviceProp device = requireDevice();
    const unsigned grid = gridFor(device);
    std::printf("n = %zu, %zu tiles of %d, %u blocks of %d threads "
                "(%d producer warps, %d consumer warps)\n",
                kElements, tileCount(kElements), kTile, grid, kThreads, PRODUCER_WARPS,
                kWarps - PRODUCER_WARPS);

    std::vector<float> input(kElements);
    for (std::size_t i = 0; i < kElements; ++i) input[i] = static_cast<float>(i % 97) * 0.01f;
    const LaunchArgs args = prepare(grid, input);
    requireRightResults(args, input);
    reportTimes(args);

    CUDA_CHECK(cudaFree(args.in));
    CUDA_CHECK(cudaFree(args.out));
    return EXIT_SUCCESS;
}
