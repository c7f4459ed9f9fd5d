//===- CPUPackedMemory.h - Packed memory on the CPU ----------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_CPUPACKEDMEMORY_H
#define SMALTI_PASSES_CONVERSION_TOCPU_CPUPACKEDMEMORY_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
class RewriterBase;
class Type;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace smalti {

/// Whether elements have less than a byte. Elements of type i1 are bytes.
bool isSubByte(mlir::Type element);

/// Lowers loads and stores of arguments whose elements have less than a byte,
/// packed into bytes as PackedMemory.h describes. A store is an atomic
/// operation on the byte, since other instances of the kernel may write other
/// elements of the byte at the same time. (Buffers have a byte per element.)
void lowerSubByteAccesses(mlir::RewriterBase &rewriter,
                          mlir::func::FuncOp function);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_CPUPACKEDMEMORY_H
