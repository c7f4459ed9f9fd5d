//===- LegalizeDots.cpp - Dots that the target can multiply ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/LegalizeDots.h"

#include "smalti/passes/Conversion/TilesToBlocks/TilePlanning.h"
#include "smalti/passes/Conversion/TilesToTiles/TileBuilder.h"
#include "smalti/passes/Layouts/Vectors/MmaSelection.h"
#include "smalti/passes/Support/Remarks.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;
using targets::MmaInstruction;
using targets::MmaKind;
using targets::Target;

static constexpr llvm::StringLiteral kPassName =
    "convert-triton-xla-to-mosaic-gpu";

/// Assumed ratio of the rates of an MMA and of scalar multiply-adds, if the
/// target table does not have both.
static constexpr double kAssumedSpeedup = 8;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {

/// M, N and K of a dot on an instruction.
struct PaddedShape {
  const MmaInstruction *instruction = nullptr;
  int64_t m = 0, n = 0, k = 0;

  double volume() const {
    return static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

struct DotShape {
  explicit DotShape(DotOp dot)
      : m(dot.getLhs().getType().getDimSize(0)),
        n(dot.getRhs().getType().getDimSize(1)),
        k(dot.getLhs().getType().getDimSize(1)) {}

  int64_t m, n, k;
};

} // namespace

static bool isUnsigned(DotOp dot) {
  return dot.getUnsignedLhs() || dot.getUnsignedRhs();
}

static std::optional<MmaElements> getElements(DotOp dot) {
  return MmaElements::get(dot.getLhs(), dot.getRhs(), dot.getAccumulator(),
                          isUnsigned(dot));
}

static bool hasElements(const MmaInstruction &mma, DotOp dot) {
  std::optional<MmaElements> elements = getElements(dot);
  if (!elements)
    return false;
  std::optional<MmaElements> tf32 = elements->getTF32();
  return elements->match(mma) || (dot.getTf32() && tf32 && tf32->match(mma));
}

/// Whether the target multiplies the element types.
static bool hasInstruction(const Target &target, DotOp dot) {
  return llvm::any_of(target.mmas, [&](const MmaInstruction &mma) {
    return hasElements(mma, dot);
  });
}

/// Whether the operands are unsigned, but MMAs only multiply signed values.
static bool requiresSigned(const Target &target, DotOp dot) {
  std::optional<MmaElements> elements = getElements(dot);
  if (!elements || !elements->hasUnsigned)
    return false;
  auto hasMma = [&] {
    return llvm::any_of(target.mmas, [&](const MmaInstruction &mma) {
      return mma.kind != MmaKind::Fma && elements->match(mma);
    });
  };
  if (hasMma())
    return false;
  elements->hasUnsigned = false;
  return hasMma();
}

/// The shape with the fewest multiplications for each kind of instruction, and
/// the faster of both. An MMA that requires no padding is always used.
static PaddedShape choosePadding(const Target &target, DotOp dot,
                                 int64_t numWarps) {
  DotShape shape(dot);
  PaddedShape best[2];
  for (const MmaInstruction &mma : target.mmas) {
    if (!hasElements(mma, dot))
      continue;
    PaddedShape &kept = best[mma.kind == MmaKind::Fma];
    for (int64_t warpsM = numWarps; warpsM >= 1; --warpsM) {
      if (numWarps % warpsM != 0)
        continue;
      auto pad = [](int64_t size, int64_t multiple) {
        return static_cast<int64_t>(llvm::alignTo(size, multiple));
      };
      PaddedShape padded{&mma, pad(shape.m, mma.m * warpsM),
                         pad(shape.n, mma.n * (numWarps / warpsM)),
                         pad(shape.k, mma.k)};
      if (!kept.instruction || padded.volume() < kept.volume())
        kept = padded;
    }
  }
  const PaddedShape &mma = best[0], &fma = best[1];
  if (!mma.instruction || !fma.instruction)
    return mma.instruction ? mma : fma;
  if (mma.m == shape.m && mma.n == shape.n && mma.k == shape.k)
    return mma;
  std::optional<int64_t> mmaRate = mma.instruction->macsPerCycle,
                         fmaRate = fma.instruction->macsPerCycle;
  double speedup = mmaRate && fmaRate ? static_cast<double>(*mmaRate) /
                                            static_cast<double>(*fmaRate)
                                      : kAssumedSpeedup;
  return mma.volume() <= speedup * fma.volume() ? mma : fma;
}

static bool isPadded(DotOp dot, const PaddedShape &padded) {
  DotShape shape(dot);
  return padded.instruction &&
         (padded.m != shape.m || padded.n != shape.n || padded.k != shape.k);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// The zero `z` with `x + z * y = x` for each `x`, also for -0, if `y` is +0.
static Value createNeutral(TileBuilder &b, ArrayRef<int64_t> shape,
                           Type element) {
  // FNUZ types have NaN instead of -0.
  if (isa<FloatType>(element) &&
      !isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(element))
    return b.floats(shape, element, -0.0);
  return b.zeros(shape, element);
}

/// Pads a tile at the end of each dimension.
static Value padTile(TileBuilder &b, Value tile, std::array<int64_t, 2> sizes,
                     bool isNegative) {
  if (b.shapeOf(tile) == ArrayRef<int64_t>(sizes))
    return tile;
  // Dots read a transposed operand from a view of shared memory.
  if (TransposeOp transpose = getOperandTranspose(tile))
    return b.transpose(
        padTile(b, transpose.getTile(), {sizes[1], sizes[0]}, isNegative),
        {1, 0});
  Type element = b.typeOf(tile).getElementType();
  for (int64_t dim : {1, 0}) {
    SmallVector<int64_t> padding(b.shapeOf(tile));
    if (padding[dim] == sizes[dim])
      continue;
    padding[dim] = sizes[dim] - padding[dim];
    Value zeros = isNegative ? createNeutral(b, padding, element)
                             : b.zeros(padding, element);
    tile = b.concat({tile, zeros}, dim);
  }
  return tile;
}

static Value padAccumulator(TileBuilder &b, Value tile,
                            std::array<int64_t, 2> sizes) {
  SplatElementsAttr splat;
  if (!matchPattern(tile, m_Constant(&splat)))
    return padTile(b, tile, sizes, /*isNegative=*/false);
  return arith::ConstantOp::create(
      b, splat.resizeSplat(b.typeOf(tile).clone(ArrayRef<int64_t>(sizes))));
}

/// Pads the tiles of a dot, and takes its part of the result.
static Value padDot(TileBuilder &b, DotOp dot, const PaddedShape &padded) {
  DotShape shape(dot);
  Value lhs =
      padTile(b, dot.getLhs(), {padded.m, padded.k}, /*isNegative=*/true);
  Value rhs =
      padTile(b, dot.getRhs(), {padded.k, padded.n}, /*isNegative=*/false);
  Value accumulator =
      padAccumulator(b, dot.getAccumulator(), {padded.m, padded.n});
  Value result = b.dotLike(dot, lhs, rhs, accumulator);
  return b.slice(b.slice(result, 0, 0, shape.m), 1, 0, shape.n);
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static bool isFloat8(Value tile) {
  Type element = getElementTypeOrSelf(tile.getType());
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
}

/// Converts 8-bit floats to bf16, exactly. Not every chip has an instruction
/// for it, and some flush subnormal numbers, so exponent and mantissa are moved
/// to those of f32, and subnormal numbers are converted as integers.
static Value widenFloat8(TileBuilder &b, Value tile) {
  if (TransposeOp transpose = getOperandTranspose(tile))
    return b.transpose(widenFloat8(b, transpose.getTile()), {1, 0});
  auto format = cast<FloatType>(b.typeOf(tile).getElementType());
  ArrayRef<int64_t> shape = b.shapeOf(tile);
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  int64_t mantissa = format.getFPMantissaWidth() - 1;
  bool isFNUZ = isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(format);
  int64_t bias = (int64_t(1) << (6 - mantissa)) - (isFNUZ ? 0 : 1);

  Value code = b.zeroExtend(b.bitcast(tile, b.getI8Type()), i32);
  Value magnitude = b.bits(code, 0, 127);
  Value normal =
      arith::AddIOp::create(b, b.shiftLeft(magnitude, 23 - mantissa),
                            b.integers(shape, i32, (127 - bias) << 23));
  Value subnormal = arith::MulFOp::create(
      b, arith::SIToFPOp::create(b, b.withElement(magnitude, f32), magnitude),
      b.floats(shape, f32,
               std::ldexp(1.0, static_cast<int>(1 - bias - mantissa))));
  Value bits = b.select(
      b.compareTo(arith::CmpIPredicate::slt, magnitude, int64_t(1) << mantissa),
      b.bitcast(subnormal, i32), normal);
  constexpr int64_t infinity = 0x7F800000, nan = 0x7FC00000;
  auto replace = [&](arith::CmpIPredicate predicate, Value compared,
                     int64_t with, int64_t value) {
    bits = b.select(b.compareTo(predicate, compared, with),
                    b.integers(shape, i32, value), bits);
  };
  if (isFNUZ) {
    replace(arith::CmpIPredicate::eq, code, 0x80, nan);
  } else if (isa<Float8E4M3FNType>(format)) {
    replace(arith::CmpIPredicate::eq, magnitude, 0x7F, nan);
  } else {
    replace(arith::CmpIPredicate::eq, magnitude, 0x7C, infinity);
    replace(arith::CmpIPredicate::sgt, magnitude, 0x7C, nan);
  }
  Value sign = b.shiftLeft(b.bits(code, 0, 128), 24);
  bits = arith::OrIOp::create(b, bits, sign);
  return b.convert(b.bitcast(bits, f32), b.getBF16Type());
}

/// Subtracts 128 from unsigned elements. The results are signed.
static Value subtractOffset(TileBuilder &b, Value tile) {
  if (TransposeOp transpose = getOperandTranspose(tile))
    return b.transpose(subtractOffset(b, transpose.getTile()), {1, 0});
  return arith::XOrIOp::create(
      b, tile, b.integers(b.shapeOf(tile), b.getI8Type(), -128));
}

/// With `l` and `r` as signed values, and `hl` and `hr` as 128 for unsigned
/// operands and 0 for others, the sum over k of (l + hl) * (r + hr) is the sum
/// of l * r, plus hr times that of l, plus hl times that of r, plus K * hl *
/// hr. All sums are modulo 2^32.
static Value expandUnsigned(TileBuilder &b, DotOp dot) {
  Value lhs = dot.getLhs(), rhs = dot.getRhs(), sum = dot.getAccumulator();
  ArrayRef<int64_t> shape = b.shapeOf(sum);
  Type i32 = b.getI32Type();
  bool hasLhs = dot.getUnsignedLhs(), hasRhs = dot.getUnsignedRhs();
  if (hasLhs)
    lhs = subtractOffset(b, lhs);
  if (hasRhs)
    rhs = subtractOffset(b, rhs);
  auto add = [&](Value correction) {
    sum = arith::AddIOp::create(b, sum, correction);
  };
  // Adds 128 times the sums of an operand along K.
  auto addSums = [&](Value operand, int64_t dimK) {
    Value wide =
        arith::ExtSIOp::create(b, b.withElement(operand, i32), operand);
    add(b.broadcast(b.shiftLeft(b.sum(wide, dimK), 7), {1 - dimK}, shape));
  };
  if (hasLhs)
    addSums(rhs, /*dimK=*/0);
  if (hasRhs)
    addSums(lhs, /*dimK=*/1);
  if (hasLhs && hasRhs)
    add(b.integers(
        shape, i32,
        static_cast<int32_t>(static_cast<uint32_t>(b.shapeOf(lhs)[1] << 14))));
  return b.dot(lhs, rhs, sum);
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

/// Dots that a target may have an instruction for. The plan of the kernel
/// refuses others.
static bool isMatmul(DotOp dot) {
  auto isWhole = [](RankedTensorType type) {
    return type.hasStaticShape() && type.getNumElements() != 0;
  };
  return dot.getLhs().getType().getRank() == 2 &&
         isWhole(dot.getLhs().getType()) && isWhole(dot.getRhs().getType()) &&
         llvm::is_contained(
             {DotAlgorithm::Default, DotAlgorithm::TF32, DotAlgorithm::IEEE},
             dot.getAlgorithm());
}

static bool isLegal(DotOp dot, const Target &target, int64_t numWarps) {
  return !isMatmul(dot) ||
         (!requiresSigned(target, dot) && hasInstruction(target, dot) &&
          !isPadded(dot, choosePadding(target, dot, numWarps)));
}

static SmallVector<DotOp> getDots(EntryFuncOp func) {
  SmallVector<DotOp> dots;
  func.getBody().walk([&](DotOp dot) { dots.push_back(dot); });
  return dots;
}

bool smalti::hasLegalDots(EntryFuncOp func, const Target &target,
                          int64_t numWarps) {
  return llvm::all_of(
      getDots(func), [&](DotOp dot) { return isLegal(dot, target, numWarps); });
}

/// One step of the rewriting of a dot, to a value that depends on new dots.
static Value rewriteDot(TileBuilder &b, DotOp dot, const Target &target,
                        int64_t numWarps) {
  Value lhs = dot.getLhs(), rhs = dot.getRhs();
  if (requiresSigned(target, dot)) {
    remarkMissed(dot, kPassName)
        << "128 subtracted from unsigned operands, and the result corrected "
           "with sums along K: MMAs of "
        << target.name << " multiply only signed i8";
    return expandUnsigned(b, dot);
  }
  if (!hasInstruction(target, dot)) {
    if (b.typeOf(dot.getAccumulator()).getElementType().isF16()) {
      Value wide = b.convert(dot.getAccumulator(), b.getF32Type());
      return b.convert(b.dotLike(dot, lhs, rhs, wide), b.getF16Type());
    }
    if (isFloat8(lhs)) {
      remarkMissed(dot, kPassName)
          << "operands converted to bf16: " << target.name
          << " does not have an MMA of " << b.typeOf(lhs).getElementType()
          << " and " << b.typeOf(rhs).getElementType();
      return b.dot(widenFloat8(b, lhs), widenFloat8(b, rhs),
                   dot.getAccumulator());
    }
  }
  PaddedShape padded = choosePadding(target, dot, numWarps);
  DotShape shape(dot);
  remarkMissed(dot, kPassName)
      << "tiles of the dot padded from M x N x K = " << shape.m << "x"
      << shape.n << "x" << shape.k << " to " << padded.m << "x" << padded.n
      << "x" << padded.k << ", so that " << numWarps
      << (numWarps == 1 ? " warp" : " warps") << " can compute the dot with "
      << (padded.instruction->kind == MmaKind::Fma
              ? std::string("scalar multiply-adds")
              : padded.instruction->mnemonic);
  return padDot(b, dot, padded);
}

void smalti::legalizeDots(EntryFuncOp func, const Target &target,
                          int64_t numWarps) {
  SmallVector<DotOp> dots = getDots(func);
  while (!dots.empty()) {
    DotOp dot = dots.pop_back_val();
    if (isLegal(dot, target, numWarps))
      continue;
    TileBuilder b(dot.getLoc(), dot);
    Operation *before = dot->getPrevNode();
    Value result = rewriteDot(b, dot, target, numWarps);
    // The new dots may need further steps.
    for (Operation *op = before ? before->getNextNode()
                                : &dot->getBlock()->front();
         op != dot.getOperation(); op = op->getNextNode())
      if (auto created = dyn_cast<DotOp>(op))
        dots.push_back(created);
    dot.getResult().replaceAllUsesWith(result);
    dot.erase();
  }
}
