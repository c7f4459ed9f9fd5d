// Types that neither a library function nor an instruction supports are refused before the module is changed.
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(smalti-lower-cpu-math,gpu.module(smalti-lower-math))'
// RUN: not smalti-opt %s --split-input-file --mlir-print-ir-after-failure -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(smalti-lower-cpu-math,gpu.module(smalti-lower-math))' 2>&1 | FileCheck %s

// CHECK: gpu.func @amd
// CHECK-NEXT: math.tanh %{{.*}} : f32
// CHECK-NEXT: math.acos %{{.*}} : f8E4M3FNUZ
gpu.module @module attributes {smalti.target = "gfx942"} {
  gpu.func @amd(%a: f8E4M3FNUZ, %b: f32) {
    %0 = math.tanh %b : f32
    // expected-error@below {{has type 'f8E4M3FNUZ'; use f16, bf16, f32, f64, an integer or a vector of one of them}}
    %1 = math.acos %a : f8E4M3FNUZ
    gpu.return
  }
}

// -----

gpu.module @module attributes {smalti.target = "sm_90a"} {
  gpu.func @nvidia(%a: vector<2xf4E2M1FN>, %b: tensor<4xf32>) {
    // expected-error@below {{has type 'vector<2xf4E2M1FN>'; use f16, bf16, f32, f64, an integer or a vector of one of them}}
    %0 = math.fma %a, %a, %a : vector<2xf4E2M1FN>
    // expected-error@below {{has type 'tensor<4xf32>'; use f16, bf16, f32, f64, an integer or a vector of one of them}}
    %1 = math.trunc %b : tensor<4xf32>
    // The conversion to NVVM lowers the others.
    %2 = math.exp %a : vector<2xf4E2M1FN>
    gpu.return
  }
}

// -----

gpu.module @module attributes {smalti.target = "sm_80"} {
  gpu.func @small_floats(%a: f8E5M2, %b: vector<2xf128>, %c: tensor<?xf16>, %i: i64) {
    %0 = arith.extf %a : f8E5M2 to f32
    // expected-error@below {{converts 'f128' to 'f8E5M2'; floats of at most 8 bits convert only to and from each other, f16, bf16, f32 and f64, and from integers: convert through f32}}
    %2 = arith.truncf %b : vector<2xf128> to vector<2xf8E5M2>
    // expected-error@below {{converts 'i64' to 'f8E8M0FNU'; floats of at most 8 bits}}
    %5 = arith.sitofp %i : i64 to f8E8M0FNU
    // expected-error@below {{has elements of 'f8E5M2'; no target computes with floats of at most 8 bits: extend the operands with arith.extf, and round the result with arith.truncf}}
    %6 = arith.maxnumf %a, %a : f8E5M2
    // expected-error@below {{has elements of 'f8E5M2'; no target computes with floats of at most 8 bits}}
    %7 = arith.cmpf oeq, %a, %a : f8E5M2
    // expected-error@below {{has type 'tensor<?xf8E5M2>'; a scalar or a vector is required}}
    %4 = arith.truncf %c : tensor<?xf16> to tensor<?xf8E5M2>
    gpu.return
  }
}

// -----

func.func @cpu(%a: f128) -> f128 {
  // expected-error@below {{has type 'f128'; use f16, bf16, f32, f64, an integer or a vector of one of them}}
  %0 = math.log1p %a : f128
  return %0 : f128
}

// -----

gpu.module @module attributes {smalti.target = "gfx942"} {
  gpu.func @elements(%a: f32) {
    %fits = vector.broadcast %a : f32 to vector<64xf32>
    %few = math.tanh %fits : vector<64xf32>
    %v = vector.broadcast %a : f32 to vector<65536x65536xf32>
    // expected-error@below {{has type 'vector<65536x65536xf32>'; code is generated for each element, so at most 16384 elements are supported: use smaller vectors}}
    %0 = math.tanh %v : vector<65536x65536xf32>
    gpu.return
  }
}

// -----

func.func @elements(%a: vector<2147483648xf32>) -> vector<2147483648xf32> {
  // expected-error@below {{has type 'vector<2147483648xf32>'; code is generated for each element, so at most 16384 elements are supported: use smaller vectors}}
  %0 = math.expm1 %a : vector<2147483648xf32>
  return %0 : vector<2147483648xf32>
}

// -----

func.func @functions_of_many_elements(%a: vector<192x192xf32>) -> vector<192x192xf32> {
  // expected-error@below {{has type 'vector<192x192xf32>'; code is generated for each element, so at most 16384 elements are supported: use smaller vectors}}
  %0 = math.erf %a : vector<192x192xf32>
  // Instructions on vectors.
  %1 = math.sqrt %0 : vector<192x192xf32>
  return %1 : vector<192x192xf32>
}
