# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The level at which a kernel is simulated, and the compiler's additions to block-level kernels."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import PALLAS
from helpers import SHARED
from sim_programs import FENCE, SYNC, barrier, load, program, slice_smem, store
from smalti import reference, sim
from smalti.compiler import driver, entry
from smalti.sim.threads import ThreadProgram

CHIPS = ("sm_80", "sm_90a", "gfx942", "gfx1201")


def tile(arguments: str, body: str) -> str:
    return f"""triton_xla.entry_func @f({arguments}, %tile: index) tiles 2 {{
  %c256 = arith.constant 256 : index
  %c8 = arith.constant 8 : index
  %o = arith.muli %tile, %c256 : index
  %row = arith.muli %tile, %c8 : index
  {body}
  triton_xla.return
}}
"""


def line(name: str, size: int) -> str:
    return f"triton_xla.extract %{name}[%o] [256] [1] : memref<{size}xf32> to tensor<256xf32>"


def into(value: str, name: str, size: int) -> str:
    return f"triton_xla.insert %{value} into %{name}[%o] [256] [1] : tensor<256xf32> into memref<{size}xf32>"


def rows(name: str) -> str:
    return f"triton_xla.extract %{name}[%row, 0] [8, 64] [1, 1] : memref<16x64xf32> to tensor<8x64xf32>"


KERNELS: dict[str, tuple[str, Any]] = {
    "in place": (
        tile(
            "%x: memref<512xf32>",
            f"%v = {line('x', 512)}\n%w = arith.addf %v, %v : tensor<256xf32>\n{into('w', 'x', 512)}",
        ),
        lambda x: [x + x],
    ),
    "in place, at the edge": (
        tile(
            "%x: memref<300xf32>",
            f"%v = {line('x', 300)}\n%w = arith.mulf %v, %v : tensor<256xf32>\n{into('w', 'x', 300)}",
        ),
        lambda x: [x * x],
    ),
    "in place, twice": (
        tile(
            "%x: memref<512xf32>",
            f"%v = {line('x', 512)}\n%w = arith.addf %v, %v : tensor<256xf32>\n{into('w', 'x', 512)}\n"
            f"%u = {line('x', 512)}\n%z = arith.addf %u, %w : tensor<256xf32>\n{into('z', 'x', 512)}",
        ),
        lambda x: [4 * x],
    ),
    "out of place": (
        tile(
            "%x: memref<512xf32>, %y: memref<512xf32>",
            f"%v = {line('x', 512)}\n%w = arith.addf %v, %v : tensor<256xf32>\n{into('w', 'y', 512)}",
        ),
        lambda x, y: [x, x + x],
    ),
    "masked": (
        tile(
            "%x: memref<512xf32>",
            f"""%v = {line("x", 512)}
  %fill = arith.constant 7.0 : f32
  %n = arith.constant 100 : index
  %m = triton_xla.mask %v [%n], %fill : tensor<256xf32>
  {into("m", "x", 512)}""",
        ),
        lambda x: [np.where(np.arange(512) % 256 < 100, x, np.float32(7))],
    ),
    "rows": (
        tile(
            "%x: memref<16x64xf32>, %y: memref<16x64xf32>",
            f"""%v = {rows("x")}
  %w = arith.mulf %v, %v : tensor<8x64xf32>
  triton_xla.insert %w into %y[%row, 0] [8, 64] [1, 1] : tensor<8x64xf32> into memref<16x64xf32>""",
        ),
        lambda x, y: [x, x * x],
    ),
    "in place, halves": (
        tile(
            "%x: memref<512xf16>",
            """%v = triton_xla.extract %x[%o] [256] [1] : memref<512xf16> to tensor<256xf16>
  %w = arith.extf %v : tensor<256xf16> to tensor<256xf32>
  %n = arith.negf %w : tensor<256xf32>
  %h = arith.truncf %n : tensor<256xf32> to tensor<256xf16>
  triton_xla.insert %h into %x[%o] [256] [1] : tensor<256xf16> into memref<512xf16>""",
        ),
        lambda x: [-x],
    ),
    "in place, integers": (
        tile(
            "%x: memref<512xi32>, %n: i32",
            """%v = triton_xla.extract %x[%o] [256] [1] : memref<512xi32> to tensor<256xi32>
  %s = tensor.splat %n : tensor<256xi32>
  %w = arith.muli %v, %s : tensor<256xi32>
  %less = arith.cmpi slt, %v, %w : tensor<256xi32>
  %m = arith.select %less, %v, %w : tensor<256xi1>, tensor<256xi32>
  triton_xla.insert %m into %x[%o] [256] [1] : tensor<256xi32> into memref<512xi32>""",
        ),
        lambda x, n: [np.minimum(x, x * n), n],
    ),
    "out of place, by a loop": (
        tile(
            "%x: memref<16x64xf32>, %y: memref<16x64xf32>",
            """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %at = arith.addi %row, %i : index
    %v = triton_xla.extract %x[%at, 0] [1, 64] [1, 1] : memref<16x64xf32> to tensor<1x64xf32>
    %w = arith.addf %v, %v : tensor<1x64xf32>
    triton_xla.insert %w into %y[%at, 0] [1, 64] [1, 1] : tensor<1x64xf32> into memref<16x64xf32>
  }""",
        ),
        lambda x, y: [x, x + x],
    ),
    "two results": (
        tile(
            "%x: memref<512xf32>, %y: memref<512xf32>",
            f"""%v = {line("x", 512)}
  %u = {line("y", 512)}
  %w = arith.addf %v, %u : tensor<256xf32>
  %z = arith.subf %v, %u : tensor<256xf32>
  {into("w", "x", 512)}
  {into("z", "y", 512)}""",
        ),
        lambda x, y: [x + y, x - y],
    ),
}


@pytest.mark.grid(9)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("chip", CHIPS)
def test_element_wise_kernels_at_every_level(chip: str, name: str) -> None:
    source, reference = KERNELS[name]
    for stop in ("mosaic", "pipelined", "thread"):
        made = sim.simulate(source, chip, stop_after=stop)
        # A pass's output is simulated at its own level, also if layouts were dropped.
        text = str(made.module)
        without = re.sub(r" \{(in_bounds = \[[a-z, ]*\], )?(in|out)_layouts = [^}]*\}", "", text)
        kernels = [made, sim.simulate(text, chip), sim.simulate(without, chip)]
        assert "smalti.num_warps" in text and "_layouts" not in without
        for kernel in kernels:
            assert isinstance(kernel.program, ThreadProgram) == (stop == "thread")
            given = kernel.random_arguments(seed=1)
            wanted = reference(*(array.copy() for array in given))
            assert kernel.find(*given) == ()
            assert all(np.array_equal(a, b) for a, b in zip(given, wanted, strict=True))
    # Lowered on request: from a block-level module as from tiles.
    block = str(sim.simulate(source, chip).module)
    assert isinstance(sim.simulate(block, chip, level="thread").program, ThreadProgram)


@pytest.mark.grid(12)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("engine", ["cpu", "reference", *(f"emu:{chip}" for chip in CHIPS)])
def test_element_wise_kernels_on_every_engine(engine: str, name: str) -> None:
    """The same kernels and arrays as in the simulator."""
    source, function = KERNELS[name]
    given = sim.simulate(source, "sm_80").random_arguments(seed=1)
    wanted = function(*(np.copy(value) for value in given))
    if engine == "reference":
        module = driver.parse(source)
        results = reference.run(entry.find_entry(module), given)
        # In float64.
        found = [value.data.astype(np.asarray(old).dtype) for value, old in zip(results, given, strict=True)]
    else:
        found = [np.copy(value) if np.ndim(value) else value for value in given]
        smalti.compile(source, engine)(*found)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


# Barriers that the compiler adds.

BUFFERS = ["memref<64x64xf32>", "memref<64x64xf32>"]
ATTRIBUTES = ("mosaic_gpu.auto_barriers", "mosaic_gpu.thread_group_size = 128 : i64")
"""The remark of `mosaic-gpu-outline-launches` on the kernel of a launch."""


def kernel(body: str, attributes: tuple[str, ...] = ATTRIBUTES, threads: int = 128) -> str:
    """The kernel of a launch."""
    arguments = ", ".join(f"%a{i}: {ty}" for i, ty in enumerate(BUFFERS))
    sizes = f"known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>"
    return f"""gpu.module @m {{
  gpu.func @k({arguments}) kernel attributes {{
      {", ".join((sizes, "smalti.shared_memory_bytes = 65536 : i64", *attributes))}}} {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %false = arith.constant false
    %true = arith.constant true{body}
    gpu.return
  }}
}}
"""


def stored(sync: str = "") -> str:
    """y = 2 x, through shared memory, as JAX prints it: the compiler puts barriers around the store."""
    body = barrier("b", 65528) + slice_smem("x", 0, "64x64") + load("%a0", "%x", "64x64", "b")
    body += f"""
      %v = mosaic_gpu.vector_load %x : memref<64x64xf32, {SHARED}> -> vector<64x64xf32>
      %w = arith.addf %v, %v : vector<64x64xf32>{sync}
      mosaic_gpu.vector_store %w, %x : vector<64x64xf32>, memref<64x64xf32, {SHARED}>{FENCE}{sync}"""
    return body + store("%x", "%a1", "64x64")


def twice(sync: str = "") -> str:
    """Two copies to one address, with a load of the first one between."""
    body = barrier("b", 65528) + slice_smem("x", 0, "64x64")
    body += load("%a0", "%x", "64x64", "b")
    body += f"\n      %v = mosaic_gpu.vector_load %x : memref<64x64xf32, {SHARED}> -> vector<64x64xf32>{sync}"
    body += load("%a0", "%x", "64x64", "b", "%true")
    return f"""{body}
      %u = mosaic_gpu.vector_load %x : memref<64x64xf32, {SHARED}> -> vector<64x64xf32>
      %w = arith.addf %u, %v : vector<64x64xf32>
      mosaic_gpu.vector_store %w, %a1 : vector<64x64xf32>, memref<64x64xf32>"""


@pytest.mark.parametrize("body", [stored, twice])
@pytest.mark.parametrize("sync", ["", SYNC], ids=["as JAX prints it", "with barriers of its own"])
def test_barriers_of_the_compiler(body: Any, sync: str) -> None:
    for text in (program(body(sync), BUFFERS), kernel(body(sync))):
        made = sim.simulate(text, "sm_90a")
        for schedule in sim.SCHEDULES:
            x, y = made.random_arguments()
            made(x, y, simulation=schedule)
            assert (y == x + x).all()


@pytest.mark.parametrize(
    ("body", "attributes", "races"),
    [
        (stored, ATTRIBUTES[1:], ["the copy reads"]),
        # The compiler inserts them only around stores of tile-level kernels.
        (stored, ATTRIBUTES[:1], ["the copy reads"]),
        (stored, (), ["the copy reads"]),
        (twice, ATTRIBUTES[1:], ["the copy writes"]),
        (twice, ATTRIBUTES[:1], []),
        (twice, (), ["the copy writes"]),
    ],
)
def test_a_kernel_without_requested_barriers(body: Any, attributes: tuple[str, ...], races: list[str]) -> None:
    made = sim.simulate(kernel(body(), attributes), "sm_90a")
    found = made.find(*made.random_arguments())
    assert [f.kind for f in found] == ["race"] * len(races)
    assert all(start in f.message for f, start in zip(found, races, strict=True))
    made = sim.simulate(kernel(body(SYNC), attributes), "sm_90a")
    assert made.find(*made.random_arguments()) == ()


def test_concurrent_kernels() -> None:
    """Each of three programs has vectors, a number and barriers of its own; the last one is a part of one."""
    body = f"""
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %group = arith.divui %t, %c64 : index
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf32, {SHARED}>
    %c16 = arith.constant 16 : index
    %row = arith.muli %group, %c16 : index
    %i = arith.index_cast %row : index to i32
    %part = memref.subview %s[%row, 0] [16, 64] [1, 1] : memref<64x64xf32, {SHARED}>
        to memref<16x64xf32, strided<[64, 1], offset: ?>, {SHARED}>
    %from = memref.subview %a0[%row, 0] [16, 64] [1, 1] : memref<64x64xf32>
        to memref<16x64xf32, strided<[64, 1], offset: ?>>
    %to = memref.subview %a1[%row, 0] [16, 64] [1, 1] : memref<64x64xf32>
        to memref<16x64xf32, strided<[64, 1], offset: ?>>
    %v = mosaic_gpu.vector_load %from : memref<16x64xf32, strided<[64, 1], offset: ?>> -> vector<16x64xf32>
    mosaic_gpu.vector_store %v, %part : vector<16x64xf32>, memref<16x64xf32, strided<[64, 1], offset: ?>, {SHARED}>
    %w = mosaic_gpu.vector_load %part : memref<16x64xf32, strided<[64, 1], offset: ?>, {SHARED}> -> vector<16x64xf32>
    mosaic_gpu.vector_store %w, %to : vector<16x64xf32>, memref<16x64xf32, strided<[64, 1], offset: ?>>"""
    attributes = (ATTRIBUTES[0], "mosaic_gpu.thread_group_size = 64 : i64")
    made = sim.simulate(kernel(body, attributes, threads=160), "sm_90a")
    assert made.program.group_threads == 64
    x, y = made.random_arguments()
    y[...] = 0
    made(x, y)
    assert (y[:48] == x[:48]).all() and not y[48:].any()


@pytest.mark.parametrize("name", ["pointwise", "row_softmax", "gather_rows", "wgmma_shared"])
def test_a_launch_and_its_kernel_are_one_program(name: str) -> None:
    source = PALLAS / f"{name}.mlir"
    module = driver.parse(source)
    driver.run_pipeline(module, "builtin.module(mosaic-gpu-outline-launches)")
    text = str(module)
    kernel = text[text.index("gpu.module") : text.index("func.func")]
    assert all(attribute in kernel for attribute in ATTRIBUTES)
    launch, alone = sim.simulate(source, "sm_90a"), sim.simulate(kernel, "sm_90a")
    given = launch.random_arguments()
    one, other = ([array.copy() for array in given] for _ in range(2))
    assert launch.find(*one, simulation=sim.Simulation(continue_after_finding=True)) == ()
    assert alone.find(*other, simulation=sim.Simulation(continue_after_finding=True)) == ()
    assert all((a == b).all() for a, b in zip(one, other, strict=True))
