# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rounding modes of `arith.truncf`, compared with values of the formats that are computed as fractions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import reference
from smalti.compiler import entry

MODES = ("to_nearest_even", "to_nearest_away", "toward_zero", "upward", "downward")
# Exponent bits, mantissa bits, bias, and the code of the largest finite value.
FORMATS = {
    "f8E4M3FN": (4, 3, 7, 0x7E),
    "f8E5M2": (5, 2, 15, 0x7B),
    "f8E4M3FNUZ": (4, 3, 8, 0x7F),
    "f8E5M2FNUZ": (5, 2, 16, 0x7F),
    "f8E4M3B11FNUZ": (4, 3, 11, 0x7F),
    "f8E4M3": (4, 3, 7, 0x77),
    "f8E3M4": (3, 4, 3, 0x6F),
    "f6E2M3FN": (2, 3, 1, 0x1F),
    "f6E3M2FN": (3, 2, 3, 0x1F),
    "f4E2M1FN": (2, 1, 1, 0x7),
    "f16": (5, 10, 15, 0x7BFF),
    "bf16": (8, 7, 127, 0x7F7F),
}
SMALL = (*(name for name in FORMATS if name.startswith(("f8", "f6", "f4"))), "f8E8M0FNU")
UNSIGNED_ZERO = ("f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ")
WIDE: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
TARGETS = ["cpu", "reference", "emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1201", "sim:sm_90a", "sim:gfx942"]


@functools.cache
def magnitudes(name: str) -> tuple[Fraction, ...]:
    """The finite magnitudes in increasing order. f16 and bf16 have another one, at which infinity begins."""
    if name == "f8E8M0FNU":
        return tuple(Fraction(2) ** (code - 127) for code in range(255))
    _, mantissa, bias, last = FORMATS[name]
    found = []
    for code in range(last + 1 + (name in WIDE)):
        exponent, rest = code >> mantissa, code & ((1 << mantissa) - 1)
        significand = rest if exponent == 0 else rest + (1 << mantissa)
        found.append(significand * Fraction(2) ** (max(exponent, 1) - bias - mantissa))
    return tuple(found)


def as_floats(numbers: Sequence[Fraction]) -> np.ndarray:
    found = [float(number) for number in numbers]
    assert [Fraction(number) for number in found] == list(numbers)
    return np.array(found)


@functools.cache
def ladder_and_middles(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The magnitudes of a format and twice the largest, and the middles between them."""
    numbers = magnitudes(name)
    ladder = (*numbers, 2 * numbers[-1])
    return as_floats(ladder), as_floats([(a + b) / 2 for a, b in itertools.pairwise(ladder)])


def neighbors(magnitude: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The numbers of the format below and above each magnitude, and the middle. A representable one is its own neighbor below."""
    if name == "f32":
        with np.errstate(over="ignore"):
            nearest = magnitude.astype(np.float32)
        low = np.where(nearest.astype(np.float64) > magnitude, np.nextafter(nearest, np.float32(0)), nearest)
        with np.errstate(over="ignore"):
            high = np.nextafter(low, np.float32(np.inf)).astype(np.float64)
        high = np.where(np.isinf(high), 2.0**128, high)
        return low.astype(np.float64), high, (low.astype(np.float64) + high) / 2
    ladder, middle = ladder_and_middles(name)
    below = np.maximum(np.searchsorted(ladder, magnitude, side="right") - 1, 0)
    return ladder[below], ladder[below + 1], middle[below]


def expected(values: np.ndarray, name: str, mode: str) -> np.ndarray:
    """The rule of the conversion, as f64."""
    with np.errstate(invalid="ignore"):
        x = values.astype(np.float64)
    is_small, is_scale = name in SMALL, name == "f8E8M0FNU"
    magnitude = np.where(np.isnan(x), 0, np.abs(x))
    if is_small:
        limit = float(magnitudes(name)[-1])
        magnitude = np.minimum(magnitude, limit)
    else:
        limit = 2.0**128 if name in ("f32", "bf16") else 2.0**16
        magnitude = np.minimum(magnitude, np.nextafter(limit, 0))
    low, high, middle = neighbors(magnitude, name)
    inexact = magnitude > low
    if mode == "to_nearest_even":
        # The even neighbor is a multiple of twice the distance. A tie of powers of two becomes the larger one.
        is_odd = np.ones(len(x), bool) if is_scale else low / (2 * (high - low)) % 1 != 0
        away = (magnitude > middle) | ((magnitude == middle) & is_odd)
    elif mode == "to_nearest_away":
        away = magnitude >= middle
    else:
        away = inexact & {"toward_zero": np.zeros(len(x), bool), "upward": x > 0, "downward": x < 0}[mode]
    result = np.copysign(np.where(away, high, low), x)
    if not is_small:
        result = np.where(np.abs(result) >= limit, np.copysign(np.inf, x), result)
        result = np.where(np.isinf(x), x, result)
    if is_scale:
        result = np.where(x < 0, np.nan, np.abs(result))
    if name in UNSIGNED_ZERO:
        result = np.where(result == 0, 0.0, result)
    has_nan = not name.startswith(("f6", "f4"))
    return np.where(np.isnan(x), np.nan if has_nan else limit, result)


def check(inputs: dict[str, np.ndarray], results: dict[str, tuple[str, ...]], mode: str, target: str) -> None:
    """Truncates arrays, by type, to the types of `results`."""
    count = len(next(iter(inputs.values())))
    tile = min(count, 2048)
    count = -(-count // tile) * tile
    inputs = {wide: np.append(x, np.zeros(count - len(x), x.dtype)) for wide, x in inputs.items()}
    arguments, code = [], ""
    for wide in inputs:
        arguments.append(f"%{wide}: memref<{count}x{wide}>")
        code += f"  %x_{wide} = triton_xla.extract %{wide}[%s] [{tile}] [1] : memref<{count}x{wide}> to tensor<{tile}x{wide}>\n"
        for name in results[wide]:
            stored = "f32" if name in SMALL else name
            arguments.append(f"%o_{wide}_{name}: memref<{count}x{stored}>")
            value = f"%y_{wide}_{name}"
            code += f"  {value} = arith.truncf %x_{wide} {mode} : tensor<{tile}x{wide}> to tensor<{tile}x{name}>\n"
            if name in SMALL:
                code += f"  {value}_e = arith.extf {value} : tensor<{tile}x{name}> to tensor<{tile}xf32>\n"
                value += "_e"
            code += f"  triton_xla.insert {value} into %o_{wide}_{name}[%s] [{tile}] [1] : tensor<{tile}x{stored}> into memref<{count}x{stored}>\n"
    text = f"""
triton_xla.entry_func @truncate({", ".join(arguments)}, %tile: index) tiles {count // tile} {{
  %size = arith.constant {tile} : index
  %s = arith.muli %tile, %size : index
{code}
  triton_xla.return
}}
"""
    outs = {
        (wide, name): np.zeros(count, WIDE.get(name, np.float32)) if name not in SMALL else np.zeros(count, np.float32)
        for wide in inputs
        for name in results[wide]
    }
    arrays = [a for wide, x in inputs.items() for a in (x, *(outs[wide, name] for name in results[wide]))]
    if target == "reference":
        memory = reference.run(entry.find_entry(smalti.parse(text)), arrays)
        outs = {
            key: np.asarray(found.data)
            for key, found in zip(
                outs,
                [m for m, a in zip(memory, arrays, strict=True) if any(a is o for o in outs.values())],
                strict=True,
            )
        }
    else:
        smalti.compile(text, target=target)(*arrays)
    for (wide, name), got in outs.items():
        wanted, found = expected(inputs[wide], name, mode), got.astype(np.float64)
        np.testing.assert_array_equal(found, wanted, f"{wide} to {name}")
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers], f"{wide} to {name}")


DIRECTED = MODES[1:]


@pytest.mark.grid(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mode", DIRECTED)
def test_every_half_is_rounded(mode: str, target: str) -> None:
    codes = np.arange(1 << 16, dtype=np.uint16)
    check({wide: codes.view(WIDE[wide]) for wide in ("f16", "bf16")}, {"f16": SMALL, "bf16": SMALL}, mode, target)


def edges(name: str) -> np.ndarray:
    """Numbers at and next to the numbers of a format, and to the middles between them."""
    if name == "f32":
        rng = np.random.default_rng(3)
        codes = rng.integers(0, 0x7F800000, 300, np.uint32).view(np.float32)
        ladder = np.append(codes, np.array([0, 1e-45, 1e-44, 1.1754942e-38, 1.1754944e-38, 3.4028235e38], np.float32))
        numbers = np.append(ladder.astype(np.float64), np.nextafter(ladder[:-1], np.float32(np.inf)).astype(np.float64))
        numbers = np.append(numbers, 2.0**128)
    else:
        numbers = as_floats(magnitudes(name))
        numbers = (
            numbers
            if len(numbers) < 300
            else numbers[np.r_[:40, 40 : len(numbers) - 40 : 399, len(numbers) - 40 : len(numbers)]]
        )
    numbers = np.unique(numbers)
    exact = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2, numbers[-1:] * 1.1])
    near = np.concatenate(
        [exact, exact * (1 + 2.0**-22), exact * (1 - 2.0**-22), exact * (1 + 2.0**-50), exact * (1 - 2.0**-50)]
    )
    special = [0.0, np.inf, np.nan, 1e-45, 1e-39, 1e38, 1e300, 1e-300, 2.0**-150, 2.0**-149 * 1.5]
    return np.concatenate([near, -near, special, np.negative(special)])


@pytest.mark.grid(10)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mode", DIRECTED)
def test_edges_of_wide_floats_are_rounded(mode: str, target: str) -> None:
    for name in ("f8E5M2", "f8E4M3FNUZ", "f8E8M0FNU", "f16", "bf16", "f32"):
        with np.errstate(all="ignore"):
            inputs = {wide: edges(name).astype(WIDE[wide]) for wide in ("f32", "f64") if wide != name}
        check(inputs, dict.fromkeys(inputs, (name,)), mode, target)


def test_the_expected_values_are_those_of_numpy() -> None:
    """To nearest even, which numpy and ml_dtypes compute, too."""
    for name in ("f16", "bf16", "f32"):
        x = edges(name)
        with np.errstate(all="ignore"):
            # ml_dtypes rounds f64 twice.
            x = x if name != "bf16" else x[x.astype(np.float32).astype(np.float64) == x]
            np.testing.assert_array_equal(expected(x, name, "to_nearest_even"), x.astype(WIDE[name]).astype(np.float64))


@pytest.mark.parametrize("target", ["cpu", "emu:sm_90a", "emu:gfx942", "sim:sm_90a"])
def test_scaled_truncation_rounds_by_its_mode(target: str) -> None:
    """The quotient of a number and a scale is rounded."""
    text = """
triton_xla.entry_func @scale(%x: memref<64xf32>, %o: memref<64xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %s = arith.constant dense<4.0> : tensor<64xf8E8M0FNU>
  %n = arith.scaling_truncf %t, %s upward : tensor<64xf32>, tensor<64xf8E8M0FNU> to tensor<64xf8E4M3FN>
  %e = arith.extf %n : tensor<64xf8E4M3FN> to tensor<64xf32>
  triton_xla.insert %e into %o[0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}
"""
    x = np.random.default_rng(1).standard_normal(64).astype(np.float32)
    out = np.zeros_like(x)
    smalti.compile(text, target=target)(x, out)
    np.testing.assert_array_equal(out, expected(x / 4, "f8E4M3FN", "upward"))
