// Half and bfloat16: conversions, arithmetic, comparisons, pairs, atomics.
//
// case: half_conversions  expect: clean
// case: half_arithmetic  expect: clean
// case: half_comparisons  expect: clean
// case: half2_arithmetic  expect: clean
// case: half_fma  expect: clean
// case: half_functions  expect: clean
// case: half_atomic_add  expect: clean
// case: half_dot_product  expect: clean
// case: half_overflow_and_nan  expect: clean
// case: bfloat16_conversions  expect: clean
// case: bfloat16_arithmetic  expect: clean
// case: half_race  expect: race error shared at: @hw, @hr
// case: half2_misaligned  expect: alignment error at: @h2
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cmath>
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
static std::vector<float> samples() {
    std::vector<float> v = {0.0f, -0.0f, 1.0f, -2.5f, 0.1f, 3.14159f, 65504.0f, 1e-5f, 6e-8f, -7e-7f,
                            1024.5f, 2049.0f, 4099.0f, -0.333f, 100.0f, 0.00006f};
    for (int i = 0; i < 112; i++) v.push_back((i * 37 % 113 - 50) * 0.37f);
    return v;
}

__global__ void convert(const float* in, float* out, unsigned short* bits, int* whole) {
    int i = threadIdx.x;
    __half h = __float2half(in[i]);
    out[i] = __half2float(h);
    bits[i] = __half_as_ushort(h);
    whole[i] = __half2int_rz(h) + __half2int_rn(h) * 7 + __half2int_rd(h) * 11;
}

static int case_half_conversions() {
    std::vector<float> h = samples();
    float *in = upload(h), *out = zeros<float>(128);
    unsigned short* bits = zeros<unsigned short>(128);
    int* whole = zeros<int>(128);
    convert<<<1, 128>>>(in, out, bits, whole);
    std::vector<float> r = take(out, 128);
    std::vector<unsigned short> b = take(bits, 128);
    std::vector<int> w = take(whole, 128);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 128; i++) {
        __half x = __float2half(h[i]);
        float back = __half2float(x);
        unsigned short want;
        memcpy(&want, &x, 2);
        int z = (int)truncf(back), n = (int)rintf(back), d = (int)floorf(back);
        good = good && r[i] == back && b[i] == want && w[i] == z + 7 * n + 11 * d;
    }
    return verdict(good);
}

// One operation of two halves, rounded once: what float arithmetic gives, rounded to half.
__global__ void arithmetic(const float* a, const float* b, float* out) {
    int i = threadIdx.x;
    __half x = __float2half(a[i]), y = __float2half(b[i]);
    out[4 * i] = __half2float(__hadd(x, y));
    out[4 * i + 1] = __half2float(__hsub(x, y));
    out[4 * i + 2] = __half2float(__hmul(x, y));
    out[4 * i + 3] = __half2float(__hneg(x));
}

static float rounded(float v) { return __half2float(__float2half(v)); }

static int case_half_arithmetic() {
    std::vector<float> a = samples(), b(a.rbegin(), a.rend());
    float *da = upload(a), *db = upload(b), *out = zeros<float>(512);
    arithmetic<<<1, 128>>>(da, db, out);
    std::vector<float> r = take(out, 512);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    bool good = true;
    for (int i = 0; i < 128; i++) {
        float x = rounded(a[i]), y = rounded(b[i]);
        good = good && r[4 * i] == rounded(x + y) && r[4 * i + 1] == rounded(x - y) &&
               r[4 * i + 2] == rounded(x * y) && r[4 * i + 3] == -x;
    }
    return verdict(good);
}

__global__ void compare(const float* a, const float* b, int* out) {
    int i = threadIdx.x;
    __half x = __float2half(a[i]), y = __float2half(b[i]);
    out[i] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * __hgt(x, y) +
             32 * __hge(x, y) + 64 * __hisnan(x) + 128 * (__half2float(__hmax(x, y)) == b[i]);
}

static int case_half_comparisons() {
    std::vector<float> a = {1, 2, 2, NAN, 0.5f, -1, INFINITY, 0.0f};
    std::vector<float> b = {2, 1, 2, 1, 0.5f, -2, INFINITY, -0.0f};
    float *da = upload(a), *db = upload(b);
    int* out = zeros<int>(8);
    compare<<<1, 8>>>(da, db, out);
    std::vector<int> r = take(out, 8);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    bool good = true;
    for (int i = 0; i < 8; i++) {
        float x = a[i], y = b[i];
        int want = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) +
                   32 * (x >= y) + 64 * (x != x) + 128 * (fmaxf(x, y) == y);
        // NaN compares unequal to everything, in the unordered sense for != alone.
        good = good && r[i] == want;
    }
    return verdict(good);
}

__global__ void pairs(const __half2* a, const __half2* b, __half2* out) {
    int i = threadIdx.x;
    __half2 sum = __hadd2(a[i], b[i]), product = __hmul2(a[i], b[i]);
    out[i] = __hsub2(__lowhigh2highlow(sum), product);
    out[32 + i] = __halves2half2(__high2half(a[i]), __low2half(b[i]));
}

static int case_half2_arithmetic() {
    std::vector<__half2> a(32), b(32);
    for (int i = 0; i < 32; i++) {
        a[i] = __floats2half2_rn(i * 0.5f, -i * 2.0f);
        b[i] = __floats2half2_rn(3.0f - i, i * 0.25f);
    }
    __half2 *da = upload(a), *db = upload(b), *out = zeros<__half2>(64);
    pairs<<<1, 32>>>(da, db, out);
    std::vector<__half2> r = take(out, 64);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    bool good = true;
    for (int i = 0; i < 32; i++) {
        float ax = i * 0.5f, ay = -i * 2.0f, bx = 3.0f - i, by = i * 0.25f;
        float lx = rounded(rounded(ay + by) - rounded(ax * bx));
        float ly = rounded(rounded(ax + bx) - rounded(ay * by));
        good = good && __low2float(r[i]) == lx && __high2float(r[i]) == ly &&
               __low2float(r[32 + i]) == ay && __high2float(r[32 + i]) == bx;
    }
    return verdict(good);
}

__global__ void fused(const float* a, float* out) {
    int i = threadIdx.x;
    __half x = __float2half(a[i]), y = __float2half(1.5f), z = __float2half(-0.25f);
    out[2 * i] = __half2float(__hfma(x, y, z));
    __half2 p = __hfma2(__half2half2(x), __half2half2(y), __floats2half2_rn(8.0f, 0.5f));
    out[2 * i + 1] = __low2float(p) + __high2float(p);
}

// Small enough that the sum is exact in a float before it is rounded to half.
static int case_half_fma() {
    std::vector<float> a(64);
    for (int i = 0; i < 64; i++) a[i] = (i - 30) * 0.625f;
    float *in = upload(a), *out = zeros<float>(128);
    fused<<<1, 64>>>(in, out);
    std::vector<float> r = take(out, 128);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) {
        float want = rounded(a[i] * 1.5f + 8.0f) + rounded(a[i] * 1.5f + 0.5f);
        good = good && r[2 * i] == rounded(a[i] * 1.5f - 0.25f) && r[2 * i + 1] == want;
    }
    return verdict(good);
}

__global__ void functions(const float* a, float* out) {
    int i = threadIdx.x;
    __half x = __float2half(a[i]);
    out[6 * i] = __half2float(hsqrt(x));
    out[6 * i + 1] = __half2float(hexp(__hneg(x)));
    out[6 * i + 2] = __half2float(hlog(x));
    out[6 * i + 3] = __half2float(hfloor(x));
    out[6 * i + 4] = __half2float(__hdiv(x, __float2half(3.0f)));
    out[6 * i + 5] = __half2float(hrcp(x));
}

static int case_half_functions() {
    std::vector<float> a(64);
    for (int i = 0; i < 64; i++) a[i] = rounded(0.07f + i * 0.13f);
    float *in = upload(a), *out = zeros<float>(6 * 64);
    functions<<<1, 64>>>(in, out);
    std::vector<float> r = take(out, 6 * 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) {
        const float want[6] = {sqrtf(a[i]), expf(-a[i]), logf(a[i]), floorf(a[i]), a[i] / 3,
                               1 / a[i]};
        for (int k = 0; k < 6; k++) {
            good = good && std::fabs(r[6 * i + k] - want[k]) <= 0.002f * std::fabs(want[k]) + 1e-3f;
        }
    }
    return verdict(good);
}

__global__ void addHalves(__half* single, __half2* both, __nv_bfloat16* brain) {
    atomicAdd(single, __float2half(0.5f));
    atomicAdd(both, __floats2half2_rn(1.0f, -0.25f));
    atomicAdd(brain, __float2bfloat16(1.0f));
}

static int case_half_atomic_add() {
    __half* single = zeros<__half>(2);
    __half2* both = zeros<__half2>(1);
    __nv_bfloat16* brain = zeros<__nv_bfloat16>(2);
    addHalves<<<2, 64>>>(single + 1, both, brain);
    bool good = __half2float(take(single, 2)[1]) == 64.0f;
    __half2 b = take(both, 1)[0];
    good = good && __low2float(b) == 128.0f && __high2float(b) == -32.0f;
    return verdict(__bfloat162float(take(brain, 2)[0]) == 128.0f && good);
}

__global__ void dot(const __half2* a, const __half2* b, float* out, int pairCount) {
    float sum = 0;
    for (int i = threadIdx.x; i < pairCount; i += 32) {
        float2 x = __half22float2(a[i]), y = __half22float2(b[i]);
        sum += x.x * y.x + x.y * y.y;
    }
    for (int m = 16; m > 0; m /= 2) sum += __shfl_xor_sync(~0u, sum, m);
    if (threadIdx.x == 0) *out = sum;
}

static int case_half_dot_product() {
    std::vector<__half2> a(200), b(200);
    float want = 0;
    for (int i = 0; i < 200; i++) {
        a[i] = __floats2half2_rn((float)(i % 9), (float)(i % 5));
        b[i] = __floats2half2_rn(0.5f * (i % 3), 2.0f);
        want += i % 9 * 0.5f * (i % 3) + i % 5 * 2.0f;
    }
    __half2 *da = upload(a), *db = upload(b);
    float* out = zeros<float>(1);
    dot<<<1, 32>>>(da, db, out, 200);
    float got = take(out, 1)[0];
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return verdict(got == want);
}

__global__ void extremes(float* out) {
    __half big = __float2half(60000.0f), inf = __hadd(big, big);
    out[0] = __half2float(inf);
    out[1] = __half2float(__hsub(inf, inf));
    out[2] = __half2float(__float2half(1e-9f));
    out[3] = __half2float(__hmul(__ushort_as_half(0x0001), __float2half(0.5f)));
    out[4] = __half2float(__hadd_sat(big, big));
    out[5] = __half2float(__float2half(65519.0f));
    out[6] = __half2float(__float2half(65520.0f));
}

static int case_half_overflow_and_nan() {
    float* out = zeros<float>(7);
    extremes<<<1, 1>>>(out);
    std::vector<float> r = take(out, 7);
    return verdict(std::isinf(r[0]) && r[1] != r[1] && r[2] == 0 && r[3] == 0 && r[4] == 1 &&
                   r[5] == 65504.0f && std::isinf(r[6]));
}

__global__ void brainConvert(const float* in, float* out) {
    out[threadIdx.x] = __bfloat162float(__float2bfloat16(in[threadIdx.x]));
}

static float brain(float v) {
    unsigned u;
    memcpy(&u, &v, 4);
    u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000u;
    memcpy(&v, &u, 4);
    return v;
}

static int case_bfloat16_conversions() {
    std::vector<float> h = samples();
    float *in = upload(h), *out = zeros<float>(128);
    brainConvert<<<1, 128>>>(in, out);
    std::vector<float> r = take(out, 128);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 128; i++) good = good && r[i] == brain(h[i]);
    return verdict(good);
}

__global__ void brainArithmetic(const float* in, float* out) {
    int i = threadIdx.x;
    __nv_bfloat16 x = __float2bfloat16(in[i]), y = __float2bfloat16(in[127 - i]);
    out[2 * i] = __bfloat162float(__hadd(x, y));
    out[2 * i + 1] = __bfloat162float(x * y);
}

static int case_bfloat16_arithmetic() {
    std::vector<float> h = samples();
    float *in = upload(h), *out = zeros<float>(256);
    brainArithmetic<<<1, 128>>>(in, out);
    std::vector<float> r = take(out, 256);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 128; i++) {
        float x = brain(h[i]), y = brain(h[127 - i]);
        good = good && r[2 * i] == brain(x + y) && r[2 * i + 1] == brain(x * y);
    }
    return verdict(good);
}

__global__ void halfRace(const __half* in, __half* out) {
    __shared__ __half s[64];
    int t = threadIdx.x;
    s[t] = in[t];            // @hw
    out[t] = s[63 - t];      // @hr
}

static int case_half_race() {
    std::vector<__half> h(64);
    for (int i = 0; i < 64; i++) h[i] = __float2half((float)i);
    __half *in = upload(h), *out = zeros<__half>(64);
    halfRace<<<1, 64>>>(in, out);
    take(out, 64);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void oddPair(const __half* in, __half2* out) {
    out[threadIdx.x] = *reinterpret_cast<const __half2*>(in + 1 + 2 * threadIdx.x);  // @h2
}

static int case_half2_misaligned() {
    __half* in = zeros<__half>(66);
    __half2* out = zeros<__half2>(32);
    oddPair<<<1, 32>>>(in, out);
    take(out, 32);
    CHECK(cudaFree(in));
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"half_conversions", case_half_conversions},
    {"half_arithmetic", case_half_arithmetic},
    {"half_comparisons", case_half_comparisons},
    {"half2_arithmetic", case_half2_arithmetic},
    {"half_fma", case_half_fma},
    {"half_functions", case_half_functions},
    {"half_atomic_add", case_half_atomic_add},
    {"half_dot_product", case_half_dot_product},
    {"half_overflow_and_nan", case_half_overflow_and_nan},
    {"bfloat16_conversions", case_bfloat16_conversions},
    {"bfloat16_arithmetic", case_bfloat16_arithmetic},
    {"half_race", case_half_race},
    {"half2_misaligned", case_half2_misaligned},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
