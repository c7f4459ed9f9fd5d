//===- TritonXLA.h - The triton_xla dialect: tile-level kernels -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_TRITONXLA_H
#define SMALTI_DIALECTS_TRITONXLA_TRITONXLA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <optional>

#include "smalti/dialects/TritonXLA/TritonXLADialect.h.inc"
#include "smalti/dialects/TritonXLA/TritonXLAEnums.h.inc"

namespace smalti::triton_xla {
/// Argument attributes that state divisors of the sizes and of the strides (in
/// elements) of a memref, one per dimension (array<i64>).
inline constexpr llvm::StringLiteral kSizeDivisors = "triton_xla.size_divisors";
inline constexpr llvm::StringLiteral kStrideDivisors =
    "triton_xla.stride_divisors";
/// Argument attribute that states the largest number of bytes of a memref: from
/// the first element to the end of the last, and of each size alone (i64).
inline constexpr llvm::StringLiteral kMaxBytes = "triton_xla.max_bytes";

/// A factor of a number of tiles: the number, or `ceildiv` of a size of an
/// argument by the number.
struct TileFactor {
  /// The argument; -1: none.
  int64_t argument = -1;
  /// The dimension of a memref; -1 for a scalar.
  int64_t dimension = -1;
  int64_t number = 1;
};
/// The largest number of tiles of a grid whose size depends on arguments.
inline constexpr int64_t kMaxDynamicTiles = (int64_t(1) << 31) - 1;

/// Whether a tile of this static shape has less than 2^31 elements, the limit
/// of vectors and constants and of 32-bit element numbers.
bool fitsTile(llvm::ArrayRef<int64_t> shape);

/// The type of a mask for values of this type: i1, or a tile of i1 with the
/// same shape.
mlir::Type getMaskType(mlir::Type type);

/// The default value of elements outside of a memref: zero. f8E8M0FNU does not
/// have a zero; its value is that of code 0, 2^-127.
mlir::TypedAttr getZeroFill(mlir::Type element);

/// Checks that `fill`, which may be null, is a constant of the element type of
/// the result.
mlir::LogicalResult verifyFill(mlir::Operation *op, mlir::TypedAttr fill);

/// An op with an optional attribute `fill` and a result, a tile.
template <typename ConcreteOp>
class HasFill : public mlir::OpTrait::TraitBase<ConcreteOp, HasFill> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyFill(op, llvm::cast<ConcreteOp>(op).getFillAttr());
  }
  /// The value of elements that are not read: `fill`, or zero.
  mlir::TypedAttr getFillOrZero() {
    auto op = llvm::cast<ConcreteOp>(this->getOperation());
    if (mlir::TypedAttr fill = op.getFillAttr())
      return fill;
    return getZeroFill(mlir::getElementTypeOrSelf(op->getResult(0)));
  }
};
} // namespace smalti::triton_xla

#define GET_ATTRDEF_CLASSES
#include "smalti/dialects/TritonXLA/TritonXLAAttrs.h.inc"

#define GET_OP_CLASSES
#include "smalti/dialects/TritonXLA/TritonXLAOps.h.inc"

namespace smalti::triton_xla {
/// The facts that inline assembly and calls of external functions share.
struct ExternalCode {
  GPUVendor vendor;
  ExternalEffects effects;
  /// The results in terms of scalar ops; empty if they are not stated.
  mlir::Region *reference;

  /// The facts of an op; nothing if it is another op.
  static std::optional<ExternalCode> of(mlir::Operation *op);
};

/// The registers of one execution of inline assembly: one type for each word of
/// the results, then for each word of the operands. A word has one element, or
/// several elements of at most 32 bits together.
llvm::SmallVector<mlir::Type> getRegisterTypes(InlineAsmOp op);
/// The number of elements in a word.
int64_t getElementsPerWord(mlir::Type element, int64_t pack);
} // namespace smalti::triton_xla

#endif // SMALTI_DIALECTS_TRITONXLA_TRITONXLA_H
