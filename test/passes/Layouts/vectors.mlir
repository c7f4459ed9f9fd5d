// Layouts of ops that change shapes: reductions, broadcasts, slices, casts.
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts | FileCheck %s

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#row = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  // Rows of WGMMA, from the source to the result, and from the result back.
  // CHECK-LABEL: func.func @reduce
  func.func @reduce(%v: vector<64x128xf32>, %a: memref<64x128xf32>) {
    %zero = arith.constant dense<0.0> : vector<64xf32>
    %c = mosaic_gpu.layout_cast x(%v : vector<64x128xf32>) {new_layout = #wgmma}
    // CHECK: vector.multi_reduction {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], {{.*}}, #mosaic_gpu.TiledLayout<{{\[\[}}64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>], out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64], [16], [8], [1]],
    %r = vector.multi_reduction <add>, %c, %zero [1] : vector<64x128xf32> to vector<64xf32>
    // CHECK: broadcast_in_dim{{.*}} {broadcast_dimensions = array<i64: 0>, in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64], [16], [8], [1]], {{.*}}], out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
    %b = mosaic_gpu.broadcast_in_dim(%r : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x128xf32>
    %s = arith.subf %c, %b : vector<64x128xf32>
    return
  }

  // Only the row is known: the source is the first layout whose rows they are.
  // CHECK-LABEL: func.func @reduce_back
  func.func @reduce_back(%a: memref<64x128xf32>) -> vector<64xf32> {
    %zero = arith.constant dense<0.0> : vector<64xf32>
    // CHECK: vector_load {{.*}} {out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
    %v = mosaic_gpu.vector_load %a : memref<64x128xf32> -> vector<64x128xf32>
    %r = vector.multi_reduction <add>, %v, %zero [1] : vector<64x128xf32> to vector<64xf32>
    %c = mosaic_gpu.layout_cast x(%r : vector<64xf32>) {new_layout = #row}
    return %c : vector<64xf32>
  }

  // The inputs of a reduction with a region have one layout, and the results its rows. A splat needs no conversion.
  // CHECK-LABEL: func.func @reduce_tuples
  func.func @reduce_tuples(%v: vector<64x128xf32>, %x: f32, %n: i32) -> vector<64xi32> {
    %c = mosaic_gpu.layout_cast x(%v : vector<64x128xf32>) {new_layout = #wgmma}
    // CHECK: broadcasted_iota 1 {out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
    %i = mosaic_gpu.broadcasted_iota 1 : vector<64x128xi32>
    // CHECK-NOT: layout_cast
    // CHECK: mosaic_gpu.reduce {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], {{.*}}, #mosaic_gpu.TiledLayout<{{\[\[}}64, 8], {{.*}}], out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64], [16], [8], [1]], {{.*}}, #mosaic_gpu.TiledLayout<{{\[\[}}64], [16], [8], [1]],
    %r:2 = mosaic_gpu.reduce %c, %i dims [1] init %x, %n : vector<64x128xf32>, vector<64x128xi32> -> vector<64xf32>, vector<64xi32> {
    ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
      %larger = arith.cmpf oge, %a, %b : f32
      %m = arith.select %larger, %a, %b : f32
      %l = arith.select %larger, %j, %k : i32
      mosaic_gpu.return %m, %l : f32, i32
    }
    return %r#1 : vector<64xi32>
  }

  // A scan keeps the layout, and the result of a scan of a splat is not a splat.
  // CHECK-LABEL: func.func @scan
  func.func @scan(%v: vector<64x128xf32>, %x: f32) {
    %c = mosaic_gpu.layout_cast x(%v : vector<64x128xf32>) {new_layout = #wgmma}
    %s = vector.broadcast %x : f32 to vector<64x128xf32>
    // CHECK: mosaic_gpu.scan {{.*}} {in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]], {{.*}}], out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
    %p = mosaic_gpu.scan %s dim 1 init %x : vector<64x128xf32> {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      mosaic_gpu.return %sum : f32
    }
    %t = arith.addf %c, %p : vector<64x128xf32>
    return
  }

  // Only the reduction constrains the vector: it has the rows of the sums.
  // CHECK-LABEL: func.func @keep_dims_of_sums
  func.func @keep_dims_of_sums(%v: vector<64x64xf32>, %zero: vector<64xf32>, %out: memref<64x1xf32>) {
    %w = mosaic_gpu.layout_cast x(%v : vector<64x64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
    %s = vector.multi_reduction <add>, %w, %zero [1] : vector<64x64xf32> to vector<64xf32>
    // CHECK: broadcast_in_dim({{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 1], [16, 1], [8, 1]], warp_dims = [-6], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>]
    %b = mosaic_gpu.broadcast_in_dim(%s : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x1xf32>
    mosaic_gpu.vector_store %b, %out : vector<64x1xf32>, memref<64x1xf32>
    return
  }

  // An argument is not a splat, for any number of elements.
  // CHECK-LABEL: func.func @argument
  func.func @argument(%v: vector<96xf32>, %out: memref<96xf32>) {
    // CHECK: arith.addf {{.*}}in_layouts = [#mosaic_gpu.TiledLayout<
    %r = arith.addf %v, %v : vector<96xf32>
    mosaic_gpu.vector_store %r, %out : vector<96xf32>, memref<96xf32>
    return
  }

  // Dimensions of size one that are repeated, which JAX does not know of tiles.
  // CHECK-LABEL: func.func @keep_dims
  func.func @keep_dims(%v: vector<64x1xf32>) {
    // CHECK: broadcast_in_dim{{.*}}in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 1], {{.*}} out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
    %b = mosaic_gpu.broadcast_in_dim(%v : vector<64x1xf32>) {broadcast_dimensions = array<i64: 0, 1>} -> vector<64x128xf32>
    %c = mosaic_gpu.layout_cast x(%b : vector<64x128xf32>) {new_layout = #wgmma}
    return
  }

  // A strided vector is repeated along leading dimensions.
  // CHECK-LABEL: func.func @broadcast_strided
  func.func @broadcast_strided(%a: memref<256xf32>) {
    // CHECK: vector_load {{.*}}WGStridedFragLayout<[256], 2>
    %v = mosaic_gpu.vector_load %a : memref<256xf32> -> vector<256xf32>
    // CHECK: broadcast_in_dim{{.*}} out_layouts = [#mosaic_gpu.WGStridedFragLayout<[4, 256], 2>]
    %b = mosaic_gpu.broadcast_in_dim(%v : vector<256xf32>) {broadcast_dimensions = array<i64: 1>} -> vector<4x256xf32>
    return
  }

  // Slices at whole tiles keep the layout, and so does joining.
  // CHECK-LABEL: func.func @slices
  func.func @slices(%v: vector<128x128xf32>) {
    %c = mosaic_gpu.layout_cast x(%v : vector<128x128xf32>) {new_layout = #wgmma}
    // CHECK: vector.extract_strided_slice {{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
    %s = vector.extract_strided_slice %c {offsets = [64, 8], sizes = [64, 16], strides = [1, 1]} : vector<128x128xf32> to vector<64x16xf32>
    // CHECK: vector.insert_strided_slice {{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], [16, 8], [8, 8], [2]],
    %i = vector.insert_strided_slice %s, %c {offsets = [0, 0], strides = [1, 1]} : vector<64x16xf32> into vector<128x128xf32>
    // CHECK: vector_concat{{.*}}in_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8], {{.*}}, #mosaic_gpu.TiledLayout<{{\[\[}}64, 8],
    %j = mosaic_gpu.vector_concat(%s, %s : vector<64x16xf32>, vector<64x16xf32>) {dimension = 1 : i32} -> vector<64x32xf32>
    return
  }

  // CHECK-LABEL: func.func @extract
  func.func @extract(%v: vector<2x64x64xf32>) {
    %c = mosaic_gpu.layout_cast x(%v : vector<2x64x64xf32>) {new_layout = #wgmma}
    // CHECK: vector.extract {{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8],
    %e = vector.extract %c[1] : vector<64x64xf32> from vector<2x64x64xf32>
    return
  }

  // A reshape of what is not tiled, and of a strided layout.
  // CHECK-LABEL: func.func @reshape
  func.func @reshape(%v: vector<2x64x64xf32>, %a: memref<128x64xf32>) {
    %c = mosaic_gpu.layout_cast x(%v : vector<2x64x64xf32>) {new_layout = #wgmma}
    // CHECK: vector.shape_cast {{.*}}out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}64, 8],
    %r = vector.shape_cast %c : vector<2x64x64xf32> to vector<128x64xf32>
    %l = mosaic_gpu.vector_load %a : memref<128x64xf32> -> vector<128x64xf32>
    // CHECK: vector.shape_cast {{.*}}out_layouts = [#mosaic_gpu.WGStridedFragLayout<[8192], 2>]
    %f = vector.shape_cast %l : vector<128x64xf32> to vector<8192xf32>
    return
  }

  // To a scalar: any layout.
  // CHECK-LABEL: func.func @to_scalar
  func.func @to_scalar(%a: memref<256xf32>) -> f32 {
    %v = mosaic_gpu.vector_load %a : memref<256xf32> -> vector<256xf32>
    // CHECK: vector.reduction {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], 2>]}
    %r = vector.reduction <add>, %v : vector<256xf32> into f32
    return %r : f32
  }
}
