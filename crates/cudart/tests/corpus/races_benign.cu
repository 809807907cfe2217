// Races that many call harmless: equal values, flags, lazily computed caches.
//
// case: found_flag_equal  expect: race warning at: @found
// case: found_flag_atomic  expect: clean
// case: found_flag_shared_equal  expect: race warning at: @sfound
// case: found_flag_read_early  expect: race error gpu at: @setflag, @readflag
// case: sieve_equal  expect: race warning at: @cross
// case: sieve_owner  expect: clean
// case: all_store_size_equal  expect: race warning at: @size
// case: first_thread_stores_size  expect: clean
// case: almost_equal_values  expect: race error gpu at: @almost
// case: bfs_level_equal  expect: race warning at: @level
// case: stop_flag_volatile  expect: race warning at: @stopw
// case: cas_loop_plain_first_read  expect: race error|warning gpu at: @guess, @cas
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
    for (int i = 0; i < n; i++) v[i] = i * 19 % 101;
    return v;
}

__global__ void contains(const int* in, int n, int x, int* found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] == x) *found = 1;  // @found
}

__global__ void containsAtomic(const int* in, int n, int x, int* found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] == x) atomicOr(found, 1);
}

template <class Kernel> static int runContains(Kernel kernel) {
    int *in = upload(numbers(1000)), *found = zeros<int>(2);
    kernel<<<8, 128>>>(in, 1000, 57, found);
    kernel<<<8, 128>>>(in, 1000, 333, found + 1);
    std::vector<int> r = take(found, 2);
    CHECK(cudaFree(in));
    return verdict(r[0] == 1 && r[1] == 0);
}

static int case_found_flag_equal() { return runContains(contains); }
static int case_found_flag_atomic() { return runContains(containsAtomic); }

__global__ void containsShared(const int* in, int x, int* out) {
    __shared__ bool found;
    if (threadIdx.x == 0) found = false;
    __syncthreads();
    if (in[blockIdx.x * blockDim.x + threadIdx.x] % 10 == x) found = true;  // @sfound
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = found;
}

static int case_found_flag_shared_equal() {
    int *in = upload(numbers(512)), *out = zeros<int>(4);
    containsShared<<<4, 128>>>(in, 3, out);
    std::vector<int> r = take(out, 4);
    CHECK(cudaFree(in));
    return verdict(r == std::vector<int>(4, 1));
}

// Others look at the flag while it may be set, and go on or not.
__global__ void skipIfFound(const int* in, int x, int* found, int* work) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (*found == 0) work[i] = 1;  // @readflag
    if (in[i] == x) *found = 1;    // @setflag
}

static int case_found_flag_read_early() {
    int *in = upload(numbers(512)), *found = zeros<int>(1), *work = zeros<int>(512);
    skipIfFound<<<4, 128>>>(in, 57, found, work);
    take(work, 512);
    CHECK(cudaFree(in));
    CHECK(cudaFree(found));
    return verdict(true);
}

// Thread p crosses out the multiples of p + 2; several cross out the same number.
__global__ void crossOut(unsigned char* composite, int n) {
    int p = threadIdx.x + 2;
    for (int k = 2 * p; k < n; k += p) composite[k] = 1;  // @cross
}

__global__ void crossOwn(unsigned char* composite, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n || k < 4) return;
    for (int p = 2; p * p <= k; p++) {
        if (k % p == 0) composite[k] = 1;
    }
}

template <class Kernel> static int runSieve(Kernel kernel, int blocks, int threads) {
    const int n = 900;
    unsigned char* d = zeros<unsigned char>(n);
    kernel<<<blocks, threads>>>(d, n);
    std::vector<unsigned char> r = take(d, n);
    bool good = true;
    for (int k = 2; k < n; k++) {
        bool prime = true;
        for (int p = 2; p * p <= k; p++) prime = prime && k % p != 0;
        good = good && r[k] == !prime;
    }
    return verdict(good);
}

static int case_sieve_equal() { return runSieve(crossOut, 1, 32); }
static int case_sieve_owner() { return runSieve(crossOwn, 8, 128); }

__global__ void allStoreSize(int* out, int* size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
    *size = gridDim.x * blockDim.x;  // @size
}

__global__ void oneStoresSize(int* out, int* size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
    if (i == 0) *size = gridDim.x * blockDim.x;
}

template <class Kernel> static int runSize(Kernel kernel) {
    int *out = zeros<int>(256), *size = zeros<int>(1);
    kernel<<<4, 64>>>(out, size);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(out));
    return verdict(take(size, 1)[0] == 256);
}

static int case_all_store_size_equal() { return runSize(allStoreSize); }
static int case_first_thread_stores_size() { return runSize(oneStoresSize); }

// All threads but one store the same.
__global__ void almostEqual(int* flag) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    *flag = i == 77 ? 2 : 1;  // @almost
}

static int case_almost_equal_values() {
    int* flag = zeros<int>(1);
    almostEqual<<<4, 64>>>(flag);
    take(flag, 1);
    return verdict(true);
}

// Breadth-first search: several parents may give a child the same next level. Levels are read
// from the old array and written to the new one, so that only equal writes meet.
__global__ void nextLevel(const int* offsets, const int* targets, const int* before, int* after,
                          int nodes, int level) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || before[v] != level) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) {
        int w = targets[e];
        if (before[w] < 0) after[w] = level + 1;  // @level
    }
}

static int case_bfs_level_equal() {
    const int nodes = 128;
    std::vector<int> offsets, targets;
    for (int v = 0; v < nodes; v++) {
        offsets.push_back(targets.size());
        targets.push_back((v * 2 + 1) % nodes);
        targets.push_back((v * 2 + 2) % nodes);
        targets.push_back((v + 40) % nodes);
    }
    offsets.push_back(targets.size());
    std::vector<int> level(nodes, -1);
    level[0] = 0;
    int *o = upload(offsets), *t = upload(targets), *a = upload(level), *b = upload(level);
    for (int l = 0; l < 8; l++) {
        nextLevel<<<2, 64>>>(o, t, a, b, nodes, l);
        CHECK(cudaMemcpy(a, b, nodes * sizeof(int), cudaMemcpyDeviceToDevice));
        for (int v = 0; v < nodes; v++) {
            for (int e = offsets[v]; level[v] == l && e < offsets[v + 1]; e++) {
                if (level[targets[e]] < 0) level[targets[e]] = l + 1;
            }
        }
    }
    std::vector<int> r = take(b, nodes);
    CHECK(cudaFree(o));
    CHECK(cudaFree(t));
    CHECK(cudaFree(a));
    return verdict(r == level);
}

// Equal volatile writes: strong, unordered, and nobody waits for them.
__global__ void volatileStop(const int* in, volatile int* stop) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] > 50) *stop = 1;  // @stopw
}

static int case_stop_flag_volatile() {
    int *in = upload(numbers(256)), *stop = zeros<int>(1);
    volatileStop<<<4, 64>>>(in, stop);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    return verdict(take(stop, 1)[0] == 1);
}

// The form found in many books: the first guess is a plain read, which an atomic of another
// thread may overtake. It never changes the sum.
__device__ double addByCas(double* address, double v) {
    unsigned long long* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *bits, seen;  // @guess
    do {
        seen = old;
        unsigned long long next = __double_as_longlong(v + __longlong_as_double(seen));
        old = atomicCAS(bits, seen, next);  // @cas
    } while (old != seen);
    return __longlong_as_double(old);
}

__global__ void addAll(double* sum) { addByCas(sum, 1.0); }

static int case_cas_loop_plain_first_read() {
    double* sum = zeros<double>(1);
    addAll<<<2, 64>>>(sum);
    return verdict(take(sum, 1)[0] == 128.0);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"found_flag_equal", case_found_flag_equal},
    {"found_flag_atomic", case_found_flag_atomic},
    {"found_flag_shared_equal", case_found_flag_shared_equal},
    {"found_flag_read_early", case_found_flag_read_early},
    {"sieve_equal", case_sieve_equal},
    {"sieve_owner", case_sieve_owner},
    {"all_store_size_equal", case_all_store_size_equal},
    {"first_thread_stores_size", case_first_thread_stores_size},
    {"almost_equal_values", case_almost_equal_values},
    {"bfs_level_equal", case_bfs_level_equal},
    {"stop_flag_volatile", case_stop_flag_volatile},
    {"cas_loop_plain_first_read", case_cas_loop_plain_first_read},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
