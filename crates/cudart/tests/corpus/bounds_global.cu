// Accesses outside of what was allocated, in global memory.
//
// case: off_by_one_read  expect: bounds error at: @read1
// case: off_by_one_write  expect: bounds error at: @write1
// case: negative_index  expect: bounds error at: @negative
// case: null_pointer  expect: bounds error at: @null
// case: host_pointer  expect: bounds error at: @host
// case: use_after_free  expect: bounds error at: @freed
// case: size_in_elements_not_bytes  expect: bounds error at: @halfsize
// case: two_allocations_one_overrun  expect: bounds error at: @overrun
// case: index_from_data  expect: bounds error at: @gather
// case: index_from_data_checked  expect: clean
// case: unsigned_wrap  expect: bounds error at: @wrap
// case: int_overflow_index  expect: bounds error at: @overflow
// case: straddles_the_end  expect: bounds error at: @straddle
// case: interior_pointer  expect: clean
// case: last_byte  expect: clean
// case: device_array  expect: bounds error at: @devicearray
// case: heap_block  expect: bounds error at: @heap
// case: string_terminator_forgotten  expect: bounds error at: @string
// gap: heap_block  malloc on the device is not emulated
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
static std::vector<int> numbers(int n) {
    std::vector<int> v(n);
    for (int i = 0; i < n; i++) v[i] = i * 3;
    return v;
}

__global__ void sumWithNext(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + in[i + 1];  // @read1
}

static int case_off_by_one_read() {
    int *in = upload(numbers(500)), *out = zeros<int>(500);
    sumWithNext<<<4, 128>>>(in, out, 500);
    take(out, 500);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void writeLe(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i;  // @write1
}

static int case_off_by_one_write() {
    int* out = zeros<int>(500);
    writeLe<<<4, 128>>>(out, 500);
    take(out, 500);
    return verdict(true);
}

__global__ void shiftLeft(const int* in, int* out) {
    int i = threadIdx.x;
    out[i] = in[i - 2];  // @negative
}

static int case_negative_index() {
    int *in = upload(numbers(64)), *out = zeros<int>(64);
    shiftLeft<<<1, 64>>>(in, out);
    take(out, 64);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void store(int* p, int v) {
    p[threadIdx.x] = v;  // @null
}

static int case_null_pointer() {
    store<<<1, 32>>>(nullptr, 5);
    return verdict(cudaDeviceSynchronize() != cudaSuccess);
}

__global__ void storeHost(int* p, int v) {
    p[threadIdx.x] = v;  // @host
}

static int case_host_pointer() {
    static int array[32];
    storeHost<<<1, 32>>>(array, 5);
    return verdict(cudaDeviceSynchronize() != cudaSuccess);
}

__global__ void increment(int* p) {
    p[threadIdx.x] += 1;  // @freed
}

static int case_use_after_free() {
    int* p = zeros<int>(32);
    increment<<<1, 32>>>(p);
    CHECK(cudaFree(p));
    increment<<<1, 32>>>(p);
    return verdict(cudaDeviceSynchronize() != cudaSuccess);
}

__global__ void fillAll(double* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = i * 0.5;  // @halfsize
}

static int case_size_in_elements_not_bytes() {
    const int n = 256;
    double* p;
    CHECK(cudaMalloc(&p, n));  // n * sizeof(double) was meant
    fillAll<<<2, 128>>>(p, n);
    bool seen = cudaDeviceSynchronize() != cudaSuccess;
    return verdict(seen);
}

// The overrun may well land in the other array on a real device.
__global__ void fillTwo(int* a, int* b, int n) {
    int i = threadIdx.x;
    a[i] = i;  // @overrun
    if (i < n) b[i] = -i;
}

static int case_two_allocations_one_overrun() {
    int *a = zeros<int>(100), *b = zeros<int>(100);
    fillTwo<<<1, 128>>>(a, b, 100);
    take(a, 100);
    take(b, 100);
    return verdict(true);
}

template <bool Check> __global__ void gather(const int* index, const int* in, int* out, int n) {
    int i = threadIdx.x, k = index[i];
    if (!Check || (k >= 0 && k < n)) out[i] = in[k];  // @gather
}

template <bool Check> static int runGather() {
    std::vector<int> index(64), h = numbers(64);
    for (int i = 0; i < 64; i++) index[i] = (i * 5) % 64;
    index[9] = 64;
    index[40] = -1;
    int *di = upload(index), *in = upload(h), *out = zeros<int>(64);
    gather<Check><<<1, 64>>>(di, in, out, 64);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(di));
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) {
        good = good && r[i] == (i == 9 || i == 40 ? 0 : h[index[i]]);
    }
    return verdict(good);
}

static int case_index_from_data() { return runGather<false>(); }
static int case_index_from_data_checked() { return runGather<true>(); }

__global__ void backwards(const int* in, int* out, unsigned n) {
    unsigned i = threadIdx.x;
    out[i] = in[n - 1 - 2 * i];  // @wrap
}

static int case_unsigned_wrap() {
    int *in = upload(numbers(64)), *out = zeros<int>(64);
    backwards<<<1, 64>>>(in, out, 64);
    take(out, 64);
    CHECK(cudaFree(in));
    return verdict(true);
}

// 50000 * 50000 doesn't fit an int.
__global__ void cell(const char* in, char* out, int row, int pitch) {
    out[threadIdx.x] = in[(int)((unsigned)row * (unsigned)pitch) + threadIdx.x];  // @overflow
}

static int case_int_overflow_index() {
    char *in = zeros<char>(1000), *out = zeros<char>(32);
    cell<<<1, 32>>>(in, out, 50000, 50000);
    take(out, 32);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void pairSums(const int* in, int* out, int n) {
    int i = threadIdx.x;
    if (2 * i < n) {
        int2 v = reinterpret_cast<const int2*>(in)[i];  // @straddle
        out[i] = v.x + v.y;
    }
}

static int case_straddles_the_end() {
    int *in = upload(numbers(63)), *out = zeros<int>(32);
    pairSums<<<1, 32>>>(in, out, 63);
    take(out, 32);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void around(const int* middle, int* out) {
    int d = (int)threadIdx.x - 32;
    out[threadIdx.x] = middle[d];
}

static int case_interior_pointer() {
    std::vector<int> h = numbers(200);
    int *in = upload(h), *out = zeros<int>(64);
    around<<<1, 64>>>(in + 100, out);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) good = good && r[i] == h[68 + i];
    return verdict(good);
}

__global__ void bytesBackwards(const char* in, char* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[n - 1 - i];
}

static int case_last_byte() {
    std::vector<char> h(1021);
    for (int i = 0; i < 1021; i++) h[i] = (char)(i * 7);
    char *in = upload(h), *out = zeros<char>(1021);
    bytesBackwards<<<1, 128>>>(in, out, 1021);
    std::vector<char> r = take(out, 1021);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 1021; i++) good = good && r[i] == h[1020 - i];
    return verdict(good);
}

__device__ int table[16];

__global__ void fillTable(int n) {
    if (threadIdx.x < n) table[threadIdx.x * 4096] = 1;  // @devicearray
}

static int case_device_array() {
    fillTable<<<1, 32>>>(20);
    return verdict(cudaDeviceSynchronize() != cudaSuccess);
}

__global__ void heapOverrun(int* out, int n) {
    int* v = (int*)malloc(n * sizeof(int));
    for (int k = 0; k <= n; k++) v[k] = k;  // @heap
    out[threadIdx.x] = v[threadIdx.x % n];
    free(v);
}

static int case_heap_block() {
    int* out = zeros<int>(4);
    heapOverrun<<<1, 4>>>(out, 10);
    take(out, 4);
    return verdict(true);
}

__global__ void lengths(const char* text, int* out) {
    int n = 0;
    while (text[n] != 0) n++;  // @string
    *out = n;
}

static int case_string_terminator_forgotten() {
    const char word[] = "kernel";
    std::vector<char> h(word, word + 6);
    char* text = upload(h);
    int* out = zeros<int>(1);
    lengths<<<1, 1>>>(text, out);
    take(out, 1);
    CHECK(cudaFree(text));
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"off_by_one_read", case_off_by_one_read},
    {"off_by_one_write", case_off_by_one_write},
    {"negative_index", case_negative_index},
    {"null_pointer", case_null_pointer},
    {"host_pointer", case_host_pointer},
    {"use_after_free", case_use_after_free},
    {"size_in_elements_not_bytes", case_size_in_elements_not_bytes},
    {"two_allocations_one_overrun", case_two_allocations_one_overrun},
    {"index_from_data", case_index_from_data},
    {"index_from_data_checked", case_index_from_data_checked},
    {"unsigned_wrap", case_unsigned_wrap},
    {"int_overflow_index", case_int_overflow_index},
    {"straddles_the_end", case_straddles_the_end},
    {"interior_pointer", case_interior_pointer},
    {"last_byte", case_last_byte},
    {"device_array", case_device_array},
    {"heap_block", case_heap_block},
    {"string_terminator_forgotten", case_string_terminator_forgotten},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
