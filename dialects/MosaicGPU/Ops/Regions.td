//===- Regions.td - Ops with regions, debugging ops --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_REGIONS
#define SMALTI_DIALECTS_MOSAICGPU_OPS_REGIONS

include "smalti/dialects/MosaicGPU/Ops/Base.td"
include "smalti/dialects/Text.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def MosaicGPU_CustomPrimitiveOp : MosaicGPU_Op<"custom_primitive", [IsolatedFromAbove, SingleBlock]> {
  let summary = "Thread-level code in a block-level kernel";
  let description = [{
    Each thread executes the body. The op states the layouts: `in_layouts` has one entry for each vector operand and
    `out_layouts` one for each vector result. `in_transforms` has one list for each operand in shared memory, including
    barriers. Layout inference does not change the body. `mosaic_gpu.return` returns the results, which are scalars and
    vectors. The region has one argument for each operand, of the same type.

    Example:

    ```mlir
    func.func @double(%v: vector<128xf32>) -> vector<128xf32> {
      %r = mosaic_gpu.custom_primitive (%x = %v : vector<128xf32>) {
        %sum = arith.addf %x, %x : vector<128xf32>
        mosaic_gpu.return %sum : vector<128xf32>
      } {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>], in_transforms = [],
         out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]} -> vector<128xf32>
      return %r : vector<128xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands, ArrayAttr:$in_layouts, ArrayAttr:$in_transforms,
                       ArrayAttr:$out_layouts);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<MappedRegion>($operands, type($operands), $body) attr-dict (`->` type($results)^)?";
}

def MosaicGPU_ReturnOp : MosaicGPU_Op<"return", [Pure, ReturnLike, Terminator,
    ParentOneOf<["CustomPrimitiveOp", "ReduceOp", "ScanOp"]>]> {
  let summary = "Returns the results of a region";
  let description = [{
    Terminator of `mosaic_gpu.custom_primitive`, `mosaic_gpu.reduce` and `mosaic_gpu.scan`. Number and types of the
    operands are those of the results of the custom primitive, or of the initial values of the reduction or scan.

    Example:

    ```mlir
    func.func @one() -> i32 {
      %r = mosaic_gpu.custom_primitive () {
        %c = arith.constant 1 : i32
        mosaic_gpu.return %c : i32
      } {in_layouts = [], in_transforms = [], out_layouts = []} -> i32
      return %r : i32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def MosaicGPU_WarpMapOp : MosaicGPU_Op<"warp_map", [SingleBlock, NoTerminator, IsolatedFromAbove]> {
  let summary = "Executes a region separately in each warp";
  let description = [{
    Each of the four warps of the warpgroup executes the region independently. The operands are scalars and memory.
    Vectors are an error, because all warps together hold a vector. The region has one argument for each operand, of the
    same type.

    Example:

    ```mlir
    func.func @each(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
      mosaic_gpu.warp_map (%barrier = %b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
        mosaic_gpu.arrive %barrier : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = "custom<MappedRegion>($operands, type($operands), $region) attr-dict";
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

def MosaicGPU_DebugPrintOp : MosaicGPU_Op<"debug_print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints a vector at run time";
  let description = [{
    Each element prints one line: `format`, with `{}` replaced by the index and the value of the element, as in
    `[3, 4]: 1.0`. A splat prints one line without an index. An element that several threads hold is printed once. With
    `with_block_id`, the line begins with the index of the block, as in `block [0, 1, 0]: `.

    Lines of different threads have no defined order on a GPU.

    Example:

    ```mlir
    func.func @print(%v: vector<128xf32>) {
      mosaic_gpu.debug_print "x = {}", %v {with_block_id} : vector<128xf32>
      return
    }
    ```
  }];
  let arguments = (ins Smalti_TextAttr:$format, AnyVectorOfAnyRank:$value, UnitAttr:$with_block_id);
  let assemblyFormat = "$format `,` $value attr-dict `:` type($value)";
}

def MosaicGPU_PrintTileOp : MosaicGPU_Op<"print_tile", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints a vector or a scalar and the id of the current tile at run time";
  let description = [{
    This op is the block-level form of `triton_xla.print` and prints the same lines. Each element of a vector prints a line
    such as `tile 3: x [1, 2] = 0.5`, and a scalar prints `tile 3: x = 0.5`. Without a value, the line is `tile 3: x`. An
    element that several threads hold is printed once.

    Lines of different threads have no defined order on a GPU.

    Example:

    ```mlir
    func.func @print(%tile: index, %v: vector<128xf32>, %n: i32) {
      mosaic_gpu.print_tile %tile, "x", %v : vector<128xf32>
      mosaic_gpu.print_tile %tile, "n", %n : i32
      mosaic_gpu.print_tile %tile, "end"
      return
    }
    ```
  }];
  let arguments = (ins
    Index:$tile, Smalti_TextAttr:$text,
    Optional<AnyTypeOf<[VectorOfAnyRankOf<[AnySignlessInteger, Index, AnyFloat]>, AnySignlessInteger, Index, AnyFloat],
                       "vector or scalar of signless integers, index or floats">>:$value);
  let assemblyFormat = "$tile `,` $text (`,` $value^)? attr-dict (`:` type($value)^)?";
}

def MosaicGPU_AssertOp : MosaicGPU_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints a message and stops the kernel if an element of the condition is false";
  let description = [{
    Each element that is false prints one line, and its thread then traps. The line has the index of the block, the index
    of the element and the message: `assertion failed in block [0, 1, 0] at [3, 4]: MESSAGE`. A splat prints one line
    without an index. The GPU runtime may lose output of a kernel that traps.

    Example:

    ```mlir
    func.func @check(%indices: vector<128xi32>, %size: vector<128xi32>) {
      %inside = arith.cmpi ult, %indices, %size : vector<128xi32>
      mosaic_gpu.assert %inside, "the index is out of bounds" : vector<128xi1>
      return
    }
    ```
  }];
  let arguments = (ins VectorOfNonZeroRankOf<[I1]>:$condition, Smalti_TextAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def MosaicGPU_PrintLayoutOp : MosaicGPU_Op<"print_layout", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints the layout of a value at compile time";
  let description = [{
    The value is a vector, or memory in shared or tensor memory. The output is
    `format`, with `{}` replaced by the layout or the transforms of the value.

    Example:

    ```mlir
    func.func @print(%v: vector<128xf32>) {
      mosaic_gpu.print_layout "x is laid out as {}", %v : vector<128xf32>
      return
    }
    ```
  }];
  let arguments = (ins Smalti_TextAttr:$format, AnyTypeOf<[AnyMemRef, AnyVectorOfAnyRank]>:$value);
  let assemblyFormat = "$format `,` $value attr-dict `:` type($value)";
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_REGIONS
