//===- RemarksCAPI.cpp - Remarks as data ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/SmaltiCAPI.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Remarks.h"

#include <deque>
#include <memory>
#include <mutex>

namespace {

/// A remark that has outlived the pass that emitted it.
struct CollectedRemark {
  llvm::StringRef kind;
  std::string category, name, function, message, location, file;
  unsigned line = 0, column = 0;
  llvm::SmallVector<std::pair<std::string, std::string>> arguments;
};

/// Shared by the streamer, which the context owns, and the caller's handle:
/// either may go first.
struct Collection {
  std::mutex mutex;
  /// A deque, because handed-out strings must not move.
  std::deque<CollectedRemark> remarks;
  /// The streamer is gone: the context has another engine, or none.
  bool closed = false;
};

llvm::StringRef kindOf(const mlir::remark::detail::Remark &remark) {
  switch (remark.getRemarkType()) {
  case llvm::remarks::Type::Passed:
    return "passed";
  case llvm::remarks::Type::Missed:
    return "missed";
  case llvm::remarks::Type::Failure:
    return "failed";
  default:
    return "analysis";
  }
}

/// The text for a reader: plain parts as they are, named parts ("Reason",
/// metrics) with their names.
std::string
messageOf(llvm::ArrayRef<mlir::remark::detail::Remark::Arg> arguments) {
  std::string message;
  for (const auto &argument : arguments) {
    if (!message.empty())
      message += ", ";
    if (argument.key != "Remark")
      message += argument.key + "=";
    message += argument.val;
  }
  return message;
}

class CollectingStreamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit CollectingStreamer(std::shared_ptr<Collection> collection)
      : collection(std::move(collection)) {}
  ~CollectingStreamer() override {
    std::lock_guard<std::mutex> lock(collection->mutex);
    collection->closed = true;
  }

  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    CollectedRemark collected;
    collected.kind = kindOf(remark);
    collected.category = remark.getCombinedCategoryName().str();
    collected.name = remark.getRemarkName().str();
    // MLIR names a missing function "<unknown function>".
    if (llvm::StringRef function = remark.getFunction();
        !function.starts_with("<"))
      collected.function = function.str();
    collected.message = messageOf(remark.getArgs());
    llvm::raw_string_ostream(collected.location) << remark.getLocation();
    if (auto place =
            remark.getLocation()->findInstanceOf<mlir::FileLineColRange>()) {
      collected.file = place.getFilename().getValue().str();
      collected.line = place.getStartLine();
      collected.column = place.getStartColumn();
    }
    for (const auto &argument : remark.getArgs())
      collected.arguments.emplace_back(argument.key, argument.val);

    // Passes on different functions run on different threads.
    std::lock_guard<std::mutex> lock(collection->mutex);
    collection->remarks.push_back(std::move(collected));
  }

private:
  std::shared_ptr<Collection> collection;
};

/// The pointee of a SmaltiRemarks handle.
struct Handle {
  std::shared_ptr<Collection> collection;
};

Handle *unwrapHandle(SmaltiRemarks remarks) {
  return static_cast<Handle *>(remarks.ptr);
}

} // namespace

SmaltiRemarks smaltiRemarksAttach(MlirContext context, MlirStringRef filter,
                                  MlirStringCallback onError, void *userData) {
  std::string expression = unwrap(filter).str(), problem;
  if (!llvm::Regex(expression).isValid(problem)) {
    problem = "'" + expression +
              "' is not a valid regular expression for the names of passes: " +
              problem;
    onError(wrap(llvm::StringRef(problem)), userData);
    return {nullptr};
  }
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.failed =
      categories.analysis = expression;

  auto collection = std::make_shared<Collection>();
  if (mlir::failed(mlir::remark::enableOptimizationRemarks(
          *unwrap(context), std::make_unique<CollectingStreamer>(collection),
          std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(),
          categories))) {
    onError(wrap(llvm::StringRef(
                "remarks are already enabled in this MLIR context "
                "and can be enabled once only; use a new context")),
            userData);
    return {nullptr};
  }
  return {new Handle{std::move(collection)}};
}

void smaltiRemarksDetach(SmaltiRemarks remarks, MlirContext context) {
  {
    Collection &collection = *unwrapHandle(remarks)->collection;
    std::lock_guard<std::mutex> lock(collection.mutex);
    if (collection.closed)
      return;
  }
  unwrap(context)->setRemarkEngine(nullptr);
}

void smaltiRemarksDestroy(SmaltiRemarks remarks) {
  delete unwrapHandle(remarks);
}

intptr_t smaltiRemarksSize(SmaltiRemarks remarks) {
  Collection &collection = *unwrapHandle(remarks)->collection;
  std::lock_guard<std::mutex> lock(collection.mutex);
  return static_cast<intptr_t>(collection.remarks.size());
}

SmaltiRemark smaltiRemarksGet(SmaltiRemarks remarks, intptr_t index) {
  Collection &collection = *unwrapHandle(remarks)->collection;
  std::lock_guard<std::mutex> lock(collection.mutex);
  const CollectedRemark &remark = collection.remarks[index];
  auto ref = [](llvm::StringRef text) { return wrap(text); };
  return {ref(remark.kind),    ref(remark.category),
          ref(remark.name),    ref(remark.function),
          ref(remark.message), ref(remark.location),
          ref(remark.file),    remark.line,
          remark.column,       static_cast<intptr_t>(remark.arguments.size())};
}

void smaltiRemarksGetArgument(SmaltiRemarks remarks, intptr_t index,
                              intptr_t argument, MlirStringRef *key,
                              MlirStringRef *value) {
  Collection &collection = *unwrapHandle(remarks)->collection;
  std::lock_guard<std::mutex> lock(collection.mutex);
  const auto &pair = collection.remarks[index].arguments[argument];
  *key = wrap(llvm::StringRef(pair.first));
  *value = wrap(llvm::StringRef(pair.second));
}
