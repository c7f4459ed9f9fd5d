// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{keep=split,reshape}))' \
// RUN:   --verify-diagnostics

// expected-error@+1 {{smalti-expand-tile-ops: option 'keep' has 'reshape', which is not an op that this pass expands; use one of squeeze_dims, split, sort, random_bits, dot_scaled, sparse_dot, dot, ipowi}}
triton_xla.entry_func @nothing(%tile: index) tiles 1 {
  triton_xla.return
}
