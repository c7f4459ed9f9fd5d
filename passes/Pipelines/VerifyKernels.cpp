//===- VerifyKernels.cpp - smalti-verify-kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Analysis/Integers/Divisions.h"
#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/MultiBuffering/BufferSlots.h"
#include "smalti/passes/Pipelining/LoopSchedule.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/IndexChecks.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIVERIFYKERNELS
#define GEN_PASS_DEF_SMALTIVERIFYKERNELS
#include "smalti/passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;

/// The floating-point type in `type` that LLVM does not support, e.g. tf32 in
/// memref<4xcomplex<tf32>>, or null. Upstream's conversions crash on types that
/// contain one.
static Type findUnsupportedType(const LLVMTypeConverter &converter, Type type) {
  if (isa<FloatType>(type))
    return converter.convertType(type) ? Type() : type;
  if (isa<ShapedType>(type))
    return findUnsupportedType(converter, getElementTypeOrSelf(type));
  if (auto complex = dyn_cast<ComplexType>(type))
    return findUnsupportedType(converter, complex.getElementType());
  return {};
}

static bool isKnownSpace(Attribute space) {
  return !space || isa<IntegerAttr, gpu::AddressSpaceAttr>(space);
}

/// Whether the memory spaces of the memref and of memrefs in it are supported.
static bool isInKnownSpaces(BaseMemRefType type) {
  auto inner = dyn_cast<BaseMemRefType>(type.getElementType());
  return isKnownSpace(type.getMemorySpace()) &&
         (!inner || isInKnownSpaces(inner));
}

/// Lets the converter accept all memory spaces. They are checked separately,
/// since upstream's error does not have a location.
static void acceptMemorySpaces(LLVMTypeConverter &converter) {
  converter.addTypeAttributeConversion([](BaseMemRefType memref, Attribute) {
    return IntegerAttr::get(IntegerType::get(memref.getContext(), 64), 0);
  });
}

/// Checks the type of a kernel argument and returns what is wrong. A launch
/// passes memrefs as bare pointers.
static std::optional<std::string>
checkArgument(const LLVMTypeConverter &converter, Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  if (memref && !LLVMTypeConverter::canConvertToBarePtr(memref))
    return std::string("; a static shape, static strides and a static offset "
                       "are required");
  if (memref && !isInKnownSpaces(memref))
    return std::string("; a numbered or GPU memory space is required");
  Type unknown = findUnsupportedType(converter, type);
  // Types of other dialects may have their own conversions.
  if (Type inner = memref ? memref.getElementType() : type;
      !unknown && (memref || isa<BuiltinDialect>(type.getDialect())) &&
      !converter.convertType(inner))
    unknown = inner;
  if (!unknown)
    return std::nullopt;
  return "; LLVM does not support '" + describe(unknown) +
         "'; use a type that it supports, such as f32";
}

/// Checks the arguments and attributions of kernels. Upstream's conversion of
/// gpu.func does not report which argument it rejects, and crashes on
/// attributions whose types do not convert.
static LogicalResult verifyArguments(ModuleOp module) {
  bool isValid = true;
  LLVMTypeConverter converter(module.getContext());
  acceptMemorySpaces(converter);
  module->walk([&](gpu::GPUFuncOp func) {
    for (auto [number, type] : llvm::enumerate(func.getArgumentTypes())) {
      std::optional<std::string> wrong = checkArgument(converter, type);
      if (!wrong)
        continue;
      isValid = false;
      InFlightDiagnostic diagnostic =
          emitError(func.isExternal() ? func.getLoc()
                                      : func.getArgument(number).getLoc());
      diagnostic << "argument " << number << " of @" << func.getName()
                 << " has type " << type << *wrong;
    }
    for (BlockArgument attribution : llvm::concat<const BlockArgument>(
             func.getWorkgroupAttributions(), func.getPrivateAttributions())) {
      auto type = cast<MemRefType>(attribution.getType());
      Type unknown = findUnsupportedType(converter, type);
      if (!unknown && isInKnownSpaces(type) && type.hasStaticShape() &&
          type.getLayout().isIdentity())
        continue;
      isValid = false;
      InFlightDiagnostic diagnostic = emitError(attribution.getLoc());
      diagnostic << "memory attribution of @" << func.getName() << " has ";
      if (unknown)
        diagnostic << "elements of type " << unknown
                   << "; LLVM does not support this type; use one that it "
                      "supports, such as f32";
      else
        diagnostic << "type " << type
                   << "; a static shape, an identity layout and a numbered or "
                      "GPU memory space are required";
    }
  });
  return success(isValid);
}

/// Memory spaces of values, but not of globals, in block-level and AMD kernels.
static bool isValueSpace(Attribute space) {
  return isa<mosaic_gpu::TmemAttr, mosaic_gpu::SmemClusterAttr,
             amdgpu::AddressSpaceAttr>(space);
}

/// Checks memory spaces and element types. The conversions to LLVM report other
/// memory spaces without a location and crash on unsupported elements. For a
/// GPU, `root` is a gpu.module.
static LogicalResult verifyMemory(Operation *root, const Target &chip) {
  LLVMTypeConverter converter(root->getContext());
  acceptMemorySpaces(converter);
  auto check = [&](Type type, Location loc, bool isGlobal) -> WalkResult {
    auto memref = dyn_cast<BaseMemRefType>(type);
    if (!memref && !isa<ComplexType>(type))
      return WalkResult::advance();
    if (Type unknown = findUnsupportedType(converter, type)) {
      emitError(loc) << "type " << type << " has elements of type " << unknown
                     << "; LLVM does not support this type, so use another one";
      return WalkResult::interrupt();
    }
    for (BaseMemRefType held = memref; held;
         held = dyn_cast<BaseMemRefType>(held.getElementType())) {
      Attribute space = held.getMemorySpace();
      bool isValue = held == memref && !isGlobal;
      if (chip.isGPU() ? isKnownSpace(space) || (isValue && isValueSpace(space))
                       : !space || isa<IntegerAttr>(space))
        continue;
      emitError(loc) << "type " << type << " uses memory space " << space
                     << ", which " << chip.name << " does not have; use "
                     << (chip.isGPU() ? "a number or #gpu.address_space"
                                      : "no memory space");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  };
  WalkResult result = root->walk([&](Operation *op) {
    if (auto global = dyn_cast<memref::GlobalOp>(op))
      if (check(global.getType(), op->getLoc(), /*isGlobal=*/true)
              .wasInterrupted())
        return WalkResult::interrupt();
    for (Value value : op->getResults())
      if (check(value.getType(), value.getLoc(), /*isGlobal=*/false)
              .wasInterrupted())
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          if (check(value.getType(), value.getLoc(), /*isGlobal=*/false)
                  .wasInterrupted())
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Checks the arguments and the memory of GPU kernels.
static LogicalResult verifyKernelMemory(ModuleOp module, const Target &chip) {
  if (failed(verifyArguments(module)))
    return failure();
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    if (failed(verifyMemory(kernels, chip)))
      return failure();
  return success();
}

namespace {
/// Sizes of functions after inlining of all calls, which the CPU pipeline does.
/// Recursive calls are not inlined.
class InlinedSizes {
public:
  /// The maximum number of ops of a function after inlining.
  static constexpr int64_t kMax = 1 << 17;

  /// Reports an error at the first call that exceeds the maximum.
  LogicalResult check(FunctionOpInterface function) {
    return success(count(function) <= kMax);
  }

private:
  int64_t count(FunctionOpInterface function) {
    auto [known, isNew] = sizes.try_emplace(function, 1);
    if (!isNew)
      return known->second;
    int64_t size = 0;
    function.walk([&](Operation *op) {
      ++size;
      auto call = dyn_cast<func::CallOp>(op);
      auto callee = call ? dyn_cast_or_null<FunctionOpInterface>(
                               SymbolTable::lookupNearestSymbolFrom(
                                   call, call.getCalleeAttr()))
                         : FunctionOpInterface();
      if (!callee || size > kMax)
        return;
      size += count(callee);
      if (size > kMax && !isReported) {
        isReported = true;
        call.emitOpError("is inlined, and makes the function larger than ")
            << kMax << " operations; reduce the number of calls, or use loops";
      }
    });
    sizes[function] = size;
    return size;
  }

  llvm::DenseMap<Operation *, int64_t> sizes;
  bool isReported = false;
};

struct SmaltiVerifyKernels
    : smalti::impl::SmaltiVerifyKernelsBase<SmaltiVerifyKernels> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

/// Checks the attributes of tile-level kernels that request overlap, also for
/// targets that ignore them.
static LogicalResult verifyRequests(triton_xla::EntryFuncOp kernel) {
  bool isValid = true;
  kernel->walk([&](Operation *op) {
    ScheduleOptions schedule;
    int64_t slots = 0;
    std::optional<std::string> wrong = readScheduleAttributes(op, schedule);
    if (!wrong && (wrong = readSlots(op, slots)))
      wrong = quote(op) + " " + *wrong;
    if (!wrong)
      return;
    isValid = false;
    op->emitError() << *wrong;
  });
  return success(isValid);
}

/// Whether code for a GPU may call a function of this name.
static bool isReservedName(StringRef name) {
  // Outlining removes this suffix of JAX.
  name.consume_back("_mosaic_gpu");
  for (StringRef prefix : {"llvm.", "__nv", "__ocml_", "__ockl_", "__oclc_"})
    if (name.starts_with(prefix))
      return true;
  return name == "vprintf" || name == "__assertfail";
}

/// Checks that a module for a GPU does not define a function that the generated
/// code calls.
static LogicalResult verifySymbols(ModuleOp module) {
  bool isValid = true;
  module.walk([&](SymbolOpInterface symbol) {
    if (!symbol.getNameAttr() || symbol->hasTrait<OpTrait::SymbolTable>() ||
        symbol.isDeclaration() || !isReservedName(symbol.getName()))
      return;
    isValid = false;
    symbol->emitOpError("defines '")
        << symbol.getName()
        << "', a name of the compiler or of the device library; names that "
           "begin with 'llvm.', '__nv', '__ocml_', '__ockl_' or '__oclc_', and "
           "the names 'vprintf' and '__assertfail', are reserved: rename it";
  });
  return success(isValid);
}

/// Reports attributes with the prefix `smalti.` that no pass reads.
static LogicalResult verifyAttributeNames(ModuleOp module) {
  bool isValid = true;
  module->walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getDiscardableAttrs()) {
      StringRef name = attribute.getName();
      if (!name.starts_with("smalti.") ||
          llvm::is_contained(kAttributeNames, name))
        continue;
      isValid = false;
      op->emitError() << "unknown attribute '" << name << "'; known are "
                      << llvm::join(ArrayRef(kAttributeNames), ", ");
    }
  });
  return success(isValid);
}

void SmaltiVerifyKernels::runOnOperation() {
  markAllAnalysesPreserved();
  ModuleOp module = getOperation();
  const Target *chip = getTarget(module, target);
  if (!chip)
    return signalPassFailure();
  bool isInvalid = failed(checkLoopSteps(module));
  isInvalid |= failed(checkDivisions(module));
  isInvalid |= failed(verifyAttributeNames(module));
  module.walk([&](gpu::GPUFuncOp func) {
    isInvalid |= failed(verifyKernelAttributes(func));
  });
  for (auto kernel : module.getOps<triton_xla::EntryFuncOp>())
    isInvalid |= failed(verifyRequests(kernel));
  InlinedSizes sizes;
  if (chip->isGPU())
    isInvalid |= failed(verifySymbols(module));
  else
    for (auto function : module.getOps<FunctionOpInterface>())
      isInvalid |= failed(sizes.check(function));
  if (isInvalid)
    return signalPassFailure();
  if (memory && failed(chip->isGPU() ? verifyKernelMemory(module, *chip)
                                     : verifyMemory(module, *chip)))
    signalPassFailure();
}
