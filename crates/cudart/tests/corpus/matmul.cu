// Matrix products: naive, tiled in shared memory, and the barriers people forget.
//
// case: naive  expect: clean
// case: naive_ragged  expect: clean
// case: tiled  expect: clean
// case: tiled_ragged  expect: clean
// case: tiled_first_barrier_missing  expect: race error shared at: @fa, @fb, @fuse
// case: tiled_second_barrier_missing  expect: race error shared at: @sa, @sb, @suse
// case: tiled_no_bounds_check  expect: bounds error at: @na, @nb, @nc
// case: tiled_dynamic  expect: clean
// case: two_rows_a_thread  expect: clean
// case: matrix_vector  expect: clean
// case: k_split_atomic  expect: clean
// case: k_split_plain_add  expect: race error gpu at: @ksplit
// case: double_buffered_tiles  expect: clean
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
static std::vector<float> matrix(int rows, int columns, int seed) {
    std::vector<float> m(rows * columns);
    for (size_t i = 0; i < m.size(); i++) m[i] = (float)((int)(i * 7 + seed) % 11 - 5);
    return m;
}

// Whole numbers small enough to be exact in a float, in whatever order they are added.
static bool isProduct(const std::vector<float>& a, const std::vector<float>& b,
                      const std::vector<float>& c, int m, int n, int k) {
    for (int y = 0; y < m; y++) {
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int i = 0; i < k; i++) sum += a[y * k + i] * b[i * n + x];
            if (c[y * n + x] != sum) return false;
        }
    }
    return true;
}

template <class Launch> static int run(int m, int n, int k, Launch launch, bool check = true) {
    std::vector<float> a = matrix(m, k, 1), b = matrix(k, n, 4);
    float *da = upload(a), *db = upload(b), *dc = zeros<float>(m * n);
    launch(da, db, dc);
    std::vector<float> c = take(dc, m * n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return verdict(!check || isProduct(a, b, c, m, n, k));
}

__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= m) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[y * k + i] * b[i * n + x];
    c[y * n + x] = sum;
}

static int case_naive() {
    return run(32, 32, 32, [](float* a, float* b, float* c) {
        naive<<<dim3(2, 2), dim3(16, 16)>>>(a, b, c, 32, 32, 32);
    });
}

static int case_naive_ragged() {
    return run(21, 35, 19, [](float* a, float* b, float* c) {
        naive<<<dim3(3, 2), dim3(16, 16)>>>(a, b, c, 21, 35, 19);
    });
}

constexpr int T = 16;

__global__ void tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float sum = 0;
    for (int tile = 0; tile < n / T; tile++) {
        as[ty][tx] = a[y * n + tile * T + tx];
        bs[ty][tx] = b[(tile * T + ty) * n + x];
        __syncthreads();
        for (int i = 0; i < T; i++) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

static int case_tiled() {
    return run(48, 48, 48, [](float* a, float* b, float* c) {
        tiled<<<dim3(3, 3), dim3(T, T)>>>(a, b, c, 48);
    });
}

__global__ void tiledRagged(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float sum = 0;
    for (int at = 0; at < k; at += T) {
        as[ty][tx] = y < m && at + tx < k ? a[y * k + at + tx] : 0.0f;
        bs[ty][tx] = x < n && at + ty < k ? b[(at + ty) * n + x] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i++) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (x < n && y < m) c[y * n + x] = sum;
}

static int case_tiled_ragged() {
    return run(37, 21, 50, [](float* a, float* b, float* c) {
        tiledRagged<<<dim3(2, 3), dim3(T, T)>>>(a, b, c, 37, 21, 50);
    });
}

__global__ void tiledNoFirst(const float* a, const float* b, float* c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float sum = 0;
    for (int tile = 0; tile < n / T; tile++) {
        as[ty][tx] = a[y * n + tile * T + tx];                     // @fa
        bs[ty][tx] = b[(tile * T + ty) * n + x];                   // @fb
        for (int i = 0; i < T; i++) sum += as[ty][i] * bs[i][tx];  // @fuse
        __syncthreads();
    }
    c[y * n + x] = sum;
}

static int case_tiled_first_barrier_missing() {
    return run(32, 32, 32, [](float* a, float* b, float* c) {
        tiledNoFirst<<<dim3(2, 2), dim3(T, T)>>>(a, b, c, 32);
    }, false);
}

__global__ void tiledNoSecond(const float* a, const float* b, float* c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float sum = 0;
    for (int tile = 0; tile < n / T; tile++) {
        as[ty][tx] = a[y * n + tile * T + tx];    // @sa
        bs[ty][tx] = b[(tile * T + ty) * n + x];  // @sb
        __syncthreads();
        for (int i = 0; i < T; i++) sum += as[ty][i] * bs[i][tx];  // @suse
    }
    c[y * n + x] = sum;
}

static int case_tiled_second_barrier_missing() {
    return run(64, 64, 64, [](float* a, float* b, float* c) {
        tiledNoSecond<<<dim3(4, 4), dim3(T, T)>>>(a, b, c, 64);
    }, false);
}

// Rounds the grid up and forgets that the last tiles stick out.
__global__ void tiledNoGuards(const float* a, const float* b, float* c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float sum = 0;
    for (int at = 0; at < n; at += T) {
        as[ty][tx] = a[y * n + at + tx];    // @na
        bs[ty][tx] = b[(at + ty) * n + x];  // @nb
        __syncthreads();
        for (int i = 0; i < T; i++) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;  // @nc
}

static int case_tiled_no_bounds_check() {
    return run(40, 40, 40, [](float* a, float* b, float* c) {
        tiledNoGuards<<<dim3(3, 3), dim3(T, T)>>>(a, b, c, 40);
    }, false);
}

__global__ void tiledDynamic(const float* a, const float* b, float* c, int n) {
    extern __shared__ float tiles[];
    int w = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
    float *as = tiles, *bs = tiles + w * w;
    int x = blockIdx.x * w + tx, y = blockIdx.y * w + ty;
    float sum = 0;
    for (int at = 0; at < n; at += w) {
        as[ty * w + tx] = a[y * n + at + tx];
        bs[ty * w + tx] = b[(at + ty) * n + x];
        __syncthreads();
        for (int i = 0; i < w; i++) sum += as[ty * w + i] * bs[i * w + tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

static int case_tiled_dynamic() {
    return run(40, 40, 40, [](float* a, float* b, float* c) {
        tiledDynamic<<<dim3(4, 4), dim3(10, 10), 2 * 10 * 10 * sizeof(float)>>>(a, b, c, 40);
        tiledDynamic<<<dim3(5, 5), dim3(8, 8), 2 * 8 * 8 * sizeof(float)>>>(a, b, c, 40);
    });
}

__global__ void twoRows(const float* a, const float* b, float* c, int n) {
    __shared__ float bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * T + tx, y = blockIdx.y * 2 * T + ty;
    float low = 0, high = 0;
    for (int at = 0; at < n; at += T) {
        bs[ty][tx] = b[(at + ty) * n + x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++) {
            low += a[y * n + at + i] * bs[i][tx];
            high += a[(y + T) * n + at + i] * bs[i][tx];
        }
        __syncthreads();
    }
    c[y * n + x] = low;
    c[(y + T) * n + x] = high;
}

static int case_two_rows_a_thread() {
    return run(64, 64, 64, [](float* a, float* b, float* c) {
        twoRows<<<dim3(4, 2), dim3(T, T)>>>(a, b, c, 64);
    });
}

// One block a row; its threads share the row's products and add them up in a tree.
__global__ void matrixVector(const float* a, const float* x, float* y, int columns) {
    __shared__ float partial[64];
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        sum += a[blockIdx.x * columns + i] * x[i];
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

static int case_matrix_vector() {
    return run(30, 1, 150, [](float* a, float* x, float* y) {
        matrixVector<<<30, 64>>>(a, x, y, 150);
    });
}

template <bool Atomic>
__global__ void splitK(const float* a, const float* b, float* c, int n, int part) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int from = blockIdx.z * part;
    float sum = 0;
    for (int i = from; i < from + part; i++) sum += a[y * n + i] * b[i * n + x];
    if (Atomic) {
        atomicAdd(&c[y * n + x], sum);
    } else {
        c[y * n + x] += sum;  // @ksplit
    }
}

static int case_k_split_atomic() {
    return run(32, 32, 32, [](float* a, float* b, float* c) {
        splitK<true><<<dim3(1, 32, 4), 32>>>(a, b, c, 32, 8);
    });
}

static int case_k_split_plain_add() {
    return run(32, 32, 32, [](float* a, float* b, float* c) {
        splitK<false><<<dim3(1, 32, 4), 32>>>(a, b, c, 32, 8);
    }, false);
}

// The next tile is stored while the current one is used; one barrier a step is enough.
__global__ void doubleBuffered(const float* a, const float* b, float* c, int n) {
    __shared__ float as[2][T][T], bs[2][T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    int tiles = n / T;
    as[0][ty][tx] = a[y * n + tx];
    bs[0][ty][tx] = b[ty * n + x];
    __syncthreads();
    float sum = 0;
    for (int tile = 0; tile < tiles; tile++) {
        int now = tile & 1;
        if (tile + 1 < tiles) {
            as[now ^ 1][ty][tx] = a[y * n + (tile + 1) * T + tx];
            bs[now ^ 1][ty][tx] = b[((tile + 1) * T + ty) * n + x];
        }
        for (int i = 0; i < T; i++) sum += as[now][ty][i] * bs[now][i][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

static int case_double_buffered_tiles() {
    return run(64, 64, 64, [](float* a, float* b, float* c) {
        doubleBuffered<<<dim3(4, 4), dim3(T, T)>>>(a, b, c, 64);
    });
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"naive", case_naive},
    {"naive_ragged", case_naive_ragged},
    {"tiled", case_tiled},
    {"tiled_ragged", case_tiled_ragged},
    {"tiled_first_barrier_missing", case_tiled_first_barrier_missing},
    {"tiled_second_barrier_missing", case_tiled_second_barrier_missing},
    {"tiled_no_bounds_check", case_tiled_no_bounds_check},
    {"tiled_dynamic", case_tiled_dynamic},
    {"two_rows_a_thread", case_two_rows_a_thread},
    {"matrix_vector", case_matrix_vector},
    {"k_split_atomic", case_k_split_atomic},
    {"k_split_plain_add", case_k_split_plain_add},
    {"double_buffered_tiles", case_double_buffered_tiles},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
