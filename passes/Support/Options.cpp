//===- Options.cpp - Types of pass options --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/Options.h"

#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace smalti;

std::optional<AutoOrNumber> AutoOrNumber::parse(llvm::StringRef text) {
  int64_t number;
  if (text == "auto")
    return AutoOrNumber();
  if (text.getAsInteger(10, number) || number < 1)
    return std::nullopt;
  return AutoOrNumber(number);
}

std::optional<std::string> smalti::checkAtMost(llvm::StringRef option,
                                               const AutoOrNumber &value,
                                               int64_t most) {
  if (value.getOr(most) <= most)
    return std::nullopt;
  return "'" + option.str() + "' must be 'auto' or between 1 and " +
         std::to_string(most) + ", but is " + value.str();
}

std::optional<std::string> smalti::checkBlocks(int64_t blocks) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (blocks >= 0 && blocks <= most)
    return std::nullopt;
  return "'blocks' must be between 0 and " + std::to_string(most) +
         ", but is " + std::to_string(blocks);
}

llvm::raw_ostream &smalti::operator<<(llvm::raw_ostream &os,
                                      const AutoOrNumber &value) {
  return os << value.str();
}

bool llvm::cl::parser<AutoOrNumber>::parse(Option &option, StringRef,
                                           StringRef text,
                                           AutoOrNumber &value) {
  std::optional<AutoOrNumber> parsed = AutoOrNumber::parse(text);
  if (!parsed)
    return option.error(
        "'" + text +
        "' is not a valid value; it must be 'auto' or a positive number");
  value = *parsed;
  return false;
}

void llvm::cl::parser<AutoOrNumber>::printOptionDiff(const Option &option,
                                                     const AutoOrNumber &value,
                                                     const OptVal &,
                                                     size_t width) const {
  printOptionName(option, width);
  llvm::outs() << "= " << value << '\n';
}

void llvm::cl::parser<AutoOrNumber>::anchor() {}
