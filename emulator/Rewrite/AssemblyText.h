//===- AssemblyText.h - The text of NVIDIA's inline assembly --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements of PTX in a string of inline assembly: PTX ISA, "Syntax". `$0` is
// an operand of the call, `$$` a dollar.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_REWRITE_ASSEMBLYTEXT_H
#define SMALTI_EMULATOR_REWRITE_ASSEMBLYTEXT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace smalti::emulator::assembly {

struct Operand {
  enum Kind {
    /// An operand of the call, `value`.
    Argument,
    /// A register of the program, `value`.
    Register,
    /// `%laneid` and its like, by their names without the sign.
    Special,
    /// The bits of an integer, or of an f64 where `isFloat`.
    Number,
    /// `_`: the result is discarded.
    Sink,
    /// `[a + value]`, with the other parts of the address after it.
    Address,
    /// `{a, b}`
    Vector,
    /// `a|b`
    Pair,
    /// The label at statement `value`.
    Label,
  };
  Kind kind;
  uint64_t value;
  std::string name;
  bool isNegated = false;
  bool isFloat = false;
  std::vector<Operand> parts;

  explicit Operand(Kind kind, uint64_t value = 0, std::string name = {})
      : kind(kind), value(value), name(std::move(name)) {}
};

struct Statement {
  /// As it was written, for messages.
  std::string text;
  std::string opcode;
  std::vector<Operand> operands;
  /// The predicate under which it is executed.
  std::optional<Operand> guard;
};

struct Program {
  std::vector<Statement> statements;
  /// The number of bits of each register; 1 for a predicate.
  std::vector<unsigned> registers;
  /// The statement after each label.
  std::vector<unsigned> labels;
};

/// Drops white space and comments, up to a comment without its end.
void skipBlanks(llvm::StringRef &text);

/// The error names the first text that cannot be parsed.
llvm::Expected<Program> parse(llvm::StringRef text);

/// The bits of a fundamental type without its dot, as "b32"; 0 for others.
unsigned bitsOfType(llvm::StringRef type);

} // namespace smalti::emulator::assembly

#endif // SMALTI_EMULATOR_REWRITE_ASSEMBLYTEXT_H
