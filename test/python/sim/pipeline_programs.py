# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written thread-level pipelines: persistent kernels, multicast copies, warp groups in turn."""

from __future__ import annotations

import re

from helpers import SHARED


def pointer(name: str, ty: str, space: int = 1) -> str:
    """The pointer %NAME_p of memory."""
    number = "i32" if space == 3 else "i64"
    return f"""
    %{name}_index = memref.extract_aligned_pointer_as_index %{name} : {ty} -> index
    %{name}_number = arith.index_cast %{name}_index : index to {number}
    %{name}_p = llvm.inttoptr %{name}_number : {number} to !llvm.ptr<{space}>
"""


def allocation(name: str, ty: str) -> str:
    """Shared memory and its pointer."""
    ty = f"memref<{ty}, {SHARED}>"
    return f"    %{name} = memref.alloc() : {ty}" + pointer(name, ty, 3)


def element(name: str, base: str, number: str, ty: str, space: int = 3) -> str:
    return f"%{name} = llvm.getelementptr %{base}[%{number}] : (!llvm.ptr<{space}>, i32) -> !llvm.ptr<{space}>, {ty}\n"


def kernel(body: str, arguments: dict[str, str], threads: int, grid: int = 1, cluster: int = 1, wave: int = 32) -> str:
    """A kernel; %cN and %iN are numbers, %t, %b, %w, %l the thread, block, warp and lane, SH is shared memory."""
    text = body.replace("SH", SHARED)
    numbers = sorted({"0", "1", *re.findall(r"%c(\d+)\b", text)}, key=int)
    words = sorted(set(re.findall(r"%i(\d+)\b", text)), key=int)
    given = ", ".join(f"%{name}: {ty}" for name, ty in arguments.items())
    constants = [f"%c{n} = arith.constant {n} : index" for n in numbers]
    constants += [f"%i{n} = arith.constant {n} : i32" for n in words]
    lines = "\n    ".join(constants)
    of_cluster = f", known_cluster_size = array<i32: {cluster}, 1, 1>" if cluster > 1 else ""
    return f"""gpu.module @m {{
  gpu.func @k({given}) kernel attributes {{
      known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: {grid}, 1, 1>{of_cluster}}} {{
    {lines}
    %ticks = arith.constant 10000 : i32
    %f0 = arith.constant 0.0 : f32
    %wave = arith.constant {wave} : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %w = arith.divui %t, %wave : index
    %l = arith.remui %t, %wave : index
    %t0 = arith.cmpi eq, %t, %c0 : index
{"".join(pointer(name, ty) for name, ty in arguments.items())}
{text}
    gpu.return
  }}
}}"""


def barriers(slots: int, empty: int) -> str:
    """A full and an empty barrier for each slot; this many threads signal that a slot is empty."""
    return f"""{allocation("bars", f"{2 * slots}xi64")}
    scf.if %t0 {{
      scf.for %each = %c0 to %c{slots} step %c1 {{
        %si = arith.index_cast %each : index to i32
        {element("fb", "bars_p", "si", "i64")}
        nvvm.mbarrier.init %fb, %i1 : !llvm.ptr<3>, i32
        %ei = arith.addi %si, %i{slots} : i32
        {element("eb", "bars_p", "ei", "i64")}
        nvvm.mbarrier.init %eb, %i{empty} : !llvm.ptr<3>, i32
      }}
      nvvm.fence.mbarrier.init
    }}
"""


def chosen(slots: int) -> str:
    """The barriers of a slot."""
    return f"""{element("full", "bars_p", "slot", "i64")}
        %e = arith.addi %slot, %i{slots} : i32
        {element("empty", "bars_p", "e", "i64")}"""


def following(slots: int) -> str:
    """The next slot and its phase."""
    return f"""%n = arith.addi %slot, %i1 : i32
        %wrap = arith.cmpi eq, %n, %i{slots} : i32
        %next = arith.select %wrap, %i0, %n : i32
        %flip = arith.xori %phase, %i1 : i32
        %after = arith.select %wrap, %flip, %phase : i32"""


WAIT_FULL = "nvvm.mbarrier.try_wait.parity %full, %phase, %ticks : !llvm.ptr<3>, i32, i32"
WAIT_EMPTY = "nvvm.mbarrier.try_wait.parity %empty, %phase, %ticks : !llvm.ptr<3>, i32, i32"
RELEASE = "nvvm.mbarrier.arrive %empty : !llvm.ptr<3>"
READ_OUT = "nvvm.cp.async.bulk.wait_group LEFT {read}"
MEET = "nvvm.barrier id = %i1 number_of_threads = %i64"
PROXY = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
DONE = "nvvm.cp.async.bulk.wait_group 0 // done"


def persistent(
    tiles: int = 5, steps: int = 3, slots: int = 2, out: int = 1, grid: int = 2, restart: bool = False
) -> str:
    """Blocks that process tiles in turn: y[tile] = sum of x[tile], with reversed columns. The ring of slots
    continues from tile to tile, unless it is to `restart`; results leave through `out` buffers while the next tile
    is summed up."""
    ring = ("%i0", "%i1", "%i0") if restart else ("%slot0", "%phase0", "%phase0")
    body = f"""{allocation("tile", f"{slots}x64xf32")}{allocation("o", f"{out}x64xf32")}{barriers(slots, 64)}
    gpu.barrier
    %tiles = arith.constant {tiles} : index
    %steps = arith.constant {steps} : index
    %grid = gpu.grid_dim x
    %copies = arith.cmpi ult, %t, %c32 : index
    scf.if %copies {{
      scf.if %t0 {{
        %q:2 = scf.for %at = %b to %tiles step %grid iter_args(%slot0 = %i0, %phase0 = %i1) -> (i32, i32) {{
          %r:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%slot = {ring[0]}, %phase = {ring[1]}) -> (i32, i32) {{
            {chosen(slots)}
            {WAIT_EMPTY}
            nvvm.mbarrier.arrive.expect_tx %full, %i256 : !llvm.ptr<3>, i32
            %offset = arith.muli %slot, %i64 : i32
            {element("to", "tile_p", "offset", "f32")}
            %first = arith.muli %at, %steps : index
            %row = arith.addi %first, %i : index
            %row_i = arith.index_cast %row : index to i32
            %begin = arith.muli %row_i, %i64 : i32
            {element("from", "x_p", "begin", "f32", 1)}
            nvvm.cp.async.bulk.shared.cluster.global %to, %from, %full, %i256 : !llvm.ptr<3>, !llvm.ptr<1>
            {following(slots)}
            scf.yield %next, %after : i32, i32
          }}
          scf.yield %r#0, %r#1 : i32, i32
        }}
      }}
    }} else {{
      %column = arith.subi %t, %c32 : index
      %mirror = arith.subi %c63, %column : index
      %leads = arith.cmpi eq, %column, %c0 : index
      %q:3 = scf.for %at = %b to %tiles step %grid iter_args(%slot0 = %i0, %phase0 = %i0, %buffer = %i0)
          -> (i32, i32, i32) {{
        %r:3 = scf.for %i = %c0 to %steps step %c1 iter_args(%slot = {ring[0]}, %phase = {ring[2]}, %sum = %f0)
            -> (i32, i32, f32) {{
          {chosen(slots)}
          {WAIT_FULL}
          %which = arith.index_cast %slot : i32 to index
          %v = memref.load %tile[%which, %mirror] : memref<{slots}x64xf32, SH>
          {RELEASE}
          %more = arith.addf %sum, %v : f32
          {following(slots)}
          scf.yield %next, %after, %more : i32, i32, f32
        }}
        scf.if %leads {{
          {READ_OUT.replace("LEFT", str(out - 1))}
        }}
        {MEET} // the buffer is free
        %place = arith.index_cast %buffer : i32 to index
        memref.store %r#2, %o[%place, %column] : memref<{out}x64xf32, SH>
        {PROXY}
        {MEET}
        scf.if %leads {{
          %at_i = arith.index_cast %at : index to i32
          %begin = arith.muli %at_i, %i64 : i32
          {element("to", "y_p", "begin", "f32", 1)}
          %offset = arith.muli %buffer, %i64 : i32
          {element("from", "o_p", "offset", "f32")}
          nvvm.cp.async.bulk.global.shared.cta %to, %from, %i256 : !llvm.ptr<1>, !llvm.ptr<3>
          nvvm.cp.async.bulk.commit.group
        }}
        %another = arith.addi %buffer, %i1 : i32
        %other = arith.remui %another, %i{out} : i32
        scf.yield %r#0, %r#1, %other : i32, i32, i32
      }}
      scf.if %leads {{
        {DONE}
      }}
    }}
"""
    return kernel(body, {"x": f"memref<{tiles}x{steps}x64xf32>", "y": f"memref<{tiles}x64xf32>"}, 96, grid)


SYNC = "nvvm.cluster.arrive\n    nvvm.cluster.wait"
RELEASE_OTHER = "nvvm.mbarrier.arrive %far {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>"


def multicast(rows: int = 5, slots: int = 2, empty: int = 128, size: int = 256) -> str:
    """Each of two blocks copies half of every row to both, and adds up all rows, with reversed columns. A slot is empty
    when the threads of both have read it."""
    body = f"""{allocation("s", f"{slots}x64xf32")}{barriers(slots, empty)}
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %another = arith.subi %i1, %rank : i32
    %both = arith.constant 3 : i16
    {SYNC} // begin
    %copies = arith.cmpi ult, %t, %c32 : index
    scf.if %copies {{
      scf.if %t0 {{
        %r:2 = scf.for %i = %c0 to %c{rows} step %c1 iter_args(%slot = %i0, %phase = %i1) -> (i32, i32) {{
          {chosen(slots)}
          {WAIT_EMPTY}
          nvvm.mbarrier.arrive.expect_tx %full, %i{size} : !llvm.ptr<3>, i32
          %half = arith.muli %rank, %i32 : i32
          %offset = arith.muli %slot, %i64 : i32
          %place = arith.addi %offset, %half : i32
          {element("to", "s_p", "place", "f32")}
          %to_all = llvm.addrspacecast %to : !llvm.ptr<3> to !llvm.ptr<7>
          %row = arith.index_cast %i : index to i32
          %begin = arith.muli %row, %i64 : i32
          %first = arith.addi %begin, %half : i32
          {element("from", "x_p", "first", "f32", 1)}
          nvvm.cp.async.bulk.shared.cluster.global %to_all, %from, %full, %i128 multicast_mask = %both
              : !llvm.ptr<7>, !llvm.ptr<1>
          {following(slots)}
          scf.yield %next, %after : i32, i32
        }}
      }}
    }} else {{
      %column = arith.subi %t, %c32 : index
      %mirror = arith.subi %c63, %column : index
      %r:3 = scf.for %i = %c0 to %c{rows} step %c1 iter_args(%slot = %i0, %phase = %i0, %sum = %f0) -> (i32, i32, f32) {{
        {chosen(slots)}
        {WAIT_FULL}
        %which = arith.index_cast %slot : i32 to index
        %v = memref.load %s[%which, %mirror] : memref<{slots}x64xf32, SH>
        %more = arith.addf %sum, %v : f32
        {RELEASE}
        %far = nvvm.mapa %empty, %another : !llvm.ptr<3> -> !llvm.ptr<7>
        {RELEASE_OTHER}
        {following(slots)}
        scf.yield %next, %after, %more : i32, i32, f32
      }}
      memref.store %r#2, %y[%b, %column] : memref<2x64xf32>
    }}
    {SYNC} // end
"""
    return kernel(body, {"x": f"memref<{rows}x64xf32>", "y": "memref<2x64xf32>"}, 96, 2, 2)


OWN = "nvvm.barrier id = %own number_of_threads = %i128"
HAND_OVER = "nvvm.barrier.arrive id = %other number_of_threads = %i256"
BEGIN = "nvvm.barrier.arrive id = %i1 number_of_threads = %i256"


def in_turn() -> str:
    """Two groups of four warps use one buffer in turn: barriers 1 and 2 signal the turns."""
    body = f"""{allocation("buffer", "128xf32")}
    %group = arith.divui %t, %c128 : index
    %mine = arith.remui %t, %c128 : index
    %mirror = arith.subi %c127, %mine : index
    %is0 = arith.cmpi eq, %group, %c0 : index
    %turn = arith.select %is0, %i1, %i2 : i32
    %other = arith.select %is0, %i2, %i1 : i32
    %own = arith.addi %turn, %i4 : i32
    scf.if %is0 {{
    }} else {{
      {BEGIN}
    }}
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %f0) -> f32 {{
      nvvm.barrier id = %turn number_of_threads = %i256
      %v = memref.load %x[%group, %i, %mine] : memref<2x3x128xf32>
      memref.store %v, %buffer[%mine] : memref<128xf32, SH>
      {OWN}
      %u = memref.load %buffer[%mirror] : memref<128xf32, SH>
      {HAND_OVER}
      %more = arith.addf %sum, %u : f32
      scf.yield %more : f32
    }}
    memref.store %r, %y[%group, %mine] : memref<2x128xf32>
    scf.if %is0 {{
      nvvm.barrier id = %i1 number_of_threads = %i256
    }}
"""
    return kernel(body, {"x": "memref<2x3x128xf32>", "y": "memref<2x128xf32>"}, 256)


LATER = "scf.if %is1 { rocdl.s.barrier }"


def apart() -> str:
    """Two groups of four waves of AMD's, one barrier apart: the first writes a slot, the second reads it then."""
    body = f"""{allocation("s", "256xf32")}
    %group = arith.divui %t, %c256 : index
    %mine = arith.remui %t, %c256 : index
    %is1 = arith.cmpi eq, %group, %c1 : index
    {LATER}
    scf.for %i = %c0 to %c3 step %c1 {{
      rocdl.s.setprio 1
      scf.if %is1 {{
        %u = memref.load %s[%mine] : memref<256xf32, SH>
        memref.store %u, %y[%i, %mine] : memref<3x256xf32>
        amdgpu.memory_counter_wait ds(0)
      }} else {{
        %v = memref.load %x[%i, %mine] : memref<3x256xf32>
        memref.store %v, %s[%mine] : memref<256xf32, SH>
        amdgpu.memory_counter_wait ds(0) // written
      }}
      rocdl.s.setprio 0
      rocdl.s.barrier
      rocdl.sched.barrier 0
      rocdl.s.barrier
    }}
    scf.if %is1 {{
    }} else {{
      rocdl.s.barrier
    }}
"""
    return kernel(body, {"x": "memref<3x256xf32>", "y": "memref<3x256xf32>"}, 512, wave=64)
