//===- Passes.cpp - Registration of Smalti's passes -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Passes.h"
#include "smalti/passes/Pipelines/Pipelines.h"
#include "smalti/passes/Support/Options.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "smalti/passes/Passes.h.inc"
} // namespace smalti

void smalti::registerPasses() {
  registerSmaltiPasses();
  registerPipelines();
}
