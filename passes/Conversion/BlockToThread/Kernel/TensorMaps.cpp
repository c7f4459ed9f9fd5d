//===- TensorMaps.cpp - Tensor maps of a kernel ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Kernel/TensorMaps.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Support/DynamicArguments.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

static DictionaryAttr describe(const TensorMapOfKernel &entry,
                               Builder &builder) {
  const transfers::TensorMap &map = entry.map;
  SmallVector<int64_t> steps(map.extents.size(), 1);
  auto named = [&](StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  };
  SmallVector<NamedAttribute> fields(
      {named("argument", builder.getI64IntegerAttr(entry.argument)),
       named("offset", builder.getI64IntegerAttr(entry.offset)),
       named("element", TypeAttr::get(entry.element)),
       named("extents", builder.getDenseI64ArrayAttr(map.extents)),
       named("strides", builder.getDenseI64ArrayAttr(map.strides)),
       named("box", builder.getDenseI64ArrayAttr(map.box)),
       named("element_strides", builder.getDenseI64ArrayAttr(steps)),
       named("swizzle", builder.getI64IntegerAttr(map.swizzleBytes)),
       named("fill", builder.getStringAttr("zeros"))});
  if (!map.dims.empty())
    fields.push_back(named("dims", builder.getDenseI64ArrayAttr(map.dims)));
  return builder.getDictionaryAttr(fields);
}

void block_to_thread::describeTensorMaps(gpu::GPUFuncOp func,
                                         ArrayRef<TensorMapOfKernel> maps) {
  if (maps.empty())
    return;
  Builder builder(func.getContext());
  SmallVector<Attribute> entries;
  if (auto present = func->getAttrOfType<ArrayAttr>(mosaic_gpu::kTensorMaps))
    llvm::append_range(entries, present);
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), kTensorMapBytes);
  DictionaryAttr attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(LLVM::LLVMDialect::getByValAttrName(),
                            TypeAttr::get(bytes)),
       builder.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(),
                            builder.getI64IntegerAttr(kTensorMapAlignment))});
  unsigned argument = func.getNumArguments() - maps.size();
  for (const TensorMapOfKernel &entry : maps) {
    func.setArgAttrs(argument++, attributes);
    entries.push_back(describe(entry, builder));
  }
  func->setAttr(mosaic_gpu::kTensorMaps, builder.getArrayAttr(entries));
}

void block_to_thread::addTensorMaps(gpu::GPUFuncOp func,
                                    ArrayRef<TensorMapOfKernel> maps) {
  auto pointer = LLVM::LLVMPointerType::get(func.getContext());
  for (size_t number = 0; number < maps.size(); ++number)
    (void)func.insertArgument(func.getNumArguments(), pointer, {},
                              func.getLoc());
  describeTensorMaps(func, maps);
}

void block_to_thread::addTensorMapsToLaunches(Operation *root) {
  SymbolTableCollection symbols;
  root->walk([&](gpu::LaunchFuncOp launch) {
    auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
        launch, launch.getKernelAttr());
    if (!kernel || !kernel->hasAttr(mosaic_gpu::kTensorMaps))
      return;
    OpBuilder builder(launch);
    while (launch.getNumKernelOperands() < kernel.getNumArguments())
      launch.getKernelOperandsMutable().append(
          LLVM::ZeroOp::create(builder, launch.getLoc(),
                               LLVM::LLVMPointerType::get(root->getContext()))
              .getResult());
  });
}

static_assert(transfers::kDynamicExtent == ShapedType::kDynamic);

Value block_to_thread::getOutsideWarpMap(Value memref) {
  while (auto argument = dyn_cast<BlockArgument>(memref)) {
    auto map =
        dyn_cast<mosaic_gpu::WarpMapOp>(argument.getOwner()->getParentOp());
    if (!map)
      break;
    memref = map.getOperands()[argument.getArgNumber()];
  }
  return memref;
}

/// A dynamic memref argument with its dimensions in another order.
static std::optional<GlobalTensor> findDynamicTensor(Value memref,
                                                     gpu::GPUFuncOp func) {
  GlobalTensor tensor;
  tensor.dims = llvm::to_vector(
      llvm::seq<int64_t>(cast<MemRefType>(memref.getType()).getRank()));
  std::optional<unsigned> argument;
  while (true) {
    memref = getOutsideWarpMap(memref);
    if ((argument = getDynamicArgument(memref, func)))
      break;
    Operation *op = memref.getDefiningOp();
    if (!isa_and_nonnull<memref::CastOp, memref::MemorySpaceCastOp,
                         memref::TransposeOp>(op) ||
        !isa<MemRefType>(op->getOperand(0).getType()))
      return std::nullopt;
    if (auto transpose = dyn_cast<memref::TransposeOp>(op))
      for (int64_t &dim : tensor.dims)
        dim = transpose.getPermutation().getDimPosition(dim);
    memref = op->getOperand(0);
  }
  tensor.argument = *argument;
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  for (int64_t dim : tensor.dims) {
    tensor.extents.push_back(type.getDimSize(dim));
    tensor.strides.push_back(strides[dim]);
  }
  return tensor;
}

layout::ValueOr<GlobalTensor>
block_to_thread::findGlobalTensor(Value memref, gpu::GPUFuncOp func) {
  using Result = layout::ValueOr<GlobalTensor>;
  GlobalTensor tensor;
  if (std::optional<GlobalTensor> found = findDynamicTensor(memref, func))
    return *found;
  auto type = cast<MemRefType>(memref.getType());
  if (!type.hasStaticShape())
    return Result::none("the sizes of the global memref are dynamic; static "
                        "sizes are required");
  tensor.extents.assign(type.getShape().begin(), type.getShape().end());
  bool hasStrides = false, hasOffset = false;
  int64_t bits = type.getElementTypeBitWidth(), offset = 0;
  while (true) {
    auto viewed = cast<MemRefType>(memref.getType());
    SmallVector<int64_t> strides;
    int64_t start;
    if (failed(viewed.getStridesAndOffset(strides, start)))
      return Result::none("the layout of the global memref is not strided; use "
                          "a strided layout");
    // reinterpret_cast offsets are relative to the allocation, and casts may
    // drop static values.
    if (!hasOffset && !ShapedType::isDynamic(start)) {
      hasOffset = true;
      offset = start;
    }
    if (!hasStrides && llvm::none_of(strides, [](int64_t stride) {
          return ShapedType::isDynamic(stride);
        })) {
      hasStrides = true;
      tensor.strides = strides;
    }
    memref = getOutsideWarpMap(memref);
    if (auto argument = dyn_cast<BlockArgument>(memref)) {
      if (argument.getOwner() != &func.getBody().front() ||
          argument.getArgNumber() >= func.getNumArguments())
        return Result::none(
            "which kernel argument the global memref belongs to is selected at "
            "run time; use a view of one argument");
      tensor.argument = argument.getArgNumber();
      break;
    }
    Operation *op = memref.getDefiningOp();
    bool isCast = isa<memref::CastOp, memref::MemorySpaceCastOp>(op);
    if (!hasStrides && !isCast)
      return Result::none("the strides of the global memref are dynamic; "
                          "static strides are required");
    if (!isCast && !hasOffset)
      return Result::none("the offset of the global memref in the kernel "
                          "argument is dynamic; a static offset is required");
    if (!isa<memref::CastOp, memref::MemorySpaceCastOp, memref::SubViewOp,
             memref::ReinterpretCastOp, memref::CollapseShapeOp,
             memref::ExpandShapeOp, memref::TransposeOp,
             mosaic_gpu::ReinterpretCastOp>(op))
      return Result::none("the global memref is not a view of a kernel "
                          "argument; use a view of an argument");
    memref = op->getOperand(0);
  }
  if (!hasStrides || !hasOffset)
    return Result::none(
        "the strides of the global memref, or its offset in the kernel "
        "argument, are dynamic; both must be static");
  if (offset * bits % (transfers::kTensorMapStrideBytes * 8) != 0)
    return Result::none(
        "the global memref begins at element " + std::to_string(offset) +
        " of the kernel argument, whose elements have " + std::to_string(bits) +
        " bits; the offset must be a multiple of " +
        std::to_string(transfers::kTensorMapStrideBytes) + " bytes");
  tensor.offset = offset * bits / 8;
  return tensor;
}
