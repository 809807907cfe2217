// Cooperative groups: blocks, tiles, coalesced lanes, collectives.
//
// case: thread_block_rank_and_sync  expect: clean
// case: tile_32_reduce  expect: clean
// case: tile_16_shuffles  expect: clean
// case: tile_8_reverse_in_shared  expect: clean
// case: tile_8_no_sync  expect: race error shared at: @t8w, @t8r
// case: tile_4_ballot_any_all  expect: clean
// case: coalesced_aggregate  expect: clean
// case: collective_reduce  expect: clean
// case: collective_scan  expect: clean
// case: tile_sync_but_block_needed  expect: race error shared at: @tbw, @tbr
// case: passed_to_function  expect: clean
// case: block_sync_in_if  expect: barrier error at: @cgif
// case: labeled_partition  expect: clean
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
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
namespace cg = cooperative_groups;

template <class Kernel, class F>
static int run(Kernel kernel, int blocks, int threads, F want, bool check = true) {
    int n = blocks * threads;
    std::vector<int> h(n);
    for (int i = 0; i < n; i++) h[i] = i * 37 % 101 - 20;
    int *in = upload(h), *out = zeros<int>(n);
    kernel<<<blocks, threads>>>(in, out);
    std::vector<int> r = take(out, n);
    CHECK(cudaFree(in));
    for (int i = 0; i < n; i++) {
        if (check && r[i] != want(h, i)) return verdict(false);
    }
    return verdict(true);
}

static int unchecked(const std::vector<int>&, int) { return 0; }

__global__ void blockReverse(const int* in, int* out) {
    __shared__ int s[128];
    cg::thread_block block = cg::this_thread_block();
    int i = block.group_index().x * block.size() + block.thread_rank();
    s[block.thread_rank()] = in[i];
    block.sync();
    out[i] = s[block.size() - 1 - block.thread_rank()];
}

static int case_thread_block_rank_and_sync() {
    return run(blockReverse, 3, 128, [](auto& h, int i) {
        return h[i / 128 * 128 + 127 - i % 128];
    });
}

template <int Size> static int tileSum(const std::vector<int>& h, int i) {
    int sum = 0;
    for (int k = 0; k < Size; k++) sum += h[i / Size * Size + k];
    return sum;
}

__global__ void tile32(const int* in, int* out) {
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    out[i] = tile.shfl(v, 0);
}

static int case_tile_32_reduce() { return run(tile32, 2, 96, tileSum<32>); }

__global__ void tile16(const int* in, int* out) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    for (int m = 8; m > 0; m /= 2) v += tile.shfl_xor(v, m);
    out[i] = v + tile.meta_group_rank() * 1000 + tile.thread_rank();
}

static int case_tile_16_shuffles() {
    return run(tile16, 2, 64, [](auto& h, int i) {
        return tileSum<16>(h, i) + i % 64 / 16 * 1000 + i % 16;
    });
}

template <bool Sync> __global__ void tile8(const int* in, int* out) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, rank = tile.thread_rank();
    int* mine = s + t - rank;
    mine[rank] = in[t];  // @t8w
    if (Sync) tile.sync();
    out[t] = mine[7 - rank];  // @t8r
}

static int case_tile_8_reverse_in_shared() {
    return run(tile8<true>, 1, 64, [](auto& h, int i) { return h[i / 8 * 8 + 7 - i % 8]; });
}
static int case_tile_8_no_sync() { return run(tile8<false>, 1, 64, unchecked, false); }

__global__ void tile4(const int* in, int* out) {
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int t = threadIdx.x;
    bool big = in[t] > 30;
    out[t] = tile.ballot(big) * 10 + (tile.any(big) ? 2 : 0) + (tile.all(big) ? 1 : 0);
}

static int case_tile_4_ballot_any_all() {
    return run(tile4, 1, 64, [](auto& h, int i) {
        int bits = 0;
        for (int k = 0; k < 4; k++) bits |= (h[i / 4 * 4 + k] > 30) << k;
        return bits * 10 + (bits ? 2 : 0) + (bits == 15 ? 1 : 0);
    });
}

__device__ int countOfAll = 0;

// Lanes that are in the branch together add together.
__global__ void coalesced(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = -1;
    if (in[i] % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int base = 0;
        if (active.thread_rank() == 0) base = atomicAdd(&countOfAll, (int)active.size());
        out[i] = active.shfl(base, 0) + active.thread_rank();
    }
}

static int case_coalesced_aggregate() {
    const int n = 256;
    std::vector<int> h(n), seen(n, 0);
    int count = 0;
    for (int i = 0; i < n; i++) {
        h[i] = i * 37 % 101;
        count += h[i] % 3 == 0;
    }
    int *in = upload(h), *out = zeros<int>(n), total = 0;
    coalesced<<<2, 128>>>(in, out);
    std::vector<int> r = take(out, n);
    CHECK(cudaFree(in));
    CHECK(cudaMemcpyFromSymbol(&total, countOfAll, sizeof(total)));
    bool good = total == count;
    for (int i = 0; i < n; i++) {
        if ((r[i] >= 0) != (h[i] % 3 == 0) || r[i] >= count) return verdict(false);
        if (r[i] >= 0) seen[r[i]]++;
    }
    for (int k = 0; k < count; k++) good = good && seen[k] == 1;
    return verdict(good);
}

__global__ void collectiveReduce(const int* in, int* out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    int sum = cg::reduce(tile, v, cg::plus<int>());
    int low = cg::reduce(tile, v, cg::less<int>());
    int high = cg::reduce(tile, v, cg::greater<int>());
    out[i] = sum * 7 + low * 3 + high;
}

static int case_collective_reduce() {
    return run(collectiveReduce, 2, 64, [](auto& h, int i) {
        int low = 1000, high = -1000;
        for (int k = 0; k < 32; k++) {
            int v = h[i / 32 * 32 + k];
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        return tileSum<32>(h, i) * 7 + low * 3 + high;
    });
}

__global__ void collectiveScan(const int* in, int* out) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = threadIdx.x;
    out[i] = cg::inclusive_scan(tile, in[i]) * 1000 + cg::exclusive_scan(tile, in[i]);
}

static int case_collective_scan() {
    return run(collectiveScan, 1, 64, [](auto& h, int i) {
        int sum = 0;
        for (int k = i / 16 * 16; k <= i; k++) sum += h[k];
        return sum * 1000 + sum - h[i];
    });
}

__global__ void tileForBlock(const int* in, int* out) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    s[threadIdx.x] = in[threadIdx.x];  // @tbw
    tile.sync();
    out[threadIdx.x] = s[63 - threadIdx.x];  // @tbr
}

static int case_tile_sync_but_block_needed() {
    return run(tileForBlock, 1, 64, unchecked, false);
}

template <class Group> __device__ int sumOver(Group g, int* scratch, int v) {
    int rank = g.thread_rank();
    for (int half = g.size() / 2; half > 0; half /= 2) {
        scratch[rank] = v;
        g.sync();
        if (rank < half) v += scratch[rank + half];
        g.sync();
    }
    return v;
}

__global__ void viaFunctions(const int* in, int* out) {
    __shared__ int s[128];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int t = threadIdx.x;
    int whole = sumOver(block, s, in[t]);
    block.sync();
    int part = sumOver(tile, s + t / 32 * 32, in[t]);
    out[t] = t == 0 ? whole : tile.thread_rank() == 0 ? part : 0;
}

static int case_passed_to_function() {
    return run(viaFunctions, 1, 128, [](auto& h, int i) {
        return i == 0 ? tileSum<128>(h, i) : i % 32 == 0 ? tileSum<32>(h, i) : 0;
    });
}

__global__ void syncInIf(const int* in, int* out) {
    __shared__ int s[64];
    cg::thread_block block = cg::this_thread_block();
    int t = threadIdx.x;
    s[t] = in[t];
    if (t < 32) {
        s[t] += 1;
        block.sync();  // @cgif
    }
    __syncthreads();
    out[t] = s[63 - t];
}

static int case_block_sync_in_if() { return run(syncInIf, 1, 64, unchecked, false); }

__global__ void byLabel(const int* in, int* out) {
    auto active = cg::coalesced_threads();
    int t = threadIdx.x, label = (in[t] + 20) % 3;
    auto same = cg::labeled_partition(active, label);
    out[t] = same.size() * 100 + same.thread_rank();
}

static int case_labeled_partition() {
    return run(byLabel, 1, 32, [](auto& h, int i) {
        int size = 0, rank = 0;
        for (int k = 0; k < 32; k++) {
            bool same = (h[k] + 20) % 3 == (h[i] + 20) % 3;
            size += same;
            rank += same && k < i;
        }
        return size * 100 + rank;
    });
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"thread_block_rank_and_sync", case_thread_block_rank_and_sync},
    {"tile_32_reduce", case_tile_32_reduce},
    {"tile_16_shuffles", case_tile_16_shuffles},
    {"tile_8_reverse_in_shared", case_tile_8_reverse_in_shared},
    {"tile_8_no_sync", case_tile_8_no_sync},
    {"tile_4_ballot_any_all", case_tile_4_ballot_any_all},
    {"coalesced_aggregate", case_coalesced_aggregate},
    {"collective_reduce", case_collective_reduce},
    {"collective_scan", case_collective_scan},
    {"tile_sync_but_block_needed", case_tile_sync_but_block_needed},
    {"passed_to_function", case_passed_to_function},
    {"block_sync_in_if", case_block_sync_in_if},
    {"labeled_partition", case_labeled_partition},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
