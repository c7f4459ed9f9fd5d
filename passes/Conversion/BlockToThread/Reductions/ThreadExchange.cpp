//===- ThreadExchange.cpp - Values of other threads -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Reductions/ThreadExchange.h"

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/ThreadGroupScratch.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using Role = ThreadDigit::Role;

/// Scratch bytes of an exchange whose op does not name scratch.
static constexpr int64_t kOwnScratchBytes = 16384;

/// Attributes of a reduction that name its scratch.
static constexpr llvm::StringLiteral kOffset = "offset";
static constexpr llvm::StringLiteral kScratchSize = "scratch_size";

/// The widest access of shared memory in bytes.
static constexpr int64_t kWidest = 16;

//===----------------------------------------------------------------------===//
// Whole bytes
//===----------------------------------------------------------------------===//

/// The type that moves elements of this type: integers have 8, 16, 32 or 64
/// bits.
static Type getMovedType(Type elementType) {
  if (!elementType.isInteger())
    return elementType;
  uint64_t bits = llvm::PowerOf2Ceil(elementType.getIntOrFloatBitWidth());
  return IntegerType::get(elementType.getContext(),
                          std::max<uint64_t>(bits, 8));
}

static int64_t getMovedBits(Type elementType) {
  return getElementBits(getMovedType(elementType));
}

static Value toMoved(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  Type moved = getMovedType(type.getElementType());
  if (moved == type.getElementType())
    return vector;
  return arith::ExtUIOp::create(builder, loc, type.clone(moved), vector);
}

static Value fromMoved(OpBuilder &builder, Location loc, Value vector,
                       Type elementType) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementType() == elementType)
    return vector;
  return arith::TruncIOp::create(builder, loc, type.clone(elementType), vector);
}

static int64_t getLength(const Tuple &tuple) {
  return cast<VectorType>(tuple.front().getType()).getDimSize(0);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

int64_t block_to_thread::getPacking(ArrayRef<Type> types, int64_t length) {
  constexpr int64_t wordBits = 32;
  int64_t packing = 1;
  for (Type type : types) {
    int64_t bits = length * getMovedBits(type);
    if (bits < wordBits && wordBits % bits == 0)
      packing = std::max(packing, wordBits / bits);
  }
  return packing;
}

SmallVector<Tuple> block_to_thread::joinTuples(OpBuilder &builder, Location loc,
                                               ArrayRef<Tuple> tuples,
                                               int64_t packing) {
  SmallVector<Tuple> joined;
  while (!tuples.empty()) {
    ArrayRef<Tuple> own =
        tuples.take_front(std::min<size_t>(packing, tuples.size()));
    Tuple &all = joined.emplace_back();
    for (size_t input = 0; input < own.front().size(); ++input)
      all.push_back(concatenate(
          builder, loc, llvm::map_to_vector(own, [&](const Tuple &tuple) {
            return tuple[input];
          })));
    tuples = tuples.drop_front(own.size());
  }
  return joined;
}

SmallVector<Tuple> block_to_thread::splitTuples(OpBuilder &builder,
                                                Location loc,
                                                ArrayRef<Tuple> joined,
                                                int64_t length) {
  SmallVector<Tuple> tuples;
  for (const Tuple &all : joined)
    for (int64_t first = 0; first < getLength(all); first += length)
      tuples.push_back(llvm::map_to_vector<2>(all, [&](Value vector) {
        return takeElements(builder, loc, vector, first, length);
      }));
  return tuples;
}

Tuple block_to_thread::emitTupleMove(OpBuilder &builder, Location loc,
                                     Emitter &emitter, const Tuple &tuple,
                                     const LaneMove &move) {
  return llvm::map_to_vector<2>(tuple, [&](Value vector) {
    Value moved = toMoved(builder, loc, vector);
    SmallVector<Value> words;
    for (Value word : toWords(builder, loc, moved))
      words.push_back(emitter.vendor.emitLaneMove(builder, loc, word, move,
                                                  emitter.indices));
    return fromMoved(
        builder, loc,
        fromWords(builder, loc, words, cast<VectorType>(moved.getType())),
        getElementTypeOrSelf(vector.getType()));
  });
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// The bytes of an array of `count` elements; the next array is aligned.
static int64_t getArrayBytes(Type elementType, int64_t count) {
  return llvm::alignTo(count * getMovedBits(elementType) / 8, kWidest);
}

LogicalResult block_to_thread::planWarpExchange(Operation *op,
                                                ArrayRef<Type> types,
                                                int64_t elements,
                                                Planner &planner,
                                                WarpExchange &plan) {
  auto getBytes = [&](int64_t chunk) {
    int64_t bytes = 0;
    for (Type type : types)
      bytes += getArrayBytes(type, plan.parts * plan.keptGroups * chunk);
    return bytes;
  };
  auto choose = [&](int64_t bytes) {
    for (int64_t chunk = elements; chunk > 0; --chunk)
      if (elements % chunk == 0 && getBytes(chunk) <= bytes)
        return chunk;
    return int64_t(0);
  };
  auto offset = op->getAttrOfType<IntegerAttr>(kOffset),
       size = op->getAttrOfType<IntegerAttr>(kScratchSize);
  KernelPlan &kernel = planner.getPlan();
  if (offset && size) {
    int64_t end = offset.getInt() + size.getInt();
    auto total =
        kernel.func->getAttrOfType<IntegerAttr>(kSharedMemoryBytesAttr);
    int64_t limit = total
                        ? total.getInt()
                        : planner.getVendor().getTarget().sharedMemoryPerBlock;
    if (offset.getInt() < 0 || size.getInt() < 0 || end > limit)
      return op->emitOpError()
             << "has scratch memory (attributes '" << kOffset << "' and '"
             << kScratchSize << "') that ends at byte " << end
             << " of shared memory, but the memory of the kernel ends at byte "
             << limit << "; raise '" << kSharedMemoryBytesAttr
             << "' of the kernel, or lower '" << kOffset << "'";
    plan.bytes = llvm::alignDown(
        static_cast<uint64_t>(size.getInt() / getNumThreadGroups(kernel.grid)),
        kWidest);
    plan.chunk = choose(plan.bytes);
    if (plan.chunk > 0 && offset.getInt() % kWidest == 0) {
      plan.offset = offset.getInt();
      kernel.sharedMemoryBytes = std::max(kernel.sharedMemoryBytes, end);
      return success();
    }
  }
  plan.chunk = std::max<int64_t>(choose(kOwnScratchBytes), 1);
  return reserveScratch(op, planner, getBytes(plan.chunk));
}

namespace {
/// One array per input in shared memory: [part][group][element of a chunk].
class Exchange {
public:
  Exchange(OpBuilder &builder, Location loc, Emitter &emitter,
           const WarpExchange &plan, ArrayRef<Type> types);
  /// The tuples of all parts for one chunk of this thread.
  SmallVector<Tuple> exchange(const Tuple &chunk);

private:
  /// The array of an input.
  struct Array {
    Type elementType;
    int64_t elementBytes, width;
    /// Bytes from the start to the elements that the thread writes and to those
    /// that it reads of the first part.
    Value written, read;
  };

  Value getNumber(llvm::function_ref<bool(const ThreadDigit &)> isWanted);
  Value getPointer(OpBuilder &at, Value offset);
  Value getPointer(OpBuilder &at, Value pointer, int64_t offset);
  void write(OpBuilder &at, const Array &array, Value chunk);
  Value read(const Array &array, int64_t part);

  OpBuilder &builder;
  Location loc;
  Emitter &emitter;
  const WarpExchange &plan;
  SharedAddress start;
  SmallVector<Array> arrays;
  /// Whether the thread writes; null: every thread does.
  Value isWriter;
};
} // namespace

/// The number that some digits form from the thread id; null: 0.
Value Exchange::getNumber(
    llvm::function_ref<bool(const ThreadDigit &)> isWanted) {
  ThreadIndices &indices = emitter.indices;
  Value number;
  int64_t weight = 1, threads = indices.getGrid().numThreads;
  for (const ThreadDigit &digit : llvm::reverse(plan.digits)) {
    if (!isWanted(digit))
      continue;
    Value value = indices.div(indices.getThread(), digit.divisor);
    if (digit.divisor * digit.size < threads)
      value = indices.rem(value, digit.size);
    number = indices.add(number, indices.mul(value, weight));
    weight *= digit.size;
  }
  return number;
}

Exchange::Exchange(OpBuilder &builder, Location loc, Emitter &emitter,
                   const WarpExchange &plan, ArrayRef<Type> types)
    : builder(builder), loc(loc), emitter(emitter), plan(plan),
      start(plan.offset < 0
                ? getScratch(emitter)
                : getThreadGroupAddress(emitter, plan.offset, plan.bytes)) {
  ThreadIndices &indices = emitter.indices;
  int64_t lanes = indices.getGrid().waveSize;
  OpBuilder &head = indices.getBuilder();
  // One of the threads that hold the same value writes it.
  Value others = getNumber([&](const ThreadDigit &digit) {
    return digit.role == Role::Repeated ||
           (digit.role == Role::Reduced && digit.divisor < lanes);
  });
  if (others)
    isWriter =
        arith::CmpIOp::create(head, indices.getLoc(), arith::CmpIPredicate::eq,
                              others, indices.getConstant(0));
  Value part = getNumber([&](const ThreadDigit &digit) {
    return digit.role == Role::Reduced && digit.divisor >= lanes;
  });
  Value kept = getNumber(
      [&](const ThreadDigit &digit) { return digit.role == Role::Kept; });
  auto toI32 = [&](Value value, int64_t first) -> Value {
    if (first != 0)
      value = indices.add(value ? value : indices.getConstant(0), first);
    return arith::IndexCastOp::create(head, indices.getLoc(), head.getI32Type(),
                                      value ? value : indices.getConstant(0));
  };
  int64_t first = 0;
  for (Type type : types) {
    Array array{type, getMovedBits(type) / 8, 0, Value(), Value()};
    array.width = kWidest / array.elementBytes;
    while (plan.chunk % array.width != 0)
      array.width /= 2;
    int64_t step = plan.chunk * array.elementBytes;
    Value own = indices.mul(kept, step);
    array.read = toI32(own, first);
    array.written = toI32(
        indices.add(own, indices.mul(part, plan.keptGroups * step)), first);
    arrays.push_back(array);
    first += getArrayBytes(type, plan.parts * plan.keptGroups * plan.chunk);
  }
}

Value Exchange::getPointer(OpBuilder &at, Value offset) {
  Value sum = arith::AddIOp::create(at, loc, start.offset, offset);
  return LLVM::GEPOp::create(at, loc, start.base.getType(), at.getI8Type(),
                             start.base, ArrayRef<LLVM::GEPArg>{sum});
}

Value Exchange::getPointer(OpBuilder &at, Value pointer, int64_t offset) {
  if (offset == 0)
    return pointer;
  return LLVM::GEPOp::create(
      at, loc, pointer.getType(), at.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

/// Converts elements to or from the type in which LLVM stores them.
static Value convertStored(OpBuilder &builder, Location loc, VectorType type,
                           Value vector) {
  auto from = cast<VectorType>(vector.getType());
  if (from == type)
    return vector;
  if (from.getElementType().isIndex() || type.getElementType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, vector);
  return vector::BitCastOp::create(builder, loc, type, vector);
}

void Exchange::write(OpBuilder &at, const Array &array, Value chunk) {
  Value pointer = getPointer(at, array.written);
  auto stored = VectorType::get(
      {array.width}, getStorageType(getMovedType(array.elementType)));
  for (int64_t element = 0; element < plan.chunk; element += array.width) {
    Value piece = convertStored(
        at, loc, stored, takeElements(at, loc, chunk, element, array.width));
    LLVM::StoreOp::create(at, loc, piece,
                          getPointer(at, pointer, element * array.elementBytes),
                          array.width * array.elementBytes);
  }
}

Value Exchange::read(const Array &array, int64_t part) {
  Type moved = getMovedType(array.elementType);
  auto stored = VectorType::get({array.width}, getStorageType(moved));
  Value pointer = getPointer(builder, array.read);
  SmallVector<Value> pieces;
  for (int64_t element = 0; element < plan.chunk; element += array.width) {
    int64_t offset =
        (part * plan.keptGroups * plan.chunk + element) * array.elementBytes;
    Value piece = LLVM::LoadOp::create(builder, loc, stored,
                                       getPointer(builder, pointer, offset),
                                       array.width * array.elementBytes);
    pieces.push_back(convertStored(builder, loc, stored.clone(moved), piece));
  }
  return fromMoved(builder, loc, concatenate(builder, loc, pieces),
                   array.elementType);
}

SmallVector<Tuple> Exchange::exchange(const Tuple &chunk) {
  Tuple moved = llvm::map_to_vector<2>(
      chunk, [&](Value vector) { return toMoved(builder, loc, vector); });
  auto writeAll = [&](OpBuilder &at) {
    for (auto [array, vector] : llvm::zip_equal(arrays, moved))
      write(at, array, vector);
  };
  if (isWriter)
    scf::IfOp::create(builder, loc, isWriter, [&](OpBuilder &nested, Location) {
      writeAll(nested);
      scf::YieldOp::create(nested, loc);
    });
  else
    writeAll(builder);
  emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  SmallVector<Tuple> parts(plan.parts);
  for (const Array &array : arrays)
    for (auto [part, tuple] : llvm::enumerate(parts))
      tuple.push_back(read(array, static_cast<int64_t>(part)));
  emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  return parts;
}

SmallVector<SmallVector<Tuple>> block_to_thread::emitWarpExchange(
    OpBuilder &builder, Location loc, Emitter &emitter,
    const WarpExchange &plan, ArrayRef<Tuple> tuples,
    llvm::function_ref<SmallVector<Tuple>(ArrayRef<Tuple>)> combine) {
  int64_t length = getLength(tuples.front());
  Tuple all = joinTuples(builder, loc, tuples, tuples.size()).front();
  Exchange warps(builder, loc, emitter, plan,
                 llvm::map_to_vector(all, [](Value vector) {
                   return getElementTypeOrSelf(vector.getType());
                 }));
  SmallVector<SmallVector<Tuple>> results;
  for (const Tuple &chunk : splitTuples(builder, loc, all, plan.chunk)) {
    SmallVector<Tuple> combined = combine(warps.exchange(chunk));
    results.resize(combined.size());
    for (auto [list, tuple] : llvm::zip_equal(results, combined))
      list.push_back(tuple);
  }
  for (SmallVector<Tuple> &list : results) {
    SmallVector<Tuple> whole = joinTuples(builder, loc, list, list.size());
    list = splitTuples(builder, loc, whole, length);
  }
  return results;
}
