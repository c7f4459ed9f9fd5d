//===- Accumulators.cpp - Registers that wgmma writes ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wgmma writes its accumulators asynchronously, but in LLVM IR they are
// values that are available immediately. The pass tracks the number of the
// wgmma that writes each value, through all instructions that only move
// registers. Before each use, it inserts a check that the wgmma is complete.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"

#include <map>

using namespace llvm;

namespace smalti::emulator {

static bool isMma(const Value *value) {
  auto *call = dyn_cast<CallInst>(value);
  auto *callee = call ? dyn_cast<Function>(call->getCalledOperand()) : nullptr;
  return callee && callee->getName().starts_with("asm:wgmma.mma_async.");
}

/// The single values that a value of an aggregate or vector type has.
static unsigned numLeaves(Type *type) {
  unsigned count = 0;
  if (auto *vector = dyn_cast<FixedVectorType>(type))
    return vector->getNumElements();
  if (auto *structure = dyn_cast<StructType>(type)) {
    for (Type *element : structure->elements())
      count += numLeaves(element);
    return count;
  }
  if (auto *array = dyn_cast<ArrayType>(type))
    return array->getNumElements() * numLeaves(array->getElementType());
  return 1;
}

/// The first of them below some indices.
static unsigned leafAt(Type *type, ArrayRef<unsigned> indices) {
  unsigned leaf = 0;
  for (unsigned index : indices) {
    if (auto *array = dyn_cast<ArrayType>(type)) {
      type = array->getElementType();
      leaf += index * numLeaves(type);
      continue;
    }
    auto *structure = cast<StructType>(type);
    for (unsigned i = 0; i < index; ++i)
      leaf += numLeaves(structure->getElementType(i));
    type = structure->getElementType(index);
  }
  return leaf;
}

namespace {
class Tracker {
public:
  explicit Tracker(Function &function)
      : function(function), number(Type::getInt64Ty(function.getContext())),
        none(ConstantInt::get(number, 0)) {}

  void run();

private:
  /// Whether `user` only moves registers, so that its result is in question.
  static bool isMove(const User *user) {
    if (isa<ExtractValueInst, InsertValueInst, PHINode, FreezeInst,
            ShuffleVectorInst>(user))
      return true;
    if (isa<ExtractElementInst, InsertElementInst>(user)) {
      auto *index = user->getOperand(user->getNumOperands() - 1);
      return isa<ConstantInt>(index);
    }
    if (auto *select = dyn_cast<SelectInst>(user))
      return select->getCondition()->getType()->isIntegerTy();
    auto *cast = dyn_cast<BitCastInst>(user);
    return cast && numLeaves(cast->getType()) == numLeaves(cast->getSrcTy());
  }
  void collect();
  /// The number of the wgmma that writes a part of `value`, or 0.
  Value *numberOf(Value *value, unsigned leaf);
  Value *makeNumber(Value *value, unsigned leaf);
  void unifyJoins();
  void checkBefore(Instruction &user);
  void connect(CallInst &wgmma);

  Function &function;
  Type *number;
  Value *none;
  SetVector<CallInst *> wgmmas;
  /// Values that may hold accumulators.
  SetVector<Value *> values;
  DenseMap<std::pair<Value *, unsigned>, WeakTrackingVH> numbers;
  /// PHI nodes of numbers that this class created.
  SmallVector<PHINode *> joins;
  /// Numbers that were checked in a block since its last call.
  DenseMap<BasicBlock *, SmallPtrSet<Value *, 4>> checked;
};
} // namespace

void Tracker::collect() {
  for (Instruction &at : instructions(function))
    if (isMma(&at))
      wgmmas.insert(cast<CallInst>(&at));
  values.insert(wgmmas.begin(), wgmmas.end());
  for (unsigned i = 0; i < values.size(); ++i)
    for (User *user : values[i]->users())
      if (isMove(user))
        values.insert(user);
}

Value *Tracker::numberOf(Value *value, unsigned leaf) {
  if (!values.contains(value))
    return none;
  auto key = std::make_pair(value, leaf);
  if (Value *known = numbers.lookup(key))
    return known;
  Value *made = makeNumber(value, leaf);
  numbers[key] = made;
  return made;
}

/// The accumulators of a wgmma usually have the same number: equal PHI nodes
/// are merged. Those of nested loops refer to each other, so all PHI nodes of a
/// block start in one class, which is split until the operands are equal.
void Tracker::unifyJoins() {
  DenseMap<Value *, unsigned> classes;
  for (PHINode *join : joins)
    classes[join] = 0;
  // PHI nodes of a block may list their predecessors in different orders.
  DenseMap<BasicBlock *, SmallVector<BasicBlock *>> predecessors;
  for (PHINode *join : joins)
    predecessors.try_emplace(join->getParent(), join->blocks());
  using Operand = std::pair<Value *, unsigned>;
  for (size_t count = 0; count < joins.size();) {
    std::map<std::pair<BasicBlock *, std::vector<Operand>>, unsigned> known;
    DenseMap<Value *, unsigned> next;
    for (PHINode *join : joins) {
      std::vector<Operand> operands;
      for (BasicBlock *predecessor : predecessors[join->getParent()]) {
        Value *value = join->getIncomingValueForBlock(predecessor);
        auto it = classes.find(value);
        operands.push_back(it == classes.end() ? Operand(value, 0)
                                               : Operand(nullptr, it->second));
      }
      next[join] = known
                       .try_emplace({join->getParent(), std::move(operands)},
                                    known.size())
                       .first->second;
    }
    classes = std::move(next);
    if (known.size() == count)
      break;
    count = known.size();
  }
  DenseMap<unsigned, PHINode *> kept;
  for (PHINode *join : joins) {
    PHINode *&first = kept[classes[join]];
    if (!first) {
      first = join;
      continue;
    }
    join->replaceAllUsesWith(first);
    join->eraseFromParent();
  }
  joins.clear();
}

Value *Tracker::makeNumber(Value *value, unsigned leaf) {
  auto *at = cast<Instruction>(value);
  if (isMma(at)) {
    IRBuilder<> builder(at->getNextNode());
    unsigned last = numLeaves(at->getType()) - 1;
    WeakTrackingVH &made = numbers[{value, last}];
    if (!made)
      made = builder.CreateExtractValue(at, last);
    return made;
  }
  if (auto *extract = dyn_cast<ExtractValueInst>(at)) {
    Value *from = extract->getAggregateOperand();
    return numberOf(from,
                    leafAt(from->getType(), extract->getIndices()) + leaf);
  }
  if (auto *insert = dyn_cast<InsertValueInst>(at)) {
    Value *inserted = insert->getInsertedValueOperand();
    unsigned first = leafAt(at->getType(), insert->getIndices());
    bool isThere =
        leaf >= first && leaf < first + numLeaves(inserted->getType());
    return isThere ? numberOf(inserted, leaf - first)
                   : numberOf(insert->getAggregateOperand(), leaf);
  }
  if (auto *extract = dyn_cast<ExtractElementInst>(at)) {
    auto *index = cast<ConstantInt>(extract->getIndexOperand());
    return numberOf(extract->getVectorOperand(), index->getZExtValue());
  }
  if (auto *insert = dyn_cast<InsertElementInst>(at)) {
    auto *index = cast<ConstantInt>(insert->getOperand(2));
    return leaf == index->getZExtValue()
               ? numberOf(insert->getOperand(1), 0)
               : numberOf(insert->getOperand(0), leaf);
  }
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(at)) {
    int from = shuffle->getMaskValue(int(leaf));
    int width = int(numLeaves(shuffle->getOperand(0)->getType()));
    if (from < 0)
      return none;
    return numberOf(shuffle->getOperand(from / width), from % width);
  }
  if (auto *phi = dyn_cast<PHINode>(at)) {
    auto *made = PHINode::Create(number, phi->getNumIncomingValues(), "",
                                 phi->getIterator());
    joins.push_back(made);
    numbers[{value, leaf}] = made;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      made->addIncoming(numberOf(phi->getIncomingValue(i), leaf),
                        phi->getIncomingBlock(i));
    return made;
  }
  if (auto *select = dyn_cast<SelectInst>(at)) {
    Value *a = numberOf(select->getTrueValue(), leaf);
    Value *b = numberOf(select->getFalseValue(), leaf);
    IRBuilder<> builder(select);
    return a == b ? a : builder.CreateSelect(select->getCondition(), a, b);
  }
  return numberOf(at->getOperand(0), leaf);
}

static CallInst *callCheck(Instruction &before, Value *number) {
  IRBuilder<> builder(&before);
  auto *type = FunctionType::get(builder.getVoidTy(), {number->getType()},
                                 /*isVarArg=*/false);
  CallInst *call = builder.CreateCall(
      before.getModule()->getOrInsertFunction("smalti.nvvm.accumulator", type),
      {number});
  call->setConvergent();
  return call;
}

/// A wgmma may read its own accumulators without a wait.
static bool isAccumulatorOf(const CallInst &wgmma, const Use &use) {
  return use.getOperandNo() + 1 < numLeaves(wgmma.getType());
}

void Tracker::checkBefore(Instruction &user) {
  SmallSetVector<Value *, 4> found;
  for (Use &use : user.operands()) {
    if (!values.contains(use.get()) ||
        (isMma(&user) && isAccumulatorOf(cast<CallInst>(user), use)))
      continue;
    for (unsigned leaf = 0; leaf < numLeaves(use->getType()); ++leaf)
      found.insert(numberOf(use.get(), leaf));
  }
  for (Value *number : found)
    if (number != none && checked[user.getParent()].insert(number).second)
      callCheck(user, number);
}

/// Passes the number of the wgmma that last wrote the accumulators to the next
/// wgmma. If the accumulators come from several wgmmas or in another order,
/// each is checked.
void Tracker::connect(CallInst &wgmma) {
  SmallSetVector<Value *, 4> found;
  unsigned count = numLeaves(wgmma.getType()) - 1;
  for (unsigned i = 0; i < count; ++i)
    found.insert(numberOf(wgmma.getArgOperand(i), 0));
  if (found.size() == 1) {
    wgmma.setArgOperand(wgmma.arg_size() - 1, found[0]);
    return;
  }
  for (Value *number : found)
    if (number != none)
      callCheck(wgmma, number);
}

static bool mayWait(const Instruction &at) {
  auto *call = dyn_cast<CallBase>(&at);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return call && !(callee && callee->isIntrinsic() && !isInstruction(*callee));
}

void Tracker::run() {
  collect();
  if (wgmmas.empty())
    return;
  SmallVector<Instruction *> readers;
  for (BasicBlock &block : function)
    for (Instruction &at : block)
      if (!isMove(&at) && any_of(at.operands(), [&](const Use &use) {
            return values.contains(use.get());
          }))
        readers.push_back(&at);
  // Compute all numbers first, so that equal numbers are one value.
  auto prepare = [&](Instruction &reader) {
    for (Use &use : reader.operands())
      if (values.contains(use.get()))
        for (unsigned leaf = 0; leaf < numLeaves(use->getType()); ++leaf)
          numberOf(use.get(), leaf);
  };
  for (Instruction *reader : readers)
    prepare(*reader);
  unifyJoins();
  SmallPtrSet<Instruction *, 32> isReader(readers.begin(), readers.end());
  for (BasicBlock &block : function)
    for (Instruction &at : make_early_inc_range(block)) {
      if (isReader.contains(&at))
        checkBefore(at);
      if (mayWait(at))
        checked[&block].clear();
    }
  for (CallInst *wgmma : wgmmas)
    connect(*wgmma);
}

void followAccumulators(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      Tracker(function).run();
}

} // namespace smalti::emulator
