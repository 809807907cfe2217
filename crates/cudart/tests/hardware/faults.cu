// What calls return after a kernel faulted, and when what kernels print appears; one case a run, by name.
//
// `faults.h200.txt` has the cases with their names, as they ran on an NVIDIA H200 with driver 580.159.04, built
// by nvcc 13.0.88 with `nvcc -std=c++17 -O3 -arch=sm_90`, on 2026-12-01; the case `noimage` was built with
// `-gencode arch=compute_100,code=compute_100`.

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CALL(expression)                                                            \
    do {                                                                            \
        cudaError_t returned = (expression);                                        \
        std::printf("%s: %d, last %d\n", #expression, returned, cudaGetLastError()); \
    } while (0)

__global__ void nothing() {}
__global__ void wild() { *reinterpret_cast<volatile int *>(8) = 1; }
__global__ void misaligned(char *p) { *reinterpret_cast<volatile int *>(p + 1) = 1; }
__global__ void trapped() { __trap(); }
__global__ void hello(int number) { printf("from the device: %d\n", number); }
__device__ int variable[4];

static void after()
{
    int value = 0;
    size_t bytes = 0;
    void *p = nullptr;
    cudaEvent_t event;
    cudaStream_t stream;
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    cudaPointerAttributes kind;
    std::printf("launched: %d\n", cudaGetLastError());
    std::printf("synchronised: %d\n", cudaDeviceSynchronize());
    std::printf("got: %d\n", cudaGetLastError());
    std::printf("got: %d\n", cudaGetLastError());
    CALL(cudaMalloc(&p, 4));
    CALL(cudaGetDevice(&value));
    CALL(cudaSetDevice(0));
    CALL(cudaGetDeviceCount(&value));
    CALL(cudaGetDeviceProperties(&properties, 0));
    CALL(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    CALL(cudaDriverGetVersion(&value));
    CALL(cudaRuntimeGetVersion(&value));
    CALL(cudaMemGetInfo(&bytes, &bytes));
    CALL(cudaEventCreate(&event));
    CALL(cudaStreamCreate(&stream));
    CALL(cudaStreamSynchronize(0));
    CALL(cudaStreamQuery(0));
    CALL(cudaFree(0));
    CALL(cudaMallocHost(&p, 4));
    CALL(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    CALL(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferL1));
    CALL(cudaFuncGetAttributes(&attributes, nothing));
    CALL(cudaPointerGetAttributes(&kind, &bytes));
    nothing<<<1, 1>>>();
    std::printf("launched: %d\n", cudaGetLastError());
    nothing<<<1, 0>>>();
    std::printf("launched: %d\n", cudaGetLastError());
    CALL(cudaDeviceReset());
    CALL(cudaMalloc(&p, 4));
    CALL(cudaDeviceSynchronize());
}

static void no_image()
{
    int word[4] = {}, blocks = 0;
    void *p = nullptr;
    cudaFuncAttributes attributes;
    nothing<<<1, 1>>>();
    std::printf("launched: %d\n", cudaGetLastError());
    CALL(cudaDeviceSynchronize());
    CALL(cudaFuncGetAttributes(&attributes, nothing));
    CALL(cudaMemcpyToSymbol(variable, word, 16));
    CALL(cudaGetSymbolAddress(&p, variable));
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, 0));
    CALL(cudaMalloc(&p, 4));
    CALL(cudaFree(p));
}

static void order()
{
    int *p = nullptr, word = 0;
    cudaEvent_t event;
    cudaMalloc(&p, 4);
    cudaMemset(p, 0, 4);
    cudaEventCreate(&event);
    std::printf("a\n");
    hello<<<1, 1>>>(1);
    std::printf("b\n");
    cudaDeviceSynchronize();
    std::printf("c\n");
    hello<<<1, 1>>>(2);
    cudaEventRecord(event);
    cudaEventSynchronize(event);
    std::printf("d\n");
    hello<<<1, 1>>>(3);
    cudaStreamSynchronize(0);
    std::printf("e\n");
    hello<<<1, 1>>>(4);
    std::printf("f\n");
    cudaMemcpy(&word, p, 4, cudaMemcpyDeviceToHost);
    std::printf("g\n");
    hello<<<1, 1>>>(5);
    cudaFree(p);
    std::printf("h\n");
    cudaDeviceSynchronize();
}

int main(int, char **arguments)
{
    const char *name = arguments[1];
    char *p = nullptr;
    if (!std::strcmp(name, "wild")) {
        wild<<<1, 1>>>();
        after();
    } else if (!std::strcmp(name, "misaligned")) {
        cudaMalloc(&p, 64);
        misaligned<<<1, 1>>>(p);
        after();
    } else if (!std::strcmp(name, "trapped")) {
        trapped<<<1, 1>>>();
        after();
    } else if (!std::strcmp(name, "noimage")) {
        no_image();
    } else if (!std::strcmp(name, "order")) {
        order();
    } else if (!std::strcmp(name, "unseen")) {
        hello<<<1, 1>>>(1);
        std::printf("main returns\n");
    } else if (!std::strcmp(name, "aborted")) {
        hello<<<1, 1>>>(1);
        cudaDeviceSynchronize();
        std::fflush(stdout);
        std::abort();
    } else if (!std::strcmp(name, "reset")) {
        hello<<<1, 1>>>(1);
        std::printf("before\n");
        cudaDeviceReset();
        std::printf("after\n");
    }
}
