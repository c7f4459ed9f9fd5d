// RUN: smalti-opt %s --split-input-file --verify-diagnostics --convert-mosaic-gpu-to-nvvm=target=sm_90a
// RUN: not smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_90a --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// The module is unchanged.
// CHECK-NOT: gpu.thread_id

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    // expected-error @below {{cannot be lowered to thread level: a swizzle of 128 bytes requires that the offset in shared memory is a multiple of 1024 bytes; it is only proven to be a multiple of 256 bytes}}
    %s = mosaic_gpu.slice_smem 256 {out_transforms = [#tiled]} : memref<128x64xf16, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    // expected-error @below {{cannot be lowered to thread level: tile [8, 64] does not divide memory of shape [128, 32]}}
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<128x32xf16, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{cannot be lowered to thread level: the offset of the view in dimension 1 cannot be proven to be a multiple of the tile size 8}}
    %v = memref.subview %s[0, %i, 0] [1, 64, 64] [1, 1, 1] : memref<4x128x64xf16, #smem> to memref<64x64xf16, strided<[64, 1], offset: ?>, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{cannot be lowered to thread level: the size of the view in dimension 1 is 12; it must be a multiple of the tile size 8}}
    %v = memref.subview %s[0, 0, 0] [1, 12, 64] [1, 1, 1] : memref<4x128x64xf16, #smem> to memref<12x64xf16, strided<[64, 1]>, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{cannot be lowered to thread level: the view has a stride of 2 in dimension 1, which is tiled; use stride 1}}
    %v = memref.subview %s[0, 0, 0] [1, 64, 64] [1, 2, 1] : memref<4x128x64xf16, #smem> to memref<64x64xf16, strided<[128, 1]>, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{declares transforms [] for its result, but the layout of its buffer in shared memory is: tile 8x64, swizzle 128; both must be equal}}
    %v = memref.subview %s[1, 0, 0] [1, 128, 64] [1, 1, 1] {out_transforms = [[]]} : memref<4x128x64xf16, #smem> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{declares transforms [] for an operand, but the layout of its buffer in shared memory is: tile 8x64, swizzle 128; both must be equal}}
    %v = memref.subview %s[1, 0, 0] [1, 128, 64] [1, 1, 1] {in_transforms = [[]]} : memref<4x128x64xf16, #smem> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{cannot be lowered to thread level: dimension 0 is not tiled, but the transpose would move it after a tiled dimension; tiled dimensions must be last}}
    %v = memref.transpose %s (i, j, k) -> (j, i, k) : memref<4x128x64xf16, #smem> to memref<128x4x64xf16, strided<[64, 8192, 1]>, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{cannot be lowered to thread level: dimension 2 of the result does not have dimensions of the source, and follows a tiled dimension; tiled dimensions must be last}}
    %v = memref.collapse_shape %s [[0, 1], [2], []] : memref<4x128x64xf16, #smem> into memref<512x64x1xf16, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{cannot be lowered to thread level: tile [8, 64] does not divide memory of shape [4, 32, 4, 64]}}
    %v = memref.expand_shape %s [[0], [1, 2], [3]] output_shape [4, 32, 4, 64] : memref<4x128x64xf16, #smem> into memref<4x32x4x64xf16, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{cannot be lowered to thread level: the source is tiled shared memory, which the op cannot reinterpret; use untiled memory}}
    %v = mosaic_gpu.reinterpret_cast %s : memref<4x128x64xf16, #smem> to memref<32768xf16, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 {out_transforms = [#tiled]} : memref<4x128x64xf16, #smem>
    // expected-error @below {{cannot be lowered to thread level: an operand is tiled or swizzled shared memory (tile 8x64, swizzle 128); this op requires memory without tile and swizzle, so use a buffer without transforms}}
    %v = memref.load %s[%i, %i, %i] : memref<4x128x64xf16, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 : memref<4x16xf32, #smem>
    // expected-error @below {{cannot be lowered to thread level: the sizes or the strides of the view are dynamic; both must be static}}
    %v = memref.subview %s[0, 0] [%i, 16] [1, 1] : memref<4x16xf32, #smem> to memref<?x16xf32, strided<[16, 1]>, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    // expected-error @below {{creates a view of shared memory, but the kernel does not allocate shared memory}}
    %v = builtin.unrealized_conversion_cast %p : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #smem>
    mosaic_gpu.arrive %v : memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 : memref<4x16xf32, #smem>
    %n = arith.constant 0 : i32
    // expected-error @below {{converts values of type 'i32' to a memref in shared memory; convert one pointer to shared memory (address space 3)}}
    %v = builtin.unrealized_conversion_cast %n : i32 to memref<!mosaic_gpu.barrier, #smem>
    gpu.return
  }
}

// -----

#smem = #gpu.address_space<workgroup>
#tiled = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]

gpu.module @m {
  gpu.func @k(%i: index, %p: !llvm.ptr<3>, %a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    %s = mosaic_gpu.slice_smem 0 : memref<4x16xf32, #smem>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = memref.subview %s[0, 0] [1, 8] [1, 2] : memref<4x16xf32, #smem> to memref<8xf32, strided<[2]>, #smem>
    %xd = memref.cast %x : memref<8xf32, strided<[2]>, #smem> to memref<8xf32, strided<[?]>, #smem>
    %y = memref.subview %s[0, 0] [1, 8] [1, 1] : memref<4x16xf32, #smem> to memref<8xf32, strided<[1]>, #smem>
    %yd = memref.cast %y : memref<8xf32, strided<[1]>, #smem> to memref<8xf32, strided<[?]>, #smem>
    %r = scf.for %j = %c0 to %i step %c1 iter_args(%now = %xd) -> (memref<8xf32, strided<[?]>, #smem>) {
    // expected-error @below {{forwards shared memory with layout 'no tile' and strides [1], but another path forwards shared memory with layout 'no tile' and strides [2] to the same value; use the same tile, swizzle and strides on both paths}}
      scf.yield %yd : memref<8xf32, strided<[?]>, #smem>
    }
    gpu.return
  }
}
