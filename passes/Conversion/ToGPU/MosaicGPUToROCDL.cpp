//===- MosaicGPUToROCDL.cpp - convert-mosaic-gpu-to-rocdl -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Conversion/BlockToThread/BlockToThread.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Conversion/ToGPU/AMDLaneMoves.h"
#include "smalti/passes/Conversion/ToGPU/ElementAddress.h"
#include "smalti/passes/Support/LDSFence.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

#include <limits>

namespace smalti {
#define GEN_PASS_DECL_CONVERTMOSAICGPUTOROCDL
#define GEN_PASS_DEF_CONVERTMOSAICGPUTOROCDL
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using targets::AsyncCopyKind;
using targets::Element;
using targets::MmaInstruction;
using targets::MmaKind;

/// All registers in one vector, or a scalar for a single element.
static Value joinRegisters(OpBuilder &builder, Location loc,
                           ArrayRef<Value> registers) {
  auto type = cast<VectorType>(registers.front().getType());
  int64_t length = type.getDimSize(0);
  int64_t total = length * static_cast<int64_t>(registers.size());
  if (total == 1)
    return vector::ExtractOp::create(builder, loc, registers.front(),
                                     ArrayRef<int64_t>{0});
  return concatenate(builder, loc, registers);
}

/// Rounds f32 to TF32, to nearest. XF32 instructions would truncate.
static Value roundToTF32(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<VectorType>(value.getType());
  VectorType i32 = type.clone(builder.getI32Type());
  auto constant = [&](int64_t bits) {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            i32, builder.getI32IntegerAttr(static_cast<int32_t>(bits))));
  };
  Value bits = arith::BitcastOp::create(builder, loc, i32, value);
  Value rounded = arith::AndIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, bits, constant(0x1000)),
      constant(~int64_t(0x1FFF)));
  // The addition may carry from the payload of a NaN into the sign.
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      value, value);
  return arith::SelectOp::create(
      builder, loc, isNaN, value,
      arith::BitcastOp::create(builder, loc, type, rounded));
}

/// Buffer accesses support only global memory.
static bool isGlobalMemory(MemRefType type) {
  Attribute space = type.getMemorySpace();
  if (!space)
    return true;
  if (auto number = dyn_cast<IntegerAttr>(space))
    return number.getInt() <= 1;
  auto named = dyn_cast<gpu::AddressSpaceAttr>(space);
  return named && named.getValue() == gpu::AddressSpace::Global;
}

namespace {
class AMDLowering : public VendorLowering {
public:
  using VendorLowering::VendorLowering;

  std::optional<std::string>
  refuseMma(const MmaInstruction &instruction) const override {
    if (instruction.kind == MmaKind::MmaSync)
      return "this conversion does not support the MMA instruction " +
             instruction.mnemonic;
    return std::nullopt;
  }
  std::optional<std::string> refuseAsyncCopy() const override {
    if (target.asyncCopy == AsyncCopyKind::None)
      return "the target does not have asynchronous copies to shared memory; "
             "copy through registers";
    return std::nullopt;
  }
  std::optional<std::string> refuseBarriers() const override {
    return "the target does not have mbarriers; use gpu.barrier";
  }

  Value emitLaneRead(OpBuilder &builder, Location loc, Value word, Value lane,
                     ThreadIndices &) const override {
    // The index of a lane is in bytes.
    Value address =
        arith::ShLIOp::create(builder, loc, lane, getI32(builder, loc, 2));
    return ROCDL::DsBpermuteOp::create(builder, loc, builder.getI32Type(),
                                       address, word);
  }
  Value emitLaneExchange(OpBuilder &builder, Location loc, Value word,
                         int64_t mask, ThreadIndices &indices) const override {
    constexpr int64_t swizzledLanes = 32;
    if (mask < swizzledLanes) {
      // Bit mode: bits 0 to 4 are and, 5 to 9 or, 10 to 14 xor.
      Value pattern = getI32(builder, loc, (mask << 10) | 0x1f);
      return ROCDL::DsSwizzleOp::create(builder, loc, builder.getI32Type(),
                                        word, pattern);
    }
    Value lane = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                            indices.getLane());
    Value other =
        arith::XOrIOp::create(builder, loc, lane, getI32(builder, loc, mask));
    return emitLaneRead(builder, loc, word, other, indices);
  }
  Value emitBytePermute(OpBuilder &builder, Location loc, Value a, Value b,
                        Value selector) const override {
    // v_perm_b32 has one selector per byte, and numbers the bytes of its second
    // source first.
    Value bytes = arith::AndIOp::create(builder, loc, selector,
                                        getI32(builder, loc, 0xf));
    for (int64_t byte = 1; byte < 4; ++byte) {
      Value digit = arith::AndIOp::create(
          builder, loc, selector, getI32(builder, loc, 0xf << (4 * byte)));
      bytes = arith::OrIOp::create(
          builder, loc, bytes,
          arith::ShLIOp::create(builder, loc, digit,
                                getI32(builder, loc, 4 * byte)));
    }
    return LLVM::CallIntrinsicOp::create(
               builder, loc, builder.getI32Type(),
               builder.getStringAttr("llvm.amdgcn.perm"),
               ValueRange{b, a, bytes})
        .getResult(0);
  }

  Value emitSharedMemory(OpBuilder &builder, gpu::GPUFuncOp func, int64_t bytes,
                         int64_t alignment) const override {
    auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                            gpu::AddressSpace::Workgroup);
    auto type = MemRefType::get({bytes}, builder.getI8Type(),
                                MemRefLayoutAttrInterface(), space);
    unsigned index = func.getNumWorkgroupAttributions();
    // Upstream requires the attribute to exist with its type.
    func->setAttr(gpu::GPUFuncOp::getNumWorkgroupAttributionsAttrName(),
                  builder.getI64IntegerAttr(index));
    BlockArgument buffer = func.addWorkgroupAttribution(type, func.getLoc());
    func.setWorkgroupAttributionAttr(index,
                                     LLVM::LLVMDialect::getAlignAttrName(),
                                     builder.getI64IntegerAttr(alignment));
    return buffer;
  }
  void emitBarrier(OpBuilder &builder, Location loc, bool ordersGlobalMemory,
                   bool hasAsyncCopies) const override {
    bool isDrained =
        hasAsyncCopies && target.asyncCopy == AsyncCopyKind::LDSLoad;
    // gpu.barrier waits for global memory on some chips; lds_barrier never
    // does.
    if (ordersGlobalMemory)
      gpu::BarrierOp::create(builder, loc);
    else if (isDrained)
      createLDSBarrier(builder, loc, /*isOrdered=*/true);
    else
      amdgpu::LDSBarrierOp::create(builder, loc);
    if (ordersGlobalMemory && isDrained)
      createLDSFence(builder, loc, /*isOrdered=*/true);
  }
  Value emitLaneMove(OpBuilder &builder, Location loc, Value word,
                     const LaneMove &move,
                     ThreadIndices &indices) const override {
    return amd::emitLaneMove(builder, loc, word, move, target, indices);
  }
  int64_t getShiftedLanes() const override { return amd::kRow; }
  Value emitUniform(OpBuilder &builder, Location loc,
                    Value index) const override {
    Value narrow =
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
    Value uniform = ROCDL::ReadfirstlaneOp::create(
        builder, loc, builder.getI32Type(), narrow);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      uniform);
  }

  SmallVector<Value> emitMma(OpBuilder &builder, Location loc,
                             const MmaInstruction &instruction,
                             const MmaOperands &operands) const override;
  Value emitLoad(OpBuilder &builder, Location loc, const Access &access,
                 Value pad) const override;
  void emitStore(OpBuilder &builder, Location loc, Value value,
                 const Access &access) const override;

  void emitAsyncCopy(OpBuilder &builder, Location loc,
                     const AsyncPiece &piece) const override;
  // A group is a number of copies.
  void emitAsyncCommit(OpBuilder &, Location) const override {}
  void emitAsyncWait(OpBuilder &builder, Location loc, int64_t groups,
                     int64_t pieces) const override;

  // Refused while planning.
  void emitBarrierInit(OpBuilder &, Location, Value, int64_t) const override {}
  void emitBarrierArrive(OpBuilder &, Location, Value, int64_t) const override {
  }
  void emitBarrierArriveExpectTx(OpBuilder &, Location, Value,
                                 Value) const override {}
  void emitBarrierWait(OpBuilder &, Location, Value, Value, Value,
                       bool) const override {}

private:
  /// Whether the hardware bounds check can replace the mask of an access.
  bool usesBuffer(const Access &access) const {
    auto type = cast<MemRefType>(access.memref.getType());
    // Buffer accesses do not have hints.
    return access.inBounds && !access.cacheHint && target.hasBufferLoads &&
           isGlobalMemory(type) &&
           (access.hasSmallOffsets || getRawBuffer(type));
  }
};
} // namespace

SmallVector<Value> AMDLowering::emitMma(OpBuilder &builder, Location loc,
                                        const MmaInstruction &instruction,
                                        const MmaOperands &operands) const {
  ArrayRef<Value> a = operands.a, b = operands.b,
                  accumulator = operands.accumulator;
  Value operandA = joinRegisters(builder, loc, a),
        operandB = joinRegisters(builder, loc, b),
        operandC = joinRegisters(builder, loc, accumulator);
  bool isTF32 = instruction.a == Element::TF32;
  if (isTF32) {
    operandA = roundToTF32(builder, loc, operandA);
    operandB = roundToTF32(builder, loc, operandB);
  }
  if (instruction.accumulatesInHalves) {
    SmallVector<int64_t> mask(2 * accumulator.size(),
                              vector::ShuffleOp::kPoisonIndex);
    for (size_t element = 0; element < accumulator.size(); ++element)
      mask[2 * element] = static_cast<int64_t>(element);
    operandC =
        vector::ShuffleOp::create(builder, loc, operandC, operandC, mask);
  }
  Value mmaResult;
  auto attr = [&](int64_t value) { return builder.getI32IntegerAttr(value); };
  if (instruction.kind == MmaKind::Mfma) {
    auto mfma = amdgpu::MFMAOp::create(builder, loc, operandC.getType(),
                                       attr(instruction.m), attr(instruction.n),
                                       attr(instruction.k), /*blocks=*/attr(1),
                                       operandA, operandB, operandC);
    mfma.setReducePrecision(isTF32);
    mmaResult = mfma;
  } else {
    auto wmma = amdgpu::WMMAOp::create(
        builder, loc, operandC.getType(), attr(instruction.m),
        attr(instruction.n), attr(instruction.k), operandA, operandB, operandC);
    wmma.setUnsignedA(operands.unsignedA);
    wmma.setUnsignedB(operands.unsignedB);
    mmaResult = wmma;
  }
  if (instruction.accumulatesInHalves) {
    SmallVector<int64_t> mask;
    for (size_t element = 0; element < accumulator.size(); ++element)
      mask.push_back(static_cast<int64_t>(2 * element));
    mmaResult =
        vector::ShuffleOp::create(builder, loc, mmaResult, mmaResult, mask);
  }
  auto registerType = cast<VectorType>(accumulator.front().getType());
  if (accumulator.size() == 1)
    return {mmaResult};
  SmallVector<Value> results;
  int64_t length = registerType.getDimSize(0);
  for (size_t reg = 0; reg < accumulator.size(); ++reg)
    results.push_back(takeElements(builder, loc, mmaResult,
                                   static_cast<int64_t>(reg) * length, length));
  return results;
}

namespace {
struct BufferAccess {
  Value memref;
  SmallVector<Value> indices;
};
} // namespace

/// An access as an access of a one-dimensional buffer of `bytes`, after the end
/// if the access is inactive. The mask checks the sizes, so the buffer may be
/// longer than the memref.
static BufferAccess linearizeBuffer(OpBuilder &builder, Location loc,
                                    const Access &access, Type indexType,
                                    int64_t bytes) {
  auto type = cast<MemRefType>(access.memref.getType());
  int64_t elements = bytes / *getElementBytes(type.getElementType());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(indexType, value));
  };
  auto narrow = [&](OpFoldResult value) -> Value {
    if (std::optional<int64_t> number = getConstantIntValue(value))
      return constant(*number);
    auto index = cast<Value>(value);
    return index.getType() == indexType
               ? index
               : arith::IndexCastOp::create(builder, loc, indexType, index)
                     .getResult();
  };
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, access.memref);
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  Value sum = getConstantIntValue(offset) == 0 ? Value() : narrow(offset);
  for (auto [index, stride] :
       llvm::zip_equal(access.indices, metadata.getConstifiedMixedStrides())) {
    Value term = narrow(index);
    if (getConstantIntValue(stride) != 1)
      term = arith::MulIOp::create(builder, loc, term, narrow(stride));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, term) : term;
  }
  if (!sum)
    sum = constant(0);
  sum = arith::SelectOp::create(builder, loc, access.inBounds, sum,
                                constant(elements));
  Value buffer = memref::ReinterpretCastOp::create(
      builder, loc,
      MemRefType::get({elements}, type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace()),
      access.memref, /*offset=*/0, ArrayRef<int64_t>{elements},
      ArrayRef<int64_t>{1});
  return {buffer, {sum}};
}

/// The memref and the indices of a buffer access, of type `i32` or `index`; out
/// of bounds if the access is inactive.
static BufferAccess getBufferAccess(OpBuilder &builder, Location loc,
                                    const Access &access, Type indexType) {
  auto type = cast<MemRefType>(access.memref.getType());
  std::optional<RawBuffer> buffer = getRawBuffer(type);
  if (!buffer)
    return linearizeBuffer(builder, loc, access, indexType,
                           std::numeric_limits<int32_t>::max());
  // Upstream removes accesses whose offset is at least the number of elements.
  // In a memref with gaps, elements have such offsets.
  if (*getElementSpan(type) > type.getNumElements())
    return linearizeBuffer(builder, loc, access, indexType, buffer->bytes);
  int64_t outsideDim = buffer->longestDim;
  SmallVector<Value> indices;
  for (auto [dim, index] : llvm::enumerate(access.indices)) {
    int64_t outside =
        static_cast<int64_t>(dim) == outsideDim ? type.getDimSize(dim) : 0;
    Value narrow =
        index.getType() == indexType
            ? index
            : arith::IndexCastOp::create(builder, loc, indexType, index)
                  .getResult();
    Value masked = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(indexType, outside));
    indices.push_back(
        arith::SelectOp::create(builder, loc, access.inBounds, narrow, masked));
  }
  return {access.memref, indices};
}

Value AMDLowering::emitLoad(OpBuilder &builder, Location loc,
                            const Access &access, Value pad) const {
  if (!usesBuffer(access))
    return VendorLowering::emitLoad(builder, loc, access, pad);
  // A single element is loaded as a scalar.
  bool isScalar = access.type.getDimSize(0) == 1;
  Type type = isScalar ? access.type.getElementType() : Type(access.type);
  BufferAccess buffer =
      getBufferAccess(builder, loc, access, builder.getI32Type());
  Value loaded = amdgpu::RawBufferLoadOp::create(
      builder, loc, type, buffer.memref, buffer.indices, /*boundsCheck=*/true,
      /*indexOffset=*/IntegerAttr(), /*sgprOffset=*/Value());
  if (isScalar)
    loaded = vector::BroadcastOp::create(builder, loc, access.type, loaded);
  // The hardware returns zero.
  if (matchPattern(pad, m_PosZeroFloat()) || matchPattern(pad, m_Zero()))
    return loaded;
  Value padding = vector::BroadcastOp::create(builder, loc, access.type, pad);
  return arith::SelectOp::create(builder, loc, access.inBounds, loaded,
                                 padding);
}

void AMDLowering::emitStore(OpBuilder &builder, Location loc, Value value,
                            const Access &access) const {
  if (!usesBuffer(access))
    return VendorLowering::emitStore(builder, loc, value, access);
  if (access.type.getDimSize(0) == 1)
    value =
        vector::ExtractOp::create(builder, loc, value, ArrayRef<int64_t>{0});
  BufferAccess buffer =
      getBufferAccess(builder, loc, access, builder.getI32Type());
  amdgpu::RawBufferStoreOp::create(
      builder, loc, value, buffer.memref, buffer.indices,
      /*boundsCheck=*/true, /*indexOffset=*/IntegerAttr(),
      /*sgprOffset=*/Value());
}

/// 16 bytes of zeros in global memory, one for all kernels of a module.
static LLVM::GlobalOp getZeros(OpBuilder &builder, Location loc, Value memref) {
  // The builder may be in a region that does not have a parent yet.
  auto module = memref.getParentRegion()->getParentOfType<gpu::GPUModuleOp>();
  auto type = LLVM::LLVMArrayType::get(builder.getI32Type(), 4);
  std::string name = "smalti_zeros";
  while (Operation *symbol = SymbolTable::lookupSymbolIn(module, name)) {
    auto global = dyn_cast<LLVM::GlobalOp>(symbol);
    if (global && global.getConstant() && global.getGlobalType() == type &&
        isa_and_nonnull<DenseElementsAttr>(global.getValueOrNull()))
      return global;
    name += "_";
  }
  OpBuilder atHead = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::GlobalOp::create(
      atHead, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
      atHead.getI32TensorAttr({0, 0, 0, 0}), /*alignment=*/16,
      /*addrSpace=*/ROCDL::ROCDLDialect::kGlobalMemoryAddressSpace);
}

/// A pointer to the piece in global memory, or to zeros: every wave issues its
/// copies, so the counter is uniform.
static Value emitSourceOrZeros(OpBuilder &builder, Location loc,
                               const Access &access) {
  Value address = emitAddress(builder, loc, access.memref, access.indices);
  auto type = LLVM::LLVMPointerType::get(
      builder.getContext(), ROCDL::ROCDLDialect::kGlobalMemoryAddressSpace);
  Value source = LLVM::IntToPtrOp::create(builder, loc, type, address);
  if (!access.inBounds)
    return source;
  LLVM::GlobalOp zeros = getZeros(builder, loc, access.memref);
  return arith::SelectOp::create(
      builder, loc, access.inBounds, source,
      LLVM::AddressOfOp::create(builder, loc, type, zeros.getSymName()));
}

void AMDLowering::emitAsyncCopy(OpBuilder &builder, Location loc,
                                const AsyncPiece &piece) const {
  const Access &from = piece.from;
  int64_t bytes =
      from.type.getDimSize(0) * *getElementBytes(from.type.getElementType());
  auto toLDS = [&](ValueRange indices) -> Value {
    auto type = LLVM::LLVMPointerType::get(
        builder.getContext(), ROCDL::ROCDLDialect::kSharedMemoryAddressSpace);
    return LLVM::IntToPtrOp::create(
        builder, loc, type,
        emitAddress(builder, loc, piece.destination, indices));
  };
  if (target.asyncCopy == AsyncCopyKind::AsyncLDSLoad) {
    Value source = emitSourceOrZeros(builder, loc, from),
          place = toLDS(piece.indices);
    auto emit = [&](auto op) {
      decltype(op)::create(builder, loc, source, place, /*offset=*/0,
                           /*aux=*/0, ArrayAttr(), ArrayAttr(), ArrayAttr());
    };
    switch (bytes) {
    case 1:
      return emit(ROCDL::GlobalLoadAsyncToLDSB8Op());
    case 4:
      return emit(ROCDL::GlobalLoadAsyncToLDSB32Op());
    case 8:
      return emit(ROCDL::GlobalLoadAsyncToLDSB64Op());
    default:
      return emit(ROCDL::GlobalLoadAsyncToLDSB128Op());
    }
  }
  if (!usesBuffer(from)) {
    ROCDL::LoadToLDSOp::create(
        builder, loc, emitSourceOrZeros(builder, loc, from),
        toLDS(piece.waveIndices), bytes, /*offset=*/0,
        /*aux=*/0, ArrayAttr(), ArrayAttr(), ArrayAttr());
    return;
  }
  BufferAccess source =
      getBufferAccess(builder, loc, from, builder.getIndexType());
  auto buffer = amdgpu::FatRawBufferCastOp::create(
      builder, loc, source.memref, /*validBytes=*/Value(),
      /*cacheSwizzleStride=*/Value(), /*boundsCheck=*/true,
      /*resetOffset=*/false);
  amdgpu::GatherToLDSOp::create(builder, loc, buffer, source.indices,
                                piece.destination, piece.waveIndices,
                                TypeAttr::get(from.type));
}

void AMDLowering::emitAsyncWait(OpBuilder &builder, Location loc,
                                int64_t /*groups*/, int64_t pieces) const {
  // The counter has 6 bits; waiting for fewer outstanding copies is also
  // correct.
  auto count = static_cast<int32_t>(std::min<int64_t>(pieces, 63));
  if (target.asyncCopy == AsyncCopyKind::AsyncLDSLoad)
    ROCDL::WaitAsynccntOp::create(builder, loc,
                                  builder.getI16IntegerAttr(count));
  else
    amdgpu::MemoryCounterWaitOp::create(
        builder, loc, /*load=*/builder.getI32IntegerAttr(count),
        /*store=*/IntegerAttr(), /*ds=*/IntegerAttr(), /*exp=*/IntegerAttr(),
        /*tensor=*/IntegerAttr());
  createLDSFence(builder, loc, /*isOrdered=*/false);
}

namespace {
class ConvertMosaicGPUToROCDL
    : public smalti::impl::ConvertMosaicGPUToROCDLBase<
          ConvertMosaicGPUToROCDL> {
public:
  using ConvertMosaicGPUToROCDLBase::ConvertMosaicGPUToROCDLBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    const targets::Target *chip = getTarget(root, target);
    if (!chip)
      return signalPassFailure();
    if (chip->vendor != targets::Vendor::AMD) {
      root->emitError() << "convert-mosaic-gpu-to-rocdl: " << chip->name
                        << " is not an AMD GPU; use convert-mosaic-gpu-to-nvvm";
      return signalPassFailure();
    }
    OpLowerings lowerings;
    registerCommonLowerings(lowerings);
    if (failed(convertKernels(root, AMDLowering(*chip), lowerings)))
      signalPassFailure();
  }
};
} // namespace
