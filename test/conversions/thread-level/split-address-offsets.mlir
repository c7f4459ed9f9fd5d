// RUN: smalti-opt %s --pass-pipeline='builtin.module(llvm.func(smalti-split-address-offsets,cse))' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(llvm.func(smalti-split-address-offsets))' -o /dev/null \
// RUN:   --remarks-filter=smalti-split-address-offsets 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: Function=shared_part | Remark="index of 2 addresses split into a variable part and a constant offset, which the instruction encodes, so that accesses share address registers"
// REMARK: Function=shift | Remark="index of 1 address split into a variable part and a constant offset, which the instruction encodes, so that accesses share address registers"
// REMARK-NOT: Function=unchanged

// Two addresses share all but a constant.
// CHECK-LABEL: llvm.func @shared_part
// CHECK-SAME: %[[BASE:.*]]: !llvm.ptr, %[[ROW:.*]]: i64, %[[COLUMN:.*]]: i64
// CHECK: %[[START:.*]] = llvm.mul %[[ROW]], %{{.*}} : i64
// CHECK: %[[INDEX:.*]] = llvm.add %[[START]], %[[COLUMN]] : i64
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[BASE]][%[[INDEX]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: llvm.getelementptr %[[FIRST]][16384] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: llvm.getelementptr %[[FIRST]][-32768] : (!llvm.ptr) -> !llvm.ptr, i8
llvm.func @shared_part(%base: !llvm.ptr, %row: i64, %column: i64) {
  %c8 = llvm.mlir.constant(8 : i64) : i64
  %c16 = llvm.mlir.constant(-16 : i64) : i64
  %c512 = llvm.mlir.constant(512 : i64) : i64
  %r8 = llvm.add %row, %c8 overflow<nsw> : i64
  %s8 = llvm.mul %r8, %c512 overflow<nsw> : i64
  %i8 = llvm.add %s8, %column : i64
  %a8 = llvm.getelementptr %base[%i8] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %x = llvm.load %a8 : !llvm.ptr -> f32
  %r16 = llvm.add %row, %c16 : i64
  %s16 = llvm.mul %r16, %c512 : i64
  %i16 = llvm.add %s16, %column : i64
  %a16 = llvm.getelementptr %base[%i16] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %x, %a16 : f32, !llvm.ptr
  llvm.return
}

// A shift, and a constant as the first operand of a sum.
// CHECK-LABEL: llvm.func @shift
// CHECK: %[[REST:.*]] = llvm.shl %{{.*}}, %{{.*}} : i64
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %{{.*}}[%[[REST]]]
// CHECK: llvm.getelementptr %[[FIRST]][24] : (!llvm.ptr) -> !llvm.ptr, i8
llvm.func @shift(%base: !llvm.ptr, %row: i64) -> !llvm.ptr {
  %c2 = llvm.mlir.constant(2 : i64) : i64
  %c3 = llvm.mlir.constant(3 : i64) : i64
  %next = llvm.add %c3, %row : i64
  %index = llvm.shl %next, %c2 : i64
  %address = llvm.getelementptr inbounds %base[%index] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
  llvm.return %address : !llvm.ptr
}

// Offsets that exceed 32 bits; an index that is only a constant.
// CHECK-LABEL: llvm.func @wide
// CHECK-DAG: %[[WIDE:.*]] = llvm.mlir.constant(32000000000 : i64) : i64
// CHECK-DAG: llvm.getelementptr %{{.*}}[%[[WIDE]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-DAG: llvm.getelementptr %arg0[20] : (!llvm.ptr) -> !llvm.ptr, i8
llvm.func @wide(%base: !llvm.ptr, %row: i64) {
  %large = llvm.mlir.constant(8000000000 : i64) : i64
  %c2 = llvm.mlir.constant(2 : i64) : i64
  %c3 = llvm.mlir.constant(3 : i64) : i64
  %index = llvm.add %row, %large : i64
  %a = llvm.getelementptr %base[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %x = llvm.load %a : !llvm.ptr -> f32
  %five = llvm.add %c2, %c3 : i64
  %b = llvm.getelementptr %base[%five] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %x, %b : f32, !llvm.ptr
  llvm.return
}

// Not changed: an index without a constant part, one of 32 bits, whose sum may overflow, elements of an array, and
// two values that are multiplied.
// CHECK-LABEL: llvm.func @unchanged
// CHECK-COUNT-4: llvm.getelementptr %arg0[{{.*}}%
// CHECK-NOT: llvm.getelementptr
// CHECK: llvm.return
llvm.func @unchanged(%base: !llvm.ptr, %row: i64, %narrow: i32) -> !llvm.struct<(ptr, ptr, ptr, ptr)> {
  %c3 = llvm.mlir.constant(3 : i64) : i64
  %n3 = llvm.mlir.constant(3 : i32) : i32
  %a = llvm.getelementptr %base[%row] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %n = llvm.add %narrow, %n3 : i32
  %b = llvm.getelementptr %base[%n] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  %r = llvm.add %row, %c3 : i64
  %c = llvm.getelementptr %base[0, %r] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
  %square = llvm.mul %r, %row : i64
  %d = llvm.getelementptr %base[%square] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %s = llvm.mlir.undef : !llvm.struct<(ptr, ptr, ptr, ptr)>
  %s0 = llvm.insertvalue %a, %s[0] : !llvm.struct<(ptr, ptr, ptr, ptr)>
  %s1 = llvm.insertvalue %b, %s0[1] : !llvm.struct<(ptr, ptr, ptr, ptr)>
  %s2 = llvm.insertvalue %c, %s1[2] : !llvm.struct<(ptr, ptr, ptr, ptr)>
  %s3 = llvm.insertvalue %d, %s2[3] : !llvm.struct<(ptr, ptr, ptr, ptr)>
  llvm.return %s3 : !llvm.struct<(ptr, ptr, ptr, ptr)>
}
