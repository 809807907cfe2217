// Transposes: naive, through a tile, in place, of vectors of several elements a thread.
//
// case: naive  expect: clean
// case: tiled  expect: clean
// case: tiled_padded  expect: clean
// case: tiled_no_barrier  expect: race error shared at: @tw, @tr
// case: tiled_ragged  expect: clean
// case: tiled_ragged_read_unguarded  expect: bounds error at: @tread
// case: tile_32_by_8  expect: clean
// case: walk_tiles_barrier_missing  expect: race error shared at: @lw, @lr
// case: in_place_square  expect: clean
// case: in_place_all_threads  expect: race error gpu at: @ip1, @ip2, @ip3
// case: naive_wrong_pitch  expect: bounds error at: @pitch
// case: tile_indices_unswapped  expect: clean
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
    for (int i = 0; i < n; i++) v[i] = i * 3 + 1;
    return v;
}

// Runs a transpose of a height x width matrix and checks it where the outcome is defined.
template <class Launch> static int run(int width, int height, Launch launch, bool check = true) {
    std::vector<int> h = numbers(width * height);
    int* in = upload(h);
    int* out = zeros<int>(width * height);
    launch(in, out);
    std::vector<int> r = take(out, width * height);
    CHECK(cudaFree(in));
    bool good = true;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            good = good && (!check || r[x * height + y] == h[y * width + x]);
        }
    }
    return verdict(good);
}

__global__ void naive(const int* in, int* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

static int case_naive() {
    return run(50, 30, [](int* in, int* out) {
        naive<<<dim3(4, 4), dim3(16, 8)>>>(in, out, 50, 30);
    });
}

template <int Pad, bool Barrier> __global__ void tiled(const int* in, int* out, int n) {
    __shared__ int tile[16][16 + Pad];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx];  // @tw
    if (Barrier) __syncthreads();
    out[(blockIdx.x * 16 + ty) * n + blockIdx.y * 16 + tx] = tile[tx][ty];  // @tr
}

static int case_tiled() {
    return run(64, 64, [](int* in, int* out) {
        tiled<0, true><<<dim3(4, 4), dim3(16, 16)>>>(in, out, 64);
    });
}

static int case_tiled_padded() {
    return run(64, 64, [](int* in, int* out) {
        tiled<1, true><<<dim3(4, 4), dim3(16, 16)>>>(in, out, 64);
    });
}

static int case_tiled_no_barrier() {
    return run(64, 64, [](int* in, int* out) {
        tiled<1, false><<<dim3(4, 4), dim3(16, 16)>>>(in, out, 64);
    }, false);
}

template <bool GuardRead>
__global__ void tiledRagged(const int* in, int* out, int width, int height) {
    __shared__ int tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (!GuardRead || (x < width && y < height)) {
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];  // @tread
    }
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

static int case_tiled_ragged() {
    return run(45, 27, [](int* in, int* out) {
        tiledRagged<true><<<dim3(3, 2), dim3(16, 16)>>>(in, out, 45, 27);
    });
}

static int case_tiled_ragged_read_unguarded() {
    return run(45, 27, [](int* in, int* out) {
        tiledRagged<false><<<dim3(3, 2), dim3(16, 16)>>>(in, out, 45, 27);
    }, false);
}

// 32 x 8 threads move a 32 x 32 tile, four rows each.
__global__ void tile32by8(const int* in, int* out, int n) {
    __shared__ int tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

static int case_tile_32_by_8() {
    return run(64, 64, [](int* in, int* out) {
        tile32by8<<<dim3(2, 2), dim3(32, 8)>>>(in, out, 64);
    });
}

// A block walks over its column of tiles; the next tile overwrites one that is being read.
__global__ void walkTiles(const int* in, int* out, int n) {
    __shared__ int tile[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    for (int by = 0; by < n / 16; by++) {
        tile[ty][tx] = in[(by * 16 + ty) * n + blockIdx.x * 16 + tx];  // @lw
        __syncthreads();
        out[(blockIdx.x * 16 + ty) * n + by * 16 + tx] = tile[tx][ty];  // @lr
    }
}

static int case_walk_tiles_barrier_missing() {
    return run(64, 64, [](int* in, int* out) {
        walkTiles<<<4, dim3(16, 16)>>>(in, out, 64);
    }, false);
}

template <bool HalfOnly> __global__ void inPlace(int* m, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (HalfOnly ? x < y : x != y) {
        int t = m[y * n + x];         // @ip1
        m[y * n + x] = m[x * n + y];  // @ip2
        m[x * n + y] = t;             // @ip3
    }
}

template <bool HalfOnly> static int runInPlace() {
    const int n = 32;
    std::vector<int> h = numbers(n * n);
    int* d = upload(h);
    inPlace<HalfOnly><<<dim3(2, 4), dim3(16, 8)>>>(d, n);
    std::vector<int> r = take(d, n * n);
    bool good = true;
    for (int i = 0; i < n * n; i++) {
        good = good && (!HalfOnly || r[i % n * n + i / n] == h[i]);
    }
    return verdict(good);
}

static int case_in_place_square() { return runInPlace<true>(); }
static int case_in_place_all_threads() { return runInPlace<false>(); }

// The output has `height` columns, not `width`.
__global__ void wrongPitch(const int* in, int* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * width + y] = in[y * width + x];  // @pitch
}

static int case_naive_wrong_pitch() {
    return run(50, 30, [](int* in, int* out) {
        wrongPitch<<<dim3(4, 4), dim3(16, 8)>>>(in, out, 50, 30);
    }, false);
}

// Reads its own element back: a copy, not a transpose, but sound without a barrier.
__global__ void copyThroughTile(const int* in, int* out, int n) {
    __shared__ int tile[16][17];
    int i = (blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = in[i];
    out[i] = tile[threadIdx.y][threadIdx.x];
}

static int case_tile_indices_unswapped() {
    std::vector<int> h = numbers(32 * 32);
    int* in = upload(h);
    int* out = zeros<int>(32 * 32);
    copyThroughTile<<<dim3(2, 2), dim3(16, 16)>>>(in, out, 32);
    std::vector<int> r = take(out, 32 * 32);
    CHECK(cudaFree(in));
    return verdict(r == h);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"naive", case_naive},
    {"tiled", case_tiled},
    {"tiled_padded", case_tiled_padded},
    {"tiled_no_barrier", case_tiled_no_barrier},
    {"tiled_ragged", case_tiled_ragged},
    {"tiled_ragged_read_unguarded", case_tiled_ragged_read_unguarded},
    {"tile_32_by_8", case_tile_32_by_8},
    {"walk_tiles_barrier_missing", case_walk_tiles_barrier_missing},
    {"in_place_square", case_in_place_square},
    {"in_place_all_threads", case_in_place_all_threads},
    {"naive_wrong_pitch", case_naive_wrong_pitch},
    {"tile_indices_unswapped", case_tile_indices_unswapped},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
