// Lanes of one warp exchanging values through memory, with and without __syncwarp.
//
// case: neighbour  expect: clean
// case: neighbour_no_syncwarp  expect: race error shared at: @nw, @nr
// case: read_then_write  expect: clean
// case: read_then_write_one_syncwarp  expect: race error shared at: @rtr, @rtw
// case: half_warp_mask  expect: clean
// case: half_warp_mask_reads_other_half  expect: race error shared at: @hmw
// case: warp_private_tiles  expect: clean
// case: warp_private_tiles_overlap  expect: race error shared at: @tw, @tr
// case: through_global  expect: clean
// case: through_global_no_syncwarp  expect: race error gpu at: @gw, @gr
// case: leader_fills  expect: clean
// case: leader_fills_no_syncwarp  expect: race error shared at: @lw, @lr
// case: ballot_is_no_fence  expect: race error shared at: @bw, @br
// case: two_warps_syncwarp_is_too_little  expect: race error shared at: @iw, @ir
// case: volatile_alone  expect: race warning at: @vw, @vr
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
template <class Kernel, class F>
static int run(Kernel kernel, int threads, F want, bool check = true) {
    std::vector<int> h(threads);
    for (int i = 0; i < threads; i++) h[i] = i * i + 3;
    int *in = upload(h), *out = zeros<int>(threads);
    kernel<<<1, threads>>>(in, out);
    std::vector<int> r = take(out, threads);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < threads; i++) good = good && (!check || r[i] == want(h, i));
    return verdict(good);
}

static int unchecked(const std::vector<int>&, int) { return 0; }

template <bool Sync> __global__ void neighbour(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];  // @nw
    if (Sync) __syncwarp();
    out[t] = s[(t + 1) % 32];  // @nr
}

static int case_neighbour() {
    return run(neighbour<true>, 32, [](auto& h, int i) { return h[(i + 1) % 32]; });
}
static int case_neighbour_no_syncwarp() {
    return run(neighbour<false>, 32, unchecked, false);
}

template <bool Both> __global__ void readThenWrite(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    for (int k = 0; k < 4; k++) {
        int left = s[(t + 31) % 32];  // @rtr
        if (Both) __syncwarp();
        s[t] = left + 1;  // @rtw
        __syncwarp();
    }
    out[t] = s[t];
}

static int case_read_then_write() {
    return run(readThenWrite<true>, 32, [](auto& h, int i) { return h[(i + 28) % 32] + 4; });
}
static int case_read_then_write_one_syncwarp() {
    return run(readThenWrite<false>, 32, unchecked, false);
}

template <bool Own> __global__ void halfWarp(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];  // @hmw
    if (t < 16) {
        __syncwarp(0x0000ffff);
        out[t] = s[Own ? 15 - t : 31 - t];
    } else {
        __syncwarp(0xffff0000);
        out[t] = s[47 - t];
    }
}

static int case_half_warp_mask() {
    return run(halfWarp<true>, 32, [](auto& h, int i) { return h[i < 16 ? 15 - i : 47 - i]; });
}
static int case_half_warp_mask_reads_other_half() {
    return run(halfWarp<false>, 32, unchecked, false);
}

// Each warp has 32 ints of its own; with a stride of 31, neighbours share one.
template <int Stride> __global__ void tiles(const int* in, int* out) {
    __shared__ int s[4 * 32];
    int t = threadIdx.x, lane = t % 32;
    int* tile = s + t / 32 * Stride;
    tile[lane] = in[t];  // @tw
    __syncwarp();
    out[t] = tile[31 - lane];  // @tr
}

static int case_warp_private_tiles() {
    return run(tiles<32>, 128, [](auto& h, int i) { return h[i / 32 * 32 + 31 - i % 32]; });
}
static int case_warp_private_tiles_overlap() {
    return run(tiles<31>, 128, unchecked, false);
}

template <bool Sync> __global__ void throughGlobal(const int* in, int* out, int* box) {
    int t = threadIdx.x;
    box[t] = in[t] * 2;  // @gw
    if (Sync) __syncwarp();
    out[t] = box[t ^ 1];  // @gr
}

template <bool Sync> static int runThroughGlobal() {
    std::vector<int> h(32);
    for (int i = 0; i < 32; i++) h[i] = 5 * i;
    int *in = upload(h), *out = zeros<int>(32), *box = zeros<int>(32);
    throughGlobal<Sync><<<1, 32>>>(in, out, box);
    std::vector<int> r = take(out, 32);
    CHECK(cudaFree(in));
    CHECK(cudaFree(box));
    bool good = true;
    for (int i = 0; i < 32; i++) good = good && (!Sync || r[i] == 10 * (i ^ 1));
    return verdict(good);
}

static int case_through_global() { return runThroughGlobal<true>(); }
static int case_through_global_no_syncwarp() { return runThroughGlobal<false>(); }

template <bool Sync> __global__ void leaderFills(const int* in, int* out) {
    __shared__ int s[4][4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) {
        for (int k = 0; k < 4; k++) s[warp][k] = in[threadIdx.x + k];  // @lw
    }
    if (Sync) __syncwarp();
    out[threadIdx.x] = s[warp][lane % 4];  // @lr
}

static int case_leader_fills() {
    return run(leaderFills<true>, 128, [](auto& h, int i) { return h[i / 32 * 32 + i % 4]; });
}
static int case_leader_fills_no_syncwarp() {
    return run(leaderFills<false>, 128, unchecked, false);
}

__global__ void ballotOnly(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];  // @bw
    unsigned big = __ballot_sync(~0u, in[t] > 100);
    out[t] = s[31 - t] + __popc(big);  // @br
}

static int case_ballot_is_no_fence() { return run(ballotOnly, 32, unchecked, false); }

__global__ void acrossWarps(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];  // @iw
    __syncwarp();
    out[t] = s[63 - t];  // @ir
}

static int case_two_warps_syncwarp_is_too_little() {
    return run(acrossWarps, 64, unchecked, false);
}

__global__ void volatileAlone(const int* in, int* out) {
    __shared__ int s[32];
    volatile int* v = s;
    int t = threadIdx.x;
    v[t] = in[t];         // @vw
    out[t] = v[t ^ 16];   // @vr
}

static int case_volatile_alone() { return run(volatileAlone, 32, unchecked, false); }

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"neighbour", case_neighbour},
    {"neighbour_no_syncwarp", case_neighbour_no_syncwarp},
    {"read_then_write", case_read_then_write},
    {"read_then_write_one_syncwarp", case_read_then_write_one_syncwarp},
    {"half_warp_mask", case_half_warp_mask},
    {"half_warp_mask_reads_other_half", case_half_warp_mask_reads_other_half},
    {"warp_private_tiles", case_warp_private_tiles},
    {"warp_private_tiles_overlap", case_warp_private_tiles_overlap},
    {"through_global", case_through_global},
    {"through_global_no_syncwarp", case_through_global_no_syncwarp},
    {"leader_fills", case_leader_fills},
    {"leader_fills_no_syncwarp", case_leader_fills_no_syncwarp},
    {"ballot_is_no_fence", case_ballot_is_no_fence},
    {"two_warps_syncwarp_is_too_little", case_two_warps_syncwarp_is_too_little},
    {"volatile_alone", case_volatile_alone},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
