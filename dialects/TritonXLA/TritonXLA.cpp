//===- TritonXLA.cpp - The triton_xla dialect -----------------------------===//

#include "dialects/TritonXLA/TritonXLA.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace smalti::triton_xla;

#include "dialects/TritonXLA/TritonXLADialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/TritonXLA/TritonXLAOps.cpp.inc"

void TritonXLADialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/TritonXLA/TritonXLAOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// EntryFuncOp
//===----------------------------------------------------------------------===//

ParseResult EntryFuncOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  (void)mlir::impl::parseOptionalVisibilityKeyword(parser, result.attributes);
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true, /*allowAttrs=*/true))
    return failure();
  int64_t numTiles = 0;
  if (parser.parseKeyword("tiles") || parser.parseInteger(numTiles) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Builder &builder = parser.getBuilder();
  SmallVector<Type> types;
  for (const OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  result.addAttribute(getFunctionTypeAttrName(result.name), TypeAttr::get(builder.getFunctionType(types, {})));
  result.addAttribute(getNumTilesAttrName(result.name), builder.getI64IntegerAttr(numTiles));
  call_interface_impl::addArgAndResultAttrs(builder, result, arguments, /*resultAttrs=*/{},
                                            getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
  Region *body = result.addRegion();
  return parser.parseRegion(*body, arguments, /*enableNameShadowing=*/false);
}

void EntryFuncOp::print(OpAsmPrinter &p) {
  p << ' ';
  if (auto visibility = getSymVisibilityAttr())
    p << visibility.getValue() << ' ';
  p.printSymbolName(getSymName());
  call_interface_impl::printFunctionSignature(p, getFunctionType().getInputs(), getArgAttrsAttr(), /*isVariadic=*/false,
                                              {}, nullptr, &getBody(), /*printEmptyResult=*/false);
  p << " tiles " << getNumTiles();
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                     {getSymNameAttrName(), getSymVisibilityAttrName(), getFunctionTypeAttrName(),
                                      getNumTilesAttrName(), getArgAttrsAttrName(), getResAttrsAttrName()});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

LogicalResult EntryFuncOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// ExtractOp, InsertOp
//===----------------------------------------------------------------------===//

TypedAttr ExtractOp::getFillOrZero() {
  if (TypedAttr fill = getFillAttr())
    return fill;
  return cast<TypedAttr>(Builder(getContext()).getZeroAttr(getTileType().getElementType()));
}

/// The dimensions of a window of `sizes` that a tile of `tileType` drops: the
/// unit dimensions left over when the tile's shape is matched from the front.
static llvm::SmallBitVector droppedDims(ArrayRef<int64_t> sizes, RankedTensorType tileType) {
  llvm::SmallBitVector dropped(sizes.size());
  ArrayRef<int64_t> shape = tileType.getShape();
  size_t next = 0;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (next < shape.size() && shape[next] == sizes[dim]) {
      ++next;
      continue;
    }
    dropped.set(dim);
  }
  return dropped;
}

llvm::SmallBitVector ExtractOp::getDroppedDims() { return droppedDims(getStaticSizes(), getTileType()); }
llvm::SmallBitVector InsertOp::getDroppedDims() { return droppedDims(getStaticSizes(), getTileType()); }

void ExtractOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable(), SideEffects::DefaultResource::get());
}

void InsertOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getDestinationMutable(), SideEffects::DefaultResource::get());
}

LogicalResult ExtractOp::verify() { return success(); }
LogicalResult InsertOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// MaskOp, DotOp
//===----------------------------------------------------------------------===//

LogicalResult MaskOp::verify() { return success(); }
OpFoldResult MaskOp::fold(FoldAdaptor adaptor) { return {}; }
LogicalResult DotOp::verify() { return success(); }
