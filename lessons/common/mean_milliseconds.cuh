// The mean time of one call of `work`, in milliseconds: `warmups` calls that are not timed, then
// one pair of CUDA events around `runs` calls on the default stream.
template <class Work>
float meanMilliseconds(int warmups, int runs, Work work) {
    for (int i = 0; i < warmups; ++i) work();
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    CUDA_CHECK(cudaEventRecord(start));
    for (int i = 0; i < runs; ++i) work();
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float total = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&total, start, stop));
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    return total / static_cast<float>(runs);
}
