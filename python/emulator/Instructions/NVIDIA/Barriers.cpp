//===- Barriers.cpp - Barriers of NVIDIA ----------------------------------===//

#include "emulator/Instructions/Lists.h"
#include "emulator/Runtime/Thread.h"

using namespace smalti::emulator;

namespace {

constexpr int numBarriers = 16;

int barrierOf(const Call &call) {
  int id = call.get<int32_t>(0);
  if (id < 0 || id >= numBarriers)
    fail("barrier %d: a block has the barriers 0 to %d", id, numBarriers - 1);
  return id;
}

int countOf(const Call &call) {
  int count = call.get<int32_t>(1);
  if (count <= 0 || count % waveSize())
    fail("barrier %d for %d threads: the count must be a multiple of the warp "
         "size %d",
         call.get<int32_t>(0), count, waveSize());
  return count;
}

void syncAll(const Call &) {
  arriveAtBarrier(0);
  waitAtBarrier(0);
}

void sync(const Call &call) {
  int id = barrierOf(call);
  arriveAtBarrier(id);
  waitAtBarrier(id);
}

void syncCount(const Call &call) {
  int id = barrierOf(call);
  arriveAtBarrier(id, countOf(call));
  waitAtBarrier(id);
}

void arriveCount(const Call &call) {
  int id = barrierOf(call);
  arriveAtBarrier(id, countOf(call));
}

// The runtime waits for the members and orders their memory.
void syncWarp(const Wave &) {}

uint64_t members(const Call &call) { return call.get<uint32_t>(0); }

constexpr char barrierDocument[] =
    "PTX ISA, \"Parallel Synchronization and Communication Instructions: bar, "
    "barrier\"";
constexpr char warpDocument[] = "PTX ISA, \"Parallel Synchronization and "
                                "Communication Instructions: bar.warp.sync\"";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.nvvm.barrier0", syncAll, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.sync.aligned.all", sync, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.sync.all", sync, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.sync.aligned.count", syncCount, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.sync.count", syncCount, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.arrive.aligned.count", arriveCount, nullptr, barrierDocument},
    {"llvm.nvvm.barrier.cta.arrive.count", arriveCount, nullptr, barrierDocument},
    {"llvm.nvvm.bar.warp.sync", nullptr, syncWarp, warpDocument, members, nullptr, false, true},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaBarriers = table;
