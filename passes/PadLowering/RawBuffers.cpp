//===- RawBuffers.cpp - Raw buffers with hardware bounds checks -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/PadLowering/RawBuffers.h"

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/DynamicArguments.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace smalti;

/// Maximum size of a buffer. Offsets of lanes past the end fit in 32 bits.
static constexpr int64_t kMaxBytes =
    std::numeric_limits<int32_t>::max() - kMaxBytesPastBuffer;

//===----------------------------------------------------------------------===//
// Buffer selection
//===----------------------------------------------------------------------===//

/// Sets `end` to the number of elements from the pointer to the end of the last
/// element, if it is static. Returns a reason if the type is not supported.
static std::optional<std::string> getStaticEnd(MemRefType type,
                                               std::optional<int64_t> &end) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::string(
        "the layout of the memref is not strided; use a strided layout");
  if (hasNegativeStride(type) || (!ShapedType::isDynamic(offset) && offset < 0))
    return std::string("the memref has a negative stride or offset; raw "
                       "buffers support only non-negative ones");
  if (!type.hasStaticShape() || ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  std::optional<int64_t> span = getElementSpan(type);
  int64_t elements;
  if (!span || llvm::AddOverflow(*span, offset, elements))
    return "type " + describe(type) +
           " spans 2^63 or more elements; a raw buffer has at most " +
           std::to_string(kMaxBytes) + " B";
  end = elements;
  return std::nullopt;
}

std::optional<std::string> smalti::findBufferSource(Value memref,
                                                    bool assumesSmall,
                                                    BufferSource &source) {
  source.root = memref;
  while (Operation *view = source.root.getDefiningOp()) {
    if (!isInsideSource(view) ||
        !isa<MemRefType>(view->getOperand(0).getType()))
      break;
    source.views.push_back(view);
    source.root = view->getOperand(0);
  }
  std::reverse(source.views.begin(), source.views.end());

  auto type = cast<MemRefType>(source.root.getType());
  if (isa_and_nonnull<amdgpu::AddressSpaceAttr>(type.getMemorySpace()))
    return std::string("the memref is already a raw buffer");
  if (getMemorySpace(source.root) != MemorySpace::Global)
    return std::string(
        "the memref is not in global memory, which raw buffers require");
  // A buffer resource accesses elements of whole bytes.
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0 ||
      !llvm::isPowerOf2_64(element.getIntOrFloatBitWidth()))
    return "the element type is " + describe(element) +
           "; an integer or float whose size is a power-of-two number of bytes "
           "is required";
  source.elementBytes = element.getIntOrFloatBitWidth() / 8;
  if (std::optional<std::string> why = getStaticEnd(type, source.end))
    return why;
  if (!source.end) {
    source.checksExtent = !assumesSmall;
    return std::nullopt;
  }
  if (*source.end > kMaxBytes / source.elementBytes) {
    int64_t bytes;
    return "the memref has " +
           (llvm::MulOverflow(*source.end, source.elementBytes, bytes)
                ? std::string("2^63 or more")
                : std::to_string(bytes)) +
           " B; a raw buffer has at most " + std::to_string(kMaxBytes) + " B";
  }
  return std::nullopt;
}

/// log2Divisor, or 0 for a dynamic size or stride.
static unsigned log2DivisorOf(int64_t size) {
  return ShapedType::isDynamic(size) ? 0 : log2Divisor(size);
}

unsigned smalti::log2Stride(MemRefType type, unsigned dim) {
  if (!type.getLayout().isIdentity()) {
    SmallVector<int64_t> strides;
    int64_t offset;
    return succeeded(type.getStridesAndOffset(strides, offset))
               ? log2DivisorOf(strides[dim])
               : 0;
  }
  unsigned log2 = 0;
  for (int64_t size : type.getShape().drop_front(dim + 1))
    log2 += log2DivisorOf(size);
  return log2;
}

bool smalti::endsAtMultipleOf(const BufferSource &source, int64_t elements) {
  if (source.end)
    return *source.end % elements == 0;
  auto type = cast<MemRefType>(source.root.getType());
  if (!type.getLayout().isIdentity())
    return false;
  unsigned log2 = 0;
  for (int64_t size : type.getShape())
    log2 += log2DivisorOf(size);
  return log2 >= llvm::Log2_64(uint64_t(elements));
}

//===----------------------------------------------------------------------===//
// Creation of buffers
//===----------------------------------------------------------------------===//

namespace {

/// Run-time arithmetic that saturates at 2^31, which exceeds the size of every
/// buffer. Negative numbers also become 2^31.
struct Saturating {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value limit(Value value) {
    return builder.createOrFold<arith::MinUIOp>(loc, value,
                                                constant(int64_t(1) << 31));
  }
  Value add(Value a, Value b) {
    return limit(builder.createOrFold<arith::AddIOp>(loc, a, b));
  }
  Value multiply(Value a, Value b) {
    return limit(builder.createOrFold<arith::MulIOp>(loc, a, b));
  }
};

} // namespace

/// BufferSource::end at run time, saturated.
static Value createEnd(OpBuilder &builder, Location loc, Value root) {
  Saturating math{builder, loc};
  auto type = cast<MemRefType>(root.getType());
  if (type.getLayout().isIdentity()) {
    Value end;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value size =
          type.isDynamicDim(dim)
              ? math.limit(builder.createOrFold<memref::DimOp>(loc, root, dim))
              : math.constant(type.getDimSize(dim));
      end = end ? math.multiply(end, size) : size;
    }
    return end;
  }
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, root);
  auto get = [&](OpFoldResult value) {
    if (auto attribute = dyn_cast<Attribute>(value))
      return math.constant(cast<IntegerAttr>(attribute).getInt());
    return math.limit(cast<Value>(value));
  };
  Value one = math.constant(1), zero = math.constant(0), end = one, isEmpty;
  for (auto [mixedSize, mixedStride] :
       llvm::zip_equal(metadata.getConstifiedMixedSizes(),
                       metadata.getConstifiedMixedStrides())) {
    Value size = get(mixedSize);
    if (isa<Value>(mixedSize)) {
      Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         size, zero);
      isEmpty =
          isEmpty
              ? arith::OrIOp::create(builder, loc, isEmpty, none).getResult()
              : none;
    }
    Value steps = builder.createOrFold<arith::SubIOp>(loc, size, one);
    // -1 for a size of 0: saturated here, and not selected below.
    end = math.add(end, math.multiply(math.limit(steps), get(mixedStride)));
  }
  if (isEmpty)
    end = arith::SelectOp::create(builder, loc, isEmpty, zero, end);
  return math.add(end, get(metadata.getConstifiedMixedOffset()));
}

const RawBuffers::Buffer &RawBuffers::getRoot(RewriterBase &rewriter,
                                              const BufferSource &source) {
  auto [it, isNew] = roots.try_emplace(source.root);
  Buffer &buffer = it->second;
  if (!isNew)
    return buffer;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(source.root);
  Location loc = source.root.getLoc();
  auto type = cast<MemRefType>(source.root.getType());
  Value validBytes;
  if (source.end) {
    buffer.end = arith::ConstantIndexOp::create(rewriter, loc, *source.end);
    // Without an explicit size, upstream derives it from the longest dimension.
    if (*source.end == 0 || !type.getLayout().isIdentity())
      validBytes =
          arith::ConstantIntOp::create(rewriter, loc, rewriter.getI64Type(),
                                       *source.end * source.elementBytes);
  } else {
    buffer.end = createEnd(rewriter, loc, source.root);
    Value bytes = rewriter.createOrFold<arith::MulIOp>(
        loc, buffer.end,
        arith::ConstantIndexOp::create(rewriter, loc, source.elementBytes));
    validBytes =
        arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), bytes);
    if (source.checksExtent)
      buffer.fits = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::ule, buffer.end,
          arith::ConstantIndexOp::create(rewriter, loc,
                                         kMaxBytes / source.elementBytes));
  }
  buffer.memref = amdgpu::FatRawBufferCastOp::create(
      rewriter, loc, source.root, validBytes, /*cacheSwizzleStride=*/Value(),
      /*boundsCheck=*/true, /*resetOffset=*/false);
  return buffer;
}

Value RawBuffers::getView(RewriterBase &rewriter, const BufferSource &source,
                          Value memref) {
  Value buffer = getRoot(rewriter, source).memref;
  Attribute space = cast<MemRefType>(buffer.getType()).getMemorySpace();
  for (Operation *view : source.views) {
    Value &created = views[view->getResult(0)];
    if (!created) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointAfter(view);
      Operation *copy = rewriter.clone(*view);
      copy->setOperand(0, buffer);
      auto type = cast<MemRefType>(view->getResult(0).getType());
      copy->getResult(0).setType(MemRefType::get(
          type.getShape(), type.getElementType(), type.getLayout(), space));
      created = copy->getResult(0);
    }
    buffer = created;
  }
  assert(cast<MemRefType>(buffer.getType()).getShape() ==
         cast<MemRefType>(memref.getType()).getShape());
  return buffer;
}
