//===- HostModule.h - Device code as an object file of the host -----------===//
//
// Takes a device module in LLVM IR, NVIDIA's or AMD's, and makes it a module of
// the host: one address space, shared memory at a fixed address, and every
// instruction of the device a call of the emulator.
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
  /// The file that places in a text without line tables are said to be in.
  std::string name = "-";
  /// Where the module does not say its chip itself.
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

/// What is wrong with a module, or is not emulated, and where.
struct Refusal : llvm::ErrorInfo<Refusal> {
  static char ID;

  explicit Refusal(std::string message) : message(std::move(message)) {}
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  std::string message;
  /// The place in the source, with a line of 0 where it is not known.
  std::string file;
  unsigned line = 0, column = 0;
};

/// `input` is bitcode or text. An error is a `Refusal`, or LLVM's own.
llvm::Expected<HostObject> makeHostObject(llvm::StringRef input,
                                          const HostOptions &options);

/// What code for this host depends on: its triple, processor and features.
std::string hostProcessor();

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_REWRITE_HOSTMODULE_H
