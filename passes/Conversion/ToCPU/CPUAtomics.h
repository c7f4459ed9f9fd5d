//===- CPUAtomics.h - Atomic operations on the CPU ------------ -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPUATOMICS_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPUATOMICS_H

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace smalti {

/// The position of an element relative to the aligned pointer, in elements.
mlir::Value getElementPosition(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value memref, mlir::ValueRange indices);

/// The address of a byte relative to the aligned pointer, an LLVM pointer.
mlir::Value getByteAddress(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value memref, mlir::Value byte);

/// Replaces an element by its combination with `value`, and returns the old
/// element.
mlir::Value createAtomicRMW(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::arith::AtomicRMWKind kind, mlir::Value value,
                            mlir::Value memref, mlir::ValueRange indices,
                            triton_xla::MemoryOrdering ordering);

/// Replaces an element that is equal to `expected` by `desired`, and returns
/// the old element.
mlir::Value createAtomicCAS(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value expected, mlir::Value desired,
                            mlir::Value memref, mlir::ValueRange indices,
                            triton_xla::MemoryOrdering ordering);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPUATOMICS_H
