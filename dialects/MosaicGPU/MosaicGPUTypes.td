//===- MosaicGPUTypes.td - Element types of memrefs --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUTYPES
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUTYPES

include "smalti/dialects/MosaicGPU/MosaicGPUDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

def MosaicGPU_Barrier : TypeDef<MosaicGPU_Dialect, "Barrier", [MemRefElementTypeInterface]> {
  let mnemonic = "barrier";
  let summary = "mbarrier (barrier object in shared memory)";
  let description = [{
    Element type of a barrier (mbarrier) in shared memory. A barrier takes 8 bytes.
    With `orders_tensor_core` (default false), arrivals and waits on the barrier
    also order asynchronous operations of the tensor core.

    Example:

    ```mlir
    func.func @arrive(%b: memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) {
      mosaic_gpu.arrive %b {orders_tensor_core = true}
          : memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let parameters = (ins DefaultValuedParameter<"bool", "false">:$orders_tensor_core);
  let assemblyFormat = "(`<` `orders_tensor_core` `=` $orders_tensor_core^ `>`)?";
}


/// A storage format of 6-bit elements in memory.
class MosaicGPU_SixBitType<string name, string typeMnemonic>
    : TypeDef<MosaicGPU_Dialect, name, [MemRefElementTypeInterface]> {
  let mnemonic = typeMnemonic;
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def MosaicGPU_B6x16P32 : MosaicGPU_SixBitType<"B6x16P32", "b6x16_p32"> {
  let summary = "6-bit elements in groups of 16, followed by 32 bits of padding";
  let description = [{
    Element type of memrefs in the storage format that bulk copies and the tensor
    core use for 6-bit elements. A group of 16 elements takes 128 bits; the last 32
    are padding. The element type must have 6 bits.

    Example:

    ```mlir
    func.func @operand() {
      %s = mosaic_gpu.slice_smem 0 : memref<128x64x!mosaic_gpu.b6x16_p32<f6E2M3FN>, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
}

def MosaicGPU_P2B6 : MosaicGPU_SixBitType<"P2B6", "p2b6"> {
  let summary = "6-bit elements in the low 6 bits of bytes";
  let description = [{
    Element type of memrefs in which each 6-bit element takes one byte; the two
    high bits are padding. The element type must have 6 bits.

    Example:

    ```mlir
    func.func @operand() {
      %s = mosaic_gpu.slice_smem 0 : memref<128x64x!mosaic_gpu.p2b6<f6E3M2FN>, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
}

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUTYPES
