//===- PlannedTransfers.h - Vectors between memory and registers *- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PLANNEDTRANSFERS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PLANNEDTRANSFERS_H

namespace smalti::block_to_thread {

class OpLowering;
class OpLowerings;

/// Of vector_load and vector_store.
void registerPlannedTransfers(OpLowerings &lowerings);

/// Of those that access plain memory, whose elements do not share bytes.
const OpLowering &getCommonLoads();
const OpLowering &getCommonStores();

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PLANNEDTRANSFERS_H
