// Two- and three-dimensional blocks and grids.
//
// case: ids_2d  expect: clean
// case: ids_3d  expect: clean
// case: ragged_image  expect: clean
// case: ragged_image_no_y_guard  expect: bounds error at: @noy
// case: rows_and_columns_swapped  expect: bounds error at: @swapped
// case: width_one_short  expect: race error gpu at: @short
// case: volume_sum_by_z  expect: clean
// case: flip_horizontal  expect: clean
// case: flip_horizontal_all_threads  expect: race error gpu at: @flip1, @flip2, @flip3
// case: grid_z_layers  expect: clean
// case: odd_block_33_by_3  expect: clean
// case: life_step  expect: clean
// case: life_in_place  expect: race error gpu at: @liferead, @lifewrite
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
__global__ void ids2d(int* out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = (blockIdx.y * gridDim.x + blockIdx.x) * 1000 +
                         threadIdx.y * blockDim.x + threadIdx.x;
}

static int case_ids_2d() {
    const int width = 64, height = 24;
    int* d = zeros<int>(width * height);
    ids2d<<<dim3(4, 3), dim3(16, 8)>>>(d, width);
    std::vector<int> r = take(d, width * height);
    bool good = true;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int block = (y / 8) * 4 + x / 16, thread = (y % 8) * 16 + x % 16;
            good = good && r[y * width + x] == block * 1000 + thread;
        }
    }
    return verdict(good);
}

__global__ void ids3d(int* out, dim3 size) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < size.x && y < size.y && z < size.z) {
        out[(z * size.y + y) * size.x + x] = x + 100 * y + 10000 * z;
    }
}

static int case_ids_3d() {
    dim3 size(10, 11, 7), block(4, 4, 4);
    dim3 grid((size.x + 3) / 4, (size.y + 3) / 4, (size.z + 3) / 4);
    int count = size.x * size.y * size.z;
    int* d = zeros<int>(count);
    ids3d<<<grid, block>>>(d, size);
    std::vector<int> r = take(d, count);
    bool good = true;
    for (int i = 0; i < count; i++) {
        int x = i % 10, y = i / 10 % 11, z = i / 110;
        good = good && r[i] == x + 100 * y + 10000 * z;
    }
    return verdict(good);
}

__global__ void toGray(const uchar4* in, unsigned char* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    uchar4 p = in[y * width + x];
    out[y * width + x] = (p.x * 77 + p.y * 150 + p.z * 29) >> 8;
}

static int case_ragged_image() {
    const int width = 61, height = 45;
    std::vector<uchar4> h(width * height);
    for (size_t i = 0; i < h.size(); i++) {
        h[i] = make_uchar4(i * 3 & 255, i * 5 & 255, i * 11 & 255, 255);
    }
    uchar4* in = upload(h);
    unsigned char* out = zeros<unsigned char>(h.size());
    toGray<<<dim3(4, 3), dim3(16, 16)>>>(in, out, width, height);
    std::vector<unsigned char> r = take(out, h.size());
    CHECK(cudaFree(in));
    bool good = true;
    for (size_t i = 0; i < h.size(); i++) {
        good = good && r[i] == (h[i].x * 77 + h[i].y * 150 + h[i].z * 29) >> 8;
    }
    return verdict(good);
}

__global__ void invertNoYGuard(unsigned char* pixels, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width) pixels[y * width + x] ^= 255;  // @noy
}

static int case_ragged_image_no_y_guard() {
    const int width = 61, height = 45;
    unsigned char* d = zeros<unsigned char>(width * height);
    invertNoYGuard<<<dim3(4, 3), dim3(16, 16)>>>(d, width);
    take(d, width * height);
    return verdict(true);
}

// The index uses the height as the pitch of a wide image: x*height+y is fine, y*width+x is
// fine, x*width+y isn't.
__global__ void doubleSwapped(float* m, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) m[x * width + y] *= 2.0f;  // @swapped
}

static int case_rows_and_columns_swapped() {
    const int width = 64, height = 16;
    float* d = zeros<float>(width * height);
    doubleSwapped<<<dim3(4, 1), dim3(16, 16)>>>(d, width, height);
    take(d, width * height);
    return verdict(true);
}

// Rows overlap by one element, since the pitch is one short.
__global__ void writeShortPitch(int* out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * (width - 1) + x] = 100 * y + x;  // @short
}

static int case_width_one_short() {
    const int width = 32, height = 32;
    int* d = zeros<int>(width * height);
    writeShortPitch<<<dim3(2, 2), dim3(16, 16)>>>(d, width);
    take(d, width * height);
    return verdict(true);
}

__global__ void sumAlongZ(const int* volume, int* sums, int nx, int ny, int nz) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= nx || y >= ny) return;
    int sum = 0;
    for (int z = 0; z < nz; z++) sum += volume[(z * ny + y) * nx + x];
    sums[y * nx + x] = sum;
}

static int case_volume_sum_by_z() {
    const int nx = 20, ny = 13, nz = 9;
    std::vector<int> h(nx * ny * nz), want(nx * ny, 0);
    for (int i = 0; i < nx * ny * nz; i++) {
        h[i] = i * 37 % 101;
        want[i % (nx * ny)] += h[i];
    }
    int* volume = upload(h);
    int* sums = zeros<int>(nx * ny);
    sumAlongZ<<<dim3(3, 2), dim3(8, 8)>>>(volume, sums, nx, ny, nz);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(volume));
    return verdict(take(sums, nx * ny) == want);
}

__global__ void flip(int* image, int width, int limit) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x < limit) {
        int* row = image + y * width;
        int a = row[x];               // @flip1
        row[x] = row[width - 1 - x];  // @flip2
        row[width - 1 - x] = a;       // @flip3
    }
}

static int runFlip(int limit, bool check) {
    const int width = 64, height = 10;
    std::vector<int> h(width * height);
    for (int i = 0; i < width * height; i++) h[i] = i;
    int* d = upload(h);
    flip<<<height, width>>>(d, width, limit);
    std::vector<int> r = take(d, width * height);
    bool good = true;
    for (int i = 0; i < width * height; i++) {
        good = good && (!check || r[i] == i / width * width + width - 1 - i % width);
    }
    return verdict(good);
}

static int case_flip_horizontal() { return runFlip(32, true); }
// Every pair is swapped by two threads.
static int case_flip_horizontal_all_threads() { return runFlip(64, false); }

__global__ void layers(float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        out[(blockIdx.z * height + y) * width + x] = blockIdx.z + 0.5f * x;
    }
}

static int case_grid_z_layers() {
    const int width = 30, height = 9, depth = 5;
    float* d = zeros<float>(width * height * depth);
    layers<<<dim3(2, 3, depth), dim3(16, 4)>>>(d, width, height);
    std::vector<float> r = take(d, width * height * depth);
    bool good = true;
    for (int i = 0; i < width * height * depth; i++) {
        good = good && r[i] == i / (width * height) + 0.5f * (i % width);
    }
    return verdict(good);
}

__global__ void linearId(int* out) {
    int inBlock = threadIdx.x + threadIdx.y * blockDim.x;
    out[blockIdx.x * blockDim.x * blockDim.y + inBlock] = inBlock;
}

// 99 threads: the last warp is partly empty, rows straddle warps.
static int case_odd_block_33_by_3() {
    int* d = zeros<int>(4 * 99);
    linearId<<<4, dim3(33, 3)>>>(d);
    std::vector<int> r = take(d, 4 * 99);
    bool good = true;
    for (int i = 0; i < 4 * 99; i++) good = good && r[i] == i % 99;
    return verdict(good);
}

__device__ int neighbours(const unsigned char* cells, int x, int y, int w, int h) {
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0) continue;
            sum += cells[(y + dy + h) % h * w + (x + dx + w) % w];  // @liferead
        }
    }
    return sum;
}

__global__ void life(const unsigned char* from, unsigned char* to, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int n = neighbours(from, x, y, w, h);
    to[y * w + x] = n == 3 || (n == 2 && from[y * w + x]);  // @lifewrite
}

// A glider on a torus is back after 4*w generations; here we look only 4 steps ahead.
static int runLife(bool inPlace) {
    const int w = 40, h = 24;
    std::vector<unsigned char> board(w * h, 0);
    const int glider[5][2] = {{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}};
    for (auto& g : glider) board[(g[1] + 10) * w + g[0] + 10] = 1;
    unsigned char* a = upload(board);
    unsigned char* b = zeros<unsigned char>(w * h);
    for (int step = 0; step < 4; step++) {
        life<<<dim3(5, 3), dim3(8, 8)>>>(a, inPlace ? a : b, w, h);
        if (!inPlace) {
            unsigned char* t = a;
            a = b;
            b = t;
        }
    }
    std::vector<unsigned char> r = take(a, w * h), want(w * h, 0);
    CHECK(cudaFree(b));
    for (auto& g : glider) want[(g[1] + 11) * w + g[0] + 11] = 1;
    return verdict(inPlace || r == want);
}

static int case_life_step() { return runLife(false); }
static int case_life_in_place() { return runLife(true); }

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"ids_2d", case_ids_2d},
    {"ids_3d", case_ids_3d},
    {"ragged_image", case_ragged_image},
    {"ragged_image_no_y_guard", case_ragged_image_no_y_guard},
    {"rows_and_columns_swapped", case_rows_and_columns_swapped},
    {"width_one_short", case_width_one_short},
    {"volume_sum_by_z", case_volume_sum_by_z},
    {"flip_horizontal", case_flip_horizontal},
    {"flip_horizontal_all_threads", case_flip_horizontal_all_threads},
    {"grid_z_layers", case_grid_z_layers},
    {"odd_block_33_by_3", case_odd_block_33_by_3},
    {"life_step", case_life_step},
    {"life_in_place", case_life_in_place},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
