//===- MosaicGPUAttrs.td - Attributes of the dialect -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
  let summary = "Register layout: chunks of consecutive elements, distributed round-robin across threads";
  let description = [{
    The elements of the vector, in row-major order, are split into chunks of
    `vector_size` elements. Chunk `c` is in register `c / threads` of thread
    `c % threads` of the block. `shape` is the shape of the vector.

    Errors: a size or `vector_size` that is not positive; a shape of 2^31 or more
    elements; a `vector_size` that does not divide the number of elements. An op
    also requires that the threads divide the number of chunks.

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
  let summary = "Register layout: all elements are equal, and every thread holds their value";
  let description = [{
    All elements of the vector are equal, and every thread holds that scalar in
    one register. `shape` is the shape of the vector; its sizes must be positive.

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
  let summary = "Entry of warp_dims or lane_dims: these warps or lanes hold copies of the same elements";
  let description = [{
    An entry of `warp_dims` or `lane_dims` of a tiled layout. The index has a digit
    of `times` values here on which no element depends: `times` warps or lanes
    hold the same elements. `times` must be positive.

    Example:

    ```mlir
    // Each group of 4 lanes holds the same row: 8 rows in 32 lanes.
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
  let summary = "Register or tensor memory layout: nested tiles over warps, lanes, registers and a vector";
  let description = [{
    `tiling` is a list of tiles. Each tile `t` is applied to the last dimensions `s` of the shape that the previous
    tiles produced. It replaces the sizes `s` by `s / t` followed by `t`. The first tile is the base tile: the sizes of
    a vector must be multiples of it. In the fully tiled shape:

    - `warp_dims` are the digits of the warp index, major to minor;
    - `lane_dims` are the digits of the lane index, major to minor;
    - `vector_dim` is the vector in one register;
    - the remaining dimensions number the registers of a thread, row-major.

    Dimensions count from the end: -1 is the last. They must be dimensions of the
    fully tiled base tile. The sizes of `warp_dims` multiply to the number of
    warps, and those of `lane_dims` to the number of lanes.

    Errors: a tile that does not divide the previous tile or has more dimensions;
    a dimension that is out of range or used twice.

    Example:

    ```mlir
    // 4 warps, each with 16 rows; 8 x 4 lanes with 2 adjacent elements each: the accumulator of wgmma.
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
  let summary = "Shared memory transform: the elements of a tile are contiguous in memory";
  let description = [{
    The last dimensions of the memref are split into tiles of these sizes
    (elements), and each tile is contiguous in memory. The memref type keeps its
    logical shape. Errors: no dimension, or a size that is not positive; on an op,
    a size of the memref that is not a multiple of the tile.

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
  let summary = "Shared memory transform: 16-byte chunks of a row are permuted to avoid bank conflicts";
  let description = [{
    Bits 4 and up of a byte address are XORed with the number of its 128-byte row
    modulo `swizzle / 16`. The number is the width of the swizzle in bytes: 32, 64
    or 128, or 16 for no swizzle. Other numbers are errors. On an op, the width
    must divide the contiguous dimension of the tile.

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
  let summary = "Memory space: tensor memory";
  let description = [{
    Tensor memory (Blackwell): 128 rows (lanes) of 512 columns of 32 bits.
    `tmem_alloc` allocates it, and only the tensor memory ops and `tcgen05_mma`
    access it. For comparison, shared memory is `#gpu.address_space<workgroup>`;
    global memory has no memory space, or `#gpu.address_space<global>`.

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
  let summary = "Memory space: shared memory of any block of the cluster";
  let description = [{
    The memory space of the result of `get_cluster_ref`: shared memory of another
    block of the cluster, or of this block.

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
  let summary = "Collective copy: every block of the cluster receives the whole slice";
  let description = [{
    A value of `leader_tracked` of `async_load`. All blocks load the same data,
    and only the barrier of the first block counts the bytes.

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
  let summary = "Collective copy: every block of the cluster receives one part of the slice";
  let description = [{
    A value of `leader_tracked` of `async_load`. The slice is split along dimension
    `axis` of the destination, which must not be negative. Each block loads one
    part, and only the barrier of the first block counts the bytes.

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
