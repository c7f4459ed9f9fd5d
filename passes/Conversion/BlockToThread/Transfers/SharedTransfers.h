//===- SharedTransfers.h - Emission of transfer plans -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_SHAREDTRANSFERS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_SHAREDTRANSFERS_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Layouts/Plans/TransferPlan.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace smalti::block_to_thread {

/// A requested transfer between registers and shared memory.
struct SharedRequest {
  mlir::Operation *op = nullptr;
  mlir::Value memref;
  const Distribution *distribution = nullptr;
  transfers::TransferNeed need = transfers::TransferNeed::Unoptimized;
  bool isLoad = false;
  /// Memory of another block, or atomic: without ldmatrix and stmatrix.
  bool isOfPeer = false;
};

/// The best plan, or nothing after an error at the op.
std::optional<transfers::TransferPlan>
planSharedTransfer(const SharedRequest &request, Planner &planner);

/// The requirement that the attribute `optimized` of a load or a store states.
transfers::TransferNeed getNeed(std::optional<bool> optimized, bool isLoad);

/// The swizzled address of an address: i32.
mlir::Value emitSwizzle(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value address, int64_t swizzleBytes);

/// Memory that a plan accesses: `offset` bytes (i32) after `base`, which points
/// to the block's shared memory and is aligned to every swizzle.
struct SharedAddress {
  mlir::Value base;
  mlir::Value offset;
  /// 2^log2Alignment divides the offset.
  unsigned log2Alignment = 0;
};

/// Emits the accesses of a plan. Matrices must be aligned to 16 bytes.
class TransferEmitter {
public:
  /// Stores a vector at an address, if it is not a plain store.
  using StorePiece = llvm::function_ref<void(mlir::Value, mlir::Value)>;

  TransferEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                  ThreadIndices &indices, const transfers::TransferPlan &plan,
                  const SharedAddress &start, StorePiece storePiece = nullptr)
      : builder(builder), loc(loc), indices(indices), plan(plan), start(start),
        storePiece(storePiece) {}

  /// The loaded part of `count` registers of a type; other transfers provide
  /// the other pieces.
  Registers load(mlir::VectorType type, int64_t count);
  /// Writes registers.
  void store(llvm::ArrayRef<mlir::Value> registers);
  /// Writes one element everywhere.
  void storeSplat(mlir::Value element);

private:
  mlir::Value getBase(int64_t base);
  mlir::Value getAddress(const transfers::Access &access);
  mlir::Value advance(mlir::Value pointer, int64_t bytes);
  int64_t getPieceBytes(int64_t bytes) const;
  mlir::Value selectOther(mlir::Value other, mlir::Value own);
  mlir::Value loadVector(mlir::Value address, int64_t bytes,
                         mlir::Type elementType);
  mlir::Value loadMatrices(const transfers::Access &access, mlir::Value address,
                           mlir::Type elementType);
  void storeVector(mlir::Value address, int64_t bytes, mlir::Value data);
  void storeMatrices(const transfers::Access &access, mlir::Value address,
                     mlir::Value data);
  void storeAll(llvm::ArrayRef<mlir::Value> data);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  ThreadIndices &indices;
  const transfers::TransferPlan &plan;
  const SharedAddress &start;
  StorePiece storePiece;
  llvm::SmallVector<mlir::Value> bases;
  mlir::Value isOther;
};

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_SHAREDTRANSFERS_H
