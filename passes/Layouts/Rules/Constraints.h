//===- Constraints.h - Constraint system of layout inference --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops add constraints through LayoutInferenceOpInterface (LayoutInterfaces.h):
// they create variables for their operands and results, and constraints on the
// variables. A variable is the layout of all operands and results that share
// it. Each constraint stores its op and its reason.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_RULES_CONSTRAINTS_H
#define SMALTI_PASSES_LAYOUTS_RULES_CONSTRAINTS_H

#include "smalti/passes/Layouts/Plans/TransferPlan.h"
#include "smalti/passes/Layouts/Vectors/LayoutValues.h"

#include "mlir/IR/Operation.h"

#include <vector>

namespace smalti::targets {
struct Target;
} // namespace smalti::targets

namespace smalti::inference {

using VarId = int;
inline constexpr VarId kNoVar = -1;

/// The transformation of a layout by an op, in one direction.
struct Step {
  enum class Kind {
    Reduce,    ///< `numbers` are the axes.
    Reshape,   ///< For registers.
    Transpose, ///< `numbers` are the permutation.
    BitCast,   ///< For registers.
    Collapse   ///< For shared memory; `numbers` are the group sizes.
  };
  Kind kind;
  llvm::SmallVector<int64_t, 4> source, target, numbers;
  bool keepDims = false;

  bool operator==(const Step &other) const {
    return kind == other.kind && source == other.source &&
           target == other.target && numbers == other.numbers &&
           keepDims == other.keepDims;
  }
};
using Steps = llvm::SmallVector<Step, 1>;

struct Constraint {
  enum class Kind {
    Equal,          ///< Equality of a and b.
    Use,            ///< Producer a and user b: equal, or a is a splat.
    Relayout,       ///< Conversion of a vector from a to b.
    Assign,         ///< Equality of a and `layouts[0]`.
    OneOf,          ///< Membership of a in `layouts`, best first.
    NotSplat,       ///< Any layout of a except splat.
    NotStrided,     ///< Any layout of a except strided.
    SharedTransfer, ///< Transfer between shared memory a and registers b.
    TensorTransfer, ///< Transfer between tensor memory a and registers b.
    GlobalTransfer, ///< Transfer between registers a and global memory.
    BulkCopy,       ///< Bulk copy of memory a: always satisfied, has a cost.
    MmaTile,        ///< Support of MMA instructions for the tile of a.
    Divides,        ///< Divisibility of `numbers`, from the end, by the tile.
    MinorDivisible, ///< Divisibility of the last tile size by numbers[0].
    Becomes,        ///< Equality of b and the result of `steps` on a.
    Broadcast       ///< Broadcast of a along all dimensions except `numbers`.
  };
  Kind kind;
  VarId a = kNoVar, b = kNoVar;
  mlir::Operation *op = nullptr;
  /// The reason of the constraint, for messages.
  llvm::StringRef reason;
  llvm::SmallVector<LayoutId, 1> layouts;
  llvm::SmallVector<int64_t, 2> numbers;
  /// For Becomes: an index into the steps of the system.
  int steps = -1;
  /// For transfers and copies, the type of the memory; for relayouts, the type
  /// of the vector; for Becomes, the result type of a reduction across lanes.
  mlir::Type type;
  transfers::TransferNeed need = transfers::TransferNeed::Optimized;
  bool isLoad = false;
  /// For MmaTile: the memory is transposed; a tile without swizzle is allowed.
  bool isTransposed = false, allowsUnswizzled = false;
  /// Whether only solutions as in JAX must satisfy the constraint.
  bool isJAXOnly = false;
  /// For Use: the operand before which a layout_cast could be inserted.
  mlir::OpOperand *operand = nullptr;
  /// Estimated executions of the op: 8 for each enclosing loop, multiplied.
  int64_t weight = 1;
};

/// An operand, result or block argument with a layout.
struct Site {
  mlir::OpOperand *operand = nullptr;
  mlir::Value value;
  /// For the result of an element-wise op, its estimated executions (see
  /// Constraint::weight); otherwise 0.
  int64_t work = 0;
};

struct Variable {
  Memory memory;
  /// The type of the first site.
  mlir::Type type;
  llvm::SmallVector<Site, 2> sites;
  /// Additional cost of a register of its values under register pressure.
  int64_t registerPrice = 0;
  mlir::Operation *getOp() const;
};

class ConstraintSystem {
public:
  ConstraintSystem(LayoutTable &layouts, const targets::Target &target)
      : layouts(layouts), target(target) {}

  LayoutTable &getLayouts() { return layouts; }
  const targets::Target &getTarget() const { return target; }

  //===--------------------------------------------------------------------===//
  // Interface for rules
  //===--------------------------------------------------------------------===//

  /// Sets the op of the following constraints.
  void setOp(mlir::Operation *op);

  /// Creates a variable for an operand or value.
  VarId create(mlir::OpOperand &operand);
  VarId create(mlir::Value value);
  /// Adds an operand or value to a variable.
  void bind(VarId var, mlir::OpOperand &operand);
  void bind(VarId var, mlir::Value value);
  /// Adds an operand in memory to the variable of its producer.
  VarId share(mlir::OpOperand &operand);
  /// Creates a variable for an operand in memory that may differ from the
  /// variable of its producer, because the op accesses single elements.
  VarId createDetached(mlir::OpOperand &operand);
  /// Adds `value` to the variable of the memory with this kind, offset and
  /// alias number.
  VarId getAlias(mlir::Value value, int64_t kind, int64_t offset,
                 int64_t alias);

  void assign(VarId var, LayoutId layout, llvm::StringRef reason);
  void oneOf(VarId var, llvm::ArrayRef<LayoutId> candidates,
             llvm::StringRef reason);
  void equal(VarId a, VarId b, llvm::StringRef reason);
  void notSplat(VarId var, llvm::StringRef reason, bool isJAXOnly = false);
  void notStrided(VarId var, llvm::StringRef reason);
  void divides(VarId var, llvm::ArrayRef<int64_t> multiples,
               llvm::StringRef reason);
  Constraint &becomes(VarId source, VarId result, Steps steps,
                      llvm::StringRef reason);
  /// Adds a constraint whose other fields the caller sets.
  Constraint &add(Constraint::Kind kind, VarId a, VarId b,
                  llvm::StringRef reason);

  //===--------------------------------------------------------------------===//
  // Interface after all rules have run
  //===--------------------------------------------------------------------===//

  /// Adds the constraints between producers and users of values.
  void linkUses();

  /// The variable of an operand or value, or `kNoVar`.
  VarId lookup(mlir::OpOperand &operand) const;
  VarId lookup(mlir::Value value) const;

  llvm::ArrayRef<Variable> getVariables() const { return variables; }
  llvm::ArrayRef<Constraint> getConstraints() const { return constraints; }
  /// For temporary changes, which the caller must revert.
  Constraint &getConstraint(int number) { return constraints[number]; }
  void setRegisterPrice(VarId var, int64_t price) {
    variables[var].registerPrice = price;
  }
  const Steps &getSteps(const Constraint &constraint) const {
    return allSteps[constraint.steps];
  }

private:
  VarId newVariable(Memory memory, mlir::Type type);
  void link(mlir::OpOperand &operand, VarId producer, VarId user);

  LayoutTable &layouts;
  const targets::Target &target;
  mlir::Operation *op = nullptr;
  int64_t weight = 1;
  std::vector<Variable> variables;
  std::vector<Constraint> constraints;
  std::vector<Steps> allSteps;
  llvm::DenseMap<mlir::OpOperand *, VarId> operandVars;
  llvm::DenseMap<mlir::Value, VarId> valueVars;
  llvm::DenseMap<mlir::Block *, int64_t> weights;
  std::map<std::tuple<int64_t, int64_t, int64_t>, VarId> aliases;
  llvm::DenseMap<mlir::OpOperand *, bool> detached;
};

/// Applies a sequence of steps to a layout; `kNoLayout` if the result does not
/// exist, or with `asInJAX` if JAX does not compute it.
LayoutId applySteps(LayoutTable &layouts, const Steps &steps, LayoutId layout,
                    bool asInJAX);

/// Merges the numbers of two `Divides`: the greatest common divisors of the
/// last numbers, as many as the shorter list has.
void mergeMultiples(llvm::SmallVectorImpl<int64_t> &into,
                    llvm::ArrayRef<int64_t> multiples);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_RULES_CONSTRAINTS_H
