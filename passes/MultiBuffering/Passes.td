//===- Passes.td - Slots of buffers ------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_MULTIBUFFERING_PASSES
#define SMALTI_PASSES_MULTIBUFFERING_PASSES

include "smalti/passes/Support/Options.td"

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

    Asynchronous copies of one loop get slots together: if one of them writes a buffer that cannot have slots and does not
    have them already, the buffers of the others stay as they are, since `smalti-pipeline-loops` issues all of a loop's copies
    early, or none.

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
    AutoOrNumberOption<"depth", "depth", "2",
           "Slots that a buffer gets, 1 to 64, or `auto`: as many as fit, up to 16, e.g. `depth=3`">,
    TargetOption<" whose shared memory bounds the slots">,
    StrictOption<"A buffer that cannot get its slots">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // SMALTI_PASSES_MULTIBUFFERING_PASSES
