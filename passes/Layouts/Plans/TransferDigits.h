//===- TransferDigits.h - Transfers as sums of strides ----------*- C++ -*-===//
//
// The address of an element, ahead of the swizzle, is a sum over the digits of
// its thread, register and place in the register. All strides are in bits.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERDIGITS_H
#define SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERDIGITS_H

#include "smalti/passes/Layouts/Plans/TransferPlan.h"

namespace smalti::transfers {

/// Steps along a dimension of memory, in elements: `innerStride` within runs of
/// `inner` indices, and `outerStride` from run to run.
struct MemorySteps {
  int64_t inner = 1;
  int64_t innerStride = 1;
  int64_t outerStride = 0;
};

/// The steps of each dimension of memory, or why there are none.
layout::ValueOr<llvm::SmallVector<MemorySteps>>
getMemorySteps(const MemoryLayout &memory);

/// Bytes after which a swizzle repeats.
int64_t swizzlePeriod(int64_t swizzleBytes);

/// A digit: `size` values, `stride` bits apart. For what a thread holds, also
/// how far apart its registers and elements are.
struct Digit {
  int64_t size = 1;
  int64_t stride = 0;
  int64_t reg = 0;
  int64_t element = 0;
};

/// A transfer as digits, each list major to minor. None has size 1.
struct TransferDigits {
  llvm::SmallVector<Digit> warps;
  llvm::SmallVector<Digit> lanes;
  llvm::SmallVector<Digit> registers;
  llvm::SmallVector<Digit> vector;
  int64_t numWarps = 1;
  int64_t vectorLength = 1;
  int64_t elementBits = 0;
};

/// A digit along a dimension, as digits of memory.
std::optional<std::string> splitDigit(const layout::TiledDim &dim,
                                      const MemorySteps &steps,
                                      int64_t elementBits,
                                      llvm::SmallVectorImpl<Digit> &digits);

/// The digits of a transfer by waves of `waveSize`, or why there are none. Of a
/// splat they are those of a strided layout.
layout::ValueOr<TransferDigits> getDigits(const TransferProblem &problem,
                                          int64_t waveSize);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERDIGITS_H
