//===- Passes.td - Loops -----------------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_PIPELINING_PASSES
#define SMALTI_PASSES_PIPELINING_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiPipelineLoops : InterfacePass<"smalti-pipeline-loops", "::mlir::FunctionOpInterface"> {
  let summary = "Overlaps the memory reads of later iterations of a loop with the computing of earlier ones";
  let description = [{
    Software pipelining of `scf.for`: a prologue starts the first reads, the kernel computes one iteration while the
    reads of later ones are under way, an epilogue computes what was read last.

    Two modes, chosen by what the loop does (`mode=auto`) or by the option:
    - `stream`: reads of global memory go to registers in the first stage, stores of what was read to shared memory
      come one step ahead of computing. One shared buffer is enough; with two slots
      (`smalti-multi-buffer`) an iteration needs one barrier instead of two.
    - `async`: asynchronous copies to shared memory. `stages` = N keeps N - 1 iterations of copies in flight and needs N
      slots of every buffer. Copies in groups (cp.async, `mosaic_gpu.async_copy`) and those that AMD's chips count
      (`amdgpu.gather_to_lds`, gfx1250's asynchronous and tensor copies): each wait is given the exact number that may
      stay in flight, in the kernel and while the epilogue drains. Only copies of the loop that surely follow are
      counted; a block barrier that completes copies without a wait becomes a wait. Copies that complete on barrier
      objects (TMA, `mosaic_gpu.async_load`): arrivals run ahead with the copies, and the barriers need slots as the
      buffers do. Slots go by the number of the iteration, also where that is counted through all runs of the loop.
      Copies may stand under conditions and in inner loops. A buffer that is filled through registers beside them is
      read one iteration ahead.

    Ops are classified by their memory effects and by small interfaces, so the pass works on whole-block programs
    (`mosaic_gpu`) and on those of single threads (`memref`, `vector`, `gpu`, `nvgpu`, `amdgpu`) alike. Barriers in the
    body are taken out and placed anew: the least that order every hazard between threads in the prologue, the kernel
    with its back edge, the epilogue, and with what stands around the loop. A loop with no barrier gets none. Where the
    chip's barriers wait for reads in flight and all hazards are in shared memory, the new ones order that alone.

    A number of iterations that is not known is checked at run time; a loop that runs fewer times than it has stages
    executes as it was. Every loop of the function is tried, outer ones first; a loop inside a pipelined one is part of
    a stage as a whole, and its copies are tried in turn. Counters may be signed or unsigned and of any width; values
    that loops carry may be used in several stages, be passed on or change places. A loop stays as it is, with a remark
    that says why, when
    - an op in it has effects that are not known, reads and writes the same memory at once (atomics), allocates or
      frees memory, or synchronises inside a nested region;
    - reordering could break a dependence through memory: a write in the loop may touch what a read of a later
      iteration would read ahead of it, or a buffer has fewer slots than the stages between its first write and its
      last read. Different allocations, an allocation and an argument, and arguments marked `llvm.noalias` do not alias;
      in one buffer, accesses do not touch the same elements where their indices are linear in the number of the
      iteration and lie apart;
    - lanes of a wave exchange values in it, and may run it unequally often;
    - it has no read of global memory that can run ahead, or nothing to overlap it with; it runs fewer times than
      `stages`; a value that it carries is updated in a later stage than it is used in; its asynchronous copies are
      already waited for in another iteration;
    - the pass would create more than 131072 ops in the function: the copies of an inner loop multiply with the stages
      of each loop around it.

    The attributes `smalti.stages` and `smalti.mode` on a loop win over the options; 1 stage leaves the loop alone. On a
    function they are for all its loops; `smalti.pipelined_stages` then says the most stages that a loop got.
    `stages=auto` takes as many as the shared buffers have slots in async mode. In stream mode it takes 3 where what is
    read goes to shared memory, else 2. Where the target is known, values of the pipelined loop must not take more
    registers than a thread has. The remark says what the limit was. A loop that
    runs fewer times than it has stages gets fewer of them. `emit-schedule` writes the
    schedule on the ops (`smalti.stage`, the distance in iterations, and `smalti.cluster`, the order in the kernel)
    and changes nothing else; `use-schedule` pipelines by these attributes, after the same checks. Ops without effects
    may go without and follow their users.

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

    The loop then loads row %i + 1 while it adds row %i.
  }];
  let options = [
    AutoOrNumberOption<"stages", "stages", "2",
           "Stages of a loop, 1 to 16, or `auto`: the most that fit and help, e.g. `stages=3`">,
    Option<"mode", "mode", "::smalti::PipelineMode", "::smalti::PipelineMode::Auto",
           "How reads run ahead, e.g. `mode=stream`", [{::llvm::cl::values(
             clEnumValN(::smalti::PipelineMode::Auto, "auto", "async where the loop has asynchronous copies, else stream"),
             clEnumValN(::smalti::PipelineMode::Stream, "stream", "through registers"),
             clEnumValN(::smalti::PipelineMode::Async, "async", "by asynchronous copies"))}]>,
    TargetOption<" that chooses the kind of barrier">,
    StrictOption<"A loop that cannot be pipelined">,
    Option<"emitSchedule", "emit-schedule", "bool", "false",
           "Write schedules as attributes and change nothing else, e.g. `emit-schedule=true`">,
    Option<"useSchedule", "use-schedule", "bool", "false",
           "Pipeline by the schedules that ops carry, e.g. `use-schedule=true`">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SmaltiHoldLoads : InterfacePass<"smalti-hold-loads", "::mlir::FunctionOpInterface"> {
  let summary = "Keeps prefetches above a loop's arithmetic in AMD code";
  let description = [{
    A pipelined loop reads global memory for a later iteration, computes, and then stores the values to shared memory.
    To save registers, LLVM moves the reads down to the stores, or the arithmetic below the stores; either way the loop
    waits for memory and computes nothing meanwhile. This pass creates two `amdgpu.sched_barrier allow = <none>`, which no
    instruction crosses: one after the last read, and one before the first store of a value that was read.

    A read counts where its loop reads shared memory before the value is used, and the value, or what is computed of it
    with no effects, is only stored to shared memory or carried to the next iteration. Asynchronous copies ahead of the first
    read of shared memory count too. Loops that have an `amdgpu.sched_barrier` or a scheduling hint of ROCDL's already are left alone. The barrier is a hint: it changes no result.

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
