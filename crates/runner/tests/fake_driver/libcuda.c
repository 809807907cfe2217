/* A stand-in for the driver's library: one card whose memory is the host's, and two kernels known
 * by name.
 *
 * FAKE_CUDA chooses what goes wrong; FAKE_CUDA_AT the launch from 1 at which a fault of a launch
 * happens.
 * Numbers and signatures are those of cuda.h. */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long ptr_t;

static int launches;
static long current;

static int mode(const char *name)
{
    const char *chosen = getenv("FAKE_CUDA");
    return chosen != NULL && strcmp(chosen, name) == 0;
}

static int due(void)
{
    const char *at = getenv("FAKE_CUDA_AT");
    return at != NULL && launches >= atoi(at);
}

static void hang(void)
{
    for (;;)
        pause();
}

/* A real fault: a handler that returns from a raised signal would go on behind it. */
static void fault(void)
{
    static volatile uintptr_t nowhere = 8;
    *(volatile int *)nowhere = 1;
}

#ifndef NO_INIT
int cuInit(unsigned flags)
{
    (void)flags;
    if (mode("no-device"))
        return 100;
    if (mode("unknown-code"))
        return 9999;
    if (mode("stub"))
        return 34;
    if (mode("crash"))
        fault();
    if (mode("trap"))
        raise(SIGILL);
    if (mode("hang"))
        hang();
    if (mode("silent"))
        _exit(0);
    if (mode("garbage")) {
        puts("hello");
        fflush(stdout);
    }
    return 0;
}
#endif

int cuGetErrorName(int code, const char **text)
{
    *text = code == 34 ? "CUDA_ERROR_STUB_LIBRARY"
        : code == 101  ? "CUDA_ERROR_INVALID_DEVICE"
        : code == 222  ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
        : code == 500  ? "CUDA_ERROR_NOT_FOUND"
        : code == 700  ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                       : NULL;
    return *text == NULL;
}

int cuGetErrorString(int code, const char **text)
{
    *text = code == 222 ? "the provided PTX was compiled with an unsupported toolchain."
        : code == 700   ? "an illegal memory access was encountered"
                        : NULL;
    return *text == NULL;
}

int cuDriverGetVersion(int *version)
{
    *version = mode("no-version") ? 0 : 12090;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = mode("hidden") ? 0 : 1;
    return mode("unknown-later") ? 9999 : 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal == 0 ? 0 : 101;
}

int cuDeviceGetName(char *name, int len, int device)
{
    (void)device;
    snprintf(name, (size_t)len, "NVIDIA Fake");
    return 0;
}

int cuDeviceGetUuid(unsigned char *uuid, int device)
{
    (void)device;
    for (int i = 0; i < 16; ++i)
        uuid[i] = (unsigned char)(i * 17);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)1 << 34;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    switch (attribute) {
    case 16: *value = 4; return 0;             /* multiprocessors */
    case 38: *value = 6 << 20; return 0;       /* bytes of L2 */
    case 75: *value = 8; return 0;             /* capability, major */
    case 76: *value = 6; return 0;             /* and minor */
    case 115: *value = 1; return 0;            /* memory pools */
    default: *value = 0; return 1;
    }
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = &current;
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return 0; }

static void *set;
int cuCtxGetCurrent(void **context) { *context = set; return 0; }
int cuCtxSetCurrent(void *context) { set = context; return 0; }

int cuModuleLoadData(void **module, const void *image)
{
    *module = &launches;
    if (mode("old-driver"))
        return 222;
    return strstr(image, ".version") != NULL ? 0 : 200;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values)
{
    for (unsigned i = 0; i < count; ++i)
        if (options[i] == 5) /* the buffer for the compiler's errors; its size is option 6 */
            snprintf(values[i], 4096, "ptxas fatal   : Unsupported .version 9.0\n");
    return cuModuleLoadData(module, image);
}

int cuModuleUnload(void *module) { (void)module; return 0; }

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    static int split;
    static int plain;
    (void)module;
    *function = strstr(name, "19pipelineSyncthreads") != NULL ? &plain
        : strstr(name, "20pipelineSplitBarrier") != NULL      ? &split
                                                              : NULL;
    return *function != NULL ? 0 : 500;
}

int cuMemAlloc_v2(ptr_t *at, size_t bytes) { *at = (ptr_t)(uintptr_t)malloc(bytes); return 0; }
int cuMemAllocAsync(ptr_t *at, size_t bytes, void *stream)
{
    (void)stream;
    return cuMemAlloc_v2(at, bytes);
}

int cuMemFree_v2(ptr_t at) { free((void *)(uintptr_t)at); return 0; }
int cuMemFreeAsync(ptr_t at, void *stream) { (void)stream; return cuMemFree_v2(at); }

int cuMemcpyHtoDAsync_v2(ptr_t to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, ptr_t from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

int cuMemsetD8Async(ptr_t to, unsigned char byte, size_t bytes, void *stream)
{
    (void)stream;
    memset((void *)(uintptr_t)to, byte, bytes);
    return 0;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
    (void)function, (void)shared, (void)stream, (void)extra;
    if (gy * gz * by * bz != 1 || bx != 256 || gx == 0)
        return 1;
    ++launches;
    const float *in = (const float *)(uintptr_t)*(ptr_t *)params[0];
    float *out = (float *)(uintptr_t)*(ptr_t *)params[1];
    size_t n = *(size_t *)params[2];
    if (mode("crash-in-launch") && due())
        fault();
    for (size_t i = 0; i < n; ++i) {
        float v = in[i];
        for (int step = 0; step < 64; ++step)
            v = fmaf(v, 0.999f, 0.25f);
        out[i] = v;
    }
    return 0;
}

int cuStreamSynchronize(void *stream)
{
    (void)stream;
    if (mode("hang-in-launch") && due())
        hang();
    return mode("illegal-address") && due() ? 700 : 0;
}
