//===- Atomic.h - Read-modify-write of memory, of AMD ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_AMD_ATOMIC_H
#define SMALTI_EMULATOR_INSTRUCTIONS_AMD_ATOMIC_H

#include "smalti/emulator/Instructions/AMD/Formats.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <algorithm>
#include <type_traits>

namespace smalti::emulator {

/// Two numbers that are added each on its own (PK_ADD).
template <class Format> struct PairOf {
  typename Format::Storage elements[2];
};

template <class Number> struct Exchange {
  static Number apply(Number, Number operand) { return operand; }
};
template <class Number> struct Add {
  static Number apply(Number old, Number operand) { return old + operand; }
};
template <class Format> struct Add<PairOf<Format>> {
  using Pair = PairOf<Format>;
  static Pair apply(Pair old, Pair operand) {
    Pair result;
    for (int i = 0; i < 2; ++i)
      result.elements[i] = roundNearest<Format>(
          Format::read(old.elements[i]) + Format::read(operand.elements[i]));
    return result;
  }
};
template <class Number> struct Subtract {
  static Number apply(Number old, Number operand) { return old - operand; }
};
template <class Number> struct SignedMin {
  using Signed = std::make_signed_t<Number>;
  static Number apply(Number old, Number operand) {
    return Number(std::min(Signed(old), Signed(operand)));
  }
};
template <class Number> struct SignedMax {
  using Signed = std::make_signed_t<Number>;
  static Number apply(Number old, Number operand) {
    return Number(std::max(Signed(old), Signed(operand)));
  }
};
template <class Number> struct UnsignedMin {
  static Number apply(Number old, Number operand) {
    return std::min(old, operand);
  }
};
template <class Number> struct UnsignedMax {
  static Number apply(Number old, Number operand) {
    return std::max(old, operand);
  }
};
template <class Number> struct And {
  static Number apply(Number old, Number operand) { return old & operand; }
};
template <class Number> struct Or {
  static Number apply(Number old, Number operand) { return old | operand; }
};
template <class Number> struct Xor {
  static Number apply(Number old, Number operand) { return old ^ operand; }
};
/// Up to the operand, then 0.
template <class Number> struct Increment {
  static Number apply(Number old, Number operand) {
    return old >= operand ? 0 : old + 1;
  }
};
/// From 0, or from above it, to the operand.
template <class Number> struct Decrement {
  static Number apply(Number old, Number operand) {
    return old == 0 || old > operand ? operand : old - 1;
  }
};
template <class Number> struct SubtractIfEnough {
  static Number apply(Number old, Number operand) {
    return old >= operand ? old - operand : old;
  }
};
template <class Number> struct SubtractClamped {
  static Number apply(Number old, Number operand) {
    return old >= operand ? old - operand : 0;
  }
};
/// A NaN loses against a number.
template <class Number> struct NumberMin {
  static Number apply(Number old, Number operand) {
    return std::fmin(old, operand);
  }
};
template <class Number> struct NumberMax {
  static Number apply(Number old, Number operand) {
    return std::fmax(old, operand);
  }
};
/// Marks the one whose new value depends on a second operand.
template <class Number> struct CompareExchange;

/// Changes memory immediately; returns the old value. The operand, and for
/// `CompareExchange` the compared value, are the first operands of the call, or
/// start at `first`.
template <class Number, template <class> class Operation>
Number updateMemory(void *address, const Call &call, int first = 0) {
  using Bits = std::conditional_t<sizeof(Number) == 8, uint64_t, uint32_t>;
  if (uintptr_t(address) % sizeof(Bits))
    failAs("misaligned",
           "%zu-byte atomic access: address %p is not a multiple of the size",
           sizeof(Bits), address);
  touchAtomic(address, sizeof(Bits));
  auto *memory = static_cast<Bits *>(address);
  auto operand = call.get<Number>(first);
  Bits old = __atomic_load_n(memory, __ATOMIC_RELAXED);
  for (;;) {
    Bits desired;
    if constexpr (std::is_same<Operation<Number>,
                               CompareExchange<Number>>::value)
      desired = old == call.get<Bits>(first + 1) ? bitCast<Bits>(operand) : old;
    else
      desired = bitCast<Bits>(
          Operation<Number>::apply(bitCast<Number>(old), operand));
    if (__atomic_compare_exchange_n(memory, &old, desired, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return bitCast<Number>(old);
  }
}

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_AMD_ATOMIC_H
