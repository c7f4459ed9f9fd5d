# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written thread-level kernels for Hopper: TMA copies that complete on mbarriers."""

from __future__ import annotations

from helpers import SHARED

ROWS = 32
"""Rows of a box of 32 columns of f32, which a line of 128 bytes holds."""


def tensor_map(argument: int, rows: int) -> str:
    """A tensor map of an argument, of boxes with swizzled lines."""
    return (
        f"{{argument = {argument} : i64, box = array<i64: {ROWS}, 32>, element = f32, element_strides = array<i64: 1, 1>, "
        f'extents = array<i64: {rows}, 32>, fill = "zeros", offset = 0 : i64, strides = array<i64: 128, 4>, '
        "swizzle = 128 : i64}"
    )


def ring(trips: int, slots: int, missing: str = "", short: int = 0) -> str:
    """One warp copies boxes to slots in turn, and two others add them up: y[thread % 32] += x[row][thread % 32], half
    of the rows each. `missing` names the omitted synchronization: `full`, `empty`, `arrive` or `fence`; `short` is the
    number of bytes by which the expected count is too small."""
    rows, size = trips * ROWS, ROWS * 128
    full = "" if missing == "full" else "nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32"
    empty = """
      %wait = arith.cmpi uge, %i, %slots : index
      scf.if %wait {
        %free = arith.xori %parity, %one : i32
        scf.while : () -> () {
          %over = nvvm.mbarrier.try_wait %empty, %free, %ticks : !llvm.ptr<3>, i32, i32 -> i1
          %again = arith.xori %over, %true : i1
          scf.condition(%again)
        } do {
          scf.yield
        }
      }"""
    return f"""gpu.module @m {{
  gpu.func @ring(%x: memref<{rows}x32xf32>, %y: memref<2x32xf32>, %map: !llvm.ptr) kernel attributes {{
      known_block_size = array<i32: 96, 1, 1>, known_grid_size = array<i32: 1, 1, 1>,
      mosaic_gpu.tensor_maps = [{tensor_map(0, rows)}]}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %true = arith.constant true
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %many = arith.constant 64 : i32
    %ticks = arith.constant 10000 : i32
    %bytes = arith.constant {size - short} : i32
    %trips = arith.constant {trips} : index
    %slots = arith.constant {slots} : index
    %box_rows = arith.constant {ROWS} : i32
    %f0 = arith.constant 0.0 : f32
    %box_bytes = arith.constant {size} : i32
    %tiles = memref.alloc() : memref<{slots}x{ROWS}x32xf32, {SHARED}>
    %barriers = memref.alloc() : memref<{2 * slots}xi64, {SHARED}>
    %tiles_address = memref.extract_aligned_pointer_as_index %tiles : memref<{slots}x{ROWS}x32xf32, {SHARED}> -> index
    %tiles_number = arith.index_cast %tiles_address : index to i64
    %tiles_pointer = llvm.inttoptr %tiles_number : i64 to !llvm.ptr<3>
    %address = memref.extract_aligned_pointer_as_index %barriers : memref<{2 * slots}xi64, {SHARED}> -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    %t = gpu.thread_id x
    %warp = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {{
      scf.for %s = %c0 to %slots step %c1 {{
        %n = arith.index_cast %s : index to i32
        %full = llvm.getelementptr %pointer[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.init %full, %one : !llvm.ptr<3>, i32
        %behind = arith.addi %s, %slots : index
        %m = arith.index_cast %behind : index to i32
        %empty = llvm.getelementptr %pointer[%m] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.init %empty, %many : !llvm.ptr<3>, i32
      }}
    }}
    {"" if missing == "fence" else "nvvm.fence.mbarrier.init"}
    gpu.barrier
    %is_producer = arith.cmpi eq, %warp, %c0 : index
    %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %f0) -> f32 {{
      %slot = arith.remui %i, %slots : index
      %round = arith.divui %i, %slots : index
      %odd = arith.remui %round, %c2 : index
      %parity = arith.index_cast %odd : index to i32
      %n = arith.index_cast %slot : index to i32
      %behind = arith.addi %slot, %slots : index
      %m = arith.index_cast %behind : index to i32
      %full = llvm.getelementptr %pointer[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
      %empty = llvm.getelementptr %pointer[%m] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
      %next = scf.if %is_producer -> f32 {{
        {"" if missing == "empty" else empty}
        scf.if %first {{
          %i32 = arith.index_cast %i : index to i32
          %row = arith.muli %i32, %box_rows : i32
          %shift = arith.muli %n, %box_bytes : i32
          %to = llvm.getelementptr %tiles_pointer[%shift] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          nvvm.mbarrier.arrive.expect_tx %full, %bytes : !llvm.ptr<3>, i32
          nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %full, box[%zero, %row] {{isCTAOnly = true}}
              : !llvm.ptr<3>, !llvm.ptr
        }}
        scf.yield %acc : f32
      }} else {{
        {full}
        %half = arith.subi %warp, %c1 : index
        %begin = arith.muli %half, %c16 : index
        %part = scf.for %r = %c0 to %c16 step %c1 iter_args(%inner = %acc) -> f32 {{
          %row = arith.addi %begin, %r : index
          %line = arith.remui %row, %c8 : index
          %c4 = arith.constant 4 : index
          %chunk = arith.divui %lane, %c4 : index
          %inside = arith.remui %lane, %c4 : index
          %swapped = arith.xori %chunk, %line : index
          %base = arith.muli %swapped, %c4 : index
          %column = arith.addi %base, %inside : index
          %v = memref.load %tiles[%slot, %row, %column] : memref<{slots}x{ROWS}x32xf32, {SHARED}>
          %more = arith.addf %inner, %v : f32
          scf.yield %more : f32
        }}
        {"" if missing == "arrive" else "nvvm.mbarrier.arrive %empty : !llvm.ptr<3>"}
        scf.yield %part : f32
      }}
      scf.yield %next : f32
    }}
    %is_consumer = arith.cmpi ne, %warp, %c0 : index
    scf.if %is_consumer {{
      %half = arith.subi %warp, %c1 : index
      memref.store %sum, %y[%half, %lane] : memref<2x32xf32>
    }}
    gpu.return
  }}
}}"""


def through_shared(fence: bool = True, barrier: bool = True, wait: bool = True) -> str:
    """y = 2 x, whose boxes threads write and a copy stores from shared memory."""
    proxy = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}" if fence else ""
    return f"""gpu.module @m {{
  gpu.func @doubled(%x: memref<{ROWS}x32xf32>, %y: memref<{ROWS}x32xf32>, %map: !llvm.ptr) kernel attributes {{
      known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>,
      mosaic_gpu.tensor_maps = [{tensor_map(1, ROWS).replace("swizzle = 128", "swizzle = 16")}]}} {{
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %tile = memref.alloc() : memref<{ROWS}x32xf32, {SHARED}>
    %address = memref.extract_aligned_pointer_as_index %tile : memref<{ROWS}x32xf32, {SHARED}> -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    %t = gpu.thread_id x
    %half = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %begin = arith.muli %half, %c16 : index
    scf.for %r = %c0 to %c16 step %c1 {{
      %row = arith.addi %begin, %r : index
      %v = memref.load %x[%row, %lane] : memref<{ROWS}x32xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %tile[%row, %lane] : memref<{ROWS}x32xf32, {SHARED}>
    }}
    {proxy}
    {"gpu.barrier" if barrier else ""}
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {{
      nvvm.cp.async.bulk.tensor.global.shared.cta %map, %pointer, box[%zero, %zero] : !llvm.ptr, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      {"nvvm.cp.async.bulk.wait_group 0" if wait else ""}
    }}
    gpu.return
  }}
}}"""
