//===- MosaicGPUDialect.td - The mosaic_gpu dialect --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUDIALECT
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUDIALECT

include "mlir/IR/OpBase.td"

def MosaicGPU_Dialect : Dialect {
  let name = "mosaic_gpu";
  let cppNamespace = "::smalti::mosaic_gpu";
  let summary = "Block-level kernels: shared memory, barriers, register vectors with layouts, matmuls";
  let description = [{
    A `mosaic_gpu` kernel describes one thread block. The whole block holds each
    vector; a layout maps each element to a warp, lane and register. The text is
    compatible with the dialect of the same name in JAX. Concepts that NVIDIA and
    AMD share are one op: the number of warps and the wave size are parameters.

    A module can state the version of the dialect that it was written for, with
    `mosaic_gpu.version = 2 : i32`. A newer version than 2 is an error. An op,
    attribute, property or type that this version does not define is an error
    that names it.
  }];
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// The version of the dialect that this code reads and writes: version 1 is
    /// the text of JAX 0.10, version 2 that of JAX 0.11.
    static constexpr int64_t kVersion = 2;

    void registerAttributes();
    void registerTypes();
    void registerOps();
    void registerBytecode();

    /// Emits an error that names an op that this version does not define.
    std::optional<ParseOpHook> getParseOperationHook(::mlir::StringRef opName) const override;
  }];
}

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUDIALECT
