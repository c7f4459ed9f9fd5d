//===- Passes.td - Smalti's passes -------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_PASSES
#define SMALTI_PASSES_PASSES

include "mlir/Pass/PassBase.td"

#endif // SMALTI_PASSES_PASSES
