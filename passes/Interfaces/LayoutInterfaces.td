//===- LayoutInterfaces.td - What layout inference asks of an op -*- tablegen -*-===//

#ifndef SMALTI_PASSES_INTERFACES_LAYOUTINTERFACES
#define SMALTI_PASSES_INTERFACES_LAYOUTINTERFACES

include "mlir/IR/OpBase.td"

def Smalti_LayoutInferenceOpInterface : OpInterface<"LayoutInferenceOpInterface"> {
  let cppNamespace = "::smalti";
  let description = [{
    The op has operands or results that have a layout (vectors, shared memory, tensor memory), and says what it demands
    of them. Ops of other dialects implement it through external models (passes/Layouts/Rules/Rules.h); those that work
    element by element all have the same one, by their trait.

    Every operand and result that has a layout gets a variable, and so do those of the terminators of the op's regions
    and their arguments; then constraints on the variables. A demand that cannot be met by any program is an error on
    the op.

    Example: in

    ```mlir
    func.func @twice(%v: vector<64x128xf32>) -> vector<64x128xf32> {
      %r = arith.addf %v, %v : vector<64x128xf32>
      return %r : vector<64x128xf32>
    }
    ```

    the operands and the result of `arith.addf` are one variable, with no constraint.
  }];
  let methods = [
    InterfaceMethod<"Adds the variables and constraints of the op to the system.",
                    "::llvm::LogicalResult", "addLayoutConstraints",
                    (ins "::smalti::inference::ConstraintSystem &":$system)>
  ];
}

#endif // SMALTI_PASSES_INTERFACES_LAYOUTINTERFACES
