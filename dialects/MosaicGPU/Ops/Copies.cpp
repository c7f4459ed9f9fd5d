//===- Copies.cpp - Asynchronous copies -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"
#include "smalti/targets/Text.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

//===----------------------------------------------------------------------===//
// Parts of assembly formats
//===----------------------------------------------------------------------===//

/// Dimensions of the cluster: `[x, y]`.
static ParseResult parseDimensions(OpAsmParser &parser, ArrayAttr &dimensions) {
  SmallVector<Attribute> entries;
  auto parseDimension = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<Dimension> dimension = symbolizeDimension(keyword);
    if (!dimension)
      return parser.emitError(loc)
             << "the dimension must be x, y or z, but found '" << keyword
             << "'";
    entries.push_back(DimensionAttr::get(parser.getContext(), *dimension));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseDimension))
    return failure();
  dimensions = parser.getBuilder().getArrayAttr(entries);
  return success();
}

static void printDimensions(OpAsmPrinter &printer, Operation *,
                            ArrayAttr dimensions) {
  printer << '[';
  llvm::interleaveComma(dimensions.getAsRange<DimensionAttr>(), printer,
                        [&](DimensionAttr dimension) {
                          printer << stringifyDimension(dimension.getValue());
                        });
  printer << ']';
}

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/Ops/Copies.cpp.inc"

//===----------------------------------------------------------------------===//
// Copies in async-groups
//===----------------------------------------------------------------------===//

static LogicalResult verifyCopied(Operation *op, Type element) {
  if (isCopied(element))
    return success();
  return op->emitOpError()
         << "copied elements must be integers or floats, but found " << element;
}

LogicalResult AsyncCopyOp::verify() {
  MemRefType source = getSource().getType();
  MemRefType destination = getDestination().getType();
  if (failed(verifyInGlobal(*this, "source", source)) ||
      failed(verifyInShared(*this, "destination", destination)))
    return failure();
  if (!source.isStrided() || !destination.isStrided())
    return emitOpError()
           << "source and destination must be strided memrefs, but "
              "found "
           << source << " and " << destination;
  if (!destination.hasStaticShape())
    return emitOpError() << "destination must have a static shape, but found "
                         << destination;
  if (source.getRank() != destination.getRank())
    return emitOpError()
           << "source and destination must have the same rank, but the source "
              "has rank "
           << source.getRank() << " and the destination "
           << destination.getRank();
  if (static_cast<int64_t>(getIndices().size()) != source.getRank())
    return emitOpError() << "has "
                         << smalti::counted(getIndices().size(), "index",
                                            "indices")
                         << ", but the source has "
                         << smalti::counted(source.getRank(), "dimension")
                         << "; pass one index for each dimension";
  if (failed(verifySameElements(*this, source.getElementType(),
                                destination.getElementType())) ||
      failed(verifyCopied(*this, source.getElementType())))
    return failure();
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// Slices of global memory
//===----------------------------------------------------------------------===//

/// Checks the slice of `global`, which messages call `name`, and computes its
/// shape in shared memory.
static LogicalResult verifySlice(Operation *op, StringRef name,
                                 MemRefType global, OperandRange indices,
                                 ArrayRef<int64_t> lengths,
                                 SmallVectorImpl<int64_t> &shape) {
  int64_t rank = global.getRank();
  if (rank == 0)
    return op->emitOpError()
           << name << " must have at least one dimension, but found " << global;
  if (failed(verifyCopied(op, global.getElementType())))
    return failure();
  if (static_cast<int64_t>(indices.size()) != rank ||
      static_cast<int64_t>(lengths.size()) != rank)
    return op->emitOpError()
           << "the number of indices is " << indices.size()
           << " and the number of slice lengths is " << lengths.size()
           << "; both must be " << rank << ", the rank of the " << name;
  bool gathers = false;
  for (auto [index, length] : llvm::zip_equal(indices, lengths)) {
    if (length < -1 || length == 0)
      return op->emitOpError()
             << "a slice length must be positive, or -1 to drop the dimension, "
                "but is "
             << length;
    if (length != -1)
      shape.push_back(length);
    auto vector = dyn_cast<VectorType>(index.getType());
    if (!vector)
      continue;
    if (gathers)
      return op->emitOpError()
             << "has several vector indices; at most one index may be a vector";
    gathers = true;
    if (vector.isScalable() || vector.getNumElements() != length)
      return op->emitOpError()
             << "an index vector has " << vector.getNumElements()
             << " elements, but the slice length of its dimension is " << length
             << "; pass a fixed-length vector with one index per slice element";
  }
  return success();
}

static LogicalResult verifyDistinct(Operation *op, ArrayAttr dimensions) {
  unsigned seen = 0;
  for (auto dimension : dimensions.getAsRange<DimensionAttr>()) {
    unsigned bit = 1u << static_cast<unsigned>(dimension.getValue());
    if (seen & bit)
      return op->emitOpError() << "'collective' lists "
                               << stringifyDimension(dimension.getValue())
                               << " twice; list each dimension once";
    seen |= bit;
  }
  return success();
}

/// Checks that the memref in shared memory has the shape of the slice.
static LogicalResult verifySliceIs(Operation *op, StringRef name,
                                   ArrayRef<int64_t> slice, MemRefType shared) {
  if (shared.getShape() == slice)
    return success();
  return op->emitOpError() << "the slice has shape [" << slice << "], but the "
                           << name << " is " << shared
                           << "; the shapes must be equal";
}

/// Reduces the slice of a partitioned copy to the part of one block, whose
/// length is the size of the destination along the axis.
static LogicalResult partitionSlice(AsyncLoadOp op,
                                    CopyPartitionedAttr partition,
                                    MutableArrayRef<int64_t> slice) {
  if (op.getCollective().empty())
    return op.emitOpError()
           << "has 'leader_tracked' without 'collective'; add 'collective' "
              "with the cluster dimensions that share the copy";
  MemRefType destination = op.getDestination().getType();
  int64_t axis = partition.getAxis();
  if (axis >= static_cast<int64_t>(slice.size()))
    return op.emitOpError() << "'leader_tracked' partitions dimension " << axis
                            << ", but the slice has only " << slice.size()
                            << " dimensions, counted from 0";
  if (destination.getRank() != static_cast<int64_t>(slice.size()) ||
      destination.isDynamicDim(axis) || destination.getDimSize(axis) == 0)
    return success(); // verifySliceIs reports the destination.
  int64_t part = destination.getDimSize(axis);
  if (slice[axis] % part != 0)
    return op.emitOpError()
           << "the slice length in dimension " << axis << " is " << slice[axis]
           << "; 'leader_tracked' requires a multiple of the destination size, "
           << part;
  slice[axis] = part;
  return success();
}

LogicalResult AsyncLoadOp::verify() {
  MemRefType source = getSource().getType();
  MemRefType destination = getDestination().getType();
  SmallVector<int64_t> slice;
  if (failed(verifyInGlobal(*this, "source", source)) ||
      failed(verifyInShared(*this, "destination", destination)) ||
      failed(verifySameElements(*this, source.getElementType(),
                                destination.getElementType())) ||
      failed(verifyDistinct(*this, getCollective())) ||
      failed(verifySlice(*this, "source", source, getIndices(),
                         getSliceLengths(), slice)))
    return failure();
  auto partition =
      dyn_cast_or_null<CopyPartitionedAttr>(getLeaderTrackedAttr());
  if (partition && failed(partitionSlice(*this, partition, slice)))
    return failure();
  if (failed(verifySliceIs(*this, "destination", slice, destination)) ||
      failed(verifyBarrier(*this, getBarrier())))
    return failure();
  return verifyLayouts(*this);
}

LogicalResult AsyncPrefetchOp::verify() {
  MemRefType source = getSource().getType();
  SmallVector<int64_t> slice;
  if (failed(verifyInGlobal(*this, "source", source)) ||
      failed(verifyDistinct(*this, getCollective())) ||
      failed(verifySlice(*this, "source", source, getIndices(),
                         getSliceLengths(), slice)))
    return failure();
  return verifyLayouts(*this);
}

LogicalResult AsyncStoreOp::verify() {
  MemRefType source = getSource().getType();
  MemRefType destination = getDestination().getType();
  SmallVector<int64_t> slice;
  if (getGmemPeerId() && getIsGlobalBroadcast())
    return emitOpError() << "has a peer (the operand 'gmem_peer_id') and "
                            "'is_global_broadcast'; only one of them is "
                            "allowed";
  if (failed(verifyInShared(*this, "source", source)) ||
      failed(verifyInGlobal(*this, "destination", destination)) ||
      failed(verifySameElements(*this, source.getElementType(),
                                destination.getElementType())) ||
      failed(verifySlice(*this, "destination", destination, getIndices(),
                         getSliceLengths(), slice)) ||
      failed(verifySliceIs(*this, "source", slice, source)))
    return failure();
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// Copies to other blocks
//===----------------------------------------------------------------------===//

LogicalResult AsyncStoreSmemOp::verify() {
  VectorType vector = getValueToStore().getType();
  MemRefType destination = getDestination().getType();
  if (failed(verifyInShared(*this, "destination", destination)))
    return failure();
  if (vector.getShape() != destination.getShape())
    return emitOpError()
           << "vector and destination must have the same shape, but found "
           << vector << " and " << destination;
  if (vector.getElementType() != destination.getElementType())
    return emitOpError() << "vector and destination must have the same element "
                            "type, but found "
                         << vector << " and " << destination;
  if (failed(verifyBarrier(*this, getBarrier())))
    return failure();
  return verifyLayouts(*this);
}
