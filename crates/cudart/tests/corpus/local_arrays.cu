// Arrays of a thread's own: in local memory where they are indexed dynamically.
//
// case: dynamic_index  expect: clean
// case: insertion_sort  expect: clean
// case: two_d_local  expect: clean
// case: local_histogram  expect: clean
// case: stack_machine  expect: clean
// case: permutations  expect: clean
// case: char_buffer  expect: clean
// case: past_local_array  expect: bounds error at: @pastlocal
// case: local_not_written  expect: uninitialised error at: @unset
// case: lookup_constant_array  expect: clean
// case: small_matrix_inverse  expect: clean
// case: local_struct_array  expect: clean
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
__global__ void dynamicIndex(const int* in, int* out) {
    int v[8];
    for (int k = 0; k < 8; k++) v[k] = in[threadIdx.x * 8 + k];
    int sum = 0;
    for (int k = 0; k < 8; k++) sum = sum * 3 + v[(k * 5 + threadIdx.x) % 8];
    out[threadIdx.x] = sum;
}

static std::vector<int> numbers(int n) {
    std::vector<int> v(n);
    for (int i = 0; i < n; i++) v[i] = i * 389 % 257;
    return v;
}

static int case_dynamic_index() {
    std::vector<int> h = numbers(64 * 8);
    int *in = upload(h), *out = zeros<int>(64);
    dynamicIndex<<<1, 64>>>(in, out);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(in));
    bool good = true;
    for (int t = 0; t < 64; t++) {
        int sum = 0;
        for (int k = 0; k < 8; k++) sum = sum * 3 + h[t * 8 + (k * 5 + t) % 8];
        good = good && r[t] == sum;
    }
    return verdict(good);
}

__global__ void medians(const int* in, int* out, int n) {
    int v[9], t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    for (int k = 0; k < 9; k++) v[k] = in[t * 9 + k];
    for (int k = 1; k < 9; k++) {
        int x = v[k], j = k;
        for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
        v[j] = x;
    }
    out[t] = v[4];
}

static int case_insertion_sort() {
    std::vector<int> h = numbers(100 * 9);
    int *in = upload(h), *out = zeros<int>(100);
    medians<<<2, 64>>>(in, out, 100);
    std::vector<int> r = take(out, 100);
    CHECK(cudaFree(in));
    bool good = true;
    for (int t = 0; t < 100; t++) {
        int below = 0, notAbove = 0;
        for (int k = 0; k < 9; k++) {
            below += h[t * 9 + k] < r[t];
            notAbove += h[t * 9 + k] <= r[t];
        }
        good = good && below <= 4 && notAbove >= 5;
    }
    return verdict(good);
}

// The number of common letters in order (longest common subsequence) of two short strings.
__global__ void commonLetters(const char* a, const char* b, int length, int* out) {
    const char *x = a + threadIdx.x * length, *y = b + threadIdx.x * length;
    unsigned char best[13][13];
    for (int i = 0; i <= length; i++) {
        for (int j = 0; j <= length; j++) {
            if (i == 0 || j == 0) {
                best[i][j] = 0;
            } else if (x[i - 1] == y[j - 1]) {
                best[i][j] = best[i - 1][j - 1] + 1;
            } else {
                best[i][j] = max(best[i - 1][j], best[i][j - 1]);
            }
        }
    }
    out[threadIdx.x] = best[length][length];
}

static int case_two_d_local() {
    const int length = 12, pairs = 32;
    std::vector<char> a(length * pairs), b(length * pairs);
    for (int i = 0; i < length * pairs; i++) {
        a[i] = (char)('a' + i * i % 5);
        b[i] = (char)('a' + (i * 7 + 2) % 5);
    }
    char *da = upload(a), *db = upload(b);
    int* out = zeros<int>(pairs);
    commonLetters<<<1, pairs>>>(da, db, length, out);
    std::vector<int> r = take(out, pairs);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    bool good = true;
    for (int p = 0; p < pairs; p++) {
        int best[13][13] = {};
        for (int i = 1; i <= length; i++) {
            for (int j = 1; j <= length; j++) {
                int skip = best[i - 1][j] > best[i][j - 1] ? best[i - 1][j] : best[i][j - 1];
                best[i][j] = a[p * length + i - 1] == b[p * length + j - 1]
                                 ? best[i - 1][j - 1] + 1 : skip;
            }
        }
        good = good && r[p] == best[length][length];
    }
    return verdict(good);
}

__global__ void modes(const int* in, int* out) {
    short counts[10] = {};
    for (int k = 0; k < 40; k++) counts[in[threadIdx.x * 40 + k] % 10]++;
    int best = 0;
    for (int d = 1; d < 10; d++) {
        if (counts[d] > counts[best]) best = d;
    }
    out[threadIdx.x] = best * 100 + counts[best];
}

static int case_local_histogram() {
    std::vector<int> h = numbers(32 * 40);
    int *in = upload(h), *out = zeros<int>(32);
    modes<<<1, 32>>>(in, out);
    std::vector<int> r = take(out, 32);
    CHECK(cudaFree(in));
    bool good = true;
    for (int t = 0; t < 32; t++) {
        int counts[10] = {}, best = 0;
        for (int k = 0; k < 40; k++) counts[h[t * 40 + k] % 10]++;
        for (int d = 1; d < 10; d++) best = counts[d] > counts[best] ? d : best;
        good = good && r[t] == best * 100 + counts[best];
    }
    return verdict(good);
}

// Reverse Polish notation: digits are pushed, operators take two.
__host__ __device__ int evaluate(const char* program, int x) {
    int stack[16], top = 0;
    for (const char* p = program; *p; p++) {
        if (*p >= '0' && *p <= '9') {
            stack[top++] = *p - '0';
        } else if (*p == 'x') {
            stack[top++] = x;
        } else {
            int b = stack[--top], a = stack[--top];
            stack[top++] = *p == '+' ? a + b : *p == '-' ? a - b : a * b;
        }
    }
    return stack[0];
}

__global__ void evaluateAll(const char* programs, const int* starts, int* out) {
    out[threadIdx.x] = evaluate(programs + starts[threadIdx.x % 4], threadIdx.x);
}

static int case_stack_machine() {
    const char text[] = "xx*3x*+7-\0x\0" "12345+-*+x-\0xxxx***2*9+";
    std::vector<char> programs(text, text + sizeof(text));
    std::vector<int> starts = {0, 10, 12, 24};
    char* d = upload(programs);
    int *s = upload(starts), *out = zeros<int>(64);
    evaluateAll<<<1, 64>>>(d, s, out);
    std::vector<int> r = take(out, 64);
    CHECK(cudaFree(d));
    CHECK(cudaFree(s));
    bool good = true;
    for (int t = 0; t < 64; t++) good = good && r[t] == evaluate(text + starts[t % 4], t);
    return verdict(good);
}

__global__ void permutation(int* out) {
    int left[6], number = threadIdx.x + blockIdx.x * blockDim.x, count = 6, code = 0;
    if (number >= 720) return;
    for (int k = 0; k < 6; k++) left[k] = k + 1;
    for (int f = 120, k = 5; k >= 0; k--) {
        int at = number / f;
        number %= f;
        code = code * 10 + left[at];
        for (int j = at; j + 1 < count; j++) left[j] = left[j + 1];
        count--;
        if (k > 0) f /= k;
    }
    out[threadIdx.x + blockIdx.x * blockDim.x] = code;
}

static int case_permutations() {
    int* out = zeros<int>(720);
    permutation<<<6, 128>>>(out);
    std::vector<int> r = take(out, 720);
    bool good = r[0] == 123456 && r[719] == 654321;
    for (int i = 1; i < 720; i++) good = good && r[i - 1] < r[i];
    return verdict(good);
}

__global__ void decimal(char* out) {
    char text[12];
    int value = threadIdx.x * threadIdx.x * 1237, length = 0;
    do {
        text[length++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    char* mine = out + threadIdx.x * 12;
    for (int k = 0; k < length; k++) mine[k] = text[length - 1 - k];
    mine[length] = 0;
}

static int case_char_buffer() {
    char* out = zeros<char>(64 * 12);
    decimal<<<1, 64>>>(out);
    std::vector<char> r = take(out, 64 * 12);
    bool good = true;
    for (int t = 0; t < 64; t++) good = good && atoi(&r[t * 12]) == t * t * 1237;
    return verdict(good);
}

__global__ void pastLocal(const int* index, int* out) {
    int v[8];
    for (int k = 0; k < 8; k++) v[k] = k * k;
    v[index[threadIdx.x]] = 5;  // @pastlocal
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += v[(k + threadIdx.x) % 8];
    out[threadIdx.x] = sum;
}

static int case_past_local_array() {
    std::vector<int> index(32, 3);
    index[20] = 8;
    int *d = upload(index), *out = zeros<int>(32);
    pastLocal<<<1, 32>>>(d, out);
    take(out, 32);
    CHECK(cudaFree(d));
    return verdict(true);
}

// One of the eight is left out.
__global__ void oneUnset(const int* skip, int* out) {
    int v[8];
    for (int k = 0; k < 8; k++) {
        if (k != skip[0]) v[k] = k * k;
    }
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += v[(k * 3 + threadIdx.x) % 8];  // @unset
    out[threadIdx.x] = sum;
}

static int case_local_not_written() {
    int *skip = upload(std::vector<int>(1, 5)), *out = zeros<int>(32);
    oneUnset<<<1, 32>>>(skip, out);
    take(out, 32);
    CHECK(cudaFree(skip));
    return verdict(true);
}

__global__ void daysInMonth(int* out) {
    const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const char* names[3] = {"first", "second", "third"};
    int m = threadIdx.x % 12;
    out[threadIdx.x] = days[m] * 1000 + names[threadIdx.x % 3][m % 5];
}

static int case_lookup_constant_array() {
    int* out = zeros<int>(36);
    daysInMonth<<<1, 36>>>(out);
    std::vector<int> r = take(out, 36);
    const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const char* names[3] = {"first", "second", "third"};
    bool good = true;
    for (int t = 0; t < 36; t++) {
        good = good && r[t] == days[t % 12] * 1000 + names[t % 3][t % 12 % 5];
    }
    return verdict(good);
}

// Gauss-Jordan with pivoting on a 3 x 3 matrix whose inverse has whole numbers.
__global__ void invert(const double* in, double* out) {
    double a[3][6];
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            a[r][c] = in[threadIdx.x * 9 + r * 3 + c];
            a[r][c + 3] = r == c;
        }
    }
    for (int c = 0; c < 3; c++) {
        int pivot = c;
        for (int r = c + 1; r < 3; r++) {
            if (fabs(a[r][c]) > fabs(a[pivot][c])) pivot = r;
        }
        for (int k = 0; k < 6; k++) {
            double t = a[c][k];
            a[c][k] = a[pivot][k];
            a[pivot][k] = t;
        }
        double scale = 1.0 / a[c][c];
        for (int k = 0; k < 6; k++) a[c][k] *= scale;
        for (int r = 0; r < 3; r++) {
            if (r == c) continue;
            double f = a[r][c];
            for (int k = 0; k < 6; k++) a[r][k] -= f * a[c][k];
        }
    }
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) out[threadIdx.x * 9 + r * 3 + c] = a[r][c + 3];
    }
}

static int case_small_matrix_inverse() {
    std::vector<double> h(32 * 9);
    for (int t = 0; t < 32; t++) {
        const double m[9] = {1.0, t % 4 * 1.0, 2.0, 0.0, 1.0, t % 3 + 4.0, 0.0, 0.0, 1.0};
        for (int k = 0; k < 9; k++) h[t * 9 + (k + 3) % 9] = m[k];
    }
    double *in = upload(h), *out = zeros<double>(32 * 9);
    invert<<<1, 32>>>(in, out);
    std::vector<double> r = take(out, 32 * 9);
    CHECK(cudaFree(in));
    bool good = true;
    for (int t = 0; t < 32; t++) {
        for (int i = 0; i < 9; i++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += h[t * 9 + i / 3 * 3 + k] * r[t * 9 + k * 3 + i % 3];
            good = good && sum == (i / 3 == i % 3);
        }
    }
    return verdict(good);
}

struct Item {
    float weight;
    short id;
};

__global__ void topThree(const float* in, int n, int* out) {
    Item best[3] = {{-1, -1}, {-1, -1}, {-1, -1}};
    for (int i = 0; i < n; i++) {
        Item x = {in[threadIdx.x * n + i], (short)i};
        for (int k = 0; k < 3; k++) {
            if (x.weight > best[k].weight) {
                Item t = best[k];
                best[k] = x;
                x = t;
            }
        }
    }
    for (int k = 0; k < 3; k++) out[threadIdx.x * 3 + k] = best[(k + threadIdx.x) % 3].id;
}

static int case_local_struct_array() {
    const int n = 20;
    std::vector<float> h(32 * n);
    for (int i = 0; i < 32 * n; i++) h[i] = (float)(i * 61 % 641);
    float* in = upload(h);
    int* out = zeros<int>(96);
    topThree<<<1, 32>>>(in, n, out);
    std::vector<int> r = take(out, 96);
    CHECK(cudaFree(in));
    bool good = true;
    for (int t = 0; t < 32; t++) {
        for (int k = 0; k < 3; k++) {
            int id = r[t * 3 + k], above = 0;
            if (id < 0 || id >= n) return verdict(false, "id");
            for (int i = 0; i < n; i++) above += h[t * n + i] > h[t * n + id];
            good = good && above == (k + t) % 3;
        }
    }
    return verdict(good);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"dynamic_index", case_dynamic_index},
    {"insertion_sort", case_insertion_sort},
    {"two_d_local", case_two_d_local},
    {"local_histogram", case_local_histogram},
    {"stack_machine", case_stack_machine},
    {"permutations", case_permutations},
    {"char_buffer", case_char_buffer},
    {"past_local_array", case_past_local_array},
    {"local_not_written", case_local_not_written},
    {"lookup_constant_array", case_lookup_constant_array},
    {"small_matrix_inverse", case_small_matrix_inverse},
    {"local_struct_array", case_local_struct_array},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
