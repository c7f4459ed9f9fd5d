//===- TensorWindows.cpp - Windows copied by TMA --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/PadLowering/TensorWindows.h"

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace smalti;
using transfers::TensorCopyProblem;

/// Maximum number of maps: they are arguments of 128 bytes, and older drivers
/// allow 4096 bytes of arguments.
static constexpr size_t kMaxMaps = 24;
/// Maximum number of windows: each may need an mbarrier and a loop-carried
/// parity.
static constexpr size_t kMaxWindows = 64;

//===----------------------------------------------------------------------===//
// Conditions on the function
//===----------------------------------------------------------------------===//

TensorWindows::TensorWindows(FunctionOpInterface function,
                             const targets::Target &target,
                             const IntegerRanges &ranges)
    : function(function), target(target), uniformity(function), ranges(ranges) {
  rejectionReason = checkKernel();
  if (!rejectionReason)
    kernel = cast<gpu::GPUFuncOp>(*function);
}

std::optional<std::string> TensorWindows::checkKernel() const {
  if (!target.hasTMA)
    return std::string("the chip does not have TMA");
  auto func = dyn_cast<gpu::GPUFuncOp>(*function);
  if (!func || !func.isKernel())
    return std::string("the function is not a gpu.func kernel; TMA requires "
                       "tensor maps, which the launch of a kernel creates");
  if (block_to_thread::getLevel(func) == block_to_thread::Level::Block)
    return std::string("the kernel is block-level; the pass adds TMA copies to "
                       "thread-level kernels only");
  // A launch in the IR has as many operands as the kernel has arguments.
  auto module = func->getParentOfType<ModuleOp>();
  if (module && module->hasAttr(gpu::GPUDialect::getContainerModuleAttrName()))
    return std::string("the module (gpu.container_module) contains launches, "
                       "which do not pass tensor maps; compile the kernel in a "
                       "module without launches");
  return std::nullopt;
}

/// Checks that all threads execute the op equally often, and that its
/// iterations can be counted.
std::optional<std::string> TensorWindows::checkControlFlow(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent != function;
       parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      for (Value bound :
           {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
        if (!uniformity.isBlockUniform(bound))
          return std::string("the bounds of the enclosing scf.for may differ "
                             "between threads; use bounds that are proven to "
                             "be equal for all threads of the block");
    } else if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      if (!uniformity.isBlockUniform(branch.getCondition()))
        return std::string("the condition of the enclosing scf.if may differ "
                           "between threads; use a condition that is proven to "
                           "be equal for all threads of the block");
    } else {
      return "the copy is nested in '" +
             parent->getName().getStringRef().str() +
             "'; TMA copies may be nested only in scf.for and scf.if";
    }
    op = parent;
  }
  if (!op->getBlock()->isEntryBlock())
    return std::string("the copy is after a branch between MLIR blocks; use "
                       "scf.for and scf.if");
  return std::nullopt;
}

bool TensorWindows::isBlockUniform(VectorTransferOpInterface op) {
  SmallVector<Value> values(op.getIndices());
  for (Value memref = op.getBase(); Operation *view = memref.getDefiningOp();) {
    if (!isa<ViewLikeOpInterface>(view))
      break;
    for (Value operand : view->getOperands())
      if (!isa<BaseMemRefType>(operand.getType()))
        values.push_back(operand);
    memref = cast<ViewLikeOpInterface>(view).getViewSource();
  }
  return llvm::all_of(
      values, [&](Value value) { return uniformity.isBlockUniform(value); });
}

/// Checks that all threads of a block copy the same window to the same address.
std::optional<std::string>
TensorWindows::checkBlockUniform(const TensorWindow &window) {
  if (!isBlockUniform(window.getGlobal()))
    return std::string(
        "the indices in global memory are not proven to be block-uniform; use "
        "indices that are equal for all threads of the block");
  if (!isBlockUniform(window.getShared()))
    return std::string(
        "the indices in shared memory are not proven to be block-uniform; use "
        "indices that are equal for all threads of the block");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// One window
//===----------------------------------------------------------------------===//

VectorTransferOpInterface TensorWindow::getGlobal() const {
  Operation *reader = read, *writer = write;
  return cast<VectorTransferOpInterface>(isStore ? writer : reader);
}

VectorTransferOpInterface TensorWindow::getShared() const {
  Operation *reader = read, *writer = write;
  return cast<VectorTransferOpInterface>(isStore ? reader : writer);
}

/// A divisor of the index; 0 for zero.
static int64_t getDivisor(Value index) {
  if (matchPattern(index, m_Zero()))
    return 0;
  return int64_t(1) << std::min(log2Divisor(index), 30u);
}

static TensorCopyProblem
makeProblem(VectorTransferOpInterface op,
            const block_to_thread::GlobalTensor &tensor,
            ArrayRef<int64_t> sharedStrides, int64_t elementBits) {
  ArrayRef<int64_t> shape = op.getVectorType().getShape();
  TensorCopyProblem problem;
  problem.extents = tensor.extents;
  problem.strides = tensor.strides;
  problem.elementBits = elementBits;
  problem.memory.shape = SmallVector<int64_t>(shape);
  problem.memory.strides =
      SmallVector<int64_t>(sharedStrides.take_back(shape.size()));
  int64_t leading = tensor.extents.size() - shape.size();
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    int64_t vectorDim = static_cast<int64_t>(dim) - leading;
    int64_t length = vectorDim < 0 ? 1 : shape[vectorDim];
    problem.slice.push_back(vectorDim < 0 ? -1 : length);
    problem.indexDivisors.push_back(getDivisor(index));
    std::optional<int64_t> begin = getConstantIntValue(index);
    problem.isInside.push_back(
        (vectorDim >= 0 && op.isDimInBounds(vectorDim)) ||
        (begin && *begin >= 0 && *begin <= tensor.extents[dim] - length));
  }
  return problem;
}

std::optional<std::string> TensorWindows::addLoad(vector::TransferReadOp read,
                                                  vector::TransferWriteOp write,
                                                  MoveHazards &hazards) {
  if (rejectionReason)
    return rejectionReason;
  if (std::optional<std::string> why = checkCopiedPair(read, write))
    return why;
  return add({read, write, /*isStore=*/false, {}, 0, 0, {}}, hazards);
}

std::optional<std::string>
TensorWindows::addStore(vector::TransferReadOp read,
                        vector::TransferWriteOp write, MoveHazards &hazards) {
  if (rejectionReason)
    return rejectionReason;
  if (std::optional<std::string> why = checkStoredPair(read, write))
    return why;
  return add({read, write, /*isStore=*/true, {}, 0, 0, {}}, hazards);
}

std::optional<std::string> TensorWindows::add(TensorWindow window,
                                              MoveHazards &hazards) {
  if (windows.size() == kMaxWindows)
    return "the kernel exceeds the limit of " + std::to_string(kMaxWindows) +
           " TMA copies";
  if (std::optional<std::string> why = checkControlFlow(window.write))
    return why;
  if (std::optional<std::string> why = checkBlockUniform(window))
    return why;

  VectorTransferOpInterface global = window.getGlobal(),
                            shared = window.getShared();
  auto tensor = block_to_thread::findGlobalTensor(global.getBase(), kernel);
  if (!tensor)
    return tensor.reason;
  if (!tensor->dims.empty())
    return std::string(
        "the global memref is dynamic; a static shape and layout are required");
  if (auto stated = kernel.getArgAttrOfType<IntegerAttr>(
          tensor->argument, LLVM::LLVMDialect::getAlignAttrName());
      stated && stated.getInt() < transfers::kTensorMapStrideBytes)
    return "the attribute llvm.align of the kernel argument states " +
           std::to_string(stated.getInt()) + " B; TMA requires " +
           std::to_string(transfers::kTensorMapStrideBytes) +
           " B, so raise the attribute if the argument is aligned";
  SmallVector<int64_t> strides;
  int64_t offset;
  auto buffer = cast<MemRefType>(shared.getBase().getType());
  if (failed(buffer.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::string("the strides of the shared memref are dynamic; static "
                       "strides are required");
  int64_t bits = buffer.getElementTypeBitWidth();
  unsigned alignment = log2WindowAlignment(shared);
  if (alignment < llvm::Log2_64(transfers::kTensorCopyAlignment))
    return "the window in shared memory is only proven to be aligned to " +
           std::to_string(int64_t(1) << alignment) + " B; TMA requires " +
           std::to_string(transfers::kTensorCopyAlignment) +
           " B, so align the buffer and use constant indices";

  auto copy =
      transfers::planTensorCopy(makeProblem(global, *tensor, strides, bits));
  if (!copy)
    return copy.reason;
  for (int64_t extent : copy->map.extents)
    if (extent > kMaxExtent)
      return "a dimension of the global memref has " + std::to_string(extent) +
             " elements; at most 2^30 are supported";
  window.copy = std::move(*copy.value);
  window.bytes = global.getVectorType().getNumElements() * bits / 8;
  if (window.bytes > target.sharedMemoryPerBlock)
    return "the copy needs " + std::to_string(window.bytes) +
           " B of shared memory; a block has at most " +
           std::to_string(target.sharedMemoryPerBlock) + " B";
  if (std::optional<std::string> why = hazards.find(window.read, window.write))
    return why;

  block_to_thread::TensorMapOfKernel map{tensor->argument, tensor->offset,
                                         buffer.getElementType(),
                                         window.copy.map};
  window.map = llvm::find(maps, map) - maps.begin();
  if (window.map == maps.size()) {
    if (maps.size() == kMaxMaps)
      return "the kernel exceeds the limit of " + std::to_string(kMaxMaps) +
             " tensor maps";
    maps.push_back(std::move(map));
  }
  for (Value index : global.getIndices()) {
    std::optional<SignedRange> range = ranges.get(index);
    window.fits.push_back(range && range->isWithin(-kMaxExtent, kMaxExtent));
  }
  windows.push_back(std::move(window));
  return std::nullopt;
}

std::string smalti::describeWindow(const TensorWindow &window) {
  size_t pieces = window.copy.pieces.size();
  bool isOne = pieces == 1;
  ArrayRef<int64_t> box = window.copy.map.box;
  while (box.size() > 1 && box.front() == 1)
    box = box.drop_front();
  std::string sizes = llvm::join(
      llvm::map_range(box, [](int64_t size) { return std::to_string(size); }),
      "x");
  std::string count = isOne ? "a" : std::to_string(pieces);
  if (window.isStore)
    return "padded write of shared memory lowered to " + count + " TMA store" +
           (isOne ? "" : "s") + " of " + sizes +
           " elements; out-of-bounds elements are dropped";
  return "padded read and its write to shared memory lowered to " + count +
         " TMA load" + (isOne ? "" : "s") + " of " + sizes +
         " elements with zero fill";
}
