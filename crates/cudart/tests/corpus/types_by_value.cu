// Structs by value, templates, arrays of structs, vector types.
//
// case: struct_by_value  expect: clean
// case: big_struct_by_value  expect: clean
// case: template_types  expect: clean
// case: template_size  expect: clean
// case: array_of_structs  expect: clean
// case: struct_of_arrays  expect: clean
// case: float4_copy  expect: clean
// case: float4_copy_ragged  expect: bounds error at: @f4
// case: float4_of_offset_floats  expect: alignment error at: @offset4
// case: float2_complex  expect: clean
// case: double2_sum  expect: clean
// case: packed_struct_bytes  expect: clean
// case: unpacked_by_cast  expect: alignment error at: @cast
// case: member_functions  expect: clean
// case: operators  expect: clean
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
struct Line {
    float slope, offset;
    int count;
    const float* x;
};

__global__ void evaluate(Line line, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < line.count) y[i] = line.slope * line.x[i] + line.offset;
}

static int case_struct_by_value() {
    const int n = 300;
    std::vector<float> x(n);
    for (int i = 0; i < n; i++) x[i] = i;
    Line line = {0.5f, -3.0f, n, upload(x)};
    float* y = zeros<float>(n);
    evaluate<<<3, 128>>>(line, y);
    std::vector<float> r = take(y, n);
    CHECK(cudaFree((void*)line.x));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && r[i] == 0.5f * i - 3.0f;
    return verdict(good);
}

struct Table {
    int rows[8][8];
    double scale;
    char tag;
    short pairs[33];
};

__global__ void lookUp(Table table, int index, double* out) {
    int r = threadIdx.x / 8, c = threadIdx.x % 8;
    out[threadIdx.x] = table.rows[r][c] * table.scale + table.pairs[(threadIdx.x + index) % 33] +
                       table.tag;
}

static int case_big_struct_by_value() {
    Table t;
    for (int i = 0; i < 64; i++) t.rows[i / 8][i % 8] = i * i;
    for (int i = 0; i < 33; i++) t.pairs[i] = (short)(1000 - 100 * i);
    t.scale = 0.25;
    t.tag = 'A';
    double* out = zeros<double>(64);
    lookUp<<<1, 64>>>(t, 5, out);
    std::vector<double> r = take(out, 64);
    bool good = true;
    for (int i = 0; i < 64; i++) {
        good = good && r[i] == i * i * 0.25 + t.pairs[(i + 5) % 33] + 65;
    }
    return verdict(good);
}

template <class T> __global__ void addTo(T* a, T b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = a[i] + b;
}

template <class T> static bool tryType(T start, T b) {
    const int n = 100;
    T* d = upload(std::vector<T>(n, start));
    addTo<T><<<1, 128>>>(d, b, n);
    for (T v : take(d, n)) {
        if (v != (T)(start + b)) return false;
    }
    return true;
}

static int case_template_types() {
    bool good = tryType<signed char>(100, 100) && tryType<unsigned char>(200, 100) &&
                tryType<short>(-5, 7) && tryType<unsigned short>(65535, 2) &&
                tryType<int>(-1000000, 7) && tryType<unsigned>(1u << 31, 1u << 31) &&
                tryType<long long>(1ll << 40, -3) && tryType<float>(0.5f, 0.25f) &&
                tryType<double>(1.0, 1e-9);
    return verdict(good);
}

template <int N, bool Reversed> __global__ void copyBlock(const int* in, int* out) {
    __shared__ int tile[N];
    tile[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = tile[Reversed ? N - 1 - threadIdx.x : threadIdx.x];
}

static int case_template_size() {
    std::vector<int> h(256);
    for (int i = 0; i < 256; i++) h[i] = 7 * i;
    int* in = upload(h);
    int* out = zeros<int>(256);
    copyBlock<64, true><<<4, 64>>>(in, out);
    copyBlock<32, true><<<8, 32>>>(out, in);
    copyBlock<128, false><<<2, 128>>>(in, out);
    std::vector<int> r = take(out, 256);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 256; i++) {
        int once = i / 32 * 32 + 31 - i % 32;
        good = good && r[i] == 7 * (once / 64 * 64 + 63 - once % 64);
    }
    return verdict(good);
}

struct Particle {
    float3 position;
    float mass;
    float3 velocity;
    int id;
};

__global__ void move(Particle* p, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle q = p[i];
    q.position.x += dt * q.velocity.x;
    q.position.y += dt * q.velocity.y;
    q.position.z += dt * q.velocity.z;
    q.id++;
    p[i] = q;
}

static int case_array_of_structs() {
    const int n = 200;
    std::vector<Particle> h(n);
    for (int i = 0; i < n; i++) {
        h[i] = {make_float3(i, 2 * i, 3 * i), 1.5f, make_float3(2, 4, -8), i};
    }
    Particle* d = upload(h);
    for (int step = 0; step < 4; step++) move<<<2, 128>>>(d, n, 0.25f);
    std::vector<Particle> r = take(d, n);
    bool good = true;
    for (int i = 0; i < n; i++) {
        good = good && r[i].position.x == i + 2 && r[i].position.y == 2 * i + 4 &&
               r[i].position.z == 3 * i - 8 && r[i].mass == 1.5f && r[i].id == i + 4;
    }
    return verdict(good);
}

struct Arrays {
    float *x, *y;
    int* id;
};

__global__ void norms(Arrays a, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[a.id[i]] = a.x[i] * a.x[i] + a.y[i] * a.y[i];
}

static int case_struct_of_arrays() {
    const int n = 150;
    std::vector<float> x(n), y(n);
    std::vector<int> id(n);
    for (int i = 0; i < n; i++) {
        x[i] = i % 9;
        y[i] = i % 7;
        id[i] = n - 1 - i;
    }
    Arrays a = {upload(x), upload(y), upload(id)};
    float* out = zeros<float>(n);
    norms<<<5, 32>>>(a, out, n);
    std::vector<float> r = take(out, n);
    CHECK(cudaFree(a.x));
    CHECK(cudaFree(a.y));
    CHECK(cudaFree(a.id));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && r[n - 1 - i] == x[i] * x[i] + y[i] * y[i];
    return verdict(good);
}

__global__ void scale4(const float* in, float* out, int vectors) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < vectors) {
        float4 v = reinterpret_cast<const float4*>(in)[i];  // @f4
        v.x *= 2;
        v.y *= 3;
        v.z *= 4;
        v.w *= 5;
        reinterpret_cast<float4*>(out)[i] = v;
    }
}

static int runFloat4(int n, int vectors) {
    std::vector<float> h(n);
    for (int i = 0; i < n; i++) h[i] = i;
    float* in = upload(h);
    float* out = zeros<float>(vectors * 4);
    scale4<<<2, 128>>>(in, out, vectors);
    std::vector<float> r = take(out, vectors * 4);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && r[i] == h[i] * (2 + i % 4);
    return verdict(good);
}

static int case_float4_copy() { return runFloat4(1000, 250); }
// 1002 floats are 250 vectors and a half.
static int case_float4_copy_ragged() { return runFloat4(1002, 251); }

__global__ void sumOffset4(const float* in, float* out, int offset) {
    float4 v = *reinterpret_cast<const float4*>(in + offset + 4 * threadIdx.x);  // @offset4
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

static int case_float4_of_offset_floats() {
    float* in = zeros<float>(256);
    float* out = zeros<float>(32);
    sumOffset4<<<1, 32>>>(in, out, 1);
    take(out, 32);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void multiplyComplex(const float2* a, const float2* b, float2* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = make_float2(a[i].x * b[i].x - a[i].y * b[i].y, a[i].x * b[i].y + a[i].y * b[i].x);
    }
}

static int case_float2_complex() {
    const int n = 100;
    std::vector<float2> a(n), b(n);
    for (int i = 0; i < n; i++) {
        a[i] = make_float2(i, 1);
        b[i] = make_float2(3, i % 5);
    }
    float2 *da = upload(a), *db = upload(b), *dc = zeros<float2>(n);
    multiplyComplex<<<1, 128>>>(da, db, dc, n);
    std::vector<float2> c = take(dc, n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    bool good = true;
    for (int i = 0; i < n; i++) {
        good = good && c[i].x == 3 * i - i % 5 && c[i].y == i * (i % 5) + 3;
    }
    return verdict(good);
}

__global__ void sumPairs(const double2* in, double* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = in[i].x + in[i].y;
}

static int case_double2_sum() {
    const int n = 77;
    std::vector<double2> h(n);
    for (int i = 0; i < n; i++) h[i] = make_double2(i, 1.0 / 1024);
    double2* in = upload(h);
    double* out = zeros<double>(n);
    sumPairs<<<1, 96>>>(in, out, n);
    std::vector<double> r = take(out, n);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < n; i++) good = good && r[i] == i + 1.0 / 1024;
    return verdict(good);
}

#pragma pack(push, 1)
struct Record {
    char kind;
    int value;
    short extra;
};
#pragma pack(pop)

// The compiler knows that the members are unaligned and reads them a byte at a time.
__global__ void sumRecords(const Record* records, int* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = records[i].kind + records[i].value + records[i].extra;
}

static int case_packed_struct_bytes() {
    const int n = 50;
    std::vector<Record> h(n);
    for (int i = 0; i < n; i++) h[i] = {(char)i, 1000000 * i, (short)-i};
    Record* d = upload(h);
    int* out = zeros<int>(n);
    sumRecords<<<1, 64>>>(d, out, n);
    std::vector<int> r = take(out, n);
    CHECK(cudaFree(d));
    bool good = sizeof(Record) == 7;
    for (int i = 0; i < n; i++) good = good && r[i] == 1000000 * i;
    return verdict(good);
}

__global__ void sumByCast(const unsigned char* bytes, int* out, int stride, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = *reinterpret_cast<const int*>(bytes + i * stride + 1);  // @cast
}

static int case_unpacked_by_cast() {
    unsigned char* d = zeros<unsigned char>(7 * 64);
    int* out = zeros<int>(50);
    sumByCast<<<1, 64>>>(d, out, 7, 50);
    take(out, 50);
    CHECK(cudaFree(d));
    return verdict(true);
}

class Counter {
  public:
    __host__ __device__ explicit Counter(unsigned seed) : state(seed) {}
    __host__ __device__ unsigned next() {
        state = state * 1664525u + 1013904223u;
        return state >> 8;
    }

  private:
    unsigned state;
};

__global__ void randoms(unsigned* out, int rounds) {
    Counter c(blockIdx.x * blockDim.x + threadIdx.x);
    unsigned mix = 0;
    for (int i = 0; i < rounds; i++) mix ^= c.next();
    out[blockIdx.x * blockDim.x + threadIdx.x] = mix;
}

static int case_member_functions() {
    unsigned* d = zeros<unsigned>(256);
    randoms<<<2, 128>>>(d, 20);
    std::vector<unsigned> r = take(d, 256);
    bool good = true;
    for (unsigned i = 0; i < 256; i++) {
        Counter c(i);
        unsigned mix = 0;
        for (int k = 0; k < 20; k++) mix ^= c.next();
        good = good && r[i] == mix;
    }
    return verdict(good);
}

struct Vec3 {
    int x, y, z;
};
__host__ __device__ inline Vec3 operator+(Vec3 a, Vec3 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
__host__ __device__ inline Vec3 operator*(int s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
__host__ __device__ inline bool operator==(Vec3 a, Vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

__global__ void blend(const Vec3* a, const Vec3* b, Vec3* c) {
    c[threadIdx.x] = 3 * a[threadIdx.x] + b[threadIdx.x];
}

static int case_operators() {
    std::vector<Vec3> a(64), b(64);
    for (int i = 0; i < 64; i++) {
        a[i] = {i, -i, 2 * i};
        b[i] = {1, i, 5};
    }
    Vec3 *da = upload(a), *db = upload(b), *dc = zeros<Vec3>(64);
    blend<<<1, 64>>>(da, db, dc);
    std::vector<Vec3> c = take(dc, 64);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    bool good = true;
    for (int i = 0; i < 64; i++) good = good && c[i] == 3 * a[i] + b[i];
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"struct_by_value", case_struct_by_value},
    {"big_struct_by_value", case_big_struct_by_value},
    {"template_types", case_template_types},
    {"template_size", case_template_size},
    {"array_of_structs", case_array_of_structs},
    {"struct_of_arrays", case_struct_of_arrays},
    {"float4_copy", case_float4_copy},
    {"float4_copy_ragged", case_float4_copy_ragged},
    {"float4_of_offset_floats", case_float4_of_offset_floats},
    {"float2_complex", case_float2_complex},
    {"double2_sum", case_double2_sum},
    {"packed_struct_bytes", case_packed_struct_bytes},
    {"unpacked_by_cast", case_unpacked_by_cast},
    {"member_functions", case_member_functions},
    {"operators", case_operators},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
