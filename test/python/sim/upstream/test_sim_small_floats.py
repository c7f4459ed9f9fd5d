# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions to floats of 8 bits or less: overflow, infinities, NaN, and rounding."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import dtypes, sim, targets
from smalti.sim.machine.values import SMALL_FLOATS

FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32}
EIGHT_BITS = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3", "f8E3M4")
SMALL = {name: known.numpy for name in EIGHT_BITS if (known := dtypes.from_mlir(name))} | SMALL_FLOATS
KNOWN = ("f8E4M3FN", "f8E5M2")
"""Those that NVIDIA's chips convert."""
COUNT = 256


def numbers(source: str, target: str) -> np.ndarray[Any, Any]:
    """The numbers of the type, those between them, those around the largest one, and all that is special."""
    dtype = np.dtype((FLOATS | INTEGERS)[source])
    largest = float(ml_dtypes.finfo(SMALL[target]).max)
    if source in INTEGERS:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        edges = [low, high, *(round(largest * by) for by in (0.5, 0.95, 1, 1.05, 1.2, 2))]
        found = np.array([*edges, *range(-60, 60)], np.float64)
        return np.resize(np.clip(found, low, high), COUNT).astype(dtype)
    tiny = float(ml_dtypes.finfo(SMALL[target]).smallest_subnormal)
    found = [np.inf, np.nan, 0.0, *(largest * by for by in (0.5, 0.97, 1, 1.01, 1.03, 1.0625, 1.07, 1.2, 2, 1e9))]
    found += [tiny * by for by in (0.25, 0.5, 0.51, 1, 1.49, 1.5, 1.51, 2.5, 3, 3.5)]
    # Next to numbers in the middle between two.
    steps = float(ml_dtypes.finfo(SMALL[target]).eps)
    found += [by * (1 + steps * (n + 0.5)) for n in range(3) for by in (1 - 2.0**-30, 1, 1 + 2.0**-30)]
    found += (np.random.default_rng(1).standard_normal(COUNT // 2 - len(found)) * largest / 4).tolist()
    with np.errstate(over="ignore"):
        return np.array([*found, *(-x for x in found)]).astype(dtype)


def rounded(values: np.ndarray[Any, Any], target: str) -> np.ndarray[Any, Any]:
    """The nearest numbers of the type, those with an even code of two: found among all of them."""
    dtype = np.dtype(SMALL[target])
    codes = np.arange(1 << ml_dtypes.finfo(dtype).bits).astype(np.uint8).view(dtype)
    wide = codes.astype(np.float64)
    finite = np.flatnonzero(np.isfinite(wide))
    finite = finite[np.argsort(wide[finite], kind="stable")]
    known = wide[finite]
    has_nan = bool(np.isnan(wide).any())
    found = []
    for value in values.astype(np.float64):
        if np.isnan(value):
            found.append(np.nan if has_nan else known.max())
            continue
        distances = np.abs(known - np.clip(value, known.min(), known.max()))
        nearest = np.flatnonzero(distances == distances.min())
        even = [i for i in nearest if finite[i] % 2 == 0]
        found.append(known[(even or list(nearest))[0]])
    return np.array(found)


def kernel(name: str, source: str, target: str, block: bool = True) -> str:
    """A block-level or thread-level kernel that converts."""
    if not block:
        return f"""gpu.module @m {{
  gpu.func @k(%x: memref<{COUNT}x{source}>, %y: memref<{COUNT}xf32>) kernel attributes {{
      known_block_size = array<i32: {COUNT}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<{COUNT}x{source}>
    %w = arith.{name} %v : {source} to {target}
    %u = arith.extf %w : {target} to f32
    memref.store %u, %y[%t] : memref<{COUNT}xf32>
    gpu.return
  }}
}}
"""
    layout = f"#mosaic_gpu.WGStridedFragLayout<[{COUNT}], 2>"
    zero = "0" if source in INTEGERS else "0.0"
    return f"""gpu.module @m {{
  gpu.func @k(%x: memref<{COUNT}x{source}>, %y: memref<{COUNT}xf32>) kernel attributes {{
      known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant {zero} : {source}
    %v = vector.transfer_read %x[%c0], %zero {{in_bounds = [true], out_layouts = [{layout}]}}
        : memref<{COUNT}x{source}>, vector<{COUNT}x{source}>
    %w = arith.{name} %v {{in_layouts = [{layout}], out_layouts = [{layout}]}}
        : vector<{COUNT}x{source}> to vector<{COUNT}x{target}>
    %u = arith.extf %w {{in_layouts = [{layout}], out_layouts = [{layout}]}}
        : vector<{COUNT}x{target}> to vector<{COUNT}xf32>
    vector.transfer_write %u, %y[%c0] {{in_bounds = [true], in_layouts = [{layout}]}}
        : vector<{COUNT}xf32>, memref<{COUNT}xf32>
    gpu.return
  }}
}}
"""


CASES = [("truncf", source, target) for source in FLOATS for target in SMALL]
CASES += [("sitofp", source, target) for source in INTEGERS for target in SMALL]


def unequal(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], given: np.ndarray[Any, Any]) -> list[Any]:
    """Pairs of a number and its conversion that differ; the sign of a zero counts."""
    same = (found == wanted) & (np.signbit(found) == np.signbit(wanted)) | np.isnan(found) & np.isnan(wanted)
    return list(zip(given[~same].tolist(), found[~same].tolist(), wanted[~same].tolist(), strict=True))


@pytest.mark.parametrize(("name", "source", "target"), CASES)
def test_the_nearest_number(name: str, source: str, target: str) -> None:
    given = numbers(source, target)
    wanted = rounded(given, target)
    if target.endswith("FNUZ") or source in INTEGERS:
        wanted = np.where(wanted == 0, 0.0, wanted)
    else:
        wanted = np.where(wanted == 0, np.copysign(0.0, given.astype(np.float64)), wanted)
    for block in (True, False):
        found = np.zeros(COUNT, np.float32)
        sim.simulate(kernel(name, source, target, block), "sm_90a")(given, found)
        assert unequal(found, wanted, given) == []


NARROWING = [case for case in CASES if case[2] in KNOWN and case[1] not in ("i16", "f64")]


@pytest.mark.grid(5)
@pytest.mark.parametrize(("name", "source", "target"), NARROWING)
def test_the_compiler_converts_alike(name: str, source: str, target: str) -> None:
    given = numbers(source, target)
    simulated, emulated = np.zeros(COUNT, np.float32), np.zeros(COUNT, np.float32)
    text = kernel(name, source, target)
    sim.simulate(text, "sm_90a")(given, simulated)
    smalti.compile(text, target=targets.EMULATED + "sm_90a").launcher(given, emulated)
    assert unequal(simulated, emulated, given) == []
