// Ops of ROCDL and NVVM for which upstream does not state effects: instructions on registers, hints, barriers, and
// accesses of a wave to a matrix.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
#shared = #gpu.address_space<workgroup>

// The hints stay around the MMA.
// CHECK-LABEL: func.func @mmas(
// CHECK:         scf.for
// CHECK:           vector.load
// CHECK:           rocdl.s.setprio 1
// CHECK-NEXT:      rocdl.mfma.f32.32x32x8f16
// CHECK-NEXT:      rocdl.sched.barrier 0
// CHECK-NEXT:      amdgpu.sched_barrier
// CHECK-NEXT:      rocdl.ds_bpermute
// CHECK:         }
// CHECK:         rocdl.s.setprio 1
// CHECK-NEXT:    rocdl.mfma.f32.32x32x8f16
// REMARK: Function=mmas | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched
func.func @mmas(%a: memref<64x4xf16>, %b: vector<4xf16>, %c: vector<16xf32>, %lane: i32) -> (vector<16xf32>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %sum:2 = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %c, %number = %lane) -> (vector<16xf32>, i32) {
    %row = vector.load %a[%i, %c0] : memref<64x4xf16>, vector<4xf16>
    rocdl.s.setprio 1
    %next = rocdl.mfma.f32.32x32x8f16 %row, %b, %acc, %zero, %zero, %zero
      : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
    rocdl.sched.barrier 0
    amdgpu.sched_barrier allow = <none>
    %other = rocdl.ds_bpermute %number, %number : (i32, i32) -> i32
    scf.yield %next, %other : vector<16xf32>, i32
  }
  return %sum#0, %sum#1 : vector<16xf32>, i32
}

// CHECK-LABEL: func.func @mmas_nvvm(
// CHECK:         scf.for
// CHECK:           vector.load
// CHECK:           nvvm.mma.sync
// REMARK: Function=mmas_nvvm | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched
func.func @mmas_nvvm(%a: memref<64x2xf16>, %b: vector<2xf16>, %c: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %c) -> f32 {
    %row = vector.load %a[%i, %c0] : memref<64x2xf16>, vector<2xf16>
    %product = nvvm.mma.sync A[%row, %row] B[%b] C[%acc, %acc, %acc, %acc]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>}
      : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %next = llvm.extractvalue %product[0] : !llvm.struct<(f32, f32, f32, f32)>
    scf.yield %next : f32
  }
  return %sum : f32
}

// Barriers are removed and inserted again.
// CHECK-LABEL: func.func @barriers(
// CHECK:         scf.for
// CHECK:           nvvm.barrier0
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      memref.load
// CHECK:           nvvm.barrier0
// CHECK-NEXT:      memref.store
// CHECK:         }
// CHECK:         nvvm.barrier0
// REMARK: Function=barriers | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 1 shared buffer, 256 B; 2 barriers per iteration; trip count 64"
func.func @barriers(%a: memref<64x64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i, %thread] : memref<64x64xf32>
    memref.store %x, %buffer[%thread] : memref<64xf32, #shared>
    nvvm.barrier0
    %y = memref.load %buffer[%c0] : memref<64xf32, #shared>
    %next = arith.addf %acc, %y : f32
    nvvm.barrier0
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK-LABEL: func.func @barriers_rocdl(
// CHECK:         scf.for
// CHECK:           rocdl.barrier
// CHECK:           rocdl.barrier
// REMARK: Function=barriers_rocdl | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 1 shared buffer, 256 B; 2 barriers per iteration; trip count 64"
func.func @barriers_rocdl(%a: memref<64x64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<64xf32, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i, %thread] : memref<64x64xf32>
    memref.store %x, %buffer[%thread] : memref<64xf32, #shared>
    rocdl.barrier
    %y = memref.load %buffer[%c0] : memref<64xf32, #shared>
    %next = arith.addf %acc, %y : f32
    rocdl.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// ldmatrix through a pointer reads the buffer.
// CHECK-LABEL: func.func @matrices(
// CHECK:         scf.for
// CHECK:           gpu.barrier
// CHECK:           vector.load
// CHECK:           nvvm.ldmatrix
// CHECK:           gpu.barrier
// CHECK-NEXT:      vector.store
// REMARK: Function=matrices | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 1 shared buffer, 1024 B; 2 barriers per iteration; trip count 64"
func.func @matrices(%a: memref<64x512xf16>, %init: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %begin = arith.muli %thread, %c4 : index
  %buffer = memref.alloc() : memref<512xf16, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> i32 {
    %x = vector.load %a[%i, %begin] : memref<64x512xf16>, vector<4xf16>
    vector.store %x, %buffer[%begin] : memref<512xf16, #shared>, vector<4xf16>
    gpu.barrier
    %address = memref.extract_aligned_pointer_as_index %buffer : memref<512xf16, #shared> -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    %matrix = nvvm.ldmatrix %pointer {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>,
      num = 1 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> i32
    %next = arith.addi %acc, %matrix : i32
    gpu.barrier
    scf.yield %next : i32
  }
  return %sum : i32
}
