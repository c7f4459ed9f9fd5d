//===- Combiner.cpp - Combination of values in a thread -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Reductions/Combiner.h"

#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using vector::CombiningKind;

Combiner::~Combiner() = default;

Tuple Combiner::combine(ArrayRef<Tuple> tuples) const {
  SmallVector<Tuple> left(tuples);
  while (left.size() > 1) {
    SmallVector<Tuple> next;
    for (size_t i = 0; i + 1 < left.size(); i += 2)
      next.push_back(combine(left[i], left[i + 1]));
    if (left.size() % 2 != 0)
      next.push_back(left.back());
    left = std::move(next);
  }
  return left.front();
}

Tuple Combiner::combineElements(const Tuple &tuple) const {
  SmallVector<Tuple> elements;
  int64_t size = cast<VectorType>(tuple.front().getType()).getDimSize(0);
  for (int64_t element = 0; element < size; ++element)
    elements.push_back(llvm::map_to_vector<2>(tuple, [&](Value vector) {
      return takeElements(builder, loc, vector, element, 1);
    }));
  return combine(elements);
}

Tuple Combiner::repeat(const Tuple &tuple, int64_t count) const {
  // By repeated squaring.
  Tuple result, power = tuple;
  for (; count > 0; count /= 2) {
    if (count % 2 != 0)
      result = result.empty() ? power : combine(result, power);
    if (count > 1)
      power = combine(power, power);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

static bool isSum(CombiningKind kind) {
  return kind == CombiningKind::ADD || kind == CombiningKind::MUL;
}

static bool isSigned(CombiningKind kind) {
  return kind == CombiningKind::MINSI || kind == CombiningKind::MAXSI;
}

Type block_to_thread::getWideType(Type elementType, CombiningKind kind) {
  MLIRContext *context = elementType.getContext();
  if (isSum(kind) && (elementType.isF16() || elementType.isBF16()))
    return Float32Type::get(context);
  if (elementType.isInteger() && elementType.getIntOrFloatBitWidth() < 8)
    return IntegerType::get(context, 8);
  return elementType;
}

namespace {
class KindCombiner : public Combiner {
public:
  KindCombiner(OpBuilder &builder, Location loc, Type elementType,
               CombiningKind kind, arith::FastMathFlagsAttr fastMath)
      : Combiner(builder, loc, getWideType(elementType, kind)), kind(kind),
        fastMath(fastMath), elementType(elementType) {}

  using Combiner::combine;
  Tuple combine(const Tuple &lhs, const Tuple &rhs) const override {
    return {vector::makeArithReduction(builder, loc, kind, lhs.front(),
                                       rhs.front(), fastMath)};
  }
  Value widen(Value value) const override;
  Value narrow(Value value) const override;
  Tuple repeat(const Tuple &tuple, int64_t count) const override;
  std::optional<CombiningKind> getKind() const override { return kind; }

private:
  Type wide() const { return types.front(); }

  CombiningKind kind;
  arith::FastMathFlagsAttr fastMath;
  Type elementType;
};
} // namespace

/// The type of a scalar or vector with other elements.
static Type withElements(Type type, Type elementType) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.clone(elementType) : elementType;
}

Value KindCombiner::widen(Value value) const {
  if (wide() == elementType)
    return value;
  Type type = withElements(value.getType(), wide());
  if (isa<FloatType>(wide()))
    return arith::ExtFOp::create(builder, loc, type, value);
  if (isSigned(kind))
    return arith::ExtSIOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

Value KindCombiner::narrow(Value value) const {
  if (wide() == elementType)
    return value;
  Type type = withElements(value.getType(), elementType);
  if (isa<FloatType>(wide()))
    return arith::TruncFOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

Tuple KindCombiner::repeat(const Tuple &tuple, int64_t count) const {
  Value value = tuple.front();
  auto type = cast<VectorType>(value.getType());
  switch (kind) {
  case CombiningKind::ADD: {
    bool isFloat = isa<FloatType>(wide());
    TypedAttr number =
        isFloat ? TypedAttr(
                      builder.getFloatAttr(wide(), static_cast<double>(count)))
                : TypedAttr(builder.getIntegerAttr(
                      wide(), APInt(getElementBits(wide()), count,
                                    /*isSigned=*/false,
                                    /*implicitTrunc=*/true)));
    Value factor = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, Attribute(number)));
    return {
        isFloat
            ? arith::MulFOp::create(builder, loc, value, factor).getResult()
            : arith::MulIOp::create(builder, loc, value, factor).getResult()};
  }
  case CombiningKind::XOR:
    if (count % 2 != 0)
      return tuple;
    return {arith::XOrIOp::create(builder, loc, value, value).getResult()};
  case CombiningKind::MUL:
    return Combiner::repeat(tuple, count);
  default:
    return tuple;
  }
}

std::unique_ptr<Combiner>
block_to_thread::createKindCombiner(OpBuilder &builder, Location loc,
                                    Type elementType, CombiningKind kind,
                                    arith::FastMathFlagsAttr fastMath) {
  return std::make_unique<KindCombiner>(builder, loc, elementType, kind,
                                        fastMath);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The integer op that is the whole region, as a kind.
static std::optional<CombiningKind> matchKind(Block &block) {
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return std::nullopt;
  Operation &op = block.front();
  if (op.getNumResults() != 1 ||
      block.getTerminator()->getOperand(0) != op.getResult(0) ||
      op.getNumOperands() != 2 || op.getOperand(0) == op.getOperand(1) ||
      !llvm::all_of(op.getOperands(), [&](Value operand) {
        return llvm::is_contained(block.getArguments(), operand);
      }))
    return std::nullopt;
  using Kind = std::optional<CombiningKind>;
  return llvm::TypeSwitch<Operation *, Kind>(&op)
      .Case<arith::AddIOp>([](auto) { return CombiningKind::ADD; })
      .Case<arith::MinSIOp>([](auto) { return CombiningKind::MINSI; })
      .Case<arith::MaxSIOp>([](auto) { return CombiningKind::MAXSI; })
      .Case<arith::MinUIOp>([](auto) { return CombiningKind::MINUI; })
      .Case<arith::MaxUIOp>([](auto) { return CombiningKind::MAXUI; })
      .Case<arith::AndIOp>([](auto) { return CombiningKind::AND; })
      .Case<arith::OrIOp>([](auto) { return CombiningKind::OR; })
      .Case<arith::XOrIOp>([](auto) { return CombiningKind::XOR; })
      .Default([](auto) { return std::nullopt; });
}

namespace {
class RegionCombiner : public Combiner {
public:
  RegionCombiner(OpBuilder &builder, const Emitter &emitter, Region &region)
      : Combiner(builder, region.getLoc(),
                 region.front().getTerminator()->getOperandTypes()),
        block(region.front()) {
    isElementwise = llvm::all_of(block.without_terminator(), [](auto &op) {
      return op.getNumRegions() == 0 &&
             (OpTrait::hasElementwiseMappableTraits(&op) ||
              op.getNumOperands() == 0);
    });
    block.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          outside.map(operand, emitter.lookup(operand));
    });
  }

  using Combiner::combine;
  Tuple combine(const Tuple &lhs, const Tuple &rhs) const override;
  std::optional<CombiningKind> getKind() const override {
    return matchKind(block);
  }

private:
  Tuple combineVectors(ArrayRef<Value> arguments) const;
  Tuple combineScalars(ArrayRef<Value> arguments) const;

  Block &block;
  bool isElementwise = false;
  /// The scalars of the kernel that the region uses.
  IRMapping outside;
};
} // namespace

Tuple RegionCombiner::combine(const Tuple &lhs, const Tuple &rhs) const {
  Tuple arguments = lhs;
  arguments.append(rhs);
  if (isElementwise)
    return combineVectors(arguments);
  int64_t length = cast<VectorType>(lhs.front().getType()).getDimSize(0);
  SmallVector<Tuple> elements;
  for (int64_t element = 0; element < length; ++element)
    elements.push_back(
        combineScalars(llvm::map_to_vector<4>(arguments, [&](Value vector) {
          return vector::ExtractOp::create(builder, loc, vector,
                                           ArrayRef<int64_t>{element})
              .getResult();
        })));
  Tuple results;
  for (size_t input = 0; input < types.size(); ++input)
    results.push_back(vector::FromElementsOp::create(
        builder, loc, VectorType::get({length}, types[input]),
        llvm::map_to_vector(elements,
                            [&](const Tuple &tuple) { return tuple[input]; })));
  return results;
}

Tuple RegionCombiner::combineScalars(ArrayRef<Value> arguments) const {
  IRMapping mapping = outside;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector<2>(
      block.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

Tuple RegionCombiner::combineVectors(ArrayRef<Value> arguments) const {
  auto type = cast<VectorType>(arguments.front().getType());
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  auto broadcast = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(builder, loc,
                                       type.clone(scalar.getType()), scalar);
  };
  auto lookup = [&](Value value) {
    if (!mapping.contains(value))
      mapping.map(value, broadcast(outside.lookup(value)));
    return mapping.lookup(value);
  };
  for (Operation &op : block.without_terminator()) {
    if (op.getNumOperands() == 0) {
      Operation *scalar = builder.clone(op);
      for (auto [from, to] :
           llvm::zip_equal(op.getResults(), scalar->getResults()))
        mapping.map(from, broadcast(to));
      continue;
    }
    for (Value operand : op.getOperands())
      lookup(operand);
    Operation *vectors = builder.cloneWithoutRegions(op, mapping);
    for (OpResult result : vectors->getResults())
      result.setType(type.clone(result.getType()));
  }
  return llvm::map_to_vector<2>(block.getTerminator()->getOperands(), lookup);
}

std::unique_ptr<Combiner>
block_to_thread::createRegionCombiner(OpBuilder &builder,
                                      const Emitter &emitter, Region &region) {
  return std::make_unique<RegionCombiner>(builder, emitter, region);
}

LogicalResult block_to_thread::findCommonDistribution(Operation *op,
                                                      ValueRange inputs,
                                                      const Planner &planner,
                                                      Distribution &common) {
  common = *planner.find(inputs.front());
  for (Value input : inputs) {
    const Distribution &own = *planner.find(input);
    if (common.isSplat())
      common = own;
    else if (!own.isSplat() && own != common)
      return op->emitOpError()
             << "has inputs in layouts " << common.str() << " and " << own.str()
             << "; all inputs must have the same layout: insert "
                "'mosaic_gpu.layout_cast'";
  }
  return success();
}

LogicalResult block_to_thread::checkCombiningRegion(Operation *op,
                                                    Region &region) {
  auto isUnsupported = [](Type type) {
    return isa<FloatType>(type) && !type.isF16() && !type.isBF16() &&
           !type.isF32() && !type.isF64();
  };
  WalkResult result = region.walk([&](Operation *inner) {
    if (isa<arith::SelectOp, arith::ConstantOp>(inner) ||
        inner->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    for (Type type : llvm::concat<const Type>(inner->getOperandTypes(),
                                              inner->getResultTypes()))
      if (isUnsupported(type)) {
        inner->emitOpError() << "computes with " << type
                             << " in the region of '" << op->getName()
                             << "', which does not support this float type; "
                                "compute with f16, bf16, f32 or f64";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
