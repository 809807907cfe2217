// Day 54: double buffering. One large array through a card in chunks, with one buffer and with two.
//
// Build: nvcc -std=c++17 -O3 -arch=sm_75 -o double_buffering double_buffering.cu
// Run:   ./double_buffering
//
// Status: UNVERIFIED
//   no reviewed record of this code exists, so the page shows no output
//   `cargo xtask status` says what is missing
//
// The array lies in ordinary (pageable) host memory and goes to the card in chunks. The host copies
// a chunk into a pinned buffer, the card copies it in, a kernel works on it in place, the card
// copies it out, and the host copies the result into a second ordinary array. `oneBuffer` ends a
// chunk before it begins the next. `twoBuffers` has two pinned buffers, each with a stream of its
// own, so that the host serves one while the card works on the other. The steps are the same.
//
// Knobs: -DELEMS=n (default 64 * 1024 * 1024 + 611), -DCHUNK=n elements (default 4 * 1024 * 1024),
//        -DWORK=n multiply-adds an element (default 8192), -DRUNS=n, even (default 6).
//
// MIT License, see the LICENSE file of the course.

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifndef ELEMS
#define ELEMS (64 * 1024 * 1024 + 611)
#endif
#ifndef CHUNK
#define CHUNK (4 * 1024 * 1024)
#endif
#ifndef WORK
#define WORK 8192
#endif
#ifndef RUNS
#define RUNS 6
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

constexpr std::size_t kElements = ELEMS;
constexpr std::size_t kChunk = CHUNK;
constexpr std::size_t kChunks = (kElements + kChunk - 1) / kChunk;
constexpr int kWork = WORK;
constexpr int kRuns = RUNS;
constexpr int kThreads = 256;

// The input repeats after this many elements, so a table of this length is the reference for all of
// them. It is a prime that does not divide the chunk: any two of the first 1009 chunks hold
// different values at the same place, so that a chunk in another's place is wrong from its start.
constexpr std::size_t kPeriod = 1009;

static_assert(ELEMS > 0 && CHUNK > 0 && WORK > 0, "an array, a chunk and work, each at least 1");
static_assert(RUNS > 0 && RUNS % 2 == 0, "each version goes first in half of the runs");
static_assert(kChunk % kPeriod != 0, "every chunk would hold the same values");

// The same chain of dependent multiply-adds on host and device. `fmaf` rounds once on both, so the
// results are equal bit for bit and the comparison needs no tolerance.
__host__ __device__ inline float chain(float v) {
    for (int i = 0; i < kWork; ++i) v = std::fmaf(v, 0.9999f, 0.01f);
    return v;
}

__global__ void chainInPlace(float* data, std::size_t n) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < n) data[i] = chain(data[i]);
}

// All that one chunk in flight needs. `done` is recorded behind the copy out: once it has
// completed, the card no longer touches either memory, and the pinned one holds the chunk's result.
struct Buffer {
    float* pinned;
    float* device;
    cudaStream_t stream;
    cudaEvent_t done;
};

std::size_t lengthOf(std::size_t chunk) {
    const std::size_t left = kElements - chunk * kChunk;
    return left < kChunk ? left : kChunk;
}

std::size_t bytesOf(std::size_t chunk) { return lengthOf(chunk) * sizeof(float); }

void launch(float* data, std::size_t n, cudaStream_t stream) {
    const unsigned blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    chainInPlace<<<blocks, kThreads, 0, stream>>>(data, n);
    CUDA_CHECK(cudaGetLastError());
}

// snippet: steps
// The host writes the pinned buffer: nothing on the card may still need what is in it.
void fill(const Buffer& buffer, const float* source, std::size_t chunk) {
    std::memcpy(buffer.pinned, source + chunk * kChunk, bytesOf(chunk));
}

// Three steps that the stream keeps in order, and the event behind them. The host does not wait.
void enqueue(const Buffer& buffer, std::size_t chunk) {
    CUDA_CHECK(cudaMemcpyAsync(buffer.device, buffer.pinned, bytesOf(chunk),
                               cudaMemcpyHostToDevice, buffer.stream));
    launch(buffer.device, lengthOf(chunk), buffer.stream);
    CUDA_CHECK(cudaMemcpyAsync(buffer.pinned, buffer.device, bytesOf(chunk),
                               cudaMemcpyDeviceToHost, buffer.stream));
    CUDA_CHECK(cudaEventRecord(buffer.done, buffer.stream));
}

// The host waits for the buffer's event, then reads the result. After this the buffer is free.
void drain(const Buffer& buffer, float* result, std::size_t chunk) {
    CUDA_CHECK(cudaEventSynchronize(buffer.done));
    std::memcpy(result + chunk * kChunk, buffer.pinned, bytesOf(chunk));
}
// end snippet

// snippet: one-buffer
void oneBuffer(const Buffer& buffer, const float* source, float* result) {
    for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
        fill(buffer, source, chunk);
        enqueue(buffer, chunk);
        drain(buffer, result, chunk);
    }
}
// end snippet

// snippet: two-buffers
void twoBuffers(const Buffer (&buffers)[2], const float* source, float* result) {
    for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
        const Buffer& buffer = buffers[chunk % 2];
        // The buffer still belongs to the chunk before last: empty it before filling it again.
        if (chunk >= 2) drain(buffer, result, chunk - 2);
        fill(buffer, source, chunk);
        enqueue(buffer, chunk);
    }
    // What is still in flight when the input ends: two chunks, or one if there was only one.
    for (std::size_t chunk = kChunks < 2 ? 0 : kChunks - 2; chunk < kChunks; ++chunk) {
        drain(buffers[chunk % 2], result, chunk);
    }
}
// end snippet

// A float whose bytes are all 0xFF is a NaN, so a place that a run did not write cannot pass. Every
// memory that a result travels through is filled, not only the last one.
void poison(const Buffer (&buffers)[2], std::vector<float>& result) {
    for (const Buffer& buffer : buffers) {
        std::memset(buffer.pinned, 0xFF, kChunk * sizeof(float));
        CUDA_CHECK(cudaMemset(buffer.device, 0xFF, kChunk * sizeof(float)));
    }
    std::memset(result.data(), 0xFF, result.size() * sizeof(float));
    // The buffers' streams do not wait for the default stream, which the fills above ran on.
    CUDA_CHECK(cudaDeviceSynchronize());
}

void require(const char* name, const std::vector<float>& result, const std::vector<float>& table) {
    for (std::size_t i = 0; i < result.size(); ++i) {
        const float want = table[i % kPeriod];
        // A NaN equals nothing, so written this way round it never passes.
        if (!(result[i] == want)) {
            std::fprintf(stderr, "%s wrong at %zu: got %.9g, want %.9g\n", name, i,
                         static_cast<double>(result[i]), static_cast<double>(want));
            std::exit(EXIT_FAILURE);
        }
    }
}

// The time of work that begins and ends on the host, by the host's clock: an event marks a moment
// of a stream, and no stream holds the host's own copies. Nothing may be in flight when it begins,
// and the work must wait for all that it starts: both versions end with the host's last copy.
template <class Work>
double hostMilliseconds(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const auto stop = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(stop - start).count();
}

// Each stage of all chunks with nothing beside it: the terms of which a whole time is made. The
// three of the card run on the default stream, where a pair of events measures them.
void reportStages(const Buffer& buffer, const float* source, float* result) {
    double host = 0.0;
    for (int run = 0; run < kRuns; ++run) {
        host += hostMilliseconds([&] {
            for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
                fill(buffer, source, chunk);
                drain(buffer, result, chunk);
            }
        });
    }
    const float copyIn = meanMilliseconds(1, kRuns, [&] {
        for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
            CUDA_CHECK(cudaMemcpyAsync(buffer.device, buffer.pinned, bytesOf(chunk),
                                       cudaMemcpyHostToDevice));
        }
    });
    const float kernel = meanMilliseconds(1, kRuns, [&] {
        for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
            launch(buffer.device, lengthOf(chunk), nullptr);
        }
    });
    const float copyOut = meanMilliseconds(1, kRuns, [&] {
        for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
            CUDA_CHECK(cudaMemcpyAsync(buffer.pinned, buffer.device, bytesOf(chunk),
                                       cudaMemcpyDeviceToHost));
        }
    });
    std::printf("each stage alone, the whole array, mean of %d runs\n", kRuns);
    std::printf("host copies: %.3f ms\n", host / kRuns);
    std::printf("copy in:     %.3f ms\n", static_cast<double>(copyIn));
    std::printf("kernel:      %.3f ms\n", static_cast<double>(kernel));
    std::printf("copy out:    %.3f ms\n", static_cast<double>(copyOut));
}

// The two versions take turns, and each goes first in half of the runs, so that a card or a host
// that warms up or slows down meets both alike. Their checked runs have warmed both up.
void reportVersions(const Buffer (&buffers)[2], const float* source, float* result) {
    double one = 0.0;
    double two = 0.0;
    const auto timeOne = [&] {
        one += hostMilliseconds([&] { oneBuffer(buffers[0], source, result); });
    };
    const auto timeTwo = [&] {
        two += hostMilliseconds([&] { twoBuffers(buffers, source, result); });
    };
    for (int run = 0; run < kRuns; ++run) {
        if (run % 2 == 0) timeOne();
        timeTwo();
        if (run % 2 != 0) timeOne();
    }
    one /= kRuns;
    two /= kRuns;
    const double bytes = static_cast<double>(kElements * sizeof(float));
    std::printf("all stages, from ordinary memory to ordinary memory, mean of %d runs\n", kRuns);
    std::printf("one buffer:  %.3f ms, %.3f GB/s each way\n", one, bytes / one * 1e-6);
    std::printf("two buffers: %.3f ms, %.3f GB/s each way\n", two, bytes / two * 1e-6);
    std::printf("one/two:     %.3f\n", one / two);
}

Buffer makeBuffer() {
    Buffer buffer{};
    CUDA_CHECK(cudaMallocHost(&buffer.pinned, kChunk * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&buffer.device, kChunk * sizeof(float)));
    CUDA_CHECK(cudaStreamCreateWithFlags(&buffer.stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&buffer.done, cudaEventDisableTiming));
    return buffer;
}

void freeBuffer(const Buffer& buffer) {
    CUDA_CHECK(cudaEventDestroy(buffer.done));
    CUDA_CHECK(cudaStreamDestroy(buffer.stream));
    CUDA_CHECK(cudaFree(buffer.device));
    CUDA_CHECK(cudaFreeHost(buffer.pinned));
}

void requireDevice() {
    cudaDeviceProp device{};
    CUDA_CHECK(cudaSetDevice(0));
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("GPU: %s (compute capability %d.%d)\n", device.name, device.major, device.minor);
    if (device.major < 7 || (device.major == 7 && device.minor < 5)) {
        std::fprintf(stderr, "this build needs compute capability 7.5 or newer; %s is %d.%d\n",
                     device.name, device.major, device.minor);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    // Lines appear as they are printed, through a pipe as well.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    requireDevice();
    std::printf("n = %zu, %zu chunks of %zu floats, %zu bytes each way\n", kElements, kChunks,
                kChunk, kElements * sizeof(float));

    std::vector<float> source(kElements);
    std::vector<float> result(kElements);
    std::vector<float> table(kPeriod);
    const auto input = [](std::size_t i) { return static_cast<float>(i % kPeriod) * 0.01f; };
    for (std::size_t i = 0; i < kElements; ++i) source[i] = input(i);
    for (std::size_t i = 0; i < kPeriod; ++i) table[i] = chain(input(i));
    const Buffer buffers[2] = {makeBuffer(), makeBuffer()};

    poison(buffers, result);
    oneBuffer(buffers[0], source.data(), result.data());
    require("one buffer", result, table);
    poison(buffers, result);
    twoBuffers(buffers, source.data(), result.data());
    require("two buffers", result, table);

    reportStages(buffers[0], source.data(), result.data());
    reportVersions(buffers, source.data(), result.data());
    for (const Buffer& buffer : buffers) freeBuffer(buffer);
    return EXIT_SUCCESS;
}
