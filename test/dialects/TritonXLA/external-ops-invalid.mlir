// RUN: smalti-opt %s -split-input-file -verify-diagnostics

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{has 0 operands and 1 result; at least one of each is required}}
  %r = triton_xla.inline_asm nvidia "mov.u32 $0, 1;", "=f" () effects none : () -> f32
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{has an operand or result of type 'tensor<8xi1>'; its elements must be i8, i16, i32, i64, f16, bf16, f32 or f64}}
  %r = triton_xla.inline_asm nvidia "not.pred $0, $1;", "=r,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xi1>
  return
}

// -----

func.func @f(%m: memref<8xf32>) {
  // expected-error@+1 {{has an operand or result of type 'memref<8xf32>'; its elements must be}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f" (%m) effects none : (memref<8xf32>) -> f32
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{has an operand or result of type 'f32', and the first operand is of type 'tensor<8xf32>'; all must be tiles of one shape, or scalars}}
  %r = triton_xla.inline_asm nvidia "add.f32 $0, $1, $2;", "=f,f,f" (%t, %s) effects none : (tensor<8xf32>, f32) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{pack is 3; it must be 1, 2, 4, 8 or 16}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f" (%t) effects none pack 3 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{pack is -1; it must be}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f" (%t) effects none pack -1 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{has elements of 'i8', and a register has at least 16 bits; write 'pack 2' or 'pack 4'}}
  %r = triton_xla.inline_asm nvidia "mov.b16 $0, $1;", "=h,h" (%b) effects none : (tensor<8xi8>) -> tensor<8xi8>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint '{' is not supported; write '=r' for a result, 'r' for an operand and '~{name}' for a clobber}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,{" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint '' is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{is not supported; write '=r' for a result}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f\00,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint '=*f' is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=*f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint '%f' is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,%f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint '=f|r' is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f|r,f|r" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint '!i' is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f,!i" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint 'fr' of operand 0 is not supported for a register of 32 bits}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,fr" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraints '=f,~{memory},f' have a register after a clobber; write clobbers last}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,~{memory},f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraints 'f,=f' have a result after an operand; write results first}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "f,=f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraints '=f,f,f' have 1 result and 2 operands; the results need 1 register and the operands need 1 register, such as '=f,f'}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraints '=r,r' have 1 result and 1 operand; the results need 2 registers and the operands need 2 registers, such as '=r,=r,r,r'}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=r,r" (%h) effects none pack 4 : (tensor<8xf16>) -> tensor<8xf16>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint 'h' of result 0 is not supported for a register of 32 bits; use 'r' or 'f'}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=h,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint 'f' of operand 0 is not supported for a register of 16 bits; use 'h'}}
  %r = triton_xla.inline_asm nvidia "mov.b16 $0, $1;", "=h,f" (%h) effects none : (tensor<8xf16>) -> tensor<8xf16>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint 's' of operand 0 is not supported for a register of 32 bits; use 'v' (a VGPR)}}
  %r = triton_xla.inline_asm amd "v_mov_b32 $0, $1", "=v,s" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint '1' of operand 0 must be the number of a result that no other operand has}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,1" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the constraint '0' of operand 0 is a result with registers of 32 bits, and the operand has registers of 16 bits; both must have one size}}
  %r = triton_xla.inline_asm nvidia "cvt.f32.f16 $0, $1;", "=f,0" (%h) effects none : (tensor<8xf16>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly uses $9, but its registers are $0 to $1}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $9;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly uses $9, but}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, ${9};", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a '$' that is not followed by the number of a register; write '$$' for a dollar sign}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $x;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a '$' that is not followed}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, ${1:h};", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a '$' that is not followed}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $99999999999;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a '$' that is not followed}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1; $", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a '$' that is not followed}}
  %r = triton_xla.inline_asm nvidia "$(a$|b$)", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a '{' that is not closed}}
  %r = triton_xla.inline_asm nvidia "{ mov.b32 $0, $1;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a '}' without a '{' before it}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1; // {\0A}", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a '}' without a '{' before it}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1; } {", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a comment '/*' that does not end}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1; /* comment", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a comment '/*' that does not end}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1; /*/", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the assembly has a character that is not printable ASCII}}
  %r = triton_xla.inline_asm nvidia "mov.b32 \00 $0, $1;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{has effects on memory and a reference, which cannot have effects; remove the reference, or write 'effects none'}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f" (%t) effects read : (tensor<8xf32>) -> tensor<8xf32> reference {
  ^bb0(%e: f32):
    triton_xla.yield %e : f32
  }
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the arguments of the region must be ('f32'), but are ('f64')}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32> reference {
  ^bb0(%e: f64):
    triton_xla.yield %e : f64
  }
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %m: memref<8xf32>, %i: index) {
  // expected-note@+1 {{the region is part of this op}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32> reference {
  ^bb0(%e: f32):
    // expected-error@+1 {{'triton_xla.inline_asm' may have side effects; the region of 'triton_xla.inline_asm' requires scalar ops without side effects}}
    %q = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f" (%e) effects read : (f32) -> f32
    triton_xla.yield %q : f32
  }
  return
}

// -----

triton_xla.entry_func @f(%x: memref<8xf32>, %s: f32, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [8] [1] : memref<8xf32> to tensor<8xf32>
  %r = triton_xla.reduce %t dims [0] init %s : (tensor<8xf32>, f32) -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    // expected-error@+1 {{is in the region of 'triton_xla.reduce', which cannot have external code; apply it to the whole tile before or after 'triton_xla.reduce'}}
    %q = triton_xla.extern_call nvidia "__nv_fmaxf"(%a, %b) effects none : (f32, f32) -> f32
    triton_xla.yield %q : f32
  }
  triton_xla.return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the function name 'a b' is not an assembler symbol; use letters, digits, '_' and '$', and do not start with a digit}}
  %r = triton_xla.extern_call nvidia "a b" library "x.ll"(%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the function name '' is not an assembler symbol}}
  %r = triton_xla.extern_call nvidia "" library "x.ll"(%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{takes '__nv_sqrtf' from a library, but the name is of the device library; rename the function, or remove 'library'}}
  %r = triton_xla.extern_call nvidia "__nv_sqrtf" library "x.ll"(%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{takes '__ocml_sqrt_f32' from a library, but the name is of the device library}}
  %r = triton_xla.extern_call nvidia "__ocml_sqrt_f32" library "x.ll"(%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{takes 'vprintf' from a library}}
  %r = triton_xla.extern_call nvidia "vprintf" library "x.ll"(%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{the library must be the path of a file}}
  %r = triton_xla.extern_call nvidia "f" library ""(%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{calls 'f', which is not of the device library of NVIDIA, whose names begin with '__nv_'; state the file that defines it with 'library'}}
  %r = triton_xla.extern_call nvidia "f"(%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %h: tensor<8xf16>, %b: tensor<8xi8>, %s: f32) {
  // expected-error@+1 {{calls '__nv_sqrtf', which is not of the device library of AMD, whose names begin with '__ocml_' or '__ockl_'}}
  %r = triton_xla.extern_call amd "__nv_sqrtf"(%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the directive '.section .data'; only instructions are supported}}
  %r = triton_xla.inline_asm amd "v_mov_b32 $0, $1\0A .section .data", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the constraint '^' is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,^" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the constraint '@' is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,@" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the constraint '~{' is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,~{" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the constraint '~{a b}' is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f,~{a b}" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the constraint '99999999999999999999999' of operand 0 is not supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,99999999999999999999999" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the constraint '0' of operand 1 must be the number of a result that no other operand has}}
  %r = triton_xla.inline_asm nvidia "add.f32 $0, $1, $2;", "=f,0,0" (%t, %t) effects none : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the directive '.incbin ""'; only instructions are supported}}
  %r = triton_xla.inline_asm amd "/**/ .incbin \22FILE\22\0Av_mov_b32 $0, $1", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the label 'a', which would be defined again by each execution; write the code without branches, as with v_cndmask_b32}}
  %r = triton_xla.inline_asm amd "a: .long 0\0Av_mov_b32 $0, $1", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the label '1'}}
  %r = triton_xla.inline_asm amd "s_branch 1f\0A1: v_mov_b32 $0, $1", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{which is not an instruction; only instructions are supported}}
  %r = triton_xla.inline_asm amd "\22a\22: v_mov_b32 $0, $1", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the statement 'a = 1', which is not an instruction}}
  %r = triton_xla.inline_asm amd "a = 1\0Av_mov_b32 $0, $1", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the character # outside of comments, which is not supported; remove it}}
  %r = triton_xla.inline_asm amd "# 1 /*\0A.incbin \22FILE\22 // */", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the character '}}
  %r = triton_xla.inline_asm amd "v_mov_b32 $0, '/*'\0A.incbin", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has a string that does not end}}
  %r = triton_xla.inline_asm amd "v_mov_b32 $0, $1 \22/*", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the directive '.file'; only instructions and the directives of functions, such as '.reg', are supported}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1; .file 1 \22FILE\22", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the directive '.include'}}
  %r = triton_xla.inline_asm nvidia "{ /**/ .include \22FILE\22; }", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the character # outside of comments}}
  %r = triton_xla.inline_asm nvidia "#include \22FILE\22", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the label 'a' outside of braces, which would be defined again by each execution; write '{' before it and '}' at the end}}
  %r = triton_xla.inline_asm nvidia "bra a; a: mov.b32 $0, $1;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the label '$b' outside of braces}}
  %r = triton_xla.inline_asm nvidia "{ a: } $$b: mov.b32 $0, $1;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has a declaration with '.reg' outside of braces}}
  %r = triton_xla.inline_asm nvidia ".reg .b32 a; mov.b32 $0, $1;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the clobber '~{nonsense}' is not supported; use '~{memory}'}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1;", "=f,f,~{nonsense}" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the clobber '~{v256}' is not supported; use '~{memory}' or a register, such as '~{vcc}' or '~{v[0:1]}'}}
  %r = triton_xla.inline_asm amd "v_mov_b32 $0, $1", "=v,v,~{v256}" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the clobber '~{v[3:2]}' is not supported}}
  %r = triton_xla.inline_asm amd "v_mov_b32 $0, $1", "=v,v,~{v[3:2]}" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the constraints '=v' have 1 result and 0 operands; the results need 1 register and the operands need 1 register, such as '=v,v'}}
  %r = triton_xla.inline_asm amd "v_mov_b32 $0, $1", "=v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has '%0', which is not a register; write '$0': results and operands are numbered from $0}}
  %r = triton_xla.inline_asm nvidia "mov.b32 %0, %1;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has '%1', which is not a register; write '$1'}}
  %r = triton_xla.inline_asm amd "v_mov_b32 $0, %1", "=v,v" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the statement 'add.f32 $0, $1, 1.0' without a ';' after it; write the ';'}}
  %r = triton_xla.inline_asm nvidia "mov.b32 $0, $1; add.f32 ${0}, $1, 1.0 // end;", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{the assembly has the statement 'mov.b64 $0, {a, b}' without a ';' after it}}
  %r = triton_xla.inline_asm nvidia "{ .reg .b32 a, b; end: mov.b64 $0, {a, b} }", "=f,f" (%t) effects none : (tensor<8xf32>) -> tensor<8xf32>
  return
}
