# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layout inference: costs of layouts, inserted relayouts, and hints that resolve refusals."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import smalti
from helpers import WGMMA
from jax_programs import memref, module
from smalti import Pipeline, SmaltiError, ir, toolchain

TCGEN05 = (
    "#mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>"
)
TYPE = "vector<128x64xf32>"
REGISTERS = 255


def program(lines: Sequence[str], arguments: str = f"%v: {TYPE}, %w: {TYPE}") -> str:
    body = "\n".join(lines)
    return f"""module attributes {{mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32}} {{
    func.func @f({arguments}) {{
    {body}
    return
    }}
    }}"""


def infer(text: str, options: str = "") -> tuple[ir.Module, list[str]]:
    """The module with its layouts, and the messages of remarks."""
    inferred = smalti.parse(text)
    remarks = Pipeline(f"builtin.module(mosaic-gpu-infer-layouts{options})").run(inferred)
    return inferred, [remark.message for remark in remarks]


def cast(result: str, operand: str, layout: str) -> str:
    return f"%{result} = mosaic_gpu.layout_cast x(%{operand} : {TYPE}) {{new_layout = {layout}}}"


# --------------------------------------------------------------------------------------------------------------------
# Layouts that distribute vectors
# --------------------------------------------------------------------------------------------------------------------


def subtract_sums(shape: tuple[int, ...], axis: int, element: str = "f32") -> str:
    """x - sum(x, axis) of memory of a grid."""
    rest = [size for dim, size in enumerate(shape) if dim != axis]
    dims = ", ".join(str(dim) for dim in range(len(shape)) if dim != axis)
    memory = memref(shape, element)
    whole, part = memory.replace("memref", "vector"), memref(rest, element).replace("memref", "vector")
    return module(
        [(shape, element), (shape, element)],
        f"""
      %zero = arith.constant dense<0.0> : {part}
      %v = mosaic_gpu.vector_load %a0 : {memory} -> {whole}
      %s = vector.multi_reduction <add>, %v, %zero [{axis}] : {whole} to {part}
      %b = mosaic_gpu.broadcast_in_dim(%s : {part}) {{broadcast_dimensions = array<i64: {dims}>}} -> {whole}
      %d = arith.subf %v, %b : {whole}
      mosaic_gpu.vector_store %d, %a1 : {whole}, {memory}
    """,
    )


SHAPES: list[tuple[tuple[int, ...], int]] = [
    ((8, 128), 1),
    ((8, 128), 0),
    ((4, 1024), 1),
    ((24, 96), 0),
    ((2, 8, 128), 1),
    ((5, 384), 1),
    ((3, 5), 1),
    ((32, 512), 0),
]


def loaded_elements(text: str) -> int:
    """The elements of the loaded vector that a thread holds."""
    inferred, _ = infer(text)
    found = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "mosaic_gpu.vector_load":
            layout = op.attributes["out_layouts"][0].layout
            shape = op.results[0].type.shape
            found.append(layout.num_registers(shape) * layout.vector_length)
        return ir.WalkResult.ADVANCE

    inferred.operation.walk(visit)
    (elements,) = found
    return elements


@pytest.mark.parametrize(("shape", "axis"), SHAPES, ids=lambda value: str(value))
def test_vectors_are_distributed(shape: tuple[int, ...], axis: int) -> None:
    """As far as their sizes have powers of two that threads can share."""
    shared = 1
    for size in shape:
        shared *= size & -size
    assert loaded_elements(subtract_sums(shape, axis)) == np.prod(shape) // min(shared, 128)


@pytest.mark.parametrize(("shape", "axis"), [((8, 128), 1), ((24, 96), 0), ((3, 5), 1), ((2, 8, 128), 1)], ids=str)
def test_numbers_of_distributed_vectors(shape: tuple[int, ...], axis: int) -> None:
    x = np.random.default_rng(3).integers(-9, 10, shape).astype(np.float32)
    out = np.zeros_like(x)
    smalti.compile(subtract_sums(shape, axis), target="emu:sm_90a")(x, out)
    np.testing.assert_array_equal(out, x - x.sum(axis, keepdims=True))


@pytest.mark.skipif(toolchain.find_ptxas() is None, reason="no ptxas")
@pytest.mark.parametrize(("shape", "axis"), [((8, 512), 1), ((32, 512), 0)], ids=str)
def test_no_spills(shape: tuple[int, ...], axis: int) -> None:
    assert smalti.compile(subtract_sums(shape, axis), target="sm_90a").resources.spills == 0


def test_remark_where_registers_are_missing() -> None:
    """Two vectors of 128 registers each are live across a reduction."""
    rows = "vector<128xf32>"
    tile = "vector<128x128xf32>"
    lines = [
        f"%zero = arith.constant dense<0.0> : {rows}",
        *(f"%v{i} = mosaic_gpu.vector_load %m{i} : memref<128x128xf32> -> {tile}" for i in range(2)),
        *(f"%s{i} = vector.multi_reduction <add>, %v{i}, %zero [1] : {tile} to {rows}" for i in range(2)),
        f"%t = arith.addf %s0, %s1 : {rows}",
        f"%b = mosaic_gpu.broadcast_in_dim(%t : {rows}) {{broadcast_dimensions = array<i64: 0>}} -> {tile}",
    ]
    for i in range(2):
        lines += [
            f"%d{i} = arith.subf %v{i}, %b : {tile}",
            f"mosaic_gpu.vector_store %d{i}, %m{i} : {tile}, memref<128x128xf32>",
        ]
    _, remarks = infer(program(lines, "%m0: memref<128x128xf32>, %m1: memref<128x128xf32>"))
    (remark,) = [remark for remark in remarks if "register pressure exceeds the limit" in remark]
    count = int(re.search(r"need (\d+) registers per thread; the limit is 255", remark)[1])
    assert count > REGISTERS


# --------------------------------------------------------------------------------------------------------------------
# The search
# --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(64, 64), (8, 128)], ids=str)
@pytest.mark.parametrize("count", [17, 40])
def test_loads_reduced_into_one_accumulator(count: int, shape: tuple[int, int]) -> None:
    rows, columns = shape
    memory = f"memref<{rows}x{columns}xf32, #gpu.address_space<workgroup>>"
    lines = [f"%sum0 = arith.constant dense<0.0> : vector<{rows}xf32>"]
    for i in range(count):
        lines += [
            f"%m{i} = mosaic_gpu.slice_smem {i * rows * columns * 4} : {memory}",
            f"%v{i} = mosaic_gpu.vector_load %m{i} : {memory} -> vector<{rows}x{columns}xf32>",
            f"%sum{i + 1} = vector.multi_reduction <add>, %v{i}, %sum{i} [1] "
            f": vector<{rows}x{columns}xf32> to vector<{rows}xf32>",
        ]
    inferred, _ = infer(program(lines, ""))
    assert str(inferred).count("out_layouts") > 2 * count


def straight(length: int) -> list[str]:
    return [f"%x{i + 1} = math.exp %x{i} : {TYPE}" for i in range(length)]


def with_skips(length: int) -> list[str]:
    return [f"%x{i + 1} = arith.addf %x{i}, %x{max(i - 3, 0)} : {TYPE}" for i in range(length)]


@pytest.mark.parametrize("length", [5, 30, 80])
@pytest.mark.parametrize("chain", [straight, with_skips])
def test_one_relayout_in_a_chain(chain: Callable[[int], list[str]], length: int) -> None:
    end = [cast("b", "w", TCGEN05), f"%r = arith.addf %x{length}, %b : {TYPE}"]
    _, remarks = infer(program([cast("x0", "v", WGMMA), *chain(length), *end]))
    assert sum("relayout inserted" in remark for remark in remarks) == 1


def test_one_relayout_for_two_operands() -> None:
    """Both operands are one value, and so are those of a later op."""
    lines = [
        cast("a", "v", WGMMA),
        f"%p = arith.addf %a, %a : {TYPE}",
        f"%q = arith.mulf %p, %a : {TYPE}",
        cast("b", "w", TCGEN05),
        f"%r = arith.addf %b, %p : {TYPE}",
        f"%s = arith.addf %b, %q : {TYPE}",
        f"%t = arith.addf %b, %a : {TYPE}",
    ]
    _, remarks = infer(program(lines))
    assert sum("relayout inserted" in remark for remark in remarks) <= 1


# --------------------------------------------------------------------------------------------------------------------
# Hints
# --------------------------------------------------------------------------------------------------------------------


def refusal(text: str, options: str) -> str:
    with pytest.raises(SmaltiError) as caught:
        infer(text, options)
    return str(caught.value)


CONFLICTS: dict[str, list[str]] = {
    "one operand": [cast("a", "v", WGMMA), cast("b", "w", TCGEN05), f"%r = arith.addf %a, %b : {TYPE}"],
    "one value twice": [
        cast("a", "v", WGMMA),
        f"%p = arith.addf %a, %a : {TYPE}",
        cast("b", "w", TCGEN05),
        f"%r = arith.addf %p, %b : {TYPE}",
    ],
    "later": [
        cast("a", "v", WGMMA),
        *(f"%{'bcde'[i]} = math.exp %{'abcd'[i]} : {TYPE}" for i in range(4)),
        cast("t", "w", TCGEN05),
        f"%r = arith.mulf %e, %t : {TYPE}",
    ],
}


@pytest.mark.parametrize("lines", CONFLICTS.values(), ids=CONFLICTS)
def test_casts_of_hints_resolve(lines: list[str]) -> None:
    """The cast of the hint, inserted at its location."""
    said = refusal(program(lines), "{relayouts=false}")
    hint = re.search(
        r"insert a 'mosaic_gpu.layout_cast' to the layout (\w+) before operands? ([\d and]+) of this '([\w.]+)'", said
    )
    assert hint, said
    layout = {"WGMMA": WGMMA, "TCGEN05": TCGEN05}[hint[1]]
    operands = [int(number) for number in re.findall(r"\d+", hint[2])]
    resolved = 0
    # The op is one of those with the name: a hint is right if it is at one of them.
    for index, line in enumerate(lines):
        if hint[3] not in line:
            continue
        before, after = line.split(hint[3])
        names = re.findall(r"%(\w+)", after)
        for operand in operands:
            names[operand] = "moved"
        moved = re.findall(r"%(\w+)", after)[operands[0]]
        repaired = f"{before}{hint[3]} {', '.join('%' + name for name in names)} : {TYPE}"
        changed = [*lines[:index], cast("moved", moved, layout), repaired, *lines[index + 1 :]]
        try:
            infer(program(changed), "{relayouts=false}")
            resolved += 1
        except SmaltiError:
            pass
    assert resolved, said


TILES = {64: "[8, 16]", 128: "[8, 32]"}


def stated(memory: str, swizzle: int, name: str) -> str:
    transforms = f"[#mosaic_gpu.tile<{TILES[swizzle]}>, #mosaic_gpu.swizzle<{swizzle} : i32>]"
    return f"%{name} = mosaic_gpu.with_transforms %{memory} {transforms} : memref<64x64xf32, #gpu.address_space<workgroup>>"


def test_hints_at_stated_tiles_resolve() -> None:
    """Each op that the hint names for removal, removed."""
    memory = "memref<64x64xf32, #gpu.address_space<workgroup>>"
    lines = [f"%m = mosaic_gpu.slice_smem 0 : {memory}", stated("m", 128, "a"), stated("m", 64, "b")]
    said = refusal(program(lines, ""), "")
    assert said.count("to resolve the conflict, remove this 'mosaic_gpu.with_transforms'") == 2, said
    for index in (1, 2):
        infer(program([line for number, line in enumerate(lines) if number != index], ""))


def test_no_hint_at_one_of_three_stated_tiles() -> None:
    """Removing one of three does not help: the hint is to remove all but one."""
    memory = "memref<64x64xf32, #gpu.address_space<workgroup>>"
    tiles = [stated("m", 128, "a"), stated("m", 64, "b")]
    third = stated("m", 64, "c").replace(TILES[64], "[8, 8]").replace("<64 :", "<32 :")
    said = refusal(program([f"%m = mosaic_gpu.slice_smem 0 : {memory}", *tiles, third], ""), "")
    assert "with_transforms'" in said


@pytest.mark.parametrize("shape", [(127, 129), (100, 100), (513,)], ids=str)
def test_padding_of_hints_resolves(shape: tuple[int, ...]) -> None:
    """Sizes that threads cannot share, of vectors that one thread cannot hold."""

    def load(sizes: Sequence[int]) -> str:
        text = "x".join(map(str, sizes))
        return program(
            [f"%v = mosaic_gpu.vector_load %m : memref<{text}xf32> -> vector<{text}xf32>"], f"%m: memref<{text}xf32>"
        )

    said = refusal(load(shape), "")
    hint = re.search(r"pad the vector to '?vector<([\dx]+)xf32>", said)
    assert hint, said
    infer(load([int(size) for size in hint[1].split("x")]))


@pytest.mark.parametrize("shape", [(7,), (129,), (3, 5), (3, 128)], ids=str)
def test_odd_sizes_have_layouts(shape: tuple[int, ...]) -> None:
    text = "x".join(map(str, shape))
    load = f"%v = mosaic_gpu.vector_load %m : memref<{text}xf32> -> vector<{text}xf32>"
    inferred, _ = infer(program([load], f"%m: memref<{text}xf32>"))
    assert "out_layouts" in str(inferred)
