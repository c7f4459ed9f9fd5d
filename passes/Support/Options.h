//===- Options.h - Types of pass options ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerations of the options with a fixed set of values; Options.td declares
// the options and the names of their values.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_OPTIONS_H
#define SMALTI_PASSES_SUPPORT_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"

#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace smalti {

/// A positive integer or `auto`, with which the pass chooses the number.
class AutoOrNumber {
public:
  AutoOrNumber() = default;
  AutoOrNumber(int64_t number) : number(number) {}

  bool isAuto() const { return !number; }
  int64_t operator*() const { return *number; }
  int64_t getOr(int64_t chosen) const { return number.value_or(chosen); }
  std::string str() const { return number ? std::to_string(*number) : "auto"; }

  /// std::nullopt if the text is neither `auto` nor a positive integer.
  static std::optional<AutoOrNumber> parse(llvm::StringRef text);

private:
  std::optional<int64_t> number;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const AutoOrNumber &value);

/// Checks that the value of the option is at most `most`; returns the error.
std::optional<std::string> checkAtMost(llvm::StringRef option,
                                       const AutoOrNumber &value, int64_t most);

/// Checks the number of blocks of a persistent grid; returns the error.
std::optional<std::string> checkBlocks(int64_t blocks);

/// The last level of IR that `smalti-compile` lowers to, in order.
enum class Level { Tile, Mosaic, Pipelined, Thread, LLVM };

/// How a loop is pipelined (`smalti-pipeline-loops`).
enum class PipelineMode { Auto, Stream, Async };

/// How the operands of a matmul are copied to shared memory.
enum class OperandCopies { Auto, Async, Registers };

/// The instructions of a matmul: `wgmma` of warpgroups or MMAs of warps.
enum class MatmulKind { Auto, Warpgroups, Warps };

/// Whether a kernel is split into producer and consumer warps.
enum class Specialize { Auto, On, Off };

/// The rasterization order of tiles.
enum class TileOrderKind { Auto, None, Grouped, Snake };

/// How bank conflicts are reduced.
enum class BankConflicts { Keep, Pad, Swizzle };

/// Vector width of the CPU in bits.
enum class VectorWidth {
  Host = 0,
  Bits128 = 128,
  Bits256 = 256,
  Bits512 = 512
};

/// The dimensions of a convolution's filter, the outermost first.
enum class FilterLayout { FHWC, HWFC };

} // namespace smalti

namespace llvm::cl {

template <>
class parser<smalti::AutoOrNumber> : public basic_parser<smalti::AutoOrNumber> {
public:
  using basic_parser::basic_parser;

  bool parse(Option &option, StringRef name, StringRef text,
             smalti::AutoOrNumber &value);
  StringRef getValueName() const override { return "auto|N"; }
  void printOptionDiff(const Option &option, const smalti::AutoOrNumber &value,
                       const OptVal &byDefault, size_t width) const;
  void anchor() override;
};

} // namespace llvm::cl

#endif // SMALTI_PASSES_SUPPORT_OPTIONS_H
