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
    `smalti-pipeline-loops` needs to overlap them.

    A buffer is accepted when all of this holds; otherwise it stays as it is, with a remark that says why:
    - it is allocated with a static size in shared memory, outside the loop, and all uses other than its deallocation
      lie in that one loop (the innermost one that holds them all);
    - the first op in an iteration that uses it stands directly in the loop's body and overwrites all of it without
      reading it: a copy, a transfer or a block-level store of the whole buffer, an asynchronous copy, a structured op
      that writes every element. Stores that only together cover the buffer are not accepted;
    - it does not escape: it is used by ops with known memory effects, directly or through `memref.subview`, `cast`,
      `expand_shape`, `collapse_shape` and `reinterpret_cast`, and all of them take the type of a slot;
    - its slots keep the alignment that it states.

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
    Option<"depth", "depth", "int64_t", "2", "Slots that a buffer gets, e.g. `depth=3`">,
    Option<"target", "target", "std::string", "\"\"",
           "Chip whose shared memory bounds the slots, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
    Option<"strict", "strict", "bool", "false", "A buffer that cannot get its slots is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // SMALTI_PASSES_PASSES
