// Locks of users' own making: spin, ticket, by block, in shared memory; and how they fail.
//
// case: spin  expect: clean
// case: spin_no_fences  expect: race error gpu at: @nofence
// case: spin_no_acquire_fence  expect: race error gpu at: @noacq
// case: spin_no_release_fence  expect: race error gpu at: @norel
// case: spin_fence_block  expect: race error gpu at: @fblock
// case: spin_all_lanes_of_a_warp  expect: clean
// case: try_until_done  expect: clean
// case: volatile_unlock  expect: clean
// case: plain_unlock  expect: race error gpu at: @unlock, @lock
// case: ticket  expect: clean
// case: lock_per_bin  expect: clean
// case: block_takes_lock  expect: clean
// case: block_takes_lock_no_barrier  expect: race error gpu at: @bnb
// case: shared_lock  expect: clean
// case: never_released  expect: deadlock error at: @never
// case: taken_twice  expect: deadlock error at: @twice
// case: opposite_order  expect: deadlock error at: @second
// case: list_push  expect: clean
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
// One thread of each block adds to a plain counter under a lock.
__global__ void spin(int* lock, int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        *counter += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

static int case_spin() {
    int *lock = zeros<int>(1), *counter = zeros<int>(1);
    spin<<<20, 32>>>(lock, counter);
    int got = take(counter, 1)[0];
    return verdict(take(lock, 1)[0] == 0 && got == 20);
}

__global__ void spinNoFences(int* lock, int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        *counter += 1;  // @nofence
        atomicExch(lock, 0);
    }
}

__global__ void spinNoAcquire(int* lock, int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        *counter += 1;  // @noacq
        __threadfence();
        atomicExch(lock, 0);
    }
}

__global__ void spinNoRelease(int* lock, int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        *counter += 1;  // @norel
        atomicExch(lock, 0);
    }
}

__global__ void spinFenceBlock(int* lock, int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence_block();
        *counter += 1;  // @fblock
        __threadfence_block();
        atomicExch(lock, 0);
    }
}

template <class Kernel> static int runUnchecked(Kernel kernel) {
    int *lock = zeros<int>(1), *counter = zeros<int>(1);
    kernel<<<20, 32>>>(lock, counter);
    take(counter, 1);
    take(lock, 1);
    return verdict(true);
}

static int case_spin_no_fences() { return runUnchecked(spinNoFences); }
static int case_spin_no_acquire_fence() { return runUnchecked(spinNoAcquire); }
static int case_spin_no_release_fence() { return runUnchecked(spinNoRelease); }
static int case_spin_fence_block() { return runUnchecked(spinFenceBlock); }

// Lanes make progress independently since compute capability 7.0: this ends.
__global__ void spinLanes(int* lock, int* counter) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
}

static int case_spin_all_lanes_of_a_warp() {
    int *lock = zeros<int>(1), *counter = zeros<int>(1);
    spinLanes<<<2, 48>>>(lock, counter);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(lock));
    return verdict(take(counter, 1)[0] == 96);
}

// The form for older devices, where the branch must contain the whole critical section.
__global__ void tryUntilDone(int* lock, int* counter) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            counter[0] += 1;
            counter[1] += 2;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

static int case_try_until_done() {
    int *lock = zeros<int>(1), *counter = zeros<int>(2);
    tryUntilDone<<<3, 40>>>(lock, counter);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(lock));
    return verdict(take(counter, 2) == std::vector<int>({120, 240}));
}

__global__ void volatileUnlock(int* lock, int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        *counter += 1;
        __threadfence();
        *(volatile int*)lock = 0;
    }
}

static int case_volatile_unlock() {
    int *lock = zeros<int>(1), *counter = zeros<int>(1);
    volatileUnlock<<<10, 32>>>(lock, counter);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(lock));
    return verdict(take(counter, 1)[0] == 10);
}

__global__ void plainUnlock(int* lock, int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {  // @lock
        }
        __threadfence();
        *counter += 1;
        __threadfence();
        *lock = 0;  // @unlock
    }
}

static int case_plain_unlock() { return runUnchecked(plainUnlock); }

struct TicketLock {
    unsigned next, serving;
};

__global__ void ticket(TicketLock* lock, int* log, int* used) {
    if (threadIdx.x == 0) {
        unsigned mine = atomicAdd(&lock->next, 1u);
        while (*(volatile unsigned*)&lock->serving != mine) {
        }
        __threadfence();
        log[*used] = mine;
        *used += 1;
        __threadfence();
        atomicAdd(&lock->serving, 1u);
    }
}

static int case_ticket() {
    TicketLock* lock = zeros<TicketLock>(1);
    int *log = zeros<int>(12), *used = zeros<int>(1);
    ticket<<<12, 32>>>(lock, log, used);
    std::vector<int> r = take(log, 12);
    CHECK(cudaFree(lock));
    bool good = take(used, 1)[0] == 12;
    for (int i = 0; i < 12; i++) good = good && r[i] == i;
    return verdict(good);
}

__global__ void lockPerBin(int* locks, int2* bins) {
    int bin = (blockIdx.x * 7 + threadIdx.x) % 8;
    bool done = false;
    do {
        if (atomicCAS(&locks[bin], 0, 1) == 0) {
            __threadfence();
            int2 v = bins[bin];
            bins[bin] = make_int2(v.x + 1, v.y + threadIdx.x);
            __threadfence();
            atomicExch(&locks[bin], 0);
            done = true;
        }
    } while (!done);
}

static int case_lock_per_bin() {
    int* locks = zeros<int>(8);
    int2* bins = zeros<int2>(8);
    lockPerBin<<<4, 32>>>(locks, bins);
    std::vector<int2> r = take(bins, 8);
    CHECK(cudaFree(locks));
    int count = 0, sum = 0;
    for (int2 b : r) {
        count += b.x;
        sum += b.y;
    }
    return verdict(count == 128 && sum == 4 * 31 * 16);
}

// Thread 0 takes the lock for all threads of the block.
template <bool Barrier> __global__ void blockTakes(int* lock, int* data) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
    }
    __syncthreads();
    data[threadIdx.x] = data[threadIdx.x] * 2 + 1;  // @bnb
    if (Barrier) __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}

template <bool Barrier> static int runBlockTakes() {
    int *lock = zeros<int>(1), *data = zeros<int>(64);
    blockTakes<Barrier><<<5, 64>>>(lock, data);
    std::vector<int> r = take(data, 64);
    CHECK(cudaFree(lock));
    return verdict(!Barrier || r == std::vector<int>(64, 31));
}

static int case_block_takes_lock() { return runBlockTakes<true>(); }
static int case_block_takes_lock_no_barrier() { return runBlockTakes<false>(); }

__global__ void sharedLock(int* out) {
    __shared__ int lock, count, last;
    if (threadIdx.x == 0) lock = count = last = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            count += 1;
            last = threadIdx.x;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = last >= 0 && last < 64 ? count : -1;
}

static int case_shared_lock() {
    int* out = zeros<int>(3);
    sharedLock<<<3, 64>>>(out);
    return verdict(take(out, 3) == std::vector<int>(3, 64));
}

// Odd blocks return without giving the lock back.
__global__ void neverReleased(int* lock, int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {  // @never
        }
        __threadfence();
        *counter += 1;
        if (blockIdx.x % 2 == 1) return;
        __threadfence();
        atomicExch(lock, 0);
    }
}

static int case_never_released() { return runUnchecked(neverReleased); }

__device__ void takeLock(int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) {  // @twice
    }
    __threadfence();
}

__global__ void takenTwice(int* lock, int* counter) {
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        takeLock(lock);
        *counter += 1;
        takeLock(lock);
        *counter += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

static int case_taken_twice() { return runUnchecked(takenTwice); }

// Two warps hold one lock each and want the other's.
__global__ void oppositeOrder(int* locks, int* counter) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) atomicCAS(&locks[warp], 0, 1);
    __syncthreads();
    if (lane == 0) {
        while (atomicCAS(&locks[1 - warp], 0, 1) != 0) {  // @second
        }
        __threadfence();
        atomicAdd(counter, 1);
        __threadfence();
        atomicExch(&locks[0], 0);
        atomicExch(&locks[1], 0);
    }
}

static int case_opposite_order() {
    int *locks = zeros<int>(2), *counter = zeros<int>(1);
    oppositeOrder<<<1, 64>>>(locks, counter);
    take(counter, 1);
    take(locks, 2);
    return verdict(true);
}

struct Node {
    int value, next;
};

__global__ void push(Node* nodes, int* head, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    nodes[i].value = i * i;
    nodes[i].next = atomicExch(head, i);
}

__global__ void walk(const Node* nodes, const int* head, int* sum) {
    int count = 0;
    for (int i = *head; i >= 0; i = nodes[i].next) {
        count++;
        sum[0] += nodes[i].value;
    }
    sum[1] = count;
}

static int case_list_push() {
    Node* nodes = zeros<Node>(300);
    int *head = upload(std::vector<int>(1, -1)), *sum = zeros<int>(2);
    push<<<3, 128>>>(nodes, head, 300);
    walk<<<1, 1>>>(nodes, head, sum);
    std::vector<int> r = take(sum, 2);
    CHECK(cudaFree(nodes));
    CHECK(cudaFree(head));
    return verdict(r[0] == 299 * 300 / 2 * 599 / 3 && r[1] == 300);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"spin", case_spin},
    {"spin_no_fences", case_spin_no_fences},
    {"spin_no_acquire_fence", case_spin_no_acquire_fence},
    {"spin_no_release_fence", case_spin_no_release_fence},
    {"spin_fence_block", case_spin_fence_block},
    {"spin_all_lanes_of_a_warp", case_spin_all_lanes_of_a_warp},
    {"try_until_done", case_try_until_done},
    {"volatile_unlock", case_volatile_unlock},
    {"plain_unlock", case_plain_unlock},
    {"ticket", case_ticket},
    {"lock_per_bin", case_lock_per_bin},
    {"block_takes_lock", case_block_takes_lock},
    {"block_takes_lock_no_barrier", case_block_takes_lock_no_barrier},
    {"shared_lock", case_shared_lock},
    {"never_released", case_never_released},
    {"taken_twice", case_taken_twice},
    {"opposite_order", case_opposite_order},
    {"list_push", case_list_push},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
