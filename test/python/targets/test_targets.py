# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The chip table: facts, and fragment layouts against the vendors' own formulas.

The formulas below are restated from the vendors' documents, and a few lines of Python evaluate the tiled layouts. They
do not use the C++ that wrote the table.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from smalti._mlir_libs import _smalti

Json = dict[str, Any]
Coordinates = Callable[[int, int], tuple[int, int]]
"""(lane, element of the lane's operand) -> (row, column)"""

TABLE: list[Json] = json.loads(_smalti.targets_json())
BY_NAME: dict[str, Json] = {chip["name"]: chip for chip in TABLE}

NVIDIA = ("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a")
AMD = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")


def mma_id(chip: Json, mma: Json) -> str:
    types = "-".join(dict.fromkeys((mma["a"], mma["b"], mma["accumulator"])))
    return f"{chip['name']}-{mma['kind']}-{mma['m']}x{mma['n']}x{mma['k']}-{types}"


MMAS = [pytest.param(chip, mma, id=mma_id(chip, mma)) for chip in TABLE for mma in chip["mmas"]]


# --- tiled layouts ----------------------------------------------------------------------------------------------------


def tiled_dims(shape: list[int], tiling: list[list[int]]) -> list[tuple[int, int, int]]:
    """(dimension of the shape, stride in it, size) for each dimension of the fully tiled shape."""
    dims = [(d, 1, size) for d, size in enumerate(shape)]
    for tile in tiling:
        head, suffix = dims[: len(dims) - len(tile)], dims[len(dims) - len(tile) :]
        outer = []
        inner = []
        for (dim, stride, size), part in zip(suffix, tile, strict=True):
            assert size % part == 0, f"tile {tile} does not divide {size}"
            outer.append((dim, stride * part, size // part))
            inner.append((dim, stride, part))
        dims = head + outer + inner
    return dims


def layout_elements(fragment: Json) -> dict[tuple[int, int, int], tuple[int, int]]:
    """(lane, register, element) -> (row, column)."""
    dims = tiled_dims(fragment["shape"], fragment["tiling"])
    assert not fragment["warp_dims"], "a fragment is the layout of one warp"
    lane_parts: list[tuple[int | None, int]] = []
    for part in fragment["lane_dims"]:
        if isinstance(part, dict):
            lane_parts.append((None, part["replicated"]))
        else:
            lane_parts.append((len(dims) + part, dims[part][2]))
    vector = len(dims) + fragment["vector_dim"]
    used = {d for d, _ in lane_parts if d is not None} | {vector}
    assert len(used) == sum(d is not None for d, _ in lane_parts) + 1, "a tiled dimension is used twice"
    registers = [d for d in range(len(dims)) if d not in used]

    elements = {}
    lanes = itertools.product(*(range(size) for _, size in lane_parts))
    for lane, lane_index in enumerate(lanes):
        for register, register_index in enumerate(itertools.product(*(range(dims[d][2]) for d in registers))):
            for element in range(dims[vector][2]):
                index = [0] * len(dims)
                for (d, _), value in zip(lane_parts, lane_index, strict=True):
                    if d is not None:
                        index[d] = value
                for d, value in zip(registers, register_index, strict=True):
                    index[d] = value
                index[vector] = element
                place = [0, 0]
                for (dim, stride, _), value in zip(dims, index, strict=True):
                    place[dim] += stride * value
                elements[lane, register, element] = (place[0], place[1])
    return elements


def operand_elements(fragment: Json) -> np.ndarray:
    """places[lane, i] = (row, column) of element i of the instruction's operand, through the register order."""
    elements = layout_elements(fragment)
    lanes = 1 + max(lane for lane, _, _ in elements)
    registers = 1 + max(register for _, register, _ in elements)
    length = 1 + max(element for _, _, element in elements)
    order = fragment["order"]
    assert sorted(order) == list(range(registers)), "the order is not a permutation of the registers"
    return np.array(
        [[elements[lane, order[r], e] for r in range(registers) for e in range(length)] for lane in range(lanes)]
    )


# --- the vendors' formulas --------------------------------------------------------------------------------------------


def ptx_formulas(m: int, n: int, k: int, bits: int) -> tuple[Coordinates, Coordinates, Coordinates]:
    """PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64 floating point type" and "mma.m16n8k...": the figures and
    formulas for each shape and type."""
    if bits == 64:
        return ptx_formulas_of_f64(m, n)
    assert (m, n) == (16, 8)
    wide = {  # (k, bits) -> elements a register; whether A and B have a second half along K
        (16, 16): (2, True),
        (8, 16): (2, False),
        (8, 32): (1, True),
        (4, 32): (1, False),
        (32, 8): (4, True),
        (16, 8): (4, False),
    }
    pack, two_halves = wide[k, bits]

    def a(lane: int, i: int) -> tuple[int, int]:
        group, thread = lane >> 2, lane % 4
        in_register, register = i % pack, i // pack
        row = group if register in (0, 2) else group + 8
        if two_halves and register >= 2:
            return row, thread * pack + in_register + k // 2
        return row, thread * pack + in_register

    def b(lane: int, i: int) -> tuple[int, int]:
        group, thread = lane >> 2, lane % 4
        return thread * pack + i % pack + (k // 2 if i >= pack else 0), group

    def c(lane: int, i: int) -> tuple[int, int]:
        group, thread = lane >> 2, lane % 4
        return (group if i < 2 else group + 8), thread * 2 + (i & 1)

    return a, b, c


def ptx_formulas_of_f64(m: int, n: int) -> tuple[Coordinates, Coordinates, Coordinates]:
    assert n == 8

    def a(lane: int, i: int) -> tuple[int, int]:
        group, thread = lane >> 2, lane % 4
        if m == 8:
            return group, thread
        # A row of the document for m16n8k16: i * 2 for even i, i * 2 - 2 for odd i.
        return (group, i * 2 + thread) if i % 2 == 0 else (group + 8, i * 2 - 2 + thread)

    def b(lane: int, i: int) -> tuple[int, int]:
        return lane % 4 + 4 * i, lane >> 2

    def c(lane: int, i: int) -> tuple[int, int]:
        group, thread = lane >> 2, lane % 4
        return (group if i < 2 else group + 8), thread * 2 + (i & 1)

    return a, b, c


def mfma_formulas(m: int, n: int, k: int, is_f64: bool) -> tuple[Coordinates, Coordinates, Coordinates]:
    """CDNA instruction set guides, "Dense Matrix Instructions": operand layouts for one block."""
    assert m == n
    per_lane = m * k // 64

    def a(lane: int, i: int) -> tuple[int, int]:
        return lane % m, per_lane * (lane // m) + i

    def b(lane: int, i: int) -> tuple[int, int]:
        return per_lane * (lane // n) + i, lane % n

    def c16(lane: int, i: int) -> tuple[int, int]:
        return 4 * (lane // 16) + i, lane % 16

    def c32(lane: int, i: int) -> tuple[int, int]:
        return 8 * (i // 4) + 4 * (lane // 32) + i % 4, lane % 32

    def c_of_f64(lane: int, i: int) -> tuple[int, int]:
        return 4 * i + lane // 16, lane % 16

    return a, b, c_of_f64 if is_f64 else {16: c16, 32: c32}[m]


def rdna3_formulas(m: int, n: int, k: int) -> tuple[Coordinates, Coordinates, Coordinates]:
    """RDNA3 instruction set guide, "WMMA", wave32: both half waves hold A and B, rows of D alternate."""
    assert (m, n, k) == (16, 16, 16)
    return (
        lambda lane, i: (lane % 16, i),
        lambda lane, i: (i, lane % 16),
        lambda lane, i: (2 * i + lane // 16, lane % 16),
    )


def rdna4_formulas(m: int, n: int, k: int) -> tuple[Coordinates, Coordinates, Coordinates]:
    """The table's own convention for A and B, wave32: bit 3 of k selects the half wave.

    The RDNA4 guide does not confirm it: read independently, it has bit 2 of k there for f16 and bf16. Both conventions
    compute the same matmul, since A and B have the same order along K. The layout of C is the guide's.
    """
    assert (m, n, k) == (16, 16, 16)
    return (
        lambda lane, i: (lane % 16, 8 * (lane // 16) + i),
        lambda lane, i: (8 * (lane // 16) + i, lane % 16),
        lambda lane, i: (8 * (lane // 16) + i, lane % 16),
    )


def gfx1250_formulas(m: int, n: int, k: int) -> tuple[Coordinates, Coordinates, Coordinates]:
    assert (m, n) == (16, 16)
    along_k: Callable[[int, int], int] = {
        64: lambda lane, i: 8 * (lane // 16) + i % 8 + 16 * (i // 8),
        32: lambda lane, i: 8 * (lane // 16) + i % 8 + 16 * (i // 8),
        4: lambda lane, i: 2 * (lane // 16) + i,
    }[k]
    return (
        lambda lane, i: (lane % 16, along_k(lane, i)),
        lambda lane, i: (along_k(lane, i), lane % 16),
        lambda lane, i: (8 * (lane // 16) + i, lane % 16),
    )


def fma_formulas(m: int, n: int, k: int) -> tuple[Coordinates, Coordinates, Coordinates]:
    assert k == 1
    return lambda lane, i: (lane // n, 0), lambda lane, i: (0, lane % n), lambda lane, i: (lane // n, lane % n)


BITS = {"f64": 64, "f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f8E4M3FN": 8, "f8E5M2": 8, "i8": 8}


def formulas(chip: Json, mma: Json) -> tuple[Coordinates, Coordinates, Coordinates]:
    shape = mma["m"], mma["n"], mma["k"]
    if mma["kind"] == "mma_sync":
        return ptx_formulas(*shape, BITS[mma["a"]])
    if mma["kind"] == "mfma":
        return mfma_formulas(*shape, mma["a"] == "f64")
    if mma["kind"] == "fma":
        return fma_formulas(*shape)
    assert mma["kind"] == "wmma"
    if chip["name"] == "gfx1250":
        return gfx1250_formulas(*shape)
    return {"RDNA3": rdna3_formulas, "RDNA4": rdna4_formulas}[chip["architecture"]](*shape)


# --- tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("chip", "mma"), MMAS)
def test_fragments_match_the_vendors_formulas(chip: Json, mma: Json) -> None:
    for operand, formula in zip("abc", formulas(chip, mma), strict=True):
        positions = operand_elements(mma[f"{operand}_fragment"])
        assert positions.shape[0] == chip["wave_size"]
        expected = [[formula(lane, i) for i in range(positions.shape[1])] for lane in range(positions.shape[0])]
        np.testing.assert_array_equal(positions, expected, err_msg=f"operand {operand}")


@pytest.mark.parametrize(("chip", "mma"), MMAS)
def test_fragments_hold_every_element(chip: Json, mma: Json) -> None:
    for operand in "abc":
        fragment = mma[f"{operand}_fragment"]
        positions = operand_elements(fragment)
        held = {(int(row), int(column)) for row, column in positions.reshape(-1, 2)}
        rows, columns = fragment["shape"]
        assert held == set(itertools.product(range(rows), range(columns)))
        copies = math.prod(part["replicated"] for part in fragment["lane_dims"] if isinstance(part, dict))
        assert positions.shape[0] * positions.shape[1] == rows * columns * copies
    assert all(not isinstance(part, dict) for part in mma["c_fragment"]["lane_dims"]), (
        "C must have one owner per element"
    )


@pytest.mark.grid(79)
@pytest.mark.parametrize(("chip", "mma"), MMAS)
def test_gather_multiply_scatter(chip: Json, mma: Json) -> None:
    """Operands gathered by the table's layout, multiplied as the instruction defines it, scattered by the layout."""
    rng = np.random.default_rng(mma["m"] * 1000 + mma["k"])
    a = rng.integers(-8, 8, mma["a_fragment"]["shape"])
    b = rng.integers(-8, 8, mma["b_fragment"]["shape"])
    c = rng.integers(-8, 8, mma["c_fragment"]["shape"])
    registers = {name: gather(mma[f"{name}_fragment"], matrix) for name, matrix in (("a", a), ("b", b), ("c", c))}
    result = np.full_like(c, -(10**6))
    positions = operand_elements(mma["c_fragment"])
    for (lane, i), value in multiply(formulas(chip, mma), mma, registers):
        result[tuple(positions[lane, i])] = value
    np.testing.assert_array_equal(result, a @ b + c)


def gather(fragment: Json, matrix: np.ndarray) -> np.ndarray:
    positions = operand_elements(fragment)
    return matrix[positions[..., 0], positions[..., 1]]


def multiply(
    coordinates: tuple[Coordinates, Coordinates, Coordinates], mma: Json, registers: dict[str, np.ndarray]
) -> Iterator[tuple[tuple[int, int], int]]:
    """The instruction: the meaning of each lane's operand elements is only from the vendor's formula."""
    matrices = {}
    for name, formula in zip("abc", coordinates, strict=True):
        matrix: dict[tuple[int, int], int] = {}
        for lane, i in np.ndindex(registers[name].shape):
            value = int(registers[name][lane, i])
            assert matrix.setdefault(formula(lane, i), value) == value, "copies of an element differ"
        matrices[name] = matrix
    for lane, i in np.ndindex(registers["c"].shape):
        row, column = coordinates[2](lane, i)
        terms = (matrices["a"][row, kk] * matrices["b"][kk, column] for kk in range(mma["k"]))
        yield (lane, i), matrices["c"][row, column] + sum(terms)


def test_known_chips() -> None:
    assert {"cpu", *NVIDIA, *AMD} <= set(BY_NAME)
    assert len(BY_NAME) == len(TABLE), "a chip is listed twice"


def test_the_page_lists_every_chip() -> None:
    page = (Path(__file__).parents[3] / "docs" / "targets.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:NVIDIA|AMD|CPU) \| ([^|]+) \| (`[^|]+) \|$", page, re.MULTILINE)
    names = [name for _, cell in rows for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(names) == sorted(BY_NAME)
    families = {family for cell, _ in rows for family in cell.split(", ")}
    assert families == {chip["architecture"] for chip in TABLE}


@pytest.mark.parametrize("chip", [chip for chip in TABLE if chip["vendor"] != "CPU"], ids=lambda chip: chip["name"])
def test_facts_of_gpus(chip: Json) -> None:
    assert chip["wave_size"] in (32, 64)
    assert chip["default_warps"] * chip["wave_size"] <= chip["max_threads_per_block"]
    assert 0 < chip["static_shared_memory"] <= chip["shared_memory_per_block"]
    assert chip["shared_memory_banks"] in (32, 64) and chip["bank_bytes"] == 4
    assert chip["async_copy_bytes"] == sorted(chip["async_copy_bytes"])
    assert chip["barrier"] != "none" and chip["waits"]
    assert bool(chip["ptx_version"]) == (chip["vendor"] == "NVIDIA")
    assert not (chip["has_tma"] and chip["vendor"] == "AMD") and not (chip["has_tdm"] and chip["vendor"] == "NVIDIA")
    # Every chip can multiply each of the types that kernels are written in.
    for element in ("f16", "bf16", "f32", "f64", "i8"):
        kinds = [mma["kind"] for mma in chip["mmas"] if mma["a"] == element]
        assert kinds and kinds[-1] == "fma", "the scalar fallback must come last"
        assert kinds.count("fma") == 1


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        # CUDA C++ Programming Guide, "Compute Capabilities".
        ("sm_80", {"shared_memory_per_block": 166912, "wave_size": 32, "max_cluster_size": 1, "has_tma": False}),
        ("sm_89", {"shared_memory_per_block": 101376, "registers_per_thread": 255}),
        ("sm_90a", {"shared_memory_per_block": 232448, "has_tma": True, "tensor_memory_columns": 0}),
        ("sm_100a", {"shared_memory_per_block": 232448, "tensor_memory_columns": 512}),
        ("sm_103a", {"shared_memory_per_block": 232448, "tensor_memory_columns": 512}),
        ("sm_120a", {"shared_memory_per_block": 101376, "tensor_memory_columns": 0}),
        # AMD's instruction set guides.
        ("gfx90a", {"shared_memory_per_block": 65536, "wave_size": 64, "barrier": "s_barrier"}),
        ("gfx942", {"shared_memory_per_block": 65536, "async_copy_bytes": [4]}),
        ("gfx950", {"shared_memory_per_block": 163840, "async_copy_bytes": [4, 16]}),
        ("gfx1100", {"shared_memory_per_block": 65536, "wave_size": 32, "barrier": "s_barrier"}),
        ("gfx1201", {"shared_memory_per_block": 65536, "wave_size": 32, "barrier": "split_barrier"}),
        ("gfx1250", {"shared_memory_per_block": 327680, "wave_size": 32, "has_tdm": True}),
    ],
)
def test_facts_against_the_documents(name: str, facts: Json) -> None:
    assert {key: BY_NAME[name][key] for key in facts} == facts


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        # The peaks of the datasheets, in 10^12 operations a second: f16, tf32, int8, and f32 without the matrix unit.
        ("sm_80", (312, 156, 624, 19.5)),
        ("sm_89", (165.2, 82.6, 660.6, 82.6)),
        ("sm_90a", (989.4, 494.7, 1978.9, None)),
        ("gfx942", (1307.4, 653.7, 2614.9, 163.4)),
    ],
)
def test_timings_are_those_of_the_datasheets(name: str, facts: tuple[float | None, ...]) -> None:
    timing = BY_NAME[name]["timing"]
    for key, peak in zip(("f16_macs", "tf32_macs", "eight_bit_macs", "results"), facts, strict=True):
        if peak is not None:
            assert 2 * timing[key] * timing["units"] * timing["megahertz"] / 1e6 == pytest.approx(peak, rel=2e-3)


def test_timings_say_nothing_where_nothing_is_known() -> None:
    assert "special_results" not in BY_NAME["gfx942"]["timing"]
    assert "timing" not in BY_NAME["sm_100a"] and "timing" not in BY_NAME["cpu"]


def test_latencies_of_global_memory_are_many_times_those_of_shared_memory() -> None:
    for chip in BY_NAME.values():
        if "timing" in chip:
            assert 10 < chip["timing"]["global_latency"] / chip["timing"]["shared_latency"] < 20


@pytest.mark.parametrize(
    ("name", "element", "mnemonic"),
    [
        ("sm_80", "f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
        ("gfx942", "f16", "v_mfma_f32_16x16x16_f16"),
        ("gfx950", "bf16", "v_mfma_f32_16x16x32_bf16"),
        ("gfx1100", "f16", "v_wmma_f32_16x16x16_f16"),
        ("gfx1250", "f16", "v_wmma_f32_16x16x32_f16"),
    ],
)
def test_best_instruction_comes_first(name: str, element: str, mnemonic: str) -> None:
    assert next(mma for mma in BY_NAME[name]["mmas"] if mma["a"] == element)["mnemonic"] == mnemonic
