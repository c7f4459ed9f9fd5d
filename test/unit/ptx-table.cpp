//===- ptx-table.cpp - Prints the inline PTX of the project ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One JSON object a line for each text of PTXTable.h, for a test that assembles
// them.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/BlockToThread/Assembly/PTXTable.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace smalti;

int main() {
  for (const ptx::Text &text : ptx::getAll())
    llvm::outs() << llvm::json::Value(llvm::json::Object{
                        {"instruction", text.instruction->name},
                        {"section", text.instruction->section},
                        {"version", text.instruction->version},
                        {"chip", text.instruction->chip},
                        {"of_one_chip", text.instruction->isOfOneChip},
                        {"text", text.text},
                        {"written", text.written},
                        {"changed", text.changed},
                        {"read", text.read}})
                 << "\n";
  return 0;
}
