//===- Passes.td - Shared memory ---------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SHAREDMEMORY_PASSES
#define SMALTI_PASSES_SHAREDMEMORY_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiAllocateSharedMemory : InterfacePass<"smalti-allocate-shared-memory", "::mlir::FunctionOpInterface"> {
  let summary = "Assigns an offset to every buffer in shared memory";
  let description = [{
    Each `memref.alloc` in the workgroup address space becomes a `mosaic_gpu.slice_smem`, in program order and after
    existing slices. Offsets are multiples of 16 bytes, or of the `alignment` of the allocation if that is larger. Each
    `memref.dealloc` of these buffers is erased. The function attribute `smalti.shared_memory_bytes` is set to the
    total.

    Precondition: buffers have a static shape, the identity layout and elements of known size, and are allocated outside
    of loops. Refused, with an error that leaves the function unchanged: other buffers, and more bytes than a block of
    the target has. Notes of that error list the largest buffers. Cost: linear time; buffers do not share bytes.
    `target` defaults to the attribute `smalti.target`.

    Example:

    ```mlir
    gpu.module @kernels attributes {smalti.target = "sm_90a"} {
      gpu.func @stage() kernel {
        %a = memref.alloc() : memref<128x64xf16, #gpu.address_space<workgroup>>
        %b = memref.alloc() : memref<64x128xf16, #gpu.address_space<workgroup>>
        gpu.return
      }
    }
    ```

    The buffers become slices at offsets 0 and 16384; the total is 32768 bytes.
  }];
  let options = [
    TargetOption<" whose shared memory is the limit">,
  ];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect"];
}

def SmaltiPadSharedMemory : InterfacePass<"smalti-pad-shared-memory", "::mlir::FunctionOpInterface"> {
  let summary = "Pads the rows of buffers in shared memory to reduce bank conflicts";
  let description = [{
    Adds elements to each row (the last dimension) of a buffer in shared memory: the padding with the fewest bank
    conflicts, and of those the smallest. Users access a `memref.subview` of the padded buffer with the original shape.

    Conflicts are counted with the banks of the target. Index arithmetic is evaluated for the lanes of up to four waves,
    from thread ids through views to addresses. Loops are evaluated in their first iteration, and uniform values count
    as zero; each access counts once. `mosaic_gpu` accesses are counted by their layouts. Padding keeps the alignment of
    every access and of the slots of a buffer with three or more dimensions. The padded buffers of the function fit in
    the target's shared memory.

    Precondition: an allocation or workgroup attribution of static shape and identity layout with at least two
    dimensions.

    Not padded, each with a missed remark (an error with `strict`):
    - buffers that already have an offset (`mosaic_gpu.slice_smem`, views of untyped memory) and buffers that escape;
    - buffers with a user that may not address memory by the strides of its memref;
    - buffers with an access of consecutive elements that may cross rows (cp.async, ldmatrix, loads to LDS);
    - buffers with a view that cannot be recreated: `memref.reinterpret_cast`, `memref.view`, `memref.collapse_shape` of
      rows, a `memref.cast` to static strides;
    - buffers without an access whose addresses are known, or without a padding that reduces conflicts within the shared
      memory of the target.

    Cost: shared memory of rows times padding; no instructions. Option defaults: `target` is the attribute
    `smalti.target`, `only-when-conflicts` true, `max-padding` 128 bytes, `marked` false, `strict` false.

    The attribute `smalti.pad_shared_memory` on the op that creates a buffer selects it (`true`, for `marked`) or
    excludes it (`false`).

    Example, with `target=sm_90a`: the lanes of a warp read a column, which resides in one bank.

    ```mlir
    func.func @column(%out: memref<32x32xf32>) {
      %lane = gpu.thread_id x
      %c3 = arith.constant 3 : index
      %buffer = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
      %value = memref.load %buffer[%lane, %c3] : memref<32x32xf32, #gpu.address_space<workgroup>>
      memref.store %value, %out[%c3, %lane] : memref<32x32xf32>
      return
    }
    ```

    The buffer becomes `memref<32x33xf32, ...>`, whose columns are distributed over all banks.
  }];
  let options = [
    TargetOption<" whose banks are modeled">,
    Option<"onlyWhenConflicts", "only-when-conflicts", "bool", "true",
           "Change only buffers whose accesses have known bank conflicts; `only-when-conflicts=false` changes all; default: `true`">,
    Option<"maxPadding", "max-padding", "int64_t", "128", "Maximum padding of a row in bytes, e.g. `max-padding=32`; default: 128">,
    Option<"marked", "marked", "bool", "false",
           "Change only buffers with the attribute `smalti.pad_shared_memory = true`, e.g. `marked=true`; default: `false`">,
    StrictOption<"A buffer that cannot be padded">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def SmaltiSwizzleSharedMemory : InterfacePass<"smalti-swizzle-shared-memory", "::mlir::FunctionOpInterface"> {
  let summary = "Permutes the chunks of rows in shared memory to reduce bank conflicts";
  let description = [{
    Permutes chunks of 4 to 16 bytes within each row of a buffer. Chunk c of row r moves to c XOR k with k = (r / a) mod
    n. If the number of chunks is not a power of two, it may move to (c + k) mod chunks instead. The pass takes the
    chunk size, a and n with the fewest bank conflicts, counted as for `smalti-pad-shared-memory`. For XOR, n is a power
    of two that divides the number of chunks, so no element leaves its row. The buffer keeps its size. Either all
    accesses of a buffer are rewritten, through its views, or none.

    Precondition: thread-level code; a buffer of static shape, known size and identity layout with at least two
    dimensions.

    Not swizzled, each with a missed remark (an error with `strict`):
    - buffers that share bytes with another view of untyped memory, or that escape;
    - buffers with views other than `memref.subview`, `cast`, `expand_shape`, `collapse_shape` and `assume_alignment`;
    - buffers with an access that does not compute an index for each chunk: whole-buffer copies, structured ops,
      matrices loaded by a stride, vectors of several rows, TMA, loads to LDS;
    - buffers of block-level kernels, whose accesses have indices after `convert-mosaic-gpu-to-nvvm` or
      `convert-mosaic-gpu-to-rocdl`;
    - buffers with an access whose size is above 16 bytes or not a power of two;
    - buffers with an access that is possibly out of bounds, or not provably aligned to its size;
    - buffers with a single row, or whose row size is not a multiple of the widest access;
    - buffers without an access whose addresses are known, or without a swizzle that reduces conflicts.

    Cost: a few integer instructions per access; no memory. Option defaults: `target` is the attribute `smalti.target`,
    `only-when-conflicts` true, `marked` false, `strict` false.

    The attribute `smalti.swizzle_shared_memory` on the op that creates a buffer selects it (`true`, for `marked`) or
    excludes it (`false`).

    Example, with `target=sm_90a`: the rows of one ldmatrix matrix reside in the same banks.

    ```mlir
    func.func @rows() -> vector<1x2xf16> {
      %lane = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %buffer = memref.alloc() : memref<32x64xf16, #gpu.address_space<workgroup>>
      %matrix = nvgpu.ldmatrix %buffer[%lane, %c0] {numTiles = 1 : i32, transpose = false}
        : memref<32x64xf16, #gpu.address_space<workgroup>> -> vector<1x2xf16>
      return %matrix : vector<1x2xf16>
    }
    ```

    The column becomes `%c0 xor (%lane mod 8) * 8`.
  }];
  let options = [
    TargetOption<" whose banks are modeled">,
    Option<"onlyWhenConflicts", "only-when-conflicts", "bool", "true",
           "Change only buffers whose accesses have known bank conflicts; `only-when-conflicts=false` changes all; default: `true`">,
    Option<"marked", "marked", "bool", "false",
           "Change only buffers with the attribute `smalti.swizzle_shared_memory = true`, e.g. `marked=true`; default: `false`">,
    StrictOption<"A buffer that cannot be swizzled">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def SmaltiOverlapLdsDma : InterfacePass<"smalti-overlap-lds-dma", "::mlir::FunctionOpInterface"> {
  let summary = "Keeps LDS DMA loads outstanding across barriers";
  let description = [{
    On gfx9, LLVM waits for all outstanding LDS DMA loads (`s_waitcnt vmcnt(0)`) at every barrier. It also waits before
    every LDS access that may alias one of them. Thus `amdgpu.gather_to_lds` does not overlap with computation.
    `smalti-pipeline-loops` creates counted waits (`amdgpu.memory_counter_wait load(N)`). In a kernel with such waits,
    this pass replaces `amdgpu.lds_barrier` and `gpu.barrier` by a wait for LDS (`ds(0)`), `rocdl.s.barrier` and fences.
    `smalti-annotate-lds-dma` completes the transformation in the LLVM dialect.

    The pass proves its precondition for every path from a load to an access of the same buffer. A wait that covers the
    load and then a barrier come first, or the access uses a different slot. A slot is a `memref.subview` of one element
    of the first dimension; its index is a constant, or the iteration number plus a constant, modulo the number of
    slots. The index may be computed by chains of arith ops and `affine.apply`. A wait with `load(N)` covers a load
    after which every wave has issued N others.

    Not replaced:
    - a barrier if an access after it depends on a load that no wait covers;
    - a `gpu.barrier` that may order global memory: a buffer is written, and accessed elsewhere, in a loop, or through
      another argument without `llvm.noalias`.

    If no barrier can be replaced, or memory effects are unknown, nothing changes and a missed remark (an error with
    `strict`) states the reason. If some barriers remain, accesses after them may still wait for all loads. Cost: at
    most 8 rounds over the function. Option defaults: `target` is the attribute `smalti.target`, `strict` false.

    Example, with `target=gfx950`: the load of the next slot is outstanding while the current slot is read.

    ```mlir
    func.func @sum(%in: memref<4096xf32, #gpu.address_space<global>>, %slots: memref<2x1x64xf32, #gpu.address_space<workgroup>>)
        -> f32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0.0 : f32
      %lane = gpu.thread_id x
      %first = memref.subview %slots[0, 0, 0] [1, 1, 64] [1, 1, 1]
          : memref<2x1x64xf32, #gpu.address_space<workgroup>> to memref<1x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
      amdgpu.gather_to_lds %in[%lane], %first[%c0, %c0]
          : f32, memref<4096xf32, #gpu.address_space<global>>, memref<1x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
      %sum = scf.for %i = %c0 to %c63 step %c1 iter_args(%acc = %zero) -> f32 {
        %j = arith.addi %i, %c1 : index
        %next = arith.remui %j, %c2 : index
        %this = arith.remui %i, %c2 : index
        %offset = arith.muli %j, %c64 : index
        %index = arith.addi %offset, %lane : index
        %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1]
            : memref<2x1x64xf32, #gpu.address_space<workgroup>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1]
            : memref<2x1x64xf32, #gpu.address_space<workgroup>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        amdgpu.lds_barrier
        amdgpu.gather_to_lds %in[%index], %to[%c0, %c0]
            : f32, memref<4096xf32, #gpu.address_space<global>>, memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        amdgpu.memory_counter_wait load(1)
        amdgpu.lds_barrier
        %value = memref.load %from[%c0, %lane] : memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %new = arith.addf %acc, %value : f32
        scf.yield %new : f32
      }
      return %sum : f32
    }
    ```
  }];
  let options = [
    TargetOption<>,
    StrictOption<"A function in which LDS DMA loads cannot stay outstanding across any barrier">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect"];
}

def SmaltiAnnotateLdsDma : Pass<"smalti-annotate-lds-dma", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Prevents that LLVM waits for outstanding LDS DMA loads before LDS accesses that do not read their data";
  let description = [{
    On gfx9, LLVM waits for all outstanding LDS DMA loads (`s_waitcnt vmcnt(0)`) before an LDS access that may alias one
    of them. In a pipelined loop they always may alias, as slots of one buffer. This pass adds alias scopes to the loads
    and to ordered accesses: accesses after a fence with the attribute `smalti.lds_ordered` on every path, and before
    the next fence or barrier. `convert-mosaic-gpu-to-rocdl` and `smalti-overlap-lds-dma` create these fences.

    Precondition: no access in the range of this fence touches bytes of an outstanding load; the pass does not check it.
    The scopes are a statement about single instructions, not about memory: the next iteration reads what this iteration
    loads. The fences (empty inline assembly that clobbers memory) prevent LLVM from applying the scopes across
    iterations.

    Other accesses are not changed. If no access of a function with LDS DMA loads is ordered, nothing changes, and a
    missed remark (an error with `strict`) states it. Cost: linear time; no instructions. `strict` defaults to false.

    Example:

    ```mlir
    llvm.mlir.global internal @slots() {addr_space = 3 : i32} : !llvm.array<512 x f32>
    llvm.func @read(%in: !llvm.ptr<1>, %next: i32, %this: i32) -> f32 {
      %slots = llvm.mlir.addressof @slots : !llvm.ptr<3>
      %to = llvm.getelementptr %slots[%next] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      rocdl.load.to.lds %in, %to, 4, 0, 0 : !llvm.ptr<1>
      rocdl.s.waitcnt 3953
      rocdl.s.barrier
      llvm.inline_asm has_side_effects {smalti.lds_ordered} "", "~{memory}" : () -> ()
      %from = llvm.getelementptr %slots[%this] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %value = llvm.load %from : !llvm.ptr<3> -> f32
      llvm.return %value : f32
    }
    ```
  }];
  let options = [
    StrictOption<"A function whose LDS accesses must all wait for all of its LDS DMA loads">
  ];
}

#endif // SMALTI_PASSES_SHAREDMEMORY_PASSES
