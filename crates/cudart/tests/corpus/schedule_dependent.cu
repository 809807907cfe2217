// Faults that some orders of events hide: whoever looks for them tries several.
//
// case: flag_seen_without_fence  expect: race error gpu at: @seenw, @seenr
// schedules: flag_seen_without_fence
// case: flag_seen_with_fence  expect: clean
// case: opposite_locks  expect: deadlock error at: @inner
// schedules: opposite_locks
// case: same_order_locks  expect: clean
// case: last_one_by_count  expect: race error gpu at: @partw, @partr
// case: publish_pointer_unfenced  expect: race error gpu at: @nodew, @noder
// schedules: publish_pointer_unfenced
// case: publish_pointer_fenced  expect: clean
// case: overrun_when_behind  expect: bounds error at: @slotwrite
// schedules: overrun_when_behind
// case: overrun_checked  expect: clean
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
// Block 1 uses the data if it is there already, and does without if not.
template <bool Fence> __global__ void ifSeen(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[0] = 9;  // @seenw
        if (Fence) __threadfence();
        atomicExch(flag, 1);
    } else if (atomicAdd(flag, 0) == 1) {
        if (Fence) __threadfence();
        out[0] = data[0];  // @seenr
    }
}

template <bool Fence> static int runIfSeen() {
    int *data = zeros<int>(1), *flag = zeros<int>(1), *out = zeros<int>(1);
    ifSeen<Fence><<<2, 1>>>(data, flag, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    return verdict(got == 0 || got == 9);
}

static int case_flag_seen_without_fence() { return runIfSeen<false>(); }
static int case_flag_seen_with_fence() { return runIfSeen<true>(); }

__device__ void lock(int* l) {
    while (atomicCAS(l, 0, 1) != 0) {  // @inner
    }
    __threadfence();
}

__device__ void unlock(int* l) {
    __threadfence();
    atomicExch(l, 0);
}

// Both blocks need both locks.
template <bool SameOrder> __global__ void twoLocks(int* locks, int* counter) {
    int first = SameOrder ? 0 : blockIdx.x % 2;
    for (int k = 0; k < 4; k++) {
        lock(&locks[first]);
        lock(&locks[1 - first]);
        *counter += 1;
        unlock(&locks[1 - first]);
        unlock(&locks[first]);
    }
}

template <bool SameOrder> static int runTwoLocks() {
    int *locks = zeros<int>(2), *counter = zeros<int>(1);
    twoLocks<SameOrder><<<2, 1>>>(locks, counter);
    int got = take(counter, 1)[0];
    CHECK(cudaFree(locks));
    return verdict(got == 8);
}

static int case_opposite_locks() { return runTwoLocks<false>(); }
static int case_same_order_locks() { return runTwoLocks<true>(); }

// Counts itself before it has stored its part; then the last one may read too early.
__global__ void countFirst(int* parts, int* count, int* out) {
    int order = atomicAdd(count, 1);
    __threadfence();
    parts[blockIdx.x] = 5;  // @partw
    if (order == (int)gridDim.x - 1) {
        int sum = 0;
        for (int b = 0; b < (int)gridDim.x; b++) sum += parts[b];  // @partr
        *out = sum;
    }
}

static int case_last_one_by_count() {
    int *parts = zeros<int>(4), *count = zeros<int>(1), *out = zeros<int>(1);
    countFirst<<<4, 1>>>(parts, count, out);
    take(out, 1);
    CHECK(cudaFree(parts));
    CHECK(cudaFree(count));
    return verdict(true);
}

struct Node {
    int value;
    int next;
};

// A stack of nodes; block 1 looks at whatever is on top when it comes by.
template <bool Fence> __global__ void pushAndPeek(Node* nodes, int* head, int* out) {
    if (blockIdx.x == 0) {
        for (int k = 0; k < 8; k++) {
            nodes[k].value = 100 + k;  // @nodew
            if (Fence) __threadfence();
            atomicExch(head, k);
        }
    } else {
        for (int k = 0; k < 8; k++) {
            int top = atomicAdd(head, 0);
            if (Fence) __threadfence();
            if (top >= 0) out[k] = nodes[top].value - top;  // @noder
        }
    }
}

template <bool Fence> static int runPushAndPeek() {
    Node* nodes = zeros<Node>(8);
    int *head = upload(std::vector<int>(1, -1)), *out = zeros<int>(8);
    pushAndPeek<Fence><<<2, 1>>>(nodes, head, out);
    std::vector<int> r = take(out, 8);
    CHECK(cudaFree(nodes));
    CHECK(cudaFree(head));
    bool good = true;
    for (int v : r) good = good && (!Fence || v == 0 || v == 100);
    return verdict(good);
}

static int case_publish_pointer_unfenced() { return runPushAndPeek<false>(); }
static int case_publish_pointer_fenced() { return runPushAndPeek<true>(); }

// The writer notes how far it has run ahead of the reader; there is room for four.
template <bool Check> __global__ void runAhead(int* done, int* lead, int n) {
    if (blockIdx.x == 0) {
        for (int k = 0; k < n; k++) {
            int ahead = k - atomicAdd(done, 0);
            if (!Check || ahead < 4) lead[ahead] = k;  // @slotwrite
        }
    } else {
        for (int k = 0; k < n; k++) atomicAdd(done, 1);
    }
}

template <bool Check> static int runRunAhead() {
    int *done = zeros<int>(1), *all = zeros<int>(16 + 4);
    runAhead<Check><<<2, 1>>>(done, all + 16, 16);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(done));
    take(all, 20);
    return verdict(true);
}

static int case_overrun_when_behind() { return runRunAhead<false>(); }
static int case_overrun_checked() { return runRunAhead<true>(); }

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"flag_seen_without_fence", case_flag_seen_without_fence},
    {"flag_seen_with_fence", case_flag_seen_with_fence},
    {"opposite_locks", case_opposite_locks},
    {"same_order_locks", case_same_order_locks},
    {"last_one_by_count", case_last_one_by_count},
    {"publish_pointer_unfenced", case_publish_pointer_unfenced},
    {"publish_pointer_fenced", case_publish_pointer_fenced},
    {"overrun_when_behind", case_overrun_when_behind},
    {"overrun_checked", case_overrun_checked},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
