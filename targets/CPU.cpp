//===- CPU.cpp - The host CPU as a target ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/targets/Chips.h"

using namespace smalti::targets;

void smalti::targets::addCPU(ChipTable &table) {
  // A block has one thread: all properties keep their defaults.
  Target cpu;
  cpu.name = "cpu";
  cpu.vendor = Vendor::CPU;
  cpu.architecture = "host";
  table.add(cpu, {});
}
