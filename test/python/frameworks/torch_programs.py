# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels, and operators of them, for the tests with torch and with its stand-in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import smalti
import smalti.language as sl

BLOCK = 64


@smalti.kernel(grid=lambda x: x.shape[0])
def softmax(x: sl.Array, y: sl.Array, block: smalti.constexpr):
    row = sl.tile_id()
    t = x.at[row, 0:block].load(fill=-float("inf"))
    e = sl.exp(t - t.max())
    y[row, 0:block] = e / e.sum()


@smalti.kernel(grid=lambda y: y.shape[0])
def softmax_backward(y: sl.Array, dy: sl.Array, dx: sl.Array, block: smalti.constexpr):
    row = sl.tile_id()
    p, d = y[row, 0:block], dy[row, 0:block]
    dx[row, 0:block] = p * (d - (p * d).sum())


@smalti.kernel(grid=lambda x: sl.cdiv(x.shape[0], BLOCK))
def scale(x: sl.Array, factor: sl.float32, negate: smalti.constexpr = False):
    """Multiplies a vector by a number."""
    i = sl.tile_id() * BLOCK
    t = x[i : i + BLOCK] * factor
    x[i : i + BLOCK] = -t if negate else t


@smalti.kernel(grid=lambda x: x.shape[0])
def extrema(x: sl.Array, low: sl.Array, high: sl.Array, block: smalti.constexpr):
    row = sl.tile_id()
    low[row] = x.at[row, 0:block].load(fill=float("inf")).min()
    high[row] = x.at[row, 0:block].load(fill=-float("inf")).max()


@smalti.kernel(grid=lambda x: sl.cdiv(x.shape[0], BLOCK))
def count(x: sl.Array, bins: int, counts: sl.Array):
    """Counts the elements of each value from 0 to bins - 1."""
    i = sl.tile_id() * BLOCK
    counts.at[x.at[i : i + BLOCK].load(fill=-1)].atomic("add", 1)


@smalti.kernel(grid=lambda out, block: sl.cdiv(out.shape[0], block))
def multiply_add(x: sl.Array, y: sl.Array, bias: float, out: sl.Array, block: smalti.constexpr = 32):
    i = sl.tile_id() * block
    out[i : i + block] = x[i : i + block] * y[i : i + block] + bias


@smalti.kernel
def accumulate(x: sl.Array, out: sl.Array):
    out[0:4] += x[0:4]


@smalti.kernel
def accumulate_multiplied(a: sl.Array, c: sl.Array, sums: sl.Array):
    sums[0:4] += a[0:4] * c[0:4]


@smalti.kernel(grid=2)
def double(x: sl.Array, y: sl.Array):
    i = sl.tile_id() * 32
    y[i : i + 32] = x[i : i + 32] * 2


@smalti.kernel(grid=lambda x: sl.cdiv(x.shape[0], BLOCK))
def square(x: sl.Array, y: sl.Array):
    i = sl.tile_id() * BLOCK
    t = x[i : i + BLOCK]
    y[i : i + BLOCK] = t * t


SCALED = """
triton_xla.entry_func @scaled(%src: memref<?x60xf32>, %factor: f32, %dst: memref<?x60xf32>, %tile: index) tiles 4 {
  %c32 = arith.constant 32 : index
  %row = arith.muli %tile, %c32 : index
  %t = triton_xla.extract %src[%row, 0] [32, 64] [1, 1] : memref<?x60xf32> to tensor<32x64xf32>
  %f = tensor.splat %factor : tensor<32x64xf32>
  %r = arith.mulf %t, %f : tensor<32x64xf32>
  triton_xla.insert %r into %dst[%row, 0] [32, 64] [1, 1] : tensor<32x64xf32> into memref<?x60xf32>
  triton_xla.return
}
"""
"""A kernel that is not a function of Python, for at most 128 rows."""


def compiled(target: str, rows: int | None = None) -> Any:
    """The kernel for a number of rows, which is static."""
    return smalti.compile(SCALED if rows is None else SCALED.replace("?", str(rows)), target=target)


def row_size(x: Any) -> int:
    return 1 << (x.shape[1] - 1).bit_length()


def operators() -> SimpleNamespace:
    """Operators of all kinds: outputs, changed arguments, numbers, constants, gradients."""
    op = smalti.torch.custom_op
    backward = op(
        "smalti_test::softmax_backward",
        softmax_backward,
        outputs={"dx": "y"},
        constants={"block": lambda y: row_size(y)},
    )
    return SimpleNamespace(
        softmax_backward=backward,
        softmax=op(
            "smalti_test::softmax",
            softmax,
            outputs={"y": "x"},
            constants={"block": row_size},
            backward=lambda grad_y, y: backward(y, grad_y),
        ),
        scale=op("smalti_test::scale", mutates_args="x")(scale),
        extrema=op(
            "smalti_test::extrema",
            extrema,
            outputs={"low": lambda x: x.new_empty(x.shape[0]), "high": lambda x: x.new_empty(x.shape[0])},
            constants={"block": row_size},
        ),
        lows=op(
            "smalti_test::lows",
            extrema,
            outputs={"low": lambda x: x.new_empty(x.shape[0])},
            mutates_args=["high"],
            constants={"block": row_size},
        ),
        count=op("smalti_test::count", count, outputs={"counts": lambda x, bins: x.new_zeros(bins)}),
        multiply_add=op(
            "smalti_test::multiply_add",
            multiply_add,
            outputs={"out": "x"},
            backward=lambda grad_out, x, y: {"y": grad_out * x, "x": grad_out * y},
        ),
    )
