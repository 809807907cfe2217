// Asynchronous copies to shared memory: the pipeline primitives, waits and barriers.
//
// arch: compute_80
// case: copy_wait_sync  expect: clean
// case: copy_no_wait  expect: race error shared at: @nwcopy, @nwread
// case: copy_wait_no_sync  expect: race error shared at: @nscopy, @nsread
// case: own_element_wait_only  expect: clean
// case: two_stages  expect: clean
// case: two_stages_wait_too_little  expect: race error shared at: @tlcopy, @tlread
// case: two_stages_overwrites_read  expect: race error shared at: @owcopy, @owread
// case: sizes_4_8_16  expect: clean
// case: zero_fill  expect: clean
// case: copy_misaligned  expect: alignment error at: @mis
// case: copy_past_source  expect: bounds error at: @past
// case: inline_ptx  expect: clean
// case: source_overwritten_early  expect: race error gpu at: @srccopy, @srcwrite
// gap: source_overwritten_early  cp.async is checked where it completes, not where it is issued
#include <cuda_pipeline_primitives.h>
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
    for (int i = 0; i < n; i++) v[i] = i * 11 % 173;
    return v;
}

// Each block reverses its 128 elements; what is left out is up to the instance.
template <class Kernel, class F> static int run(Kernel kernel, F want, bool check = true) {
    std::vector<int> h = numbers(512);
    int *in = upload(h), *out = zeros<int>(512);
    kernel<<<4, 128>>>(in, out);
    std::vector<int> r = take(out, 512);
    CHECK(cudaFree(in));
    for (int i = 0; i < 512; i++) {
        if (check && r[i] != want(h, i)) return verdict(false);
    }
    return verdict(true);
}

static int reversed(const std::vector<int>& h, int i) { return h[i / 128 * 128 + 127 - i % 128]; }

__global__ void waitSync(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    __pipeline_memcpy_async(&s[t], &in[i], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = s[127 - t];
}

__global__ void noWait(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    __pipeline_memcpy_async(&s[t], &in[i], sizeof(int));  // @nwcopy
    __pipeline_commit();
    __syncthreads();
    out[i] = s[127 - t];  // @nwread
}

__global__ void noSync(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    __pipeline_memcpy_async(&s[t], &in[i], sizeof(int));  // @nscopy
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[i] = s[127 - t];  // @nsread
}

// After the wait, what a thread has copied itself is there for it.
__global__ void ownElement(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    __pipeline_memcpy_async(&s[t], &in[i], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[i] = s[t] * 2;
}

static int case_copy_wait_sync() { return run(waitSync, reversed); }
static int case_copy_no_wait() { return run(noWait, reversed, false); }
static int case_copy_wait_no_sync() { return run(noSync, reversed, false); }
static int case_own_element_wait_only() {
    return run(ownElement, [](auto& h, int i) { return 2 * h[i]; });
}

// A block walks over eight tiles of 64 with two buffers.
__global__ void twoStages(const int* in, int* out) {
    __shared__ int s[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
    __pipeline_commit();
    for (int k = 0; k < 8; k++) {
        if (k + 1 < 8) __pipeline_memcpy_async(&s[(k + 1) % 2][t], &in[(k + 1) * 64 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[k * 64 + t] = s[k % 2][63 - t];
        __syncthreads();
    }
}

// Lets two groups stay under way, and so uses the one that isn't complete.
__global__ void waitTooLittle(const int* in, int* out) {
    __shared__ int s[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
    __pipeline_commit();
    for (int k = 0; k < 8; k++) {
        if (k + 1 < 8) {
            __pipeline_memcpy_async(&s[(k + 1) % 2][t], &in[(k + 1) * 64 + t], 4);  // @tlcopy
        }
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        out[k * 64 + t] = s[k % 2][63 - t];  // @tlread
        __syncthreads();
    }
}

// No barrier after the reads: the next copy may come too early.
__global__ void overwrites(const int* in, int* out) {
    __shared__ int s[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
    __pipeline_commit();
    for (int k = 0; k < 8; k++) {
        if (k + 1 < 8) {
            __pipeline_memcpy_async(&s[(k + 1) % 2][t], &in[(k + 1) * 64 + t], 4);  // @owcopy
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[k * 64 + t] = s[k % 2][63 - t];  // @owread
    }
}

template <class Kernel> static int runStages(Kernel kernel, bool check) {
    std::vector<int> h = numbers(512);
    int *in = upload(h), *out = zeros<int>(512);
    kernel<<<1, 64>>>(in, out);
    std::vector<int> r = take(out, 512);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 512; i++) {
        good = good && (!check || r[i] == h[i / 64 * 64 + 63 - i % 64]);
    }
    return verdict(good);
}

static int case_two_stages() { return runStages(twoStages, true); }
static int case_two_stages_wait_too_little() { return runStages(waitTooLittle, false); }
static int case_two_stages_overwrites_read() { return runStages(overwrites, false); }

__global__ void sizes(const int* in, int* out) {
    __shared__ __align__(16) int s[32 * 7];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * t], &in[4 * t], 16);
    __pipeline_memcpy_async(&s[128 + 2 * t], &in[128 + 2 * t], 8);
    __pipeline_memcpy_async(&s[192 + t], &in[192 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = t; k < 224; k += 32) out[k] = s[223 - k];
}

static int case_sizes_4_8_16() {
    std::vector<int> h = numbers(224);
    int *in = upload(h), *out = zeros<int>(224);
    sizes<<<1, 32>>>(in, out);
    std::vector<int> r = take(out, 224);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 224; i++) good = good && r[i] == h[223 - i];
    return verdict(good);
}

// The last quads stick out of the input; the missing bytes become zero.
__global__ void zeroFill(const int* in, int* out, int n) {
    __shared__ __align__(16) int s[128];
    int t = threadIdx.x, have = min(max(n - 4 * t, 0), 4);
    const int* from = have > 0 ? &in[4 * t] : in;
    __pipeline_memcpy_async(&s[4 * t], from, 16, 16 - 4 * have);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = t; k < 128; k += 32) out[k] = s[k];
}

static int case_zero_fill() {
    std::vector<int> h = numbers(102);
    int *in = upload(h), *out = zeros<int>(128);
    zeroFill<<<1, 32>>>(in, out, 102);
    std::vector<int> r = take(out, 128);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 128; i++) good = good && r[i] == (i < 102 ? h[i] : 0);
    return verdict(good);
}

__global__ void misaligned(const int* in, int* out) {
    __shared__ __align__(16) int s[132];
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(&s[4 * t])),
                 "l"(in + 4 * t + 1) : "memory");  // @mis
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[4 * t];
}

static int case_copy_misaligned() {
    int *in = upload(numbers(129)), *out = zeros<int>(32);
    misaligned<<<1, 32>>>(in, out);
    take(out, 32);
    CHECK(cudaFree(in));
    return verdict(true);
}

__global__ void pastSource(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);  // @past
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[127 - t];
}

static int case_copy_past_source() {
    int *in = upload(numbers(100)), *out = zeros<int>(128);
    pastSource<<<1, 128>>>(in, out);
    take(out, 128);
    CHECK(cudaFree(in));
    return verdict(true);
}

__device__ void copy16(void* to, const void* from) {
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

__global__ void inlinePtx(const int4* in, int4* out) {
    __shared__ int4 s[3][32];
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        copy16(&s[k][t], &in[k * 32 + t]);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncwarp();
    out[t] = s[0][31 - t];
    out[32 + t] = s[1][31 - t];
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    out[64 + t] = s[2][31 - t];
}

static int case_inline_ptx() {
    std::vector<int4> h(96);
    for (int i = 0; i < 96; i++) h[i] = make_int4(i, 2 * i, 3 * i, 4 * i);
    int4 *in = upload(h), *out = zeros<int4>(96);
    inlinePtx<<<1, 32>>>(in, out);
    std::vector<int4> r = take(out, 96);
    CHECK(cudaFree(in));
    bool good = true;
    for (int i = 0; i < 96; i++) {
        int k = i / 32 * 32 + 31 - i % 32;
        good = good && r[i].x == k && r[i].y == 2 * k && r[i].z == 3 * k && r[i].w == 4 * k;
    }
    return verdict(good);
}

// The source is written again while the copy may still be reading it.
__global__ void sourceOverwritten(int* data, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &data[t], 4);  // @srccopy
    __pipeline_commit();
    data[t] = -1;  // @srcwrite
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[63 - t];
}

static int case_source_overwritten_early() {
    int *data = upload(numbers(64)), *out = zeros<int>(64);
    sourceOverwritten<<<1, 64>>>(data, out);
    take(out, 64);
    CHECK(cudaFree(data));
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"copy_wait_sync", case_copy_wait_sync},
    {"copy_no_wait", case_copy_no_wait},
    {"copy_wait_no_sync", case_copy_wait_no_sync},
    {"own_element_wait_only", case_own_element_wait_only},
    {"two_stages", case_two_stages},
    {"two_stages_wait_too_little", case_two_stages_wait_too_little},
    {"two_stages_overwrites_read", case_two_stages_overwrites_read},
    {"sizes_4_8_16", case_sizes_4_8_16},
    {"zero_fill", case_zero_fill},
    {"copy_misaligned", case_copy_misaligned},
    {"copy_past_source", case_copy_past_source},
    {"inline_ptx", case_inline_ptx},
    {"source_overwritten_early", case_source_overwritten_early},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
