//===- RegisterRelayouts.h - Emission of relayout steps ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERRELAYOUTS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERRELAYOUTS_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Layouts/Plans/RelayoutPlan.h"

namespace smalti::block_to_thread {

/// The register layout of a distribution.
layout::RegisterLayout getRegisterLayout(const Distribution &distribution);

/// Emits the steps of a relayout in registers and by shuffles: from registers
/// to `count` registers of this type.
Registers emitRelayoutSteps(mlir::OpBuilder &builder, mlir::Location loc,
                            Emitter &emitter,
                            const relayouts::RelayoutPlan &plan,
                            llvm::ArrayRef<mlir::Value> registers,
                            mlir::VectorType type, int64_t count);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERRELAYOUTS_H
