//===- TritonXLABase.td - Definition of the dialect --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_TRITONXLABASE
#define SMALTI_DIALECTS_TRITONXLA_TRITONXLABASE

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def TritonXLA_Dialect : Dialect {
  let name = "triton_xla";
  let cppNamespace = "::smalti::triton_xla";
  let summary = "Portable tile-level kernels: tiles are tensors, memory is memref";
  let description = [{
    A `triton_xla` kernel is a function that runs once for every output tile. Memory
    is memrefs, and tiles are statically shaped tensors; `extract` and `insert` copy
    windows between them. Element-wise operations are `arith` and `math` ops on
    tensors, and control flow is `scf`. A kernel does not mention threads, warps or
    a chip.

    The discardable attributes of the dialect are `triton_xla.size_divisors`,
    `triton_xla.stride_divisors` and `triton_xla.max_bytes` of function arguments;
    other attributes with the prefix `triton_xla.` are errors.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class TritonXLA_Op<string mnemonic, list<Trait> traits = []> : Op<TritonXLA_Dialect, mnemonic, traits>;

/// A tile: a static shape without empty dimensions, less than 2^31 elements, no encoding.
def TritonXLA_Tile : Type<
    And<[StaticShapeTensorOf<[AnyFloat, AnySignlessInteger, Index]>.predicate,
         CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">,
         CPred<"::llvm::all_of(::llvm::cast<::mlir::RankedTensorType>($_self).getShape(), "
               "[](int64_t size) { return size > 0; })">,
         CPred<"::smalti::triton_xla::fitsTile(::llvm::cast<::mlir::RankedTensorType>($_self).getShape())">]>,
    "tile (statically shaped tensor of floats, signless integers or index, no dimension of size 0, less than 2^31 "
    "elements, no encoding)",
    "::mlir::RankedTensorType">;

/// A scalar of a tile's element types.
def TritonXLA_Scalar : AnyTypeOf<[AnySignlessInteger, Index, AnyFloat],
                                 "scalar (signless integer, index or float)">;

/// An op with an optional attribute `fill`, a constant of the elements of its result.
def TritonXLA_HasFill : NativeOpTrait<"HasFill"> {
  let cppNamespace = "::smalti::triton_xla";
}

#endif // SMALTI_DIALECTS_TRITONXLA_TRITONXLABASE
