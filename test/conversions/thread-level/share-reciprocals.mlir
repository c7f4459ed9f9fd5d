// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-share-reciprocals{target=sm_90a}))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-share-reciprocals{target=gfx942}))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-share-reciprocals))' -o /dev/null \
// RUN:   --remarks-filter=smalti-share-reciprocals 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: Function=two_rows | Remark="8 quotients per thread computed with shared reciprocals"
// REMARK: Function=to_half | Remark="8 quotients per thread computed with shared reciprocals"
// REMARK-NOT: Remark=
gpu.module @kernels {
  // One reciprocal for both rows.
  // CHECK-LABEL: gpu.func @two_rows
  // CHECK-SAME: %[[X:[^ ]+]]: vector<4xf32>, %{{.*}}: vector<4xf32>, %[[D:[^ ]+]]: f32
  // CHECK: %[[DS:.*]] = vector.broadcast %[[D]] : f32 to vector<4xf32>
  // CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[D]] : f32
  // CHECK: %[[RS:.*]] = vector.broadcast %[[R]] : f32 to vector<4xf32>
  // CHECK: arith.cmpf oge, %[[D]]
  // CHECK: arith.cmpf ole, %[[D]]
  // CHECK: math.absf %[[X]]
  // CHECK-COUNT-3: arith.maxnumf
  // CHECK: arith.shli
  // CHECK-COUNT-3: arith.minui
  // NVIDIA-NOT: ballot
  // AMD: rocdl.ballot {{.*}} : i64
  // CHECK: scf.if
  // CHECK: %[[Q0:.*]] = arith.mulf %[[X]], %[[RS]]
  // CHECK: %[[MINUS:.*]] = arith.negf %[[X]]
  // CHECK: %[[E:.*]] = math.fma %[[Q0]], %[[DS]], %[[MINUS]]
  // CHECK: %[[NEGATED:.*]] = arith.negf %[[E]]
  // CHECK: %[[Q:.*]] = math.fma %[[NEGATED]], %[[RS]], %[[Q0]]
  // CHECK: scf.yield %[[Q]]
  // CHECK: } else {
  // CHECK: arith.divf %[[X]], %[[DS]]
  // CHECK-NOT: arith.divf %{{.*}} : f32
  // CHECK: gpu.return
  gpu.func @two_rows(%x: vector<4xf32>, %y: vector<4xf32>, %d: f32) -> (vector<4xf32>, vector<4xf32>) {
    %ds = vector.broadcast %d : f32 to vector<4xf32>
    %q = arith.divf %x, %ds : vector<4xf32>
    %p = arith.divf %y, %ds : vector<4xf32>
    gpu.return %q, %p : vector<4xf32>, vector<4xf32>
  }

  // Quotients of small dividends are rounded to zero, so small dividends are not checked.
  // CHECK-LABEL: gpu.func @to_half
  // CHECK: arith.maxnumf
  // CHECK-NOT: arith.minui
  // CHECK: scf.if
  // CHECK: gpu.return
  gpu.func @to_half(%x: vector<8xf32>, %d: f32) -> vector<8xf16> {
    %ds = vector.broadcast %d : f32 to vector<8xf32>
    %q = arith.divf %x, %ds : vector<8xf32>
    %h = arith.truncf %q : vector<8xf32> to vector<8xf16>
    gpu.return %h : vector<8xf16>
  }

  // Approximate divisions, other types, different divisors, and too few quotients.
  // CHECK-LABEL: gpu.func @unchanged
  // CHECK-NOT: scf.if
  // CHECK: gpu.return
  gpu.func @unchanged(%x: vector<4xf32>, %h: vector<4xf16>, %y: vector<2xf32>, %ds: vector<4xf32>, %d: f32, %e: f16) {
    %splat = vector.broadcast %d : f32 to vector<4xf32>
    %two = vector.broadcast %d : f32 to vector<2xf32>
    %half = vector.broadcast %e : f16 to vector<4xf16>
    %a = arith.divf %x, %splat fastmath<arcp> : vector<4xf32>
    %b = arith.divf %x, %splat fastmath<afn> : vector<4xf32>
    %c = arith.divf %x, %ds : vector<4xf32>
    %f = arith.divf %y, %two : vector<2xf32>
    %g = arith.divf %h, %half : vector<4xf16>
    gpu.return
  }
}
