//===- AssemblyConstants.cpp - Constant expressions of NVIDIA's PTX -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Constants": literals, the operators of "Constant Expressions", and
// the types of "Integer Constant Expression Evaluation". If that section and
// ptxas 13.0 differ, this file follows ptxas. `&`, `|` and `^` have the type of
// their operands after the usual conversions. `%` has type .u64. Shift amounts
// are taken modulo 64.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Rewrite/AssemblyConstants.h"

#include "smalti/emulator/Rewrite/AssemblyText.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace smalti::emulator::assembly {

namespace {

/// Parentheses and operators before an operand, which the parser's stack
/// bounds.
constexpr unsigned maxDepth = 256;

struct Operator {
  StringLiteral text;
  unsigned precedence;
};

constexpr StringLiteral warpSize = "WARP_SZ";
bool startsWarpSize(StringRef text) {
  return text.consume_front(warpSize) &&
         (text.empty() || !(isAlnum(text.front()) || text.front() == '_'));
}

/// Longer ones first.
constexpr Operator operators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
    {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
    {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

class ConstantParser {
public:
  ConstantParser(StringRef &rest, std::string &problem)
      : rest(rest), problem(problem) {}

  std::optional<Constant> parseChoice();

private:
  std::optional<Constant> parseBinary(unsigned least);
  std::optional<Constant> parseUnary();
  std::optional<Constant> parseNumber();
  std::optional<Constant> combine(StringRef name, const Constant &a,
                                  const Constant &b);
  bool consume(StringRef text) {
    skipBlanks(rest);
    return rest.consume_front(text);
  }
  std::nullopt_t complain(const Twine &what) {
    if (problem.empty())
      problem = what.str();
    return std::nullopt;
  }

  StringRef &rest;
  std::string &problem;
  unsigned depth = 0;
};

Constant makeSigned(int64_t value) {
  return {Constant::S64, static_cast<uint64_t>(value)};
}
Constant makeFloat(double value) {
  return {Constant::F64, bit_cast<uint64_t>(value)};
}
double asFloat(const Constant &value) { return bit_cast<double>(value.bits); }

} // namespace

/// Decimal, hexadecimal, octal and binary integers, `0d` and the bits of an
/// f64, and decimal floats.
std::optional<Constant> ConstantParser::parseNumber() {
  size_t length = 0;
  auto at = [&](size_t index) {
    return index < rest.size() ? rest[index] : '\0';
  };
  bool hasPrefix =
      at(0) == '0' && StringRef("xXbBdDfF").contains(at(1)) && at(1);
  bool isFloat = false;
  while (isAlnum(at(length)) || at(length) == '.') {
    bool isExponent = !hasPrefix && toLower(at(length)) == 'e';
    isFloat |= at(length) == '.' || isExponent;
    ++length;
    if (isExponent && (at(length) == '-' || at(length) == '+'))
      ++length;
  }
  StringRef text = rest.take_front(length);
  auto wrong = [&] { return complain("invalid number '" + text + "'"); };
  rest = rest.drop_front(length);
  uint64_t value = 0;
  StringRef digits = text;
  if (hasPrefix && StringRef("dDfF").contains(text[1])) {
    bool isDouble = toLower(text[1]) == 'd';
    digits = digits.drop_front(2);
    if (digits.size() != (isDouble ? 16 : 8) || digits.getAsInteger(16, value))
      return wrong();
    // An f32 cannot be an operand of an expression.
    return Constant{isDouble ? Constant::F64 : Constant::U64, value};
  }
  if (isFloat) {
    APFloat number(APFloat::IEEEdouble());
    Expected<APFloat::opStatus> status =
        number.convertFromString(text, APFloat::rmNearestTiesToEven);
    if (!status)
      consumeError(status.takeError());
    else if (!isAlpha(text.back()))
      return makeFloat(number.convertToDouble());
    return wrong();
  }
  bool isUnsigned = digits.consume_back("U");
  if (StringRef(digits).starts_with_insensitive("0o") ||
      digits.getAsInteger(0, value))
    return wrong();
  // What .s64 does not have is an .u64.
  isUnsigned |= value >> 63;
  return Constant{isUnsigned ? Constant::U64 : Constant::S64, value};
}

std::optional<Constant> ConstantParser::parseUnary() {
  if (++depth > maxDepth)
    return complain("the constant expression has more than " + Twine(maxDepth) +
                    " nested operators and parentheses");
  skipBlanks(rest);
  std::optional<Constant> result;
  if (rest.empty()) {
    complain("an operand of the expression is missing");
  } else if (consume("(")) {
    bool isCast = rest.ltrim().starts_with(".");
    bool isSigned = isCast && consume(".s64");
    if (isCast && !isSigned && !consume(".u64"))
      return complain("a cast must be (.s64) or (.u64)");
    if (isCast) {
      if (!consume(")"))
        return complain("unmatched '('");
      result = parseUnary();
      if (result && result->type == Constant::F64)
        return complain("a cast of a floating-point constant is not supported; "
                        "write the computed constant instead");
      if (result)
        result->type = isSigned ? Constant::S64 : Constant::U64;
    } else {
      result = parseChoice();
      if (result && !consume(")"))
        return complain("unmatched '('");
    }
  } else if (rest.front() == '+' || rest.front() == '-' ||
             rest.front() == '!' || rest.front() == '~') {
    char name = rest.front();
    rest = rest.drop_front();
    result = parseUnary();
    bool isFloat = result && result->type == Constant::F64;
    if (isFloat && (name == '!' || name == '~'))
      return complain(
          Twine("operator ") + Twine(name) +
          " is not supported on a floating-point constant; write the "
          "computed constant instead");
    if (result && name == '-')
      result = isFloat ? makeFloat(-asFloat(*result))
                       : Constant{result->type, 0 - result->bits};
    else if (result && name == '!')
      result = makeSigned(!result->bits);
    else if (result && name == '~')
      result = Constant{Constant::U64, ~result->bits};
  } else if (startsWarpSize(rest)) {
    rest = rest.drop_front(warpSize.size());
    result = makeSigned(32);
  } else if (isDigit(rest.front()) || rest.front() == '.') {
    result = parseNumber();
  } else {
    complain("unexpected text '" + rest.take_front(8) + "'");
  }
  --depth;
  return result;
}

std::optional<Constant>
ConstantParser::combine(StringRef name, const Constant &a, const Constant &b) {
  if ((a.type == Constant::F64) != (b.type == Constant::F64))
    return complain(
        "operator " + name +
        " is not supported on a floating-point and an integer constant; "
        "write the computed constant instead");
  if (a.type == Constant::F64) {
    double x = asFloat(a), y = asFloat(b);
    if (name == "+")
      return makeFloat(x + y);
    if (name == "-")
      return makeFloat(x - y);
    if (name == "*")
      return makeFloat(x * y);
    if (name == "/")
      return makeFloat(x / y);
    if (name == "==")
      return makeSigned(x == y);
    if (name == "!=")
      return makeSigned(x != y);
    if (name == "<")
      return makeSigned(x < y);
    if (name == "<=")
      return makeSigned(x <= y);
    if (name == ">")
      return makeSigned(x > y);
    if (name == ">=")
      return makeSigned(x >= y);
    return complain("operator " + name +
                    " is not supported on floating-point constants; write the "
                    "computed constant instead");
  }
  uint64_t x = a.bits, y = b.bits;
  if (name == "||")
    return makeSigned(x || y);
  if (name == "&&")
    return makeSigned(x && y);
  if (name == "<<")
    return Constant{a.type, x << (y & 63)};
  if (name == ">>")
    return a.type == Constant::S64
               ? makeSigned(static_cast<int64_t>(x) >> (y & 63))
               : Constant{a.type, x >> (y & 63)};
  if ((name == "/" || name == "%") && y == 0)
    return complain("division by zero");
  if (name == "%")
    return Constant{Constant::U64, x % y};
  // The usual conversions.
  bool isSigned = a.type == Constant::S64 && b.type == Constant::S64;
  Constant::Type type = isSigned ? Constant::S64 : Constant::U64;
  auto p = static_cast<int64_t>(x), q = static_cast<int64_t>(y);
  if (name == "+")
    return Constant{type, x + y};
  if (name == "-")
    return Constant{type, x - y};
  if (name == "*")
    return Constant{type, x * y};
  if (name == "/") {
    // The least number divided by -1 wraps.
    if (isSigned && q == -1)
      return Constant{type, 0 - x};
    return isSigned ? makeSigned(p / q) : Constant{type, x / y};
  }
  if (name == "&")
    return Constant{type, x & y};
  if (name == "|")
    return Constant{type, x | y};
  if (name == "^")
    return Constant{type, x ^ y};
  if (name == "==")
    return makeSigned(x == y);
  if (name == "!=")
    return makeSigned(x != y);
  if (name == "<")
    return makeSigned(isSigned ? p < q : x < y);
  if (name == "<=")
    return makeSigned(isSigned ? p <= q : x <= y);
  if (name == ">")
    return makeSigned(isSigned ? p > q : x > y);
  return makeSigned(isSigned ? p >= q : x >= y);
}

std::optional<Constant> ConstantParser::parseBinary(unsigned least) {
  std::optional<Constant> result = parseUnary();
  while (result) {
    skipBlanks(rest);
    const Operator *found = nullptr;
    for (const Operator &candidate : operators)
      if (!found && rest.starts_with(candidate.text))
        found = &candidate;
    if (!found || found->precedence < least)
      break;
    rest = rest.drop_front(found->text.size());
    std::optional<Constant> other = parseBinary(found->precedence + 1);
    if (!other)
      return std::nullopt;
    result = combine(found->text, *result, *other);
  }
  return result;
}

std::optional<Constant> ConstantParser::parseChoice() {
  if (++depth > maxDepth)
    return complain("the constant expression has more than " + Twine(maxDepth) +
                    " nested operators and parentheses");
  std::optional<Constant> condition = parseBinary(1);
  if (condition && consume("?")) {
    if (condition->type == Constant::F64)
      return complain("the condition of ?: is a floating-point constant; an "
                      "integer is required");
    std::optional<Constant> first = parseChoice();
    if (!first)
      return std::nullopt;
    if (!consume(":"))
      return complain("'?' without ':'");
    std::optional<Constant> second = parseChoice();
    if (!second)
      return std::nullopt;
    condition = condition->bits ? first : second;
  }
  --depth;
  return condition;
}

bool startsConstant(StringRef text) {
  // `!p` of a predicate is not a constant.
  text = text.ltrim("! \t\n");
  return !text.empty() && (StringRef("+-~(.").contains(text.front()) ||
                           isDigit(text.front()) || startsWarpSize(text));
}

std::optional<Constant> parseConstant(StringRef &rest, std::string &problem) {
  return ConstantParser(rest, problem).parseChoice();
}

} // namespace smalti::emulator::assembly
