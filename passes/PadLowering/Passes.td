//===- Passes.td - Pads and masks --------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_PADLOWERING_PASSES
#define SMALTI_PASSES_PADLOWERING_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiLowerPad : InterfacePass<"smalti-lower-pad", "::mlir::FunctionOpInterface"> {
  let summary = "Makes masked transfers of pads, and of reads and writes that overhang";
  let description = [{
    - `tensor.pad` becomes vector transfers, of a vector as large as the result, or as its bound where the size is known
      at run time. Without low pads that is one read whose lanes past the end of the source take the padding value. With
      low pads, static or dynamic, the result is filled and the source is written at the low pads under a mask; negative
      pads cut the source off. The padding value is any scalar from outside the pad, or a constant. A pad of no
      dimensions, or whose result has no elements, goes away.
    - `vector.transfer_read` and `vector.transfer_write` on a memref with dimensions that may be out of bounds become
      transfers under a mask, all of whose lanes are in bounds: lanes past the end and, where an index may be negative,
      lanes ahead of the begin take the padding value, or are not written. The mask's bounds are clamped to the vector's
      size; its dimensions are those of the memref, so vectors may be transposed or broadcast.

    Where the hardware of the target (option `target`, or the attribute `smalti.target`) checks the bounds of raw
    buffers, transfers of global memory go through `amdgpu.fat_raw_buffer_cast`, without a mask:
    - one whose lanes out of bounds all lie past the buffer's end, too, is left to the hardware: it reads zeros, if they
      are the padding, and drops what is written;
    - of other reads the padding is selected, so that what lies past the end of a row is not taken from the next;
    - other writes become a store for each row, or of each element where a row overhangs, to a place past the buffer's
      end where they are out of bounds.

    A buffer begins at the pointer that views come from, one for all of them, and ends behind the last element, whatever
    the offset, strides and overlaps are; sizes can be known at run time. The hardware checks dwords: unless they are
    known to lie inside or outside as a whole, elements of less than 4 bytes (and reads at what may be a negative index)
    are read under a mask where the vector crosses the buffer's end. Offsets have 32 bits: a memref of static size that
    takes more than 2^31 bytes, less 1 MiB for lanes past its end, is no buffer; for one of dynamic size that is decided
    at run time, without overflow, unless `assume-small` says that there is none. Reads may touch, and drop, elements
    between the rows of a memref.

    The remark says why a transfer does not go through a buffer: its memref is not in global memory, is a raw buffer
    already, is too large, has negative strides, or elements that are no whole power-of-two bytes; it has a mask (and is a
    write or permuted); or it is a write at what may be a negative index, of lanes that do not follow one another, or of
    more than 32 rows or 256 elements.

    On NVIDIA chips with cp.async a padded read whose only use is a write to shared memory becomes
    `nvgpu.device_async_copy`, which reads the elements in bounds (0 to all) and fills in zeros, if: the padding is zero
    bits; neither has a mask, and the write stays in bounds; rows follow one another and are multiples of copies of 4, 8
    or 16 bytes, in address (arguments are aligned to 16 bytes or as `llvm.align` says), index and stride; and nothing
    between the read and the write may write what is read, or is a barrier. A group and a wait follow ahead of the first
    op that may touch what is copied, with one wait for as many copies as cannot meet; `smalti-pipeline-loops` gives
    such waits their place. Other reads and writes are masked, which is to say predicated; the remark of a read says why
    it is no copy.

    With `tensor-maps` set, and where the chip has TMA, such a read and write of a window of the block become
    `nvgpu.tma.async.load` instead: one thread asks for the copy, and the hardware fills in zeros for what is outside of
    the array on any side. The kernel takes a tensor map for it as a further argument (`mosaic_gpu.tensor_maps`), which
    the launch makes. Barrier objects are made and initialised at the kernel's begin; a barrier (and a fence, where
    threads may have stored before in what the copies access) goes ahead of the copies, and all threads wait for them. A
    read of shared memory whose only use is a padded write becomes `nvgpu.tma.async.store`, which drops what is out of
    bounds, with a wait and a barrier behind it. Besides the conditions above on padding (of loads), masks, bounds and
    what stands in between, that needs: a gpu.func that is a kernel, of threads, and not launched by the IR itself
    (`gpu.container_module`); indices and places that are the same for all threads; a place in the kernel's first block
    or in scf.for and scf.if that all threads run alike; an array that is a view of the kernel's argument with constant
    sizes, strides and offset, of at most 5 dimensions and 2^30 elements along each, at multiples of 16 bytes, as its
    rows are; and shared memory at multiples of 128 bytes, with rows that are multiples of 16. A kernel gets 24 maps and
    64 windows at most. TMA copies that are there already stay as they are.

    Left as they are, with a remark that says why: pads whose result has no constant bound (by the 16 nearest values that
    its size is made of), or more than `max-elements` elements; pads of tensors with an encoding, or with elements that
    make no vector; padding values that depend on the position; transfers of scalable vectors, or of elements that are
    vectors, and permuted ones under a `vector.mask` that has a vector for the lanes it leaves out. Transfers of whole
    blocks (with the attribute `in_layouts` or `out_layouts`) belong to the conversion to threads and are left alone, and
    so are those of tensors.

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
    TargetOption<" that the transfers are for">,
    Option<"maxElements", "max-elements", "int64_t", "65536",
           "Most elements of a pad's result, e.g. `max-elements=4096`">,
    Option<"assumeSmall", "assume-small", "bool", "false",
           "Memrefs whose size is known at run time take less than 2^31 bytes, e.g. `assume-small=true`">,
    Option<"tensorMaps", "tensor-maps", "bool", "false",
           "The kernel may take tensor maps as further arguments, which its launch makes, e.g. `tensor-maps=true`">,
    StrictOption<"A pad or padded transfer that stays">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::amdgpu::AMDGPUDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::nvgpu::NVGPUDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect",
  ];
}

def SmaltiMaskTransfers : Pass<"smalti-mask-transfers"> {
  let summary = "Masks transfers some of whose lanes may lie ahead of the memory";
  let description = [{
    A `vector.transfer_read` or `vector.transfer_write` on a memref, with a dimension that is not marked in bounds and an
    index that is not known to be zero or more, gets a mask of the lanes that are inside, at both ends: the others read
    the padding value, or are not written. Upstream's lowerings mask what is past the end alone, and its folder takes a
    constant index ahead of the memory for one in bounds: run the pass before `canonicalize`.

    A `vector.mask` around the transfer becomes a part of its mask; where that has a vector for the lanes that it leaves
    out, they are selected from there. `smalti-lower-pad` masks transfers the same way, and those that overhang the end
    too, unless the hardware can do it.

    A transfer that cannot be masked (its vector is scalable, or permuted under a mask with such a vector; its elements
    are vectors) is an error. Transfers of blocks (with the attribute `in_layouts` or `out_layouts`), and of tensors, stay
    as they are.

    Example:

    ```mlir
    func.func @halo(%row: memref<30xf32>) -> vector<4xf32> {
      %ahead = arith.constant -2 : index
      %zero = arith.constant 0.0 : f32
      %v = vector.transfer_read %row[%ahead], %zero : memref<30xf32>, vector<4xf32>
      return %v : vector<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def SmaltiPadToIntrinsics : InterfacePass<"smalti-pad-to-intrinsics", "::mlir::FunctionOpInterface"> {
  let summary = "Pads contractions and convolutions to the shape of the chip's matrix instructions";
  let description = [{
    Rows, columns and depth of a product of matrices (m, n, k) become multiples of those of a matrix instruction: the
    operands get high pads (`tensor.pad`), the same op computes on them, and `tensor.extract_slice` takes the result out
    of the padded one. An initial value made by `linalg.fill` or `tensor.empty` is made larger instead.

    Ops on tensors with two matrices and one result are products: the named matmuls, batched, transposed, packed or
    quantised, `linalg.contract`, convolutions, and every `linalg.generic` that accesses its operands in such a way. In
    a convolution batch and image are m, output channels n, input channels k; strides and dilations are arbitrary,
    groups stay as they are. Ops with no iterations need no padding. Where several dimensions are m, n or k, and none of
    them is a multiple already, the one that costs least is padded, of equal ones the innermost. Dimensions of a size
    known at run time are padded by affine arithmetic, unless the ops that made the operand (12 at most are looked
    through) show that they are multiples.

    The instruction is the one for the op's types in the table of the target (option `target`, or the attribute
    `smalti.target`) that takes the least additional iterations, of equal ones the best. The options `m`, `n` and `k`
    take the place of its sizes; with all of them no target is needed.

    Padding along k leaves every result as it is. The op's body is evaluated with padding values until the term that it
    combines with the accumulator is the neutral element: 0 of a sum, `or`, `xor` and an unsigned maximum, 1 of a
    product, the least or largest number of a signed maximum or minimum, all ones of `and` and an unsigned minimum,
    infinities of `maximumf` and `minimumf`, NaN of `maxnumf` and `minnumf`, which drop it. What the body subtracts
    from an operand, its zero point, is tried first: `(x - zp)` is then 0. Of a sum of floats that is a zero, the sign
    may change.

    Ops that stay as they are, each with a remark that says why:
    - operands that are no tensors, have an encoding, or elements that are neither signless integers nor floats;
    - contractions with no m, n or k (as of a matrix and a vector), products with several results, depthwise convolutions,
      and convolutions that read their filter at a constant;
    - element types for which the target has no matrix instruction;
    - bodies that do not add a product to the accumulator (max-plus, or-and), which no matrix instruction computes, unless
      the options give all of `m`, `n` and `k`;
    - padding that takes more than `max-waste` times the iterations, as far as sizes are known, or sizes past 63 bits;
    - bodies with ops that may trap on padding values, like a division, touch memory or have regions; bodies whose
      combining op has no known neutral element; bodies for which no padding values are found. Zero points that are
      known at run time are an example of the latter, unless they were widened from the operands' type or
      `zero-points-in-range` says that this type holds them;
    - accesses that do not grow by a constant with the padded dimension, or that reach more than padding where the
      reduction is padded, like a further operand's at `m + k`.

    A padding value that makes an op of the body wrap or overflow against its flags (`nsw`, `nuw`, `nnan`, `exact` ...)
    is none.

    Example:

    ```mlir
    func.func @product(%a: tensor<30x?xf16>, %b: tensor<?x64xf16>, %c: tensor<30x64xf32>) -> tensor<30x64xf32>
        attributes {smalti.target = "sm_90a"} {
      %d = linalg.matmul ins(%a, %b : tensor<30x?xf16>, tensor<?x64xf16>) outs(%c : tensor<30x64xf32>)
        -> tensor<30x64xf32>
      return %d : tensor<30x64xf32>
    }
    ```

    The product then has 32 rows and a multiple of 16 as its depth.
  }];
  let options = [
    TargetOption<" whose matrix instructions are meant">,
    AutoOrNumberOption<"m", "m", "::smalti::AutoOrNumber()",
           "Rows are padded to a multiple of this, or `auto`: the rows of the instruction, e.g. `m=16`">,
    AutoOrNumberOption<"n", "n", "::smalti::AutoOrNumber()",
           "Columns are padded to a multiple of this, or `auto`: the columns of the instruction, e.g. `n=8`">,
    AutoOrNumberOption<"k", "k", "::smalti::AutoOrNumber()",
           "The depth is padded to a multiple of this, or `auto`: the depth of the instruction, e.g. `k=32`">,
    Option<"maxWaste", "max-waste", "double", "4.0",
           "Most iterations of the padded op for each of the plain one, e.g. `max-waste=1.5`">,
    Option<"zeroPointsInRange", "zero-points-in-range", "bool", "false",
           "Zero points are numbers of the operands' element types, e.g. `zero-points-in-range=true`">,
    StrictOption<"A product that cannot be padded">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect",
  ];
}

def SmaltiConvFilterLayout : InterfacePass<"smalti-conv-filter-layout", "::mlir::FunctionOpInterface"> {
  let summary = "Brings the filters of convolutions into a layout with the input channels innermost";
  let description = [{
    A convolution lowered to a product of matrices reads its filter along the input channels. The pass transposes
    filters to `fhwc` (output channels, window, input channels) or `hwfc` (window, output channels, input channels);
    groups come first in both. It applies to convolutions on tensors of any number of image dimensions, named and
    generic, with loops in any order, with or without groups, with zero points and other operands behind the filter, of
    static and dynamic shape.

    Constant filters are transposed right away; a filter that is the result of `linalg.transpose` is transposed from
    that op's operand; others by a new `linalg.transpose`. The convolution becomes the named op of the new layout where
    there is one, else a `linalg.generic`. Its loops keep their order, and results every bit. A generic's `library_call`,
    which names a function for the old layout, goes away.

    A convolution has one result, which no dimension that is reduced runs over, and loops over an image: the first
    operand, read at sums or multiples of loops; its second operand is the filter, each of whose dimensions is one loop's. Other ops
    stay as they are, without a remark.

    Convolutions that stay as they are, each with a remark that says why:
    - operands that are no tensors, or a filter with an encoding;
    - depthwise convolutions, whose filters have no input or no output channels, and those that read it at a constant;
    - filters whose elements are known to be used less than `min-uses` times (batch times image) where the transposing
      would happen at run time.

    Example:

    ```mlir
    func.func @convolution(%image: tensor<1x18x18x8xf16>, %filter: tensor<3x3x8x32xf16>, %init: tensor<1x16x16x32xf32>)
        -> tensor<1x16x16x32xf32> {
      %result = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<1x18x18x8xf16>, tensor<3x3x8x32xf16>)
        outs(%init : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
      return %result : tensor<1x16x16x32xf32>
    }
    ```

    The filter is transposed to `tensor<32x3x3x8xf16>`, the op becomes `linalg.conv_2d_nhwc_fhwc`.
  }];
  let options = [
    Option<"filterLayout", "filter-layout", "::smalti::FilterLayout", "::smalti::FilterLayout::FHWC",
           "The order of the filter's dimensions, e.g. `filter-layout=hwfc`", [{::llvm::cl::values(
             clEnumValN(::smalti::FilterLayout::FHWC, "fhwc", "output channels first"),
             clEnumValN(::smalti::FilterLayout::HWFC, "hwfc", "height and width first"))}]>,
    Option<"minUses", "min-uses", "int64_t", "32",
           "Least uses of a filter's element that pay for transposing it at run time, e.g. `min-uses=1`">,
    StrictOption<"A filter that cannot be transposed">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
  ];
}

#endif // SMALTI_PASSES_PADLOWERING_PASSES
