// Single precision functions, to be right within their documented error.
//
// case: trigonometry  expect: clean
// case: exponentials  expect: clean
// case: other_functions  expect: clean
// case: fast_intrinsics  expect: clean
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
static bool same(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return memcmp(&a, &b, 4) == 0;
}

static bool near(float a, double b, double relative, double absolute = 1e-30) {
    if (std::isinf(b) || b != b) return same(a, (float)b);
    return std::fabs(a - b) <= relative * std::fabs(b) + absolute;
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

#define FUNCTOR(name, expression)                                              \
    struct name {                                                              \
        __host__ __device__ float operator()(float x, float y) const {         \
            return expression;                                                 \
        }                                                                      \
    }

static std::vector<float> range(float low, float high) {
    std::vector<float> v(500);
    for (int i = 0; i < 500; i++) v[i] = low + (high - low) * i / 499;
    return v;
}

template <class F, class G>
static bool close(F f, G g, float low, float high, double relative, double absolute = 1e-30) {
    std::vector<float> v = range(low, high);
    return compare(f, v, v, [&](float r, float x, float) {
        return near(r, g((double)x), relative, absolute);
    });
}

FUNCTOR(Sin, sinf(x));
FUNCTOR(Cos, cosf(x));
FUNCTOR(Tan, tanf(x));
FUNCTOR(Atan, atanf(x));
FUNCTOR(Asin, asinf(x));
FUNCTOR(Atan2, atan2f(x, 2.0f));
static int case_trigonometry() {
    auto sine = [](double x) { return sin(x); };
    bool good = close(Sin{}, sine, -20, 20, 1e-6, 1e-6) &&
                close(Sin{}, sine, 1e5f, 1e8f, 1e-6, 1e-6) &&
                close(Cos{}, [](double x) { return cos(x); }, -300, 300, 1e-6, 1e-6) &&
                close(Tan{}, [](double x) { return tan(x); }, -1.5f, 1.5f, 2e-6) &&
                close(Atan{}, [](double x) { return atan(x); }, -50, 50, 1e-6) &&
                close(Asin{}, [](double x) { return asin(x); }, -1, 1, 1e-6) &&
                close(Atan2{}, [](double x) { return atan2(x, 2.0); }, -9, 9, 1e-6);
    return verdict(good);
}

FUNCTOR(Exp, expf(x));
FUNCTOR(Exp2, exp2f(x));
FUNCTOR(Log, logf(x));
FUNCTOR(Log2, log2f(x));
FUNCTOR(Log10, log10f(x));
FUNCTOR(Pow, powf(x, 2.7f));
FUNCTOR(Tanh, tanhf(x));
static int case_exponentials() {
    bool good = close(Exp{}, [](double x) { return exp(x); }, -80, 80, 1e-6) &&
                close(Exp2{}, [](double x) { return exp2(x); }, -120, 120, 1e-6) &&
                close(Log{}, [](double x) { return log(x); }, 0.01f, 1e6f, 1e-6, 1e-6) &&
                close(Log2{}, [](double x) { return log2(x); }, 0.01f, 1e6f, 1e-6, 1e-6) &&
                close(Log10{}, [](double x) { return log10(x); }, 0.01f, 1e6f, 1e-6, 1e-6) &&
                close(Pow{}, [](double x) { return pow(x, (double)2.7f); }, 0, 1000, 2e-6) &&
                close(Tanh{}, [](double x) { return tanh(x); }, -9, 9, 2e-6);
    return verdict(good);
}

FUNCTOR(Cbrt, cbrtf(x));
FUNCTOR(Rsqrt, 1.0f / sqrtf(x));
FUNCTOR(Hypot, hypotf(x, 3.0f));
FUNCTOR(Erf, erff(x));
FUNCTOR(Fmod, fmodf(x, 0.7f));
FUNCTOR(Ldexp, ldexpf(x, 5));
struct RsqrtDevice {
    __device__ float operator()(float x, float) const { return rsqrtf(x); }
};
static int case_other_functions() {
    bool good = close(Cbrt{}, [](double x) { return cbrt(x); }, -100, 100, 1e-6) &&
                close(Rsqrt{}, [](double x) { return 1 / sqrt(x); }, 0.1f, 1e4f, 1e-6) &&
                close(RsqrtDevice{}, [](double x) { return 1 / sqrt(x); }, 0.1f, 1e4f, 1e-6) &&
                close(Hypot{}, [](double x) { return hypot(x, 3.0); }, -90, 90, 1e-6) &&
                close(Erf{}, [](double x) { return erf(x); }, -3, 3, 1e-6) &&
                close(Ldexp{}, [](double x) { return x * 32; }, -3, 3, 0) &&
                compare(Fmod{}, range(-50, 50), range(-50, 50), [](float r, float x, float) {
                    return same(r, fmodf(x, 0.7f));
                });
    return verdict(good);
}

struct FastSin {
    __device__ float operator()(float x, float) const { return __sinf(x); }
};
struct FastCos {
    __device__ float operator()(float x, float) const { return __cosf(x); }
};
struct FastExp {
    __device__ float operator()(float x, float) const { return __expf(x); }
};
struct FastLog {
    __device__ float operator()(float x, float) const { return __logf(x); }
};
struct FastPow {
    __device__ float operator()(float x, float) const { return __powf(x, 1.5f); }
};
struct FastDivide {
    __device__ float operator()(float x, float) const { return __fdividef(x, 3.0f); }
};
struct FastReciprocal {
    __device__ float operator()(float x, float) const { return __frcp_rn(x) + __fsqrt_rn(x); }
};
static int case_fast_intrinsics() {
    bool good = close(FastSin{}, [](double x) { return sin(x); }, -3.1f, 3.1f, 0, 1e-6) &&
                close(FastCos{}, [](double x) { return cos(x); }, -3.1f, 3.1f, 0, 1e-6) &&
                close(FastExp{}, [](double x) { return exp(x); }, -10, 10, 2e-6) &&
                close(FastLog{}, [](double x) { return log(x); }, 2, 1000, 1e-6) &&
                close(FastPow{}, [](double x) { return pow(x, 1.5); }, 1, 100, 4e-6) &&
                close(FastDivide{}, [](double x) { return x / 3; }, -100, 100, 3e-7) &&
                close(FastReciprocal{}, [](double x) { return 1 / x + sqrt(x); }, 1, 50, 2e-7);
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"trigonometry", case_trigonometry},
    {"exponentials", case_exponentials},
    {"other_functions", case_other_functions},
    {"fast_intrinsics", case_fast_intrinsics},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
