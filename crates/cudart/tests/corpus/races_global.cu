// Races through global memory between blocks of one launch, and between launches.
//
// case: neighbour_block_element  expect: race error gpu at: @nbw, @nbr
// case: neighbour_block_two_launches  expect: clean
// case: syncthreads_is_not_grid_wide  expect: race error gpu at: @sgw, @sgr
// case: overlapping_windows_write  expect: race error gpu at: @window
// case: disjoint_windows_write  expect: clean
// case: one_slot_for_all_blocks  expect: race error gpu at: @slot
// case: one_slot_a_block  expect: clean
// case: scatter_collisions  expect: race error gpu at: @scatter
// case: scatter_permutation  expect: clean
// case: accumulate_rows  expect: race error gpu at: @rows
// case: byte_neighbours  expect: clean
// case: bit_neighbours  expect: race error gpu at: @bit
// case: bit_neighbours_atomic  expect: clean
// case: shared_temporary_in_global  expect: race error gpu at: @tmpw, @tmpr
// case: graph_relaxation  expect: race error gpu at: @relax, @relaxw
// case: graph_relaxation_atomic  expect: clean
// case: read_only_everywhere  expect: clean
// case: float4_over_floats  expect: race error gpu at: @wide, @narrow
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
__global__ void fillAndLook(int* a, int* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i * 2;              // @nbw
    b[i] = a[(i + 64) % n];    // @nbr
}

static int case_neighbour_block_element() {
    int *a = zeros<int>(256), *b = zeros<int>(256);
    fillAndLook<<<4, 64>>>(a, b, 256);
    take(b, 256);
    CHECK(cudaFree(a));
    return verdict(true);
}

__global__ void fill(int* a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i * 2;
}
__global__ void look(const int* a, int* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[(i + 64) % n];
}

static int case_neighbour_block_two_launches() {
    int *a = zeros<int>(256), *b = zeros<int>(256);
    fill<<<4, 64>>>(a);
    look<<<4, 64>>>(a, b, 256);
    std::vector<int> r = take(b, 256);
    CHECK(cudaFree(a));
    bool good = true;
    for (int i = 0; i < 256; i++) good = good && r[i] == (i + 64) % 256 * 2;
    return verdict(good);
}

__global__ void fillSyncLook(int* a, int* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i * 2;  // @sgw
    __syncthreads();
    b[i] = a[n - 1 - i];  // @sgr
}

static int case_syncthreads_is_not_grid_wide() {
    int *a = zeros<int>(256), *b = zeros<int>(256);
    fillSyncLook<<<4, 64>>>(a, b, 256);
    take(b, 256);
    CHECK(cudaFree(a));
    return verdict(true);
}

// Block b writes `width` elements from b * stride.
__global__ void windows(int* a, int stride, int width) {
    for (int k = threadIdx.x; k < width; k += blockDim.x) {
        a[blockIdx.x * stride + k] = blockIdx.x * 1000 + k;  // @window
    }
}

static int runWindows(int stride, int width, bool check) {
    int* a = zeros<int>(4 * 100);
    windows<<<4, 64>>>(a, stride, width);
    std::vector<int> r = take(a, 4 * 100);
    bool good = true;
    for (int i = 0; i < 400; i++) good = good && (!check || r[i] == i / 100 * 1000 + i % 100);
    return verdict(good);
}

static int case_overlapping_windows_write() { return runWindows(99, 100, false); }
static int case_disjoint_windows_write() { return runWindows(100, 100, true); }

__global__ void lastIndex(const int* in, int* slot, int perBlock) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] == 1) slot[perBlock ? blockIdx.x : 0] = i;  // @slot
}

static int runSlot(int perBlock) {
    std::vector<int> h(256, 0);
    for (int b = 0; b < 4; b++) h[b * 64 + 7 * b] = 1;
    int *in = upload(h), *slot = zeros<int>(4);
    lastIndex<<<4, 64>>>(in, slot, perBlock);
    std::vector<int> r = take(slot, 4);
    CHECK(cudaFree(in));
    return verdict(!perBlock || r == std::vector<int>({0, 71, 142, 213}));
}

static int case_one_slot_for_all_blocks() { return runSlot(0); }
static int case_one_slot_a_block() { return runSlot(1); }

__global__ void scatter(const int* index, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[index[i]] = i;  // @scatter
}

static int runScatter(int factor) {
    std::vector<int> index(256);
    for (int i = 0; i < 256; i++) index[i] = i * factor % 256;
    int *d = upload(index), *out = zeros<int>(256);
    scatter<<<2, 128>>>(d, out);
    std::vector<int> r = take(out, 256);
    CHECK(cudaFree(d));
    bool good = true;
    for (int i = 0; i < 256; i++) good = good && (factor % 2 == 0 || r[index[i]] == i);
    return verdict(good);
}

static int case_scatter_collisions() { return runScatter(6); }
static int case_scatter_permutation() { return runScatter(7); }

// The sum of each row, by threads that each take a column.
__global__ void addRows(const int* m, int* sums, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= columns) return;
    for (int y = 0; y < rows; y++) sums[y] += m[y * columns + x];  // @rows
}

static int case_accumulate_rows() {
    int *m = upload(std::vector<int>(8 * 100, 1)), *sums = zeros<int>(8);
    addRows<<<2, 64>>>(m, sums, 8, 100);
    take(sums, 8);
    CHECK(cudaFree(m));
    return verdict(true);
}

// Neighbouring bytes are different memory locations.
__global__ void bytes(unsigned char* a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = (unsigned char)(i * 3);
}

static int case_byte_neighbours() {
    unsigned char* a = zeros<unsigned char>(300);
    bytes<<<100, 3>>>(a);
    std::vector<unsigned char> r = take(a, 300);
    bool good = true;
    for (int i = 0; i < 300; i++) good = good && r[i] == (unsigned char)(i * 3);
    return verdict(good);
}

// Neighbouring bits of a word are not.
template <bool Atomic> __global__ void setBits(const int* in, unsigned* words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 3 == 0) {
        if (Atomic) {
            atomicOr(&words[i / 32], 1u << i % 32);
        } else {
            words[i / 32] |= 1u << i % 32;  // @bit
        }
    }
}

template <bool Atomic> static int runBits() {
    std::vector<int> h(256);
    std::vector<unsigned> want(8, 0);
    for (int i = 0; i < 256; i++) {
        h[i] = i * 11 % 64;
        if (h[i] % 3 == 0) want[i / 32] |= 1u << i % 32;
    }
    int* in = upload(h);
    unsigned* words = zeros<unsigned>(8);
    setBits<Atomic><<<4, 64>>>(in, words);
    std::vector<unsigned> r = take(words, 8);
    CHECK(cudaFree(in));
    return verdict(!Atomic || r == want);
}

static int case_bit_neighbours() { return runBits<false>(); }
static int case_bit_neighbours_atomic() { return runBits<true>(); }

// A scratch area meant for one block, used by all.
__global__ void scratch(const int* in, int* out, int* tmp) {
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tmp[t] = in[i];  // @tmpw
    __syncthreads();
    out[i] = tmp[blockDim.x - 1 - t];  // @tmpr
}

static int case_shared_temporary_in_global() {
    std::vector<int> h(256);
    for (int i = 0; i < 256; i++) h[i] = i;
    int *in = upload(h), *out = zeros<int>(256), *tmp = zeros<int>(64);
    scratch<<<4, 64>>>(in, out, tmp);
    take(out, 256);
    CHECK(cudaFree(in));
    CHECK(cudaFree(tmp));
    return verdict(true);
}

// One sweep of Bellman and Ford over the edges of a small ring with chords.
template <bool Atomic>
__global__ void relaxEdges(const int3* edges, int count, const int* from, int* to) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    int3 edge = edges[e];
    int way = from[edge.x] + edge.z;
    if (Atomic) {
        atomicMin(&to[edge.y], way);
    } else if (way < to[edge.y]) {  // @relax
        to[edge.y] = way;  // @relaxw
    }
}

template <bool Atomic> static int runRelax() {
    const int nodes = 50;
    std::vector<int3> edges;
    for (int i = 0; i < nodes; i++) {
        edges.push_back(make_int3(i, (i + 1) % nodes, 3));
        edges.push_back(make_int3(i, (i * 7 + 2) % nodes, 5));
        edges.push_back(make_int3((i * 3 + 1) % nodes, i / 2, 4));
    }
    std::vector<int> way(nodes, 1000000);
    way[0] = 0;
    int3* d = upload(edges);
    int *a = upload(way), *b = upload(way);
    for (int sweep = 0; sweep < 12; sweep++) {
        relaxEdges<Atomic><<<2, 96>>>(d, edges.size(), a, b);
        CHECK(cudaMemcpy(a, b, nodes * sizeof(int), cudaMemcpyDeviceToDevice));
        std::vector<int> next = way;
        for (int3 e : edges) next[e.y] = min(next[e.y], way[e.x] + e.z);
        way = next;
    }
    std::vector<int> r = take(b, nodes);
    CHECK(cudaFree(a));
    CHECK(cudaFree(d));
    return verdict(!Atomic || r == way);
}

static int case_graph_relaxation() { return runRelax<false>(); }
static int case_graph_relaxation_atomic() { return runRelax<true>(); }

__global__ void powersOfFirst(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = 1;
    for (int k = 0; k < 3; k++) v *= in[k];
    out[i] = v + in[i];
}

static int case_read_only_everywhere() {
    std::vector<int> h(128);
    for (int i = 0; i < 128; i++) h[i] = i + 2;
    int *in = upload(h), *out = zeros<int>(128);
    powersOfFirst<<<4, 32>>>(in, out);
    std::vector<int> r = take(out, 128);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 128; i++) good = good && r[i] == 24 + h[i];
    return verdict(good);
}

// Block 0 writes four floats at once, block 1 one of them.
__global__ void wideAndNarrow(float* a) {
    if (blockIdx.x == 0) {
        reinterpret_cast<float4*>(a)[threadIdx.x] = make_float4(1, 2, 3, 4);  // @wide
    } else {
        a[4 * threadIdx.x + 2] = 9.0f;  // @narrow
    }
}

static int case_float4_over_floats() {
    float* a = zeros<float>(128);
    wideAndNarrow<<<2, 32>>>(a);
    take(a, 128);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"neighbour_block_element", case_neighbour_block_element},
    {"neighbour_block_two_launches", case_neighbour_block_two_launches},
    {"syncthreads_is_not_grid_wide", case_syncthreads_is_not_grid_wide},
    {"overlapping_windows_write", case_overlapping_windows_write},
    {"disjoint_windows_write", case_disjoint_windows_write},
    {"one_slot_for_all_blocks", case_one_slot_for_all_blocks},
    {"one_slot_a_block", case_one_slot_a_block},
    {"scatter_collisions", case_scatter_collisions},
    {"scatter_permutation", case_scatter_permutation},
    {"accumulate_rows", case_accumulate_rows},
    {"byte_neighbours", case_byte_neighbours},
    {"bit_neighbours", case_bit_neighbours},
    {"bit_neighbours_atomic", case_bit_neighbours_atomic},
    {"shared_temporary_in_global", case_shared_temporary_in_global},
    {"graph_relaxation", case_graph_relaxation},
    {"graph_relaxation_atomic", case_graph_relaxation_atomic},
    {"read_only_everywhere", case_read_only_everywhere},
    {"float4_over_floats", case_float4_over_floats},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
