//===- Passes.td - Software pipelining --------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_PIPELINING_PASSES
#define SMALTI_PASSES_PIPELINING_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiPipelineLoops : InterfacePass<"smalti-pipeline-loops", "::mlir::FunctionOpInterface"> {
  let summary = "Overlaps the memory reads of later loop iterations with the computation of earlier ones";
  let description = [{
    Software-pipelines `scf.for`. A prologue issues the first reads, and an epilogue computes the last iterations. The
    kernel, the steady-state loop between them, computes one iteration while reads of later iterations are outstanding.
    Ops are classified by memory effects and op interfaces, so block-level (`mosaic_gpu`) and thread-level kernels are
    supported.

    - `mode=stream`: reads of global memory go to registers in the first stage. Stores of these values to shared memory run
      one stage before the computation. One slot is sufficient; with two slots (`smalti-multi-buffer`) the kernel needs
      one barrier per iteration instead of two. With 3 or more stages, each read follows the last store of its previous
      value.
    - `mode=async`: with N stages, the asynchronous copies of N - 1 iterations are in flight, and every buffer and mbarrier
      needs N slots. Each wait on an async-group or an AMD wait counter states the exact number of copies that may stay in
      flight. In the epilogue, this number decreases step by step. If a block barrier implicitly waits for LDS DMA, the
      pass replaces it by an explicit wait. Arrivals on mbarriers are issued early, with their copies.

    The pass tries every loop, outer loops first. A nested loop belongs to one stage; the pass then pipelines each clone
    of it. Block barriers of the body are replaced by a minimal set that orders all hazards of the pipelined loop and of
    the code around it. A loop without barriers gets none. If the trip count is dynamic, a run-time guard compares it with
    the number of stages. If it is less, the original loop runs.

    **Preconditions.** The induction variable has at most 64 bits. Ops of the body have known memory effects, are not
    atomic, and do not allocate or free memory. Nested regions do not contain barriers or waits. No access moves across
    one that it may alias. Different allocations, an allocation and an argument, and arguments of which one has
    `llvm.noalias` do not alias. Accesses to one buffer are compared if their indices are linear in the iteration
    number. An iteration argument is not used in a stage before the one that computes its next value. If the body
    exchanges values between lanes, the trip count is uniform within a wave. In async mode, each iteration waits for its
    own copies before it first uses their buffers.

    **Refused**, with a missed remark, is each loop that violates a precondition. Also refused
    are loops with too few slots of a buffer, without a read to prefetch, or without a computation to overlap. So are
    loops with a constant trip count below 2, loops that are already pipelined, `scf.while` and `affine.for`. A refused
    loop does not change.

    **Unrolling.** In stream mode, prefetched values would move to other registers in each iteration. For small loops, the
    attribute `loop_annotation` of the kernel requests that LLVM unrolls the loop by the number of stages. No move then
    remains. The target must be known. The loop must not use shared memory or exchange values between lanes. A loop that
    already has the attribute keeps it.

    **Cost.** Prefetched values of stream mode stay live across iterations. The body is emitted once per stage, and once
    more as the fallback of a run-time guard; the pass creates at most 131072 ops per function. The limit for comparisons of
    accesses is 65536 pairs per loop plus 64 per access. The pass assumes that pairs beyond it alias.

    **Options.** `stages` is 2 by default. `stages=auto` uses as many stages as the buffers have slots in async mode. In
    stream mode it uses 3 if the values go to shared memory, else 2. If the target is known, it also limits the live
    values of the kernel to the registers of a thread. `mode` is `auto` by default: `async` if the loop contains
    asynchronous copies. `strict`, `emit-schedule` and `use-schedule` are false by default. The attributes
    `smalti.stages` and `smalti.mode` on a loop, else on the function, override the options; 1 stage disables the pass.
    If the function has `smalti.stages`, the pass records the largest stage count that it used as
    `smalti.pipelined_stages`. If a constant trip count is less than `stages`, the pass uses fewer stages.
    `emit-schedule` writes the schedule on the ops (`smalti.stage`: the stage; `smalti.cluster`: the order in the
    kernel), and its numbers and buffers on the loop (`smalti.schedule`). `use-schedule` pipelines by the attributes of the ops
    after the same checks. An op without side effects may lack the attributes; it is placed with its users.

    Example:

    ```mlir
    func.func @sum(%a: memref<64x8xf32>, %init: vector<8xf32>) -> vector<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> vector<8xf32> {
        %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
        %next = arith.addf %acc, %row : vector<8xf32>
        scf.yield %next : vector<8xf32>
      } {smalti.stages = 2 : i64}
      return %sum : vector<8xf32>
    }
    ```

    The kernel then loads row %i + 1 while it adds row %i.
  }];
  let options = [
    AutoOrNumberOption<"stages", "stages", "2",
           "Stages of a loop, 1 to 16, or `auto`: as many as fit and hide more latency, e.g. `stages=3`; default: 2">,
    Option<"mode", "mode", "::smalti::PipelineMode", "::smalti::PipelineMode::Auto",
           "How reads are prefetched, e.g. `mode=stream`; default: `auto`", [{::llvm::cl::values(
             clEnumValN(::smalti::PipelineMode::Auto, "auto", "async if the loop contains asynchronous copies, else stream"),
             clEnumValN(::smalti::PipelineMode::Stream, "stream", "only loads from global memory into registers"),
             clEnumValN(::smalti::PipelineMode::Async, "async", "only asynchronous copies into shared memory"))}]>,
    TargetOption<" that determines the barrier kind and the register limit">,
    StrictOption<"A loop that cannot be pipelined">,
    Option<"emitSchedule", "emit-schedule", "bool", "false",
           "Only annotate the ops of each loop with their stage and do not transform it, e.g. `emit-schedule=true`; default: `false`">,
    Option<"useSchedule", "use-schedule", "bool", "false",
           "Take the schedule from the attributes that `emit-schedule=true` writes, e.g. `use-schedule=true`; default: `false`">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def SmaltiHoldLoads : InterfacePass<"smalti-hold-loads", "::mlir::FunctionOpInterface"> {
  let summary = "Keeps prefetched reads before a loop's arithmetic in AMD code";
  let description = [{
    A pipelined loop reads global memory for a later iteration, computes, and then stores the values to shared memory. To
    save registers, LLVM moves the reads down to the stores, or the arithmetic below the stores. In both cases the loop
    waits for memory and computes nothing meanwhile. The pass inserts two `amdgpu.sched_barrier allow = <none>`, which no
    instruction crosses: one after the last read, and one before the first store of a value that was read. If the previous
    iteration read the stored values (3 or more stages), the pass inserts only the latter.

    **Preconditions.** The loop reads shared memory between the read and the first use of its value, or before the first
    use of a value that the previous iteration read. The value, or what side-effect-free ops compute from it, is only
    stored to shared memory or carried to the next iteration. Asynchronous copies before the first read of shared memory
    are kept too.

    **Not changed**, without a remark: other loops, loops that already contain an `amdgpu.sched_barrier` or a ROCDL
    scheduling hint, and all loops on targets whose code generator does not sink loads.

    **Cost.** The values stay in registers until they are stored. The scheduling barrier does not change results.

    **Options.** `target`: the attribute `smalti.target` by default. Without a target the pass changes every matching loop.

    Example, with `target=gfx1201`:

    ```mlir
    func.func @sum(%in: memref<4096xf32>, %buffer: memref<64xf32, #gpu.address_space<workgroup>>, %start: f32) -> f32 {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c4032 = arith.constant 4032 : index
      %lane = gpu.thread_id x
      %sum = scf.for %i = %c0 to %c4032 step %c64 iter_args(%acc = %start) -> f32 {
        %j = arith.addi %i, %lane : index
        %next = memref.load %in[%j] : memref<4096xf32>
        amdgpu.lds_barrier
        %value = memref.load %buffer[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
        %new = arith.addf %acc, %value : f32
        amdgpu.lds_barrier
        memref.store %next, %buffer[%lane] : memref<64xf32, #gpu.address_space<workgroup>>
        scf.yield %new : f32
      }
      return %sum : f32
    }
    ```
  }];
  let options = [
    TargetOption<>
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect"];
}

#endif // SMALTI_PASSES_PIPELINING_PASSES
