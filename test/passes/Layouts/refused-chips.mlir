// Unsupported targets and numbers of warps.
// RUN: smalti-opt %s -split-input-file -verify-diagnostics --mosaic-gpu-infer-layouts=warps=64

// expected-error@+1 {{'builtin.module' op attribute 'mosaic_gpu.arch_major' must be an integer of at most 32 bits, but is "9"}}
module attributes {mosaic_gpu.arch_major = "9", mosaic_gpu.arch_minor = 0 : i32} {
}

// -----

// expected-error@+1 {{'builtin.module' op option 'warps' is 64; it must be from 1 to 32 on }}
module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
}

// -----

// expected-error@+1 {{'builtin.module' op option 'warps' is 64; it must be from 1 to 16 on }}
module attributes {smalti.target = "gfx942"} {
}

// -----

// expected-error@+1 {{'builtin.module' op is compiled for cpu, which is not a GPU; layouts require a GPU target}}
module attributes {smalti.target = "cpu"} {
}
