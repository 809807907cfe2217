// printf and assert on the device, and traps.
//
// case: print_one  expect: clean
// case: print_formats  expect: clean
// case: print_all_threads  expect: clean
// case: print_conditionally  expect: clean
// case: print_from_function  expect: clean
// case: print_returns_count  expect: clean
// case: assert_holds  expect: clean
// case: assert_fails  expect: api error
// case: trap  expect: api error
#include <cassert>
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
__global__ void hello() { printf("hello from block %d thread %d\n", blockIdx.x, threadIdx.x); }

static int case_print_one() {
    hello<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    return verdict(true);
}

__global__ void formats(const char* unused) {
    printf("%d %5d|%-5d|%05d %u %x %X %o %c %%\n", -7, 42, 42, 42, 4000000000u, 255, 255, 8, 'z');
    printf("%f %.2f %10.3f %e %g %s\n", 1.5, 3.14159, -2.0, 12345.678, 0.0001, "text");
    printf("%lld %llu %lx %hd %hhu\n", -(1ll << 40), 1ull << 63, 0xabcdef012345ul, (short)-3,
           (unsigned char)200);
    printf("%*d|%.*f\n", 8, 99, 3, 2.0f / 3);
    printf("no arguments\n");
}

static int case_print_formats() {
    formats<<<1, 1>>>(nullptr);
    CHECK(cudaDeviceSynchronize());
    return verdict(true);
}

static int case_print_all_threads() {
    hello<<<2, 33>>>();
    CHECK(cudaDeviceSynchronize());
    return verdict(true);
}

__global__ void negatives(const int* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && v[i] < 0) printf("element %d is %d\n", i, v[i]);
}

static int case_print_conditionally() {
    std::vector<int> h(100, 1);
    h[17] = -4;
    h[80] = -5;
    int* d = upload(h);
    negatives<<<1, 128>>>(d, 100);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d));
    return verdict(true);
}

__device__ __noinline__ void show(const char* name, float value) { printf("%s = %g\n", name, value); }

__global__ void shows(float x) {
    show("x", x);
    show("half of x", x / 2);
}

static int case_print_from_function() {
    shows<<<1, 1>>>(3.5f);
    CHECK(cudaDeviceSynchronize());
    return verdict(true);
}

// The device's printf returns how many arguments it took.
__global__ void counts(int* out) {
    out[0] = printf("one %d\n", 1);
    out[1] = printf("three %d %f %s\n", 1, 2.0, "x");
    out[2] = printf("none\n");
}

static int case_print_returns_count() {
    int* out = zeros<int>(3);
    counts<<<1, 1>>>(out);
    return verdict(take(out, 3) == std::vector<int>({1, 3, 0}));
}

__global__ void checked(const int* v, int* out, int limit) {
    int i = threadIdx.x;
    assert(v[i] < limit);
    out[i] = v[i] + 1;
}

static int runAssert(int limit, cudaError_t want) {
    std::vector<int> h(64);
    for (int i = 0; i < 64; i++) h[i] = i;
    int *d = upload(h), *out = zeros<int>(64);
    checked<<<1, 64>>>(d, out, limit);
    cudaError_t got = cudaDeviceSynchronize();
    if (got == cudaSuccess) {
        CHECK(cudaFree(d));
        CHECK(cudaFree(out));
    }
    return verdict(got == want, cudaGetErrorName(got));
}

static int case_assert_holds() { return runAssert(64, cudaSuccess); }
static int case_assert_fails() { return runAssert(40, cudaErrorAssert); }

__global__ void traps(int x) {
    if (threadIdx.x == (unsigned)x) __trap();
}

static int case_trap() {
    traps<<<1, 32>>>(7);
    cudaError_t got = cudaDeviceSynchronize();
    return verdict(got == cudaErrorLaunchFailure || got == cudaErrorIllegalInstruction,
                   cudaGetErrorName(got));
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"print_one", case_print_one},
    {"print_formats", case_print_formats},
    {"print_all_threads", case_print_all_threads},
    {"print_conditionally", case_print_conditionally},
    {"print_from_function", case_print_from_function},
    {"print_returns_count", case_print_returns_count},
    {"assert_holds", case_assert_holds},
    {"assert_fails", case_assert_fails},
    {"trap", case_trap},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
