// Chips and numbers of warps without layouts.
// RUN: smalti-opt %s -split-input-file -verify-diagnostics --mosaic-gpu-infer-layouts=warps=64

// expected-error@+1 {{'builtin.module' op attribute 'mosaic_gpu.arch_major' must be a number of 32 bits, got "9"}}
module attributes {mosaic_gpu.arch_major = "9", mosaic_gpu.arch_minor = 0 : i32} {
}

// -----

// expected-error@+1 {{'builtin.module' op cannot be given layouts: option 'warps' must be from 1 to 32, got 64}}
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
}

// -----

// expected-error@+1 {{'builtin.module' op cannot be given layouts: option 'warps' must be from 1 to 16, got 64}}
module attributes {smalti.target = "gfx942"} {
}

// -----

// expected-error@+1 {{'builtin.module' op cannot be given layouts: the target is no GPU}}
module attributes {smalti.target = "cpu"} {
}
