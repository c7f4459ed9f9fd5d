// Errors of smalti-lower-packed-accesses.
// RUN: smalti-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(smalti-lower-packed-accesses))'

gpu.module @element {
  func.func @store(%a: memref<64xi4>, %i: index, %x: i4) {
    // expected-error @below {{'memref.store' op stores 4-bit elements, 2 per byte, but 4 bits are not whole bytes: another thread may concurrently store the rest of a byte, which is a data race; store a multiple of 2 elements at an index that is a multiple of 2, such as the result of arith.muli with 2}}
    memref.store %x, %a[%i] : memref<64xi4>
    return
  }
}

// -----

gpu.module @element_of_two_bits {
  func.func @store(%a: memref<64xi2, #gpu.address_space<workgroup>>, %i: index, %x: i2) {
    // expected-error @below {{stores 2-bit elements, 4 per byte, but 2 bits are not whole bytes}}
    memref.store %x, %a[%i] : memref<64xi2, #gpu.address_space<workgroup>>
    return
  }
}

// -----

gpu.module @part_of_a_vector {
  func.func @store(%a: memref<64xf4E2M1FN>, %i: index, %x: vector<3xf4E2M1FN>) {
    // expected-error @below {{but 12 bits are not whole bytes}}
    vector.store %x, %a[%i] : memref<64xf4E2M1FN>, vector<3xf4E2M1FN>
    return
  }
}

// -----

gpu.module @within_a_byte {
  func.func @store(%a: memref<64xi4>, %i: index, %x: vector<4xi4>) {
    // expected-error @below {{but the index of the first element cannot be proven to be a multiple of 2}}
    vector.store %x, %a[%i] : memref<64xi4>, vector<4xi4>
    return
  }
}

// -----

// Rows with an uneven number of elements.
gpu.module @odd_rows {
  func.func @store(%a: memref<8x5xi4>, %i: index, %x: vector<4xi4>) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{cannot be proven to be a multiple of 2}}
    vector.store %x, %a[%i, %c0] : memref<8x5xi4>, vector<4xi4>
    return
  }
}

// -----

gpu.module @odd_view {
  func.func @store(%a: memref<64xi4>, %o: index, %x: vector<4xi4>) {
    %c0 = arith.constant 0 : index
    %v = memref.subview %a[%o] [8] [1] : memref<64xi4> to memref<8xi4, strided<[1], offset: ?>>
    // expected-error @below {{cannot be proven to be a multiple of 2}}
    vector.store %x, %v[%c0] : memref<8xi4, strided<[1], offset: ?>>, vector<4xi4>
    return
  }
}

// -----

gpu.module @any_mask {
  func.func @store(%a: memref<64xi4>, %m: vector<4xi1>, %x: vector<4xi4>) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{but the mask may select a part of a byte}}
    vector.maskedstore %a[%c0], %m, %x : memref<64xi4>, vector<4xi1>, vector<4xi4>
    return
  }
}

// -----

gpu.module @constant_mask {
  func.func @store(%a: memref<64xi4>, %x: vector<4xi4>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant dense<[true, true, true, false]> : vector<4xi1>
    // expected-error @below {{but the mask may select a part of a byte}}
    vector.maskedstore %a[%c0], %m, %x : memref<64xi4>, vector<4xi1>, vector<4xi4>
    return
  }
}

// -----

// An end inside a byte.
gpu.module @odd_end {
  func.func @store(%a: memref<63xi4>, %n: index, %x: vector<4xi4>) {
    %c0 = arith.constant 0 : index
    %lanes = arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
    %end = vector.broadcast %n : index to vector<4xindex>
    %m = arith.cmpi slt, %lanes, %end : vector<4xindex>
    // expected-error @below {{but the mask may select a part of a byte}}
    vector.maskedstore %a[%c0], %m, %x : memref<63xi4>, vector<4xi1>, vector<4xi4>
    return
  }
}

// -----

gpu.module @apart {
  func.func @load(%a: memref<8xi4, strided<[2]>>, %n: vector<4xi32>, %m: vector<4xi1>, %p: vector<4xi4>) -> vector<4xi4> {
    %c0 = arith.constant 0 : index
    // expected-error @below {{accesses a vector in a memref with innermost stride 2; stride 1 is required for elements narrower than a byte}}
    %v = vector.gather %a[%c0] [%n], %m, %p
        : memref<8xi4, strided<[2]>>, vector<4xi32>, vector<4xi1>, vector<4xi4> into vector<4xi4>
    return %v : vector<4xi4>
  }
}

// -----

gpu.module @dimensions {
  func.func @load(%a: memref<8x8xi4>) -> vector<2x8xi4> {
    %c0 = arith.constant 0 : index
    // expected-error @below {{as a vector of type 'vector<2x8xi4>'; a one-dimensional vector of static size is required}}
    %v = vector.load %a[%c0, %c0] : memref<8x8xi4>, vector<2x8xi4>
    return %v : vector<2x8xi4>
  }
}

// -----

gpu.module @layout {
  func.func @load(%a: memref<8xi4, affine_map<(d0) -> (d0 floordiv 2)>>, %i: index) -> i4 {
    // expected-error @below {{accesses elements of type 'i4', which are narrower than a byte, in a memref whose layout is not strided; use a strided layout}}
    %v = memref.load %a[%i] : memref<8xi4, affine_map<(d0) -> (d0 floordiv 2)>>
    return %v : i4
  }
}

// -----

gpu.module @copy {
  func.func @copy(%a: memref<8xi4>, %b: memref<8xi4>) {
    // expected-error @below {{accesses memory of type 'memref<8xi4>', whose elements are narrower than a byte; only loads, stores and gathers are supported}}
    memref.copy %a, %b : memref<8xi4> to memref<8xi4>
    return
  }
}

// -----

gpu.module @atomic {
  func.func @add(%a: memref<8xi4>, %i: index, %x: i4) {
    // expected-error @below {{'memref.atomic_rmw' op accesses memory of type 'memref<8xi4>', whose elements are narrower than a byte}}
    %old = memref.atomic_rmw addi %x, %a[%i] : (i4, memref<8xi4>) -> i4
    return
  }
}

// -----

gpu.module @async {
  func.func @copy(%a: memref<64xi4>, %s: memref<64xi4, #gpu.address_space<workgroup>>) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'nvgpu.device_async_copy' op accesses memory of type 'memref<64xi4, #gpu.address_space<workgroup>>', whose elements are narrower than a byte}}
    %t = nvgpu.device_async_copy %a[%c0], %s[%c0], 8 : memref<64xi4> to memref<64xi4, #gpu.address_space<workgroup>>
    return
  }
}

// -----

gpu.module @table {
  // expected-error @below {{has initial values of type 'i4'; globals of elements narrower than a byte cannot have initial values: store the values in the kernel}}
  memref.global constant @table : memref<2xi4> = dense<[1, 2]>
}

// -----

gpu.module @private {
  func.func @load(%a: memref<8xi4, #gpu.address_space<private>>, %i: index) -> i4 {
    // expected-error @below {{in memory space #gpu.address_space<private>, whose pointer type depends on the target; set the option 'target' or the attribute 'smalti.target'}}
    %v = memref.load %a[%i] : memref<8xi4, #gpu.address_space<private>>
    return %v : i4
  }
}

// -----

gpu.module @space {
  func.func @load(%a: memref<8xi4, "far">, %i: index) -> i4 {
    // expected-error @below {{in memory space "far", which is not supported}}
    %v = memref.load %a[%i] : memref<8xi4, "far">
    return %v : i4
  }
}

// -----

gpu.module @six_bits {
  func.func @load(%a: memref<8xf6E2M3FN>, %i: index) -> vector<4xf6E2M3FN> {
    // expected-error @below {{'vector.load' op accesses a vector of elements of type 'f6E2M3FN'; in vectors, the width of elements narrower than a byte must be 1, 2 or 4 bits}}
    %v = vector.load %a[%i] : memref<8xf6E2M3FN>, vector<4xf6E2M3FN>
    return %v : vector<4xf6E2M3FN>
  }
}

// -----

gpu.module @no_bits {
  func.func @store(%a: memref<64xi0>, %i: index, %v: vector<4xi0>) {
    // expected-error@+1 {{elements of type 'i0'; in vectors, the width of elements narrower than a byte must be 1, 2 or 4 bits}}
    vector.store %v, %a[%i] : memref<64xi0>, vector<4xi0>
    return
  }
}

// -----

gpu.module @huge {
  func.func @load(%a: memref<64xi4>, %i: index) -> vector<9223372036854775807xi4> {
    // expected-error@+1 {{accesses a vector of 9223372036854775807 elements narrower than a byte; at most 65536 are supported}}
    %v = vector.load %a[%i] : memref<64xi4>, vector<9223372036854775807xi4>
    return %v : vector<9223372036854775807xi4>
  }
}
