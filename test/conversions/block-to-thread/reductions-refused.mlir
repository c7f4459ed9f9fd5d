// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_80
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-rocdl=target=gfx1201

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
#two = #mosaic_gpu.WGStridedFragLayout<[256], 2>
gpu.module @m {
  gpu.func @inputs(%x: memref<256xf32>, %z: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    %w = mosaic_gpu.vector_load %x {out_layouts = [#two]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has inputs in layouts #mosaic_gpu.WGStridedFragLayout<[256], 1> and #mosaic_gpu.WGStridedFragLayout<[256], 2>; all inputs must have the same layout}}
    %0:2 = mosaic_gpu.reduce %v, %w dims [0] init %z, %z : vector<256xf32>, vector<256xf32> -> f32, f32 {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      mosaic_gpu.return %c, %d : f32, f32
    }
    gpu.return
  }
}

// -----

#strided = #mosaic_gpu.WGStridedFragLayout<[4, 64], 1>
gpu.module @m {
  gpu.func @strided(%x: memref<4x64xf32>, %z: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#strided]} : memref<4x64xf32> -> vector<4x64xf32>
    // expected-error @below {{cannot reduce a vector in layout #mosaic_gpu.WGStridedFragLayout<[4, 64], 1>: }}
    %0 = mosaic_gpu.reduce %v dims [1] init %z : vector<4x64xf32> -> vector<4xf32> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      mosaic_gpu.return %s : f32
    }
    gpu.return
  }
}

// -----

#strided = #mosaic_gpu.WGStridedFragLayout<[4, 64], 1>
gpu.module @m {
  gpu.func @strided_scan(%x: memref<4x64xf32>, %z: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#strided]} : memref<4x64xf32> -> vector<4x64xf32>
    // expected-error @below {{cannot scan a vector in layout #mosaic_gpu.WGStridedFragLayout<[4, 64], 1>: in a strided layout, only vectors with one dimension can be scanned; use a tiled layout}}
    %0 = mosaic_gpu.scan %v dim 1 init %z : vector<4x64xf32> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      mosaic_gpu.return %s : f32
    }
    gpu.return
  }
}

// -----

#splat = #mosaic_gpu.WGSplatFragLayout<[256]>
gpu.module @m {
  gpu.func @splat(%z: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = vector.broadcast %z {out_layouts = [#splat]} : f32 to vector<256xf32>
    // expected-error @below {{has a result in the splat layout, in which all elements are equal, but the prefixes of a scan may differ; use another layout}}
    %0 = mosaic_gpu.scan %v dim 0 init %z : vector<256xf32> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      mosaic_gpu.return %s : f32
    }
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
#two = #mosaic_gpu.WGStridedFragLayout<[256], 2>
gpu.module @m {
  gpu.func @scan_result(%x: memref<256xf32>, %z: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xf32> -> vector<256xf32>
    // expected-error @below {{has a result in layout #mosaic_gpu.WGStridedFragLayout<[256], 2>, but an input or another result in layout #mosaic_gpu.WGStridedFragLayout<[256], 1>; all must have the same layout}}
    %0 = mosaic_gpu.scan %v dim 0 init %z {in_layouts = [#one], out_layouts = [#two]} : vector<256xf32> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      mosaic_gpu.return %s : f32
    }
    gpu.return
  }
}

// -----

#splat = #mosaic_gpu.WGSplatFragLayout<[128, 4]>
#one = #mosaic_gpu.WGStridedFragLayout<[128], 1>
#other = #mosaic_gpu.WGSplatFragLayout<[128]>
gpu.module @m {
  gpu.func @results(%z: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = vector.broadcast %z {out_layouts = [#splat]} : f32 to vector<128x4xf32>
    // expected-error @below {{all results must have the same layout}}
    %0:2 = mosaic_gpu.reduce %v, %v dims [1] init %z, %z {out_layouts = [#one, #other]} : vector<128x4xf32>, vector<128x4xf32> -> vector<128xf32>, vector<128xf32> {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      mosaic_gpu.return %c, %d : f32, f32
    }
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[256], 1>
gpu.module @m {
  gpu.func @small_floats(%x: memref<256xf8E5M2>, %z: f8E5M2) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {out_layouts = [#one]} : memref<256xf8E5M2> -> vector<256xf8E5M2>
    %0 = mosaic_gpu.reduce %v dims [0] init %z : vector<256xf8E5M2> -> f8E5M2 {
    ^bb0(%a: f8E5M2, %b: f8E5M2):
      // expected-error @below {{computes with 'f8E5M2' in the region of 'mosaic_gpu.reduce', which does not support this float type; compute with f16, bf16, f32 or f64}}
      %s = arith.addf %a, %b : f8E5M2
      mosaic_gpu.return %s : f8E5M2
    }
    gpu.return
  }
}
