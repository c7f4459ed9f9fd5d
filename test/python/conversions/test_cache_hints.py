# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cache hints of tile-level accesses: instructions of both vendors, and results that do not change."""

from __future__ import annotations

import re

import numpy as np
import pytest
import smalti

LOADS = ("cache cg", "cache cs", "cache cv", "eviction evict_first", "eviction evict_last", "eviction no_allocate")
STORES = ("cache cg", "cache cs", "cache wt", "eviction evict_first", "eviction evict_last", "eviction no_allocate")
ELEMENTS = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i64": np.int64}


def kernel(load: str, store: str, element: str = "f32", size: int = 1000) -> str:
    """Copies an array. Its last tile is ragged if 256 does not divide the size."""
    tiles, memory = -(-size // 256), f"memref<{size}x{element}>"
    return f"""
triton_xla.entry_func @copy(%x: {memory}, %y: {memory}, %tile: index) tiles {tiles} {{
  %c256 = arith.constant 256 : index
  %at = arith.muli %tile, %c256 : index
  %t = triton_xla.extract %x[%at] [256] [1] {load} : {memory} to tensor<256x{element}>
  triton_xla.insert %t into %y[%at] [256] [1] {store} : tensor<256x{element}> into {memory}
  triton_xla.return
}}
"""


def suffix(hint: str) -> str:
    kind, name = hint.split()
    return name if kind == "cache" else f"L1::{name}"


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize(("load", "store"), list(zip(LOADS, STORES, strict=True)))
def test_instructions_of_nvidia(load: str, store: str, chip: str) -> None:
    for size in (1000, 1024):
        ptx = smalti.compile(kernel(load, store, size=size), target=chip).asm["ptx"]
        assert re.search(rf"ld\.global\.{suffix(load)}\.", ptx)
        assert re.search(rf"st\.global\.{suffix(store)}\.", ptx)
        assert not re.search(r"(ld|st)\.global\.(nc\.|v\d\.)?[bfu]\d", ptx)


@pytest.mark.parametrize(
    ("chip", "load", "store"),
    [
        ("gfx942", r"_load_dword\S* .* nt$", r"_store_dword\S* .* nt$"),
        ("gfx1100", r"_load_b\d+ .* (glc )?slc( dlc)?$", r"_store_b\d+ .* (glc )?slc( dlc)?$"),
        ("gfx1201", r"_load_b\d+ .* th:TH_LOAD_NT", r"_store_b\d+ .* th:TH_STORE_NT"),
    ],
)
@pytest.mark.parametrize("hint", ["cache cs", "eviction evict_first", "eviction no_allocate"])
def test_instructions_of_amd(hint: str, chip: str, load: str, store: str) -> None:
    for size in (1000, 1024):
        code = smalti.compile(kernel(hint, hint, size=size), target=chip).asm["gcn"]
        assert re.search(load, code, re.MULTILINE)
        assert re.search(store, code, re.MULTILINE)
    plain = smalti.compile(kernel("", "", size=1024), target=chip).asm["gcn"]
    assert not re.search(load, plain, re.MULTILINE) and not re.search(store, plain, re.MULTILINE)


@pytest.mark.grid(10)
@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "emu:gfx942", "emu:gfx1201", "sim:sm_80"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_hints_do_not_change_results(element: str, target: str) -> None:
    for size, load, store in ((1000, "cache cs", "eviction evict_first"), (768, "eviction evict_last", "cache cg")):
        copy = smalti.compile(kernel(load, store, element, size), target=target)
        x = np.random.default_rng(size).integers(-100, 100, size).astype(ELEMENTS[element])
        y = np.zeros_like(x)
        copy(x, y)
        np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("target", ["emu:sm_80", "emu:gfx942"])
def test_hints_of_scalars(target: str) -> None:
    copy = smalti.compile(
        """
triton_xla.entry_func @copy(%x: memref<4xf32>, %y: memref<4xf32>, %tile: index) tiles 4 {
  %t = triton_xla.extract %x[%tile] [1] [1] cache cs : memref<4xf32> to tensor<f32>
  triton_xla.insert %t into %y[%tile] [1] [1] cache cs : tensor<f32> into memref<4xf32>
  triton_xla.return
}
""",
        target=target,
    )
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    copy(x, y)
    np.testing.assert_array_equal(y, x)
