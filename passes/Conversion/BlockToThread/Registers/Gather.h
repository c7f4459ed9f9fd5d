//===- Gather.h - Register renaming of vector elements ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices, concatenations, reshapes and broadcasts for which each thread holds
// all elements that it needs: registers are renamed and split, and elements do
// not move between threads.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_GATHER_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_GATHER_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace smalti::block_to_thread {

/// An element: the vector and its index in it.
struct ElementIndex {
  unsigned vector = 0;
  llvm::SmallVector<int64_t> index;
};

/// The position of an element in a thread: the register and the vector.
struct ElementPosition {
  unsigned vector = 0;
  int64_t reg = 0;
  int64_t element = 0;
};

/// For each element of each register of a vector in distribution `to`, in
/// order, its position in every thread; or why some thread does not hold it.
/// `source` maps an element to the element of the vectors in distributions
/// `from`.
ValueOr<std::vector<ElementPosition>>
planGather(const Distribution &to, llvm::ArrayRef<const Distribution *> from,
           llvm::function_ref<ElementIndex(llvm::ArrayRef<int64_t>)> source,
           const ThreadGrid &grid);

/// Creates the registers of the vector from those of the others.
Registers emitGather(const Distribution &to, mlir::Type elementType,
                     llvm::ArrayRef<Registers> from,
                     llvm::ArrayRef<ElementPosition> positions,
                     mlir::OpBuilder &builder, mlir::Location loc);

/// The plan of an op that renames registers.
struct GatherPlan : OpPlan {
  explicit GatherPlan(std::vector<ElementPosition> positions)
      : positions(std::move(positions)) {}
  std::vector<ElementPosition> positions;
};

/// Another order of the registers of a vector, or of the elements in them:
/// every thread keeps its elements.
struct Reorder {
  Distribution to;
  std::vector<ElementPosition> positions;

  Registers emit(mlir::Type elementType, const Registers &held,
                 mlir::OpBuilder &builder, mlir::Location loc) const {
    return emitGather(to, elementType, held, positions, builder, loc);
  }
};

/// Plans the order of registers in `layout` of a vector that has another
/// layout, and with `back` the inverse; null if both are equal. Fails if a
/// thread would need an element of another thread.
bool planReorder(mlir::VectorType type, const Distribution &held,
                 const layout::TiledLayout &layout, const ThreadGrid &grid,
                 std::optional<Reorder> &forth,
                 std::optional<Reorder> *back = nullptr);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_GATHER_H
