//===- PlannedTransfers.h - Transfers that follow a plan --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PLANNEDTRANSFERS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PLANNEDTRANSFERS_H

namespace smalti::block_to_thread {

class OpLowering;
class OpLowerings;

/// Registers the lowerings of vector_load and vector_store.
void registerPlannedTransfers(OpLowerings &lowerings);

/// The lowerings of accesses of untransformed memory whose elements do not
/// share bytes.
const OpLowering &getCommonLoads();
const OpLowering &getCommonStores();

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PLANNEDTRANSFERS_H
