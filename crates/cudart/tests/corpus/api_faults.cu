// Wrong calls of the runtime: refused, reported, sticky.
//
// case: too_many_threads  expect: api error
// case: zero_blocks  expect: api error
// case: grid_y_too_large  expect: api error
// case: too_much_shared_memory  expect: api error
// case: copy_larger_than_allocation  expect: api error
// case: copy_to_host_from_host_pointer  expect: api error
// case: double_free  expect: api error
// case: free_inside_allocation  expect: api error
// case: copy_after_free  expect: api error
// case: memset_past_end  expect: api error
// case: out_of_memory  expect: api error
// case: symbol_copy_too_large  expect: api error
// case: unknown_device  expect: api error
// case: event_elapsed_unrecorded  expect: api error
// case: leak_one  expect: leak warning
// case: leak_on_early_return  expect: leak warning
// case: sticky_after_fault  expect: bounds error at: @sticky
// case: last_error_is_cleared  expect: api error
// case: peek_keeps_error  expect: api error
// case: free_null  expect: clean
// case: query_not_ready_is_no_error  expect: clean
// case: every_call_checked  expect: clean
// case: exit_code_3  expect: exit 3
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status_ = (call);                                                \
        if (status_ != cudaSuccess) {                                                \
            printf("wrong: line %d: %s\n", __LINE__, cudaGetErrorString(status_));   \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

static int verdict(bool good, const char* what = "result") {
    if (good) {
        printf("ok\n");
    } else {
        printf("wrong: %s\n", what);
    }
    return good ? 0 : 1;
}
__global__ void fill(int* p, int n, int v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = v;
}

// The launch is refused, and the array stays as it was.
static int refused(dim3 grid, dim3 block, size_t shared, cudaError_t want) {
    int *d, h = 0;
    CHECK(cudaMalloc(&d, sizeof(int)));
    CHECK(cudaMemset(d, 0, sizeof(int)));
    fill<<<grid, block, shared>>>(d, 1, 5);
    cudaError_t got = cudaGetLastError();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&h, d, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    return verdict(got == want && h == 0, cudaGetErrorName(got));
}

static int case_too_many_threads() { return refused(1, 2048, 0, cudaErrorInvalidConfiguration); }
static int case_zero_blocks() { return refused(0, 32, 0, cudaErrorInvalidConfiguration); }
static int case_grid_y_too_large() {
    return refused(dim3(1, 70000), 32, 0, cudaErrorInvalidConfiguration);
}
static int case_too_much_shared_memory() {
    return refused(1, 32, 1 << 20, cudaErrorInvalidValue);
}

static int case_copy_larger_than_allocation() {
    int *d, h[200] = {};
    CHECK(cudaMalloc(&d, 100 * sizeof(int)));
    cudaError_t got = cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
    bool good = got == cudaErrorInvalidValue;
    CHECK(cudaFree(d));
    return verdict(good, cudaGetErrorName(got));
}

static int case_copy_to_host_from_host_pointer() {
    static int source[32], target[32];
    cudaError_t got = cudaMemcpy(target, source, sizeof(source), cudaMemcpyDeviceToHost);
    return verdict(got == cudaErrorInvalidValue, cudaGetErrorName(got));
}

static int case_double_free() {
    int* d;
    CHECK(cudaMalloc(&d, 400));
    CHECK(cudaFree(d));
    cudaError_t got = cudaFree(d);
    return verdict(got == cudaErrorInvalidValue, cudaGetErrorName(got));
}

static int case_free_inside_allocation() {
    int* d;
    CHECK(cudaMalloc(&d, 400));
    cudaError_t got = cudaFree(d + 10);
    CHECK(cudaFree(d));
    return verdict(got == cudaErrorInvalidValue, cudaGetErrorName(got));
}

static int case_copy_after_free() {
    int *d, h[10] = {};
    CHECK(cudaMalloc(&d, sizeof(h)));
    CHECK(cudaMemset(d, 0, sizeof(h)));
    CHECK(cudaFree(d));
    cudaError_t got = cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    return verdict(got == cudaErrorInvalidValue, cudaGetErrorName(got));
}

static int case_memset_past_end() {
    char* d;
    CHECK(cudaMalloc(&d, 1000));
    cudaError_t got = cudaMemset(d, 0, 1001);
    CHECK(cudaFree(d));
    return verdict(got == cudaErrorInvalidValue, cudaGetErrorName(got));
}

static int case_out_of_memory() {
    void* d = nullptr;
    cudaError_t got = cudaMalloc(&d, (size_t)1 << 46);
    return verdict(got == cudaErrorMemoryAllocation && cudaGetLastError() == got,
                   cudaGetErrorName(got));
}

__device__ int four[4];

static int case_symbol_copy_too_large() {
    int h[5] = {};
    cudaError_t got = cudaMemcpyToSymbol(four, h, sizeof(h));
    return verdict(got == cudaErrorInvalidValue, cudaGetErrorName(got));
}

static int case_unknown_device() {
    cudaDeviceProp prop;
    cudaError_t a = cudaSetDevice(99), b = cudaGetDeviceProperties(&prop, -1);
    int* d;
    CHECK((cudaGetLastError(), cudaMalloc(&d, 16)));
    CHECK(cudaFree(d));
    return verdict(a == cudaErrorInvalidDevice && b == cudaErrorInvalidDevice,
                   cudaGetErrorName(a));
}

static int case_event_elapsed_unrecorded() {
    cudaEvent_t a, b;
    float ms;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    cudaError_t got = cudaEventElapsedTime(&ms, a, b);
    CHECK(cudaEventDestroy(a));
    CHECK(cudaEventDestroy(b));
    return verdict(got == cudaErrorInvalidResourceHandle, cudaGetErrorName(got));
}

static int case_leak_one() {
    int *kept, *lost;
    CHECK(cudaMalloc(&kept, 1000));
    CHECK(cudaMalloc(&lost, 2000));
    fill<<<2, 128>>>(lost, 250, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(kept));
    return verdict(true);
}

static int process(int n) {
    int* d;
    if (cudaMalloc(&d, n * sizeof(int)) != cudaSuccess) return 1;
    fill<<<1, 32>>>(d, n, 1);
    if (n > 20) return 0;  // here it is forgotten
    return cudaFree(d) == cudaSuccess ? 0 : 1;
}

static int case_leak_on_early_return() {
    bool good = process(10) == 0 && process(30) == 0 && process(15) == 0;
    CHECK(cudaDeviceSynchronize());
    return verdict(good);
}

__global__ void outside(int* p) {
    p[1000000 + threadIdx.x] = 1;  // @sticky
}

// After an illegal access each call fails, and clearing the error doesn't help.
static int case_sticky_after_fault() {
    int *d, *e, h;
    CHECK(cudaMalloc(&d, 64));
    outside<<<1, 32>>>(d);
    cudaError_t sync = cudaDeviceSynchronize();
    cudaGetLastError();
    cudaError_t copy = cudaMemcpy(&h, d, sizeof(h), cudaMemcpyDeviceToHost);
    cudaError_t more = cudaMalloc(&e, 64);
    bool good = sync == cudaErrorIllegalAddress && copy == sync && more == sync;
    return verdict(good, cudaGetErrorName(more));
}

// An error that isn't sticky is told once.
static int case_last_error_is_cleared() {
    int* d;
    CHECK(cudaMalloc(&d, 64));
    fill<<<1, 5000>>>(d, 16, 1);
    cudaError_t first = cudaGetLastError(), second = cudaGetLastError();
    fill<<<1, 16>>>(d, 16, 7);
    CHECK(cudaGetLastError());
    int h[16];
    CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    return verdict(first == cudaErrorInvalidConfiguration && second == cudaSuccess && h[15] == 7);
}

static int case_peek_keeps_error() {
    fill<<<1, 5000>>>(nullptr, 0, 1);
    cudaError_t a = cudaPeekAtLastError(), b = cudaPeekAtLastError(), c = cudaGetLastError();
    cudaError_t d = cudaPeekAtLastError();
    bool good = a == cudaErrorInvalidConfiguration && a == b && b == c && d == cudaSuccess;
    return verdict(good && strcmp(cudaGetErrorName(a), "cudaErrorInvalidConfiguration") == 0);
}

static int case_free_null() {
    CHECK(cudaFree(nullptr));
    CHECK(cudaFree(0));
    CHECK(cudaFreeHost(nullptr));
    return verdict(cudaGetLastError() == cudaSuccess);
}

static int case_query_not_ready_is_no_error() {
    cudaStream_t s;
    cudaEvent_t e;
    int* d;
    CHECK(cudaMalloc(&d, 4096));
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaEventCreate(&e));
    fill<<<4, 256, 0, s>>>(d, 1024, 1);
    CHECK(cudaEventRecord(e, s));
    cudaError_t q;
    while ((q = cudaEventQuery(e)) == cudaErrorNotReady) {
    }
    CHECK(q);
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamQuery(s));
    CHECK(cudaEventDestroy(e));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(d));
    return verdict(true);
}

static int case_every_call_checked() {
    int *d, h[100], count = 0, device = -1;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaMalloc(&d, sizeof(h)));
    fill<<<1, 128>>>(d, 100, 6);
    CHECK(cudaPeekAtLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    CHECK(cudaDeviceReset());
    return verdict(count >= 1 && device == 0 && h[0] == 6 && h[99] == 6);
}

static int case_exit_code_3() {
    int* d;
    CHECK(cudaMalloc(&d, 400));
    fill<<<1, 128>>>(d, 100, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d));
    printf("leaving with 3\n");
    return 3;
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"too_many_threads", case_too_many_threads},
    {"zero_blocks", case_zero_blocks},
    {"grid_y_too_large", case_grid_y_too_large},
    {"too_much_shared_memory", case_too_much_shared_memory},
    {"copy_larger_than_allocation", case_copy_larger_than_allocation},
    {"copy_to_host_from_host_pointer", case_copy_to_host_from_host_pointer},
    {"double_free", case_double_free},
    {"free_inside_allocation", case_free_inside_allocation},
    {"copy_after_free", case_copy_after_free},
    {"memset_past_end", case_memset_past_end},
    {"out_of_memory", case_out_of_memory},
    {"symbol_copy_too_large", case_symbol_copy_too_large},
    {"unknown_device", case_unknown_device},
    {"event_elapsed_unrecorded", case_event_elapsed_unrecorded},
    {"leak_one", case_leak_one},
    {"leak_on_early_return", case_leak_on_early_return},
    {"sticky_after_fault", case_sticky_after_fault},
    {"last_error_is_cleared", case_last_error_is_cleared},
    {"peek_keeps_error", case_peek_keeps_error},
    {"free_null", case_free_null},
    {"query_not_ready_is_no_error", case_query_not_ready_is_no_error},
    {"every_call_checked", case_every_call_checked},
    {"exit_code_3", case_exit_code_3},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
