// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @primitive_arguments(%x: f32) {
  // expected-error @+1 {{the region has 0 arguments; it must have 1, one for each operand}}
  "mosaic_gpu.custom_primitive"(%x) <{in_layouts = [], in_transforms = [], out_layouts = []}> ({
    mosaic_gpu.return
  }) : (f32) -> ()
  return
}

// -----

func.func @primitive_argument_type(%x: f32) {
  // expected-error @+1 {{argument 0 of the region must be 'f32', the type of operand 0, but is 'i32'}}
  "mosaic_gpu.custom_primitive"(%x) <{in_layouts = [], in_transforms = [], out_layouts = []}> ({
  ^bb0(%y: i32):
    mosaic_gpu.return
  }) : (f32) -> ()
  return
}

// -----

func.func @primitive_layouts(%v: vector<128xf32>) {
  // expected-error @+1 {{'in_layouts' has 0 entries for 1 vector operand}}
  mosaic_gpu.custom_primitive (%x = %v : vector<128xf32>) {
    mosaic_gpu.return
  } {in_layouts = [], in_transforms = [], out_layouts = []}
  return
}

// -----

func.func @primitive_transforms(%s: memref<128xf32, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'in_transforms' has 1 entry for 2 shared-memory operands}}
  mosaic_gpu.custom_primitive (%x = %s : memref<128xf32, #gpu.address_space<workgroup>>, %y = %b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
    mosaic_gpu.return
  } {in_layouts = [], in_transforms = [[]], out_layouts = []}
  return
}

// -----

func.func @primitive_out_layouts() {
  // expected-error @+1 {{'out_layouts' has 0 entries for 1 vector result}}
  %0 = mosaic_gpu.custom_primitive () {
    %c = arith.constant dense<0.0> : vector<8xf32>
    mosaic_gpu.return %c : vector<8xf32>
  } {in_layouts = [], in_transforms = [], out_layouts = []} -> vector<8xf32>
  return
}

// -----

func.func @primitive_result(%s: memref<8xf32>) {
  // expected-error @+1 {{results must be scalars or vectors, but found 'memref<8xf32>'}}
  %0 = mosaic_gpu.custom_primitive (%x = %s : memref<8xf32>) {
    mosaic_gpu.return %x : memref<8xf32>
  } {in_layouts = [], in_transforms = [], out_layouts = []} -> memref<8xf32>
  return
}

// -----

func.func @primitive_end() {
  // expected-error @+1 {{the body must end with 'mosaic_gpu.return'}}
  mosaic_gpu.custom_primitive () {
    llvm.unreachable
  } {in_layouts = [], in_transforms = [], out_layouts = []}
  return
}

// -----

func.func @return_count() {
  %0 = mosaic_gpu.custom_primitive () {
    // expected-error @+1 {{returns 0 values, but 'mosaic_gpu.custom_primitive' requires 1, one for each result}}
    mosaic_gpu.return
  } {in_layouts = [], in_transforms = [], out_layouts = []} -> i32
  return
}

// -----

func.func @return_type(%x: f32) {
  %0 = mosaic_gpu.custom_primitive (%y = %x : f32) {
    // expected-error @+1 {{must return 'i32' as result 0 of 'mosaic_gpu.custom_primitive', but returns 'f32'}}
    mosaic_gpu.return %y : f32
  } {in_layouts = [], in_transforms = [], out_layouts = []} -> i32
  return
}

// -----

func.func @return_alone() {
  // expected-error @+1 {{expects parent op to be one of 'mosaic_gpu.custom_primitive, mosaic_gpu.reduce, mosaic_gpu.scan'}}
  mosaic_gpu.return
}

// -----

func.func @map_vector(%v: vector<8xf32>) {
  // expected-error @+1 {{operands must be scalars or memrefs, but found 'vector<8xf32>'}}
  mosaic_gpu.warp_map (%x = %v : vector<8xf32>) {
  }
  return
}

// -----

func.func @map_arguments(%x: i32) {
  // expected-error @+1 {{the region has 2 arguments; it must have 1, one for each operand}}
  "mosaic_gpu.warp_map"(%x) ({
  ^bb0(%y: i32, %z: i32):
  }) : (i32) -> ()
  return
}

// -----

func.func @map_outside(%x: i32) {
  // expected-note @+1 {{required by region isolation constraints}}
  mosaic_gpu.warp_map () {
    // expected-error @+1 {{using value defined outside the region}}
    %0 = arith.addi %x, %x : i32
  }
  return
}

// -----

func.func @map_blocks() {
  // expected-error @+1 {{region #0 ('region') failed to verify constraint: region with 1 blocks}}
  "mosaic_gpu.warp_map"() ({
  }) : () -> ()
  return
}

// -----

func.func @print_layout_space(%m: memref<8xf32>) {
  // expected-error @+1 {{a memref must be in the address space workgroup or in tensor memory (#mosaic_gpu.tmem), but found 'memref<8xf32>'}}
  mosaic_gpu.print_layout "{}", %m : memref<8xf32>
  return
}

// -----

func.func @print_memory(%n: index, %m: memref<4xf32>) {
  // expected-error @+1 {{operand #1 must be vector or scalar of signless integers, index or floats}}
  mosaic_gpu.print_tile %n, "x", %m : memref<4xf32>
  return
}

// -----

func.func @print_text(%n: index) {
  // expected-error @+1 {{attribute 'text' failed to satisfy constraint: string attribute whose value is UTF-8 without the byte 0}}
  mosaic_gpu.print_tile %n, "a\00b"
  return
}

// -----

func.func @print_value(%m: f32) {
  // expected-error @+1 {{invalid kind of type specified: expected builtin.vector, but found 'f32'}}
  mosaic_gpu.debug_print "{}", %m : f32
  return
}
