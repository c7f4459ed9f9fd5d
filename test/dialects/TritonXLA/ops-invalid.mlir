// RUN: smalti-opt %s --split-input-file --verify-diagnostics

// entry_func

// expected-error@+1 {{has an empty name}}
"triton_xla.entry_func"() <{sym_name = "", function_type = (index) -> (), num_tiles = 1 : i64}> ({
^bb0(%tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{must not have results, but its type has 1; a kernel returns results with triton_xla.insert}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (index) -> f32, num_tiles = 1 : i64}> ({
^bb0(%tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{the last argument must be the tile id, of type index}}
triton_xla.entry_func @f() tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{the last argument must be the tile id, of type index, such as '%tile: index'}}
triton_xla.entry_func @f(%a: memref<?xf32>) tiles size(%a, 0) {
  triton_xla.return
}

// -----

// expected-error@+1 {{the number of tiles uses argument #1, which is a tile id}}
triton_xla.entry_func @f(%a: memref<?xf32>, %n: index) tiles %n {
  triton_xla.return
}

// -----

// expected-error@+1 {{the last argument must be the tile id, of type index}}
triton_xla.entry_func @f(%tile: index, %a: memref<4xf32>) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #1 must be a ranked memref or a scalar (signless integer, index or float), but is 'tensor<4xf32>'}}
triton_xla.entry_func @f(%a: f32, %b: tensor<4xf32>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 must be a ranked memref or a scalar (signless integer, index or float), but is 'memref<*xf32>'}}
triton_xla.entry_func @f(%a: memref<*xf32>, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 must be a ranked memref or a scalar (signless integer, index or float), but is 'ui8'}}
triton_xla.entry_func @f(%a: ui8, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{custom op 'triton_xla.entry_func' the number of tiles has the constant 0; it must be positive}}
triton_xla.entry_func @f(%tile: index) tiles 0 {
  triton_xla.return
}

// -----

// expected-error@+1 {{the body must end with triton_xla.return}}
triton_xla.entry_func @f(%tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
}

// -----

// expected-error@+1 {{expects a non-empty block}}
triton_xla.entry_func @f(%tile: index) tiles 1 {
}

// -----

func.func @f() {
  // expected-error@+1 {{expects parent op 'builtin.module'}}
  triton_xla.entry_func @f(%tile: index) tiles 1 {
    triton_xla.return
  }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expects parent op 'triton_xla.entry_func'}}
  triton_xla.return
}

// -----

// extract

func.func @f(%a: memref<8x8xf32>) {
  // expected-error@+1 {{expected mixed offsets rank to match mixed sizes rank (1 vs 2)}}
  triton_xla.extract %a[0] [4, 4] [1, 1] : memref<8x8xf32> to tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: memref<8x8xf32>) {
  // expected-error@+1 {{expected mixed offsets rank to match mixed sizes rank (2 vs 1)}}
  triton_xla.extract %a[0, 0] [4] [1, 1] : memref<8x8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<8x8xf32>) {
  // expected-error@+1 {{expected mixed sizes rank to match mixed strides rank (2 vs 1)}}
  triton_xla.extract %a[0, 0] [4, 4] [1] : memref<8x8xf32> to tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: memref<8xf32>) {
  // expected-error@+1 {{expected offsets to be non-negative, but got -1}}
  triton_xla.extract %a[-1] [4] [1] : memref<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<8xf32>, %n: index) {
  // expected-error@+1 {{a size of the window is an SSA value; sizes must be constants, because a tile has a static shape}}
  triton_xla.extract %a[0] [%n] [1] : memref<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<8xf32>, %n: index) {
  // expected-error@+1 {{a stride of the window is an SSA value; strides must be constants}}
  triton_xla.extract %a[0] [4] [%n] : memref<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<8x8xf32>) {
  // expected-error@+1 {{size #1 of the window is 0; it must be at least 1}}
  triton_xla.extract %a[0, 0] [1, 0] [1, 1] : memref<8x8xf32> to tensor<1xf32>
  return
}

// -----

func.func @f(%a: memref<8x8xf32>) {
  // expected-error@+1 {{stride #0 of the window is 0; it must be at least 1}}
  triton_xla.extract %a[0, 0] [4, 4] [0, 1] : memref<8x8xf32> to tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: memref<8xf32>) {
  // expected-error@+1 {{stride #0 of the window is -2; it must be at least 1}}
  triton_xla.extract %a[0] [4] [-2] : memref<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<8xf32>) {
  // expected-error@+1 {{window of 4 elements with stride 4611686018427387904 in dimension #0 exceeds the 64-bit index range; use a smaller stride}}
  triton_xla.extract %a[0] [4] [4611686018427387904] : memref<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<8xf32>) {
  // expected-error@+1 {{tile and memref must have the same element type, but the tile has 'f16' and the memref 'f32'}}
  triton_xla.extract %a[0] [4] [1] : memref<8xf32> to tensor<4xf16>
  return
}

// -----

func.func @f(%a: memref<8x8xf32>) {
  // expected-error@+1 {{the tile is 'tensor<2x4xf32>', but the sizes of the window are [4, 4]; they must be equal, except that the tile may drop sizes of 1}}
  triton_xla.extract %a[0, 0] [4, 4] [1, 1] : memref<8x8xf32> to tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: memref<8x8xf32>) {
  // expected-error@+1 {{the tile is 'tensor<4xf32>', but the sizes of the window are [4, 2]; they must be equal, except that the tile may drop sizes of 1}}
  triton_xla.extract %a[0, 0] [4, 2] [1, 1] : memref<8x8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<8x8xf32>) {
  // expected-error@+1 {{the tile is 'tensor<4x1x1xf32>', but the sizes of the window are [4, 1]; they must be equal, except that the tile may drop sizes of 1}}
  triton_xla.extract %a[0, 0] [4, 1] [1, 1] : memref<8x8xf32> to tensor<4x1x1xf32>
  return
}

// -----

func.func @f(%a: memref<8xf32>) {
  // expected-error@+1 {{fill is of type 'f64', but tile elements are 'f32'; both must be equal}}
  triton_xla.extract %a[0] [4] [1] fill 1.0 : f64 : memref<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<8xf32>) {
  // expected-error@+1 {{fill must be a float or an integer constant, but is dense<1.000000e+00> : tensor<4xf32>}}
  triton_xla.extract %a[0] [4] [1] fill dense<1.0> : tensor<4xf32> : memref<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<8xcomplex<f32>>) {
  // expected-error@+1 {{result #0 must be tile (statically shaped tensor of floats, signless integers or index, no dimension of size 0, less than 2^31 elements, no encoding), but got 'tensor<4xcomplex<f32>>'}}
  triton_xla.extract %a[0] [4] [1] : memref<8xcomplex<f32>> to tensor<4xcomplex<f32>>
  return
}

// -----

func.func @f(%a: memref<8xf32>) {
  // expected-error@+1 {{result #0 must be tile (statically shaped tensor of floats, signless integers or index, no dimension of size 0, less than 2^31 elements, no encoding), but got 'tensor<?xf32>'}}
  triton_xla.extract %a[0] [4] [1] : memref<8xf32> to tensor<?xf32>
  return
}

// -----

func.func @f(%a: memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>) {
  // expected-error@+1 {{operand #0 must be strided memref of any type values}}
  triton_xla.extract %a[0] [4] [1] : memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>> to tensor<4xf32>
  return
}

// -----

// insert

func.func @f(%t: tensor<4xf32>, %a: memref<8x8xf32>) {
  // expected-error@+1 {{expected 2 offset values, got 1}}
  triton_xla.insert %t into %a[0] [4] [1] : tensor<4xf32> into memref<8x8xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %a: memref<8xf32>, %n: index) {
  // expected-error@+1 {{a size of the window is an SSA value; sizes must be constants, because a tile has a static shape}}
  triton_xla.insert %t into %a[0] [%n] [1] : tensor<4xf32> into memref<8xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %a: memref<8xf32>) {
  // expected-error@+1 {{stride #0 of the window is 0; it must be at least 1}}
  triton_xla.insert %t into %a[0] [4] [0] : tensor<4xf32> into memref<8xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %a: memref<8xf16>) {
  // expected-error@+1 {{tile and memref must have the same element type, but the tile has 'f32' and the memref 'f16'}}
  triton_xla.insert %t into %a[0] [4] [1] : tensor<4xf32> into memref<8xf16>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %a: memref<8xf32>) {
  // expected-error@+1 {{the tile is 'tensor<4xf32>', but the sizes of the window are [5]; they must be equal, except that the tile may drop sizes of 1}}
  triton_xla.insert %t into %a[0] [5] [1] : tensor<4xf32> into memref<8xf32>
  return
}

// -----

// mask

func.func @f(%t: tensor<4x8xf32>, %v: f32) {
  // expected-error@+1 {{has 1 bound, but the tile has 2 dimensions; one bound for each is required}}
  triton_xla.mask %t [2], %v : tensor<4x8xf32>
  return
}

// -----

func.func @f(%t: tensor<4x8xf32>, %v: f32) {
  // expected-error@+1 {{bound #1 is 9; it must be from 0 to 8, the size of the tile in this dimension}}
  triton_xla.mask %t [2, 9], %v : tensor<4x8xf32>
  return
}

// -----

func.func @f(%t: tensor<4x8xf32>, %v: f32) {
  // expected-error@+1 {{bound #0 is -1; it must be from 0 to 4, the size of the tile in this dimension}}
  triton_xla.mask %t [-1, 8], %v : tensor<4x8xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %v: f32, %n: index) {
  // expected-error@+1 {{static_bounds has 0 dynamic entries, but the op has 1 bound operand; one operand for each entry is required}}
  "triton_xla.mask"(%t, %n, %v) <{static_bounds = array<i64: 4>}> : (tensor<4xf32>, index, f32) -> tensor<4xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %v: f16) {
  // expected-error@+1 {{value has the element type of the tile}}
  "triton_xla.mask"(%t, %v) <{static_bounds = array<i64: 4>}> : (tensor<4xf32>, f16) -> tensor<4xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %v: f32) {
  // expected-error@+1 {{all of {tile, result} have same type}}
  "triton_xla.mask"(%t, %v) <{static_bounds = array<i64: 4>}> : (tensor<4xf32>, f32) -> tensor<5xf32>
  return
}

// -----

triton_xla.entry_func @huge_tile(%src: memref<4xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{less than 2^31 elements, no encoding), but got 'tensor<2147483648xf32>'}}
  %t = triton_xla.extract %src[%c0] [2147483648] [1] : memref<4xf32> to tensor<2147483648xf32>
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has llvm.align 3 : i64, which is not a power of two of at most 2^32}}
triton_xla.entry_func @alignment(%src: memref<4xf32> {llvm.align = 3 : i64}, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{the last 2 arguments must be the tile ids, of type index}}
triton_xla.entry_func @f(%n: i32, %tile: index) tiles [2, 3] {
  triton_xla.return
}

// -----

// expected-error@+1 {{the number of tiles has the constant -2; it must be positive}}
triton_xla.entry_func @f(%row: index, %tile: index) tiles [-2, -3] {
  triton_xla.return
}

// -----

// expected-error@+1 {{the constant factors of the number of tiles multiply to more than 9223372036854775807, the limit of a static grid; use fewer tiles}}
triton_xla.entry_func @f(%row: index, %tile: index) tiles [4294967296, 4294967296] {
  triton_xla.return
}

// -----

// expected-error@+1 {{num_tiles is 5; it must be 6, the number of tiles of the grid}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (index, index) -> (), num_tiles = 5 : i64, grid = array<i64: 2, 3>}> ({
^bb0(%row: index, %tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{grid has 1 dimension; it must have at least 2, or be omitted for one dimension}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (index) -> (), num_tiles = 5 : i64, grid = array<i64: 5>}> ({
^bb0(%tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

triton_xla.entry_func @f(%row: index, %tile: index) tiles [2, 3] {
  // expected-error@+1 {{dim is 2, but the grid has rank 2}}
  triton_xla.num_tiles dim 2
  triton_xla.return
}

// -----

// expected-error@+1 {{attribute 'num_tiles' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (index) -> (), num_tiles = 0 : i64}> ({
^bb0(%tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{the number of tiles has the constant -2; it must be positive}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (index, index) -> (), num_tiles = 6 : i64, grid = array<i64: -2, -3>}> ({
^bb0(%row: index, %tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{the number of tiles has the constant -2; it must be positive}}
triton_xla.entry_func @negative_factors(%tile: index) tiles -2 * -3 {
  triton_xla.return
}

// -----

// expected-error@+1 {{the number of tiles has the divisor 0; it must be positive}}
triton_xla.entry_func @zero_divisor(%m: memref<?xf32>, %tile: index) tiles size(%m, 0) ceildiv 0 {
  triton_xla.return
}

// -----

// expected-error@+1 {{the constant factors of the number of tiles multiply to more than 2147483647, the limit if the number of tiles also depends on arguments; use fewer tiles}}
triton_xla.entry_func @overflow(%m: memref<?xf32>, %row: index, %tile: index) tiles [size(%m, 0), 9223372036854775807 * 2] {
  triton_xla.return
}

// -----

// expected-error@+1 {{multiply to more than 2147483647}}
triton_xla.entry_func @too_many(%m: memref<?xf32>, %row: index, %tile: index) tiles [size(%m, 0) * 65536, 32768] {
  triton_xla.return
}

// -----

// expected-error@+1 {{the number of tiles uses the size of dimension 1 of argument #0, but 'memref<4xf32>' has rank 1 and dimensions are counted from 0}}
triton_xla.entry_func @size_rank(%m: memref<4xf32>, %tile: index) tiles size(%m, 1) {
  triton_xla.return
}

// -----

// expected-error@+1 {{the number of tiles uses argument #0 of type 'f32'; only scalar integers and sizes of memrefs, such as size(%memref, 0), are supported}}
triton_xla.entry_func @float_tiles(%n: f32, %tile: index) tiles %n {
  triton_xla.return
}

// -----

// expected-error@+1 {{has the attributes 'dynamic_grid' and 'grid'; only one is allowed}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (i32, index) -> (), num_tiles = 2147483647 : i64, grid = array<i64: 1, 1>, dynamic_grid = [array<i64: 0, -1, 1>]}> ({
^bb0(%n: i32, %tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{num_tiles is 5; it must be 2147483647, which marks a number of tiles that depends on arguments}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (i32, index) -> (), num_tiles = 5 : i64, dynamic_grid = [array<i64: 0, -1, 1>]}> ({
^bb0(%n: i32, %tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{dynamic_grid does not use an argument}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (index) -> (), num_tiles = 5 : i64, dynamic_grid = [array<i64: -1, -1, 5>]}> ({
^bb0(%tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{dynamic_grid must have an array<i64> for each dimension}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (index) -> (), num_tiles = 2147483647 : i64, dynamic_grid = [array<i64: 0, 1>]}> ({
^bb0(%tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{the number of tiles uses argument #1, which is a tile id; add the tile id}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (i32, index) -> (), num_tiles = 2147483647 : i64, dynamic_grid = [array<i64: 1, -1, 1>]}> ({
^bb0(%n: i32, %tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

func.func @f() {
  // expected-error@+1 {{must be inside a 'triton_xla.entry_func'}}
  triton_xla.num_tiles dim 0
  return
}

// -----

// expected-error@+1 {{argument #0 of type 'memref<?x?xf32>' has triton_xla.size_divisors = array<i64: 8>; the value must be an array<i64> with 2 positive divisors, one for each dimension}}
triton_xla.entry_func @divisors(%a: memref<?x?xf32> {triton_xla.size_divisors = array<i64: 8>}, %i: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #1 has triton_xla.max_bytes = 0 : i64; the value must be a positive i64, such as 4096 : i64}}
triton_xla.entry_func @bytes(%n: index, %a: memref<?xf32> {triton_xla.max_bytes = 0 : i64}, %i: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 of type 'index' has triton_xla.max_bytes = 16 : i64; only a memref can have this attribute, so remove it}}
triton_xla.entry_func @scalar(%n: index {triton_xla.max_bytes = 16 : i64}, %i: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has triton_xla.max_bytes = 15 : i64, but 'memref<4xf32>' has at least 16 bytes}}
triton_xla.entry_func @more_bytes(%a: memref<4xf32> {triton_xla.max_bytes = 15 : i64}, %i: index) tiles 1 {
  triton_xla.return
}

// -----

// The extent is (2 - 1) * 10 + (3 - 1) * 2 + 1 elements.
// expected-error@+1 {{has at least 30 bytes}}
triton_xla.entry_func @strided_bytes(%a: memref<2x3xf16, strided<[10, 2]>> {triton_xla.max_bytes = 29 : i64}, %i: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{has at least 4 bytes}}
triton_xla.entry_func @packed_bytes(%a: memref<?x7xi4> {triton_xla.max_bytes = 3 : i64}, %i: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has triton_xla.size_divisors = array<i64: 7, 3>, but the size of dimension 1 of 'memref<?x4xf32>' is 4, which is not a multiple of 3}}
triton_xla.entry_func @size_divisors(%a: memref<?x4xf32> {triton_xla.size_divisors = array<i64: 7, 3>}, %i: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{but the stride of dimension 1 of 'memref<4x4xf32, strided<[?, 2]>>' is 2, which is not a multiple of 4}}
triton_xla.entry_func @stride_divisors(%a: memref<4x4xf32, strided<[?, 2]>> {triton_xla.stride_divisors = array<i64: 8, 4>}, %i: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 of type 'f32' has "llvm.align", which is only allowed for a memref}}
triton_xla.entry_func @scalar_alignment(%f: f32 {llvm.align = 16 : i64}, %i: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 of type 'index' has "llvm.nonnull", which is only allowed for a memref}}
"triton_xla.entry_func"() <{sym_name = "f", function_type = (index, index) -> (), num_tiles = 1 : i64, arg_attrs = [{llvm.nonnull}, {}]}> ({
^bb0(%n: index, %tile: index):
  "triton_xla.return"() : () -> ()
}) : () -> ()

// -----

triton_xla.entry_func @two_hints(%x: memref<8xf32>, %tile: index) tiles 1 {
  // expected-error@+1 {{has both 'cache' and 'eviction'; only one of them is allowed}}
  %t = triton_xla.extract %x[0] [8] [1] cache cg eviction evict_first : memref<8xf32> to tensor<8xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @store_hint_of_a_load(%x: memref<8xf32>, %tile: index) tiles 1 {
  // expected-error@+1 {{cache is 'wt'; it must be 'ca' or 'cg' or 'cs' or 'cv'}}
  %t = triton_xla.extract %x[0] [8] [1] cache wt : memref<8xf32> to tensor<8xf32>
  triton_xla.return
}

// -----

triton_xla.entry_func @load_hint_of_a_store(%x: memref<8xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [8] [1] : memref<8xf32> to tensor<8xf32>
  // expected-error@+1 {{cache is 'ca'; it must be 'wb' or 'cg' or 'cs' or 'wt'}}
  triton_xla.insert %t into %x[0] [8] [1] cache ca : tensor<8xf32> into memref<8xf32>
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has llvm.align 1099511627776 : i64, which is not a power of two of at most 2^32}}
triton_xla.entry_func @huge_alignment(%src: memref<4xf32> {llvm.align = 1099511627776 : i64}, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{argument #0 has "llvm.byval"; only llvm.align, llvm.dereferenceable, llvm.noalias, llvm.nofree, llvm.nonnull, llvm.noundef, llvm.readonly, llvm.writeonly are allowed}}
triton_xla.entry_func @by_value(%src: memref<4xf32> {llvm.byval = i32}, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{has the unknown attribute 'triton_xla.size_divisor' of argument #1; known are 'triton_xla.size_divisors', 'triton_xla.stride_divisors' and 'triton_xla.max_bytes', as attributes of arguments}}
triton_xla.entry_func @misspelled(%n: i32, %src: memref<?xf32> {triton_xla.size_divisor = array<i64: 8>}, %tile: index) tiles 1 {
  triton_xla.return
}

// -----

// expected-error@+1 {{has the unknown attribute 'triton_xla.max_bytes'; known are}}
triton_xla.entry_func @on_function(%tile: index) tiles 1 attributes {triton_xla.max_bytes = 4 : i64} {
  triton_xla.return
}
