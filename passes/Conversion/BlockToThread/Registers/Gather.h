//===- Gather.h - Elements that a thread has already ------------*- C++ -*-===//
//
// Slices, concatenations, reshapes and broadcasts where each thread holds all
// elements that it needs: registers are renamed and taken apart, and nothing
// moves between threads.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_GATHER_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_GATHER_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace smalti::block_to_thread {

/// Where an element is: in which of several vectors, at which index.
struct ElementIndex {
  unsigned vector = 0;
  llvm::SmallVector<int64_t> index;
};

/// Where a thread has an element: in which register of which vector.
struct ElementPlace {
  unsigned vector = 0;
  int64_t reg = 0;
  int64_t element = 0;
};

/// For each element of each register of a vector in distribution `to`, in
/// order, where every thread has it; or why not every thread has. `source` says
/// which element of the vectors in distributions `from` an element is.
ValueOr<std::vector<ElementPlace>>
planGather(const Distribution &to, llvm::ArrayRef<const Distribution *> from,
           llvm::function_ref<ElementIndex(llvm::ArrayRef<int64_t>)> source,
           const ThreadGrid &grid);

/// The registers of the vector, made of those of the others.
Registers emitGather(const Distribution &to, mlir::Type elementType,
                     llvm::ArrayRef<Registers> from,
                     llvm::ArrayRef<ElementPlace> places,
                     mlir::OpBuilder &builder, mlir::Location loc);

/// What a lowering of such an op keeps.
struct GatherPlan : OpPlan {
  explicit GatherPlan(std::vector<ElementPlace> places)
      : places(std::move(places)) {}
  std::vector<ElementPlace> places;
};

/// Another order of a vector's registers, or of the elements in them: every
/// thread keeps its elements.
struct Reorder {
  Distribution to;
  std::vector<ElementPlace> places;

  Registers emit(mlir::Type elementType, const Registers &held,
                 mlir::OpBuilder &builder, mlir::Location loc) const {
    return emitGather(to, elementType, held, places, builder, loc);
  }
};

/// Plans the order of registers in `layout` of a vector that is held in another
/// layout, and with `back` the way back; null where both are one. Fails where a
/// thread would need an element of another.
bool planReorder(mlir::VectorType type, const Distribution &held,
                 const layout::TiledLayout &layout, const ThreadGrid &grid,
                 std::optional<Reorder> &forth,
                 std::optional<Reorder> *back = nullptr);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_GATHER_H
