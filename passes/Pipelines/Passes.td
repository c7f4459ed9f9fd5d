//===- Passes.td - The whole way ---------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_PIPELINES_PASSES
#define SMALTI_PASSES_PIPELINES_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiCompile : Pass<"smalti-compile", "::mlir::ModuleOp"> {
  let summary = "Tile programs to the LLVM dialect, for any target";
  let description = [{
    Runs the passes for the target. For a GPU:
    1. `tile`: canonicalized tile programs;
    2. `mosaic`: `smalti-order-tiles`, `convert-triton-xla-to-mosaic-gpu`;
    3. `pipelined`: `smalti-choose-overlap`, then `smalti-specialize-warps`, or else `smalti-multi-buffer` and
       `smalti-pipeline-loops`; then `smalti-async-wgmma` and `smalti-allocate-shared-memory`;
    4. `thread`: `convert-mosaic-gpu-to-nvvm` or `convert-mosaic-gpu-to-rocdl`;
    5. `llvm`: the LLVM dialect in `gpu.module`s that have the target attached.

    The pipelines `smalti-compile-nvidia`, `smalti-compile-amd` and `smalti-compile-cpu` are the same passes for a target
    of one family, with the same options: `smalti-opt --smalti-compile-amd=target=gfx942 --dump-pass-pipeline` prints
    them, to insert a pass of your own. They do not read the attribute `smalti.target`, and they do not take modules with
    `gpu.launch`, as JAX prints them.

    A module of block programs, with no tile programs, starts at 3. So does one of programs of threads: kernels in
    `gpu.func` with no op of `mosaic_gpu` and no layout, whose vectors belong to one thread; `thread` leaves these as
    they are, but for the addresses of their buffers in shared memory. For a CPU: `tile`, then `llvm` by
    `convert-triton-xla-to-cpu`.

    `bank-conflicts=pad` runs `smalti-pad-shared-memory` ahead of `smalti-allocate-shared-memory`, and
    `bank-conflicts=swizzle` runs `smalti-swizzle-shared-memory` on the programs of threads. Padding is the default: it
    takes about as many registers as conflicts do, and no spills, while the arithmetic of swizzling makes large tiles
    spill on some chips (`benchmarks/bank_conflicts.py`). Where padded buffers do not fit, they stay as they are.

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
           "The last level, e.g. `stop-after=mosaic`", [{::llvm::cl::values(
             clEnumValN(::smalti::Level::Tile, "tile", "tile-level kernels"),
             clEnumValN(::smalti::Level::Mosaic, "mosaic", "block-level kernels"),
             clEnumValN(::smalti::Level::Pipelined, "pipelined", "block-level kernels with pipelined loops"),
             clEnumValN(::smalti::Level::Thread, "thread", "thread-level kernels"),
             clEnumValN(::smalti::Level::LLVM, "llvm", "the LLVM dialect"))}]>,
    AutoOrNumberOption<"depth", "depth", "::smalti::AutoOrNumber()",
           "Slots of each buffer of a loop, up to 16, e.g. `depth=2`">,
    AutoOrNumberOption<"stages", "stages", "::smalti::AutoOrNumber()",
           "Stages of a loop, up to 16, e.g. `stages=3`; 1: no pipelining">,
    NumWarpsOption,
    CopiesOption,
    MatmulOption,
    SpecializeOption,
    BlocksOption,
    Option<"tileOrder", "tile-order", "::smalti::TileOrderKind", "::smalti::TileOrderKind::Auto",
           "The rasterization order of tiles, e.g. `tile-order=grouped`", TileOrderKinds.values>,
    Option<"holdLoads", "hold-loads", "bool", "true",
           "Run `smalti-hold-loads` where the target's code generator needs it, e.g. `hold-loads=false`">,
    Option<"bankConflicts", "bank-conflicts", "::smalti::BankConflicts", "::smalti::BankConflicts::Pad",
           "What is done against bank conflicts, e.g. `bank-conflicts=swizzle`", [{::llvm::cl::values(
             clEnumValN(::smalti::BankConflicts::Keep, "keep", "nothing"),
             clEnumValN(::smalti::BankConflicts::Pad, "pad", "rows are padded"),
             clEnumValN(::smalti::BankConflicts::Swizzle, "swizzle", "rows are swizzled"))}]>,
  ];
  // What the passes of all families depend on: a pass cannot load a dialect for a pipeline that it runs.
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
  let summary = "Decides how copies and arithmetic of a kernel overlap, and writes the decision as attributes";
  let description = [{
    Writes on each `gpu.func` kernel:
    - `smalti.slots`: the slots of a buffer that a loop uses, which `smalti-multi-buffer` gives it. By default 3 where
      copies are asynchronous and 2 elsewhere, as far as all buffers fit in the target's shared memory;
    - `smalti.stages`: the stages of its loops, an upper bound for `smalti-pipeline-loops`;
    - `smalti.specialize`, on a kernel with synchronous `wgmma`: whether `smalti-specialize-warps` gives the copies to
      warps of their own. The kernel then gets no stages. Other kernels stay as they are, which is a missed remark under
      `specialize=on`.

    An attribute wins over the option of the pass that reads it, and over the options of this pass. A remark gives the reason and the bytes of shared memory.

    It is an error if the options ask for slots that do not fit, or for warps of their own where they are not possible.
    A kernel whose warps copy already (`mosaic_gpu.program_threads`) gets 1 slot and 1 stage.

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
           "Slots of each buffer of a loop, up to 16, e.g. `depth=2`">,
    AutoOrNumberOption<"stages", "stages", "::smalti::AutoOrNumber()",
           "Stages of a loop, up to 16, e.g. `stages=3`; 1: no pipelining">,
    SpecializeOption,
  ];
}

def SmaltiVerifyKernels : Pass<"smalti-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Reports what the conversions to LLVM would crash on or report without a location";
  let description = [{
    It is an error, at its location, if
    - the constant step of a loop is not positive;
    - a division of integers has a divisor that is certainly 0, or a quotient that certainly does not fit its type (the
      least number divided by -1), and its result is used by more than an `arith.select` that can drop it;
    - an attribute of a `gpu.func` has no meaning: a size of a block, grid or cluster that is not positive, a number of
      workgroup attributions that is not an integer, a `smalti.shared_memory_bytes` that is not an integer from 0, or a
      `smalti.shared_memory_alignment` that is not a power of two;
    - an argument of a `gpu.func` is a memref whose shape, strides or offset are dynamic: a launch passes addresses only;
    - an argument, memory of a `gpu.func` or a `memref.global` is in a space that is neither a number nor
      `#gpu.address_space`;
    - memory of a `gpu.func` has a dynamic shape or a layout;
    - an argument, a memref or a complex number has a type that LLVM does not have, such as `tf32`;
    - the target is a CPU and a value is a memref in another memory space;
    - the target is a CPU and a function comes to more than 131,072 operations when its calls are inlined.

    The pass changes nothing.

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
           "Check types and memory spaces, and not only loops, divisions and attributes, e.g. `memory=false`">,
  ];
}

def SmaltiFinalizeKernels : Pass<"smalti-finalize-kernels", "::mlir::ModuleOp"> {
  let summary = "Completes kernels in the LLVM dialect for the target's code generator";
  let description = [{
    Runs after the conversions to LLVM.
    - It is an error, at its location, if an op of a kernel is not in a dialect that becomes LLVM IR, or if a conversion
      left a cast.
    - NVIDIA: dynamic shared memory becomes an external array, whose size the launch gives. Kernels get
      `nvvm.minctasm = 1`, without which `ptxas` keeps registers for further blocks and spills.
    - A kernel whose name an assembler does not accept gets another one; `smalti.source_name` keeps the name.

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

    The kernel becomes `@kernel__`.
  }];
  let options = [TargetOption<>];
}

#endif // SMALTI_PASSES_PIPELINES_PASSES
