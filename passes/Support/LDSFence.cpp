//===- LDSFence.cpp - Compiler fences for LDS accesses --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/LDSFence.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace smalti;

void smalti::createLDSFence(OpBuilder &builder, Location loc, bool isOrdered) {
  auto fence = LLVM::InlineAsmOp::create(
      builder, loc, TypeRange(), ValueRange(), /*asm_string=*/"",
      /*constraints=*/"~{memory}", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  if (isOrdered)
    fence->setAttr(kOrderedAttr, builder.getUnitAttr());
}

void smalti::createLDSBarrier(OpBuilder &builder, Location loc,
                              bool isOrdered) {
  // s_barrier does not wait for outstanding memory accesses.
  createLDSFence(builder, loc, /*isOrdered=*/false);
  amdgpu::MemoryCounterWaitOp::create(
      builder, loc, /*load=*/IntegerAttr(), /*store=*/IntegerAttr(),
      /*ds=*/builder.getI32IntegerAttr(0), /*exp=*/IntegerAttr(),
      /*tensor=*/IntegerAttr());
  ROCDL::SBarrierOp::create(builder, loc);
  createLDSFence(builder, loc, isOrdered);
}
