//===- Base.td - What the files of ops share ---------------*- tablegen -*-===//

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

/// The result types follow from the operands.
class MosaicGPU_InferringOp<string mnemonic, list<Trait> traits = []>
    : MosaicGPU_Op<mnemonic, !listconcat(traits, [InferTypeOpAdaptor])> {
  let extraClassDeclaration = [{
    /// The verifier says what is wrong with other types.
    static bool isCompatibleReturnTypes(::mlir::TypeRange, ::mlir::TypeRange) { return true; }
  }];
}

/// The result is the operand's memory, seen otherwise.
def MosaicGPU_View : DeclareOpInterfaceMethods<ViewLikeOpInterface>;

/// Work that goes on after the op, or that other ops wait for: unknown reads
/// and writes keep every other access on its side of the op.
def MosaicGPU_Asynchronous : MemoryEffects<[MemRead, MemWrite]>;

def MosaicGPU_BarrierRef : MemRefOf<[MosaicGPU_Barrier]>;

/// Where a slice of global memory begins in a dimension, or the rows that it
/// gathers.
def MosaicGPU_Index : AnyTypeOf<[I32, VectorOfRankAndType<[1], [I8, I16, I32]>]>;

def MosaicGPU_Dimensions : TypedArrayAttrBase<MosaicGPU_Dimension, "dimensions of the cluster">;

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_BASE
