//===- LoopInterfaces.h - What loop passes ask of an op -------------------===//

#ifndef SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H
#define SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace smalti {

/// Consecutive elements of a row (the last dimension) that one thread accesses.
struct RowAccess {
  mlir::OperandRange indices;
  int64_t elements;
  bool isRead;
  /// How many lanes of a wave, the first ones, give addresses; 0: all.
  int64_t lanes = 0;
  /// Elements may lie outside the memref; the op finds out by its shape.
  bool isBoundsChecked = false;
  /// The op is about consecutive addresses: nothing says that its elements
  /// belong to one row.
  bool mayCrossRows = false;
  /// The lanes of a wave access one run of elements, one behind the other, from
  /// the first lane's indices on.
  bool isWaveWide = false;
};

/// A whole memref that a block accesses: a vector in a layout, or where there
/// is none, chunks that are copied by the threads in turn.
struct BlockAccess {
  mlir::Attribute layout;
  mlir::Type elementType;
  bool isRead;
};

} // namespace smalti

#include "passes/Interfaces/LoopInterfaces.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace smalti {

/// Adds the external models by which ops of upstream dialects and of
/// mosaic_gpu implement the interfaces above.
void registerLoopInterfaceModels(mlir::DialectRegistry &registry);

/// Whether `op` writes every element of its operand `memref` each time it is
/// executed, as far as its interfaces tell.
bool overwritesWholeMemRef(mlir::Operation *op, mlir::Value memref);

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H
