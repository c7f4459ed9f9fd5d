# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts, casts and transfers against JAX's, if it is installed; see test_jax.py."""

from __future__ import annotations

import functools
import itertools
import json
import subprocess
from typing import Any

import pytest
from conftest import ROOT
from smalti import layouts
from smalti.layouts import Replicated, TiledLayout, named_layout
from smalti.transfers import MemoryLayout, is_transfer_in_jax, plan_relayout, plan_transfer
from test_jax import PYTHON, jax_is_missing

LAYOUTS = {name: named_layout(name) for name in layouts.layout_names()}
LAYOUTS |= {f"TMEM_NATIVE({length})": layouts.tmem_native(length) for length in (1, 4, 8)}
for columns in (16, 64, 128):
    collective = layouts.m64_collective(columns)
    assert collective is not None
    LAYOUTS[f"M64_COLLECTIVE({columns})"] = collective
for tiles in ((1, 4, 64, 16), (2, 2, 32, 16), (4, 2, 128, 8), (8, 1, 128, 32)):
    copy = layouts.smem_gmem_copy(*tiles)
    assert copy is not None
    LAYOUTS[f"copy{tiles}"] = copy
TMEM: dict[str, TiledLayout] = {}
for packing in (1, 2, 4):
    for name, layout in (
        ("default", layouts.tmem_default(packing)),
        ("half_lane", layouts.tmem_half_lane(64, packing)),
        ("m64_collective", layouts.tmem_m64_collective(64, packing)),
    ):
        assert layout is not None
        TMEM[f"{name} {packing}"] = layout


def spell(layout: TiledLayout) -> list[Any]:
    def parts(dims: list[int | Replicated]) -> list[Any]:
        return [[dim.times] if isinstance(dim, Replicated) else dim for dim in dims]

    return [layout.tiling, parts(layout.warp_dims), parts(layout.lane_dims), layout.vector_dim]


def fits(layout: TiledLayout, shape: list[int]) -> bool:
    try:
        layout.validate_for(shape)
    except ValueError:
        return False
    return True


def list_reductions() -> list[tuple[str, list[int]]]:
    return [
        (name, list(axes))
        for name, layout in LAYOUTS.items()
        for count in range(1, len(layout.tiling[0]) + 1)
        for axes in itertools.combinations(range(len(layout.tiling[0])), count)
    ]


def list_casts() -> list[tuple[str, str, int]]:
    return [
        (a, b, bits)
        for a, b in itertools.product(LAYOUTS, repeat=2)
        if all(len(LAYOUTS[name].tiling[0]) == 2 and fits(LAYOUTS[name], [128, 256]) for name in (a, b))
        for bits in (4, 8, 16, 32)
    ]


def list_transfers() -> list[tuple[str, list[int], list[int], list[int], int, str]]:
    """Row-major memory and its transpose, untiled and in tiles of 8 x a swizzle."""
    found: list[tuple[str, list[int], list[int], list[int], int, str]] = []
    needs = ("optimized", "unoptimized", "downgradable")
    for (name, layout), bits in itertools.product(LAYOUTS.items(), (8, 16, 32)):
        if len(layout.tiling[0]) == 1:
            found += [(name, [n], [1], [], bits, need) for n in (64, 512) if fits(layout, [n]) for need in needs]
            continue
        shapes = ([64, 64], [128, 64], [128, 128], [64, 256], [256, 128], [64, 16], [128, 8])
        for shape, width, transposed, need in itertools.product(shapes, (0, 16, 32, 64, 128), (False, True), needs):
            strides = [1, shape[0]] if transposed else [shape[1], 1]
            columns = width * 8 // bits
            tile = [] if width == 0 else [columns, 8] if transposed else [8, columns]
            if fits(layout, shape) and not any(size % t for size, t in zip(shape, tile or shape, strict=True)):
                found.append((name, shape, strides, tile, bits, need))
    return found


def list_tmem_transfers() -> list[tuple[str, str, list[int], int]]:
    shapes = ([128, 64], [64, 64], [64, 16])
    return [(a, b, shape, bits) for a in TMEM for b in LAYOUTS for shape in shapes for bits in (8, 16, 32)]


@functools.cache
def answers() -> dict[str, Any]:
    if reason := jax_is_missing():
        pytest.skip(reason)
    questions = {
        "layouts": {name: spell(layout) for name, layout in LAYOUTS.items()},
        "tmem": {name: spell(layout) for name, layout in TMEM.items()},
        "reductions": list_reductions(),
        "casts": list_casts(),
        "transfers": list_transfers(),
        "tmem_transfers": list_tmem_transfers(),
    }
    script = ROOT / "test/pallas/layout_verdicts.py"
    done = subprocess.run(
        [PYTHON, str(script)], input=json.dumps(questions), capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_names() -> None:
    assert answers()["names"] == {name: spell(named_layout(name)) for name in layouts.layout_names()}


def test_copies() -> None:
    for text, expected in answers()["copies"].items():
        layout = layouts.smem_gmem_copy(*map(int, text.split()))
        assert (spell(layout) if layout else None) == expected, text


def test_tensor_memory() -> None:
    makers: dict[str, Any] = {
        "scales": layouts.tmem_scales,
        "b_scales_m64_collective": layouts.tmem_b_scales_m64_collective,
        "sparse_metadata": layouts.tmem_sparse_metadata,
        "default": layouts.tmem_default,
        "half_lane": layouts.tmem_half_lane,
        "m64_collective": layouts.tmem_m64_collective,
        "registers": layouts.m64_collective,
    }
    for text, expected in answers()["tensor_memory"].items():
        name, *arguments = text.split()
        assert spell(makers[name](*map(int, arguments))) == expected, text


def test_reductions() -> None:
    for (name, axes), expected in zip(list_reductions(), answers()["reductions"], strict=True):
        layout = LAYOUTS[name]
        assert spell(layout.reduce(len(layout.tiling[0]), axes)) == expected, (name, axes)


def test_casts() -> None:
    for (a, b, bits), expected in zip(list_casts(), answers()["casts"], strict=True):
        cost = plan_relayout(LAYOUTS[a], LAYOUTS[b], [128, 256], bits, "sm_90a")
        assert cost.is_in_jax == expected, (a, b, bits)
        # We do all that JAX does.
        assert not expected or cost.means in ("none", "registers", "shuffles", "shared_memory")


def test_tensor_memory_transfers() -> None:
    for (a, b, shape, bits), expected in zip(list_tmem_transfers(), answers()["tmem_transfers"], strict=True):
        if expected is not None:
            assert layouts.is_tmem_transfer(TMEM[a], LAYOUTS[b], shape, bits) == expected, (a, b, shape, bits)


def test_transfers() -> None:
    refused = 0
    for problem, expected in zip(list_transfers(), answers()["transfers"], strict=True):
        name, shape, strides, tile, bits, need = problem
        width = 16 if not tile else min(tile[strides.index(1)] * bits // 8, 128)
        memory = MemoryLayout(shape, strides, tile, width)
        assert is_transfer_in_jax(LAYOUTS[name], memory, bits, need) == expected, problem
        if not expected:
            continue
        try:
            plan_transfer(LAYOUTS[name], memory, bits, "sm_90a", conflict_free=need == "optimized")
        except ValueError as error:
            # JAX's inference assumes that the vector is contiguous in memory; its lowering finds that it is not.
            assert name in ("WGMMA_TRANSPOSED", "TCGEN05_TRANSPOSED") and (bits, tile) == (32, []), problem
            assert "different words of bank 0 (4-way conflict)" in str(error)
            refused += 1
    assert refused == 9
