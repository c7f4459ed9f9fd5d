//===- Remarks.h - Remarks of passes ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every transforming pass emits remarks through MLIR's remark engine. The
// category is the name of the pass, so that
// `--remarks-filter=smalti-multi-buffer` selects its remarks. The message
// states what was done or not done, then why, with numbers.
//
//   remarkApplied(loop, "my-pass") << "loop pipelined: " << 2 << " stages";
//
// `reportMissed` reports a refused transformation, as an error if the option
// `strict` of the pass is set.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_REMARKS_H
#define SMALTI_PASSES_SUPPORT_REMARKS_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"

#include <string>
#include <type_traits>

namespace mlir {
class Attribute;
class Operation;
class Type;
} // namespace mlir

namespace smalti {

/// Builds one remark and emits it at the end of its scope. The text is built
/// only if a remark engine is installed.
class RemarkBuilder {
public:
  enum class Kind { Applied, Missed, Failed, Analysis };

  RemarkBuilder(mlir::Operation *op, llvm::StringRef pass, Kind kind);
  ~RemarkBuilder();
  RemarkBuilder(RemarkBuilder &&other) noexcept;
  RemarkBuilder(const RemarkBuilder &) = delete;
  RemarkBuilder &operator=(const RemarkBuilder &) = delete;
  RemarkBuilder &operator=(RemarkBuilder &&) = delete;

  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  RemarkBuilder &operator<<(T value) {
    if (enabled)
      text += std::to_string(value);
    return *this;
  }
  RemarkBuilder &operator<<(const llvm::Twine &value);
  RemarkBuilder &operator<<(mlir::Type type);
  RemarkBuilder &operator<<(mlir::Attribute attribute);

private:
  mlir::Location loc;
  std::string function;
  std::string pass;
  Kind kind;
  std::string text;
  bool enabled;
};

/// The pass changed the IR at `op`.
RemarkBuilder remarkApplied(mlir::Operation *op, llvm::StringRef pass);
/// The pass did not change `op`; the text gives the reason.
RemarkBuilder remarkMissed(mlir::Operation *op, llvm::StringRef pass);
/// The pass cannot apply a request at `op`.
RemarkBuilder remarkFailed(mlir::Operation *op, llvm::StringRef pass);
/// Analysis results for `op`.
RemarkBuilder remarkAnalysis(mlir::Operation *op, llvm::StringRef pass);

/// Emits a missed remark with this reason at `op`; under `strict` also an
/// error, and returns failure.
llvm::LogicalResult reportMissed(mlir::Operation *op, llvm::StringRef pass,
                                 bool strict, const llvm::Twine &reason);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_REMARKS_H
