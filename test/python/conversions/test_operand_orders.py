# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of every element type with row-major and column-major operands, at the default options.

The numbers are right in the emulator on each chip. NVIDIA chips read 8-bit operands in every order with ldmatrix."""

from __future__ import annotations

import re

import numpy as np
import pytest
import smalti
from matmuls import matmul
from smalti import dtypes, targets
from smalti.emulator import SCHEDULES, Emulation
from test_gpu_numerics import FAMILIES, LOOKS
from test_narrow_matmuls import check_exactly, small_integers

TYPES = ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "i8")
SHAPES = {
    "aligned": ((64, 64, 64), (64, 64, 32)),
    "ragged": ((33, 50, 70), (32, 32, 32)),
    "rows-of-whole-chunks": ((36, 52, 204), (32, 32, 32)),
    "short-k": ((33, 50, 20), (32, 32, 32)),
}


@pytest.mark.grid(18)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("target", FAMILIES)
def test_operand_orders(target: str, dtype: str, order: str, shape: str) -> None:
    """T: the operand is column-major."""
    text = matmul(*SHAPES[shape], dtype, columns_of_a=order[0] == "T", columns_of_b=order[1] == "T")
    kernel = smalti.compile(text, target=targets.EMULATED + target)
    check_exactly(kernel, kernel.launcher)


def matmul_of_transposes(shape: tuple[int, int, int], tile: tuple[int, int, int], dtype: str, order: str) -> str:
    """C += A * B with row-major arrays. T: the array has the transpose of the operand."""
    (m, n, k), (rows, columns, depth) = shape, tile
    total = "i32" if dtype == "i8" else "f32"

    def load(name: str, extents: tuple[int, int], offsets: str, sizes: tuple[int, int]) -> str:
        """The tile `%name` with these sizes, of the array or of its transpose."""
        x, y = sizes
        memref = f"memref<{extents[0]}x{extents[1]}x{dtype}>"
        if order["ab".index(name)] == "N":
            return f"%{name}t = triton_xla.extract %{name}[{offsets}] [{x}, {y}] [1, 1] : {memref} to tensor<{x}x{y}x{dtype}>"
        first, second = offsets.split(", ")
        memref = f"memref<{extents[1]}x{extents[0]}x{dtype}>"
        return f"""%{name}r = triton_xla.extract %{name}[{second}, {first}] [{y}, {x}] [1, 1] : {memref} to tensor<{y}x{x}x{dtype}>
    %{name}t = triton_xla.transpose %{name}r [1, 0] : tensor<{y}x{x}x{dtype}> -> tensor<{x}x{y}x{dtype}>"""

    a = f"{m}x{k}" if order[0] == "N" else f"{k}x{m}"
    b = f"{k}x{n}" if order[1] == "N" else f"{n}x{k}"
    steps = -(-n // columns)
    c = f"memref<{m}x{n}x{total}>"
    sum_type = f"tensor<{rows}x{columns}x{total}>"
    return f"""
triton_xla.entry_func @matmul(%a: memref<{a}x{dtype}>, %b: memref<{b}x{dtype}>, %c: {c}, %tile: index)
    tiles {-(-m // rows) * steps} {{
  %c0 = arith.constant 0 : index
  %k = arith.constant {k} : index
  %depth = arith.constant {depth} : index
  %rows = arith.constant {rows} : index
  %columns = arith.constant {columns} : index
  %steps = arith.constant {steps} : index
  %i = arith.divui %tile, %steps : index
  %j = arith.remui %tile, %steps : index
  %row = arith.muli %i, %rows : index
  %column = arith.muli %j, %columns : index
  %start = triton_xla.extract %c[%row, %column] [{rows}, {columns}] [1, 1] : {c} to {sum_type}
  %end = scf.for %p = %c0 to %k step %depth iter_args(%sum = %start) -> ({sum_type}) {{
    {load("a", (m, k), "%row, %p", (rows, depth))}
    {load("b", (k, n), "%p, %column", (depth, columns))}
    %next = triton_xla.dot %at, %bt, %sum : tensor<{rows}x{depth}x{dtype}>, tensor<{depth}x{columns}x{dtype}> -> {sum_type}
    scf.yield %next : {sum_type}
  }}
  triton_xla.insert %end into %c[%row, %column] [{rows}, {columns}] [1, 1] : {sum_type} into {c}
  triton_xla.return
}}
"""


NVIDIA = [name for name in FAMILIES if targets.get(name).has_ldmatrix]
# The last windows of the second are partly out of bounds.
BYTE_SHAPES = {
    "aligned": ((128, 128, 128), (128, 128, 64)),
    "ragged": ((80, 112, 144), (64, 64, 64)),
    "few-rows": ((16, 128, 128), (16, 128, 64)),
    "few-columns": ((64, 32, 64), (64, 32, 32)),
}


@pytest.mark.grid(9, cover=False)
@pytest.mark.parametrize("shape", BYTE_SHAPES)
@pytest.mark.parametrize("order", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("dtype", ["f8E4M3FN", "f8E5M2", "i8"])
@pytest.mark.parametrize("target", NVIDIA)
def test_8_bit_operands_are_read_with_ldmatrix(target: str, dtype: str, order: str, shape: str) -> None:
    if not any(mma.a == dtype for mma in targets.get(target).mmas):
        pytest.skip(f"{target} multiplies {dtype} as bf16")
    text = matmul_of_transposes(*BYTE_SHAPES[shape], dtype, order)
    options = {"matmul": "mma", "num_warps": 4}
    kernel = smalti.compile(text, target=targets.EMULATED + target, **options)
    a, b, c = small_integers(kernel)
    left, right = (
        x.astype(np.float64).T if o == "T" else x.astype(np.float64) for x, o in zip((a, b), order, strict=True)
    )
    wanted = c.astype(np.float64) + left @ right
    for emulation in LOOKS:
        result = c.copy()
        kernel.launcher(a, b, result, emulation=emulation)
        np.testing.assert_array_equal(result.astype(np.float64), wanted)
    compiled = smalti.compile(text, target=target, **options)
    assert isinstance(compiled, smalti.Kernel)
    ptx = compiled.asm["ptx"]
    assert not re.search(r"ld\.shared\S*\.[bsu](8|16)", ptx)
    assert "ldmatrix.sync.aligned.m8n8.x4" in ptx
    assert (".trans." in ptx) == (order != "NT")


WGMMA_SHAPES = {
    "two-groups": ((128, 128, 256), (128, 128, 64)),
    "one-step": ((128, 256, 96), (128, 256, 32)),
    "ragged": ((144, 112, 176), (64, 64, 64)),
    "replicated-blocks": ((64, 64, 64), (64, 32, 32)),
}


@pytest.mark.grid(6, cover=lambda dtype, order, shape: {order, shape})
@pytest.mark.parametrize("shape", WGMMA_SHAPES)
@pytest.mark.parametrize("order", ["NN", "TN", "TT"])
@pytest.mark.parametrize("dtype", ["f8E4M3FN", "f8E5M2", "i8"])
def test_8_bit_operands_of_wgmma_are_transposed(dtype: str, order: str, shape: str) -> None:
    kernel = smalti.compile(matmul_of_transposes(*WGMMA_SHAPES[shape], dtype, order), target="emu:sm_90a")
    assert any("and transposed in shared memory" in r.message for r in kernel.remarks)
    a, b, c = small_integers(kernel)
    left, right = (
        x.astype(np.float64).T if o == "T" else x.astype(np.float64) for x, o in zip((a, b), order, strict=True)
    )
    wanted = c.astype(np.float64) + left @ right
    for emulation in (*SCHEDULES, Emulation(sanitize="address"), Emulation(sanitize="thread")):
        result = c.copy()
        kernel.launcher(a, b, result, emulation=emulation)
        np.testing.assert_array_equal(result.astype(np.float64), wanted)


def test_transposed_operands_need_the_proxy_fence() -> None:
    """The emulator finds the race of a kernel whose fence was removed."""
    text = matmul_of_transposes((64, 64, 128), (64, 64, 64), "f8E4M3FN", "NN")
    module = smalti.parse(text)
    smalti.Pipeline("convert-triton-xla-to-mosaic-gpu{target=sm_90a}").run(module)
    blocks = str(module)
    mutant = re.sub(r"nvvm\.fence\.proxy .*\n", "", blocks)
    assert mutant.count("\n") == blocks.count("\n") - 1
    element = dtypes.from_mlir("f8E4M3FN")
    assert element is not None
    a, b, c = np.zeros((64, 128), element.numpy), np.zeros((128, 64), element.numpy), np.zeros((64, 64), np.float32)
    smalti.compile(blocks, target="emu:sm_90a").launcher(a, b, c)
    with pytest.raises(smalti.EmulationError, match="missing proxy fence"):
        smalti.compile(mutant, target="emu:sm_90a").launcher(a, b, c, emulation=Emulation(sanitize="thread"))
