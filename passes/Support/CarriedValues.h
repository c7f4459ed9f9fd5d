//===- CarriedValues.h - Loops with more carried values ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SUPPORT_CARRIEDVALUES_H
#define SMALTI_PASSES_SUPPORT_CARRIEDVALUES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace smalti {

/// Recreates the loop with more carried values. `yieldNew` returns what the
/// loop yields for them. Unlike upstream's method, keeps the attributes of the
/// loop.
inline mlir::scf::ForOp
addCarriedValues(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
                 mlir::ValueRange inits,
                 const mlir::NewYieldValuesFn &yieldNew) {
  mlir::DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
  // This cannot fail.
  auto result = mlir::cast<mlir::scf::ForOp>(
      *loop.replaceWithAdditionalYields(rewriter, inits,
                                        /*replaceInitOperandUsesInLoop=*/false,
                                        yieldNew)
           ->getOperation());
  result->setDiscardableAttrs(attributes);
  return result;
}

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_CARRIEDVALUES_H
