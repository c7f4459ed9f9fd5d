//===- Multicast.h - Copies to several blocks of a cluster ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "cp.async.bulk": each bit of the mask selects the block of that
// rank. In each selected block, data and completion go to the same
// shared-memory offsets as the operands.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MULTICAST_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MULTICAST_H

#include "smalti/emulator/Instructions/Thread.h"

namespace smalti::emulator::nvidia {

/// Calls `use(to, barrier)` with the addresses in each block.
template <class Use>
void forEachBlock(const char *name, uint16_t blocks, char *to, void *barrier,
                  Use use) {
  int ranks[] = {rankOfShared(to), rankOfShared(barrier)};
  if (ranks[0] < 0 || ranks[1] < 0)
    fail("%s: address %p is not in shared memory", name,
         ranks[0] < 0 ? to : static_cast<char *>(barrier));
  if (blocks == 0 || blocks >> clusterSize())
    fail("%s: block mask is %#x; it must name blocks of the cluster, which has "
         "%d",
         name, blocks, clusterSize());
  auto at = static_cast<char *>(barrier);
  for (int rank = 0; rank < clusterSize(); ++rank) {
    if (!(blocks >> rank & 1))
      continue;
    if (hasBlockExited(rank))
      fail("%s: destination block %d of the cluster has exited", name, rank);
    use(to - sharedBaseOf(ranks[0]) + sharedBaseOf(rank),
        at - sharedBaseOf(ranks[1]) + sharedBaseOf(rank));
  }
}

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MULTICAST_H
