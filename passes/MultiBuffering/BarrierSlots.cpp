//===- BarrierSlots.cpp - Multi-buffering of mbarriers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why the transformation preserves semantics: every iteration arrives on the
// mbarrier exactly as often as a phase requires, before its waits, and waits
// for the phase with the iteration's number. So the arrivals and copies of an
// iteration, and nothing else, complete the phase that it waits for, both
// before and after.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/MultiBuffering/BarrierSlots.h"

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Analysis/Memory/BufferUses.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Slots/AddressSlots.h"
#include "smalti/passes/Slots/IterationParity.h"
#include "smalti/passes/Slots/IterationSlots.h"
#include "smalti/passes/Support/Describe.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>
#include <set>

using namespace mlir;
using namespace smalti;

using Reason = std::optional<std::string>;

MemRefType BarrierPlan::getType(int64_t slots) const {
  if (memory)
    return memory->getType(slots);
  return MemRefType::get({slots * count},
                         IntegerType::get(barriers.getContext(), 64));
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static constexpr int64_t kBarrierBytes = 8;

/// The offset in bytes of a view of `buffer`, or of an address in it.
static std::optional<int64_t> getByteOffset(Value value, Value buffer) {
  int64_t offset = 0;
  while (value != buffer) {
    Operation *def = value.getDefiningOp();
    if (!def)
      return std::nullopt;
    if (auto extract = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(def)) {
      // The address of a view is the address of the buffer.
      if (getRootBuffer(extract.getSource()) != buffer)
        return std::nullopt;
      return offset;
    }
    std::optional<int64_t> step = 0;
    Value next = def->getNumOperands() ? def->getOperand(0) : Value();
    if (isa<arith::AddIOp, LLVM::AddOp>(def)) {
      step = getConstantIntValue(def->getOperand(1));
      if (!step) {
        step = getConstantIntValue(def->getOperand(0));
        next = def->getOperand(1);
      }
    } else if (auto pointer = dyn_cast<LLVM::GEPOp>(def)) {
      std::optional<int64_t> bytes = getElementBytes(pointer.getElemType());
      step.reset();
      if (bytes && pointer.getElemType().isIntOrFloat() &&
          pointer.getElemType().getIntOrFloatBitWidth() == 8 * *bytes &&
          pointer.getDynamicIndices().empty() &&
          pointer.getRawConstantIndices().size() == 1)
        step = pointer.getRawConstantIndices().front() * *bytes;
    } else if (auto window = dyn_cast<memref::SubViewOp>(def)) {
      SmallVector<int64_t> strides;
      std::optional<int64_t> bytes =
          getElementBytes(window.getSourceType().getElementType());
      if (!bytes || !getStaticStrides(window.getSourceType(), strides))
        return std::nullopt;
      for (auto [begin, stride] :
           llvm::zip_equal(window.getMixedOffsets(), strides))
        if (std::optional<int64_t> number = getConstantIntValue(begin); step)
          step = number ? std::optional(*step + *number * stride * *bytes)
                        : std::nullopt;
    } else if (!isa<memref::CastOp, arith::IndexCastOp, arith::IndexCastUIOp,
                    LLVM::IntToPtrOp, LLVM::PtrToIntOp, LLVM::AddrSpaceCastOp>(
                   def)) {
      return std::nullopt;
    }
    if (!step)
      return std::nullopt;
    offset += *step;
    value = next;
  }
  return offset;
}

/// The constant index of the mbarrier that the op uses.
static std::optional<int64_t> getNumber(const BarrierPlan &plan,
                                        BarrierObjectOpInterface op) {
  if (plan.memory) {
    std::optional<int64_t> offset =
        getByteOffset(op.getBarrierMutable().get(), plan.barriers);
    return offset && *offset % kBarrierBytes == 0
               ? std::optional(*offset / kBarrierBytes)
               : std::nullopt;
  }
  OpOperand *index = op.getBarrierIndexMutable();
  return index ? getConstantIntValue(index->get()) : std::optional<int64_t>(0);
}

/// Whether all uses in the loop go through windows of the slot of its
/// iteration, or through addresses in the slot.
static bool isUsedBySlots(const BarrierPlan &plan,
                          const IntegerRanges &ranges) {
  bool isUsed = false;
  scf::ForOp loop = plan.loop;
  SmallVector<Value> values = {plan.barriers};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (Operation *user : value.getUsers()) {
      bool isAddress = isAddressOf(user, value);
      if (isa<BarrierObjectOpInterface>(user) && loop->isProperAncestor(user)) {
        if (!isa<LLVM::LLVMPointerType>(value.getType()))
          return false;
        std::optional<IterationSlot> slot =
            matchAddressSlot(value, plan.barriers, kBarrierBytes, loop, ranges);
        if (!slot || slot->depth < 2)
          return false;
        isUsed = true;
      } else if (isAddress) {
        llvm::append_range(values, user->getResults());
      } else if (loop->isProperAncestor(user)) {
        auto window = dyn_cast<memref::SubViewOp>(user);
        Value offset = window && !window.getMixedOffsets().empty()
                           ? dyn_cast<Value>(window.getMixedOffsets().front())
                           : Value();
        std::optional<IterationSlot> slot =
            offset ? matchIterationSlot(offset, loop) : std::nullopt;
        if (!slot || slot->depth < 2)
          return false;
        isUsed = true;
      }
    }
  }
  return isUsed;
}

/// Separates the users in the loop from the initializations.
Reason BarrierPlanner::sortUsers(BarrierPlan &plan) {
  SmallVector<BarrierObjectOpInterface> outside;
  std::set<int64_t> numbers;
  Operation *withSlot = nullptr, *withoutSlot = nullptr;
  SmallVector<Operation *> users(plan.barriers.getUsers());
  if (plan.memory)
    users = plan.memory->uses.users;
  llvm::stable_sort(users, [&](Operation *a, Operation *b) {
    return order.lookup(a) < order.lookup(b);
  });
  for (Operation *user : users) {
    auto op = dyn_cast<BarrierObjectOpInterface>(user);
    Value barrier = op ? op.getBarrierMutable().get() : Value();
    auto isOfPlan = [&](Value value) {
      return getRootBuffer(value) == plan.barriers;
    };
    if (!op || llvm::count_if(user->getOperands(), isOfPlan) != 1 ||
        !isOfPlan(barrier))
      return "the mbarrier escapes through " + quote(user) +
             ", so not all of its uses are known; pass it only to mbarrier ops";
    BarrierAction action = op.getBarrierAction();
    if (action == BarrierAction::Poll)
      return quote(user) +
             " polls the mbarrier; only waits that block are supported: use a "
             "'try_wait.parity' op";
    if (!plan.loop->isProperAncestor(user)) {
      outside.push_back(op);
      continue;
    }
    if (action == BarrierAction::Init)
      return quote(user) + " initializes the mbarrier in every iteration; "
                           "initialize the mbarrier before the loop";
    auto copy = dyn_cast<AsyncCopyOpInterface>(user);
    if (copy && !copy.getCopyDestination())
      return quote(user) +
             " completes on the mbarrier, but its destination is "
             "in another block of the cluster or cannot be determined; copy to "
             "a buffer of this block";
    for (Operation *around = user->getParentOp(); around != plan.loop;
         around = around->getParentOp())
      if (!isa<scf::IfOp>(around))
        return quote(user) + " is in an inner " + quote(around) +
               ", which may execute it several times per iteration; move it "
               "into "
               "the body of the outer loop or an scf.if there";
    if (std::optional<int64_t> number = getNumber(plan, op)) {
      if (*number < 0 || *number >= plan.count)
        return quote(user) + " uses index " + std::to_string(*number) +
               " of the array of mbarriers; it must be from 0 to " +
               std::to_string(plan.count - 1);
      numbers.insert(*number);
      plan.users.emplace_back(op, *number);
      if (!withoutSlot)
        withoutSlot = user;
      continue;
    }
    std::optional<SlotNumber> number;
    if (!plan.memory)
      number = matchSlotNumber(op.getBarrierIndexMutable()->get(), plan.loop);
    if (!number || number->slot.depth < 2)
      return "" + quote(user) +
             " uses an mbarrier index that cannot be analyzed; use a constant, "
             "or "
             "the "
             "iteration number modulo the number of slots";
    if (!withSlot)
      withSlot = user;
  }
  if (withSlot && withoutSlot)
    return quote(withSlot) +
           " uses the slot of its iteration as mbarrier index, but " +
           quote(withoutSlot) +
           " uses a constant index; all ops of the loop must use the same kind "
           "of index";
  plan.hasSlots = withSlot != nullptr;
  for (BarrierObjectOpInterface op : outside) {
    std::optional<int64_t> number = getNumber(plan, op);
    auto first = number ? numbers.lower_bound(*number) : numbers.end();
    if (number &&
        (first == numbers.end() || *first >= *number + op.getNumBarriers()))
      continue;
    if (op.getBarrierAction() == BarrierAction::Init)
      plan.inits.push_back(op);
    else if (!plan.hasSlots)
      return quote(op) +
             " uses the mbarrier outside the loop; use another mbarrier there";
  }
  return std::nullopt;
}

/// The value of a block-uniform number.
std::optional<int64_t> BarrierPlanner::evaluateForBlock(OpFoldResult number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return constant;
  auto value = dyn_cast<Value>(number);
  if (!value || !uniformity.isBlockUniform(value))
    return std::nullopt;
  values.startWave(0);
  const Lanes *lanes = values.evaluate(value);
  if (!lanes || !llvm::all_equal(*lanes))
    return std::nullopt;
  return lanes->front();
}

/// Adds the arrivals of `op` in one iteration of the loop.
Reason BarrierPlanner::countArrivals(const BarrierPlan &plan,
                                     BarrierObjectOpInterface op,
                                     int64_t &arrivals) {
  std::optional<int64_t> each = evaluateForBlock(op.getArrivals());
  if (!each)
    return "the arrival count of " + quote(op) +
           " cannot be determined; use a constant";
  SmallVector<std::pair<Value, bool>> conditions;
  if (Value predicate = op.getPredicate())
    conditions.emplace_back(predicate, true);
  for (Operation *inner = op; inner->getParentOp() != plan.loop;
       inner = inner->getParentOp()) {
    auto branch = cast<scf::IfOp>(inner->getParentOp());
    conditions.emplace_back(branch.getCondition(), inner->getParentRegion() ==
                                                       &branch.getThenRegion());
  }
  // A constant condition does not require the values of threads.
  llvm::erase_if(conditions, [&](auto condition) {
    std::optional<int64_t> constant = getConstantIntValue(condition.first);
    return constant && (*constant != 0) == condition.second;
  });
  if (op.isBlockWide() && conditions.empty()) {
    arrivals += *each;
    return std::nullopt;
  }
  scf::ForOp loop = plan.loop;
  Operation *first = &loop.getBody()->front();
  std::optional<int64_t> executing;
  if (!op.isBlockWide() && getBlockSize(function, first) &&
      uniformity.isReachedUniformly(first))
    executing = countExecuting(conditions, values.getNumThreads(first));
  if (!executing)
    return "the number of threads that execute " + quote(op) +
           " cannot be determined; use conditions that depend only on thread "
           "indices and constants";
  arrivals += *each * *executing;
  return std::nullopt;
}

/// How many threads of the block satisfy the conditions, if the number does not
/// depend on which lane of a wave is elected.
std::optional<int64_t>
BarrierPlanner::countExecuting(ArrayRef<std::pair<Value, bool>> conditions,
                               int64_t threads) {
  auto countInWave = [&]() -> std::optional<int64_t> {
    Lanes active = values.fill(1);
    for (auto [value, taken] : conditions) {
      const Lanes *holds = values.evaluate(value);
      if (!holds)
        return std::nullopt;
      for (auto [executes, bit] : llvm::zip_equal(active, *holds))
        executes &= (bit != 0) == taken;
    }
    int64_t count = 0;
    for (auto [lane, executes] : llvm::enumerate(active))
      count +=
          executes && values.getThread(static_cast<int64_t>(lane)) < threads;
    return count;
  };
  int64_t executing = 0;
  for (int64_t wave = 0; wave * values.getNumLanes() < threads; ++wave) {
    values.startWave(wave);
    values.takeNeedsElected();
    std::optional<int64_t> count = countInWave();
    if (values.takeNeedsElected()) {
      for (int64_t lane = 0;
           lane < values.getNumLanes() && values.getThread(lane) < threads;
           ++lane) {
        values.setElected(lane);
        std::optional<int64_t> other = countInWave();
        if (lane != 0 && other != count)
          other.reset();
        count = other;
        if (!count)
          break;
      }
      values.setElected(std::nullopt);
    }
    if (!count)
      return std::nullopt;
    executing += *count;
  }
  return executing;
}

/// An arrival or copy after a wait would belong to the phase of another
/// iteration.
Reason BarrierPlanner::checkOrder(ArrayRef<BarrierObjectOpInterface> users) {
  BarrierObjectOpInterface last, firstWait;
  auto isBefore = [&](Operation *a, Operation *b) {
    return order.lookup(a) < order.lookup(b);
  };
  for (BarrierObjectOpInterface op : users) {
    if (op.getBarrierAction() == BarrierAction::Wait) {
      if (!firstWait || isBefore(op, firstWait))
        firstWait = op;
    } else if (!last || isBefore(last, op)) {
      last = op;
    }
  }
  if (!firstWait)
    return std::string(
        "the loop does not wait for the mbarrier; add a wait to the loop body");
  if (!last || isBefore(last, firstWait))
    return std::nullopt;
  return quote(last) + " uses the mbarrier after the wait of the same "
                       "iteration of the loop; all arrivals must precede the "
                       "wait: move the op before the wait";
}

/// The op that initializes the arrival count of a phase, before the loop.
static BarrierObjectOpInterface
findInit(const BarrierPlan &plan, ArrayRef<BarrierObjectOpInterface> inits,
         std::string &reason) {
  if (inits.size() != 1) {
    reason = inits.empty() ? "the mbarrier is not initialized in the function; "
                             "initialize it before the loop"
                           : "the mbarrier must be initialized once, but has "
                             "several initializations, for example " +
                                 quote(inits.front());
    return {};
  }
  BarrierObjectOpInterface init = inits.front();
  // The loop executes once per creation of the mbarriers.
  Operation *inner = plan.loop;
  while (!inner->getBlock()->findAncestorOpInBlock(*init))
    inner = inner->getParentOp();
  Operation *other = inner->getBlock()->findAncestorOpInBlock(*init);
  if (other == inner || !other->isBeforeInBlock(inner)) {
    reason = quote(init) + " initializes the mbarrier, but does not precede "
                           "the loop; move it before the loop";
    return {};
  }
  return init;
}

/// `users` and `inits` use one mbarrier.
Reason BarrierPlanner::checkBarrier(const BarrierPlan &plan,
                                    ArrayRef<BarrierObjectOpInterface> users,
                                    ArrayRef<BarrierObjectOpInterface> inits) {
  if (Reason reason = checkOrder(users))
    return reason;
  std::string why;
  BarrierObjectOpInterface init = findInit(plan, inits, why);
  if (!init)
    return why;
  std::optional<int64_t> expected = evaluateForBlock(init.getArrivals());
  if (!expected)
    return "the arrival count of " + quote(init) +
           " cannot be determined; use a constant";
  int64_t arrivals = 0;
  for (BarrierObjectOpInterface op : users) {
    if (op.getBarrierAction() == BarrierAction::Arrive) {
      if (Reason reason = countArrivals(plan, op, arrivals))
        return reason;
    } else if (OpOperand *parity = op.getParityMutable()) {
      std::optional<bool> first =
          matchIterationParity(parity->get(), plan.loop);
      if (!first)
        return "the parity operand of " + quote(op) +
               " is not proven to alternate in every iteration; use the parity "
               "of the iteration number: 0, 1, 0, 1, ...";
      if (*first)
        return quote(op) + " waits for parity 1 in the first iteration, but "
                           "the first phase has parity 0; wait for parity 0";
    }
  }
  if (arrivals != *expected)
    return "each iteration has " + std::to_string(arrivals) +
           (arrivals == 1 ? " arrival, but " : " arrivals, but ") +
           quote(init) + " sets the arrival count to " +
           std::to_string(*expected) + "; the two must be equal";
  return std::nullopt;
}

/// Refuses mbarriers whose size this function cannot change.
static Reason checkOwner(Value barriers) {
  if (getAliasClass(barriers).kind == RootKind::Allocation)
    return std::nullopt;
  constexpr char fixedSize[] =
      ", which cannot be enlarged; allocate the mbarrier in the function";
  if (Operation *create = barriers.getDefiningOp())
    return "the mbarrier is the result of " + quote(create) + fixedSize;
  return std::string("the mbarrier is a function argument") + fixedSize;
}

/// Plans a buffer that holds mbarriers like a buffer with slots.
Reason BarrierPlanner::planMemory(BarrierPlan &plan) {
  plan.hasSlots = isUsedBySlots(plan, ranges);
  if (plan.hasSlots)
    return std::nullopt;
  if (Reason reason = checkOwner(plan.barriers))
    return reason;
  auto type = dyn_cast<MemRefType>(plan.barriers.getType());
  std::optional<int64_t> bytes = type ? getBufferBytes(type) : std::nullopt;
  if (!bytes || *bytes <= 0 || *bytes % kBarrierBytes != 0)
    return "the memory of the mbarrier has type " +
           describe(plan.barriers.getType()) +
           "; its size must be a constant multiple of " +
           std::to_string(kBarrierBytes) + " B";
  plan.count = *bytes / kBarrierBytes;
  BufferPlan &memory = plan.memory.emplace();
  memory.buffer = plan.barriers;
  memory.op = plan.op;
  memory.slotType = type;
  memory.slotBytes = *bytes;
  memory.loops = {plan.loop};
  memory.scope = plan.loop->getBlock();
  if (Reason escape = collectBufferUses(plan.barriers, memory.uses,
                                        /*withAddresses=*/true))
    return "the mbarrier " + *escape;
  for (Operation *user : memory.uses.users) {
    if (!memory.scope->findAncestorOpInBlock(*user))
      return quote(user) + " uses the mbarrier outside the MLIR block of the "
                           "loop; move the op to that block";
  }
  return checkSlotTypes(memory);
}

Reason BarrierPlanner::planGroup(BarrierPlan &plan) {
  plan.count =
      cast<nvgpu::MBarrierGroupType>(plan.barriers.getType()).getNumBarriers();
  return checkOwner(plan.barriers);
}

Reason BarrierPlanner::plan(BarrierPlan &plan) {
  if (order.empty()) {
    unsigned number = 0;
    function->walk<WalkOrder::PreOrder>(
        [&](BarrierObjectOpInterface op) { order[op] = number++; });
  }
  bool isGroup = isa<nvgpu::MBarrierGroupType>(plan.barriers.getType());
  if (Reason reason = isGroup ? planGroup(plan) : planMemory(plan))
    return reason;
  if (plan.hasSlots)
    return std::nullopt;
  if (Reason reason = sortUsers(plan))
    return reason;
  if (plan.hasSlots)
    return std::nullopt;
  if (!isExecutedOnce(plan.loop->getBlock(), plan.barriers))
    return std::string(
        "the loop may execute more than once after one initialization of the "
        "mbarrier; initialize the mbarrier directly before the loop");
  using Ops = SmallVector<BarrierObjectOpInterface>;
  std::map<int64_t, Ops> users, inits;
  for (auto [op, number] : plan.users)
    users[number].push_back(op);
  // An initialization with a dynamic index may initialize any of them.
  Ops anyInits;
  for (BarrierObjectOpInterface init : plan.inits)
    if (std::optional<int64_t> number = getNumber(plan, init)) {
      for (int64_t end = *number + init.getNumBarriers(); *number < end;
           ++*number)
        inits[*number].push_back(init);
    } else {
      anyInits.push_back(init);
    }
  for (auto &[number, ops] : users) {
    Ops &own = inits[number];
    own.append(anyInits.begin(),
               anyInits.begin() + std::min<size_t>(anyInits.size(), 2));
    if (Reason reason = checkBarrier(plan, ops, own))
      return reason;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

/// Lays the slots of the group out one after the other. Values that the loop
/// needs are computed at the builder's insertion point.
static void commitGroup(const BarrierPlan &plan, OpBuilder &builder) {
  auto group = cast<nvgpu::MBarrierGroupType>(plan.barriers.getType());
  Value barriers = plan.barriers;
  barriers.setType(nvgpu::MBarrierGroupType::get(
      group.getContext(), group.getMemorySpace(), plan.count * plan.depth));
  for (BarrierObjectOpInterface init : plan.inits) {
    builder.setInsertionPointAfter(init);
    Location loc = init.getLoc();
    Value number = init.getBarrierIndexMutable()->get();
    for (int64_t slot = 1; slot < plan.depth; ++slot) {
      int64_t distance = slot * plan.count;
      std::optional<int64_t> constant = getConstantIntValue(number);
      Value own = arith::ConstantIndexOp::create(
          builder, loc, constant.value_or(0) + distance);
      if (!constant)
        own = arith::AddIOp::create(builder, loc, number, own);
      auto other = cast<BarrierObjectOpInterface>(builder.clone(*init));
      other.getBarrierIndexMutable()->set(own);
    }
  }

  scf::ForOp loop = plan.loop;
  Location loc = loop.getLoc();
  builder.setInsertionPointToStart(loop.getBody());
  Value slot = createIterationSlot(builder, loop, plan.depth);
  if (plan.count != 1)
    slot = arith::MulIOp::create(
        builder, loc, slot,
        arith::ConstantIndexOp::create(builder, loc, plan.count));
  std::map<int64_t, Value> indices = {{0, slot}};
  for (auto [op, number] : plan.users) {
    Value &index = indices[number];
    if (!index)
      index = arith::AddIOp::create(
          builder, loc, slot,
          arith::ConstantIndexOp::create(builder, loc, number));
    BarrierObjectOpInterface user = op;
    user.getBarrierIndexMutable()->set(index);
  }
}

/// Gives the buffer slots, and initializes the mbarriers of all slots.
static void commitMemory(const BarrierPlan &plan, OpBuilder &builder) {
  BufferPlan memory = *plan.memory;
  memory.depth = plan.depth;
  commitBuffer(memory);
  for (BarrierObjectOpInterface init : plan.inits) {
    builder.setInsertionPointAfter(init);
    // An mbarrier outside a group is initialized through its address.
    Value first = init.getBarrierMutable().get();
    assert(isa<LLVM::LLVMPointerType>(first.getType()));
    for (int64_t slot = 1; slot < plan.depth; ++slot) {
      Value own = LLVM::GEPOp::create(
          builder, init.getLoc(), first.getType(), builder.getI8Type(), first,
          ArrayRef<LLVM::GEPArg>{int32_t(slot * memory.slotBytes)});
      auto other = cast<BarrierObjectOpInterface>(builder.clone(*init));
      other.getBarrierMutable().set(own);
    }
  }
}

void smalti::commitBarriers(const BarrierPlan &plan) {
  scf::ForOp loop = plan.loop;
  OpBuilder builder(loop.getContext());
  if (plan.memory) {
    commitMemory(plan, builder);
    builder.setInsertionPointToStart(loop.getBody());
  } else {
    commitGroup(plan, builder);
  }
  DenseMap<Type, Value> parities;
  for (auto [op, number] : plan.users) {
    BarrierObjectOpInterface user = op;
    OpOperand *parity = user.getParityMutable();
    if (!parity)
      continue;
    Value &own = parities[parity->get().getType()];
    if (!own)
      own =
          createSlotParity(builder, loop, plan.depth, parity->get().getType());
    parity->set(own);
  }
}
