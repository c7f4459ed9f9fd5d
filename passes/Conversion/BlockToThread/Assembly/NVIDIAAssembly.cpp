//===- NVIDIAAssembly.cpp - Inline PTX without an NVVM op -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Assembly/NVIDIAAssembly.h"

#include "smalti/passes/Conversion/BlockToThread/Assembly/PTXTable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace smalti;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

static int64_t getBits(Type type) {
  int64_t elements = 1;
  if (auto vector = dyn_cast<VectorType>(type)) {
    elements = vector.getNumElements();
    type = vector.getElementType();
  }
  return type.isIntOrFloat() ? elements * type.getIntOrFloatBitWidth() : 0;
}

/// The constraint letter of a register of this type; 0 if it does not have one.
static char getLetter(Type type) {
  if (isa<VectorType>(type))
    return 0;
  if (type.isF32())
    return 'f';
  if (type.isF64())
    return 'd';
  switch (getBits(type)) {
  case 16:
    return 'h';
  case 32:
    return 'r';
  case 64:
    return 'l';
  default:
    return 0;
  }
}

/// Emits a text of the table with the types of the written operands, and its
/// other operands: first the read-write operands, then the read-only ones.
/// Returns the written values.
static SmallVector<Value> emit(OpBuilder &builder, Location loc,
                               const ptx::Text &text, ValueRange changed,
                               ValueRange read, TypeRange written = {}) {
  SmallVector<Type> results(written);
  llvm::append_range(results, changed.getTypes());
  SmallVector<Value> operands(changed);
  llvm::append_range(operands, read);
  std::string constraints;
  llvm::raw_string_ostream os(constraints);
  llvm::ListSeparator comma(",");
  for (char letter : text.written + text.changed)
    os << comma << "=" << letter;
  for (size_t number = 0; number < text.changed.size(); ++number)
    os << comma << text.written.size() + number;
  for (char letter : text.read)
    os << comma << letter;
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (!results.empty())
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(), results);
  auto assembly = LLVM::InlineAsmOp::create(
      builder, loc, type ? TypeRange(type) : TypeRange(), operands,
      builder.getStringAttr(text.text), builder.getStringAttr(constraints),
      /*has_side_effects=*/builder.getUnitAttr(), /*is_align_stack=*/UnitAttr(),
      LLVM::TailCallKindAttr(), LLVM::AsmDialectAttr(), ArrayAttr());
  SmallVector<Value> values;
  if (results.size() == 1)
    values.push_back(assembly.getRes());
  for (size_t number = 0; results.size() > 1 && number < results.size();
       ++number)
    values.push_back(LLVM::ExtractValueOp::create(
        builder, loc, assembly.getRes(), static_cast<int64_t>(number)));
  return values;
}

//===----------------------------------------------------------------------===//
// Opaque values
//===----------------------------------------------------------------------===//

/// The type of the registers into which a vector is split; null if it is not
/// supported.
static Type getWordType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return getLetter(type) ? type : Type();
  Type element = vector.getElementType();
  if (vector.getRank() != 1 || getBits(vector) == 0)
    return {};
  if (getBits(element) >= 32)
    return getLetter(element) ? element : Type();
  if (getBits(vector) % 32 == 0)
    return IntegerType::get(type.getContext(), 32);
  return getBits(vector) == 16 ? IntegerType::get(type.getContext(), 16)
                               : Type();
}

SmallVector<Value> nvidia::emitOpaque(OpBuilder &builder, Location loc,
                                      ValueRange values) {
  SmallVector<Value> words;
  for (Value value : values) {
    auto vector = dyn_cast<VectorType>(value.getType());
    if (!vector) {
      words.push_back(value);
      continue;
    }
    Type word = getWordType(vector);
    int64_t count = getBits(vector) / getBits(word);
    if (count == 1) {
      words.push_back(LLVM::BitcastOp::create(builder, loc, word, value));
      continue;
    }
    Value cast = value;
    if (vector.getElementType() != word)
      cast = LLVM::BitcastOp::create(builder, loc,
                                     VectorType::get({count}, word), value);
    for (int64_t number = 0; number < count; ++number)
      words.push_back(LLVM::ExtractElementOp::create(
          builder, loc, cast,
          LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                   static_cast<int32_t>(number))));
  }
  if (words.empty())
    return {};
  std::string letters;
  for (Value word : words)
    letters += getLetter(word.getType());
  words = emit(builder, loc, ptx::getOpaque(std::move(letters)), words, {});

  SmallVector<Value> held;
  ArrayRef<Value> left = words;
  for (Value value : values) {
    auto vector = dyn_cast<VectorType>(value.getType());
    if (!vector) {
      held.push_back(left.front());
      left = left.drop_front();
      continue;
    }
    Type word = getWordType(vector);
    int64_t count = getBits(vector) / getBits(word);
    Value joined = left.front();
    if (count > 1) {
      joined =
          LLVM::PoisonOp::create(builder, loc, VectorType::get({count}, word));
      for (int64_t number = 0; number < count; ++number)
        joined = LLVM::InsertElementOp::create(
            builder, loc, joined, left[number],
            LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                     static_cast<int32_t>(number)));
    }
    left = left.drop_front(count);
    if (joined.getType() != vector)
      joined = LLVM::BitcastOp::create(builder, loc, vector, joined);
    held.push_back(joined);
  }
  return held;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

SmallVector<Value> nvidia::emitWgmmaOfRegisters(
    OpBuilder &builder, Location loc, const WgmmaInstruction &instruction,
    ValueRange accumulator, ValueRange a, Value descriptorB) {
  ptx::Wgmma wgmma;
  wgmma.columns = instruction.columns;
  wgmma.depth = instruction.depth;
  wgmma.accumulator = stringifyWGMMATypes(instruction.accumulator);
  wgmma.a = stringifyWGMMATypes(instruction.a);
  wgmma.b = stringifyWGMMATypes(instruction.b);
  wgmma.transposesB = instruction.transposesB;
  SmallVector<Value> read(a);
  read.push_back(descriptorB);
  return emit(builder, loc, ptx::getWgmmaWithRegisterA(wgmma), accumulator,
              read);
}

void nvidia::emitRemoteStore(OpBuilder &builder, Location loc, Value place,
                             ValueRange words, Value barrier) {
  SmallVector<Value> read{place};
  llvm::append_range(read, words);
  read.push_back(barrier);
  emit(builder, loc, ptx::getRemoteStore(words.size()), {}, read);
}

void nvidia::emitRemoteReduction(OpBuilder &builder, Location loc, Value place,
                                 Value word, Value barrier,
                                 StringRef operation) {
  emit(builder, loc, ptx::getRemoteReduction(operation), {},
       {place, word, barrier});
}

static unsigned countBytes(TypeRange words) {
  return words.size() * getBits(words.front()) / 8;
}

SmallVector<Value> nvidia::emitHintedLoad(OpBuilder &builder, Location loc,
                                          Value place, TypeRange words,
                                          StringRef hint) {
  return emit(builder, loc, ptx::getHintedLoad(hint, countBytes(words)), {},
              place, words);
}

void nvidia::emitHintedStore(OpBuilder &builder, Location loc, Value place,
                             ValueRange words, StringRef hint) {
  SmallVector<Value> read{place};
  llvm::append_range(read, words);
  emit(builder, loc, ptx::getHintedStore(hint, countBytes(words.getTypes())),
       {}, read);
}
