//===- AssemblyText.cpp - The text of NVIDIA's inline assembly ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Rewrite/AssemblyText.h"

#include "smalti/emulator/Rewrite/AssemblyConstants.h"
#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace smalti::emulator::assembly {

static constexpr std::pair<StringLiteral, unsigned> typeBits[] = {
    {"pred", 1},  {"b8", 8},   {"u8", 8},   {"s8", 8},     {"b16", 16},
    {"u16", 16},  {"s16", 16}, {"f16", 16}, {"bf16", 16},  {"b32", 32},
    {"u32", 32},  {"s32", 32}, {"f32", 32}, {"f16x2", 32}, {"bf16x2", 32},
    {"tf32", 32}, {"b64", 64}, {"u64", 64}, {"s64", 64},   {"f64", 64},
    {"b128", 128}};

unsigned bitsOfType(StringRef type) {
  for (auto [name, bits] : typeBits)
    if (type == name)
      return bits;
  return 0;
}

void skipBlanks(StringRef &text) {
  while (true) {
    text = text.ltrim();
    if (text.starts_with("//"))
      text = text.drop_until([](char c) { return c == '\n'; });
    else if (size_t end =
                 text.starts_with("/*") ? text.find("*/", 2) : StringRef::npos;
             end != StringRef::npos)
      text = text.substr(end + 2);
    else
      return;
  }
}

namespace {

bool isOfName(char c) { return isAlnum(c) || c == '_' || c == '%'; }

class Parser {
public:
  explicit Parser(StringRef text) : rest(text) { scopes.emplace_back(); }

  Expected<Program> run();

private:
  /// The names of a block `{}`; those of the blocks around it hold too.
  struct Scope {
    StringMap<unsigned> registers, labels;
  };

  void skipBlanks() { assembly::skipBlanks(rest); }
  bool consume(char c) {
    skipBlanks();
    return rest.consume_front(StringRef(&c, 1));
  }
  bool isAtEnd() {
    skipBlanks();
    return rest.empty();
  }
  bool isNext(char c) { return !isAtEnd() && rest.front() == c; }
  std::string takeName();
  std::string takeOpcode();
  /// Consumes `name:` and returns the name.
  std::optional<std::string> takeLabel();

  bool parseStatement();
  bool parseRegisters();
  std::optional<Operand> parseOperand();
  std::optional<Operand> parseSimple();
  std::optional<Operand> parseAddress();
  std::optional<Operand> parseNumber();
  bool convertFloats(Operand &operand, StringRef opcode);
  bool parseList(char end, std::vector<Operand> &into);
  std::optional<Operand> named(const std::string &name);
  bool complain(const Twine &what) {
    if (problem.empty())
      problem = what.str();
    return false;
  }
  std::nullopt_t complainNone(const Twine &what) {
    complain(what);
    return std::nullopt;
  }

  StringRef rest;
  Program program;
  std::vector<Scope> scopes;
  /// The labels of the whole program, because branches can go forward, with the
  /// depth of their block.
  std::vector<std::string> labelNames;
  std::string problem;
};

} // namespace

/// A name; `$$` in it is one dollar.
std::string Parser::takeName() {
  skipBlanks();
  std::string name;
  while (!rest.empty()) {
    if (rest.starts_with("$$")) {
      name += '$';
      rest = rest.drop_front(2);
    } else if (isOfName(rest.front()) ||
               // Special registers have parts: %tid.x.
               (rest.front() == '.' && StringRef(name).starts_with("%"))) {
      name += rest.front();
      rest = rest.drop_front();
    } else {
      break;
    }
  }
  return name;
}

std::string Parser::takeOpcode() {
  skipBlanks();
  std::string opcode;
  while (!rest.empty()) {
    size_t take =
        rest.starts_with("::") ? 2
        : isAlnum(rest.front()) || rest.front() == '_' || rest.front() == '.'
            ? 1
            : 0;
    if (!take)
      break;
    opcode += rest.take_front(take);
    rest = rest.drop_front(take);
  }
  return opcode;
}

std::optional<std::string> Parser::takeLabel() {
  StringRef before = rest;
  std::string name = takeName();
  skipBlanks();
  if (!name.empty() && rest.starts_with(":") && !rest.starts_with("::")) {
    rest = rest.drop_front();
    return name;
  }
  rest = before;
  return std::nullopt;
}

/// `.reg .b32 a, b<4>;`
bool Parser::parseRegisters() {
  std::string type = takeOpcode();
  unsigned bits = bitsOfType(StringRef(type).drop_front(type.empty() ? 0 : 1));
  if (!bits) {
    std::string supported;
    for (auto [name, width] : typeBits)
      supported += (supported.empty() ? "." : ", .") + name.str();
    return complain("unsupported register type '" + type + "'; supported are " +
                    supported);
  }
  do {
    std::string name = takeName();
    if (name.empty())
      return complain("the register declaration does not have a name");
    uint64_t count = 0;
    bool isRow = consume('<');
    if (isRow) {
      skipBlanks();
      if (rest.consumeInteger(10, count) || count > 4096 || !consume('>'))
        return complain("the number of registers in the declaration of " +
                        name + "<N> must be an integer up to 4096");
    }
    for (uint64_t i = 0; i < (isRow ? count : 1); ++i) {
      scopes.back().registers[isRow ? name + std::to_string(i) : name] =
          program.registers.size();
      program.registers.push_back(bits);
    }
  } while (consume(','));
  return consume(';') ||
         complain("the register declaration does not end with ';'");
}

std::optional<Operand> Parser::named(const std::string &name) {
  if (name == "_")
    return Operand(Operand::Sink);
  for (Scope &scope : reverse(scopes)) {
    auto found = scope.registers.find(name);
    if (found != scope.registers.end())
      return Operand(Operand::Register, found->second);
  }
  if (StringRef(name).starts_with("%"))
    return Operand(Operand::Special, 0, name.substr(1));
  // It can only be a label, of which branches know where it is at the end.
  return Operand(Operand::Label, 0, name);
}

std::optional<Operand> Parser::parseNumber() {
  StringRef begin = rest;
  std::optional<Constant> constant = parseConstant(rest, problem);
  if (!constant)
    return std::nullopt;
  Operand number(Operand::Number, constant->bits,
                 begin.drop_back(rest.size()).trim().str());
  number.isFloat = constant->type == Constant::F64;
  return number;
}

/// A float becomes one of the type of its statement.
bool Parser::convertFloats(Operand &operand, StringRef opcode) {
  for (Operand &part : operand.parts)
    if (!convertFloats(part, opcode))
      return false;
  if (!operand.isFloat || opcode.ends_with(".f64") || opcode.ends_with(".b64"))
    return true;
  double value = bit_cast<double>(operand.value);
  if (!opcode.ends_with(".f32"))
    return complain("floating-point constant " + operand.name +
                    "; only operands of type .f32, .f64 and .b64 can be one");
  APFloat number(value);
  bool losesBits;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                 &losesBits);
  operand.value = number.bitcastToAPInt().getZExtValue();
  return true;
}

std::optional<Operand> Parser::parseAddress() {
  Operand address(Operand::Address);
  do {
    std::optional<Operand> part = parseOperand();
    if (!part)
      return std::nullopt;
    address.parts.push_back(std::move(*part));
    if (address.parts.size() > 1)
      continue;
    skipBlanks();
    if (rest.consume_front("+")) {
      skipBlanks();
    } else if (!rest.starts_with("-")) {
      continue;
    }
    std::optional<Operand> offset = parseNumber();
    if (!offset)
      return std::nullopt;
    if (offset->isFloat)
      return complainNone("an address offset is a floating-point constant; an "
                          "integer is required");
    address.value = offset->value;
  } while (consume(','));
  if (!consume(']'))
    return complainNone("unmatched '['");
  return address;
}

bool Parser::parseList(char end, std::vector<Operand> &into) {
  do {
    std::optional<Operand> part = parseOperand();
    if (!part)
      return false;
    into.push_back(std::move(*part));
  } while (consume(','));
  return consume(end) || complain("the operand list is not closed");
}

std::optional<Operand> Parser::parseSimple() {
  if (isAtEnd())
    return complainNone("missing operand");
  if (consume('[')) {
    return parseAddress();
  }
  if (consume('{')) {
    Operand vector(Operand::Vector);
    if (!parseList('}', vector.parts))
      return std::nullopt;
    return vector;
  }
  if (startsConstant(rest))
    return parseNumber();
  if (consume('!')) {
    std::optional<Operand> negated = parseSimple();
    if (negated)
      negated->isNegated = !negated->isNegated;
    return negated;
  }
  if (rest.starts_with("$") && !rest.starts_with("$$")) {
    rest = rest.drop_front();
    bool isBraced = rest.consume_front("{");
    uint64_t index = 0;
    if (rest.consumeInteger(10, index) ||
        (isBraced && !rest.consume_front("}")))
      return complainNone("'$' is not followed by an operand number");
    return Operand(Operand::Argument, index);
  }
  std::string name = takeName();
  if (name.empty())
    return complainNone("unexpected text '" + rest.take_front(8) + "'");
  return named(name);
}

std::optional<Operand> Parser::parseOperand() {
  std::optional<Operand> first = parseSimple();
  if (!first || !consume('|'))
    return first;
  std::optional<Operand> second = parseSimple();
  if (!second)
    return std::nullopt;
  Operand pair(Operand::Pair);
  pair.parts = {std::move(*first), std::move(*second)};
  return pair;
}

/// One statement, or the begin or end of a block.
bool Parser::parseStatement() {
  if (consume(';'))
    return true;
  if (consume('{')) {
    scopes.emplace_back();
    return true;
  }
  if (consume('}')) {
    if (scopes.size() == 1)
      return complain("unmatched '}'");
    scopes.pop_back();
    return true;
  }
  if (std::optional<std::string> label = takeLabel()) {
    if (is_contained(labelNames, *label))
      return complain("label " + *label + " is defined twice");
    labelNames.push_back(*label);
    program.labels.push_back(program.statements.size());
    return true;
  }
  StringRef begin = rest;
  Statement statement;
  if (consume('@')) {
    statement.guard = parseSimple();
    if (!statement.guard)
      return false;
  }
  statement.opcode = takeOpcode();
  if (statement.opcode == ".reg")
    return parseRegisters();
  if (statement.opcode.empty())
    return complain("unexpected text '" + rest.take_front(8) + "'");
  if (!isNext(';'))
    do {
      std::optional<Operand> operand = parseOperand();
      if (!operand || !convertFloats(*operand, statement.opcode))
        return false;
      statement.operands.push_back(std::move(*operand));
    } while (consume(','));
  statement.text = begin.drop_back(rest.size()).rtrim().str();
  // The last one of a string may go without its end.
  if (!consume(';') && !isAtEnd())
    return complain("unexpected text '" + rest.take_front(8) + "'");
  program.statements.push_back(std::move(statement));
  return true;
}

Expected<Program> Parser::run() {
  while (!isAtEnd()) {
    StringRef begin = rest;
    if (!parseStatement()) {
      if (rest.starts_with("/*"))
        problem = "the comment is not closed";
      StringRef statement = begin.take_until([](char c) { return c == ';'; });
      return refuse("cannot parse inline assembly '" + statement.trim() +
                    "': " + problem);
    }
  }
  if (scopes.size() != 1)
    return refuse("cannot parse inline assembly: unmatched '{'");
  for (Statement &statement : program.statements)
    for (Operand &operand : statement.operands) {
      if (operand.kind != Operand::Label)
        continue;
      auto found = find(labelNames, operand.name);
      if (found == labelNames.end())
        return refuse("cannot parse inline assembly '" + statement.text +
                      "': undefined name " + operand.name);
      operand.value = found - labelNames.begin();
    }
  return std::move(program);
}

Expected<Program> parse(StringRef text) { return Parser(text).run(); }

} // namespace smalti::emulator::assembly
