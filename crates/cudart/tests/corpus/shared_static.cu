// Static shared arrays, in one and two dimensions, with and without the barrier they need.
//
// case: block_reverse  expect: clean
// case: block_reverse_no_barrier  expect: race error shared at: @rw, @rr
// case: broadcast_one_writer  expect: clean
// case: broadcast_no_barrier  expect: race error shared at: @bw, @br
// case: broadcast_all_write_equal  expect: race warning at: @bequal
// case: neighbours  expect: clean
// case: neighbours_loop_one_barrier  expect: race error shared at: @lw, @lr
// case: neighbours_loop_two_barriers  expect: clean
// case: padded_2d  expect: clean
// case: two_arrays  expect: clean
// case: index_past_array  expect: bounds error at: @past
// case: struct_in_shared  expect: clean
// case: own_slot_only  expect: clean
// case: one_warp_no_barrier  expect: race error shared at: @ww, @wr
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
    for (int i = 0; i < n; i++) v[i] = (i * 31 + 7) % 1009;
    return v;
}

__global__ void reverseBlock(int* data) {
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * blockDim.x;
    s[t] = data[base + t];
    __syncthreads();
    data[base + t] = s[blockDim.x - 1 - t];
}

__global__ void reverseBlockNoBarrier(int* data) {
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * blockDim.x;
    s[t] = data[base + t];                   // @rw
    data[base + t] = s[blockDim.x - 1 - t];  // @rr
}

static int case_block_reverse() {
    std::vector<int> h = numbers(1024);
    int* d = upload(h);
    reverseBlock<<<4, 256>>>(d);
    std::vector<int> r = take(d, 1024);
    bool good = true;
    for (int i = 0; i < 1024; i++) good = good && r[i] == h[i / 256 * 256 + 255 - i % 256];
    return verdict(good);
}

static int case_block_reverse_no_barrier() {
    int* d = upload(numbers(1024));
    reverseBlockNoBarrier<<<4, 256>>>(d);
    take(d, 1024);
    return verdict(true);
}

__global__ void subtractFirst(int* data) {
    __shared__ int first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) first = data[i];
    __syncthreads();
    data[i] -= first;
}

static int case_broadcast_one_writer() {
    std::vector<int> h = numbers(512);
    int* d = upload(h);
    subtractFirst<<<4, 128>>>(d);
    std::vector<int> r = take(d, 512);
    bool good = true;
    for (int i = 0; i < 512; i++) good = good && r[i] == h[i] - h[i / 128 * 128];
    return verdict(good);
}

__global__ void subtractFirstNoBarrier(const int* data, int* out) {
    __shared__ int first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) first = data[i];  // @bw
    out[i] = data[i] - first;               // @br
}

static int case_broadcast_no_barrier() {
    int* d = upload(numbers(512));
    int* out = zeros<int>(512);
    subtractFirstNoBarrier<<<4, 128>>>(d, out);
    take(out, 512);
    CHECK(cudaFree(d));
    return verdict(true);
}

__global__ void subtractFirstAllWrite(const int* data, int* out) {
    __shared__ int first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    first = data[blockIdx.x * blockDim.x];  // @bequal
    __syncthreads();
    out[i] = data[i] - first;
}

static int case_broadcast_all_write_equal() {
    std::vector<int> h = numbers(512);
    int* d = upload(h);
    int* out = zeros<int>(512);
    subtractFirstAllWrite<<<4, 128>>>(d, out);
    std::vector<int> r = take(out, 512);
    CHECK(cudaFree(d));
    bool good = true;
    for (int i = 0; i < 512; i++) good = good && r[i] == h[i] - h[i / 128 * 128];
    return verdict(good);
}

__global__ void differences(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads();
    out[i] = t > 0 ? s[t] - s[t - 1] : s[t];
}

static int case_neighbours() {
    std::vector<int> h = numbers(512);
    int* in = upload(h);
    int* out = zeros<int>(512);
    differences<<<4, 128>>>(in, out);
    std::vector<int> r = take(out, 512);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 512; i++) good = good && r[i] == h[i] - (i % 128 ? h[i - 1] : 0);
    return verdict(good);
}

// Each round adds the left neighbour's value. Reading and writing need a barrier between them.
template <bool Second> __global__ void pascal(int* out, int rounds) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t == 0;
    __syncthreads();
    for (int k = 0; k < rounds; k++) {
        int left = t > 0 ? s[t - 1] : 0;  // @lr
        if (Second) __syncthreads();
        s[t] += left;  // @lw
        __syncthreads();
    }
    out[t] = s[t];
}

static int case_neighbours_loop_one_barrier() {
    int* out = zeros<int>(128);
    pascal<false><<<1, 128>>>(out, 20);
    take(out, 128);
    return verdict(true);
}

static int case_neighbours_loop_two_barriers() {
    int* out = zeros<int>(128);
    pascal<true><<<1, 128>>>(out, 20);
    std::vector<int> r = take(out, 128);
    bool good = true;
    int binomial = 1;
    for (int i = 0; i < 128; i++) {
        good = good && r[i] == (i <= 20 ? binomial : 0);
        if (i < 20) binomial = binomial * (20 - i) / (i + 1);
    }
    return verdict(good);
}

__global__ void columnSums(const int* in, int* out) {
    __shared__ int s[16][16 + 1];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = in[y * 16 + x];
    __syncthreads();
    if (y == 0) {
        int sum = 0;
        for (int k = 0; k < 16; k++) sum += s[k][x];
        out[x] = sum;
    }
}

static int case_padded_2d() {
    std::vector<int> h = numbers(256), want(16, 0);
    for (int i = 0; i < 256; i++) want[i % 16] += h[i];
    int* in = upload(h);
    int* out = zeros<int>(16);
    columnSums<<<1, dim3(16, 16)>>>(in, out);
    std::vector<int> r = take(out, 16);
    CHECK(cudaFree(in));
    return verdict(r == want);
}

__global__ void minAndMaxIndex(const int* in, int* out) {
    __shared__ int values[64];
    __shared__ unsigned char order[64];
    int t = threadIdx.x;
    values[t] = in[t];
    __syncthreads();
    int rank = 0;
    for (int k = 0; k < 64; k++) {
        rank += values[k] < values[t] || (values[k] == values[t] && k < t);
    }
    order[rank] = t;
    __syncthreads();
    out[t] = values[order[t]];
}

static int case_two_arrays() {
    std::vector<int> h = numbers(64);
    int* in = upload(h);
    int* out = zeros<int>(64);
    minAndMaxIndex<<<1, 64>>>(in, out);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    long sum = 0;
    for (int i = 0; i < 64; i++) {
        good = good && (i == 0 || r[i - 1] <= r[i]);
        sum += r[i] - h[i];
    }
    return verdict(good && sum == 0);
}

__global__ void shiftPast(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t + 1] = in[t];  // @past
    __syncthreads();
    out[t] = t > 0 ? s[t] : 0;
}

static int case_index_past_array() {
    int* in = upload(numbers(64));
    int* out = zeros<int>(64);
    shiftPast<<<1, 64>>>(in, out);
    take(out, 64);
    CHECK(cudaFree(in));
    return verdict(true);
}

struct Work {
    int count;
    double weights[32];
    short items[32];
};

__global__ void useWork(const int* in, double* out) {
    __shared__ Work w;
    int t = threadIdx.x;
    if (t == 0) w.count = 32;
    w.weights[t] = in[t] * 0.5;
    w.items[t] = (short)(31 - t);
    __syncthreads();
    out[t] = w.weights[w.items[t]] + w.count;
}

static int case_struct_in_shared() {
    std::vector<int> h = numbers(32);
    int* in = upload(h);
    double* out = zeros<double>(32);
    useWork<<<1, 32>>>(in, out);
    std::vector<double> r = take(out, 32);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 32; i++) good = good && r[i] == h[31 - i] * 0.5 + 32;
    return verdict(good);
}

// Each thread uses a slot of its own: no barrier needed.
__global__ void powers(const int* in, int* out, int rounds) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = 1;
    for (int k = 0; k < rounds; k++) s[t] *= in[t] % 3 - 1;
    out[t] = s[t];
}

static int case_own_slot_only() {
    std::vector<int> h = numbers(64);
    int* in = upload(h);
    int* out = zeros<int>(64);
    powers<<<1, 64>>>(in, out, 5);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) good = good && r[i] == h[i] % 3 - 1;
    return verdict(good);
}

// One warp only, but that is no barrier: nothing orders the lanes.
__global__ void reverseWarp(int* data) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = data[t];       // @ww
    data[t] = s[31 - t];  // @wr
}

static int case_one_warp_no_barrier() {
    int* d = upload(numbers(32));
    reverseWarp<<<1, 32>>>(d);
    take(d, 32);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"block_reverse", case_block_reverse},
    {"block_reverse_no_barrier", case_block_reverse_no_barrier},
    {"broadcast_one_writer", case_broadcast_one_writer},
    {"broadcast_no_barrier", case_broadcast_no_barrier},
    {"broadcast_all_write_equal", case_broadcast_all_write_equal},
    {"neighbours", case_neighbours},
    {"neighbours_loop_one_barrier", case_neighbours_loop_one_barrier},
    {"neighbours_loop_two_barriers", case_neighbours_loop_two_barriers},
    {"padded_2d", case_padded_2d},
    {"two_arrays", case_two_arrays},
    {"index_past_array", case_index_past_array},
    {"struct_in_shared", case_struct_in_shared},
    {"own_slot_only", case_own_slot_only},
    {"one_warp_no_barrier", case_one_warp_no_barrier},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
