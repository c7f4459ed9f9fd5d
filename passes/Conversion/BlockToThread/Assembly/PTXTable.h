//===- PTXTable.h - Table of inline PTX -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All PTX texts of the project. They exist because MLIR does not have an op for
// the instruction; everything else uses NVVM ops.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_PTXTABLE_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_PTXTABLE_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace smalti::ptx {

/// An instruction, its documentation, and the oldest version and chip that
/// support it, from those that Smalti supports.
struct Instruction {
  llvm::StringLiteral name;
  /// Section of the PTX ISA.
  llvm::StringLiteral section;
  /// PTX version: 80 is 8.0.
  unsigned version;
  /// Chip: 90 is sm_90.
  unsigned chip;
  /// Whether only this chip supports it, not later ones: "sm_90a".
  bool isOfOneChip;
};

/// A text with operands `$0` and following: first the written registers, then
/// the read-write ones, then the read-only ones. Each is named by the letter of
/// its constraint class: h, r and l have 16, 32 and 64 bits; f and d are
/// floats.
struct Text {
  const Instruction *instruction = nullptr;
  std::string text;
  std::string written;
  std::string changed;
  std::string read;
};

/// An empty text that makes registers opaque to the compiler.
Text getOpaque(std::string letters);

/// wgmma.mma_async with A in four 32-bit registers, which the NVVM op does not
/// support. Operands: the accumulator, A, the descriptor of B.
struct Wgmma {
  int64_t columns = 0;
  int64_t depth = 0;
  llvm::StringRef accumulator, a, b;
  /// 16-bit elements only.
  bool transposesB = false;
};
Text getWgmmaWithRegisterA(const Wgmma &wgmma);

/// st.async of 1, 2 or 4 32-bit registers. Operands: the address, the
/// registers, the mbarrier that counts the bytes; both pointers are in the
/// shared::cluster window.
Text getRemoteStore(unsigned registers);

/// red.async of one 32-bit integer; operands as for a store. `operation` is
/// "add", "min", "max", "and", "or" or "xor", on unsigned integers.
Text getRemoteReduction(llvm::StringRef operation);

/// Whether an access of global memory can have this cache operator ("cs") or
/// eviction priority ("evict_first"), other than the default ones.
bool hasCacheHint(llvm::StringRef hint, bool isStore);

/// ld.global with a hint, of one register of 2, 4 or 8 bytes, or of two of 8
/// bytes. Operands: the registers, the address.
Text getHintedLoad(llvm::StringRef hint, unsigned bytes);
/// st.global with a hint. Operands: the address, the registers.
Text getHintedStore(llvm::StringRef hint, unsigned bytes);

/// Every text that these functions can produce, each once.
std::vector<Text> getAll();

} // namespace smalti::ptx

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_PTXTABLE_H
