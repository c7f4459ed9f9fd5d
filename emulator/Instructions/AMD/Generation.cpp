//===- Generation.cpp - The generations of AMD's instructions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/AMD/Generation.h"
#include "smalti/emulator/Instructions/Context.h"

using namespace smalti::emulator;

static Generation find(const char *name) {
  static constexpr struct {
    const char *name;
    Generation generation;
  } known[] = {
      {"CDNA2", Generation::CDNA2}, {"CDNA3", Generation::CDNA3},
      {"CDNA4", Generation::CDNA4}, {"RDNA3", Generation::RDNA3},
      {"RDNA4", Generation::RDNA4}, {"GFX12.5", Generation::GFX125},
  };
  for (const auto &candidate : known)
    if (strcmp(candidate.name, name) == 0)
      return candidate.generation;
  fail(
      "the AMD architecture '%s' is not emulated; emulated are CDNA2 to CDNA4, "
      "RDNA3, RDNA4 and GFX12.5",
      name);
}

Generation smalti::emulator::generation() {
  static thread_local const char *cachedName = nullptr;
  static thread_local Generation cached;
  const char *name = architecture();
  if (name != cachedName) {
    cached = find(name);
    cachedName = name;
  }
  return cached;
}
