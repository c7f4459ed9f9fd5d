//===- Passes.td - Resources of a kernel -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_RESOURCES_PASSES
#define SMALTI_PASSES_RESOURCES_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiCheckResources : InterfacePass<"smalti-check-resources", "::mlir::FunctionOpInterface"> {
  let summary = "Checks the resources of a kernel against the limits of the target";
  let description = [{
    It is an error if a block exceeds a limit of the target:
    - shared memory: allocations, workgroup attributions, referenced globals, mbarriers, and slices at fixed offsets, as
      `smalti-allocate-shared-memory` places them. Notes point at the largest buffers. If buffers have slots, the error
      states the number of slots that would fit. A missed remark names each buffer whose size cannot be determined;
    - threads per block, if `known_block_size` is set;
    - columns of tensor memory (`nvvm.tcgen05.alloc` with a constant number).

    A register pressure above the limit per thread is a missed remark at the op with the highest pressure, since code
    generation would spill. The estimate counts the dwords of all live values; block-level vectors count by their
    layouts. An analysis remark states all numbers and every buffer.

    Precondition: a GPU target; for a CPU the pass does nothing. The kernel is not changed. Cost: linear in the number
    of ops, plus a liveness analysis.

    Example:

    ```mlir
    gpu.module @kernels attributes {smalti.target = "sm_90a"} {
      gpu.func @stage() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
        %a = memref.alloc() : memref<3x128x64xf16, #gpu.address_space<workgroup>>
        gpu.return
      }
    }
    ```

    The remark starts with "49152 of 232448 B of shared memory".
  }];
  let options = [
    TargetOption<" whose limits are checked">,
    Option<"onlyRemarks", "only-remarks", "bool", "false",
           "Report exceeded limits as remarks (of the kind failed) instead of errors, e.g. `only-remarks=true`; default: `false`">
  ];
}

#endif // SMALTI_PASSES_RESOURCES_PASSES
