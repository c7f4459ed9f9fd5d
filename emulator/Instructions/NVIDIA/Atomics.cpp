//===- Atomics.cpp - Atomic instructions with a scope ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomics that do not have an LLVM IR instruction.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/NVIDIA/Atomic.h"

#include <type_traits>

using namespace smalti::emulator;

namespace {

/// The result is what was there.
template <class Type, class Combine>
void exchange(const Call &call, Combine combine) {
  auto operand = call.get<Type>(1);
  call.set(nvidia::exchange<Type>(
      call.get<void *>(0), [&](Type old) { return combine(old, operand); }));
}

/// Calls `use` with a value of the integer's type.
template <bool isSigned = false, class Use>
void forInteger(const Call &call, Use use) {
  if (call.resultBytes() == 8)
    use(std::conditional_t<isSigned, int64_t, uint64_t>());
  else
    use(std::conditional_t<isSigned, int32_t, uint32_t>());
}

void addFloat(const Call &call) {
  if (call.resultBytes() == 8)
    return exchange<double>(call, [](double a, double b) { return a + b; });
  exchange<float>(call, [](float a, float b) { return a + b; });
}

#define SMALTI_INTEGER(name, isSigned, expression)                             \
  void name(const Call &call) {                                                \
    forInteger<isSigned>(call, [&](auto zero) {                                \
      using Type = decltype(zero);                                             \
      exchange<Type>(call, [](Type old, Type b) { return Type(expression); }); \
    });                                                                        \
  }
SMALTI_INTEGER(addInteger, false, old + b)
SMALTI_INTEGER(bitAnd, false, old &b)
SMALTI_INTEGER(bitOr, false, old | b)
SMALTI_INTEGER(bitXor, false, old ^ b)
SMALTI_INTEGER(minimum, true, b < old ? b : old)
SMALTI_INTEGER(maximum, true, old < b ? b : old)
SMALTI_INTEGER(swap, false, ((void)old, b))
SMALTI_INTEGER(increment, false, nvidia::incremented(old, b))
SMALTI_INTEGER(decrement, false, nvidia::decremented(old, b))
#undef SMALTI_INTEGER

void compareAndSwap(const Call &call) {
  forInteger(call, [&](auto zero) {
    using Type = decltype(zero);
    call.set(nvidia::compareExchange<Type>(
        call.get<void *>(0), call.get<Type>(1), call.get<Type>(2)));
  });
}

constexpr char document[] = "PTX ISA, \"Parallel Synchronization and "
                            "Communication Instructions: atom\"";

// clang-format off: one line an instruction
#define SMALTI_ATOM(name, function) \
    {"llvm.nvvm.atomic." name ".cta.*", function, nullptr, document}, \
    {"llvm.nvvm.atomic." name ".sys.*", function, nullptr, document},
constexpr Instruction table[] = {
    SMALTI_ATOM("add.gen.f", addFloat)
    SMALTI_ATOM("add.gen.i", addInteger)
    SMALTI_ATOM("and.gen.i", bitAnd)
    SMALTI_ATOM("or.gen.i", bitOr)
    SMALTI_ATOM("xor.gen.i", bitXor)
    SMALTI_ATOM("min.gen.i", minimum)
    SMALTI_ATOM("max.gen.i", maximum)
    SMALTI_ATOM("exch.gen.i", swap)
    SMALTI_ATOM("inc.gen.i", increment)
    SMALTI_ATOM("dec.gen.i", decrement)
    SMALTI_ATOM("cas.gen.i", compareAndSwap)
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaAtomics = table;
