//===- TritonXLA.cpp - The triton_xla dialect -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/dialects/TritonXLA/Grid.h"
#include "smalti/targets/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace smalti::triton_xla;

#include "smalti/dialects/TritonXLA/TritonXLADialect.cpp.inc"
#include "smalti/dialects/TritonXLA/TritonXLAEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "smalti/dialects/TritonXLA/TritonXLAAttrs.cpp.inc"

/// `tf32`, or `algorithm` and the name of any algorithm.
static OptionalParseResult parseAlgorithm(OpAsmParser &parser,
                                          DotAlgorithmAttr &algorithm) {
  MLIRContext *context = parser.getContext();
  if (succeeded(parser.parseOptionalKeyword("tf32"))) {
    algorithm = DotAlgorithmAttr::get(context, DotAlgorithm::TF32);
    return ParseResult(success());
  }
  if (failed(parser.parseOptionalKeyword("algorithm")))
    return std::nullopt;
  FailureOr<DotAlgorithm> value =
      FieldParser<DotAlgorithm, DotAlgorithm>::parse(parser);
  if (failed(value))
    return ParseResult(failure());
  algorithm = DotAlgorithmAttr::get(context, *value);
  return ParseResult(success());
}

static void printAlgorithm(OpAsmPrinter &p, Operation *,
                           DotAlgorithmAttr algorithm) {
  if (algorithm.getValue() != DotAlgorithm::TF32)
    p << "algorithm ";
  p << stringifyDotAlgorithm(algorithm.getValue());
}

#define GET_OP_CLASSES
#include "smalti/dialects/TritonXLA/TritonXLAOps.cpp.inc"

bool smalti::triton_xla::fitsTile(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  return llvm::all_of(shape, [&](int64_t size) {
    return !llvm::MulOverflow(elements, size, elements) &&
           elements <= std::numeric_limits<int32_t>::max();
  });
}

Type smalti::triton_xla::getMaskType(Type type) {
  Type i1 = IntegerType::get(type.getContext(), 1);
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(tile.clone(i1)) : i1;
}

TypedAttr smalti::triton_xla::getZeroFill(Type element) {
  if (auto type = dyn_cast<Float8E8M0FNUType>(element))
    return FloatAttr::get(
        type, llvm::APFloat(type.getFloatSemantics(), llvm::APInt::getZero(8)));
  return cast<TypedAttr>(Builder(element.getContext()).getZeroAttr(element));
}

LogicalResult smalti::triton_xla::verifyFill(Operation *op, TypedAttr fill) {
  if (!fill)
    return success();
  if (!isa<FloatAttr, IntegerAttr>(fill))
    return op->emitOpError(
               "fill must be a float or an integer constant, but is ")
           << fill;
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (fill.getType() != element)
    return op->emitOpError("fill is of type ")
           << fill.getType() << ", but tile elements are " << element
           << "; both must be equal";
  return success();
}

void TritonXLADialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "smalti/dialects/TritonXLA/TritonXLAOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "smalti/dialects/TritonXLA/TritonXLAAttrs.cpp.inc"
      >();
}

Operation *TritonXLADialect::materializeConstant(OpBuilder &builder,
                                                 Attribute value, Type type,
                                                 Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

static InFlightDiagnostic refuseAttribute(Operation *op, StringAttr name,
                                          StringRef where) {
  return op->emitOpError() << "has the unknown attribute '" << name.getValue()
                           << "'" << where << "; known are '" << kSizeDivisors
                           << "', '" << kStrideDivisors << "' and '"
                           << kMaxBytes << "', as attributes of arguments";
}

LogicalResult
TritonXLADialect::verifyOperationAttribute(Operation *op,
                                           NamedAttribute attribute) {
  return refuseAttribute(op, attribute.getName(), "");
}

LogicalResult TritonXLADialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kSizeDivisors || name == kStrideDivisors || name == kMaxBytes)
    return success();
  return refuseAttribute(op, attribute.getName(),
                         " of argument #" + std::to_string(argument));
}

//===----------------------------------------------------------------------===//
// EntryFuncOp
//===----------------------------------------------------------------------===//

/// Checks that attributes of pointers are those of a memref. The LLVM dialect
/// refuses most others in its verifier, without the argument, so the parser
/// calls this function too.
static LogicalResult
verifyDescribedType(unsigned position, Type type, DictionaryAttr attributes,
                    function_ref<InFlightDiagnostic()> emitError) {
  if (isa<MemRefType>(type) || !attributes)
    return success();
  for (NamedAttribute attribute : attributes)
    if (attribute.getName() != "llvm.noundef" &&
        attribute.getName().getValue().starts_with("llvm."))
      return emitError() << "argument #" << position << " of type " << type
                         << " has " << attribute.getName()
                         << ", which is only allowed for a memref";
  return success();
}

ParseResult EntryFuncOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  (void)mlir::impl::parseOptionalVisibilityKeyword(parser, result.attributes);
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true, /*allowAttrs=*/true))
    return failure();
  for (auto [position, argument] : llvm::enumerate(arguments))
    if (failed(verifyDescribedType(
            position, argument.type, argument.attrs, [&, &argument = argument] {
              return parser.emitError(argument.ssaName.location);
            })))
      return failure();
  if (parser.parseKeyword("tiles") || parseGrid(parser, arguments, result))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Builder &builder = parser.getBuilder();
  SmallVector<Type> types;
  for (const OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(types, {})));
  call_interface_impl::addArgAndResultAttrs(
      builder, result, arguments, /*resultAttrs=*/{},
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
  Region *body = result.addRegion();
  return parser.parseRegion(*body, arguments, /*enableNameShadowing=*/false);
}

void EntryFuncOp::print(OpAsmPrinter &p) {
  p << ' ';
  if (auto visibility = getSymVisibilityAttr())
    p << visibility.getValue() << ' ';
  p.printSymbolName(getSymName());
  call_interface_impl::printFunctionSignature(
      p, getFunctionType().getInputs(), getArgAttrsAttr(), /*isVariadic=*/false,
      {}, nullptr, &getBody(), /*printEmptyResult=*/false);
  p << " tiles ";
  printGrid(p, *this);
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getSymVisibilityAttrName(),
       getFunctionTypeAttrName(), getNumTilesAttrName(), getGridAttrName(),
       getDynamicGridAttrName(), getArgAttrsAttrName(), getResAttrsAttrName()});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                /*printBlockTerminators=*/true);
}

/// The type of an argument with an attribute that only a memref may have.
static FailureOr<MemRefType> requireMemRef(EntryFuncOp func, unsigned position,
                                           StringRef name, Attribute stated) {
  Type type = func.getFunctionType().getInput(position);
  if (auto memref = dyn_cast<MemRefType>(type))
    return memref;
  return func.emitOpError("argument #")
         << position << " of type " << type << " has " << name << " = "
         << stated << "; only a memref can have this attribute, so remove it";
}

/// Verifies an argument attribute with a divisor per dimension.
static LogicalResult verifyDivisors(EntryFuncOp func, unsigned position,
                                    StringRef name) {
  Attribute stated = func.getArgAttr(position, name);
  if (!stated)
    return success();
  FailureOr<MemRefType> found = requireMemRef(func, position, name, stated);
  if (failed(found))
    return failure();
  MemRefType memref = *found;
  auto divisors = dyn_cast<DenseI64ArrayAttr>(stated);
  if (!divisors || divisors.size() != memref.getRank() ||
      !llvm::all_of(divisors.asArrayRef(),
                    [](int64_t divisor) { return divisor >= 1; }))
    return func.emitOpError("argument #")
           << position << " of type " << memref << " has " << name << " = "
           << stated << "; the value must be an array<i64> with "
           << memref.getRank() << " positive divisors, one for each dimension";
  SmallVector<int64_t> numbers;
  int64_t offset;
  if (name == kSizeDivisors)
    llvm::append_range(numbers, memref.getShape());
  else if (failed(memref.getStridesAndOffset(numbers, offset)))
    return success();
  for (auto [dim, number, divisor] :
       llvm::enumerate(numbers, divisors.asArrayRef()))
    if (ShapedType::isStatic(number) && number % divisor != 0)
      return func.emitOpError("argument #")
             << position << " has " << name << " = " << stated << ", but the "
             << (name == kStrideDivisors ? "stride" : "size")
             << " of dimension " << dim << " of " << memref << " is " << number
             << ", which is not a multiple of " << divisor;
  return success();
}

/// The bytes that every array of this type has at least, counted as for
/// `triton_xla.max_bytes`.
static uint64_t getLeastBytes(MemRefType memref) {
  ArrayRef<int64_t> shape = memref.getShape();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    strides.assign(shape.size(), ShapedType::kDynamic);
  uint64_t largest = 0, span = 1;
  for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
    if (ShapedType::isDynamic(size))
      continue;
    largest = std::max<uint64_t>(largest, size);
    if (size > 1 && ShapedType::isStatic(stride))
      span = llvm::SaturatingMultiplyAdd<uint64_t>(size - 1, std::abs(stride),
                                                   span);
  }
  if (memref.hasStaticShape() && !llvm::is_contained(shape, 0))
    largest = std::max(largest, span);
  Type element = memref.getElementType();
  uint64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth()
                  : element.isIndex()    ? IndexType::kInternalStorageBitWidth
                                         : 0;
  return llvm::divideCeil(llvm::SaturatingMultiply(largest, bits), 8);
}

static LogicalResult verifyMaxBytes(EntryFuncOp func, unsigned position) {
  Attribute stated = func.getArgAttr(position, kMaxBytes);
  if (!stated)
    return success();
  auto bytes = dyn_cast<IntegerAttr>(stated);
  FailureOr<MemRefType> memref =
      requireMemRef(func, position, kMaxBytes, stated);
  if (failed(memref))
    return failure();
  if (!bytes || !bytes.getType().isInteger(64) || bytes.getInt() < 1)
    return func.emitOpError("argument #")
           << position << " has " << kMaxBytes << " = " << stated
           << "; the value must be a positive i64, such as 4096 : i64";
  uint64_t least = getLeastBytes(*memref);
  if (least > static_cast<uint64_t>(bytes.getInt()))
    return func.emitOpError("argument #")
           << position << " has " << kMaxBytes << " = " << stated << ", but "
           << *memref << " has at least " << least
           << " bytes; state at least this number";
  return success();
}

/// Attributes of an argument for LLVM describe it. Others, such as llvm.byval,
/// would change how it is passed.
static LogicalResult verifyLLVMAttributes(EntryFuncOp func, unsigned position) {
  static constexpr StringLiteral kKnown[] = {
      "llvm.align",   "llvm.dereferenceable", "llvm.noalias",  "llvm.nofree",
      "llvm.nonnull", "llvm.noundef",         "llvm.readonly", "llvm.writeonly",
  };
  DictionaryAttr attributes = func.getArgAttrDict(position);
  if (!attributes)
    return success();
  for (NamedAttribute attribute : attributes)
    if (attribute.getName().getValue().starts_with("llvm.") &&
        !llvm::is_contained(kKnown, attribute.getName().getValue()))
      return func.emitOpError("argument #")
             << position << " has " << attribute.getName() << "; only "
             << llvm::join(ArrayRef(kKnown), ", ") << " are allowed";
  if (failed(verifyDescribedType(
          position, func.getFunctionType().getInput(position), attributes,
          [&] { return func.emitOpError(); })))
    return failure();
  Attribute stated = attributes.get("llvm.align");
  auto alignment = dyn_cast_or_null<IntegerAttr>(stated);
  if (!stated || (alignment && alignment.getValue().isPowerOf2() &&
                  alignment.getValue().getActiveBits() <= 33))
    return success();
  return func.emitOpError("argument #")
         << position << " has llvm.align " << stated
         << ", which is not a power of two of at most 2^32";
}

LogicalResult EntryFuncOp::verify() {
  if (getSymName().empty())
    return emitOpError("has an empty name; write a name such as @kernel");
  FunctionType type = getFunctionType();
  if (type.getNumResults() != 0)
    return emitOpError("must not have results, but its type has ")
           << type.getNumResults()
           << "; a kernel returns results with triton_xla.insert";
  if (failed(verifyGrid(*this)))
    return failure();
  size_t numIds = getNumTilesPerDim().size();
  for (auto [position, argument] :
       llvm::enumerate(type.getInputs().drop_back(numIds))) {
    if (isa<MemRefType>(argument) || argument.isIndex() ||
        argument.isSignlessInteger() || isa<FloatType>(argument))
      continue;
    return emitOpError("argument #") << position
                                     << " must be a ranked memref or a scalar "
                                        "(signless integer, index or "
                                        "float), but is "
                                     << argument;
  }
  for (unsigned position = 0; position < type.getNumInputs(); ++position) {
    for (StringRef name : {kSizeDivisors, kStrideDivisors})
      if (failed(verifyDivisors(*this, position, name)))
        return failure();
    if (failed(verifyMaxBytes(*this, position)))
      return failure();
    if (failed(verifyLLVMAttributes(*this, position)))
      return failure();
  }
  Block &block = getBody().front();
  if (block.empty() || !isa<ReturnOp>(block.back()))
    return emitOpError("the body must end with triton_xla.return");
  return success();
}

//===----------------------------------------------------------------------===//
// NumTilesOp
//===----------------------------------------------------------------------===//

LogicalResult NumTilesOp::verify() {
  auto entry = (*this)->getParentOfType<EntryFuncOp>();
  if (!entry)
    return emitOpError("must be inside a 'triton_xla.entry_func'");
  size_t rank = entry.getNumTilesPerDim().size();
  if (getDim() >= rank)
    return emitOpError("dim is ")
           << static_cast<int64_t>(getDim()) << ", but the grid has rank "
           << rank << " and dimensions are counted from 0";
  return success();
}

OpFoldResult NumTilesOp::fold(FoldAdaptor) {
  auto entry = (*this)->getParentOfType<EntryFuncOp>();
  int64_t number = entry.getNumTilesPerDim()[getDim()];
  if (ShapedType::isDynamic(number))
    return {};
  return IntegerAttr::get(IndexType::get(getContext()), number);
}

//===----------------------------------------------------------------------===//
// ExtractOp, InsertOp
//===----------------------------------------------------------------------===//

/// The dimensions of a window of `sizes` that a tile of `tileType` drops: the
/// unit dimensions that remain after the tile's shape is matched from the
/// front.
static llvm::SmallBitVector droppedDims(ArrayRef<int64_t> sizes,
                                        RankedTensorType tileType) {
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

llvm::SmallBitVector ExtractOp::getDroppedDims() {
  return droppedDims(getStaticSizes(), getTileType());
}
llvm::SmallBitVector InsertOp::getDroppedDims() {
  return droppedDims(getStaticSizes(), getTileType());
}

void ExtractOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable(),
                       SideEffects::DefaultResource::get());
}

void InsertOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getDestinationMutable(),
                       SideEffects::DefaultResource::get());
}

/// Shared checks of `extract` and `insert`: a window of `memref` and a tile.
/// (The ranks of the lists and the signs of offsets and sizes are checked by
/// OffsetSizeAndStrideOpInterface.)
template <typename WindowOp>
static LogicalResult verifyWindow(WindowOp op, MemRefType memref,
                                  RankedTensorType tile) {
  if (!op.getSizes().empty())
    return op.emitOpError("a size of the window is an SSA value; sizes must be "
                          "constants, because a tile has a static shape");
  if (!op.getStrides().empty())
    return op.emitOpError(
        "a stride of the window is an SSA value; strides must be constants");
  ArrayRef<int64_t> sizes = op.getStaticSizes(),
                    strides = op.getStaticStrides();
  for (auto [dim, size, stride] : llvm::enumerate(sizes, strides)) {
    if (size < 1)
      return op.emitOpError("size #") << dim << " of the window is " << size
                                      << "; it must be at least 1";
    if (stride < 1)
      return op.emitOpError("stride #") << dim << " of the window is " << stride
                                        << "; it must be at least 1";
    int64_t span;
    if (llvm::MulOverflow(size, stride, span))
      return op.emitOpError("the window of ")
             << size << " elements with stride " << stride << " in dimension #"
             << dim << " exceeds the 64-bit index range; use a smaller stride";
  }
  if (tile.getElementType() != memref.getElementType())
    return op.emitOpError(
               "tile and memref must have the same element type, but the tile "
               "has ")
           << tile.getElementType() << " and the memref "
           << memref.getElementType();
  // Dropping dimensions greedily from the front finds a solution if one exists:
  // a kept unit dimension can always match the first of adjacent unit
  // dimensions.
  llvm::SmallBitVector dropped = op.getDroppedDims();
  bool reducible =
      sizes.size() - dropped.count() == static_cast<size_t>(tile.getRank());
  for (unsigned dim : dropped.set_bits())
    reducible &= sizes[dim] == 1;
  if (!reducible) {
    InFlightDiagnostic diag = op.emitOpError("the tile is ")
                              << tile << ", but the sizes of the window are [";
    llvm::interleaveComma(sizes, diag);
    return diag << "]; they must be equal, except that the tile may drop "
                   "sizes of 1";
  }
  return success();
}

/// Checks the hints of an access; `modifiers` are those of its direction.
static LogicalResult verifyHints(Operation *op,
                                 std::optional<CacheModifier> cache,
                                 std::optional<EvictionPolicy> eviction,
                                 ArrayRef<CacheModifier> modifiers) {
  if (cache && eviction)
    return op->emitOpError(
        "has both 'cache' and 'eviction'; only one of them is allowed");
  if (!cache || llvm::is_contained(modifiers, *cache))
    return success();
  InFlightDiagnostic diag = op->emitOpError("cache is '")
                            << stringifyCacheModifier(*cache)
                            << "'; it must be ";
  llvm::interleave(
      modifiers, diag,
      [&](CacheModifier modifier) {
        diag << "'" << stringifyCacheModifier(modifier) << "'";
      },
      " or ");
  return diag;
}

LogicalResult ExtractOp::verify() {
  if (failed(verifyWindow(*this, getSourceType(), getTileType())))
    return failure();
  return verifyHints(*this, getCache(), getEviction(),
                     {CacheModifier::CA, CacheModifier::CG, CacheModifier::CS,
                      CacheModifier::CV});
}

LogicalResult InsertOp::verify() {
  if (failed(verifyWindow(*this, getDestinationType(), getTileType())))
    return failure();
  return verifyHints(*this, getCache(), getEviction(),
                     {CacheModifier::WB, CacheModifier::CG, CacheModifier::CS,
                      CacheModifier::WT});
}

void ExtractOp::build(OpBuilder &builder, OperationState &state,
                      RankedTensorType tile, Value source,
                      ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                      ArrayRef<int64_t> strides, TypedAttr fill) {
  SmallVector<int64_t> staticOffsets;
  SmallVector<Value> dynamicOffsets;
  dispatchIndexOpFoldResults(offsets, dynamicOffsets, staticOffsets);
  build(builder, state, tile, source, dynamicOffsets, /*sizes=*/ValueRange(),
        /*strides=*/ValueRange(), staticOffsets, sizes, strides, fill,
        /*cache=*/{},
        /*eviction=*/{});
}

void InsertOp::build(OpBuilder &builder, OperationState &state, Value tile,
                     Value destination, ArrayRef<OpFoldResult> offsets,
                     ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> staticOffsets;
  SmallVector<Value> dynamicOffsets;
  dispatchIndexOpFoldResults(offsets, dynamicOffsets, staticOffsets);
  build(builder, state, tile, destination, dynamicOffsets,
        /*sizes=*/ValueRange(), /*strides=*/ValueRange(), staticOffsets, sizes,
        strides, /*cache=*/{}, /*eviction=*/{});
}

namespace {
/// Makes offsets that are non-negative constants static. Upstream's pattern for
/// this interface does not apply: it rejects windows that extend past the
/// memref.
template <typename WindowOp>
struct FoldConstantOffsets : OpRewritePattern<WindowOp> {
  using OpRewritePattern<WindowOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(WindowOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
    if (failed(foldDynamicIndexList(offsets, /*onlyNonNegative=*/true)))
      return failure();
    SmallVector<int64_t> staticOffsets;
    SmallVector<Value> dynamicOffsets;
    dispatchIndexOpFoldResults(offsets, dynamicOffsets, staticOffsets);
    rewriter.modifyOpInPlace(op, [&] {
      op.getOffsetsMutable().assign(dynamicOffsets);
      op.setStaticOffsets(staticOffsets);
    });
    return success();
  }
};

/// Removes a `fill` that is the default.
struct DropDefaultFill : OpRewritePattern<ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ExtractOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getFillAttr() ||
        op.getFillAttr() != getZeroFill(op.getTileType().getElementType()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.removeFillAttr(); });
    return success();
  }
};
} // namespace

void ExtractOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<FoldConstantOffsets<ExtractOp>, DropDefaultFill>(context);
}

void InsertOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<FoldConstantOffsets<InsertOp>>(context);
}

//===----------------------------------------------------------------------===//
// MaskOp
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> MaskOp::getMixedBounds() {
  Builder builder(getContext());
  return mlir::getMixedValues(getStaticBounds(), getBounds(), builder);
}

LogicalResult MaskOp::verify() {
  RankedTensorType type = getTile().getType();
  ArrayRef<int64_t> bounds = getStaticBounds();
  if (bounds.size() != static_cast<size_t>(type.getRank()))
    return emitOpError("has ")
           << smalti::counted(bounds.size(), "bound") << ", but the tile has "
           << smalti::counted(type.getRank(), "dimension")
           << "; one bound for each is required";
  size_t numDynamic = llvm::count_if(bounds, ShapedType::isDynamic);
  if (numDynamic != getBounds().size())
    return emitOpError("static_bounds has ")
           << smalti::counted(numDynamic, "dynamic entry", "dynamic entries")
           << ", but the op has "
           << smalti::counted(getBounds().size(), "bound operand")
           << "; one operand for each entry is required";
  for (auto [dim, bound, size] : llvm::enumerate(bounds, type.getShape())) {
    if (ShapedType::isStatic(bound) && (bound < 0 || bound > size))
      return emitOpError("bound #")
             << dim << " is " << bound << "; it must be from 0 to " << size
             << ", the size of the tile in this dimension";
  }
  return success();
}

OpFoldResult MaskOp::fold(FoldAdaptor adaptor) {
  RankedTensorType type = getTile().getType();
  if (llvm::equal(getStaticBounds(), type.getShape()))
    return getTile();
  Attribute value = adaptor.getValue();
  if (!value)
    return {};
  // A bound of 0 replaces all elements by `value`; a tile whose elements all
  // are `value` is not changed. (Attributes compare by bits, so 0.0 and -0.0
  // differ.)
  if (llvm::is_contained(getStaticBounds(), 0))
    return DenseElementsAttr::get(type, value);
  auto tile = dyn_cast_if_present<SplatElementsAttr>(adaptor.getTile());
  if (tile && tile.getSplatValue<Attribute>() == value)
    return getTile();
  return {};
}

namespace {
/// Makes constant bounds static, clamped to [0, size].
struct FoldConstantBounds : OpRewritePattern<MaskOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaskOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> staticBounds;
    SmallVector<Value> dynamicBounds;
    for (auto [bound, size] : llvm::zip_equal(
             op.getMixedBounds(), op.getTile().getType().getShape())) {
      if (std::optional<int64_t> constant = getConstantIntValue(bound)) {
        staticBounds.push_back(std::clamp<int64_t>(*constant, 0, size));
      } else {
        staticBounds.push_back(ShapedType::kDynamic);
        dynamicBounds.push_back(cast<Value>(bound));
      }
    }
    if (dynamicBounds.size() == op.getBounds().size())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getBoundsMutable().assign(dynamicBounds);
      op.setStaticBounds(staticBounds);
    });
    return success();
  }
};
} // namespace

void MaskOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<FoldConstantBounds>(context);
}
