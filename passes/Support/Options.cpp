//===- Options.cpp - The types of pass options ----------------------------===//

#include "smalti/passes/Support/Options.h"

#include "llvm/Support/raw_ostream.h"

using namespace smalti;

std::optional<AutoOrNumber> AutoOrNumber::parse(llvm::StringRef text) {
  int64_t number;
  if (text == "auto")
    return AutoOrNumber();
  if (text.getAsInteger(10, number) || number < 1)
    return std::nullopt;
  return AutoOrNumber(number);
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
    return option.error("'" + text + "' is not auto or a positive number");
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
