//===- Multicast.h - Copies to several blocks of a cluster ----------------===//
//
// PTX ISA, "cp.async.bulk": a bit of the mask stands for the block of that
// rank; data and the end of the copy go to where the operands are in each of
// them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MULTICAST_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MULTICAST_H

#include "smalti/emulator/Instructions/Thread.h"

namespace smalti::emulator::nvidia {

/// Calls `use(to, barrier)` with the places in each block.
template <class Use>
void forEachBlock(const char *name, uint16_t blocks, char *to, void *barrier,
                  Use use) {
  int ranks[] = {rankOfShared(to), rankOfShared(barrier)};
  if (ranks[0] < 0 || ranks[1] < 0)
    fail("%s: %p is not in shared memory", name,
         ranks[0] < 0 ? to : static_cast<char *>(barrier));
  if (blocks == 0 || blocks >> clusterSize())
    fail("%s to the blocks %#x of a cluster: it has %d", name, blocks,
         clusterSize());
  auto at = static_cast<char *>(barrier);
  for (int rank = 0; rank < clusterSize(); ++rank) {
    if (!(blocks >> rank & 1))
      continue;
    if (isBlockOver(rank))
      fail("%s to block %d of the cluster, which has ended", name, rank);
    use(to - sharedBaseOf(ranks[0]) + sharedBaseOf(rank),
        at - sharedBaseOf(ranks[1]) + sharedBaseOf(rank));
  }
}

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_MULTICAST_H
