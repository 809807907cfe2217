// Vector addition and its near relatives: guards, grid-stride loops, in-place updates.
//
// case: add  expect: clean
// case: add_ragged  expect: clean
// case: add_noguard  expect: bounds error at: @noguard
// case: grid_stride  expect: clean
// case: grid_stride_le  expect: bounds error at: @le
// case: saxpy_in_place  expect: clean
// case: saxpy_shifted  expect: race error gpu at: @shifted
// case: reverse  expect: clean
// case: reverse_off_by_one  expect: bounds error at: @reverse
// case: bytes_saturate  expect: clean
// case: swap_halves  expect: clean
// case: rotate_in_place  expect: race error gpu at: @rotate
// case: two_elements_a_thread  expect: clean
// case: empty_grid_guard  expect: clean
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
static std::vector<float> ramp(int n, float step) {
    std::vector<float> v(n);
    for (int i = 0; i < n; i++) v[i] = step * i;
    return v;
}

__global__ void addKernel(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

static int runAdd(int n) {
    std::vector<float> a = ramp(n, 1.0f), b = ramp(n, 2.0f);
    float* da = upload(a);
    float* db = upload(b);
    float* dc = zeros<float>(n);
    addKernel<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    std::vector<float> c = take(dc, n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && c[i] == 3.0f * i;
    return verdict(good);
}

static int case_add() { return runAdd(4096); }
static int case_add_ragged() { return runAdd(1000); }

__global__ void addUnguarded(const float* a, const float* b, float* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];  // @noguard
}

static int case_add_noguard() {
    const int n = 1000;
    float* da = upload(ramp(n, 1.0f));
    float* db = upload(ramp(n, 2.0f));
    float* dc = zeros<float>(n);
    addUnguarded<<<(n + 255) / 256, 256>>>(da, db, dc);
    take(dc, n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return verdict(true);
}

__global__ void squareStrided(const int* in, int* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        out[i] = in[i] * in[i];
    }
}

static int case_grid_stride() {
    const int n = 5000;
    std::vector<int> h(n);
    for (int i = 0; i < n; i++) h[i] = i - 77;
    int* in = upload(h);
    int* out = zeros<int>(n);
    squareStrided<<<4, 128>>>(in, out, n);
    std::vector<int> r = take(out, n);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && r[i] == h[i] * h[i];
    return verdict(good);
}

__global__ void fillStridedLe(int* out, int n, int value) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += blockDim.x * gridDim.x) {
        out[i] = value;  // @le
    }
}

static int case_grid_stride_le() {
    const int n = 2048;
    int* out = zeros<int>(n);
    fillStridedLe<<<4, 128>>>(out, n, 9);
    take(out, n);
    return verdict(true);
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

static int case_saxpy_in_place() {
    const int n = 2000;
    float* x = upload(ramp(n, 1.0f));
    float* y = upload(ramp(n, 4.0f));
    saxpy<<<(n + 127) / 128, 128>>>(n, 3.0f, x, y);
    std::vector<float> r = take(y, n);
    CHECK(cudaFree(x));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && r[i] == 7.0f * i;
    return verdict(good);
}

__global__ void saxpyShifted(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) y[i + 1] = a * x[i] + y[i];  // @shifted
}

static int case_saxpy_shifted() {
    const int n = 1024;
    float* x = upload(ramp(n, 1.0f));
    float* y = upload(ramp(n, 4.0f));
    saxpyShifted<<<n / 256, 256>>>(n, 3.0f, x, y);
    take(y, n);
    CHECK(cudaFree(x));
    return verdict(true);
}

__global__ void reverseCopy(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[n - 1 - i] = in[i];
}

static int case_reverse() {
    const int n = 777;
    std::vector<int> h(n);
    for (int i = 0; i < n; i++) h[i] = 3 * i + 1;
    int* in = upload(h);
    int* out = zeros<int>(n);
    reverseCopy<<<4, 256>>>(in, out, n);
    std::vector<int> r = take(out, n);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && r[i] == h[n - 1 - i];
    return verdict(good);
}

__global__ void reverseCopyOff(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[n - i] = in[i];  // @reverse
}

static int case_reverse_off_by_one() {
    const int n = 777;
    int* in = upload(std::vector<int>(n, 5));
    int* out = zeros<int>(n);
    reverseCopyOff<<<4, 256>>>(in, out, n);
    take(out, n);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void brighten(unsigned char* pixels, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int v = pixels[i] + by;
        pixels[i] = v > 255 ? 255 : v < 0 ? 0 : v;
    }
}

static int case_bytes_saturate() {
    const int n = 1023;
    std::vector<unsigned char> h(n);
    for (int i = 0; i < n; i++) h[i] = (unsigned char)(i * 7);
    unsigned char* d = upload(h);
    brighten<<<8, 128>>>(d, n, 60);
    brighten<<<8, 128>>>(d, n, -20);
    std::vector<unsigned char> r = take(d, n);
    bool good = true;
    for (int i = 0; i < n; i++) {
        int v = h[i] + 60 > 255 ? 255 : h[i] + 60;
        good = good && r[i] == (v - 20 < 0 ? 0 : v - 20);
    }
    return verdict(good);
}

__global__ void swapHalves(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        int low = a[i];
        a[i] = a[i + n / 2];
        a[i + n / 2] = low;
    }
}

static int case_swap_halves() {
    const int n = 1024;
    std::vector<int> h(n);
    for (int i = 0; i < n; i++) h[i] = i;
    int* d = upload(h);
    swapHalves<<<n / 128, 128>>>(d, n);
    std::vector<int> r = take(d, n);
    bool good = true;
    for (int i = 0; i < n; i++) good = good && r[i] == (i + n / 2) % n;
    return verdict(good);
}

__global__ void rotateInPlace(int* a, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[(i + by) % n] = a[i];  // @rotate
}

static int case_rotate_in_place() {
    const int n = 1024;
    std::vector<int> h(n);
    for (int i = 0; i < n; i++) h[i] = i;
    int* d = upload(h);
    rotateInPlace<<<n / 128, 128>>>(d, n, 300);
    take(d, n);
    return verdict(true);
}

__global__ void addPairs(const int* a, const int* b, int* c, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) c[i] = a[i] + b[i];
    if (i + 1 < n) c[i + 1] = a[i + 1] + b[i + 1];
}

static int case_two_elements_a_thread() {
    const int n = 1501;
    std::vector<int> a(n), b(n);
    for (int i = 0; i < n; i++) {
        a[i] = 11 * i;
        b[i] = -i;
    }
    int* da = upload(a);
    int* db = upload(b);
    int* dc = zeros<int>(n);
    addPairs<<<(n / 2 + 128) / 128, 128>>>(da, db, dc, n);
    std::vector<int> c = take(dc, n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && c[i] == 10 * i;
    return verdict(good);
}

// Far more threads than elements: most of them have nothing to do.
static int case_empty_grid_guard() {
    float* a = upload(ramp(3, 1.0f));
    float* b = upload(ramp(3, 1.0f));
    float* c = zeros<float>(3);
    addKernel<<<16, 512>>>(a, b, c, 3);
    std::vector<float> r = take(c, 3);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return verdict(r[0] == 0.0f && r[1] == 2.0f && r[2] == 4.0f);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"add", case_add},
    {"add_ragged", case_add_ragged},
    {"add_noguard", case_add_noguard},
    {"grid_stride", case_grid_stride},
    {"grid_stride_le", case_grid_stride_le},
    {"saxpy_in_place", case_saxpy_in_place},
    {"saxpy_shifted", case_saxpy_shifted},
    {"reverse", case_reverse},
    {"reverse_off_by_one", case_reverse_off_by_one},
    {"bytes_saturate", case_bytes_saturate},
    {"swap_halves", case_swap_halves},
    {"rotate_in_place", case_rotate_in_place},
    {"two_elements_a_thread", case_two_elements_a_thread},
    {"empty_grid_guard", case_empty_grid_guard},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
