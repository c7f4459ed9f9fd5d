//===- CPUPackedMemory.h - Packed memory on the CPU ----------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPUPACKEDMEMORY_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPUPACKEDMEMORY_H

#include "mlir/IR/Value.h"

#include <utility>

namespace mlir {
class OpBuilder;
class RewriterBase;
class ValueRange;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace smalti {

/// Whether elements have less than a byte. Elements of type i1 are bytes.
bool isSubByte(mlir::Type element);

/// The address of the byte of an element of less than a byte, and the lowest
/// bit of the element in it, an i8; null if the element has its own byte.
std::pair<mlir::Value, mlir::Value> getSubByteAddress(mlir::OpBuilder &builder,
                                                      mlir::Location loc,
                                                      mlir::Value memref,
                                                      mlir::ValueRange indices);

/// Lowers loads and stores of arguments whose elements have less than a byte,
/// packed into bytes as PackedMemory.h describes. A store is an atomic
/// operation on the byte, since other instances of the kernel may write other
/// elements of the byte at the same time. (Buffers have a byte per element.)
void lowerSubByteAccesses(mlir::RewriterBase &rewriter,
                          mlir::func::FuncOp function);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPUPACKEDMEMORY_H
