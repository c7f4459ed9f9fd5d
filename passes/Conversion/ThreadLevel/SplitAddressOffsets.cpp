//===- SplitAddressOffsets.cpp - smalti-split-address-offsets -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/Remarks.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTISPLITADDRESSOFFSETS
#define GEN_PASS_DEF_SMALTISPLITADDRESSOFFSETS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-split-address-offsets";

/// The maximum depth of the sums that are searched, which bounds the recursion.
static constexpr unsigned kMaxDepth = 16;

namespace {
/// Constant parts of indices. All arithmetic wraps around at 64 bits, so the
/// parts can be separated for all values.
class IndexParts {
public:
  /// The sum of the constants that `emitRest` drops.
  uint64_t getConstant(Value index, unsigned depth = 0);
  /// The index without its constant part; null if it is zero.
  Value emitRest(OpBuilder &builder, Value index, unsigned depth = 0);

private:
  static std::optional<uint64_t> match(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getZExtValue();
    return std::nullopt;
  }
  /// The constant factor of a multiplication or a shift.
  static std::optional<uint64_t> getFactor(Operation *op) {
    if (isa<LLVM::MulOp>(op))
      return match(op->getOperand(1));
    std::optional<uint64_t> shift = match(op->getOperand(1));
    return isa<LLVM::ShlOp>(op) && shift && *shift < 64
               ? std::optional(uint64_t(1) << *shift)
               : std::nullopt;
  }

  DenseMap<std::pair<Value, unsigned>, uint64_t> constants;
};

struct SmaltiSplitAddressOffsets
    : smalti::impl::SmaltiSplitAddressOffsetsBase<SmaltiSplitAddressOffsets> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

uint64_t IndexParts::getConstant(Value index, unsigned depth) {
  if (std::optional<uint64_t> constant = match(index))
    return *constant;
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<LLVM::AddOp, LLVM::MulOp, LLVM::ShlOp>(op) ||
      depth == kMaxDepth)
    return 0;
  auto [entry, isNew] = constants.try_emplace({index, depth}, 0);
  if (!isNew)
    return entry->second;
  uint64_t constant = 0;
  if (isa<LLVM::AddOp>(op))
    constant = getConstant(op->getOperand(0), depth + 1) +
               getConstant(op->getOperand(1), depth + 1);
  else if (std::optional<uint64_t> factor = getFactor(op))
    constant = getConstant(op->getOperand(0), depth + 1) * *factor;
  return constants[{index, depth}] = constant;
}

Value IndexParts::emitRest(OpBuilder &builder, Value index, unsigned depth) {
  if (match(index))
    return {};
  if (getConstant(index, depth) == 0)
    return index;
  Operation *op = index.getDefiningOp();
  Location loc = op->getLoc();
  Value first = emitRest(builder, op->getOperand(0), depth + 1);
  if (isa<LLVM::AddOp>(op)) {
    Value second = emitRest(builder, op->getOperand(1), depth + 1);
    if (!first || !second)
      return first ? first : second;
    return LLVM::AddOp::create(builder, loc, first, second);
  }
  if (!first)
    return {};
  if (isa<LLVM::MulOp>(op))
    return LLVM::MulOp::create(builder, loc, first, op->getOperand(1));
  return LLVM::ShlOp::create(builder, loc, first, op->getOperand(1));
}

/// The 64-bit index of an address with one index that is not a constant, and
/// whose elements have as many bits as in memory.
static Value getOnlyIndex(LLVM::GEPOp address) {
  if (address.getDynamicIndices().size() != 1 ||
      address.getRawConstantIndices().size() != 1 ||
      !address.getElemType().isIntOrFloat() ||
      isa<VectorType>(address.getType()))
    return {};
  unsigned bits = address.getElemType().getIntOrFloatBitWidth();
  Value index = address.getDynamicIndices().front();
  return bits >= 8 && bits <= 64 && llvm::isPowerOf2_32(bits) &&
                 index.getType().isInteger(64)
             ? index
             : Value();
}

void SmaltiSplitAddressOffsets::runOnOperation() {
  LLVM::LLVMFuncOp func = getOperation();
  IndexParts parts;
  SmallVector<std::pair<LLVM::GEPOp, int64_t>> plan;
  func.walk([&](LLVM::GEPOp address) {
    Value index = getOnlyIndex(address);
    uint64_t constant = index ? parts.getConstant(index) : 0;
    if (constant == 0)
      return;
    uint64_t bytes = address.getElemType().getIntOrFloatBitWidth() / 8;
    plan.push_back({address, static_cast<int64_t>(constant * bytes)});
  });
  if (plan.empty())
    return markAllAnalysesPreserved();
  OpBuilder builder(func);
  SmallVector<Value> rests;
  for (auto [address, bytes] : plan) {
    builder.setInsertionPoint(address);
    rests.push_back(parts.emitRest(builder, getOnlyIndex(address)));
  }
  for (auto [step, rest] : llvm::zip_equal(plan, rests)) {
    auto [address, bytes] = step;
    // The constant offset is a 32-bit attribute, or else a value.
    builder.setInsertionPoint(address);
    Location loc = address.getLoc();
    Type pointer = address.getType();
    Value base = address.getBase();
    if (rest)
      base = LLVM::GEPOp::create(builder, loc, pointer, address.getElemType(),
                                 base, ArrayRef<LLVM::GEPArg>{rest});
    LLVM::GEPArg offset = static_cast<int32_t>(bytes);
    if (!llvm::isInt<32>(bytes) || bytes == LLVM::GEPOp::kDynamicIndex)
      offset = LLVM::ConstantOp::create(builder, loc,
                                        builder.getI64IntegerAttr(bytes));
    auto split = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(),
                                     base, ArrayRef<LLVM::GEPArg>{offset});
    address.replaceAllUsesWith(split.getResult());
    address.erase();
  }
  remarkApplied(func, kPassName)
      << "index of " << plan.size()
      << (plan.size() == 1 ? " address" : " addresses")
      << " split into a variable part and a constant offset, which the "
         "instruction encodes, so that accesses share address registers";
}
