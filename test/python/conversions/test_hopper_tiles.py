# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile matmuls on Hopper: tensor copies, `wgmma`, pipelines, producer warps, persistent grids.

The reference is the float64 interpreter of tile-level kernels. Outputs and shared memory start as NaN, and everything
around the arguments is poison (test_gpu_numerics.py).
"""

from __future__ import annotations

import dataclasses
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import smalti
from matmuls import matmul
from smalti import sim, toolchain
from smalti.emulator import SCHEDULES, Emulation
from test_gpu_numerics import Program

CHIP = "sm_90a"


def tile_matmul(
    shape: tuple[int, int, int],
    tile: tuple[int, int, int],
    dtype: str = "f16",
    *,
    transposed: str = "",
    epilogue: str = "",
    out: str = "f32",
    words: str = "",
) -> str:
    """C = A * B, with operands that are stored transposed ("a", "b", "ab"), and an epilogue."""
    (m, n, k), (tm, tn, tk) = shape, tile
    columns = -(-n // tn)
    a = f"memref<{m}x{k}x{dtype}" + (f", strided<[1, {m}]>>" if "a" in transposed else ">")
    b = f"memref<{k}x{n}x{dtype}" + (f", strided<[1, {k}]>>" if "b" in transposed else ">")
    bias = f"memref<{m}x{n}xf32, strided<[0, 1]>>"
    text = f"""
triton_xla.entry_func @matmul(%a: {a}, %b: {b}, %bias: {bias}, %c: memref<{m}x{n}x{out}>, %tile: index)
    tiles {-(-m // tm) * columns} {{
  %c0 = arith.constant 0 : index
  %columns = arith.constant {columns} : index
  %tm = arith.constant {tm} : index
  %tn = arith.constant {tn} : index
  %tk = arith.constant {tk} : index
  %depth = arith.constant {k} : index
  %zero = arith.constant dense<0.0> : tensor<{tm}x{tn}xf32>
  %i = arith.divui %tile, %columns : index
  %j = arith.remui %tile, %columns : index
  %row = arith.muli %i, %tm : index
  %column = arith.muli %j, %tn : index
  %sum = scf.for %p = %c0 to %depth step %tk iter_args(%acc = %zero) -> (tensor<{tm}x{tn}xf32>) {{
    %at = triton_xla.extract %a[%row, %p] [{tm}, {tk}] [1, 1] : {a} to tensor<{tm}x{tk}x{dtype}>
    %bt = triton_xla.extract %b[%p, %column] [{tk}, {tn}] [1, 1] : {b} to tensor<{tk}x{tn}x{dtype}>
    %next = triton_xla.dot %at, %bt, %acc {words}
        : tensor<{tm}x{tk}x{dtype}>, tensor<{tk}x{tn}x{dtype}> -> tensor<{tm}x{tn}xf32>
    scf.yield %next : tensor<{tm}x{tn}xf32>
  }}
"""
    value = "%sum"
    if "bias" in epilogue:
        text += (
            f"  %bt = triton_xla.extract %bias[%row, %column] [{tm}, {tn}] [1, 1] : {bias} to tensor<{tm}x{tn}xf32>\n"
        )
        text += f"  %biased = arith.addf {value}, %bt : tensor<{tm}x{tn}xf32>\n"
        value = "%biased"
    if "relu" in epilogue:
        text += f"  %relu = arith.maximumf {value}, %zero : tensor<{tm}x{tn}xf32>\n"
        value = "%relu"
    if out != "f32":
        text += f"  %narrow = arith.truncf {value} : tensor<{tm}x{tn}xf32> to tensor<{tm}x{tn}x{out}>\n"
        value = "%narrow"
    text += f"""  triton_xla.insert {value} into %c[%row, %column] [{tm}, {tn}] [1, 1]
      : tensor<{tm}x{tn}x{out}> into memref<{m}x{n}x{out}>
  triton_xla.return
}}
"""
    return text


def check(text: str, emulation: Emulation | None = None, **options: Any) -> Program:
    program = Program(text, CHIP, matmul="wgmma", **options)
    said = [remark.message for remark in program.kernel.remarks]
    assert any("lowered to wgmma" in message for message in said), said
    program.check(emulation=emulation)
    return program


SHAPES = {
    "square": ((256, 256, 256), (128, 128, 64)),
    "skinny": ((64, 512, 128), (64, 128, 64)),
    "ragged-m": ((200, 128, 128), (128, 128, 64)),
    "ragged-n": ((128, 136, 128), (128, 64, 64)),
    "ragged-k": ((128, 64, 104), (128, 64, 64)),
    "ragged": ((200, 136, 104), (128, 64, 32)),
    "one-iteration": ((64, 64, 64), (64, 64, 64)),
}


@pytest.mark.grid(6)
@pytest.mark.parametrize("specialize", ["on", "off"])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: str, specialize: str) -> None:
    check(tile_matmul(*SHAPES[shape]), specialize=specialize)


@pytest.mark.parametrize("transposed", ["a", "b", "ab"])
def test_transposed_operands(transposed: str) -> None:
    check(tile_matmul((192, 128, 96), (64, 64, 32), transposed=transposed))


def test_types() -> None:
    check(tile_matmul((128, 64, 128), (64, 64, 64), "bf16"))
    check(tile_matmul((128, 64, 64), (64, 64, 32), "f32", transposed="b", words="tf32"))


@pytest.mark.grid(4)
@pytest.mark.parametrize("out", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("epilogue", ["", "bias", "bias-relu"])
def test_epilogues(epilogue: str, out: str) -> None:
    check(tile_matmul((128, 72, 128), (64, 64, 64), epilogue=epilogue, out=out))


def test_accumulation_onto_existing_values() -> None:
    check(matmul((136, 72, 96), (64, 64, 32)))


def dequantized(shape: tuple[int, int, int], tile: tuple[int, int, int]) -> str:
    """C = (scale * A) * B, with A of i8 in memory and of bf16 in the matmul: operand A is computed in registers."""
    (m, n, k), (tm, tn, tk) = shape, tile
    columns = -(-n // tn)
    return f"""
triton_xla.entry_func @matmul(%a: memref<{m}x{k}xi8>, %b: memref<{k}x{n}xbf16>, %c: memref<{m}x{n}xf32>,
                              %tile: index) tiles {-(-m // tm) * columns} {{
  %c0 = arith.constant 0 : index
  %columns = arith.constant {columns} : index
  %tm = arith.constant {tm} : index
  %tn = arith.constant {tn} : index
  %tk = arith.constant {tk} : index
  %depth = arith.constant {k} : index
  %zero = arith.constant dense<0.0> : tensor<{tm}x{tn}xf32>
  %scale = arith.constant dense<0.5> : tensor<{tm}x{tk}xbf16>
  %i = arith.divui %tile, %columns : index
  %j = arith.remui %tile, %columns : index
  %row = arith.muli %i, %tm : index
  %column = arith.muli %j, %tn : index
  %sum = scf.for %p = %c0 to %depth step %tk iter_args(%acc = %zero) -> (tensor<{tm}x{tn}xf32>) {{
    %at = triton_xla.extract %a[%row, %p] [{tm}, {tk}] [1, 1] : memref<{m}x{k}xi8> to tensor<{tm}x{tk}xi8>
    %bt = triton_xla.extract %b[%p, %column] [{tk}, {tn}] [1, 1] : memref<{k}x{n}xbf16> to tensor<{tk}x{tn}xbf16>
    %wide = arith.sitofp %at : tensor<{tm}x{tk}xi8> to tensor<{tm}x{tk}xbf16>
    %scaled = arith.mulf %wide, %scale : tensor<{tm}x{tk}xbf16>
    %next = triton_xla.dot %scaled, %bt, %acc
        : tensor<{tm}x{tk}xbf16>, tensor<{tk}x{tn}xbf16> -> tensor<{tm}x{tn}xf32>
    scf.yield %next : tensor<{tm}x{tn}xf32>
  }}
  triton_xla.insert %sum into %c[%row, %column] [{tm}, {tn}] [1, 1] : tensor<{tm}x{tn}xf32> into memref<{m}x{n}xf32>
  triton_xla.return
}}
"""


def chained(rows: int, keys: int, depth: int, block: int) -> str:
    """O = relu(Q * K^T) * V over blocks of keys: the accumulator of one matmul is an operand of the next one."""
    return f"""
triton_xla.entry_func @chain(%q: memref<{rows}x{depth}xf16>, %k: memref<{depth}x{keys}xf16, strided<[1, {depth}]>>,
                             %v: memref<{keys}x{depth}xf16>, %o: memref<{rows}x{depth}xf32>,
                             %tile: index) tiles {-(-rows // 64)} {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %step = arith.constant {block} : index
  %end = arith.constant {keys} : index
  %none = arith.constant dense<0.0> : tensor<64x{depth}xf32>
  %zero = arith.constant dense<0.0> : tensor<64x{block}xf32>
  %row = arith.muli %tile, %c64 : index
  %sum = scf.for %p = %c0 to %end step %step iter_args(%acc = %none) -> (tensor<64x{depth}xf32>) {{
    %qt = triton_xla.extract %q[%row, 0] [64, {depth}] [1, 1] : memref<{rows}x{depth}xf16> to tensor<64x{depth}xf16>
    %kt = triton_xla.extract %k[0, %p] [{depth}, {block}] [1, 1]
        : memref<{depth}x{keys}xf16, strided<[1, {depth}]>> to tensor<{depth}x{block}xf16>
    %vt = triton_xla.extract %v[%p, 0] [{block}, {depth}] [1, 1] : memref<{keys}x{depth}xf16> to tensor<{block}x{depth}xf16>
    %s = triton_xla.dot %qt, %kt, %zero : tensor<64x{depth}xf16>, tensor<{depth}x{block}xf16> -> tensor<64x{block}xf32>
    %positive = arith.maximumf %s, %zero : tensor<64x{block}xf32>
    %w = arith.truncf %positive : tensor<64x{block}xf32> to tensor<64x{block}xf16>
    %next = triton_xla.dot %w, %vt, %acc : tensor<64x{block}xf16>, tensor<{block}x{depth}xf16> -> tensor<64x{depth}xf32>
    scf.yield %next : tensor<64x{depth}xf32>
  }}
  triton_xla.insert %sum into %o[%row, 0] [64, {depth}] [1, 1] : tensor<64x{depth}xf32> into memref<{rows}x{depth}xf32>
  triton_xla.return
}}
"""


def accumulated(outside: str, dtype: str = "f16", *, words: str = "", nested: bool = False) -> str:
    """C = sum over i of A_i * B_i^T, with operands from outside the loop of the matmul ("a", "b", "ab")."""

    def load(name: str, index: str) -> str:
        return f"""%{name}t = triton_xla.extract %{name}[{index}, 0] [64, 64] [1, 1]
        : memref<200x64x{dtype}> to tensor<64x64x{dtype}>"""

    loads = [load(name, "%row" if name in outside else "%p") for name in "ab"]
    before = [text for text, name in zip(loads, "ab", strict=True) if name in outside]
    inside = [text for text, name in zip(loads, "ab", strict=True) if name not in outside]
    loop = f"""
    %first = arith.muli %tile, %c64 : index
    %row = arith.addi %first, %outer : index
    {"".join(before)}
    %sum = scf.for %p = %row to %end step %c64 iter_args(%acc = %initial) -> (tensor<64x64xf32>) {{
      {"".join(inside)}
      %transposed = triton_xla.transpose %bt [1, 0] : tensor<64x64x{dtype}> -> tensor<64x64x{dtype}>
      %next = triton_xla.dot %at, %transposed, %acc {words} : tensor<64x64x{dtype}>, tensor<64x64x{dtype}> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }}"""
    if nested:
        loop = f"""
    %total = scf.for %outer = %c0 to %c128 step %c64 iter_args(%initial = %zero) -> (tensor<64x64xf32>) {{
      {loop}
      scf.yield %sum : tensor<64x64xf32>
    }}"""
    else:
        loop = loop.replace("%initial", "%zero").replace("%outer", "%c0")
    return f"""
triton_xla.entry_func @accumulated(%a: memref<200x64x{dtype}>, %b: memref<200x64x{dtype}>, %c: memref<200x64xf32>,
                                   %tile: index) tiles 4 {{
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %end = arith.constant 200 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    {loop}
    %at_c = arith.muli %tile, %c64 : index
    triton_xla.insert {"%total" if nested else "%sum"} into %c[%at_c, 0] [64, 64] [1, 1]
        : tensor<64x64xf32> into memref<200x64xf32>
    triton_xla.return
}}
"""


IN_REGISTERS = {
    "dequantized": dequantized((128, 128, 192), (64, 128, 64)),
    "dequantized-two-groups": dequantized((128, 64, 128), (128, 64, 64)),
    "dequantized-ragged": dequantized((72, 136, 104), (64, 64, 32)),
    "chained": chained(128, 256, 64, 64),
    "chained-ragged": chained(72, 104, 64, 32),
}


@pytest.mark.grid(4, cover=False)
@pytest.mark.parametrize(
    "options", [{}, {"specialize": "on"}, {"specialize": "off"}, {"stages": 1, "specialize": "off"}]
)
@pytest.mark.parametrize("case", IN_REGISTERS)
def test_left_operands_in_registers(case: str, options: dict[str, Any]) -> None:
    program = check(IN_REGISTERS[case], **options)
    said = [remark.message for remark in program.kernel.remarks]
    assert any("operand A in registers, B loaded by TMA" in message for message in said), said
    for emulation in (*SCHEDULES[:2], Emulation(copies="early"), Emulation(copies="early", sanitize="thread")):
        program.check(emulation=emulation)


OUTSIDE = {
    "a": accumulated("a"),
    "b": accumulated("b"),
    "both": accumulated("ab"),
    "nested": accumulated("a", nested=True),
    "tf32": accumulated("b", "f32", words="tf32"),
    "eight-bits": accumulated("a", "f8E4M3FN"),
}


@pytest.mark.grid(4, cover=False)
@pytest.mark.parametrize("options", [{}, {"specialize": "off"}, {"blocks": 2}])
@pytest.mark.parametrize("case", OUTSIDE)
def test_operands_from_outside_the_loop(case: str, options: dict[str, Any]) -> None:
    program = check(OUTSIDE[case], **options)
    said = [remark.message for remark in program.kernel.remarks]
    assert any("stored to shared memory once" in message for message in said), said
    program.check(emulation=Emulation(copies="early"))


@pytest.mark.parametrize("m, k, outside", [(512, 32, "a"), (64, 512, "b")])
def test_stored_operands_have_more_rows_than_tma_copies(m: int, k: int, outside: str) -> None:
    loads = {
        name: f"%{name}t = triton_xla.extract %{name}[{'%c0' if name == outside else '%i'}, 0] [{rows}, {columns}] [1, 1]"
        f" : memref<{rows}x{columns}xf16> to tensor<{rows}x{columns}xf16>"
        for name, rows, columns in (("a", m, k), ("b", k, 32))
    }
    before = loads.pop(outside)
    (inside,) = loads.values()
    check(f"""
triton_xla.entry_func @many_rows(%a: memref<{m}x{k}xf16>, %b: memref<{k}x32xf16>, %c: memref<{m}x32xf32>,
                                 %tile: index) tiles 1 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<{m}x32xf32>
  {before}
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %zero) -> (tensor<{m}x32xf32>) {{
    {inside}
    %next = triton_xla.dot %at, %bt, %acc : tensor<{m}x{k}xf16>, tensor<{k}x32xf16> -> tensor<{m}x32xf32>
    scf.yield %next : tensor<{m}x32xf32>
  }}
  triton_xla.insert %sum into %c[0, 0] [{m}, 32] [1, 1] : tensor<{m}x32xf32> into memref<{m}x32xf32>
  triton_xla.return
}}
""")


def test_one_stored_tile_for_a_dot_of_it_and_a_dot_of_its_transpose() -> None:
    """The length of its rows is not a power of two."""
    rows, columns = 64, 96
    program = check(f"""
triton_xla.entry_func @both(%x: memref<{rows}x{columns}xf16>, %y: memref<128x{columns}xf16>, %z: memref<128x{columns}xf32>,
                            %tile: index) tiles 1 {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %no_scores = arith.constant dense<0.0> : tensor<64x{rows}xf32>
  %no_sums = arith.constant dense<0.0> : tensor<64x{columns}xf32>
  %xt = triton_xla.extract %x[0, 0] [{rows}, {columns}] [1, 1] : memref<{rows}x{columns}xf16> to tensor<{rows}x{columns}xf16>
  %transposed = triton_xla.transpose %xt [1, 0] : tensor<{rows}x{columns}xf16> -> tensor<{columns}x{rows}xf16>
  scf.for %i = %c0 to %c128 step %c64 {{
    %yt = triton_xla.extract %y[%i, 0] [64, {columns}] [1, 1] : memref<128x{columns}xf16> to tensor<64x{columns}xf16>
    %scores = triton_xla.dot %yt, %transposed, %no_scores
        : tensor<64x{columns}xf16>, tensor<{columns}x{rows}xf16> -> tensor<64x{rows}xf32>
    %halves = arith.truncf %scores : tensor<64x{rows}xf32> to tensor<64x{rows}xf16>
    %sums = triton_xla.dot %halves, %xt, %no_sums
        : tensor<64x{rows}xf16>, tensor<{rows}x{columns}xf16> -> tensor<64x{columns}xf32>
    triton_xla.insert %sums into %z[%i, 0] [64, {columns}] [1, 1] : tensor<64x{columns}xf32> into memref<128x{columns}xf32>
  }}
  triton_xla.return
}}
""")
    said = [remark.message for remark in program.kernel.remarks]
    assert sum("B stored to shared memory once" in message for message in said) == 2, said
    program.check(emulation=Emulation(copies="early", sanitize="thread"))


EIGHT_BITS = ("f8E4M3FN", "f8E5M2", "i8")


@pytest.mark.grid(3)
@pytest.mark.parametrize("specialize", ["on", "off"])
@pytest.mark.parametrize("dtype", EIGHT_BITS)
def test_eight_bits(dtype: str, specialize: str) -> None:
    for shape, tile in (
        ((128, 128, 256), (128, 64, 128)),
        ((72, 144, 160), (64, 64, 64)),
        ((64, 32, 96), (64, 32, 32)),
    ):
        text = matmul(shape, tile, dtype, columns_of_b=True)
        program = check(text, specialize=specialize)
        program.check(emulation=Emulation(copies="early"))


@pytest.mark.grid(4)
@pytest.mark.parametrize("specialize", ["on", "off"])
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_stages(stages: int, specialize: str) -> None:
    text = tile_matmul((64, 64, 320), (64, 64, 64))
    program = check(text, stages=stages, specialize=specialize)
    for emulation in (*SCHEDULES[:2], Emulation(copies="early")):
        program.check(emulation=emulation)


# Four, two and one tiles a block, and a grid that does not divide the tiles; loops of an odd number of iterations.
@pytest.mark.grid(4)
@pytest.mark.parametrize("specialize", ["on", "off"])
@pytest.mark.parametrize("blocks", [1, 2, 3, 4])
def test_persistent_grids(blocks: int, specialize: str) -> None:
    text = tile_matmul((128, 128, 192), (64, 64, 64), epilogue="relu", out="f16")
    program = check(text, blocks=blocks, specialize=specialize)
    assert program.kernel.resources.grid[0] == blocks


@pytest.mark.parametrize("order", ["grouped", "snake"])
def test_orders(order: str) -> None:
    check(tile_matmul((640, 128, 32), (64, 64, 32)), tile_order=order, blocks=3)


SIMULATED = {
    "product": (tile_matmul((128, 128, 320), (64, 64, 64), epilogue="relu", out="f16"), {"specialize": "on"}),
    "one-slot": (tile_matmul((128, 128, 320), (64, 64, 64)), {"specialize": "on", "depth": 1}),
    "persistent": (tile_matmul((200, 136, 104), (128, 64, 32), epilogue="bias"), {"specialize": "on", "blocks": 1}),
    "in-turn": (tile_matmul((128, 128, 320), (64, 64, 64)), {"specialize": "off"}),
    "operand-from-outside": (accumulated("a", nested=True), {"specialize": "on", "blocks": 1}),
    "eight-bits": (matmul((64, 64, 256), (64, 64, 64), "i8", columns_of_b=True), {"specialize": "on"}),
}


@pytest.mark.parametrize("case", SIMULATED)
def test_no_deadlock_and_no_race_in_any_schedule(case: str) -> None:
    text, options = SIMULATED[case]
    kernel = sim.simulate(text, f"sim:{CHIP}", level="thread", matmul="wgmma", **options)
    for schedule in sim.SCHEDULES:
        found = kernel.find(
            *kernel.random_arguments(), simulation=dataclasses.replace(schedule, blocks=range(1), numbers=False)
        )
        assert not found, found[0]


def test_no_race_and_no_access_outside() -> None:
    text = tile_matmul((200, 136, 104), (128, 64, 32), epilogue="bias", out="f16")
    check(text, Emulation(sanitize="address"), specialize="on")
    check(text, Emulation(sanitize="address"), specialize="off")
    check(text, Emulation(sanitize="thread"), specialize="off")
    for copies in ("early", "late"):
        check(text, Emulation(copies=copies, sanitize="thread"), specialize="on")


@pytest.mark.parametrize("case", IN_REGISTERS)
def test_left_operands_in_registers_as_instructions(case: str, tmp_path: Path) -> None:
    code = ptx(IN_REGISTERS[case])
    # A from registers: four registers precede the descriptor of B.
    assert re.search(r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k16[^;]*\}, \{%r\d+, ?%r\d+, ?%r\d+, ?%r\d+\}", code)
    assert "mma.sync" not in code
    assemble(code, tmp_path)


def ptx(text: str, **options: Any) -> str:
    return smalti.compile(text, target=CHIP, matmul="wgmma", **options).asm["ptx"]


def test_instructions() -> None:
    text = tile_matmul((1024, 1024, 1024), (128, 128, 64), out="f16")
    code = ptx(text)
    # 64 of K in steps of 16, for one of two groups of warps.
    assert len(re.findall(r"wgmma\.mma_async", code)) == 4
    # One copy for A, one for the two panels of B. The tile of C goes in two pieces.
    for dimensions in (2, 3):
        assert f"cp.async.bulk.tensor.{dimensions}d.shared::cta.global.tile.mbarrier" in code
    assert len(re.findall(r"cp\.async\.bulk\.tensor\.2d\.global\.shared::cta", code)) == 2
    assert "stmatrix.sync.aligned.m8n8.x4" in code
    assert "mbarrier.try_wait.parity" in code and "mbarrier.init" in code
    assert "setmaxnreg.dec" in code and "setmaxnreg.inc" in code
    assert "mma.sync" not in code


@pytest.mark.parametrize("dtype", EIGHT_BITS)
def test_eight_bits_as_instructions(dtype: str, tmp_path: Path) -> None:
    code = ptx(matmul((1024, 1024, 1024), (128, 128, 128), dtype, columns_of_b=True, start="zero"))
    kind = {"f8E4M3FN": "f32.e4m3.e4m3", "f8E5M2": "f32.e5m2.e5m2", "i8": "s32.s8.s8"}[dtype]
    # 128 of K in steps of 32.
    assert len(re.findall(rf"wgmma\.mma_async\.sync\.aligned\.m64n128k32\.{re.escape(kind)}", code)) == 4
    assert "setmaxnreg" in code and "cp.async.bulk.tensor" in code
    assemble(code, tmp_path)


def assemble(code: str, folder: Path) -> None:
    """The assembler spills nothing and serializes nothing."""
    found = toolchain.find_ptxas()
    if found is None:
        pytest.skip("there is no ptxas")
    source = folder / "kernel.ptx"
    source.write_text(code)
    run = subprocess.run(
        [str(getattr(found, "path", found)), "-v", f"-arch={CHIP}", str(source), "-o", str(folder / "kernel.cubin")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "0 bytes spill stores, 0 bytes spill loads" in run.stderr, run.stderr
    assert "serialized" not in run.stderr, run.stderr


@pytest.mark.grid(4)
@pytest.mark.parametrize("options", [{}, {"specialize": "off"}, {"blocks": 132}], ids=str)
@pytest.mark.parametrize("tile", [(128, 128, 64), (128, 256, 64), (64, 64, 64)], ids=str)
def test_assembler_has_nothing_to_say(tile: tuple[int, int, int], options: dict[str, Any], tmp_path: Path) -> None:
    assemble(ptx(tile_matmul((1024, 1024, 1024), tile, out="f16"), **options), tmp_path)
