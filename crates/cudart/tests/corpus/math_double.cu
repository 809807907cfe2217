// Double precision.
//
// case: basic_exact  expect: clean
// case: division_and_root_exact  expect: clean
// case: fma_exact  expect: clean
// case: rounding_modes  expect: clean
// case: functions  expect: clean
// case: rounding_functions  expect: clean
// case: mixed_with_float  expect: clean
// case: sum_of_series  expect: clean
// case: newton  expect: clean
// case: complex_roots  expect: clean
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
static std::vector<double> samples() {
    std::vector<double> v = {0.0, -0.0, 1.0, 0.1, -0.3, 1e-300, -4e-320, 1e308, 3.0, 2.5, -1e17};
    unsigned long long state = 11;
    while (v.size() < 192) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        v.push_back((double)((long long)state >> 11) * exp2((int)(state >> 5 & 63) - 60));
    }
    return v;
}

static bool same(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return memcmp(&a, &b, 8) == 0;
}

template <class F>
__global__ void apply(F f, const double* a, const double* b, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f(a[i], b[i]);
}

template <class F> static std::vector<double> results(F f, const std::vector<double>& a,
                                                      const std::vector<double>& b) {
    int n = a.size();
    double *da = upload(a), *db = upload(b), *out = zeros<double>(n);
    apply<<<(n + 63) / 64, 64>>>(f, da, db, out, n);
    std::vector<double> r = take(out, n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return r;
}

template <class F> static bool exact(F f) {
    std::vector<double> a = samples(), b(a.rbegin(), a.rend()), r = results(f, a, b);
    for (size_t i = 0; i < a.size(); i++) {
        if (!same(r[i], f(a[i], b[i]))) return false;
    }
    return true;
}

template <class F> static bool close(F f, double low, double high, double relative) {
    std::vector<double> v(200);
    for (int i = 0; i < 200; i++) v[i] = low + (high - low) * i / 199;
    std::vector<double> r = results(f, v, v);
    for (int i = 0; i < 200; i++) {
        double want = f(v[i], v[i]);
        if (!(std::fabs(r[i] - want) <= relative * std::fabs(want) + 1e-15)) return false;
    }
    return true;
}

#define FUNCTOR(name, expression)                                              \
    struct name {                                                              \
        __host__ __device__ double operator()(double x, double y) const {      \
            return expression;                                                 \
        }                                                                      \
    }

FUNCTOR(Add, x + y);
FUNCTOR(Sub, x - y);
FUNCTOR(Mul, x* y);
FUNCTOR(Abs, fabs(x));
FUNCTOR(Min, fmin(x, y));
FUNCTOR(Max, fmax(x, y));
static int case_basic_exact() {
    return verdict(exact(Add{}) && exact(Sub{}) && exact(Mul{}) && exact(Abs{}));
}

FUNCTOR(Div, x / y);
FUNCTOR(Root, sqrt(fabs(x)));
FUNCTOR(Inverse, 1.0 / x);
static int case_division_and_root_exact() {
    return verdict(exact(Div{}) && exact(Root{}) && exact(Inverse{}));
}

FUNCTOR(Fma, fma(x, y, 0.1));
FUNCTOR(FmaChain, fma(x, x, fma(y, 0.25, -x)));
static int case_fma_exact() { return verdict(exact(Fma{}) && exact(FmaChain{})); }

__global__ void directed(const double* a, const double* b, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], y = b[i];
    double r[12] = {__dadd_rn(x, y), __dadd_rz(x, y), __dadd_ru(x, y), __dadd_rd(x, y),
                    __dmul_rn(x, y), __dmul_rz(x, y), __dmul_ru(x, y), __dmul_rd(x, y),
                    __ddiv_rn(x, y), __ddiv_rz(x, y), __ddiv_ru(x, y), __ddiv_rd(x, y)};
    for (int k = 0; k < 12; k++) out[12 * i + k] = r[k];
}

static int case_rounding_modes() {
    std::vector<double> a = samples(), b(a.rbegin(), a.rend());
    int n = a.size();
    double *da = upload(a), *db = upload(b), *out = zeros<double>(12 * n);
    directed<<<3, 64>>>(da, db, out, n);
    std::vector<double> r = take(out, 12 * n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    bool good = true;
    for (int i = 0; i < n; i++) {
        for (int m = 0; m < 4; m++) {
            fesetround(modes[m]);
            volatile double x = a[i], y = b[i];
            volatile double sum = x + y, product = x * y, quotient = x / y;
            fesetround(FE_TONEAREST);
            good = good && same(r[12 * i + m], sum) && same(r[12 * i + 4 + m], product) &&
                   same(r[12 * i + 8 + m], quotient);
        }
    }
    return verdict(good);
}

FUNCTOR(Sin, sin(x));
FUNCTOR(Cos, cos(x));
FUNCTOR(Exp, exp(x));
FUNCTOR(Log, log(x));
FUNCTOR(Pow, pow(x, 1.7));
FUNCTOR(Atan, atan(x));
FUNCTOR(Cbrt, cbrt(x));
FUNCTOR(Tanh, tanh(x));
static int case_functions() {
    return verdict(close(Sin{}, -50, 50, 1e-14) && close(Cos{}, 1e6, 1e9, 1e-12) &&
                   close(Exp{}, -300, 300, 1e-14) && close(Log{}, 1e-8, 1e8, 1e-14) &&
                   close(Pow{}, 0, 500, 1e-14) && close(Atan{}, -20, 20, 1e-14) &&
                   close(Cbrt{}, -90, 90, 1e-14) && close(Tanh{}, -8, 8, 1e-14));
}

FUNCTOR(Floor, floor(x) + 0.0);
FUNCTOR(Ceil, ceil(x) + 0.0);
FUNCTOR(Rint, rint(x) + 0.0);
FUNCTOR(Trunc, trunc(x) + 0.0);
FUNCTOR(Round, round(x) + 0.0);
static int case_rounding_functions() {
    return verdict(exact(Floor{}) && exact(Ceil{}) && exact(Rint{}) && exact(Trunc{}) &&
                   exact(Round{}));
}

FUNCTOR(Mixed, (double)((float)x * 3.0f) + (double)(float)(y * 1e-3));
static int case_mixed_with_float() { return verdict(exact(Mixed{})); }

__global__ void alternating(double* out, int terms) {
    double sum = 0;
    for (int k = threadIdx.x; k < terms; k += blockDim.x) sum += (k % 2 ? -1.0 : 1.0) / (2 * k + 1);
    atomicAdd(out, sum);
}

static int case_sum_of_series() {
    double* out = zeros<double>(1);
    alternating<<<1, 64>>>(out, 20000);
    return verdict(std::fabs(4 * take(out, 1)[0] - M_PI) < 1e-4);
}

__host__ __device__ inline double cubeRoot(double a) {
    double x = a > 1 ? a : 1;
    for (int k = 0; k < 60; k++) x = x - (x - a / (x * x)) / 3;
    return x;
}

FUNCTOR(Newton, cubeRoot(fabs(x)));
static int case_newton() { return verdict(close(Newton{}, 0.01, 1000, 1e-14)); }

// The roots of z^3 = 1 that Newton's method finds from a grid of starting points.
__global__ void basins(int* out, int side) {
    int i = threadIdx.x, j = blockIdx.x;
    double x = (i - side / 2 + 0.25) * 0.5, y = (j - side / 2 + 0.125) * 0.5;
    for (int k = 0; k < 80; k++) {
        double xx = x * x - y * y, yy = 2 * x * y;
        double m = xx * xx + yy * yy;
        double nx = (2 * x + xx / m) / 3, ny = (2 * y - yy / m) / 3;
        x = nx;
        y = ny;
    }
    out[j * side + i] = x > 0 ? 0 : y > 0 ? 1 : 2;
}

static int case_complex_roots() {
    const int side = 16;
    int* out = zeros<int>(side * side);
    basins<<<side, side>>>(out, side);
    std::vector<int> r = take(out, side * side);
    // Far out on the positive axis the real root is found.
    int seen[3] = {};
    for (int v : r) seen[v]++;
    return verdict(r[side / 2 * side + side - 1] == 0 && seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
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
    {"functions", case_functions},
    {"rounding_functions", case_rounding_functions},
    {"mixed_with_float", case_mixed_with_float},
    {"sum_of_series", case_sum_of_series},
    {"newton", case_newton},
    {"complex_roots", case_complex_roots},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
