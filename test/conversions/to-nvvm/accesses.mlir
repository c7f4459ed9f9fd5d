// RUN: smalti-opt %s --convert-mosaic-gpu-to-nvvm=target=sm_80 --canonicalize --cse | FileCheck %s

#strided = #mosaic_gpu.WGStridedFragLayout<[64], 1>
gpu.module @accesses {
  // Threads out of bounds do not load, whether or not the kernel writes the memref.
  // CHECK-LABEL: gpu.func @outside
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[I:.*]], %c50
  // CHECK: %[[MASK:.*]] = vector.broadcast %[[INSIDE]] : i1 to vector<1xi1>
  // CHECK: vector.maskedload %arg0[%[[I]]], %[[MASK]], %[[ZERO:[^ ]*]] {alignment = 4 : i64}
  // CHECK: vector.maskedload %arg1[%[[I]]], %[[MASK]], %[[ZERO]] {alignment = 4 : i64}
  // CHECK-NOT: vector.load
  gpu.func @outside(%a: memref<50xf32>, %b: memref<50xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = vector.transfer_read %a[%c0], %zero {out_layouts = [#strided]} : memref<50xf32>, vector<64xf32>
    %y = vector.transfer_read %b[%c0], %zero {out_layouts = [#strided]} : memref<50xf32>, vector<64xf32>
    %z = arith.addf %x, %y {out_layouts = [#strided]} : vector<64xf32>
    vector.transfer_write %z, %b[%c0] {in_layouts = [#strided]} : vector<64xf32>, memref<50xf32>
    gpu.return
  }
}
