//===- TensorWindowCopies.cpp - Emission of TMA copies --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/PadLowering/TensorWindows.h"

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Support/CarriedValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace smalti;

namespace {
/// Copies in one direction that share a wait.
struct WindowGroup {
  SmallVector<const TensorWindow *> windows;
  bool isStore() const { return windows.front()->isStore; }
  int64_t bytes = 0;
  /// The op before which the copies must complete.
  Operation *end = nullptr;
  /// The mbarrier of loads.
  Value barrier;
  /// Whether threads may have written the accessed memory before.
  bool needsFence = true;
};

/// Creates the copies of one kernel.
class WindowEmitter {
public:
  WindowEmitter(RewriterBase &rewriter, gpu::GPUFuncOp kernel,
                ArrayRef<TensorWindow> windows,
                ArrayRef<block_to_thread::TensorMapOfKernel> maps)
      : rewriter(rewriter), kernel(kernel), windows(windows), maps(maps),
        aliasing(makeAliasAnalysis(kernel)) {}

  void run();

private:
  void collectGroups();
  void findFences();
  void addMaps();
  Value createIsFirst(Location loc);
  void addBarriers();
  Value createParity(Operation *op);
  Value getView(const TensorWindow &window);
  Value getPieceView(const TensorWindow &window, Value view, int64_t bytes);
  SmallVector<Value> getCoordinates(const TensorWindow &window);
  void emitWindow(const TensorWindow &window, Value barrier);
  void emitGroup(const WindowGroup &group, Value parity);
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  MemRefType getBoxType(const block_to_thread::TensorMapOfKernel &map);

  RewriterBase &rewriter;
  gpu::GPUFuncOp kernel;
  ArrayRef<TensorWindow> windows;
  ArrayRef<block_to_thread::TensorMapOfKernel> maps;
  AliasAnalysis aliasing;
  std::vector<WindowGroup> groups;
  SmallVector<Value> descriptors;
  /// i1: whether this thread issues the copies.
  Value isFirst;
};
} // namespace

/// Maximum number of bytes per mbarrier phase, and of windows per group, which
/// bounds the number of alias queries.
static constexpr int64_t kMaxTransactionBytes = (1 << 20) - 1;
static constexpr size_t kMaxWindowsOfGroup = 8;
/// Maximum number of written buffers that are compared with the copies.
static constexpr size_t kMaxWritten = 64;
/// Suspend-time hint of mbarrier.try_wait.
static constexpr int64_t kTicks = 10000000;

/// Whether two copies in one direction may write the same elements.
static bool mayOverlap(AliasAnalysis &aliasing, const TensorWindow &a,
                       const TensorWindow &b) {
  vector::TransferWriteOp first = a.write, second = b.write;
  return !aliasing.alias(first.getBase(), second.getBase()).isNo() &&
         !vector::isDisjointTransferSet(first, second,
                                        /*testDynamicValueUsingBounds=*/true);
}

/// A group ends at the next op that accesses memory.
void WindowEmitter::collectGroups() {
  DenseMap<Operation *, const TensorWindow *> ofWrite;
  DenseSet<Operation *> reads;
  llvm::SetVector<Block *> blocks;
  for (const TensorWindow &window : windows) {
    vector::TransferWriteOp write = window.write;
    ofWrite[write] = &window;
    reads.insert(window.read);
    blocks.insert(write->getBlock());
  }
  for (Block *block : blocks) {
    WindowGroup open;
    for (Operation &op : *block) {
      const TensorWindow *window = ofWrite.lookup(&op);
      bool mustComplete = !window && !reads.contains(&op) &&
                          (!isMemoryEffectFree(&op) || &op == &block->back());
      bool isFull = window && !open.windows.empty() &&
                    (window->isStore != open.isStore() ||
                     open.windows.size() == kMaxWindowsOfGroup ||
                     open.bytes + window->bytes > kMaxTransactionBytes ||
                     llvm::any_of(open.windows, [&](const TensorWindow *other) {
                       return mayOverlap(aliasing, *window, *other);
                     }));
      if (!open.windows.empty() && (mustComplete || isFull)) {
        open.end = &op;
        groups.push_back(std::exchange(open, WindowGroup()));
      }
      if (!window)
        continue;
      open.windows.push_back(window);
      open.bytes += window->bytes;
    }
  }
}

/// Appends the buffers that the op may write; false if it may write any memory.
static bool addWritten(Operation *op, llvm::SetVector<Value> &written) {
  if (isMemoryEffectFree(op) || isa<BlockBarrierOpInterface>(op))
    return true;
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op);
      effects && !effects.hasEffect<MemoryEffects::Write>())
    return true;
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  if (!collectAccesses(op, accesses, reason))
    return false;
  for (const MemoryAccess &access : accesses)
    if (access.isWrite)
      written.insert(access.root);
  return written.size() <= kMaxWritten;
}

/// A load needs a proxy fence if threads may have written the accessed memory
/// earlier in program order or in an enclosing loop. A store reads memory that
/// threads wrote, so it always needs one.
void WindowEmitter::findFences() {
  Block &entry = kernel.getBody().front();
  DenseMap<Operation *, SmallVector<WindowGroup *, 1>> groupsIn;
  for (WindowGroup &group : groups) {
    vector::TransferWriteOp write = group.windows.front()->write;
    if (!group.isStore())
      groupsIn[entry.findAncestorOpInBlock(*write)].push_back(&group);
  }
  DenseSet<Operation *> planned;
  for (const TensorWindow &window : windows) {
    planned.insert(window.read);
    planned.insert(window.write);
  }
  llvm::SetVector<Value> written;
  bool areWritesKnown = true;
  for (Operation &outermost : entry) {
    outermost.walk([&](Operation *op) {
      // Nested ops are visited themselves.
      if (areWritesKnown && !planned.contains(op) &&
          !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
        areWritesKnown = addWritten(op, written);
    });
    for (WindowGroup *group : groupsIn.lookup(&outermost))
      group->needsFence =
          !areWritesKnown ||
          llvm::any_of(group->windows, [&](const TensorWindow *window) {
            Value from = window->getGlobal().getBase(),
                  to = window->getShared().getBase();
            return llvm::any_of(written, [&](Value root) {
              return !aliasing.alias(root, from).isNo() ||
                     !aliasing.alias(root, to).isNo();
            });
          });
  }
}

MemRefType
WindowEmitter::getBoxType(const block_to_thread::TensorMapOfKernel &map) {
  auto shared = gpu::AddressSpaceAttr::get(kernel.getContext(),
                                           gpu::AddressSpace::Workgroup);
  return MemRefType::get(map.map.box, map.element, MemRefLayoutAttrInterface(),
                         shared);
}

void WindowEmitter::addMaps() {
  block_to_thread::addTensorMaps(kernel, maps);
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  for (auto [number, map] : llvm::enumerate(maps)) {
    auto type = nvgpu::TensorMapDescriptorType::get(
        kernel.getContext(), getBoxType(map),
        nvgpu::TensorMapSwizzleKind::SWIZZLE_NONE,
        nvgpu::TensorMapL2PromoKind::L2PROMO_NONE,
        nvgpu::TensorMapOOBKind::OOB_ZERO,
        nvgpu::TensorMapInterleaveKind::INTERLEAVE_NONE);
    Value pointer =
        kernel.getArgument(kernel.getNumArguments() - maps.size() + number);
    descriptors.push_back(UnrealizedConversionCastOp::create(
                              rewriter, kernel.getLoc(), type, pointer)
                              .getResult(0));
  }
}

Value WindowEmitter::createIsFirst(Location loc) {
  auto size = getBlockSize(kernel, kernel);
  Value all, zero = constant(loc, 0);
  for (gpu::Dimension dimension :
       {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z}) {
    auto number = static_cast<size_t>(dimension);
    if (number != 0 && size && (*size)[number] == 1)
      continue;
    Value id = gpu::ThreadIdOp::create(rewriter, loc, dimension);
    Value isZero = arith::CmpIOp::create(rewriter, loc,
                                         arith::CmpIPredicate::eq, id, zero);
    all = all ? arith::AndIOp::create(rewriter, loc, all, isZero).getResult()
              : isZero;
  }
  return all;
}

void WindowEmitter::addBarriers() {
  Location loc = kernel.getLoc();
  isFirst = createIsFirst(loc);
  auto shared = gpu::AddressSpaceAttr::get(kernel.getContext(),
                                           gpu::AddressSpace::Workgroup);
  auto type = nvgpu::MBarrierGroupType::get(kernel.getContext(), shared);
  Value zero = constant(loc, 0), one = constant(loc, 1);
  bool hasLoads = false;
  for (WindowGroup &group : groups) {
    if (group.isStore())
      continue;
    hasLoads = true;
    group.barrier = nvgpu::MBarrierCreateOp::create(rewriter, loc, type);
    nvgpu::MBarrierInitOp::create(rewriter, loc, group.barrier, one, zero,
                                  isFirst);
  }
  if (!hasLoads)
    return;
  // Make the initialization visible to all threads and to the copies.
  NVVM::FenceMbarrierInitOp::create(rewriter, loc);
  gpu::BarrierOp::create(rewriter, loc);
}

/// Adds a loop-carried value that the loop forwards unchanged.
static scf::ForOp carryThrough(RewriterBase &rewriter, scf::ForOp loop,
                               Value value) {
  rewriter.setInsertionPoint(loop);
  return addCarriedValues(
      rewriter, loop, value,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        return SmallVector<Value>(arguments.begin(), arguments.end());
      });
}

/// Adds a result to the branch that forwards the value on both paths.
static scf::IfOp carryThrough(RewriterBase &rewriter, scf::IfOp branch,
                              Value value) {
  Location loc = branch.getLoc();
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(value.getType());
  rewriter.setInsertionPoint(branch);
  auto next = scf::IfOp::create(rewriter, loc, types, branch.getCondition(),
                                /*addThenBlock=*/false,
                                /*addElseBlock=*/false);
  next->setDiscardableAttrs(
      SmallVector<NamedAttribute>(branch->getDiscardableAttrs()));
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), next->getRegions())) {
    rewriter.inlineRegionBefore(from, to, to.end());
    if (to.empty()) {
      rewriter.createBlock(&to);
      scf::YieldOp::create(rewriter, loc);
    }
    Operation *yield = to.front().getTerminator();
    yield->insertOperands(yield->getNumOperands(), value);
  }
  rewriter.replaceOp(branch, next.getResults().drop_back());
  return next;
}

/// The number of earlier executions of the block of `op`, modulo 2, carried by
/// the enclosing loops and branches. These are recreated, including the blocks
/// of loops.
Value WindowEmitter::createParity(Operation *op) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Operation *> parents;
  for (Operation *parent = op->getParentOp(); parent != kernel;
       parent = parent->getParentOp())
    parents.push_back(parent);
  rewriter.setInsertionPoint(parents.empty() ? op : parents.back());
  Value carried = arith::ConstantOp::create(rewriter, op->getLoc(),
                                            rewriter.getBoolAttr(false));
  // The yield operand that forwards the parity: the result of the next inner
  // op, or the inverted parity.
  OpOperand *forwarded = nullptr;
  for (Operation *parent : llvm::reverse(parents)) {
    Operation *next;
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      scf::ForOp replacement = carryThrough(rewriter, loop, carried);
      carried = replacement.getRegionIterArgs().back();
      next = replacement;
    } else {
      next = carryThrough(rewriter, cast<scf::IfOp>(parent), carried);
    }
    if (forwarded)
      forwarded->set(next->getResults().back());
    for (Region &region : next->getRegions())
      if (region.isAncestor(op->getParentRegion())) {
        Operation *yield = region.front().getTerminator();
        forwarded = &yield->getOpOperand(yield->getNumOperands() - 1);
      }
  }
  if (!forwarded)
    return carried;
  rewriter.setInsertionPoint(forwarded->getOwner());
  Value one = arith::ConstantOp::create(rewriter, op->getLoc(),
                                        rewriter.getBoolAttr(true));
  forwarded->set(arith::XOrIOp::create(rewriter, op->getLoc(), carried, one));
  return carried;
}

/// The window in shared memory, with the shape of the vector.
Value WindowEmitter::getView(const TensorWindow &window) {
  VectorTransferOpInterface op = window.getShared();
  Value base = op.getBase();
  auto type = cast<MemRefType>(base.getType());
  ArrayRef<int64_t> shape = op.getVectorType().getShape();
  SmallVector<OpFoldResult> offsets = getAsOpFoldResult(op.getIndices());
  if (type.getShape() == shape &&
      llvm::all_of(offsets, [](OpFoldResult offset) {
        return isConstantIntValue(offset, 0);
      }))
    return base;
  SmallVector<int64_t> all(type.getRank() - shape.size(), 1);
  llvm::append_range(all, shape);
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), all);
  SmallVector<OpFoldResult> steps(type.getRank(), rewriter.getIndexAttr(1));
  MemRefType view = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, steps);
  return memref::SubViewOp::create(rewriter, op.getLoc(), view, base, offsets,
                                   sizes, steps);
}

/// The part of the window that one box fills, with the shape of the box.
Value WindowEmitter::getPieceView(const TensorWindow &window, Value view,
                                  int64_t bytes) {
  Location loc = view.getLoc();
  auto type = cast<MemRefType>(view.getType());
  ArrayRef<int64_t> shape = window.copy.map.box;
  // Dimensions that the vector does not have are of size 1 in the box.
  int64_t leading = static_cast<int64_t>(shape.size()) - type.getRank();
  if (window.copy.pieces.size() == 1 && leading >= 0 &&
      shape.drop_front(leading) == type.getShape()) {
    if (leading == 0)
      return view;
    SmallVector<ReassociationIndices> groups(type.getRank());
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      groups[std::max<int64_t>(dim - leading, 0)].push_back(dim);
    return memref::ExpandShapeOp::create(rewriter, loc, shape, view, groups);
  }
  // Boxes are contiguous elements, for any dimensions of the window.
  auto metadata = memref::ExtractStridedMetadataOp::create(rewriter, loc, view);
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  int64_t elements = bytes * 8 / type.getElementTypeBitWidth();
  if (std::optional<int64_t> begin = getConstantIntValue(offset))
    offset = rewriter.getIndexAttr(*begin + elements);
  else if (elements != 0)
    offset = arith::AddIOp::create(rewriter, loc, cast<Value>(offset),
                                   constant(loc, elements))
                 .getResult();
  SmallVector<int64_t> strides =
      transfers::MemoryLayout::rowMajor(shape).strides;
  MLIRContext *context = rewriter.getContext();
  int64_t begin = getConstantIntValue(offset).value_or(ShapedType::kDynamic);
  auto boxType = MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(context, begin, strides), type.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      rewriter, loc, boxType, metadata.getBaseBuffer(), offset,
      getAsIndexOpFoldResult(context, shape),
      getAsIndexOpFoldResult(context, strides));
}

/// Coordinates in the tensor map, outermost first.
SmallVector<Value> WindowEmitter::getCoordinates(const TensorWindow &window) {
  VectorTransferOpInterface op = window.getGlobal();
  Location loc = op.getLoc();
  auto clamp = [&](Value value) -> Value {
    value =
        arith::MinSIOp::create(rewriter, loc, value, constant(loc, kMaxExtent));
    return arith::MaxSIOp::create(rewriter, loc, value,
                                  constant(loc, -kMaxExtent));
  };
  SmallVector<Value> indices;
  for (auto [index, fits] : llvm::zip_equal(op.getIndices(), window.fits))
    indices.push_back(fits ? index : clamp(index));
  SmallVector<Value> coordinates;
  for (ArrayRef<transfers::CoordinateTerm> terms : window.copy.coordinates) {
    Value sum;
    bool mayGrow = terms.size() > 1;
    for (const transfers::CoordinateTerm &term : terms) {
      Value value = indices[term.dim];
      if (term.multiplier != 1)
        value = arith::MulIOp::create(rewriter, loc, value,
                                      constant(loc, term.multiplier));
      // The division is exact.
      if (term.divisor != 1)
        value = arith::DivSIOp::create(rewriter, loc, value,
                                       constant(loc, term.divisor));
      mayGrow |= term.multiplier != 1;
      sum = sum ? arith::AddIOp::create(rewriter, loc, sum, value).getResult()
                : value;
    }
    if (!sum)
      sum = constant(loc, 0);
    coordinates.push_back(mayGrow ? clamp(sum) : sum);
  }
  auto type = cast<MemRefType>(op.getBase().getType());
  for (int64_t dim : window.copy.checkedDims) {
    // Unsigned, so that negative indices are outside too.
    Value isInside = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ult, op.getIndices()[dim],
        constant(loc, type.getDimSize(dim)));
    coordinates.front() =
        arith::SelectOp::create(rewriter, loc, isInside, coordinates.front(),
                                constant(loc, transfers::kOutside));
  }
  return coordinates;
}

void WindowEmitter::emitWindow(const TensorWindow &window, Value barrier) {
  vector::TransferWriteOp write = window.write;
  Location loc = write.getLoc();
  SmallVector<Value> coordinates = getCoordinates(window);
  Value view = getView(window), zero = constant(loc, 0);
  for (const transfers::TensorPiece &piece : window.copy.pieces) {
    // The innermost dimension is the first operand.
    SmallVector<Value> box;
    for (auto [coordinate, more] :
         llvm::reverse(llvm::zip_equal(coordinates, piece.coordinates)))
      box.push_back(more == 0 ? coordinate
                              : arith::AddIOp::create(rewriter, loc, coordinate,
                                                      constant(loc, more)));
    Value pieceView = getPieceView(window, view, piece.sharedOffset),
          map = descriptors[window.map];
    if (window.isStore)
      nvgpu::TmaAsyncStoreOp::create(rewriter, loc, pieceView, map, box,
                                     isFirst);
    else
      nvgpu::TmaAsyncLoadOp::create(rewriter, loc, pieceView, barrier, map, box,
                                    zero, /*multicastMask=*/Value(), isFirst);
  }
}

void WindowEmitter::emitGroup(const WindowGroup &group, Value parity) {
  vector::TransferWriteOp first = group.windows.front()->write;
  rewriter.setInsertionPoint(first);
  Location loc = first.getLoc();
  // Earlier writes of threads to either memory must be visible to the copies,
  // earlier reads must precede them, and all threads must have left the wait
  // for the previous phase.
  if (group.needsFence)
    NVVM::FenceProxyOp::create(rewriter, loc, NVVM::ProxyKind::async,
                               NVVM::SharedSpaceAttr());
  gpu::BarrierOp::create(rewriter, loc);
  if (!group.isStore())
    nvgpu::MBarrierArriveExpectTxOp::create(rewriter, loc, group.barrier,
                                            constant(loc, group.bytes),
                                            constant(loc, 0), isFirst);
  for (const TensorWindow *window : group.windows) {
    rewriter.setInsertionPoint(window->write);
    emitWindow(*window, group.barrier);
  }
  rewriter.setInsertionPoint(group.end);
  if (group.isStore()) {
    // The issuing thread waits, and the barrier makes the others wait for it.
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, loc, /*group=*/0,
                                         /*read=*/UnitAttr());
    gpu::BarrierOp::create(rewriter, loc);
    return;
  }
  nvgpu::MBarrierTryWaitParityOp::create(rewriter, loc, group.barrier, parity,
                                         constant(loc, kTicks),
                                         constant(loc, 0));
}

void WindowEmitter::run() {
  collectGroups();
  findFences();
  addMaps();
  addBarriers();
  Block *block = nullptr;
  Value parity;
  for (const WindowGroup &group : groups) {
    vector::TransferWriteOp write = group.windows.front()->write;
    if (!group.isStore() && write->getBlock() != block) {
      parity = createParity(write);
      block = write->getBlock();
    }
    emitGroup(group, parity);
  }
  for (const TensorWindow &window : windows) {
    rewriter.eraseOp(window.write);
    rewriter.eraseOp(window.read);
  }
}

void TensorWindows::commit(RewriterBase &rewriter) {
  if (!windows.empty())
    WindowEmitter(rewriter, kernel, windows, maps).run();
}
