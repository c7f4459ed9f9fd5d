//===- System.cpp - Clocks, caches, addresses and ends, of AMD ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/AMD/Atomic.h"
#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Printf.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <list>
#include <map>
#include <vector>

using namespace smalti::emulator;

namespace {

/// The clock advances by one step per read, so it is the same in each run.
void readClock(const Call &call) {
  static uint64_t time = 0;
  call.set(time += 64);
}

void nothing(const Call &) {}

void end(const Call &) { endThread(); }

/// Lanes exit unless the condition is true.
void endUnless(const Call &call) {
  if (!(call.get<uint8_t>(0) & 1))
    endThread();
}

void isShared(const Call &call) {
  auto *address = call.get<const char *>(0);
  call.set<uint8_t>(address >= sharedBase() &&
                    address < sharedBase() + sharedBytes());
}

/// Waiting for a change of memory is the backend's `s.monitor.sleep`; the load
/// is one like others.
void load(const Call &call) {
  auto *address = call.get<const void *>(0);
  touchRead(address, call.resultBytes());
  memcpy(call.result, address, call.resultBytes());
}

/// Operands address, value.
template <class Number, template <class> class Operation>
void update(const Call &call) {
  call.set(updateMemory<Number, Operation>(call.get<void *>(0), call, 1));
}

//--- printf of HIP ------------------------------------------------------------

/// A call of printf that its thread assembles: the format, then the arguments.
struct Message {
  std::list<std::string> strings;
  std::vector<uint64_t> words;
  size_t used = 0;

  template <class Type> Type next() {
    Type value = {};
    if (used < words.size())
      memcpy(&value, &words[used++], sizeof(Type));
    return value;
  }
};

uint64_t numMessages = 0;
std::map<uint64_t, Message> messages;

void beginMessage(const Call &call) {
  messages[++numMessages];
  call.set(numMessages);
}

/// Prints the message after its last part. Returns the number of the message.
void finishPart(const Call &call, uint64_t number, bool isLast) {
  call.set(number);
  Message &message = messages[number];
  if (!isLast)
    return;
  if (!message.strings.empty()) {
    std::string text;
    if (appendFormatted(text, message.strings.front().c_str(), message))
      printOutput(text.data(), text.size());
  }
  messages.erase(number);
}

/// Operands: message, string, bytes with the terminating zero, whether it is
/// the last part. The first string is the format.
void appendString(const Call &call) {
  auto number = call.get<uint64_t>(0);
  auto *string = call.get<const char *>(1);
  auto bytes = call.get<uint64_t>(2);
  Message &message = messages[number];
  touchRead(string, bytes);
  message.strings.emplace_back(string, strnlen(string, bytes));
  if (message.strings.size() > 1)
    message.words.push_back(
        reinterpret_cast<uintptr_t>(message.strings.back().c_str()));
  finishPart(call, number, call.get<uint32_t>(3));
}

/// Operands: message, number of words, seven words, whether it is the last
/// part.
void appendWords(const Call &call) {
  auto number = call.get<uint64_t>(0);
  auto count = call.get<uint32_t>(1);
  for (uint32_t word = 0; word < count && word < 7; ++word)
    messages[number].words.push_back(call.get<uint64_t>(2 + int(word)));
  finishPart(call, number, call.get<uint32_t>(9));
}

constexpr char prints[] = "ROCm-Device-Libs, ockl/src/services.cl, "
                          "__ockl_printf_begin";
constexpr char clocks[] = "CDNA3 ISA, \"Scalar Memory Instructions: S_MEMTIME, "
                          "S_MEMREALTIME\"";
constexpr char caches[] = "CDNA3 ISA, \"Scalar Memory Instructions: "
                          "S_DCACHE_INV\"; RDNA4 ISA, \"S_PREFETCH_DATA\": "
                          "memory has no caches here";
constexpr char ends[] = "LLVM, IntrinsicsAMDGPU.td, int_amdgcn_endpgm, "
                        "int_amdgcn_kill; CDNA3 ISA, \"SOPP Instructions: "
                        "S_ENDPGM\"";
constexpr char spaces[] = "LLVM, \"User Guide for AMDGPU Backend: Address "
                          "Spaces\"";
constexpr char monitors[] = "LLVM, IntrinsicsAMDGPU.td, AMDGPULoadMonitor";
constexpr char atomics[] = "RDNA4 ISA, \"Flat, Scratch and Global "
                           "Instructions: GLOBAL_ATOMIC_MIN_NUM_F32, "
                           "GLOBAL_ATOMIC_MAX_NUM_F32\"";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.amdgcn.s.memtime", readClock, nullptr, clocks},
    {"llvm.amdgcn.s.memrealtime", readClock, nullptr, clocks},
    {"llvm.amdgcn.s.dcache.inv", nothing, nullptr, caches},
    {"llvm.amdgcn.s.dcache.inv.vol", nothing, nullptr, caches},
    {"llvm.amdgcn.s.dcache.wb", nothing, nullptr, caches},
    {"llvm.amdgcn.s.dcache.wb.vol", nothing, nullptr, caches},
    {"llvm.amdgcn.buffer.wbinvl1", nothing, nullptr, caches},
    {"llvm.amdgcn.buffer.wbinvl1.sc", nothing, nullptr, caches},
    {"llvm.amdgcn.buffer.wbinvl1.vol", nothing, nullptr, caches},
    {"llvm.amdgcn.s.prefetch.data.*", nothing, nullptr, caches},
    {"llvm.amdgcn.s.buffer.prefetch.data", nothing, nullptr, caches},
    {"llvm.amdgcn.global.prefetch", nothing, nullptr, caches},
    {"llvm.amdgcn.flat.prefetch", nothing, nullptr, caches},
    {"llvm.amdgcn.endpgm", end, nullptr, ends},
    {"llvm.amdgcn.kill", endUnless, nullptr, ends},
    {"llvm.amdgcn.is.shared", isShared, nullptr, spaces},
    {"llvm.amdgcn.global.load.monitor.b32.*", load, nullptr, monitors},
    {"llvm.amdgcn.global.load.monitor.b64.*", load, nullptr, monitors},
    {"llvm.amdgcn.global.load.monitor.b128.*", load, nullptr, monitors},
    {"llvm.amdgcn.flat.load.monitor.b32.*", load, nullptr, monitors},
    {"llvm.amdgcn.flat.load.monitor.b64.*", load, nullptr, monitors},
    {"llvm.amdgcn.flat.load.monitor.b128.*", load, nullptr, monitors},
    {"*__ockl_printf_begin", beginMessage, nullptr, prints},
    {"*__ockl_printf_append_string_n", appendString, nullptr, prints},
    {"*__ockl_printf_append_args", appendWords, nullptr, prints},
    {"llvm.amdgcn.global.atomic.fmin.num.f32.*", update<float, NumberMin>, nullptr, atomics},
    {"llvm.amdgcn.global.atomic.fmax.num.f32.*", update<float, NumberMax>, nullptr, atomics},
    {"llvm.amdgcn.flat.atomic.fmin.num.f32.*", update<float, NumberMin>, nullptr, atomics},
    {"llvm.amdgcn.flat.atomic.fmax.num.f32.*", update<float, NumberMax>, nullptr, atomics},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdSystem = table;
