//===- Passes.td - Conversions -----------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_PASSES
#define SMALTI_PASSES_CONVERSION_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiExpandTileOps : Pass<"smalti-expand-tile-ops", "::smalti::triton_xla::EntryFuncOp"> {
  let summary = "Expands complex ops of tile-level kernels, such as sort and batched dots, to simpler ones";
  let description = [{
    | op | expanded to |
    |---|---|
    | `squeeze_dims` | `reshape` |
    | `split` | one `slice` per part |
    | `num_tiles` | a constant, or the number that the arguments determine |
    | `sort` | a bitonic network of `slice`, `concat`, `reshape` and the comparison on tiles; positions make it stable |
    | `random_bits` | integer arithmetic |
    | batches of `dot` | one `dot` each |
    | `dot` with `tf32x3`, `bf16`, `bf16x3`, `bf16x6` or `bf16x9` | parts of the operands and a `dot` for each pair of them |
    | `dot_scaled` | a 16-bit `dot` for each block along K, and multiplications of its result by the scales |
    | `sparse_dot` | the operand with its zeros, and a `dot` or a scaled one |
    | `math.ipowi` | a loop that squares and multiplies, over the bits of the exponent |
    | `iota` of floats of at most 8 bits | `iota` of f32 and `arith.truncf` |
    | `arith.scaling_extf`, `arith.scaling_truncf` | a multiplication or division in f32 or f64, and conversions |
    | `math.isfinite`, `math.isinf`, `math.isnan`, `math.isnormal` | comparisons |
    | `math.clampf`, `math.sincos` | `arith.maximumf` and `arith.minimumf`; `math.sin` and `math.cos` |
    | `scf.index_switch` | one `scf.if` for each case, as a tree |
    | `tensor.extract` of a tile, for GPUs | a `reduce` of the tile, in which all other elements are 0 |
    | `memref.atomic_rmw` | `atomic_rmw` of a scalar |
    | `memref.dim` of a computed dimension, for GPUs | a selection from the sizes of all dimensions |
    | `inline_asm`, `extern_call` with a reference, if the target cannot execute their code | the reference on tiles |
    | a grid of several dimensions | one dimension; the ids are remainders and quotients of its id, in row-major order |

    Decoded elements and scales are exact. If a pair of scales is in range of f32 after multiplication with the sum of
    their block, it does not overflow before. Parts of operands with NaNs or infinities are only in the leading `dot`.

    `keep` is a list of ops that remain because the next pass supports them, as in `keep=sort,split`. `keep=dot` keeps
    batches, but not algorithms of several parts.

    If there is a target, and it is a GPU, a dot has the fastest algorithm that MMAs of the target compute and that is at
    least as accurate as its own. The order of accuracy is `tf32`, `bf16x3`, `tf32x3`, `bf16x6`, `bf16x9`, `ieee`. For
    example, `tf32x3` becomes `bf16x6` on chips that have neither TF32 nor f32 MMAs.

    A `sort` that no GPU supports, according to the table of legal ops, remains; a missed remark says why.

    With `check-indices`, a `cf.assert` with the attribute `smalti.index_check` checks each index of `tensor.extract`,
    `memref.load`, `memref.store` and `memref.atomic_rmw`, and the dimension of `memref.dim`, unless ranges prove that it is
    in bounds. For a GPU, only ops whose expansion removes the access are checked: `tensor.extract`, `memref.dim` and
    `memref.atomic_rmw`. The simulator and the emulator report the others when they execute the access.

    Cost: linear in the number of created ops, which is quadratic in the logarithm of the sorted size.

    Example:

    ```mlir
    triton_xla.entry_func @halves(%src: memref<64x64xf32>, %dst: memref<32x32xf32>, %i: index, %j: index) tiles [2, 2] {
      %t = triton_xla.extract %src[%i, %j] [32, 64] [1, 1] : memref<64x64xf32> to tensor<32x64xf32>
      %a, %b = triton_xla.split %t dim 1 : tensor<32x64xf32> -> (tensor<32x32xf32>, tensor<32x32xf32>)
      %s = arith.addf %a, %b : tensor<32x32xf32>
      triton_xla.insert %s into %dst[%i, %j] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
      triton_xla.return
    }
    ```

    The two parts become a `slice` each, and the kernel has `tiles 4`.
  }];
  let options = [
    ListOption<"keep", "keep", "std::string", "Ops that the pass does not expand, without the prefix `triton_xla.`, e.g. `keep=sort,split`; default: empty, all are expanded">,
    Option<"target", "target", "std::string", /*default=*/"", "The chip whose MMAs decide which algorithm a dot uses, e.g. `target=sm_90a`; default: the attribute `smalti.target`">,
    CheckIndicesOption];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::smalti::triton_xla::TritonXLADialect"];
}

def ConvertTritonXLAToCPU : Pass<"convert-triton-xla-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Lowers tile-level kernels to functions of vectorized loops for the CPU";
  let description = [{
    Replaces every `triton_xla.entry_func @f(args..., %tile: index) tiles N` by

    `func.func @smalti.f(args..., %begin: index, %end: index) attributes {llvm.emit_c_interface, smalti.num_tiles = N,
    smalti.source_name = "f"}`,

    which executes the kernel for tiles `[begin, end)`. Calls do not share memory, so a caller can distribute `[0, N)`
    across threads. Tiles become buffers, which are allocated once per call. Windows are copied between buffers and
    memory, in bounds for any offset. A `dot` becomes a register-tiled matmul on packed operands, with accumulators in
    the accumulator type. Chains of element-wise ops are fused into one vectorized loop. A reduction has one accumulator
    per vector lane. The code size does not depend on the tile size.

    The prefix of the names prevents that a kernel or another symbol of the module, such as `@tanhf` or `@free`, replaces a
    function of the C library that the code calls.

    `print` calls `printf` of the C library once per element, as one line. `assert` becomes `cf.assert`. Scopes of
    atomic operations have no effect.

    Preconditions: those of `smalti-check-legality`, which the pass checks. `smalti-expand-tile-ops` has run if the kernel
    has scaled or sparse dots, or a dynamic grid of several dimensions. Constant steps of loops are positive. Any violation
    is an error at the op, and the module is not changed.

    A truncation to a float of at most 8 bits saturates in every rounding mode, also from infinity. NaN stays NaN;
    without NaN in the type, it becomes the largest value. In f8E8M0FNU, a negative value becomes NaN and zero becomes
    the smallest value.

    Memory with elements of 2 and 4 bits is packed; the first element of a byte is in its low bits. Other elements have
    at least a byte.

    Cost: tiles are copied to and from buffers, and f16 and bf16 arithmetic is done in f32. A store of a packed element
    is an atomic operation on its byte, because other instances of the kernel may write to the same byte.

    Example:

    ```mlir
    triton_xla.entry_func @negate(%src: memref<100xf32>, %dst: memref<100xf32>, %tile: index) tiles 4 {
      %c32 = arith.constant 32 : index
      %offset = arith.muli %tile, %c32 : index
      %t = triton_xla.extract %src[%offset] [32] [1] : memref<100xf32> to tensor<32xf32>
      %n = arith.negf %t : tensor<32xf32>
      triton_xla.insert %n into %dst[%offset] [32] [1] : tensor<32xf32> into memref<100xf32>
      triton_xla.return
    }
    ```
  }];
  let options = [
    Option<"vectorWidth", "vector-width", "::smalti::VectorWidth", "::smalti::VectorWidth::Bits256",
           "Width in bits of the vectors that the kernels use, e.g. `vector-width=512` for AVX-512; default: `256`", [{::llvm::cl::values(
             clEnumValN(::smalti::VectorWidth::Host, "auto", "the widest vectors of the host"),
             clEnumValN(::smalti::VectorWidth::Bits128, "128", "128 bits, as in SSE and NEON"),
             clEnumValN(::smalti::VectorWidth::Bits256, "256", "256 bits, as in AVX2"),
             clEnumValN(::smalti::VectorWidth::Bits512, "512", "512 bits, as in AVX-512"))}]>];
}

def ConvertTritonXLAToMosaicGPU : Pass<"convert-triton-xla-to-mosaic-gpu", "::mlir::ModuleOp"> {
  let summary = "Lowers tile-level kernels to block-level kernels with layouts";
  let description = [{
    Every `triton_xla.entry_func @f` becomes a `gpu.module @f_module` with a kernel `gpu.func @f`. Block `x` computes
    tile `x`, or, with `blocks=N`, tiles `x`, `x + N`, `x + 2N` and so on. Without
    `blocks`, a static number of tiles may exceed the largest grid of the chip, which has 2^31 - 1 blocks on NVIDIA and 4194303 on
    AMD. N is then the size of this grid. Tiles become vectors that are distributed across the threads of the block.

    The kernel has `gpu.known_block_size`, `gpu.known_grid_size`, `smalti.num_warps` and `smalti.arguments` (the
    argument types before they become pointers). Memref arguments are `llvm.noalias`, since arguments must not overlap
    in written elements, and have `llvm.align = 16` unless the entry function states another alignment.

    | op | lowered to |
    |---|---|
    | `extract`, `insert` | `vector.transfer_read`, `vector.transfer_write`; strided windows through `memref.reinterpret_cast`; dropped dimensions are checked separately |
    | `dot` with MMAs | operands staged in shared memory (`memref.alloc`), `gpu.barrier`, and per step along K two `mosaic_gpu.vector_load` and a `mosaic_gpu.mma`; unrolled or a loop |
    | `dot` with wgmma | TMA loads (`mosaic_gpu.async_load`) on an mbarrier, and a synchronous `mosaic_gpu.wgmma` |
    | `insert` of a wgmma accumulator | pieces through shared memory and `mosaic_gpu.async_store`, if TMA can write the window |
    | `extract` used only by a `dot` with MMAs | `mosaic_gpu.async_copy`, commit and wait, if `copies` allows it and rows are aligned |
    | `mask` | `vector.create_mask` and `arith.select` |
    | splat constants, `tensor.splat` | `arith.constant`, `vector.broadcast` with a splat layout |
    | `arith`, `math`, `scf.for`, `scf.while`, `scf.if` | the same ops on vectors |

    Supported are also `reduce`, `scan`, `broadcast`, `transpose`, `reshape`, `iota`, `concat`, `slice`, `gather_tile`,
    `gather`, `scatter`, `atomic_rmw`, `atomic_cas`, `print`, `assert`, `assume`, `assume_multiple`, `memref.load`,
    `memref.store`, `memref.dim`, and scalar ops without side effects. Sizes and strides of memref arguments may be
    dynamic, also in the number of tiles (`tiles size(%a, 0) ceildiv 64`).

    **Layouts.** Ops with vectors have `in_layouts` and `out_layouts`, one entry per vector operand and result. Tiles
    that are connected by element-wise ops, loops and branches have the same layout. It is that of the MMA accumulator
    if a `dot` is among them. Otherwise it is a strided layout with the widest vectors that the memory accesses allow
    (up to 16 bytes). If the number of threads does not divide the tile, the layout replicates the tile. Only splats
    change layout implicitly. Patterns that create vector ops lose layouts, so do not run `canonicalize` between this
    pass and the conversion to threads.

    **Column-major arrays.** If the last dimension of an argument is not contiguous and another one is (`strided<[1, 64]>`),
    its windows are accessed in the order of memory, and their tiles are transposed. MMAs read the transpose of an operand
    from shared memory. Other tiles stay in their threads in a kernel with dots, because operands may take all of the shared
    memory. In a kernel without dots, tiles of at most half of it are transposed through shared memory.

    **Operands.** A computed operand of an MMA stays in registers if the layout change needs no exchange between warps.
    Others are staged in shared memory; a tile that several dots read is stored once, and dots in different loops share
    buffers. On AMD, MMAs may compute the transposed tile, and columns of loaded operands are stored as rows if the MMA
    reads parts of columns.

    **Barriers.** A barrier orders accesses to the same argument if one of them is a write, unless each element is
    accessed by one thread only.

    **wgmma** is used for all dots of a kernel or for none. Operands B and A are loaded by TMA from unstrided windows of
    kernel arguments that the kernel does not write. A 16-bit operand A may also be computed; it stays in registers. An
    operand from outside the loop of the dot may be any tile; threads store it to shared memory once, before the loop.
    wgmma is not used if the operands exceed the shared memory, or if a tile exceeds the registers of the warpgroups.

    All kernels are planned before the module changes. An op that `smalti-check-legality` refuses, or that
    `smalti-expand-tile-ops` expands, is an error. A tile must not need more than half of a thread's registers. A missed
    remark states why wgmma, an MMA, an asynchronous copy or a TMA store is not used.

    Cost: compile time is linear in the number of ops, with a fixpoint per loop for barriers.

    Example:

    ```mlir
    module attributes {smalti.target = "sm_90a"} {
      triton_xla.entry_func @double(%x: memref<1000xf32>, %y: memref<1000xf32>, %tile: index) tiles 4 {
        %c256 = arith.constant 256 : index
        %offset = arith.muli %tile, %c256 : index
        %t = triton_xla.extract %x[%offset] [256] [1] : memref<1000xf32> to tensor<256xf32>
        %d = arith.addf %t, %t : tensor<256xf32>
        triton_xla.insert %d into %y[%offset] [256] [1] : tensor<256xf32> into memref<1000xf32>
        triton_xla.return
      }
    }
    ```
  }];
  let options = [
    TargetOption<" to convert for">,
    NumWarpsOption,
    CopiesOption,
    MatmulOption,
    BlocksOption,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::smalti::mosaic_gpu::MosaicGPUDialect",
  ];
}

class Smalti_ConvertMosaicGPU<string name> : Pass<name> {
  let options = [TargetOption<>];
}

def ConvertMosaicGPUToNVVM : Smalti_ConvertMosaicGPU<"convert-mosaic-gpu-to-nvvm"> {
  let summary = "Lowers block-level kernels to thread-level kernels for NVIDIA GPUs";
  let description = [{
    Lowers each block-level `gpu.func` kernel to a thread-level kernel. Each thread holds part of each vector in
    registers, as the layout of the vector states. `vector_load` from shared memory becomes `ldmatrix` if layout, strides and alignment
    permit, otherwise vector loads. `mma` becomes `mma.sync`, `async_copy` becomes `cp.async`, and transfers that are
    partly out of bounds become masked accesses. Shared-memory slices become views of dynamic shared memory.

    Preconditions: a block-level kernel has `known_block_size`, structured control flow and allocated shared memory. Its
    vectors have layouts in `in_layouts` and `out_layouts`; splats, element-wise ops and loops without them take the
    layout of their operands. Kernel arguments are aligned to 16 bytes, or to their attribute `llvm.align`, and do not
    overlap. In a kernel without layouts and without `mosaic_gpu` ops except `slice_smem`, only the slices are lowered.
    An `!nvgpu.tensormap.descriptor` argument becomes a pointer.

    Refused, with an error at the op before any kernel is changed:
    - an op without a lowering, such as `tcgen05_mma` and the ops on tensor memory;
    - an `mma` or `wgmma` that no instruction implements (`wgmma` requires sm_90a);
    - an incompatible layout, or operands with different layouts.

    Cost: vectors are fully unrolled, so code size is proportional to the registers of a thread. `target` defaults to
    the attribute `smalti.target`.

    Example: `smalti-opt --convert-mosaic-gpu-to-nvvm=target=sm_90a` on

    ```mlir
    gpu.module @double_module {
      gpu.func @double(%src: memref<1000xf32>, %dst: memref<1000xf32>) kernel
          attributes {known_block_size = array<i32: 128, 1, 1>} {
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0.0 : f32
        %v = vector.transfer_read %src[%c0], %zero {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]}
            : memref<1000xf32>, vector<1024xf32>
        %d = arith.addf %v, %v : vector<1024xf32>
        vector.transfer_write %d, %dst[%c0] {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]}
            : vector<1024xf32>, memref<1000xf32>
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::nvgpu::NVGPUDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertMosaicGPUToROCDL : Smalti_ConvertMosaicGPU<"convert-mosaic-gpu-to-rocdl"> {
  let summary = "Lowers block-level kernels to thread-level kernels for AMD GPUs";
  let description = [{
    The counterpart of `convert-mosaic-gpu-to-nvvm` for AMD GPUs, with the same preconditions. `mma` becomes
    `amdgpu.mfma` or `amdgpu.wmma`. Transfers that are partly out of bounds become buffer accesses, whose hardware
    bounds check reads zero and drops stores. For memrefs of 2 GiB and more, or of dynamic shape, they become masked
    accesses. Barriers that order only shared memory do not wait for global memory. Shared-memory slices become views of
    one workgroup buffer.

    `async_copy` becomes LDS DMA: on gfx9 `amdgpu.gather_to_lds` from a buffer resource, or `rocdl.load.to.lds`; on
    gfx1250 `rocdl.global.load.async.to.lds`. Out-of-bounds elements are filled with zeros. Every wave issues each load,
    because `async_wait_group` becomes a counter wait; it leaves outstanding as many loads as every wave is guaranteed
    to have issued in the newest groups. On gfx9 the destination must be contiguous, and barriers become
    `rocdl.s.barrier` with a wait for LDS and fences that `smalti-annotate-lds-dma` reads.

    Refused, with an error at the op before any kernel is changed: the cases of `convert-mosaic-gpu-to-nvvm`, and
    mbarriers.

    Cost: vectors are fully unrolled, so code size is proportional to the registers of a thread. `target` defaults to
    the attribute `smalti.target`.

    Example: `smalti-opt --convert-mosaic-gpu-to-rocdl=target=gfx942` on

    ```mlir
    gpu.module @double_module {
      gpu.func @double(%src: memref<1000xf32>, %dst: memref<1000xf32>) kernel
          attributes {known_block_size = array<i32: 128, 1, 1>} {
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0.0 : f32
        %v = vector.transfer_read %src[%c0], %zero {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]}
            : memref<1000xf32>, vector<1024xf32>
        %d = arith.addf %v, %v : vector<1024xf32>
        vector.transfer_write %d, %dst[%c0] {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]}
            : vector<1024xf32>, memref<1000xf32>
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def SmaltiLowerMath : Pass<"smalti-lower-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lowers math ops that the conversions to NVVM and ROCDL do not lower correctly";
  let description = [{
    Precondition: thread-level kernels, before the conversion to the LLVM dialect, and a target.

    - NVIDIA: `fma`, `trunc`, `ctlz`, `cttz`, `ctpop` and `absi` become LLVM intrinsics. The conversion to NVVM calls
      NVIDIA's device library for `fma`, which must then be linked, and does not lower the others. So does `sqrt`: the
      function of the device library is approximate for f32. `fpowi` becomes `powf` of the absolute value, with the
      sign for odd exponents: the device library multiplies, and its result is 0 if the reciprocal of it overflows.
    - AMD: `acos`, `asin`, `atan`, `atan2`, `cosh`, `sinh`, `tan` and `tanh` become calls of the device library, because
      LLVM cannot select their intrinsics. So do `fpowi`, and `expm1` and `log1p`, which the conversion to ROCDL computes
      inaccurately as `exp(x) - 1` and `log(1 + x)`. `sin`, `cos` and `tan` of `f16` are computed in `f32`: version 5.2
      of ROCm's device library returns NaN for every finite `f16`. So are `exp` and `log` of `bf16`, and `rsqrt` of
      both, which would round twice. `expm1`, `log1p`, `sinh` and `tanh` take the sign of their operand: the device
      library returns +0 for -0. `expm1` of f64 becomes arithmetic with an error below 0.6 ulp: that of the device
      library is 1.74 ulp. `exp` of f32 becomes a power of two of `v_exp_f32` and one of `v_ldexp_f32`: eight
      instructions, where LLVM's code has thirteen. Its error is below 1 ulp if that of `v_exp_f32` is 0.5.
    - Both: `exp` and `exp2` of `f32` with the fast-math flag `afn` become the approximate instruction of the chip
      (`ex2.approx.ftz.f32`, `v_exp_f32`), which flushes denormal results to zero.
    - Both: `ctlz`, `cttz` and `absi` on a vector of several dimensions are computed row by row. Conversions from and to
      floats of at most 8 bits (`arith.extf` and `arith.truncf`), and from integers to them, become integer ops. They
      round once, to nearest even or by the rounding mode of the op, and saturate, also from infinity. NaN stays NaN; in a
      type without NaN, it becomes the largest value.
    - Both: truncations to `f16`, `bf16` and `f32` that do not round to nearest even become integer ops, since LLVM ignores
      the rounding mode. Their overflow is that of IEEE 754.

    Other ops are not changed. Refused, with an error that leaves the module unchanged: math ops on element types other
    than f16, bf16, f32, f64 and integers, and on vectors of more than 16384 elements; and conversions of
    small floats to or from other types than these. Cost: vector ops that become library calls are expanded
    per element. `target` defaults to the attribute `smalti.target`.

    Example: on an NVIDIA target, the result does not need a device library.

    ```mlir
    gpu.module @kernels attributes {smalti.target = "sm_90a"} {
      gpu.func @multiply_add(%a: vector<4xf32>, %b: vector<4xf32>) -> vector<4xf32> {
        %r = math.fma %a, %b, %b : vector<4xf32>
        gpu.return %r : vector<4xf32>
      }
    }
    ```
  }];
  let options = [
    TargetOption<>,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::ROCDL::ROCDLDialect", "::mlir::vector::VectorDialect"];
}

def SmaltiLowerVectors : Pass<"smalti-lower-vectors", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lowers vector ops of thread-level kernels to forms that convert to LLVM";
  let description = [{
    Precondition: thread-level kernels, before the conversion to the LLVM dialect, which does not lower these ops:

    - Transfers of one row become loads and stores. Masked or possibly out-of-bounds transfers become masked accesses;
      if an index may be negative, the masks are those of `smalti-mask-transfers`.
    - Multi-dimensional transfers become transfers of rows, under a condition if a row may be out of bounds. If the
      elements of a row are not contiguous, they become scalar accesses.
    - Masks (`create_mask`, `constant_mask`, `vector.mask` around a transfer) become comparisons and constants.
    - Multi-dimensional contractions, reductions, transposes, broadcasts, shape casts and gathers become ops on rows.
    - Element-wise ops on one-element vectors of integers of 2 to 31 bits become scalar ops.
    - If a loop only reads and creates the elements of a carried `vector<2xf32>`, it carries the elements as scalars.
    - Loads, stores and atomic accesses of a memref with a negative or dynamic stride become accesses of a one-element
      memref. The conversion treats offsets as unsigned.
    - `memref.atomic_rmw` with `mulf` or `muli`, or of `i1`, becomes `memref.generic_atomic_rmw`. That op on floats and `i1`
      accesses the elements as integers.

    Other ops are not changed. Refused, with an error:
    - a vector that needs more registers than a thread of the target has (without `smalti.target`, of the target with
      the most registers);
    - a transfer that may begin before its memref and cannot be masked.

    Cost: multi-dimensional ops are unrolled per row or element.

    Example: the last vector of the row of 30 elements is partly out of bounds.

    ```mlir
    gpu.module @kernels {
      gpu.func @read(%row: memref<30xf32>, %i: index, %zero: f32) -> vector<4xf32> {
        %v = vector.transfer_read %row[%i], %zero : memref<30xf32>, vector<4xf32>
        gpu.return %v : vector<4xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def SmaltiLowerPackedAccesses : Pass<"smalti-lower-packed-accesses", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lowers memory accesses of 2- and 4-bit elements to accesses of bytes";
  let description = [{
    Precondition: thread-level kernels, after `smalti-lower-vectors`. Elements of 2 and 4 bits share bytes of memory,
    the first in the low bits. The conversions to LLVM store a scalar element in a byte of its own, but pack vectors.

    - Loads (`memref.load`, `vector.load`, `vector.maskedload`, `vector.gather`) at any element become loads of bytes
      and shifts. Inactive lanes do not access bytes.
    - Stores (`memref.store`, `vector.store`, `vector.maskedstore`) of whole bytes become stores of bytes.
    - Buffers (`memref.alloca` and the attributions of a kernel) become buffers of bytes.

    Refused, with an error before anything changes:
    - a store of part of a byte outside private memory: it could overwrite a concurrent store of another thread to the
      byte;
    - any other op that accesses packed memory;
    - a vector of 3-, 5-, 6- or 7-bit elements.

    Cost: accesses at a byte boundary need no additional instructions; others need an additional load and shifts.
    `target` defaults to the attribute `smalti.target`.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @read(%a: memref<64xi4>) -> vector<8xi4> {
        %t = gpu.thread_id x
        %c8 = arith.constant 8 : index
        %i = arith.muli %t, %c8 : index
        %v = vector.load %a[%i] : memref<64xi4>, vector<8xi4>
        gpu.return %v : vector<8xi4>
      }
    }
    ```
  }];
  let options = [
    TargetOption<", required for accesses of private memory">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def SmaltiLowerCPUMath : Pass<"smalti-lower-cpu-math", "::mlir::ModuleOp"> {
  let summary = "Lowers math ops that the conversion to LLVM lowers inaccurately on the CPU";
  let description = [{
    `math.expm1` and `math.log1p` on f32 and f64 become calls to the C library; vectors are unrolled. The conversion to
    the LLVM dialect computes `exp(x) - 1` and `log(1 + x)` instead, which lose all digits near zero. `math.fpowi`
    becomes `math.powf` of the absolute value, with the sign for odd exponents: multiplications would round several
    times, and overflow for results that are denormal.

    `log10`, `sinh` and `tanh` of f64 become arithmetic, and `cbrt` of f64 a correction of the function of the C library.
    The errors are below 0.6 ulp; those of glibc 2.36 are up to 3.3 ulp.

    No preconditions; other ops are not changed and nothing is refused. Cost: one call per element.

    A function of the C library on a vector of more than 16384 elements is an error: it becomes a call for each element.

    Example:

    ```mlir
    func.func @near_zero(%a: vector<4xf32>) -> vector<4xf32> {
      %r = math.expm1 %a : vector<4xf32>
      return %r : vector<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def SmaltiLowerCPULoops : Pass<"smalti-lower-cpu-loops", "::mlir::ModuleOp"> {
  let summary = "Lowers scf to cf for the CPU, with checks in loops by which a running kernel can be stopped";
  let description = [{
    Converts `scf` to `cf`. A function with `smalti.num_tiles` and without callers in the module gets an additional
    argument, the address of a 32-bit stop flag. Loops with an estimated time above 4 ms read the flag in each
    iteration. If the flag is not 0, the function frees its buffers and returns. A caller stops the function by setting
    the flag from a signal handler or another thread.

    The function sets the flag to N and returns if the step of a loop is not positive, a `cf.assert` fails, or an integer
    division is undefined: a division by 0, or of the minimum by -1. N is the 1-based index of the error in
    `smalti.stop_errors`. For a `cf.assert` with `smalti.index_check`, whose condition is `index ult size`, the function first
    stores both as 64-bit integers at 8 + 16 * (N - 1) bytes from the flag. The error then has the attribute `values`. For a
    `cf.assert` with `smalti.assert_shape` in a loop over the tiles, the function stores the row-major position of the first
    element that is false, which the condition compares with the number of elements, and the tile id. The error then also has
    the attribute `shape`.

    Errors, before anything changes: an `scf` op in an op with single-block regions; a `cf.assert` or a division that
    needs a check inside an op of another dialect or in a function that is called; a `smalti.num_tiles` or
    `smalti.max_trip_count` that is not a non-negative integer.

    Cost: about 2 ns per iteration of a long loop, and one comparison per division that needs a check.

    Example:

    ```mlir
    func.func @sum(%x: memref<?xf32>, %begin: index, %end: index) attributes {smalti.num_tiles = 4 : i64} {
      %step = arith.constant 1 : index
      scf.for %i = %begin to %end step %step {
        %v = memref.load %x[%i] : memref<?xf32>
        %w = arith.addf %v, %v : f32
        memref.store %w, %x[%i] : memref<?xf32>
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def MosaicGPUOutlineLaunches : Pass<"mosaic-gpu-outline-launches", "::mlir::ModuleOp"> {
  let summary = "Outlines gpu.launch ops into kernels, for modules from JAX";
  let description = [{
    The body of each `gpu.launch` becomes a `gpu.func` in its own `gpu.module`, and the launch becomes a
    `gpu.launch_func`. Argument i of the kernel is the memref that the function creates from pointer i of its pointer
    array. If the function does not create one, the argument is a pointer. `mosaic_gpu.from_kernel_arg_idx` is the
    number. Constants from outside are cloned. The kernel has the sizes of its grid, block and cluster and of its
    dynamic shared memory as attributes. Unused declarations, which JAX adds to every module, are erased.

    A launch that contains a `mosaic_gpu` op is block-level: `mosaic_gpu.thread_group_size` is the number of threads of
    a thread group (JAX's warpgroup), which executes the kernel with its own vectors. `mosaic_gpu.auto_barriers`
    requests a barrier of the thread group before and after each store to shared memory. Other launches (JAX's lane
    semantics) are thread-level. The tensor maps that the function encodes for them (calls of
    `mosaic_gpu_init_tma_desc`) become additional arguments, which `mosaic_gpu.tensor_maps` describes. Their dynamic
    shared memory is aligned to 1024 bytes.

    Precondition: the launch is in a function of the module. Refused, with an error before anything changes:
    - sizes that are not constant, memory attributions, and references to symbols outside the launch;
    - values from outside other than constants, memrefs of the pointer array and static tensor maps;
    - memrefs whose descriptor does not agree with the type.

    Cost: linear time. `thread-group-size` defaults to 128.

    Example:

    ```mlir
    module {
      func.func @scale_mosaic_gpu(%stream: !llvm.ptr, %pointers: !llvm.ptr) {
        %one = arith.constant 1 : index
        %threads = arith.constant 128 : index
        %zero = llvm.mlir.constant(0 : i64) : i64
        %step = llvm.mlir.constant(1 : i64) : i64
        %size = llvm.mlir.constant(512 : i64) : i64
        %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
        %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
        %d0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
        %d1 = llvm.insertvalue %p, %d0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
        %d2 = llvm.insertvalue %zero, %d1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
        %d3 = llvm.insertvalue %size, %d2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
        %d4 = llvm.insertvalue %step, %d3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
        %x = builtin.unrealized_conversion_cast %d4
            : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
        gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
            threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
          %v = mosaic_gpu.vector_load %x : memref<512xf32> -> vector<512xf32>
          %r = arith.addf %v, %v : vector<512xf32>
          mosaic_gpu.vector_store %r, %x : vector<512xf32>, memref<512xf32>
          gpu.terminator
        }
        return
      }
    }
    ```
  }];
  let options = [
    Option<"threadGroupSize", "thread-group-size", "int64_t", "128",
           "Number of threads of a thread group, which execute block-level code together, e.g. `thread-group-size=256`; default: 128, one warpgroup">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def SmaltiLowerCacheHints : Pass<"smalti-lower-cache-hints"> {
  let summary = "Lowers cache hints of loads and stores to PTX instructions";
  let description = [{
    A `vector.load`, `vector.store`, `memref.load` or `memref.store` of 2, 4, 8 or 16 bytes in the default memory space
    with the string attribute `smalti.cache` becomes inline assembly: `ld.global` or `st.global` with `.cg`, `.cs`, `.cv`,
    `.wt`, `.L1::evict_first`, `.L1::evict_last` or `.L1::no_allocate`. LLVM does not select these instructions.

    Precondition: the memory is global memory of an NVIDIA GPU. `ca` and `wb` are the defaults of loads and stores; these
    accesses, and accesses of other sizes, memory spaces or element types, are not changed. Neither are accesses whose
    `alignment` (by default, the size of an element) is less than their size, which PTX requires. The pass does not fail.
    Cost: linear in the number of ops. LLVM does not move memory accesses across inline assembly.

    Example:

    ```mlir
    func.func @copy(%from: memref<4xf32>, %to: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %v = vector.load %from[%c0] {alignment = 16 : i64, smalti.cache = "cs"} : memref<4xf32>, vector<4xf32>
      vector.store %v, %to[%c0] {alignment = 16 : i64, smalti.cache = "evict_last"} : memref<4xf32>, vector<4xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def SmaltiMarkTensorMaps : Pass<"smalti-mark-tensor-maps", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Declares tensor maps as by-value, grid-constant kernel parameters";
  let description = [{
    Precondition: the last arguments of a kernel with `mosaic_gpu.tensor_maps` are pointers to its tensor maps, one per
    entry of the attribute. They become by-value parameters (`llvm.byval`, `nvvm.grid_constant`, aligned to 64 bytes),
    so TMA copies use the address of the parameter instead of a per-thread copy. NVVM supports these attributes only on
    functions of the LLVM dialect, not on `gpu.func`. Other functions are not changed, and nothing is refused. Cost: 128
    bytes of kernel parameters per tensor map.

    Example:

    ```mlir
    llvm.func @kernel(%memory: !llvm.ptr, %map: !llvm.ptr)
        attributes {gpu.kernel, mosaic_gpu.tensor_maps = [{argument = 0 : i64} ], nvvm.kernel} {
      llvm.return
    }
    ```
  }];
}

def SmaltiCarryRemainders : Pass<"smalti-carry-remainders", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Replaces the remainder of an iteration number by a counter that the loop carries, so that no iteration divides";
  let description = [{
    Precondition: thread-level kernels, after all passes that match slots of multi-buffered loops. The slot of an
    iteration is its number modulo the number of slots. If that is not a power of two, a remainder takes about ten
    instructions. The pass carries the slot as an `i32` in the loop: an addition, a comparison and a select.

    The pass changes `arith.remui` of type `index` in the body of an `scf.for`, by a constant that is not a power of
    two. Its operand must be the induction variable plus a constant, divided by the step; the lower bound and the step
    are constants, and the lower bound is not negative. Remainders with the same value in the first iteration and the
    same divisor share a carried value. Other remainders are not changed, and nothing is refused. If the kernel also
    divides the operand, the remainder is not changed: it takes two instructions more than the quotient.

    Cost: a register per carried value.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @slots(%a: memref<3xf32>, %x: f32, %end: index) {
        %c0 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %c64 = arith.constant 64 : index
        scf.for %i = %c0 to %end step %c64 {
          %number = arith.divui %i, %c64 : index
          %slot = arith.remui %number, %c3 : index
          memref.store %x, %a[%slot] : memref<3xf32>
        }
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SmaltiHoistBounds : Pass<"smalti-hoist-bounds", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Compares the induction variable with limits that are computed before the loop, so that a bounds check is one instruction";
  let description = [{
    Precondition: thread-level kernels, after loop-invariant code motion. A bounds check in a loop compares an index, the
    induction variable plus a value that the loop does not change, with an extent, as 64-bit numbers; the check of the
    other dimensions is a condition that the loop does not change. The pass subtracts the unchanged value from the extent
    before the loop, as an `i32`. If one of the unchanged conditions is false, the limit is so small that no iteration
    passes the check. A check is then one 32-bit comparison. Checks whose indices differ by constants share a limit: the
    loop compares the distance to the limit with the constants.

    The pass changes conjunctions of conditions that the loop does not change and one `arith.cmpi` (`ult` or `slt`) of
    index type, in the body of an `scf.for`. The ranges of the induction variable, the index and the extent must be proven
    to be from 0 to 2^29. Other conditions are not changed, and nothing is refused.

    Cost: a register per limit. On AMD GPUs, conditions of lanes are in scalar registers, and limits would take vector
    registers, so `smalti-compile` runs the pass for NVIDIA GPUs only.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @copy(%a: memref<100xf32>, %x: f32, %row: i1) attributes {known_block_size = array<i32: 32, 1, 1>} {
        %c0 = arith.constant 0 : index
        %c32 = arith.constant 32 : index
        %c100 = arith.constant 100 : index
        %thread = gpu.thread_id x
        scf.for %i = %c0 to %c100 step %c32 {
          %index = arith.addi %i, %thread : index
          %inside = arith.cmpi ult, %index, %c100 : index
          %both = arith.andi %inside, %row : i1
          scf.if %both {
            memref.store %x, %a[%index] : memref<100xf32>
          }
        }
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SmaltiShareReciprocals : Pass<"smalti-share-reciprocals", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Divides a vector by a scalar through one reciprocal of the scalar, with the same, correctly rounded results";
  let description = [{
    Precondition: thread-level kernels, before the conversion to the LLVM dialect. A division of f32 without `arcp` and
    `afn` is correctly rounded and takes about ten instructions. If at least four elements of a thread have the same
    divisor, the pass computes its reciprocal once. Each quotient then takes a multiplication and two FMAs, and up to
    three instructions that check the range. The results are the same for all inputs.

    The fast form is used if the divisor is between 2^-24 and 2^24, and each dividend is zero, NaN, or between 2^-100 and
    2^100. If all quotients are rounded to f16, small dividends need no check. If the dividends are exponentials that the
    thread has added, their sum is compared instead of each. Otherwise, a branch executes the division of LLVM. On AMD
    GPUs, the branch is uniform in a wave.

    Other divisions are not changed, and nothing is refused. Cost: code size, since both forms exist.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @normalize(%x: vector<8xf32>, %sum: f32) -> vector<8xf32> {
        %sums = vector.broadcast %sum : f32 to vector<8xf32>
        %y = arith.divf %x, %sums : vector<8xf32>
        gpu.return %y : vector<8xf32>
      }
    }
    ```
  }];
  let options = [TargetOption<" for which code is generated">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def SmaltiSplitAddressOffsets : Pass<"smalti-split-address-offsets", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Moves the constant part of the index of an address into a constant offset";
  let description = [{
    Precondition: kernels of the LLVM dialect. Accesses of neighboring pieces differ in a constant part of their indices.
    The pass separates this part: the addresses share the rest of the computation, and machine instructions encode the
    constant. LLVM's own pass for this purpose runs after LLVM has turned additions into `or`, and then does not
    recognize the constants.

    The pass changes addresses with one 64-bit index that consists of additions, and of multiplications and shifts by
    constants. Other addresses are not changed, and nothing is refused. Arithmetic wraps around, so the addresses are the same for all values.

    Cost: linear in the size of the indices.

    Example: the constant offset is 8 * 512 * 4 = 16384 bytes.

    ```mlir
    llvm.func @address(%base: !llvm.ptr, %row: i64, %column: i64) -> !llvm.ptr {
      %c8 = llvm.mlir.constant(8 : i64) : i64
      %c512 = llvm.mlir.constant(512 : i64) : i64
      %next = llvm.add %row, %c8 : i64
      %start = llvm.mul %next, %c512 : i64
      %index = llvm.add %start, %column : i64
      %address = llvm.getelementptr %base[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.return %address : !llvm.ptr
    }
    ```
  }];
}

#endif // SMALTI_PASSES_CONVERSION_PASSES
