//===- ExternalOps.cpp - Assembly and external functions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/dialects/TritonXLA/Verification.h"
#include "smalti/targets/Text.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// Common facts
//===----------------------------------------------------------------------===//

std::optional<ExternalCode> ExternalCode::of(Operation *op) {
  if (auto assembly = dyn_cast<InlineAsmOp>(op))
    return ExternalCode{assembly.getVendor(), assembly.getEffects(),
                        &assembly.getReference()};
  if (auto call = dyn_cast<ExternCallOp>(op))
    return ExternalCode{call.getVendor(), call.getEffects(),
                        &call.getReference()};
  return std::nullopt;
}

using EffectList =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(ExternalEffects effects, EffectList &list) {
  if (effects != ExternalEffects::NoEffects)
    list.emplace_back(MemoryEffects::Read::get());
  if (effects == ExternalEffects::Write)
    list.emplace_back(MemoryEffects::Write::get());
}

void InlineAsmOp::getEffects(EffectList &list) {
  addEffects(getEffects(), list);
}

void ExternCallOp::getEffects(EffectList &list) {
  addEffects(getEffects(), list);
}

static Speculation::Speculatability getSpeculation(ExternalEffects effects) {
  return effects == ExternalEffects::NoEffects ? Speculation::Speculatable
                                               : Speculation::NotSpeculatable;
}

Speculation::Speculatability InlineAsmOp::getSpeculatability() {
  return getSpeculation(getEffects());
}

Speculation::Speculatability ExternCallOp::getSpeculatability() {
  return getSpeculation(getEffects());
}

/// Whether a register can hold elements of this type.
static bool isRegisterElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

/// Assemblers end a text at a NUL byte, or refuse characters beyond ASCII.
static bool isText(StringRef text) {
  return llvm::all_of(
      text, [](char c) { return llvm::isPrint(c) || c == '\n' || c == '\t'; });
}

static LogicalResult verifyExternal(Operation *op, ExternalEffects effects,
                                    Region &reference) {
  if (op->getNumOperands() == 0 || op->getNumResults() == 0)
    return op->emitOpError("has ")
           << smalti::counted(op->getNumOperands(), "operand") << " and "
           << smalti::counted(op->getNumResults(), "result")
           << "; at least one of each is required, since the operands "
              "determine how many elements are computed";
  auto shapeOf = [](Type type) -> std::optional<ArrayRef<int64_t>> {
    if (auto shaped = dyn_cast<ShapedType>(type))
      return shaped.getShape();
    return std::nullopt;
  };
  Type first = op->getOperand(0).getType();
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                SmallVector<Type>(op->getResultTypes()))) {
    if (!isRegisterElement(getElementTypeOrSelf(type)) ||
        !(type.isIntOrFloat() || isa<RankedTensorType, VectorType>(type)))
      return op->emitOpError("has an operand or result of type ")
             << type
             << "; its elements must be i8, i16, i32, i64, f16, bf16, f32 or "
                "f64";
    if (shapeOf(type) != shapeOf(first) ||
        isa<VectorType>(type) != isa<VectorType>(first))
      return op->emitOpError("has an operand or result of type ")
             << type << ", and the first operand is of type " << first
             << "; all must be tiles of one shape, or scalars";
  }
  if (!reference.empty() && effects != ExternalEffects::NoEffects)
    return op->emitOpError("has effects on memory and a reference, which "
                           "cannot have effects; remove the reference, or "
                           "write 'effects none'");
  // Lowerings of these regions combine elements inside of a register.
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    if (isa<EntryFuncOp>(parent) || ExternalCode::of(parent))
      break;
    StringRef dialect = parent->getName().getDialectNamespace();
    if (dialect == "triton_xla" || dialect == "mosaic_gpu")
      return op->emitOpError("is in the region of '")
             << parent->getName()
             << "', which cannot have external code; apply it to the whole "
                "tile before or after '"
             << parent->getName() << "'";
  }
  return success();
}

static LogicalResult verifyReference(Operation *op, Region &reference) {
  if (reference.empty())
    return success();
  auto elements = [](TypeRange types) {
    return llvm::map_to_vector(
        types, [](Type type) { return getElementTypeOrSelf(type); });
  };
  return verifyScalarRegion(op, reference, elements(op->getOperandTypes()),
                            elements(op->getResultTypes()));
}

LogicalResult InlineAsmOp::verifyRegions() {
  return verifyReference(*this, getReference());
}

LogicalResult ExternCallOp::verifyRegions() {
  return verifyReference(*this, getReference());
}

//===----------------------------------------------------------------------===//
// InlineAsmOp
//===----------------------------------------------------------------------===//

int64_t smalti::triton_xla::getElementsPerWord(Type element, int64_t pack) {
  return std::clamp<int64_t>(32 / element.getIntOrFloatBitWidth(), 1, pack);
}

/// Appends `text` to `code` with registers in the form `$0`, and `$` for `$$`.
/// A reference to a register that does not exist is a problem: LLVM aborts.
static std::optional<std::string>
normalizeRegisters(StringRef text, size_t numRegisters, std::string &code) {
  while (!text.empty()) {
    if (!text.consume_front("$")) {
      code += text.front();
      text = text.drop_front();
      continue;
    }
    if (text.consume_front("$")) {
      code += '$';
      continue;
    }
    bool isBraced = text.consume_front("{");
    unsigned number;
    if (text.consumeInteger(10, number) ||
        (isBraced && !text.consume_front("}")))
      return "has a '$' that is not followed by the number of a register; "
             "write '$$' for a dollar sign";
    if (number >= numRegisters)
      return "uses $" + std::to_string(number) +
             ", but its registers are $0 to $" +
             std::to_string(numRegisters - 1);
    code += "$" + std::to_string(number);
  }
  return std::nullopt;
}

/// Appends `text` to `code` without comments and the contents of strings.
static std::optional<std::string>
removeComments(GPUVendor vendor, StringRef text, std::string &code) {
  while (!text.empty()) {
    if (text.starts_with("//") ||
        (vendor == GPUVendor::AMD && text.starts_with(";"))) {
      text = text.drop_until([](char c) { return c == '\n'; });
    } else if (text.starts_with("/*")) {
      size_t end = text.find("*/", 2);
      if (end == StringRef::npos)
        return "has a comment '/*' that does not end";
      text = text.drop_front(end + 2);
      code += ' ';
    } else if (text.consume_front("\"")) {
      while (!text.empty() && text.front() != '"')
        text = text.substr(text.front() == '\\' ? 2 : 1);
      if (!text.consume_front("\""))
        return "has a string that does not end";
      code += "\"\"";
    } else if (text.starts_with("#") || text.starts_with("'")) {
      return "has the character " + std::string(1, text.front()) +
             " outside of comments, which is not supported; remove it";
    } else {
      code += text.front();
      text = text.drop_front();
    }
  }
  return std::nullopt;
}

/// Compilers of C write registers as `%0`. Neither PTX nor AMD's assembly has
/// such names.
static std::optional<std::string> findNumberedPercent(StringRef code) {
  for (size_t at = code.find('%'); at != StringRef::npos;
       at = code.find('%', at + 1)) {
    StringRef number = code.drop_front(at + 1).take_while(llvm::isDigit);
    // `7%3` is a constant.
    bool isRemainder =
        at > 0 && (llvm::isAlnum(code[at - 1]) || code[at - 1] == ')');
    if (!number.empty() && !isRemainder)
      return "has '%" + number.str() + "', which is not a register; write '$" +
             number.str() + "': results and operands are numbered from $0";
  }
  return std::nullopt;
}

/// The name at the start of a statement.
static StringRef takeName(StringRef statement) {
  return statement.take_while(
      [](char c) { return llvm::isAlnum(c) || StringRef("_$%").contains(c); });
}

static bool isLabel(StringRef statement) {
  StringRef name = takeName(statement);
  StringRef rest = statement.drop_front(name.size()).ltrim();
  return !name.empty() && rest.starts_with(":") && !rest.starts_with("::");
}

/// Statements of AMD's assembly end with their lines.
static std::optional<std::string> findAMDStatementProblem(StringRef code) {
  SmallVector<StringRef> lines;
  code.split(lines, '\n');
  for (StringRef line : lines) {
    StringRef statement = line.trim();
    if (statement.empty())
      continue;
    if (statement.starts_with("."))
      return "has the directive '" + statement.str() +
             "'; only instructions are supported";
    if (isLabel(statement))
      return "has the label '" + takeName(statement).str() +
             "', which would be defined again by each execution; write the "
             "code without branches, as with v_cndmask_b32";
    StringRef rest = statement.drop_while(
        [](char c) { return llvm::isAlnum(c) || c == '_'; });
    // A space separates an opcode from its operands.
    if (rest.size() == statement.size() ||
        !(rest.empty() || llvm::isSpace(rest.front())) ||
        rest.ltrim().starts_with("="))
      return "has the statement '" + statement.str() +
             "', which is not an instruction; only instructions are supported";
  }
  return std::nullopt;
}

/// Statements of PTX end at ';' and at the braces of scopes.
static std::optional<std::string> findPTXStatementProblem(StringRef code) {
  // For each open brace, whether it is a scope, and not a list of registers.
  SmallVector<bool> isScope;
  bool isStart = true;
  StringRef statement;
  // The emulator has its own parser, so the text must be complete for ptxas.
  auto missingSemicolon = [&](StringRef rest) {
    return "has the statement '" +
           statement.drop_back(rest.size()).rtrim().str() +
           "' without a ';' after it; write the ';'";
  };
  while (!code.empty()) {
    char c = code.front();
    if (llvm::isSpace(c)) {
      code = code.drop_front();
      continue;
    }
    if (c == '{') {
      isScope.push_back(isStart);
    } else if (c == '}') {
      if (isScope.empty())
        return "has a '}' without a '{' before it";
      if (isScope.back() && !isStart)
        return missingSemicolon(code);
      isStart = isScope.pop_back_val();
    } else if (c == ';') {
      isStart = true;
    } else if (isStart) {
      StringRef directive = code.take_while(
          [](char c) { return c == '.' || c == '_' || llvm::isAlnum(c); });
      bool isDeclaration = llvm::is_contained(
          {".reg", ".local", ".shared", ".param"}, directive);
      if (c == '.' && !isDeclaration &&
          !llvm::is_contained(
              {".pragma", ".branchtargets", ".calltargets", ".callprototype"},
              directive))
        return "has the directive '" + directive.str() +
               "'; only instructions and the directives of functions, such as "
               "'.reg', are supported";
      bool hasLabel = isLabel(code);
      if ((isDeclaration || hasLabel) && isScope.empty())
        return (hasLabel ? "has the label '" + takeName(code).str() + "'"
                         : "has a declaration with '" + directive.str() + "'") +
               " outside of braces, which would be defined again by each "
               "execution; write '{' before it and '}' at the end";
      // A statement follows a label.
      if (hasLabel)
        code = code.drop_until([](char c) { return c == ':'; });
      isStart = hasLabel;
      statement = code;
    }
    code = code.drop_front();
  }
  if (!isScope.empty())
    return "has a '{' that is not closed";
  if (!isStart)
    return missingSemicolon(code);
  return std::nullopt;
}

/// Finds text at which LLVM aborts, that affects the code after the assembly,
/// or that can be in a kernel only once.
static std::optional<std::string>
findTextProblem(GPUVendor vendor, StringRef text, size_t numRegisters) {
  if (!isText(text))
    return "has a character that is not printable ASCII";
  std::string named, code;
  if (auto problem = normalizeRegisters(text, numRegisters, named))
    return problem;
  if (auto problem = removeComments(vendor, named, code))
    return problem;
  if (auto problem = findNumberedPercent(code))
    return problem;
  return vendor == GPUVendor::AMD ? findAMDStatementProblem(code)
                                  : findPTXStatementProblem(code);
}

namespace {
/// A register of an execution.
struct Word {
  /// "operand" or "result", for messages.
  StringRef kind;
  unsigned number;
  Type element;
  int64_t bits;
};
} // namespace

/// The words of the results, then those of the operands.
static SmallVector<Word> getWords(InlineAsmOp op) {
  SmallVector<Word> words;
  auto pack = static_cast<int64_t>(op.getPack());
  auto add = [&](StringRef kind, TypeRange types) {
    for (auto [number, type] : llvm::enumerate(types)) {
      Type element = getElementTypeOrSelf(type);
      int64_t count = getElementsPerWord(element, pack);
      words.append(pack / count, {kind, static_cast<unsigned>(number), element,
                                  count * element.getIntOrFloatBitWidth()});
    }
  };
  add("result", op.getResultTypes());
  add("operand", op.getOperandTypes());
  return words;
}

/// The type of the register that a constraint selects; null if it does not
/// select one of this size.
static Type getRegisterType(MLIRContext *context, GPUVendor vendor,
                            StringRef code, int64_t bits) {
  if (vendor == GPUVendor::AMD)
    return code == "v" ? Type(IntegerType::get(context, bits)) : Type();
  if ((code == "h" && bits == 16) || (code == "r" && bits == 32) ||
      (code == "l" && bits == 64))
    return IntegerType::get(context, bits);
  if (code == "f" && bits == 32)
    return Float32Type::get(context);
  if (code == "d" && bits == 64)
    return Float64Type::get(context);
  return {};
}

/// A constraint that is supported for a word.
static StringRef getConstraint(GPUVendor vendor, const Word &word) {
  if (vendor == GPUVendor::AMD)
    return "v";
  if (word.bits == 16)
    return "h";
  bool isFloat =
      isa<FloatType>(word.element) &&
      word.element.getIntOrFloatBitWidth() == static_cast<unsigned>(word.bits);
  if (word.bits == 32)
    return isFloat ? "f" : "r";
  return isFloat ? "d" : "l";
}

static StringRef describeRegisters(GPUVendor vendor, int64_t bits) {
  if (vendor == GPUVendor::AMD)
    return "'v' (a VGPR)";
  return bits == 16 ? "'h'" : bits == 32 ? "'r' or 'f'" : "'l' or 'd'";
}

/// Whether a clobber is a register or memory: LLVM ignores other names.
static bool isClobber(GPUVendor vendor, StringRef name) {
  if (name == "memory")
    return true;
  if (vendor == GPUVendor::NVIDIA)
    return false;
  if (llvm::is_contained({"vcc", "vcc_lo", "vcc_hi", "scc", "m0", "exec",
                          "exec_lo", "exec_hi", "flat_scratch", "mode"},
                         name))
    return true;
  char kind = name.front();
  if (kind != 'v' && kind != 's' && kind != 'a')
    return false;
  StringRef number = name.drop_front();
  unsigned first, last, count = kind == 's' ? 106 : 256;
  if (!number.consume_front("["))
    return !number.getAsInteger(10, first) && first < count;
  return !number.consumeInteger(10, first) && number.consume_front(":") &&
         !number.consumeInteger(10, last) && number == "]" && first <= last &&
         last < count;
}

/// The registers of the words, or nothing and an error by `fail`.
static std::optional<SmallVector<Type>>
readConstraints(InlineAsmOp op, llvm::function_ref<void(const Twine &)> fail) {
  auto refuse = [&](const Twine &why) {
    fail(why);
    return std::nullopt;
  };
  // LLVM's parser reads past the end of some invalid texts.
  StringRef text = op.getConstraints();
  SmallVector<StringRef> items, codes;
  SmallVector<bool> isOutput;
  text.split(items, ',');
  auto isName = [](StringRef name) {
    return !name.empty() && llvm::all_of(name, [](char c) {
      return llvm::isAlnum(c) || StringRef("_:[]").contains(c);
    });
  };
  bool hasClobber = false;
  for (StringRef item : items) {
    StringRef code = item;
    if (code.consume_front("~{") && code.consume_back("}") && isName(code)) {
      if (!isClobber(op.getVendor(), code))
        return refuse("the clobber '" + item + "' is not supported; use " +
                      (op.getVendor() == GPUVendor::NVIDIA
                           ? "'~{memory}'"
                           : "'~{memory}' or a register, such as '~{vcc}' or "
                             "'~{v[0:1]}'"));
      hasClobber = true;
      continue;
    }
    code = item;
    bool isResult = code.consume_front("=");
    if (isResult)
      code.consume_front("&");
    if (!isName(code))
      return refuse("the constraint '" + item +
                    "' is not supported; write '=r' for a result, 'r' for an "
                    "operand and '~{name}' for a clobber");
    if (hasClobber)
      return refuse("the constraints '" + text +
                    "' have a register after a clobber; write clobbers last");
    codes.push_back(code);
    isOutput.push_back(isResult);
  }
  SmallVector<Word> words = getWords(op);
  auto example = [&] {
    return llvm::join(
        llvm::map_range(words,
                        [&](const Word &word) {
                          return (word.kind == "result" ? "=" : "") +
                                 getConstraint(op.getVendor(), word).str();
                        }),
        ",");
  };
  size_t numOutputs = llvm::count_if(
      words, [](const Word &word) { return word.kind == "result"; });
  size_t outputs = llvm::count(isOutput, true);
  if (outputs != numOutputs || codes.size() != words.size())
    return refuse("the constraints '" + text + "' have " +
                  smalti::counted(outputs, "result") + " and " +
                  smalti::counted(codes.size() - outputs, "operand") +
                  "; the results need " +
                  smalti::counted(numOutputs, "register") +
                  " and the operands need " +
                  smalti::counted(words.size() - numOutputs, "register") +
                  ", such as '" + example() + "'");
  if (!llvm::is_sorted(isOutput, std::greater<>()))
    return refuse("the constraints '" + text +
                  "' have a result after an operand; write results first");
  SmallVector<Type> types;
  llvm::SmallBitVector isTied(numOutputs);
  for (auto [number, word] : llvm::enumerate(words)) {
    StringRef code = codes[number];
    size_t tied;
    if (!isOutput[number] && !code.getAsInteger(10, tied)) {
      if (tied >= numOutputs || isTied[tied])
        return refuse("the constraint '" + code + "' of operand " +
                      Twine(word.number) +
                      " must be the number of a result that no other operand "
                      "has");
      if (words[tied].bits != word.bits)
        return refuse("the constraint '" + code + "' of operand " +
                      Twine(word.number) + " is a result with registers of " +
                      Twine(words[tied].bits) +
                      " bits, and the operand has registers of " +
                      Twine(word.bits) + " bits; both must have one size");
      isTied.set(tied);
      types.push_back(types[tied]);
      continue;
    }
    Type type =
        getRegisterType(op.getContext(), op.getVendor(), code, word.bits);
    if (!type)
      return refuse("the constraint '" + code + "' of " + word.kind + " " +
                    Twine(word.number) +
                    " is not supported for a register "
                    "of " +
                    Twine(word.bits) + " bits; use " +
                    describeRegisters(op.getVendor(), word.bits));
    types.push_back(type);
  }
  return types;
}

SmallVector<Type> smalti::triton_xla::getRegisterTypes(InlineAsmOp op) {
  // The verifier has refused other constraints.
  return *readConstraints(op, [](const Twine &) {});
}

LogicalResult InlineAsmOp::verify() {
  if (failed(verifyExternal(*this, getEffects(), getReference())))
    return failure();
  auto pack = static_cast<int64_t>(getPack());
  if (pack < 1 || pack > 16 || !llvm::isPowerOf2_64(pack))
    return emitOpError("pack is ") << pack << "; it must be 1, 2, 4, 8 or 16";
  SmallVector<Word> words = getWords(*this);
  for (const Word &word : words)
    if (word.bits < 16)
      return emitOpError("has elements of ")
             << word.element << ", and a register has at least 16 bits; "
             << "write 'pack 2' or 'pack 4'";
  if (!readConstraints(*this,
                       [&](const Twine &why) { emitOpError() << why.str(); }))
    return failure();
  if (std::optional<std::string> problem =
          findTextProblem(getVendor(), getText(), words.size()))
    return emitOpError("the assembly ") << *problem;
  return success();
}

//===----------------------------------------------------------------------===//
// ExternCallOp
//===----------------------------------------------------------------------===//

LogicalResult ExternCallOp::verify() {
  if (failed(verifyExternal(*this, getEffects(), getReference())))
    return failure();
  StringRef name = getFunction();
  if (name.empty() || llvm::isDigit(name.front()) ||
      !llvm::all_of(name, [](char c) {
        return llvm::isAlnum(c) || c == '_' || c == '$';
      }))
    return emitOpError("the function name '")
           << name
           << "' is not an assembler symbol; use letters, digits, '_' and '$', "
              "and do not start with a digit";
  bool isNVIDIA = name.starts_with("__nv"),
       isAMD = name.starts_with("__ocml_") || name.starts_with("__ockl_") ||
               name.starts_with("__oclc_");
  if (getLibrary()) {
    if (isNVIDIA || isAMD || name == "vprintf" || name == "__assertfail")
      return emitOpError("takes '")
             << name
             << "' from a library, but the name is of the device library; "
                "rename the function, or remove 'library'";
    if (getLibrary()->empty() || getLibrary()->contains('\0'))
      return emitOpError("the library must be the path of a file");
    return success();
  }
  if (getVendor() == GPUVendor::NVIDIA ? !name.starts_with("__nv_") : !isAMD)
    return emitOpError("calls '")
           << name << "', which is not of the device library of "
           << (getVendor() == GPUVendor::NVIDIA
                   ? "NVIDIA, whose names begin with '__nv_'"
                   : "AMD, whose names begin with '__ocml_' or '__ockl_'")
           << "; state the file that defines it with 'library'";
  return success();
}
