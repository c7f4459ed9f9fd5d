// RUN: smalti-opt %s --smalti-lower-math=target=sm_90a --split-input-file | FileCheck %s --check-prefixes=ALL,NVIDIA
// RUN: smalti-opt %s --smalti-lower-math=target=gfx942 --split-input-file | FileCheck %s --check-prefixes=ALL,AMD
// RUN: not smalti-opt %s --smalti-lower-math --split-input-file 2>&1 | FileCheck %s --check-prefix=NOTARGET

// NOTARGET: error: no target

gpu.module @instructions {
  // ALL-LABEL: gpu.func @instructions
  gpu.func @instructions(%a: vector<4xf32>, %h: vector<2xf16>, %d: f64, %i: vector<2xi32>) {
    // NVIDIA: llvm.intr.fma(%{{.*}}) : (vector<4xf32>
    // NVIDIA: llvm.intr.trunc(%{{.*}}) : (vector<4xf32>
    // NVIDIA: llvm.intr.fma(%{{.*}}) : (vector<2xf16>
    // NVIDIA: llvm.intr.trunc(%{{.*}}) : (f64) -> f64
    // NVIDIA: "llvm.intr.ctlz"(%{{.*}}) <{is_zero_poison = false}> : (vector<2xi32>
    // NVIDIA: "llvm.intr.cttz"(%{{.*}}) <{is_zero_poison = false}> : (vector<2xi32>
    // NVIDIA: llvm.intr.ctpop(%{{.*}}) : (vector<2xi32>
    // NVIDIA: "llvm.intr.abs"(%{{.*}}) <{is_int_min_poison = false}> : (vector<2xi32>
    // AMD-COUNT-8: math.
    %0 = math.fma %a, %a, %a : vector<4xf32>
    %1 = math.trunc %0 : vector<4xf32>
    %2 = math.fma %h, %h, %h : vector<2xf16>
    %3 = math.trunc %d : f64
    %4 = math.ctlz %i : vector<2xi32>
    %5 = math.cttz %i : vector<2xi32>
    %6 = math.ctpop %i : vector<2xi32>
    %7 = math.absi %i : vector<2xi32>
    gpu.return
  }
}

// -----

gpu.module @rows {
  // ALL-LABEL: gpu.func @rows
  gpu.func @rows(%i: vector<2x1x4xi32>) -> vector<2x1x4xi32> {
    // ALL: vector.extract %{{.*}}[0, 0] : vector<4xi32> from vector<2x1x4xi32>
    // NVIDIA: "llvm.intr.ctlz"(%{{.*}}) <{is_zero_poison = false}> : (vector<4xi32>
    // AMD: math.ctlz %{{.*}} : vector<4xi32>
    // ALL: vector.insert %{{.*}}, %{{.*}} [0, 0]
    // ALL: vector.extract %{{.*}}[1, 0]
    // NVIDIA: "llvm.intr.ctlz"
    // AMD: math.ctlz
    // ALL: vector.insert %{{.*}}, %{{.*}} [1, 0]
    // NVIDIA-COUNT-2: "llvm.intr.cttz"
    // NVIDIA-COUNT-2: "llvm.intr.abs"
    // AMD-COUNT-2: math.cttz
    // AMD-COUNT-2: math.absi
    %0 = math.ctlz %i : vector<2x1x4xi32>
    %1 = math.cttz %0 : vector<2x1x4xi32>
    %2 = math.absi %1 : vector<2x1x4xi32>
    gpu.return %2 : vector<2x1x4xi32>
  }
}

// -----

// AMD: llvm.func @__ocml_tanh_f32(f32) -> f32
gpu.module @functions {
  // ALL-LABEL: gpu.func @functions
  gpu.func @functions(%a: f32, %h: f16, %v: vector<2xf32>) {
    // AMD: llvm.call @__ocml_acos_f32
    // AMD: llvm.call @__ocml_asin_f32
    // AMD: llvm.call @__ocml_atan_f32
    // AMD: llvm.call @__ocml_atan2_f32
    // AMD: llvm.call @__ocml_cosh_f32
    // AMD: llvm.call @__ocml_expm1_f32
    // AMD: llvm.call @__ocml_log1p_f32
    // AMD: llvm.call @__ocml_sinh_f32
    // AMD: llvm.call @__ocml_tan_f32
    // AMD: llvm.call @__ocml_tanh_f32
    // AMD: llvm.call @__ocml_tanh_f16
    // AMD-COUNT-2: llvm.call @__ocml_tanh_f32
    // AMD-NOT: math.tanh
    // NVIDIA-COUNT-12: math.
    %0 = math.acos %a : f32
    %1 = math.asin %0 : f32
    %2 = math.atan %1 : f32
    %3 = math.atan2 %2, %a : f32
    %4 = math.cosh %3 : f32
    %5 = math.expm1 %4 : f32
    %6 = math.log1p %5 : f32
    %7 = math.sinh %6 : f32
    %8 = math.tan %7 : f32
    %9 = math.tanh %8 : f32
    %10 = math.tanh %h : f16
    %11 = math.tanh %v : vector<2xf32>
    gpu.return
  }
}

// -----

// Ops that the conversions lower correctly are not changed.
gpu.module @unchanged {
  // ALL-LABEL: gpu.func @unchanged
  gpu.func @unchanged(%a: vector<4xf32>) {
    // ALL: math.exp2 %
    // ALL: math.erf %
    %0 = math.exp2 %a : vector<4xf32>
    %1 = math.erf %0 : vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @halves {
  // ALL-LABEL: gpu.func @halves
  gpu.func @halves(%h: f16, %v: vector<2xf16>, %a: f32) {
    // AMD: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
    // AMD: %[[SIN:.*]] = math.sin %[[WIDE]] : f32
    // AMD: arith.truncf %[[SIN]] : f32 to f16
    // AMD: math.cos %{{.*}} : vector<2xf32>
    // AMD: llvm.call @__ocml_tan_f32
    // AMD: math.sin %{{.*}} fastmath<fast> : f32
    // NVIDIA: math.sin %{{.*}} : f16
    %0 = math.sin %h : f16
    %1 = math.cos %v : vector<2xf16>
    %2 = math.tan %0 : f16
    %3 = math.sin %h fastmath<fast> : f16
    gpu.return
  }
}

// -----

// The sign of a zero is that of the operand.
gpu.module @signs {
  // ALL-LABEL: gpu.func @signs
  // AMD-SAME: (%[[A:.*]]: f32, %[[H:.*]]: vector<2xf16>)
  gpu.func @signs(%a: f32, %h: vector<2xf16>) -> (f32, f32, vector<2xf16>, f32, f32) {
    // AMD: %[[E:.*]] = llvm.call @__ocml_expm1_f32(%[[A]])
    // AMD: math.copysign %[[E]], %[[A]] : f32
    // AMD: llvm.call @__ocml_log1p_f32
    // AMD: math.copysign
    // AMD: math.copysign %{{.*}}, %[[H]] : vector<2xf16>
    // AMD: math.copysign
    // NVIDIA-NOT: copysign
    %0 = math.expm1 %a : f32
    %1 = math.log1p %a : f32
    %2 = math.sinh %h : vector<2xf16>
    %3 = math.tanh %a : f32
    // AMD-NOT: copysign
    %4 = math.tanh %a fastmath<nsz> : f32
    gpu.return %0, %1, %2, %3, %4 : f32, f32, vector<2xf16>, f32, f32
  }
}

// -----

gpu.module @powers {
  // ALL-LABEL: gpu.func @powers
  // ALL-SAME: (%[[A:.*]]: vector<2xf32>, %[[N:.*]]: vector<2xi32>, %[[H:.*]]: bf16, %[[M:.*]]: i32)
  gpu.func @powers(%a: vector<2xf32>, %n: vector<2xi32>, %h: bf16, %m: i32) -> (vector<2xf32>, bf16) {
    // NVIDIA: %[[BIT:.*]] = arith.andi %[[N]], %{{.*}}
    // NVIDIA: %[[ODD:.*]] = arith.cmpi ne, %[[BIT]], %{{.*}}
    // NVIDIA: %[[ABS:.*]] = math.absf %[[A]]
    // NVIDIA: %[[X:.*]] = arith.sitofp %[[N]] : vector<2xi32> to vector<2xf32>
    // NVIDIA: %[[POWER:.*]] = math.powf %[[ABS]], %[[X]] fastmath<nnan> : vector<2xf32>
    // NVIDIA: %[[SIGNED:.*]] = math.copysign %[[POWER]], %[[A]]
    // NVIDIA: arith.select %[[ODD]], %[[SIGNED]], %[[POWER]]
    // NVIDIA: arith.extf %[[H]] : bf16 to f32
    // NVIDIA: arith.truncf %{{.*}} : f32 to bf16
    // AMD-COUNT-2: llvm.call @__ocml_pown_f32(%{{.*}}, %{{.*}}) : (f32, i32) -> f32
    // AMD: llvm.fpext %[[H]] : bf16 to f32
    // AMD: llvm.call @__ocml_pown_f32
    %0 = math.fpowi %a, %n fastmath<nnan> : vector<2xf32>, vector<2xi32>
    %1 = math.fpowi %h, %m : bf16, i32
    gpu.return %0, %1 : vector<2xf32>, bf16
  }
}

// -----

gpu.module @wide {
  // ALL-LABEL: gpu.func @wide
  gpu.func @wide(%b: bf16, %h: f16, %a: f32, %d: vector<2xf64>) {
    // AMD: llvm.intr.ldexp(%{{.*}}, %{{.*}}) : (f32, i32) -> f32
    // AMD: math.log %{{.*}} : f32
    // AMD: math.rsqrt %{{.*}} : f32
    // AMD: math.rsqrt %{{.*}} : f32
    // NVIDIA: math.exp %{{.*}} : bf16
    // NVIDIA: arith.extf %{{.*}} : f16 to f32
    // NVIDIA: llvm.call_intrinsic "llvm.nvvm.sqrt.rn.f"(%{{.*}}) : (f32) -> f32
    // NVIDIA: llvm.call_intrinsic "llvm.nvvm.sqrt.approx.f"(%{{.*}}) : (f32) -> f32
    // NVIDIA-COUNT-2: llvm.call_intrinsic "llvm.nvvm.sqrt.rn.d"(%{{.*}}) : (f64) -> f64
    %0 = math.exp %b : bf16
    %1 = math.log %b : bf16
    %2 = math.rsqrt %b : bf16
    %3 = math.rsqrt %h : f16
    %4 = math.sqrt %h : f16
    %5 = math.sqrt %a fastmath<afn> : f32
    %6 = math.sqrt %d fastmath<afn> : vector<2xf64>
    gpu.return
  }
}

// -----

// Powers that may be approximate flush denormal results. The others keep them.

gpu.module @approximate_powers {
  // ALL-LABEL: gpu.func @approximate_powers
  gpu.func @approximate_powers(%a: vector<1x2xf32>, %s: f32, %h: f16) -> (vector<1x2xf32>, f32, f32, f16) {
    // ALL: vector.extract %{{.*}}[0, 0] : f32 from vector<1x2xf32>
    // NVIDIA: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%{{.*}}) : (f32) -> f32
    // AMD: rocdl.exp2 %{{.*}} f32 -> f32
    // ALL: vector.insert %{{.*}}, %{{.*}} [0, 0]
    // ALL: vector.insert %{{.*}}, %{{.*}} [0, 1]
    %0 = math.exp2 %a fastmath<afn> : vector<1x2xf32>
    // ALL: %[[E:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<afn> : f32
    // NVIDIA: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[E]])
    // AMD: rocdl.exp2 %[[E]]
    %1 = math.exp %s fastmath<afn> : f32
    // NVIDIA: math.exp %{{.*}} : f32
    // AMD: llvm.intr.ldexp
    %2 = math.exp %s : f32
    // ALL: math.exp2 %{{.*}} fastmath<afn> : f16
    %3 = math.exp2 %h fastmath<afn> : f16
    gpu.return %0, %1, %2, %3 : vector<1x2xf32>, f32, f32, f16
  }
}

// -----

// LLVM's code for exponentials on AMD chips selects the results of large operands. Here the exponent of the power of two
// is clamped instead.
gpu.module @exponentials {
  // ALL-LABEL: gpu.func @exponentials
  // ALL-SAME: (%[[X:.*]]: vector<1x2xf32>,
  gpu.func @exponentials(%x: vector<1x2xf32>, %h: f16, %d: f64) -> (vector<1x2xf32>, f16, f64) {
    // NVIDIA: math.exp %[[X]]
    // AMD: %[[LOG:.*]] = arith.constant dense<1.44269502> : vector<1x2xf32>
    // AMD: %[[PRODUCT:.*]] = arith.mulf %[[X]], %[[LOG]] : vector<1x2xf32>
    // AMD: %[[EXPONENT:.*]] = vector.extract %[[PRODUCT]][0, 0]
    // AMD: %[[LEAST:.*]] = arith.constant -1.500000e+02 : f32
    // AMD: %[[MOST:.*]] = arith.constant 1.280000e+02 : f32
    // AMD: %[[CLAMPED:.*]] = rocdl.fmed3 %[[EXPONENT]], %[[LEAST]], %[[MOST]] : f32
    // AMD: math.roundeven %[[CLAMPED]]
    // AMD: %[[MINUS:.*]] = arith.negf %[[K:.*]] : vector<1x2xf32>
    // AMD: %[[R:.*]] = math.fma %[[X]], %[[LOG]], %[[MINUS]]
    // AMD: %[[LOW:.*]] = arith.constant dense<1.925963{{.*}}E-8>
    // AMD: %[[R2:.*]] = math.fma %[[X]], %[[LOW]], %[[R]]
    // AMD: %[[R0:.*]] = vector.extract %[[R2]][0, 0]
    // AMD: %[[K0:.*]] = vector.extract %[[K]][0, 0]
    // AMD: %[[POWER:.*]] = rocdl.exp2 %[[R0]] f32 -> f32
    // AMD: %[[INTEGER:.*]] = arith.fptosi %[[K0]] : f32 to i32
    // AMD: llvm.intr.ldexp(%[[POWER]], %[[INTEGER]]) : (f32, i32) -> f32
    %0 = math.exp %x : vector<1x2xf32>
    // ALL: math.exp %{{.*}} fastmath<afn> : f16
    %1 = math.exp %h fastmath<afn> : f16
    // ALL: math.exp %{{.*}} : f64
    %2 = math.exp %d : f64
    gpu.return %0, %1, %2 : vector<1x2xf32>, f16, f64
  }
}

// -----

// The device library has an error of 1.74 ulp.
gpu.module @doubles {
  // ALL-LABEL: gpu.func @doubles
  // ALL-SAME: (%[[X:.*]]: f64)
  gpu.func @doubles(%x: f64) -> f64 {
    // AMD-NOT: __ocml_expm1
    // AMD: math.fma
    // AMD: %[[R:.*]] = arith.select %{{.*}}, %[[X]], %{{.*}} : f64
    // AMD: gpu.return %[[R]]
    // NVIDIA: math.expm1 %[[X]] : f64
    %0 = math.expm1 %x : f64
    gpu.return %0 : f64
  }
}
