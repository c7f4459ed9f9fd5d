//===- Passes.td - Smalti's passes -------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_PASSES
#define SMALTI_PASSES_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

def SmaltiMultiBuffer : InterfacePass<"smalti-multi-buffer", "::mlir::FunctionOpInterface"> {
  let summary = "Gives shared-memory buffers of a loop several slots, one an iteration in turn";
  let description = [{
    A shared-memory buffer that every iteration of an `scf.for` fills anew gets `depth` slots; iteration number i
    uses slot i mod `depth`. Iterations then no longer wait for one another to be done with the buffer, which is what
    `smalti-pipeline-loops` needs to overlap them. `depth=auto` takes as many slots as fit the target's shared memory,
    up to 16 and no more than iterations. The attribute `smalti.slots` on a buffer's op, or else on a loop, wins over
    the option; 1 leaves it alone.

    A buffer is what the function allocates in shared memory, or a workgroup attribution of a kernel. It is accepted
    when all of this holds; otherwise it stays as it is, with a remark that says why:
    - its size is static, and it does not come into being or end inside the loop;
    - every iteration overwrites all of it before it reads any of it. Copies, transfers, asynchronous copies,
      structured ops and block-level stores of a whole view count, and so do stores of threads: where the block's
      size is known (`known_block_size`, or the launch) and branches and loops around do not tell its threads apart,
      their addresses are evaluated for every thread and every iteration of inner loops, and what they write
      together counts. What stands under a condition that is not known counts where both ways write it and all
      threads go the same way; masked writes do not count;
    - its size in bytes is known, and the loop's counter has at least 8 bits;
    - it does not escape: it is used by ops with known memory effects, directly or through `memref.subview`, `cast`,
      `expand_shape`, `collapse_shape` and `reinterpret_cast`, and all of them take the type of a slot. Addresses that
      `memref.extract_aligned_pointer_as_index` takes are followed through casts, sums and `llvm.getelementptr` to what
      accesses memory by them, and become those of the slot;
    - its slots keep the alignment that it states.

    The loop is the innermost one around all uses; if its iterations hand values on, every loop next to other uses
    gets slots by itself. Uses before a loop are in slot 0, those behind it in the slot of its last iteration, or, if it
    had none, where the values were before. Where a loop around executes all of this again, what an earlier execution
    left must not be read.

    Barrier objects on which copies into such buffers complete (`nvgpu.mbarrier.create`, or a buffer whose elements are
    barriers of `mosaic_gpu` or are used by `nvvm.mbarrier.*` through their addresses) get as many slots, or else the
    buffers get none either: every initialisation is repeated for each slot, and iteration i waits for phase i / `depth`
    of the barrier of its slot. They are accepted where they are initialised once, ahead of the loop, and used in the
    loop alone, with constant numbers; where as many threads arrive in every iteration, ahead of the waits, as a phase
    needs; and where the waits' parity is 0, 1, 0, 1 and so on.

    Where the target is known (option `target`, or the attribute `smalti.target` around the function) and all buffers
    with their slots would not fit the shared memory of one block, none is changed.

    Example, with `depth=2`:

    ```mlir
    func.func @before(%a: memref<64x8xf16>, %out: memref<8xf16>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0.0 : f16
      %buffer = memref.alloc() : memref<8xf16, #gpu.address_space<workgroup>>
      scf.for %i = %c0 to %c64 step %c1 {
        %row = vector.transfer_read %a[%i, %c0], %zero {in_bounds = [true]} : memref<64x8xf16>, vector<8xf16>
        vector.transfer_write %row, %buffer[%c0] {in_bounds = [true]}
          : vector<8xf16>, memref<8xf16, #gpu.address_space<workgroup>>
        gpu.barrier
        %back = vector.transfer_read %buffer[%c0], %zero {in_bounds = [true]}
          : memref<8xf16, #gpu.address_space<workgroup>>, vector<8xf16>
        vector.transfer_write %back, %out[%c0] {in_bounds = [true]} : vector<8xf16>, memref<8xf16>
        gpu.barrier
      }
      return
    }
    ```

    The buffer becomes `memref<2x8xf16, ...>`, and the body uses the subview of slot `%i` mod 2.
  }];
  let options = [
    Option<"depth", "depth", "std::string", "\"2\"",
           "Slots that a buffer gets, 1 to 64, or `auto`: as many as fit, up to 16, e.g. `depth=3`">,
    Option<"target", "target", "std::string", "\"\"",
           "Chip whose shared memory bounds the slots, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
    Option<"strict", "strict", "bool", "false", "A buffer that cannot get its slots is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

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
    - it has no read of global memory that can run ahead, or nothing to overlap it with; it runs fewer times than
      `stages`; a value that it carries is updated in a later stage than it is used in; its asynchronous copies are
      already waited for in another iteration.

    The attributes `smalti.stages` and `smalti.mode` on a loop win over the options; 1 stage leaves the loop alone.
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
    Option<"stages", "stages", "std::string", "\"2\"",
           "Stages of a loop, 1 to 16, or `auto`: the most that fit and help, e.g. `stages=3`">,
    Option<"mode", "mode", "std::string", "\"auto\"", "`auto`, `stream` or `async`, e.g. `mode=stream`">,
    Option<"target", "target", "std::string", "\"\"",
           "Chip that chooses the kind of barrier, e.g. `target=gfx1201`; empty: the attribute `smalti.target`">,
    Option<"strict", "strict", "bool", "false", "A loop that cannot be pipelined is an error, e.g. `strict=true`">,
    Option<"emitSchedule", "emit-schedule", "bool", "false",
           "Write schedules as attributes and change nothing else, e.g. `emit-schedule=true`">,
    Option<"useSchedule", "use-schedule", "bool", "false",
           "Pipeline by the schedules that ops carry, e.g. `use-schedule=true`">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// Pads
//===----------------------------------------------------------------------===//

def SmaltiPlaceBarriers : InterfacePass<"smalti-place-barriers", "::mlir::FunctionOpInterface"> {
  let summary = "Places the least barriers that order every hazard between the threads of a block";
  let description = [{
    Two accesses are a hazard where two threads of a block may make them, both may touch the same memory, and one of
    them writes. The pass takes out the barriers that order no hazard which the others do not order, and puts barriers in
    where a hazard in shared memory has none, in the cheapest places: outside of loops rather than inside, ahead of reads
    of global memory, and never where only some threads come by. In the result no barrier can be taken out. Where the
    barriers that are there do as well as others, they stay where they are.

    What counts as a hazard:
    - Memory spaces and alias classes are told apart, and the slots of buffers that loops use in turn
      (`smalti-multi-buffer`): slot = number of the iteration mod depth.
    - An asynchronous copy must come after earlier accesses where it starts; later ones must come after the wait for it
      and a barrier.
    - Hazards in *global* memory do not get barriers: threads mostly work on parts of it that are their own, and nothing in
      the program says so. But a barrier that orders two accesses of global memory stays, whatever else there is.
    - The same holds for code with effects that are not known (calls, fences, inline assembly, barrier objects): what a
      barrier orders it with stays ordered. Where threads may wait for one another in such code (calls, ops of the `llvm`,
      `nvvm` and `rocdl` dialects, barrier objects), nothing is put in. Before and behind a function that is no kernel,
      anything may happen.

    A barrier inside an op whose way may differ between threads, or inside control flow that is not known, is not touched,
    and none is put there; a hazard that only such a barrier could order is reported. What is computed from constants,
    block ids, and the arguments of kernels is the same for all threads; where all that is known is that it comes from an
    argument or from memory, a barrier inside says that all threads come there. Functions with unstructured control flow
    are not changed.

    Where the target's barriers wait for loads in flight (option `target`, or the attribute `smalti.target` around the
    function), a `gpu.barrier` that has to order shared memory alone becomes an `amdgpu.lds_barrier`.

    Example:

    ```mlir
    func.func @before(%x: f32, %i: index, %j: index) -> (f32, f32) attributes {gpu.kernel} {
      %buffer = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %x, %buffer[%i] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %a = memref.load %buffer[%j] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %b = memref.load %buffer[%i] : memref<64xf32, #gpu.address_space<workgroup>>
      return %a, %b : f32, f32
    }
    ```

    The second barrier orders nothing and is removed.
  }];
  let options = [
    Option<"insert", "insert", "bool", "true",
           "Puts barriers in where a hazard in shared memory has none; `insert=false` only removes and weakens">,
    Option<"target", "target", "std::string", "\"\"",
           "Chip that decides on the kind of barrier, e.g. `target=gfx1201`; empty: the attribute `smalti.target`">,
    Option<"strict", "strict", "bool", "false",
           "A hazard that no barrier can order, or a function that is not understood, is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::gpu::GPUDialect"];
}

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
    it is no copy. Copies by TMA (`nvgpu.tma.async.load`) need no lowering and stay as they are: the hardware fills in
    what is out of bounds of the descriptor, as `oob` says. No read, pad or write is turned into a TMA copy: that takes a
    descriptor, which the host makes.

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
    Option<"target", "target", "std::string", "\"\"",
           "Chip that the transfers are for, e.g. `target=gfx942`; empty: the attribute `smalti.target`">,
    Option<"maxElements", "max-elements", "int64_t", "65536",
           "Most elements of a pad's result, e.g. `max-elements=4096`">,
    Option<"assumeSmall", "assume-small", "bool", "false",
           "Memrefs whose size is known at run time take less than 2^31 bytes, e.g. `assume-small=true`">,
    Option<"strict", "strict", "bool", "false", "A pad or padded transfer that stays is an error, e.g. `strict=true`">
  ];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
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
    Option<"target", "target", "std::string", "\"\"",
           "Chip whose matrix instructions are meant, e.g. `target=gfx942`; empty: the attribute `smalti.target`">,
    Option<"m", "m", "int64_t", "0", "Rows are padded to a multiple of this, e.g. `m=16`; 0: as the instruction has">,
    Option<"n", "n", "int64_t", "0", "Columns are padded to a multiple of this, e.g. `n=8`; 0: as the instruction has">,
    Option<"k", "k", "int64_t", "0", "The depth is padded to a multiple of this, e.g. `k=32`; 0: as the instruction has">,
    Option<"maxWaste", "max-waste", "double", "4.0",
           "Most iterations of the padded op for each of the plain one, e.g. `max-waste=1.5`">,
    Option<"zeroPointsInRange", "zero-points-in-range", "bool", "false",
           "Zero points are numbers of the operands' element types, e.g. `zero-points-in-range=true`">,
    Option<"strict", "strict", "bool", "false", "A product that cannot be padded is an error, e.g. `strict=true`">
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
    Option<"filterLayout", "filter-layout", "std::string", "\"fhwc\"",
           "`fhwc` or `hwfc`, e.g. `filter-layout=hwfc`">,
    Option<"minUses", "min-uses", "int64_t", "32",
           "Least uses of a filter's element that pay for transposing it at run time, e.g. `min-uses=1`">,
    Option<"strict", "strict", "bool", "false",
           "A filter that cannot be transposed is an error, e.g. `strict=true`">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
  ];
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

def ConvertTritonXLAToCPU : Pass<"convert-triton-xla-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Tile programs to functions of vectorised loops";
  let description = [{
    Replaces every `triton_xla.entry_func @f(args..., %tile: index) tiles N` by

    `func.func @f(args..., %begin: index, %end: index) attributes {llvm.emit_c_interface, smalti.num_tiles = N}`,

    which runs the program for the tile ids in `[begin, end)`. A caller splits `[0, N)` over threads as it likes: a call
    shares nothing with another one. Tiles live in buffers, allocated once per call; windows are copied between them and
    memory, in bounds, whatever the offsets; matrix products run on packed operands with their accumulators in registers
    and in the accumulator's precision; chains of element-wise ops are fused into one loop of vectors. The size of the
    code does not depend on the size of the tiles.

    Programs may use `triton_xla`, element-wise ops on tiles (`arith`, `math`), the `linalg` and `tensor` ops that upstream
    can bufferize, and `scf.for`, `scf.if`, `scf.while` and `scf.index_switch` with tiles; element types are f16, bf16,
    f32, f64, signless integers and index. On any other op on tiles the pass fails with the op's location, and the module
    is what it was.

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
    Option<"vectorWidth", "vector-width", "int", /*default=*/"256",
           "Width of the vectors in bits: 128, 256 or 512. For example vector-width=512 where AVX-512 is there.">];
}

def ConvertTritonXLAToMosaicGPU : Pass<"convert-triton-xla-to-mosaic-gpu", "::mlir::ModuleOp"> {
  let summary = "Tile programs to programs of one thread block, with layouts";
  let description = [{
    Every `triton_xla.entry_func @f` becomes `gpu.module @f_module` with the kernel
    `gpu.func @f`, whose block `x` computes tile `x`. Tiles become vectors that the
    whole block holds. All programs are planned before anything is changed: what
    cannot be converted is an error at the op that is to blame, and the module is
    then as it was.

    The kernel carries `gpu.known_block_size`, `gpu.known_grid_size`,
    `smalti.num_warps` and `smalti.arguments`, the argument types before they become
    pointers. Memref arguments are `llvm.noalias` (a tile program writes no element
    that two arguments share) and `llvm.align` 16 unless the entry function gives
    them another alignment.

    What tile ops become:
    - `extract`, `insert`: `vector.transfer_read`, `vector.transfer_write` of the
      argument. Strided windows go through a `memref.reinterpret_cast` of every
      s-th element. Unit dimensions that the tile does not have are checked
      beside the transfer.
    - `dot`: the operands are staged in shared memory (`memref.alloc` in the
      kernel's entry block, row-major): `mosaic_gpu.vector_store`, `gpu.barrier`, and for
      every step along K a `mosaic_gpu.vector_load` of a `memref.subview` of each
      buffer and a `mosaic_gpu.mma`; in a loop, a barrier at the end protects the
      buffers from the next iteration. Steps are straight code, or a loop where
      that would be long. `allow_tf32` on an mma says that a TF32 instruction was
      chosen for it.
    - A dot operand that is an extract used by nothing else is copied by
      `mosaic_gpu.async_copy`, `async_commit_group` and `async_wait_group 0` on
      targets with cp.async groups, if its rows are provably aligned to the
      narrowest copy of the target. A missed remark says why an operand is not
      copied so.
    - `mask`: `vector.create_mask` and `arith.select`.
    - splat constants and `tensor.splat`: `arith.constant` and `vector.broadcast` with
      a splat layout; whoever uses them takes them in its own layout.
    - arith and math ops, `scf.for`, `scf.if`: the same on vectors.

    Every op with vectors carries `in_layouts` and `out_layouts`, one entry for each
    vector operand and result. A result's layout is that of all its uses; only
    splats change layout implicitly. Later passes that rebuild a loop may drop the
    loop's own attributes: its values have the layouts of what is yielded to them.
    Patterns that make new ops on vectors lose layouts, so that no canonicalisation
    belongs between this pass and the conversion to threads.

    Layouts: tiles that elementwise ops, loops and branches connect are one class. A
    class with the accumulator of a `dot` has the accumulator layout of the chosen
    matrix instruction; any other has a strided layout as wide as its accesses to
    memory allow (at most 16 bytes), or where the threads do not divide the tile, a
    tiled layout that repeats the tile over the surplus threads.

    A barrier orders accesses to the same argument where one of them writes, unless
    each element is touched by one thread alone.

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
    Option<"target", "target", "std::string", "\"\"",
           "The chip to convert for, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
    Option<"numWarps", "num-warps", "unsigned", "0",
           "Warps of a block, e.g. `num-warps=4`; 0: what the largest product needs, or the target's default">,
    Option<"copies", "copies", "std::string", "\"auto\"",
           "How operands of products get to shared memory: `async` wherever that is possible, through `registers`, or "
           "`auto`, as it pays on the target, e.g. `copies=async`">,
    Option<"products", "products", "std::string", "\"auto\"",
           "Who computes products: warp groups (`wgmma`) or warps (`mma`), or `auto`, as it pays on the target; warp "
           "groups do where all products of a program allow it, e.g. `products=mma`">,
    Option<"blocks", "blocks", "int64_t", "0",
           "Blocks of a persistent grid, each of which computes every so many-th tile, e.g. `blocks=132`; 0: a block for "
           "each tile">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::smalti::mosaic_gpu::MosaicGPUDialect",
  ];
}

//===----------------------------------------------------------------------===//
// Block programs to threads
//===----------------------------------------------------------------------===//

class Smalti_ConvertMosaicGPU<string chip, string name> : Pass<name> {
  let options = [Option<"target", "target", "std::string", /*default=*/"\"\"",
                        "The chip, as in \"" # chip # "\"; wins over the attribute smalti.target">];
}

def ConvertMosaicGPUToNVVM : Smalti_ConvertMosaicGPU<"sm_90a", "convert-mosaic-gpu-to-nvvm"> {
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

def ConvertMosaicGPUToROCDL : Smalti_ConvertMosaicGPU<"gfx942", "convert-mosaic-gpu-to-rocdl"> {
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

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

def MosaicGPUInferLayouts : Pass<"mosaic-gpu-infer-layouts", "::mlir::ModuleOp"> {
  let summary = "Gives every vector, shared memory and tensor memory of a block program its layout";
  let description = [{
    Takes modules of `mosaic_gpu` as JAX Mosaic GPU emits them, and writes JAX's attributes: `in_layouts` and
    `out_layouts` with one entry for each vector operand and result of an op, `in_tmem_layouts` and `out_tmem_layouts`
    for tensor memory, `in_transforms` and `out_transforms` for shared memory.

    Every op says what it demands of the layouts of its operands and results (`LayoutInferenceOpInterface`): element by
    element ops that they are one, `wgmma` that its accumulator has the layout WGMMA, a load that the layout can be read
    from shared memory without bank conflicts, and so on. A vector that is used has the layout in which it was produced;
    only a splat becomes any other. An op with such a value that has no rule is an error that names it.

    What follows from the demands is propagated, the rest is searched for: candidates are tried in JAX's order, so that
    the first solution is JAX's, and then cheaper ones are looked for: fewer cycles for relayouts and transfers, weighted
    by 8 for each loop around, then fewer registers. Where nothing that JAX accepts is a solution, reductions that keep
    dimensions, reshapes that cut tiles and transfers that JAX's planner does not know are tried, and at last, with
    `relayouts`, a relayout (`layout_cast`) is inserted where two ops disagree, the cheapest one.

    Where there is no solution nothing changes, and there is an error with the smallest set of ops that disagree: each is
    a note with what the op needs and why, and the last one says what would resolve it.

    The chip is the one that the option names, or the attribute `smalti.target`, or JAX's attributes
    `mosaic_gpu.arch_major` and `mosaic_gpu.arch_minor`.

    Example:

    ```mlir
    module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
      func.func @scale(%a: memref<128x128xf32>, %out: memref<128x128xf32>) {
        %two = arith.constant dense<2.0> : vector<128x128xf32>
        %v = mosaic_gpu.vector_load %a : memref<128x128xf32> -> vector<128x128xf32>
        %r = arith.mulf %v, %two : vector<128x128xf32>
        mosaic_gpu.vector_store %r, %out : vector<128x128xf32>, memref<128x128xf32>
        return
      }
    }
    ```

    The constant becomes `#mosaic_gpu.WGSplatFragLayout<[128, 128]>`, everything else
    `#mosaic_gpu.WGStridedFragLayout<[128, 128], 2>`.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "Chip that the module is for, e.g. `target=sm_90a`; empty: what the module says">,
    Option<"warps", "warps", "int64_t", "4",
           "Warps that hold a vector together; JAX's warpgroup has 4, e.g. `warps=8`">,
    Option<"relayouts", "relayouts", "bool", "true",
           "Whether relayouts are inserted where ops disagree; JAX inserts none, e.g. `relayouts=false`">,
    Option<"fuel", "fuel", "int64_t", "100000",
           "Assignments that the search tries for a part of the program that hangs together before it gives up with an "
           "error that says where it was, e.g. `fuel=1000`">,
    Option<"improvements", "improvements", "int64_t", "1000",
           "Assignments that look for a cheaper solution of such a part once there is one; 0 keeps JAX's, e.g. "
           "`improvements=0`">
  ];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect"];
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def SmaltiAllocateSharedMemory : InterfacePass<"smalti-allocate-shared-memory", "::mlir::FunctionOpInterface"> {
  let summary = "Gives every buffer in shared memory its place";
  let description = [{
    Each `memref.alloc` in the workgroup's memory becomes a `mosaic_gpu.slice_smem` at an
    offset of at least 16 bytes alignment, in the order of the program and after the
    slices that are there already. `memref.dealloc` of them goes away. The function gets
    `smalti.shared_memory_bytes`, where the last of them ends.

    More bytes than a block of the target has are an error at the function, with the
    bytes and the place of every buffer. Buffers inside loops and of dynamic shape
    are errors too. The function is then as it was.

    Example:

    ```mlir
    gpu.module @kernels attributes {smalti.target = "sm_90a"} {
      gpu.func @stage() kernel {
        %a = memref.alloc() : memref<128x64xf16, #gpu.address_space<workgroup>>
        %b = memref.alloc() : memref<64x128xf16, #gpu.address_space<workgroup>>
        gpu.return
      }
    }
    ```

    The buffers become slices at 0 and 16384, of 32768 bytes.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "Chip whose shared memory is the limit, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
  ];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect"];
}

def SmaltiCheckResources : InterfacePass<"smalti-check-resources", "::mlir::FunctionOpInterface"> {
  let summary = "Checks what a kernel takes against what the chip has";
  let description = [{
    An error where a block needs more than the target has:
    - shared memory: what the function allocates, workgroup attributions, globals that it names, mbarriers, and slices
      that have their place, as `smalti-allocate-shared-memory` places them. The notes name the largest buffers; where
      buffers have slots, the error says with how many all would fit;
    - threads of a block, where their number is known (`known_block_size`);
    - columns of tensor memory (`nvvm.tcgen05.alloc` with a constant number).

    Values of a thread that take more registers than it may have are a missed remark at the op where most are live: code
    generation would spill them. The model counts the dwords of all values between their op and their last use; in
    `mosaic_gpu` programs, vectors over the threads by their layouts. The numbers of all of these, with every buffer, are
    an analysis remark. The program is not changed.

    Example:

    ```mlir
    gpu.module @kernels attributes {smalti.target = "sm_90a"} {
      gpu.func @stage() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
        %a = memref.alloc() : memref<3x128x64xf16, #gpu.address_space<workgroup>>
        gpu.return
      }
    }
    ```

    The remark: 49152 of 232448 B of shared memory.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "Chip whose limits count, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
    Option<"onlyRemarks", "only-remarks", "bool", "false",
           "What does not fit is a failed remark instead of an error, e.g. `only-remarks=true`">
  ];
}

def SmaltiPadSharedMemory : InterfacePass<"smalti-pad-shared-memory", "::mlir::FunctionOpInterface"> {
  let summary = "Pads the rows of buffers in shared memory against bank conflicts";
  let description = [{
    Each row (the last dimension) of a buffer in shared memory gets as many elements more as bring the least bank
    conflicts, and of those the fewest. The buffer keeps its shape for those who use it: they get a `memref.subview` of
    the padded one.

    Conflicts are counted with the banks of the target: index arithmetic is evaluated for the lanes of up to four waves,
    from thread ids through views to addresses, in the first iteration of loops and with zero for what is the same in
    all threads; each access counts once. `mosaic_gpu` accesses are counted by their layouts. Padding comes in steps
    that keep the alignment of every access, and of the slots of a buffer of three or more dimensions. All buffers of the
    function with their padding fit the target's shared memory.

    A buffer stays as it is, with a remark that says why, when
    - it is no allocation or workgroup argument of static shape, known size and identity layout with two dimensions or
      more: `mosaic_gpu.slice_smem` and views of untyped memory have their place already;
    - it escapes, or is used by an op that is not known to go by the strides of its memref, or that accesses consecutive
      elements which may belong to two rows (cp.async, ldmatrix, gathers to LDS); a whole wave's gather must stay in
      one row;
    - a view of it would not keep its meaning: `memref.reinterpret_cast`, `memref.view`, `memref.collapse_shape` of rows,
      a `memref.cast` that brings static strides back;
    - no access has known addresses, no padding lessens the conflicts, or none that does fits.

    The attribute `smalti.pad_shared_memory` on the op that makes a buffer selects it (`true`, for `marked`) or leaves it
    alone (`false`).

    Example, with `target=sm_90a`: the lanes of a warp read a column, all from one bank.

    ```mlir
    func.func @column(%out: memref<32x32xf32>) {
      %lane = gpu.thread_id x
      %c3 = arith.constant 3 : index
      %buffer = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
      %value = memref.load %buffer[%lane, %c3] : memref<32x32xf32, #gpu.address_space<workgroup>>
      memref.store %value, %out[%c3, %lane] : memref<32x32xf32>
      return
    }
    ```

    The buffer becomes `memref<32x33xf32, ...>`, whose columns are spread over all banks.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "Chip whose banks count, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
    Option<"onlyWhenConflicts", "only-when-conflicts", "bool", "true",
           "Leave buffers alone that have no bank conflict that is known, e.g. `only-when-conflicts=false`">,
    Option<"maxPadding", "max-padding", "int64_t", "128", "Most bytes that a row gets, e.g. `max-padding=32`">,
    Option<"marked", "marked", "bool", "false",
           "Only buffers with `smalti.pad_shared_memory = true`, e.g. `marked=true`">,
    Option<"strict", "strict", "bool", "false", "A buffer that cannot be padded is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def SmaltiSwizzleSharedMemory : InterfacePass<"smalti-swizzle-shared-memory", "::mlir::FunctionOpInterface"> {
  let summary = "Permutes the chunks of rows in shared memory against bank conflicts";
  let description = [{
    Accesses to a buffer in shared memory go to another chunk (4 to 16 bytes) of the same row, by a permutation that
    depends on the row alone: chunk c of row r moves to c XOR k, or where the number of chunks is no power of two to
    (c + k) mod chunks, with k = r / a mod n. Chunk size, a and n are those that bring the least bank conflicts; XOR
    uses powers of two n that divide the number of chunks, so that nothing leaves its row. The buffer needs no byte
    more. Every access to a buffer gets the new index arithmetic, through its views, or none does; other buffers of the
    module do not matter.

    Conflicts are counted as for `smalti-pad-shared-memory`.

    A buffer stays as it is, with a remark that says why, when
    - it has no static shape, known size, identity layout and two dimensions or more, or shares bytes with another view
      of untyped memory;
    - it escapes, or is viewed by anything but `memref.subview`, `cast`, `expand_shape`, `collapse_shape` and
      `assume_alignment`;
    - an access gives no index for each chunk: whole-buffer copies, structured ops, matrices that are loaded by a stride,
      vectors of several rows, TMA, gathers to LDS, and all accesses of block-level programs, which have indices after
      `convert-mosaic-gpu-to-nvvm` or `convert-mosaic-gpu-to-rocdl`;
    - an access is wider than 16 bytes, no power of two, possibly out of bounds, or not provably a multiple of its own
      size away from the begin;
    - rows are no multiple of the widest access, or a single one;
    - no access has known addresses, or no swizzle lessens the conflicts.

    The attribute `smalti.swizzle_shared_memory` on the op that makes a buffer selects it (`true`, for `marked`) or leaves
    it alone (`false`).

    Example, with `target=sm_90a`: the rows that one matrix of ldmatrix is made of lie in the same banks.

    ```mlir
    func.func @rows() -> vector<1x2xf16> {
      %lane = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %buffer = memref.alloc() : memref<32x64xf16, #gpu.address_space<workgroup>>
      %matrix = nvgpu.ldmatrix %buffer[%lane, %c0] {numTiles = 1 : i32, transpose = false}
        : memref<32x64xf16, #gpu.address_space<workgroup>> -> vector<1x2xf16>
      return %matrix : vector<1x2xf16>
    }
    ```

    The column becomes `%c0 xor (%lane mod 8) * 8`.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "Chip whose banks count, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
    Option<"onlyWhenConflicts", "only-when-conflicts", "bool", "true",
           "Leave buffers alone that have no bank conflict that is known, e.g. `only-when-conflicts=false`">,
    Option<"marked", "marked", "bool", "false",
           "Only buffers with `smalti.swizzle_shared_memory = true`, e.g. `marked=true`">,
    Option<"strict", "strict", "bool", "false", "A buffer that cannot be swizzled is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def SmaltiOverlapLdsDma : InterfacePass<"smalti-overlap-lds-dma", "::mlir::FunctionOpInterface"> {
  let summary = "Lets loads from global memory to LDS stay in flight across barriers";
  let description = [{
    On gfx9, LLVM has every barrier, and every access to LDS that it cannot tell apart, wait for all loads to LDS that
    are in flight (`s_waitcnt vmcnt(0)`): `amdgpu.gather_to_lds` ahead of its use overlaps with nothing. In a program that
    waits with counts of its own (`amdgpu.memory_counter_wait load(N)`), as `smalti-pipeline-loops` makes them, this pass
    replaces `amdgpu.lds_barrier` and `gpu.barrier` by a wait for LDS (`ds(0)`) and `rocdl.s.barrier`, which wait for no
    load, and puts fences around them. `smalti-annotate-lds-dma` does the rest in the LLVM dialect.

    It is done where it is proved that nothing relied on LLVM's waits: on every way from a load to an access of the same
    buffer a wait that covers the load, then a barrier, come first, or the access goes to another slot. Slots are
    `memref.subview`s of one element of the first dimension; their numbers are constants, or the number of the iteration
    plus a constant, modulo the number of slots. A wait with `load(N)` covers a load behind which every wave has started N
    others.

    A barrier stays as it is where
    - something behind it depends on a load that no wait covers;
    - it is a `gpu.barrier` and may order global memory: a buffer is written and accessed elsewhere too, in a loop, or
      through another argument (without `llvm.noalias`).

    Where no barrier can be replaced, and in functions with memory effects that are not known, nothing changes, and a remark
    says why. Where some remain, accesses behind them may still wait for all loads.

    Example, with `target=gfx950`: the load of the next slot is in flight while this one is read.

    ```mlir
    func.func @sum(%in: memref<4096xf32, #gpu.address_space<global>>, %slots: memref<2x1x64xf32, #gpu.address_space<workgroup>>)
        -> f32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0.0 : f32
      %lane = gpu.thread_id x
      %first = memref.subview %slots[0, 0, 0] [1, 1, 64] [1, 1, 1]
          : memref<2x1x64xf32, #gpu.address_space<workgroup>> to memref<1x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
      amdgpu.gather_to_lds %in[%lane], %first[%c0, %c0]
          : f32, memref<4096xf32, #gpu.address_space<global>>, memref<1x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
      %sum = scf.for %i = %c0 to %c63 step %c1 iter_args(%acc = %zero) -> f32 {
        %j = arith.addi %i, %c1 : index
        %next = arith.remui %j, %c2 : index
        %this = arith.remui %i, %c2 : index
        %offset = arith.muli %j, %c64 : index
        %place = arith.addi %offset, %lane : index
        %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1]
            : memref<2x1x64xf32, #gpu.address_space<workgroup>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1]
            : memref<2x1x64xf32, #gpu.address_space<workgroup>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        amdgpu.lds_barrier
        amdgpu.gather_to_lds %in[%place], %to[%c0, %c0]
            : f32, memref<4096xf32, #gpu.address_space<global>>, memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        amdgpu.memory_counter_wait load(1)
        amdgpu.lds_barrier
        %value = memref.load %from[%c0, %lane] : memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %new = arith.addf %acc, %value : f32
        scf.yield %new : f32
      }
      return %sum : f32
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The chip, e.g. `target=gfx950`; empty: the attribute `smalti.target`">,
    Option<"strict", "strict", "bool", "false",
           "A function in which no barrier can be replaced is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect"];
}

def SmaltiAnnotateLdsDma : Pass<"smalti-annotate-lds-dma", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Lets accesses to LDS overlap with AMD's loads from global memory to LDS";
  let description = [{
    On gfx9, LLVM waits for every load to LDS that is in flight (`s_waitcnt vmcnt(0)`) ahead of an access to LDS that it
    cannot tell apart from what the load writes. In a pipelined loop it never can: both are slots of one buffer. This
    pass says so with alias scopes, for programs that order their accesses with waits of their own, as those of
    `convert-mosaic-gpu-to-rocdl` and `smalti-overlap-lds-dma` do: accesses behind a fence with the attribute
    `smalti.lds_ordered`, on every way that leads to them, and ahead of the next fence or barrier.

    The scopes are a promise about single instructions, not about memory: the next iteration reads what this one loads.
    The fences, inline assembly of no instruction that clobbers memory, keep LLVM from making more of it.

    Other accesses stay as they are. A function in which no access is ordered is left alone, with a remark.

    Example:

    ```mlir
    llvm.mlir.global internal @slots() {addr_space = 3 : i32} : !llvm.array<512 x f32>
    llvm.func @read(%in: !llvm.ptr<1>, %next: i32, %this: i32) -> f32 {
      %slots = llvm.mlir.addressof @slots : !llvm.ptr<3>
      %to = llvm.getelementptr %slots[%next] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      rocdl.load.to.lds %in, %to, 4, 0, 0 : !llvm.ptr<1>
      rocdl.s.waitcnt 3953
      rocdl.s.barrier
      llvm.inline_asm has_side_effects {smalti.lds_ordered} "", "~{memory}" : () -> ()
      %from = llvm.getelementptr %slots[%this] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %value = llvm.load %from : !llvm.ptr<3> -> f32
      llvm.return %value : f32
    }
    ```
  }];
  let options = [
    Option<"strict", "strict", "bool", "false", "A function in which no access is ordered is an error, e.g. `strict=true`">
  ];
}

def SmaltiHoldLoads : InterfacePass<"smalti-hold-loads", "::mlir::FunctionOpInterface"> {
  let summary = "Keeps loads that run ahead from sinking down to where they are stored";
  let description = [{
    A pipelined loop reads global memory for a later iteration first, computes, and stores what it read to shared memory
    last. AMD's code generator, which saves registers, moves such reads down to their stores: on RDNA each one is waited
    for at once, and nothing overlaps. This pass puts an `amdgpu.sched_barrier` behind the last of these reads, and one that only
    arithmetic may cross ahead of the first of their stores, so that no store waits for its read among the products.

    A read counts where its loop reads shared memory before the value is used, and the value, or what is computed of it
    with no effects, is only stored to shared memory or carried to the next iteration. Asynchronous copies ahead of the first
    read of shared memory count too. Loops that have an `amdgpu.sched_barrier` already are left alone. The barrier is a hint: it changes no result.

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
    Option<"target", "target", "std::string", "\"\"",
           "The chip, e.g. `target=gfx1201`; empty: the attribute `smalti.target`">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect"];
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
    Option<"target", "target", "std::string", "\"\"",
           "The chip, e.g. `target=gfx942`; empty: the attribute `smalti.target`">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def SmaltiLowerVectors : Pass<"smalti-lower-vectors", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lowers the vector ops of threads that have no direct lowering to LLVM";
  let description = [{
    For programs of one thread, before the conversion to the LLVM dialect, which leaves these ops:
    - transfers of one row become loads and stores; masked, or not known to be in bounds, they become masked ones, whose
      masks are those of `smalti-mask-transfers` where an index may be negative;
    - masks (`create_mask`, `constant_mask`, `vector.mask` around a transfer) become comparisons and constants;
    - products, reductions, transposes, broadcasts, shape casts and gathers of several dimensions become ops on rows.

    Other ops stay as they are.

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

def SmaltiLowerCPUMath : Pass<"smalti-lower-cpu-math", "::mlir::ModuleOp"> {
  let summary = "Calls the C library for the math ops that the conversion to LLVM gets wrong";
  let description = [{
    `expm1` and `log1p` become calls of the C library, element by element. The conversion to the LLVM
    dialect takes them for `exp(x) - 1` and `log(1 + x)`, which are wrong near zero.

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

//===----------------------------------------------------------------------===//
// The whole way
//===----------------------------------------------------------------------===//

def SmaltiCompile : Pass<"smalti-compile", "::mlir::ModuleOp"> {
  let summary = "Tile programs to the LLVM dialect, for any target";
  let description = [{
    Schedules the passes for the target. For a GPU:
    1. `tile`: canonicalised tile programs;
    2. `mosaic`: `smalti-order-tiles` where that is asked for, `convert-triton-xla-to-mosaic-gpu`;
    3. `pipelined`: `smalti-specialize-warps`, or else `smalti-multi-buffer` and `smalti-pipeline-loops`; then
       `smalti-start-products` and `smalti-allocate-shared-memory`;
    4. `thread`: `convert-mosaic-gpu-to-nvvm` or `convert-mosaic-gpu-to-rocdl`;
    5. `llvm`: the LLVM dialect in `gpu.module`s that have the target attached.

    A module of block programs, with no tile programs, starts at 3. So does one of programs of threads: kernels in
    `gpu.func` with no op of `mosaic_gpu` and no layout, whose vectors belong to one thread; `thread` leaves these as
    they are, but for the addresses of their buffers in shared memory. For a CPU: `tile`, then `llvm` by
    `convert-triton-xla-to-cpu`.

    By default buffers get 3 slots where copies are asynchronous and 2 elsewhere. Slots
    that do not fit the target's shared memory are left away, with a missed remark; if one slot
    of each does not fit, that is an error.

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
    Option<"target", "target", "std::string", "\"\"",
           "The target, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
    Option<"stopAfter", "stop-after", "std::string", "\"llvm\"",
           "The last level: `tile`, `mosaic`, `pipelined`, `thread` or `llvm`, e.g. `stop-after=mosaic`">,
    Option<"depth", "depth", "int64_t", "0", "Slots of each buffer of a loop, up to 16, e.g. `depth=2`; 0: chosen">,
    Option<"stages", "stages", "int64_t", "0", "Stages of a loop, up to 16, e.g. `stages=3`; 0: chosen, 1: no pipelining">,
    Option<"numWarps", "num-warps", "unsigned", "0", "Warps of a block, e.g. `num-warps=4`; 0: chosen">,
    Option<"copies", "copies", "std::string", "\"auto\"",
           "How operands of products get to shared memory: `async` wherever that is possible, through `registers`, or "
           "`auto`, as it pays on the target, e.g. `copies=async`">,
    Option<"products", "products", "std::string", "\"mma\"",
           "Who computes products: warp groups (`wgmma`) or warps (`mma`), or `auto`, as it pays on the target, e.g. "
           "`products=auto`">,
    Option<"specialize", "specialize", "std::string", "\"auto\"",
           "Whether warps of their own copy for warp groups that multiply: `on`, `off`, or `auto`, where it is possible, "
           "e.g. `specialize=off`">,
    Option<"blocks", "blocks", "int64_t", "0",
           "Blocks of a persistent grid, e.g. `blocks=132`; 0: a block for each tile">,
    Option<"tileOrder", "tile-order", "std::string", "\"none\"",
           "The order of tiles: `none`, as they are numbered, `grouped` or `snake`, e.g. `tile-order=grouped`">,
    Option<"holdLoads", "hold-loads", "bool", "true",
           "Run `smalti-hold-loads` where the target's code generator needs it, e.g. `hold-loads=false`">,
    Option<"bankConflicts", "bank-conflicts", "std::string", "\"pad\"",
           "What to do against bank conflicts: `keep`, `pad` or `swizzle`, e.g. `bank-conflicts=swizzle`">,
  ];
}

def MosaicGPUOutlineLaunches : Pass<"mosaic-gpu-outline-launches", "::mlir::ModuleOp"> {
  let summary = "Makes kernels of the gpu.launch ops of a module that JAX emitted";
  let description = [{
    The body of each `gpu.launch` becomes a `gpu.func` in a `gpu.module` of its own, and the launch a `gpu.launch_func`.
    The kernel's arguments are the memrefs of the entry's pointers that it uses, in their order; each says which one it is
    (`mosaic_gpu.from_kernel_arg_idx`). Constants from outside are made again inside. The kernel has the sizes of its
    grid, its blocks and its clusters, the bytes of its dynamic shared memory, and in `mosaic_gpu.program_threads` how
    many threads run a program together and hold its vectors: JAX's warpgroup. `mosaic_gpu.auto_barriers` says that barriers
    of the program go around its stores to shared memory.

    Declarations that JAX adds to every module and that nothing refers to are taken away.

    A launch is refused whose sizes are not constants, that declares memory of its own, or that uses anything else from
    outside: a memref must be all of an entry, with a descriptor that says what its type says. Then nothing changes.

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

def MosaicGPUEvaluateLayouts : Pass<"mosaic-gpu-evaluate-layouts", "::mlir::ModuleOp"> {
  let summary = "Says what the layouts of a module cost, and whether they meet the demands of its ops";
  let description = [{
    Takes a module whose layouts are there: from `mosaic-gpu-infer-layouts`, from JAX, or written by hand. It changes
    nothing. The demands and the costs are those of the inference:

    - a layout that an op cannot work with is an error on the op, with the demand and the layout;
    - each relayout and each transfer to or from shared memory is an analysis remark with its cycles, weighted by 8 for
      each loop around;
    - one remark on the module has the sums: of the cycles, and of the 32-bit registers that a thread needs for every
      vector that is produced.

    Layouts of one program can be compared by the sums; cycles come before registers.

    Example:

    ```mlir
    module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
      func.func @scale(%a: memref<128x128xf32>) {
        %v = mosaic_gpu.vector_load %a {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 2>]}
            : memref<128x128xf32> -> vector<128x128xf32>
        mosaic_gpu.vector_store %v, %a {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 2>]}
            : vector<128x128xf32>, memref<128x128xf32>
        return
      }
    }
    ```

    The layouts cost 128 registers and no cycles.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "Chip that the module is for, e.g. `target=sm_90a`; empty: what the module says">,
    Option<"warps", "warps", "int64_t", "4", "Warps that hold a vector together, e.g. `warps=8`">
  ];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect"];
}

def SmaltiStartProducts : InterfacePass<"smalti-start-products", "::mlir::FunctionOpInterface"> {
  let summary = "Makes products of warp groups asynchronous, with the waits that they need";
  let description = [{
    `mosaic_gpu.wgmma` with the attribute `smalti.synchronous` is one op for the loop passes: a read of its operands. This pass writes it as
    the instructions that it is: `nvvm.wgmma.fence.aligned`, the product, `nvvm.wgmma.commit.group.sync.aligned` and
    `nvvm.wgmma.wait.group.sync.aligned 0`. Products that follow one another, with nothing between them but ops without
    side effects that do not use their results, share the fence, the group and the wait.

    Example:

    ```mlir
    #acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
    func.func @product(%c: vector<64x128xf32>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>,
                       %b: memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32> {
      %r = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>)
          a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>)
          b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x128xf32>
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect", "::mlir::NVVM::NVVMDialect"];
}

def SmaltiSpecializeWarps : InterfacePass<"smalti-specialize-warps", "::mlir::FunctionOpInterface"> {
  let summary = "Gives the copies of a kernel to warps of their own";
  let description = [{
    The block gets 128 more threads. The threads that it had, the consumers, execute the program without its tensor copies;
    the new ones, the producers, execute these alone, as far ahead as there are slots. Buffers that copies fill, and the
    barriers on which the copies complete, get `depth` slots; a second barrier of each slot tells the producers when the
    consumers have read it. Registers move from producers to consumers (`nvvm.setmaxregister`). The kernel gets
    `mosaic_gpu.program_threads`, the threads that execute one of the two programs together.

    A product whose sum a loop carries, alone in its loop, stays in flight while the next one starts: the wait leaves one
    group, and a slot is given back one iteration later. This takes two slots.

    Slots are counted through all iterations of all loops around, so that copies for the next tile of a persistent grid
    start while the last one is stored.

    A kernel is specialised when all of this holds, and otherwise stays as it is, with a remark that says why:
    - its block has one dimension and a known number of threads, a multiple of 128, and 128 more fit;
    - every product is a synchronous `mosaic_gpu.wgmma`, and some tensor copy stands in a loop;
    - every barrier object is initialised once for one arrival, and is used in one block alone, in this order: one
      `mosaic_gpu.arrive_expect_tx`, `mosaic_gpu.async_load`s without predicate, one `mosaic_gpu.wait`;
    - what such a load fills is allocated by the function and read behind the wait, in that block, by products alone;
    - it copies from arguments that the kernel does not write;
    - the places of the copies are computed from constants, arguments, block ids and counters of loops; all loops and
      branches around them are `scf.for`, with such bounds;
    - the slots fit the target's shared memory.

    Example:

    ```mlir
    #shared = #gpu.address_space<workgroup>
    #acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
    gpu.module @kernels {
      gpu.func @product(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                        %out: memref<64x64xf32> {llvm.noalias})
          kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
        %c0 = arith.constant 0 : index
        %c64 = arith.constant 64 : index
        %c1024 = arith.constant 1024 : index
        %zero = arith.constant 0 : i32
        %false = arith.constant false
        %true = arith.constant true
        %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
        %full = memref.alloc() : memref<!mosaic_gpu.barrier, #shared>
        %address = memref.extract_aligned_pointer_as_index %full : memref<!mosaic_gpu.barrier, #shared> -> index
        %number = arith.index_cast %address : index to i64
        %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
        mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
        gpu.barrier
        %a_memory = memref.alloc() {alignment = 1024 : i64} : memref<64x64xf16, #shared>
        %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>]
            : memref<64x64xf16, #shared>
        %b_memory = memref.alloc() {alignment = 1024 : i64} : memref<64x64xf16, #shared>
        %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>]
            : memref<64x64xf16, #shared>
        %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false)
            -> (vector<64x64xf32>, i1) {
          %k32 = arith.index_cast %k : index to i32
          mosaic_gpu.arrive_expect_tx barrier(%full : memref<!mosaic_gpu.barrier, #shared>) 16384
          mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
              : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, #shared>
          mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
              : memref<1024x64xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, #shared>
          mosaic_gpu.wait barrier(%full : memref<!mosaic_gpu.barrier, #shared>) parity(%parity : i1)
          %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : memref<64x64xf16, #shared>)
              b(%b_tile : memref<64x64xf16, #shared>) {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]}
              -> vector<64x64xf32>
          gpu.barrier
          %other = arith.xori %parity, %true : i1
          scf.yield %next, %other : vector<64x64xf32>, i1
        }
        vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
            : vector<64x64xf32>, memref<64x64xf32>
        gpu.return
      }
    }
    ```
  }];
  let options = [
    Option<"depth", "depth", "std::string", "\"auto\"",
           "Slots of each buffer, 1 to 16, or `auto`: as many as fit, up to 8, e.g. `depth=4`">,
    Option<"target", "target", "std::string", "\"\"",
           "The chip, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
    Option<"strict", "strict", "bool", "false", "A kernel that stays as it is is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::smalti::mosaic_gpu::MosaicGPUDialect"];
}

def SmaltiOrderTiles : InterfacePass<"smalti-order-tiles", "::mlir::FunctionOpInterface"> {
  let summary = "Computes the tiles of a program in an order that caches like";
  let description = [{
    Blocks with neighbouring numbers run at the same time. Where a tile program divides its tile id by the number of
    columns, as row `id / columns` and column `id mod columns`, such blocks share a row of tiles, and between them read all
    columns. This pass has them compute tiles of a compact area: `grouped` goes down `width` rows in each column before the
    next column, `snake` does the same and turns round at the end of each group of rows, so that the columns that were
    read last come first.

    The tile id is replaced by another one, a permutation of all of them: programs of different ids may run in any order,
    so that every program stays right. Where the columns are not to be seen, or a row or a column is all there is, the
    program stays as it is, with a remark.

    Example:

    ```mlir
    triton_xla.entry_func @copy(%src: memref<512x512xf32>, %dst: memref<512x512xf32>, %tile: index) tiles 64 {
      %c8 = arith.constant 8 : index
      %c64 = arith.constant 64 : index
      %i = arith.divui %tile, %c8 : index
      %j = arith.remui %tile, %c8 : index
      %row = arith.muli %i, %c64 : index
      %column = arith.muli %j, %c64 : index
      %t = triton_xla.extract %src[%row, %column] [64, 64] [1, 1] : memref<512x512xf32> to tensor<64x64xf32>
      triton_xla.insert %t into %dst[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<512x512xf32>
      triton_xla.return
    }
    ```
  }];
  let options = [
    Option<"order", "order", "std::string", "\"grouped\"", "`grouped` or `snake`, e.g. `order=snake`">,
    Option<"width", "width", "int64_t", "8", "Rows of tiles in a group, e.g. `width=4`">,
    Option<"strict", "strict", "bool", "false", "A program that stays as it is is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // SMALTI_PASSES_PASSES
