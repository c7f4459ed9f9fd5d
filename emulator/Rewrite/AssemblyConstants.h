//===- AssemblyConstants.h - Constant expressions of NVIDIA's PTX ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_REWRITE_ASSEMBLYCONSTANTS_H
#define SMALTI_EMULATOR_REWRITE_ASSEMBLYCONSTANTS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace smalti::emulator::assembly {

/// The value of a constant expression.
struct Constant {
  enum Type { S64, U64, F64 };
  Type type;
  /// The number, or the bits of an `F64`.
  uint64_t bits;
};

/// Whether a constant expression begins here: what else can be an operand does
/// not begin so.
bool startsConstant(llvm::StringRef text);

/// Parses, evaluates and consumes the longest constant expression at the start
/// of `rest`: PTX ISA, "Constants". On an error, `problem` has the reason.
std::optional<Constant> parseConstant(llvm::StringRef &rest,
                                      std::string &problem);

} // namespace smalti::emulator::assembly

#endif // SMALTI_EMULATOR_REWRITE_ASSEMBLYCONSTANTS_H
