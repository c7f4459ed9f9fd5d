//===- Base.td - Base classes and operand types of the ops -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_BASE
#define SMALTI_DIALECTS_MOSAICGPU_OPS_BASE

include "smalti/dialects/MosaicGPU/MosaicGPUAttrs.td"
include "smalti/dialects/MosaicGPU/MosaicGPUEnums.td"
include "smalti/dialects/MosaicGPU/MosaicGPUTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

class MosaicGPU_Op<string mnemonic, list<Trait> traits = []> : Op<MosaicGPU_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}

/// An op that infers its result types from its operands.
class MosaicGPU_InferringOp<string mnemonic, list<Trait> traits = []>
    : MosaicGPU_Op<mnemonic, !listconcat(traits, [InferTypeOpAdaptor])> {
  let extraClassDeclaration = [{
    /// The verifier reports other types, with a specific message.
    static bool isCompatibleReturnTypes(::mlir::TypeRange, ::mlir::TypeRange) { return true; }
  }];
}

/// The result aliases the operand.
def MosaicGPU_View : DeclareOpInterfaceMethods<ViewLikeOpInterface>;

/// An operation that is in flight after the op, or on which other ops wait:
/// unknown reads and writes prevent the motion of other accesses across the op.
def MosaicGPU_Asynchronous : MemoryEffects<[MemRead, MemWrite]>;

def MosaicGPU_BarrierRef : MemRefOf<[MosaicGPU_Barrier]>;

/// The start of a slice of global memory in one dimension, or the row indices
/// of a gather.
def MosaicGPU_Index : AnyTypeOf<[I32, VectorOfRankAndType<[1], [I8, I16, I32]>]>;

def MosaicGPU_Dimensions : TypedArrayAttrBase<MosaicGPU_Dimension, "dimensions of the cluster">;

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_BASE
