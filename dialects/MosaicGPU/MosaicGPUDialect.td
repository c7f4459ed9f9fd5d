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

    A module may say which version of the dialect it was written for, with
    `mosaic_gpu.version = 2 : i32`. One that says a newer version than this, or
    needs an op, attribute or type of a newer one, is refused with its name.
  }];
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// The version of the dialect that this code reads and writes. The text of
    /// version 1 is JAX 0.10's, that of version 2 JAX 0.11's.
    static constexpr int64_t kVersion = 2;

    void registerAttributes();
    void registerTypes();
    void registerOps();
    void registerBytecode();

    /// Refuses ops that this version does not have, by name.
    std::optional<ParseOpHook> getParseOperationHook(::mlir::StringRef opName) const override;
  }];
}

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUDIALECT
