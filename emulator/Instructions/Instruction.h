//===- Instruction.h - Entries of the instruction table -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instruction is an LLVM intrinsic (`llvm.nvvm.*`, `llvm.amdgcn.*`), a
// statement of inline assembly, or a system function (`vprintf`). The table has
// one entry for each: the name, the implementation on the host, and the
// document that specifies it.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_INSTRUCTION_H
#define SMALTI_EMULATOR_INSTRUCTIONS_INSTRUCTION_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace smalti::emulator {

/// The types of a call of an instruction, created by the rewriter for each call
/// site.
struct Site {
  /// Bytes of the result as it is stored: the fields of a struct follow one
  /// another without gaps. An `i1` takes a byte.
  uint32_t resultBytes;
  uint32_t numOperands;
  /// The position among the call sites of the function. A branch comes before
  /// the block where its paths rejoin; lanes at a lower position run first.
  uint32_t order;
  uint32_t reserved;
  /// `numOperands` of them, stored like the result.
  const uint32_t *operandBytes;
};

/// One execution of an instruction by one thread.
struct Call {
  const Site *site;
  void *result;
  const void *const *operands;
  /// The return address of the call; findings derive the source location from
  /// it.
  const void *returnAddress;

  uint32_t numOperands() const { return site->numOperands; }
  uint32_t bytes(int operand) const { return site->operandBytes[operand]; }
  uint32_t resultBytes() const { return site->resultBytes; }
  const char *data(int operand) const {
    return static_cast<const char *>(operands[operand]);
  }
  template <class T> T get(int operand) const {
    T value;
    memcpy(&value, operands[operand], sizeof(T));
    return value;
  }
  template <class T> void set(const T &value) const {
    memcpy(result, &value, sizeof(T));
  }
};

/// One execution of an instruction by the lanes of a wave that reached it.
struct Wave {
  static constexpr int maxSize = 64;

  Call lanes[maxSize];
  /// Lanes of a full wave, 32 or 64.
  int size;
  /// The active lanes, one bit each; only their calls are set.
  uint64_t active;

  bool isActive(int lane) const { return active >> lane & 1; }
  bool isFull() const {
    return active == (size == 64 ? ~uint64_t(0) : (uint64_t(1) << size) - 1);
  }
  /// Calls `use(lane, call)` for each active lane.
  template <class Use> void forEach(Use use) const {
    for (int lane = 0; lane < size; ++lane)
      if (isActive(lane))
        use(lane, lanes[lane]);
  }
};

/// An entry of the table.
struct Instruction {
  using OfThread = void (*)(const Call &call);
  using OfWave = void (*)(const Wave &wave);
  /// The lanes that must reach the instruction before any lane continues, from
  /// the operands of one lane (the `membermask` of a `.sync` instruction).
  using Members = uint64_t (*)(const Call &call);

  /// The name, a pattern of fnmatch: `*` stands for the types that LLVM
  /// appends. For a statement of NVIDIA's inline assembly `asm:` and its
  /// opcode.
  const char *name;
  /// The implementation. One of the two is null.
  OfThread ofThread;
  OfWave ofWave;
  /// The document and its section; for an undocumented rule, its source.
  const char *document;
  /// Null for an instruction without a mask: the lanes that control flow brings
  /// there participate.
  Members members = nullptr;
  /// Runs in each lane before `ofWave`. It reports the memory accesses of the
  /// lane with `touchRead` and `touchWrite`, so that sanitizers attribute them
  /// to the lane.
  OfThread touch = nullptr;
  /// Whether all lanes of the wave must reach the instruction.
  bool needsFullWave = false;
  /// Whether the earlier accesses of the lanes happen before later accesses of
  /// all of them. On AMD each wave-level instruction does that, independent of
  /// this field.
  bool ordersMemory = false;
  /// Whether a wave may execute it, from the operands of its first lane. Null:
  /// always. If no thread can make progress, the wave executes it anyway.
  bool (*isReady)(const Call &call) = nullptr;
};

/// A list of entries; each file of `Instructions/` has one, and
/// `Instructions/Table.cpp` collects them.
struct InstructionList {
  const Instruction *first;
  size_t count;

  template <size_t n>
  constexpr InstructionList(const Instruction (&array)[n]) noexcept
      : first(array), count(n) {}
};

/// The entry for a name, or null. Entries without wildcards have priority.
const Instruction *findInstruction(const char *name);
/// The same among the pure instructions: those that need an engine's
/// `Context.h` alone.
const Instruction *findPureInstruction(const char *name);

/// Calls `use` with every entry, in the table's order.
void forEachInstruction(void (*use)(const Instruction &, void *), void *data);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_INSTRUCTION_H
