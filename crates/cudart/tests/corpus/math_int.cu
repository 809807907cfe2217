// Integers of all widths.
//
// case: division_and_modulo  expect: clean
// case: division_64  expect: clean
// case: shifts  expect: clean
// case: high_products  expect: clean
// case: mul24_and_sad  expect: clean
// case: byte_perm  expect: clean
// case: funnel_shift  expect: clean
// case: dot_products  expect: clean
// case: small_types  expect: clean
// case: wraparound_64  expect: clean
// case: int128_product  expect: clean
// case: gcd_and_modpow  expect: clean
// case: bit_fields  expect: clean
// case: hash_and_random  expect: clean
// case: simd_in_word  expect: clean
// case: average_and_abs  expect: clean
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
typedef unsigned long long u64;
typedef long long i64;

static std::vector<unsigned> samples() {
    std::vector<unsigned> v = {0, 1, 2, 3, 7, 10, 255, 256, 65535, 65536, 0x7fffffff, 0x80000000u,
                               0xffffffffu, 0xfffffffeu, 1000000007u};
    unsigned state = 5;
    while (v.size() < 128) {
        state = state * 1664525u + 1013904223u;
        v.push_back(state >> (state >> 27));
    }
    return v;
}

// Applies a functor on device and host to pairs, and compares the 64-bit results.
template <class F> __global__ void apply(F f, const unsigned* a, const unsigned* b, u64* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = f(a[i], b[i]);
}

template <class F, class G> static bool agree(F f, G g) {
    std::vector<unsigned> a = samples(), b(a.rbegin(), a.rend());
    b[0] = 3;
    unsigned *da = upload(a), *db = upload(b);
    u64* out = zeros<u64>(a.size());
    apply<<<2, 64>>>(f, da, db, out);
    std::vector<u64> r = take(out, a.size());
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    for (size_t i = 0; i < a.size(); i++) {
        if (r[i] != (u64)g(a[i], b[i])) {
            printf("f(%u, %u) = %llu\n", a[i], b[i], r[i]);
            return false;
        }
    }
    return true;
}

template <class F> static bool agree(F f) { return agree(f, f); }

#define FUNCTOR(name, expression)                                              \
    struct name {                                                              \
        __host__ __device__ u64 operator()(unsigned x, unsigned y) const {     \
            return expression;                                                 \
        }                                                                      \
    }
#define DEVICE_FUNCTOR(name, expression)                                       \
    struct name {                                                              \
        __device__ u64 operator()(unsigned x, unsigned y) const {              \
            return expression;                                                 \
        }                                                                      \
    }

FUNCTOR(UDiv, x / (y | 1) * 7ull + x % (y | 1));
FUNCTOR(SDiv, (u64)((i64)((int)x / (int)((y >> 1) + 1)) * 5 + (int)x % (int)((y >> 1) + 1)));
FUNCTOR(ByConstant, x / 10 + x % 10 * 3ull + (u64)(i64)((int)y / 7) + (u64)(i64)((int)y % 16));
FUNCTOR(NegativeDivisor, (u64)(i64)((int)(x & 0xffffff) / -(int)((y & 0xff) + 1)));
static int case_division_and_modulo() {
    return verdict(agree(UDiv{}) && agree(SDiv{}) && agree(ByConstant{}) &&
                   agree(NegativeDivisor{}));
}

FUNCTOR(UDiv64, ((u64)x << 32 | y) / ((u64)y * 3 + 1) + ((u64)y << 32 | x) % ((u64)x * 5 + 7));
FUNCTOR(SDiv64, (u64)(-(i64)((u64)x << 20 | y) / (i64)((u64)y + 1) +
                      -(i64)((u64)y << 20 | x) % (i64)(x / 2 + 9)));
static int case_division_64() { return verdict(agree(UDiv64{}) && agree(SDiv64{})); }

FUNCTOR(Shifts, (u64)(x << (y & 31)) + (x >> (y & 31)) * 3ull + (u64)(i64)((int)x >> (y & 31)) +
                    (((u64)x << 32 | y) >> (y & 63)) + ((u64)x << (y & 63)) +
                    (u64)((i64)((u64)x << 32) >> (y & 63)));
// Shift counts of 32 and more give 0 or the sign, on the device.
struct LongShifts {
    __device__ u64 operator()(unsigned x, unsigned y) const {
        unsigned a, b;
        int c;
        asm("shl.b32 %0, %1, %2;" : "=r"(a) : "r"(x), "r"(y));
        asm("shr.u32 %0, %1, %2;" : "=r"(b) : "r"(x), "r"(y));
        asm("shr.s32 %0, %1, %2;" : "=r"(c) : "r"(x), "r"(y));
        return a + 3ull * b + (u64)(i64)c;
    }
};
static int case_shifts() {
    return verdict(agree(Shifts{}) && agree(LongShifts{}, [](unsigned x, unsigned y) {
        unsigned a = y > 31 ? 0 : x << y, b = y > 31 ? 0 : x >> y;
        int c = (int)x >> (y > 31 ? 31 : y);
        return a + 3ull * b + (u64)(i64)c;
    }));
}

DEVICE_FUNCTOR(HighProducts, (u64)__umulhi(x, y) + (u64)(i64)__mulhi((int)x, (int)y) +
                                 __umul64hi((u64)x << 32 | y, (u64)y << 32 | x) +
                                 (u64)__mul64hi((i64)((u64)x << 32 | y), (i64)((u64)y << 32 | x)));
static int case_high_products() {
    return verdict(agree(HighProducts{}, [](unsigned x, unsigned y) {
        u64 p = (u64)x << 32 | y, q = (u64)y << 32 | x;
        u64 high = (u64)((unsigned __int128)p * q >> 64);
        u64 shigh = (u64)((__int128)(i64)p * (i64)q >> 64);
        return ((u64)x * y >> 32) + (u64)(i64)(int)((i64)(int)x * (int)y >> 32) + high + shigh;
    }));
}

DEVICE_FUNCTOR(Mul24, (u64)__umul24(x, y) + (u64)(i64)__mul24((int)x, (int)y) + __usad(x, y, 5u) +
                          (u64)__sad((int)(x >> 1), (int)(y >> 1), 9u));
static int case_mul24_and_sad() {
    return verdict(agree(Mul24{}, [](unsigned x, unsigned y) {
        unsigned u = (x & 0xffffff) * (y & 0xffffff);
        int a = (int)(x << 8) >> 8, b = (int)(y << 8) >> 8;
        int s = (int)(unsigned)((i64)a * b);
        unsigned d = x > y ? x - y : y - x, e = x >> 1, f = y >> 1;
        unsigned g = (e > f ? e - f : f - e) + 9u;
        return (u64)u + (u64)(i64)s + (unsigned)(d + 5u) + g;
    }));
}

DEVICE_FUNCTOR(Perm, (u64)__byte_perm(x, y, 0x3715) << 32 | __byte_perm(x, y, x >> 3));
static int case_byte_perm() {
    return verdict(agree(Perm{}, [](unsigned x, unsigned y) {
        auto perm = [](unsigned a, unsigned b, unsigned s) {
            u64 both = (u64)b << 32 | a;
            unsigned r = 0;
            for (int k = 0; k < 4; k++) {
                r |= (unsigned)(both >> (s >> 4 * k & 7) * 8 & 255) << 8 * k;
            }
            return r;
        };
        return (u64)perm(x, y, 0x3715) << 32 | perm(x, y, (x >> 3) & 0x7777);
    }));
}

DEVICE_FUNCTOR(Funnel, (u64)__funnelshift_l(x, y, x >> 5) + 3ull * __funnelshift_r(x, y, y >> 7) +
                           5ull * __funnelshift_lc(x, y, y & 63) +
                           7ull * __funnelshift_rc(x, y, x & 63));
static int case_funnel_shift() {
    return verdict(agree(Funnel{}, [](unsigned x, unsigned y) {
        u64 both = (u64)y << 32 | x;
        auto left = [&](unsigned n) { return (unsigned)(both << n >> 32); };
        auto right = [&](unsigned n) { return (unsigned)(both >> n); };
        unsigned lc = (y & 63) > 32 ? 32 : y & 63, rc = (x & 63) > 32 ? 32 : x & 63;
        return left(x >> 5 & 31) + 3ull * right(y >> 7 & 31) + 5ull * (lc == 32 ? x : left(lc)) +
               7ull * (rc == 32 ? y : right(rc));
    }));
}

DEVICE_FUNCTOR(Dots, (u64)(i64)__dp4a((int)x, (int)y, 100) + __dp4a(x, y, 7u) +
                         (u64)(i64)__dp2a_lo((int)x, (int)y, -3));
static int case_dot_products() {
    return verdict(agree(Dots{}, [](unsigned x, unsigned y) {
        unsigned s = 100, u = 7, l = (unsigned)-3;
        for (int k = 0; k < 4; k++) {
            s += (unsigned)((signed char)(x >> 8 * k) * (signed char)(y >> 8 * k));
            u += (x >> 8 * k & 255) * (y >> 8 * k & 255);
        }
        for (int k = 0; k < 2; k++) {
            l += (unsigned)((short)(x >> 16 * k) * (signed char)(y >> 8 * k));
        }
        return (u64)(i64)(int)s + u + (u64)(i64)(int)l;
    }));
}

FUNCTOR(Chars, (u64)(i64)(signed char)(x + y) + (unsigned char)(x * y) +
                   (u64)(i64)(signed char)((signed char)x >> (y & 7)) + (unsigned char)(x - y));
FUNCTOR(Shorts, (u64)(i64)(short)(x + y) + (unsigned short)(x * y) +
                    (u64)(i64)(short)((short)x / (short)((y & 0xff) + 1)) +
                    (unsigned short)((unsigned short)x % ((y & 0xfff) + 1)));
static int case_small_types() { return verdict(agree(Chars{}) && agree(Shorts{})); }

FUNCTOR(Wrap, ((u64)x * 0x9e3779b97f4a7c15ull + ((u64)y << 17)) * ((u64)y | 1) - ((u64)x << 40));
static int case_wraparound_64() { return verdict(agree(Wrap{})); }

FUNCTOR(Wide, (u64)((unsigned __int128)((u64)x << 31 | y) * ((u64)y << 29 | x) >> 61));
static int case_int128_product() { return verdict(agree(Wide{})); }

__host__ __device__ inline unsigned gcd(unsigned a, unsigned b) {
    while (b) {
        unsigned t = a % b;
        a = b;
        b = t;
    }
    return a;
}

__host__ __device__ inline u64 power(u64 base, unsigned exponent, u64 modulus) {
    u64 r = 1;
    for (base %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1) r = r * base % modulus;
        base = base * base % modulus;
    }
    return r;
}

FUNCTOR(Numbers, gcd(x, y) + 1000 * power(x, y, 1000003));
static int case_gcd_and_modpow() { return verdict(agree(Numbers{})); }

struct Fields {
    __device__ u64 operator()(unsigned x, unsigned y) const {
        unsigned extracted, inserted;
        int sign;
        asm("bfe.u32 %0, %1, 5, 9;" : "=r"(extracted) : "r"(x));
        asm("bfe.s32 %0, %1, 3, 7;" : "=r"(sign) : "r"(x));
        asm("bfi.b32 %0, %1, %2, 11, 6;" : "=r"(inserted) : "r"(x), "r"(y));
        struct {
            unsigned low : 5, middle : 13, high : 14;
        } f;
        f.low = x;
        f.middle = y;
        f.high = x + y;
        u64 sum = extracted + (u64)(i64)sign + ((u64)inserted << 20);
        return sum + f.low + f.middle * 2ull + f.high;
    }
};
static int case_bit_fields() {
    return verdict(agree(Fields{}, [](unsigned x, unsigned y) {
        unsigned extracted = x >> 5 & 511;
        int sign = (int)(x << 22) >> 25;
        unsigned inserted = (y & ~(63u << 11)) | (x & 63) << 11;
        return extracted + (u64)(i64)sign + ((u64)inserted << 20) + (x & 31) + (y & 8191) * 2ull +
               (x + y & 16383);
    }));
}

__host__ __device__ inline unsigned hash(unsigned h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

__host__ __device__ inline u64 xorshift(u64 s, int rounds) {
    for (int k = 0; k < rounds; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
    }
    return s;
}

FUNCTOR(Random, hash(x) + ((u64)hash(y + 1) << 32) + xorshift(x + 88172645463325252ull, y & 31));
static int case_hash_and_random() { return verdict(agree(Random{})); }

DEVICE_FUNCTOR(Simd, (u64)__vadd4(x, y) + __vsub2(x, y) + __vmaxu4(x, y) + __vcmpgtu4(x, y) +
                         __vabsdiffu4(x, y));
static int case_simd_in_word() {
    return verdict(agree(Simd{}, [](unsigned x, unsigned y) {
        unsigned add = 0, sub = 0, high = 0, greater = 0, diff = 0;
        for (int k = 0; k < 32; k += 8) {
            unsigned a = x >> k & 255, b = y >> k & 255;
            add |= (a + b & 255) << k;
            high |= (a > b ? a : b) << k;
            greater |= (a > b ? 255u : 0u) << k;
            diff |= (a > b ? a - b : b - a) << k;
        }
        for (int k = 0; k < 32; k += 16) sub |= ((x >> k) - (y >> k) & 0xffff) << k;
        return (u64)add + sub + high + greater + diff;
    }));
}

DEVICE_FUNCTOR(Averages, (u64)__uhadd(x, y) + __urhadd(x, y) + (u64)(i64)__hadd((int)x, (int)y) +
                             (u64)(i64)abs((int)(x | 1)) + min(x, y) +
                             (u64)(i64)max((int)x, (int)y) +
                             (u64)llabs((i64)((u64)x << 20) - (i64)((u64)y << 20)));
static int case_average_and_abs() {
    return verdict(agree(Averages{}, [](unsigned x, unsigned y) {
        i64 sx = (int)x, sy = (int)y, d = (i64)((u64)x << 20) - (i64)((u64)y << 20);
        i64 o = (int)(x | 1);
        return ((u64)x + y) / 2 + ((u64)x + y + 1) / 2 + (u64)(sx + sy >> 1) +
               (u64)(o < 0 ? -o : o) + (x < y ? x : y) + (u64)(sx > sy ? sx : sy) + (u64)(d < 0 ? -d : d);
    }));
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"division_and_modulo", case_division_and_modulo},
    {"division_64", case_division_64},
    {"shifts", case_shifts},
    {"high_products", case_high_products},
    {"mul24_and_sad", case_mul24_and_sad},
    {"byte_perm", case_byte_perm},
    {"funnel_shift", case_funnel_shift},
    {"dot_products", case_dot_products},
    {"small_types", case_small_types},
    {"wraparound_64", case_wraparound_64},
    {"int128_product", case_int128_product},
    {"gcd_and_modpow", case_gcd_and_modpow},
    {"bit_fields", case_bit_fields},
    {"hash_and_random", case_hash_and_random},
    {"simd_in_word", case_simd_in_word},
    {"average_and_abs", case_average_and_abs},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
