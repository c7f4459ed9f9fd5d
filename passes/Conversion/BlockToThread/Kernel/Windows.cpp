//===- Windows.cpp - Memory windows of vector transfers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Support/Alignment.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/DynamicArguments.h"
#include "smalti/passes/Support/KernelAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/VectorInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

bool block_to_thread::isWorkgroupMemory(MemRefType type) {
  return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type);
}

int64_t block_to_thread::elementBytes(Type type) {
  if (isa<mosaic_gpu::BarrierType>(type))
    return 8;
  if (type.isIndex())
    return 8;
  if (!type.isIntOrFloat())
    return 0;
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits % 8 == 0 && llvm::isPowerOf2_32(bits) ? bits / 8 : 0;
}

std::string
block_to_thread::listElementTypes(MLIRContext *context,
                                  function_ref<bool(Type)> isSupported) {
  Builder b(context);
  SmallVector<Type> types = {b.getI8Type(),
                             b.getI32Type(),
                             b.getI64Type(),
                             Float8E4M3FNType::get(context),
                             Float8E5M2Type::get(context),
                             b.getF16Type(),
                             b.getBF16Type(),
                             b.getTF32Type(),
                             b.getF32Type(),
                             b.getF64Type()};
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(llvm::make_filter_range(types, isSupported), stream);
  return text;
}

unsigned block_to_thread::log2Alignment(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = elementBytes(type.getElementType());
  unsigned element = bytes > 0 ? log2Divisor(bytes) : 0;
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return log2ArgumentAlignment(argument);
  return llvm::TypeSwitch<Operation *, unsigned>(memref.getDefiningOp())
      .Case([&](memref::AllocOp op) {
        int64_t aligned = static_cast<int64_t>(op.getAlignment().value_or(1));
        if (isWorkgroupMemory(type))
          aligned = std::max(aligned, kSharedMemoryAlignment);
        return std::max(element, log2Divisor(aligned));
      })
      .Case([&](mosaic_gpu::SliceSMEMOp op) {
        return std::min(log2Divisor(kSharedMemoryAlignment),
                        log2Divisor(static_cast<int64_t>(op.getOffset())));
      })
      .Case([&](memref::ViewOp op) {
        return std::min(log2Alignment(op.getSource()),
                        log2Divisor(op.getByteShift()));
      })
      .Case([&](memref::SubViewOp op) {
        unsigned alignment = log2Alignment(op.getSource());
        SmallVector<int64_t> strides;
        int64_t offset;
        if (failed(cast<MemRefType>(op.getSource().getType())
                       .getStridesAndOffset(strides, offset)))
          return element;
        for (auto [index, stride] :
             llvm::zip_equal(op.getMixedOffsets(), strides)) {
          unsigned step =
              ShapedType::isDynamic(stride) ? 0 : log2Divisor(stride);
          alignment = std::min(alignment, log2Divisor(index) + step + element);
        }
        return alignment;
      })
      .Case([&](memref::ReinterpretCastOp op) {
        // The offset is relative to the start of the allocation.
        auto source = dyn_cast<MemRefType>(op.getSource().getType());
        if (!source || !source.isStrided() ||
            source.getStridesAndOffset().second != 0)
          return element;
        return std::min(log2Alignment(op.getSource()),
                        log2Divisor(op.getMixedOffsets().front()) + element);
      })
      .Case<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
            memref::MemorySpaceCastOp, memref::TransposeOp>(
          [&](auto op) { return log2Alignment(op->getOperand(0)); })
      .Default([&](Operation *) { return element; });
}

std::optional<Window> block_to_thread::getWindow(Operation *op,
                                                 std::string &why,
                                                 bool mayShareBytes) {
  Window window;
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op)) {
    auto type = dyn_cast<MemRefType>(transfer.getBase().getType());
    if (!type) {
      why = "the op accesses a tensor; a memref is required";
      return std::nullopt;
    }
    // vector.transfer_read permits any element type of the same width.
    Type element = transfer.getVectorType().getElementType();
    if (element != type.getElementType()) {
      why = "the memref has elements of type " +
            describe(type.getElementType()) +
            " and the vector has elements of type " + describe(element) +
            "; the same type is required";
      return std::nullopt;
    }
    if (transfer.getMask()) {
      why = "masked transfers are not supported; transfer the whole vector, "
            "and apply the mask to it with arith.select";
      return std::nullopt;
    }
    window.memref = transfer.getBase();
    window.indices = transfer.getIndices();
    window.vectorDims.assign(type.getRank(), -1);
    // A dropped dimension is still checked: its index may be out of bounds.
    window.isChecked.assign(type.getRank(), true);
    AffineMap map = transfer.getPermutationMap();
    for (unsigned vectorDim = 0; vectorDim < map.getNumResults(); ++vectorDim) {
      auto dim = dyn_cast<AffineDimExpr>(map.getResult(vectorDim));
      if (!dim) {
        why = "the permutation map broadcasts a dimension, which is not "
              "supported; transfer without the broadcast, and then broadcast "
              "the vector";
        return std::nullopt;
      }
      window.vectorDims[dim.getPosition()] = vectorDim;
      window.isChecked[dim.getPosition()] = !transfer.isDimInBounds(vectorDim);
    }
  } else if (auto load = dyn_cast<mosaic_gpu::VectorLoadOp>(op)) {
    window.memref = load.getSource();
  } else {
    window.memref = cast<mosaic_gpu::VectorStoreOp>(op).getDestination();
  }
  // The accesses of a transposed view are those of its source.
  if (!isa<VectorTransferOpInterface>(op))
    while (auto view = window.memref.getDefiningOp<memref::TransposeOp>()) {
      AffineMap permutation = view.getPermutation();
      auto rank = static_cast<int64_t>(permutation.getNumResults());
      auto above = window.vectorDims.empty()
                       ? llvm::to_vector(llvm::seq<int64_t>(0, rank))
                       : window.vectorDims;
      window.vectorDims.assign(rank, -1);
      for (auto [dim, vectorDim] : llvm::enumerate(above))
        window.vectorDims[permutation.getDimPosition(dim)] = vectorDim;
      window.isChecked.assign(rank, false);
      window.memref = view.getIn();
    }
  // Upstream does not specify whether transfers of i1 vectors are packed.
  bool hasByteBits =
      isa<mosaic_gpu::VectorLoadOp, mosaic_gpu::VectorStoreOp>(op);
  auto type = cast<MemRefType>(window.memref.getType());
  if (!type.isStrided()) {
    why = "the layout of the memref is not strided; use a strided layout";
    return std::nullopt;
  }
  bool isByteBit = hasByteBits && type.getElementType().isInteger(1);
  if (!mayShareBytes && !isByteBit &&
      elementBytes(type.getElementType()) == 0) {
    why = "the elements of the memref are smaller than a byte, which this "
          "access does not support; use elements of at least 8 bits";
    return std::nullopt;
  }
  if (window.vectorDims.empty()) {
    window.vectorDims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    window.isChecked.assign(type.getRank(), false);
  }
  return window;
}

unsigned block_to_thread::log2Size(Value memref, int64_t dim) {
  int64_t size = cast<MemRefType>(memref.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return log2Divisor(size);
  if (auto view = memref.getDefiningOp<memref::TransposeOp>())
    return log2Size(view.getIn(), view.getPermutation().getDimPosition(dim));
  auto view = memref.getDefiningOp<memref::ReinterpretCastOp>();
  return view ? log2Divisor(view.getMixedSizes()[dim]) : 0;
}

unsigned block_to_thread::log2Stride(Value memref, int64_t dim) {
  int64_t stride =
      cast<MemRefType>(memref.getType()).getStridesAndOffset().first[dim];
  if (!ShapedType::isDynamic(stride))
    return log2Divisor(stride);
  if (auto view = memref.getDefiningOp<memref::TransposeOp>())
    return log2Stride(view.getIn(), view.getPermutation().getDimPosition(dim));
  auto view = memref.getDefiningOp<memref::ReinterpretCastOp>();
  return view ? log2Divisor(view.getMixedStrides()[dim]) : 0;
}

int64_t block_to_thread::getAccessWidth(const Window &window,
                                        const Distribution &distribution,
                                        ArrayRef<Coordinate> coordinates,
                                        unsigned log2MemRefAlignment) {
  auto type = cast<MemRefType>(window.memref.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (rank == 0 || failed(type.getStridesAndOffset(strides, offset)))
    return 1;
  // LLVM accesses pack i1 vectors, but each i1 occupies a byte here.
  if (type.getElementType().isInteger(1))
    return 1;
  if (window.vectorDims.back() != distribution.getVectorDim() ||
      distribution.getVectorStride() != 1 || strides.back() != 1)
    return 1;

  unsigned log2Element = log2Divisor(elementBytes(type.getElementType()));
  // The address in elements is a multiple of 2^log2Address.
  unsigned log2Address =
      log2MemRefAlignment > log2Element ? log2MemRefAlignment - log2Element : 0;
  unsigned log2Minor = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    unsigned log2Index =
        window.indices.empty() ? 62 : log2Divisor(window.indices[dim]);
    if (int64_t vectorDim = window.vectorDims[dim]; vectorDim >= 0) {
      const Coordinate &coordinate = coordinates[vectorDim];
      log2Index = std::min(
          {log2Index, coordinate.log2, log2Divisor(coordinate.offset)});
    }
    if (dim == rank - 1)
      log2Minor = log2Index;
    log2Address =
        std::min(log2Address, log2Index + log2Stride(window.memref, dim));
  }
  int64_t width = std::min<int64_t>(int64_t(1) << std::min(log2Address, 6u),
                                    distribution.getVectorLength());
  width = std::min(width, kMaxAccessBytes >> log2Element);
  width = llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(width, 1)));
  while (distribution.getVectorLength() % width != 0)
    width /= 2;
  if (window.isChecked.back())
    width = std::min(width,
                     int64_t(1) << std::min(
                         {log2Size(window.memref, rank - 1), log2Minor, 6u}));
  return width;
}

WindowEmitter::WindowEmitter(const Window &window, Value memref,
                             ValueRange windowIndices, ThreadIndices &indices,
                             OpBuilder &builder, Location loc)
    : window(window), memref(memref), windowIndices(windowIndices),
      indices(indices), builder(builder), loc(loc),
      onlyRead(window.memref && indices.isOnlyRead(window.memref)),
      smallOffsets(window.memref && hasSmallOffsets(window.memref)) {}

Value WindowEmitter::getExtent(int64_t dim) {
  Value &extent = extents[dim];
  if (extent)
    return extent;
  int64_t size = cast<MemRefType>(memref.getType()).getDimSize(dim);
  extent = ShapedType::isDynamic(size)
               ? memref::DimOp::create(builder, loc, memref, dim).getResult()
               : indices.getConstant(size);
  return extent;
}

Value WindowEmitter::getIndex(int64_t dim, ArrayRef<Coordinate> coordinates) {
  Value sum = windowIndices.empty() ? Value() : windowIndices[dim];
  int64_t offset = 0;
  if (int64_t vectorDim = window.vectorDims[dim]; vectorDim >= 0) {
    const Coordinate &coordinate = coordinates[vectorDim];
    offset = coordinate.offset;
    if (!sum) {
      sum = coordinate.base;
    } else if (coordinate.base) {
      Value &cached = sums[{sum, coordinate.base}];
      if (!cached)
        cached = arith::AddIOp::create(builder, loc, sum, coordinate.base,
                                       arith::IntegerOverflowFlags::nsw);
      sum = cached;
    }
  }
  if (!sum)
    return indices.getConstant(offset);
  if (offset == 0)
    return sum;
  Value &cached = offsets[{sum, offset}];
  if (!cached)
    cached =
        arith::AddIOp::create(builder, loc, sum, indices.getConstant(offset),
                              arith::IntegerOverflowFlags::nsw);
  return cached;
}

Access WindowEmitter::getAccess(ArrayRef<Coordinate> coordinates,
                                VectorType type, int64_t alignment) {
  Access access;
  access.memref = memref;
  access.type = type;
  access.alignment = alignment;
  access.isOnlyRead = onlyRead;
  access.hasSmallOffsets = smallOffsets;
  for (int64_t dim = 0, rank = window.vectorDims.size(); dim < rank; ++dim) {
    Value index = getIndex(dim, coordinates);
    access.indices.push_back(index);
    if (!window.isChecked[dim])
      continue;
    // Unsigned, so negative indices are out of bounds too.
    Value &bound = bounds[{index, dim}];
    if (!bound)
      bound = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                    index, getExtent(dim));
    if (!access.inBounds) {
      access.inBounds = bound;
      continue;
    }
    Value &both = conjunctions[{access.inBounds, bound}];
    if (!both)
      both = arith::AndIOp::create(builder, loc, access.inBounds, bound);
    access.inBounds = both;
  }
  return access;
}
