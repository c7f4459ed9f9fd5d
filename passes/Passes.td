//===- Passes.td - Smalti's passes -------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A folder of passes has its own definitions, so that its sources alone depend on them.

#ifndef SMALTI_PASSES_PASSES
#define SMALTI_PASSES_PASSES

include "smalti/passes/MultiBuffering/Passes.td"
include "smalti/passes/Pipelining/Passes.td"
include "smalti/passes/Synchronization/Passes.td"
include "smalti/passes/PadLowering/Passes.td"
include "smalti/passes/Conversion/Passes.td"
include "smalti/passes/Layouts/Passes.td"
include "smalti/passes/Legality/Passes.td"
include "smalti/passes/SharedMemory/Passes.td"
include "smalti/passes/Resources/Passes.td"
include "smalti/passes/Pipelines/Passes.td"
include "smalti/passes/WarpSpecialization/Passes.td"

#endif // SMALTI_PASSES_PASSES
