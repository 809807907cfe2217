// __ldg, __restrict__, volatile, cache hints, const.
//
// case: ldg  expect: clean
// case: ldg_all_types  expect: clean
// case: restrict_pointers  expect: clean
// case: restrict_lie  expect: race error|warning gpu at: @lie, @lieread
// case: ldg_of_own_launch_write  expect: race error|warning gpu at: @ldgw, @ldgr
// case: ldg_of_earlier_launch  expect: clean
// case: cache_hints  expect: clean
// case: volatile_global_own  expect: clean
// case: const_device_table  expect: clean
// case: prefetch_hint  expect: clean
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
    for (int i = 0; i < n; i++) v[i] = i * 43 % 191 - 60;
    return v;
}

__global__ void viaLdg(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __ldg(&in[i]) + __ldg(in + (i + 1) % n);
}

static int case_ldg() {
    std::vector<int> h = numbers(300);
    int *in = upload(h), *out = zeros<int>(300);
    viaLdg<<<3, 128>>>(in, out, 300);
    std::vector<int> r = take(out, 300);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 300; i++) good = good && r[i] == h[i] + h[(i + 1) % 300];
    return verdict(good);
}

template <class T> __global__ void ldgType(const T* in, T* out) {
    out[threadIdx.x] = __ldg(&in[threadIdx.x]);
}

template <class T> static bool tryLdg() {
    std::vector<unsigned char> bytes(64 * sizeof(T));
    for (size_t i = 0; i < bytes.size(); i++) bytes[i] = (unsigned char)(i * 29 + 3);
    std::vector<T> h(64);
    memcpy((void*)h.data(), bytes.data(), bytes.size());
    T *in = upload(h), *out = zeros<T>(64);
    ldgType<T><<<1, 64>>>(in, out);
    std::vector<T> r = take(out, 64);
    CHECK(cudaFree(in));
    return memcmp(r.data(), h.data(), bytes.size()) == 0;
}

static int case_ldg_all_types() {
    return verdict(tryLdg<char>() && tryLdg<unsigned short>() && tryLdg<long long>() &&
                   tryLdg<float2>() && tryLdg<int4>() && tryLdg<uchar4>() && tryLdg<double2>() &&
                   tryLdg<short2>());
}

__global__ void axpyRestrict(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

static int case_restrict_pointers() {
    std::vector<float> x(200), y(200);
    for (int i = 0; i < 200; i++) {
        x[i] = (float)i;
        y[i] = (float)(2 * i);
    }
    float *dx = upload(x), *dy = upload(y);
    axpyRestrict<<<2, 128>>>(dx, dy, 0.5f, 200);
    std::vector<float> r = take(dy, 200);
    CHECK(cudaFree(dx));
    bool good = true;
    for (int i = 0; i < 200; i++) good = good && r[i] == 2.5f * i;
    return verdict(good);
}

// Promises that the two don't overlap, and is called with the same array twice.
__global__ void shiftRestrict(const int* __restrict__ from, int* __restrict__ to, int n) {
    __shared__ int go;
    int i = threadIdx.x;
    if (i == 0) go = n;
    __syncthreads();
    to[i] = go + i;  // @lie
    __syncthreads();
    to[n + i] = from[(i + 1) % n];  // @lieread
}

static int case_restrict_lie() {
    int *a = zeros<int>(128), *same = a + atoi("0");
    shiftRestrict<<<1, 64>>>(same, a, 64);
    take(a, 128);
    return verdict(true);
}

// __ldg reads through a cache that isn't kept coherent within a launch.
__global__ void writeThenLdg(int* a, int* out) {
    int i = threadIdx.x;
    a[i] = 3 * i;  // @ldgw
    __syncthreads();
    out[i] = __ldg(&a[63 - i]);  // @ldgr
}

static int case_ldg_of_own_launch_write() {
    int *a = zeros<int>(64), *out = zeros<int>(64);
    writeThenLdg<<<1, 64>>>(a, out);
    take(out, 64);
    CHECK(cudaFree(a));
    return verdict(true);
}

static int case_ldg_of_earlier_launch() {
    std::vector<int> h = numbers(128), want(128);
    int *a = upload(h), *b = zeros<int>(128);
    viaLdg<<<1, 128>>>(a, b, 128);
    viaLdg<<<1, 128>>>(b, a, 128);
    std::vector<int> r = take(a, 128);
    CHECK(cudaFree(b));
    for (int i = 0; i < 128; i++) want[i] = h[i] + 2 * h[(i + 1) % 128] + h[(i + 2) % 128];
    return verdict(r == want);
}

__global__ void hints(const int* in, int* out) {
    int i = threadIdx.x;
    int a = __ldcg(&in[i]), b = __ldca(&in[i + 32]), c = __ldcs(&in[i + 64]);
    int d = __ldlu(&in[i + 96]), e = __ldcv(&in[i + 128]);
    __stcg(&out[i], a);
    __stcs(&out[i + 32], b);
    __stwb(&out[i + 64], c);
    __stwt(&out[i + 96], d);
    out[i + 128] = e;
}

static int case_cache_hints() {
    std::vector<int> h = numbers(160);
    int *in = upload(h), *out = zeros<int>(160);
    hints<<<1, 32>>>(in, out);
    std::vector<int> r = take(out, 160);
    CHECK(cudaFree(in));
    return verdict(r == h);
}

__global__ void volatileOwn(volatile int* a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = a[i] + 1;
    a[i] = a[i] * 2;
}

static int case_volatile_global_own() {
    std::vector<int> h = numbers(128);
    int* a = upload(h);
    volatileOwn<<<2, 64>>>(a);
    std::vector<int> r = take(a, 128);
    bool good = true;
    for (int i = 0; i < 128; i++) good = good && r[i] == (h[i] + 1) * 2;
    return verdict(good);
}

__device__ const float coefficients[6] = {1.0f, -0.5f, 0.25f, 2.0f, 0.125f, 8.0f};

__global__ void polynomial(const int* in, float* out) {
    float x = (float)in[threadIdx.x], sum = 0;
    int degree = threadIdx.x % 6;
    for (int k = degree; k >= 0; k--) sum = sum * x + coefficients[k];
    out[threadIdx.x] = sum;
}

static int case_const_device_table() {
    std::vector<int> h(64);
    for (int i = 0; i < 64; i++) h[i] = i % 7 - 3;
    int* in = upload(h);
    float* out = zeros<float>(64);
    polynomial<<<1, 64>>>(in, out);
    std::vector<float> r = take(out, 64);
    CHECK(cudaFree(in));
    const float c[6] = {1.0f, -0.5f, 0.25f, 2.0f, 0.125f, 8.0f};
    bool good = true;
    for (int i = 0; i < 64; i++) {
        float sum = 0;
        for (int k = i % 6; k >= 0; k--) sum = sum * h[i] + c[k];
        good = good && r[i] == sum;
    }
    return verdict(good);
}

__global__ void prefetching(const int* in, int* out, int n) {
    int t = threadIdx.x;
    asm volatile("prefetch.global.L2 [%0];" ::"l"(in + t));
    for (int i = t; i < n; i += 32) {
        if (i + 32 < n) asm volatile("prefetch.global.L1 [%0];" ::"l"(in + i + 32));
        out[i] = in[i] + 1;
    }
}

static int case_prefetch_hint() {
    std::vector<int> h = numbers(200);
    int *in = upload(h), *out = zeros<int>(200);
    prefetching<<<1, 32>>>(in, out, 200);
    std::vector<int> r = take(out, 200);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 200; i++) good = good && r[i] == h[i] + 1;
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"ldg", case_ldg},
    {"ldg_all_types", case_ldg_all_types},
    {"restrict_pointers", case_restrict_pointers},
    {"restrict_lie", case_restrict_lie},
    {"ldg_of_own_launch_write", case_ldg_of_own_launch_write},
    {"ldg_of_earlier_launch", case_ldg_of_earlier_launch},
    {"cache_hints", case_cache_hints},
    {"volatile_global_own", case_volatile_global_own},
    {"const_device_table", case_const_device_table},
    {"prefetch_hint", case_prefetch_hint},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
