//===- RegisterWords.h - Registers of a thread as 32-bit words --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERWORDS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERWORDS_H

#include "smalti/passes/Layouts/Vectors/Distribution.h"

namespace smalti::block_to_thread {

/// Bits of an element in a register.
int64_t getElementBits(mlir::Type elementType);

/// The LLVM type that holds an element of this type: an integer for types that
/// LLVM does not support.
mlir::Type getStorageType(mlir::Type elementType);

/// A register (`vector<LxT>`) as words; unused bits of the last word are
/// undefined. The elements together must be whole bytes.
llvm::SmallVector<mlir::Value> toWords(mlir::OpBuilder &builder,
                                       mlir::Location loc, mlir::Value reg);
/// The register of this type with these words.
mlir::Value fromWords(mlir::OpBuilder &builder, mlir::Location loc,
                      llvm::ArrayRef<mlir::Value> words, mlir::VectorType type);

mlir::Value getI32(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// Values that depend only on the thread, at the head of the kernel.
class ThreadTables {
public:
  explicit ThreadTables(ThreadIndices &indices) : indices(indices) {}

  /// The entry of the thread in a table with one entry per thread: i32.
  mlir::Value lookup(llvm::ArrayRef<int64_t> table);
  /// The same for a table of 0 and 1: i1.
  mlir::Value lookupBit(llvm::ArrayRef<int64_t> table);
  /// The thread's id in its thread group: i32.
  mlir::Value getThread();

private:
  /// For each bit of the thread id, the entry bits that it changes, if each bit
  /// changes the same bits of every entry.
  static std::optional<llvm::SmallVector<int64_t>>
  matchLinear(llvm::ArrayRef<int64_t> table);
  /// Looks up a table of bits as one mask per 32 threads.
  mlir::Value lookupMask(llvm::ArrayRef<int64_t> table, int64_t bit);

  ThreadIndices &indices;
};

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERWORDS_H
