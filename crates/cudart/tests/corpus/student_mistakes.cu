// The same kind of programs with the mistakes that beginners make in them.
//
// case: edit_distance_two_rows  expect: race error shared at: @now, @one, @two
// case: n_body_one_barrier  expect: race error shared at: @nbfill, @nbuse
// case: floyd_warshall_in_place  expect: clean
// case: k_means_plain_sums  expect: race error gpu at: @ksum
// case: jacobi_swapped_too_early  expect: race error gpu at: @jread, @jwrite
// case: spmv_row_ends_off  expect: bounds error at: @rowend
// case: word_count_plain  expect: race error gpu at: @words
// case: caesar_text_one_longer  expect: bounds error at: @text
// case: string_search_no_room  expect: bounds error at: @pattern
// case: queue_plain_tail  expect: race error gpu at: @tail
// case: counter_by_volatile  expect: race warning at: @volatilecount
// case: matrix_row_pointer_on_host  expect: bounds error at: @hostrow
// case: bank_check_then_take  expect: race error gpu at: @check, @take
// case: max_without_atomic  expect: race error gpu at: @max, @maxw
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
// Two diagonals are kept where three are needed.
__global__ void editTwoRows(const char* a, int la, const char* b, int lb, int* out) {
    __shared__ int diagonal[2][128];
    int i = threadIdx.x;
    for (int d = 0; d <= la + lb; d++) {
        int *now = diagonal[d % 2], *one = diagonal[(d + 1) % 2], *two = diagonal[d % 2];
        int j = d - i;
        if (i <= la && j >= 0 && j <= lb) {
            int best;
            if (i == 0 || j == 0) {
                best = i + j;
            } else {
                best = min(one[i - 1], one[i]) + 1;                       // @one
                best = min(best, two[i - 1] + (a[i - 1] != b[j - 1]));    // @two
            }
            now[i] = best;  // @now
            if (i == la && j == lb) *out = best;
        }
        __syncthreads();
    }
}

static int case_edit_distance_two_rows() {
    std::vector<char> a(60, 'a'), b(60, 'b');
    for (int i = 0; i < 60; i += 3) a[i] = b[(i + 4) % 60] = 'c';
    char *da = upload(a), *db = upload(b);
    int* out = zeros<int>(1);
    editTwoRows<<<1, 128>>>(da, 60, db, 60, out);
    take(out, 1);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return verdict(true);
}

__global__ void gravity(const float2* bodies, float* pull, int n) {
    __shared__ float2 tile[64];
    float2 me = bodies[blockIdx.x * 64 + threadIdx.x];
    float sum = 0;
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];  // @nbfill
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += tile[k].y / (1.0f + fabsf(tile[k].x - me.x));  // @nbuse
    }
    pull[blockIdx.x * 64 + threadIdx.x] = sum;
}

static int case_n_body_one_barrier() {
    std::vector<float2> h(256);
    for (int i = 0; i < 256; i++) h[i] = make_float2((float)(i * 7 % 31), (float)(i % 3 + 1));
    float2* bodies = upload(h);
    float* pull = zeros<float>(256);
    gravity<<<4, 64>>>(bodies, pull, 256);
    take(pull, 256);
    CHECK(cudaFree(bodies));
    return verdict(true);
}

// In place, and yet right: in round k row k and column k don't change, and nothing else is read
// by others; so they aren't written either.
__global__ void throughInPlace(int* way, int n, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n && x != k && y != k) {
        way[y * n + x] = min(way[y * n + x], way[y * n + k] + way[k * n + x]);
    }
}

static int case_floyd_warshall_in_place() {
    const int n = 24;
    std::vector<int> h(n * n, 100000);
    for (int i = 0; i < n; i++) {
        h[i * n + i] = 0;
        h[i * n + (i + 1) % n] = 3;
        h[i * n + (i * 5 + 2) % n] = i * 5 % n == n - 2 ? 0 : 7;
    }
    for (int i = 0; i < n; i++) h[i * n + i] = 0;
    int* d = upload(h);
    for (int k = 0; k < n; k++) {
        throughInPlace<<<dim3(2, 3), dim3(16, 8)>>>(d, n, k);
        for (int i = 0; i < n * n; i++) {
            int through = h[i / n * n + k] + h[k * n + i % n];
            h[i] = through < h[i] ? through : h[i];
        }
    }
    return verdict(take(d, n * n) == h);
}

__global__ void plainSums(const float* points, int n, const float* centres, float* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int nearest = fabsf(points[i] - centres[0]) < fabsf(points[i] - centres[1]) ? 0 : 1;
    sums[nearest] += points[i];  // @ksum
}

static int case_k_means_plain_sums() {
    std::vector<float> points(200), centres = {10.0f, 60.0f};
    for (int i = 0; i < 200; i++) points[i] = (float)(i * 37 % 97);
    float *p = upload(points), *c = upload(centres), *sums = zeros<float>(2);
    plainSums<<<2, 128>>>(p, 200, c, sums);
    take(sums, 2);
    CHECK(cudaFree(p));
    CHECK(cudaFree(c));
    return verdict(true);
}

// Two steps in one launch; the blocks have nothing that makes them wait for each other.
__global__ void jacobiTwoSteps(float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < 2; step++) {
        float *from = step ? b : a, *to = step ? a : b;
        if (i > 0 && i < n - 1) to[i] = 0.5f * (from[i - 1] + from[i + 1]);  // @jread
        __syncthreads();
    }
    if (i < n) b[i] = a[i];  // @jwrite
}

static int case_jacobi_swapped_too_early() {
    std::vector<float> h(256);
    for (int i = 0; i < 256; i++) h[i] = (float)(i * i % 50);
    float *a = upload(h), *b = upload(h);
    jacobiTwoSteps<<<4, 64>>>(a, b, 256);
    take(a, 256);
    CHECK(cudaFree(b));
    return verdict(true);
}

// The table of row starts has no entry for the end of the last row.
__global__ void rowSums(const int* starts, const float* values, float* sums, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    int end = starts[r + 1];  // @rowend
    for (int k = starts[r]; k < end; k++) sum += values[k];
    sums[r] = sum;
}

static int case_spmv_row_ends_off() {
    std::vector<int> starts(100);
    for (int i = 0; i < 100; i++) starts[i] = 3 * i;
    int* s = upload(starts);
    float *v = zeros<float>(300), *sums = zeros<float>(100);
    rowSums<<<1, 128>>>(s, v, sums, 100);
    take(sums, 100);
    CHECK(cudaFree(s));
    CHECK(cudaFree(v));
    return verdict(true);
}

static const char sentence[] = "to be or not to be, that is a question of scheduling";

__global__ void countSpaces(const char* text, int n, int* count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && text[i] == ' ') *count += 1;  // @words
}

static int case_word_count_plain() {
    std::vector<char> h(sentence, sentence + sizeof(sentence));
    char* text = upload(h);
    int* count = zeros<int>(1);
    countSpaces<<<2, 32>>>(text, h.size(), count);
    take(count, 1);
    CHECK(cudaFree(text));
    return verdict(true);
}

__global__ void upper(char* text, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n && text[i] >= 'a' && text[i] <= 'z') text[i] -= 32;  // @text
}

// strlen characters were copied; the kernel looks at one more.
static int case_caesar_text_one_longer() {
    int n = strlen(sentence);
    char* text = upload(std::vector<char>(sentence, sentence + n));
    upper<<<2, 32>>>(text, n);
    take(text, n);
    return verdict(true);
}

__global__ void find(const char* text, int n, const char* word, int length, int* first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool same = true;
    for (int k = 0; k < length; k++) same = same & (text[i + k] == word[k]);  // @pattern
    if (same) atomicMin(first, i);
}

static int case_string_search_no_room() {
    int n = strlen(sentence);
    char* text = upload(std::vector<char>(sentence, sentence + n));
    char* word = upload(std::vector<char>({'n', 'o', 't'}));
    int* first = upload(std::vector<int>(1, 1000));
    find<<<2, 32>>>(text, n, word, 3, first);
    take(first, 1);
    CHECK(cudaFree(text));
    CHECK(cudaFree(word));
    return verdict(true);
}

struct Queue {
    int tail;
    int items[256];
};

__global__ void enqueue(Queue* q, const int* in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 2) {
        int at = q->tail;  // @tail
        q->tail = at + 1;
        q->items[at] = i;
    }
}

static int case_queue_plain_tail() {
    std::vector<int> h(128);
    for (int i = 0; i < 128; i++) h[i] = i * 3 % 7;
    Queue* q = zeros<Queue>(1);
    int* in = upload(h);
    enqueue<<<2, 64>>>(q, in);
    take(q, 1);
    CHECK(cudaFree(in));
    return verdict(true);
}

// "volatile makes it safe": it does not, each thread reads and writes by itself.
__global__ void volatileCount(volatile int* count) {
    *count = *count + 1;  // @volatilecount
}

static int case_counter_by_volatile() {
    int* count = zeros<int>(1);
    volatileCount<<<2, 64>>>(count);
    take(count, 1);
    return verdict(true);
}

// An array of row pointers, of which one is still the host's.
__global__ void sumRows(float* const* rows, float* sums, int columns) {
    float sum = 0;
    for (int k = 0; k < columns; k++) sum += rows[threadIdx.x][k];  // @hostrow
    sums[threadIdx.x] = sum;
}

static int case_matrix_row_pointer_on_host() {
    static float hostRow[16];
    float* block = zeros<float>(3 * 16);
    std::vector<float*> pointers = {block, block + 16, hostRow, block + 32};
    float** rows = upload(pointers);
    float* sums = zeros<float>(4);
    sumRows<<<1, 4>>>(rows, sums, 16);
    take(sums, 4);
    CHECK(cudaFree(rows));
    CHECK(cudaFree(block));
    return verdict(true);
}

// The balance is looked at plainly, and then taken from atomically: it may go below zero.
__global__ void checkThenTake(int* account, int amount) {
    if (*account >= amount) {           // @check
        atomicSub(account, amount);     // @take
    }
}

static int case_bank_check_then_take() {
    int* account = upload(std::vector<int>(1, 500));
    checkThenTake<<<2, 64>>>(account, 7);
    take(account, 1);
    return verdict(true);
}

__global__ void plainMax(const int* in, int* best) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] > *best) {  // @max
        *best = in[i];    // @maxw
    }
}

static int case_max_without_atomic() {
    std::vector<int> h(128);
    for (int i = 0; i < 128; i++) h[i] = i * 31 % 97;
    int *in = upload(h), *best = zeros<int>(1);
    plainMax<<<2, 64>>>(in, best);
    take(best, 1);
    CHECK(cudaFree(in));
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"edit_distance_two_rows", case_edit_distance_two_rows},
    {"n_body_one_barrier", case_n_body_one_barrier},
    {"floyd_warshall_in_place", case_floyd_warshall_in_place},
    {"k_means_plain_sums", case_k_means_plain_sums},
    {"jacobi_swapped_too_early", case_jacobi_swapped_too_early},
    {"spmv_row_ends_off", case_spmv_row_ends_off},
    {"word_count_plain", case_word_count_plain},
    {"caesar_text_one_longer", case_caesar_text_one_longer},
    {"string_search_no_room", case_string_search_no_room},
    {"queue_plain_tail", case_queue_plain_tail},
    {"counter_by_volatile", case_counter_by_volatile},
    {"matrix_row_pointer_on_host", case_matrix_row_pointer_on_host},
    {"bank_check_then_take", case_bank_check_then_take},
    {"max_without_atomic", case_max_without_atomic},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
