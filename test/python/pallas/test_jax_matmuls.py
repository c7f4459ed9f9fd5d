# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of vectors in registers in modules of JAX's form, by element type, through layout inference, emulated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import OPERANDS
from jax_programs import memref, module, run, shared


def load(name: str, argument: int, shape: tuple[int, int], element: str) -> str:
    vector = f"vector<{shape[0]}x{shape[1]}x{element}>"
    return f"%{name} = mosaic_gpu.vector_load %a{argument} : {memref(shape, element)} -> {vector}\n"


def numbers(shape: tuple[int, int], element: str, seed: int) -> np.ndarray[Any, Any]:
    """Small integers: every type has them, and sums are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(OPERANDS[element])


@pytest.mark.parametrize(
    "a, b, sum_",
    [
        ("f16", "f16", "f32"),
        ("bf16", "bf16", "f32"),
        ("f8E4M3FN", "f8E4M3FN", "f32"),
        ("f8E5M2", "f8E5M2", "f32"),
        ("i8", "i8", "i32"),
    ],
)
@pytest.mark.parametrize("columns", [8, 32])
def test_matmuls_of_vectors(a: str, b: str, sum_: str, columns: int) -> None:
    m, k = 64, 64
    out = f"vector<{m}x{columns}x{sum_}>"
    body = load("a", 0, (m, k), a) + load("b", 1, (k, columns), b) + load("c", 2, (m, columns), sum_)
    body += f"%r = mosaic_gpu.mma accumulator(%c : {out}) a(%a : vector<{m}x{k}x{a}>) b(%b : vector<{k}x{columns}x{b}>) -> {out}\n"
    body += f"mosaic_gpu.vector_store %r, %a3 : {out}, {memref((m, columns), sum_)}\n"
    arguments = [((m, k), a), ((k, columns), b), ((m, columns), sum_), ((m, columns), sum_)]
    lhs, rhs, start = numbers((m, k), a, 0), numbers((k, columns), b, 1), numbers((m, columns), sum_, 2)
    result = np.zeros_like(start)
    run(module(arguments, body), lhs, rhs, start, result)
    wide = start.astype(np.float64) + lhs.astype(np.float64) @ rhs.astype(np.float64)
    np.testing.assert_array_equal(result.astype(np.float64), wide)


@pytest.mark.parametrize(
    "a, b",
    [
        *((element, element) for element in ("f16", "bf16", "f8E4M3FN", "f8E5M2", "i8")),
        ("f8E4M3FN", "f8E5M2"),
        ("f8E5M2", "f8E4M3FN"),
    ],
)
def test_wgmma_with_registers(a: str, b: str) -> None:
    """A is in registers, and B in shared memory."""
    sum_ = "i32" if a == "i8" else "f32"
    is_byte = a in ("i8", "f8E4M3FN", "f8E5M2")
    m, n, k = 64, 16, 128 if is_byte else 64
    # Without transposition, elements of K are neighbors.
    stored = shared((n, k), b)
    turned = f"memref<{k}x{n}x{b}, strided<[1, {k}]>, #gpu.address_space<workgroup>>"
    out = f"vector<{m}x{n}x{sum_}>"
    body = load("a", 0, (m, k), a) + load("b", 1, (n, k), b) + load("c", 2, (m, n), sum_)
    body += f"""
      %shared = mosaic_gpu.slice_smem 0 : {stored}
      mosaic_gpu.vector_store %b, %shared : vector<{n}x{k}x{b}>, {stored}
      nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
      %turned = memref.transpose %shared (i, j) -> (j, i) : {stored} to {turned}
      gpu.barrier
      nvvm.wgmma.fence.aligned
      %r = mosaic_gpu.wgmma accumulator(%c : {out}) a(%a : vector<{m}x{k}x{a}>) b(%turned : {turned}) -> {out}
      nvvm.wgmma.commit.group.sync.aligned
      nvvm.wgmma.wait.group.sync.aligned 0
      mosaic_gpu.vector_store %r, %a3 : {out}, {memref((m, n), sum_)}
    """
    arguments = [((m, k), a), ((n, k), b), ((m, n), sum_), ((m, n), sum_)]
    lhs, rhs, start = numbers((m, k), a, 3), numbers((n, k), b, 4), numbers((m, n), sum_, 5)
    result = np.zeros_like(start)
    run(module(arguments, body, shared_bytes=n * k * 2), lhs, rhs, start, result)
    wide = start.astype(np.float64) + lhs.astype(np.float64) @ rhs.astype(np.float64).T
    np.testing.assert_array_equal(result.astype(np.float64), wide)
