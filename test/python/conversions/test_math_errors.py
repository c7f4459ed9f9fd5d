# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of functions: a sample against the recorded ones, and the recorded ones against those that vendors document."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import ROOT
from smalti import targets, toolchain

sys.path.insert(0, str(ROOT / "benchmarks"))

import _ulp

RESULTS: dict[str, Any] = json.loads((ROOT / "benchmarks" / "results" / "ulp.json").read_text())["results"]
POINTS = [(name, ty, target) for name, types in RESULTS.items() for ty, found in types.items() for target in found]


def require_library(target: str) -> None:
    if "sm_" in target and toolchain.find_cuda_toolkit() is None:
        pytest.skip(toolchain.LIBDEVICE_HINT)
    if "gfx" in target and toolchain.find_rocm_bitcode() is None:
        pytest.skip(toolchain.ROCM_BITCODE_HINT)


def test_every_function_is_recorded() -> None:
    assert set(RESULTS) == set(_ulp.FUNCTIONS)
    for name, types in RESULTS.items():
        assert set(types) == set(_ulp.TYPES), name
        for ty, found in types.items():
            assert {"cpu", "emu:sm_80", "emu:gfx942"} <= set(found), (name, ty)


@pytest.mark.grid(12)
@pytest.mark.parametrize(("name", "ty", "target"), POINTS)
def test_error_is_at_most_the_recorded_one(name: str, ty: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require_library(target)
    monkeypatch.setattr(_ulp, "CHUNK", 1 << 14)
    recorded = RESULTS[name][ty][target]
    found = _ulp.measure(_ulp.FUNCTIONS[name], ty, [target], _ulp.CHUNK)[target]
    # The inputs are not those of the record.
    assert found.ulp <= recorded["ulp"] + 0.1 and found.steps <= recorded["steps"]
    assert bool(found.special) <= bool(recorded.get("special"))


def documented(name: str, ty: str) -> int | None:
    """The larger one of the documented errors."""
    limit = _ulp.FUNCTIONS[name].limit
    known = [values for values in (limit.cuda, limit.hip) if values is not None]
    return max(values[ty == "f64"] for values in known) if known else None


@pytest.mark.parametrize("ty", ["f32", "f64"])
def test_errors_are_at_most_the_documented_ones(ty: str) -> None:
    above = {
        (name, ty, target)
        for name, types in RESULTS.items()
        for target, found in types[ty].items()
        if (limit := documented(name, ty)) is not None and found["steps"] > limit
    }
    assert not above


@pytest.mark.parametrize("ty", ["f16", "bf16"])
def test_16_bit_results_are_almost_correctly_rounded(ty: str) -> None:
    for name, types in RESULTS.items():
        for target, found in types[ty].items():
            assert found["steps"] <= (2 if "gfx" in target and ty == "f16" else 1), (name, target)


def test_the_page_has_the_recorded_errors() -> None:
    page = (ROOT / "docs" / "math.md").read_text()
    assert _ulp.with_tables(page, RESULTS) == page
    assert page.count("<!-- errors of") == 3


def test_special_values_are_right() -> None:
    found = [(name, ty, target) for name, ty, target in POINTS if RESULTS[name][ty][target].get("special")]
    assert not found


def _others() -> Iterator[tuple[str, str]]:
    """Each chip whose device library depends on it, with the measured one of its vendor."""
    for name in ("sm_90a", "sm_120a", "gfx950", "gfx1100", "gfx1201", "gfx1250"):
        yield name, "emu:gfx942" if targets.get(name).vendor == "amd" else "emu:sm_80"


@pytest.mark.grid(12)
@pytest.mark.parametrize("name", _ulp.FUNCTIONS)
@pytest.mark.parametrize(("chip", "measured"), list(_others()))
def test_other_chips_compute_the_same(chip: str, measured: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require_library(measured)
    monkeypatch.setattr(_ulp, "CHUNK", 1 << 12)
    function = _ulp.FUNCTIONS[name]
    kernels = [_ulp.kernel(function, "f32", target) for target in (measured, f"emu:{chip}")]
    for operands in _ulp.chunks(function, "f32", _ulp.CHUNK):
        one, other = (_ulp.run(kernel, "f32", operands) for kernel in kernels)
        np.testing.assert_array_equal(one, other)


FLAGS = """
triton_xla.entry_func @flags(%a: memref<128xf32>, %o: memref<128xf32>, %p: memref<128xf32>, %tile: index) tiles 1 {{
  %x = triton_xla.extract %a[0] [128] [1] : memref<128xf32> to tensor<128xf32>
  %0 = arith.mulf %x, %x {contract} : tensor<128xf32>
  %1 = arith.addf %0, %x {contract} : tensor<128xf32>
  %2 = arith.divf %x, %1 {approximate} : tensor<128xf32>
  %3 = math.sqrt %x {approximate} : tensor<128xf32>
  triton_xla.insert %2 into %o[0] [128] [1] : tensor<128xf32> into memref<128xf32>
  triton_xla.insert %3 into %p[0] [128] [1] : tensor<128xf32> into memref<128xf32>
  triton_xla.return
}}
"""


@pytest.mark.parametrize(
    ("target", "with_flags", "without"),
    [
        (
            "sm_80",
            [r"fma\.rn\.f32", r"div\.approx\.f32", r"sqrt\.approx\.f32"],
            [r"mul\.rn\.f32", r"add\.rn\.f32", r"div\.rn\.f32", r"sqrt\.rn\.f32"],
        ),
        (
            "gfx942",
            [r"v_fma(c|mk|ak)?_f32", r"v_rcp_f32", r"v_sqrt_f32"],
            [r"v_mul_f32", r"v_add_f32", r"v_div_fixup_f32", r"v_sqrt_f32"],
        ),
    ],
)
def test_fastmath_flags_reach_the_instructions(target: str, with_flags: list[str], without: list[str]) -> None:
    require_library(target)
    texts = []
    for contract, approximate in (("fastmath<contract>", "fastmath<arcp,afn>"), ("", "")):
        kernel: Any = smalti.compile(FLAGS.format(contract=contract, approximate=approximate), target=target)
        texts.append(kernel.asm["ptx" if target.startswith("sm_") else "gcn"])
    for text, wanted, unwanted in (
        (texts[0], with_flags, without[-2:-1]),
        (texts[1], without, with_flags[:1] if target == "sm_80" else []),
    ):
        for pattern in wanted:
            assert re.search(pattern, text), pattern
        for pattern in unwanted:
            assert not re.search(pattern, text), pattern


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "emu:gfx942"])
def test_sign_of_powers_of_large_exponents(target: str) -> None:
    """f32 has no odd numbers above 2^24."""
    require_library(target)
    power = smalti.compile(
        """
triton_xla.entry_func @power(%x: memref<16xf32>, %n: memref<16xi32>, %y: memref<16xf32>, %tile: index) tiles 1 {
  %xt = triton_xla.extract %x[0] [16] [1] : memref<16xf32> to tensor<16xf32>
  %nt = triton_xla.extract %n[0] [16] [1] : memref<16xi32> to tensor<16xi32>
  %yt = math.fpowi %xt, %nt : tensor<16xf32>, tensor<16xi32>
  triton_xla.insert %yt into %y[0] [16] [1] : tensor<16xf32> into memref<16xf32>
  triton_xla.return
}
""",
        target=target,
    )
    exponents = [(1 << 24) + 1, (1 << 24) + 2, (1 << 31) - 1, -(1 << 24) - 1, -(1 << 31)]
    bases = [-1.0, -2.0, 2.0]
    x = np.zeros(16, np.float32)
    n = np.ones(16, np.int32)
    x[:15], n[:15] = np.repeat(bases, 5), exponents * 3
    y = np.zeros(16, np.float32)
    power(x, n, y)
    for base, exponent, found in zip(x[:15], n[:15], y[:15], strict=True):
        size = 1.0 if abs(base) == 1 else np.inf if exponent > 0 else 0.0
        assert abs(found) == size and np.signbit(found) == (base < 0 and exponent % 2 == 1), (base, exponent)
