//===- Passes.td - Compilation pipelines -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_PIPELINES_PASSES
#define SMALTI_PASSES_PIPELINES_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiCompile : Pass<"smalti-compile", "::mlir::ModuleOp"> {
  let summary = "Lowers kernels to the LLVM dialect for any target";
  let description = [{
    Runs the passes of each level for the chosen target. Levels for a GPU (`stop-after`):
    1. `tile`: canonicalized tile-level kernels;
    2. `mosaic`: block-level kernels (`smalti-order-tiles`, `convert-triton-xla-to-mosaic-gpu`);
    3. `pipelined`: block-level kernels with overlapped copies and allocated shared memory (`smalti-choose-overlap`, then
       `smalti-specialize-warps`, or else `smalti-multi-buffer` and `smalti-pipeline-loops`; then `smalti-async-wgmma` and
       `smalti-allocate-shared-memory`);
    4. `thread`: thread-level kernels (`convert-mosaic-gpu-to-nvvm` or `convert-mosaic-gpu-to-rocdl`);
    5. `llvm`: the LLVM dialect in `gpu.module`s with an attached target.

    For a CPU: `tile`, then `llvm` by `convert-triton-xla-to-cpu`.

    Input: tile-level kernels (`triton_xla.entry_func`), block-level or thread-level kernels in `gpu.func`, which start
    at level 3, or modules with `gpu.launch`, as JAX emits them. Thread-level kernels do not have ops of `mosaic_gpu` or
    layouts; level 4 only changes the addresses of their shared buffers.

    The pipelines `smalti-compile-nvidia`, `smalti-compile-amd` and `smalti-compile-cpu` run the same passes for one
    vendor, with the same options: `smalti-opt --smalti-compile-amd=target=gfx942 --dump-pass-pipeline` prints the
    passes, so that you can insert others. They do not read the attribute `smalti.target` and do not accept
    `gpu.launch`.

    `bank-conflicts=pad` runs `smalti-pad-shared-memory` before `smalti-allocate-shared-memory`, and
    `bank-conflicts=swizzle` runs `smalti-swizzle-shared-memory` on thread-level kernels. Padding is the default, since
    the address arithmetic of swizzling makes large tiles spill on some chips (`benchmarks/bank_conflicts.py`).

    Errors: an unknown target or missing target; an option out of range; a level that the target does not have; and the
    errors of the passes, e.g. an op that cannot be lowered to the target, or resources beyond its limits.

    Cost: the sum of the passes; see their descriptions.

    Example:

    ```mlir
    module attributes {smalti.target = "gfx942"} {
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
    TargetOption<>,
    Option<"stopAfter", "stop-after", "::smalti::Level", "::smalti::Level::LLVM",
           "The level at which the lowering stops, e.g. `stop-after=mosaic`; default: `llvm`", [{::llvm::cl::values(
             clEnumValN(::smalti::Level::Tile, "tile", "tile-level kernels"),
             clEnumValN(::smalti::Level::Mosaic, "mosaic", "block-level kernels"),
             clEnumValN(::smalti::Level::Pipelined, "pipelined", "block-level kernels with pipelined loops"),
             clEnumValN(::smalti::Level::Thread, "thread", "thread-level kernels"),
             clEnumValN(::smalti::Level::LLVM, "llvm", "the LLVM dialect"))}]>,
    AutoOrNumberOption<"depth", "depth", "::smalti::AutoOrNumber()",
           "Slots of each shared-memory buffer of a loop, that is, copies that the iterations use in turn, 1 to 16, e.g. `depth=2`; default: `auto`, 3 with asynchronous copies, else 2, fewer if shared memory is full">,
    AutoOrNumberOption<"stages", "stages", "::smalti::AutoOrNumber()",
           "Maximum number of stages of a pipelined loop, 1 (no pipelining) to 16, e.g. `stages=3`; default: `auto`, 3 with asynchronous copies, else 2, fewer if shared memory is full">,
    NumWarpsOption,
    CopiesOption,
    MatmulOption,
    SpecializeOption,
    BlocksOption,
    Option<"tileOrder", "tile-order", "::smalti::TileOrderKind", "::smalti::TileOrderKind::Auto",
           "The order in which consecutive blocks compute tiles, e.g. `tile-order=grouped`; default: `auto`", TileOrderKinds.values>,
    Option<"holdLoads", "hold-loads", "bool", "true",
           "Run `smalti-hold-loads` on AMD, where LLVM moves loads down to their uses, e.g. `hold-loads=false`; default: `true`">,
    Option<"bankConflicts", "bank-conflicts", "::smalti::BankConflicts", "::smalti::BankConflicts::Pad",
           "How bank conflicts in shared memory are reduced, e.g. `bank-conflicts=swizzle`; default: `pad`", [{::llvm::cl::values(
             clEnumValN(::smalti::BankConflicts::Keep, "keep", "bank conflicts are not reduced"),
             clEnumValN(::smalti::BankConflicts::Pad, "pad", "by padding rows"),
             clEnumValN(::smalti::BankConflicts::Swizzle, "swizzle", "by swizzling rows"))}]>,
    CheckIndicesOption,
  ];
  // The dependent dialects of all passes: a pass cannot load dialects for a pipeline that it runs.
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::index::IndexDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::nvgpu::NVGPUDialect", "::mlir::NVVM::NVVMDialect", "::mlir::ROCDL::ROCDLDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect",
    "::smalti::mosaic_gpu::MosaicGPUDialect", "::smalti::triton_xla::TritonXLADialect",
  ];
}

def SmaltiChooseOverlap : InterfacePass<"smalti-choose-overlap", "::mlir::FunctionOpInterface"> {
  let summary = "Chooses the slots per shared-memory buffer, the pipeline stages and the warp specialization of a kernel, and records them as attributes";
  let description = [{
    Sets attributes on each `gpu.func` kernel, which later passes apply:
    - `smalti.slots`: the slots per buffer that a loop uses, for `smalti-multi-buffer`. By default 3 with asynchronous
      copies and 2 otherwise, reduced until all buffers fit in the target's shared memory;
    - `smalti.stages`: the maximum number of stages of its loops, for `smalti-pipeline-loops`;
    - `smalti.specialize`, on a kernel with a synchronous `wgmma`: whether `smalti-specialize-warps` splits it into
      producer and consumer warps. Such a kernel does not get stages.

    An attribute that the kernel already has overrides the options of this pass. `smalti.stages` of a loop overrides
    that of the kernel; with asynchronous copies, the loop gets as many `smalti.slots`. A kernel that is already split into
    roles (`mosaic_gpu.thread_group_size`) gets 1 slot and 1 stage; a kernel without loops gets neither. Remarks state the
    decision, the reason and the bytes of shared memory.

    Missed remarks: slots that are reduced; a kernel that is not specialized although it has a synchronous `wgmma`; a
    kernel without one under `specialize=on`. Errors: requested slots of a kernel or a loop that exceed shared memory; `specialize=on` for a
    kernel with a synchronous `wgmma` that does not meet the preconditions; an option or attribute out of range.

    Cost: linear in the size of the kernel, plus the plan of `smalti-specialize-warps`, which that pass reuses.

    Example:

    ```mlir
    gpu.module @kernels attributes {smalti.target = "gfx942"} {
      gpu.func @stage(%in: memref<4096xf32>) kernel {
        %c0 = arith.constant 0 : index
        %c256 = arith.constant 256 : index
        %c4096 = arith.constant 4096 : index
        %buffer = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
        scf.for %i = %c0 to %c4096 step %c256 {
          %window = memref.subview %in[%i] [256] [1] : memref<4096xf32> to memref<256xf32, strided<[1], offset: ?>>
          memref.copy %window, %buffer
              : memref<256xf32, strided<[1], offset: ?>> to memref<256xf32, #gpu.address_space<workgroup>>
        }
        gpu.return
      }
    }
    ```

    The kernel gets `smalti.slots = 2` and `smalti.stages = 2`.
  }];
  let options = [
    TargetOption<>,
    AutoOrNumberOption<"depth", "depth", "::smalti::AutoOrNumber()",
           "Slots of each shared-memory buffer of a loop, that is, copies that the iterations use in turn, 1 to 16, e.g. `depth=2`; default: `auto`, 3 with asynchronous copies, else 2, fewer if shared memory is full">,
    AutoOrNumberOption<"stages", "stages", "::smalti::AutoOrNumber()",
           "Maximum number of stages of a pipelined loop, 1 (no pipelining) to 16, e.g. `stages=3`; default: `auto`, 3 with asynchronous copies, else 2, fewer if shared memory is full">,
    SpecializeOption,
  ];
}

def SmaltiVerifyKernels : Pass<"smalti-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Reports invalid kernels, with locations, before the conversions to LLVM";
  let description = [{
    Upstream's conversions crash on these cases or report them without a location. Each is an error at its location:
    - the constant step of a loop is not positive;
    - an integer division that is proven to be undefined: a divisor of 0, or the minimum divided by -1. It is not an
      error if only an `arith.select`, which can drop the result, uses it;
    - a block, grid or cluster size of a `gpu.func` is not positive, or its number of workgroup attributions is not an
      integer; `smalti.shared_memory_bytes` is not a non-negative integer, or `smalti.shared_memory_alignment` is not a
      power of two;
    - an argument of a `gpu.func` is a memref with a dynamic shape, strides or offset, since a launch passes only
      addresses;
    - an argument, a memory attribution of a `gpu.func` or a `memref.global` is in a memory space that is neither a
      number nor `#gpu.address_space`;
    - a memory attribution has a dynamic shape or a layout;
    - an argument, a memref or a complex number has an element type that LLVM does not support, such as `tf32`;
    - an attribute of a tile-level kernel or of its loops that requests overlap (`smalti.stages`, `smalti.mode`,
      `smalti.slots`) has an invalid value, also if the target ignores it;
    - the target is a GPU, and the module defines a symbol that generated code may call, such as `__nv_tanhf`;
    - an attribute with the prefix `smalti.` is unknown;
    - the target is a CPU, and a value is a memref in another memory space;
    - the target is a CPU, and a function has more than 131072 ops after inlining.

    Precondition: a target. Cost: linear in the number of ops, plus an integer range analysis.

    The pass does not change the module.

    Example:

    ```mlir
    module attributes {smalti.target = "sm_90a"} {
      gpu.module @kernels {
        gpu.func @copy(%in: memref<4x8xf32>, %out: memref<4x8xf32>) kernel {
          memref.copy %in, %out : memref<4x8xf32> to memref<4x8xf32>
          gpu.return
        }
      }
    }
    ```
  }];
  let options = [
    TargetOption<>,
    Option<"memory", "memory", "bool", "true",
           "Check types and memory spaces too; `memory=false` checks only loops, divisions and attributes; default: `true`">,
  ];
}

def SmaltiGuardFolds : Pass<"smalti-guard-folds", "::mlir::ModuleOp"> {
  let summary = "Protects ops that the constant folding of MLIR evaluates incorrectly";
  let description = [{
    Upstream's folders give other results than the targets for these ops:
    - `math.atan2` of two zeros becomes NaN. The pass replaces the second operand by 1 with its sign if both are zeros,
      which does not change the result: 0 or pi with the sign of the first operand.
    - `arith.truncf`, `arith.sitofp` and `arith.uitofp` to a float of at most 8 bits become an infinity or NaN out of
      range, or 0 with 4 and 6 bits. `arith.extf` of a NaN of `f8E8M0FNU` becomes an infinity. The pass replaces these
      conversions by the integer ops of `smalti-lower-math`, which saturate and fold correctly.
    - `arith.index_cast` and `arith.index_castui` from `index` to fewer than 64 bits and back to `index` become the index
      itself. The pass makes the truncation an `arith.trunci`, unless the range of the index shows that the value fits.

    Except for casts of an index, only ops whose operands may become constants are changed. Values that depend on memory,
    or on an argument of a kernel or of a function without callers, through casts and element-wise arithmetic of floats
    cannot. Fill values of reads can. The pass must run before `canonicalize` and `inline`. It changes functions (`func.func`,
    `triton_xla.entry_func`), but not kernels in a `gpu.module`.

    Cost: linear in the number of ops. In the code, four ops for each `math.atan2` that does not become a constant, and
    about 15 for each conversion.

    Example: the result is the constant 0.

    ```mlir
    func.func @angle() -> f32 {
      %zero = arith.constant 0.0 : f32
      %r = math.atan2 %zero, %zero : f32
      return %r : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SmaltiInlinedScopes : Pass<"smalti-inlined-scopes"> {
  let summary = "Adds the scopes of called functions to debug information";
  let description = [{
    Runs after `ensure-debug-info-scope-on-llvm-func`. A location `callsite("f"(...) at ...)` gets the scope of a function
    `f`, so that line tables have the call chain of kernels in Python, with the names of the functions.

    Locations without names, and functions without debug information, are not changed. Cost: linear in the number of ops.

    Example:

    ```mlir
    #file = #llvm.di_file<"k.py" in "">
    #unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C, file = #file, isOptimized = true,
      emissionKind = LineTablesOnly>
    #kernel = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file, name = "k", file = #file, line = 7,
      subprogramFlags = "Definition|Optimized", type = <>>
    llvm.func @k() {
      llvm.return loc(callsite("f"("k.py":2:5) at "k"("k.py":8:3)))
    } loc(fused<#kernel>["k.py":7:1])
    ```

    The location of `llvm.return` gets a scope with the name `f`.
  }];
}

def SmaltiFinalizeKernels : Pass<"smalti-finalize-kernels", "::mlir::ModuleOp"> {
  let summary = "Prepares kernels in the LLVM dialect for code generation";
  let description = [{
    Runs after the conversions to LLVM.
    - NVIDIA: dynamic shared memory becomes an external array, whose size the launch specifies. Kernels get
      `nvvm.minctasm = 1`; without it, `ptxas` limits registers for several blocks per SM and spills.
    - A kernel whose name is not a valid assembler symbol is renamed; `smalti.source_name` holds the original name.
    - The result of each masked load is frozen. LLVM 22 moves a masked load to a select that uses its result under the
      same mask, also past stores and barriers (https://github.com/llvm/llvm-project/issues/215453).
    - The result of each conversion from float to integer, and of each shift by an amount that is not a constant less
      than the width, is frozen. It is poison for NaN, out of range, and by at least the width; LLVM deletes stores
      and loops that depend on poison.
    - Locations outside of functions do not have call sites, which `ensure-debug-info-scope-on-llvm-func` does not support.

    Errors, at their locations, before anything changes: an op or a value that is not lowered to a dialect that
    translates to LLVM IR; a `gpu.launch` that is not outlined; an invalid kernel name if the symbol uses of the module
    cannot be determined; an invalid shared-memory attribute.

    Precondition: a target. Cost: linear in the number of ops.

    Example:

    ```mlir
    module attributes {smalti.target = "sm_90a"} {
      gpu.module @kernels {
        llvm.func @_(%out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
          llvm.return
        }
      }
    }
    ```

    The kernel is renamed to `@kernel__`.
  }];
  let options = [TargetOption<>];
}

#endif // SMALTI_PASSES_PIPELINES_PASSES
