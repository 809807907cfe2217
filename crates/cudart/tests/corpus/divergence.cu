// Branches, loops and exits that take lanes apart; all sound.
//
// case: nested_branches  expect: clean
// case: trip_counts  expect: clean
// case: switch_dense  expect: clean
// case: switch_sparse  expect: clean
// case: early_return  expect: clean
// case: early_return_before_barrier  expect: clean
// case: break_continue  expect: clean
// case: goto_out_of_loops  expect: clean
// case: short_circuit_guards_read  expect: clean
// case: ternary_chain  expect: clean
// case: do_while_newton  expect: clean
// case: uniform_branch_with_barrier  expect: clean
// case: loop_barrier_uniform_bounds  expect: clean
// case: binary_search  expect: clean
// case: state_machine  expect: clean
// case: mandelbrot  expect: clean
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
template <class Kernel, class F> static int run(Kernel kernel, int n, F want) {
    int* out = zeros<int>(n);
    kernel<<<(n + 127) / 128, 128>>>(out, n);
    std::vector<int> r = take(out, n);
    for (int i = 0; i < n; i++) {
        if (r[i] != want(i)) return verdict(false);
    }
    return verdict(true);
}

#define INDEX (int)(blockIdx.x * blockDim.x + threadIdx.x)

__host__ __device__ int nested(int i) {
    int r = 0;
    if (i % 2) {
        if (i % 3) {
            r = i % 5 ? 1 : 2;
        } else {
            r = 3;
            if (i > 100) r += i % 7;
        }
    } else if (i % 4) {
        r = 5;
    } else {
        for (int k = 0; k < i % 8; k++) r += k;
    }
    return r;
}

__global__ void nestedKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = nested(INDEX);
}

static int case_nested_branches() { return run(nestedKernel, 500, nested); }

__host__ __device__ int collatz(int i) {
    int steps = 0;
    for (int v = i + 1; v != 1; steps++) v = v & 1 ? 3 * v + 1 : v / 2;
    return steps;
}

__global__ void collatzKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = collatz(INDEX);
}

static int case_trip_counts() { return run(collatzKernel, 400, collatz); }

__host__ __device__ int dense(int i) {
    switch (i % 9) {
        case 0: return i + 1;
        case 1: return i * 2;
        case 2: return i - 3;
        case 3: return i ^ 4;
        case 4: return i | 5;
        case 5: return i & 6;
        case 6: return ~i;
        case 7: return i << 3;
    }
    return -1;
}

__global__ void denseKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = dense(INDEX);
}

static int case_switch_dense() { return run(denseKernel, 300, dense); }

__host__ __device__ int sparse(int i) {
    int r = 0;
    switch (i * i) {
        case 4: r += 1;  // falls through
        case 9: r += 10; break;
        case 10000: r = 7; break;
        case 62500: r = 8;  // falls through
        default: r += i % 3;
    }
    return r;
}

__global__ void sparseKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = sparse(INDEX);
}

static int case_switch_sparse() { return run(sparseKernel, 300, sparse); }

__global__ void earlyReturn(int* out, int n) {
    int i = INDEX;
    if (i >= n) return;
    if (i % 3 == 0) {
        out[i] = -i;
        return;
    }
    int sum = 0;
    for (int k = 0; k < 20; k++) {
        sum += k * i;
        if (sum > 500) {
            out[i] = k;
            return;
        }
    }
    out[i] = 1000;
}

static int case_early_return() {
    return run(earlyReturn, 333, [](int i) {
        if (i % 3 == 0) return -i;
        for (int k = 0, sum = 0; k < 20; k++) {
            sum += k * i;
            if (sum > 500) return k;
        }
        return 1000;
    });
}

// Threads that have returned are not waited for.
__global__ void returnThenBarrier(int* out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (INDEX >= n) return;
    s[t] = INDEX;
    __syncthreads();
    int last = n - blockIdx.x * 128 < 128 ? n - blockIdx.x * 128 - 1 : 127;
    out[INDEX] = s[last - t];
}

static int case_early_return_before_barrier() {
    return run(returnThenBarrier, 300, [](int i) {
        int base = i / 128 * 128, last = base + 128 > 300 ? 299 : base + 127;
        return base + last - i;
    });
}

__host__ __device__ int breaks(int i) {
    int sum = 0;
    for (int k = 0; k < 50; k++) {
        if (k % 3 == i % 3) continue;
        for (int j = 0;; j++) {
            if (j * j > k + i % 10) break;
            sum++;
        }
        if (sum > 40 + i) break;
    }
    return sum;
}

__global__ void breaksKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = breaks(INDEX);
}

static int case_break_continue() { return run(breaksKernel, 200, breaks); }

__host__ __device__ int gotos(int i) {
    int a, b = 0;
    for (a = 1; a < 30; a++) {
        for (b = a; b < 30; b++) {
            if (a * b == i) goto found;
        }
    }
    return -1;
found:
    return a * 100 + b;
}

__global__ void gotosKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = gotos(INDEX);
}

static int case_goto_out_of_loops() { return run(gotosKernel, 150, gotos); }

// The second condition may be looked at only where the first holds.
__global__ void guarded(int* out, int n) {
    int i = INDEX;
    if (i >= n) return;
    out[i] = i * 7 % 11;
    if (i > 0 && i < n - 1 && out[i] >= 0) out[i] += 100;
}

static int case_short_circuit_guards_read() {
    return run(guarded, 257, [](int i) { return i * 7 % 11 + (i > 0 && i < 256 ? 100 : 0); });
}

__host__ __device__ int grade(int i) {
    int p = i * 37 % 101;
    return p >= 90 ? 1 : p >= 75 ? 2 : p >= 60 ? 3 : p >= 50 ? 4 : p >= 25 ? 5 : 6;
}

__global__ void gradeKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = grade(INDEX);
}

static int case_ternary_chain() { return run(gradeKernel, 128, grade); }

__host__ __device__ int squareRoot(int i) {
    unsigned v = i * 977u + 1, x = v, next = (v + 1) / 2;
    do {
        x = next;
        next = (x + v / x) / 2;
    } while (next < x);
    return x;
}

__global__ void rootKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = squareRoot(INDEX);
}

static int case_do_while_newton() { return run(rootKernel, 256, squareRoot); }

// All threads of a block go the same way, so that a barrier inside is in order.
__global__ void uniformBranch(int* out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (blockIdx.x % 2 == 0) {
        s[t] = t;
        __syncthreads();
        if (INDEX < n) out[INDEX] = s[127 - t];
    } else {
        s[t] = 2 * t;
        __syncthreads();
        if (INDEX < n) out[INDEX] = s[t ^ 1];
    }
}

static int case_uniform_branch_with_barrier() {
    return run(uniformBranch, 500, [](int i) {
        return i / 128 % 2 == 0 ? 127 - i % 128 : 2 * (i % 128 ^ 1);
    });
}

// Other blocks make other numbers of rounds; within a block they are the same.
__global__ void uniformLoop(int* out, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    for (int k = 0; k <= (int)blockIdx.x; k++) {
        if (threadIdx.x == k) s += 10 + k;
        __syncthreads();
    }
    if (INDEX < n) out[INDEX] = s;
}

static int case_loop_barrier_uniform_bounds() {
    return run(uniformLoop, 600, [](int i) {
        int sum = 0;
        for (int k = 0; k <= i / 128; k++) sum += 10 + k;
        return sum;
    });
}

__host__ __device__ int searchSquares(int i) {
    int low = 0, high = 64;
    while (low < high) {
        int mid = (low + high) >> 1;
        if (mid * mid < i) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

__global__ void searchKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = searchSquares(INDEX);
}

static int case_binary_search() { return run(searchKernel, 1000, searchSquares); }

__host__ __device__ int machine(int seed) {
    int state = 0, acc = seed, steps = 0;
    while (state != 4 && steps < 60) {
        steps++;
        switch (state) {
            case 0:
                acc = acc * 5 + 1;
                state = acc % 2 ? 1 : 2;
                break;
            case 1:
                acc -= 3;
                state = acc % 7 == 0 ? 4 : 2;
                break;
            case 2:
                acc = acc / 3 + steps;
                state = acc % 5 == 0 ? 3 : 0;
                break;
            case 3:
                acc ^= 0x55;
                state = 1;
                break;
        }
        acc &= 0xffff;
    }
    return acc * 64 + steps;
}

__global__ void machineKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = machine(INDEX);
}

static int case_state_machine() { return run(machineKernel, 256, machine); }

// Sixteenths only, so that host and device agree to the last bit.
__host__ __device__ int escape(int i) {
    int x0 = (i % 32 - 20) * 2048, y0 = (i / 32 - 8) * 2048, x = 0, y = 0;
    int k = 0;
    for (; k < 64; k++) {
        int xx = (int)(((long long)x * x) >> 15), yy = (int)(((long long)y * y) >> 15);
        if (xx + yy > 4 << 15) break;
        y = (int)(((long long)x * y) >> 14) + y0;
        x = xx - yy + x0;
    }
    return k;
}

__global__ void escapeKernel(int* out, int n) {
    if (INDEX < n) out[INDEX] = escape(INDEX);
}

static int case_mandelbrot() { return run(escapeKernel, 512, escape); }

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"nested_branches", case_nested_branches},
    {"trip_counts", case_trip_counts},
    {"switch_dense", case_switch_dense},
    {"switch_sparse", case_switch_sparse},
    {"early_return", case_early_return},
    {"early_return_before_barrier", case_early_return_before_barrier},
    {"break_continue", case_break_continue},
    {"goto_out_of_loops", case_goto_out_of_loops},
    {"short_circuit_guards_read", case_short_circuit_guards_read},
    {"ternary_chain", case_ternary_chain},
    {"do_while_newton", case_do_while_newton},
    {"uniform_branch_with_barrier", case_uniform_branch_with_barrier},
    {"loop_barrier_uniform_bounds", case_loop_barrier_uniform_bounds},
    {"binary_search", case_binary_search},
    {"state_machine", case_state_machine},
    {"mandelbrot", case_mandelbrot},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
