//===- OpLowerings.cpp - Registry of op lowerings -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

OpLowering::~OpLowering() = default;

LogicalResult OpLowering::planKernel(Planner &) const { return success(); }
