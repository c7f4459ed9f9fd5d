//===- Launch.cpp - The description of a launch ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Layout.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

using namespace smalti::emulator;

Launch smalti::emulator::launch;

namespace {

/// The maximum number of arguments.
constexpr uint64_t maxArguments = 4096;
/// An upper bound for the threads of a block on any GPU.
constexpr uint64_t maxThreads = 2048;
constexpr uint64_t maxWorkers = 1024;

std::string listed(const Dimensions &sizes) {
  return std::to_string(sizes.x) + "x" + std::to_string(sizes.y) + "x" +
         std::to_string(sizes.z);
}

/// One line, read word by word.
class Line {
public:
  explicit Line(const std::string &text) : text(text), words(text) {}

  std::string word() {
    std::string result;
    if (!(words >> result))
      setError("a value is missing at the end of the line");
    return result;
  }

  /// The rest of the line, which may contain spaces.
  std::string rest() {
    std::string result;
    std::getline(words >> std::ws, result);
    if (result.empty())
      setError("a value is missing at the end of the line");
    return result;
  }

  uint64_t number(uint64_t least, uint64_t most) {
    std::string digits = word();
    errno = 0;
    char *end = nullptr;
    uint64_t value = strtoull(digits.c_str(), &end, 10);
    if (digits.empty())
      return least;
    if (*end || digits[0] < '0' || digits[0] > '9' || errno) {
      setError("'" + digits + "' is not a number");
      return least;
    }
    if (value < least || value > most) {
      setError(digits + " is not in the range " + std::to_string(least) +
               " to " + std::to_string(most));
      return least;
    }
    return value;
  }

  double seconds() {
    std::string digits = word();
    char *end = nullptr;
    double value = strtod(digits.c_str(), &end);
    if (digits.empty() || *end || !(value >= 0) || !std::isfinite(value)) {
      setError("the time limit '" + digits + "' is not a number of seconds");
      return 0;
    }
    return value;
  }

  Dimensions dimensions() {
    Dimensions result;
    for (int32_t *axis : {&result.x, &result.y, &result.z})
      *axis = int32_t(number(1, INT32_MAX));
    return result;
  }

  Range range() {
    Range result;
    result.offset = number(0, INT64_MAX);
    result.bytes = number(0, INT64_MAX);
    return result;
  }

  std::vector<char> bytes() {
    std::string digits = word();
    std::vector<char> result;
    if (digits.size() % 2 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") !=
            std::string::npos) {
      setError("'" + digits +
               "' is not a list of bytes; two hexadecimal "
               "digits per byte are required, such as 00ff10");
      return result;
    }
    for (size_t i = 0; i < digits.size(); i += 2)
      result.push_back(char(strtoul(digits.substr(i, 2).c_str(), nullptr, 16)));
    return result;
  }

  /// The index of the next word in a list.
  int choice(std::initializer_list<const char *> names) {
    std::string name = word();
    int index = 0;
    for (const char *known : names) {
      if (name == known)
        return index;
      ++index;
    }
    std::string all;
    for (const char *known : names)
      all += (all.empty() ? "" : ", ") + std::string(known);
    setError("'" + name + "' is not one of the supported words: " + all);
    return 0;
  }

  void setError(const std::string &what) {
    if (error.empty())
      error = what;
  }

  /// The error of the line, or an empty string.
  std::string finish() {
    std::string more;
    if (error.empty() && words >> more)
      setError("'" + more + "' follows the last value of the line");
    return error.empty() ? "" : "'" + text + "': " + error;
  }

private:
  std::string text;
  std::istringstream words;
  std::string error;
};

/// Reads one launch.
class Reader {
public:
  explicit Reader(Launch &launch) : launch(launch) {}

  void read(const std::string &key, Line &line) {
    if (key == "library")
      launch.library = line.rest();
    else if (key == "kernel")
      launch.kernel = line.rest();
    else if (key == "grid")
      launch.grid = line.dimensions();
    else if (key == "block")
      launch.block = line.dimensions();
    else if (key == "cluster")
      launch.cluster = line.dimensions();
    else if (key == "wave")
      launch.waveSize = int(line.number(1, Wave::maxSize));
    else if (key == "vendor")
      launch.vendor =
          line.choice({"nvidia", "amd"}) ? Vendor::AMD : Vendor::NVIDIA;
    else if (key == "architecture")
      launch.architecture = line.rest();
    else if (key == "shared")
      launch.dynamicSharedBytes = uint32_t(line.number(0, sharedCapacity));
    else if (key == "workers")
      launch.workers = int(line.number(1, maxWorkers));
    else if (key == "order")
      readOrder(line);
    else if (key == "copies")
      launch.copiesLate = line.choice({"early", "late"}) == 1;
    else if (key == "timeout")
      launch.timeout = line.seconds();
    else if (key == "blocks")
      readBlocks(line);
    else if (key == "memory")
      readMemory(line);
    else if (key == "hole")
      launch.holes.push_back(line.range());
    else if (key == "guard")
      launch.guards.push_back(line.range());
    else if (key == "array")
      readArray(line);
    else if (key == "value")
      readValue(line);
    else if (key == "address")
      readAddress(line);
    else
      line.setError("'" + key +
                    "' is not a keyword of the launch description; use the "
                    "emulator of the Smalti version that wrote it");
  }

  /// The first inconsistency between lines, or an empty string.
  std::string check() {
    if (launch.library.empty())
      return "the description of the launch does not have a line 'library "
             "PATH', "
             "which names the compiled kernel";
    if (launch.kernel.empty())
      return "the description of the launch does not have a line 'kernel "
             "NAME', "
             "which names the function to run";
    uint64_t threads = 1, blocks = 1;
    for (int32_t axis : {launch.block.x, launch.block.y, launch.block.z}) {
      threads *= axis;
      if (threads > maxThreads)
        return "the block size is " + listed(launch.block) +
               " threads; a block has at most " + std::to_string(maxThreads) +
               " threads";
    }
    for (int32_t axis : {launch.grid.x, launch.grid.y, launch.grid.z})
      if (__builtin_mul_overflow(blocks, uint64_t(axis), &blocks) ||
          blocks > INT64_MAX)
        return "the grid size is " + listed(launch.grid) +
               " blocks; a grid has at most 2^63 - 1 blocks";
    if (!hasBlocks)
      launch.endBlock = blocks;
    if (std::string error = checkCluster(blocks); !error.empty())
      return error;
    if (launch.endBlock > blocks || launch.firstBlock > launch.endBlock)
      return "'blocks' selects the blocks " +
             std::to_string(launch.firstBlock) + ":" +
             std::to_string(launch.endBlock) +
             ", but the grid has the blocks 0:" + std::to_string(blocks) +
             "; select a range of these";
    for (const auto *ranges : {&launch.holes, &launch.guards})
      for (const Range &range : *ranges)
        if (!isInMemory(range))
          return "a range of bytes that the kernel must not access ('hole' or "
                 "'guard') ends at byte " +
                 endOf(range) + " of the memory for arguments, which has " +
                 std::to_string(launch.memoryBytes) + " bytes";
    for (const Range &range : launch.guards)
      if (uint64_t page = sysconf(_SC_PAGESIZE);
          range.offset % page || range.bytes % page)
        return "the offset and the size of a 'guard' must be multiples of the "
               "page size, " +
               std::to_string(page) + " bytes";
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      const Argument &argument = launch.arguments[i];
      if (!argument.isArray && argument.value.empty())
        return "argument " + std::to_string(i) + " is missing";
      if (argument.isArray && !isInMemory(argument.array))
        return "argument " + std::to_string(i) + " ends at byte " +
               endOf(argument.array) +
               " of the memory for arguments, which has " +
               std::to_string(launch.memoryBytes) + " bytes";
    }
    for (const AddressOf &address : launch.addresses) {
      bool isValue = address.argument >= 0;
      if (isValue && address.argument >= int(launch.arguments.size()))
        return "'address' names argument " + std::to_string(address.argument) +
               ", but the launch has only " +
               std::to_string(launch.arguments.size()) + " arguments";
      uint64_t room = isValue ? launch.arguments[address.argument].value.size()
                              : launch.memoryBytes;
      if (room < sizeof(void *) || address.offset > room - sizeof(void *) ||
          address.target >= launch.memoryBytes)
        return "'address' stores a pointer of " +
               std::to_string(sizeof(void *)) + " bytes at offset " +
               std::to_string(address.offset) + " of " + std::to_string(room) +
               " bytes; it points to byte " + std::to_string(address.target) +
               " of the " + std::to_string(launch.memoryBytes) +
               " bytes for arguments; both must be in range";
    }
    return "";
  }

private:
  std::string checkCluster(uint64_t blocks) const {
    const Dimensions &cluster = launch.cluster, &grid = launch.grid;
    uint64_t size = 1;
    for (int32_t axis : {cluster.x, cluster.y, cluster.z}) {
      size *= axis;
      if (size > maxClusterBlocks)
        return "the cluster size is " + listed(cluster) +
               " blocks; a cluster has at most " +
               std::to_string(maxClusterBlocks) + " blocks";
    }
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
      return "the grid is " + listed(grid) + " blocks and the cluster is " +
             listed(cluster) +
             "; each grid dimension must be a multiple of the cluster "
             "dimension";
    if (size > 1 && (launch.firstBlock != 0 || launch.endBlock != blocks))
      return "'blocks' selects a part of the grid, which is not supported with "
             "clusters of more than one block; run the whole grid";
    return "";
  }

  /// Of numbers up to INT64_MAX, which cannot overflow.
  static std::string endOf(const Range &range) {
    return std::to_string(uint64_t(range.offset) + uint64_t(range.bytes));
  }

  bool isInMemory(const Range &range) const {
    return range.offset <= launch.memoryBytes &&
           range.bytes <= launch.memoryBytes - range.offset;
  }

  void readOrder(Line &line) {
    std::string name = line.word();
    if (name == "lowest-first")
      launch.order = Order::LowestFirst;
    else if (name == "highest-first")
      launch.order = Order::HighestFirst;
    else if (name == "round-robin")
      launch.order = Order::RoundRobin;
    else if (name.rfind("random:", 0) == 0) {
      launch.order = Order::Random;
      Line seed(name.substr(strlen("random:")));
      launch.seed = seed.number(0, UINT64_MAX);
      if (!seed.finish().empty())
        line.setError("'" + name + "' requires a number after 'random:'");
    } else
      line.setError("'" + name +
                    "' must be one of: lowest-first, highest-first, "
                    "round-robin, random:SEED");
  }

  void readBlocks(Line &line) {
    hasBlocks = true;
    launch.firstBlock = line.number(0, INT64_MAX);
    launch.endBlock = line.number(0, INT64_MAX);
  }

  void readMemory(Line &line) {
    launch.memoryDescriptor = int(line.number(0, INT32_MAX));
    launch.memoryBytes = line.number(0, INT64_MAX);
  }

  Argument &argument(Line &line) {
    uint64_t index = line.number(0, maxArguments - 1);
    if (index >= launch.arguments.size())
      launch.arguments.resize(index + 1);
    Argument &result = launch.arguments[index];
    if (result.isArray || !result.value.empty())
      line.setError("argument " + std::to_string(index) +
                    " is described twice; describe each argument once");
    return result;
  }

  /// `array INDEX OFFSET BYTES FIRST NAME`
  void readArray(Line &line) {
    Argument &result = argument(line);
    result.isArray = true;
    result.array = line.range();
    result.first = line.number(0, result.array.bytes);
    result.name = line.rest();
  }

  void readValue(Line &line) {
    Argument &result = argument(line);
    result.value = line.bytes();
  }

  /// `address memory OFFSET TARGET` or `address value ARGUMENT OFFSET TARGET`
  void readAddress(Line &line) {
    AddressOf result;
    if (line.choice({"memory", "value"}) == 1)
      result.argument = int(line.number(0, maxArguments - 1));
    result.offset = line.number(0, INT64_MAX);
    result.target = line.number(0, INT64_MAX);
    launch.addresses.push_back(result);
  }

  Launch &launch;
  bool hasBlocks = false;
};

} // namespace

std::string smalti::emulator::readLaunch(int descriptor, Launch &launch) {
  Reader reader(launch);
  std::string line;
  char buffer[4096];
  while (true) {
    ssize_t length = read(descriptor, buffer, sizeof buffer);
    if (length < 0 && errno == EINTR)
      continue;
    if (length <= 0)
      return "the description of the launch on standard input ends before the "
             "line 'run'";
    for (ssize_t i = 0; i < length; ++i) {
      if (buffer[i] != '\n') {
        line += buffer[i];
        continue;
      }
      Line words(line);
      std::string key = line.empty() ? "" : words.word();
      if (key == "run")
        return reader.check();
      if (!key.empty()) {
        reader.read(key, words);
        if (std::string error = words.finish(); !error.empty())
          return error;
      }
      line.clear();
    }
  }
}
