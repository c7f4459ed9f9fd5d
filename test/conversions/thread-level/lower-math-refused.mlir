// Types without a library function or an instruction: refusal before anything is rewritten.
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(smalti-lower-cpu-math,gpu.module(smalti-lower-math))'
// RUN: not smalti-opt %s --split-input-file --mlir-print-ir-after-failure -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(smalti-lower-cpu-math,gpu.module(smalti-lower-math))' 2>&1 | FileCheck %s

// CHECK: gpu.func @amd
// CHECK-NEXT: math.tanh %{{.*}} : f32
// CHECK-NEXT: math.acos %{{.*}} : f8E4M3FNUZ
gpu.module @module attributes {smalti.target = "gfx942"} {
  gpu.func @amd(%a: f8E4M3FNUZ, %b: f32) {
    %0 = math.tanh %b : f32
    // expected-error@below {{has type 'f8E4M3FNUZ'; a float of type f16, bf16, f32 or f64, an integer or a vector of either is required}}
    %1 = math.acos %a : f8E4M3FNUZ
    gpu.return
  }
}

// -----

gpu.module @module attributes {smalti.target = "sm_90a"} {
  gpu.func @nvidia(%a: vector<2xf4E2M1FN>, %b: tensor<4xf32>) {
    // expected-error@below {{has type 'vector<2xf4E2M1FN>'; a float of type}}
    %0 = math.fma %a, %a, %a : vector<2xf4E2M1FN>
    // expected-error@below {{has type 'tensor<4xf32>'; a float of type}}
    %1 = math.trunc %b : tensor<4xf32>
    // The conversion to NVVM has the rest.
    %2 = math.exp %a : vector<2xf4E2M1FN>
    gpu.return
  }
}

// -----

func.func @cpu(%a: f128) -> f128 {
  // expected-error@below {{has type 'f128'; a float of type}}
  %0 = math.log1p %a : f128
  return %0 : f128
}

// -----

gpu.module @module attributes {smalti.target = "gfx942"} {
  gpu.func @elements(%a: f32) {
    %fits = vector.broadcast %a : f32 to vector<64xf32>
    %few = math.tanh %fits : vector<64xf32>
    %v = vector.broadcast %a : f32 to vector<65536x65536xf32>
    // expected-error@below {{has type 'vector<65536x65536xf32>', whose elements are computed one after the other; at most 16384 elements are supported}}
    %0 = math.tanh %v : vector<65536x65536xf32>
    gpu.return
  }
}

// -----

func.func @elements(%a: vector<2147483648xf32>) -> vector<2147483648xf32> {
  // expected-error@below {{has type 'vector<2147483648xf32>', whose elements are computed one after the other}}
  %0 = math.expm1 %a : vector<2147483648xf32>
  return %0 : vector<2147483648xf32>
}
