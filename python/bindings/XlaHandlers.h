//===- XlaHandlers.h - Kernels in programs of XLA -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of the library `smalti_xla`, which smalti/jax/handlers.py
// loads with ctypes.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_BINDINGS_XLAHANDLERS_H
#define SMALTI_BINDINGS_XLAHANDLERS_H

#include "GpuDriver.h"
#include "XlaFfi.h"

namespace smalti::xla {

/// The memory of one argument of a kernel.
struct Address {
  /// The position of the address in the words of a call.
  int64_t word;
  /// The buffer of the call: its arguments, then its results.
  int64_t buffer;
  /// The required alignment in bytes.
  int64_t alignment;
};

/// A word of a call with the address of another word.
struct Link {
  int64_t word, target;
};

/// A result of the call that is in the memory of an argument.
struct Alias {
  int64_t argument, result;
};

constexpr int mapAlignment = 64, maxMapRank = 5;

/// A tensor map of a GPU kernel, without its address: the arguments of
/// cuTensorMapEncodeTiled. The innermost dimension is first.
struct TensorMap {
  int64_t word, offset, leastAddress;
  int32_t type, rank, interleave, swizzle, promotion, fill;
  uint64_t sizes[maxMapRank], strides[maxMapRank];
  uint32_t box[maxMapRank], elementStrides[maxMapRank];
};

/// The function of a kernel for the CPU. It takes the addresses of its
/// arguments, of the first tile, of the end of the tiles, and of the address of
/// the stop flag.
using HostFunction = void (*)(void **);

/// Writes the error of a run to `text`: that of a status of the driver, or of a
/// value of the stop flag with the values after the flag.
using DescribeError = void (*)(int64_t status, const int64_t *values,
                               char *text, int64_t size);

/// Loads the code of a GPU kernel into the current context of CUDA, or on the
/// current device of HIP. Returns the handle of its function, or 0 with an
/// error in `text`.
using LoadFunction = uint64_t (*)(char *text, int64_t size);

/// A kernel for arrays of fixed shapes. smalti/jax/handlers.py has the same
/// structure.
struct Description {
  /// The name of the kernel, for messages.
  const char *name;
  /// The number of elements of each buffer of the call.
  const int64_t *sizes;
  int64_t numArguments, numResults;
  const Alias *aliases;
  int64_t numAliases;
  /// Sizes and descriptors of arrays. Addresses and numbers are 0.
  const uint64_t *words;
  int64_t numWords;
  const Address *addresses;
  int64_t numAddresses;
  const Link *links;
  int64_t numLinks;
  /// The word of each parameter.
  const int64_t *parameters;
  int64_t numParameters;
  /// The words of numbers, which each call has after its number of tiles.
  const int64_t *numbers;
  int64_t numNumbers;
  DescribeError describeError;

  // Kernels for the CPU.
  HostFunction host;
  int64_t numThreads;
  /// A shorter run uses one thread.
  double parallelSeconds;
  /// The number of values after the stop flag.
  int64_t numErrorValues;

  // Kernels for GPUs.
  /// The second and third dimensions of the grid. The first one is the number
  /// of tiles of the call.
  uint32_t outerGrid[2];
  uint32_t block[3], cluster[3], shared;
  const TensorMap *maps;
  int64_t numMaps;
  /// cuStreamGetCtx or hipStreamGetDevice.
  int (*contextOf)(uint64_t stream, uint64_t *context);
  /// cuCtxGetCurrent or hipGetDevice.
  smalti::launch::CurrentFunction getCurrent;
  /// cuCtxSetCurrent or hipSetDevice.
  int (*setCurrent)(uint64_t context);
  /// cuLaunchKernel, cuLaunchKernelEx or hipModuleLaunchKernel.
  void *launch;
  /// cuTensorMapEncodeTiled.
  int (*encode)(void *map, int type, uint32_t rank, uint64_t address,
                const uint64_t *sizes, const uint64_t *strides,
                const uint32_t *box, const uint32_t *elementStrides,
                int interleave, int swizzle, int promotion, int fill);
  LoadFunction load;
};

#pragma GCC visibility push(default)
extern "C" {

/// Adds a kernel, which calls name by the attribute `kernel`, for this process.
/// The attribute `numbers` of a call is an array of int64: the number of tiles,
/// and the words of numbers.
/// Another kernel with an equal key does not replace it.
void smalti_xla_add(const char *key, const Description *description);

/// The handlers. XLA calls `prepare` before it captures or runs the call.
Handler smalti_xla_run_on_cpu;
Handler smalti_xla_run_on_gpu;
Handler smalti_xla_prepare_gpu;
}
#pragma GCC visibility pop

} // namespace smalti::xla

#endif // SMALTI_BINDINGS_XLAHANDLERS_H
