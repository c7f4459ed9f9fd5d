//===- MarkTensorMaps.cpp - Tensor maps as grid constants -----------------===//

#include "passes/Conversion/MarkTensorMaps.h"

#include "passes/Conversion/BlockToThread/TensorMaps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace smalti;

namespace {
class MarkTensorMaps
    : public PassWrapper<MarkTensorMaps, OperationPass<LLVM::LLVMFuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MarkTensorMaps)

  StringRef getArgument() const override { return "smalti-mark-tensor-maps"; }
  StringRef getDescription() const override {
    return "Say that the tensor maps of kernels are constant in the grid";
  }
  void runOnOperation() override {
    LLVM::LLVMFuncOp func = getOperation();
    auto maps = func->getAttrOfType<ArrayAttr>(block_to_thread::kTensorMaps);
    if (!maps || maps.size() > func.getNumArguments() ||
        !func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      return markAllAnalysesPreserved();
    // They are the last ones. The conversion of functions keeps little of what
    // is said about pointers.
    Builder builder(func.getContext());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(),
                                          block_to_thread::kTensorMapBytes);
    for (unsigned index = func.getNumArguments() - maps.size();
         index < func.getNumArguments(); ++index) {
      func.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(bytes));
      func.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(),
                      builder.getUnitAttr());
    }
  }
};
} // namespace

std::unique_ptr<Pass> smalti::createMarkTensorMaps() {
  return std::make_unique<MarkTensorMaps>();
}

void smalti::registerMarkTensorMaps() { PassRegistration<MarkTensorMaps>(); }
