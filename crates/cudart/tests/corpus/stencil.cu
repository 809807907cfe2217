// Stencils with a halo: one and two dimensions, ping-pong buffers, in place.
//
// case: heat_1d  expect: clean
// case: heat_1d_no_barrier  expect: race error shared at: @hmid, @hleft, @hright, @huse
// case: heat_1d_tile_too_short  expect: bounds error at: @short
// case: heat_1d_no_edge_guard  expect: bounds error at: @edge
// case: heat_1d_in_place  expect: race error gpu at: @inplace
// case: ping_pong  expect: clean
// case: blur_2d_halo  expect: clean
// case: blur_2d_direct  expect: clean
// case: radius_3  expect: clean
// case: radius_3_halo_by_first_threads  expect: clean
// case: several_steps_in_shared  expect: clean
// case: several_steps_one_barrier  expect: race error shared at: @stepr, @stepw
// case: red_black  expect: clean
// case: gauss_seidel_all  expect: race error gpu at: @seidel
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
    for (int i = 0; i < n; i++) v[i] = (i * 29 + 3) % 127;
    return v;
}

static int at(const std::vector<int>& v, int i) { return i < 0 || i >= (int)v.size() ? 0 : v[i]; }

template <bool Barrier> __global__ void heat(const int* in, int* out, int n) {
    __shared__ int s[128 + 2];
    int i = blockIdx.x * 128 + threadIdx.x, l = threadIdx.x + 1;
    s[l] = i < n ? in[i] : 0;                                                // @hmid
    if (threadIdx.x == 0) s[0] = i > 0 ? in[i - 1] : 0;                      // @hleft
    if (threadIdx.x == 127) s[129] = i + 1 < n ? in[i + 1] : 0;              // @hright
    if (Barrier) __syncthreads();
    if (i < n) out[i] = s[l - 1] + 2 * s[l] + s[l + 1];                      // @huse
}

template <class Launch> static int run(int n, Launch launch, bool check = true) {
    std::vector<int> h = numbers(n);
    int* in = upload(h);
    int* out = zeros<int>(n);
    launch(in, out);
    std::vector<int> r = take(out, n);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < n; i++) {
        good = good && (!check || r[i] == at(h, i - 1) + 2 * h[i] + at(h, i + 1));
    }
    return verdict(good);
}

static int case_heat_1d() {
    return run(1000, [](int* in, int* out) { heat<true><<<8, 128>>>(in, out, 1000); });
}

static int case_heat_1d_no_barrier() {
    return run(1000, [](int* in, int* out) { heat<false><<<8, 128>>>(in, out, 1000); }, false);
}

// The tile has no room for the right halo cell.
__global__ void heatShort(const int* in, int* out, int n) {
    __shared__ int s[128 + 1];
    int i = blockIdx.x * 128 + threadIdx.x, l = threadIdx.x + 1;
    s[l] = in[i];
    if (threadIdx.x == 0) s[0] = i > 0 ? in[i - 1] : 0;
    if (threadIdx.x == 127) s[l + 1] = i + 1 < n ? in[i + 1] : 0;  // @short
    __syncthreads();
    out[i] = s[l - 1] + 2 * s[l];
}

static int case_heat_1d_tile_too_short() {
    return run(1024, [](int* in, int* out) { heatShort<<<8, 128>>>(in, out, 1024); }, false);
}

__global__ void heatNoGuard(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i - 1] + 2 * in[i] + in[i + 1];  // @edge
}

static int case_heat_1d_no_edge_guard() {
    return run(1024, [](int* in, int* out) { heatNoGuard<<<8, 128>>>(in, out, 1024); }, false);
}

__global__ void heatInPlace(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) data[i] = data[i - 1] + 2 * data[i] + data[i + 1];  // @inplace
}

static int case_heat_1d_in_place() {
    int* d = upload(numbers(1024));
    heatInPlace<<<8, 128>>>(d, 1024);
    take(d, 1024);
    return verdict(true);
}

__global__ void heatDirect(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int left = i > 0 ? in[i - 1] : 0, right = i < n - 1 ? in[i + 1] : 0;
    out[i] = left + 2 * in[i] + right;
}

static int case_ping_pong() {
    const int n = 500, steps = 7;
    std::vector<int> h = numbers(n), next(n);
    int* a = upload(h);
    int* b = zeros<int>(n);
    for (int s = 0; s < steps; s++) {
        heatDirect<<<4, 128>>>(s % 2 ? b : a, s % 2 ? a : b, n);
        for (int i = 0; i < n; i++) next[i] = at(h, i - 1) + 2 * h[i] + at(h, i + 1);
        h.swap(next);
    }
    std::vector<int> r = take(b, n);
    CHECK(cudaFree(a));
    return verdict(r == h);
}

static std::vector<int> blurred(const std::vector<int>& v, int w, int h) {
    std::vector<int> r(w * h);
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            int sum = 0;
            for (int dy = -1; dy <= 1; dy++) {
                for (int dx = -1; dx <= 1; dx++) {
                    int cx = x + dx, cy = y + dy;
                    if (cx >= 0 && cy >= 0 && cx < w && cy < h) sum += v[cy * w + cx];
                }
            }
            r[y * w + x] = sum;
        }
    }
    return r;
}

constexpr int B = 16;

__global__ void blurHalo(const int* in, int* out, int w, int h) {
    __shared__ int s[B + 2][B + 2];
    int x0 = blockIdx.x * B - 1, y0 = blockIdx.y * B - 1;
    for (int i = threadIdx.y * B + threadIdx.x; i < (B + 2) * (B + 2); i += B * B) {
        int cx = x0 + i % (B + 2), cy = y0 + i / (B + 2);
        bool inside = cx >= 0 && cy >= 0 && cx < w && cy < h;
        s[i / (B + 2)][i % (B + 2)] = inside ? in[cy * w + cx] : 0;
    }
    __syncthreads();
    int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0;
    for (int dy = 0; dy < 3; dy++) {
        for (int dx = 0; dx < 3; dx++) sum += s[threadIdx.y + dy][threadIdx.x + dx];
    }
    out[y * w + x] = sum;
}

__global__ void blurDirect(const int* in, int* out, int w, int h) {
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0;
    for (int cy = max(y - 1, 0); cy <= min(y + 1, h - 1); cy++) {
        for (int cx = max(x - 1, 0); cx <= min(x + 1, w - 1); cx++) sum += in[cy * w + cx];
    }
    out[y * w + x] = sum;
}

template <class Kernel> static int runBlur(Kernel kernel) {
    const int w = 53, h = 38;
    std::vector<int> image = numbers(w * h);
    int* in = upload(image);
    int* out = zeros<int>(w * h);
    kernel<<<dim3((w + B - 1) / B, (h + B - 1) / B), dim3(B, B)>>>(in, out, w, h);
    std::vector<int> r = take(out, w * h);
    CHECK(cudaFree(in));
    return verdict(r == blurred(image, w, h));
}

static int case_blur_2d_halo() { return runBlur(blurHalo); }
static int case_blur_2d_direct() { return runBlur(blurDirect); }

constexpr int R = 3;

// The halo is fetched by a strided loop, or by the first R threads on both sides.
template <bool Loop> __global__ void window(const int* in, int* out, int n) {
    __shared__ int s[128 + 2 * R];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (Loop) {
        for (int k = t; k < 128 + 2 * R; k += 128) {
            int g = (int)blockIdx.x * 128 - R + k;
            s[k] = g >= 0 && g < n ? in[g] : 0;
        }
    } else {
        s[t + R] = i < n ? in[i] : 0;
        if (t < R) {
            s[t] = i >= R ? in[i - R] : 0;
            s[t + 128 + R] = i + 128 < n ? in[i + 128] : 0;
        }
    }
    __syncthreads();
    int sum = 0;
#pragma unroll
    for (int k = -R; k <= R; k++) sum += s[t + R + k];
    if (i < n) out[i] = sum;
}

template <bool Loop> static int runWindow() {
    const int n = 700;
    std::vector<int> h = numbers(n);
    int* in = upload(h);
    int* out = zeros<int>(n);
    window<Loop><<<6, 128>>>(in, out, n);
    std::vector<int> r = take(out, n);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int k = -R; k <= R; k++) sum += at(h, i + k);
        good = good && r[i] == sum;
    }
    return verdict(good);
}

static int case_radius_3() { return runWindow<true>(); }
static int case_radius_3_halo_by_first_threads() { return runWindow<false>(); }

template <bool Both> __global__ void steps(int* data, int count) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int k = 0; k < count; k++) {
        int sum = (t > 0 ? s[t - 1] : 0) + s[t] + (t < 127 ? s[t + 1] : 0);  // @stepr
        if (Both) __syncthreads();
        s[t] = sum;  // @stepw
        __syncthreads();
    }
    data[t] = s[t];
}

template <bool Both> static int runSteps() {
    std::vector<int> h = numbers(128), next(128);
    int* d = upload(h);
    steps<Both><<<1, 128>>>(d, 5);
    std::vector<int> r = take(d, 128);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 128; i++) next[i] = at(h, i - 1) + h[i] + at(h, i + 1);
        h.swap(next);
    }
    return verdict(!Both || r == h);
}

static int case_several_steps_in_shared() { return runSteps<true>(); }
static int case_several_steps_one_barrier() { return runSteps<false>(); }

// Only cells of one colour are written, and only cells of the other are read.
__global__ void relax(float* u, int n, int colour) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1 && i % 2 == colour) u[i] = 0.5f * (u[i - 1] + u[i + 1]);
}

static int case_red_black() {
    const int n = 65;
    std::vector<float> u(n, 0.0f);
    u[n - 1] = 64.0f;
    float* d = upload(u);
    for (int k = 0; k < 10; k++) {
        relax<<<2, 64>>>(d, n, 1);
        relax<<<2, 64>>>(d, n, 0);
        for (int c = 1; c >= 0; c--) {
            for (int i = 1; i < n - 1; i++) {
                if (i % 2 == c) u[i] = 0.5f * (u[i - 1] + u[i + 1]);
            }
        }
    }
    return verdict(take(d, n) == u);
}

__global__ void relaxAll(float* u, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) u[i] = 0.5f * (u[i - 1] + u[i + 1]);  // @seidel
}

static int case_gauss_seidel_all() {
    std::vector<float> u(256, 1.0f);
    u[255] = 64.0f;
    for (int i = 0; i < 256; i++) u[i] += i % 3;
    float* d = upload(u);
    for (int k = 0; k < 3; k++) relaxAll<<<2, 128>>>(d, 256);
    take(d, 256);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"heat_1d", case_heat_1d},
    {"heat_1d_no_barrier", case_heat_1d_no_barrier},
    {"heat_1d_tile_too_short", case_heat_1d_tile_too_short},
    {"heat_1d_no_edge_guard", case_heat_1d_no_edge_guard},
    {"heat_1d_in_place", case_heat_1d_in_place},
    {"ping_pong", case_ping_pong},
    {"blur_2d_halo", case_blur_2d_halo},
    {"blur_2d_direct", case_blur_2d_direct},
    {"radius_3", case_radius_3},
    {"radius_3_halo_by_first_threads", case_radius_3_halo_by_first_threads},
    {"several_steps_in_shared", case_several_steps_in_shared},
    {"several_steps_one_barrier", case_several_steps_one_barrier},
    {"red_black", case_red_black},
    {"gauss_seidel_all", case_gauss_seidel_all},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
