//===- Passes.cpp - Registration of Smalti's passes -----------------------===//

#include "passes/Passes.h"

#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace smalti

void smalti::registerPasses() { registerSmaltiPasses(); }
