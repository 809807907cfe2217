// Single precision: what must be right to the last bit.
//
// case: basic_exact  expect: clean
// case: division_and_root_exact  expect: clean
// case: fma_exact  expect: clean
// case: rounding_modes  expect: clean
// case: comparisons_and_nan  expect: clean
// case: rounding_functions  expect: clean
// case: special_values  expect: clean
// case: denormals  expect: clean
// case: saturate  expect: clean
// case: min_max_clamp  expect: clean
// case: bit_casts  expect: clean
#include <cfenv>
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
static const float inf = INFINITY;

static std::vector<float> samples() {
    std::vector<float> v = {0.0f, -0.0f, 1.0f, -1.0f, 0.1f, -0.3f, 3.0f, 1e-3f,
                            1e10f, -7e-9f, 16777217.0f, 0.33333334f, 2.5f, -2.5f, 0.5f, 1.5f, 1e30f, -1e-30f, 123.456f};
    unsigned state = 7;
    while (v.size() < 256) {
        state = state * 1664525u + 1013904223u;
        int exponent = (int)(state >> 4 & 31) - 30;
        v.push_back(((int)(state >> 8) - (1 << 23)) * exp2f(exponent));
    }
    return v;
}

static bool same(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return memcmp(&a, &b, 4) == 0;
}

// Applies a functor of two floats to all pairs of neighbours and hands the results to a check.
template <class F> __global__ void apply(F f, const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f(a[i], b[i]);
}

template <class F, class G> static bool compare(F f, const std::vector<float>& a,
                                                const std::vector<float>& b, G good) {
    int n = a.size();
    float *da = upload(a), *db = upload(b), *out = zeros<float>(n);
    apply<<<(n + 127) / 128, 128>>>(f, da, db, out, n);
    std::vector<float> r = take(out, n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    for (int i = 0; i < n; i++) {
        if (!good(r[i], a[i], b[i])) {
            printf("f(%a, %a) = %a\n", a[i], b[i], r[i]);
            return false;
        }
    }
    return true;
}

template <class F> static bool exact(F f) {
    std::vector<float> a = samples(), b(a.rbegin(), a.rend());
    return compare(f, a, b, [f](float r, float x, float y) { return same(r, f(x, y)); });
}

#define FUNCTOR(name, expression)                                              \
    struct name {                                                              \
        __host__ __device__ float operator()(float x, float y) const {         \
            return expression;                                                 \
        }                                                                      \
    }

// No product is added to here, so that the compiler can't fuse anything.
FUNCTOR(Add, x + y);
FUNCTOR(Sub, x - y);
FUNCTOR(Mul, x* y);
FUNCTOR(Neg, -x);
FUNCTOR(Abs, fabsf(x));
FUNCTOR(CopySign, copysignf(x, y));
static int case_basic_exact() {
    return verdict(exact(Add{}) && exact(Sub{}) && exact(Mul{}) && exact(Neg{}) && exact(Abs{}) &&
                   exact(CopySign{}));
}

FUNCTOR(Div, x / y);
FUNCTOR(Root, sqrtf(fabsf(x)));
FUNCTOR(RootNegative, sqrtf(-1.0f - fabsf(x)));
FUNCTOR(Inverse, 1.0f / x);
static int case_division_and_root_exact() {
    return verdict(exact(Div{}) && exact(Root{}) && exact(RootNegative{}) && exact(Inverse{}));
}

FUNCTOR(Fma, fmaf(x, y, 0.1f));
FUNCTOR(FmaChain, fmaf(x, x, fmaf(y, y, -x)));
static int case_fma_exact() { return verdict(exact(Fma{}) && exact(FmaChain{})); }

__global__ void directed(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    float r[12] = {__fadd_rn(x, y), __fadd_rz(x, y), __fadd_ru(x, y), __fadd_rd(x, y),
                   __fmul_rn(x, y), __fmul_rz(x, y), __fmul_ru(x, y), __fmul_rd(x, y),
                   __fdiv_rn(x, y), __fdiv_rz(x, y), __fdiv_ru(x, y), __fdiv_rd(x, y)};
    for (int k = 0; k < 12; k++) out[12 * i + k] = r[k];
}

static int case_rounding_modes() {
    std::vector<float> a = samples(), b(a.rbegin(), a.rend());
    int n = a.size();
    float *da = upload(a), *db = upload(b), *out = zeros<float>(12 * n);
    directed<<<2, 128>>>(da, db, out, n);
    std::vector<float> r = take(out, 12 * n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    bool good = true;
    for (int i = 0; i < n; i++) {
        for (int m = 0; m < 4; m++) {
            fesetround(modes[m]);
            volatile float x = a[i], y = b[i];
            volatile float sum = x + y, product = x * y, quotient = x / y;
            fesetround(FE_TONEAREST);
            good = good && same(r[12 * i + m], sum) && same(r[12 * i + 4 + m], product) &&
                   same(r[12 * i + 8 + m], quotient);
        }
    }
    return verdict(good);
}

FUNCTOR(Compare, (x < y ? 1 : 0) + (x <= y ? 2 : 0) + (x == y ? 4 : 0) + (x != y ? 8 : 0) +
                     (x > y ? 16 : 0) + (x >= y ? 32 : 0) + (!(x < y) ? 64 : 0));
static int case_comparisons_and_nan() {
    std::vector<float> a = {1, 2, 2, NAN, NAN, 1, 0.0f, -0.0f, inf, -inf, inf, NAN};
    std::vector<float> b = {2, 1, 2, 1, NAN, NAN, -0.0f, 0.0f, inf, inf, 5, inf};
    bool good = compare(Compare{}, a, b, [](float r, float x, float y) {
        return r == Compare{}(x, y);
    });
    return verdict(good);
}

FUNCTOR(Floor, floorf(x));
FUNCTOR(Ceil, ceilf(x));
FUNCTOR(Trunc, truncf(x));
FUNCTOR(Rint, rintf(x));
FUNCTOR(Round, roundf(x));
static int case_rounding_functions() {
    std::vector<float> v = samples(), edge = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 0.49999997f,
                                              8388607.5f, 8388608.0f, -8388609.0f, 1e20f, inf};
    v.insert(v.end(), edge.begin(), edge.end());
    auto check = [&](auto f) {
        return compare(f, v, v, [f](float r, float x, float) { return same(r, f(x, x)); });
    };
    return verdict(check(Floor{}) && check(Ceil{}) && check(Trunc{}) && check(Rint{}) &&
                   check(Round{}));
}

FUNCTOR(Classify, (isnan(x) ? 1 : 0) + (isinf(x) ? 2 : 0) + (isfinite(x) ? 4 : 0) +
                      (signbit(x) ? 8 : 0));
static int case_special_values() {
    std::vector<float> a = {inf, -inf, NAN, 0.0f, -0.0f, 1e-45f, 3e38f, inf, 0.0f, inf};
    std::vector<float> b = {inf, inf, 1.0f, 0.0f, 0.0f, 0.5f, 3e38f, 0.0f, 0.0f, -inf};
    auto check = [&](auto f) {
        return compare(f, a, b, [f](float r, float x, float y) { return same(r, f(x, y)); });
    };
    return verdict(check(Add{}) && check(Sub{}) && check(Mul{}) && check(Div{}) &&
                   check(Classify{}));
}

static int case_denormals() {
    std::vector<float> a, b;
    for (int i = 0; i < 100; i++) {
        a.push_back(ldexpf(1.0f + i / 128.0f, -126 - i % 22));
        b.push_back(i % 3 ? 0.75f : ldexpf(1.0f, -140 + i % 7));
    }
    auto check = [&](auto f) {
        return compare(f, a, b, [f](float r, float x, float y) { return same(r, f(x, y)); });
    };
    return verdict(check(Add{}) && check(Sub{}) && check(Mul{}) && check(Div{}) && check(Root{}));
}

struct Saturate {
    __device__ float operator()(float x, float) const { return __saturatef(x); }
};
struct SaturatedMad {
    __device__ float operator()(float x, float y) const { return __saturatef(x * 0.5f + 0.25f); }
};
static int case_saturate() {
    std::vector<float> v = {-2, -0.0f, 0.25f, 0.5f, 1, 1.5f, 1e30f, NAN, inf, -inf};
    bool good = compare(Saturate{}, v, v, [](float r, float x, float) {
        return r == (x != x || x <= 0 ? 0.0f : x >= 1 ? 1.0f : x);
    });
    good = good && compare(SaturatedMad{}, v, v, [](float r, float x, float) {
        float y = x * 0.5f + 0.25f;
        return r == (y != y || y <= 0 ? 0.0f : y >= 1 ? 1.0f : y);
    });
    return verdict(good);
}

FUNCTOR(MinMax, fminf(x, y) * 3.0f - fmaxf(x, 0.5f));
FUNCTOR(Clamp, fminf(fmaxf(x, -1.0f), 1.0f));
FUNCTOR(MinNan, fminf(x, y));
FUNCTOR(Dim, fdimf(x, y));
static int case_min_max_clamp() {
    std::vector<float> a = {NAN, 1, NAN, 2, -3}, b = {1, NAN, NAN, -2, 4};
    bool good = compare(MinNan{}, a, b, [](float r, float x, float y) {
        return same(r, fminf(x, y));
    });
    std::vector<float> v;
    for (int i = -20; i < 20; i++) v.push_back(i * 0.25f);
    std::vector<float> w(v.rbegin(), v.rend());
    good = good && compare(MinMax{}, v, w, [](float r, float x, float y) {
        return r == MinMax{}(x, y);
    });
    return verdict(good && exact(Clamp{}) && exact(Dim{}));
}

__global__ void casts(const unsigned* in, unsigned* out) {
    float f = __uint_as_float(in[threadIdx.x]);
    out[threadIdx.x] = __float_as_uint(-f) ^ (unsigned)__float_as_int(fabsf(f));
}

static int case_bit_casts() {
    std::vector<unsigned> h(64);
    for (unsigned i = 0; i < 64; i++) h[i] = i * 66664327u & 0xff7fffffu;
    unsigned *in = upload(h), *out = zeros<unsigned>(64);
    casts<<<1, 64>>>(in, out);
    std::vector<unsigned> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 64; i++) {
        good = good && r[i] == ((h[i] ^ 0x80000000u) ^ (h[i] & 0x7fffffffu));
    }
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"basic_exact", case_basic_exact},
    {"division_and_root_exact", case_division_and_root_exact},
    {"fma_exact", case_fma_exact},
    {"rounding_modes", case_rounding_modes},
    {"comparisons_and_nan", case_comparisons_and_nan},
    {"rounding_functions", case_rounding_functions},
    {"special_values", case_special_values},
    {"denormals", case_denormals},
    {"saturate", case_saturate},
    {"min_max_clamp", case_min_max_clamp},
    {"bit_casts", case_bit_casts},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
