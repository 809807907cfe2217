// Conversions between types, with each rounding and at the edges of the ranges.
//
// case: float_to_int_roundings  expect: clean
// case: float_to_int_saturates  expect: clean
// case: double_to_int_roundings  expect: clean
// case: int_to_float_roundings  expect: clean
// case: int64_to_double  expect: clean
// case: double_to_float_roundings  expect: clean
// case: narrowing_integers  expect: clean
// case: sign_extension  expect: clean
// case: bool_and_char  expect: clean
// case: packed_vectors  expect: clean
// case: bits_of_double  expect: clean
// case: saturating_ptx  expect: clean
#include <cfenv>
#include <climits>
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
typedef long long i64;
typedef unsigned long long u64;

static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};

template <class F, class From, class To> __global__ void apply(F f, const From* in, To* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(in[i], out + 4 * i);
}

template <class To, class F, class From>
static std::vector<To> results(F f, const std::vector<From>& in) {
    int n = in.size();
    From* d = upload(in);
    To* out = zeros<To>(4 * n);
    apply<<<(n + 63) / 64, 64>>>(f, d, out, n);
    std::vector<To> r = take(out, 4 * n);
    CHECK(cudaFree(d));
    return r;
}

static std::vector<float> floats() {
    std::vector<float> v = {0.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 0.49999997f, 1e6f + 0.5f, -7.25f};
    for (int i = 0; i < 100; i++) v.push_back((i * 77 % 101 - 50) * 1.375f);
    return v;
}

struct FloatToInt {
    __device__ void operator()(float x, int* out) const {
        out[0] = __float2int_rn(x);
        out[1] = __float2int_rz(x);
        out[2] = __float2int_ru(x);
        out[3] = __float2int_rd(x);
    }
};

static int case_float_to_int_roundings() {
    std::vector<float> v = floats();
    std::vector<int> r = results<int>(FloatToInt{}, v);
    bool good = true;
    for (size_t i = 0; i < v.size(); i++) {
        good = good && r[4 * i] == (int)rintf(v[i]) && r[4 * i + 1] == (int)truncf(v[i]) &&
               r[4 * i + 2] == (int)ceilf(v[i]) && r[4 * i + 3] == (int)floorf(v[i]);
    }
    return verdict(good);
}

struct FloatToWide {
    __device__ void operator()(float x, i64* out) const {
        out[0] = (int)x;
        out[1] = (unsigned)x;
        out[2] = (i64)x;
        out[3] = (i64)(u64)x;
    }
};

// Out of range is clamped, and NaN becomes zero or the lowest number.
static int case_float_to_int_saturates() {
    std::vector<float> v = {1e10f, -1e10f, 1e30f, -1e30f, INFINITY, -INFINITY, -5.0f, 3e9f};
    std::vector<i64> r = results<i64>(FloatToWide{}, v);
    bool good = true;
    for (size_t i = 0; i < v.size(); i++) {
        double x = v[i];
        i64 want32 = x > INT_MAX ? INT_MAX : x < INT_MIN ? INT_MIN : (i64)x;
        i64 wantU = x > UINT_MAX ? (i64)UINT_MAX : x < 0 ? 0 : (i64)x;
        i64 want64 = x >= 9.3e18 ? LLONG_MAX : x <= -9.3e18 ? LLONG_MIN : (i64)x;
        u64 wantU64 = x >= 1.9e19 ? ~0ull : x < 0 ? 0 : (u64)x;
        good = good && r[4 * i] == want32 && r[4 * i + 1] == wantU && r[4 * i + 2] == want64 &&
               (u64)r[4 * i + 3] == wantU64;
    }
    return verdict(good);
}

struct DoubleToInt {
    __device__ void operator()(double x, i64* out) const {
        out[0] = __double2int_rn(x) + 3 * (i64)__double2int_rz(x);
        out[1] = __double2ll_ru(x) + 5 * (i64)__double2int_rd(x);
        out[2] = (i64)__double2uint_rz(fabs(x));
        out[3] = (i64)__double2ull_rn(fabs(x) * 4294967296.0);
    }
};

static int case_double_to_int_roundings() {
    std::vector<double> v = {0.5, 1.5, 2.5, -0.5, -2.5, 1e9 + 0.5, 0.49999999999999994, -123456.75};
    for (int i = 0; i < 60; i++) v.push_back((i * 39 % 61 - 30) * 2.125 + 0.0625);
    std::vector<i64> r = results<i64>(DoubleToInt{}, v);
    bool good = true;
    for (size_t i = 0; i < v.size(); i++) {
        double x = v[i];
        good = good && r[4 * i] == (i64)rint(x) + 3 * (i64)trunc(x) &&
               r[4 * i + 1] == (i64)ceil(x) + 5 * (i64)floor(x) &&
               r[4 * i + 2] == (i64)trunc(fabs(x)) &&
               (u64)r[4 * i + 3] == (u64)rint(fabs(x) * 4294967296.0);
    }
    return verdict(good);
}

static std::vector<int> ints() {
    std::vector<int> v = {0, 1, -1, INT_MAX, INT_MIN, 16777217, -16777219, 33554435, 123456789};
    for (int i = 0; i < 80; i++) v.push_back((int)(i * 2654435761u));
    return v;
}

struct IntToFloat {
    __device__ void operator()(int x, float* out) const {
        out[0] = __int2float_rn(x);
        out[1] = __int2float_rz(x);
        out[2] = __int2float_ru(x);
        out[3] = __uint2float_rd((unsigned)x);
    }
};

static int case_int_to_float_roundings() {
    std::vector<int> v = ints();
    std::vector<float> r = results<float>(IntToFloat{}, v);
    bool good = true;
    for (size_t i = 0; i < v.size(); i++) {
        for (int m = 0; m < 4; m++) {
            fesetround(modes[m]);
            volatile i64 wide = m == 3 ? (i64)(unsigned)v[i] : (i64)v[i];
            volatile double exact = (double)wide;
            volatile float want = (float)exact;
            fesetround(FE_TONEAREST);
            good = good && r[4 * i + m] == want;
        }
    }
    return verdict(good);
}

struct WideToDouble {
    __device__ void operator()(i64 x, double* out) const {
        out[0] = (double)x;
        out[1] = __ll2double_rz(x);
        out[2] = (double)(u64)x;
        out[3] = (float)x;
    }
};

static int case_int64_to_double() {
    std::vector<i64> v = {0, 1, -1, LLONG_MAX, LLONG_MIN, (1ll << 53) + 1, -(1ll << 54) - 3};
    for (int i = 0; i < 57; i++) v.push_back((i64)(0x9e3779b97f4a7c15ull * (i + 1)));
    std::vector<double> r = results<double>(WideToDouble{}, v);
    bool good = true;
    for (size_t i = 0; i < v.size(); i++) {
        fesetround(FE_TOWARDZERO);
        volatile i64 x = v[i];
        volatile double zero = (double)x;
        fesetround(FE_TONEAREST);
        good = good && r[4 * i] == (double)v[i] && r[4 * i + 1] == zero &&
               r[4 * i + 2] == (double)(u64)v[i] && r[4 * i + 3] == (double)(float)v[i];
    }
    return verdict(good);
}

struct DoubleToFloat {
    __device__ void operator()(double x, float* out) const {
        out[0] = __double2float_rn(x);
        out[1] = __double2float_rz(x);
        out[2] = __double2float_ru(x);
        out[3] = __double2float_rd(x);
    }
};

static int case_double_to_float_roundings() {
    std::vector<double> v = {0.1, -0.1, 1e-40, 1e40, -1e40, 1.0 + 1e-9, 16777217.0, 3.4e38, 1e-50};
    for (int i = 1; i < 60; i++) v.push_back(M_PI * i * pow(-3.0, i % 40 - 20));
    std::vector<float> r = results<float>(DoubleToFloat{}, v);
    bool good = true;
    for (size_t i = 0; i < v.size(); i++) {
        for (int m = 0; m < 4; m++) {
            fesetround(modes[m]);
            volatile double x = v[i];
            volatile float want = (float)x;
            fesetround(FE_TONEAREST);
            good = good && r[4 * i + m] == want;
        }
    }
    return verdict(good);
}

struct Narrow {
    __host__ __device__ void operator()(i64 x, int* out) const {
        out[0] = (signed char)x + 1000 * (unsigned char)(x >> 3);
        out[1] = (short)x + (unsigned short)(x >> 5);
        out[2] = (int)x;
        out[3] = (int)(unsigned char)(short)(x >> 9);
    }
};

template <class To, class F, class From> static bool sameAsHost(F f, const std::vector<From>& v) {
    std::vector<To> r = results<To>(f, v);
    for (size_t i = 0; i < v.size(); i++) {
        To want[4];
        f(v[i], want);
        for (int k = 0; k < 4; k++) {
            if (r[4 * i + k] != want[k]) return false;
        }
    }
    return true;
}

static std::vector<i64> wides() {
    std::vector<i64> v = {0, -1, 127, 128, -128, 255, 256, 32768, -32769, 1ll << 40};
    for (int i = 0; i < 50; i++) v.push_back((i64)(0x2545f4914f6cdd1dull * (i + 3)));
    return v;
}

static int case_narrowing_integers() { return verdict(sameAsHost<int>(Narrow{}, wides())); }

struct Extend {
    __host__ __device__ void operator()(int x, i64* out) const {
        out[0] = (i64)(signed char)x * 3;
        out[1] = (i64)(unsigned)x - (i64)(short)x;
        out[2] = (i64)x << 3;
        out[3] = (i64)(u64)(unsigned short)x;
    }
};

static int case_sign_extension() { return verdict(sameAsHost<i64>(Extend{}, ints())); }

struct Bools {
    __host__ __device__ void operator()(int x, unsigned char* out) const {
        bool a = x, b = x & 1, c = !(x & 6);
        out[0] = a + b + c;
        out[1] = (a && b) | c << 1;
        out[2] = (char)(a ? 'y' : 'n');
        out[3] = (unsigned char)(x > 5 == b);
    }
};

static int case_bool_and_char() { return verdict(sameAsHost<unsigned char>(Bools{}, ints())); }

struct Packed {
    __host__ __device__ void operator()(uchar4 x, int* out) const {
        short2 s = make_short2((short)(x.x - x.y), (short)(x.z * x.w));
        out[0] = s.x;
        out[1] = s.y;
        out[2] = x.x << 24 | x.y << 16 | x.z << 8 | x.w;
        ushort4 u = make_ushort4(x.w, x.z, x.y, (unsigned short)(x.x * 257));
        out[3] = u.x + u.y * 3 + u.z * 5 + u.w * 7;
    }
};

static int case_packed_vectors() {
    std::vector<uchar4> v(64);
    for (int i = 0; i < 64; i++) v[i] = make_uchar4(i * 7, i * 11, 255 - i, i * i);
    return verdict(sameAsHost<int>(Packed{}, v));
}

struct DoubleBits {
    __device__ void operator()(double x, int* out) const {
        i64 bits = __double_as_longlong(x);
        out[0] = __double2hiint(x);
        out[1] = __double2loint(x);
        out[2] = __hiloint2double((int)(bits >> 32), (int)bits) == x;
        out[3] = __longlong_as_double(bits ^ (1ll << 63)) == -x;
    }
};

static int case_bits_of_double() {
    std::vector<double> v;
    for (int i = 0; i < 64; i++) v.push_back((i - 31.3) * pow(7.0, i % 20));
    std::vector<int> r = results<int>(DoubleBits{}, v);
    bool good = true;
    for (size_t i = 0; i < v.size(); i++) {
        i64 bits;
        memcpy(&bits, &v[i], 8);
        good = good && r[4 * i] == (int)(bits >> 32) && r[4 * i + 1] == (int)bits &&
               r[4 * i + 2] == 1 && r[4 * i + 3] == 1;
    }
    return verdict(good);
}

struct SaturatingPtx {
    __device__ void operator()(int x, int* out) const {
        int a, b, c;
        float f;
        asm("add.sat.s32 %0, %1, 2000000000;" : "=r"(a) : "r"(x));
        asm("sub.sat.s32 %0, %1, 2000000000;" : "=r"(b) : "r"(x));
        asm("{\n .reg .s16 t;\n cvt.sat.s16.s32 t, %1;\n cvt.s32.s16 %0, t;\n}" : "=r"(c) : "r"(x));
        asm("cvt.sat.f32.f32 %0, %1;" : "=f"(f) : "f"((float)x * 1e-9f));
        out[0] = a;
        out[1] = b;
        out[2] = c;
        out[3] = __float_as_int(f);
    }
};

static int case_saturating_ptx() {
    std::vector<int> v = ints(), r = results<int>(SaturatingPtx{}, v);
    auto clamp = [](i64 x, i64 low, i64 high) { return x < low ? low : x > high ? high : x; };
    bool good = true;
    for (size_t i = 0; i < v.size(); i++) {
        volatile float f = (float)v[i] * 1e-9f;
        float g = f < 0 ? 0 : f > 1 ? 1 : (float)f;
        int bits;
        memcpy(&bits, &g, 4);
        if (g == 0) bits = 0;
        good = good && r[4 * i] == clamp((i64)v[i] + 2000000000, INT_MIN, INT_MAX) &&
               r[4 * i + 1] == clamp((i64)v[i] - 2000000000, INT_MIN, INT_MAX) &&
               r[4 * i + 2] == clamp(v[i], -32768, 32767) && r[4 * i + 3] == bits;
    }
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"float_to_int_roundings", case_float_to_int_roundings},
    {"float_to_int_saturates", case_float_to_int_saturates},
    {"double_to_int_roundings", case_double_to_int_roundings},
    {"int_to_float_roundings", case_int_to_float_roundings},
    {"int64_to_double", case_int64_to_double},
    {"double_to_float_roundings", case_double_to_float_roundings},
    {"narrowing_integers", case_narrowing_integers},
    {"sign_extension", case_sign_extension},
    {"bool_and_char", case_bool_and_char},
    {"packed_vectors", case_packed_vectors},
    {"bits_of_double", case_bits_of_double},
    {"saturating_ptx", case_saturating_ptx},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
