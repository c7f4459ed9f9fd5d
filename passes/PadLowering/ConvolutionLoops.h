//===- ConvolutionLoops.h - What the loops of a convolution run over ------===//
//
// Like linalg::inferConvolutionDims, which knows no operands behind image and
// filter, such as zero points.
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

/// The loops of a convolution of the first operand with the second; nothing
/// where `op` is none. A pooling is none, though its window is an operand.
/// Where a convolution has none of the loops that are looked for, `reason` says
/// why.
std::optional<ConvolutionLoops> findConvolutionLoops(mlir::linalg::LinalgOp op,
                                                     std::string &reason);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_CONVOLUTIONLOOPS_H
