//===- Constraints.h - What ops demand of layouts -------------------------===//
//
// Ops state what they demand through LayoutInferenceOpInterface
// (LayoutInterfaces.h): they give their operands and results variables, and add
// constraints on them. A variable is the layout of all places that share it.
// Each constraint remembers which op it is of, and why.
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

/// What a layout becomes on its way through an op. It is known one way alone.
struct Step {
  enum class Kind {
    Reduce,    ///< numbers: the axes
    Reshape,   ///< of registers
    Transpose, ///< numbers: the permutation
    BitCast,   ///< of registers
    Collapse   ///< of shared memory; numbers: dimensions of each group
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
    Equal,          ///< a and b are the same
    Use,            ///< a is produced, b used: equal, or a splat
    Relayout,       ///< a vector is moved from a to b
    Assign,         ///< a is `layouts[0]`
    OneOf,          ///< a is one of `layouts`, best first
    NotSplat,       ///< a is no splat
    NotStrided,     ///< a is not strided
    SharedTransfer, ///< memory a, registers b
    TensorTransfer, ///< tensor memory a, registers b
    GlobalTransfer, ///< registers a, and memory without a layout
    BulkCopy,       ///< a copy in bulk moves a's rows: no demand, but a cost
    MmaTile,        ///< a's tile is what the tensor core reads
    Divides,        ///< a's tile divides `numbers`, counted from the end
    MinorDivisible, ///< the last size of a's tile is a multiple of numbers[0]
    Becomes,        ///< b is what `steps` make of a
    Broadcast ///< a is repeated to b along all but the dimensions `numbers`
  };
  Kind kind;
  VarId a = kNoVar, b = kNoVar;
  mlir::Operation *op = nullptr;
  /// What the op needs the constraint for: "its accumulator".
  llvm::StringRef why;
  llvm::SmallVector<LayoutId, 1> layouts;
  llvm::SmallVector<int64_t, 2> numbers;
  /// Of Becomes: an index of the system's steps.
  int steps = -1;
  /// Of transfers, copies and relayouts: the type that is moved, of transfers
  /// that of the memory. Of Becomes:
  /// the result of a reduction, where lanes have to exchange what they have.
  mlir::Type type;
  transfers::TransferNeed need = transfers::TransferNeed::Optimized;
  bool isLoad = false;
  /// Of MmaTile: the memory is seen transposed, and a tile without swizzle will
  /// do.
  bool isTransposed = false, allowsUnswizzled = false;
  /// JAX cannot lower what else would be: only for solutions as in JAX.
  bool isJAXOnly = false;
  /// Of Use: where a layout_cast could stand.
  mlir::OpOperand *operand = nullptr;
  /// How often the op runs, about: 8 times for each loop around it.
  int64_t weight = 1;
};

/// A place that has a layout: an operand, or a result or block argument.
struct Site {
  mlir::OpOperand *operand = nullptr;
  mlir::Value value;
  /// Of a value: how often an op computes it element by element, see
  /// Constraint::weight; 0 where it is not computed so.
  int64_t work = 0;
};

struct Variable {
  Memory memory;
  /// Of the first place that has the layout.
  mlir::Type type;
  llvm::SmallVector<Site, 2> sites;
  /// What a register of one of its values costs on top, where more registers
  /// are live than a thread has.
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
  // For rules
  //===--------------------------------------------------------------------===//

  /// The op whose rule runs: what constraints are of.
  void setOp(mlir::Operation *op);

  /// A new variable of a place.
  VarId create(mlir::OpOperand &operand);
  VarId create(mlir::Value value);
  /// Another place with the layout of a variable.
  void bind(VarId var, mlir::OpOperand &operand);
  void bind(VarId var, mlir::Value value);
  /// Gives an operand in memory the variable of its producer.
  VarId share(mlir::OpOperand &operand);
  /// A new variable of an operand in memory that need not be its producer's:
  /// the op sees scalars.
  VarId createDetached(mlir::OpOperand &operand);
  /// The variable of memory that ops with equal keys share: kind, offset and
  /// number of an alias. It is bound to `value`.
  VarId getAlias(mlir::Value value, int64_t kind, int64_t offset,
                 int64_t alias);

  void assign(VarId var, LayoutId layout, llvm::StringRef why);
  void oneOf(VarId var, llvm::ArrayRef<LayoutId> candidates,
             llvm::StringRef why);
  void equal(VarId a, VarId b, llvm::StringRef why);
  void notSplat(VarId var, llvm::StringRef why, bool isJAXOnly = false);
  void notStrided(VarId var, llvm::StringRef why);
  void divides(VarId var, llvm::ArrayRef<int64_t> multiples,
               llvm::StringRef why);
  Constraint &becomes(VarId source, VarId result, Steps steps,
                      llvm::StringRef why);
  /// For constraints with more to say.
  Constraint &add(Constraint::Kind kind, VarId a, VarId b, llvm::StringRef why);

  //===--------------------------------------------------------------------===//
  // Once all rules have run
  //===--------------------------------------------------------------------===//

  /// Adds that producers and users of a value agree.
  void linkUses();

  /// The variable of a place, or `kNoVar`.
  VarId lookup(mlir::OpOperand &operand) const;
  VarId lookup(mlir::Value value) const;

  llvm::ArrayRef<Variable> getVariables() const { return variables; }
  llvm::ArrayRef<Constraint> getConstraints() const { return constraints; }
  /// For a trial: what is changed must be changed back.
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

/// What a sequence of steps makes of a layout. `unknown` where this is not
/// computed; then nothing can be said of the result but that it is not found.
/// With `asInJAX`, where JAX computes it.
LayoutId applySteps(LayoutTable &layouts, const Steps &steps, LayoutId layout,
                    bool asInJAX);

/// Merges the `Divides` of a class: the last numbers of both, as many as the
/// shorter has, by their greatest common divisor.
void mergeMultiples(llvm::SmallVectorImpl<int64_t> &into,
                    llvm::ArrayRef<int64_t> multiples);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_RULES_CONSTRAINTS_H
