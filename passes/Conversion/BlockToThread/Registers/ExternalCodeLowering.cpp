//===- ExternalCodeLowering.cpp - Assembly and external functions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread executes the code for the elements that it holds.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using triton_xla::ExternalCode;
using triton_xla::ExternalEffects;
using triton_xla::ExternCallOp;
using triton_xla::InlineAsmOp;

namespace {
class ExternalCodes : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;

private:
  static LogicalResult planCall(ExternCallOp op);
};
} // namespace

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Whether two calls of one function have the same declaration.
static bool isSameFunction(ExternCallOp a, ExternCallOp b) {
  auto elements = [](ExternCallOp op) {
    SmallVector<Type> types =
        llvm::map_to_vector(op.getOperands(), [](Value value) {
          return getElementTypeOrSelf(value);
        });
    types.push_back(getElementTypeOrSelf(op.getResult()));
    return types;
  };
  return a.getLibrary() == b.getLibrary() && elements(a) == elements(b);
}

/// Checks that the function can be declared.
LogicalResult ExternalCodes::planCall(ExternCallOp op) {
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  if (Operation *symbol = module.lookupSymbol(op.getFunction())) {
    InFlightDiagnostic diagnostic =
        op.emitOpError("calls '")
        << op.getFunction()
        << "', which is also the name of a symbol of the module; rename one";
    diagnostic.attachNote(symbol->getLoc()) << "the symbol is here";
    return diagnostic;
  }
  ExternCallOp other;
  module.walk([&](ExternCallOp call) {
    if (call.getFunction() != op.getFunction() || isSameFunction(op, call))
      return WalkResult::advance();
    other = call;
    return WalkResult::interrupt();
  });
  if (!other)
    return success();
  InFlightDiagnostic diagnostic =
      op.emitOpError("calls '")
      << op.getFunction()
      << "' with other types or from another library than another call; a "
         "function has one declaration in a kernel";
  diagnostic.attachNote(other.getLoc()) << "the other call is here";
  return diagnostic;
}

LogicalResult ExternalCodes::plan(Operation *op, Planner &planner) const {
  const targets::Target &target = planner.getVendor().getTarget();
  ExternalCode code = *ExternalCode::of(op);
  bool isNVIDIA = target.vendor == targets::Vendor::NVIDIA;
  if (isNVIDIA != (code.vendor == triton_xla::GPUVendor::NVIDIA))
    return op->emitOpError("has code for ")
           << (isNVIDIA ? "AMD" : "NVIDIA") << " GPUs, but the target "
           << target.name << " is "
           << (isNVIDIA ? "an NVIDIA GPU" : "an AMD GPU")
           << "; a tile-level kernel can have a reference, which "
              "smalti-expand-tile-ops uses instead";
  if (auto call = dyn_cast<ExternCallOp>(op); call && failed(planCall(call)))
    return failure();
  if (!isVector(op->getResult(0)))
    return success();
  return getElementwiseLowering().plan(op, planner);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {
/// Emits the executions of an op for scalars.
class ExecutionEmitter {
public:
  ExecutionEmitter(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  /// One execution of assembly: `operands` has the elements of each operand,
  /// and the result those of each result.
  SmallVector<SmallVector<Value>> execute(InlineAsmOp op,
                                          ArrayRef<ArrayRef<Value>> operands);
  Value execute(ExternCallOp op, ValueRange operands);

private:
  /// A register with `elements`, the first one in the low bits.
  Value pack(ArrayRef<Value> elements, Type type);
  /// The `count` elements of a register.
  SmallVector<Value> unpack(Value word, Type element, int64_t count);

  OpBuilder &builder;
  Location loc;
};
} // namespace

Value ExecutionEmitter::pack(ArrayRef<Value> elements, Type type) {
  auto vectorType = VectorType::get(static_cast<int64_t>(elements.size()),
                                    elements.front().getType());
  if (elements.size() == 1)
    return elements.front().getType() == type
               ? elements.front()
               : arith::BitcastOp::create(builder, loc, type, elements.front())
                     .getResult();
  Value vector =
      vector::FromElementsOp::create(builder, loc, vectorType, elements);
  return vector::ExtractOp::create(
      builder, loc,
      vector::BitCastOp::create(builder, loc, VectorType::get({1}, type),
                                vector),
      ArrayRef<int64_t>{0});
}

SmallVector<Value> ExecutionEmitter::unpack(Value word, Type element,
                                            int64_t count) {
  if (count == 1)
    return {word.getType() == element
                ? word
                : arith::BitcastOp::create(builder, loc, element, word)
                      .getResult()};
  Value vector = vector::BitCastOp::create(
      builder, loc, VectorType::get({count}, element),
      vector::BroadcastOp::create(builder, loc,
                                  VectorType::get({1}, word.getType()), word));
  SmallVector<Value> elements;
  for (int64_t number = 0; number < count; ++number)
    elements.push_back(vector::ExtractOp::create(builder, loc, vector,
                                                 ArrayRef<int64_t>{number}));
  return elements;
}

SmallVector<SmallVector<Value>>
ExecutionEmitter::execute(InlineAsmOp op, ArrayRef<ArrayRef<Value>> operands) {
  auto size = static_cast<int64_t>(op.getPack());
  SmallVector<Type> types = triton_xla::getRegisterTypes(op);
  int64_t numOutputs = 0;
  for (Type type : op.getResultTypes())
    numOutputs +=
        size / triton_xla::getElementsPerWord(getElementTypeOrSelf(type), size);
  ArrayRef<Type> outputs = ArrayRef(types).take_front(numOutputs),
                 inputs = ArrayRef(types).drop_front(numOutputs);
  SmallVector<Value> words;
  for (ArrayRef<Value> elements : operands) {
    int64_t count =
        triton_xla::getElementsPerWord(elements.front().getType(), size);
    for (int64_t first = 0; first < size; first += count)
      words.push_back(pack(elements.slice(first, count), inputs[words.size()]));
  }
  bool hasEffects = op.getEffects() != ExternalEffects::NoEffects;
  std::string constraints = op.getConstraints().str();
  if (hasEffects && !StringRef(constraints).contains("~{memory}"))
    constraints += ",~{memory}";
  bool isStruct = numOutputs > 1;
  Type type =
      isStruct ? LLVM::LLVMStructType::getLiteral(builder.getContext(), outputs)
               : outputs.front();
  auto assembly = LLVM::InlineAsmOp::create(
      builder, loc, type, words, op.getText(), constraints, hasEffects,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  int64_t number = 0;
  SmallVector<SmallVector<Value>> results;
  for (Type result : op.getResultTypes()) {
    Type element = getElementTypeOrSelf(result);
    int64_t count = triton_xla::getElementsPerWord(element, size);
    SmallVector<Value> &elements = results.emplace_back();
    for (int64_t first = 0; first < size; first += count, ++number) {
      Value word = assembly.getRes();
      if (isStruct)
        word = LLVM::ExtractValueOp::create(builder, loc, word, number);
      llvm::append_range(elements, unpack(word, element, count));
    }
  }
  return results;
}

Value ExecutionEmitter::execute(ExternCallOp op, ValueRange operands) {
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  FailureOr<LLVM::LLVMFuncOp> function = LLVM::lookupOrCreateFn(
      builder, module, op.getFunction(), llvm::to_vector(operands.getTypes()),
      getElementTypeOrSelf(op.getResult()));
  // The plan has checked that the name is free.
  assert(succeeded(function));
  auto call = LLVM::CallOp::create(builder, loc, *function, operands);
  ExternalEffects effects = op.getEffects();
  call.setNoUnwind(true);
  if (effects == ExternalEffects::Write)
    return call.getResult();
  call.setWillReturn(true);
  LLVM::ModRefInfo info = effects == ExternalEffects::Read
                              ? LLVM::ModRefInfo::Ref
                              : LLVM::ModRefInfo::NoModRef;
  call.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(
      builder.getContext(), SmallVector<LLVM::ModRefInfo>(6, info)));
  return call.getResult();
}

void ExternalCodes::emit(Operation *op, Emitter &emitter,
                         OpBuilder &builder) const {
  Location loc = op->getLoc();
  bool isScalar = !isVector(op->getResult(0));
  const Distribution *distribution =
      isScalar ? nullptr : &emitter.plan.getDistribution(op->getResult(0));
  SmallVector<SmallVector<Value>> operands;
  for (Value operand : op->getOperands()) {
    SmallVector<Value> &elements = operands.emplace_back();
    if (isScalar) {
      elements.push_back(emitter.lookup(operand));
      continue;
    }
    for (Value reg : emitter.getRegisters(operand, *distribution, builder))
      for (int64_t i = 0; i < distribution->getVectorLength(); ++i)
        elements.push_back(
            vector::ExtractOp::create(builder, loc, reg, ArrayRef<int64_t>{i}));
  }
  auto assembly = dyn_cast<InlineAsmOp>(op);
  int64_t pack = assembly ? static_cast<int64_t>(assembly.getPack()) : 1;
  size_t count = operands.front().size();
  // An execution of fewer elements repeats the last one.
  for (SmallVector<Value> &elements : operands)
    elements.resize(llvm::alignTo(count, pack), elements.back());
  ExecutionEmitter executions(builder, loc);
  SmallVector<SmallVector<Value>> results(op->getNumResults());
  for (size_t first = 0; first < count; first += pack) {
    SmallVector<ArrayRef<Value>> parts =
        llvm::map_to_vector(operands, [&](const SmallVector<Value> &elements) {
          return ArrayRef(elements).slice(first, pack);
        });
    if (!assembly) {
      results[0].push_back(executions.execute(
          cast<ExternCallOp>(op),
          llvm::map_to_vector(
              parts, [](ArrayRef<Value> part) { return part.front(); })));
      continue;
    }
    for (auto [result, elements] :
         llvm::zip_equal(results, executions.execute(assembly, parts)))
      llvm::append_range(result, elements);
  }
  for (auto [result, elements] : llvm::zip_equal(op->getResults(), results)) {
    if (isScalar) {
      emitter.map(result, elements.front());
      continue;
    }
    VectorType type =
        distribution->getRegisterType(getElementTypeOrSelf(result.getType()));
    int64_t length = distribution->getVectorLength();
    Registers held;
    for (size_t first = 0; first < count; first += length)
      held.push_back(vector::FromElementsOp::create(
          builder, loc, type, ArrayRef(elements).slice(first, length)));
    emitter.setRegisters(result, std::move(held));
  }
}

void block_to_thread::registerExternalCode(OpLowerings &lowerings) {
  lowerings.add<ExternalCodes, InlineAsmOp, ExternCallOp>();
}
