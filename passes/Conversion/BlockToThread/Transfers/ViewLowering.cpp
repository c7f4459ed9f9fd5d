//===- ViewLowering.cpp - Views of shared memory --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Layouts/Vectors/LayoutValues.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
class Slices : public LoweringOf<mosaic_gpu::SliceSMEMOp> {
public:
  LogicalResult plan(mosaic_gpu::SliceSMEMOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::SliceSMEMOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};

/// Ops whose result is a part of the memory of their first operand.
class Views : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
  bool acceptsPeers() const override { return true; }
};

/// Casts between memrefs and LLVM pointers or descriptors.
class Descriptors : public LoweringOf<UnrealizedConversionCastOp> {
public:
  LogicalResult plan(UnrealizedConversionCastOp op,
                     Planner &planner) const override;
  void emit(UnrealizedConversionCastOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

LogicalResult block_to_thread::planSharedBuffer(Operation *slice,
                                                Planner &planner) {
  auto op = cast<mosaic_gpu::SliceSMEMOp>(slice);
  KernelPlan &plan = planner.getPlan();
  const targets::Target &target = planner.getVendor().getTarget();
  auto type = cast<MemRefType>(op.getType());
  // i1 does not have a defined size in memory.
  Type element = type.getElementType();
  if (elementBytes(element) == 0 && getPackedBits(element) == 0)
    return op.emitOpError()
           << "has elements of type " << element
           << "; use elements of whole bytes, or of 2 or 4 bits";
  std::optional<int64_t> bytes = getBufferBytes(type);
  if (!bytes)
    return op.emitOpError()
           << "has type " << type
           << "; a static shape and a contiguous layout are required";
  if (plan.level == Level::Block && !isWorkgroupMemory(type))
    return op.emitOpError() << "has type " << type
                            << "; in a block-level kernel, slices of shared "
                               "memory must have #gpu.address_space<workgroup>";
  int64_t end = appendBuffer(op.getOffset(), *bytes, /*alignment=*/1);
  auto total = plan.func->getAttrOfType<IntegerAttr>(kSharedMemoryBytesAttr);
  if (total && end > total.getInt())
    return op.emitOpError() << "has a slice that ends at byte " << end
                            << " of shared memory; the kernel has "
                            << total.getInt() << " bytes: raise '"
                            << kSharedMemoryBytesAttr << "' of the gpu.func";
  int64_t limit = target.sharedMemoryPerBlock;
  if (end > limit)
    return op.emitOpError()
           << "has a slice that ends at byte " << end
           << " of shared memory; a block on " << target.name << " has at most "
           << limit << " bytes: use smaller tiles or fewer buffers";
  plan.sharedMemoryBytes =
      std::max(plan.sharedMemoryBytes, total ? total.getInt() : end);
  if (auto alignment =
          plan.func->getAttrOfType<IntegerAttr>(kSharedMemoryAlignmentAttr))
    plan.sharedMemoryAlignment =
        std::max(plan.sharedMemoryAlignment, alignment.getInt());
  return success();
}

LogicalResult Slices::plan(mosaic_gpu::SliceSMEMOp op, Planner &planner) const {
  if (failed(planSharedBuffer(op, planner)))
    return failure();
  auto transforms = op->getAttrOfType<ArrayAttr>(mosaic_gpu::kOutTransforms);
  bool isDeclared = transforms && transforms.size() == 1;
  ValueOr<SharedRef> ref = getSharedRef(
      cast<MemRefType>(op.getType()),
      isDeclared ? dyn_cast<ArrayAttr>(transforms[0]) : ArrayAttr(),
      log2Divisor(static_cast<int64_t>(op.getOffset())));
  if (ref)
    if (std::optional<std::string> why = checkSwizzleStart(*ref))
      ref = ValueOr<SharedRef>::none(*why);
  return setResultRef(op, op.getResult(), ref, planner);
}

void Slices::emit(mosaic_gpu::SliceSMEMOp op, Emitter &emitter,
                  OpBuilder &) const {
  Value slice = op.getResult();
  emitter.setSharedOffset(slice, emitter.getI32(op.getOffset()));
  if (emitter.plan.getSharedRef(slice)->isTransformed())
    return;
  // At the head, so one view serves every use of the slice.
  ThreadIndices &indices = emitter.indices;
  OpBuilder &head = indices.getBuilder();
  Value offset = indices.getConstant(op.getOffset());
  auto type = cast<MemRefType>(convertType(op.getType()));
  emitter.map(slice, memref::ViewOp::create(head, op.getLoc(), type,
                                            emitter.getSharedMemory(), offset,
                                            ValueRange())
                         .getResult());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The memory of a memref.reinterpret_cast: relative to the start of the
/// buffer, not to its source.
static ValueOr<SharedRef> getReinterpreted(memref::ReinterpretCastOp op,
                                           const SharedRef &source) {
  using Result = ValueOr<SharedRef>;
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = dyn_cast<MemRefType>(op.getSource().getType());
  if (!type || failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return Result::none("the source cannot be proven to be the start of a "
                        "buffer; reinterpret the whole buffer, not a view");
  if (!source.layout.tile.empty())
    return Result::none("the source is tiled shared memory, which the op "
                        "cannot reinterpret; use untiled memory");
  if (llvm::any_of(op.getStaticSizes(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticStrides(), ShapedType::isDynamic))
    return Result::none("the sizes or the strides of the view are dynamic; "
                        "both must be static");
  SharedRef ref = source;
  ref.layout.shape.assign(op.getStaticSizes());
  ref.layout.strides.assign(op.getStaticStrides());
  unsigned log2Offset = log2Divisor(op.getMixedOffsets().front());
  if (log2Offset != 62) {
    std::optional<unsigned> log2Step =
        log2Bytes(log2Offset, source.elementBits);
    if (!log2Step)
      return Result::none(
          "the offset of the view cannot be proven to be a multiple of " +
          std::to_string(8 / source.elementBits) +
          " elements, which is one byte; if it is, state this with "
          "'mosaic_gpu.assume_multiple'");
    ref.log2Alignment = std::min(ref.log2Alignment, *log2Step);
  }
  if (std::optional<std::string> why = checkRef(ref))
    return Result::none(*why);
  return ref;
}

/// Only static sizes are supported.
static bool hasStaticShape(Operation *view) {
  auto type = dyn_cast<MemRefType>(view->getResult(0).getType());
  return type && type.hasStaticShape();
}

static ValueOr<SharedRef> getViewed(Operation *op, const SharedRef &source) {
  using Result = ValueOr<SharedRef>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](memref::SubViewOp view) -> Result {
        if (llvm::any_of(view.getStaticSizes(), ShapedType::isDynamic) ||
            llvm::any_of(view.getStaticStrides(), ShapedType::isDynamic))
          return Result::none("the sizes or the strides of the view are "
                              "dynamic; both must be static");
        SharedWindow window;
        window.offsets = view.getMixedOffsets();
        window.sizes.assign(view.getStaticSizes());
        window.strides.assign(view.getStaticStrides());
        std::optional<llvm::SmallBitVector> dropped = findDroppedDims(view);
        if (!dropped)
          return Result::none(
              "the type of the result does not determine which dimensions of "
              "size 1 the view drops; use a subview that keeps all dimensions, "
              "and then memref.collapse_shape");
        for (unsigned dim = 0; dim < dropped->size(); ++dim)
          window.isDropped.push_back(dropped->test(dim));
        return getWindow(source, window);
      })
      .Case([&](memref::TransposeOp view) -> Result {
        SmallVector<int64_t> permutation;
        for (AffineExpr dim : view.getPermutation().getResults())
          permutation.push_back(cast<AffineDimExpr>(dim).getPosition());
        return transpose(source, permutation);
      })
      .Case([&](memref::ExpandShapeOp view) -> Result {
        if (!hasStaticShape(view))
          return Result::none(
              "the shape of the view is dynamic; it must be static");
        SmallVector<SmallVector<int64_t>> groups;
        for (ReassociationIndices &group : view.getReassociationIndices()) {
          SmallVector<int64_t> &sizes = groups.emplace_back();
          for (int64_t dim : group)
            sizes.push_back(view.getResultType().getDimSize(dim));
        }
        return expand(source, groups);
      })
      .Case([&](memref::CollapseShapeOp view) -> Result {
        SmallVector<int64_t> groups;
        for (ReassociationIndices &group : view.getReassociationIndices())
          groups.push_back(group.size());
        return collapse(source, groups);
      })
      .Case([&](memref::ReinterpretCastOp view) {
        return getReinterpreted(view, source);
      })
      .Case([&](mosaic_gpu::ReinterpretCastOp view) -> Result {
        auto type = cast<MemRefType>(view.getType());
        SmallVector<int64_t> strides;
        int64_t offset;
        if (!type.hasStaticShape() ||
            failed(type.getStridesAndOffset(strides, offset)) ||
            llvm::any_of(strides, ShapedType::isDynamic))
          return Result::none("the shape or the strides of the view are "
                              "dynamic; both must be static");
        return reinterpret(source, type.getShape(), strides);
      })
      // Casts and assumptions.
      .Default([&](Operation *) -> Result { return source; });
}

LogicalResult Views::plan(Operation *op, Planner &planner) const {
  Value source = op->getOperand(0), result = op->getResult(0);
  if (const SharedRef *ref = planner.getSharedRef(source))
    return setResultRef(op, result, getViewed(op, SharedRef(*ref)), planner);
  auto type = dyn_cast<MemRefType>(source.getType());
  if (!type || isWorkgroupMemory(type))
    return op->emitOpError()
           << "cannot be lowered to thread level: the source may be several "
              "shared-memory buffers; use views of one buffer";
  return success();
}

/// A multiple of an index, as an i32.
static Value multiply(Value index, int64_t run, int64_t stride,
                      OpBuilder &builder, Location loc, Emitter &emitter) {
  Value word =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  if (run > 1)
    word = arith::DivUIOp::create(builder, loc, word, emitter.getI32(run));
  return arith::MulIOp::create(builder, loc, word, emitter.getI32(stride));
}

/// The bytes from the start of the buffer to the view, given those of the
/// source.
static Value emitOffset(Operation *op, const SharedRef &source, Value start,
                        Emitter &emitter, OpBuilder &builder) {
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> offsets;
  SmallVector<SharedStep> steps;
  if (auto view = dyn_cast<memref::SubViewOp>(op)) {
    offsets = view.getMixedOffsets();
    for (int64_t dim = 0, rank = offsets.size(); dim < rank; ++dim)
      steps.push_back(getStep(source, dim));
  } else if (auto view = dyn_cast<memref::ReinterpretCastOp>(op)) {
    offsets = {view.getMixedOffsets().front()};
    steps.push_back({1, 1});
  }
  int64_t constant = 0;
  Value offset = start;
  for (auto [index, step] : llvm::zip_equal(offsets, steps)) {
    if (std::optional<int64_t> known = getConstantIntValue(index)) {
      constant += *known / step.run * step.stride;
      continue;
    }
    // Runs of elements that share bytes are whole bytes.
    int64_t run = step.run, stride = step.stride * source.elementBits;
    if (stride % 8 != 0) {
      run *= 8 / source.elementBits;
      stride *= 8 / source.elementBits;
    }
    offset =
        arith::AddIOp::create(builder, loc, offset,
                              multiply(emitter.lookup(cast<Value>(index)), run,
                                       stride / 8, builder, loc, emitter));
  }
  if (constant == 0)
    return offset;
  return arith::AddIOp::create(
      builder, loc, offset, emitter.getI32(constant * source.elementBits / 8));
}

void Views::emit(Operation *op, Emitter &emitter, OpBuilder &builder) const {
  Value source = op->getOperand(0), result = op->getResult(0);
  const SharedRef *ref = emitter.plan.getSharedRef(source);
  bool isOwnView = isa<mosaic_gpu::ReinterpretCastOp>(op);
  if (ref)
    emitter.setSharedOffset(result, emitOffset(op, *ref,
                                               emitter.getSharedOffset(source),
                                               emitter, builder));
  // Shared memory of another block is represented by its offset only.
  if (ref && (ref->isTransformed() ||
              mosaic_gpu::isClusterMemory(cast<MemRefType>(source.getType()))))
    return;
  if (isa<mosaic_gpu::WithTransformsOp>(op))
    return emitter.map(result, emitter.lookup(source));
  if (ref && isOwnView)
    return emitter.mapShared(result, emitter.getSharedOffset(result), builder);
  if (!isOwnView)
    return emitter.emitScalar(op, builder);
  // Global memory.
  Location loc = op->getLoc();
  auto type = cast<MemRefType>(result.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  emitter.map(result, memref::ReinterpretCastOp::create(
                          builder, loc, type, emitter.lookup(source), offset,
                          type.getShape(), strides)
                          .getResult());
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static bool isSharedPointer(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() ==
                        static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
}

namespace {
/// The plan of a cast between a block-level vector and its registers.
struct CastPlan : OpPlan {
  explicit CastPlan(Value vector) : vector(vector) {}
  Value vector;
};
} // namespace

static LogicalResult planRegisters(UnrealizedConversionCastOp op, Value vector,
                                   Planner &planner) {
  if (!planner.find(vector) &&
      failed(planner.setLayout(op, vector, op->getAttr(kCastLayout))))
    return failure();
  const Distribution &distribution = *planner.find(vector);
  auto type = cast<VectorType>(vector.getType());
  std::string why;
  std::optional<Distribution> declared =
      Distribution::get(type, op->getAttr(kCastLayout), planner.getGrid(), why);
  if (!declared || *declared != distribution)
    return op.emitOpError() << "declares layout " << op->getAttr(kCastLayout)
                            << " for a vector in layout " << distribution.str()
                            << "; both must be equal";
  bool isFromVector = op.getNumOperands() == 1 && op.getOperand(0) == vector;
  TypeRange registers = isFromVector ? TypeRange(op.getResultTypes())
                                     : TypeRange(op.getOperandTypes());
  Type wanted = distribution.getRegisterType(type.getElementType());
  // JAX represents a splat by a scalar.
  auto isRegister = [&](Type held) {
    return held == wanted ||
           (distribution.isSplat() && held == type.getElementType());
  };
  if (static_cast<int64_t>(registers.size()) !=
          distribution.getNumRegisters() ||
      !llvm::all_of(registers, isRegister))
    return op.emitOpError()
           << "converts between a vector in layout " << distribution.str()
           << " and its registers in each thread; the registers must be "
           << distribution.getNumRegisters() << " values of type " << wanted;
  planner.setOpPlan(op, std::make_unique<CastPlan>(vector));
  return success();
}

LogicalResult Descriptors::plan(UnrealizedConversionCastOp op,
                                Planner &planner) const {
  if (op->hasAttr(kCastLayout)) {
    bool isFromVector =
        op.getNumOperands() == 1 && planner.find(op.getOperand(0));
    if (!isFromVector &&
        (op.getNumResults() != 1 || !isVector(op.getResult(0))))
      return op.emitOpError()
             << "has the attribute 'layout', which is only allowed on "
                "conversions between a block-level vector and its registers; "
                "remove the attribute";
    return planRegisters(op, isFromVector ? op.getOperand(0) : op.getResult(0),
                         planner);
  }
  if (llvm::any_of(op.getOperands(), isVector) ||
      llvm::any_of(op.getResults(), isVector))
    return op.emitOpError()
           << "converts a block-level vector, which requires the attribute '"
           << kCastLayout << "'";
  auto type = op.getNumResults() == 1
                  ? dyn_cast<MemRefType>(op.getResult(0).getType())
                  : MemRefType();
  if (!type || !isWorkgroupMemory(type))
    return success();
  if (op.getNumOperands() != 1 || !isSharedPointer(op.getOperand(0).getType()))
    return op.emitOpError()
           << "converts values of type " << op.getOperandTypes()
           << " to a memref in shared memory; convert one pointer to shared "
              "memory (address space 3)";
  if (planner.getPlan().sharedMemoryBytes == 0)
    return op.emitOpError()
           << "creates a view of shared memory, but the kernel "
              "does not allocate shared memory; allocate it "
              "with memref.alloc";
  // Only the alignment of the elements is known for the offset.
  int64_t bytes = elementBytes(type.getElementType());
  if (bytes == 0)
    return op.emitOpError()
           << "converts a pointer to shared memory with elements narrower than "
              "a byte, which is not supported; use elements of at least 8 bits";
  return setResultRef(op, op.getResult(0),
                      getSharedRef(type, ArrayAttr(), log2Divisor(bytes)),
                      planner);
}

void Descriptors::emit(UnrealizedConversionCastOp op, Emitter &emitter,
                       OpBuilder &builder) const {
  Location loc = op.getLoc();
  if (const auto *plan = emitter.plan.getOpPlan<CastPlan>(op)) {
    Value vector = plan->vector;
    if (op.getNumOperands() == 1 && op.getOperand(0) == vector) {
      for (auto [result, reg] :
           llvm::zip_equal(op.getResults(), emitter.getRegisters(vector))) {
        if (!isa<VectorType>(result.getType()))
          reg = vector::ExtractOp::create(builder, loc, reg,
                                          ArrayRef<int64_t>{0});
        emitter.map(result, reg);
      }
    } else {
      Registers held;
      for (Value operand : op.getOperands()) {
        Value reg = emitter.lookup(operand);
        if (!isa<VectorType>(reg.getType()))
          reg = vector::BroadcastOp::create(
              builder, loc, VectorType::get({1}, reg.getType()), reg);
        held.push_back(reg);
      }
      emitter.setRegisters(vector, std::move(held));
    }
    return;
  }
  if (op.getNumOperands() == 1 && op.getNumResults() == 1 &&
      emitter.plan.getSharedRef(op.getOperand(0)) &&
      isSharedPointer(op.getResult(0).getType()))
    return emitter.map(op.getResult(0),
                       emitter.getSharedPointer(op.getOperand(0), builder));
  if (op.getNumResults() != 1 || !emitter.plan.getSharedRef(op.getResult(0)))
    return emitter.emitScalar(op, builder);
  auto toWord = [&](Value pointer, OpBuilder &at) -> Value {
    return LLVM::PtrToIntOp::create(at, loc, at.getI32Type(), pointer);
  };
  Value offset = arith::SubIOp::create(
      builder, loc, toWord(emitter.lookup(op.getOperand(0)), builder),
      toWord(emitter.getSharedBase(), builder));
  emitter.mapShared(op.getResult(0), offset, builder);
  emitter.setSharedPointer(op.getResult(0), emitter.lookup(op.getOperand(0)));
}

void block_to_thread::registerViews(OpLowerings &lowerings) {
  lowerings.add<Slices, mosaic_gpu::SliceSMEMOp>();
  lowerings.add<Views, memref::SubViewOp, memref::CastOp, memref::TransposeOp,
                memref::ExpandShapeOp, memref::CollapseShapeOp,
                memref::ReinterpretCastOp, mosaic_gpu::ReinterpretCastOp,
                mosaic_gpu::WithTransformsOp>();
  lowerings.add<Descriptors, UnrealizedConversionCastOp>();
}
