//===- Text.td - Text that a kernel prints -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TEXT
#define SMALTI_DIALECTS_TEXT

include "mlir/IR/CommonAttrConstraints.td"

/// printf stops at the first byte 0, and Python requires UTF-8.
def Smalti_TextAttr : ConfinedAttr<StrAttr, [AttrConstraint<
    CPred<"!::llvm::cast<::mlir::StringAttr>($_self).getValue().contains(char(0)) && "
          "::llvm::json::isUTF8(::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "whose value is UTF-8 without the byte 0">]>;

#endif // SMALTI_DIALECTS_TEXT
