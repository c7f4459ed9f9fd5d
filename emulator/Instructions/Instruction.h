//===- Instruction.h - Device instructions, as entries of a table
//-----------===//
//
// An instruction is an intrinsic of LLVM's (`llvm.nvvm.*`, `llvm.amdgcn.*`), a
// statement of inline assembly, or a function that device code expects of its
// system (`vprintf`). The table has one entry for each: its name, what it does
// on the host, and the document that says so. A newcomer adds an entry.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_INSTRUCTION_H
#define SMALTI_EMULATOR_INSTRUCTIONS_INSTRUCTION_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace smalti::emulator {

/// The types of an instruction's call, made by the rewriter, one for each call
/// site.
struct Site {
  /// Bytes of the result as it is stored: the fields of a struct follow one
  /// another without gaps. An `i1` takes a byte.
  uint32_t resultBytes;
  uint32_t numOperands;
  /// The place among the call sites of its function, in an order in which a
  /// branch comes before the block where its sides meet again: lanes that wait
  /// at a lower one go first.
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
  /// Where the call returns to: what a finding's place in the source is told
  /// from.
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

/// One execution of an instruction by the lanes of a wave that came to it.
struct Wave {
  static constexpr int maxSize = 64;

  Call lanes[maxSize];
  /// Lanes of a full wave, 32 or 64.
  int size;
  /// The lanes that take part, one bit each; only their calls are there.
  uint64_t active;

  bool isActive(int lane) const { return active >> lane & 1; }
  bool isFull() const {
    return active == (size == 64 ? ~uint64_t(0) : (uint64_t(1) << size) - 1);
  }
  /// Calls `use(lane, call)` for each lane that takes part.
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
  /// The lanes that must come to the instruction before any goes on, as one
  /// lane says it (the `membermask` of a `.sync` instruction).
  using Members = uint64_t (*)(const Call &call);

  /// The name, a pattern of fnmatch: `*` stands for the types that LLVM
  /// appends. For a statement of NVIDIA's inline assembly `asm:` and its
  /// opcode.
  const char *name;
  /// What it does. One of the two is null.
  OfThread ofThread;
  OfWave ofWave;
  /// The document and its section; for a rule that is in no document, what it
  /// was told from.
  const char *document;
  /// Null for an instruction without a mask: the lanes that the control flow
  /// brings to it take part.
  Members members = nullptr;
  /// Runs in each lane on its own, before the wave: where a lane reads or
  /// writes memory it says so with `touchRead` and `touchWrite`, so that
  /// sanitizers see who did it.
  OfThread touch = nullptr;
  /// Whether it is wrong to come here with a part of the wave.
  bool needsFullWave = false;
  /// Whether lanes see what the others did to memory before it. On AMD each
  /// instruction of a wave does that, whatever stands here: its lanes run in
  /// step.
  bool ordersMemory = false;
  /// Whether a wave may execute it, as its first lane says. Null: always. Where
  /// nobody else can go on the wave executes it all the same.
  bool (*isReady)(const Call &call) = nullptr;
};

/// Some entries; each file of `Instructions/` has one such array, and
/// `Instructions/Table.cpp` lists them.
struct InstructionList {
  const Instruction *first;
  size_t count;

  template <size_t n>
  constexpr InstructionList(const Instruction (&array)[n]) noexcept
      : first(array), count(n) {}
};

/// The entry for a name, or null. Entries that name it without wildcards win.
const Instruction *findInstruction(const char *name);
/// The same among the pure instructions: those that need an engine's
/// `Context.h` alone.
const Instruction *findPureInstruction(const char *name);

/// Calls `use` with every entry, in the table's order.
void forEachInstruction(void (*use)(const Instruction &, void *), void *data);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_INSTRUCTION_H
