// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the CUDA driver that Triton uses in addition to those of
// test/python/stub_driver.c.

#include <stdint.h>

int cuModuleLoadDataEx(uintptr_t *module, const void *image, unsigned count, const int *keys, void **values);

int cuModuleLoadData(uintptr_t *module, const void *image) { return cuModuleLoadDataEx(module, image, 0, 0, 0); }

int cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer) {
  *(uintptr_t *)value = pointer;
  return attribute == 3 ? 0 : 1; // CU_POINTER_ATTRIBUTE_DEVICE_POINTER
}

int cuFuncSetCacheConfig(uintptr_t function, int config) { return 0; }
int cuStreamIsCapturing(uintptr_t stream, int *status) { return *status = 0; }
int cuCtxGetLimit(uintptr_t *value, int limit) { return 1; }
int cuCtxSetLimit(int limit, uintptr_t value) { return 1; }
