// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA driver without a GPU: it writes down what it is asked, fails where a
// test says so, and its device memory is the host's. See stub_driver.py.

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Settings of a test.

static struct {
  long devices, major, minor, shared, static_shared, memory, version, params;
} facts;
static int sizes[256];
static char fail_name[64];
static int fail_status, fail_times;
static void (*on_launch)(const char *, void **);

// The log of calls.

static char *text;
static size_t length, room;
static _Thread_local int current;
static int lost;
static long taken;
static pthread_mutex_t is_writing = PTHREAD_MUTEX_INITIALIZER;

static void append(const char *format, const char *a, uint64_t b, uint64_t c) {
  char line[256];
  int size = snprintf(line, sizeof(line), format, a, b, c);
  if (length + size + 1 > room) {
    room = 2 * room + size + 4096;
    text = realloc(text, room);
  }
  memcpy(text + length, line, size + 1);
  length += size;
}

static void say(const char *format, const char *a, uint64_t b, uint64_t c) {
  pthread_mutex_lock(&is_writing);
  append(format, a, b, c);
  pthread_mutex_unlock(&is_writing);
}

// A lost context fails every call, as on a GPU.
static int status_of(const char *name) {
  if (lost)
    return lost;
  if (!fail_times || strcmp(name, fail_name))
    return 0;
  if (fail_times > 0)
    --fail_times;
  if (fail_status >= 700 && fail_status != 701)
    lost = fail_status;
  return fail_status;
}

#define BEGIN(name)                                                            \
  do {                                                                         \
    int status = status_of(name);                                              \
    if (status)                                                                \
      return status;                                                           \
  } while (0)

void stub_reset(void) {
  facts.devices = 1;
  facts.major = 9;
  facts.minor = 0;
  facts.shared = 232448;
  facts.static_shared = 0;
  facts.memory = 1L << 30;
  facts.version = 13000;
  facts.params = 0;
  fail_times = current = lost = 0;
  taken = length = 0;
  on_launch = NULL;
  say("%s", "", 0, 0);
}

void stub_set(const char *name, long value) {
  if (!strcmp(name, "devices"))
    facts.devices = value;
  else if (!strcmp(name, "major"))
    facts.major = value;
  else if (!strcmp(name, "minor"))
    facts.minor = value;
  else if (!strcmp(name, "shared"))
    facts.shared = value;
  else if (!strcmp(name, "static_shared"))
    facts.static_shared = value;
  else if (!strcmp(name, "memory"))
    facts.memory = value;
  else if (!strcmp(name, "current"))
    current = (int)value;
  else
    abort();
}

void stub_params(const int *given, int count) {
  memcpy(sizes, given, count * sizeof(int));
  facts.params = count;
}

void stub_fail(const char *name, int status, int times) {
  snprintf(fail_name, sizeof(fail_name), "%s", name);
  fail_status = status;
  fail_times = times;
}

void stub_on_launch(void (*callback)(const char *, void **)) {
  on_launch = callback;
}

const char *stub_log(void) { return text; }

void stub_forget(void) {
  length = 0;
  say("%s", "", 0, 0);
}

// The driver.

int cuInit(unsigned flags) {
  BEGIN("cuInit");
  say("%s\n", "init", 0, 0);
  return flags ? 1 : 0;
}

int cuDriverGetVersion(int *version) {
  *version = (int)facts.version;
  return 0;
}

static const struct {
  int status;
  const char *name, *text;
} errors[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
};

static int describe(int status, const char **out, int wants_name) {
  for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); ++i)
    if (errors[i].status == status) {
      *out = wants_name ? errors[i].name : errors[i].text;
      return 0;
    }
  *out = NULL;
  return 1;
}
int cuGetErrorName(int status, const char **out) { return describe(status, out, 1); }
int cuGetErrorString(int status, const char **out) { return describe(status, out, 0); }

int cuDeviceGetCount(int *count) {
  *count = (int)facts.devices;
  return 0;
}

int cuDeviceGet(int *device, int index) {
  BEGIN("cuDeviceGet");
  if (index >= facts.devices)
    return 101;
  *device = index;
  return 0;
}

int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, size, "Stub %d", device);
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  switch (attribute) {
  case 75: *value = (int)facts.major; return 0;
  case 76: *value = (int)facts.minor; return 0;
  case 97: *value = (int)facts.shared; return 0;
  }
  *value = 0;
  return 0;
}

// The handle of device i's context is 100 + i.
int cuDevicePrimaryCtxRetain(uintptr_t *context, int device) {
  BEGIN("cuDevicePrimaryCtxRetain");
  *context = 100 + device;
  return 0;
}
int cuCtxGetCurrent(uintptr_t *context) {
  *context = current;
  return 0;
}
int cuCtxSetCurrent(uintptr_t context) {
  current = (int)context;
  return 0;
}
int cuStreamGetCtx(uintptr_t stream, uintptr_t *context) {
  // A stream of 1000 or more has the context of its thousands.
  *context = stream >= 1000 ? stream / 1000 : (uintptr_t)current;
  return 0;
}
int cuCtxGetDevice(int *device) {
  *device = current - 100;
  return current ? 0 : 201;
}
int cuCtxSynchronize(void) {
  BEGIN("cuCtxSynchronize");
  return 0;
}

int cuModuleLoadDataEx(uintptr_t *module, const void *image, unsigned count, const int *keys, void **values) {
  BEGIN("cuModuleLoadDataEx");
  say("load %.12s\n", image, 0, 0);
  if (!strncmp(image, "BAD", 3)) {
    for (unsigned i = 0; i < count; ++i)
      if (keys[i] == 5)
        strcpy(values[i], "the image is bad\n");
    return 200;
  }
  *module = 7;
  return 0;
}
int cuModuleUnload(uintptr_t module) {
  say("%sunload %lu\n", "", module, 0);
  return 0;
}

// The handle of function i is 77 + i.
static char names_of_functions[4096][64];
static int num_functions;
int cuModuleGetFunction(uintptr_t *function, uintptr_t module, const char *name) {
  BEGIN("cuModuleGetFunction");
  if (module != 7)
    return 400;
  if (num_functions == 4096)
    num_functions = 0;
  snprintf(names_of_functions[num_functions], sizeof(names_of_functions[0]), "%s", name);
  *function = 77 + num_functions++;
  return 0;
}
int cuFuncGetAttribute(int *value, int attribute, uintptr_t function) {
  if (function < 77)
    return 1;
  // The attribute 0 is the largest number of threads of a block.
  *value = attribute == 0 ? 1024 : attribute == 1 ? (int)facts.static_shared : 0;
  return 0;
}
int cuFuncSetAttribute(uintptr_t function, int attribute, int value) {
  BEGIN("cuFuncSetAttribute");
  say("%sattribute %lu %lu\n", "", attribute, value);
  return function >= 77 ? 0 : 1;
}

static int launch(const unsigned *grid, const unsigned *block, const unsigned *cluster, unsigned shared,
                  uintptr_t stream, uintptr_t function, void **parameters) {
  if (function < 77 || function - 77 >= 4096 || !current)
    return 400;
  pthread_mutex_lock(&is_writing);
  const char *name = names_of_functions[function - 77];
  append("launch %s", name, 0, 0);
  const unsigned *dimensions[] = {grid, block, cluster};
  for (int i = 0; i < 3; ++i) {
    append("%s ", "", 0, 0);
    for (int axis = 0; axis < 3; ++axis)
      append(axis ? ",%s%lu" : "%s%lu", "", dimensions[i] ? dimensions[i][axis] : 0, 0);
  }
  append("%s %lu %lu", "", shared, stream);
  // A name may state the sizes of the parameters: `kernel__8_4`.
  const char *stated = strstr(name, "__");
  int count = (int)facts.params, own[64];
  if (stated)
    for (count = 0, ++stated; *stated == '_' && count < 64; ++count)
      own[count] = (int)strtol(stated + 1, (char **)&stated, 10);
  for (int i = 0; i < count; ++i) {
    append("%s ", "", 0, 0);
    for (int at = 0; at < (strstr(name, "__") ? own : sizes)[i]; ++at)
      append("%s%02lx", "", ((unsigned char *)parameters[i])[at], 0);
  }
  append("%s\n", "", 0, 0);
  pthread_mutex_unlock(&is_writing);
  if (on_launch)
    on_launch(name, parameters);
  return 0;
}

int cuLaunchKernel(uintptr_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, uintptr_t stream, void **parameters, void **extra) {
  BEGIN("cuLaunchKernel");
  unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return extra ? 1 : launch(grid, block, NULL, shared, stream, function, parameters);
}

#ifndef STUB_IS_OLD

struct launch_attribute {
  int id;
  char pad[4];
  unsigned value[16];
};
struct launch_config {
  unsigned grid[3], block[3], shared;
  uintptr_t stream;
  struct launch_attribute *attributes;
  unsigned count;
};

int cuLaunchKernelEx(const struct launch_config *config, uintptr_t function, void **parameters, void **extra) {
  BEGIN("cuLaunchKernelEx");
  const unsigned *cluster = NULL;
  for (unsigned i = 0; i < config->count; ++i)
    if (config->attributes[i].id == 4)
      cluster = config->attributes[i].value;
  return extra ? 1
               : launch(config->grid, config->block, cluster, config->shared, config->stream, function, parameters);
}

// The fields that are known of a map, one bit after the other.
static void put(unsigned char *map, int first, int count, uint64_t value) {
  for (int i = 0; i < count; ++i)
    if (value >> i & 1)
      map[(first + i) / 8] |= 1 << (first + i) % 8;
}

int cuTensorMapEncodeTiled(unsigned char *map, int type, unsigned rank, uint64_t address, const uint64_t *extents,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                           int swizzle, int promotion, int fill) {
  BEGIN("cuTensorMapEncodeTiled");
  say("%sencode %lx\n", "", address, 0);
  static const int codes[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10};
  if ((uintptr_t)map % 64 || address % 16 || rank < 1 || rank > 5 || type > 9 || interleave || promotion != 2)
    return 1;
  memset(map, 0, 128);
  put(map, 0, 64, address);
  put(map, 68, 3, rank - 1);
  put(map, 71, 4, codes[type]);
  put(map, 77, 2, swizzle);
  put(map, 79, 1, fill);
  for (unsigned i = 0; i < 5; ++i) {
    put(map, 256 + 32 * i, 32, i < rank ? extents[i] - 1 : 0);
    put(map, 416 + 3 * i, 3, i < rank ? steps[i] - 1 : 0);
    put(map, 440 + 8 * i, 8, i < rank ? box[i] - 1 : 0);
    if (i + 1 < rank) {
      put(map, 96 + 32 * i, 32, strides[i] >> 4 & 0xffffffff);
      put(map, 224 + 4 * i, 4, strides[i] >> 36);
    }
  }
  return 0;
}

#endif

// The seconds of the functions that a launch calls.
double stub_seconds(int count) {
  struct timespec start, end;
  uintptr_t context;
  uint64_t cells[19] = {0};
  void *parameters[19];
  for (int i = 0; i < 19; ++i)
    parameters[i] = cells + i;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < count; ++i) {
    cuCtxGetCurrent(&context);
    cuLaunchKernel(77, 1, 1, 1, 128, 1, 1, 0, 0, parameters, NULL);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
}

int cuMemAlloc_v2(uintptr_t *pointer, size_t size) {
  BEGIN("cuMemAlloc");
  if (taken + (long)size > facts.memory)
    return 2;
  taken += (long)size;
  *pointer = (uintptr_t)aligned_alloc(256, (size + 255) / 256 * 256);
  say("%salloc %lu\n", "", size, 0);
  return 0;
}
int cuMemFree_v2(uintptr_t pointer) {
  say("%sfree\n", "", 0, 0);
  free((void *)pointer);
  return lost;
}
int cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t size) {
  BEGIN("cuMemcpyHtoD");
  memcpy((void *)to, from, size);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t size) {
  BEGIN("cuMemcpyDtoH");
  memcpy(to, (void *)from, size);
  return 0;
}

// The HIP runtime: a device is current in all threads.
static int hip_device;
int hipInit(unsigned flags) { return (int)flags; }
int hipGetDeviceCount(int *count) { return cuDeviceGetCount(count); }
int hipGetDevice(int *device) {
  *device = hip_device;
  return 0;
}
int hipSetDevice(int device) {
  hip_device = device;
  return 0;
}
int hipStreamGetDevice(uintptr_t stream, int *device) {
  // A stream of 1000 or more has the device of its thousands.
  *device = stream >= 1000 ? (int)stream / 1000 : hip_device;
  return 0;
}
const char *hipGetErrorString(int status) { return status == 209 ? "no kernel image" : "unknown error"; }
int hipModuleLoadData(uintptr_t *module, const void *image) {
  BEGIN("hipModuleLoadData");
  say("load %.12s\n", image, 0, 0);
  *module = 7;
  return 0;
}
int hipModuleGetFunction(uintptr_t *function, uintptr_t module, const char *name) {
  return cuModuleGetFunction(function, module, name);
}
int hipModuleLaunchKernel(uintptr_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, uintptr_t stream, void **parameters, void **extra) {
  BEGIN("hipModuleLaunchKernel");
  current = 100 + hip_device;
  return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}
