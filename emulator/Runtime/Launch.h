//===- Launch.h - The description of a launch -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_RUNTIME_LAUNCH_H
#define SMALTI_EMULATOR_RUNTIME_LAUNCH_H

#include "smalti/emulator/Instructions/Thread.h"

#include <string>
#include <vector>

namespace smalti::emulator {

enum class Vendor { NVIDIA, AMD };

/// The order of waves.
enum class Order {
  /// The first wave runs until it cannot continue, then the next wave.
  LowestFirst,
  /// The last wave runs until it cannot continue, then the previous wave.
  HighestFirst,
  /// Each wave in turn runs to its next wave-level instruction.
  RoundRobin,
  /// The order of waves and the number of steps are random, from a seed.
  Random,
};

struct Range {
  uint64_t offset = 0, bytes = 0;
};

/// An argument: a pointer to a range of the argument memory, or a value.
struct Argument {
  bool isArray = false;
  Range array;
  /// The offset of the first element in the array. Elements precede it if
  /// strides are negative.
  uint64_t first = 0;
  /// The name of the array in findings.
  std::string name;
  std::vector<char> value;
};

/// A location that receives an address of the argument memory: in that memory,
/// or in the value of an argument.
struct AddressOf {
  int argument = -1;
  uint64_t offset = 0;
  uint64_t target = 0;
};

struct Launch {
  std::string library, kernel;
  Dimensions grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  Vendor vendor = Vendor::NVIDIA;
  /// The name from the target table.
  std::string architecture;
  int waveSize = 32;
  uint32_t dynamicSharedBytes = 0;
  int workers = 1;
  Order order = Order::LowestFirst;
  uint64_t seed = 0;
  bool copiesLate = true;
  /// 0: no limit.
  double timeout = 0;
  uint64_t firstBlock = 0;
  uint64_t endBlock = 0;
  int memoryDescriptor = -1;
  uint64_t memoryBytes = 0;
  std::vector<Range> holes, guards;
  std::vector<Argument> arguments;
  std::vector<AddressOf> addresses;

  int numThreads() const { return block.x * block.y * block.z; }
  int clusterSize() const { return cluster.x * cluster.y * cluster.z; }
};

/// The launch of this process.
extern Launch launch;

/// Reads a launch in the text protocol up to `run`; returns an error or an
/// empty string.
std::string readLaunch(int descriptor, Launch &launch);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_LAUNCH_H
