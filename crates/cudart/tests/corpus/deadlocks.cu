// Waits that nobody ends, and waits that look bad but end.
//
// case: flag_never_set  expect: deadlock error at: @flag
// case: flag_set_by_other_block  expect: clean
// case: flag_set_too_low  expect: deadlock error at: @low
// case: two_blocks_each_first  expect: deadlock error at: @first
// case: lane_waits_for_lane  expect: clean
// case: lane_waits_for_later_self  expect: deadlock error at: @self
// case: barrier_and_flag  expect: deadlock error at: @behind
// case: flag_then_barrier  expect: clean
// case: counter_one_short  expect: deadlock error at: @goal
// case: counter_exact  expect: clean
// case: sleeps_while_waiting  expect: clean
// case: clock_bounded_wait  expect: clean
// case: grid_barrier_too_many  expect: deadlock error at: @gridgoal
// case: waits_for_next_launch  expect: deadlock error at: @nextlaunch
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
template <class Kernel> static int run(Kernel kernel, int blocks, int threads, int want) {
    int *flag = zeros<int>(4), *out = zeros<int>(1);
    kernel<<<blocks, threads>>>(flag, out);
    int got = take(out, 1)[0];
    CHECK(cudaFree(flag));
    return verdict(got == want);
}

__global__ void neverSet(volatile int* flag, int* out) {
    if (threadIdx.x == 0) {
        while (flag[0] == 0) {  // @flag
        }
        *out = 1;
    }
}

static int case_flag_never_set() { return run(neverSet, 1, 32, 1); }

__global__ void setByOther(volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        flag[0] = 5;
    } else {
        while (flag[0] != 5) {
        }
        *out = 1;
    }
}

static int case_flag_set_by_other_block() { return run(setByOther, 2, 32, 1); }

__global__ void setTooLow(volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        for (int k = 0; k < 9; k++) flag[0] = k;
    } else {
        while (flag[0] < 9) {  // @low
        }
        *out = 1;
    }
}

static int case_flag_set_too_low() { return run(setTooLow, 2, 32, 1); }

// Each block waits for the other before it says that it is there.
__global__ void eachFirst(volatile int* flag, int* out) {
    int me = blockIdx.x;
    while (flag[1 - me] == 0) {  // @first
    }
    flag[me] = 1;
    if (me == 0) *out = 1;
}

static int case_two_blocks_each_first() { return run(eachFirst, 2, 1, 1); }

// Lanes of one warp progress on their own: lane 0 may wait for lane 1.
__global__ void laneForLane(volatile int* flag, int* out) {
    if (threadIdx.x == 0) {
        while (flag[0] == 0) {
        }
        *out = 1;
    } else {
        flag[0] = 1;
    }
}

static int case_lane_waits_for_lane() { return run(laneForLane, 1, 2, 1); }

__global__ void laterSelf(volatile int* flag, int* out) {
    int t = threadIdx.x;
    if (t == 0) {
        while (flag[1] == 0) {  // @self
        }
        flag[0] = 1;
    } else if (t == 1) {
        while (flag[0] == 0) {
        }
        flag[1] = 1;
        *out = 1;
    }
}

static int case_lane_waits_for_later_self() { return run(laterSelf, 1, 32, 1); }

// Warp 1 would raise the flag, but only behind a barrier that warp 0 doesn't reach.
__global__ void barrierAndFlag(volatile int* flag, int* out) {
    if (threadIdx.x == 0) {
        while (flag[0] == 0) {  // @behind
        }
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        flag[0] = 1;
        *out = 1;
    }
}

static int case_barrier_and_flag() { return run(barrierAndFlag, 1, 64, 1); }

__global__ void flagThenBarrier(volatile int* flag, int* out) {
    if (threadIdx.x == 32) flag[0] = 1;
    if (threadIdx.x == 0) {
        while (flag[0] == 0) {
        }
    }
    __syncthreads();
    if (threadIdx.x == 32) *out = 1;
}

static int case_flag_then_barrier() { return run(flagThenBarrier, 1, 64, 1); }

// All threads of all blocks count; one waits for a given number.
template <int Extra> __global__ void countTo(int* flag, int* out) {
    atomicAdd(flag, 1);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        int goal = gridDim.x * blockDim.x + Extra;
        while (atomicAdd(flag, 0) < goal) {  // @goal
        }
        *out = 1;
    }
}

static int case_counter_one_short() { return run(countTo<1>, 3, 64, 1); }
static int case_counter_exact() { return run(countTo<0>, 3, 64, 1); }

__global__ void sleeps(volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        unsigned ns = 8;
        while (flag[0] == 0) {
            __nanosleep(ns);
            if (ns < 256) ns *= 2;
        }
        *out = 1;
    } else {
        for (int k = 0; k < 20; k++) __nanosleep(100);
        flag[0] = 1;
    }
}

static int case_sleeps_while_waiting() { return run(sleeps, 2, 32, 1); }

// A wait with a limit: nobody sets the flag, and after some time the thread gives up.
__global__ void givesUp(volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    long long start = clock64();
    while (flag[0] == 0) {
        if (clock64() - start > 20000) {
            *out = 2;
            return;
        }
    }
    *out = 1;
}

static int case_clock_bounded_wait() { return run(givesUp, 1, 32, 2); }

// The goal counts threads, while only one thread of each block arrives.
__global__ void gridBarrier(int* flag, int* out) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(flag, 1);
        while (atomicAdd(flag, 0) < (int)(gridDim.x * blockDim.x)) {  // @gridgoal
        }
        __threadfence();
    }
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) *out = 1;
}

static int case_grid_barrier_too_many() { return run(gridBarrier, 4, 32, 1); }

__global__ void waitNext(volatile int* flag) {
    while (*flag == 0) {  // @nextlaunch
    }
}
__global__ void setNow(volatile int* flag) { *flag = 1; }

// The second launch in the stream starts only after the first has ended.
static int case_waits_for_next_launch() {
    int* flag = zeros<int>(1);
    waitNext<<<1, 1>>>(flag);
    setNow<<<1, 1>>>(flag);
    take(flag, 1);
    return verdict(true);
}

struct Case {
    const char* name;
    int (*run)();
};

static const Case cases[] = {
    {"flag_never_set", case_flag_never_set},
    {"flag_set_by_other_block", case_flag_set_by_other_block},
    {"flag_set_too_low", case_flag_set_too_low},
    {"two_blocks_each_first", case_two_blocks_each_first},
    {"lane_waits_for_lane", case_lane_waits_for_lane},
    {"lane_waits_for_later_self", case_lane_waits_for_later_self},
    {"barrier_and_flag", case_barrier_and_flag},
    {"flag_then_barrier", case_flag_then_barrier},
    {"counter_one_short", case_counter_one_short},
    {"counter_exact", case_counter_exact},
    {"sleeps_while_waiting", case_sleeps_while_waiting},
    {"clock_bounded_wait", case_clock_bounded_wait},
    {"grid_barrier_too_many", case_grid_barrier_too_many},
    {"waits_for_next_launch", case_waits_for_next_launch},
};

int main(int argc, char** argv) {
    for (const Case& c : cases) {
        if (argc > 1 && strcmp(argv[1], c.name) == 0) return c.run();
    }
    fprintf(stderr, "which case?\n");
    return 2;
}
