//===- Mma.cpp - Matmul ops -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"
#include "smalti/targets/Target.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::mosaic_gpu;

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/Ops/Mma.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

namespace {
/// The shapes of the operands of a matmul. K of `a` is half of K of `b` if `a`
/// is sparse. N of `b` is half of N of the accumulator if two blocks compute
/// the matmul together.
struct Shapes {
  ArrayRef<int64_t> accumulator, a, b;
  bool isSparse = false;
  bool isCollective = false;
};
} // namespace

static LogicalResult verifyShapes(Operation *op, const Shapes &shapes) {
  if (shapes.a[0] != shapes.accumulator[0])
    return op->emitOpError()
           << "operand a has " << shapes.a[0]
           << " rows, but the accumulator has " << shapes.accumulator[0]
           << "; both must have the same number of rows";
  int64_t columns = shapes.b[1] * (shapes.isCollective ? 2 : 1);
  if (columns != shapes.accumulator[1])
    return op->emitOpError()
           << "operand b has " << shapes.b[1]
           << " columns, but the accumulator has " << shapes.accumulator[1]
           << "; "
           << (shapes.isCollective
                   ? "in a collective matmul, b must have half as many columns "
                     "as the accumulator"
                   : "both must have the same number of columns");
  int64_t depth = shapes.a[1] * (shapes.isSparse ? 2 : 1);
  if (depth != shapes.b[0])
    return op->emitOpError()
           << "operand a has " << shapes.a[1] << " columns, but operand b has "
           << shapes.b[0] << " rows; "
           << (shapes.isSparse ? "with sparse metadata, a must have half as "
                                 "many columns as b has rows"
                               : "a must have as many columns as b has rows");
  return success();
}

static LogicalResult emitUnsupportedTypes(
    Operation *op, Type a, Type b,
    StringRef supported = "two operands of the same type, or a mix of "
                          "f8E4M3FN and f8E5M2") {
  return op->emitOpError() << "cannot multiply elements of " << a << " and "
                           << b << "; supported are " << supported;
}

/// NVIDIA's 8-bit floats, which may be mixed.
static bool isEightBitFloat(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// Whether the operands have one type, or are two 8-bit floats.
static bool isOneKind(Type a, Type b) {
  return a == b || (isEightBitFloat(a) && isEightBitFloat(b));
}

/// Checks the signs of the operands of a matmul.
template <typename OpTy>
static LogicalResult verifySigns(OpTy op, Type element) {
  if (element.isSignlessInteger(8) ||
      (!op.getUnsignedA() && !op.getUnsignedB()))
    return success();
  return op.emitOpError()
         << "unsigned_a and unsigned_b require i8 operands, but found "
         << element;
}

/// Checks the accumulator type of an asynchronous matmul.
static LogicalResult verifySum(Operation *op, Type element, Type sum) {
  if (isa<IntegerType>(element)) {
    if (sum.isSignlessInteger(32))
      return success();
    return op->emitOpError() << "a matmul of " << element
                             << " must accumulate in i32, but found " << sum;
  }
  bool takesF16 = !isa<BFloat16Type, FloatTF32Type, Float32Type>(element);
  if (sum.isF32() || (takesF16 && sum.isF16()))
    return success();
  return op->emitOpError() << "a matmul of " << element
                           << " must accumulate in f32"
                           << (takesF16 ? " or f16" : "") << ", but found "
                           << sum;
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

const targets::Target *smalti::mosaic_gpu::getTarget(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  if (!module)
    return nullptr;
  auto major = module->getAttrOfType<IntegerAttr>(kArchMajor);
  auto minor = module->getAttrOfType<IntegerAttr>(kArchMinor);
  if (!major || !minor)
    return nullptr;
  return targets::lookupComputeCapability(major.getValue().getSExtValue(),
                                          minor.getValue().getSExtValue());
}

/// Whether `mma` supports operands of these types.
static bool areMmaTypes(Type a, Type b) {
  if (isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(a))
    return isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(b);
  return isOneKind(a, b) &&
         (isEightBitFloat(a) ||
          isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(a) ||
          a.isSignlessInteger(8) || a.isSignlessInteger(4));
}

/// Whether an element of the target table is this type.
static bool isElement(targets::Element element, Type type, bool allowTF32) {
  if (element == targets::Element::TF32)
    return allowTF32 && type.isF32();
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text == targets::toString(element);
}

/// Checks that the target of the module, if any, has an instruction for the
/// element types.
static LogicalResult verifyForTarget(MMAOp op) {
  const targets::Target *target = getTarget(op);
  if (!target)
    return success();
  Type a = op.getA().getType().getElementType(),
       b = op.getB().getType().getElementType(),
       sum = op.getAccumulator().getType().getElementType();
  bool allowTF32 = op.getAllowTf32();
  bool isUnsigned = op.getUnsignedA() || op.getUnsignedB();
  SmallVector<std::string> supported;
  for (const targets::MmaInstruction &mma : target->mmas) {
    if (isUnsigned && !mma.takesUnsigned)
      continue;
    if (isElement(mma.a, a, allowTF32) && isElement(mma.b, b, allowTF32) &&
        isElement(mma.accumulator, sum, allowTF32))
      return success();
    std::string types = llvm::formatv(
        "{0} x {1} in {2}", targets::toString(mma.a), targets::toString(mma.b),
        targets::toString(mma.accumulator));
    if (!llvm::is_contained(supported, types))
      supported.push_back(std::move(types));
  }
  std::string list = supported.empty() ? "none" : llvm::join(supported, ", ");
  return op.emitOpError()
         << target->name
         << " does not have a matrix instruction that multiplies "
         << (isUnsigned ? "unsigned " : "") << a << " and " << b
         << " and accumulates in " << sum << "; supported are " << list;
}

LogicalResult MMAOp::verify() {
  VectorType accumulator = getAccumulator().getType();
  VectorType a = getA().getType(), b = getB().getType();
  for (auto [name, type] :
       {std::pair("accumulator", accumulator), std::pair("operand a", a),
        std::pair("operand b", b)})
    if (type.getRank() != 2)
      return emitOpError() << name << " must be a matrix (rank 2), but found "
                           << type;
  if (failed(verifyShapes(
          *this, {accumulator.getShape(), a.getShape(), b.getShape()})))
    return failure();
  Type element = a.getElementType();
  if (!areMmaTypes(element, b.getElementType()))
    return emitUnsupportedTypes(
        *this, element, b.getElementType(),
        "two operands of f16, of bf16, of f32, of f64, of i8 or of i4, any two "
        "of "
        "f8E4M3FN and f8E5M2, or any two of f8E4M3FNUZ and f8E5M2FNUZ");
  bool isInteger = isa<IntegerType>(element);
  Type sum = accumulator.getElementType();
  StringRef expected = isInteger         ? "i32"
                       : element.isF64() ? "f64"
                       : element.isF16() ? "f32 or f16"
                                         : "f32";
  if (isInteger         ? !sum.isSignlessInteger(32)
      : element.isF64() ? !sum.isF64()
                        : !sum.isF32() && !(element.isF16() && sum.isF16()))
    return emitOpError() << "a matmul of " << element << " must accumulate in "
                         << expected << ", but found " << sum;
  if (getAllowTf32() && !element.isF32())
    return emitOpError() << "allow_tf32 requires f32 operands, but found "
                         << element;
  if (failed(verifySigns(*this, element)) || failed(verifyForTarget(*this)))
    return failure();
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

/// Rows of one instruction.
static constexpr int64_t kWGMMARows = 64;

LogicalResult WGMMAOp::verify() {
  auto a = cast<ShapedType>(getA().getType());
  MemRefType b = getB().getType();
  VectorType accumulator = getAccumulator().getType();
  if (!a.hasStaticShape() || !b.hasStaticShape())
    return emitOpError()
           << "operands a and b must have static shapes, but found " << a
           << " and " << b;
  if (auto memory = dyn_cast<MemRefType>(getA().getType()))
    if (failed(verifyInShared(*this, "a", memory)))
      return failure();
  if (failed(verifyInShared(*this, "b", b)))
    return failure();
  if (!isOneKind(a.getElementType(), b.getElementType()))
    return emitUnsupportedTypes(*this, a.getElementType(), b.getElementType());
  if (failed(verifyShapes(
          *this, {accumulator.getShape(), a.getShape(), b.getShape()})))
    return failure();
  if (accumulator.getDimSize(0) % kWGMMARows != 0)
    return emitOpError() << "the number of rows of the accumulator must be a "
                            "multiple of "
                         << kWGMMARows << ", but is "
                         << accumulator.getDimSize(0);
  if (failed(
          verifySum(*this, a.getElementType(), accumulator.getElementType())) ||
      failed(verifySigns(*this, a.getElementType())))
    return failure();
  return verifyLayouts(*this);
}

//===----------------------------------------------------------------------===//
// tcgen05_mma
//===----------------------------------------------------------------------===//

/// The rows of one instruction are a multiple of this number.
static constexpr int64_t kTcGen05Rows = 32;

static LogicalResult verifyScales(TcGen05MMAOp op) {
  if (bool(op.getAScale()) != bool(op.getBScale()))
    return op.emitOpError() << "has a scale for only one operand; pass both "
                               "a_scale and b_scale, or neither";
  if (!op.getAScale())
    return success();
  return success(
      succeeded(verifyInTMEM(op, "a_scale", op.getAScale().getType())) &&
      succeeded(verifyInTMEM(op, "b_scale", op.getBScale().getType())));
}

static LogicalResult verifyMetadata(TcGen05MMAOp op) {
  if (!op.getASparseMetadata())
    return success();
  MemRefType metadata = op.getASparseMetadata().getType();
  MemRefType a = op.getA().getType();
  if (failed(verifyInTMEM(op, "a_sparse_metadata", metadata)))
    return failure();
  if (metadata.getShape() != a.getShape())
    return op.emitOpError()
           << "a_sparse_metadata and operand a must have the same shape, but "
              "found "
           << metadata << " and " << a;
  return success();
}

LogicalResult TcGen05MMAOp::verify() {
  MemRefType accumulator = getAccumulator().getType();
  MemRefType a = getA().getType(), b = getB().getType();
  if (!accumulator.hasStaticShape() || !a.hasStaticShape() ||
      !b.hasStaticShape())
    return emitOpError()
           << "the accumulator, a and b must have static shapes, but "
              "found "
           << accumulator << ", " << a << " and " << b;
  if (failed(verifyInTMEM(*this, "the accumulator", accumulator)))
    return failure();
  if (!isTensorMemory(a) && !isSharedMemory(a))
    return emitOpError()
           << "operand a must be in tensor memory (#mosaic_gpu.tmem) or "
              "in the address space workgroup, but found "
           << a;
  if (failed(verifyInShared(*this, "b", b)))
    return failure();
  if (!isOneKind(a.getElementType(), b.getElementType()))
    return emitUnsupportedTypes(*this, a.getElementType(), b.getElementType());
  if (failed(verifyShapes(*this,
                          {accumulator.getShape(), a.getShape(), b.getShape(),
                           bool(getASparseMetadata()), getCollective()})))
    return failure();
  if (accumulator.getDimSize(0) % kTcGen05Rows != 0)
    return emitOpError() << "the number of rows of the accumulator must be a "
                            "multiple of "
                         << kTcGen05Rows << ", but is "
                         << accumulator.getDimSize(0);
  if (failed(
          verifySum(*this, a.getElementType(), accumulator.getElementType())) ||
      failed(verifyScales(*this)) || failed(verifyMetadata(*this)))
    return failure();
  return verifyLayouts(*this);
}
