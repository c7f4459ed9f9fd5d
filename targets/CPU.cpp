//===- CPU.cpp - The host as a target -------------------------------------===//

#include "smalti/targets/Chips.h"

using namespace smalti::targets;

void smalti::targets::addCPU(ChipTable &table) {
  // A block is one thread and nothing is shared: every fact keeps its default.
  Target cpu;
  cpu.name = "cpu";
  cpu.vendor = Vendor::CPU;
  cpu.architecture = "host";
  table.add(cpu, {});
}
