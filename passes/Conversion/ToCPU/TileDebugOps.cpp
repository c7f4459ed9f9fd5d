//===- TileDebugOps.cpp - Loops of output and assertions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/TileOpLoops.h"

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

/// Calls printf with a format and arguments.
void TileOpLoops::printLine(StringRef format, ValueRange arguments) {
  auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  LLVM::LLVMFuncOp print =
      getFunction(rewriter, module, "printf",
                  LLVM::LLVMFunctionType::get(rewriter.getI32Type(), pointer,
                                              /*isVarArg=*/true));
  std::string text = (format + "\n").str();
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
  llvm::append_range(operands, arguments);
  LLVM::CallOp::create(rewriter, loc, print, operands);
}

/// The conversion specification of an element, and the element with the type
/// that printf requires. Floats have enough digits to distinguish all values.
static std::pair<StringRef, Value> formatElement(OpBuilder &builder,
                                                 Location loc, Value value) {
  Type type = value.getType();
  if (type.isIndex())
    return {"%lld", arith::IndexCastOp::create(builder, loc,
                                               builder.getI64Type(), value)};
  int64_t bits = type.getIntOrFloatBitWidth();
  if (!isa<FloatType>(type)) {
    Type wide = builder.getI64Type();
    if (bits > 64)
      value = arith::TruncIOp::create(builder, loc, wide, value);
    else if (bits == 1)
      value = arith::ExtUIOp::create(builder, loc, wide, value);
    else if (bits < 64)
      value = arith::ExtSIOp::create(builder, loc, wide, value);
    return {"%lld", value};
  }
  if (!type.isF64())
    value = arith::ExtFOp::create(builder, loc, builder.getF64Type(), value);
  return {type.isF64() ? "%.17g" : type.isF32() ? "%.9g" : "%.5g", value};
}

void TileOpLoops::emit(PrintOp op) {
  // A line is one call, so that lines of several threads do not mix.
  std::string start = "tile %lld: ";
  for (char character : op.getText()) {
    if (character == '%')
      start.push_back('%');
    start.push_back(character);
  }
  Value number =
      arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), tileId);
  if (op.getValues().empty())
    printLine(start, number);
  for (auto [operandNumber, operand] : llvm::enumerate(op.getValues())) {
    std::string format = start;
    if (op.getValues().size() > 1)
      format += " #" + std::to_string(operandNumber);
    auto shaped = dyn_cast<RankedTensorType>(operand.getType());
    ArrayRef<int64_t> shape = shaped ? shaped.getShape() : ArrayRef<int64_t>();
    for (size_t dim = 0; dim < shape.size(); ++dim)
      format += dim == 0 ? " [%lld" : ", %lld";
    format += shape.empty() ? " = " : "] = ";
    loops.nest(shape, [&, operand = operand](ValueRange indices) {
      SmallVector<Value> arguments = {number};
      Value position = loops.index(0);
      for (auto [index, size] : llvm::zip_equal(indices, shape)) {
        position = loops.add(loops.mul(position, size), index);
        arguments.push_back(arith::IndexCastOp::create(
            rewriter, loc, rewriter.getI64Type(), index));
      }
      auto [conversion, value] =
          formatElement(rewriter, loc, getElement(operand, position));
      arguments.push_back(value);
      printLine((format + conversion).str(), arguments);
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
  cf::AssertOp::create(rewriter, loc, isTrue, op.getMessage());
}

void TileOpLoops::emit(AssumeOp op) {
  LLVM::AssumeOp::create(rewriter, loc, op.getCondition());
}

void TileOpLoops::emit(AssumeMultipleOp op) {
  scalars.push_back(op.getValue());
}
