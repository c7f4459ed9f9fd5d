//===- ExternalModels.cpp - External models of our interfaces -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Models/ExternalModels.h"

using namespace mlir;

void smalti::registerExternalModels(DialectRegistry &registry) {
  registerAccessModels(registry);
  registerAsyncCopyModels(registry);
  registerBarrierModels(registry);
  registerOverwriteModels(registry);
  registerRegisterModels(registry);
}
