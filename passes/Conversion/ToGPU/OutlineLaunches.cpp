//===- OutlineLaunches.cpp - mosaic-gpu-outline-launches ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/ToGPU/HostTensorMaps.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/ValueNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Utils/GPUUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/RegionUtils.h"

#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace smalti {
#define GEN_PASS_DECL_MOSAICGPUOUTLINELAUNCHES
#define GEN_PASS_DEF_MOSAICGPUOUTLINELAUNCHES
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

/// The alignment of dynamic shared memory that JAX's thread-level kernels
/// assume: the period of the widest swizzle, in bytes.
static constexpr int64_t kDynamicMemoryAlignment = 1024;

/// A kernel has at most 4 KiB of parameters before CUDA 12.1, and 32 KiB since.
static constexpr int64_t kMaxEntry = 4095;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The values inserted in a struct, by position; nothing if the struct is not
/// built by insertions in an undefined one.
static std::optional<std::map<std::vector<int64_t>, Value>>
collectFields(Value descriptor) {
  std::map<std::vector<int64_t>, Value> fields;
  while (auto insert = descriptor.getDefiningOp<LLVM::InsertValueOp>()) {
    // The last insertion takes precedence.
    fields.try_emplace(std::vector<int64_t>(insert.getPosition()),
                       insert.getValue());
    descriptor = insert.getContainer();
  }
  if (!descriptor.getDefiningOp<LLVM::UndefOp>() &&
      !descriptor.getDefiningOp<LLVM::PoisonOp>())
    return std::nullopt;
  return fields;
}

/// The index of a pointer that is loaded from the pointer array, which is the
/// function's last argument.
static std::optional<int64_t> getEntry(Value pointer, func::FuncOp func) {
  auto load = pointer.getDefiningOp<LLVM::LoadOp>();
  if (!load || func.getNumArguments() == 0)
    return std::nullopt;
  Value array = func.getArguments().back();
  if (load.getAddr() == array)
    return 0;
  auto element = load.getAddr().getDefiningOp<LLVM::GEPOp>();
  if (!element || element.getBase() != array ||
      !isa<LLVM::LLVMPointerType>(element.getElemType()) ||
      !element.getDynamicIndices().empty() ||
      element.getRawConstantIndices().size() != 1)
    return std::nullopt;
  int64_t entry = element.getRawConstantIndices().front();
  return entry >= 0 && entry <= kMaxEntry ? std::optional(entry) : std::nullopt;
}

static bool isConstant(Value value, int64_t expected) {
  APInt constant;
  return value && matchPattern(value, m_ConstantInt(&constant)) &&
         constant.getSExtValue() == expected;
}

/// The entry that a memref covers, or the reason why it does not: its
/// descriptor must agree with its type.
static std::optional<int64_t> getEntryOfMemRef(Value memref, func::FuncOp func,
                                               std::string &why) {
  auto type = cast<MemRefType>(memref.getType());
  auto cast = memref.getDefiningOp<UnrealizedConversionCastOp>();
  if (!cast || cast->getNumOperands() != 1) {
    why =
        "the memref is not the result of an unrealized_conversion_cast of one "
        "memref descriptor, as JAX creates it";
    return std::nullopt;
  }
  auto fields = collectFields(cast.getOperand(0));
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!fields) {
    why = "the address of the memref cannot be determined; build its "
          "descriptor with llvm.insertvalue";
    return std::nullopt;
  }
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic)) {
    why = "the type of the memref has a dynamic size, stride or offset; all "
          "must be static";
    return std::nullopt;
  }
  auto field = [&](std::vector<int64_t> position) {
    auto it = fields->find(position);
    return it == fields->end() ? Value() : it->second;
  };
  Value pointer = field({1});
  std::optional<int64_t> entry =
      pointer ? getEntry(pointer, func) : std::nullopt;
  if (!entry || field({0}) != pointer) {
    why = "the address of the memref is not loaded from that array";
    return std::nullopt;
  }
  bool isAsTyped = isConstant(field({2}), offset);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    isAsTyped &= isConstant(field({3, dim}), type.getDimSize(dim)) &&
                 isConstant(field({4, dim}), strides[dim]);
  if (!isAsTyped) {
    why = "the memref was created with another offset, size or stride than its "
          "type states; use constants that are equal to those of the type";
    return std::nullopt;
  }
  return entry;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {
struct LaunchPlan {
  gpu::LaunchOp launch;
  /// The arguments of the kernel: the memref of each entry, null if the
  /// function does not create one.
  SmallVector<Value> arguments;
  /// The entry of each tensor map, and the values in the launch that are its
  /// address.
  SmallVector<block_to_thread::TensorMapOfKernel> tensorMaps;
  SmallVector<SmallVector<Value>> tensorMapUses;
  /// The pointers in the launch to arrays of tensor maps.
  SmallVector<Operation *> tensorMapCasts;
  int64_t sharedMemoryBytes = 0;
  /// Whether its vectors belong to thread groups.
  bool isBlockLevel = false;
};

class MosaicGPUOutlineLaunches
    : public smalti::impl::MosaicGPUOutlineLaunchesBase<
          MosaicGPUOutlineLaunches> {
public:
  using MosaicGPUOutlineLaunchesBase::MosaicGPUOutlineLaunchesBase;
  void runOnOperation() override;

private:
  FailureOr<LaunchPlan> plan(gpu::LaunchOp launch);
  LogicalResult planArguments(LaunchPlan &plan, func::FuncOp func);
  void outline(const LaunchPlan &plan, SymbolTable &symbols);
};
} // namespace

/// Ops that can be cloned into the kernel at no cost.
static bool isCloned(Operation *op) {
  return op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
         (op->hasTrait<OpTrait::ConstantLike>() ||
          isa<LLVM::UndefOp, LLVM::PoisonOp>(op));
}

static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

/// The number of blocks or threads, or nothing if a size is not a positive
/// constant.
static std::optional<int64_t> getVolume(const gpu::KernelDim3 &size) {
  int64_t volume = 1;
  for (Value value : {size.x, size.y, size.z}) {
    std::optional<int64_t> constant = getConstant(value);
    if (!constant || *constant <= 0 ||
        *constant > std::numeric_limits<int32_t>::max())
      return std::nullopt;
    volume = std::min<int64_t>(volume * *constant,
                               std::numeric_limits<int32_t>::max());
  }
  return volume;
}

/// Records memrefs of the function that cover an entry, as the attribute of JAX
/// states or the launch assumes.
static void noteEntry(int64_t entry, Value memref,
                      SmallVectorImpl<Value> &byEntry) {
  if (entry >= static_cast<int64_t>(byEntry.size()))
    byEntry.resize(entry + 1);
  byEntry[entry] = memref;
}

/// The addresses in the launch of tensor maps in an array that it captures, by
/// their offset; nothing if an address is not constant. The casts of the array
/// are appended to `casts`.
static std::optional<std::map<int64_t, SmallVector<Value>>>
collectMapAddresses(Value array, gpu::LaunchOp launch,
                    SmallVectorImpl<Operation *> &casts) {
  std::map<int64_t, SmallVector<Value>> addresses;
  for (Operation *user : array.getUsers()) {
    if (!launch->isProperAncestor(user))
      continue;
    if (!isa<UnrealizedConversionCastOp>(user) || user->getNumOperands() != 1 ||
        user->getNumResults() != 1 ||
        !isa<LLVM::LLVMPointerType>(user->getResult(0).getType()))
      return std::nullopt;
    casts.push_back(user);
    for (Operation *use : user->getUsers()) {
      auto element = dyn_cast<LLVM::GEPOp>(use);
      if (!element || !element.getElemType().isInteger(8) ||
          !element.getDynamicIndices().empty() ||
          element.getRawConstantIndices().size() != 1)
        return std::nullopt;
      addresses[element.getRawConstantIndices().front()].push_back(
          element.getResult());
    }
  }
  return addresses;
}

LogicalResult MosaicGPUOutlineLaunches::planArguments(LaunchPlan &plan,
                                                      func::FuncOp func) {
  gpu::LaunchOp launch = plan.launch;
  // An argument that no code uses keeps its position.
  DominanceInfo dominance(func);
  std::map<int64_t, UnrealizedConversionCastOp> unavailable;
  WalkResult marked = func.walk([&](UnrealizedConversionCastOp cast) {
    auto number = cast->getAttrOfType<IntegerAttr>(mosaic_gpu::kKernelArgument);
    std::string why;
    if (!number || cast->getNumResults() != 1 ||
        !isa<MemRefType>(cast.getResult(0).getType()))
      return WalkResult::advance();
    std::optional<int64_t> entry =
        getEntryOfMemRef(cast.getResult(0), func, why);
    if (!entry)
      return WalkResult::advance();
    if (number.getValue() != *entry) {
      cast.emitOpError() << "has '" << mosaic_gpu::kKernelArgument
                         << "' = " << number
                         << ", but its address is loaded from entry " << *entry
                         << " of the function's array of pointers; both must "
                            "be equal";
      return WalkResult::interrupt();
    }
    if (dominance.properlyDominates(cast, launch))
      noteEntry(*entry, cast.getResult(0), plan.arguments);
    else
      unavailable.try_emplace(*entry, cast);
    return WalkResult::advance();
  });
  if (marked.wasInterrupted())
    return failure();
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  llvm::SmallDenseSet<int64_t> used;
  for (Value value : captured) {
    Operation *definition = value.getDefiningOp();
    if ((definition && isCloned(definition)) || isHostArray(value))
      continue;
    if (!isa<MemRefType>(value.getType())) {
      InFlightDiagnostic diagnostic = launch.emitOpError();
      diagnostic << "uses " << ValueNames(func).get(value) << " of type "
                 << value.getType()
                 << ", which is defined outside of the launch; only constants, "
                    "memrefs that the function reads from its array of "
                    "pointers, and arrays of tensor maps are supported: "
                    "compute the value in the launch";
      for (Operation *user : value.getUsers())
        if (launch->isProperAncestor(user)) {
          diagnostic.attachNote(user->getLoc()) << "the value is used here";
          break;
        }
      return diagnostic;
    }
    std::string why;
    std::optional<int64_t> entry = getEntryOfMemRef(value, func, why);
    if (!entry)
      return launch.emitOpError()
             << "uses a memref of type " << value.getType()
             << " that does not come from the '!llvm.ptr' argument with the "
                "addresses of the buffers: "
             << why;
    if (!used.insert(*entry).second)
      return launch.emitOpError()
             << "uses two memrefs of entry " << *entry
             << " of the function's array of pointers; use only one of them";
    noteEntry(*entry, value, plan.arguments);
  }
  for (auto [entry, cast] : unavailable) {
    if (entry < static_cast<int64_t>(plan.arguments.size()) &&
        plan.arguments[entry])
      continue;
    InFlightDiagnostic diagnostic =
        launch.emitOpError()
        << "requires the memref of entry " << entry
        << " of the function's array of pointers, but the definition of the "
           "memref does not dominate the launch; move the definition before "
           "the launch";
    diagnostic.attachNote(cast.getLoc()) << "the memref is defined here";
    return diagnostic;
  }
  auto getEntry = [&](Value memref, std::string &why) {
    return getEntryOfMemRef(memref, func, why);
  };
  for (Value array : captured) {
    if (!isHostArray(array))
      continue;
    TensorMapRefusal refusal;
    std::optional<HostTensorMaps> maps =
        readHostTensorMaps(array, getEntry, refusal);
    if (!maps) {
      InFlightDiagnostic diagnostic =
          launch.emitOpError()
          << "uses an array of tensor maps of type " << array.getType()
          << " that cannot be read at compile time: " << refusal.reason;
      if (refusal.op)
        diagnostic.attachNote(refusal.op->getLoc()) << refusal.note;
      return diagnostic;
    }
    auto addresses = collectMapAddresses(array, launch, plan.tensorMapCasts);
    if (!addresses)
      return launch.emitOpError()
             << "uses an array of tensor maps at an address that is not the "
                "constant offset of a map; use constant offsets";
    for (auto &[offset, values] : *addresses) {
      auto map = maps->find(offset);
      if (map == maps->end()) {
        std::string starts;
        llvm::raw_string_ostream stream(starts);
        llvm::interleaveComma(llvm::make_first_range(*maps), stream);
        return launch.emitOpError()
               << "uses byte " << offset
               << " of an array of tensor maps, where no tensor map begins; "
                  "tensor maps begin at bytes "
               << starts;
      }
      if (map->second.argument >= static_cast<int64_t>(plan.arguments.size()))
        plan.arguments.resize(map->second.argument + 1);
      plan.tensorMaps.push_back(map->second);
      plan.tensorMapUses.push_back(values);
    }
  }
  return success();
}

FailureOr<LaunchPlan> MosaicGPUOutlineLaunches::plan(gpu::LaunchOp launch) {
  LaunchPlan plan;
  plan.launch = launch;
  auto func = launch->getParentOfType<func::FuncOp>();
  if (!func || func->getParentOp() != getOperation())
    return launch.emitOpError()
           << "is not in a function of the module; move the launch into one";
  if (!launch.getBody().hasOneBlock())
    return launch.emitOpError() << "has branches between MLIR blocks; use "
                                   "scf.for, scf.while and scf.if";
  if (!launch.getWorkgroupAttributions().empty() ||
      !launch.getPrivateAttributions().empty())
    return launch.emitOpError()
           << "has workgroup or private memory attributions, which are not "
              "supported; use slices of the dynamic shared memory";
  std::optional<int64_t> threads =
      getVolume(launch.getBlockSizeOperandValues());
  bool isStatic = threads && getVolume(launch.getGridSizeOperandValues());
  if (std::optional<gpu::KernelDim3> cluster =
          launch.getClusterSizeOperandValues())
    isStatic &= getVolume(*cluster).has_value();
  if (!isStatic)
    return launch.emitOpError()
           << "has grid, block or cluster sizes that are not positive "
              "constants; use positive constants";
  plan.isBlockLevel = mosaic_gpu::hasBlockLevelOps(launch);
  if (plan.isBlockLevel &&
      (threadGroupSize <= 0 || *threads % threadGroupSize != 0))
    return launch.emitOpError()
           << "has blocks of " << *threads
           << " threads; a multiple of 'thread-group-size', "
           << int64_t(threadGroupSize) << ", is required";
  if (Value bytes = launch.getDynamicSharedMemorySize()) {
    std::optional<int64_t> constant = getConstant(bytes);
    if (!constant || *constant < 0)
      return launch.emitOpError()
             << "has a size of dynamic shared memory that is not a constant of "
                "at least 0 bytes; use a constant";
    plan.sharedMemoryBytes = *constant;
  }

  if (failed(planArguments(plan, func)))
    return failure();

  // Symbols of the module are not visible in the kernel.
  WalkResult result =
      launch.getBody().walk([&](Operation *op) {
        for (NamedAttribute attribute : op->getAttrs())
          if (auto symbol = dyn_cast<SymbolRefAttr>(attribute.getValue())) {
            op->emitOpError()
                << "refers to " << symbol
                << " inside a launch; a kernel cannot refer to symbols outside "
                   "its GPU module, so inline what the symbol stands for";
            return WalkResult::interrupt();
          }
        return WalkResult::advance();
      });
  if (result.wasInterrupted())
    return failure();
  return plan;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void MosaicGPUOutlineLaunches::outline(const LaunchPlan &plan,
                                       SymbolTable &symbols) {
  gpu::LaunchOp launch = plan.launch;
  auto func = launch->getParentOfType<func::FuncOp>();
  (void)sinkOperationsIntoLaunchOp(launch, isCloned);

  StringRef name = func.getSymName();
  name.consume_back("_mosaic_gpu");
  // Null pointers represent what the launcher passes: unused arguments and
  // tensor maps.
  OpBuilder builder(launch);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Value> operands = plan.arguments;
  for (Value &operand : operands)
    if (!operand)
      operand = LLVM::ZeroOp::create(builder, launch.getLoc(), pointer);
  for (ArrayRef<Value> addresses : plan.tensorMapUses) {
    Value map = LLVM::ZeroOp::create(builder, launch.getLoc(), pointer);
    operands.push_back(map);
    for (Value address : addresses) {
      address.replaceAllUsesWith(map);
      address.getDefiningOp()->erase();
    }
  }
  // A remaining cast would make its array an argument after the tensor maps.
  for (Operation *cast : plan.tensorMapCasts)
    cast->erase();
  gpu::GPUFuncOp kernel = outlineKernelFunc(launch, name, operands);
  block_to_thread::describeTensorMaps(kernel, plan.tensorMaps);
  if (std::optional<gpu::KernelDim3> cluster =
          launch.getClusterSizeOperandValues()) {
    auto sizeOf = [](Value size) {
      return static_cast<int32_t>(*getConstant(size));
    };
    kernel.setKnownClusterSizeAttr(DenseI32ArrayAttr::get(
        kernel.getContext(),
        {sizeOf(cluster->x), sizeOf(cluster->y), sizeOf(cluster->z)}));
  }

  builder.setInsertionPoint(func);
  auto kernels = gpu::GPUModuleOp::create(builder, func.getLoc(),
                                          (name + "_module").str());
  symbols.insert(kernels, Block::iterator(func));
  SymbolTable(kernels).insert(kernel);

  SmallVector<Type> types;
  for (size_t index = 0; index < plan.arguments.size(); ++index) {
    types.push_back(kernel.getArgument(index).getType());
    kernel.setArgAttr(index, mosaic_gpu::kKernelArgument,
                      builder.getI32IntegerAttr(index));
  }
  kernel->setAttr(kArguments, builder.getTypeArrayAttr(types));
  if (plan.isBlockLevel) {
    kernel->setAttr(mosaic_gpu::kThreadGroupSize,
                    builder.getI64IntegerAttr(threadGroupSize));
    kernel->setAttr(mosaic_gpu::kAutoBarriers, builder.getUnitAttr());
  }
  if (plan.sharedMemoryBytes > 0) {
    kernel->setAttr(kSharedMemoryBytesAttr,
                    builder.getI64IntegerAttr(plan.sharedMemoryBytes));
    // Swizzles of thread-level kernels rely on it, and no op states it.
    if (!plan.isBlockLevel)
      kernel->setAttr(kSharedMemoryAlignmentAttr,
                      builder.getI64IntegerAttr(kDynamicMemoryAlignment));
  }

  builder.setInsertionPoint(launch);
  auto call = gpu::LaunchFuncOp::create(
      builder, launch.getLoc(), kernel, launch.getGridSizeOperandValues(),
      launch.getBlockSizeOperandValues(), launch.getDynamicSharedMemorySize(),
      operands,
      launch.getAsyncToken() ? launch.getAsyncToken().getType() : Type(),
      launch.getAsyncDependencies(), launch.getClusterSizeOperandValues());
  launch.replaceAllUsesWith(call->getResults());
  launch.erase();
}

/// Erases unused declarations, which JAX adds to every module.
static void eraseDeadDeclarations(ModuleOp module) {
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    auto function = dyn_cast<func::FuncOp>(op);
    auto global = dyn_cast<LLVM::GlobalOp>(op);
    bool isDeclaration =
        (function && function.isDeclaration()) ||
        (global && global.getLinkage() == LLVM::Linkage::External &&
         !global.getValueOrNull() && global.getInitializerRegion().empty());
    if (isDeclaration && SymbolTable::symbolKnownUseEmpty(&op, module))
      op.erase();
  }
}

void MosaicGPUOutlineLaunches::runOnOperation() {
  ModuleOp module = getOperation();
  std::vector<LaunchPlan> plans;
  bool hasFailed = false;
  module.walk([&](gpu::LaunchOp launch) {
    FailureOr<LaunchPlan> planned = plan(launch);
    if (succeeded(planned))
      plans.push_back(std::move(*planned));
    else
      hasFailed = true;
  });
  if (hasFailed)
    return signalPassFailure();
  if (plans.empty())
    return;
  SymbolTable symbols(module);
  for (const LaunchPlan &plan : plans)
    outline(plan, symbols);
  eraseDeadDeclarations(module);
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  UnitAttr::get(&getContext()));
}
