//===- Mma.td - Matmul ops ---------------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_MMA
#define SMALTI_DIALECTS_MOSAICGPU_OPS_MMA

include "smalti/dialects/MosaicGPU/Ops/Base.td"

def MosaicGPU_MMAOp : MosaicGPU_Op<"mma", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Matmul of block-level vectors in registers, added to an accumulator";
  let description = [{
    `result[M x N] = accumulator[M x N] + a[M x K] * b[K x N]`. The operands have
    one element type. f16, bf16, f32 and 8-bit floats accumulate in f32, f16 also in f16, f64 in f64, and i8 and i4 in
    i32. Two 8-bit floats of one family (OCP or FNUZ) may be mixed. `allow_tf32` permits rounding of f32 operands to TF32 before the
    multiplication; without it, they are not rounded. i8 operands are signed, or unsigned with `unsigned_a` and
    `unsigned_b`.

    The layouts are the fragments of an MMA instruction, distributed across the
    warps of the block. If the module states its compute capability, an error
    reports element types that no instruction of the target supports.

    Example:

    ```mlir
    func.func @matmul(%c: vector<64x128xf32>, %a: vector<64x16xf16>, %b: vector<16x128xf16>) -> vector<64x128xf32> {
      %r = mosaic_gpu.mma accumulator(%c : vector<64x128xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x128xf16>)
          -> vector<64x128xf32>
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let arguments = (ins AnyFixedVectorOfNonZeroRank:$accumulator, AnyFixedVectorOfNonZeroRank:$a,
                       AnyFixedVectorOfNonZeroRank:$b, UnitAttr:$allow_tf32,
                       UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let results = (outs AnyFixedVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    `accumulator` `(` $accumulator `:` type($accumulator) `)` `a` `(` $a `:` type($a) `)`
    `b` `(` $b `:` type($b) `)` attr-dict `->` type($result)
  }];
}

def MosaicGPU_WGMMAElement : AnyTypeOf<[F16, BF16, TF32, F32, F8E4M3FN, F8E5M2, I8]>;

def MosaicGPU_WGMMAOp : MosaicGPU_Op<"wgmma", [MosaicGPU_Asynchronous, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Starts an asynchronous warpgroup matmul with operands in shared memory (wgmma)";
  let description = [{
    `result[M x N] = accumulator[M x N] + a[M x K] * b[K x N]`. The shapes are multiples of the shapes of the
    instruction, and M is a multiple of 64. `b` is in shared memory, and `a` is in shared memory or in registers. They
    have one element type, or two 8-bit floats. i8 accumulates in i32. f16 and 8-bit floats accumulate in f32 or f16.
    bf16, tf32 and f32 accumulate in f32. i8 operands are signed, or unsigned with `unsigned_a` and `unsigned_b`.

    The matmul is asynchronous. The accumulator is available, and `a` and `b` may be written again, after a wait for
    its wgmma-group. A fence must order earlier writes to the operands in shared memory before the op.

    Example:

    ```mlir
    func.func @matmul(%c: vector<64x128xf32>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>,
                       %b: memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32> {
      %r = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>)
          a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>)
          b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[2], [F16, F32, I32]>:$accumulator,
                       AnyTypeOf<[MemRefRankOf<[MosaicGPU_WGMMAElement], [2]>,
                                  VectorOfRankAndType<[2], [MosaicGPU_WGMMAElement]>]>:$a,
                       MemRefRankOf<[MosaicGPU_WGMMAElement], [2]>:$b,
                       UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let results = (outs VectorOfRankAndType<[2], [F16, F32, I32]>:$result);
  let assemblyFormat = [{
    `accumulator` `(` $accumulator `:` type($accumulator) `)` `a` `(` $a `:` type($a) `)`
    `b` `(` $b `:` type($b) `)` attr-dict `->` type($result)
  }];
}

def MosaicGPU_TcGen05Element
    : AnyTypeOf<[F16, BF16, TF32, F32, F8E4M3FN, F8E5M2, F6E2M3FN, F6E3M2FN, F4E2M1FN, I8,
                 MosaicGPU_B6x16P32, MosaicGPU_P2B6]>;
def MosaicGPU_ScaleRef : MemRefRankOf<[F8E8M0FNU, F8E4M3FN], [2]>;

def MosaicGPU_TcGen05MMAOp : MosaicGPU_Op<"tcgen05_mma", [AttrSizedOperandSegments, MosaicGPU_Asynchronous]> {
  let summary = "Starts an asynchronous matmul into tensor memory (tcgen05.mma)";
  let description = [{
    `accumulator[M x N] = a[M x K] * b[K x N]`, plus the previous value of the accumulator if `accumulate` is true. The
    shapes are multiples of the shapes of the instruction, and M is a multiple of 32. The accumulator is in tensor
    memory, `b` is in shared memory, and `a` is in either. `a` and `b` have one element type, or two 8-bit floats.

    `a_scale` and `b_scale` are scales of blocks of `a` and `b` in tensor memory; only one of them is an error. With
    `a_sparse_metadata`, `a` holds two of every four elements along K, and K of `b` is twice K of `a`. The metadata is
    in tensor memory and has the shape of `a`. With `collective` (default false), two blocks compute the matmul
    together. Each block holds half of the columns of `b`, so the accumulator has twice as many columns as `b`.

    The matmul is asynchronous; `tcgen05_commit_arrive` arrives on a barrier when it is complete.

    Example:

    ```mlir
    func.func @matmul(%c: memref<128x128xf32, #mosaic_gpu.tmem>,
                       %a: memref<128x64xf16, #gpu.address_space<workgroup>>,
                       %b: memref<64x128xf16, #gpu.address_space<workgroup>>, %accumulate: i1) {
      mosaic_gpu.tcgen05_mma accumulator(%c : memref<128x128xf32, #mosaic_gpu.tmem>)
          a(%a : memref<128x64xf16, #gpu.address_space<workgroup>>)
          b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>) accumulate(%accumulate)
      return
    }
    ```
  }];
  let arguments = (ins MemRefRankOf<[F16, F32, I32], [2]>:$accumulator,
                       MemRefRankOf<[MosaicGPU_TcGen05Element], [2]>:$a,
                       MemRefRankOf<[MosaicGPU_TcGen05Element], [2]>:$b, I1:$accumulate,
                       Optional<MosaicGPU_ScaleRef>:$a_scale, Optional<MosaicGPU_ScaleRef>:$b_scale,
                       Optional<MemRefRankOf<[I<2>], [2]>>:$a_sparse_metadata,
                       DefaultValuedAttr<BoolAttr, "false">:$collective);
  let assemblyFormat = [{
    `accumulator` `(` $accumulator `:` type($accumulator) `)` `a` `(` $a `:` type($a) `)`
    `b` `(` $b `:` type($b) `)` `accumulate` `(` $accumulate `)`
    (`a_scale` `(` $a_scale^ `:` type($a_scale) `)`)? (`b_scale` `(` $b_scale^ `:` type($b_scale) `)`)?
    (`a_sparse_metadata` `(` $a_sparse_metadata^ `:` type($a_sparse_metadata) `)`)? attr-dict
  }];
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_MMA
