// Managed, pitched, three-dimensional and module memory; copies of all forms.
//
// case: managed  expect: clean
// case: managed_struct_with_pointers  expect: clean
// case: managed_global  expect: clean
// case: pitch_2d  expect: clean
// case: pitch_forgotten  expect: race error gpu at: @pitchless
// case: pitch_in_elements  expect: bounds error at: @pitchunits
// case: memcpy_2d_part  expect: clean
// case: memset_2d  expect: clean
// case: malloc_3d  expect: clean
// case: device_global_scalar  expect: clean
// case: device_global_array  expect: clean
// case: symbol_address  expect: clean
// case: memcpy_default_kind  expect: clean
// case: device_to_device  expect: clean
// case: pointer_attributes  expect: clean
// case: linked_list_on_device  expect: clean
// case: mem_get_info  expect: clean
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
__global__ void square(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= p[i];
}

static int case_managed() {
    int* p;
    CHECK(cudaMallocManaged(&p, 200 * sizeof(int)));
    for (int i = 0; i < 200; i++) p[i] = i;
    square<<<2, 128>>>(p, 200);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 200; i++) p[i] += 1;
    square<<<2, 128>>>(p, 200);
    CHECK(cudaDeviceSynchronize());
    bool good = true;
    for (int i = 0; i < 200; i++) good = good && p[i] == (i * i + 1) * (i * i + 1);
    CHECK(cudaFree(p));
    return verdict(good);
}

struct Dataset {
    int count;
    float* values;
    float* sum;
};

__global__ void addUp(Dataset* set) {
    for (int i = threadIdx.x; i < set->count; i += blockDim.x) atomicAdd(set->sum, set->values[i]);
}

static int case_managed_struct_with_pointers() {
    Dataset* set;
    CHECK(cudaMallocManaged(&set, sizeof(Dataset)));
    set->count = 150;
    CHECK(cudaMallocManaged(&set->values, set->count * sizeof(float)));
    CHECK(cudaMallocManaged(&set->sum, sizeof(float)));
    *set->sum = 0;
    for (int i = 0; i < set->count; i++) set->values[i] = i * 0.5f;
    addUp<<<1, 64>>>(set);
    CHECK(cudaDeviceSynchronize());
    bool good = *set->sum == 149 * 75 * 0.5f;
    CHECK(cudaFree(set->values));
    CHECK(cudaFree(set->sum));
    CHECK(cudaFree(set));
    return verdict(good);
}

__managed__ int shared_counter = 5;

__global__ void countUp() { atomicAdd(&shared_counter, 1); }

static int case_managed_global() {
    shared_counter += 10;
    countUp<<<2, 32>>>();
    CHECK(cudaDeviceSynchronize());
    return verdict(shared_counter == 79);
}

__global__ void fillPitched(char* base, size_t pitch, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        float* row = reinterpret_cast<float*>(base + y * pitch);
        row[x] = x + 100.0f * y;
    }
}

static int case_pitch_2d() {
    const int w = 37, h = 21;
    char* d;
    size_t pitch;
    CHECK(cudaMallocPitch(&d, &pitch, w * sizeof(float), h));
    fillPitched<<<dim3(3, 3), dim3(16, 8)>>>(d, pitch, w, h);
    std::vector<float> r(w * h);
    CHECK(cudaMemcpy2D(r.data(), w * 4, d, pitch, w * 4, h, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    bool good = pitch >= w * 4 && pitch % 32 == 0;
    for (int i = 0; i < w * h; i++) good = good && r[i] == i % w + 100.0f * (i / w);
    return verdict(good);
}

// Rows a constant 32 apart though they are 37 wide.
__global__ void fillPitchless(float* p, int w) {
    p[blockIdx.x * 32 + threadIdx.x] = blockIdx.x * 100.0f + threadIdx.x;  // @pitchless
}

static int case_pitch_forgotten() {
    float* d;
    size_t pitch;
    CHECK(cudaMallocPitch(&d, &pitch, 37 * sizeof(float), 21));
    fillPitchless<<<21, 37>>>(d, 37);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d));
    return verdict(true);
}

// The pitch counts bytes, and is used here to count floats.
__global__ void fillWrongUnits(float* p, size_t pitch) {
    p[blockIdx.x * pitch + threadIdx.x] = 1.0f;  // @pitchunits
}

static int case_pitch_in_elements() {
    float* d;
    size_t pitch;
    CHECK(cudaMallocPitch(&d, &pitch, 37 * sizeof(float), 21));
    fillWrongUnits<<<21, 37>>>(d, pitch);
    return verdict(cudaDeviceSynchronize() != cudaSuccess);
}

static int case_memcpy_2d_part() {
    std::vector<int> h(30 * 20), back(10 * 5);
    for (int i = 0; i < 600; i++) h[i] = i;
    int* d = zeros<int>(30 * 20);
    // A window of 10 x 5 from (4, 3) to (12, 7) and back.
    CHECK(cudaMemcpy2D(d + 7 * 30 + 12, 120, h.data() + 3 * 30 + 4, 120, 40, 5,
                       cudaMemcpyHostToDevice));
    square<<<5, 128>>>(d, 600);
    CHECK(cudaMemcpy2D(back.data(), 40, d + 7 * 30 + 12, 120, 40, 5, cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < 50; i++) {
        int v = (3 + i / 10) * 30 + 4 + i % 10;
        good = good && back[i] == v * v;
    }
    std::vector<int> r = take(d, 600);
    return verdict(good && r[7 * 30 + 11] == 0 && r[12 * 30 + 12] == 0);
}

static int case_memset_2d() {
    unsigned char* d = zeros<unsigned char>(64 * 10);
    CHECK(cudaMemset2D(d + 5, 64, 0xab, 20, 10));
    std::vector<unsigned char> r = take(d, 640);
    bool good = true;
    for (int i = 0; i < 640; i++) good = good && r[i] == (i % 64 >= 5 && i % 64 < 25 ? 0xab : 0);
    return verdict(good);
}

__global__ void fill3d(cudaPitchedPtr p, int w, int h, int d) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    char* slice = (char*)p.ptr + z * p.pitch * h;
    if (x < w && y < h && z < d) ((int*)(slice + y * p.pitch))[x] = x + 10 * y + 100 * z;
}

static int case_malloc_3d() {
    const int w = 9, h = 6, d = 4;
    cudaPitchedPtr p;
    cudaExtent extent = make_cudaExtent(w * sizeof(int), h, d);
    CHECK(cudaMalloc3D(&p, extent));
    fill3d<<<dim3(h, d), 32>>>(p, w, h, d);
    std::vector<int> r(w * h * d);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = p;
    copy.dstPtr = make_cudaPitchedPtr(r.data(), w * sizeof(int), w, h);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    CHECK(cudaFree(p.ptr));
    bool good = true;
    for (int i = 0; i < w * h * d; i++) {
        good = good && r[i] == i % w + 10 * (i / w % h) + 100 * (i / (w * h));
    }
    return verdict(good);
}

__device__ int scale = 3;
__device__ int total;
__device__ float grid[4][8] = {{1, 2, 3}, {4, 5}, {6}};

__global__ void scaled(int n) {
    if (threadIdx.x < n) atomicAdd(&total, scale * (int)threadIdx.x);
}

static int case_device_global_scalar() {
    int zero = 0, seven = 7, got;
    CHECK(cudaMemcpyToSymbol(total, &zero, sizeof(int)));
    scaled<<<1, 64>>>(10);
    CHECK(cudaMemcpyToSymbol(scale, &seven, sizeof(int)));
    scaled<<<1, 64>>>(4);
    CHECK(cudaMemcpyFromSymbol(&got, total, sizeof(int)));
    return verdict(got == 3 * 45 + 7 * 6);
}

__global__ void addRows() {
    int x = threadIdx.x;
    grid[3][x] = grid[0][x] + grid[1][x] + grid[2][x];
}

static int case_device_global_array() {
    addRows<<<1, 8>>>();
    float row[8];
    CHECK(cudaMemcpyFromSymbol(row, grid, sizeof(row), 3 * sizeof(row)));
    return verdict(row[0] == 11 && row[1] == 7 && row[2] == 3 && row[7] == 0);
}

static int case_symbol_address() {
    void* p;
    size_t size;
    CHECK(cudaGetSymbolAddress(&p, grid));
    CHECK(cudaGetSymbolSize(&size, grid));
    CHECK(cudaMemset(p, 0, size));
    addRows<<<1, 8>>>();
    std::vector<float> r(32, 1.0f);
    CHECK(cudaMemcpy(r.data(), p, size, cudaMemcpyDeviceToHost));
    return verdict(size == 128 && r == std::vector<float>(32, 0.0f));
}

static int case_memcpy_default_kind() {
    std::vector<int> h(64), back(64);
    for (int i = 0; i < 64; i++) h[i] = i - 20;
    int* d = zeros<int>(64);
    CHECK(cudaMemcpy(d, h.data(), 256, cudaMemcpyDefault));
    square<<<1, 64>>>(d, 64);
    CHECK(cudaMemcpy(back.data(), d, 256, cudaMemcpyDefault));
    CHECK(cudaFree(d));
    bool good = true;
    for (int i = 0; i < 64; i++) good = good && back[i] == h[i] * h[i];
    return verdict(good);
}

static int case_device_to_device() {
    std::vector<int> h(100);
    for (int i = 0; i < 100; i++) h[i] = i;
    int *a = upload(h), *b = zeros<int>(200);
    CHECK(cudaMemcpy(b, a, 400, cudaMemcpyDeviceToDevice));
    square<<<1, 128>>>(a, 100);
    CHECK(cudaMemcpy(b + 100, a, 400, cudaMemcpyDeviceToDevice));
    std::vector<int> r = take(b, 200);
    CHECK(cudaFree(a));
    bool good = true;
    for (int i = 0; i < 100; i++) good = good && r[i] == i && r[100 + i] == i * i;
    return verdict(good);
}

static int case_pointer_attributes() {
    int *d = zeros<int>(10), *m, *h;
    CHECK(cudaMallocManaged(&m, 40));
    CHECK(cudaMallocHost(&h, 40));
    cudaPointerAttributes a, b, c;
    CHECK(cudaPointerGetAttributes(&a, d + 3));
    CHECK(cudaPointerGetAttributes(&b, m));
    CHECK(cudaPointerGetAttributes(&c, h));
    bool good = a.type == cudaMemoryTypeDevice && b.type == cudaMemoryTypeManaged &&
                c.type == cudaMemoryTypeHost && a.device == 0;
    CHECK(cudaFree(d));
    CHECK(cudaFree(m));
    CHECK(cudaFreeHost(h));
    return verdict(good);
}

struct Cell {
    int value;
    Cell* next;
};

__global__ void link(Cell* cells, int n, int step) {
    int i = threadIdx.x;
    if (i < n) {
        cells[i].value = i * 10;
        cells[i].next = i + step < n ? &cells[i + step] : nullptr;
    }
}

__global__ void follow(const Cell* cells, int* sums) {
    int sum = 0;
    for (const Cell* c = &cells[threadIdx.x]; c != nullptr; c = c->next) sum += c->value;
    sums[threadIdx.x] = sum;
}

static int case_linked_list_on_device() {
    Cell* cells;
    CHECK(cudaMalloc(&cells, 50 * sizeof(Cell)));
    int* sums = zeros<int>(7);
    link<<<1, 64>>>(cells, 50, 7);
    follow<<<1, 7>>>(cells, sums);
    std::vector<int> r = take(sums, 7);
    CHECK(cudaFree(cells));
    bool good = true;
    for (int s = 0; s < 7; s++) {
        int sum = 0;
        for (int i = s; i < 50; i += 7) sum += 10 * i;
        good = good && r[s] == sum;
    }
    return verdict(good);
}

static int case_mem_get_info() {
    size_t before, after, whole;
    CHECK(cudaMemGetInfo(&before, &whole));
    char* d;
    CHECK(cudaMalloc(&d, 64 << 20));
    CHECK(cudaMemGetInfo(&after, &whole));
    CHECK(cudaFree(d));
    return verdict(before <= whole && after <= before && whole >= (size_t)1 << 30);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"managed", case_managed},
    {"managed_struct_with_pointers", case_managed_struct_with_pointers},
    {"managed_global", case_managed_global},
    {"pitch_2d", case_pitch_2d},
    {"pitch_forgotten", case_pitch_forgotten},
    {"pitch_in_elements", case_pitch_in_elements},
    {"memcpy_2d_part", case_memcpy_2d_part},
    {"memset_2d", case_memset_2d},
    {"malloc_3d", case_malloc_3d},
    {"device_global_scalar", case_device_global_scalar},
    {"device_global_array", case_device_global_array},
    {"symbol_address", case_symbol_address},
    {"memcpy_default_kind", case_memcpy_default_kind},
    {"device_to_device", case_device_to_device},
    {"pointer_attributes", case_pointer_attributes},
    {"linked_list_on_device", case_linked_list_on_device},
    {"mem_get_info", case_mem_get_info},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
