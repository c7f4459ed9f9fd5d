// Causal attention of 1000 tokens of one head of 64, f16 in and out, f32 in between, with the online softmax. A block
// computes 128 rows, 64 keys at a time. Keys before the first row of the tile need no mask. For the others, key j counts
// for row i if j <= i; the keys past the last token are read as zeros and never count.
// Approximate functions and contraction are allowed, as in Triton.

triton_xla.entry_func @attention(
    %q: memref<1000x64xf16>, %k: memref<1000x64xf16>, %v: memref<1000x64xf16>, %o: memref<1000x64xf16>, %tile: index)
    tiles 8 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // log2(e) / sqrt(64): exponentials are of base 2.
  %scale = arith.constant dense<0.18033688> : tensor<128x64xf32>
  %lows = arith.constant dense<0xFF800000> : tensor<128x64xf32>
  %no_scores = arith.constant dense<0.0> : tensor<128x64xf32>
  %first_top = arith.constant dense<0xFF800000> : tensor<128xf32>
  %first_total = arith.constant dense<0.0> : tensor<128xf32>
  %first = arith.muli %tile, %c128 : index
  %past = arith.addi %first, %c128 : index
  %end = arith.minui %past, %c1000 : index
  %queries = triton_xla.extract %q[%first, 0] [128, 64] [1, 1] : memref<1000x64xf16> to tensor<128x64xf16>
  %top_1, %total_1, %out_1 = scf.for %key = %c0 to %first step %c64
      iter_args(%top = %first_top, %total = %first_total, %out = %no_scores)
      -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %k_tile = triton_xla.extract %k[%key, 0] [64, 64] [1, 1] : memref<1000x64xf16> to tensor<64x64xf16>
    %v_tile = triton_xla.extract %v[%key, 0] [64, 64] [1, 1] : memref<1000x64xf16> to tensor<64x64xf16>
    %k_columns = triton_xla.transpose %k_tile [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %dots = triton_xla.dot %queries, %k_columns, %no_scores
        : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    %scores = arith.mulf %dots, %scale fastmath<contract> : tensor<128x64xf32>
    %row_top = triton_xla.reduce %scores dims [1] init %low : (tensor<128x64xf32>, f32) -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %b : f32
      triton_xla.yield %m : f32
    }
    %new_top = arith.maxnumf %top, %row_top : tensor<128xf32>
    %new_tops = triton_xla.broadcast %new_top dims [0] : tensor<128xf32> -> tensor<128x64xf32>
    %shifted = arith.subf %scores, %new_tops fastmath<contract> : tensor<128x64xf32>
    %p = math.exp2 %shifted fastmath<afn> : tensor<128x64xf32>
    %fell = arith.subf %top, %new_top fastmath<contract> : tensor<128xf32>
    %old = math.exp2 %fell fastmath<afn> : tensor<128xf32>
    %row_sum = triton_xla.reduce %p dims [1] init %zero : (tensor<128x64xf32>, f32) -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b fastmath<contract> : f32
      triton_xla.yield %s : f32
    }
    %kept = arith.mulf %total, %old fastmath<contract> : tensor<128xf32>
    %new_total = arith.addf %kept, %row_sum fastmath<contract> : tensor<128xf32>
    %olds = triton_xla.broadcast %old dims [0] : tensor<128xf32> -> tensor<128x64xf32>
    %kept_out = arith.mulf %out, %olds fastmath<contract> : tensor<128x64xf32>
    %p_half = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xf16>
    %new_out = triton_xla.dot %p_half, %v_tile, %kept_out
        : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %new_top, %new_total, %new_out : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  %top_2, %total_2, %out_2 = scf.for %key = %first to %end step %c64
      iter_args(%top = %top_1, %total = %total_1, %out = %out_1)
      -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %k_tile = triton_xla.extract %k[%key, 0] [64, 64] [1, 1] : memref<1000x64xf16> to tensor<64x64xf16>
    %v_tile = triton_xla.extract %v[%key, 0] [64, 64] [1, 1] : memref<1000x64xf16> to tensor<64x64xf16>
    %k_columns = triton_xla.transpose %k_tile [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %dots = triton_xla.dot %queries, %k_columns, %no_scores
        : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    %scaled = arith.mulf %dots, %scale fastmath<contract> : tensor<128x64xf32>
    %row_index = triton_xla.iota dim 0 : tensor<128x64xi32>
    %column_index = triton_xla.iota dim 1 : tensor<128x64xi32>
    %offset = arith.subi %key, %first : index
    %offset_32 = arith.index_cast %offset : index to i32
    %offsets = tensor.splat %offset_32 : tensor<128x64xi32>
    %key_index = arith.addi %column_index, %offsets : tensor<128x64xi32>
    %counts = arith.cmpi sle, %key_index, %row_index : tensor<128x64xi32>
    %scores = arith.select %counts, %scaled, %lows : tensor<128x64xi1>, tensor<128x64xf32>
    %row_top = triton_xla.reduce %scores dims [1] init %low : (tensor<128x64xf32>, f32) -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %b : f32
      triton_xla.yield %m : f32
    }
    %new_top = arith.maxnumf %top, %row_top : tensor<128xf32>
    %new_tops = triton_xla.broadcast %new_top dims [0] : tensor<128xf32> -> tensor<128x64xf32>
    %shifted = arith.subf %scores, %new_tops fastmath<contract> : tensor<128x64xf32>
    %p = math.exp2 %shifted fastmath<afn> : tensor<128x64xf32>
    %fell = arith.subf %top, %new_top fastmath<contract> : tensor<128xf32>
    %old = math.exp2 %fell fastmath<afn> : tensor<128xf32>
    %row_sum = triton_xla.reduce %p dims [1] init %zero : (tensor<128x64xf32>, f32) -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b fastmath<contract> : f32
      triton_xla.yield %s : f32
    }
    %kept = arith.mulf %total, %old fastmath<contract> : tensor<128xf32>
    %new_total = arith.addf %kept, %row_sum fastmath<contract> : tensor<128xf32>
    %olds = triton_xla.broadcast %old dims [0] : tensor<128xf32> -> tensor<128x64xf32>
    %kept_out = arith.mulf %out, %olds fastmath<contract> : tensor<128x64xf32>
    %p_half = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xf16>
    %new_out = triton_xla.dot %p_half, %v_tile, %kept_out
        : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %new_top, %new_total, %new_out : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  %totals = triton_xla.broadcast %total_2 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %quotient = arith.divf %out_2, %totals fastmath<arcp,afn> : tensor<128x64xf32>
  %result = arith.truncf %quotient : tensor<128x64xf32> to tensor<128x64xf16>
  triton_xla.insert %result into %o[%first, 0] [128, 64] [1, 1] : tensor<128x64xf16> into memref<1000x64xf16>
  triton_xla.return
}
