//===- Remarks.h - What a pass did, and why it did not --------------------===//
//
// Every transforming pass says what it did through MLIR's remark engine, in one
// form: the pass's name is the remark's category (so that
// `--remarks-filter=smalti-multi-buffer` selects it), the message is one
// sentence with its numbers.
//
//   remarkApplied(loop, "my-pass") << "pipelined with " << 2 << " stages";
//
// A transformation that a pass refuses goes through `reportMissed`, which turns
// it into an error under the pass's `strict` option.
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

/// One remark under construction; it is emitted when it goes out of scope.
/// Building the text costs nothing where no remark engine is installed.
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

/// The pass changed the program at `op`.
RemarkBuilder remarkApplied(mlir::Operation *op, llvm::StringRef pass);
/// The pass left `op` as it was; the text says why.
RemarkBuilder remarkMissed(mlir::Operation *op, llvm::StringRef pass);
/// The pass was asked for something at `op` that cannot be done.
RemarkBuilder remarkFailed(mlir::Operation *op, llvm::StringRef pass);
/// Numbers about `op`, with no verdict.
RemarkBuilder remarkAnalysis(mlir::Operation *op, llvm::StringRef pass);

/// A missed remark with this reason at `op`; under `strict` an error as well,
/// and failure.
llvm::LogicalResult reportMissed(mlir::Operation *op, llvm::StringRef pass,
                                 bool strict, const llvm::Twine &reason);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_REMARKS_H
