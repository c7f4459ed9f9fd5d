//===- Atomic.h - Atomic instructions of NVIDIA ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks may run in several processes that share memory, so each scope is an
// atomic of the host.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_ATOMIC_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_ATOMIC_H

#include "smalti/emulator/Instructions/Thread.h"

namespace smalti::emulator::nvidia {

/// The address that the instruction changes, which is reported to the
/// sanitizers.
template <class Type> Type *atomicAt(void *address) {
  if (uintptr_t(address) % sizeof(Type))
    failAs("misaligned",
           "atom: address %p is not a multiple of %zu bytes, the size of the "
           "access",
           address, sizeof(Type));
  touchAtomic(address, sizeof(Type));
  return static_cast<Type *>(address);
}

/// As `exchange`, for an access that was reported to the sanitizers.
template <class Type, class Combine>
Type update(Type *address, Combine combine) {
  Type old, changed;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    changed = combine(old);
  } while (!__atomic_compare_exchange(address, &old, &changed, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

/// Replaces the memory by what `combine` makes of it; returns what was there.
template <class Type, class Combine> Type exchange(void *at, Combine combine) {
  return update(atomicAt<Type>(at), combine);
}

/// Writes `desired` where the memory has `expected`; returns what was there.
template <class Type>
Type compareExchange(void *at, Type expected, Type desired) {
  __atomic_compare_exchange(atomicAt<Type>(at), &expected, &desired, false,
                            __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

/// Counts up to `most` and then from 0, and down from it.
template <class Type> Type incremented(Type old, Type most) {
  return old >= most ? 0 : old + 1;
}
template <class Type> Type decremented(Type old, Type most) {
  return old == 0 || old > most ? most : old - 1;
}

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_ATOMIC_H
