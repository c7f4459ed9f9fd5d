//===- OpTable.cpp - Table of legal ops of tile-level kernels -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel may have the ops of `kOps`, with the listed element types, on every
// target, except where a row of `kGaps` matches. To make a form legal, delete
// its row in `kGaps`.
//
// Examples are the body of a kernel. test/python/legality/example.py adds the
// rest: the values that an example uses without defining them, and a store of
// `%r`. It replaces `{op}` by the op, `{e}` by an element type of the row, and
// `{t}` by the type of 16x64 such elements.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Legality/OpTable.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/IndexChecks.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

#include <cstdint>

using namespace mlir;
using namespace smalti;
using targets::Target;
using targets::Vendor;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {

/// A set of element types: one bit each.
using Elements = uint32_t;

struct ElementKind {
  Elements bit;
  StringLiteral name;
};

} // namespace

static constexpr Elements F64 = 1 << 0, F32 = 1 << 1, F16 = 1 << 2,
                          BF16 = 1 << 3, E4M3FN = 1 << 4, E5M2 = 1 << 5,
                          E4M3FNUZ = 1 << 6, E5M2FNUZ = 1 << 7,
                          E4M3B11FNUZ = 1 << 8, E4M3 = 1 << 9, E3M4 = 1 << 10,
                          E8M0FNU = 1 << 11, E2M3FN = 1 << 12, E3M2FN = 1 << 13,
                          E2M1FN = 1 << 14, I1 = 1 << 15, I2 = 1 << 16,
                          I4 = 1 << 17, I8 = 1 << 18, I16 = 1 << 19,
                          I32 = 1 << 20, I64 = 1 << 21, OtherInts = 1 << 22,
                          Index = 1 << 23,
                          /// Types that no row lists.
    Unknown = 1 << 24;

/// In the order of docs/ops.md. `i12` stands for all other widths.
static constexpr ElementKind kElements[] = {
    {F64, "f64"},
    {F32, "f32"},
    {F16, "f16"},
    {BF16, "bf16"},
    {E4M3FN, "f8E4M3FN"},
    {E5M2, "f8E5M2"},
    {E4M3FNUZ, "f8E4M3FNUZ"},
    {E5M2FNUZ, "f8E5M2FNUZ"},
    {E4M3B11FNUZ, "f8E4M3B11FNUZ"},
    {E4M3, "f8E4M3"},
    {E3M4, "f8E3M4"},
    {E8M0FNU, "f8E8M0FNU"},
    {E2M3FN, "f6E2M3FN"},
    {E3M2FN, "f6E3M2FN"},
    {E2M1FN, "f4E2M1FN"},
    {I64, "i64"},
    {I32, "i32"},
    {I16, "i16"},
    {I8, "i8"},
    {I4, "i4"},
    {I2, "i2"},
    {I1, "i1"},
    {OtherInts, "i12"},
    {Index, "index"},
};

static constexpr Elements kFloats = F64 | F32 | F16 | BF16,
                          kFloat8 = E4M3FN | E5M2 | E4M3FNUZ | E5M2FNUZ |
                                    E4M3B11FNUZ | E4M3 | E3M4 | E8M0FNU,
                          kFloat6 = E2M3FN | E3M2FN,
                          kSmallFloats = kFloat8 | kFloat6 | E2M1FN,
                          kByteInts = I64 | I32 | I16 | I8,
                          kInts = kByteInts | I4 | I2 | I1 | OtherInts,
                          kAll = kFloats | kSmallFloats | kInts | Index;

static Elements getElement(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isIndex())
    return Index;
  if (auto integer = dyn_cast<IntegerType>(element)) {
    if (!integer.isSignless())
      return Unknown;
    switch (integer.getWidth()) {
    case 1:
      return I1;
    case 2:
      return I2;
    case 4:
      return I4;
    case 8:
      return I8;
    case 16:
      return I16;
    case 32:
      return I32;
    case 64:
      return I64;
    default:
      return integer.getWidth() >= 1 && integer.getWidth() < 64 ? OtherInts
                                                                : Unknown;
    }
  }
  return TypeSwitch<Type, Elements>(element)
      .Case([](Float64Type) { return F64; })
      .Case([](Float32Type) { return F32; })
      .Case([](Float16Type) { return F16; })
      .Case([](BFloat16Type) { return BF16; })
      .Case([](Float8E4M3FNType) { return E4M3FN; })
      .Case([](Float8E5M2Type) { return E5M2; })
      .Case([](Float8E4M3FNUZType) { return E4M3FNUZ; })
      .Case([](Float8E5M2FNUZType) { return E5M2FNUZ; })
      .Case([](Float8E4M3B11FNUZType) { return E4M3B11FNUZ; })
      .Case([](Float8E4M3Type) { return E4M3; })
      .Case([](Float8E3M4Type) { return E3M4; })
      .Case([](Float8E8M0FNUType) { return E8M0FNU; })
      .Case([](Float6E2M3FNType) { return E2M3FN; })
      .Case([](Float6E3M2FNType) { return E3M2FN; })
      .Case([](Float4E2M1FNType) { return E2M1FN; })
      .Default([](Type) { return Unknown; });
}

static std::string nameElements(Elements elements) {
  SmallVector<StringRef> names;
  if ((elements & kInts) == kInts) {
    names.push_back("integers");
    elements &= ~kInts;
  }
  for (const ElementKind &kind : kElements)
    if (elements & kind.bit)
      names.push_back(kind.bit == OtherInts ? "other integers" : kind.name);
  if (names.size() < 2)
    return names.empty() ? "" : names.front().str();
  StringRef last = names.pop_back_val();
  return llvm::join(names, ", ") + " or " + last.str();
}

/// The types of the operands and results of an op, or of the memory of a
/// kernel.
static SmallVector<Type> getTypes(Operation *op) {
  if (auto func = dyn_cast<triton_xla::EntryFuncOp>(op))
    return llvm::to_vector(llvm::make_filter_range(func.getArgumentTypes(),
                                                   llvm::IsaPred<MemRefType>));
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return types;
}

/// The first type of the op with one of the elements.
static Type findType(Operation *op, Elements elements) {
  for (Type type : getTypes(op))
    if (getElement(type) & elements)
      return getElementTypeOrSelf(type);
  return {};
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static bool isTensor(Type type) { return isa<TensorType>(type); }

static bool isMemoryOp(Operation *op) {
  return isa<triton_xla::EntryFuncOp, triton_xla::ExtractOp,
             triton_xla::InsertOp, triton_xla::GatherOp, triton_xla::ScatterOp,
             triton_xla::AtomicRMWOp, triton_xla::AtomicCASOp, memref::LoadOp,
             memref::StoreOp, memref::DimOp, memref::AtomicRMWOp>(op);
}

static bool hasMemRef(Operation *op) {
  return !isMemoryOp(op) &&
         llvm::any_of(getTypes(op), llvm::IsaPred<BaseMemRefType>);
}

static bool hasVector(Operation *op) {
  return llvm::any_of(getTypes(op), llvm::IsaPred<VectorType>);
}

/// Whether a tile is not of the type that the ops of triton_xla have.
static bool hasInvalidTile(Operation *op) {
  return llvm::any_of(getTypes(op), [](Type type) {
    if (!isTensor(type))
      return false;
    auto tile = dyn_cast<RankedTensorType>(type);
    return !tile || !tile.hasStaticShape() || tile.getEncoding() ||
           llvm::is_contained(tile.getShape(), 0) ||
           !triton_xla::fitsTile(tile.getShape());
  });
}

static bool hasComplex(Operation *op) {
  return llvm::any_of(getTypes(op), [](Type type) {
    return isa<ComplexType>(getElementTypeOrSelf(type));
  });
}

template <typename Predicate>
static bool anyMemory(Operation *op, Predicate predicate) {
  return llvm::any_of(getTypes(op), [&](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref && predicate(memref);
  });
}

static bool hasMemorySpace(Operation *op) {
  return anyMemory(op,
                   [](MemRefType type) { return bool(type.getMemorySpace()); });
}

static bool hasOtherLayout(Operation *op) {
  return anyMemory(op, [](MemRefType type) { return !type.isStrided(); });
}

/// Whether the elements of a constant are not a dense array.
static bool isNotDense(Operation *op) {
  auto elements =
      dyn_cast<ElementsAttr>(cast<arith::ConstantOp>(op).getValue());
  return elements && !isa<DenseElementsAttr>(elements);
}

static bool isTooLarge(Operation *op) {
  return anyMemory(op, [](MemRefType type) {
    SmallVector<int64_t> strides = type.getStridesAndOffset().first;
    return type.hasStaticShape() && !llvm::is_contained(type.getShape(), 0) &&
           llvm::none_of(strides, ShapedType::isDynamic) &&
           !getElementSpan(type);
  });
}

/// Whether the name of the kernel is not a valid assembler symbol.
static bool hasQuotedName(Operation *op) {
  StringRef name = cast<triton_xla::EntryFuncOp>(op).getSymName();
  return name.empty() || llvm::isDigit(name.front()) ||
         !llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '$';
         });
}

/// Whether the op is in exactly `limit` ops of the given kinds, so that only
/// the outermost op beyond the limit is reported.
template <typename... Kinds>
static bool isNestedIn(Operation *op, unsigned limit) {
  unsigned depth = 0;
  while ((op = op->getParentOp()) && depth <= limit)
    depth += isa<Kinds...>(op);
  return depth == limit;
}

static bool isInTooManyLoops(Operation *op) {
  return isNestedIn<scf::ForOp, scf::WhileOp>(op, 16);
}

static bool isInTooManyRegions(Operation *op) {
  return isNestedIn<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(
      op, 64);
}

/// Whether the op asks for a dimension that the memref does not have.
static bool hasWrongDimension(Operation *op) {
  auto dim = cast<memref::DimOp>(op);
  auto type = dyn_cast<MemRefType>(dim.getSource().getType());
  std::optional<int64_t> number = dim.getConstantIndex();
  return type && number && (*number < 0 || *number >= type.getRank());
}

/// Number of elements from which a sort rounds up dimensions that it does not
/// sort.
static constexpr int64_t kMinRoundedSort = 2048;

SmallVector<int64_t> smalti::getSortedShape(triton_xla::SortOp sort) {
  ArrayRef<int64_t> shape = sort.getInputType().getShape();
  auto dim = static_cast<int64_t>(sort.getDim());
  int64_t outer = ShapedType::getNumElements(shape.take_front(dim)),
          inner = ShapedType::getNumElements(shape.drop_front(dim + 1));
  auto size = static_cast<int64_t>(llvm::PowerOf2Ceil(shape[dim]));
  // In small tiles, a thread has so few elements that the padding of each step
  // costs less. Threads do not divide a tile with two rounded sizes.
  if (size == 1 || outer * inner < kMinRoundedSort / size ||
      (!llvm::isPowerOf2_64(outer) && !llvm::isPowerOf2_64(inner)))
    return {outer, size, inner};
  auto round = [](int64_t size) {
    auto power = static_cast<int64_t>(llvm::PowerOf2Ceil(size));
    return static_cast<int64_t>(
        llvm::alignTo(size, std::max<int64_t>(power / 8, 1)));
  };
  return {round(outer), size, round(inner)};
}

static bool sortsTooMany(Operation *op) {
  return !triton_xla::fitsTile(getSortedShape(cast<triton_xla::SortOp>(op)));
}

/// The shared memory of the counts of a histogram.
static int64_t getCountBytes(Operation *op) {
  return static_cast<int64_t>(cast<triton_xla::HistogramOp>(op).getBins()) * 4;
}

/// The shared memory through which the largest input of a sort, or the 32-bit
/// positions, move.
static int64_t getSortBytes(Operation *op) {
  auto sort = cast<triton_xla::SortOp>(op);
  if (sort.getInputType().getDimSize(sort.getDim()) == 1)
    return 0;
  int64_t bits = 32;
  for (Value input : sort.getInputs()) {
    Type element = getElementTypeOrSelf(input.getType());
    bits = std::max<int64_t>(
        bits, element.isIndex() ? 64 : element.getIntOrFloatBitWidth());
  }
  return ShapedType::getNumElements(getSortedShape(sort)) *
         static_cast<int64_t>(llvm::PowerOf2Ceil(bits)) / 8;
}

/// Whether external code has neither code for GPUs of the vendor nor a
/// reference. The reference of code for the vendor is not used on its GPUs.
template <triton_xla::GPUVendor vendor> static bool lacksCode(Operation *op) {
  std::optional<triton_xla::ExternalCode> code =
      triton_xla::ExternalCode::of(op);
  if (code->vendor == vendor || !code->reference->empty())
    return false;
  for (Operation *outer = op; (outer = outer->getParentOp());)
    if (code = triton_xla::ExternalCode::of(outer);
        code && code->vendor == vendor)
      return false;
  return true;
}

static bool lacksReference(Operation *op) {
  return triton_xla::ExternalCode::of(op)->reference->empty();
}

static arith::AtomicRMWKind getAtomicKind(Operation *op) {
  if (auto update = dyn_cast<memref::AtomicRMWOp>(op))
    return update.getKind();
  return cast<triton_xla::AtomicRMWOp>(op).getKind();
}

static bool computes(Operation *op) {
  return getAtomicKind(op) != arith::AtomicRMWKind::assign;
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

namespace {

/// Targets, one bit each.
enum Platforms : uint8_t {
  CPU = 1,
  NVIDIA = 2,
  AMD = 4,
  GPUs = 6,
  All = 7,
  /// The simulator of GPUs, in addition to what the chip does not support.
  Simulator = 8
};

/// Ops that kernels may have.
struct OpRow {
  /// Names, separated by spaces.
  StringLiteral ops;
  /// The types of the first operand, or of the first result if the op has no
  /// operands.
  Elements elements;
  StringLiteral example;
  /// The type of `%r` in the example.
  StringLiteral result = "";
};

/// A form of ops that targets do not support.
struct GapRow {
  /// Names, separated by spaces. `*` is any op, `math.*` any of the dialect.
  StringLiteral ops;
  Platforms platforms;
  /// The row matches if a type of the op has one of these elements; 0: any.
  Elements elements;
  /// The form, after the name of the op in the message; empty: all forms.
  /// `{e}` is the type with one of the elements.
  StringLiteral form;
  bool (*hasForm)(Operation *);
  StringLiteral reason;
  /// The remedy; may be empty.
  StringLiteral remedy;
  /// A kernel with the form; empty: the example of the op with the elements.
  StringLiteral example = "";
  StringLiteral result = "";
  /// Restricts the gap to chips; null: all of the platforms.
  bool (*isOn)(const Target &) = nullptr;
  /// Restricts the gap to ops that need more bytes of shared memory than a
  /// block of the target has. The message appends both to the reason.
  int64_t (*getSharedBytes)(Operation *) = nullptr;
};

} // namespace

static constexpr StringLiteral kBools = "tensor<16x64xi1>";

static constexpr OpRow kOps[] = {
#define GET_OPS
#include "smalti/passes/Legality/OpTable.def"
};

static constexpr GapRow kGaps[] = {
#define GET_GAPS
#include "smalti/passes/Legality/OpTable.def"
};

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// Whether a row of the table has the op.
static bool lists(StringRef ops, StringRef name) {
  while (!ops.empty()) {
    auto [op, rest] = ops.split(' ');
    if (op == name || (op.consume_back("*") && name.starts_with(op)))
      return true;
    ops = rest;
  }
  return false;
}

static bool isOn(const GapRow &gap, const Target &target) {
  Platforms platform = target.vendor == Vendor::CPU      ? CPU
                       : target.vendor == Vendor::NVIDIA ? NVIDIA
                                                         : AMD;
  return gap.platforms & platform && (!gap.isOn || gap.isOn(target));
}

/// The end of the sentence that names the targets.
static std::string nameTargets(const GapRow &gap, const Target *target) {
  if ((gap.isOn || gap.getSharedBytes) && target)
    return " on " + target->name.str();
  switch (gap.platforms) {
  case CPU:
    return " on CPUs";
  case NVIDIA:
    return " on NVIDIA GPUs";
  case AMD:
    return " on AMD GPUs";
  case Simulator:
    return " in the simulator";
  case GPUs:
    return " on GPUs";
  default:
    return "";
  }
}

static bool matches(const GapRow &gap, Operation *op, const Target *target) {
  return lists(gap.ops, op->getName().getStringRef()) &&
         (gap.elements == 0 || findType(op, gap.elements)) &&
         (!gap.hasForm || gap.hasForm(op)) &&
         (!gap.getSharedBytes ||
          (target && gap.getSharedBytes(op) > target->sharedMemoryPerBlock));
}

static std::string describeGap(const GapRow &gap, Operation *op,
                               const Target *target) {
  std::string form = gap.form.str();
  if (size_t at = form.find("{e}"); at != std::string::npos)
    form.replace(at, 3, describe(findType(op, gap.elements)));
  if (!form.empty())
    form.insert(0, " ");
  std::string sentence = quote(op) + form + " is not supported" +
                         nameTargets(gap, target) + ": " + gap.reason.str();
  if (gap.getSharedBytes)
    sentence += ", here " + std::to_string(gap.getSharedBytes(op)) +
                " B, and a block has " +
                std::to_string(target->sharedMemoryPerBlock) + " B";
  if (!gap.remedy.empty())
    sentence += "; " + gap.remedy.str();
  return sentence;
}

/// The remedy for an op that neither the table nor `getReplacement` lists.
static StringRef getReplacementOfDialect(StringRef dialect) {
  return llvm::StringSwitch<StringRef>(dialect)
      .Cases({"linalg", "vector"},
             "use ops of arith, math and triton_xla on tiles; docs/ops.md "
             "lists the supported ops")
      .Cases({"affine", "index"}, "use ops of arith on index values")
      .Default("docs/ops.md lists the supported ops");
}

/// The remedy for an op that the table does not list.
static StringRef getReplacement(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("cf.assert", "use triton_xla.assert")
      .Cases({"gpu.printf", "vector.print"}, "use triton_xla.print")
      .Case("gpu.barrier",
            "remove it: smalti-compile inserts the barriers of a tile")
      .Cases({"gpu.block_id", "gpu.thread_id", "gpu.global_id"},
             "use the tile id, the last argument of the kernel")
      .Cases({"linalg.matmul", "linalg.batch_matmul", "linalg.dot",
              "linalg.matvec", "linalg.vecmat", "linalg.contract",
              "vector.contract", "vector.outerproduct"},
             "use triton_xla.dot")
      .Cases({"linalg.reduce", "vector.reduction", "vector.multi_reduction"},
             "use triton_xla.reduce")
      .Case("vector.scan", "use triton_xla.scan")
      .Cases({"linalg.broadcast", "vector.broadcast"},
             "use triton_xla.broadcast, or tensor.splat for a scalar")
      .Cases({"linalg.transpose", "vector.transpose"},
             "use triton_xla.transpose")
      .Cases({"linalg.fill", "tensor.empty", "tensor.from_elements"},
             "use a constant tensor or tensor.splat")
      .Cases({"tensor.generate", "vector.step"}, "use triton_xla.iota")
      .Cases({"tensor.extract_slice", "vector.extract_strided_slice"},
             "use triton_xla.slice")
      .Cases({"tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape",
              "vector.shape_cast"},
             "use triton_xla.reshape")
      .Case("tensor.concat", "use triton_xla.concat")
      .Case("tensor.gather", "use triton_xla.gather_tile")
      .Case("tensor.dim", "use a constant: a tile has a static shape")
      .Case("tensor.pad", "use triton_xla.extract with a window that is "
                          "partly out of bounds, or triton_xla.mask")
      .Cases({"memref.copy", "memref.subview", "memref.reinterpret_cast",
              "memref.cast", "tensor.insert_slice", "vector.load",
              "vector.store", "vector.transfer_read", "vector.transfer_write",
              "bufferization.to_tensor",
              "bufferization.materialize_in_destination"},
             "use triton_xla.extract and triton_xla.insert")
      .Cases({"vector.gather", "vector.maskedload"}, "use triton_xla.gather")
      .Cases({"vector.scatter", "vector.maskedstore"}, "use triton_xla.scatter")
      .Cases({"memref.alloc", "memref.alloca"},
             "use a tile for local values, or memory that the caller passes")
      .Cases({"scf.forall", "scf.parallel", "affine.for", "affine.parallel",
              "cf.br", "cf.cond_br"},
             "use scf.for, scf.while or scf.if")
      .Cases({"func.call", "func.return"},
             "remove it: inline the function, and end the kernel with "
             "triton_xla.return")
      .Default(getReplacementOfDialect(name.split('.').first));
}

/// The sentence that refuses an op because it is not in the table, or has a gap
/// that applies.
static std::optional<std::string>
findRefusal(Operation *op, const Target *target,
            llvm::function_ref<bool(const GapRow &)> applies) {
  // smalti-expand-tile-ops creates checks.
  if (auto check = dyn_cast<cf::AssertOp>(op); check && matchIndexCheck(check))
    return std::nullopt;
  StringRef name = op->getName().getStringRef();
  Elements elements = 0;
  for (const OpRow &row : kOps)
    if (lists(row.ops, name))
      elements |= row.elements;
  if (elements == 0)
    return quote(op) + " is not supported in a tile-level kernel; " +
           getReplacement(name).str();
  for (const GapRow &gap : kGaps)
    if (applies(gap) && matches(gap, op, target))
      return describeGap(gap, op, target);
  // Verifiers relate the other types to this one, and restrict conditions and
  // positions.
  SmallVector<Type> types = getTypes(op);
  if (types.empty() || getElement(types.front()) & elements)
    return std::nullopt;
  return quote(op) + " of " + describe(getElementTypeOrSelf(types.front())) +
         " is not supported: its elements must be " + nameElements(elements);
}

std::optional<std::string>
smalti::getRefusal(Operation *op, const Target *target, bool isSimulated) {
  return findRefusal(op, target, [&](const GapRow &gap) {
    return target ? isOn(gap, *target) ||
                        (isSimulated && gap.platforms & Simulator)
                  : gap.platforms == All && !gap.isOn;
  });
}

std::optional<std::string> smalti::getExpansionRefusal(Operation *op) {
  std::optional<std::string> refusal;
  op->walk<WalkOrder::PreOrder>([&](Operation *nested) {
    refusal = findRefusal(nested, /*target=*/nullptr, [](const GapRow &gap) {
      return (gap.platforms & GPUs) == GPUs && !gap.isOn;
    });
    return refusal ? WalkResult::interrupt() : WalkResult::advance();
  });
  return refusal;
}

void smalti::forEachRefusal(
    triton_xla::EntryFuncOp func, const Target *target, bool isSimulated,
    llvm::function_ref<void(Operation *, std::string)> report) {
  func->walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<std::string> refusal = getRefusal(op, target, isSimulated);
    if (!refusal)
      return WalkResult::advance();
    report(op, std::move(*refusal));
    return op == func ? WalkResult::advance() : WalkResult::skip();
  });
}

LogicalResult smalti::checkLegality(triton_xla::EntryFuncOp func,
                                    const Target *target) {
  bool isLegal = true;
  forEachRefusal(func, target, /*isSimulated=*/false,
                 [&](Operation *op, const std::string &refusal) {
                   op->emitError() << refusal;
                   isLegal = false;
                 });
  return success(isLegal);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeCommon(llvm::json::OStream &json, StringRef ops,
                        Elements elements, StringRef example,
                        StringRef result) {
  json.attributeArray("ops", [&] {
    for (StringRef op : llvm::split(ops, ' '))
      json.value(op);
  });
  json.attributeArray("elements", [&] {
    for (const ElementKind &kind : kElements)
      if (elements & kind.bit)
        json.value(kind.name);
  });
  json.attribute("example", example);
  json.attribute("result", result);
}

std::string smalti::opTableToJSON() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attributeArray("ops", [&] {
      for (const OpRow &row : kOps)
        json.object([&] {
          writeCommon(json, row.ops, row.elements, row.example, row.result);
        });
    });
    json.attributeArray("gaps", [&] {
      for (const GapRow &gap : kGaps)
        json.object([&] {
          writeCommon(json, gap.ops, gap.elements, gap.example, gap.result);
          json.attribute("form", gap.form);
          json.attribute("reason", gap.reason);
          json.attribute("remedy", gap.remedy);
          json.attributeArray("targets", [&] {
            for (const Target *target : targets::all())
              if (isOn(gap, *target))
                json.value(target->name);
            if (gap.platforms & Simulator)
              json.value("sim");
          });
        });
    });
  });
  return text;
}
