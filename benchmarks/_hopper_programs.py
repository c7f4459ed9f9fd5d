# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of warp groups that grow, for pass_scaling.py."""

from __future__ import annotations

ACCUMULATOR = (
    "#mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>"
)
SHARED = "#gpu.address_space<workgroup>"
SUM = "vector<64x64xf32>"
TILE = f"memref<64x64xf16, {SHARED}>"
BARRIER = f"memref<!mosaic_gpu.barrier, {SHARED}>"
LAYOUTS = "in_layouts = [#acc], out_layouts = [#acc]"


def multiply(result: str, accumulator: str, a: str, b: str) -> str:
    """A wgmma with a wait."""
    return (
        f"    %{result} = mosaic_gpu.wgmma accumulator(%{accumulator} : {SUM}) a(%{a} : {TILE}) b(%{b} : {TILE}) "
        f"{{smalti.synchronous, {LAYOUTS}}} -> {SUM}\n"
    )


def matmuls(ops: int) -> str:
    """A chain of wgmma on one accumulator, with arithmetic between every tenth and the next one."""
    lines, last = [], "c"
    for number in range(ops):
        if number % 10 == 9:
            lines.append(f"    %x{number} = arith.negf %{last} {{{LAYOUTS}}} : {SUM}\n")
        else:
            lines.append(multiply(f"x{number}", last, "a", "b"))
        last = f"x{number}"
    return (
        f"#acc = {ACCUMULATOR}\nfunc.func @f(%c: {SUM}, %a: {TILE}, %b: {TILE}) -> {SUM} {{\n"
        f"{''.join(lines)}    return %{last} : {SUM}\n}}\n"
    )


def barrier_with_buffers(suffix: str) -> str:
    """The initialization of a barrier, and the two buffers of a wgmma."""
    return f"""
    %full{suffix} = memref.alloc() : {BARRIER}
    %address{suffix} = memref.extract_aligned_pointer_as_index %full{suffix} : {BARRIER} -> index
    %number{suffix} = arith.index_cast %address{suffix} : index to i64
    %pointer{suffix} = llvm.inttoptr %number{suffix} : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer{suffix} {{arrival_count = 1 : i64, num_barriers = 1 : i32}} : !llvm.ptr<3>
    %a{suffix} = memref.alloc() {{alignment = 1024 : i64}} : {TILE}
    %b{suffix} = memref.alloc() {{alignment = 1024 : i64}} : {TILE}
"""


def matmul_loop(suffix: str) -> str:
    """A loop that copies two tiles and multiplies them."""
    expected = f"barrier(%full{suffix} : {BARRIER})"
    types = f"memref<64x1024xf16>[i32, i32] to {TILE}, {BARRIER}"
    return f"""
    %sum{suffix}:2 = scf.for %k{suffix} = %c0 to %c1024 step %c64 iter_args(%acc{suffix} = %first, %parity{suffix} = %false)
        -> ({SUM}, i1) {{
      %i{suffix} = arith.index_cast %k{suffix} : index to i32
      mosaic_gpu.arrive_expect_tx {expected} 16384
      mosaic_gpu.async_load %x[%zero, %i{suffix}] [64, 64] to %a{suffix} barrier(%full{suffix}) : {types}
      mosaic_gpu.async_load %y[%zero, %i{suffix}] [64, 64] to %b{suffix} barrier(%full{suffix}) : {types}
      mosaic_gpu.wait {expected} parity(%parity{suffix} : i1)
  {multiply(f"next{suffix}", f"acc{suffix}", f"a{suffix}", f"b{suffix}")}
      gpu.barrier
      %other{suffix} = arith.xori %parity{suffix}, %true : i1
      scf.yield %next{suffix}, %other{suffix} : {SUM}, i1
    }}
"""


def matmul_kernel(body: str) -> str:
    return f"""#acc = {ACCUMULATOR}
gpu.module @m {{
  gpu.func @f(%x: memref<64x1024xf16> {{llvm.noalias}}, %y: memref<64x1024xf16> {{llvm.noalias}},
              %out: memref<64x64xf32> {{llvm.noalias}}) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {{out_layouts = [#acc]}} dense<0.0> : {SUM}
{body}
    gpu.return
  }}
}}
"""


def epilogue(ops: int) -> str:
    """A wgmma whose accumulator goes through much arithmetic, and is stored repeatedly."""
    lines, last = [barrier_with_buffers(""), "    gpu.barrier\n", matmul_loop("")], "sum#0"
    for number in range(ops):
        if number % 10 == 9:
            lines.append(
                f"    vector.transfer_write %{last}, %out[%c0, %c0] "
                f"{{in_bounds = [true, true], in_layouts = [#acc]}} : {SUM}, memref<64x64xf32>\n"
            )
        else:
            lines.append(f"    %r{number} = arith.negf %{last} {{{LAYOUTS}}} : {SUM}\n")
            last = f"r{number}"
    return matmul_kernel("".join(lines))


def matmul_loops(ops: int) -> str:
    """Loops one after another, each with copies, a barrier and a wgmma: their buffers exceed the shared memory."""
    count = max(1, ops // 18)
    before = "".join(barrier_with_buffers(f"_{number}") for number in range(count))
    return matmul_kernel(before + "    gpu.barrier\n" + "".join(matmul_loop(f"_{number}") for number in range(count)))


def barriers(ops: int) -> str:
    """Barriers of a block between reads and writes of windows of two arrays."""
    layout = "#mosaic_gpu.WGStridedFragLayout<[512], 4>"
    lines = []
    for number in range(max(1, ops // 4)):
        lines.append(f"""
    %i{number} = arith.constant {512 * number} : index
    %v{number} = vector.transfer_read %x[%i{number}], %pad {{in_bounds = [true], out_layouts = [{layout}]}}
        : memref<134217728xf32>, vector<512xf32>
    gpu.barrier
    vector.transfer_write %v{number}, %y[%i{number}] {{in_bounds = [true], in_layouts = [{layout}]}}
        : vector<512xf32>, memref<134217728xf32>
""")
    return f"""gpu.module @m {{
  gpu.func @f(%x: memref<134217728xf32>, %y: memref<134217728xf32>)
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %pad = arith.constant 0.0 : f32
{"".join(lines)}
    gpu.return
  }}
}}
"""


def ordered(ops: int) -> str:
    """A tile-level kernel with many windows whose offsets come from the row and the column."""
    kind = "memref<8192x8192xf32>"
    lines = []
    for number in range(max(1, ops // 3)):
        offsets = ("%row, %c0", "%c0, %column", "%row, %column")[number % 3]
        lines.append(
            f"  %s{number} = arith.addi %row, %c8 : index\n"
            f"  %t{number} = triton_xla.extract %x[{offsets}] [64, 64] [1, 1] : {kind} to tensor<64x64xf32>\n"
            f"  triton_xla.insert %t{number} into %y[%s{number}, %column] [64, 64] [1, 1] : tensor<64x64xf32> into {kind}\n"
        )
    return f"""
triton_xla.entry_func @f(%x: {kind}, %y: {kind}, %tile: index) tiles 16384 {{
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %i = arith.divui %tile, %c128 : index
  %j = arith.remui %tile, %c128 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
{"".join(lines)}
  triton_xla.return
}}
"""


def launch(ops: int) -> str:
    """A block-level kernel with an inline launch, as JAX prints it."""
    lines, last = [], "v"
    for number in range(ops):
        lines.append(f"      %r{number} = arith.mulf %{last}, %two : vector<512xf32>\n")
        last = f"r{number}"
    structure = "!llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>"
    return f"""
func.func @add_mosaic_gpu(%stream: !llvm.ptr, %pointers: !llvm.ptr) {{
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %bytes = arith.constant 4096 : i32
  %zero = llvm.mlir.constant(0 : i64) : i64
  %step = llvm.mlir.constant(1 : i64) : i64
  %size = llvm.mlir.constant(512 : i64) : i64
  %undef = llvm.mlir.undef : {structure}
  %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
  %two = arith.constant dense<2.0> : vector<512xf32>
  %x0 = llvm.insertvalue %p, %undef[0] : {structure}
  %x1 = llvm.insertvalue %p, %x0[1] : {structure}
  %x2 = llvm.insertvalue %zero, %x1[2] : {structure}
  %x3 = llvm.insertvalue %size, %x2[3, 0] : {structure}
  %x4 = llvm.insertvalue %step, %x3[4, 0] : {structure}
  %x = builtin.unrealized_conversion_cast %x4 : {structure} to memref<512xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
      threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {{
    %v = mosaic_gpu.vector_load %x : memref<512xf32> -> vector<512xf32>
{"".join(lines)}
    mosaic_gpu.vector_store %{last}, %x : vector<512xf32>, memref<512xf32>
    gpu.terminator
  }}
  return
}}
"""
