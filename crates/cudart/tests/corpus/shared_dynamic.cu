// Dynamic shared memory: sizes given at launch, several arrays carved out of one.
//
// case: rotate  expect: clean
// case: rotate_size_too_small  expect: bounds error at: @small
// case: rotate_size_forgotten  expect: bounds error at: @small
// case: two_arrays  expect: clean
// case: two_arrays_second_forgotten  expect: bounds error at: @second
// case: carved_overlap  expect: race error shared at: @ofloat, @oint, @oread
// case: carved_misaligned  expect: alignment error at: @odouble
// case: template_two_types  expect: clean
// case: static_and_dynamic  expect: clean
// case: above_48k_with_attribute  expect: clean
// case: above_48k_without_attribute  expect: api error
// case: size_zero_unused  expect: clean
// case: no_barrier  expect: race error shared at: @nbw, @nbr
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
    for (int i = 0; i < n; i++) v[i] = (i * 17 + 3) % 257;
    return v;
}

__global__ void rotate(int* data, int by) {
    extern __shared__ int s[];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = data[blockIdx.x * n + t];  // @small
    __syncthreads();
    data[blockIdx.x * n + t] = s[(t + by) % n];
}

static int runRotate(size_t bytes) {
    std::vector<int> h = numbers(600);
    int* d = upload(h);
    rotate<<<3, 200, bytes>>>(d, 13);
    std::vector<int> r = take(d, 600);
    bool good = true;
    for (int i = 0; i < 600; i++) good = good && r[i] == h[i / 200 * 200 + (i % 200 + 13) % 200];
    return verdict(good);
}

static int case_rotate() { return runRotate(200 * sizeof(int)); }
static int case_rotate_size_too_small() { return runRotate(200); }
static int case_rotate_size_forgotten() { return runRotate(0); }

// float keys[n], then int tags[n].
__global__ void twoArrays(const int* in, float* out, int n) {
    extern __shared__ unsigned char raw[];
    float* keys = reinterpret_cast<float*>(raw);
    int* tags = reinterpret_cast<int*>(keys + n);
    int t = threadIdx.x;
    keys[t] = in[t] * 0.5f;
    tags[t] = n - 1 - t;  // @second
    __syncthreads();
    out[t] = keys[tags[t]];
}

static int runTwoArrays(size_t bytes) {
    std::vector<int> h = numbers(96);
    int* in = upload(h);
    float* out = zeros<float>(96);
    twoArrays<<<1, 96, bytes>>>(in, out, 96);
    std::vector<float> r = take(out, 96);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 96; i++) good = good && r[i] == h[95 - i] * 0.5f;
    return verdict(good);
}

static int case_two_arrays() { return runTwoArrays(96 * (sizeof(float) + sizeof(int))); }
static int case_two_arrays_second_forgotten() { return runTwoArrays(96 * sizeof(float)); }

// The second array starts n bytes after the first instead of n floats after it.
__global__ void overlapping(const int* in, float* out, int n) {
    extern __shared__ unsigned char raw[];
    float* keys = reinterpret_cast<float*>(raw);
    int* tags = reinterpret_cast<int*>(raw + n);
    int t = threadIdx.x;
    keys[t] = in[t] * 0.5f;  // @ofloat
    tags[t] = n - 1 - t;     // @oint
    out[t] = keys[t];        // @oread
}

static int case_carved_overlap() {
    int* in = upload(numbers(96));
    float* out = zeros<float>(96);
    overlapping<<<1, 96, 96 * 8>>>(in, out, 96);
    take(out, 96);
    CHECK(cudaFree(in));
    return verdict(true);
}

// An odd number of ints, then doubles: those lie at addresses that aren't multiples of 8.
__global__ void misaligned(const int* in, double* out, int n) {
    extern __shared__ double wide[];
    int* ints = reinterpret_cast<int*>(wide);
    double* doubles = reinterpret_cast<double*>(ints + n);
    int t = threadIdx.x;
    ints[t] = in[t];
    doubles[t] = in[t] * 0.25;  // @odouble
    __syncthreads();
    out[t] = ints[n - 1 - t] + doubles[n - 1 - t];
}

static int case_carved_misaligned() {
    int* in = upload(numbers(33));
    double* out = zeros<double>(33);
    misaligned<<<1, 33, 33 * 12 + 8>>>(in, out, 33);
    take(out, 33);
    CHECK(cudaFree(in));
    return verdict(true);
}

// The usual trick for templates: one untyped array, cast in each instance.
template <class T> __device__ T* scratch() {
    extern __shared__ __align__(16) unsigned char pool[];
    return reinterpret_cast<T*>(pool);
}

template <class T> __global__ void sumBlock(const T* in, T* out) {
    T* s = scratch<T>();
    int t = threadIdx.x;
    s[t] = in[t];
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (t == 0) *out = s[0];
}

template <class T> static bool trySum() {
    std::vector<T> h(128);
    T want = 0;
    for (int i = 0; i < 128; i++) want += h[i] = (T)(i % 13);
    T* in = upload(h);
    T* out = zeros<T>(1);
    sumBlock<T><<<1, 128, 128 * sizeof(T)>>>(in, out);
    T got = take(out, 1)[0];
    CHECK(cudaFree(in));
    return got == want;
}

static int case_template_two_types() {
    return verdict(trySum<float>() && trySum<double>() && trySum<short>() && trySum<long long>());
}

__global__ void staticAndDynamic(const int* in, int* out) {
    __shared__ int fixed[64];
    extern __shared__ int s[];
    int t = threadIdx.x;
    fixed[t] = in[t];
    s[63 - t] = 2 * in[t];
    __syncthreads();
    out[t] = fixed[63 - t] + s[63 - t];
}

static int case_static_and_dynamic() {
    std::vector<int> h = numbers(64);
    int* in = upload(h);
    int* out = zeros<int>(64);
    staticAndDynamic<<<1, 64, 64 * sizeof(int)>>>(in, out);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) good = good && r[i] == h[63 - i] + 2 * h[i];
    return verdict(good);
}

__global__ void fillLarge(int* out, int n) {
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += s[n - 1 - i];
    out[threadIdx.x] = sum;
}

static int case_above_48k_with_attribute() {
    const int bytes = 60 * 1024, n = bytes / 4;
    int* out = zeros<int>(256);
    CHECK(cudaFuncSetAttribute(fillLarge, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    fillLarge<<<1, 256, bytes>>>(out, n);
    std::vector<int> r = take(out, 256);
    long sum = 0;
    for (int v : r) sum += v;
    return verdict(sum == (long)n * (n - 1) / 2);
}

// Refused, and nothing runs.
static int case_above_48k_without_attribute() {
    int* out = zeros<int>(256);
    fillLarge<<<1, 256, 60 * 1024>>>(out, 15 * 1024);
    cudaError_t status = cudaGetLastError();
    CHECK(cudaDeviceSynchronize());
    std::vector<int> r = take(out, 256);
    bool good = status == cudaErrorInvalidValue || status == cudaErrorInvalidConfiguration;
    return verdict(good && r == std::vector<int>(256, 0));
}

__global__ void maybeShared(const int* in, int* out, bool use) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    if (use) {
        s[t] = in[t];
        __syncthreads();
        out[t] = s[t ^ 1];
    } else {
        out[t] = in[t];
    }
}

static int case_size_zero_unused() {
    std::vector<int> h = numbers(64);
    int* in = upload(h);
    int* out = zeros<int>(64);
    maybeShared<<<1, 64>>>(in, out, false);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(in));
    return verdict(r == h);
}

__global__ void rotateNoBarrier(int* data, int by) {
    extern __shared__ int s[];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = data[t];             // @nbw
    data[t] = s[(t + by) % n];  // @nbr
}

static int case_no_barrier() {
    int* d = upload(numbers(200));
    rotateNoBarrier<<<1, 200, 200 * sizeof(int)>>>(d, 13);
    take(d, 200);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"rotate", case_rotate},
    {"rotate_size_too_small", case_rotate_size_too_small},
    {"rotate_size_forgotten", case_rotate_size_forgotten},
    {"two_arrays", case_two_arrays},
    {"two_arrays_second_forgotten", case_two_arrays_second_forgotten},
    {"carved_overlap", case_carved_overlap},
    {"carved_misaligned", case_carved_misaligned},
    {"template_two_types", case_template_two_types},
    {"static_and_dynamic", case_static_and_dynamic},
    {"above_48k_with_attribute", case_above_48k_with_attribute},
    {"above_48k_without_attribute", case_above_48k_without_attribute},
    {"size_zero_unused", case_size_zero_unused},
    {"no_barrier", case_no_barrier},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
