//===- VendorLowering.cpp - Vendor-independent lowering code --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Support/CacheHints.h"

#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

// Shuffles, because every lowering to LLVM supports them.

Value block_to_thread::concatenate(OpBuilder &builder, Location loc,
                                   ArrayRef<Value> pieces) {
  SmallVector<Value> vectors(pieces);
  while (vectors.size() > 1) {
    SmallVector<Value> joined;
    for (size_t index = 0; index + 1 < vectors.size(); index += 2) {
      Value first = vectors[index], second = vectors[index + 1];
      int64_t length = cast<VectorType>(first.getType()).getDimSize(0) +
                       cast<VectorType>(second.getType()).getDimSize(0);
      joined.push_back(vector::ShuffleOp::create(
          builder, loc, first, second,
          llvm::to_vector(llvm::seq<int64_t>(0, length))));
    }
    if (vectors.size() % 2 != 0)
      joined.push_back(vectors.back());
    vectors = std::move(joined);
  }
  return vectors.front();
}

Value block_to_thread::takeElements(OpBuilder &builder, Location loc,
                                    Value vector, int64_t first,
                                    int64_t length) {
  if (cast<VectorType>(vector.getType()).getDimSize(0) == length)
    return vector;
  return vector::ShuffleOp::create(
      builder, loc, vector, vector,
      llvm::to_vector(llvm::seq<int64_t>(first, first + length)));
}

bool LaneMove::matches(
    llvm::function_ref<int64_t(int64_t lane)> getSource) const {
  for (auto [lane, source] : llvm::enumerate(sources)) {
    int64_t read = getSource(static_cast<int64_t>(lane));
    if (source >= 0 && (read < 0 || ((read ^ source) & ~same) != 0))
      return false;
  }
  return true;
}

std::optional<int64_t> LaneMove::matchExchange() const {
  int64_t lanes = sources.size();
  for (int64_t mask = 1; mask < lanes; ++mask)
    if (matches([&](int64_t lane) { return lane ^ mask; }))
      return mask;
  return std::nullopt;
}

std::optional<int64_t> LaneMove::matchShift() const {
  int64_t lanes = sources.size();
  for (int64_t shift = 1 - lanes; shift < lanes; ++shift)
    if (matches([&](int64_t lane) {
          return lane + shift < lanes ? lane + shift : -1;
        }))
      return shift;
  return std::nullopt;
}

std::optional<int64_t> LaneMove::matchBroadcast() const {
  for (int64_t first : sources)
    if (first >= 0)
      return matches([&](int64_t) { return first; })
                 ? std::optional<int64_t>(first)
                 : std::nullopt;
  return 0;
}

SmallVector<int64_t> LaneMove::getThreadTable(const ThreadGrid &grid) const {
  SmallVector<int64_t> table;
  for (int64_t thread = 0; thread < grid.numThreads; ++thread) {
    int64_t lane = thread % grid.waveSize;
    table.push_back(sources[lane] < 0 ? lane : sources[lane]);
  }
  return table;
}

VendorLowering::~VendorLowering() = default;

std::optional<std::string>
VendorLowering::refuseThreadGroupBarrier(const ThreadGrid &grid) const {
  if (grid.blockThreads == grid.numThreads)
    return std::nullopt;
  return target.name.str() +
         " has only block-wide barriers; use one thread group of " +
         std::to_string(grid.blockThreads) + " threads per block";
}

void VendorLowering::emitThreadGroupBarrier(OpBuilder &builder, Location loc,
                                            ThreadIndices &) const {
  emitBarrier(builder, loc, /*ordersGlobalMemory=*/false,
              /*hasAsyncCopies=*/false);
}

Value VendorLowering::emitWaveReduction(OpBuilder &, Location, Value,
                                        vector::CombiningKind) const {
  return {};
}

SmallVector<Value> VendorLowering::emitFragmentLoad(OpBuilder &, Location,
                                                    const SharedVector &,
                                                    const Distribution &,
                                                    ThreadIndices &) const {
  return {};
}

Value VendorLowering::emitUniform(OpBuilder &, Location, Value index) const {
  return index;
}

Value VendorLowering::emitElected(ThreadIndices &indices) const {
  return arith::CmpIOp::create(indices.getBuilder(), indices.getLoc(),
                               arith::CmpIPredicate::eq, indices.getLane(),
                               indices.getConstant(0));
}

SmallVector<Value> VendorLowering::emitOpaque(OpBuilder &, Location,
                                              ArrayRef<Value> registers) const {
  return SmallVector<Value>(registers);
}

void VendorLowering::emitFailure(OpBuilder &builder, Location loc,
                                 StringRef) const {
  LLVM::Trap::create(builder, loc);
}

/// Sets the hint of an access on its load or store.
static void setHint(Operation *op, const Access &access) {
  if (access.cacheHint)
    op->setAttr(kCacheHint, access.cacheHint);
}

static bool hasNontemporalHint(const Access &access) {
  return access.cacheHint && isNontemporal(access.cacheHint.getValue());
}

static Value plainLoad(OpBuilder &builder, Location loc, const Access &access,
                       ValueRange indices) {
  auto load = vector::LoadOp::create(builder, loc, access.type, access.memref,
                                     indices, hasNontemporalHint(access),
                                     llvm::MaybeAlign(access.alignment));
  setHint(load, access);
  return load;
}

Value VendorLowering::emitLoad(OpBuilder &builder, Location loc,
                               const Access &access, Value pad) const {
  if (!access.inBounds)
    return plainLoad(builder, loc, access, access.indices);
  Value padding = vector::BroadcastOp::create(builder, loc, access.type, pad);

  auto memrefType = cast<MemRefType>(access.memref.getType());
  if (memrefType.hasStaticShape() && memrefType.getNumElements() > 0 &&
      access.isOnlyRead) {
    // Out-of-bounds lanes load the first element and discard it. It exists and
    // no other thread writes it. Without a branch, the loads of a thread stay
    // together.
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    SmallVector<Value> safe;
    for (Value index : access.indices)
      safe.push_back(
          arith::SelectOp::create(builder, loc, access.inBounds, index, zero));
    Value loaded = plainLoad(builder, loc, access, safe);
    return arith::SelectOp::create(builder, loc, access.inBounds, loaded,
                                   padding);
  }
  auto branch = scf::IfOp::create(
      builder, loc, access.inBounds,
      [&](OpBuilder &nested, Location nestedLoc) {
        scf::YieldOp::create(
            nested, nestedLoc,
            plainLoad(nested, nestedLoc, access, access.indices));
      },
      [&](OpBuilder &nested, Location nestedLoc) {
        scf::YieldOp::create(nested, nestedLoc, padding);
      });
  return branch.getResult(0);
}

void VendorLowering::emitStore(OpBuilder &builder, Location loc, Value value,
                               const Access &access) const {
  auto store = [&](OpBuilder &nested, Location nestedLoc) {
    setHint(vector::StoreOp::create(nested, nestedLoc, value, access.memref,
                                    access.indices, hasNontemporalHint(access),
                                    llvm::MaybeAlign(access.alignment)),
            access);
  };
  if (!access.inBounds)
    return store(builder, loc);
  scf::IfOp::create(builder, loc, access.inBounds,
                    [&](OpBuilder &nested, Location nestedLoc) {
                      store(nested, nestedLoc);
                      scf::YieldOp::create(nested, nestedLoc);
                    });
}
