//===- CommonLowerings.cpp - Lowerings common to both vendors -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"

using namespace smalti;

void block_to_thread::registerCommonLowerings(OpLowerings &lowerings) {
  registerAsyncCopies(lowerings);
  registerMbarriers(lowerings);
  registerBlockBarriers(lowerings);
  registerControlFlow(lowerings);
  registerAtomics(lowerings);
  registerElementwise(lowerings);
  registerExternalCode(lowerings);
  registerIndexedAccesses(lowerings);
  registerMma(lowerings);
  registerOpaque(lowerings);
  registerReductions(lowerings);
  registerRegions(lowerings);
  registerRelayouts(lowerings);
  registerScans(lowerings);
  registerShapes(lowerings);
  registerTransfers(lowerings);
  registerViews(lowerings);
}
