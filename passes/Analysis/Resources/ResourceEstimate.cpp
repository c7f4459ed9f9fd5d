//===- ResourceEstimate.cpp - Shared memory and register estimates --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Layouts/Vectors/Distribution.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace smalti;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// The slots of a buffer that is only used through slots.
static int64_t countSlots(Value buffer, MemRefType type) {
  if (type.getRank() < 2 || !type.hasStaticShape() || buffer.use_empty())
    return 1;
  for (Operation *user : buffer.getUsers()) {
    if (isa<memref::DeallocOp>(user))
      continue;
    auto view = dyn_cast<memref::SubViewOp>(user);
    if (!view || view.getStaticSizes().front() != 1)
      return 1;
  }
  return std::max<int64_t>(type.getDimSize(0), 1);
}

namespace {

/// Collects buffers in placement order, without offsets.
class BufferCollector {
public:
  BufferCollector(Operation *function,
                  llvm::function_ref<MemRefType(Value)> getType)
      : function(function), getType(getType) {}

  void run(SharedMemory &memory);

private:
  void visit(Operation *op);
  void add(SmallVectorImpl<SharedBuffer> &buffers, Value value,
           MemRefType ownType);

  Operation *function;
  llvm::function_ref<MemRefType(Value)> getType;
  int64_t end = 0; ///< of the slices with fixed offsets
  /// Slices, buffers that are placed after them, and buffers that the assembler
  /// places.
  SmallVector<SharedBuffer> slices, allocations, others;
  SmallVector<Value> unknown;
  llvm::StringSet<> globals;
};

} // namespace

int64_t smalti::getStatedAlignment(Value buffer) {
  Attribute stated;
  if (Operation *op = buffer.getDefiningOp()) {
    stated = op->getAttr("alignment");
  } else {
    auto argument = cast<BlockArgument>(buffer);
    auto kernel = dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
    if (kernel && llvm::is_contained(kernel.getWorkgroupAttributions(), buffer))
      stated = kernel.getWorkgroupAttributionAttr(
          argument.getArgNumber() - kernel.getNumArguments(),
          LLVM::LLVMDialect::getAlignAttrName());
  }
  auto number = dyn_cast_or_null<IntegerAttr>(stated);
  constexpr unsigned mostBits = 32;
  return number && number.getValue().isPowerOf2() &&
                 number.getValue().getActiveBits() <= mostBits
             ? number.getValue().getZExtValue()
             : 1;
}

void BufferCollector::add(SmallVectorImpl<SharedBuffer> &buffers, Value value,
                          MemRefType ownType) {
  MemRefType type = getType ? getType(value) : MemRefType();
  if (!type)
    type = ownType;
  std::optional<int64_t> bytes = getAllocatedBytes(type);
  if (!bytes)
    unknown.push_back(value);
  else
    buffers.push_back(
        {value, type, /*offset=*/0,
         std::max<int64_t>(kSharedMemoryAlignment, getStatedAlignment(value)),
         *bytes, countSlots(value, type)});
}

void BufferCollector::visit(Operation *op) {
  if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op)) {
    for (BlockArgument buffer : kernel.getWorkgroupAttributions())
      if (auto type = dyn_cast<MemRefType>(buffer.getType()))
        add(others, buffer, type);
  } else if (auto launch = dyn_cast<gpu::LaunchOp>(op)) {
    for (BlockArgument buffer : launch.getWorkgroupAttributions())
      if (auto type = dyn_cast<MemRefType>(buffer.getType()))
        add(others, buffer, type);
  } else if (auto slice = dyn_cast<mosaic_gpu::SliceSMEMOp>(op)) {
    auto type = cast<MemRefType>(slice.getType());
    std::optional<int64_t> bytes = getAllocatedBytes(type);
    if (!bytes) {
      unknown.push_back(slice.getResult());
      return;
    }
    slices.push_back({slice.getResult(), type, slice.getOffset(),
                      /*alignment=*/1, *bytes,
                      countSlots(slice.getResult(), type)});
    end = std::max(end, appendBuffer(slice.getOffset(), *bytes, 1));
  } else if (auto create = dyn_cast<nvgpu::MBarrierCreateOp>(op)) {
    int64_t count = create.getBarriers().getType().getNumBarriers();
    add(others, create.getBarriers(),
        MemRefType::get({count}, IntegerType::get(op->getContext(), 64)));
  } else if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    auto type = cast<MemRefType>(global.getType());
    if (getMemorySpace(global) == MemorySpace::Shared &&
        globals.insert(global.getName()).second)
      add(others, global, type);
  } else if (op->getNumResults() == 1) {
    Value buffer = op->getResult(0);
    auto type = dyn_cast<MemRefType>(buffer.getType());
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!type || !effects || getMemorySpace(buffer) != MemorySpace::Shared ||
        !effects.getEffectOnValue<MemoryEffects::Allocate>(buffer))
      return;
    add(allocations, buffer, type);
  }
}

void BufferCollector::run(SharedMemory &memory) {
  function->walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
  if (std::optional<int64_t> total =
          getInteger(function->getAttr(kSharedMemoryBytesAttr)))
    end = std::max(end, *total);
  memory.begin = memory.bytes = end;
  memory.alignment = kSharedMemoryAlignment;
  for (const SharedBuffer &buffer : allocations)
    memory.alignment = std::max(memory.alignment, buffer.alignment);
  auto place = [&](SharedBuffer buffer) {
    memory.bytes = appendBuffer(memory.bytes, buffer.bytes, buffer.alignment);
    buffer.offset = memory.bytes - buffer.bytes;
    memory.buffers.push_back(buffer);
  };
  llvm::for_each(allocations, place);
  memory.placedBytes = memory.bytes;
  llvm::for_each(others, place);
  memory.slices = std::move(slices);
  memory.unknown = std::move(unknown);
}

SharedMemory
smalti::placeSharedMemory(Operation *function,
                          llvm::function_ref<MemRefType(Value)> getType) {
  SharedMemory memory;
  BufferCollector(function, getType).run(memory);
  return memory;
}

std::optional<std::string>
smalti::describeUnknownSize(const SharedMemory &memory) {
  if (memory.unknown.empty())
    return std::nullopt;
  return "the function has a shared-memory buffer of type " +
         describe(memory.unknown.front().getType()) +
         ", whose size in bytes is dynamic or exceeds 64 bits";
}

int64_t
smalti::getSharedMemoryBytes(Operation *function,
                             llvm::function_ref<MemRefType(Value)> getType) {
  SharedMemory memory = placeSharedMemory(function, getType);
  return memory.unknown.empty() ? memory.bytes
                                : std::numeric_limits<int64_t>::max();
}

int64_t SharedMemorySizes::Step::apply(int64_t end) const {
  // The largest number if the result exceeds 63 bits, as in placement.
  return appendBuffer(appendBuffer(end, before, 1), after, alignment);
}

SharedMemorySizes::Step SharedMemorySizes::Step::then(const Step &next) const {
  // With a smaller alignment than before, only the bytes between have to be
  // rounded up.
  int64_t between = appendBuffer(after, next.before, 1);
  if (next.alignment <= alignment)
    return {before, alignment,
            appendBuffer(between, next.after, next.alignment)};
  return {appendBuffer(before, appendBuffer(between, 0, alignment), 1),
          next.alignment, next.after};
}

SharedMemorySizes::SharedMemorySizes(const SharedMemory &memory)
    : begin(memory.begin),
      steps(2 * llvm::PowerOf2Ceil(memory.buffers.size() + 1)) {
  size_t first = steps.size() / 2;
  for (auto [i, buffer] : llvm::enumerate(memory.buffers)) {
    numbers[buffer.value] = i;
    steps[first + i] = {0, buffer.alignment, buffer.bytes};
  }
  for (size_t i = first; i-- > 1;)
    steps[i] = steps[2 * i].then(steps[2 * i + 1]);
}

int64_t SharedMemorySizes::getBytes() const { return steps[1].apply(begin); }

void SharedMemorySizes::set(Value buffer, int64_t bytes) {
  auto it = numbers.find(buffer);
  if (it == numbers.end())
    return;
  size_t i = steps.size() / 2 + it->second;
  steps[i].after = bytes;
  while (i /= 2)
    steps[i] = steps[2 * i].then(steps[2 * i + 1]);
}

int64_t SharedMemory::getFittingSlots(int64_t limit, int64_t &least) const {
  int64_t most = 1;
  for (const SharedBuffer &buffer : buffers)
    most = std::max(most, buffer.slots);
  auto countBytes = [&](int64_t slots) {
    int64_t result = bytes;
    for (const SharedBuffer &buffer : buffers)
      result -= buffer.bytes / buffer.slots *
                (buffer.slots - std::min(buffer.slots, slots));
    return result;
  };
  // More slots never need less memory.
  int64_t slots = 0;
  for (int64_t above = most; above - slots > 1;) {
    int64_t middle = slots + (above - slots) / 2;
    (countBytes(middle) <= limit ? slots : above) = middle;
  }
  least = countBytes(std::max<int64_t>(slots, 1));
  return slots;
}

LogicalResult smalti::checkSharedMemory(Operation *function,
                                        const SharedMemory &memory,
                                        const targets::Target &target) {
  if (failed(verifySharedMemoryAttributes(function)))
    return failure();
  if (memory.bytes <= target.sharedMemoryPerBlock)
    return success();
  InFlightDiagnostic diagnostic =
      function->emitError()
      << "kernel needs " << memory.bytes << " B of shared memory; a block on "
      << target.name << " has at most " << target.sharedMemoryPerBlock << " B";
  int64_t bytes = 0;
  if (int64_t slots =
          memory.getFittingSlots(target.sharedMemoryPerBlock, bytes))
    diagnostic << "; " << slots
               << (slots == 1 ? " slot per buffer would need "
                              : " slots per buffer would need ")
               << bytes << " B";
  else
    diagnostic << "; use smaller tiles";
  SmallVector<const SharedBuffer *> largest;
  for (const SharedBuffer &buffer : memory.buffers)
    largest.push_back(&buffer);
  llvm::stable_sort(largest, [](const auto *a, const auto *b) {
    return a->bytes > b->bytes;
  });
  constexpr size_t mostNotes = 8;
  for (const SharedBuffer *buffer : ArrayRef(largest).take_front(mostNotes))
    diagnostic.attachNote(buffer->value.getLoc())
        << "a buffer of type " << buffer->type << " takes " << buffer->bytes
        << " B";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

static constexpr int64_t kRegisterBits = 32;

RegisterModel::RegisterModel(FunctionOpInterface function,
                             const targets::Target &target)
    : function(function), target(target) {
  if (std::optional<std::array<int64_t, 3>> size =
          getBlockSize(function, function))
    threads = (*size)[0] * (*size)[1] * (*size)[2];
  isBlockLevel = function
                     ->walk([](Operation *op) {
                       return isa_and_nonnull<mosaic_gpu::MosaicGPUDialect>(
                                  op->getDialect()) ||
                                      op->hasAttr(mosaic_gpu::kInLayouts) ||
                                      op->hasAttr(mosaic_gpu::kOutLayouts)
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     })
                     .wasInterrupted();
}

int64_t RegisterModel::countVector(VectorType type, Attribute layout) const {
  std::optional<int64_t> bytes = getElementBytes(type.getElementType());
  if (!bytes || type.isScalable())
    return 0;
  int64_t bits = type.getElementType().isIntOrFloat()
                     ? type.getElementTypeBitWidth()
                     : *bytes * 8;
  int64_t elements = type.getNumElements();
  if (isBlockLevel) {
    std::string why;
    std::optional<block_to_thread::Distribution> distribution;
    if (layout)
      distribution = block_to_thread::Distribution::get(
          type, layout, {threads, target.waveSize}, why);
    if (distribution)
      elements = distribution->isSplat() ? 1
                                         : distribution->getNumRegisters() *
                                               distribution->getVectorLength();
    else
      elements = llvm::divideCeil(elements, threads);
  }
  int64_t total;
  if (llvm::MulOverflow(elements, bits, total))
    return std::numeric_limits<int32_t>::max();
  return llvm::divideCeil(total, kRegisterBits);
}

int64_t RegisterModel::count(Value value) const {
  Type type = value.getType();
  Operation *op = value.getDefiningOp();
  // Predicates have their own registers; constants are immediate operands.
  if ((op && matchPattern(op, m_Constant())) || type.isInteger(1))
    return 0;
  if (auto vector = dyn_cast<VectorType>(type)) {
    auto layouts = op ? op->getAttrOfType<ArrayAttr>(mosaic_gpu::kOutLayouts)
                      : ArrayAttr();
    unsigned number = op ? cast<OpResult>(value).getResultNumber() : 0;
    bool hasLayout = layouts && number < layouts.size();
    return countVector(vector, hasLayout ? layouts[number] : Attribute());
  }
  if (auto matrix = dyn_cast<gpu::MMAMatrixType>(type)) {
    int64_t bits = matrix.getElementType().getIntOrFloatBitWidth();
    for (int64_t size : matrix.getShape())
      bits *= size;
    return llvm::divideCeil(bits, target.waveSize * kRegisterBits);
  }
  if (isa<IndexType, LLVM::LLVMPointerType>(type))
    return 64 / kRegisterBits;
  if (type.isIntOrFloat())
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), kRegisterBits);
  return 0;
}

int64_t LiveRanges::getLastUse(Value value) const {
  int64_t last = -1;
  Operation *owner = value.getParentRegion()->getParentOp();
  for (Operation *user : value.getUsers()) {
    int64_t end = span.lookup(user).first;
    // If a loop is between the value and its use, the value lives to the end of
    // the loop.
    for (Operation *op = user->getParentOp(); op && op != owner;
         op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op))
        end = span.lookup(op).second;
    last = std::max(last, end);
  }
  return last;
}

void LiveRanges::addValue(Value value, int64_t begin, int64_t registers) {
  int64_t end = registers > 0 ? getLastUse(value) : -1;
  if (end > begin)
    intervals.push_back({value, begin, end, registers});
}

LiveRanges::LiveRanges(Operation *root,
                       llvm::function_ref<int64_t(Value)> count,
                       llvm::function_ref<bool(Operation *)> isPoint) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    span[op] = {static_cast<int64_t>(ops.size()), 0};
    ops.push_back(op);
    arePoints.push_back(!isPoint || isPoint(op));
  });
  // Nested ops are numbered after their parent.
  for (int64_t number = ops.size() - 1; number >= 0; --number) {
    Operation *op = ops[number];
    int64_t end = std::max(span[op].second, number);
    span[op].second = end;
    if (op == root)
      continue;
    int64_t &outer = span[op->getParentOp()].second;
    outer = std::max(outer, end);
  }
  for (Operation *op : ops) {
    auto [begin, end] = span[op];
    // Kernel arguments stay in constant memory.
    if (!isa<FunctionOpInterface>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            addValue(argument, begin, count(argument));
    if (op != root)
      for (Value result : op->getResults())
        addValue(result, end, count(result));
  }
  change.assign(ops.size() + 1, 0);
  for (const Interval &interval : intervals) {
    change[interval.begin] += interval.registers;
    change[interval.end] -= interval.registers;
  }
}

Registers LiveRanges::getMost() const {
  Registers most;
  int64_t live = 0, place = 0;
  for (auto [number, op] : llvm::enumerate(ops)) {
    live += change[number];
    if (arePoints[number] && live > most.count) {
      most.count = live;
      most.op = op;
      place = number;
    }
  }
  for (const Interval &interval : intervals)
    if (interval.begin <= place && place < interval.end &&
        interval.registers > most.largestCount) {
      most.largest = interval.value;
      most.largestCount = interval.registers;
    }
  return most;
}

DenseMap<Operation *, int64_t> LiveRanges::getAcrossLoops() const {
  DenseMap<Operation *, int64_t> around;
  int64_t live = 0;
  for (auto [number, op] : llvm::enumerate(ops)) {
    live += change[number];
    if (isa<LoopLikeOpInterface>(op))
      around[op] = live;
  }
  // The arguments of the loop itself start to live at the loop.
  for (const Interval &interval : intervals)
    if (auto argument = dyn_cast<BlockArgument>(interval.value))
      if (auto it = around.find(argument.getOwner()->getParentOp());
          it != around.end())
        it->second -= interval.registers;
  return around;
}

SmallVector<Value> LiveRanges::getValuesAbove(int64_t budget) const {
  // The number of ops above the budget before each op.
  SmallVector<int64_t> above{0};
  int64_t live = 0;
  for (auto [number, isPoint] : llvm::enumerate(arePoints)) {
    live += change[number];
    above.push_back(above.back() + (isPoint && live > budget));
  }
  SmallVector<Value> values;
  for (const Interval &interval : intervals)
    if (above[interval.end] > above[interval.begin])
      values.push_back(interval.value);
  return values;
}

LiveRanges RegisterModel::getLiveRanges(Operation *root) const {
  return LiveRanges(root, [this](Value value) { return count(value); });
}

Registers RegisterModel::countInside(Operation *op) const {
  return getLiveRanges(op).getMost();
}

int64_t RegisterModel::countAround(Operation *loop) {
  if (!around)
    around = getLiveRanges(function).getAcrossLoops();
  return around->lookup(loop);
}

Registers smalti::estimateRegisters(FunctionOpInterface function,
                                    const targets::Target &target) {
  if (function.isExternal())
    return {};
  return RegisterModel(function, target).countInside(function);
}

int64_t smalti::countRegistersOf(ShapedType type, int64_t threads) {
  Type element = type.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bits, size, bits))
      bits = std::numeric_limits<int64_t>::max();
  return llvm::divideCeil(llvm::divideCeil(bits, threads), kRegisterBits);
}

LogicalResult smalti::checkRegistersOf(Location loc, StringRef what, Type type,
                                       int64_t registers, int64_t threads,
                                       int64_t limit, StringRef chip) {
  if (registers <= limit)
    return success();
  std::string among =
      threads == 1 ? "" : " with " + std::to_string(threads) + " threads";
  return emitError(loc) << "a " << what << " of type " << type << " needs "
                        << registers << " registers per thread" << among
                        << "; the limit per " << what << " on " << chip
                        << " is " << limit << "; use a smaller " << what
                        << (threads == 1
                                ? ""
                                : ", power-of-two sizes or more warps");
}

/// The location of a value or, if it is unknown, of an op around it.
static Location getKnownLoc(Value value) {
  Location loc = value.getLoc();
  for (Operation *op = value.getParentBlock()->getParentOp();
       op && isa<UnknownLoc>(loc); op = op->getParentOp())
    loc = op->getLoc();
  return loc;
}

/// A CPU spills a vector to memory, but upstream's conversions unroll it.
static LogicalResult checkCPUVector(Location loc, VectorType type,
                                    int64_t registers, StringRef chip) {
  constexpr int64_t limit = int64_t(4) << 20;
  constexpr int64_t registerBytes = kRegisterBits / 8;
  if (registers <= limit / registerBytes)
    return success();
  return emitError(loc) << "a vector of type " << type << " takes "
                        << registers * registerBytes
                        << " bytes; the limit per vector on " << chip << " is "
                        << limit << " bytes (4 MiB); use a smaller vector";
}

LogicalResult smalti::checkVectors(Operation *root,
                                   const targets::Target &target,
                                   int64_t threads, bool isJAX) {
  // Only the accumulator of a wgmma may need more registers than a tile. The
  // assembler spills large loads from tensor memory in JAX modules, e.g.
  // 128x256 numbers in 128 threads.
  int64_t limit = isJAX ? 2 * llvm::PowerOf2Ceil(target.registersPerThread)
                        : target.registersPerThread;
  constexpr unsigned mostErrors = 8;
  unsigned errors = 0;
  auto check = [&](Value value) {
    auto type = dyn_cast<VectorType>(value.getType());
    if (!type || errors == mostErrors)
      return;
    Location loc = getKnownLoc(value);
    int64_t registers = countRegistersOf(type, threads);
    errors += failed(target.vendor == targets::Vendor::CPU
                         ? checkCPUVector(loc, type, registers, target.name)
                         : checkRegistersOf(loc, "vector", type, registers,
                                            threads, limit, target.name));
  };
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), check);
    llvm::for_each(op->getResults(), check);
  });
  return success(errors == 0);
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

int64_t
smalti::countTensorMemoryColumns(Operation *function,
                                 SmallVectorImpl<Operation *> &unknown) {
  int64_t columns = 0;
  function->walk([&](NVVM::Tcgen05AllocOp alloc) {
    if (std::optional<int64_t> count = getConstantIntValue(alloc.getNCols()))
      columns += *count;
    else
      unknown.push_back(alloc);
  });
  return columns;
}
