//===- ConvolutionLoops.h - Loops of a convolution --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Like linalg::inferConvolutionDims, but supports operands after the image and
// the filter, such as zero points.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_CONVOLUTIONLOOPS_H
#define SMALTI_PASSES_PADLOWERING_CONVOLUTIONLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <string>

namespace smalti {

/// The loops of each kind, ascending.
struct ConvolutionLoops {
  llvm::SmallVector<unsigned, 2> batch, image, outputChannels, window,
      inputChannels, groups;
};

/// The loops of a convolution of the first operand with the second, or
/// std::nullopt if `op` is not a convolution. Pooling is not a convolution. If
/// a convolution is not supported, `reason` states why.
std::optional<ConvolutionLoops> findConvolutionLoops(mlir::linalg::LinalgOp op,
                                                     std::string &reason);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_CONVOLUTIONLOOPS_H
