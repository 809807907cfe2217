// Day @DAY@: @WORDS@. Each element of a vector is multiplied by one number.
//
// Build: nvcc -std=c++17 -O3 -arch=sm_75 -o @PROGRAM@ @PROGRAM@.cu
// Run:   ./@PROGRAM@
//
// Status: UNVERIFIED
//   no reviewed record of this code exists, so the page shows no output
//   `@CALLED@ status` says what is missing

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

// copy: common/cuda_check.cuh
@CUDA_CHECK@// end copy

constexpr int kElements = 1000003;  // no multiple of the block: the last block has threads to spare
constexpr int kThreads = 256;
constexpr int kBlocks = (kElements + kThreads - 1) / kThreads;
constexpr int kRuns = 10;
constexpr float kFactor = 3.0f;

// snippet: kernel
__global__ void scale(const float* in, float* out, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * factor;
}
// end snippet

void launch(const float* in, float* out) {
    scale<<<kBlocks, kThreads>>>(in, out, kElements, kFactor);
    CUDA_CHECK(cudaGetLastError());
}

// The mean time of a launch in milliseconds, after one that is not timed.
float meanMilliseconds(const float* in, float* out) {
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    launch(in, out);
    CUDA_CHECK(cudaEventRecord(start));
    for (int run = 0; run < kRuns; ++run) launch(in, out);
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float total = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&total, start, stop));
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    return total / kRuns;
}

// A NaN equals nothing, itself included, so an element that holds one is counted as wrong.
int countWrong(const std::vector<float>& in, const std::vector<float>& out) {
    int wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const bool right = out[i] == in[i] * kFactor;
        if (!right) ++wrong;
    }
    return wrong;
}

int main() {
    cudaDeviceProp device;
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("GPU: %s (compute capability %d.%d)\n", device.name, device.major, device.minor);

    // Small integers: their products are exact in a float, so results are equal or wrong.
    std::vector<float> in(kElements), out(kElements);
    for (int i = 0; i < kElements; ++i) in[i] = static_cast<float>(i % 1013);

    const std::size_t bytes = kElements * sizeof(float);
    float *deviceIn = nullptr, *deviceOut = nullptr;
    CUDA_CHECK(cudaMalloc(&deviceIn, bytes));
    CUDA_CHECK(cudaMalloc(&deviceOut, bytes));
    CUDA_CHECK(cudaMemcpy(deviceIn, in.data(), bytes, cudaMemcpyHostToDevice));
    // Bytes of 0xFF make a NaN of every float: a place that the kernel leaves out can't pass.
    CUDA_CHECK(cudaMemset(deviceOut, 0xFF, bytes));

    launch(deviceIn, deviceOut);
    CUDA_CHECK(cudaMemcpy(out.data(), deviceOut, bytes, cudaMemcpyDeviceToHost));
    const int wrong = countWrong(in, out);
    if (wrong != 0) {
        std::fprintf(stderr, "%d of %d elements are wrong\n", wrong, kElements);
        return EXIT_FAILURE;
    }
    const float mean = meanMilliseconds(deviceIn, deviceOut);

    std::printf("n = %d, %d blocks of %d threads, every element checked\n", kElements, kBlocks,
                kThreads);
    std::printf("scale: %.4f ms, mean of %d runs\n", mean, kRuns);
    CUDA_CHECK(cudaFree(deviceIn));
    CUDA_CHECK(cudaFree(deviceOut));
    return EXIT_SUCCESS;
}
