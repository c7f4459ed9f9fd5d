//===- HostTensorMaps.cpp - Tensor maps encoded by host code --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToGPU/HostTensorMaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace smalti;
using block_to_thread::TensorMapOfKernel;

/// (map, address, element type, rank, sizes, strides, swizzle bytes, box)
static constexpr llvm::StringLiteral kEncoder = "mosaic_gpu_init_tma_desc";

bool smalti::isHostArray(Value value) {
  auto type = dyn_cast<LLVM::LLVMArrayType>(value.getType());
  return type && type.getElementType().isInteger(8);
}

/// The element type of a type number of the encoder; null for an unknown
/// number. Types without a number are copied as integers of the same size.
static Type getElementType(int64_t number, MLIRContext *context) {
  Builder builder(context);
  switch (number) {
  case 0:
    return builder.getIntegerType(4);
  case 1:
    return builder.getIntegerType(8);
  case 2:
    return builder.getIntegerType(16);
  case 3:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case 4:
    return builder.getIntegerType(64, /*isSigned=*/false);
  case 5:
    return builder.getF16Type();
  case 6:
    return builder.getF32Type();
  case 7:
    return builder.getBF16Type();
  case 8:
    return builder.getIntegerType(2);
  case 9:
    return builder.getIntegerType(32, /*isSigned=*/true);
  case 10:
    return builder.getIntegerType(64, /*isSigned=*/true);
  default:
    return {};
  }
}

/// The value of an integer that is known at compile time.
static std::optional<int64_t> evaluate(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return evaluate(op->getOperand(0));
  auto metadata = dyn_cast_or_null<memref::ExtractStridedMetadataOp>(op);
  if (!metadata)
    return std::nullopt;
  auto type = cast<MemRefType>(metadata.getSource().getType());
  SmallVector<int64_t> strides;
  int64_t known;
  if (failed(type.getStridesAndOffset(strides, known)))
    return std::nullopt;
  for (auto [number, size] : llvm::enumerate(metadata.getSizes()))
    if (value == size)
      known = type.getDimSize(number);
  for (auto [number, stride] : llvm::enumerate(metadata.getStrides()))
    if (value == stride)
      known = strides[number];
  return ShapedType::isDynamic(known) ? std::nullopt : std::optional(known);
}

/// The constant index of an address computation with a single index, in
/// elements of a type.
static std::optional<int64_t> getConstantIndex(LLVM::GEPOp element, Type type) {
  if (element.getElemType() != type ||
      element.getRawConstantIndices().size() != 1)
    return std::nullopt;
  if (element.getDynamicIndices().empty())
    return element.getRawConstantIndices().front();
  return evaluate(element.getDynamicIndices().front());
}

/// Calls `visit(use, index)` for every use of an array and of addresses of its
/// elements. Returns an address that is not constant, if there is one.
static Operation *visitUses(Value array, Type elementType,
                            function_ref<void(OpOperand &, int64_t)> visit) {
  for (OpOperand &use : array.getUses()) {
    auto element = dyn_cast<LLVM::GEPOp>(use.getOwner());
    if (!element) {
      visit(use, 0);
      continue;
    }
    std::optional<int64_t> index = getConstantIndex(element, elementType);
    if (!index)
      return element;
    for (OpOperand &user : element.getResult().getUses())
      visit(user, *index);
  }
  return nullptr;
}

/// A call of the encoder; null for another op.
static func::CallOp getEncoderCall(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call && call.getCallee() == kEncoder && call.getNumOperands() == 8
             ? call
             : func::CallOp();
}

/// Whether `op` runs exactly once before each run of `reader`.
static bool isBefore(Operation *op, Operation *reader) {
  return op->getBlock() == reader->getBlock() && op->isBeforeInBlock(reader);
}

/// Why a use of an array of integers that an encoder call reads is not
/// supported. Empty if the use is a store of an i64 before the call, or a read
/// by an encoder call.
static std::string findUnsupportedUse(OpOperand &use, func::CallOp call) {
  if (auto encoder = getEncoderCall(use.getOwner()))
    return llvm::is_contained({4u, 5u, 7u}, use.getOperandNumber())
               ? ""
               : "the array is operand " +
                     std::to_string(use.getOperandNumber()) +
                     " of this encoder call; only the size, stride and box "
                     "operands (4, 5 and 7) are supported";
  auto store = dyn_cast<LLVM::StoreOp>(use.getOwner());
  if (!store || store.getAddr() != use.get() || store.getValue() == use.get())
    return "this op uses the array, but does not store an element to it; only "
           "stores of elements and encoder calls may use the array";
  if (!store.getValue().getType().isInteger(64))
    return "this op stores a value of another type than i64 to the array of "
           "sizes, strides or box extents, whose elements are i64; store an "
           "i64";
  if (!isBefore(store, call))
    return "this store to the array does not precede the encoder call in the "
           "same MLIR block; move it before the call";
  return "";
}

/// The first integers, as many as requested, that the host code stores to an
/// array of i64 before a call reads them.
static std::optional<SmallVector<int64_t>>
readIntegers(func::CallOp call, unsigned operand, StringRef name, int64_t count,
             TensorMapRefusal &refusal) {
  Value array = call.getOperand(operand);
  std::string description = ("the array of " + name + ", operand " +
                             Twine(operand) + " of this call, ")
                                .str();
  auto refuse = [&](Operation *op, std::string note) {
    if (!refusal.op) {
      refusal.op = op;
      refusal.note = std::move(note);
    }
    return std::nullopt;
  };
  if (!array.getDefiningOp<LLVM::AllocaOp>())
    return refuse(call, description + "is not allocated by llvm.alloca in the "
                                      "host function; use llvm.alloca");
  SmallVector<std::optional<int64_t>> values(count);
  SmallVector<LLVM::StoreOp> stores(count);
  auto note = [&](OpOperand &use, int64_t index) {
    if (std::string fault = findUnsupportedUse(use, call); !fault.empty()) {
      refuse(use.getOwner(), fault);
      return;
    }
    auto store = dyn_cast<LLVM::StoreOp>(use.getOwner());
    if (!store || index < 0 || index >= count)
      return;
    // The order of uses is unspecified.
    if (LLVM::StoreOp other = stores[index])
      refuse(other->isBeforeInBlock(store) ? store : other,
             "this store overwrites an element of the array; store each "
             "element once");
    stores[index] = store;
    values[index] = evaluate(store.getValue());
    if (!values[index])
      refuse(
          store,
          "the value that this store writes is not constant; store a constant");
  };
  if (Operation *unknown =
          visitUses(array, IntegerType::get(array.getContext(), 64), note))
    refuse(unknown, "this address is not a constant multiple of 8 bytes after "
                    "the start of the array; use a constant index");
  if (refusal.op)
    return std::nullopt;
  if (llvm::is_contained(values, std::nullopt))
    return refuse(call, description +
                            "must have one element per dimension of the tensor "
                            "map, but the host function does not store all of "
                            "them; store them before the call");
  return llvm::map_to_vector(
      values, [](std::optional<int64_t> value) { return *value; });
}

/// The memref whose address a pointer is based on, and the offset in elements.
static std::optional<std::pair<Value, int64_t>> findMemRef(Value pointer) {
  int64_t bits = 0;
  if (auto element = pointer.getDefiningOp<LLVM::GEPOp>()) {
    std::optional<int64_t> known =
        getConstantIndex(element, element.getElemType());
    if (!known || !element.getElemType().isIntOrFloat() ||
        llvm::MulOverflow<int64_t>(
            *known, element.getElemType().getIntOrFloatBitWidth(), bits))
      return std::nullopt;
    pointer = element.getBase();
  }
  auto toPointer = pointer.getDefiningOp<LLVM::IntToPtrOp>();
  if (!toPointer)
    return std::nullopt;
  Value integer = toPointer.getArg();
  if (auto cast = integer.getDefiningOp<arith::IndexCastOp>())
    integer = cast.getIn();
  auto extract =
      integer.getDefiningOp<memref::ExtractAlignedPointerAsIndexOp>();
  if (!extract)
    return std::nullopt;
  Value memref = extract.getSource();
  // Views have the aligned pointer of their source.
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
             memref::ReinterpretCastOp, memref::SubViewOp, memref::TransposeOp>(
            op))
      break;
    memref = op->getOperand(0);
  }
  return std::pair(memref, bits / 8);
}

static std::optional<TensorMapOfKernel>
readCall(func::CallOp call, GetEntry getEntry, TensorMapRefusal &refusal) {
  auto refuse = [&](std::string reason) {
    refusal.reason = std::move(reason);
    return std::nullopt;
  };
  TensorMapOfKernel entry;
  auto memref = findMemRef(call.getOperand(1));
  if (!memref)
    return refuse(
        "the global address that is passed to the encoder call is not that of "
        "a memref; use memref.extract_aligned_pointer_as_index");
  std::string why;
  std::optional<int64_t> argument = getEntry(memref->first, why);
  if (!argument)
    return refuse("the memref that it describes is not loaded from the "
                  "function's array of pointers: " +
                  why);
  entry.argument = *argument;

  std::optional<int64_t> number = evaluate(call.getOperand(2)),
                         rank = evaluate(call.getOperand(3)),
                         swizzle = evaluate(call.getOperand(6));
  entry.element = number ? getElementType(*number, call.getContext()) : Type();
  if (!entry.element) {
    int64_t last = 0;
    while (getElementType(last + 1, call.getContext()))
      ++last;
    return refuse("the element type that is passed to the encoder call must be "
                  "a constant from 0 to " +
                  std::to_string(last));
  }
  if (!rank || *rank < 1 || *rank > transfers::kMaxTensorMapDims || !swizzle)
    return refuse("the rank that is passed to the encoder call must be a "
                  "constant from 1 to " +
                  std::to_string(transfers::kMaxTensorMapDims) +
                  ", and the swizzle a constant");
  auto extents = readIntegers(call, 4, "sizes", *rank, refusal),
       strides = readIntegers(call, 5, "strides", *rank, refusal),
       box = readIntegers(call, 7, "box extents", *rank, refusal);
  if (!extents || !strides || !box)
    return refuse(
        "the sizes, strides or box of the encoder call are not constant");

  int64_t bits = entry.element.getIntOrFloatBitWidth();
  entry.offset = memref->second;
  // Several elements of a byte are one element of the map.
  int64_t packing = std::max<int64_t>(8 / bits, 1);
  if (packing > 1) {
    entry.element = IntegerType::get(call.getContext(), 8);
    if (strides->back() != 1 || extents->back() % packing != 0 ||
        box->back() % packing != 0)
      return refuse(
          "the rows of the global array or of the box are not whole bytes; use "
          "rows that are a multiple of 8 bits and contiguous");
    extents->back() /= packing;
    box->back() /= packing;
  }
  entry.map.elementBits = std::max<int64_t>(bits, 8);
  entry.map.extents = std::move(*extents);
  entry.map.box = std::move(*box);
  entry.map.swizzleBytes = *swizzle;
  for (int64_t stride : *strides)
    entry.map.strides.push_back(stride * bits / 8);
  entry.map.strides.back() = strides->back() * entry.map.elementBits / 8;
  return entry;
}

std::optional<HostTensorMaps>
smalti::readHostTensorMaps(Value array, GetEntry getEntry,
                           TensorMapRefusal &refusal) {
  auto load = array.getDefiningOp<LLVM::LoadOp>();
  if (!load || !load.getAddr().getDefiningOp<LLVM::AllocaOp>()) {
    refusal.reason =
        "the array is not an llvm.alloca of the host function; use llvm.alloca";
    return std::nullopt;
  }
  HostTensorMaps maps;
  auto refuse = [&](std::string reason, Operation *op, std::string note) {
    refusal = {std::move(reason), op, std::move(note)};
  };
  Operation *unknown = visitUses(
      load.getAddr(), IntegerType::get(array.getContext(), 8),
      [&](OpOperand &use, int64_t offset) {
        if (isa<LLVM::LoadOp>(use.getOwner()) || !refusal.reason.empty())
          return;
        func::CallOp call = getEncoderCall(use.getOwner());
        if (!call || use.getOperandNumber() != 0)
          return refuse("the array is used by an op other than calls that "
                        "encode tensor maps",
                        use.getOwner(),
                        "this use of the array is not a call that encodes a "
                        "tensor map; remove it");
        std::string map = "the tensor map at byte " + std::to_string(offset);
        if (!isBefore(call, load))
          return refuse(map + ": the call that encodes it does not precede the "
                              "load of the array",
                        call,
                        "this call does not precede the load of the array in "
                        "the same MLIR block; move it before the load");
        std::optional<TensorMapOfKernel> entry =
            readCall(call, getEntry, refusal);
        if (!entry)
          refusal.reason = map + ": " + refusal.reason;
        else if (!maps.try_emplace(offset, *entry).second)
          refuse("two tensor maps are encoded at byte " +
                     std::to_string(offset),
                 call, "the second tensor map is encoded here");
      });
  if (unknown && refusal.reason.empty())
    refuse("an address inside the array is not constant; use a constant offset",
           unknown, "the address is here");
  if (!refusal.reason.empty())
    return std::nullopt;
  return maps;
}
