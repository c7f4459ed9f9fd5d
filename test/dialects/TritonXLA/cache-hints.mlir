// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --mlir-print-op-generic | smalti-opt | FileCheck %s

// CHECK-LABEL: triton_xla.entry_func @hints
triton_xla.entry_func @hints(%x: memref<8xf32>, %tile: index) tiles 1 {
  // CHECK: triton_xla.extract %{{.*}}[0] [8] [1] fill 1.000000e+00 : f32 cache cg :
  %a = triton_xla.extract %x[0] [8] [1] fill 1.0 : f32 cache cg : memref<8xf32> to tensor<8xf32>
  // CHECK: triton_xla.extract %{{.*}}[0] [8] [1] eviction evict_last {note} :
  %b = triton_xla.extract %x[0] [8] [1] eviction evict_last {note} : memref<8xf32> to tensor<8xf32>
  // CHECK: triton_xla.insert %{{.*}} into %{{.*}}[0] [8] [1] cache wt :
  triton_xla.insert %a into %x[0] [8] [1] cache wt : tensor<8xf32> into memref<8xf32>
  // CHECK: triton_xla.insert %{{.*}} into %{{.*}}[0] [8] [1] eviction no_allocate :
  triton_xla.insert %b into %x[0] [8] [1] eviction no_allocate : tensor<8xf32> into memref<8xf32>
  triton_xla.return
}
