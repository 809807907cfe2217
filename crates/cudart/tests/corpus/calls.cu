// Calls: noinline functions, recursion, function pointers, virtual functions, functors.
//
// case: noinline_function  expect: clean
// case: many_parameters  expect: clean
// case: returns_struct  expect: clean
// case: recursion_factorial  expect: clean
// case: recursion_fibonacci  expect: clean
// case: recursion_ackermann  expect: clean
// case: mutual_recursion  expect: clean
// case: recursive_quicksort  expect: clean
// case: function_pointer_table  expect: clean
// case: function_pointer_argument  expect: clean
// case: virtual_functions  expect: clean
// case: functor_template  expect: clean
// case: pointer_to_local  expect: clean
// case: device_malloc  expect: clean
// case: noinline_out_of_bounds  expect: bounds error at: @inside
// case: noinline_race  expect: race error shared at: @put, @get
// gap: device_malloc  malloc on the device is not emulated
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
template <class Kernel, class F> static int run(Kernel kernel, int n, F want) {
    int* out = zeros<int>(n);
    kernel<<<(n + 63) / 64, 64>>>(out, n);
    std::vector<int> r = take(out, n);
    for (int i = 0; i < n; i++) {
        if (r[i] != want(i)) return verdict(false);
    }
    return verdict(true);
}

#define INDEX (int)(blockIdx.x * blockDim.x + threadIdx.x)

__noinline__ __host__ __device__ int mix(int a, int b) { return a * 31 + (b ^ a >> 2); }

__global__ void callsMix(int* out, int n) {
    if (INDEX < n) out[INDEX] = mix(INDEX, mix(7, INDEX));
}

static int case_noinline_function() {
    return run(callsMix, 100, [](int i) { return mix(i, mix(7, i)); });
}

__noinline__ __host__ __device__ long long many(char a, short b, int c, long long d, float e,
                                                double f, unsigned char g, bool h) {
    return a + b * 2 + c * 3 + d * 5 + (long long)(e * 8) + (long long)(f * 16) + g + h;
}

__global__ void callsMany(int* out, int n) {
    int i = INDEX;
    if (i < n) out[i] = (int)many(i, -i, i * i, 1ll << 20, i * 0.5f, i * 0.25, i + 3, i % 2);
}

static int case_many_parameters() {
    return run(callsMany, 100, [](int i) {
        return (int)many(i, -i, i * i, 1ll << 20, i * 0.5f, i * 0.25, i + 3, i % 2);
    });
}

struct DivMod {
    int quotient, remainder;
    double exact;
};

__noinline__ __host__ __device__ DivMod divide(int a, int b) { return {a / b, a % b, a * 0.5}; }

__global__ void callsDivide(int* out, int n) {
    if (INDEX < n) {
        DivMod d = divide(INDEX * 100 - 999, INDEX % 7 + 2);
        out[INDEX] = d.quotient * 1000 + d.remainder + (int)d.exact;
    }
}

static int case_returns_struct() {
    return run(callsDivide, 128, [](int i) {
        int a = i * 100 - 999, b = i % 7 + 2;
        return a / b * 1000 + a % b + (int)(a * 0.5);
    });
}

__host__ __device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

__global__ void factorials(int* out, int n) {
    if (INDEX < n) out[INDEX] = factorial(INDEX % 12);
}

static int case_recursion_factorial() {
    return run(factorials, 64, [](int i) { return factorial(i % 12); });
}

__host__ __device__ int fibonacci(int n) {
    if (n < 2) return n;
    int a = fibonacci(n - 1);
    return a + fibonacci(n - 2);
}

__global__ void fibonaccis(int* out, int n) {
    if (INDEX < n) out[INDEX] = fibonacci(INDEX % 13);
}

static int case_recursion_fibonacci() {
    return run(fibonaccis, 64, [](int i) { return fibonacci(i % 13); });
}

__host__ __device__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void ackermanns(int* out, int n) {
    if (INDEX < n) out[INDEX] = ackermann(INDEX % 3, INDEX / 3 % 4);
}

static int case_recursion_ackermann() {
    return run(ackermanns, 24, [](int i) { return ackermann(i % 3, i / 3 % 4); });
}

__host__ __device__ bool isOdd(unsigned n);
__host__ __device__ bool isEven(unsigned n) { return n == 0 ? true : isOdd(n - 1); }
__host__ __device__ bool isOdd(unsigned n) { return n == 0 ? false : isEven(n - 1); }

__global__ void evens(int* out, int n) {
    if (INDEX < n) out[INDEX] = isEven(INDEX % 20) ? 1 : 2;
}

static int case_mutual_recursion() {
    return run(evens, 40, [](int i) { return i % 20 % 2 ? 2 : 1; });
}

__device__ void quicksort(int* v, int low, int high) {
    while (low < high) {
        int pivot = v[(low + high) / 2], i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i <= j) {
                int t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (j - low < high - i) {
            quicksort(v, low, j);
            low = i;
        } else {
            quicksort(v, i, high);
            high = j;
        }
    }
}

// Each thread sorts a row of its own.
__global__ void sortRows(int* data, int rows, int columns) {
    if (INDEX < rows) quicksort(data + INDEX * columns, 0, columns - 1);
}

static int case_recursive_quicksort() {
    const int rows = 40, columns = 30;
    std::vector<int> h(rows * columns);
    for (size_t i = 0; i < h.size(); i++) h[i] = (int)(i * 7919 % 1009);
    int* d = upload(h);
    sortRows<<<1, 64>>>(d, rows, columns);
    std::vector<int> r = take(d, rows * columns);
    bool good = true;
    long sum = 0;
    for (int i = 0; i < rows * columns; i++) {
        good = good && (i % columns == 0 || r[i - 1] <= r[i]);
        sum += r[i] - h[i];
    }
    return verdict(good && sum == 0);
}

typedef int (*Operation)(int, int);
__host__ __device__ int opAdd(int a, int b) { return a + b; }
__host__ __device__ int opSub(int a, int b) { return a - b; }
__host__ __device__ int opMul(int a, int b) { return a * b; }
__host__ __device__ int opMax(int a, int b) { return a > b ? a : b; }
__device__ Operation operations[4] = {opAdd, opSub, opMul, opMax};

__global__ void byTable(int* out, int n) {
    if (INDEX < n) out[INDEX] = operations[INDEX % 4](INDEX, 50);
}

static int case_function_pointer_table() {
    return run(byTable, 128, [](int i) {
        const Operation all[4] = {opAdd, opSub, opMul, opMax};
        return all[i % 4](i, 50);
    });
}

__device__ Operation chosen = opMul;

__global__ void byArgument(Operation op, int* out, int n) {
    if (INDEX < n) out[INDEX] = op(INDEX, 3);
}

static int case_function_pointer_argument() {
    Operation op;
    CHECK(cudaMemcpyFromSymbol(&op, chosen, sizeof(op)));
    int* out = zeros<int>(64);
    byArgument<<<1, 64>>>(op, out, 64);
    std::vector<int> r = take(out, 64);
    bool good = true;
    for (int i = 0; i < 64; i++) good = good && r[i] == 3 * i;
    return verdict(good);
}

class Shape {
  public:
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
class Square : public Shape {
  public:
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }

  private:
    int side;
};
class Box : public Shape {
  public:
    __device__ Box(int w, int h) : width(w), height(h) {}
    __device__ int area() const override { return width * height; }

  private:
    int width, height;
};

__device__ __noinline__ int twiceArea(const Shape& s) { return 2 * s.area(); }

__global__ void areas(int* out, int n) {
    int i = INDEX;
    if (i >= n) return;
    Square square(i);
    Box box(i, 3);
    out[i] = twiceArea(i % 2 ? (const Shape&)square : (const Shape&)box);
}

static int case_virtual_functions() {
    return run(areas, 100, [](int i) { return i % 2 ? 2 * i * i : 6 * i; });
}

struct Affine {
    int a, b;
    __host__ __device__ int operator()(int x) const { return a * x + b; }
};
struct Cube {
    __host__ __device__ int operator()(int x) const { return x * x * x; }
};

template <class F, class G> __global__ void compose(F f, G g, int* out, int n) {
    if (INDEX < n) out[INDEX] = f(g(INDEX));
}

static int case_functor_template() {
    int* out = zeros<int>(50);
    compose<<<1, 64>>>(Affine{3, -1}, Cube{}, out, 50);
    std::vector<int> r = take(out, 50);
    bool good = true;
    for (int i = 0; i < 50; i++) good = good && r[i] == 3 * i * i * i - 1;
    return verdict(good);
}

__noinline__ __device__ void divideInto(int a, int b, int* quotient, int* rest) {
    *quotient = a / b;
    *rest = a % b;
}

__global__ void usesPointers(int* out, int n) {
    if (INDEX >= n) return;
    int q, r;
    divideInto(INDEX * 17, 5, &q, &r);
    out[INDEX] = q * 10 + r;
}

static int case_pointer_to_local() {
    return run(usesPointers, 90, [](int i) { return i * 17 / 5 * 10 + i * 17 % 5; });
}

// Memory from the device's own heap, used and freed by the thread that asked for it.
__global__ void ownHeap(int* out, int n) {
    int i = INDEX;
    if (i >= n) return;
    int* v = (int*)malloc((i % 9 + 1) * sizeof(int));
    if (v == nullptr) return;
    for (int k = 0; k <= i % 9; k++) v[k] = k * i;
    int sum = 0;
    for (int k = 0; k <= i % 9; k++) sum += v[k];
    free(v);
    int* one = new int(sum);
    out[i] = *one;
    delete one;
}

static int case_device_malloc() {
    return run(ownHeap, 70, [](int i) { return i * (i % 9) * (i % 9 + 1) / 2; });
}

__noinline__ __device__ int readAt(const int* v, int i) {
    return v[i];  // @inside
}

__global__ void readsOutside(const int* v, int* out) {
    out[threadIdx.x] = readAt(v, threadIdx.x + 1);
}

static int case_noinline_out_of_bounds() {
    int *v = zeros<int>(64), *out = zeros<int>(64);
    readsOutside<<<1, 64>>>(v, out);
    take(out, 64);
    CHECK(cudaFree(v));
    return verdict(true);
}

__noinline__ __device__ void put(int* s, int i, int v) {
    s[i] = v;  // @put
}
__noinline__ __device__ int get(const int* s, int i) {
    return s[i];  // @get
}

__global__ void putAndGet(int* out) {
    __shared__ int s[64];
    put(s, threadIdx.x, threadIdx.x * 5);
    out[threadIdx.x] = get(s, 63 - threadIdx.x);
}

static int case_noinline_race() {
    int* out = zeros<int>(64);
    putAndGet<<<1, 64>>>(out);
    take(out, 64);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"noinline_function", case_noinline_function},
    {"many_parameters", case_many_parameters},
    {"returns_struct", case_returns_struct},
    {"recursion_factorial", case_recursion_factorial},
    {"recursion_fibonacci", case_recursion_fibonacci},
    {"recursion_ackermann", case_recursion_ackermann},
    {"mutual_recursion", case_mutual_recursion},
    {"recursive_quicksort", case_recursive_quicksort},
    {"function_pointer_table", case_function_pointer_table},
    {"function_pointer_argument", case_function_pointer_argument},
    {"virtual_functions", case_virtual_functions},
    {"functor_template", case_functor_template},
    {"pointer_to_local", case_pointer_to_local},
    {"device_malloc", case_device_malloc},
    {"noinline_out_of_bounds", case_noinline_out_of_bounds},
    {"noinline_race", case_noinline_race},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
