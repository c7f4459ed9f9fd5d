//===- MosaicGPUAttrs.td - Layouts, transforms, memory spaces -*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUATTRS
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUATTRS

include "smalti/dialects/MosaicGPU/MosaicGPUDialect.td"
include "mlir/IR/AttrTypeBase.td"

class MosaicGPU_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<MosaicGPU_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Register layouts
//===----------------------------------------------------------------------===//

def MosaicGPU_WGStridedFragLayout : MosaicGPU_Attr<"WGStridedFragLayout", "WGStridedFragLayout"> {
  let summary = "Chunks of consecutive elements, dealt to the threads in turn";
  let description = [{
    The elements of the vector, in row-major order, are cut into chunks of
    `vector_size` elements; the threads of the block take the chunks in turn.
    `shape` is the vector's shape.

    Example:

    ```mlir
    func.func @load(%m: memref<128x128xf32>) -> vector<128x128xf32> {
      %v = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 2>]}
          : memref<128x128xf32> -> vector<128x128xf32>
      return %v : vector<128x128xf32>
    }
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$shape, "int64_t":$vector_size);
  let assemblyFormat = "`<` custom<Shape>($shape) `,` $vector_size `>`";
  let extraClassDeclaration = [{
    /// The layout as data.
    ::smalti::layout::StridedLayout getLayout() const;
  }];
}

def MosaicGPU_WGSplatFragLayout : MosaicGPU_Attr<"WGSplatFragLayout", "WGSplatFragLayout"> {
  let summary = "One scalar that every element equals";
  let description = [{
    All elements of the vector are equal and every thread holds that one scalar.
    `shape` is the vector's shape.

    Example:

    ```mlir
    func.func @zero() -> vector<64xf32> {
      %v = arith.constant {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]} dense<0.0> : vector<64xf32>
      return %v : vector<64xf32>
    }
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$shape);
  let assemblyFormat = "`<` custom<Shape>($shape) `>`";
}

def MosaicGPU_Replicated : MosaicGPU_Attr<"Replicated", "Replicated"> {
  let summary = "A factor of the warp or lane index that holds the same elements";
  let description = [{
    Stands in `warp_dims` or `lane_dims` of a tiled layout for a factor of the
    warp or lane index that no element depends on: `times` warps or lanes hold
    the same elements.

    Example:

    ```mlir
    // Of 32 lanes, 4 and 4 hold the same 8 rows.
    func.func @cast(%v: vector<64xf32>) -> vector<64xf32> {
      %r = mosaic_gpu.layout_cast x(%v : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]],
          warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>}
      return %r : vector<64xf32>
    }
    ```
  }];
  let parameters = (ins "int64_t":$times);
  let assemblyFormat = "`<` `times` `=` $times `>`";
}

def MosaicGPU_TiledLayout : MosaicGPU_Attr<"TiledLayout", "TiledLayout"> {
  let summary = "A nested tiling whose dimensions are warps, lanes, registers and a vector";
  let description = [{
    `tiling` is a list of tiles. Each is applied to the last dimensions of the
    shape that the tiles before it produced: it replaces sizes `s` by `s / t`
    followed by `t`. The first is the base tile; vectors are a multiple of it in
    the dimensions that it covers. Of the fully tiled shape, `warp_dims` are
    spread over the warps of the block and `lane_dims` over the lanes of a warp
    (both major to minor), `vector_dim` is the vector that one register holds,
    and what is left enumerates the registers of a thread in row-major order.
    Dimensions count from the end (-1 is the last) and lie in the base tile.

    The number of warps and of lanes is what their dimensions multiply to.

    Example:

    ```mlir
    // 4 warps, each with 16 rows; 8 x 4 lanes with 2 neighbouring elements each: the accumulator of wgmma.
    func.func @cast(%v: vector<64x128xf32>) -> vector<64x128xf32> {
      %r = mosaic_gpu.layout_cast x(%v : vector<64x128xf32>) {
          new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]],
          warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let parameters = (ins "::mlir::ArrayAttr":$tiling, "::mlir::ArrayAttr":$warp_dims, "::mlir::ArrayAttr":$lane_dims,
                        "int64_t":$vector_dim);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The layout as data.
    ::smalti::layout::TiledLayout getLayout() const;
    /// The attribute of a layout, which must be valid.
    static TiledLayoutAttr get(::mlir::MLIRContext *context, const ::smalti::layout::TiledLayout &layout);
  }];
}

//===----------------------------------------------------------------------===//
// Transforms of shared memory
//===----------------------------------------------------------------------===//

def MosaicGPU_Tile : MosaicGPU_Attr<"TileTransform", "tile"> {
  let summary = "Shared memory is stored tile after tile";
  let description = [{
    The last dimensions of the memref are cut into tiles of these sizes, and each
    tile is contiguous. The type of the memref keeps its logical shape.

    Example:

    ```mlir
    func.func @slice() {
      %s = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]]}
          : memref<128x64xf16, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tiling);
  let assemblyFormat = "`<` `[` $tiling `]` `>`";
}

def MosaicGPU_Swizzle : MosaicGPU_Attr<"SwizzleTransform", "swizzle"> {
  let summary = "16-byte chunks of a row are exchanged so that columns spread over the banks";
  let description = [{
    The number is how many bytes of a row the exchange spans: 32, 64 or 128; 16
    is a single chunk and changes nothing.

    Example:

    ```mlir
    func.func @slice() {
      %s = mosaic_gpu.slice_smem 1024 {out_transforms = [[#mosaic_gpu.tile<[8, 32]>, #mosaic_gpu.swizzle<64 : i32>]]}
          : memref<64x64xbf16, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let parameters = (ins "::mlir::IntegerAttr":$swizzle);
  let assemblyFormat = "`<` $swizzle `>`";
}

//===----------------------------------------------------------------------===//
// Memory spaces
//===----------------------------------------------------------------------===//

def MosaicGPU_Tmem : MosaicGPU_Attr<"Tmem", "tmem"> {
  let summary = "The memory space of tensor memory";
  let description = [{
    Memory of the tensor core: rows (lanes) by columns of 32 bits. It is
    allocated by `tmem_alloc`, and reached by the ops of tensor memory alone.
    Shared memory is `#gpu.address_space<workgroup>`, and global memory has no
    memory space.

    Example:

    ```mlir
    func.func @read(%m: memref<128x64xf32, #mosaic_gpu.tmem>) -> vector<128x64xf32> {
      %v = mosaic_gpu.async_load_tmem %m : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
      return %v : vector<128x64xf32>
    }
    ```
  }];
  let genVerifyDecl = 0;
}

def MosaicGPU_SmemCluster : MosaicGPU_Attr<"SmemCluster", "smem_cluster"> {
  let summary = "The memory space of the shared memory of any block of the cluster";
  let description = [{
    What `get_cluster_ref` gives: it may be another block's shared memory, or
    this block's own.

    Example:

    ```mlir
    func.func @peer(%m: memref<64xf32, #gpu.address_space<workgroup>>, %block: i32)
        -> memref<64xf32, #mosaic_gpu.smem_cluster> {
      %p = mosaic_gpu.get_cluster_ref %m x(%block)
          : memref<64xf32, #gpu.address_space<workgroup>> -> memref<64xf32, #mosaic_gpu.smem_cluster>
      return %p : memref<64xf32, #mosaic_gpu.smem_cluster>
    }
    ```
  }];
  let genVerifyDecl = 0;
}

//===----------------------------------------------------------------------===//
// Collective copies
//===----------------------------------------------------------------------===//

def MosaicGPU_CopyReplicated : MosaicGPU_Attr<"CopyReplicated", "copy_replicated"> {
  let summary = "Every block of the cluster receives the whole slice";
  let description = [{
    A value of `leader_tracked` of `async_load`: all blocks load the same data,
    and only the first one's barrier counts the bytes.

    Example:

    ```mlir
    func.func @load(%m: memref<512x64xf16>, %s: memref<128x64xf16, #gpu.address_space<workgroup>>,
                    %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
      mosaic_gpu.async_load %m[%i, %i] [128, 64] to %s barrier(%b) collective [x]
          {leader_tracked = #mosaic_gpu.copy_replicated}
          : memref<512x64xf16>[i32, i32] to memref<128x64xf16, #gpu.address_space<workgroup>>,
            memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let genVerifyDecl = 0;
}

def MosaicGPU_CopyPartitioned : MosaicGPU_Attr<"CopyPartitioned", "copy_partitioned"> {
  let summary = "Every block of the cluster receives its part of the slice";
  let description = [{
    A value of `leader_tracked` of `async_load`: the slice is cut along
    dimension `axis` of the destination, each block loads one part, and only the
    first one's barrier counts the bytes.

    Example:

    ```mlir
    func.func @load(%m: memref<512x64xf16>, %s: memref<128x64xf16, #gpu.address_space<workgroup>>,
                    %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
      mosaic_gpu.async_load %m[%i, %i] [256, 64] to %s barrier(%b) collective [x]
          {leader_tracked = #mosaic_gpu.copy_partitioned<axis = 0>}
          : memref<512x64xf16>[i32, i32] to memref<128x64xf16, #gpu.address_space<workgroup>>,
            memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let parameters = (ins "int64_t":$axis);
  let assemblyFormat = "`<` `axis` `=` $axis `>`";
}

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUATTRS
