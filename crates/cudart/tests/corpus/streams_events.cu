// Streams, events, asynchronous copies, pinned memory, callbacks.
//
// case: two_streams_own_data  expect: clean
// case: stream_order  expect: clean
// case: event_orders_streams  expect: clean
// case: streams_unordered  expect: race error gpu at: @su1, @su2
// case: default_stream_orders  expect: clean
// case: nonblocking_not_ordered  expect: race error gpu at: @nb1, @nb2
// case: chunked_pipeline  expect: clean
// case: pinned_memory  expect: clean
// case: host_register  expect: clean
// case: event_timing  expect: clean
// case: host_function  expect: clean
// case: stream_priorities  expect: clean
// case: no_synchronize_before_memcpy  expect: clean
// case: async_memset  expect: clean
// case: malloc_async  expect: clean
// gap: streams_unordered  all streams run in the order of the program
// gap: nonblocking_not_ordered  all streams run in the order of the program
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
__global__ void addTo(int* p, int n, int v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += v;
}

__global__ void copyPlus(const int* in, int* out, int n, int v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + v;
}

static bool all(const std::vector<int>& v, int x) {
    for (int y : v) {
        if (y != x) return false;
    }
    return true;
}

static int case_two_streams_own_data() {
    cudaStream_t s[2];
    int* d[2];
    for (int k = 0; k < 2; k++) {
        CHECK(cudaStreamCreate(&s[k]));
        d[k] = zeros<int>(500);
    }
    CHECK(cudaDeviceSynchronize());
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 2; k++) addTo<<<4, 128, 0, s[k]>>>(d[k], 500, k + 1);
    }
    for (int k = 0; k < 2; k++) CHECK(cudaStreamSynchronize(s[k]));
    bool good = all(take(d[0], 500), 3);
    good = all(take(d[1], 500), 6) && good;
    for (int k = 0; k < 2; k++) CHECK(cudaStreamDestroy(s[k]));
    return verdict(good);
}

static int case_stream_order() {
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    int *a = zeros<int>(300), *b = zeros<int>(300);
    CHECK(cudaDeviceSynchronize());
    addTo<<<3, 128, 0, s>>>(a, 300, 5);
    copyPlus<<<3, 128, 0, s>>>(a, b, 300, 1);
    addTo<<<3, 128, 0, s>>>(b, 300, 10);
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(a));
    return verdict(all(take(b, 300), 16));
}

static int case_event_orders_streams() {
    cudaStream_t s, t;
    cudaEvent_t e;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    int *a = zeros<int>(300), *b = zeros<int>(300);
    CHECK(cudaDeviceSynchronize());
    addTo<<<3, 128, 0, s>>>(a, 300, 5);
    CHECK(cudaEventRecord(e, s));
    CHECK(cudaStreamWaitEvent(t, e, 0));
    copyPlus<<<3, 128, 0, t>>>(a, b, 300, 1);
    CHECK(cudaStreamSynchronize(t));
    CHECK(cudaEventDestroy(e));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaStreamDestroy(t));
    CHECK(cudaFree(a));
    return verdict(all(take(b, 300), 6));
}

__global__ void writeAll(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = i;  // @su1
}
__global__ void doubleAll(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = 2 * p[i] + 1;  // @su2
}

static int case_streams_unordered() {
    cudaStream_t s, t;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&t));
    int* d = zeros<int>(300);
    CHECK(cudaDeviceSynchronize());
    writeAll<<<3, 128, 0, s>>>(d, 300);
    doubleAll<<<3, 128, 0, t>>>(d, 300);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaStreamDestroy(t));
    take(d, 300);
    return verdict(true);
}

// The default stream waits for ordinary streams, and they for it.
static int case_default_stream_orders() {
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    int *a = zeros<int>(300), *b = zeros<int>(300);
    addTo<<<3, 128, 0, s>>>(a, 300, 5);
    copyPlus<<<3, 128>>>(a, b, 300, 1);
    addTo<<<3, 128, 0, s>>>(b, 300, 10);
    std::vector<int> r = take(b, 300);
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(a));
    return verdict(all(r, 16));
}

__global__ void fillLater(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = i + 7;  // @nb1
}
__global__ void sumUp(const int* p, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, p[i]);  // @nb2
}

// A non-blocking stream isn't ordered with the default stream.
static int case_nonblocking_not_ordered() {
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    int *d = zeros<int>(300), *out = zeros<int>(1);
    CHECK(cudaDeviceSynchronize());
    fillLater<<<3, 128, 0, s>>>(d, 300);
    sumUp<<<3, 128>>>(d, out, 300);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(s));
    take(out, 1);
    CHECK(cudaFree(d));
    return verdict(true);
}

static int case_chunked_pipeline() {
    const int chunks = 4, size = 256, n = chunks * size;
    int *h, *d, *o;
    cudaStream_t s[2];
    CHECK(cudaMallocHost(&h, 2 * n * sizeof(int)));
    o = h + n;
    CHECK(cudaMalloc(&d, n * sizeof(int)));
    for (int i = 0; i < n; i++) h[i] = i;
    for (auto& stream : s) CHECK(cudaStreamCreate(&stream));
    for (int c = 0; c < chunks; c++) {
        cudaStream_t stream = s[c % 2];
        int at = c * size;
        CHECK(cudaMemcpyAsync(d + at, h + at, size * 4, cudaMemcpyHostToDevice, stream));
        addTo<<<size / 64, 64, 0, stream>>>(d + at, size, 1000);
        CHECK(cudaMemcpyAsync(o + at, d + at, size * 4, cudaMemcpyDeviceToHost, stream));
    }
    for (auto& stream : s) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamDestroy(stream));
    }
    bool good = true;
    for (int i = 0; i < n; i++) good = good && o[i] == i + 1000;
    CHECK(cudaFree(d));
    CHECK(cudaFreeHost(h));
    return verdict(good);
}

// Pinned memory that the device reads and writes itself.
static int case_pinned_memory() {
    int *h, *view;
    CHECK(cudaHostAlloc(&h, 200 * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < 200; i++) h[i] = 3 * i;
    CHECK(cudaHostGetDevicePointer(&view, h, 0));
    addTo<<<2, 128>>>(view, 200, 4);
    CHECK(cudaDeviceSynchronize());
    bool good = true;
    for (int i = 0; i < 200; i++) good = good && h[i] == 3 * i + 4;
    CHECK(cudaFreeHost(h));
    return verdict(good);
}

static int case_host_register() {
    std::vector<int> h(1024, 5);
    CHECK(cudaHostRegister(h.data(), h.size() * sizeof(int), cudaHostRegisterDefault));
    int* d = zeros<int>(1024);
    CHECK(cudaMemcpyAsync(d, h.data(), 4096, cudaMemcpyHostToDevice, 0));
    addTo<<<8, 128>>>(d, 1024, 2);
    CHECK(cudaMemcpyAsync(h.data(), d, 4096, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    CHECK(cudaHostUnregister(h.data()));
    CHECK(cudaFree(d));
    return verdict(all(h, 7));
}

// How long it takes is anybody's guess; that it isn't negative is not.
static int case_event_timing() {
    cudaEvent_t start, stop;
    float ms = -1.0f;
    int* d = zeros<int>(1024);
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start));
    for (int k = 0; k < 5; k++) addTo<<<8, 128>>>(d, 1024, 1);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return verdict(all(take(d, 1024), 5) && ms >= 0.0f);
}

static void CUDART_CB note(void* argument) { *static_cast<int*>(argument) += 100; }

static int case_host_function() {
    cudaStream_t s;
    int noted = 5;
    CHECK(cudaStreamCreate(&s));
    int* d = zeros<int>(64);
    addTo<<<1, 64, 0, s>>>(d, 64, 1);
    CHECK(cudaLaunchHostFunc(s, note, &noted));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamDestroy(s));
    return verdict(all(take(d, 64), 1) && noted == 105);
}

static int case_stream_priorities() {
    int low, high;
    cudaStream_t s;
    CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
    CHECK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, high));
    int* d = zeros<int>(64);
    CHECK(cudaDeviceSynchronize());
    addTo<<<1, 64, 0, s>>>(d, 64, 3);
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamDestroy(s));
    return verdict(all(take(d, 64), 3) && high <= low);
}

// cudaMemcpy waits for the kernel by itself.
static int case_no_synchronize_before_memcpy() {
    int *d, h[64];
    CHECK(cudaMalloc(&d, sizeof(h)));
    CHECK(cudaMemset(d, 0, sizeof(h)));
    addTo<<<1, 64>>>(d, 64, 8);
    CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    return verdict(h[0] == 8 && h[63] == 8);
}

static int case_async_memset() {
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    int* d;
    CHECK(cudaMalloc(&d, 400));
    CHECK(cudaMemsetAsync(d, 0xff, 400, s));
    addTo<<<1, 100, 0, s>>>(d, 100, 1);
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamDestroy(s));
    return verdict(all(take(d, 100), 0));
}

static int case_malloc_async() {
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    int *d, h[100];
    CHECK(cudaMallocAsync(&d, sizeof(h), s));
    CHECK(cudaMemsetAsync(d, 0, sizeof(h), s));
    addTo<<<1, 100, 0, s>>>(d, 100, 9);
    CHECK(cudaMemcpyAsync(h, d, sizeof(h), cudaMemcpyDeviceToHost, s));
    CHECK(cudaFreeAsync(d, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamDestroy(s));
    return verdict(h[0] == 9 && h[99] == 9);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"two_streams_own_data", case_two_streams_own_data},
    {"stream_order", case_stream_order},
    {"event_orders_streams", case_event_orders_streams},
    {"streams_unordered", case_streams_unordered},
    {"default_stream_orders", case_default_stream_orders},
    {"nonblocking_not_ordered", case_nonblocking_not_ordered},
    {"chunked_pipeline", case_chunked_pipeline},
    {"pinned_memory", case_pinned_memory},
    {"host_register", case_host_register},
    {"event_timing", case_event_timing},
    {"host_function", case_host_function},
    {"stream_priorities", case_stream_priorities},
    {"no_synchronize_before_memcpy", case_no_synchronize_before_memcpy},
    {"async_memset", case_async_memset},
    {"malloc_async", case_malloc_async},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
