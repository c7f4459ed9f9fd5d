// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @space(%v: vector<64xi32>, %m: memref<64xi32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{destination must be in shared memory (address space workgroup) or global memory, but found 'memref<64xi32, #mosaic_gpu.tmem>'}}
  mosaic_gpu.atomic_rmw addi %v, %m[%v] block relaxed : vector<64xi32>, memref<64xi32, #mosaic_gpu.tmem>, vector<64xi32>
  return
}

// -----

func.func @rank(%v: vector<64xi32>, %m: memref<64x64xi32>) {
  // expected-error @+1 {{destination must be a strided memref of rank 1, but found 'memref<64x64xi32>'}}
  mosaic_gpu.atomic_rmw addi %v, %m[%v] block relaxed : vector<64xi32>, memref<64x64xi32>, vector<64xi32>
  return
}

// -----

func.func @elements(%v: vector<64xi32>, %m: memref<64xi64>) {
  // expected-error @+1 {{destination and values must have the same element type, but found 'memref<64xi64>' and 'vector<64xi32>'}}
  mosaic_gpu.atomic_rmw addi %v, %m[%v] block relaxed : vector<64xi32>, memref<64xi64>, vector<64xi32>
  return
}

// -----

func.func @width(%v: vector<64xi12>, %i: vector<64xi32>, %m: memref<64xi12>) {
  // expected-error @+1 {{elements of the values must be signless integers or floats of 2, 4, 8, 16, 32 or 64 bits, but found 'i12'}}
  mosaic_gpu.atomic_rmw addi %v, %m[%i] block relaxed : vector<64xi12>, memref<64xi12>, vector<64xi32>
  return
}

// -----

func.func @packed_in_shared_memory(%v: vector<64xi4>, %i: vector<64xi32>, %m: memref<64xi4, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{elements of the values must be signless integers or floats of 8, 16, 32 or 64 bits, but found 'i4'}}
  mosaic_gpu.atomic_rmw addi %v, %m[%i] block relaxed : vector<64xi4>, memref<64xi4, #gpu.address_space<workgroup>>, vector<64xi32>
  return
}

// -----

func.func @shape(%v: vector<64xi32>, %i: vector<32xi32>, %m: memref<64xi32>) {
  // expected-error @+1 {{all vector operands must have the same shape, but found 'vector<64xi32>' and 'vector<32xi32>'}}
  mosaic_gpu.atomic_cas %v, %v, %m[%i] block relaxed : vector<64xi32>, memref<64xi32>, vector<32xi32>
  return
}

// -----

func.func @result(%v: vector<64xi32>, %m: memref<64xi32>) {
  // expected-error @+1 {{the result must have the type of the values, 'vector<64xi32>', but is 'vector<64xi64>'}}
  %0 = mosaic_gpu.atomic_rmw addi %v, %m[%v] block relaxed : vector<64xi32>, memref<64xi32>, vector<64xi32> -> vector<64xi64>
  return
}

// -----

func.func @float_kind(%v: vector<64xi32>, %m: memref<64xi32>) {
  // expected-error @+1 {{kind 'addf' requires elements of f16, bf16, f32 or f64, but found 'i32'}}
  mosaic_gpu.atomic_rmw addf %v, %m[%v] block relaxed : vector<64xi32>, memref<64xi32>, vector<64xi32>
  return
}

// -----

func.func @small_float(%v: vector<64xf8E5M2>, %i: vector<64xi32>, %m: memref<64xf8E5M2>) {
  // expected-error @+1 {{kind 'maxnumf' requires elements of f16, bf16, f32 or f64, but found 'f8E5M2'}}
  mosaic_gpu.atomic_rmw maxnumf %v, %m[%i] block relaxed : vector<64xf8E5M2>, memref<64xf8E5M2>, vector<64xi32>
  return
}

// -----

func.func @integer_kind(%v: vector<64xf32>, %i: vector<64xi32>, %m: memref<64xf32>) {
  // expected-error @+1 {{kind 'xori' requires integer elements, but found 'f32'}}
  mosaic_gpu.atomic_rmw xori %v, %m[%i] block relaxed : vector<64xf32>, memref<64xf32>, vector<64xi32>
  return
}

// -----

func.func @multiplication(%v: vector<64xi32>, %m: memref<64xi32>) {
  // expected-error @+1 {{'mulf' requires elements of f16, bf16, f32 or f64, but found 'i32'}}
  mosaic_gpu.atomic_rmw mulf %v, %m[%v] block relaxed : vector<64xi32>, memref<64xi32>, vector<64xi32>
  return
}

// -----

func.func @layouts(%v: vector<64xi32>, %m: memref<64xi32>) {
  // expected-error @+1 {{'in_layouts' has 1 entry for 2 vector operands}}
  mosaic_gpu.atomic_rmw addi %v, %m[%v] block relaxed {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64], 1>]} : vector<64xi32>, memref<64xi32>, vector<64xi32>
  return
}

// -----

func.func @condition(%v: vector<64xi32>) {
  // expected-error @+1 {{operand #0 must be vector of 1-bit signless integer values}}
  "mosaic_gpu.assert"(%v) <{message = ""}> : (vector<64xi32>) -> ()
  return
}
