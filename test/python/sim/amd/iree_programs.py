# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls as IREE's pipelines for AMD chips produce them before the lowering to LLVM, written by hand.

Bounds-checked buffers, swizzled or padded LDS tiles, pipelined loops, and scheduling hints for LLVM."""

from __future__ import annotations

from helpers import FAT, SHARED

TILE, DEPTH = 64, 32
"""A block has a tile of 64 x 64 of the result, and goes along K by 32."""

_BEGIN = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant {DEPTH} : index
    %zero = arith.constant 0.0 : f16
    %zeros = arith.constant dense<0.0> : vector<WIDTHxf32>
    %t = gpu.thread_id x
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %subgroup, %lane = affine.delinearize_index %t into (4, 64) : index, index
    %wm, %wn = affine.delinearize_index %subgroup into (2, 2) : index, index"""


def _module(name: str, body: str, m: int, n: int, k: int) -> str:
    grid = f"{-(-m // TILE)}, {n // TILE}, 1"
    return f"""module {{ gpu.module @{name}_module {{
  gpu.func @{name}(%lhs: memref<{m}x{k}xf16>, %rhs: memref<{n}x{k}xf16>, %out: memref<{m}x{n}xf32>)
      kernel attributes {{known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: {grid}>}} {{
    %a = amdgpu.fat_raw_buffer_cast %lhs resetOffset : memref<{m}x{k}xf16> to memref<{m}x{k}xf16, {FAT}>
    %b = amdgpu.fat_raw_buffer_cast %rhs resetOffset : memref<{n}x{k}xf16> to memref<{n}x{k}xf16, {FAT}>
    %o = amdgpu.fat_raw_buffer_cast %out resetOffset : memref<{m}x{n}xf32> to memref<{m}x{n}xf32, {FAT}>
{body}
    gpu.return
  }}
}} }}"""


def join(lines: list[str]) -> str:
    return "\n      ".join(lines)


def direct(m: int, n: int, k: int, *, moved: int, depth: int, slots: int = 2) -> str:
    """Slots that per-lane copies fill while one slot is read: `moved` elements a lane, MMAs of 16x16x`depth`. The
    chunks of eight elements of a row are permuted, so that the lanes of a read access different banks."""
    rounds, count, steps = TILE * DEPTH // (256 * moved), depth // 4, DEPTH // depth
    buffer, slot = (
        f"memref<{f'{slots}x' * lead}{TILE}x{DEPTH}xf16, {layout}{SHARED}>"
        for lead, layout in ((1, ""), (0, "strided<[32, 1], offset: ?>, "))
    )

    def fetch(row: str, to: str, tag: str) -> str:
        """Begins to copy the tiles at column %row of both sides to a slot."""
        lines = []
        for side, size, place in (("a", m, "%bx"), ("b", n, "%by")):
            lines.append(
                f"%{side}{tag}_slot = memref.subview %{side}_slots[{to}, 0, 0] [1, {TILE}, {DEPTH}] [1, 1, 1] "
                f": {buffer} to {slot}"
            )
            for i in range(rounds):
                v = f"%{side}{tag}{i}"
                lines.append(f"""{v}_at = affine.apply affine_map<(d0) -> (d0 * {moved} + {i * 256 * moved})>(%t)
      {v}_row, {v}_chunk, {v}_rest = affine.delinearize_index {v}_at into ({TILE}, 4, 8) : index, index, index
      {v}_turn = arith.remui {v}_row, %c4 : index
      {v}_from = arith.xori {v}_chunk, {v}_turn : index
      {v}_inside = affine.linearize_index disjoint [{v}_from, {v}_rest] by (4, 8) : index
      {v}_column = arith.addi {row}, {v}_inside : index
      {v}_global = affine.linearize_index [{place}, {v}_row] by ({-(-size // TILE)}, {TILE}) : index
      {v}_base = affine.apply affine_map<(d0) -> (d0 * {64 * moved} + {i * 256 * moved})>(%wave)
      {v}_to, {v}_begin = affine.delinearize_index {v}_base into ({TILE}, {DEPTH}) : index, index
      amdgpu.gather_to_lds %{side}[{v}_global, {v}_column], %{side}{tag}_slot[{v}_to, {v}_begin]
        : vector<{moved}xf16>, memref<{size}x{k}xf16, {FAT}>, {slot}""")
        return join(lines)

    def compute(at: str, start: str, tag: str) -> str:
        lines = ["rocdl.sched.barrier 0", "rocdl.s.setprio 1"]
        for side, w in (("a", "%wm"), ("b", "%wn")):
            lines.append(
                f"%{side}{tag}_read = memref.subview %{side}_slots[{at}, 0, 0] [1, {TILE}, {DEPTH}] [1, 1, 1] "
                f": {buffer} to {slot}"
            )
            for half in range(2):
                for step in range(steps):
                    v = f"%{side}{tag}_{half}_{step}"
                    lines.append(f"""{v}_row = affine.apply affine_map<(d0, d1) ->
        (d0 * 32 + d1 mod 16 + {16 * half})>({w}, %lane)
      {v}_k = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * {count} + {step * depth})>(%lane)
      {v}_chunk = arith.divui {v}_k, %c8 : index
      {v}_rest = arith.remui {v}_k, %c8 : index
      {v}_turn = arith.remui {v}_row, %c4 : index
      {v}_swapped = arith.xori {v}_chunk, {v}_turn : index
      {v}_column = affine.linearize_index disjoint [{v}_swapped, {v}_rest] by (4, 8) : index
      {v} = vector.load %{side}{tag}_read[{v}_row, {v}_column] : {slot}, vector<{count}xf16>""")
        lines.append("rocdl.sched.group.barrier 256, 4, 0")
        total = [f"{start}{i}" for i in range(4)]
        for step in range(steps):
            for i in range(4):
                name = f"%d{tag}_{step}_{i}"
                lines.append(
                    f"{name} = amdgpu.mfma 16x16x{depth} %a{tag}_{i // 2}_{step} * %b{tag}_{i % 2}_{step} + {total[i]} "
                    f"blgp = none : vector<{count}xf16>, vector<{count}xf16>, vector<4xf32>"
                )
                total[i] = name
        return join([*lines, "rocdl.s.setprio 0", "amdgpu.sched_barrier allow = <none>"])

    trips, last, prefetched = k // DEPTH, steps - 1, slots - 1

    def ready(tiles: int) -> str:
        """All but the copies of the last tiles are there."""
        return f"amdgpu.memory_counter_wait load({2 * rounds * tiles})\n      amdgpu.lds_barrier"

    begin = [
        f"%p{i} = arith.constant {i} : index\n      %k{i} = arith.constant {i * DEPTH} : index"
        for i in range(prefetched)
    ]
    begin += [fetch(f"%k{i}", f"%p{i}", f"p{i}") for i in range(prefetched)]
    end, sums = [], "%sums#"
    for i in range(prefetched):
        end += [ready(prefetched - 1 - i), f"%end{i} = arith.constant {(trips - prefetched + i) % slots} : index"]
        end.append(compute(f"%end{i}", sums, f"e{i}"))
        sums = f"%de{i}_{last}_"
    stores = []
    for i in range(4):
        for e in range(4):
            v = f"%out{i}_{e}"
            stores.append(f"""{v}_row = affine.apply affine_map<(d0, d1, d2) ->
      (d0 * 64 + d1 * 32 + (d2 floordiv 16) * 4 + {16 * (i // 2) + e})>(%bx, %wm, %lane)
    {v}_column = affine.apply affine_map<(d0, d1, d2) ->
      (d0 * 64 + d1 * 32 + d2 mod 16 + {16 * (i % 2)})>(%by, %wn, %lane)
    {v} = vector.extract {sums}{i}[{e}] : f32 from vector<4xf32>
    memref.store {v}, %o[{v}_row, {v}_column] : memref<{m}x{n}xf32, {FAT}>""")
    body = f"""{_BEGIN.replace("WIDTH", "4")}
    %trips = arith.constant {trips - prefetched} : index
    %ahead = arith.constant {prefetched} : index
    %slots = arith.constant {slots} : index
    %narrow = arith.index_cast %subgroup : index to i32
    %uniform = rocdl.readfirstlane %narrow : i32
    %wave = arith.index_cast %uniform : i32 to index
    %a_slots = memref.alloc() : {buffer}
    %b_slots = memref.alloc() : {buffer}
    rocdl.iglp.opt 1
    {join(begin)}
    %sums:4 = scf.for %i = %c0 to %trips step %c1
        iter_args(%s0 = %zeros, %s1 = %zeros, %s2 = %zeros, %s3 = %zeros)
        -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {{
      %next = arith.addi %i, %ahead : index
      %column = arith.muli %next, %c32 : index
      %this_slot = arith.remui %i, %slots : index
      %next_slot = arith.remui %next, %slots : index
      {ready(prefetched - 1)}
      {fetch("%column", "%next_slot", "n")}
      {compute("%this_slot", "%s", "l")}
      scf.yield {", ".join(f"%dl_{last}_{i}" for i in range(4))}
        : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
    }}
    {join(end)}
    {join(stores)}"""
    return _module("direct", body, m, n, k)


def staged(m: int, n: int, k: int) -> str:
    """Tiles that are loaded through registers to padded rows in LDS, prefetched one iteration early. Each wave has one
    tile of an MMA of 32x32x8. K need not be a multiple of the elements of an iteration."""
    tile, inside = f"memref<{TILE}x36xf16, {SHARED}>", "true" if k % DEPTH == 0 else "false"

    def fetch(column: str, tag: str) -> str:
        lines = []
        for side, size, place in (("a", m, "%bx"), ("b", n, "%by")):
            v = f"%{side}{tag}"
            lines.append(f"""{v}_row = affine.linearize_index [{place}, %mine] by ({-(-size // TILE)}, {TILE}) : index
      {v}_column = arith.addi {column}, %part : index
      {v} = vector.transfer_read %{side}[{v}_row, {v}_column], %zero {{in_bounds = [{inside}]}}
        : memref<{size}x{k}xf16, {FAT}>, vector<8xf16>
      {v}_left = affine.apply affine_map<(d0) -> ({size} - d0)>({v}_row)
      {v}_is = arith.cmpi sgt, {v}_left, %c0 : index
      {v}_kept = arith.select {v}_is, {v}, %none : vector<8xf16>""")
        return join(lines)

    def keep(values: tuple[str, str]) -> str:
        return "\n      ".join(
            f"vector.store {value}, %{side}_tile[%mine, %part] : {tile}, vector<8xf16>"
            for side, value in zip("ab", values, strict=True)
        )

    def compute(start: str, tag: str) -> str:
        lines = []
        for step in range(DEPTH // 8):
            v = f"{tag}_{step}"
            lines.append(f"""%k{v} = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + {8 * step})>(%lane)
      %x{v} = vector.load %a_tile[%a_row, %k{v}] : {tile}, vector<4xf16>
      %y{v} = vector.transfer_read %b_tile[%b_row, %k{v}], %zero {{in_bounds = [true]}} : {tile}, vector<4xf16>
      %d{v} = amdgpu.mfma 32x32x8 %x{v} * %y{v} + {start if step == 0 else f"%d{tag}_{step - 1}"} blgp = none
        : vector<4xf16>, vector<4xf16>, vector<16xf32>""")
        return join(lines)

    trips, last = -(-k // DEPTH), DEPTH // 8 - 1
    stores = "\n    ".join(
        f"""%row{i}_{e} = affine.apply affine_map<(d0) -> (d0 + {8 * i + e})>(%row0)
    %part{i}_{e} = vector.extract %parts[{i}, {e}] : vector<1xf32> from vector<4x4x1xf32>
    vector.store %part{i}_{e}, %o[%row{i}_{e}, %column] : memref<{m}x{n}xf32, {FAT}>, vector<1xf32>"""
        for i in range(4)
        for e in range(4)
    )
    body = f"""{_BEGIN.replace("WIDTH", "16")}
    %none = arith.constant dense<0.0> : vector<8xf16>
    %k = arith.constant {(trips - 1) * DEPTH} : index
    %a_tile = memref.alloc() : {tile}
    %b_tile = memref.alloc() : {tile}
    %mine, %chunk = affine.delinearize_index %t into ({TILE}, 4) : index, index
    %part = arith.muli %chunk, %c8 : index
    %a_row = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1 mod 32)>(%wm, %lane)
    %b_row = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1 mod 32)>(%wn, %lane)
    {fetch("%c0", "p")}
    {keep(("%ap_kept", "%bp_kept"))}
    %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zeros) -> vector<16xf32> {{
      %next = arith.addi %i, %c32 : index
      {fetch("%next", "n")}
      amdgpu.lds_barrier
      amdgpu.sched_barrier allow = <valu|salu>
      {compute("%s", "l")}
      amdgpu.lds_barrier
      {keep(("%an_kept", "%bn_kept"))}
      scf.yield %dl_{last} : vector<16xf32>
    }}
    amdgpu.lds_barrier
    {compute("%sum", "e")}
    %parts = vector.shape_cast %de_{last} : vector<16xf32> to vector<4x4x1xf32>
    %row0 = affine.apply affine_map<(d0, d1, d2) -> (d0 * 64 + d1 * 32 + (d2 floordiv 32) * 4)>(%bx, %wm, %lane)
    %column = affine.apply affine_map<(d0, d1, d2) -> (d0 * 64 + d1 * 32 + d2 mod 32)>(%by, %wn, %lane)
    {stores}"""
    return _module("staged", body, m, n, k)
