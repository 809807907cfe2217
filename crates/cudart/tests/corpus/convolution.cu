// Convolutions with their weights in __constant__ memory, and other uses of it.
//
// case: row_filter  expect: clean
// case: row_filter_tile  expect: clean
// case: row_filter_tile_no_barrier  expect: race error shared at: @cw, @chl, @chr, @cr
// case: filter_2d  expect: clean
// case: separable  expect: clean
// case: weights_past_end  expect: bounds error at: @kpast
// case: constant_struct  expect: clean
// case: constant_table_by_lane  expect: clean
// case: constant_updated_between_launches  expect: clean
// case: constant_read_back  expect: clean
// case: input_left_of_start  expect: bounds error at: @leftof
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
constexpr int RADIUS = 4, TAPS = 2 * RADIUS + 1;
__constant__ float weights[TAPS];
__constant__ float weights2d[5][5];

static std::vector<float> numbers(int n) {
    std::vector<float> v(n);
    for (int i = 0; i < n; i++) v[i] = (float)((i * 13 + 5) % 61);
    return v;
}

static std::vector<float> setWeights(float step) {
    std::vector<float> w(TAPS);
    for (int i = 0; i < TAPS; i++) w[i] = step * (i - 2);
    CHECK(cudaMemcpyToSymbol(weights, w.data(), sizeof(weights)));
    return w;
}

static float filtered(const std::vector<float>& v, const std::vector<float>& w, int i) {
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) {
        if (i + k >= 0 && i + k < (int)v.size()) sum += v[i + k] * w[k + RADIUS];
    }
    return sum;
}

__global__ void rowFilter(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) {
        if (i + k >= 0 && i + k < n) sum += in[i + k] * weights[k + RADIUS];
    }
    out[i] = sum;
}

template <bool Barrier> __global__ void rowFilterTile(const float* in, float* out, int n) {
    __shared__ float s[128 + 2 * RADIUS];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t + RADIUS] = i < n ? in[i] : 0.0f;  // @cw
    if (t < RADIUS) s[t] = i >= RADIUS ? in[i - RADIUS] : 0.0f;  // @chl
    if (t >= 128 - RADIUS) s[t + 2 * RADIUS] = i + RADIUS < n ? in[i + RADIUS] : 0.0f;  // @chr
    if (Barrier) __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < TAPS; k++) sum += s[t + k] * weights[k];  // @cr
    if (i < n) out[i] = sum;
}

template <class Kernel> static int runRow(Kernel kernel, bool check = true) {
    const int n = 600;
    std::vector<float> h = numbers(n), w = setWeights(0.5f);
    float* in = upload(h);
    float* out = zeros<float>(n);
    kernel<<<5, 128>>>(in, out, n);
    std::vector<float> r = take(out, n);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && (!check || r[i] == filtered(h, w, i));
    return verdict(good);
}

static int case_row_filter() { return runRow(rowFilter); }
static int case_row_filter_tile() { return runRow(rowFilterTile<true>); }
static int case_row_filter_tile_no_barrier() { return runRow(rowFilterTile<false>, false); }

__global__ void filter2d(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int dy = 0; dy < 5; dy++) {
        for (int dx = 0; dx < 5; dx++) {
            int cx = min(max(x + dx - 2, 0), w - 1), cy = min(max(y + dy - 2, 0), h - 1);
            sum += in[cy * w + cx] * weights2d[dy][dx];
        }
    }
    out[y * w + x] = sum;
}

static int case_filter_2d() {
    const int w = 45, h = 33;
    float k[5][5];
    for (int i = 0; i < 25; i++) k[i / 5][i % 5] = (float)(i % 7 - 3);
    CHECK(cudaMemcpyToSymbol(weights2d, k, sizeof(k)));
    std::vector<float> image = numbers(w * h);
    float* in = upload(image);
    float* out = zeros<float>(w * h);
    filter2d<<<dim3(3, 5), dim3(16, 8)>>>(in, out, w, h);
    std::vector<float> r = take(out, w * h);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < w * h; i++) {
        float sum = 0;
        for (int j = 0; j < 25; j++) {
            int cx = i % w + j % 5 - 2, cy = i / w + j / 5 - 2;
            cx = cx < 0 ? 0 : cx >= w ? w - 1 : cx;
            cy = cy < 0 ? 0 : cy >= h ? h - 1 : cy;
            sum += image[cy * w + cx] * k[j / 5][j % 5];
        }
        good = good && r[i] == sum;
    }
    return verdict(good);
}

__global__ void alongColumns(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) {
        if (y + k >= 0 && y + k < h) sum += in[(y + k) * w + x] * weights[k + RADIUS];
    }
    out[y * w + x] = sum;
}

static int case_separable() {
    const int w = 40, h = 20;
    std::vector<float> k = setWeights(1.0f), image = numbers(w * h), half(w * h), want(w * h);
    for (int y = 0; y < h; y++) {
        std::vector<float> row(image.begin() + y * w, image.begin() + (y + 1) * w);
        for (int x = 0; x < w; x++) half[y * w + x] = filtered(row, k, x);
    }
    for (int x = 0; x < w; x++) {
        std::vector<float> column(h);
        for (int y = 0; y < h; y++) column[y] = half[y * w + x];
        for (int y = 0; y < h; y++) want[y * w + x] = filtered(column, k, y);
    }
    float* in = upload(image);
    float* rows = zeros<float>(w * h);
    float* out = zeros<float>(w * h);
    for (int y = 0; y < h; y++) rowFilter<<<1, 64>>>(in + y * w, rows + y * w, w);
    alongColumns<<<dim3(2, h), 32>>>(rows, out, w, h);
    std::vector<float> r = take(out, w * h);
    CHECK(cudaFree(in));
    CHECK(cudaFree(rows));
    return verdict(r == want);
}

__constant__ int lonely[8];

__global__ void readPast(int* out, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) sum += lonely[i * 8192 + threadIdx.x % 8];  // @kpast
    out[threadIdx.x] = sum;
}

static int case_weights_past_end() {
    int v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(cudaMemcpyToSymbol(lonely, v, sizeof(v)));
    int* out = zeros<int>(32);
    readPast<<<1, 32>>>(out, 3);
    take(out, 32);
    return verdict(true);
}

struct Camera {
    float3 eye;
    float matrix[3][3];
    int flags;
};
__constant__ Camera camera;

__global__ void project(const float3* points, float3* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p[3] = {points[i].x - camera.eye.x, points[i].y - camera.eye.y,
                  points[i].z - camera.eye.z};
    float q[3];
    for (int r = 0; r < 3; r++) {
        q[r] = 0;
        for (int c = 0; c < 3; c++) q[r] += camera.matrix[r][c] * p[c];
    }
    out[i] = camera.flags & 1 ? make_float3(q[0], q[1], q[2]) : make_float3(0, 0, 0);
}

static int case_constant_struct() {
    Camera c = {{1, 2, 3}, {{0, 1, 0}, {0, 0, 2}, {4, 0, 0}}, 1};
    CHECK(cudaMemcpyToSymbol(camera, &c, sizeof(c)));
    std::vector<float3> h(100);
    for (int i = 0; i < 100; i++) h[i] = make_float3(i, 2 * i, 3 * i);
    float3* in = upload(h);
    float3* out = zeros<float3>(100);
    project<<<2, 64>>>(in, out, 100);
    std::vector<float3> r = take(out, 100);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 100; i++) {
        good = good && r[i].x == 2 * i - 2 && r[i].y == 2 * (3 * i - 3) && r[i].z == 4 * (i - 1);
    }
    return verdict(good);
}

__constant__ unsigned char sbox[256];

__global__ void substitute(unsigned char* data, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = sbox[data[i]];
}

static int case_constant_table_by_lane() {
    unsigned char table[256];
    for (int i = 0; i < 256; i++) table[i] = (unsigned char)(i * 167 + 41);
    CHECK(cudaMemcpyToSymbol(sbox, table, 256));
    std::vector<unsigned char> h(1000);
    for (int i = 0; i < 1000; i++) h[i] = (unsigned char)(i * i);
    unsigned char* d = upload(h);
    substitute<<<1, 96>>>(d, 1000);
    std::vector<unsigned char> r = take(d, 1000);
    bool good = true;
    for (int i = 0; i < 1000; i++) good = good && r[i] == table[h[i]];
    return verdict(good);
}

static int case_constant_updated_between_launches() {
    const int n = 200;
    std::vector<float> h = numbers(n);
    float* in = upload(h);
    float* a = zeros<float>(n);
    float* b = zeros<float>(n);
    std::vector<float> wa = setWeights(1.0f);
    rowFilter<<<2, 128>>>(in, a, n);
    std::vector<float> wb = setWeights(-2.0f);
    rowFilter<<<2, 128>>>(in, b, n);
    float one = 100.0f;
    CHECK(cudaMemcpyToSymbol(weights, &one, sizeof(one), 3 * sizeof(float)));
    std::vector<float> ra = take(a, n), rb = take(b, n);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < n; i++) {
        good = good && ra[i] == filtered(h, wa, i) && rb[i] == filtered(h, wb, i);
    }
    return verdict(good);
}

static int case_constant_read_back() {
    std::vector<float> w = setWeights(3.0f);
    float back[TAPS] = {};
    CHECK(cudaMemcpyFromSymbol(back, weights, sizeof(back)));
    float part[2];
    CHECK(cudaMemcpyFromSymbol(part, weights, sizeof(part), 4 * sizeof(float)));
    bool good = part[0] == w[4] && part[1] == w[5];
    for (int i = 0; i < TAPS; i++) good = good && back[i] == w[i];
    return verdict(good);
}

__global__ void filterUnguarded(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < TAPS; k++) {
        if (i + k < n + RADIUS) sum += in[i + k - RADIUS] * weights[k];  // @leftof
    }
    out[i] = sum;
}

static int case_input_left_of_start() { return runRow(filterUnguarded, false); }

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"row_filter", case_row_filter},
    {"row_filter_tile", case_row_filter_tile},
    {"row_filter_tile_no_barrier", case_row_filter_tile_no_barrier},
    {"filter_2d", case_filter_2d},
    {"separable", case_separable},
    {"weights_past_end", case_weights_past_end},
    {"constant_struct", case_constant_struct},
    {"constant_table_by_lane", case_constant_table_by_lane},
    {"constant_updated_between_launches", case_constant_updated_between_launches},
    {"constant_read_back", case_constant_read_back},
    {"input_left_of_start", case_input_left_of_start},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
