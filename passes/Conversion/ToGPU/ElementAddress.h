//===- ElementAddress.h - Addresses of elements -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOGPU_ELEMENTADDRESS_H
#define SMALTI_PASSES_CONVERSION_TOGPU_ELEMENTADDRESS_H

#include "mlir/IR/Builders.h"

namespace smalti {

/// The address of an element of a memref as an i64.
mlir::Value emitAddress(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value memref, mlir::ValueRange indices);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOGPU_ELEMENTADDRESS_H
