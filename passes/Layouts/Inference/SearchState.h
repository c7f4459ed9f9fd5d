//===- SearchState.h - Classes of variables, and what is known of them ----===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_SEARCHSTATE_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_SEARCHSTATE_H

#include "smalti/passes/Layouts/Inference/Solver.h"

namespace smalti::inference {

/// Variables that have one layout in every solution.
struct VarClass {
  Memory memory = Memory::Registers;
  VarId first = kNoVar;
  /// The types of its variables, each once.
  llvm::SmallVector<mlir::Type, 1> types;
  /// Its registers are new ones: no other class is used as it, whose registers
  /// they could be.
  bool isOrigin = true;
  /// Of vectors: what a register of its values costs beside that, for each
  /// type.
  llvm::SmallVector<std::pair<mlir::VectorType, int64_t>, 1> registerCosts;
  bool isNotSplat = false, isNotStrided = false;
  /// The layout that an op states, if any.
  LayoutId given = kNoLayout;
  /// What its tile divides, counted from the end, if anything.
  std::optional<llvm::SmallVector<int64_t, 2>> multiples;
  LayoutId layout = kNoLayout;
  /// When it got its layout.
  int position = -1;
};

/// A constraint between classes that propagation looks at.
struct Link {
  const Constraint *constraint;
  int a, b = -1;
  /// A use that a relayout may serve, or a cast.
  bool isMove = false;
};

class SearchState {
public:
  SearchState(Evaluator &evaluator, const Problem &problem,
              const SolveMode &mode, std::vector<int> &locals);

  /// Assigns what constraints state outright, and propagates. False where they
  /// contradict each other.
  bool start();
  /// Gives a class a layout; false where it cannot have it.
  bool assign(int index, LayoutId layout);
  /// What follows from the layouts given since; false where that contradicts.
  bool propagate();
  /// Forgets all but the first `length` layouts given.
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

  /// Keeps a class from getting a layout, until it is allowed again.
  void forbid(int index, LayoutId layout) { ++forbidden[{index, layout}]; }
  void allow(int index, LayoutId layout) {
    auto entry = forbidden.find({index, layout});
    if (--entry->second == 0)
      forbidden.erase(entry);
  }
  bool isForbidden(int index, LayoutId layout) const {
    return forbidden.count({index, layout}) != 0;
  }
  /// Whether the class, as such, can have the layout.
  bool canHave(int index, LayoutId layout) const;

  /// The cost of what is known since the trail had this length.
  int64_t costSince(size_t length) const;

  //===--------------------------------------------------------------------===//
  // For changes of a solution
  //===--------------------------------------------------------------------===//

  /// Gives a class another layout, or none, whatever follows.
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
  bool areGivensOne = true;
  std::vector<int> adjacentBegin, adjacent;
  std::vector<int> trail;
  /// How much of the trail is propagated.
  size_t propagated = 0;
  llvm::DenseMap<std::pair<int, LayoutId>, int> forbidden;
};

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_SEARCHSTATE_H
