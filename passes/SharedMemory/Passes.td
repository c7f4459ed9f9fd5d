//===- Passes.td - Shared memory ---------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_SHAREDMEMORY_PASSES
#define SMALTI_PASSES_SHAREDMEMORY_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiAllocateSharedMemory : InterfacePass<"smalti-allocate-shared-memory", "::mlir::FunctionOpInterface"> {
  let summary = "Gives every buffer in shared memory its place";
  let description = [{
    Each `memref.alloc` in the workgroup's memory becomes a `mosaic_gpu.slice_smem` at an
    offset of at least 16 bytes alignment, in the order of the program and after the
    slices that are there already. `memref.dealloc` of them goes away. The function gets
    `smalti.shared_memory_bytes`, where the last of them ends.

    More bytes than a block of the target has are an error at the function, with the
    bytes and the place of every buffer. Buffers inside loops and of dynamic shape
    are errors too. The function is then as it was.

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

    The buffers become slices at 0 and 16384, of 32768 bytes.
  }];
  let options = [
    TargetOption<" whose shared memory is the limit">,
  ];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect"];
}

def SmaltiPadSharedMemory : InterfacePass<"smalti-pad-shared-memory", "::mlir::FunctionOpInterface"> {
  let summary = "Pads the rows of buffers in shared memory against bank conflicts";
  let description = [{
    Each row (the last dimension) of a buffer in shared memory gets as many elements more as bring the least bank
    conflicts, and of those the fewest. The buffer keeps its shape for those who use it: they get a `memref.subview` of
    the padded one.

    Conflicts are counted with the banks of the target: index arithmetic is evaluated for the lanes of up to four waves,
    from thread ids through views to addresses, in the first iteration of loops and with zero for what is the same in
    all threads; each access counts once. `mosaic_gpu` accesses are counted by their layouts. Padding comes in steps
    that keep the alignment of every access, and of the slots of a buffer of three or more dimensions. All buffers of the
    function with their padding fit the target's shared memory.

    A buffer stays as it is, with a remark that says why, when
    - it is no allocation or workgroup argument of static shape, known size and identity layout with two dimensions or
      more: `mosaic_gpu.slice_smem` and views of untyped memory have their place already;
    - it escapes, or is used by an op that is not known to go by the strides of its memref, or that accesses consecutive
      elements which may belong to two rows (cp.async, ldmatrix, gathers to LDS); a whole wave's gather must stay in
      one row;
    - a view of it would not keep its meaning: `memref.reinterpret_cast`, `memref.view`, `memref.collapse_shape` of rows,
      a `memref.cast` that brings static strides back;
    - no access has known addresses, no padding lessens the conflicts, or none that does fits.

    The attribute `smalti.pad_shared_memory` on the op that makes a buffer selects it (`true`, for `marked`) or leaves it
    alone (`false`).

    Example, with `target=sm_90a`: the lanes of a warp read a column, all from one bank.

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

    The buffer becomes `memref<32x33xf32, ...>`, whose columns are spread over all banks.
  }];
  let options = [
    TargetOption<" whose banks count">,
    Option<"onlyWhenConflicts", "only-when-conflicts", "bool", "true",
           "Leave buffers alone that have no bank conflict that is known, e.g. `only-when-conflicts=false`">,
    Option<"maxPadding", "max-padding", "int64_t", "128", "Most bytes that a row gets, e.g. `max-padding=32`">,
    Option<"marked", "marked", "bool", "false",
           "Only buffers with `smalti.pad_shared_memory = true`, e.g. `marked=true`">,
    StrictOption<"A buffer that cannot be padded">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def SmaltiSwizzleSharedMemory : InterfacePass<"smalti-swizzle-shared-memory", "::mlir::FunctionOpInterface"> {
  let summary = "Permutes the chunks of rows in shared memory against bank conflicts";
  let description = [{
    Accesses to a buffer in shared memory go to another chunk (4 to 16 bytes) of the same row, by a permutation that
    depends on the row alone: chunk c of row r moves to c XOR k, or where the number of chunks is no power of two to
    (c + k) mod chunks, with k = r / a mod n. Chunk size, a and n are those that bring the least bank conflicts; XOR
    uses powers of two n that divide the number of chunks, so that nothing leaves its row. The buffer needs no byte
    more. Every access to a buffer gets the new index arithmetic, through its views, or none does; other buffers of the
    module do not matter.

    Conflicts are counted as for `smalti-pad-shared-memory`.

    A buffer stays as it is, with a remark that says why, when
    - it has no static shape, known size, identity layout and two dimensions or more, or shares bytes with another view
      of untyped memory;
    - it escapes, or is viewed by anything but `memref.subview`, `cast`, `expand_shape`, `collapse_shape` and
      `assume_alignment`;
    - an access gives no index for each chunk: whole-buffer copies, structured ops, matrices that are loaded by a stride,
      vectors of several rows, TMA, gathers to LDS, and all accesses of block-level programs, which have indices after
      `convert-mosaic-gpu-to-nvvm` or `convert-mosaic-gpu-to-rocdl`;
    - an access is wider than 16 bytes, no power of two, possibly out of bounds, or not provably a multiple of its own
      size away from the begin;
    - rows are no multiple of the widest access, or a single one;
    - no access has known addresses, or no swizzle lessens the conflicts.

    The attribute `smalti.swizzle_shared_memory` on the op that makes a buffer selects it (`true`, for `marked`) or leaves
    it alone (`false`).

    Example, with `target=sm_90a`: the rows that one matrix of ldmatrix is made of lie in the same banks.

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
    TargetOption<" whose banks count">,
    Option<"onlyWhenConflicts", "only-when-conflicts", "bool", "true",
           "Leave buffers alone that have no bank conflict that is known, e.g. `only-when-conflicts=false`">,
    Option<"marked", "marked", "bool", "false",
           "Only buffers with `smalti.swizzle_shared_memory = true`, e.g. `marked=true`">,
    StrictOption<"A buffer that cannot be swizzled">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def SmaltiOverlapLdsDma : InterfacePass<"smalti-overlap-lds-dma", "::mlir::FunctionOpInterface"> {
  let summary = "Lets loads from global memory to LDS stay in flight across barriers";
  let description = [{
    On gfx9, LLVM has every barrier, and every access to LDS that it cannot tell apart, wait for all loads to LDS that
    are in flight (`s_waitcnt vmcnt(0)`): `amdgpu.gather_to_lds` ahead of its use overlaps with nothing. In a program that
    waits with counts of its own (`amdgpu.memory_counter_wait load(N)`), as `smalti-pipeline-loops` makes them, this pass
    replaces `amdgpu.lds_barrier` and `gpu.barrier` by a wait for LDS (`ds(0)`) and `rocdl.s.barrier`, which wait for no
    load, and puts fences around them. `smalti-annotate-lds-dma` does the rest in the LLVM dialect.

    It is done where it is proved that nothing relied on LLVM's waits: on every way from a load to an access of the same
    buffer a wait that covers the load, then a barrier, come first, or the access goes to another slot. Slots are
    `memref.subview`s of one element of the first dimension; their numbers are constants, or the number of the iteration
    plus a constant, modulo the number of slots. These numbers may be computed by chains of arith ops and `affine.apply`;
    the program does not need to be canonicalized. A wait with `load(N)` covers a load behind which every wave has started N
    others.

    A barrier stays as it is where
    - something behind it depends on a load that no wait covers;
    - it is a `gpu.barrier` and may order global memory: a buffer is written and accessed elsewhere too, in a loop, or
      through another argument (without `llvm.noalias`).

    Where no barrier can be replaced, and in functions with memory effects that are not known, nothing changes, and a remark
    says why. Where some remain, accesses behind them may still wait for all loads.

    Example, with `target=gfx950`: the load of the next slot is in flight while this one is read.

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
        %place = arith.addi %offset, %lane : index
        %to = memref.subview %slots[%next, 0, 0] [1, 1, 64] [1, 1, 1]
            : memref<2x1x64xf32, #gpu.address_space<workgroup>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %from = memref.subview %slots[%this, 0, 0] [1, 1, 64] [1, 1, 1]
            : memref<2x1x64xf32, #gpu.address_space<workgroup>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        amdgpu.lds_barrier
        amdgpu.gather_to_lds %in[%place], %to[%c0, %c0]
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
    StrictOption<"A function in which no barrier can be replaced">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect"];
}

def SmaltiAnnotateLdsDma : Pass<"smalti-annotate-lds-dma", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Lets accesses to LDS overlap with AMD's loads from global memory to LDS";
  let description = [{
    On gfx9, LLVM waits for every load to LDS that is in flight (`s_waitcnt vmcnt(0)`) ahead of an access to LDS that it
    cannot tell apart from what the load writes. In a pipelined loop it never can: both are slots of one buffer. This
    pass says so with alias scopes, for programs that order their accesses with waits of their own, as those of
    `convert-mosaic-gpu-to-rocdl` and `smalti-overlap-lds-dma` do: accesses behind a fence with the attribute
    `smalti.lds_ordered`, on every way that leads to them, and ahead of the next fence or barrier.

    The scopes are a promise about single instructions, not about memory: the next iteration reads what this one loads.
    The fences, inline assembly of no instruction that clobbers memory, keep LLVM from making more of it.

    Other accesses stay as they are. A function in which no access is ordered is left alone, with a remark.

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
    StrictOption<"A function in which no access is ordered">
  ];
}

#endif // SMALTI_PASSES_SHAREDMEMORY_PASSES
