//===- MosaicGPUOps.td - The mosaic_gpu dialect's ops ------*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS

include "dialects/MosaicGPU/Ops/References.td"
include "dialects/MosaicGPU/Ops/Registers.td"
include "dialects/MosaicGPU/Ops/Copies.td"
include "dialects/MosaicGPU/Ops/Products.td"
include "dialects/MosaicGPU/Ops/Barriers.td"
include "dialects/MosaicGPU/Ops/TensorMemory.td"
include "dialects/MosaicGPU/Ops/Regions.td"

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS
