//===- MosaicGPUOps.td - The mosaic_gpu dialect's ops ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS

include "smalti/dialects/MosaicGPU/Ops/References.td"
include "smalti/dialects/MosaicGPU/Ops/Registers.td"
include "smalti/dialects/MosaicGPU/Ops/Reductions.td"
include "smalti/dialects/MosaicGPU/Ops/Atomics.td"
include "smalti/dialects/MosaicGPU/Ops/Copies.td"
include "smalti/dialects/MosaicGPU/Ops/Mma.td"
include "smalti/dialects/MosaicGPU/Ops/Barriers.td"
include "smalti/dialects/MosaicGPU/Ops/TensorMemory.td"
include "smalti/dialects/MosaicGPU/Ops/Regions.td"

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS
