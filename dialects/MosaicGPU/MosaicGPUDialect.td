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

    The chips to which the ops can be lowered:

    | ops | chips |
    |---|---|
    | `async_copy`, `async_commit_group`, `async_wait_group` | NVIDIA; gfx90a, gfx942, gfx950, gfx1250 |
    | `async_load`, `async_store`, `async_prefetch`; mbarriers (`initialize_barrier`, `arrive`, `arrive_expect_tx`, `wait`) | NVIDIA (TMA since sm_90; before, copies by threads) |
    | `async_store_smem`, `get_cluster_ref` | NVIDIA since sm_90, in a cluster |
    | `wgmma` | sm_90a |
    | `layout_cast` that moves elements between threads, `debug_print` | NVIDIA |
    | `tcgen05_*`, `tmem_*`, `slice_tmem`, copies to and from tensor memory, `try_cluster_cancel`, `query_cluster_cancel` | none; only the simulator executes them, at block level |
    | `multimem_load_reduce`, and copies with `gmem_peer_id` | none: memory of other devices is not supported |
    | others | all GPUs |

    A module can state the version of the dialect that it was written for, with
    `mosaic_gpu.version = 2 : i32`. A newer version than 2 is an error. An op,
    attribute, property or type that this version does not define is an error
    that names it.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
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
