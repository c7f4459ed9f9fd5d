//===- OverlapChoice.h - Automatic copies, slots and stages -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules that `copies=auto`, `depth=auto` and `stages=auto` stand for. The
// conversion from tiles asks before a kernel has buffers,
// smalti-choose-overlap for a whole kernel, smalti-pipeline-loops for one loop,
// and smalti-specialize-warps for the kernel that it compares with.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_RESOURCES_OVERLAPCHOICE_H
#define SMALTI_PASSES_ANALYSIS_RESOURCES_OVERLAPCHOICE_H

#include "smalti/targets/Target.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace smalti {

/// How a loop brings the data of an iteration.
enum class Prefetch {
  /// By asynchronous copies to shared memory.
  AsyncCopies,
  /// By reads into registers.
  Reads,
  /// By reads into registers, which the loop stores to shared memory.
  ReadsToShared
};

/// Whether asynchronous copies of rows that are aligned to `alignment` bytes
/// are faster than reads into registers.
inline bool paysAsyncCopy(const targets::Target &target, int64_t alignment) {
  return target.minAsyncCopyBytes && alignment >= target.minAsyncCopyBytes;
}

/// The slots that a buffer of a loop gets if they fit in shared memory. An
/// asynchronous copy in flight needs a slot of its own; reads into registers
/// need a second one only for their stores.
inline int64_t getAutoSlots(Prefetch prefetch) {
  return prefetch == Prefetch::AsyncCopies ? 3 : 2;
}

/// The most of `wanted` slots that fit in shared memory, at least 1.
inline int64_t fitSlots(const targets::Target &target, int64_t wanted,
                        llvm::function_ref<int64_t(int64_t)> bytesWith) {
  while (wanted > 1 && bytesWith(wanted) > target.sharedMemoryPerBlock)
    --wanted;
  return wanted;
}

/// The most stages that hide latency: one for each slot of asynchronous copies.
/// Reads are in flight for one iteration, and more stages would only extend
/// their live ranges; the stores to shared memory can have a stage between.
inline int64_t getAutoStages(Prefetch prefetch, int64_t slots) {
  switch (prefetch) {
  case Prefetch::AsyncCopies:
    return slots;
  case Prefetch::Reads:
    return 2;
  case Prefetch::ReadsToShared:
    return 3;
  }
  llvm_unreachable("unknown prefetch");
}

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_RESOURCES_OVERLAPCHOICE_H
