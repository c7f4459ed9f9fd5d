# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as IREE's pipelines for any GPU produce them, written by hand: LLVMGPUTileAndFuse after bufferization, with
`scf.forall` over blocks and threads, and LLVMGPUVectorDistribute after the distribution of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from helpers import SHARED


def _module(arguments: str, body: str, block: int, grid: tuple[int, int]) -> str:
    x, y = grid
    return f"""module {{ gpu.module @m {{
  gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: {block}, 1, 1>, known_grid_size = array<i32: {x}, {y}, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
{body}
    gpu.return
  }}
}} }}"""


# ---------------------------------------------------------------------------------------------------------------------
# LLVMGPUTileAndFuse
# ---------------------------------------------------------------------------------------------------------------------

_MATMUL = """
        %a = vector.transfer_read %a_tile[%row, %c0], %zero {{in_bounds = [true, true]}}
          : memref<16x{depth}xf32, {shared}>, vector<4x{depth}xf32>
        %b = vector.transfer_read %b_tile[%c0, %column], %zero {{in_bounds = [true, true]}}
          : memref<{depth}x16xf32, {shared}>, vector<{depth}x4xf32>
        %old = vector.transfer_read %sums[%c0, %c0], %zero {{in_bounds = [true, true]}}
          : memref<4x4xf32, #gpu.address_space<private>>, vector<4x4xf32>
        %new = vector.contract {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
          affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"],
          kind = #vector.kind<add>}} %a, %b, %old
          : vector<4x{depth}xf32>, vector<{depth}x4xf32> into vector<4x4xf32>
        vector.transfer_write %new, %sums[%c0, %c0] {{in_bounds = [true, true]}}
          : vector<4x4xf32>, memref<4x4xf32, #gpu.address_space<private>>"""


def _tiles(out: str, trips: int, depth: int, fetch: str) -> str:
    """A block of 16 threads has a tile of 16 x 16, and a thread a tile of 4 x 4, whose operands `fetch` loads."""
    return f"""
      %a_tile = memref.alloc() : memref<16x{depth}xf32, {SHARED}>
      %b_tile = memref.alloc() : memref<{depth}x16xf32, {SHARED}>
      %sums = memref.alloca() : memref<4x4xf32, #gpu.address_space<private>>
      %zeros = arith.constant dense<0.0> : vector<4x4xf32>
      vector.transfer_write %zeros, %sums[%c0, %c0] {{in_bounds = [true, true]}}
        : vector<4x4xf32>, memref<4x4xf32, #gpu.address_space<private>>
      %depth = arith.constant {depth} : index
      %end = arith.constant {trips * depth} : index
      scf.for %k = %c0 to %end step %depth {{
        gpu.barrier
{fetch}
        gpu.barrier
        scf.forall (%row, %column) = (0, 0) to (16, 16) step (4, 4) {{{_MATMUL.format(depth=depth, shared=SHARED)}
        }} {{mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}}
      }}
      scf.forall (%row, %column) = (0, 0) to (16, 16) step (4, 4) {{
        %v = vector.transfer_read %sums[%c0, %c0], %zero {{in_bounds = [true, true]}}
          : memref<4x4xf32, #gpu.address_space<private>>, vector<4x4xf32>
        %r = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %row)
        %c = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%j, %column)
        vector.transfer_write %v, %out[%r, %c] {{in_bounds = [true, true]}} : vector<4x4xf32>, {out}
      }} {{mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}}"""


def matmul(m: int, n: int, k: int) -> str:
    """C = A B, with copies of rows of four by threads."""
    depth = 8
    fetch = f"""
        scf.forall (%r, %c) = (0, 0) to (16, {depth}) step (1, 4) {{
          %row = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %r)
          %column = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%k, %c)
          %v = vector.transfer_read %lhs[%row, %column], %zero {{in_bounds = [true]}} : memref<{m}x{k}xf32>, vector<4xf32>
          vector.transfer_write %v, %a_tile[%r, %c] {{in_bounds = [true]}}
            : vector<4xf32>, memref<16x{depth}xf32, {SHARED}>
        }} {{mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}}
        scf.forall (%r, %c) = (0, 0) to ({depth}, 16) step (1, 4) {{
          %row = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%k, %r)
          %column = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%j, %c)
          %v = vector.transfer_read %rhs[%row, %column], %zero {{in_bounds = [true]}} : memref<{k}x{n}xf32>, vector<4xf32>
          vector.transfer_write %v, %b_tile[%r, %c] {{in_bounds = [true]}}
            : vector<4xf32>, memref<{depth}x16xf32, {SHARED}>
        }} {{mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}}"""
    body = f"""
    scf.forall (%i, %j) = (0, 0) to ({m}, {n}) step (16, 16) {{{_tiles(f"memref<{m}x{n}xf32>", k // depth, depth, fetch)}
    }} {{mapping = [#gpu.block<y>, #gpu.block<x>]}}"""
    arguments = f"%lhs: memref<{m}x{k}xf32>, %rhs: memref<{k}x{n}xf32>, %out: memref<{m}x{n}xf32>"
    return _module(arguments, body, 16, (n // 16, m // 16))


@dataclass(frozen=True)
class Convolution:
    """Images of NHWC, filters of HWCF, without padding."""

    images: int
    height: int
    width: int
    channels: int
    filters: int
    window: int = 3

    @property
    def out(self) -> tuple[int, int, int, int]:
        return self.images, self.height - self.window + 1, self.width - self.window + 1, self.filters


def convolution(how: Convolution) -> str:
    """As an implicit matmul: the rows of A are positions of the result, its columns positions in a window and
    channels."""
    n, h, w, f = how.out
    m, k, depth, q = n * h * w, how.window**2 * how.channels, 8, how.window
    image = f"memref<{how.images}x{how.height}x{how.width}x{how.channels}xf32>"
    fetch = f"""
        scf.forall (%r, %c) = (0, 0) to (16, {depth}) step (1, 1) {{
          %place = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %r)
          %inside = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%k, %c)
          %image, %y, %x = affine.delinearize_index %place into ({n}, {h}, {w}) : index, index, index
          %dy, %dx, %channel = affine.delinearize_index %inside into ({q}, {q}, {how.channels}) : index, index, index
          %yy = arith.addi %y, %dy : index
          %xx = arith.addi %x, %dx : index
          %v = memref.load %images[%image, %yy, %xx, %channel] : {image}
          memref.store %v, %a_tile[%r, %c] : memref<16x{depth}xf32, {SHARED}>
        }} {{mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}}
        scf.forall (%r, %c) = (0, 0) to ({depth}, 16) step (1, 4) {{
          %row = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%k, %r)
          %column = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%j, %c)
          %v = vector.transfer_read %flat[%row, %column], %zero {{in_bounds = [true]}} : memref<{k}x{f}xf32>, vector<4xf32>
          vector.transfer_write %v, %b_tile[%r, %c] {{in_bounds = [true]}}
            : vector<4xf32>, memref<{depth}x16xf32, {SHARED}>
        }} {{mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}}"""
    body = f"""
    %flat = memref.collapse_shape %filters [[0, 1, 2], [3]]
      : memref<{q}x{q}x{how.channels}x{f}xf32> into memref<{k}x{f}xf32>
    %out = memref.collapse_shape %result [[0, 1, 2], [3]] : memref<{n}x{h}x{w}x{f}xf32> into memref<{m}x{f}xf32>
    scf.forall (%i, %j) = (0, 0) to ({m}, {f}) step (16, 16) {{{_tiles(f"memref<{m}x{f}xf32>", k // depth, depth, fetch)}
    }} {{mapping = [#gpu.block<y>, #gpu.block<x>]}}"""
    arguments = (
        f"%images: {image}, %filters: memref<{q}x{q}x{how.channels}x{f}xf32>, %result: memref<{n}x{h}x{w}x{f}xf32>"
    )
    return _module(arguments, body, 16, (f // 16, m // 16))


# ---------------------------------------------------------------------------------------------------------------------
# LLVMGPUVectorDistribute
# ---------------------------------------------------------------------------------------------------------------------


def _of_block(value: str, kind: str, warps: int, size: int, tag: str) -> str:
    """The combined values of all threads of a block: by shuffles in a warp, then through shared memory."""
    combine = {"add": "arith.addf", "max": "arith.maximumf"}[kind]
    return f"""{_of_warp(value, combine, size, f"{tag}_warp")}
    %{tag}_own = memref.alloc() : memref<{warps}xf32, {SHARED}>
    scf.if %first {{
      memref.store %{tag}_warp, %{tag}_own[%warp] : memref<{warps}xf32, {SHARED}>
    }}
    gpu.barrier
    %{tag}_all = vector.transfer_read %{tag}_own[%c0], %zero {{in_bounds = [true]}}
      : memref<{warps}xf32, {SHARED}>, vector<{warps}xf32>
    %{tag} = vector.reduction <{"add" if kind == "add" else "maximumf"}>, %{tag}_all : vector<{warps}xf32> into f32"""


def _of_warp(value: str, combine: str, size: int, result: str) -> str:
    """The combined values of the lanes of a warp, by shuffles."""
    lines, last = [], value
    for by in (1 << i for i in range(size.bit_length() - 1)):
        found = f"%{result}" if 2 * by == size else f"%{result}_sum{by}"
        lines.append(f"""
    %{result}_by{by} = arith.constant {by} : i32
    %{result}_other{by}, %{result}_valid{by} = gpu.shuffle xor {last}, %{result}_by{by}, %width : f32
    {found} = {combine} {last}, %{result}_other{by} : f32""")
        last = found
    return "".join(lines)


def _reduction_of_rows(columns: int, threads: int, size: int) -> str:
    return f"""
    %t = gpu.thread_id x
    %row = gpu.block_id x
    %width = arith.constant {size} : i32
    %warp, %lane = affine.delinearize_index %t into ({threads // size}, {size}) : index, index
    %first = arith.cmpi eq, %lane, %c0 : index
    %at = affine.apply affine_map<(d0) -> (d0 * {columns // threads})>(%t)
    %x = vector.transfer_read %in[%row, %at], %zero {{in_bounds = [true]}}
      : memref<ROWSx{columns}xf32>, vector<{columns // threads}xf32>"""


def softmax(rows: int, columns: int, size: int) -> str:
    """A block has a row. `size` is the number of lanes of a warp."""
    threads = 4 * size
    each = columns // threads
    body = f"""{_reduction_of_rows(columns, threads, size)}
    %own_most = vector.reduction <maximumf>, %x : vector<{each}xf32> into f32{_of_block("%own_most", "max", 4, size, "most")}
    %mosts = vector.broadcast %most : f32 to vector<{each}xf32>
    %less = arith.subf %x, %mosts : vector<{each}xf32>
    %power = math.exp %less : vector<{each}xf32>
    %own_sum = vector.reduction <add>, %power : vector<{each}xf32> into f32{_of_block("%own_sum", "add", 4, size, "sum")}
    %sums = vector.broadcast %sum : f32 to vector<{each}xf32>
    %found = arith.divf %power, %sums : vector<{each}xf32>
    vector.transfer_write %found, %out[%row, %at] {{in_bounds = [true]}} : vector<{each}xf32>, memref<{rows}x{columns}xf32>"""
    arguments = f"%in: memref<{rows}x{columns}xf32>, %out: memref<{rows}x{columns}xf32>"
    return _module(arguments, body.replace("ROWS", str(rows)), threads, (rows, 1))


def attention(heads: int, queries: int, keys: int, size: int = 32, shuffles: bool = False) -> str:
    """A block has four rows of queries, 32 lanes one of them; a lane scores one key of each tile, then has one column of
    the result. Heads have 32 columns. `size` is the number of lanes of a warp; with `shuffles`,
    their reductions are already lowered."""
    most = "%tile_most = gpu.subgroup_reduce maximumf %score cluster(size = 32) : (f32) -> f32"
    total = "%tile_sum = gpu.subgroup_reduce add %p cluster(size = 32) : (f32) -> f32"
    if shuffles:
        most = _of_warp("%score", "arith.maximumf", 32, "tile_most")
        total = _of_warp("%p", "arith.addf", 32, "tile_sum")
    depth, threads = 32, 4 * 32
    tile = f"memref<32x{depth}xf32, {SHARED}>"
    fetch = "\n".join(
        f"""
      %{name}_v = vector.transfer_read %{name}[%head, %from, %part], %zero {{in_bounds = [true]}}
        : memref<{heads}x{keys}x{depth}xf32>, vector<8xf32>
      vector.transfer_write %{name}_v, %{name}_tile[%copied, %part] {{in_bounds = [true]}} : vector<8xf32>, {tile}"""
        for name in ("key", "value")
    )
    body = f"""
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %head = gpu.block_id y
    %width = arith.constant {size} : i32
    %half = affine.apply affine_map<(d0) -> ((d0 mod {size}) floordiv 32 * 32)>(%t)
    %c32 = arith.constant 32 : index
    %warp, %lane = affine.delinearize_index %t into (4, 32) : index, index
    %query_row = affine.linearize_index disjoint [%block, %warp] by ({queries // 4}, 4) : index
    %copied, %chunk = affine.delinearize_index %t into (32, 4) : index, index
    %part = affine.apply affine_map<(d0) -> (d0 * 8)>(%chunk)
    %scale = arith.constant 0.25503 : f32
    %q = vector.transfer_read %query[%head, %query_row, %c0], %zero {{in_bounds = [true]}}
      : memref<{heads}x{queries}x{depth}xf32>, vector<{depth}xf32>
    %key_tile = memref.alloc() : {tile}
    %value_tile = memref.alloc() : {tile}
    %none = arith.constant 0xFF800000 : f32
    %end = arith.constant {keys} : index
    %most, %total, %sum = scf.for %k = %c0 to %end step %c32 iter_args(%m = %none, %l = %zero, %o = %zero)
        -> (f32, f32, f32) {{
      %from = arith.addi %k, %copied : index
      gpu.barrier
{fetch}
      gpu.barrier
      %own = vector.transfer_read %key_tile[%lane, %c0], %zero {{in_bounds = [true]}} : {tile}, vector<{depth}xf32>
      %products = arith.mulf %q, %own : vector<{depth}xf32>
      %dot = vector.reduction <add>, %products : vector<{depth}xf32> into f32
      %score = arith.mulf %dot, %scale : f32
      {most}
      %new_m = arith.maximumf %m, %tile_most : f32
      %down = arith.subf %m, %new_m : f32
      %alpha = math.exp2 %down : f32
      %above = arith.subf %score, %new_m : f32
      %p = math.exp2 %above : f32
      {total}
      %scaled = arith.mulf %l, %alpha : f32
      %new_l = arith.addf %scaled, %tile_sum : f32
      %kept = arith.mulf %o, %alpha : f32
      %new_o = scf.for %j = %c0 to %c32 step %c1 iter_args(%acc = %kept) -> f32 {{
        %place = arith.addi %half, %j : index
        %from_lane = arith.index_cast %place : index to i32
        %pj, %valid = gpu.shuffle idx %p, %from_lane, %width : f32
        %vj = memref.load %value_tile[%j, %lane] : {tile}
        %next = math.fma %pj, %vj, %acc : f32
        scf.yield %next : f32
      }}
      scf.yield %new_m, %new_l, %new_o : f32, f32, f32
    }}
    %found = arith.divf %sum, %total : f32
    memref.store %found, %out[%head, %query_row, %lane] : memref<{heads}x{queries}x{depth}xf32>"""
    side = f"memref<{heads}x{keys}x{depth}xf32>"
    arguments = f"%query: memref<{heads}x{queries}x{depth}xf32>, %key: {side}, %value: {side}, "
    arguments += f"%out: memref<{heads}x{queries}x{depth}xf32>"
    return _module(arguments, body, threads, (queries // 4, heads))
