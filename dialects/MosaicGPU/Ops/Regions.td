//===- Regions.td - Ops with regions, and ops for debugging -*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_REGIONS
#define SMALTI_DIALECTS_MOSAICGPU_OPS_REGIONS

include "smalti/dialects/MosaicGPU/Ops/Base.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def MosaicGPU_CustomPrimitiveOp : MosaicGPU_Op<"custom_primitive", [IsolatedFromAbove, SingleBlock]> {
  let summary = "A part of the program that is written for threads";
  let description = [{
    The body says what each thread does, with layouts that the op states: `in_layouts` has one for each vector operand,
    `out_layouts` one for each vector result, `in_transforms` one list for each operand in shared memory, barriers
    included. Nothing is inferred inside. `mosaic_gpu.return` gives the results, which are scalars and vectors.

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

def MosaicGPU_ReturnOp : MosaicGPU_Op<"return", [Pure, ReturnLike, Terminator, HasParent<"CustomPrimitiveOp">]> {
  let summary = "The results of a custom primitive";
  let description = [{
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
  let summary = "Runs a region once for each warp";
  let description = [{
    Each of the four warps that run the program together executes the region by itself. The operands are scalars and
    memory; vectors are held by all the warps, and cannot be handed to one.

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
  let summary = "Prints a vector when the program runs";
  let description = [{
    `format` holds `{}` where each element is printed.

    Example:

    ```mlir
    func.func @print(%v: vector<128xf32>) {
      mosaic_gpu.debug_print "x = {}", %v : vector<128xf32>
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$format, AnyVectorOfAnyRank:$value);
  let assemblyFormat = "$format `,` $value attr-dict `:` type($value)";
}

def MosaicGPU_PrintLayoutOp : MosaicGPU_Op<"print_layout", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints the layout of a value when the program is compiled";
  let description = [{
    The value is a vector, or memory in shared or tensor memory, whose transforms
    or layout is printed. `format` holds `{}` where it is.

    Example:

    ```mlir
    func.func @print(%v: vector<128xf32>) {
      mosaic_gpu.print_layout "x is laid out as {}", %v : vector<128xf32>
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$format, AnyTypeOf<[AnyMemRef, AnyVectorOfAnyRank]>:$value);
  let assemblyFormat = "$format `,` $value attr-dict `:` type($value)";
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_REGIONS
