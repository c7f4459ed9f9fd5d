//===- Passes.td - Multi-buffering ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_MULTIBUFFERING_PASSES
#define SMALTI_PASSES_MULTIBUFFERING_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiMultiBuffer : InterfacePass<"smalti-multi-buffer", "::mlir::FunctionOpInterface"> {
  let summary = "Gives shared-memory buffers of a loop several slots, which its iterations use in turn";
  let description = [{
    A shared-memory buffer that every iteration of an `scf.for` overwrites gets `depth` slots. Iteration `i` uses slot
    `i mod depth`, so a later iteration can fill its slot before all threads have read an earlier one. With N stages of
    asynchronous copies, `smalti-pipeline-loops` requires N slots. In stream mode it requires one; with two, it needs one
    barrier per iteration instead of two. Slots alone do not make a loop faster, since the pass keeps all barriers.

    **Preconditions.** The buffer is allocated in shared memory by the function, or is a workgroup attribution of a kernel.
    - Its size is static, its layout is the identity, and it is not allocated or freed inside the loop.
    - Every iteration overwrites the whole buffer before it reads any element. Copies, transfers, fills, asynchronous
      copies and block-level stores of a view are counted. Stores of threads are counted if the block size is known and
      control flow around them is uniform. The pass evaluates their addresses for every thread and every iteration of
      inner loops. A store under an unknown uniform condition is counted if both branches write the element. Masked
      stores are not counted.
    - It does not escape. Its users have known memory effects. They use the buffer itself, views of it
      (`memref.subview`, `cast`, `expand_shape`, `collapse_shape`, `reinterpret_cast`), or addresses that casts, sums and
      `llvm.getelementptr` compute from `memref.extract_aligned_pointer_as_index`.
    - The slot size is a multiple of the alignment that the buffer states and that its users require.
    - The induction variable of the loop has 8 to 64 bits. A use outside the loop requires a uniform trip count.

    The loop is the innermost `scf.for` around all uses. If it does not meet the preconditions, the pass tries the loops
    directly around the uses instead, and each of them selects slots separately. Code before the loop uses slot 0; code
    after it uses the slot of the last iteration.

    **mbarriers** on which copies into the buffer complete get the same number of slots. An mbarrier is an
    `nvgpu.mbarrier.create`, or a buffer that holds barriers of `mosaic_gpu` or of `nvvm.mbarrier.*`. Each
    initialization is repeated per slot, and iteration `i` waits for phase `i / depth` of its slot. An mbarrier must be
    initialized once, before the loop, and otherwise be used only in the loop, with constant indices. In each iteration,
    the arrivals of all threads together must complete exactly one phase and precede the wait. The parity of the wait
    must alternate, starting with 0.

    **Refused**, with a missed remark at the buffer, is each buffer that violates a precondition; it does not change. If an
    mbarrier is refused, the buffers whose copies complete on it are refused too. Asynchronous copies of one loop get slots
    together or not at all, because `smalti-pipeline-loops` prefetches all copies of a loop or none.

    **Cost.** A buffer takes `depth` times its shared memory. If the target is known and all slots exceed the shared
    memory of a block, no buffer changes. The target is the option `target`, or the attribute `smalti.target` around the
    function. The proof enumerates at most 2^23 addresses per buffer.

    **Options.** `depth` is 2 by default; `depth=auto` uses as many slots as fit in shared memory, at most 16 and at most
    the trip count. The attribute `smalti.slots` on the buffer's op, else on the loop, else on the function, overrides
    `depth`; 1 disables the pass. `strict` is false by default.

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
           "Slots per buffer, 1 to 64, or `auto`: as many as fit, at most 16, e.g. `depth=3`; default: 2">,
    TargetOption<" whose shared memory limits the slots">,
    StrictOption<"A buffer that cannot be multi-buffered">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // SMALTI_PASSES_MULTIBUFFERING_PASSES
