//===- BindingsHeaders.h - Headers of MLIR's Python bindings --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream headers that the extension modules include, to precompile.
//
//===----------------------------------------------------------------------===//

#include "mlir/Bindings/Python/IRAttributes.h"
#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/Bindings/Python/IRTypes.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"

#include <nanobind/ndarray.h>
