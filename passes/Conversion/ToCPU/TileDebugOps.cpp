//===- TileDebugOps.cpp - Loops of output and assertions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPULoops.h"
#include "smalti/passes/Conversion/ToCPU/TileOpLoops.h"
#include "smalti/passes/Support/Printf.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// The C library's function, declared in the module on first use.
static LLVM::LLVMFuncOp getFunction(RewriterBase &rewriter, ModuleOp module,
                                    StringRef name,
                                    LLVM::LLVMFunctionType type) {
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return function;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(rewriter, module.getLoc(), name, type);
}

void TileOpLoops::printLine(const PrintfLine &line) {
  auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  LLVM::LLVMFuncOp print =
      getFunction(rewriter, module, "printf",
                  LLVM::LLVMFunctionType::get(rewriter.getI32Type(), pointer,
                                              /*isVarArg=*/true));
  std::string text = line.getFormat().str();
  text.push_back('\0');
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    SymbolTable symbols(module);
    global = LLVM::GlobalOp::create(
        rewriter, loc,
        LLVM::LLVMArrayType::get(rewriter.getI8Type(), text.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, "print_format",
        rewriter.getStringAttr(text));
    symbols.insert(global);
  }
  SmallVector<Value> operands = {
      LLVM::AddressOfOp::create(rewriter, loc, global)};
  llvm::append_range(operands, line.getArguments());
  LLVM::CallOp::create(rewriter, loc, print, operands);
}

void TileOpLoops::emit(PrintOp op) {
  // A line is one call, so that lines of several threads do not mix.
  if (op.getValues().empty())
    printLine(formatTileLine(rewriter, loc, tileId, op.getText(), {}, {}));
  for (auto [number, operand] : llvm::enumerate(op.getValues())) {
    auto shaped = dyn_cast<RankedTensorType>(operand.getType());
    ArrayRef<int64_t> shape = shaped ? shaped.getShape() : ArrayRef<int64_t>();
    std::string label = op.getLabel(number);
    loops.nest(shape, [&, operand = operand](ValueRange indices) {
      Value position = loops.index(0);
      for (auto [index, size] : llvm::zip_equal(indices, shape))
        position = loops.add(loops.mul(position, size), index);
      printLine(formatTileLine(rewriter, loc, tileId, label, indices,
                               getElement(operand, position)));
    });
  }
  auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  LLVM::LLVMFuncOp flush =
      getFunction(rewriter, module, "fflush",
                  LLVM::LLVMFunctionType::get(rewriter.getI32Type(), pointer));
  LLVM::CallOp::create(
      rewriter, loc, flush,
      LLVM::ZeroOp::create(rewriter, loc, pointer).getResult());
}

//===----------------------------------------------------------------------===//
// Assertions and facts
//===----------------------------------------------------------------------===//

void TileOpLoops::emit(AssertOp op) {
  // The conjunction of all elements, so that the loop can be vectorized.
  Value isTrue = constant(rewriter.getBoolAttr(true));
  isTrue = loops
               .reduce(0, countElements(op.getCondition()), 1, isTrue,
                       [&](Value position, ValueRange carried) {
                         return SmallVector<Value>{arith::AndIOp::create(
                             rewriter, loc, carried[0],
                             getElement(op.getCondition(), position))};
                       })
               .front();
  // smalti-lower-cpu-loops stops the kernel.
  auto check = [&](Value condition, ArrayRef<int64_t> shape) {
    cf::AssertOp::create(rewriter, loc, condition, op.getMessage())
        ->setAttr(kAssertShape, rewriter.getDenseI64ArrayAttr(shape));
  };
  auto tile = dyn_cast<RankedTensorType>(op.getCondition().getType());
  ArrayRef<int64_t> shape = tile ? tile.getShape() : ArrayRef<int64_t>();
  if (countElements(op.getCondition()) == 1)
    return check(isTrue, shape);
  // The position of the element is only computed after a failure.
  Value isFalse = arith::XOrIOp::create(rewriter, loc, isTrue,
                                        constant(rewriter.getBoolAttr(true)));
  createIf(isFalse, [&] {
    Value size = loops.index(tile.getNumElements());
    Value first =
        loops
            .reduce(
                0, tile.getNumElements(), 1, size,
                [&](Value position, ValueRange carried) {
                  Value before = arith::MinUIOp::create(rewriter, loc,
                                                        carried[0], position);
                  return SmallVector<Value>{arith::SelectOp::create(
                      rewriter, loc, getElement(op.getCondition(), position),
                      carried[0], before)};
                })
            .front();
    check(compare(arith::CmpIPredicate::eq, first, size), shape);
  });
}

void TileOpLoops::emit(AssumeOp op) {
  LLVM::AssumeOp::create(rewriter, loc, op.getCondition());
}

void TileOpLoops::emit(AssumeMultipleOp op) {
  scalars.push_back(op.getValue());
}
