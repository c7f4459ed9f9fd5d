//===- HostModule.h - Device code as an object file of the host -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates a device module in LLVM IR, for NVIDIA or AMD, to a host module.
// The host module has one address space, shared memory at a fixed address, and
// a call of the emulator for each device instruction.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_REWRITE_HOSTMODULE_H
#define SMALTI_EMULATOR_REWRITE_HOSTMODULE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace smalti::emulator {

enum class Sanitizer { None, Address, Thread };

struct HostOptions {
  /// The file name in locations of a text without line tables.
  std::string name = "-";
  /// Used if the module does not state its chip.
  std::string chip;
  Sanitizer sanitizer = Sanitizer::None;
  /// Files of bitcode with the functions that the module does not define, taken
  /// from them as needed.
  std::vector<std::string> libraries;
  /// 0 to 3, as of clang.
  unsigned optimization = 1;
  /// The processor that the code is for, as LLVM calls it; this one if empty.
  std::string processor;
  /// Whether the result is text, the host's LLVM IR, and no object file.
  bool asText = false;
};

struct HostObject {
  /// An object file, position-independent.
  std::string code;
  /// A JSON object: the kernels and their parameters, shared memory, and the
  /// instructions that are used.
  std::string description;
};

/// An error in a module, or a feature that is not emulated, with its location.
struct Refusal : llvm::ErrorInfo<Refusal> {
  static char ID;

  explicit Refusal(std::string message) : message(std::move(message)) {}
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  std::string message;
  /// The source location; line 0 if unknown.
  std::string file;
  unsigned line = 0, column = 0;
};

/// `input` is bitcode or text. An error is a `Refusal`, or LLVM's own.
llvm::Expected<HostObject> makeHostObject(llvm::StringRef input,
                                          const HostOptions &options);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_REWRITE_HOSTMODULE_H
