//===- LayoutInterfaces.td - Layout inference interface -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_INTERFACES_LAYOUTINTERFACES
#define SMALTI_PASSES_INTERFACES_LAYOUTINTERFACES

include "mlir/IR/OpBase.td"

def Smalti_LayoutInferenceOpInterface : OpInterface<"LayoutInferenceOpInterface"> {
  let cppNamespace = "::smalti";
  let description = [{
    The op has operands or results with layouts (vectors, shared memory, tensor memory) and adds constraints on them.
    Ops of other dialects implement the interface through external models (passes/Layouts/Rules/Rules.h); all
    element-wise ops share one model.

    Each operand and result with a layout has a variable, and so do those of the terminators of the op's regions and
    the region arguments. A constraint that no layout satisfies is an error on the op.

    Example: in

    ```mlir
    func.func @twice(%v: vector<64x128xf32>) -> vector<64x128xf32> {
      %r = arith.addf %v, %v : vector<64x128xf32>
      return %r : vector<64x128xf32>
    }
    ```

    the operands and the result of `arith.addf` share one variable without constraints.
  }];
  let methods = [
    InterfaceMethod<"Adds the variables and constraints of the op to the system.",
                    "::llvm::LogicalResult", "addLayoutConstraints",
                    (ins "::smalti::inference::ConstraintSystem &":$system)>
  ];
}

#endif // SMALTI_PASSES_INTERFACES_LAYOUTINTERFACES
