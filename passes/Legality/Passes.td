//===- Passes.td - Legality of ops -------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_LEGALITY_PASSES
#define SMALTI_PASSES_LEGALITY_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiCheckLegality : Pass<"smalti-check-legality", "::mlir::ModuleOp"> {
  let summary = "Reports ops of tile-level kernels that the target does not support";
  let description = [{
    Every op of each `triton_xla.entry_func` is looked up in the table of legal ops, which `docs/ops.md` shows. An op, an
    element type or a form that the target does not support is an error at the op. The error is one sentence with the
    reason, and with a remedy if there is one. An op that is not in the table is refused too. All such ops are reported.

    Without a target, only ops that no target supports are errors.

    The pass does not change the module. It does not check resources such as registers, which depend on layouts. Cost:
    linear in the number of ops.

    Example:

    ```mlir
    module attributes {smalti.target = "sm_90a"} {
      triton_xla.entry_func @copy(%src: memref<64xf32>, %dst: memref<64xf32>, %tile: index) tiles 1 {
        %t = triton_xla.extract %src[0] [64] [1] : memref<64xf32> to tensor<64xf32>
        triton_xla.insert %t into %dst[0] [64] [1] : tensor<64xf32> into memref<64xf32>
        triton_xla.return
      }
    }
    ```
  }];
  let options = [TargetOption<" whose ops are checked">];
}

#endif // SMALTI_PASSES_LEGALITY_PASSES
