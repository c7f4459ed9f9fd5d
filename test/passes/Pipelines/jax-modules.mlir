// smalti-compile lowers a module as JAX emits it through all levels.
// RUN: smalti-opt %S/../../pallas/Inputs/pointwise.mlir --smalti-compile='target=sm_90a stop-after=tile' | FileCheck %s --check-prefix=TILE
// RUN: smalti-opt %S/../../pallas/Inputs/pointwise.mlir --smalti-compile='target=sm_90a stop-after=mosaic' | FileCheck %s --check-prefix=MOSAIC
// RUN: smalti-opt %S/../../pallas/Inputs/pointwise.mlir --smalti-compile='target=sm_90a stop-after=pipelined' | FileCheck %s --check-prefix=MOSAIC
// RUN: smalti-opt %S/../../pallas/Inputs/pointwise.mlir --smalti-compile='target=sm_90a stop-after=thread' | FileCheck %s --check-prefix=THREAD
// RUN: smalti-opt %S/../../pallas/Inputs/pointwise.mlir --smalti-compile=target=sm_90a | FileCheck %s --check-prefix=LLVM

// TILE-NOT: out_layouts
// TILE: gpu.launch async

// MOSAIC: gpu.func @kernel(
// MOSAIC-SAME: mosaic_gpu.thread_group_size = 128 : i64
// MOSAIC: mosaic_gpu.vector_load %{{.*}} out_layouts
// MOSAIC: gpu.launch_func

// THREAD: gpu.func @kernel(
// THREAD-NOT: mosaic_gpu.vector_load
// THREAD: vector.load
// THREAD: math.exp2 %{{.*}} : vector<2xf32>

// LLVM: gpu.module @kernel_module [#nvvm.target<O = 3, chip = "sm_90a"
// LLVM: llvm.func @kernel(%{{.*}}: !llvm.ptr {llvm.align = 16 : i64}
// LLVM-SAME: gpu.known_grid_size = array<i32: 1, 1, 1>
// LLVM-SAME: nvvm.minctasm = 1 : i32

// One resident block per SM may use all registers. Otherwise ptxas spills and drops
// setmaxnreg.
// RUN: smalti-opt %S/../../pallas/Inputs/hopper_matmul.mlir --smalti-compile=target=sm_90a | FileCheck %s --check-prefix=EXCHANGE
// EXCHANGE: llvm.func @anonymous({{.*}}nvvm.minctasm = 1 : i32

// The entry block allocates the phases of mbarriers, which become registers.
// EXCHANGE-NOT: llvm.cond_br
// EXCHANGE: llvm.alloca
// EXCHANGE-NOT: llvm.cond_br
// EXCHANGE: llvm.alloca
// EXCHANGE: llvm.cond_br
// EXCHANGE-NOT: llvm.alloca
