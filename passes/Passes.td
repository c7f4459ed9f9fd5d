//===- Passes.td - Smalti's passes -------------------------*- tablegen -*-===//

// A folder of passes has its own definitions, so that its sources alone depend on them.

#ifndef SMALTI_PASSES_PASSES
#define SMALTI_PASSES_PASSES

include "passes/MultiBuffering/Passes.td"
include "passes/Pipelining/Passes.td"
include "passes/Synchronization/Passes.td"
include "passes/PadLowering/Passes.td"
include "passes/Conversion/Passes.td"
include "passes/Layouts/Passes.td"
include "passes/SharedMemory/Passes.td"
include "passes/Resources/Passes.td"
include "passes/Pipelines/Passes.td"
include "passes/WarpSpecialization/Passes.td"

#endif // SMALTI_PASSES_PASSES
