//===- RegisterWords.h - Registers of a thread as 32-bit words --*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERWORDS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERWORDS_H

#include "smalti/passes/Layouts/Vectors/Distribution.h"

namespace smalti::block_to_thread {

/// Bits that a thread holds of an element.
int64_t getElementBits(mlir::Type elementType);

/// The type of LLVM that holds an element of this type: an integer for those
/// that LLVM does not know.
mlir::Type getStorageType(mlir::Type elementType);

/// A register (`vector<LxT>`) as words; the last is filled up with anything.
/// Elements must be whole bytes together.
llvm::SmallVector<mlir::Value> toWords(mlir::OpBuilder &builder,
                                       mlir::Location loc, mlir::Value reg);
/// The register of this type that the words are.
mlir::Value fromWords(mlir::OpBuilder &builder, mlir::Location loc,
                      llvm::ArrayRef<mlir::Value> words, mlir::VectorType type);

mlir::Value getI32(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// Values that depend on the thread alone, at the head of the kernel.
class ThreadTables {
public:
  explicit ThreadTables(ThreadIndices &indices) : indices(indices) {}

  /// The thread's entry of a table with one entry for each thread: i32.
  mlir::Value lookup(llvm::ArrayRef<int64_t> table);
  /// The same of a table of 0 and 1: i1.
  mlir::Value lookupBit(llvm::ArrayRef<int64_t> table);
  /// The thread's number in its program: i32.
  mlir::Value getThread();

private:
  /// Bits of the thread's number, by which the table's entries differ, as far
  /// as each bit changes the same bits of the entry.
  static std::optional<llvm::SmallVector<int64_t>>
  matchLinear(llvm::ArrayRef<int64_t> table);
  /// The table of bits as one mask for each 32 threads, looked up.
  mlir::Value lookupMask(llvm::ArrayRef<int64_t> table, int64_t bit);

  ThreadIndices &indices;
};

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERWORDS_H
