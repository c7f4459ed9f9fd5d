# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of whole blocks: tile-level kernels, lowered to `mosaic_gpu`, before the loop passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import smalti

from .case import Case

DEPTH, STEP = 144, 16
"""At most nine iterations, each of so many columns."""


@dataclass(frozen=True)
class Block:
    """One tile-level kernel with a loop up to its argument `%n`."""

    name: str
    text: str
    expected: Callable[[np.ndarray, np.ndarray, int], np.ndarray]
    """By the two inputs in double precision, and `%n`."""
    outputs: int = 2
    """The number of the argument that is written; `%n` is the next one."""

    def case(self, chip: str, passes: str) -> Case:
        """The program of the block, launched once for each number of iterations."""
        module = smalti.parse(self.text)
        smalti.Pipeline(f"builtin.module(smalti-compile{{target={chip} stop-after=mosaic}})").run(module)
        ends = (0, *range(STEP, DEPTH + 1, STEP), 5, DEPTH - 3)
        scalars = tuple({self.outputs + 1: str(end)} for end in ends)
        return Case(str(module), chip, passes, scalars, seed=1)

    def check(self, case: Case, run: Callable[[dict[int, str]], list[np.ndarray]]) -> None:
        """Compares the program's output with numpy in double precision."""
        for scalars in case.scalars:
            arrays = run(dict(scalars))
            a, b = arrays[0].astype(np.float64), arrays[1].astype(np.float64)
            wanted = self.expected(a, b, int(scalars[self.outputs + 1]))
            np.testing.assert_allclose(arrays[self.outputs], wanted, rtol=1e-3, atol=2e-3)


def _matmul(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    end = -(-n // STEP) * STEP
    return a[:, :end] @ b[:end]


def _fold(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    total = np.zeros((a.shape[0], STEP))
    for k in range(STEP, n, STEP):
        total = total * 0.5 + a[:, k : k + STEP] * b[:, k : k + STEP]
    return total


_MATMUL = """
triton_xla.entry_func @matmul(%a: memref<40x{k}xf16>, %b: memref<{k}x{m}xf16>, %c: memref<40x{m}xf32>, %n: index,
                               %tile: index) tiles 2 {{
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %row = arith.muli %tile, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %r = scf.for %k = %c0 to %n step %c16 iter_args(%s = %zero) -> (tensor<32x64xf32>) {{
    %x = triton_xla.extract %a[%row, %k] [32, 16] [1, 1] : memref<40x{k}xf16> to tensor<32x16xf16>
    %y = triton_xla.extract %b[%k, %c0] [16, 64] [1, 1] : memref<{k}x{m}xf16> to tensor<16x64xf16>
    %d = triton_xla.dot %x, %y, %s : tensor<32x16xf16>, tensor<16x64xf16> -> tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }}
  triton_xla.insert %r into %c[%row, %c0] [32, 64] [1, 1] : tensor<32x64xf32> into memref<40x{m}xf32>
  triton_xla.return
}}
"""

# From the second step on.
_FOLD = """
triton_xla.entry_func @fold(%a: memref<40x160xf32>, %b: memref<40x160xf32>, %c: memref<40x16xf32>, %n: index,
                            %tile: index) tiles 2 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %row = arith.muli %tile, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %half = arith.constant dense<0.5> : tensor<32x16xf32>
  %r = scf.for %k = %c16 to %n step %c16 iter_args(%s = %zero) -> (tensor<32x16xf32>) {
    %x = triton_xla.extract %a[%row, %k] [32, 16] [1, 1] : memref<40x160xf32> to tensor<32x16xf32>
    %y = triton_xla.extract %b[%row, %k] [32, 16] [1, 1] : memref<40x160xf32> to tensor<32x16xf32>
    %p = arith.mulf %x, %y : tensor<32x16xf32>
    %h = arith.mulf %s, %half : tensor<32x16xf32>
    %d = arith.addf %h, %p : tensor<32x16xf32>
    scf.yield %d : tensor<32x16xf32>
  }
  triton_xla.insert %r into %c[%row, %c0] [32, 16] [1, 1] : tensor<32x16xf32> into memref<40x16xf32>
  triton_xla.return
}
"""

BLOCKS = (
    Block("matmul", _MATMUL.format(k=DEPTH, m=48), _matmul),
    # Rows of an odd number of elements: nothing is aligned enough to be copied asynchronously.
    Block("ragged_matmul", _MATMUL.format(k=DEPTH + 1, m=47), _matmul),
    Block("fold", _FOLD, _fold),
)
