//===- TransferDigits.h - Element addresses as sums of digits ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The address of an element before the swizzle is a sum over the digits of its
// warp, lane, register and position in the register. All strides are in bits.
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

/// The steps of each dimension of memory, or the reason why they do not exist.
layout::ValueOr<llvm::SmallVector<MemorySteps>>
getMemorySteps(const MemoryLayout &memory);

/// Bytes after which a swizzle repeats.
int64_t swizzlePeriod(int64_t swizzleBytes);

/// A digit of `size` values that are `stride` bits apart in memory. For digits
/// of a thread, also their distance in registers and elements.
struct Digit {
  int64_t size = 1;
  int64_t stride = 0;
  int64_t reg = 0;
  int64_t element = 0;
};

/// A transfer as digits; lists are ordered major to minor, without size 1.
struct TransferDigits {
  llvm::SmallVector<Digit> warps;
  llvm::SmallVector<Digit> lanes;
  llvm::SmallVector<Digit> registers;
  llvm::SmallVector<Digit> vector;
  int64_t numWarps = 1;
  int64_t vectorLength = 1;
  int64_t elementBits = 0;
};

/// Splits a digit along a dimension into digits of memory.
std::optional<std::string> splitDigit(const layout::TiledDim &dim,
                                      const MemorySteps &steps,
                                      int64_t elementBits,
                                      llvm::SmallVectorImpl<Digit> &digits);

/// The digits of a transfer by waves of `waveSize`, or the reason why they do
/// not exist. A splat has the digits of a strided layout.
layout::ValueOr<TransferDigits> getDigits(const TransferProblem &problem,
                                          int64_t waveSize);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERDIGITS_H
