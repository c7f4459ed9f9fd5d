//===- Passes.cpp - Registration of Smalti's passes -----------------------===//

#include "passes/Passes.h"

#include "mlir/Pass/Pass.h"

void smalti::registerPasses() {}
