//===- LowerMath.cpp - Math ops that the usual conversions get wrong ------===//

#include "passes/Support/TargetOption.h"
#include "targets/Target.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MathToROCDL/MathToROCDL.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTILOWERCPUMATH
#define GEN_PASS_DEF_SMALTILOWERCPUMATH
#define GEN_PASS_DECL_SMALTILOWERMATH
#define GEN_PASS_DEF_SMALTILOWERMATH
#include "passes/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

namespace {
struct SmaltiLowerMath : smalti::impl::SmaltiLowerMathBase<SmaltiLowerMath> {
  using Base::Base;

  void runOnOperation() override {
    gpu::GPUModuleOp kernels = getOperation();
    const targets::Target *chip = getTarget(kernels, target);
    if (!chip)
      return signalPassFailure();

    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    ConversionTarget legal(getContext());
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (chip->vendor == targets::Vendor::NVIDIA) {
      // The chips have instructions for these. The conversion to NVVM accepts
      // no other intrinsics.
      legal.addIllegalOp<math::FmaOp, math::TruncOp>();
      populateMathToLLVMConversionPatterns(types, patterns);
    } else if (chip->vendor == targets::Vendor::AMD) {
      // LLVM's intrinsics end in calls that the chips do not have; and exp(x) -
      // 1 and log(1 + x) are wrong near zero.
      legal
          .addIllegalOp<math::AcosOp, math::AsinOp, math::Atan2Op, math::AtanOp,
                        math::CoshOp, math::ExpM1Op, math::Log1pOp,
                        math::SinhOp, math::TanOp, math::TanhOp>();
      populateMathToROCDLConversionPatterns(types, patterns,
                                            /*chipset=*/std::nullopt);
    }
    if (failed(applyPartialConversion(kernels, legal, std::move(patterns))))
      signalPassFailure();
  }
};

struct SmaltiLowerCPUMath
    : smalti::impl::SmaltiLowerCPUMathBase<SmaltiLowerCPUMath> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget legal(getContext());
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    legal.addIllegalOp<math::ExpM1Op, math::Log1pOp>();
    if (failed(
            applyPartialConversion(getOperation(), legal, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
