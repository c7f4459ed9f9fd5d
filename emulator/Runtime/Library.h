//===- Library.h - A kernel library ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_RUNTIME_LIBRARY_H
#define SMALTI_EMULATOR_RUNTIME_LIBRARY_H

#include <cstdint>
#include <string>
#include <vector>

namespace smalti::emulator {

class KernelLibrary {
public:
  /// Returns an error or an empty string. `missing` receives the names of
  /// instructions that are not in the table.
  std::string load(const std::string &path, const std::string &kernel,
                   std::vector<std::string> &missing);

  void run(void **arguments) const { entry(arguments); }
  uint32_t staticSharedBytes() const { return sharedBytes; }
  bool hasWritableGlobals() const;

  /// Whether an address belongs to its code or data.
  bool contains(const void *address) const {
    auto value = reinterpret_cast<uint64_t>(address);
    return value >= begin && value < end;
  }
  bool containsCode(const void *address) const {
    auto value = reinterpret_cast<uint64_t>(address);
    return value >= codeBegin && value < codeEnd;
  }
  uint64_t offsetOf(const void *address) const {
    return reinterpret_cast<uint64_t>(address) - base;
  }

private:
  void (*entry)(void **arguments) = nullptr;
  uint32_t sharedBytes = 0, flags = 0;
  uint64_t base = 0, begin = 0, end = 0, codeBegin = 0, codeEnd = 0;
};

extern KernelLibrary kernelLibrary;

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_LIBRARY_H
