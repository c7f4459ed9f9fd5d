//===- MatmulRules.cpp - Layout rules of matmul ops -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/layouts/NamedLayouts.h"
#include "smalti/passes/Layouts/Vectors/MmaSelection.h"
#include "smalti/targets/Target.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using namespace smalti::mosaic_gpu;

namespace {

constexpr StringLiteral kAccumulator = "the layout of the accumulator";
constexpr StringLiteral kA = "the layout of operand 'a'";

/// Requires a tile that MMA instructions support for an operand in shared
/// memory.
void addMmaTile(ConstraintSystem &system, VarId var, Value memory,
                bool allowsUnswizzled = false) {
  Constraint &tile = system.add(
      Constraint::Kind::MmaTile, var, kNoVar,
      "the tensor core reads tiles of 8 rows of 32, 64 or 128 bytes");
  tile.type = memory.getType();
  tile.isTransposed = isTransposed(cast<MemRefType>(memory.getType()));
  tile.allowsUnswizzled = allowsUnswizzled;
}

struct WGMMARule {
  static LogicalResult derive(WGMMAOp op, ConstraintSystem &system) {
    if (!system.getTarget().hasWGMMA) {
      std::string names = targets::namesWith(
          [](const targets::Target &other) { return other.hasWGMMA; });
      return op.emitOpError()
             << "requires wgmma, which " << system.getTarget().name
             << " does not have; use 'mosaic_gpu.mma', or compile for "
             << names;
    }
    LayoutTable &layouts = system.getLayouts();
    int64_t warps = layouts.getWarps();
    VarId accumulator = system.create(op.getAccumulatorMutable());
    system.bind(accumulator, op.getResult());
    if (failed(requireLayout(system, op, accumulator,
                             layouts.tiled(layout::wgmma(warps)),
                             kAccumulator)))
      return failure();
    VarId b = system.share(op.getBMutable());
    addMmaTile(system, b, op.getB());
    if (isa<VectorType>(op.getA().getType())) {
      bool isByte = getElementBits(op.getA().getType()) == 8;
      return requireLayout(system, op, system.create(op.getAMutable()),
                           layouts.tiled(isByte ? layout::wgmma8Bit(warps)
                                                : layout::wgmma(warps)),
                           kA);
    }
    // Both have the same tile; it is transposed if only one operand is.
    VarId a = system.share(op.getAMutable());
    StringRef reason =
        "operands 'a' and 'b' must have the same tile and swizzle";
    auto aType = cast<MemRefType>(op.getA().getType());
    auto bType = cast<MemRefType>(op.getB().getType());
    if (isTransposed(aType) == isTransposed(bType)) {
      system.equal(b, a, reason);
      return success();
    }
    for (auto [from, to, type] :
         {std::tuple(b, a, bType), std::tuple(a, b, aType)})
      system.becomes(from, to,
                     {Step{Step::Kind::Transpose,
                           SmallVector<int64_t, 4>(type.getShape()),
                           {},
                           {1, 0}}},
                     reason);
    return success();
  }
};

/// On NVIDIA, the warps are along the rows, as in JAX; on AMD, the best
/// instruction of the target determines the arrangement of the warps.
LogicalResult addMma(MMAOp op, ConstraintSystem &system, LayoutId accumulator,
                     LayoutId a, LayoutId b) {
  VarId accumulatorVar = system.create(op.getAccumulatorMutable());
  system.bind(accumulatorVar, op.getResult());
  return success(
      succeeded(requireLayout(system, op, accumulatorVar, accumulator,
                              kAccumulator)) &&
      succeeded(
          requireLayout(system, op, system.create(op.getAMutable()), a, kA)) &&
      succeeded(requireLayout(system, op, system.create(op.getBMutable()), b,
                              "the layout of operand 'b'")));
}

struct MMARule {
  static LogicalResult derive(MMAOp op, ConstraintSystem &system) {
    LayoutTable &layouts = system.getLayouts();
    int64_t warps = layouts.getWarps();
    // JAX has neither the fragments of f64 nor parts of a warpgroup.
    int64_t bits = getElementBits(op.getA().getType());
    if (system.getTarget().vendor == targets::Vendor::NVIDIA && bits <= 32 &&
        warps % 4 == 0)
      return addMma(op, system, layouts.tiled(layout::mmaAccumulator(warps)),
                    layouts.tiled(layout::mmaLhs(bits, warps)),
                    layouts.tiled(layout::mmaRhs(bits, warps)));
    auto type = cast<VectorType>(op.getType());
    auto aType = cast<VectorType>(op.getA().getType());
    std::optional<MmaElements> elements =
        MmaElements::get(op.getA(), op.getB(), op.getAccumulator(),
                         op.getUnsignedA() || op.getUnsignedB());
    auto select = [&](const MmaElements &elements) {
      return selectMma(system.getTarget(), elements, type.getDimSize(0),
                       type.getDimSize(1), aType.getDimSize(1), warps);
    };
    std::optional<BlockMma> mma;
    std::optional<MmaElements> tf32;
    if (elements && op.getAllowTf32())
      tf32 = elements->getTF32();
    if (tf32)
      mma = select(*tf32);
    if (elements && !mma)
      mma = select(*elements);
    if (!mma) {
      std::string shapes;
      for (const targets::MmaInstruction &instruction : system.getTarget().mmas)
        if ((elements && elements->match(instruction)) ||
            (tf32 && tf32->match(instruction)))
          shapes += (shapes.empty() ? "" : " or ") +
                    std::to_string(instruction.m) + "x" +
                    std::to_string(instruction.n) + "x" +
                    std::to_string(instruction.k);
      if (shapes.empty())
        return op.emitOpError()
               << "is not supported: " << system.getTarget().name
               << " does not have a matrix instruction for the element types "
                  "of "
               << aType << " and " << op.getB().getType();
      return op.emitOpError()
             << "is not supported: no matrix instruction of "
             << system.getTarget().name << " multiplies " << aType << " by "
             << op.getB().getType() << " with " << warps
             << " warps; M, N and K of a warp must be multiples of " << shapes;
    }
    return addMma(op, system, layouts.tiled(mma->accumulator),
                  layouts.tiled(mma->a), layouts.tiled(mma->b));
  }
};

struct TcGen05Rule {
  static LogicalResult derive(TcGen05MMAOp op, ConstraintSystem &system) {
    if (system.getTarget().tensorMemoryColumns == 0)
      return op.emitOpError()
             << "requires tcgen05, which " << system.getTarget().name
             << " does not have; compile for "
             << targets::namesWithTensorMemory();
    auto accumulatorType = cast<MemRefType>(op.getAccumulator().getType());
    auto bType = cast<MemRefType>(op.getB().getType());
    if (failed(requireTensorLayout(op, system,
                                   system.share(op.getAccumulatorMutable()),
                                   accumulatorType, 1, kAccumulator)))
      return failure();
    VarId b = system.share(op.getBMutable());
    addMmaTile(system, b, op.getB());
    if (accumulatorType.getDimSize(0) == 64 && !op.getCollective())
      limitSwizzle(system, b, bType);
    if (failed(addA(op, system)))
      return failure();
    return addScales(op, system);
  }

  static LogicalResult requireTensorLayout(TcGen05MMAOp op,
                                           ConstraintSystem &system, VarId var,
                                           MemRefType type, int64_t packing,
                                           StringRef what) {
    layout::ValueOr<layout::TiledLayout> layout =
        layout::tmemFor(type.getShape(), op.getCollective(), packing);
    if (!layout)
      return op.emitOpError()
             << what << " in tensor memory is not defined: " << layout.reason;
    return requireLayout(system, op, var, system.getLayouts().tensor(*layout),
                         what);
  }

  /// With 64 rows, the lanes of tensor memory form two groups with half of the
  /// columns each, and the swizzle of `b` must not exceed one half.
  static void limitSwizzle(ConstraintSystem &system, VarId b, MemRefType type) {
    int64_t bits = getElementBits(type), half = type.getDimSize(1) / 2;
    for (int64_t swizzle : {128, 64, 32, 16}) {
      int64_t elements = swizzle * 8 / bits;
      if (elements > half)
        continue;
      SmallVector<int64_t, 2> tile{8, elements};
      if (isTransposed(type))
        std::swap(tile[0], tile[1]);
      system.divides(b, tile,
                     "the op splits the columns into two halves, each of which "
                     "must consist of whole tiles");
      return;
    }
  }

  static LogicalResult addA(TcGen05MMAOp op, ConstraintSystem &system) {
    auto type = cast<MemRefType>(op.getA().getType());
    VarId a = system.share(op.getAMutable());
    if (!isTensorMemory(type)) {
      addMmaTile(system, a, op.getA());
      return success();
    }
    return requireTensorLayout(op, system, a, type, getPacking(type), kA);
  }

  static LogicalResult addScales(TcGen05MMAOp op, ConstraintSystem &system) {
    LayoutTable &layouts = system.getLayouts();
    auto requireScale = [&](MutableOperandRange operand,
                            const layout::TiledLayout &layout, StringRef what) {
      if (operand.empty())
        return success();
      return requireLayout(system, op, system.share(operand[0]),
                           layouts.tensor(layout), what);
    };
    bool isSplit =
        op.getCollective() &&
        cast<MemRefType>(op.getAccumulator().getType()).getDimSize(0) == 64;
    return success(
        succeeded(requireScale(op.getASparseMetadataMutable(),
                               layout::tmemSparseMetadata(),
                               "the layout of operand 'a_sparse_metadata'")) &&
        succeeded(requireScale(op.getAScaleMutable(), layout::tmemScales(),
                               "the layout of operand 'a_scale'")) &&
        succeeded(requireScale(op.getBScaleMutable(),
                               isSplit ? layout::tmemBScalesM64Collective()
                                       : layout::tmemScales(),
                               "the layout of operand 'b_scale'")));
  }
};

struct CopyToTensorRule {
  static LogicalResult derive(AsyncStoreSmemToTmemOp op,
                              ConstraintSystem &system) {
    LayoutTable &layouts = system.getLayouts();
    VarId source = system.share(op.getSourceMutable());
    VarId destination = system.share(op.getDestinationMutable());
    int64_t packing = getPacking(op.getDestination().getType());
    auto layout = layout::tmemDefault(packing);
    if (failed(requireLayout(system, op, destination,
                             layout ? layouts.tensor(*layout) : kNoLayout,
                             "a tensor-memory layout of the destination")))
      return failure();
    addMmaTile(system, source, op.getSource(), /*allowsUnswizzled=*/true);
    return success();
  }
};

template <typename OpTy>
LogicalResult addUntiledCopy(OpTy op, ConstraintSystem &system,
                             const layout::TiledLayout &layout) {
  VarId source = system.share(op.getSourceMutable());
  VarId destination = system.share(op.getDestinationMutable());
  system.assign(source, system.getLayouts().noTransforms(),
                "the tiles are dimensions in the shape of the source");
  return requireLayout(system, op, destination,
                       system.getLayouts().tensor(layout),
                       "the layout of the destination");
}

struct CopyMetadataRule {
  static LogicalResult derive(AsyncStoreSparseMetadataSmemToTmemOp op,
                              ConstraintSystem &system) {
    return addUntiledCopy(op, system, layout::tmemSparseMetadata());
  }
};

struct CopyScalesRule {
  static LogicalResult derive(AsyncStoreScalesSmemToTmemOp op,
                              ConstraintSystem &system) {
    ArrayRef<int64_t> shape =
        cast<MemRefType>(op.getSource().getType()).getShape();
    bool isSplit = shape[2] == 64;
    return addUntiledCopy(op, system,
                          isSplit ? layout::tmemBScalesM64Collective()
                                  : layout::tmemScales());
  }
};

} // namespace

void inference::registerMatmulRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MosaicGPUDialect *) {
    attachRule<WGMMARule, WGMMAOp>(context);
    attachRule<MMARule, MMAOp>(context);
    attachRule<TcGen05Rule, TcGen05MMAOp>(context);
    attachRule<CopyToTensorRule, AsyncStoreSmemToTmemOp>(context);
    attachRule<CopyMetadataRule, AsyncStoreSparseMetadataSmemToTmemOp>(context);
    attachRule<CopyScalesRule, AsyncStoreScalesSmemToTmemOp>(context);
  });
}
