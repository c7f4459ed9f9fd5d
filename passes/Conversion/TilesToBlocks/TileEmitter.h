//===- TileEmitter.h - Emission of block-level kernels ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the block-level kernel of a TilePlan; cannot fail. Used only by the
// files in this folder.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEEMITTER_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEEMITTER_H

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Conversion/TilesToBlocks/KernelArguments.h"
#include "smalti/passes/Conversion/TilesToBlocks/TilePlanning.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace smalti {

inline mlir::VectorType vectorOf(mlir::Type tile) {
  auto type = mlir::cast<mlir::RankedTensorType>(tile);
  return mlir::VectorType::get(type.getShape(), type.getElementType());
}

/// The type at block level: a vector for a tile, a scalar for a tile of rank 0.
inline mlir::Type blockTypeOf(mlir::Type type) {
  if (isTileType(type))
    return vectorOf(type);
  if (auto scalar = mlir::dyn_cast<mlir::RankedTensorType>(type))
    return scalar.getElementType();
  return type;
}

inline bool isVector(mlir::Value value) {
  return mlir::isa<mlir::VectorType>(value.getType());
}

/// An operand that a dot stores to a shared-memory buffer. Later dots of the
/// MLIR block read it from there.
struct StoredOperand {
  mlir::Value buffer, operand;
  mlir::Block *block = nullptr;
  /// Whether the dots of the block end with a barrier.
  bool isInLoop = false;
  /// Whether it is computed, so that its buffer does not get slots.
  bool isComputed = false;
};

/// Emits one planned kernel.
class TileEmitter {
public:
  TileEmitter(const TilePlan &plan)
      : plan(plan), func(plan.func), ranges(func), builder(func.getContext()) {}

  mlir::gpu::GPUModuleOp run();

private:
  /// Block-level argument types and attributes of a memref argument, and the
  /// memref in the kernel.
  void addParameters(mlir::BlockArgument argument,
                     mlir::SmallVectorImpl<mlir::Type> &types) const;
  mlir::Value emitArgument(mlir::BlockArgument argument,
                           mlir::Block::BlockArgListType parameters);
  /// Sizes and strides of a memref argument.
  mlir::SmallVector<mlir::OpFoldResult> sizesOf(mlir::Value memref) const;
  mlir::SmallVector<mlir::OpFoldResult> stridesOf(mlir::Value memref) const;
  mlir::Value emitTileCount(mlir::Location loc);
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitExtract(triton_xla::ExtractOp op);
  void emitInsert(triton_xla::InsertOp op);
  void emitMask(triton_xla::MaskOp op);
  void emitDot(triton_xla::DotOp op);
  void emitFor(mlir::scf::ForOp op);
  void emitWhile(mlir::scf::WhileOp op);
  void emitIf(mlir::scf::IfOp op);
  void emitConstant(mlir::arith::ConstantOp op);
  mlir::Value loadConstant(mlir::Location loc, mlir::DenseElementsAttr elements,
                           mlir::Attribute layout);
  void emitPrint(triton_xla::PrintOp op);
  void emitAssert(triton_xla::AssertOp op);
  void emitAssumeMultiple(triton_xla::AssumeMultipleOp op);
  void emitStore(mlir::memref::StoreOp op);
  mlir::Operation *emitScalarStore(mlir::Location loc, mlir::Value scalar,
                                   mlir::Value memref,
                                   mlir::ValueRange indices);

  // Reductions and changes of shape.
  void emitReduce(triton_xla::ReduceOp op);
  void emitScan(triton_xla::ScanOp op);
  void emitBroadcast(triton_xla::BroadcastOp op);
  void emitTranspose(triton_xla::TransposeOp op);
  void emitReshape(triton_xla::ReshapeOp op);
  void emitIota(triton_xla::IotaOp op);
  void emitConcat(triton_xla::ConcatOp op);
  void emitSlice(triton_xla::SliceOp op);
  llvm::SmallVector<mlir::Value> combineScalars(mlir::Region &region,
                                                mlir::ValueRange scalars);
  void cloneCombiner(mlir::Region &from, mlir::Region &to);
  mlir::Value emitOnlyElement(mlir::Location loc, mlir::Value vector,
                              mlir::Attribute layout);
  mlir::Value emitLargest(mlir::Location loc, mlir::Value vector,
                          mlir::Attribute layout);
  mlir::Value reduceToScalar(
      mlir::Location loc, mlir::Value vector, mlir::Attribute layout,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  // Indexed accesses.
  void emitGather(triton_xla::GatherOp op);
  void emitGatherTile(triton_xla::GatherTileOp op);
  void emitHistogram(triton_xla::HistogramOp op);
  void emitScatter(triton_xla::ScatterOp op);
  void emitAtomicRMW(triton_xla::AtomicRMWOp op);
  void emitAtomicCAS(triton_xla::AtomicCASOp op);
  /// Shape and layout of the vectors of an indexed access.
  struct Lanes {
    mlir::ArrayRef<int64_t> shape;
    mlir::Attribute layout;
  };
  /// A linear index per lane, of type `word`, in a one-dimensional memref.
  struct LinearIndex {
    mlir::Value base, index, mask;
    mlir::Type word;
  };
  Lanes lanesOf(mlir::Value tileOrScalar);
  mlir::OpFoldResult lowestIndex(mlir::Location loc, mlir::Value memref);
  LinearIndex linearize(mlir::Location loc, mlir::Value memref,
                        mlir::ValueRange indices, mlir::Value mask,
                        const Lanes &lanes);
  void addIndex(mlir::Location loc, LinearIndex &linear, mlir::Value index,
                mlir::OpFoldResult stride, mlir::OpFoldResult extent,
                const Lanes &lanes);
  void addTerm(mlir::Location loc, LinearIndex &linear, mlir::Value index,
               mlir::OpFoldResult stride, const Lanes &lanes);
  mlir::Value countEqual(mlir::Location loc, const LinearIndex &linear,
                         mlir::arith::CmpIPredicate predicate,
                         const Lanes &lanes);
  mlir::Value maskUnequal(mlir::Location loc, mlir::Value mask,
                          mlir::Value values, mlir::Value scalar,
                          const Lanes &lanes);
  mlir::Value loadLanes(mlir::Location loc, const LinearIndex &linear,
                        mlir::Value fill, const Lanes &lanes, bool isVector);
  void mapAtomicResult(mlir::Value result, mlir::Value old, const Lanes &lanes);
  mlir::Value lookupLanes(mlir::Location loc, mlir::Value tileOrScalar,
                          const Lanes &lanes);
  mlir::Value splatLanes(mlir::Location loc, mlir::Value scalar,
                         const Lanes &lanes);
  mlir::Value distributeLanes(mlir::Location loc, mlir::Value vector,
                              const Lanes &lanes);
  mlir::Value constantLanes(mlir::Location loc, int64_t value,
                            mlir::Type element, const Lanes &lanes);
  mlir::Value constantOrLanes(mlir::Location loc, mlir::OpFoldResult value,
                              mlir::Type word, const Lanes &lanes);
  mlir::Value resizeLanes(mlir::Location loc, mlir::Value vector,
                          mlir::Type element, mlir::Attribute layout);
  mlir::Value iotaLanes(mlir::Location loc, int64_t dim, const Lanes &lanes);
  mlir::Operation *inLayout(mlir::Operation *op, mlir::Attribute layout);

  /// Changes the layout of a vector.
  mlir::Value castLayout(mlir::Location loc, mlir::Value vector,
                         mlir::Attribute from, mlir::Attribute to);
  /// The vector of a tile, in `layout`.
  mlir::Value lookupAs(mlir::Location loc, mlir::Value tile,
                       mlir::Attribute layout);
  mlir::Attribute distributedLayout(mlir::Value tile);

  /// A part of a buffer in shared memory; without offsets, all of it.
  struct BufferPart {
    mlir::Value vector;
    mlir::Attribute layout;
    mlir::SmallVector<int64_t> offsets;
  };
  /// Stores vectors to a buffer of `shape`, and waits for all threads.
  mlir::Value storeToBuffer(mlir::Location loc,
                            mlir::ArrayRef<BufferPart> parts,
                            mlir::ArrayRef<int64_t> shape);
  /// Loads a vector from a view of a buffer that storeToBuffer made. `getView`
  /// may also change the buffer.
  mlir::Value
  moveThroughMemory(mlir::Location loc, mlir::ArrayRef<BufferPart> parts,
                    mlir::ArrayRef<int64_t> shape,
                    llvm::function_ref<mlir::Value(mlir::Value)> getView,
                    mlir::VectorType vector, mlir::Attribute layout);
  mlir::Value reshapeBuffer(mlir::Location loc, mlir::Value buffer,
                            mlir::ArrayRef<int64_t> shape);
  mlir::Value convertForBuffer(mlir::Location loc, mlir::Value vector,
                               mlir::Type element, mlir::Attribute layout);
  mlir::Value viewBuffer(mlir::Location loc, mlir::Value buffer,
                         mlir::ArrayRef<int64_t> shape);
  void allocateScratch();
  mlir::Type getIndexWord(mlir::Value memref);
  mlir::Value getScratch(mlir::Location loc, mlir::ArrayRef<int64_t> shape,
                         mlir::Type element);

  /// Operands of vector.transfer_read and transfer_write for a window.
  struct Transfer {
    mlir::Value memref;
    mlir::SmallVector<mlir::Value> indices;
    mlir::AffineMap map;
    mlir::SmallVector<bool> inBounds;
    /// i1: whether the dropped dimensions are in bounds; null if proven.
    mlir::Value isInside;
    /// Whether the memref may be empty along a dropped dimension.
    bool mayBeEmpty = false;
  };
  Transfer createTransfer(mlir::Location loc, const Window &window);

  mlir::Value index(mlir::Location loc, mlir::OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, loc, value);
  }
  mlir::OpFoldResult mapped(mlir::OpFoldResult value) {
    if (auto v = mlir::dyn_cast<mlir::Value>(value))
      return mapping.lookup(v);
    return value;
  }
  mlir::Value allocateBuffer(mlir::Location loc, mlir::ArrayRef<int64_t> shape,
                             mlir::Type element, int64_t alignment = 0);
  mlir::Value allocateOperand(mlir::Location loc, mlir::RankedTensorType type,
                              mlir::Operation *writer, mlir::Value operand);
  /// Operand A or B of a dot: a vector, a buffer or the transpose of a buffer.
  struct Operand {
    mlir::Value value;
    bool isTransposed;
  };
  Operand stageOperand(triton_xla::DotOp dot, mlir::Value operand);
  mlir::Value operandInLayout(mlir::Location loc, mlir::Value operand,
                              mlir::Attribute layout);
  /// Whether only MMAs in its MLIR block use a concatenation, as operands A and
  /// B. Its parts are then stored directly to the buffers of the operands.
  bool isStaged(triton_xla::ConcatOp op) const;
  void storeTransposed(mlir::Location loc, mlir::Value tile,
                       const BlockTranspose &layouts, mlir::Value buffer);
  void storeOperand(mlir::Location loc, mlir::Value tile, mlir::Value buffer);
  void commitCopies(mlir::Location loc);
  mlir::Attribute storageLayout(mlir::Value tile);
  /// Sets the layouts of an op's vector operands and results.
  void setLayouts(mlir::Operation *op, mlir::ArrayRef<mlir::Attribute> in,
                  mlir::ArrayRef<mlir::Attribute> out) {
    if (!in.empty())
      op->setAttr(mosaic_gpu::kInLayouts, builder.getArrayAttr(in));
    if (!out.empty())
      op->setAttr(mosaic_gpu::kOutLayouts, builder.getArrayAttr(out));
  }
  mlir::Attribute splatLayout(mlir::VectorType type) {
    return mosaic_gpu::WGSplatFragLayoutAttr::get(builder.getContext(),
                                                  type.getShape());
  }

  /// A buffer that a TMA load or a store of all threads fills.
  struct TensorBuffer {
    mlir::Value memory;
    /// The transforms of the memory and of its transposed view.
    mlir::ArrayAttr transforms, transposedTransforms;
  };
  void emitWarpgroupBarriers();
  void emitTiles(mlir::Block &body, mlir::Value first);
  void emitWgmmaDot(const WgmmaDot &dot);
  TensorBuffer allocateTensorBuffer(mlir::Location loc,
                                    const TensorWindow &window);
  std::pair<mlir::Value, mlir::ArrayAttr>
  getOperand(mlir::Location loc, const TensorWindow &window,
             const TensorBuffer &buffer);
  TensorBuffer storeInvariantTile(mlir::Location loc,
                                  const TensorWindow &window);
  mlir::Value coordinate(mlir::Location loc, mlir::OpFoldResult offset);
  mlir::SmallVector<mlir::Value> coordinates(mlir::Location loc,
                                             const TensorWindow &window);
  void emitProxyFence(mlir::Location loc);
  /// Transposes a tile from one buffer to another one.
  void transposeInShared(mlir::Location loc, const TensorWindow &window,
                         const TensorBuffer &from, const TensorBuffer &to);
  void emitTensorStore(triton_xla::InsertOp op, const TensorWindow &window);
  void emitTensorLoad(mlir::Location loc, const TensorWindow &window,
                      const TensorBuffer &buffer, mlir::Value barrier);
  /// The wgmma dots inside an op. Each has an mbarrier phase that loops and
  /// branches forward.
  mlir::SmallVector<mlir::Operation *> wgmmaIn(mlir::Operation *op) const;
  mlir::SmallVector<mlir::Value>
  phasesOf(mlir::ArrayRef<mlir::Operation *> dots) const;
  void setPhases(mlir::ArrayRef<mlir::Operation *> dots,
                 mlir::ValueRange values);

  const TilePlan &plan;
  triton_xla::EntryFuncOp func;
  /// Ranges of `func`, which does not change during emission.
  IntegerRanges ranges;
  mlir::OpBuilder builder;
  mlir::IRMapping mapping;
  mlir::Block *entry = nullptr;
  mlir::Operation *lastBuffer = nullptr;
  /// Shared-memory buffers of asynchronously copied tiles.
  llvm::DenseMap<mlir::Value, mlir::Value> copied;
  /// Dynamic sizes and strides of arguments, one entry per dimension.
  llvm::DenseMap<mlir::Value, mlir::SmallVector<mlir::OpFoldResult>>
      dynamicSizes, dynamicStrides;
  /// Scratch memory by the type of its elements.
  llvm::DenseMap<mlir::Type, mlir::Value> scratches;
  /// Constant arrays of the module.
  int64_t numConstants = 0;
  /// The buffers of operands that dots store, each with the last one.
  llvm::SmallVector<StoredOperand> operandBuffers;
  /// Buffers of stored operands, and the block in which each is stored.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, mlir::Block *>> staged;
  /// Whether copies are not yet committed to a group.
  bool hasUncommittedCopies = false;
  /// For each wgmma dot, the mbarrier of its TMA loads and the parity of the
  /// next phase.
  llvm::DenseMap<mlir::Operation *, mlir::Value> barriers, phases;
  /// The buffers of tiles from outside the loops of wgmma dots.
  llvm::DenseMap<mlir::Value, TensorBuffer> invariantTiles;
};

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEEMITTER_H
