// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-share-reciprocals{target=sm_90a}))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-share-reciprocals{target=gfx942}))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-share-reciprocals))' -o /dev/null \
// RUN:   --remarks-filter=smalti-share-reciprocals 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: Function=two_rows | Remark="8 divisions per thread computed with one reciprocal per divisor; the results do not change"
// REMARK: Function=to_half | Remark="8 divisions per thread computed with one reciprocal per divisor; the results do not change"
// REMARK: Function=of_exponentials | Remark="8 divisions per thread computed with one reciprocal per divisor; the results do not change"
// REMARK: Function=of_other_sums | Remark="12 divisions per thread computed with one reciprocal per divisor; the results do not change"
// REMARK: Function=pairs | Remark="4 divisions per thread computed with one reciprocal per divisor; the results do not change"
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

  // The sum of all exponentials bounds each of them.
  // CHECK-LABEL: gpu.func @of_exponentials
  // CHECK: %[[AB:.*]] = arith.addf
  // CHECK: %[[CD:.*]] = arith.addf
  // CHECK: %[[SUM:.*]] = arith.addf %[[AB]], %[[CD]] : f32
  // CHECK-NOT: arith.maxnumf
  // CHECK: arith.cmpf ole, %[[SUM]], %{{.*}} : f32
  // CHECK: %[[ONE:.*]] = arith.addf %{{.*}} : vector<1xf32>
  // CHECK: %[[TWO:.*]] = arith.addf %[[ONE]], %{{.*}} : vector<1xf32>
  // CHECK: %[[ALL:.*]] = arith.addf %[[TWO]], %{{.*}} : vector<1xf32>
  // CHECK-NOT: arith.maxnumf
  // CHECK: %[[SCALAR:.*]] = vector.extract %[[ALL]][0]
  // CHECK: arith.cmpf ole, %[[SCALAR]], %{{.*}} : f32
  // CHECK: gpu.return
  gpu.func @of_exponentials(%x: vector<4xf32>, %d: f32) -> (vector<4xf16>, vector<4xf16>) {
    %ds = vector.broadcast %d : f32 to vector<4xf32>
    %e = math.exp %x : vector<4xf32>
    %a = vector.extract %e[0] : f32 from vector<4xf32>
    %b = vector.extract %e[1] : f32 from vector<4xf32>
    %c = vector.extract %e[2] : f32 from vector<4xf32>
    %f = vector.extract %e[3] : f32 from vector<4xf32>
    %ab = arith.addf %a, %b : f32
    %cf = arith.addf %c, %f : f32
    %sum = arith.addf %ab, %cf : f32
    %q = arith.divf %e, %ds : vector<4xf32>
    %h = arith.truncf %q : vector<4xf32> to vector<4xf16>
    %p = math.exp2 %x : vector<4xf32>
    %0 = vector.shuffle %p, %p [0] : vector<4xf32>, vector<4xf32>
    %1 = vector.shuffle %p, %p [1] : vector<4xf32>, vector<4xf32>
    %2 = vector.shuffle %p, %p [2] : vector<4xf32>, vector<4xf32>
    %3 = vector.shuffle %p, %p [3] : vector<4xf32>, vector<4xf32>
    %4 = arith.addf %0, %1 : vector<1xf32>
    %5 = arith.addf %4, %2 : vector<1xf32>
    %6 = arith.addf %5, %3 : vector<1xf32>
    %r = arith.divf %p, %ds : vector<4xf32>
    %g = arith.truncf %r : vector<4xf32> to vector<4xf16>
    gpu.return %h, %g : vector<4xf16>, vector<4xf16>
  }

  // Sums that do not bound the dividends: one without an element, one that may be poison, one after the division, and
  // one of dividends that may be negative.
  // CHECK-LABEL: gpu.func @of_other_sums
  // CHECK-COUNT-9: arith.maxnumf
  // CHECK: gpu.return
  gpu.func @of_other_sums(%x: vector<4xf32>, %d: f32, %y: f32)
      -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, f32, f32, f32) {
    %ds = vector.broadcast %d : f32 to vector<4xf32>
    %e = math.exp %x : vector<4xf32>
    %a = vector.extract %e[0] : f32 from vector<4xf32>
    %b = vector.extract %e[1] : f32 from vector<4xf32>
    %c = vector.extract %e[2] : f32 from vector<4xf32>
    %f = vector.extract %e[3] : f32 from vector<4xf32>
    %ab = arith.addf %a, %b : f32
    %abc = arith.addf %ab, %c : f32
    %abcy = arith.addf %abc, %y : f32
    %q = arith.divf %e, %ds : vector<4xf32>
    %poison = arith.addf %abc, %f fastmath<nnan> : f32
    %p = arith.divf %e, %ds : vector<4xf32>
    %late = arith.addf %abc, %f : f32
    %s = math.sin %x : vector<4xf32>
    %i = vector.extract %s[0] : f32 from vector<4xf32>
    %j = vector.extract %s[1] : f32 from vector<4xf32>
    %k = vector.extract %s[2] : f32 from vector<4xf32>
    %l = vector.extract %s[3] : f32 from vector<4xf32>
    %ij = arith.addf %i, %j : f32
    %kl = arith.addf %k, %l : f32
    %all = arith.addf %ij, %kl : f32
    %r = arith.divf %s, %ds : vector<4xf32>
    gpu.return %q, %p, %r, %late, %all, %poison : vector<4xf32>, vector<4xf32>, vector<4xf32>, f32, f32, f32
  }

  // Pairs of a row share one check, if the dividends are computed before the first division.
  // CHECK-LABEL: gpu.func @pairs
  // CHECK-SAME: %[[X:[^ ]+]]: vector<2xf32>, %[[Y:[^ ]+]]: vector<2xf32>, %[[D:[^ ]+]]: f32
  // CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[D]] : f32
  // CHECK: %[[RS:.*]] = vector.broadcast %[[R]] : f32 to vector<2xf32>
  // CHECK: math.absf %[[X]]
  // CHECK: math.absf %[[Y]]
  // CHECK-COUNT-3: arith.maxnumf
  // CHECK-COUNT-3: arith.minui
  // CHECK: %[[Q:.*]]:2 = scf.if
  // CHECK: arith.mulf %[[X]], %[[RS]]
  // CHECK: arith.mulf %[[Y]], %[[RS]]
  // CHECK: } else {
  // CHECK: arith.divf %[[X]]
  // CHECK: arith.divf %[[Y]]
  // CHECK-NOT: scf.if
  // CHECK: %[[Z:.*]] = arith.addf %[[Q]]#0, %[[Q]]#1
  // CHECK: arith.divf %[[Z]]
  // CHECK-NOT: scf.if
  // CHECK: gpu.return
  gpu.func @pairs(%x: vector<2xf32>, %y: vector<2xf32>, %d: f32) -> vector<2xf32> {
    %ds = vector.from_elements %d, %d : vector<2xf32>
    %q = arith.divf %x, %ds : vector<2xf32>
    %p = arith.divf %y, %ds : vector<2xf32>
    %z = arith.addf %q, %p : vector<2xf32>
    %late = arith.divf %z, %ds : vector<2xf32>
    gpu.return %late : vector<2xf32>
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
