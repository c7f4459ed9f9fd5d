//===- Launch.h - What a process is to run --------------------------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_LAUNCH_H
#define SMALTI_EMULATOR_RUNTIME_LAUNCH_H

#include "smalti/emulator/Instructions/Thread.h"

#include <string>
#include <vector>

namespace smalti::emulator {

enum class Vendor { NVIDIA, AMD };

/// The order in which waves run.
enum class Order {
  /// Each as far as it comes, the first wave first.
  FirstAhead,
  /// Each as far as it comes, the last wave first.
  LastAhead,
  /// Each up to its next instruction of a wave, in turn.
  InStep,
  /// In an order, and by as many instructions, as a seed says.
  Random,
};

struct Range {
  uint64_t offset = 0, bytes = 0;
};

/// An argument: a pointer to a range of the argument memory, or a value.
struct Argument {
  bool isArray = false;
  Range array;
  std::vector<char> value;
};

/// Where the address of a place in the argument memory is to stand: in that
/// memory too, or in the value of an argument.
struct AddressOf {
  int argument = -1;
  uint64_t offset = 0;
  uint64_t target = 0;
};

struct Launch {
  std::string library, kernel;
  Dimensions grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  Vendor vendor = Vendor::NVIDIA;
  /// As the target table names it.
  std::string architecture;
  int waveSize = 32;
  uint32_t dynamicSharedBytes = 0;
  int workers = 1;
  Order order = Order::FirstAhead;
  uint64_t seed = 0;
  bool copiesLate = true;
  /// 0: none.
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
  uint64_t numBlocks() const {
    return uint64_t(grid.x) * uint64_t(grid.y) * uint64_t(grid.z);
  }
};

/// The launch of this process.
extern Launch launch;

/// Reads a launch in the text protocol up to `run`; returns what is wrong with
/// it, or an empty string.
std::string readLaunch(int descriptor, Launch &launch);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_LAUNCH_H
