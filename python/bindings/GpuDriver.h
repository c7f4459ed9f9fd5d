//===- GpuDriver.h - Functions of the drivers of GPUs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of the functions of CUDA and HIP that launch kernels. Smalti is
// built without their headers.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_BINDINGS_GPUDRIVER_H
#define SMALTI_BINDINGS_GPUDRIVER_H

#include <cstdint>

namespace smalti::launch {

/// cuda.h: CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id;
  char padding[4];
  unsigned value[16];
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void *stream;
  LaunchAttribute *attributes;
  unsigned count;
};
constexpr int clusterDimension = 4;

/// The size of a CUtensorMap.
constexpr int mapBytes = 128;

/// cuCtxGetCurrent, or hipGetDevice, which sets the low 32 bits.
using CurrentFunction = int (*)(uint64_t *);
/// cuLaunchKernel and hipModuleLaunchKernel.
using LaunchFunction = int (*)(uint64_t, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, unsigned, uint64_t, void **,
                               void **);
/// cuLaunchKernelEx.
using LaunchExFunction = int (*)(const LaunchConfig *, uint64_t, void **,
                                 void **);

} // namespace smalti::launch

#endif // SMALTI_BINDINGS_GPUDRIVER_H
