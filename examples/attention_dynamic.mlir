// Attention forward with online softmax: 64 queries per tile, and a loop over 64 keys at a time. The numbers
// of queries and keys are those of the arrays. Keys past the end are masked.
// Arguments: 0=200x64 1=150x64 2=150x64 3=200x64

triton_xla.entry_func @attention(%q: memref<?x64xf16>, %k: memref<?x64xf16>, %v: memref<?x64xf16>, %o: memref<?x64xf32>, %tile: index)
    tiles size(%q, 0) ceildiv 64 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %keys = memref.dim %k, %c0 : memref<?x64xf16>
  %row = arith.muli %tile, %c64 : index
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %z64 = arith.constant dense<0.0> : tensor<64x64xf32>
  %m0 = arith.constant dense<-1.0e30> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %scale = arith.constant dense<0.125> : tensor<64x64xf32>
  %qt = triton_xla.extract %q[%row, 0] [64, 64] [1, 1] : memref<?x64xf16> to tensor<64x64xf16>
  %acc, %mx, %ls = scf.for %j = %c0 to %keys step %c64 iter_args(%a = %z64, %m = %m0, %l = %l0) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %kt = triton_xla.extract %k[%j, 0] [64, 64] [1, 1] : memref<?x64xf16> to tensor<64x64xf16>
    %kT = triton_xla.transpose %kt [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %s0 = triton_xla.dot %qt, %kT, %z64 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %s1 = arith.mulf %s0, %scale : tensor<64x64xf32>
    %left = arith.subi %keys, %j : index
    %s = triton_xla.mask %s1 [64, %left], %ninf : tensor<64x64xf32>
    %mr = triton_xla.reduce %s dims [1] init %ninf : (tensor<64x64xf32>, f32) -> tensor<64xf32> {
    ^bb0(%x: f32, %y: f32):
      %r = arith.maximumf %x, %y : f32
      triton_xla.yield %r : f32
    }
    %mn = arith.maximumf %m, %mr : tensor<64xf32>
    %mb = triton_xla.broadcast %mn dims [0] : tensor<64xf32> -> tensor<64x64xf32>
    %d = arith.subf %s, %mb : tensor<64x64xf32>
    %p = math.exp %d : tensor<64x64xf32>
    %cd = arith.subf %m, %mn : tensor<64xf32>
    %cor = math.exp %cd : tensor<64xf32>
    %ps = triton_xla.reduce %p dims [1] init %zero : (tensor<64x64xf32>, f32) -> tensor<64xf32> {
    ^bb0(%x: f32, %y: f32):
      %r = arith.addf %x, %y : f32
      triton_xla.yield %r : f32
    }
    %lc = arith.mulf %l, %cor : tensor<64xf32>
    %ln = arith.addf %lc, %ps : tensor<64xf32>
    %cb = triton_xla.broadcast %cor dims [0] : tensor<64xf32> -> tensor<64x64xf32>
    %ac = arith.mulf %a, %cb : tensor<64x64xf32>
    %ph = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %vt = triton_xla.extract %v[%j, 0] [64, 64] [1, 1] : memref<?x64xf16> to tensor<64x64xf16>
    %an = triton_xla.dot %ph, %vt, %ac : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %an, %mn, %ln : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  %lb = triton_xla.broadcast %ls dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %res = arith.divf %acc, %lb : tensor<64x64xf32>
  triton_xla.insert %res into %o[%row, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x64xf32>
  triton_xla.return
}
