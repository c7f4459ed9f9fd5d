//===- MosaicGPUToNVVM.cpp - convert-mosaic-gpu-to-nvvm -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Conversion/BlockToThread/Assembly/NVIDIAAssembly.h"
#include "smalti/passes/Conversion/BlockToThread/BlockToThread.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/NVIDIALowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Layouts/Vectors/MmaSelection.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/BlockFragments.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

#include <array>

namespace smalti {
#define GEN_PASS_DECL_CONVERTMOSAICGPUTONVVM
#define GEN_PASS_DEF_CONVERTMOSAICGPUTONVVM
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using targets::Element;
using targets::MmaInstruction;
using targets::MmaKind;

//===----------------------------------------------------------------------===//
// MMA instructions
//===----------------------------------------------------------------------===//

/// The operand type in mma.sync; nothing for types that this lowering does not
/// support.
static std::optional<NVVM::MMATypes>
getMultiplicandType(Element element, bool isUnsigned = false) {
  switch (element) {
  case Element::F16:
    return NVVM::MMATypes::f16;
  case Element::BF16:
    return NVVM::MMATypes::bf16;
  case Element::TF32:
    return NVVM::MMATypes::tf32;
  case Element::I8:
    return isUnsigned ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8;
  default:
    return std::nullopt;
  }
}

/// Whether NVVM does not have an op for all shapes of the type in mma.sync, but
/// LLVM has intrinsics.
static bool isIntrinsic(Element element) {
  return element == Element::E4M3 || element == Element::E5M2 ||
         element == Element::F64;
}

/// The name of the intrinsic is that of the instruction without the common
/// part, and with f64 only once.
static std::string getIntrinsicName(const MmaInstruction &instruction) {
  StringRef name = StringRef(instruction.mnemonic).split(".aligned.").second;
  if (instruction.a == Element::F64)
    name.consume_back(".f64.f64.f64");
  return ("llvm.nvvm.mma." + name).str();
}

/// A register of an operand: vector<2xf16> for f16, f64, and the 32 bits of
/// other types as i32.
static Value toMultiplicand(OpBuilder &builder, Location loc, Value reg,
                            Element element) {
  auto first = [&](Value vector) {
    return vector::ExtractOp::create(builder, loc, vector,
                                     ArrayRef<int64_t>{0});
  };
  if (element == Element::F16)
    return reg;
  if (element == Element::F64)
    return first(reg);
  // mma.sync would truncate the low bits.
  if (element == Element::TF32)
    return NVVM::ConvertFloatToTF32Op::create(builder, loc,
                                              builder.getI32Type(), first(reg),
                                              NVVM::FPRoundingMode::RNA);
  Value word = vector::BitCastOp::create(
      builder, loc, VectorType::get({1}, builder.getI32Type()), reg);
  return first(word);
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

namespace {
/// How ldmatrix loads the registers of a vector: 8 rows of 16 bytes in a
/// matrix. A thread receives 32 bits of a row or, with `transposed`, 16 bits of
/// two rows.
struct MatrixLoad {
  bool transposed = false;
  /// Whether the elements have 8 bits and are transposed. A thread receives
  /// elements of two registers, which are neighbors in a row: two matrices
  /// provide both registers.
  bool isPaired = false;
  /// Matrices per instruction; 1, 2 or 4.
  int64_t count = 1;
  /// The registers in the order of the matrices.
  SmallVector<int64_t> order;
  /// Offset of the second and third matrix of an instruction from the first.
  /// The matrices of paired registers have the same offset.
  SmallVector<int64_t> toSecond{0, 0}, toThird{0, 0};

  /// The first element of a matrix in the first lane.
  SmallVector<int64_t> getOrigin(const Distribution &distribution,
                                 int64_t matrix) const {
    return distribution.getTiled().elementIndex(distribution.getShape(), 0, 0,
                                                order[matrix], 0);
  }
};
} // namespace

/// The registers of a vector in the order of the operand registers of the MMA
/// that has this layout as operand A. The registers of an operand are
/// consecutive, so loads in another order require moves.
static SmallVector<int64_t> getMatrixOrder(const Distribution &distribution,
                                           const targets::Target &target,
                                           Type elementType, int64_t numWarps) {
  auto order = llvm::to_vector(llvm::seq(distribution.getNumRegisters()));
  std::optional<targets::Element> element = getMmaElement(elementType);
  if (!element)
    return order;
  for (const targets::BlockFragment &fragment :
       targets::blockFragments(target, targets::Operand::A,
                               distribution.getShape(), *element, numWarps)) {
    if (fragment.layout != distribution.getTiled())
      continue;
    ArrayRef<int64_t> tile = fragment.instruction->aOrder;
    for (auto [index, reg] : llvm::enumerate(order))
      reg = index / tile.size() * tile.size() + tile[index % tile.size()];
    break;
  }
  return order;
}

/// How ldmatrix loads the registers of a layout, if it can: `rowDim` is the
/// dimension that steps from row to row in memory.
static std::optional<MatrixLoad>
matchMatrixLoad(const Distribution &distribution, const ThreadGrid &grid,
                int64_t rowDim, const targets::Target &target,
                Type elementType) {
  constexpr int64_t rowBits = 128, wordBits = 32;
  int64_t bits = elementType.getIntOrFloatBitWidth(), length = wordBits / bits;
  if (distribution.getKind() != Distribution::Kind::Tiled ||
      distribution.getShape().size() != 2 ||
      distribution.getVectorLength() != length || grid.waveSize != 32)
    return std::nullopt;
  const layout::TiledLayout &tiled = distribution.getTiled();
  ArrayRef<int64_t> shape = distribution.getShape();
  int64_t columnDim = 1 - rowDim, registers = distribution.getNumRegisters();
  MatrixLoad load;
  load.order =
      getMatrixOrder(distribution, target, elementType, grid.numWarps());
  auto step = [&](int64_t from, int64_t to) {
    SmallVector<int64_t> first = tiled.elementIndex(shape, 0, 0,
                                                    load.order[from], 0),
                         second =
                             tiled.elementIndex(shape, 0, 0, load.order[to], 0);
    return SmallVector<int64_t>{second[0] - first[0], second[1] - first[1]};
  };
  // `neighbors` is the number of elements of a row that a thread receives.
  auto isMatrix = [&](bool transposed, int64_t neighbors) {
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t element = 0; element < length; ++element) {
        int64_t major = lane / 4, minor = length * (lane % 4) + element;
        SmallVector<int64_t> index =
            tiled.elementIndex(shape, 0, lane, 0, element);
        if (index[rowDim] != (transposed ? minor : major) ||
            index[columnDim] != (transposed ? neighbors * major : minor))
          return false;
      }
    return true;
  };
  if (!isMatrix(/*transposed=*/false, length)) {
    load.transposed = true;
    load.isPaired = bits == 8;
    if (!isMatrix(/*transposed=*/true, load.isPaired ? 2 : 1))
      return std::nullopt;
  }
  if (load.isPaired) {
    SmallVector<int64_t> next(2);
    next[columnDim] = 1;
    for (int64_t first = 0; first < registers; first += 2)
      if (first + 1 == registers || step(first, first + 1) != next)
        return std::nullopt;
  }
  // Rows of a matrix start at multiples of 16 bytes.
  for (int64_t warp = 0; warp < grid.numWarps(); ++warp)
    for (int64_t reg = 0; reg < registers; reg += load.isPaired ? 2 : 1)
      if (tiled.elementIndex(shape, warp, 0, load.order[reg], 0)[columnDim] %
              (rowBits / bits) !=
          0)
        return std::nullopt;

  // Several matrices per instruction if the offsets between them are the same
  // in all instructions.
  auto haveEqualSteps = [&](int64_t count) {
    if (registers % count != 0)
      return false;
    for (int64_t first = 0; first < registers; first += count) {
      if (step(first, first + 1) != step(0, 1))
        return false;
      if (count == 4 && (step(first, first + 2) != step(0, 2) ||
                         step(first + 2, first + 3) != step(0, 1)))
        return false;
    }
    return true;
  };
  if (registers % 2 == 0 && haveEqualSteps(2)) {
    load.count = 2;
    if (!load.isPaired)
      load.toSecond = step(0, 1);
    if (registers % 4 == 0 && haveEqualSteps(4)) {
      load.count = 4;
      load.toThird = step(0, 2);
    }
  }
  return load;
}

//===----------------------------------------------------------------------===//
// The lowering
//===----------------------------------------------------------------------===//

namespace {
class NVIDIALowering : public VendorLowering {
public:
  using VendorLowering::VendorLowering;

  std::optional<std::string>
  refuseMma(const MmaInstruction &instruction) const override {
    if (instruction.kind == MmaKind::Fma)
      return std::nullopt;
    auto isKnown = [](Element element) {
      return getMultiplicandType(element) || isIntrinsic(element);
    };
    if (instruction.kind != MmaKind::MmaSync || !isKnown(instruction.a) ||
        !isKnown(instruction.b))
      return "this conversion does not support the MMA instruction " +
             instruction.mnemonic;
    return std::nullopt;
  }
  std::optional<std::string> refuseAsyncCopy() const override {
    if (target.asyncCopyBytes.empty())
      return "the target does not have asynchronous copies to shared memory; "
             "copy through registers";
    return std::nullopt;
  }
  /// All supported chips have mbarriers; older ones do not count bytes.
  std::optional<std::string> refuseBarriers() const override {
    return std::nullopt;
  }
  bool countsBytes() const {
    return llvm::is_contained(target.waits, targets::WaitKind::Mbarrier);
  }

  Value emitSharedMemory(OpBuilder &builder, gpu::GPUFuncOp func, int64_t,
                         int64_t) const override {
    auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                            gpu::AddressSpace::Workgroup);
    auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(),
                                MemRefLayoutAttrInterface(), space);
    return gpu::DynamicSharedMemoryOp::create(builder, func.getLoc(), type);
  }
  void emitBarrier(OpBuilder &builder, Location loc, bool,
                   bool) const override {
    gpu::BarrierOp::create(builder, loc);
  }

  Value emitLaneRead(OpBuilder &builder, Location loc, Value word, Value lane,
                     ThreadIndices &indices) const override {
    return emitShuffle(builder, loc, word, lane, NVVM::ShflKind::idx, indices);
  }
  Value emitLaneExchange(OpBuilder &builder, Location loc, Value word,
                         int64_t mask, ThreadIndices &indices) const override {
    return emitShuffle(builder, loc, word, getI32(builder, loc, mask),
                       NVVM::ShflKind::bfly, indices);
  }
  Value emitBytePermute(OpBuilder &builder, Location loc, Value a, Value b,
                        Value selector) const override {
    return NVVM::PermuteOp::create(builder, loc, builder.getI32Type(), a, b,
                                   selector, NVVM::PermuteMode::DEFAULT);
  }

  std::optional<std::string>
  refuseThreadGroupBarrier(const ThreadGrid &grid) const override {
    // Barrier 0 is the barrier of the block.
    constexpr int64_t barriers = 16;
    if (grid.blockThreads / grid.numThreads < barriers)
      return std::nullopt;
    return "the block has " +
           std::to_string(grid.blockThreads / grid.numThreads) +
           " thread groups, but only " + std::to_string(barriers - 1) +
           " barriers for them; use larger thread groups";
  }
  void emitFailure(OpBuilder &builder, Location loc,
                   StringRef message) const override {
    // A call of __assertfail, which reports the message and the source
    // location.
    Value isFalse = arith::ConstantIntOp::create(builder, loc, 0, 1);
    cf::AssertOp::create(builder, loc, isFalse, message);
  }
  void emitThreadGroupBarrier(OpBuilder &builder, Location loc,
                              ThreadIndices &indices) const override {
    const ThreadGrid &grid = indices.getGrid();
    if (grid.blockThreads == grid.numThreads) {
      gpu::BarrierOp::create(builder, loc);
      return;
    }
    Value barrier = indices.add(
        indices.div(indices.getThreadOfBlock(), grid.numThreads), 1);
    OpBuilder &head = indices.getBuilder();
    Type word = builder.getI32Type();
    Value number = arith::IndexCastOp::create(head, loc, word, barrier);
    Value threads = arith::ConstantOp::create(
        head, loc,
        head.getI32IntegerAttr(static_cast<int32_t>(grid.numThreads)));
    NVVM::BarrierOp::create(builder, loc, /*res=*/Type(), number, threads,
                            NVVM::BarrierReductionAttr(), Value());
  }

  SmallVector<Value> emitMma(OpBuilder &builder, Location loc,
                             const MmaInstruction &instruction,
                             const MmaOperands &operands) const override;
  SmallVector<Value> emitFragmentLoad(OpBuilder &builder, Location loc,
                                      const SharedVector &source,
                                      const Distribution &distribution,
                                      ThreadIndices &indices) const override;
  SmallVector<Value> emitByteMatrices(OpBuilder &builder, Location loc,
                                      const SharedVector &source,
                                      const MatrixLoad &load, int64_t rowDim,
                                      int64_t stride,
                                      const Distribution &distribution,
                                      ThreadIndices &indices) const;

  Value emitElected(ThreadIndices &indices) const override {
    if (!target.hasTMA)
      return VendorLowering::emitElected(indices);
    return NVVM::ElectSyncOp::create(indices.getBuilder(), indices.getLoc(),
                                     indices.getBuilder().getI1Type(),
                                     /*membermask=*/Value());
  }
  Value emitLaneMove(OpBuilder &builder, Location loc, Value word,
                     const LaneMove &move,
                     ThreadIndices &indices) const override;
  int64_t getShiftedLanes() const override { return target.waveSize; }
  Value emitWaveReduction(OpBuilder &builder, Location loc, Value word,
                          vector::CombiningKind kind) const override;
  SmallVector<Value> emitOpaque(OpBuilder &builder, Location loc,
                                ArrayRef<Value> registers) const override {
    return nvidia::emitOpaque(builder, loc, registers);
  }
  Value emitUniform(OpBuilder &builder, Location loc,
                    Value index) const override;
  Value emitLoad(OpBuilder &builder, Location loc, const Access &access,
                 Value pad) const override;

  void emitAsyncCopy(OpBuilder &builder, Location loc,
                     const AsyncPiece &piece) const override;
  void emitAsyncCommit(OpBuilder &builder, Location loc) const override {
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  }
  void emitAsyncWait(OpBuilder &builder, Location loc, int64_t groups,
                     int64_t /*pieces*/) const override {
    NVVM::CpAsyncWaitGroupOp::create(builder, loc,
                                     static_cast<uint32_t>(groups));
  }

  void emitBarrierInit(OpBuilder &builder, Location loc, Value address,
                       int64_t arrivals) const override {
    Value count = arith::ConstantOp::create(
        builder, loc,
        builder.getI32IntegerAttr(static_cast<int32_t>(arrivals)));
    NVVM::MBarrierInitOp::create(builder, loc, address, count,
                                 /*predicate=*/Value());
  }
  void emitBarrierArrive(OpBuilder &builder, Location loc, Value address,
                         int64_t count) const override {
    // Older chips count one arrival per instruction.
    for (; !countsBytes() && count > 1; --count)
      NVVM::MBarrierArriveOp::create(builder, loc, builder.getI64Type(),
                                     address, /*count=*/Value());
    Value arrivals;
    if (count > 1)
      arrivals = arith::ConstantOp::create(
          builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(count)));
    NVVM::MBarrierArriveOp::create(builder, loc, builder.getI64Type(), address,
                                   arrivals);
  }
  void emitBarrierArriveExpectTx(OpBuilder &builder, Location loc,
                                 Value address, Value bytes) const override {
    NVVM::MBarrierArriveExpectTxOp::create(
        builder, loc, Type(), address, bytes, NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, /*predicate=*/Value());
  }
  void emitBarrierWait(OpBuilder &builder, Location loc, Value address,
                       Value phase, Value ticks,
                       bool acquiresFromCluster) const override {
    // One try suspends the thread for a limited time, not until the phase
    // completes.
    auto loop = scf::WhileOp::create(builder, loc, TypeRange(), ValueRange());
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&loop.getBefore());
    auto scope = acquiresFromCluster ? NVVM::MemScopeKind::CLUSTER
                                     : NVVM::MemScopeKind::CTA;
    Type bit = builder.getI1Type();
    Value done;
    if (countsBytes())
      done = NVVM::MBarrierTryWaitOp::create(builder, loc, bit, address, phase,
                                             ticks, scope, /*relaxed=*/false);
    else
      done = NVVM::MBarrierTestWaitOp::create(builder, loc, bit, address, phase,
                                              scope, /*relaxed=*/false);
    Value isOpen = arith::XOrIOp::create(
        builder, loc, done,
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    scf::ConditionOp::create(builder, loc, isOpen, ValueRange());
    builder.createBlock(&loop.getAfter());
    scf::YieldOp::create(builder, loc);
  }

private:
  static Value emitShuffle(OpBuilder &builder, Location loc, Value word,
                           Value source, NVVM::ShflKind kind,
                           ThreadIndices &indices) {
    int64_t last = indices.getGrid().waveSize - 1;
    return NVVM::ShflOp::create(builder, loc, builder.getI32Type(),
                                getI32(builder, loc, -1), word, source,
                                getI32(builder, loc, last), kind, UnitAttr());
  }
};
} // namespace

SmallVector<Value> NVIDIALowering::emitMma(OpBuilder &builder, Location loc,
                                           const MmaInstruction &instruction,
                                           const MmaOperands &operands) const {
  ArrayRef<Value> a = operands.a, b = operands.b,
                  accumulator = operands.accumulator;
  SmallVector<Value> operandsA, operandsB, operandsC;
  for (Value reg : a)
    operandsA.push_back(toMultiplicand(builder, loc, reg, instruction.a));
  for (Value reg : b)
    operandsB.push_back(toMultiplicand(builder, loc, reg, instruction.b));
  auto accumulatorType = cast<VectorType>(accumulator.front().getType());
  // 16-bit accumulators stay packed, wider ones are passed as scalars.
  bool isPacked = accumulatorType.getElementType().isF16();
  for (Value reg : accumulator) {
    if (isPacked) {
      operandsC.push_back(reg);
      continue;
    }
    for (int64_t element = 0; element < accumulatorType.getDimSize(0);
         ++element)
      operandsC.push_back(vector::ExtractOp::create(
          builder, loc, reg, ArrayRef<int64_t>{element}));
  }
  SmallVector<Type> resultTypes;
  for (Value operand : operandsC)
    resultTypes.push_back(operand.getType());
  auto resultType =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), resultTypes);
  Value mmaResult;
  if (isIntrinsic(instruction.a)) {
    SmallVector<Value> operands = operandsA;
    llvm::append_range(operands, operandsB);
    llvm::append_range(operands, operandsC);
    mmaResult =
        LLVM::CallIntrinsicOp::create(
            builder, loc, resultType,
            builder.getStringAttr(getIntrinsicName(instruction)), operands)
            .getResult(0);
  } else {
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (accumulatorType.getElementType().isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    mmaResult = NVVM::MmaOp::create(
        builder, loc, resultType, operandsA, operandsB, operandsC,
        ArrayRef<int64_t>{instruction.m, instruction.n / instruction.numMmas(),
                          instruction.k},
        /*b1Op=*/std::nullopt, overflow,
        std::array<NVVM::MMATypes, 2>{
            *getMultiplicandType(instruction.a, operands.unsignedA),
            *getMultiplicandType(instruction.b, operands.unsignedB)},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
  }

  SmallVector<Value> results;
  int64_t position = 0;
  for (size_t reg = 0; reg < accumulator.size(); ++reg) {
    if (isPacked) {
      results.push_back(
          LLVM::ExtractValueOp::create(builder, loc, mmaResult, position++));
      continue;
    }
    SmallVector<Value> elements;
    for (int64_t element = 0; element < accumulatorType.getDimSize(0);
         ++element)
      elements.push_back(
          LLVM::ExtractValueOp::create(builder, loc, mmaResult, position++));
    results.push_back(vector::FromElementsOp::create(
        builder, loc, accumulatorType, elements));
  }
  return results;
}

/// The value of lane 0.
Value NVIDIALowering::emitLaneMove(OpBuilder &builder, Location loc, Value word,
                                   const LaneMove &move,
                                   ThreadIndices &indices) const {
  int64_t last = target.waveSize - 1;
  auto shuffle = [&](NVVM::ShflKind kind, Value lane, int64_t clamp) -> Value {
    return NVVM::ShflOp::create(builder, loc, builder.getI32Type(),
                                getI32(builder, loc, -1), word, lane,
                                getI32(builder, loc, clamp), kind, UnitAttr());
  };
  if (std::optional<int64_t> mask = move.matchExchange())
    return shuffle(NVVM::ShflKind::bfly, getI32(builder, loc, *mask), last);
  if (std::optional<int64_t> shift = move.matchShift())
    return *shift < 0
               ? shuffle(NVVM::ShflKind::up, getI32(builder, loc, -*shift), 0)
               : shuffle(NVVM::ShflKind::down, getI32(builder, loc, *shift),
                         last);
  if (std::optional<int64_t> lane = move.matchBroadcast())
    return shuffle(NVVM::ShflKind::idx, getI32(builder, loc, *lane), last);
  Value source =
      ThreadTables(indices).lookup(move.getThreadTable(indices.getGrid()));
  return shuffle(NVVM::ShflKind::idx, source, last);
}

static std::optional<NVVM::ReduxKind> getRedux(vector::CombiningKind kind) {
  using vector::CombiningKind;
  switch (kind) {
  case CombiningKind::ADD:
    return NVVM::ReduxKind::ADD;
  case CombiningKind::MINSI:
    return NVVM::ReduxKind::MIN;
  case CombiningKind::MAXSI:
    return NVVM::ReduxKind::MAX;
  case CombiningKind::MINUI:
    return NVVM::ReduxKind::UMIN;
  case CombiningKind::MAXUI:
    return NVVM::ReduxKind::UMAX;
  case CombiningKind::AND:
    return NVVM::ReduxKind::AND;
  case CombiningKind::OR:
    return NVVM::ReduxKind::OR;
  case CombiningKind::XOR:
    return NVVM::ReduxKind::XOR;
  default:
    return std::nullopt;
  }
}

Value NVIDIALowering::emitWaveReduction(OpBuilder &builder, Location loc,
                                        Value word,
                                        vector::CombiningKind kind) const {
  std::optional<NVVM::ReduxKind> redux = getRedux(kind);
  if (!redux)
    return {};
  return NVVM::ReduxOp::create(builder, loc, builder.getI32Type(), word, *redux,
                               getI32(builder, loc, -1), /*abs=*/false,
                               /*nan=*/false);
}

Value NVIDIALowering::emitUniform(OpBuilder &builder, Location loc,
                                  Value index) const {
  Type word = builder.getI32Type();
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  Value shared = NVVM::ShflOp::create(
      builder, loc, word, constant(-1),
      arith::IndexCastOp::create(builder, loc, word, index), constant(0),
      constant(static_cast<int32_t>(target.waveSize) - 1), NVVM::ShflKind::idx,
      /*return_value_and_is_valid=*/UnitAttr());
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    shared);
}

/// nvgpu.device_async_copy supports only contiguous memrefs. For others, which
/// are copied one element at a time, this is a view of that element.
static Value emitRowView(OpBuilder &builder, Location loc, Value memref,
                         SmallVector<Value> &indices) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.isLastDimUnitStride())
    return memref;
  SmallVector<OpFoldResult> offsets = getAsOpFoldResult(indices),
                            ones(indices.size(), builder.getIndexAttr(1));
  MemRefType element = memref::SubViewOp::inferRankReducedResultType(
      {}, type, offsets, ones, ones);
  indices.clear();
  return memref::SubViewOp::create(builder, loc, element, memref, offsets, ones,
                                   ones);
}

/// A masked load whose lanes are all active or all inactive becomes a
/// predicated instruction, which cannot have a cache hint.
Value NVIDIALowering::emitLoad(OpBuilder &builder, Location loc,
                               const Access &access, Value pad) const {
  if (!access.inBounds || access.cacheHint)
    return VendorLowering::emitLoad(builder, loc, access, pad);
  Value mask = vector::BroadcastOp::create(
      builder, loc,
      VectorType::get(access.type.getShape(), builder.getI1Type()),
      access.inBounds);
  Value padding = vector::BroadcastOp::create(builder, loc, access.type, pad);
  return vector::MaskedLoadOp::create(builder, loc, access.type, access.memref,
                                      access.indices, mask, padding,
                                      llvm::MaybeAlign(access.alignment));
}

void NVIDIALowering::emitAsyncCopy(OpBuilder &builder, Location loc,
                                   const AsyncPiece &piece) const {
  // The number of elements of the chunk below the upper bound; a chunk that
  // starts below zero counts as in bounds.
  int64_t size = piece.from.type.getDimSize(0);
  Value minor = piece.from.indices.back();
  Value count = arith::ConstantIndexOp::create(builder, loc, size),
        none = arith::ConstantIndexOp::create(builder, loc, 0);
  // Otherwise, a chunk is inside or outside as a whole.
  if (std::min(log2Divisor(minor), log2Divisor(piece.minorExtent)) <
      log2Divisor(size))
    count = arith::MinSIOp::create(
        builder, loc,
        arith::SubIOp::create(builder, loc, piece.minorExtent, minor,
                              arith::IntegerOverflowFlags::nsw),
        count);
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       minor, piece.minorExtent);
  if (piece.from.inBounds)
    inside = arith::AndIOp::create(builder, loc, inside, piece.from.inBounds);
  count = arith::SelectOp::create(builder, loc, inside, count, none);
  int64_t bits = size * piece.from.type.getElementTypeBitWidth();
  SmallVector<Value> toIndices(piece.indices), fromIndices(piece.from.indices);
  Value to = emitRowView(builder, loc, piece.destination, toIndices),
        from = emitRowView(builder, loc, piece.from.memref, fromIndices);
  nvgpu::DeviceAsyncCopyOp::create(
      builder, loc, nvgpu::DeviceAsyncTokenType::get(builder.getContext()), to,
      toIndices, from, fromIndices, builder.getIndexAttr(size), count,
      bits == 128 ? builder.getUnitAttr() : UnitAttr());
}

/// The row and column of the row of a matrix whose address a lane provides:
/// lanes 8*i to 8*i+7 provide those of matrix i.
static SmallVector<Value> emitMatrixRows(const MatrixLoad &load, int64_t rowDim,
                                         const Distribution &distribution,
                                         ThreadIndices &indices) {
  SmallVector<Value> base;
  for (const Coordinate &coordinate : indices.getWarpCoordinates(distribution))
    base.push_back(coordinate.base);
  Value lane = indices.getLane();
  auto digit = [&](int64_t divisor, int64_t size) {
    return indices.rem(indices.div(lane, divisor), size);
  };
  auto addTo = [&](int64_t dim, Value digit, int64_t stride) {
    base[dim] = indices.add(base[dim], indices.mul(digit, stride));
  };
  if (load.isPaired) {
    // Thread t (modulo 4) needs the rows 4 * t to 4 * t + 3. The first matrix
    // has the first two of them for t = 0 and 1, and the last two for t = 2 and
    // 3; the second matrix has the others. A padding of 16 bytes then prevents
    // bank conflicts.
    addTo(rowDim, digit(1, 2), 1);
    addTo(rowDim, digit(2, 4), 4);
    addTo(
        rowDim,
        indices.rem(indices.add(indices.div(lane, 8), indices.div(lane, 4)), 2),
        2);
  } else {
    addTo(rowDim, digit(1, 8), 1);
  }
  // Fewer than 32 addresses are used for one or two matrices; the others must
  // still be valid, so they repeat.
  for (int64_t dim = 0; dim < 2; ++dim) {
    if (load.count >= 2)
      addTo(dim, digit(8, 2), load.toSecond[dim]);
    if (load.count == 4)
      addTo(dim, indices.div(lane, 16), load.toThird[dim]);
  }
  return base;
}

/// The selectors of the byte permutations that take the elements of two paired
/// registers from the words of two matrices.
static std::array<Value, 2> emitPairSelectors(Location loc,
                                              ThreadIndices &indices) {
  OpBuilder &head = indices.getBuilder();
  // In the lanes with t = 2 and 3, the first matrix has the last rows.
  Value isOther =
      arith::CmpIOp::create(head, loc, arith::CmpIPredicate::eq,
                            indices.rem(indices.div(indices.getLane(), 2), 2),
                            indices.getConstant(1));
  auto select = [&](int64_t other, int64_t own) -> Value {
    return arith::SelectOp::create(head, loc, isOther, getI32(head, loc, other),
                                   getI32(head, loc, own));
  };
  return {select(0x2064, 0x6420), select(0x3175, 0x7531)};
}

/// Loads registers of 8-bit elements from rows that are `stride` bytes apart.
/// The element types of nvgpu.ldmatrix do not allow this.
SmallVector<Value> NVIDIALowering::emitByteMatrices(
    OpBuilder &builder, Location loc, const SharedVector &source,
    const MatrixLoad &load, int64_t rowDim, int64_t stride,
    const Distribution &distribution, ThreadIndices &indices) const {
  Type word = builder.getI32Type();
  SmallVector<Value> base = emitMatrixRows(load, rowDim, distribution, indices);
  Value own = arith::IndexCastOp::create(
      indices.getBuilder(), loc, word,
      indices.add(indices.mul(base[rowDim], stride), base[1 - rowDim]));
  Value start = LLVM::GEPOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 3),
      builder.getI8Type(), source.getPointer(), ArrayRef<LLVM::GEPArg>{own});
  std::array<Value, 2> selectors;
  if (load.isPaired)
    selectors = emitPairSelectors(loc, indices);
  Type loaded = load.count == 1 ? word
                                : LLVM::LLVMStructType::getLiteral(
                                      builder.getContext(),
                                      SmallVector<Type>(load.count, word));
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  VectorType type = distribution.getRegisterType(
      cast<MemRefType>(source.memref.getType()).getElementType());
  SmallVector<Value> registers(distribution.getNumRegisters());
  for (int64_t first = 0; first < distribution.getNumRegisters();
       first += load.count) {
    SmallVector<int64_t> origin = load.getOrigin(distribution, first);
    Value address = LLVM::GEPOp::create(
        builder, loc, start.getType(), builder.getI8Type(), start,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(origin[rowDim] * stride +
                                                    origin[1 - rowDim])});
    Value matrices = NVVM::LdMatrixOp::create(
        builder, loc, loaded, address, static_cast<uint32_t>(load.count),
        load.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
        NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> words;
    for (int64_t matrix = 0; matrix < load.count; ++matrix)
      words.push_back(load.count == 1 ? matrices
                                      : LLVM::ExtractValueOp::create(
                                            builder, loc, matrices, matrix)
                                            .getResult());
    if (load.isPaired)
      for (size_t pair = 0; pair < words.size(); pair += 2) {
        Value a = words[pair], b = words[pair + 1];
        for (size_t i = 0; i < 2; ++i)
          words[pair + i] = emitBytePermute(builder, loc, a, b, selectors[i]);
      }
    for (auto [index, held] : llvm::enumerate(words))
      registers[load.order[first + index]] =
          fromWords(builder, loc, held, type);
  }
  return registers;
}

SmallVector<Value> NVIDIALowering::emitFragmentLoad(
    OpBuilder &builder, Location loc, const SharedVector &source,
    const Distribution &distribution, ThreadIndices &indices) const {
  auto type = cast<MemRefType>(source.memref.getType());
  Type elementType = type.getElementType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!target.hasLdMatrix ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type) ||
      !elementType.isIntOrFloat() ||
      !llvm::is_contained({8, 16}, elementType.getIntOrFloatBitWidth()) ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.size() != 2)
    return {};
  // Every row of 16 bytes starts at a multiple of 16 bytes.
  int64_t bytes = elementType.getIntOrFloatBitWidth() / 8;
  int64_t rowDim = strides.back() == 1 ? 0 : 1;
  if (strides[1 - rowDim] != 1 || ShapedType::isDynamic(strides[rowDim]) ||
      strides[rowDim] * bytes % 16 != 0 || source.log2Alignment < 4)
    return {};
  std::optional<MatrixLoad> load = matchMatrixLoad(
      distribution, indices.getGrid(), rowDim, target, elementType);
  if (!load)
    return {};
  if (bytes == 1)
    return source.getPointer
               ? emitByteMatrices(builder, loc, source, *load, rowDim,
                                  strides[rowDim], distribution, indices)
               : SmallVector<Value>();

  SmallVector<Value> base =
      emitMatrixRows(*load, rowDim, distribution, indices);
  auto fragmentType = VectorType::get({load->count, 2}, elementType);
  SmallVector<Value> registers(distribution.getNumRegisters());
  for (int64_t first = 0; first < distribution.getNumRegisters();
       first += load->count) {
    SmallVector<int64_t> origin = load->getOrigin(distribution, first);
    SmallVector<Value> address;
    for (int64_t dim = 0; dim < 2; ++dim)
      address.push_back(base[dim] ? indices.add(base[dim], origin[dim])
                                  : indices.getConstant(origin[dim]));
    Value fragment = nvgpu::LdMatrixOp::create(
        builder, loc, fragmentType, source.memref, address,
        builder.getBoolAttr(load->transposed),
        builder.getI32IntegerAttr(static_cast<int32_t>(load->count)));
    for (int64_t matrix = 0; matrix < load->count; ++matrix)
      registers[load->order[first + matrix]] = vector::ExtractOp::create(
          builder, loc, fragment, ArrayRef<int64_t>{matrix});
  }
  return registers;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Tensor maps become pointers, as in the conversion of the ops that use them;
/// the conversion of functions does not support their type.
static void passTensorMapsByPointer(gpu::GPUFuncOp func) {
  if (!func.isKernel() || func.isExternal())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  SmallVector<Type> types;
  // Workgroup attributions follow the function's arguments.
  for (BlockArgument argument :
       func.getArguments().take_front(func.getFunctionType().getNumInputs())) {
    Type type = argument.getType();
    if (isa<nvgpu::TensorMapDescriptorType>(type)) {
      argument.setType(LLVM::LLVMPointerType::get(builder.getContext()));
      auto cast = UnrealizedConversionCastOp::create(builder, argument.getLoc(),
                                                     type, argument);
      argument.replaceAllUsesExcept(cast.getResult(0), cast);
    }
    types.push_back(argument.getType());
  }
  func.setFunctionType(
      builder.getFunctionType(types, func.getFunctionType().getResults()));
}

namespace {
class ConvertMosaicGPUToNVVM
    : public smalti::impl::ConvertMosaicGPUToNVVMBase<ConvertMosaicGPUToNVVM> {
public:
  using ConvertMosaicGPUToNVVMBase::ConvertMosaicGPUToNVVMBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    const targets::Target *chip = getTarget(root, target);
    if (!chip)
      return signalPassFailure();
    if (chip->vendor != targets::Vendor::NVIDIA) {
      root->emitError() << "convert-mosaic-gpu-to-nvvm: " << chip->name
                        << " is not an NVIDIA GPU; use "
                           "convert-mosaic-gpu-to-rocdl";
      return signalPassFailure();
    }
    OpLowerings lowerings;
    registerCommonLowerings(lowerings);
    registerNVIDIAConversions(lowerings);
    registerPeerMemory(lowerings);
    if (chip->hasTMA)
      registerTensorCopies(lowerings);
    else
      registerThreadCopies(lowerings);
    registerWgmma(lowerings);
    if (failed(convertKernels(root, NVIDIALowering(*chip), lowerings)))
      return signalPassFailure();
    root->walk([](gpu::GPUFuncOp func) { passTensorMapsByPointer(func); });
  }
};
} // namespace
