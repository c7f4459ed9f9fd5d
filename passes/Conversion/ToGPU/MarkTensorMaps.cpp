//===- MarkTensorMaps.cpp - smalti-mark-tensor-maps -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/TensorMaps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DEF_SMALTIMARKTENSORMAPS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

namespace {
class SmaltiMarkTensorMaps
    : public smalti::impl::SmaltiMarkTensorMapsBase<SmaltiMarkTensorMaps> {
public:
  using SmaltiMarkTensorMapsBase::SmaltiMarkTensorMapsBase;

  void runOnOperation() override {
    LLVM::LLVMFuncOp func = getOperation();
    auto maps = func->getAttrOfType<ArrayAttr>(mosaic_gpu::kTensorMaps);
    if (!maps || maps.size() > func.getNumArguments() ||
        !func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      return markAllAnalysesPreserved();
    // Tensor maps are the last arguments. The conversion of functions drops
    // most attributes of pointers.
    Builder builder(func.getContext());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(),
                                          block_to_thread::kTensorMapBytes);
    for (unsigned index = func.getNumArguments() - maps.size();
         index < func.getNumArguments(); ++index) {
      func.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(bytes));
      func.setArgAttr(
          index, LLVM::LLVMDialect::getAlignAttrName(),
          builder.getI64IntegerAttr(block_to_thread::kTensorMapAlignment));
      func.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(),
                      builder.getUnitAttr());
    }
  }
};
} // namespace
