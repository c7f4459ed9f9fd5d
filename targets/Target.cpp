//===- Target.cpp - Lookup in the chip table ------------------------------===//

#include "targets/Target.h"

namespace smalti::targets {
const Target *lookup(llvm::StringRef name) { return nullptr; }
} // namespace smalti::targets
