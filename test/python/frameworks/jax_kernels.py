# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX that are kernels, for the tests with JAX."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import smalti
import smalti.language as sl
import torch_programs
from torch_programs import row_size


@smalti.kernel(grid=lambda x: x.shape[0])
def rows_plus(x: sl.Array, w: sl.Array, y: sl.Array, block: smalti.constexpr = 128):
    """Adds a vector to each row."""
    row = sl.tile_id()
    y[row, 0:block] = x[row, 0:block] + w[0:block] + sl.num_tiles(0)


@smalti.kernel(grid=lambda out: sl.cdiv(out.shape[0], 64))
def count_up(n: smalti.constexpr, out: sl.Array):
    i = sl.tile_id() * 64
    out[i : i + 64] = i + sl.arange(64)


def functions(target: str | None = None) -> SimpleNamespace:
    """Functions of all kinds: outputs, changed arrays, numbers, constants, gradients."""
    call = smalti.jax.ffi_call

    def on(kernel: smalti.language.PythonKernel) -> smalti.language.PythonKernel:
        return kernel if target is None else kernel.on(target)

    def one_for_each_row(x: jax.Array) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(x.shape[:1], x.dtype)

    softmax_backward = call(
        on(torch_programs.softmax_backward), outputs={"dx": "y"}, constants={"block": lambda y: row_size(y)}
    )
    return SimpleNamespace(
        softmax=call(
            on(torch_programs.softmax),
            outputs={"y": "x"},
            constants={"block": row_size},
            backward=lambda grad_y, y: softmax_backward(y, grad_y),
        ),
        scale=call(input_output_aliases="x")(on(torch_programs.scale)),
        extrema=call(
            on(torch_programs.extrema),
            outputs={"low": one_for_each_row, "high": one_for_each_row},
            constants={"block": row_size},
        ),
        lows=call(
            on(torch_programs.extrema),
            outputs={"low": one_for_each_row},
            input_output_aliases=["high"],
            constants={"block": row_size},
        ),
        count=call(on(torch_programs.count), outputs={"counts": lambda bins: jnp.zeros(bins, jnp.int32)}),
        multiply_add=call(
            on(torch_programs.multiply_add),
            outputs={"out": "x"},
            backward=lambda grad_out, x, y: {"y": grad_out * x, "x": grad_out * y},
        ),
        rows_plus=call(on(rows_plus), outputs={"y": "x"}),
        count_up=call(
            on(count_up), outputs={"out": lambda n: jax.ShapeDtypeStruct((n,), jnp.int32)}, constants={"n": 100}
        ),
    )
