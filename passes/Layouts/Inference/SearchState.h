//===- SearchState.h - Variable classes and constraint propagation --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_SEARCHSTATE_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_SEARCHSTATE_H

#include "smalti/passes/Layouts/Inference/Solver.h"

namespace smalti::inference {

/// Variables that have the same layout in every solution.
struct VarClass {
  Memory memory = Memory::Registers;
  VarId first = kNoVar;
  /// The distinct types of its variables.
  llvm::SmallVector<mlir::Type, 1> types;
  /// Whether the class needs its own registers, because it is not the use of a
  /// value of another class.
  bool isOrigin = true;
  /// The additional cost of a register of its values, for each vector type.
  llvm::SmallVector<std::pair<mlir::VectorType, int64_t>, 1> registerCosts;
  bool isNotSplat = false, isNotStrided = false;
  /// The layout that an op requires, if any.
  LayoutId required = kNoLayout;
  /// The numbers that its tile must divide, counted from the end, if any.
  std::optional<llvm::SmallVector<int64_t, 2>> multiples;
  LayoutId layout = kNoLayout;
  /// Position in the trail.
  int position = -1;
};

/// A constraint between classes for propagation.
struct Link {
  const Constraint *constraint;
  int a, b = -1;
  /// A relaxed use, or a cast.
  bool isMove = false;
};

class SearchState {
public:
  SearchState(Evaluator &evaluator, const Problem &problem,
              const SolveMode &mode, std::vector<int> &locals);

  /// Assigns the required layouts and propagates. Returns false for a
  /// contradiction.
  bool start();
  /// Assigns a layout to a class; returns false if it is not possible.
  bool assign(int index, LayoutId layout);
  /// Propagates the layouts of the trail; returns false for a contradiction.
  bool propagate();
  /// Removes all but the first `length` layouts of the trail.
  void undo(size_t length);

  size_t getTrailLength() const { return trail.size(); }
  llvm::ArrayRef<int> getTrail() const { return trail; }
  llvm::ArrayRef<VarClass> getClasses() const { return classes; }
  llvm::ArrayRef<Link> getLinks() const { return links; }
  llvm::ArrayRef<int> getLinksOf(int index) const {
    return llvm::ArrayRef(adjacent).slice(
        adjacentBegin[index], adjacentBegin[index + 1] - adjacentBegin[index]);
  }
  int getClass(int localVar) const { return classOf[localVar]; }
  LayoutId getLayout(int index) const { return classes[index].layout; }
  Evaluator &getEvaluator() const { return evaluator; }
  const SolveMode &getMode() const { return mode; }

  /// Forbids a layout for a class until it is allowed again.
  void forbid(int index, LayoutId layout) { ++forbidden[{index, layout}]; }
  void allow(int index, LayoutId layout) {
    auto entry = forbidden.find({index, layout});
    if (--entry->second == 0)
      forbidden.erase(entry);
  }
  bool isForbidden(int index, LayoutId layout) const {
    return forbidden.count({index, layout}) != 0;
  }
  /// Whether the layout satisfies the constraints of the class alone.
  bool canHave(int index, LayoutId layout) const;

  /// The cost of the layouts added since the trail had this length.
  int64_t costSince(size_t length) const;

  //===--------------------------------------------------------------------===//
  // Changes of a solution
  //===--------------------------------------------------------------------===//

  /// Sets or clears the layout of a class without checks.
  void set(int index, LayoutId layout) { classes[index].layout = layout; }
  /// Whether a link between classes with known layouts holds.
  bool holds(const Link &link) const;
  int64_t classCost(int index) const;
  int64_t linkCost(const Link &link) const {
    return evaluator.cost(*link.constraint, getLayout(link.a),
                          link.b < 0 ? kNoLayout : getLayout(link.b));
  }

private:
  void mergeClasses(const Problem &problem, std::vector<int> &locals);
  void buildLinks(const Problem &problem, const std::vector<int> &locals);
  bool examine(const Link &link);
  bool examineUse(const Link &link);

  Evaluator &evaluator;
  const ConstraintSystem &system;
  SolveMode mode;
  std::vector<int> classOf;
  std::vector<VarClass> classes;
  std::vector<Link> links;
  bool isRequiredUnique = true;
  std::vector<int> adjacentBegin, adjacent;
  std::vector<int> trail;
  /// Length of the propagated part of the trail.
  size_t propagated = 0;
  llvm::DenseMap<std::pair<int, LayoutId>, int> forbidden;
};

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_SEARCHSTATE_H
