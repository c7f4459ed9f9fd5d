// Attention backward: a tile has 64 keys and values, and a loop goes over 32 queries at a time. `lse` has the logarithm of the
// sum of the exponentials of each query, which attention forward computes, and `delta` the sum of `o * do` of each query. The
// tiles add to the gradient of the queries atomically: `dq` must start as zero. Keys and queries past the end are masked.
// Arguments: 0=200x64 1=150x64 2=150x64 3=200x64 4=200 5=200 6=200x64 7=150x64 8=150x64

triton_xla.entry_func @attention_backward(
    %q: memref<?x64xf16>, %k: memref<?x64xf16>, %v: memref<?x64xf16>, %do: memref<?x64xf16>,
    %lse: memref<?xf32>, %delta: memref<?xf32>,
    %dq: memref<?x64xf32>, %dk: memref<?x64xf32>, %dv: memref<?x64xf32>, %tile: index)
    tiles size(%k, 0) ceildiv 64 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %num_keys = memref.dim %k, %c0 : memref<?x64xf16>
  %num_queries = memref.dim %q, %c0 : memref<?x64xf16>
  %zero = arith.constant 0.0 : f32
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<32x64xf32>
  %scale = arith.constant dense<0.125> : tensor<32x64xf32>
  %first = arith.muli %tile, %c64 : index
  %keys = arith.subi %num_keys, %first : index
  %kt = triton_xla.extract %k[%first, 0] [64, 64] [1, 1] : memref<?x64xf16> to tensor<64x64xf16>
  %vt = triton_xla.extract %v[%first, 0] [64, 64] [1, 1] : memref<?x64xf16> to tensor<64x64xf16>
  %kT = triton_xla.transpose %kt [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %vT = triton_xla.transpose %vt [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %y = triton_xla.iota dim 0 : tensor<32x64xindex>
  %x = triton_xla.iota dim 1 : tensor<32x64xindex>
  %dkt, %dvt = scf.for %i = %c0 to %num_queries step %c32 iter_args(%dk0 = %z, %dv0 = %z) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %qt = triton_xla.extract %q[%i, 0] [32, 64] [1, 1] : memref<?x64xf16> to tensor<32x64xf16>
    %dot = triton_xla.extract %do[%i, 0] [32, 64] [1, 1] : memref<?x64xf16> to tensor<32x64xf16>
    %l = triton_xla.extract %lse[%i] [32] [1] : memref<?xf32> to tensor<32xf32>
    %d = triton_xla.extract %delta[%i] [32] [1] : memref<?xf32> to tensor<32xf32>
    %lb = triton_xla.broadcast %l dims [0] : tensor<32xf32> -> tensor<32x64xf32>
    %db = triton_xla.broadcast %d dims [0] : tensor<32xf32> -> tensor<32x64xf32>

    // p = softmax(q k^T); dv += p^T do
    %s0 = triton_xla.dot %qt, %kT, %none : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
    %s1 = arith.mulf %s0, %scale : tensor<32x64xf32>
    %s = arith.subf %s1, %lb : tensor<32x64xf32>
    %e = math.exp %s : tensor<32x64xf32>
    %queries = arith.subi %num_queries, %i : index
    %p = triton_xla.mask %e [%queries, %keys], %zero : tensor<32x64xf32>
    %ph = arith.truncf %p : tensor<32x64xf32> to tensor<32x64xf16>
    %pT = triton_xla.transpose %ph [1, 0] : tensor<32x64xf16> -> tensor<64x32xf16>
    %dv1 = triton_xla.dot %pT, %dot, %dv0 : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>

    // ds = p * (do v^T - delta); dk += ds^T q; dq += ds k
    %dp0 = triton_xla.dot %dot, %vT, %none : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
    %dp = arith.subf %dp0, %db : tensor<32x64xf32>
    %ds0 = arith.mulf %p, %dp : tensor<32x64xf32>
    %ds1 = arith.mulf %ds0, %scale : tensor<32x64xf32>
    %ds = arith.truncf %ds1 : tensor<32x64xf32> to tensor<32x64xf16>
    %dsT = triton_xla.transpose %ds [1, 0] : tensor<32x64xf16> -> tensor<64x32xf16>
    %dk1 = triton_xla.dot %dsT, %qt, %dk0 : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    %dqt = triton_xla.dot %ds, %kt, %none : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
    %start = tensor.splat %i : tensor<32x64xindex>
    %row = arith.addi %y, %start : tensor<32x64xindex>
    %old = triton_xla.atomic_rmw addf %dqt into %dq[%row, %x]
        : tensor<32x64xf32> into memref<?x64xf32>, tensor<32x64xindex>, tensor<32x64xindex>
    scf.yield %dk1, %dv1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  triton_xla.insert %dkt into %dk[%first, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x64xf32>
  triton_xla.insert %dvt into %dv[%first, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x64xf32>
  triton_xla.return
}
