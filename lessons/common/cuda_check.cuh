// Ends the program when a CUDA call fails, naming the place, the call and the reason.
// After a launch, check cudaGetLastError(): a launch itself returns nothing.
#define CUDA_CHECK(call)                                                           \
    do {                                                                           \
        const cudaError_t status_ = (call);                                        \
        if (status_ != cudaSuccess) {                                              \
            std::fprintf(stderr, "CUDA error %s:%d: %s: %s\n", __FILE__, __LINE__, \
                         #call, cudaGetErrorString(status_));                      \
            std::exit(EXIT_FAILURE);                                               \
        }                                                                          \
    } while (0)
