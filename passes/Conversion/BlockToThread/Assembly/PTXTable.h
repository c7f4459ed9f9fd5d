//===- PTXTable.h - Inline PTX of the project -------------------*- C++ -*-===//
//
// Every text of PTX that the project writes itself, because MLIR has no
// operation for the instruction. All else is operations of the NVVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_PTXTABLE_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_PTXTABLE_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace smalti::ptx {

/// An instruction, where it is documented, and the oldest that has it.
struct Instruction {
  llvm::StringLiteral name;
  /// Of the PTX ISA.
  llvm::StringLiteral section;
  /// Of PTX: 80 is 8.0.
  unsigned version;
  /// 90 is sm_90.
  unsigned chip;
  /// Whether only the chip itself has it, and no later one: "sm_90a".
  bool isOfOneChip;
};

/// A text with its operands, `$0` and following: first the registers that it
/// reads and writes, then those that it only reads. Each is named by the letter
/// of its class in a constraint: h, r and l have 16, 32 and 64 bits, f and d
/// are floats.
struct Text {
  const Instruction *instruction = nullptr;
  std::string text;
  std::string changed;
  std::string read;
};

/// No instruction: registers that the compiler can tell nothing about.
Text getHeld(std::string letters);

/// wgmma.mma_async with A in four 32-bit registers, which NVVM's operation does
/// not have. Operands: the accumulator, A, the descriptor of B.
struct Wgmma {
  int64_t columns = 0;
  int64_t depth = 0;
  llvm::StringRef sum, a, b;
  /// Only for 16-bit elements.
  bool transposesB = false;
};
Text getWgmmaWithRegisterA(const Wgmma &product);

/// st.async of so many 32-bit registers: 1, 2 or 4. Operands: the place, the
/// registers, the barrier that counts the bytes; both are pointers into the
/// shared memory of the cluster.
Text getRemoteStore(unsigned registers);

/// red.async of one 32-bit integer; operands as of a store. `operation` is
/// "add", "min", "max", "and", "or" or "xor", of integers without a sign.
Text getRemoteReduction(llvm::StringRef operation);

/// Every text that these functions make for a program, each once.
std::vector<Text> getAll();

} // namespace smalti::ptx

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_PTXTABLE_H
