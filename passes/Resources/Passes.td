//===- Passes.td - Resources of a kernel -------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_RESOURCES_PASSES
#define SMALTI_PASSES_RESOURCES_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiCheckResources : InterfacePass<"smalti-check-resources", "::mlir::FunctionOpInterface"> {
  let summary = "Checks what a kernel takes against what the chip has";
  let description = [{
    An error where a block needs more than the target has:
    - shared memory: what the function allocates, workgroup attributions, globals that it names, mbarriers, and slices
      that have their place, as `smalti-allocate-shared-memory` places them. The notes name the largest buffers; where
      buffers have slots, the error says with how many all would fit. A missed remark names each buffer of unknown size;
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
    TargetOption<" whose limits count">,
    Option<"onlyRemarks", "only-remarks", "bool", "false",
           "What does not fit is a failed remark instead of an error, e.g. `only-remarks=true`">
  ];
}

#endif // SMALTI_PASSES_RESOURCES_PASSES
