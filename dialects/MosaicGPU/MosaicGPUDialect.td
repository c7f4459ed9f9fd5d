//===- MosaicGPUDialect.td - The mosaic_gpu dialect --------*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUDIALECT
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUDIALECT

include "mlir/IR/OpBase.td"

def MosaicGPU_Dialect : Dialect {
  let name = "mosaic_gpu";
  let cppNamespace = "::smalti::mosaic_gpu";
  let summary = "Programs of one thread block: shared memory, barriers, register vectors with layouts, matrix products";
  let description = [{
    A `mosaic_gpu` program is what one thread block does. Its vectors are held by
    the whole block; a layout says which element lies in which warp, lane and
    register. The text is that of JAX's dialect of the same name, and what both
    vendors have is one op for both: warp count and wave size are parameters.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUDIALECT
