//===- Overwrite.cpp - Proof that a buffer is overwritten -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/Overwrite.h"

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Support/Describe.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

/// No shared memory has more elements, even of one bit.
static constexpr int64_t kMaxElements = 1 << 22;
/// Subviews whose elements are enumerated, each as large as the buffer.
static constexpr unsigned kMaxDifferentViews = 16;
/// Addresses that are enumerated for one buffer.
static constexpr int64_t kMaxSteps = 1 << 23;
/// The cost of an iteration in steps, independent of its active lanes.
static constexpr int64_t kStepsOfIteration = 64;

/// The users of the buffer, and the copies that use descriptors created by some
/// of them.
static SmallVector<Operation *> findAccessingOps(const BufferUses &uses) {
  SmallVector<Operation *> ops(uses.users);
  DenseSet<Operation *> seen(ops.begin(), ops.end());
  for (size_t i = 0; i < ops.size(); ++i)
    if (isa<MemoryDescriptorOpInterface>(ops[i]))
      for (Operation *user : ops[i]->getUsers())
        if (seen.insert(user).second)
          ops.push_back(user);
  return ops;
}

/// Calls `visit` with the index of each element of a view of this type whose
/// first element has index `first`.
static void forEachElement(MemRefType type, ArrayRef<int64_t> strides,
                           int64_t first,
                           llvm::function_ref<void(int64_t)> visit) {
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    int64_t element = first, rest = i;
    for (auto [size, stride] :
         llvm::reverse(llvm::zip_equal(type.getShape(), strides))) {
      element += rest % size * stride;
      rest /= size;
    }
    visit(element);
  }
}

/// The elements that views show if the buffer is only used through static
/// subviews: the rest is padding, which is never read. Returns nothing if all
/// elements may be used.
static std::optional<llvm::BitVector>
findUsedElements(Value buffer, const BufferUses &uses, int64_t numElements) {
  if (numElements > kMaxElements)
    return std::nullopt;
  llvm::BitVector used(numElements);
  DenseSet<Attribute> seen;
  for (Operation *user : buffer.getUsers()) {
    if (llvm::is_contained(uses.deallocs, user))
      continue;
    auto view = dyn_cast<memref::SubViewOp>(user);
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!view || !view.getType().hasStaticShape() ||
        failed(view.getType().getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamic(offset) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return std::nullopt;
    // Views of one type show the same elements.
    if (!seen.insert(TypeAttr::get(view.getType())).second)
      continue;
    if (seen.size() > kMaxDifferentViews)
      return std::nullopt;
    forEachElement(view.getType(), strides, offset, [&](int64_t element) {
      if (element >= 0 && element < numElements)
        used.set(element);
    });
  }
  return used.all() ? std::nullopt : std::optional(std::move(used));
}

OverwriteProof::OverwriteProof(FunctionOpInterface function,
                               const UniformityAnalysis &uniformity,
                               const targets::Target *target, Value buffer,
                               const BufferUses &uses)
    : function(function), uniformity(uniformity), target(target),
      buffer(buffer),
      numElements(cast<MemRefType>(buffer.getType()).getNumElements()),
      used(findUsedElements(buffer, uses, numElements)),
      numUsed(used ? used->count() : numElements) {
  SmallVector<Operation *> ops = findAccessingOps(uses);
  users.insert(ops.begin(), ops.end());
  views.insert(buffer);
  for (Operation *view : uses.views)
    views.insert(view->result_begin(), view->result_end());
  for (Operation *op : uses.addresses)
    addresses.insert(op->getResult(0));
  DenseSet<Operation *> seen;
  for (Operation *user : ops)
    for (Operation *op = user; op != function && seen.insert(op).second;
         op = op->getParentOp())
      opsOf[op->getBlock()].push_back(op);
  for (auto &[block, ops] : opsOf)
    llvm::sort(
        ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

std::optional<std::string>
OverwriteProof::check(Block &block, bool mustWrite,
                      ArrayRef<scf::ForOp> overwriting) {
  overwritingLoops = overwriting;
  isConvergent = !block.empty() && getBlockSize(function, &block.front()) &&
                 uniformity.isReachedUniformly(&block.front());
  values.emplace(function, target,
                 isConvergent ? ThreadValues::Assume::Nothing
                              : ThreadValues::Assume::NothingOfOneThread);
  frames.clear();
  wasAllWritten.reset();
  steps = 0;
  ignored.clear();
  reason.clear();
  Written written;
  if (numUsed == 0)
    written.all = true;
  if (!walk(block, written))
    return reason;
  if (mustWrite && !written.all)
    return "each iteration must overwrite all " + std::to_string(numUsed) +
           " elements that the loop uses, but is proven to overwrite only " +
           std::to_string(written.count) + ignored;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Program order
//===----------------------------------------------------------------------===//

bool OverwriteProof::walk(Block &block, Written &written) {
  auto ops = opsOf.find(&block);
  if (ops == opsOf.end())
    return true;
  return llvm::all_of(ops->second,
                      [&](Operation *op) { return visit(op, written); });
}

bool OverwriteProof::visit(Operation *op, Written &written) {
  if (users.contains(op))
    return visitUser(op, written);
  if (llvm::is_contained(overwritingLoops, op)) {
    written.all |= getConstantTripCount(cast<scf::ForOp>(op)).value_or(0) > 0;
    return true;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch, written);
  if (isa<scf::ExecuteRegionOp, memref::AllocaScopeOp>(op) &&
      op->getRegion(0).hasOneBlock())
    return walk(op->getRegion(0).front(), written);
  // An early iteration may read what a later one writes, so reads only count
  // what was written before the loop.
  bool isOutermost = !wasAllWritten.has_value();
  if (isOutermost)
    wasAllWritten = written.all;
  bool isFine = visitRegions(op, written);
  if (isOutermost)
    wasAllWritten.reset();
  return isFine;
}

bool OverwriteProof::visitRegions(Operation *op, Written &written) {
  frames.push_back({op, /*isElse=*/false});
  bool isFine = true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      isFine = isFine && walk(block, written);
  frames.pop_back();
  return isFine;
}

bool OverwriteProof::visitUser(Operation *op, Written &written) {
  SmallVector<MemoryAccess> accesses;
  std::string why;
  if (!collectAccesses(op, accesses, why)) {
    reason =
        "the buffer cannot be proven to be overwritten in every iteration: " +
        why;
    return false;
  }
  bool isWritten = false;
  for (const MemoryAccess &access : accesses) {
    if (access.root != getRootBuffer(buffer))
      continue;
    isWritten |= access.isWrite;
    if (access.isWrite || wasAllWritten.value_or(written.all))
      continue;
    reason =
        quote(op) +
        " reads the buffer before the iteration has overwritten all of it (" +
        std::to_string(written.count) + " of " + std::to_string(numUsed) +
        " elements are proven to be overwritten)" + ignored;
    return false;
  }
  if (isWritten && !written.all)
    addWrites(op, written);
  return true;
}

/// Keeps the elements that are written on both paths.
void OverwriteProof::keepCommon(Written &written, Written other) {
  if (written.all) {
    written = std::move(other);
  } else if (!other.all) {
    if (other.elements.empty())
      written.elements.clear();
    written.elements &= other.elements;
    written.count = written.elements.count();
  }
}

bool OverwriteProof::visitBranch(scf::IfOp branch, Written &written) {
  Value condition = branch.getCondition();
  Block *thenBlock = branch.thenBlock(), *elseBlock = branch.elseBlock();
  // In an inner loop the path may change between iterations.
  bool isUniformBranch =
      llvm::none_of(
          frames,
          [](const Frame &frame) { return !isa<scf::IfOp>(frame.op); }) &&
      (!isConvergent || uniformity.isBlockUniform(condition));
  if (isKnown(condition) || !isUniformBranch) {
    // Under an unknown condition, no write is counted.
    frames.push_back({branch, /*isElse=*/false});
    bool isFine = walk(*thenBlock, written);
    frames.back().isElse = true;
    isFine = isFine && (!elseBlock || walk(*elseBlock, written));
    frames.pop_back();
    return isFine;
  }
  // All threads take the same path, or the proof is about one thread: elements
  // that both paths write are written.
  Written other = written;
  if (!walk(*thenBlock, written) || (elseBlock && !walk(*elseBlock, other)))
    return false;
  if (written.all && other.all)
    return true;
  if (written.all || other.all || written.count != other.count)
    ignore(branch, "its two branches write different elements");
  keepCommon(written, std::move(other));
  return true;
}

bool OverwriteProof::isKnown(Value condition) {
  values->startWave(0);
  for (const Frame &frame : frames)
    if (auto loop = dyn_cast<scf::ForOp>(frame.op))
      values->bind(loop.getInductionVar(), values->fill(0));
    else if (auto loop = dyn_cast<affine::AffineForOp>(frame.op))
      values->bind(loop.getInductionVar(), values->fill(0));
  bool isKnown = values->evaluate(condition) != nullptr;
  for (const Frame &frame : frames)
    if (auto loop = dyn_cast<LoopLikeOpInterface>(frame.op))
      if (std::optional<Value> counter = loop.getSingleInductionVar())
        values->unbind(*counter);
  return isKnown;
}

//===----------------------------------------------------------------------===//
// Writes of an op
//===----------------------------------------------------------------------===//

bool OverwriteProof::ignore(Operation *op, const Twine &why) {
  if (ignored.empty())
    ignored = ("; " + quote(op) + " is not counted as a write: " + why).str();
  return false;
}

bool OverwriteProof::ignoreCost(Operation *op) {
  return ignore(op, "to enumerate the addresses that it writes takes more "
                    "than " +
                        std::to_string(kMaxSteps) +
                        " steps, the limit of the analysis");
}

bool OverwriteProof::ignoreSize(Operation *op, int64_t numElements) {
  return ignore(op, "it writes to memory of " + std::to_string(numElements) +
                        " elements; the analysis supports at most " +
                        std::to_string(kMaxElements));
}

static constexpr char kUnknownAddresses[] =
    "the addresses that it writes cannot be determined statically; use stores "
    "of memref or vector";

std::string OverwriteProof::describeUnknown() const {
  if (isConvergent)
    return "cannot be determined; compute it from constants, thread ids and "
           "the induction variables of loops";
  return "cannot be determined, since the block size is unknown or control "
         "flow may be divergent; set known_block_size, or use uniform "
         "conditions";
}

bool OverwriteProof::addWrites(Operation *op, Written &written) {
  int64_t threads = isConvergent ? values->getNumThreads(op) : 1;
  int64_t lanes = values->getNumLanes();
  for (int64_t wave = 0; wave * lanes < threads; ++wave) {
    values->startWave(wave);
    Active active(lanes);
    for (int64_t lane = 0; lane < lanes; ++lane)
      active[lane] = values->getThread(lane) < threads;
    if (!addWritesOfAnyElected(active, op, written) || written.all)
      break;
  }
  written.all |= written.count == numUsed;
  return true;
}

/// The elements that a wave writes for every choice of the elected lane.
bool OverwriteProof::addWritesOfAnyElected(const Active &active, Operation *op,
                                           Written &written) {
  std::string ignoredBefore = ignored;
  values->takeNeedsElected();
  bool isFine = addFrame(0, active, op, written);
  if (!values->takeNeedsElected())
    return isFine;
  ignored = std::move(ignoredBefore);
  std::optional<Written> common;
  isFine = true;
  for (size_t lane = 0; isFine && lane < active.size(); ++lane) {
    if (!active[lane])
      continue;
    values->setElected(lane);
    Written own = written;
    isFine = addFrame(0, active, op, own);
    if (common)
      keepCommon(*common, std::move(own));
    else
      common = std::move(own);
  }
  values->setElected(std::nullopt);
  if (isFine && common)
    written = std::move(*common);
  return isFine;
}

bool OverwriteProof::addFrame(size_t frame, const Active &active, Operation *op,
                              Written &written) {
  if (!llvm::is_contained(active, true))
    return true;
  steps += kStepsOfIteration + static_cast<int64_t>(active.size());
  if (steps > kMaxSteps)
    return ignoreCost(op);
  if (frame == frames.size())
    return addWritesOfWave(op, active, written);
  auto branch = dyn_cast<scf::IfOp>(frames[frame].op);
  if (!branch)
    return addIterations(frame, active, op, written);
  const Lanes *condition = values->evaluate(branch.getCondition());
  if (!condition)
    return ignore(op,
                  "the condition of the enclosing branch " + describeUnknown());
  Active taking = active;
  for (auto [takes, holds] : llvm::zip_equal(taking, *condition))
    takes = takes && (holds != 0) != frames[frame].isElse;
  return addFrame(frame + 1, taking, op, written);
}

bool OverwriteProof::addIterations(size_t frame, const Active &active,
                                   Operation *op, Written &written) {
  Operation *around = frames[frame].op;
  std::optional<Lanes> counter, end, step;
  Value variable;
  bool isUnsigned = false;
  auto copy = [&](Value value) {
    const Lanes *lanes = values->evaluate(value);
    return lanes ? std::optional<Lanes>(*lanes) : std::nullopt;
  };
  if (auto loop = dyn_cast<scf::ForOp>(around)) {
    counter = copy(loop.getLowerBound());
    end = copy(loop.getUpperBound());
    step = copy(loop.getStep());
    variable = loop.getInductionVar();
    isUnsigned = loop.getUnsignedCmp();
  } else if (auto loop = dyn_cast<affine::AffineForOp>(around);
             loop && loop.hasConstantBounds()) {
    counter = values->fill(loop.getConstantLowerBound());
    end = values->fill(loop.getConstantUpperBound());
    step = values->fill(loop.getStepAsInt());
    variable = loop.getInductionVar();
  }
  if (!counter || !end || !step)
    return ignore(op, "the trip count of the enclosing " + quote(around) + " " +
                          describeUnknown());
  while (true) {
    Active running = active;
    for (auto [lane, runs] : llvm::enumerate(running)) {
      int64_t now = (*counter)[lane], last = (*end)[lane];
      runs =
          runs && (*step)[lane] > 0 &&
          (isUnsigned ? static_cast<uint64_t>(now) < static_cast<uint64_t>(last)
                      : now < last);
    }
    if (!llvm::is_contained(running, true))
      break;
    values->bind(variable, *counter);
    if (!addFrame(frame + 1, running, op, written))
      return false;
    for (auto [now, distance] : llvm::zip_equal(*counter, *step))
      if (llvm::AddOverflow(now, distance, now))
        return ignore(op,
                      "the induction variable of the enclosing loop overflows");
  }
  values->unbind(variable);
  return true;
}

bool OverwriteProof::addWritesOfWave(Operation *op, const Active &reaching,
                                     Written &written) {
  Active active = reaching;
  auto object = dyn_cast<BarrierObjectOpInterface>(op);
  if (Value predicate = object ? object.getPredicate() : Value()) {
    const Lanes *holds = values->evaluate(predicate);
    if (!holds)
      return ignore(op, "the value of its predicate " + describeUnknown());
    for (auto [executes, bit] : llvm::zip_equal(active, *holds))
      executes = executes && bit != 0;
    if (!llvm::is_contained(active, true))
      return true;
  }
  auto strided = dyn_cast<StridedAccessOpInterface>(op);
  bool isFine = true;
  for (OpOperand &operand : op->getOpOperands()) {
    if (addresses.contains(operand.get()))
      isFine = addBytes(op, operand.get(), active, written) && isFine;
    if (!views.contains(operand.get()))
      continue;
    if (overwritesWholeMemRef(op, operand.get()))
      isFine = addView(op, operand.get(), active, written) && isFine;
    else if (strided)
      isFine = addRow(operand, active, written) && isFine;
    else
      isFine = ignore(op, kUnknownAddresses);
  }
  // A copy through a descriptor.
  auto copy = dyn_cast<AsyncCopyOpInterface>(op);
  Value destination = copy ? copy.getCopyDestination() : Value();
  if (!destination || !views.contains(destination) ||
      llvm::is_contained(op->getOperands(), destination))
    return isFine;
  if (overwritesWholeMemRef(op, destination))
    return addView(op, destination, active, written) && isFine;
  return ignore(op, kUnknownAddresses);
}

void OverwriteProof::mark(int64_t element, Written &written) const {
  if (element < 0 || element >= numElements || (used && !used->test(element)))
    return;
  if (written.elements.empty())
    written.elements.resize(numElements);
  written.count += !written.elements.test(element);
  written.elements.set(element);
}

/// Whether `memref` shows every element of the buffer.
static bool showsWholeBuffer(Value memref, Value buffer) {
  while (memref != buffer) {
    Operation *view = memref.getDefiningOp();
    if (!view || !isElementPreservingView(view))
      return false;
    memref = cast<ViewLikeOpInterface>(view).getViewSource();
  }
  return true;
}

bool OverwriteProof::addView(Operation *op, Value memref, const Active &active,
                             Written &written) {
  if (showsWholeBuffer(memref, buffer)) {
    written.all = true;
    return true;
  }
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  std::optional<Lanes> start = values->getStart(buffer, memref);
  if (!start || !type.hasStaticShape() || !getStaticStrides(type, strides))
    return ignore(op,
                  "the offset of the view that it writes " + describeUnknown());
  if (int64_t most = std::max(numElements, type.getNumElements());
      most > kMaxElements)
    return ignoreSize(op, most);
  DenseSet<int64_t> seen;
  for (auto [lane, first] : llvm::enumerate(*start)) {
    if (!active[lane] || !seen.insert(first).second)
      continue;
    steps += type.getNumElements();
    if (steps > kMaxSteps)
      return ignoreCost(op);
    forEachElement(type, strides, first,
                   [&](int64_t element) { mark(element, written); });
  }
  return true;
}

/// The offset of an address from the start of the buffer, in bytes.
std::optional<Lanes> OverwriteProof::getByteOffset(Value address) {
  Operation *op = address.getDefiningOp();
  if (isa<memref::ExtractAlignedPointerAsIndexOp>(op))
    return values->fill(0);
  auto plus = [&](Value base, Value offset, int64_t factor) {
    std::optional<Lanes> sum = getByteOffset(base);
    const Lanes *lanes = values->evaluate(offset);
    if (!sum || !lanes)
      return std::optional<Lanes>();
    int64_t bytes;
    for (auto [total, number] : llvm::zip_equal(*sum, *lanes))
      if (llvm::MulOverflow(number, factor, bytes) ||
          llvm::AddOverflow(total, bytes, total))
        return std::optional<Lanes>();
    return sum;
  };
  if (isa<arith::AddIOp, LLVM::AddOp>(op)) {
    bool isLeft = addresses.contains(op->getOperand(0));
    return plus(op->getOperand(!isLeft), op->getOperand(isLeft), 1);
  }
  auto step = dyn_cast<LLVM::GEPOp>(op);
  if (!step)
    return getByteOffset(op->getOperand(0));
  std::optional<int64_t> bytes = getElementBytes(step.getElemType());
  if (!bytes || !step.getElemType().isIntOrFloat() ||
      !llvm::isPowerOf2_64(*bytes) ||
      step.getElemType().getIntOrFloatBitWidth() != 8 * *bytes ||
      step.getRawConstantIndices().size() != 1)
    return std::nullopt;
  if (!step.getDynamicIndices().empty())
    return plus(step.getBase(), step.getDynamicIndices().front(), *bytes);
  std::optional<Lanes> sum = getByteOffset(step.getBase());
  if (sum)
    for (int64_t &total : *sum)
      total += step.getRawConstantIndices().front() * *bytes;
  return sum;
}

/// The elements that a copy to an address writes.
bool OverwriteProof::addBytes(Operation *op, Value address,
                              const Active &active, Written &written) {
  auto copy = dyn_cast<AsyncCopyOpInterface>(op);
  int64_t bytes = copy && copy.getCopyDestination() == address
                      ? copy.getBytesOfThread()
                      : 0;
  if (bytes == 0)
    return ignore(op,
                  "the number of bytes that it writes cannot be determined");
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  std::optional<int64_t> size = getElementBytes(element);
  std::optional<Lanes> first = getByteOffset(address);
  if (!size || !first)
    return ignore(op, "the address that it writes " + describeUnknown());
  if (numElements > kMaxElements)
    return ignoreSize(op, numElements);
  for (auto [lane, begin] : llvm::enumerate(*first)) {
    if (!active[lane] || begin < 0)
      continue;
    steps += bytes;
    if (steps > kMaxSteps)
      return ignoreCost(op);
    for (int64_t i = llvm::divideCeil(begin, *size);
         (i + 1) * *size <= begin + bytes; ++i)
      mark(i, written);
  }
  return true;
}

bool OverwriteProof::addRow(OpOperand &memref, const Active &active,
                            Written &written) {
  Operation *op = memref.getOwner();
  std::optional<RowAccess> row =
      cast<StridedAccessOpInterface>(op).getRowAccess(memref);
  if (!row)
    return ignore(op, kUnknownAddresses);
  if (row->isRead)
    return true;
  if (row->isMasked)
    return ignore(
        op, "its mask may disable elements; write all of them without a mask");
  if (numElements > kMaxElements)
    return ignoreSize(op, numElements);
  auto type = cast<MemRefType>(memref.get().getType());
  SmallVector<int64_t> strides;
  std::optional<Lanes> elements =
      values->getElements(buffer, memref.get(), row->indices);
  if (!elements || !getStaticStrides(type, strides))
    return ignore(op, "the address that it writes " + describeUnknown());
  if (row->isWaveWide) {
    // Lanes with less than a dword write a dword each; lanes with three dwords
    // write four.
    std::optional<int64_t> bytes = getElementBytes(type.getElementType());
    int64_t lanesBytes = bytes ? *bytes * row->elements : 0;
    if (!isConvergent)
      return ignore(op, "not all lanes of a wave are proven to execute it");
    if (lanesBytes != 4 && lanesBytes != 16)
      return ignore(op, "each lane writes " + std::to_string(lanesBytes) +
                            " B; the analysis supports only writes of 4 or 16 "
                            "B per lane");
    if (!llvm::all_equal(*elements))
      return ignore(op, "its destination indices are not proven to be equal in "
                        "all lanes of a wave, which the instruction requires");
    for (auto [lane, element] : llvm::enumerate(*elements)) {
      element += static_cast<int64_t>(lane) * row->elements;
      // In a slot, the excess would be in the next slot.
      if (active[lane] && element + row->elements > numElements)
        return ignore(op, "the " + std::to_string(values->getNumLanes()) +
                              " lanes of a wave may write past the end of the "
                              "buffer of " +
                              std::to_string(numElements) +
                              " elements; make the buffer large enough for the "
                              "writes of all lanes");
    }
  }
  // The number of elements of a row that are inside the memref, for each lane.
  Lanes inside = values->fill(std::min<int64_t>(row->elements, kMaxElements));
  if (row->isBoundsChecked) {
    if (!type.hasStaticShape())
      return ignore(op, "it drops out-of-bounds elements, and the size of its "
                        "memref is dynamic; use a memref of static size");
    for (auto [dim, index] : llvm::enumerate(row->indices)) {
      const Lanes *lanes = values->evaluate(index);
      bool isLast = dim + 1 == row->indices.size();
      if (!lanes)
        return ignore(op, "the address that it writes " + describeUnknown());
      for (auto [count, at] : llvm::zip_equal(inside, *lanes))
        if (at < 0 || at >= type.getDimSize(dim))
          count = 0;
        else if (isLast)
          count = std::min(count, type.getDimSize(dim) - at);
    }
  }
  int64_t stride = row->mayCrossRows || strides.empty() ? 1 : strides.back();
  for (auto [lane, element] : llvm::enumerate(*elements)) {
    if (!active[lane])
      continue;
    steps += inside[lane];
    if (steps > kMaxSteps)
      return ignoreCost(op);
    for (int64_t i = 0; i < inside[lane]; ++i)
      mark(element + i * stride, written);
  }
  return true;
}
