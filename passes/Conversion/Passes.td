//===- Passes.td - Conversions -----------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_CONVERSION_PASSES
#define SMALTI_PASSES_CONVERSION_PASSES

include "smalti/passes/Support/Options.td"

def ConvertTritonXLAToCPU : Pass<"convert-triton-xla-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Lowers tile-level kernels to functions of vectorized loops for the CPU";
  let description = [{
    Replaces every `triton_xla.entry_func @f(args..., %tile: index) tiles N` by

    `func.func @f(args..., %begin: index, %end: index) attributes {llvm.emit_c_interface, smalti.num_tiles = N}`,

    which executes the kernel for tiles `[begin, end)`. Calls do not share memory, so a caller can distribute `[0, N)`
    across threads. Tiles become buffers, which are allocated once per call. Windows are copied between buffers and
    memory, in bounds for any offset. A `dot` becomes a register-tiled matmul on packed operands, with accumulators in
    the accumulator type. Chains of element-wise ops are fused into one vectorized loop. The code size does not depend
    on the tile size.

    Preconditions: kernels use `triton_xla` ops, element-wise ops on tiles (`arith`, `math`), `linalg` and `tensor` ops
    that upstream can bufferize, and `scf.for`, `scf.if`, `scf.while` and `scf.index_switch`. Elements are f16, bf16,
    f32, f64, signless integers and index, and f8E4M3FN and f8E5M2 in `extract`, `insert`, `mask`, `dot` and
    `arith.extf`. Tiles are static, memrefs are in the default memory space, and constant steps of loops are positive.
    Any violation is an error at the op, and the module is not changed.

    Cost: tiles are copied to and from buffers, and f16 and bf16 arithmetic is done in f32.

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
           "Vector width in bits, e.g. `vector-width=512` for AVX-512", [{::llvm::cl::values(
             clEnumValN(::smalti::VectorWidth::Host, "auto", "the widest vectors of the host"),
             clEnumValN(::smalti::VectorWidth::Bits128, "128", "SSE, NEON"),
             clEnumValN(::smalti::VectorWidth::Bits256, "256", "AVX2"),
             clEnumValN(::smalti::VectorWidth::Bits512, "512", "AVX-512"))}]>];
}

def ConvertTritonXLAToMosaicGPU : Pass<"convert-triton-xla-to-mosaic-gpu", "::mlir::ModuleOp"> {
  let summary = "Lowers tile-level kernels to block-level kernels with layouts";
  let description = [{
    Every `triton_xla.entry_func @f` becomes a `gpu.module @f_module` with a kernel `gpu.func @f`. Block `x` computes
    tile `x`, or, with `blocks=N`, tiles `x`, `x + N`, `x + 2N` and so on. Tiles become vectors that are distributed
    across the threads of the block.

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
    | `arith`, `math`, `scf.for`, `scf.if` | the same ops on vectors |

    **Layouts.** Ops with vectors have `in_layouts` and `out_layouts`, one entry per vector operand and result. Tiles
    that are connected by element-wise ops, loops and branches have the same layout: that of the MMA accumulator if a
    `dot` is among them, else a strided layout with the widest vectors that the memory accesses allow (up to 16 bytes).
    If the number of threads does not divide the tile, the layout replicates the tile. Only splats change layout
    implicitly. Patterns that create vector ops lose layouts, so do not run `canonicalize` between this pass and the
    conversion to threads.

    **Barriers.** A barrier orders accesses to the same argument if one of them is a write, unless each element is
    accessed by one thread only.

    **wgmma** is used for all dots of a kernel or for none. Operands B and A are loaded by TMA from unstrided windows of
    kernel arguments that the kernel does not write. A 16-bit operand A may also be computed; it stays in registers.

    All kernels are planned before the module changes. What cannot be converted is an error at the op: arguments with
    dynamic shapes, strides or offsets; memrefs that are not arguments; dynamic tiles; non-splat constants; unsupported
    ops; dots that do not match an MMA; tiles that need more than half of a thread's registers. A missed remark states
    why wgmma, an MMA, an asynchronous copy or a TMA store is not used.

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
  let summary = "Distributes the vectors of block programs over the threads of NVIDIA GPUs";
  let description = [{
    Turns each block-level `gpu.func` kernel into the program of one thread. A
    vector of the block becomes the registers that its layout gives a thread:
    `vector_load` from shared memory becomes `ldmatrix` where layout, strides and
    alignment allow and vector loads elsewhere, `mosaic_gpu.mma` becomes
    `mma.sync`, `async_copy` becomes `cp.async`, and transfers of windows that
    overhang become masked accesses, as wide as their alignment provably allows.
    Shared memory slices become views of the dynamic shared memory.

    A kernel with no layouts and no op of `mosaic_gpu` other than `slice_smem` is
    the program of one thread already; its slices become views, too. A kernel gets
    an `!nvgpu.tensormap.descriptor` as a pointer to it.

    Layouts come from the attributes `in_layouts` and `out_layouts`. Where a
    splat, an element-wise op or a loop does not say, the layout follows from the
    operands. All kernels are checked before one is changed: an op without a
    lowering, a layout that does not fit, users that disagree, and products that
    match no matrix instruction are errors at the op.

    Kernel arguments must be aligned to 16 bytes, or to what their attribute
    `llvm.align` says, and different arguments must not overlap.

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
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::nvgpu::NVGPUDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertMosaicGPUToROCDL : Smalti_ConvertMosaicGPU<"convert-mosaic-gpu-to-rocdl"> {
  let summary = "Distributes the vectors of block programs over the threads of AMD GPUs";
  let description = [{
    The counterpart of `convert-mosaic-gpu-to-nvvm`, with the same rules.
    `mosaic_gpu.mma` becomes `amdgpu.mfma` or `amdgpu.wmma`. Transfers of windows
    that overhang become buffer accesses, whose bounds check in hardware reads
    zero and drops stores; memrefs of 2 GiB and more and memrefs of dynamic shape
    are masked instead. Barriers that only order shared memory do not wait for
    global memory. Shared memory slices become views of one workgroup buffer.
    Barrier objects are errors.

    `async_copy` becomes loads to LDS: on gfx9 `amdgpu.gather_to_lds` from a buffer
    whose bounds check fills up with zeros, or `rocdl.load.to.lds`; on gfx1250
    `rocdl.global.load.async.to.lds`. Where there is no such buffer, lanes outside
    load zeros from a constant: every wave issues each load, because
    `async_wait_group` becomes a wait for a counter. It leaves in flight as many
    loads as every wave certainly issued in the newest groups. On gfx9 the loads of
    a wave lie side by side: the destination must have no gaps, and barriers become
    `s_barrier` with a wait for LDS alone and fences that
    `smalti-annotate-lds-dma` reads.

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
  let summary = "Lowers the math ops that the conversions to NVVM and ROCDL get wrong";
  let description = [{
    For programs of one thread, before the conversion to the LLVM dialect.

    - NVIDIA: `fma`, `trunc`, `ctlz`, `cttz`, `ctpop` and `absi` become LLVM's intrinsics, which are instructions of the
      chips. The usual conversion calls NVIDIA's device library for `fma`, which then has to be there, and has nothing for
      the others.
    - AMD: `acos`, `asin`, `atan`, `atan2`, `cosh`, `sinh`, `tan` and `tanh` become calls of the
      device library: LLVM cannot select its intrinsics for them. So do `expm1` and `log1p`,
      which the usual conversion takes for `exp(x) - 1` and `log(1 + x)`. `sin`, `cos` and `tan` of
      `f16` are computed in `f32`: ROCm's device library 5.2 returns NaN for every finite half.
    - Both: `ctlz`, `cttz` and `absi` on a vector of several dimensions are computed row by row.

    Other ops are left to those conversions.

    Example: on an NVIDIA chip this needs no device library then.

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
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def SmaltiLowerVectors : Pass<"smalti-lower-vectors", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lowers the vector ops of threads that have no direct lowering to LLVM";
  let description = [{
    For programs of one thread, before the conversion to the LLVM dialect, which leaves these ops:
    - transfers of one row become loads and stores; masked, or not known to be in bounds, they become masked ones, whose
      masks are those of `smalti-mask-transfers` where an index may be negative;
    - transfers of several dimensions become transfers of their rows, under a condition where a row may be out of bounds;
      where the elements of a row are apart in memory, accesses of one element each;
    - masks (`create_mask`, `constant_mask`, `vector.mask` around a transfer) become comparisons and constants;
    - products, reductions, transposes, broadcasts, shape casts and gathers of several dimensions become ops on rows;
    - loads, stores and atomic accesses of a memref with a negative or dynamic stride become accesses of a memref of one
      element: the conversion takes the distance from the begin of a memref for unsigned.

    Other ops stay as they are. A vector that takes more registers than a thread of the chip has (`smalti.target`; without
    it, of the chip with the most registers) is an error.

    Example: the last vector of the row of 30 elements is read as far as there are some.

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
  let summary = "Lowers accesses of 2- and 4-bit elements of memory to accesses of bytes";
  let description = [{
    For thread-level kernels, after `smalti-lower-vectors`. Elements of 2 and 4 bits share bytes of memory, the first in the
    low bits. The conversions to LLVM would give each element a byte, and pack vectors alone.

    - Loads (`memref.load`, `vector.load`, `vector.maskedload`, `vector.gather`) become loads of bytes and shifts, from any
      element on. Lanes that are masked off touch no byte of their own.
    - Stores (`memref.store`, `vector.store`, `vector.maskedstore`) of whole bytes become stores of bytes. A store of a part
      of a byte would be a load, an insertion and a store; it loses what another thread stores to the rest of the byte in
      the meantime. The pass refuses it, except in private memory.
    - Buffers (`memref.alloca` and the attributions of a kernel) become buffers of bytes.

    An op that accesses such memory and is not in this list is an error. So is a vector of elements of 3, 5, 6 or 7 bits in
    memory, which have no agreed place in a byte. All are found before anything changes.

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
    TargetOption<", which accesses of private memory need">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def SmaltiLowerCPUMath : Pass<"smalti-lower-cpu-math", "::mlir::ModuleOp"> {
  let summary = "Calls the C library for math ops that the conversion to LLVM lowers inaccurately";
  let description = [{
    `math.expm1` and `math.log1p` on f32 and f64 become calls to the C library; vectors are unrolled. The conversion to
    the LLVM dialect computes `exp(x) - 1` and `log(1 + x)` instead, which lose all digits near zero.

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
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::vector::VectorDialect"];
}

def SmaltiLowerCPULoops : Pass<"smalti-lower-cpu-loops", "::mlir::ModuleOp"> {
  let summary = "Lowers scf to cf for the CPU and adds a stop flag to loops";
  let description = [{
    Converts `scf` to `cf`. A function with `smalti.num_tiles` and without callers in the module gets an additional
    argument, the address of a 32-bit stop flag. Loops with an estimated time above 4 ms read the flag in each
    iteration. If the flag is not 0, the function frees its buffers and returns. A caller stops the function by setting
    the flag from a signal handler or another thread.

    The function sets the flag to N and returns if the step of a loop is not positive or an integer division is
    undefined: a division by 0, or of the minimum by -1. N is the 1-based index of the error in `smalti.stop_errors`.

    Errors, before anything changes: an `scf` op in an op with single-block regions; a division that needs a check
    inside an op of another dialect or in a function that is called; a `smalti.num_tiles` or `smalti.most_iterations`
    that is not a non-negative integer.

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
  let summary = "Makes kernels of the gpu.launch ops of a module that JAX emitted";
  let description = [{
    The body of each `gpu.launch` becomes a `gpu.func` in a `gpu.module` of its own, and the launch a `gpu.launch_func`.
    Argument i of the kernel is the memref of pointer i of the entry, or a pointer where the function makes no memref of it
    (`mosaic_gpu.from_kernel_arg_idx` has the number). Constants from outside are made again inside. The kernel has the
    sizes of its grid, its blocks and its clusters, and the bytes of its dynamic shared memory.

    A launch with an op of `mosaic_gpu` is block-level: `mosaic_gpu.program_threads` has how many threads run a program
    together and hold its vectors (JAX's warpgroup), and `mosaic_gpu.auto_barriers` says that barriers of the program go
    around its stores to shared memory. Any other launch, as JAX's lane semantics prints it, is thread-level. The tensor
    maps that the function encodes for it (calls of `mosaic_gpu_init_tma_desc`) become arguments after the others, which
    `mosaic_gpu.tensor_maps` describes, and its dynamic shared memory is aligned to 1024 bytes.

    Declarations that JAX adds to every module and that nothing refers to are erased.

    A launch is refused if its sizes are not constants, if it declares memory of its own, or if it uses anything else from
    outside: a memref must be all of an entry, with a descriptor that says what its type says, and all of a tensor map must
    be constant. Then nothing changes.

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
    Option<"programThreads", "program-threads", "int64_t", "128",
           "Threads that run a program together, e.g. `program-threads=256`">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def SmaltiMarkTensorMaps : Pass<"smalti-mark-tensor-maps", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Passes the tensor maps of NVIDIA's kernels by value, constant in the grid";
  let description = [{
    The last arguments of a kernel with `mosaic_gpu.tensor_maps` are pointers to its tensor maps, as many as the attribute
    has entries. They become memory of the launch that no thread changes (`llvm.byval`, `nvvm.grid_constant`, aligned to
    64 bytes): the copies read a map at the address of a parameter, not at that of a copy which each thread makes. A
    `gpu.func` cannot say so: NVVM takes the attributes on functions of the LLVM dialect alone. Other functions stay as
    they are.

    Example:

    ```mlir
    llvm.func @kernel(%memory: !llvm.ptr, %map: !llvm.ptr)
        attributes {gpu.kernel, mosaic_gpu.tensor_maps = [{argument = 0 : i64} ], nvvm.kernel} {
      llvm.return
    }
    ```
  }];
}

#endif // SMALTI_PASSES_CONVERSION_PASSES
