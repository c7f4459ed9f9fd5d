//===- TileWindow.h - Windows of kernel arguments ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEWINDOW_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEWINDOW_H

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "llvm/ADT/SmallBitVector.h"

namespace smalti {

/// A window of a kernel argument, of an extract or an insert.
struct Window {
  mlir::TypedValue<mlir::MemRefType> memref;
  mlir::SmallVector<mlir::OpFoldResult> offsets;
  /// The elements that are read or written; the tile may be padded.
  mlir::SmallVector<int64_t> sizes, strides;
  llvm::SmallBitVector dropped;
  mlir::RankedTensorType tile;

  /// The dimensions in which the tile has more elements than the window.
  llvm::SmallBitVector padded;

  static Window of(triton_xla::ExtractOp op);
  static Window of(triton_xla::InsertOp op);
};

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEWINDOW_H
