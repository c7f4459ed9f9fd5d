//===- PaddedCopies.cpp - cp.async copies with zero fill ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/PadLowering/PaddedCopies.h"
#include "smalti/passes/PadLowering/TransferMasks.h"

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace smalti;

/// Maximum number of copies per vector, and of writes per wait. They bound the
/// number of alias queries.
static constexpr int64_t kMaxCopies = 32;
static constexpr size_t kMaxWrites = 32;
/// Maximum number of ops that are checked between a read and its write.
static constexpr size_t kMaxHazards = 64;

bool smalti::hasZeroFillCopies(const targets::Target *target) {
  return target && target->vendor == targets::Vendor::NVIDIA &&
         !target->asyncCopyBytes.empty() &&
         llvm::is_contained(target->waits, targets::WaitKind::CpAsyncGroup);
}

static bool isMemRefOf(VectorTransferOpInterface op, MemorySpace space) {
  return isa<MemRefType>(op.getBase().getType()) &&
         getMemorySpace(op.getBase()) == space;
}

vector::TransferWriteOp smalti::getSharedWrite(vector::TransferReadOp read) {
  if (!read->hasOneUse())
    return {};
  auto write = dyn_cast<vector::TransferWriteOp>(*read->user_begin());
  if (!write || write.getVector() != read.getResult() ||
      !isMemRefOf(write, MemorySpace::Shared) ||
      !isMemRefOf(read, MemorySpace::Global))
    return {};
  return write;
}

vector::TransferReadOp smalti::getSharedRead(vector::TransferWriteOp write) {
  auto read = write.getVector().getDefiningOp<vector::TransferReadOp>();
  if (!read || !read->hasOneUse() || !isMemRefOf(read, MemorySpace::Shared) ||
      !isMemRefOf(write, MemorySpace::Global))
    return {};
  return read;
}

//===----------------------------------------------------------------------===//
// Legality of moving the read
//===----------------------------------------------------------------------===//

/// Whether the op may write memory or synchronize. `roots` are the written
/// roots; empty if it may write any memory.
static bool isHazard(Operation *op, SmallVectorImpl<Value> &roots) {
  if (isMemoryEffectFree(op))
    return false;
  if (isa<BlockBarrierOpInterface>(op))
    return true;
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  if (!collectAccesses(op, accesses, reason))
    return true;
  bool hasBarrier =
      op->getNumRegions() != 0 && op->walk([](BlockBarrierOpInterface) {
                                      return WalkResult::interrupt();
                                    }).wasInterrupted();
  if (hasBarrier)
    return true;
  for (const MemoryAccess &access : accesses)
    if (access.isWrite)
      roots.push_back(access.root);
  return !roots.empty();
}

void MoveHazards::scan(Block *block) {
  auto [it, isNew] = hazards.try_emplace(block);
  if (!isNew)
    return;
  unsigned position = 0;
  for (Operation &op : *block) {
    positions[&op] = position;
    SmallVector<Value> roots;
    if (isHazard(&op, roots))
      it->second.push_back({position, &op, roots});
    ++position;
  }
}

std::optional<std::string> MoveHazards::find(Operation *read,
                                             Operation *write) {
  scan(read->getBlock());
  const std::vector<Hazard> &all = hazards[read->getBlock()];
  unsigned first = positions[read], last = positions[write];
  Value root = getRootBuffer(cast<vector::TransferReadOp>(read).getBase());
  const auto *it = std::upper_bound(
      all.data(), all.data() + all.size(), first,
      [](unsigned at, const Hazard &hazard) { return at < hazard.position; });
  const Hazard *end = all.data() + all.size();
  for (size_t seen = 0; it != end && it->position < last; ++it, ++seen) {
    if (seen == kMaxHazards)
      return "more than " + std::to_string(kMaxHazards) +
             " ops between the read and the write access memory; move the "
             "write closer to the read";
    if (it->roots.empty() || llvm::any_of(it->roots, [&](Value written) {
          return !aliasing.alias(written, root).isNo();
        }))
      return quote(it->op) +
             " is between the read and the write to shared memory, and the "
             "read cannot be moved after the op; move the op before the read "
             "or after the write";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

unsigned smalti::log2WindowAlignment(VectorTransferOpInterface op) {
  auto type = cast<MemRefType>(op.getBase().getType());
  unsigned log2Element =
      llvm::Log2_64(uint64_t(type.getElementTypeBitWidth()) / 8);
  unsigned alignment = block_to_thread::log2Alignment(op.getBase());
  for (auto [dim, index] : llvm::enumerate(op.getIndices()))
    alignment = std::min(alignment, log2Divisor(index) + log2Stride(type, dim) +
                                        log2Element);
  return alignment;
}

/// The same for all rows.
static unsigned log2RowAlignment(VectorTransferOpInterface op,
                                 unsigned log2Element) {
  auto type = cast<MemRefType>(op.getBase().getType());
  unsigned alignment = log2WindowAlignment(op);
  int64_t firstDim = type.getRank() - op.getVectorType().getRank();
  for (int64_t dim = firstDim; dim + 1 < type.getRank(); ++dim)
    if (op.getVectorType().getDimSize(dim - firstDim) > 1)
      alignment = std::min(alignment, log2Stride(type, dim) + log2Element);
  return alignment;
}

static bool hasUnitStride(MemRefType type) {
  return type.getRank() > 0 && type.isLastDimUnitStride();
}

/// Checks the conditions that apply to loads and stores.
static std::optional<std::string> checkPair(vector::TransferReadOp read,
                                            vector::TransferWriteOp write,
                                            MemRefType global,
                                            MemRefType shared) {
  if (read->getBlock() != write->getBlock())
    return std::string("the read and the write are in different MLIR blocks; "
                       "move them to one block");
  if (!read.getPermutationMap().isMinorIdentity() ||
      !write.getPermutationMap().isMinorIdentity() || !hasUnitStride(global) ||
      !hasUnitStride(shared))
    return std::string("the elements of a vector row are not contiguous in "
                       "memory; contiguous rows are required");
  Attribute space = global.getMemorySpace();
  if (auto number = dyn_cast_or_null<IntegerAttr>(space);
      space && !(number && number.getValue().isZero()))
    return "the global memref is in memory space " + describe(space) +
           "; only the default memory space is supported";
  if (!gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(shared))
    return std::string("the destination or source is not in shared memory "
                       "(#gpu.address_space<workgroup>)");
  Type element = read.getVectorType().getElementType();
  if (global.getElementType() != element ||
      shared.getElementType() != element || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() % 8 != 0 ||
      !llvm::isPowerOf2_64(element.getIntOrFloatBitWidth()))
    return "the element type is " + describe(element) +
           "; integers or floats whose size is a power-of-two number of bytes "
           "are required in both memrefs and the vector";
  return std::nullopt;
}

std::optional<std::string>
smalti::checkCopiedPair(vector::TransferReadOp read,
                        vector::TransferWriteOp write) {
  if (!isZeroBits(read.getPadding()))
    return std::string("the padding value is not proven to be all zero bits; "
                       "use the constant 0");
  if (isMaskedTransfer(read) || isMaskedTransfer(write))
    return std::string("the read or the write has a mask; only transfers "
                       "without a mask are supported");
  if (write.hasOutOfBoundsDim())
    return std::string("the vector.transfer_write to shared memory may be out "
                       "of bounds; if it is not, mark that op as in_bounds");
  return checkPair(read, write, cast<MemRefType>(read.getBase().getType()),
                   cast<MemRefType>(write.getBase().getType()));
}

std::optional<std::string>
smalti::checkStoredPair(vector::TransferReadOp read,
                        vector::TransferWriteOp write) {
  if (isMaskedTransfer(read) || isMaskedTransfer(write))
    return std::string("the read or the write has a mask; only transfers "
                       "without a mask are supported");
  if (read.hasOutOfBoundsDim())
    return std::string(
        "the vector.transfer_read of shared memory may be out of bounds; if it "
        "is not, mark that op as in_bounds");
  return checkPair(read, write, cast<MemRefType>(write.getBase().getType()),
                   cast<MemRefType>(read.getBase().getType()));
}

std::optional<std::string> smalti::planCopy(CopyPlan &plan,
                                            const targets::Target &target,
                                            MoveHazards &hazards) {
  vector::TransferReadOp read = plan.read;
  vector::TransferWriteOp write = plan.write;
  if (std::optional<std::string> why = checkCopiedPair(read, write))
    return why;
  VectorType type = read.getVectorType();
  Type element = type.getElementType();
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  unsigned log2Element = llvm::Log2_64(uint64_t(elementBytes));
  int64_t rowBytes = type.getShape().back() * elementBytes;
  unsigned alignment = std::min(log2RowAlignment(read, log2Element),
                                log2RowAlignment(write, log2Element));
  for (int64_t bytes : target.asyncCopyBytes)
    if (rowBytes % bytes == 0 && bytes >= elementBytes &&
        log2Divisor(bytes) <= alignment)
      plan.bytes = std::max(plan.bytes, bytes);
  if (plan.bytes == 0)
    return "rows of " + std::to_string(rowBytes) + " B with alignment " +
           std::to_string(int64_t(1) << std::min(alignment, 8u)) +
           " B cannot be split into copies of " +
           std::to_string(target.asyncCopyBytes.front()) + " to " +
           std::to_string(target.asyncCopyBytes.back()) +
           " B; use rows and addresses that are multiples of these sizes";
  plan.elements = plan.bytes / elementBytes;
  if (type.getNumElements() / plan.elements > kMaxCopies)
    return "the vector needs " +
           std::to_string(type.getNumElements() / plan.elements) +
           " copies of " + std::to_string(plan.bytes) +
           " B per thread; at most " + std::to_string(kMaxCopies) +
           " are supported, so use a smaller vector";
  return hazards.find(read, write);
}

std::string smalti::describeCopy(const CopyPlan &plan) {
  vector::TransferReadOp read = plan.read;
  int64_t copies = read.getVectorType().getNumElements() / plan.elements;
  return "padded read and its write to shared memory lowered to " +
         std::to_string(copies) + " cp.async cop" +
         (copies == 1 ? "y" : "ies") + " of " + std::to_string(plan.bytes) +
         " B with zero fill" +
         (plan.tmaRejectionReason.empty()
              ? ""
              : "; TMA not used: " + plan.tmaRejectionReason);
}

//===----------------------------------------------------------------------===//
// The copies
//===----------------------------------------------------------------------===//

/// The number of elements of a row that one copy reads at `indices`.
static Value createCount(OpBuilder &builder, const CopyPlan &plan,
                         ValueRange indices) {
  vector::TransferReadOp read = plan.read;
  Location loc = read.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value zero = constant(0), count = constant(plan.elements);
  auto select = [&](Value condition) {
    count = arith::SelectOp::create(builder, loc, condition, count, zero);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b).getResult();
  };
  for (const TransferDim &dim : llvm::reverse(plan.dims)) {
    if (dim.inBounds)
      continue;
    Value index = indices[dim.memref];
    Value size = getValueOrCreateConstantIndexOp(
        builder, loc,
        memref::getMixedSize(builder, loc, read.getBase(), dim.memref));
    if (dim.memref == plan.dims.back().memref)
      count = clampCount(builder, loc,
                         arith::SubIOp::create(builder, loc, size, index),
                         plan.elements);
    else
      select(compare(arith::CmpIPredicate::slt, index, size));
    // Rows start at multiples of a copy, so a copy before the start reads
    // nothing.
    if (dim.mayBeNegative)
      select(compare(arith::CmpIPredicate::sge, index, zero));
  }
  return count;
}

static void createCopies(OpBuilder &builder, const CopyPlan &plan,
                         SmallVectorImpl<Value> &tokens) {
  vector::TransferReadOp read = plan.read;
  vector::TransferWriteOp write = plan.write;
  Location loc = write.getLoc();
  ArrayRef<int64_t> shape = read.getVectorType().getShape();
  SmallVector<int64_t> position(shape.size(), 0);
  auto shift = [&](ValueRange indices) {
    SmallVector<Value> shifted(indices);
    size_t first = shifted.size() - position.size();
    for (auto [i, more] : llvm::enumerate(position))
      if (more != 0)
        shifted[first + i] = arith::AddIOp::create(
            builder, loc, shifted[first + i],
            arith::ConstantIndexOp::create(builder, loc, more));
    return shifted;
  };
  auto tokenType = nvgpu::DeviceAsyncTokenType::get(builder.getContext());
  int64_t copies = read.getVectorType().getNumElements() / plan.elements;
  for (int64_t copy = 0; copy < copies; ++copy) {
    SmallVector<Value> from = shift(read.getIndices());
    Value count = createCount(builder, plan, from);
    tokens.push_back(nvgpu::DeviceAsyncCopyOp::create(
        builder, loc, tokenType, write.getBase(), shift(write.getIndices()),
        read.getBase(), from, builder.getIndexAttr(plan.elements), count,
        plan.bytes == 16 ? builder.getUnitAttr() : UnitAttr()));
    position.back() += plan.elements;
    for (size_t dim = position.size();
         dim-- > 1 && position[dim] == shape[dim];) {
      position[dim] = 0;
      ++position[dim - 1];
    }
  }
}

static Value getRead(const CopyPlan &plan) {
  vector::TransferReadOp read = plan.read;
  return getRootBuffer(read.getBase());
}

static Value getWritten(const CopyPlan &plan) {
  vector::TransferWriteOp write = plan.write;
  return getRootBuffer(write.getBase());
}

namespace {

/// Outstanding copies.
class OpenGroup {
public:
  explicit OpenGroup(AliasAnalysis &aliasing) : aliasing(aliasing) {}

  bool isEmpty() const { return plans.empty(); }

  /// Whether one more copy may be outstanding together with these.
  bool canAdd(const CopyPlan &plan) const {
    if (plans.size() == kMaxWrites)
      return false;
    return llvm::none_of(plans, [&](const CopyPlan *other) {
      return mayConflict(plan, *other) || mayConflict(*other, plan);
    });
  }

  /// Whether the copies must complete before the op.
  bool mustPrecede(Operation *op) const {
    if (isMemoryEffectFree(op))
      return false;
    if (isa<BlockBarrierOpInterface>(op) || op->getNumRegions() != 0)
      return true;
    SmallVector<MemoryAccess> accesses;
    std::string reason;
    if (!collectAccesses(op, accesses, reason))
      return true;
    for (const MemoryAccess &access : accesses)
      for (const CopyPlan *plan : plans)
        if (mayAlias(access.memref, getWritten(*plan)) ||
            (access.isWrite && mayAlias(access.memref, getRead(*plan))))
          return true;
    return false;
  }

  void add(const CopyPlan &plan) { plans.push_back(&plan); }

  void close(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &tokens) {
    auto tokenType = nvgpu::DeviceAsyncTokenType::get(builder.getContext());
    Value group = nvgpu::DeviceAsyncCreateGroupOp::create(builder, loc,
                                                          tokenType, tokens);
    nvgpu::DeviceAsyncWaitOp::create(builder, loc, group,
                                     builder.getI32IntegerAttr(0));
    plans.clear();
    tokens.clear();
  }

private:
  bool mayAlias(Value a, Value b) const { return !aliasing.alias(a, b).isNo(); }

  /// Whether `a` may write memory that `b` writes or reads.
  bool mayConflict(const CopyPlan &a, const CopyPlan &b) const {
    if (mayAlias(getWritten(a), getRead(b)))
      return true;
    vector::TransferWriteOp first = a.write, second = b.write;
    return mayAlias(getWritten(a), getWritten(b)) &&
           !vector::isDisjointTransferSet(first, second,
                                          /*testDynamicValueUsingBounds=*/true);
  }

  AliasAnalysis &aliasing;
  SmallVector<const CopyPlan *> plans;
};

} // namespace

void smalti::commitCopies(RewriterBase &rewriter, ArrayRef<CopyPlan> plans) {
  if (plans.empty())
    return;
  vector::TransferReadOp first = plans.front().read;
  AliasAnalysis aliasing = makeAliasAnalysis(first->getParentOp());
  DenseMap<Operation *, const CopyPlan *> ofWrite;
  llvm::DenseSet<Operation *> reads;
  llvm::SmallSetVector<Block *, 8> blocks;
  for (const CopyPlan &plan : plans) {
    ofWrite[plan.write] = &plan;
    reads.insert(plan.read);
    vector::TransferWriteOp write = plan.write;
    blocks.insert(write->getBlock());
  }
  // The old ops are needed for alias queries until all copies are created.
  for (Block *block : blocks) {
    OpenGroup group(aliasing);
    SmallVector<Value> tokens;
    Location loc = block->getParentOp()->getLoc();
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      const CopyPlan *plan = ofWrite.lookup(&op);
      if (reads.contains(&op))
        continue;
      bool mustClose = plan ? !group.canAdd(*plan)
                            : group.mustPrecede(&op) || &op == &block->back();
      rewriter.setInsertionPoint(&op);
      if (!group.isEmpty() && mustClose)
        group.close(rewriter, loc, tokens);
      if (!plan)
        continue;
      loc = op.getLoc();
      group.add(*plan);
      createCopies(rewriter, *plan, tokens);
    }
  }
  for (const CopyPlan &plan : plans) {
    rewriter.eraseOp(plan.write);
    rewriter.eraseOp(plan.read);
  }
}
