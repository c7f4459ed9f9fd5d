//===- Passes.td - Pads and masks --------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_PADLOWERING_PASSES
#define SMALTI_PASSES_PADLOWERING_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiLowerPad : InterfacePass<"smalti-lower-pad", "::mlir::FunctionOpInterface"> {
  let summary = "Lowers tensor.pad and out-of-bounds transfers to masked or hardware-checked accesses";
  let description = [{
    - `tensor.pad` is lowered to vector transfers. The vector has the shape of the result or, for dynamic sizes, of its
      upper bound. Without low padding this is one read whose out-of-bounds lanes take the padding value. With low
      padding the result is filled, and the source is written into it under a mask. Negative padding truncates the
      source. A pad of rank 0 or with an empty result is removed.
    - `vector.transfer_read` and `vector.transfer_write` of a memref with dimensions that may be out of bounds become
      masked. Lanes past the end and, if an index may be negative, lanes before the start take the padding value or are
      not written. Vectors may be transposed or broadcast.

    **AMD**, on targets with bounds-checked raw buffers: transfers of global memory use `amdgpu.fat_raw_buffer_cast`
    instead of a mask.
    - If all out-of-bounds lanes are also past the end of the buffer, the hardware drops the lanes of a write. It
      returns zeros for a read, which must be the padding.
    - For other reads, a select inserts the padding value.
    - Other writes are split into stores of rows, or of elements if a row is partly out of bounds. Out-of-bounds
      elements get an address past the end of the buffer.

    All views of a memref share one buffer, from the memref's pointer to the end of its last element. The hardware
    checks dwords. Accesses of narrower elements, and reads at an index that may be negative, are masked if the vector
    crosses the end. A proof that each dword is entirely inside or outside avoids the mask. A buffer has at most 2^31 -
    2^20 - 1 bytes. A larger static memref is masked; a dynamic size is checked at run time unless `assume-small` is
    set.

    Raw buffers are not used, which the remark states, if
    - the memref is not in global memory, is a raw buffer already, is too large, or has negative strides;
    - the element size is not a power-of-two number of bytes;
    - the transfer has a mask and is a write or permuted;
    - a write has an index that may be negative, rows that are not contiguous, or more than 32 rows or 256 elements.

    **NVIDIA**, on targets with `cp.async`: a padded read whose only use is a write to shared memory becomes
    `nvgpu.device_async_copy` with zero fill. The padding must be zero bits, and neither transfer may have a mask. The
    write must be in bounds, and rows must be multiples of copies of 4, 8 or 16 bytes in address, index and stride. No
    op between the two may write the source or be a barrier. A commit and a wait precede the first op that may access
    the copied memory. The remark of a read states why `cp.async` is not used.

    **TMA**, with `tensor-maps=true`: if all threads of a block copy the same window, the read and the write become
    `nvgpu.tma.async.load` with zero fill on every side. From shared to global memory, they become
    `nvgpu.tma.async.store`, which drops out-of-bounds elements. The kernel gets tensor maps as additional arguments
    (`mosaic_gpu.tensor_maps`), which the launch creates. The entry block initializes the mbarriers. A block barrier
    precedes the copies, with a proxy fence if threads may have written the accessed memory. Additional conditions:
    - the function is a thread-level `gpu.func` kernel, and the module does not launch it (`gpu.container_module`);
    - indices and addresses are block-uniform, and the copy is in the entry block or in `scf.for` and `scf.if` with
      block-uniform bounds and conditions;
    - the array is a view of a kernel argument with constant sizes, strides and offset: at most 5 dimensions, 2^30
      elements per dimension, and rows aligned to 16 bytes;
    - the window in shared memory is aligned to 128 bytes, with rows of a multiple of 16 bytes;
    - the kernel has at most 24 tensor maps and 64 windows.

    Not lowered, with a missed remark (an error with `strict`):
    - pads whose result does not have a constant upper bound (found in at most 16 defining values) or has more
      than `max-elements` elements;
    - pads of tensors with an encoding or with elements that are not valid in a vector;
    - padding values that depend on the index;
    - transfers of scalable vectors or of memrefs of vectors, and permuted ones under a `vector.mask` with a passthru
      value.

    Block-level transfers (with `in_layouts` or `out_layouts`), transfers of tensors and existing TMA copies are not
    changed.

    Cost: a mask needs a few index operations per padded dimension. Compile time is linear in the number of ops, apart
    from at most 64 alias queries per copy.

    Example:

    ```mlir
    func.func @pad(%source: tensor<2x5xf32>, %low: index, %high: index, %value: f32) -> tensor<4x8xf32> {
      %padded = tensor.pad %source low[%low, 2] high[%high, 1] {
      ^bb0(%i: index, %j: index):
        tensor.yield %value : f32
      } : tensor<2x5xf32> to tensor<4x8xf32>
      return %padded : tensor<4x8xf32>
    }
    ```
  }];
  let options = [
    TargetOption<" whose bounds checks and copies are used">,
    Option<"maxElements", "max-elements", "int64_t", "65536",
           "Maximum number of elements in the result of a lowered `tensor.pad`; larger ones are not lowered; e.g. `max-elements=4096`; default: 65536">,
    Option<"assumeSmall", "assume-small", "bool", "false",
           "Use AMD buffer instructions for memrefs of dynamic size too. Each must have at most 2146435071 bytes, the limit of these instructions; accesses to larger ones are wrong; e.g. `assume-small=true`; default: `false`">,
    Option<"tensorMaps", "tensor-maps", "bool", "false",
           "Permit TMA copies, for which the kernel gets tensor maps as additional arguments, e.g. `tensor-maps=true`; default: `false`">,
    StrictOption<"A pad or padded transfer that is not lowered">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::amdgpu::AMDGPUDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::nvgpu::NVGPUDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect",
  ];
}

def SmaltiMaskTransfers : Pass<"smalti-mask-transfers"> {
  let summary = "Masks transfers that may begin before the memref, at a negative index";
  let description = [{
    A `vector.transfer_read` or `vector.transfer_write` of a memref is masked if a dimension is not marked in bounds and
    its index may be negative. The mask covers lanes before the start and past the end; they take the padding value or
    are not written. Upstream's lowerings mask only lanes past the end. Its folder treats a negative constant index as
    in bounds, so this pass must run before `canonicalize`.

    The mask of an enclosing `vector.mask` is combined with the new one, and a select inserts its passthru value.
    `smalti-lower-pad` creates the same masks, also for transfers that are only out of bounds at the end.

    It is an error if a transfer cannot be masked: its vector is scalable, its memref has vector elements, the
    element types differ, or it is permuted under a `vector.mask` with a passthru value. Block-level transfers (with
    `in_layouts` or `out_layouts`) and transfers of tensors are not changed.

    Cost: about six index operations per dimension that may be negative. Compile time is linear in the number of ops.

    Example:

    ```mlir
    func.func @halo(%row: memref<30xf32>) -> vector<4xf32> {
      %before = arith.constant -2 : index
      %zero = arith.constant 0.0 : f32
      %v = vector.transfer_read %row[%before], %zero : memref<30xf32>, vector<4xf32>
      return %v : vector<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def SmaltiPadToIntrinsics : InterfacePass<"smalti-pad-to-intrinsics", "::mlir::FunctionOpInterface"> {
  let summary = "Pads contractions and convolutions to the shape of the target's MMAs";
  let description = [{
    Pads M, N and K of a matmul to multiples of an MMA shape. The operands get high padding (`tensor.pad`), the same op
    computes on them, and `tensor.extract_slice` extracts the result. An init operand from `linalg.fill` or
    `tensor.empty` is enlarged instead.

    The pass applies to ops on tensors with two matrices and one result: named matmuls (batched, transposed, packed or
    quantized), `linalg.contract`, convolutions, and every equivalent `linalg.generic`. In a convolution, batch and
    image are M, output channels N, input channels K. If several loops are M, N or K and none is a multiple, the one
    with the least waste is padded, the innermost if equal. Dynamic sizes are padded with affine arithmetic, unless the
    defining ops (at most 12) prove that they are multiples.

    The MMA is the one in the target table for the element types with the fewest additional iterations. The options `m`,
    `n` and `k` override its sizes; if all are set, no target is needed.

    Padding along K must not change the accumulator. The body is evaluated with candidate padding values until the term
    that is combined with the accumulator is the identity of the combining op: 0 for addition, `or`, `xor` and unsigned
    maximum, 1 for multiplication, the extreme value for other minima and maxima, NaN for `maxnumf` and `minnumf`. Zero
    points are tried first, since `x - zp` is then 0. A padding value must not violate the flags of an op (`nsw`,
    `nnan`, `exact` ...). In a floating-point sum only the sign of a zero may change.

    Not padded, with a missed remark (an error with `strict`):
    - operands that are not tensors, have an encoding, or have elements that are neither signless integers nor floats;
    - contractions without M, N or K (matrix-vector), matmuls with several results, depthwise convolutions, and
      convolutions that read the filter at a constant index;
    - element types without an MMA on the target;
    - bodies that are not a multiply-add, unless all of `m`, `n` and `k` are set;
    - more than `max-waste` times the iterations, or sizes beyond 63 bits;
    - bodies with ops that may trap, access memory or have regions; bodies without a known identity or without suitable
      padding values. A dynamic zero point is supported if it is extended from the operand type or if
      `zero-points-in-range` is set;
    - operand indices that do not grow by a positive constant with the padded loop; indices that mix it with other loops
      along the reduction, such as `m + k`.

    Cost: at most `max-waste` times the iterations, and copies of padded operands. Compile time is linear in the number
    of ops, with up to 10000 combinations of padding values per op.

    Example:

    ```mlir
    func.func @matmul(%a: tensor<30x?xf16>, %b: tensor<?x64xf16>, %c: tensor<30x64xf32>) -> tensor<30x64xf32>
        attributes {smalti.target = "sm_90a"} {
      %d = linalg.matmul ins(%a, %b : tensor<30x?xf16>, tensor<?x64xf16>) outs(%c : tensor<30x64xf32>)
        -> tensor<30x64xf32>
      return %d : tensor<30x64xf32>
    }
    ```

    M becomes 32, and K a multiple of 16.
  }];
  let options = [
    TargetOption<" whose MMAs are used">,
    AutoOrNumberOption<"m", "m", "::smalti::AutoOrNumber()",
           "Multiple to which M, the rows of the matmul result, is padded, e.g. `m=16`; default: `auto`, M of the chosen MMA instruction">,
    AutoOrNumberOption<"n", "n", "::smalti::AutoOrNumber()",
           "Multiple to which N, the columns of the matmul result, is padded, e.g. `n=8`; default: `auto`, N of the chosen MMA instruction">,
    AutoOrNumberOption<"k", "k", "::smalti::AutoOrNumber()",
           "Multiple to which K, the reduction size of the matmul, is padded, e.g. `k=32`; default: `auto`, K of the chosen MMA instruction">,
    Option<"maxWaste", "max-waste", "double", "4.0",
           "Maximum ratio of the loop iterations after padding to those before; above it, an op is not padded; e.g. `max-waste=1.5`; default: 4.0">,
    Option<"zeroPointsInRange", "zero-points-in-range", "bool", "false",
           "Assume that each zero point of a quantized matmul is representable in the operand type, e.g. `zero-points-in-range=true`; default: `false`">,
    StrictOption<"A matmul that cannot be padded">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect",
  ];
}

def SmaltiConvFilterLayout : InterfacePass<"smalti-conv-filter-layout", "::mlir::FunctionOpInterface"> {
  let summary = "Transposes filters of convolutions to a layout with the input channels innermost";
  let description = [{
    A convolution that is lowered to a matmul reads its filter along the input channels. The pass transposes filters to
    `fhwc` (output channels, window, input channels) or `hwfc` (window, output channels, input channels), with groups
    outermost. It applies to named and generic convolutions on tensors, static or dynamic. They may have any number of
    image dimensions, any loop order, groups, zero points and other operands.

    A constant filter is permuted at compile time. If the filter is a `linalg.transpose`, the two transposes are
    combined. Otherwise a `linalg.transpose` is inserted. The op becomes the named op of the new layout if there is one,
    else a `linalg.generic` without `library_call`. The loop order does not change, so results are bit-identical.

    Precondition: one result that is not indexed by reduction loops; the first operand is the image, indexed by sums or
    multiples of loops; the second is the filter, with one loop per dimension. Other ops are ignored without a remark.

    Not changed, with a missed remark (an error with `strict`):
    - operands that are not tensors, or a filter with an encoding;
    - depthwise convolutions, whose filters do not have input or output channels, and filters read at a constant index;
    - filters whose elements are used less than `min-uses` times (batch times image), if they would be transposed at run
      time.

    Cost: one pass over the filter at run time, unless it is constant or already transposed. Compile time is linear in
    the number of ops and the size of constant filters.

    Example:

    ```mlir
    func.func @convolution(%image: tensor<1x18x18x8xf16>, %filter: tensor<3x3x8x32xf16>, %init: tensor<1x16x16x32xf32>)
        -> tensor<1x16x16x32xf32> {
      %result = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<1x18x18x8xf16>, tensor<3x3x8x32xf16>)
        outs(%init : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
      return %result : tensor<1x16x16x32xf32>
    }
    ```

    The filter is transposed to `tensor<32x3x3x8xf16>`, and the op becomes `linalg.conv_2d_nhwc_fhwc`.
  }];
  let options = [
    Option<"filterLayout", "filter-layout", "::smalti::FilterLayout", "::smalti::FilterLayout::FHWC",
           "The order of the filter's dimensions after the transpose, e.g. `filter-layout=hwfc`; default: `fhwc`", [{::llvm::cl::values(
             clEnumValN(::smalti::FilterLayout::FHWC, "fhwc", "output channels, height, width, input channels"),
             clEnumValN(::smalti::FilterLayout::HWFC, "hwfc", "height, width, output channels, input channels"))}]>,
    Option<"minUses", "min-uses", "int64_t", "32",
           "A filter that is not a constant is transposed only if the convolution uses each element at least this number of times, e.g. `min-uses=1`; default: 32">,
    StrictOption<"A filter that cannot be transposed">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
  ];
}

#endif // SMALTI_PASSES_PADLOWERING_PASSES
