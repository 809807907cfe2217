// Memory that was never written: what only travels, what decides something, what is copied back.
//
// case: branch_on_unwritten  expect: uninitialised error at: @branch
// case: index_from_unwritten  expect: uninitialised error at: @index
// case: copied_to_host  expect: uninitialised error at: @sum
// case: only_travels  expect: uninitialised warning at: @travel
// case: shared_read_before_write  expect: uninitialised error at: @shared, @sharedout
// case: shared_tail_not_filled  expect: uninitialised error at: @tail, @tailout
// case: shared_tail_filled  expect: clean
// case: half_initialised_by_memset  expect: uninitialised error at: @half
// case: wholly_initialised_by_memset  expect: clean
// case: initialised_by_kernel  expect: clean
// case: initialised_by_device_copy  expect: clean
// case: copy_2d_leaves_padding  expect: clean
// case: accumulator_not_zeroed  expect: uninitialised error at: @acc
// case: accumulator_zeroed  expect: clean
// case: reused_after_free  expect: uninitialised error at: @stale
// case: partial_struct  expect: uninitialised error at: @member
// case: dynamic_shared_unwritten  expect: uninitialised error at: @dynamic
// case: masked_lanes_skip_unwritten  expect: clean
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
template <class T> static T* unwritten(size_t count) {
    T* d = nullptr;
    CHECK(cudaMalloc(&d, count * sizeof(T)));
    return d;
}

__global__ void decide(const int* in, int* out) {
    int i = threadIdx.x;
    if (in[i] > 100) out[i] = atomicAdd(&out[64], 1);  // @branch
}

static int case_branch_on_unwritten() {
    int *in = unwritten<int>(64), *out = zeros<int>(65);
    decide<<<1, 64>>>(in, out);
    take(out, 65);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void lookUp(const unsigned char* index, const int* table, int* out) {
    out[threadIdx.x] = table[index[threadIdx.x]];  // @index
}

static int case_index_from_unwritten() {
    unsigned char* index = unwritten<unsigned char>(64);
    int *table = zeros<int>(256), *out = zeros<int>(64);
    lookUp<<<1, 64>>>(index, table, out);
    take(out, 64);
    CHECK(cudaFree(index));
    CHECK(cudaFree(table));
    return verdict(true);
}

__global__ void sums(const float* a, const float* b, float* c) {
    c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];  // @sum
}

static int case_copied_to_host() {
    float *a = zeros<float>(64), *b = unwritten<float>(64), *c = zeros<float>(64);
    sums<<<1, 64>>>(a, b, c);
    take(c, 64);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return verdict(true);
}

__global__ void move(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x];  // @travel
}

static int case_only_travels() {
    int *in = unwritten<int>(64), *out = unwritten<int>(64);
    move<<<1, 64>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return verdict(true);
}

__global__ void maxOfShared(const int* in, int* out) {
    __shared__ int best;
    // best = 0 by one thread and a barrier are missing here
    atomicMax(&best, in[threadIdx.x]);  // @shared
    __syncthreads();
    if (threadIdx.x == 0) *out = best;  // @sharedout
}

static int case_shared_read_before_write() {
    int *in = zeros<int>(64), *out = zeros<int>(1);
    maxOfShared<<<1, 64>>>(in, out);
    take(out, 1);
    CHECK(cudaFree(in));
    return verdict(true);
}

// The last block has 44 elements; the tree adds 64 all the same.
template <bool Fill> __global__ void blockSums(const int* in, int* out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i < n) {
        s[t] = in[i];
    } else if (Fill) {
        s[t] = 0;
    }
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];  // @tail
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];  // @tailout
}

template <bool Fill> static int runBlockSums() {
    std::vector<int> h(300, 2);
    int *in = upload(h), *out = zeros<int>(5);
    blockSums<Fill><<<5, 64>>>(in, out, 300);
    std::vector<int> r = take(out, 5);
    CHECK(cudaFree(in));
    return verdict(!Fill || r == std::vector<int>({128, 128, 128, 128, 88}));
}

static int case_shared_tail_not_filled() { return runBlockSums<false>(); }
static int case_shared_tail_filled() { return runBlockSums<true>(); }

__global__ void count(const int* in, int* out) {
    if (in[threadIdx.x] == 0) atomicAdd(out, 1);  // @half
}

static int runMemset(size_t bytes) {
    int *in = unwritten<int>(64), *out = zeros<int>(1);
    CHECK(cudaMemset(in, 0, bytes));
    count<<<1, 64>>>(in, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(in));
    return verdict(bytes < 256 || got == 64);
}

static int case_half_initialised_by_memset() { return runMemset(64); }
static int case_wholly_initialised_by_memset() { return runMemset(64 * sizeof(int)); }

__global__ void fill(int* p) { p[threadIdx.x] = 0; }

static int case_initialised_by_kernel() {
    int *in = unwritten<int>(64), *out = zeros<int>(1);
    fill<<<1, 64>>>(in);
    count<<<1, 64>>>(in, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(in));
    return verdict(got == 64);
}

static int case_initialised_by_device_copy() {
    int *a = zeros<int>(64), *b = unwritten<int>(64), *out = zeros<int>(1);
    CHECK(cudaMemcpy(b, a, 64 * sizeof(int), cudaMemcpyDeviceToDevice));
    count<<<1, 64>>>(b, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return verdict(got == 64);
}

// Rows of 48 in a pitch of 64: the padding is never written, never copied, never read.
__global__ void rowSums(const int* m, int* out) {
    int sum = 0;
    for (int k = 0; k < 48; k++) sum += m[threadIdx.x * 64 + k];
    out[threadIdx.x] = sum;
}

__global__ void fillRows(int* m) { m[blockIdx.x * 64 + threadIdx.x] = threadIdx.x; }

static int case_copy_2d_leaves_padding() {
    int *a = unwritten<int>(32 * 64), *b = unwritten<int>(32 * 64), *out = zeros<int>(32);
    fillRows<<<32, 48>>>(a);
    CHECK(cudaMemcpy2D(b, 256, a, 256, 48 * sizeof(int), 32, cudaMemcpyDeviceToDevice));
    rowSums<<<1, 32>>>(b, out);
    std::vector<int> r = take(out, 32);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return verdict(r == std::vector<int>(32, 47 * 24));
}

__global__ void accumulate(const int* in, int* totals) {
    totals[threadIdx.x] += in[threadIdx.x];  // @acc
}

static int runAccumulate(bool zeroed) {
    int *in = zeros<int>(64), *totals = unwritten<int>(64);
    if (zeroed) CHECK(cudaMemset(totals, 0, 64 * sizeof(int)));
    accumulate<<<1, 64>>>(in, totals);
    std::vector<int> r = take(totals, 64);
    CHECK(cudaFree(in));
    return verdict(!zeroed || r == std::vector<int>(64, 0));
}

static int case_accumulator_not_zeroed() { return runAccumulate(false); }
static int case_accumulator_zeroed() { return runAccumulate(true); }

// New memory may hold what old memory held; that doesn't make it initialised.
__global__ void countStale(const int* in, int* out) {
    if (in[threadIdx.x] == 0) atomicAdd(out, 1);  // @stale
}

static int case_reused_after_free() {
    int *first = zeros<int>(64), *out = zeros<int>(1);
    CHECK(cudaFree(first));
    int* second = unwritten<int>(64);
    countStale<<<1, 64>>>(second, out);
    take(out, 1);
    CHECK(cudaFree(second));
    return verdict(true);
}

struct Sample {
    int id;
    float value;
};

__global__ void setIds(Sample* s) { s[threadIdx.x].id = threadIdx.x; }
__global__ void positives(const Sample* s, int* out) {
    if (s[threadIdx.x].value > 0.0f) atomicAdd(out, s[threadIdx.x].id);  // @member
}

static int case_partial_struct() {
    Sample* s = unwritten<Sample>(64);
    int* out = zeros<int>(1);
    setIds<<<1, 64>>>(s);
    positives<<<1, 64>>>(s, out);
    take(out, 1);
    CHECK(cudaFree(s));
    return verdict(true);
}

__global__ void neighbourSum(const int* in, int* out, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t + 1] = in[t];
    __syncthreads();
    out[t] = s[t] + s[t + 1] + s[t + 2];  // @dynamic
}

static int case_dynamic_shared_unwritten() {
    int *in = zeros<int>(64), *out = zeros<int>(64);
    neighbourSum<<<1, 64, 66 * sizeof(int)>>>(in, out, 64);
    take(out, 64);
    CHECK(cudaFree(in));
    return verdict(true);
}

// Only even slots are written, and only even slots are read.
__global__ void evenSlots(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t % 2 == 0) s[t] = in[t];
    __syncthreads();
    out[t] = s[62 - t / 2 * 2];
}

static int case_masked_lanes_skip_unwritten() {
    std::vector<int> h(64);
    for (int i = 0; i < 64; i++) h[i] = i;
    int *in = upload(h), *out = zeros<int>(64);
    evenSlots<<<1, 64>>>(in, out);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) good = good && r[i] == 62 - i / 2 * 2;
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"branch_on_unwritten", case_branch_on_unwritten},
    {"index_from_unwritten", case_index_from_unwritten},
    {"copied_to_host", case_copied_to_host},
    {"only_travels", case_only_travels},
    {"shared_read_before_write", case_shared_read_before_write},
    {"shared_tail_not_filled", case_shared_tail_not_filled},
    {"shared_tail_filled", case_shared_tail_filled},
    {"half_initialised_by_memset", case_half_initialised_by_memset},
    {"wholly_initialised_by_memset", case_wholly_initialised_by_memset},
    {"initialised_by_kernel", case_initialised_by_kernel},
    {"initialised_by_device_copy", case_initialised_by_device_copy},
    {"copy_2d_leaves_padding", case_copy_2d_leaves_padding},
    {"accumulator_not_zeroed", case_accumulator_not_zeroed},
    {"accumulator_zeroed", case_accumulator_zeroed},
    {"reused_after_free", case_reused_after_free},
    {"partial_struct", case_partial_struct},
    {"dynamic_shared_unwritten", case_dynamic_shared_unwritten},
    {"masked_lanes_skip_unwritten", case_masked_lanes_skip_unwritten},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
