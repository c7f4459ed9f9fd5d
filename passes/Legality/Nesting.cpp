//===- Nesting.cpp - Depth of brackets in the text of a module ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Legality/Nesting.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

/// The stack overflows at a depth of several thousands.
static constexpr size_t kMaxNesting = 1000;

/// The size of the string, comment or other token at the start of the text in
/// which brackets do not count; 0 for other text.
static size_t getOpaqueSize(StringRef text) {
  for (StringRef token : {"->", "<=", ">="})
    if (text.starts_with(token))
      return token.size();
  if (text.starts_with("//"))
    return text.find('\n');
  if (!text.starts_with("\""))
    return 0;
  size_t end = text.find_first_of("\"\\\n", 1);
  while (end != StringRef::npos && text[end] == '\\')
    end = text.find_first_of("\"\\\n", end + 2);
  return end == StringRef::npos ? end : end + 1;
}

std::optional<std::string> smalti::checkNesting(StringRef text) {
  if (text.starts_with("ML\xefR"))
    return std::nullopt;
  size_t depth = 0;
  StringRef rest = text;
  while (!rest.empty()) {
    rest = rest.substr(rest.find_first_of("\"/-([{<>}])"));
    if (size_t size = getOpaqueSize(rest)) {
      rest = rest.substr(size);
      continue;
    }
    StringRef token = rest.take_front();
    rest = rest.drop_front(token.size());
    if (StringRef("([{<").contains(token))
      ++depth;
    else if (depth != 0 && StringRef(")]}>").contains(token))
      --depth;
    if (depth > kMaxNesting) {
      size_t line = text.drop_back(rest.size()).count('\n') + 1;
      return "line " + std::to_string(line) + " is nested in more than " +
             std::to_string(kMaxNesting) + " brackets; use less nesting";
    }
  }
  return std::nullopt;
}
