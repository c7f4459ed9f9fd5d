// RUN: smalti-opt %s --smalti-compile='target=sm_80 stop-after=thread' | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: smalti-opt %s --smalti-compile='target=gfx942 stop-after=thread' | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: smalti-opt %s --smalti-compile='target=sm_80' | FileCheck %s --check-prefix=LLVM
// RUN: smalti-opt %s --smalti-compile='target=gfx942' | FileCheck %s --check-prefix=LLVM

// A kernel without layouts is at thread level: its vectors do not change, and its buffers in shared memory get offsets.
// CHECK-LABEL: gpu.func @exchange(
// AMD-SAME:      workgroup(%[[MEMORY:.*]] : memref<1280xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-SAME:    smalti.shared_memory_bytes = 1280 : i64
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[SECOND:.*]] = arith.constant 1024 : index
// NVIDIA:        %[[MEMORY:.*]] = gpu.dynamic_shared_memory
// CHECK:         %[[X:.*]] = memref.view %[[MEMORY]][%[[FIRST]]][] : {{.*}} to memref<256xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[Y:.*]] = memref.view %[[MEMORY]][%[[SECOND]]][] : {{.*}} to memref<64xf32, #gpu.address_space<workgroup>>
// CHECK:         vector.store %{{.*}}, %[[X]][%{{.*}}] : {{.*}}, vector<4xf32>
// CHECK:         memref.store %{{.*}}, %[[Y]]
// CHECK:         gpu.barrier
// CHECK:         vector.load %[[X]]
// CHECK:         memref.load %[[Y]]

// LLVM-LABEL: llvm.func @exchange(
// LLVM-NOT:     vector.
// LLVM:         llvm.intr.masked.store
gpu.module @kernels {
  gpu.func @exchange(%from: memref<256xf32>, %to: memref<250xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %thread = gpu.thread_id x
    %other = arith.subi %c63, %thread : index
    %mine = arith.muli %thread, %c4 : index
    %its = arith.muli %other, %c4 : index
    %x = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
    %y = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    %v = vector.load %from[%mine] : memref<256xf32>, vector<4xf32>
    %s = vector.extract %v[1] : f32 from vector<4xf32>
    vector.store %v, %x[%mine] : memref<256xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    memref.store %s, %y[%thread] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %w = vector.load %x[%its] : memref<256xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    %t = memref.load %y[%other] : memref<64xf32, #gpu.address_space<workgroup>>
    %ts = vector.broadcast %t : f32 to vector<4xf32>
    %sum = arith.addf %w, %ts : vector<4xf32>
    vector.transfer_write %sum, %to[%mine] : vector<4xf32>, memref<250xf32>
    gpu.return
  }
}
