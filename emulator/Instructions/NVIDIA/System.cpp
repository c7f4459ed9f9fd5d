//===- System.cpp - Memory spaces, hints and system calls of NVIDIA -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Mbarrier.h"
#include "smalti/emulator/Instructions/Printf.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <map>
#include <string>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

/// Caches, the hardware's schedule and orders of memory: threads of a block run
/// one at a time, and their accesses in order.
void nothing(const Call &) {}

void sleep(const Call &) { yield(); }
void exitThread(const Call &) { endThread(); }

//--- Spaces of memory ---------------------------------------------------------

/// The block of the cluster in whose shared memory an address is, or -1.
int rankOf(const Call &call) {
  auto *address = call.get<const char *>(0);
  int rank = rankOfShared(address);
  return rank >= 0 && address < sharedBaseOf(rank) + sharedBytes() ? rank : -1;
}
void isSharedSpace(const Call &call) {
  call.set<uint8_t>(rankOf(call) == clusterRank());
}
void isClusterSpace(const Call &call) { call.set<uint8_t>(rankOf(call) >= 0); }

/// Local and constant memory do not have an own range: all memory other than
/// shared is global.
void isGlobalSpace(const Call &call) { call.set<uint8_t>(rankOf(call) < 0); }
void isNot(const Call &call) { call.set<uint8_t>(0); }

template <class Type> void move(const Call &call) {
  call.set(call.get<Type>(0));
}

/// An address of 64 bits, or of 32 in inline assembly.
const char *addressOf(const Call &call) {
  return call.bytes(0) == 4
             // NOLINTNEXTLINE(performance-no-int-to-ptr)
             ? reinterpret_cast<const char *>(uintptr_t(call.get<uint32_t>(0)))
             : call.get<const char *>(0);
}

/// The same offset in the shared memory of another block of the cluster.
void mapToBlock(const Call &call) {
  int rank = call.get<int32_t>(1);
  const char *address = addressOf(call);
  int own = rankOfShared(address);
  if (rank < 0 || rank >= clusterSize())
    fail("mapa: block %d does not exist; the cluster has %d blocks", rank,
         clusterSize());
  if (own < 0)
    fail("mapa: address %p is not in shared memory",
         static_cast<const void *>(address));
  const char *mapped = sharedBaseOf(rank) + (address - sharedBaseOf(own));
  if (call.resultBytes() == 4)
    call.set(uint32_t(uintptr_t(mapped)));
  else
    call.set(mapped);
}
void blockOfAddress(const Call &call) {
  call.set<int32_t>(rankOfShared(addressOf(call)));
}

/// ldu, and the old forms of ld.global.nc.
void loadGlobal(const Call &call) {
  auto *address = call.get<const char *>(0);
  if (uintptr_t(address) % call.get<uint32_t>(1))
    failAs(
        "misaligned",
        "ldu: address %p is not a multiple of %u bytes, the size of the access",
        static_cast<const void *>(address), call.get<uint32_t>(1));
  touchRead(address, call.resultBytes());
  memcpy(call.result, address, call.resultBytes());
}

/// Zeros: no other value is allowed.
void storeBulk(const Call &call) {
  auto *address = call.get<char *>(0);
  auto bytes = call.get<uint64_t>(1);
  if (bytes % 8 || uintptr_t(address) % 8)
    failAs("misaligned",
           "st.bulk: the size is %llu bytes and the address %p; both must be "
           "multiples of 8 bytes",
           static_cast<unsigned long long>(bytes),
           static_cast<void *>(address));
  touchWrite(address, bytes);
  memset(address, 0, bytes);
}

//--- vprintf and __assertfail -------------------------------------------------

/// Reads the values that a call of vprintf stored contiguously, each aligned to
/// its size.
class PrintedValues {
public:
  explicit PrintedValues(const char *at) : at(at) {}
  template <class Type> Type next() {
    auto address = (reinterpret_cast<uintptr_t>(at) + sizeof(Type) - 1) &
                   ~uintptr_t(sizeof(Type) - 1);
    at = reinterpret_cast<const char *>(address);
    touchRead(at, sizeof(Type));
    Type value;
    memcpy(&value, at, sizeof(Type));
    at += sizeof(Type);
    return value;
  }

private:
  const char *at;
};

/// Returns the number of conversions, as vprintf does.
void printFormatted(const Call &call) {
  PrintedValues values(call.get<const char *>(1));
  std::string text;
  std::optional<int> conversions =
      appendFormatted(text, call.get<const char *>(0), values);
  if (!conversions)
    return call.set<int32_t>(-1);
  printOutput(text.data(), text.size());
  call.set<int32_t>(*conversions);
}

void failAssertion(const Call &call) {
  // MLIR does not pass the name of the function.
  std::string function = call.get<const char *>(3);
  function = function == "(unknown)" ? "" : function + ": ";
  std::string line = getLastLine();
  failAs("trap", "%s:%u: %sassertion `%s` failed%s%s",
         call.get<const char *>(1), call.get<uint32_t>(2), function.c_str(),
         call.get<const char *>(0),
         line.empty() ? "" : "; the thread printed: ", line.c_str());
}

//--- Cluster launch control ---------------------------------------------------

/// No block is ever canceled: the response is zero.
void tryCancel(const Call &call) {
  auto *response = call.get<char *>(0);
  if (uintptr_t(response) % 16)
    failAs(
        "misaligned",
        "clusterlaunchcontrol.try_cancel: address %p is not a multiple of 16 "
        "bytes; align the response to 16 bytes",
        static_cast<void *>(response));
  Mbarrier barrier(call.get<void *>(1));
  barrier.deferUntilWait([=] {
    touchWrite(response, 16);
    memset(response, 0, 16);
    Mbarrier(barrier).completeBytes(16);
  });
}
void isCanceled(const Call &call) {
  call.set<uint8_t>(call.get<uint64_t>(0) != 0);
}
void firstBlockOfCanceled(const Call &) {
  fail("clusterlaunchcontrol.query_cancel.get_first_ctaid: no block was "
       "canceled; test is_canceled first");
}

/// All warps of a warpgroup must execute it: the number of executions by each
/// warp.
std::map<int, int> registerUses;

void forget() { registerUses.clear(); }

void checkWholeWarpgroups() {
  constexpr int numWarps = 4;
  for (const auto &[wave, uses] : registerUses) {
    int first = wave - wave % numWarps;
    for (int other = first; other < first + numWarps; ++other) {
      auto found = registerUses.find(other);
      if (found == registerUses.end() || found->second != uses)
        failInOrder(
            "divergence", {}, nullptr, 0,
            "setmaxnreg: warp %d executed it %d times, but warp %d of the same "
            "warpgroup %d times; all warps of a warpgroup must execute it",
            wave, uses, other, found == registerUses.end() ? 0 : found->second);
    }
  }
}
const BlockObserver observer(forget, checkWholeWarpgroups);

void setRegisters(const Wave &wave) {
  auto count = wave.lanes[0].get<uint32_t>(0);
  if (count < 24 || count > 256 || count % 8)
    fail("setmaxnreg: the register count is %u; it must be a multiple of 8 "
         "from 24 to 256",
         count);
  ++registerUses[waveIdInCluster()];
}

/// Operands address and bytes of the store before the call.
void written(const Call &call) {
  noteGenericWrite(call.get<const void *>(0), call.get<uint64_t>(1));
}

/// Operands address, bytes, and the alignment that global memory requires. An
/// access of more than 16 bytes follows the call.
void checkAlignment(const Call &call) {
  auto *address = call.get<const void *>(0);
  auto bytes = call.get<uint32_t>(1), alignment = call.get<uint32_t>(2);
  if (rankOfShared(address) >= 0)
    alignment = 16;
  if (uintptr_t(address) % alignment)
    failAs("misaligned",
           "%u-byte access: address %p is not a multiple of %u bytes, the "
           "size of one memory instruction",
           bytes, address, alignment);
}

void fenceAsyncProxy(const Call &) { fenceProxies(); }

void fenceDevice(const Call &) { fenceMemory(); }
/// Threads of a block are ordered by barriers, not by fences.
void fenceBlock(const Call &) { releaseAtClusterArrival(false); }
/// Only `.release`, and only for shared memory; the address space is not
/// distinguished.
void fenceRelease(const Call &) { releaseAtClusterArrival(true); }
void fenceAsyncProxyRelease(const Call &) {
  fenceProxies();
  releaseAtClusterArrival(true);
}
void fenceInits(const Call &) { fenceMbarrierInits(); }

#define SMALTI_PTX(section) "PTX ISA, \"" section "\""
#define SMALTI_GUIDE(section) "CUDA Programming Guide, \"" section "\""
// clang-format off: one line an instruction
#define SMALTI_PROXY_FENCE(name) {name, fenceAsyncProxy, nullptr, SMALTI_PTX("membar, fence")},
#define SMALTI_HINT(name, section) {"llvm.nvvm." name, nothing, nullptr, SMALTI_PTX(section)},
constexpr Instruction table[] = {
    {"llvm.nvvm.membar.cta", fenceBlock, nullptr, SMALTI_PTX("membar, fence")},
    {"llvm.nvvm.membar.gl", fenceDevice, nullptr, SMALTI_PTX("membar, fence")},
    {"llvm.nvvm.membar.sys", fenceDevice, nullptr, SMALTI_PTX("membar, fence")},
    {"llvm.nvvm.fence.sc.cluster", fenceDevice, nullptr, SMALTI_PTX("membar, fence")},
    {"llvm.nvvm.fence.mbarrier_init.release.cluster", fenceInits, nullptr, SMALTI_PTX("membar, fence")},
    SMALTI_HINT("fence.acquire.sync_restrict.space.cluster.scope.cluster", "membar, fence")
    {"llvm.nvvm.fence.release.sync_restrict.space.cta.scope.cluster", fenceRelease, nullptr, SMALTI_PTX("membar, fence")},
    SMALTI_HINT("fence.proxy.alias", "membar, fence")
    SMALTI_PROXY_FENCE("llvm.nvvm.fence.proxy.async")
    SMALTI_HINT("fence.proxy.async.global", "membar, fence")
    SMALTI_PROXY_FENCE("llvm.nvvm.fence.proxy.async.shared_cta")
    SMALTI_PROXY_FENCE("llvm.nvvm.fence.proxy.async.shared_cluster")
    SMALTI_HINT("fence.proxy.async_generic.acquire.sync_restrict.space.cluster.scope.cluster", "membar, fence")
    {"llvm.nvvm.fence.proxy.async_generic.release.sync_restrict.space.cta.scope.cluster", fenceAsyncProxyRelease, nullptr, SMALTI_PTX("membar, fence")},
    SMALTI_HINT("fence.proxy.tensormap_generic.acquire.cta", "membar, fence")
    SMALTI_HINT("fence.proxy.tensormap_generic.acquire.cluster", "membar, fence")
    SMALTI_HINT("fence.proxy.tensormap_generic.acquire.gpu", "membar, fence")
    SMALTI_HINT("fence.proxy.tensormap_generic.acquire.sys", "membar, fence")
    SMALTI_HINT("fence.proxy.tensormap_generic.release.cta", "membar, fence")
    SMALTI_HINT("fence.proxy.tensormap_generic.release.cluster", "membar, fence")
    SMALTI_HINT("fence.proxy.tensormap_generic.release.gpu", "membar, fence")
    SMALTI_HINT("fence.proxy.tensormap_generic.release.sys", "membar, fence")
    SMALTI_HINT("discard.L2", "discard")
    SMALTI_HINT("discard.global.L2", "discard")
    SMALTI_HINT("prefetch.L1", "prefetch, prefetchu")
    SMALTI_HINT("prefetch.L2", "prefetch, prefetchu")
    SMALTI_HINT("prefetch.global.L1", "prefetch, prefetchu")
    SMALTI_HINT("prefetch.global.L2", "prefetch, prefetchu")
    SMALTI_HINT("prefetch.global.L2.evict.last", "prefetch, prefetchu")
    SMALTI_HINT("prefetch.global.L2.evict.normal", "prefetch, prefetchu")
    SMALTI_HINT("prefetch.local.L1", "prefetch, prefetchu")
    SMALTI_HINT("prefetch.local.L2", "prefetch, prefetchu")
    SMALTI_HINT("prefetchu.L1", "prefetch, prefetchu")
    SMALTI_HINT("applypriority.L2.evict.normal", "applypriority")
    SMALTI_HINT("applypriority.global.L2.evict.normal", "applypriority")
    {"llvm.nvvm.setmaxnreg.inc.sync.aligned.u32", nullptr, setRegisters, SMALTI_PTX("setmaxnreg"), nullptr, nullptr, true},
    {"llvm.nvvm.setmaxnreg.dec.sync.aligned.u32", nullptr, setRegisters, SMALTI_PTX("setmaxnreg"), nullptr, nullptr, true},
    {"asm:setmaxnreg.inc.sync.aligned.u32", nullptr, setRegisters, SMALTI_PTX("setmaxnreg"), nullptr, nullptr, true},
    {"asm:setmaxnreg.dec.sync.aligned.u32", nullptr, setRegisters, SMALTI_PTX("setmaxnreg"), nullptr, nullptr, true},
    SMALTI_PROXY_FENCE("asm:fence.proxy.async")
    SMALTI_PROXY_FENCE("asm:fence.proxy.async.shared::*")
    {"asm:fence.proxy.async::generic.release.*", fenceAsyncProxyRelease, nullptr, SMALTI_PTX("membar, fence")},
    {"smalti.nvvm.written.*", written, nullptr, SMALTI_PTX("Memory Consistency Model: Proxies")},
    {"smalti.nvvm.aligned.*", checkAlignment, nullptr, SMALTI_PTX("Operand Alignment")},
    {"asm:fence.proxy.*", nothing, nullptr, SMALTI_PTX("membar, fence")},
    {"asm:fence.mbarrier_init.release.cluster", fenceInits, nullptr, SMALTI_PTX("membar, fence")},
    {"asm:fence.*.cta", fenceBlock, nullptr, SMALTI_PTX("membar, fence")},
    {"asm:fence.*.cluster", fenceDevice, nullptr, SMALTI_PTX("membar, fence")},
    {"asm:fence.*.gpu", fenceDevice, nullptr, SMALTI_PTX("membar, fence")},
    {"asm:fence.*.sys", fenceDevice, nullptr, SMALTI_PTX("membar, fence")},
    SMALTI_HINT("griddepcontrol.launch.dependents", "griddepcontrol")
    SMALTI_HINT("griddepcontrol.wait", "griddepcontrol")
    {"asm:griddepcontrol.launch_dependents", nothing, nullptr, SMALTI_PTX("griddepcontrol")},
    {"asm:griddepcontrol.wait", nothing, nullptr, SMALTI_PTX("griddepcontrol")},
    SMALTI_HINT("pm.event.mask", "pmevent")
    {"llvm.nvvm.nanosleep", sleep, nullptr, SMALTI_PTX("nanosleep")},
    {"asm:nanosleep.u32", sleep, nullptr, SMALTI_PTX("nanosleep")},
    {"llvm.nvvm.exit", exitThread, nullptr, SMALTI_PTX("exit")},
    {"llvm.nvvm.isspacep.shared", isSharedSpace, nullptr, SMALTI_PTX("isspacep")},
    {"llvm.nvvm.isspacep.shared.cluster", isClusterSpace, nullptr, SMALTI_PTX("isspacep")},
    {"llvm.nvvm.isspacep.global", isGlobalSpace, nullptr, SMALTI_PTX("isspacep")},
    {"llvm.nvvm.isspacep.local", isNot, nullptr, SMALTI_PTX("isspacep")},
    {"llvm.nvvm.isspacep.const", isNot, nullptr, SMALTI_PTX("isspacep")},
    {"llvm.nvvm.move.i16", move<uint16_t>, nullptr, SMALTI_PTX("mov")},
    {"llvm.nvvm.move.i32", move<uint32_t>, nullptr, SMALTI_PTX("mov")},
    {"llvm.nvvm.move.i64", move<uint64_t>, nullptr, SMALTI_PTX("mov")},
    {"llvm.nvvm.move.float", move<uint32_t>, nullptr, SMALTI_PTX("mov")},
    {"llvm.nvvm.move.double", move<uint64_t>, nullptr, SMALTI_PTX("mov")},
    {"llvm.nvvm.move.ptr.*", move<uint64_t>, nullptr, SMALTI_PTX("mov")},
    {"llvm.nvvm.internal.addrspace.wrap.*", move<uint64_t>, nullptr, SMALTI_PTX("cvta")},
    {"llvm.nvvm.mapa", mapToBlock, nullptr, SMALTI_PTX("mapa")},
    {"llvm.nvvm.mapa.shared.cluster", mapToBlock, nullptr, SMALTI_PTX("mapa")},
    {"asm:mapa.shared::cluster.u32", mapToBlock, nullptr, SMALTI_PTX("mapa")},
    {"asm:mapa.u64", mapToBlock, nullptr, SMALTI_PTX("mapa")},
    {"asm:getctarank.shared::cluster.u32", blockOfAddress, nullptr, SMALTI_PTX("getctarank")},
    {"llvm.nvvm.getctarank", blockOfAddress, nullptr, SMALTI_PTX("getctarank")},
    {"llvm.nvvm.getctarank.shared.cluster", blockOfAddress, nullptr, SMALTI_PTX("getctarank")},
    {"llvm.nvvm.ldu.global.f.*", loadGlobal, nullptr, SMALTI_PTX("ldu")},
    {"llvm.nvvm.ldu.global.i.*", loadGlobal, nullptr, SMALTI_PTX("ldu")},
    {"llvm.nvvm.ldu.global.p.*", loadGlobal, nullptr, SMALTI_PTX("ldu")},
    {"llvm.nvvm.st.bulk", storeBulk, nullptr, SMALTI_PTX("st.bulk")},
    {"llvm.nvvm.st.bulk.shared.cta", storeBulk, nullptr, SMALTI_PTX("st.bulk")},
    {"llvm.nvvm.clusterlaunchcontrol.try_cancel.async.shared", tryCancel, nullptr, SMALTI_PTX("clusterlaunchcontrol.try_cancel")},
    {"llvm.nvvm.clusterlaunchcontrol.try_cancel.async.multicast.shared", tryCancel, nullptr, SMALTI_PTX("clusterlaunchcontrol.try_cancel")},
    {"llvm.nvvm.clusterlaunchcontrol.query_cancel.is_canceled", isCanceled, nullptr, SMALTI_PTX("clusterlaunchcontrol.query_cancel")},
    {"llvm.nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.x", firstBlockOfCanceled, nullptr, SMALTI_PTX("clusterlaunchcontrol.query_cancel")},
    {"llvm.nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.y", firstBlockOfCanceled, nullptr, SMALTI_PTX("clusterlaunchcontrol.query_cancel")},
    {"llvm.nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.z", firstBlockOfCanceled, nullptr, SMALTI_PTX("clusterlaunchcontrol.query_cancel")},
    {"asm:clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128", tryCancel, nullptr, SMALTI_PTX("clusterlaunchcontrol.try_cancel")},
    {"asm:clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128", tryCancel, nullptr, SMALTI_PTX("clusterlaunchcontrol.try_cancel")},
    {"asm:clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128", tryCancel, nullptr, SMALTI_PTX("clusterlaunchcontrol.try_cancel")},
    {"asm:clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128", tryCancel, nullptr, SMALTI_PTX("clusterlaunchcontrol.try_cancel")},
    {"asm:clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", isCanceled, nullptr, SMALTI_PTX("clusterlaunchcontrol.query_cancel")},
    {"asm:clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128", firstBlockOfCanceled, nullptr, SMALTI_PTX("clusterlaunchcontrol.query_cancel")},
    {"asm:clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128", firstBlockOfCanceled, nullptr, SMALTI_PTX("clusterlaunchcontrol.query_cancel")},
    {"asm:clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128", firstBlockOfCanceled, nullptr, SMALTI_PTX("clusterlaunchcontrol.query_cancel")},
    {"asm:clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128", firstBlockOfCanceled, nullptr, SMALTI_PTX("clusterlaunchcontrol.query_cancel")},
    {"vprintf", printFormatted, nullptr, SMALTI_GUIDE("Formatted Output") " and PTX ISA, \"System Calls\""},
    {"__assertfail", failAssertion, nullptr, SMALTI_GUIDE("Assertion") " and PTX ISA, \"System Calls\""},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaSystem = table;
