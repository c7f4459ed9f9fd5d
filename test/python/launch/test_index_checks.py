# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices of single elements that are out of bounds, on emulated and simulated chips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from smalti import errors

TARGETS = ("emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1201", "sim:sm_90a", "sim:gfx942")
OPS = {
    "tensor.extract": "%v = tensor.extract %t[%zero, %i] : tensor<4x8xf32>",
    "memref.atomic_rmw": "%v = memref.atomic_rmw addf %one, %x[%zero, %i] : (f32, memref<?x8xf32>) -> f32",
    "memref.dim": "%v = memref.dim %x, %i : memref<?x8xf32>",
}
SIZES = {"tensor.extract": 8, "memref.atomic_rmw": 8, "memref.dim": 2}
DIMENSIONS = {"tensor.extract": 1, "memref.atomic_rmw": 1, "memref.dim": 0}


def compile_(*arguments: Any, **options: Any) -> Any:
    return smalti.compile(*arguments, **options)


def kernel(op: str, index: str = "%n") -> str:
    stored = (
        "%d = arith.index_cast %v : index to i32\n  %f = arith.sitofp %d : i32 to f32" if op == "memref.dim" else ""
    )
    value = "%f" if op == "memref.dim" else "%v"
    return f"""\
triton_xla.entry_func @at(%x: memref<?x8xf32>, %n: i64, %o: memref<1xf32>, %tile: index) tiles 1 {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %c = arith.constant 1 : i64
  %i = arith.index_cast {index} : i64 to index
  %t = triton_xla.extract %x[0, 0] [4, 8] [1, 1] : memref<?x8xf32> to tensor<4x8xf32>
  {OPS[op]}
  {stored}
  memref.store {value}, %o[%zero] : memref<1xf32>
  triton_xla.return
}}
"""


@pytest.mark.grid(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("op", OPS)
def test_an_index_out_of_bounds_is_a_finding(op: str, target: str) -> None:
    compiled = compile_(kernel(op), target=target)
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    out = np.zeros(1, np.float32)
    compiled(x.copy(), 1, out)
    assert out[0] == {"tensor.extract": 1, "memref.atomic_rmw": 1, "memref.dim": 8}[op]
    for index in (SIZES[op], -1, 2**32):
        with pytest.raises((errors.EmulationError, errors.SimulationError)) as error:
            compiled(x.copy(), index, out)
        found = error.value.findings[0]
        assert found.kind == "out-of-bounds"
        assert (
            f"the index {index} of dimension {DIMENSIONS[op]} is out of bounds; the size is {SIZES[op]}"
            in found.message
        )
        assert found.location is not None
        assert found.location.line == 7


def test_the_dynamic_size_is_the_bound() -> None:
    text = kernel("memref.atomic_rmw").replace("%x[%zero, %i]", "%x[%i, %zero]")
    for target in ("emu:sm_90a", "sim:gfx942"):
        compiled = compile_(text, target=target)
        compiled(np.zeros((4, 8), np.float32), 3, np.zeros(1, np.float32))
        with pytest.raises(smalti.SmaltiError, match="the index 3 of dimension 0 is out of bounds; the size is 3"):
            compiled(np.zeros((3, 8), np.float32), 3, np.zeros(1, np.float32))


@pytest.mark.parametrize("op", OPS)
def test_a_check_is_only_in_emulated_code(op: str) -> None:
    for chip in ("sm_90a", "gfx942"):
        assert "smalti.check_index" in compile_(kernel(op), target=f"emu:{chip}").asm["llvm"]
        assert "smalti.check_index" not in compile_(kernel(op), target=chip).asm["llvm"]
        # Index 1 is proven to be in bounds of an array with a static size.
        proven = kernel(op, "%c").replace("?x8", "4x8")
        assert "smalti.check_index" not in compile_(proven, target=f"emu:{chip}").asm["llvm"]


def test_a_gpu_does_not_have_the_function_of_a_check() -> None:
    with pytest.raises(smalti.CompileError, match="check-indices=true requires an emulated or simulated chip"):
        compile_(kernel("memref.dim"), target="sm_90a", check_indices=True)


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_a_check_does_not_prevent_pipelining(chip: str) -> None:
    text = """
triton_xla.entry_func @matmul(%a: memref<128x256xf16>, %b: memref<256x128xf16>, %c: memref<128x128xf32>, %rows: memref<8xi32>,
                              %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %table = triton_xla.extract %rows[0] [8] [1] : memref<8xi32> to tensor<8xi32>
  %r = scf.for %k = %c0 to %c256 step %c32 iter_args(%acc = %zero) -> tensor<128x128xf32> {
    %n = memref.load %rows[%c0] : memref<8xi32>
    %i = arith.index_cast %n : i32 to index
    %e = tensor.extract %table[%i] : tensor<8xi32>
    %j = arith.index_cast %e : i32 to index
    %x = triton_xla.extract %a[%j, %k] [128, 32] [1, 1] : memref<128x256xf16> to tensor<128x32xf16>
    %y = triton_xla.extract %b[%k, %c0] [32, 128] [1, 1] : memref<256x128xf16> to tensor<32x128xf16>
    %d = triton_xla.dot %x, %y, %acc : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  triton_xla.insert %r into %c[%c0, %c0] [128, 128] [1, 1] : tensor<128x128xf32> into memref<128x128xf32>
  triton_xla.return
}
"""
    loops = {}
    for target in (chip, f"emu:{chip}"):
        compiled = compile_(text, target=target)
        loops[target] = [str(remark) for remark in compiled.remarks if remark.category == "smalti-pipeline-loops"]
    assert loops[chip] == loops[f"emu:{chip}"]
    assert any("loop pipelined" in remark for remark in loops[chip])
