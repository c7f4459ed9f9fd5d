//===- MosaicGPUEnums.h - Enumerations of the mosaic_gpu dialect ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUENUMS_H
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUENUMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "smalti/dialects/MosaicGPU/MosaicGPUEnums.h.inc"

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUENUMS_H
