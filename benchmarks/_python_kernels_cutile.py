# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of examples/python in cuTile, for benchmarks/python_kernels.py.

They compute what the examples compute, for arrays of any sizes in row-major order, in tiles of the same sizes.
"""

# Only the Python of the peers has cuTile.
# pyright: reportMissingImports=false

from __future__ import annotations

import importlib.metadata
import inspect
import io
import math
from typing import Any

import _python_kernels_cases as cases
import cuda.tile as ct
from cuda.tile import compilation

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def vector_add(x, y, out, block: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(x, (i,), (block,)) + ct.load(y, (i,), (block,)))


@ct.kernel
def softmax(x, y, block: ct.Constant[int]):
    row = ct.bid(0)
    t = ct.load(x, (row, 0), (1, block), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(t - ct.max(t))
    ct.store(y, (row, 0), e / ct.sum(e))


@ct.kernel
def layer_norm(x, weight, bias, y, eps, block: ct.Constant[int]):
    row, n = ct.bid(0), x.shape[1]
    total = ct.zeros((1, block), ct.float32)
    squares = ct.zeros((1, block), ct.float32)
    for k in range(ct.cdiv(n, block)):
        t = ct.load(x, (row, k), (1, block), padding_mode=ZERO).astype(ct.float32)
        total += t
        squares += t * t
    mean = ct.sum(total) / n
    scale = ct.rsqrt(ct.sum(squares) / n - mean * mean + eps)
    for k in range(ct.cdiv(n, block)):
        t = (ct.load(x, (row, k), (1, block)).astype(ct.float32) - mean) * scale
        t = t * ct.load(weight, (k,), (block,)) + ct.load(bias, (k,), (block,))
        ct.store(y, (row, k), t)


def erf(t):
    # cuTile does not have erf. This is formula 7.1.26 of Abramowitz and Stegun, whose error is at most 1.5e-7.
    u = ct.abs(t)
    s = 1 / (1 + 0.3275911 * u)
    p = ((((1.061405429 * s - 1.453152027) * s + 1.421413741) * s - 0.284496736) * s + 0.254829592) * s
    r = 1 - p * ct.exp(-u * u)
    return ct.where(t < 0, -r, r)


def gelu(t):
    return 0.5 * t * (1 + erf(t * 0.7071067811865476))


@ct.kernel
def matmul(a, b, bias, residual, c, bm: ct.Constant[int], bn: ct.Constant[int], bk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((bm, bn), ct.float32)
    for k in range(ct.cdiv(a.shape[1], bk)):
        left = ct.load(a, (i, k), (bm, bk), padding_mode=ZERO)
        acc = ct.mma(left, ct.load(b, (k, j), (bk, bn), padding_mode=ZERO), acc)
    t = gelu(acc + ct.load(bias, (j,), (bn,))) + ct.load(residual, (i, j), (bm, bn))
    ct.store(c, (i, j), t.astype(c.dtype))


@ct.kernel
def grouped_matmul(x, experts, weights, y, bn: ct.Constant[int], bk: ct.Constant[int]):
    rows = 32
    i, j = ct.bid(0), ct.bid(1)
    expert = ct.load(experts, (i,), ())
    acc = ct.zeros((rows, bn), ct.float32)
    for k in range(ct.cdiv(x.shape[1], bk)):
        right = ct.load(weights, (expert, k, j), (1, bk, bn), padding_mode=ZERO).reshape((bk, bn))
        acc = ct.mma(ct.load(x, (i, k), (rows, bk), padding_mode=ZERO), right, acc)
    ct.store(y, (i, j), acc)


@ct.kernel
def attention(
    q,
    k,
    v,
    out,
    scale,
    size: ct.Constant[int],
    causal: ct.Constant[bool],
    bm: ct.Constant[int],
    bn: ct.Constant[int],
):
    i, head, length = ct.bid(0), ct.bid(1), k.shape[1]
    queries = ct.load(q, (head, i, 0), (1, bm, size), padding_mode=ZERO).reshape((bm, size))
    rows = i * bm + ct.arange(bm, dtype=ct.int32)
    top = ct.full((bm,), -1e30, ct.float32)
    total = ct.zeros((bm,), ct.float32)
    acc = ct.zeros((bm, size), ct.float32)
    for j in range(ct.cdiv(min(length, i * bm + bm) if causal else length, bn)):
        keys = ct.load(k, (head, j, 0), (1, bn, size), padding_mode=ZERO).reshape((bn, size))
        scores = ct.mma(queries, keys.transpose(), ct.zeros((bm, bn), ct.float32)) * (scale * 1.4426950408889634)
        columns = (j * bn + ct.arange(bn, dtype=ct.int32))[None, :]
        visible = columns < length
        if causal:
            visible = visible & (columns <= rows[:, None])
        scores = ct.where(visible, scores, -math.inf)
        new = ct.maximum(top, ct.max(scores, 1))
        p = ct.exp2(scores - new[:, None])
        old = ct.exp2(top - new)
        values = ct.load(v, (head, j, 0), (1, bn, size), padding_mode=ZERO).reshape((bn, size))
        acc = ct.mma(p.astype(values.dtype), values, acc * old[:, None])
        total = total * old + ct.sum(p, 1)
        top = new
    ct.store(out, (head, i, 0), (acc / total[:, None])[None, :, :])


@ct.kernel
def int4_matmul(a, b, scale, c, bm: ct.Constant[int], bn: ct.Constant[int], bk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((bm, bn), ct.float32)
    for k in range(ct.cdiv(a.shape[1], bk)):
        pairs = ct.bitcast(ct.load(b, (k, j), (bk, bn // 2), padding_mode=ZERO), ct.int8)[:, :, None]
        right = ct.cat(((pairs << 4) >> 4, pairs >> 4), 2).reshape((bk, bn))
        acc = ct.mma(ct.load(a, (i, k), (bm, bk), padding_mode=ZERO), right.astype(a.dtype), acc)
    ct.store(c, (i, j), acc * ct.load(scale, (j,), (bn,)))


@ct.kernel
def scaled_dot(a, a_scale, b, b_scale, c, bm: ct.Constant[int], bn: ct.Constant[int], bk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((bm, bn), ct.float32)
    for k in range(ct.cdiv(a.shape[1], bk)):
        left, left_scale = ct.load(a, (i, k), (bm, bk), padding_mode=ZERO), ct.load(a_scale, (i, k), (bm, bk // 32))
        right, right_scale = ct.load(b, (k, j), (bk, bn), padding_mode=ZERO), ct.load(b_scale, (k, j), (bk // 32, bn))
        acc = ct.mma_scaled(left, left_scale, right, right_scale, acc)
    ct.store(c, (i, j), acc)


@ct.kernel
def histogram(x, bins, number: ct.Constant[int], block: ct.Constant[int]):
    i = ct.bid(0) * block + ct.arange(block, dtype=ct.int32)
    t = ct.gather(x, i, padding_value=-1)
    values = ct.arange(number, dtype=ct.int32)
    counts = ct.sum((t[:, None] == values[None, :]).astype(ct.int32), 0)
    ct.atomic_add(bins, values, counts)


@ct.kernel
def conv2d(
    x,
    w,
    y,
    padding: ct.Constant[int],
    bw: ct.Constant[int],
    bk: ct.Constant[int],
    bc: ct.Constant[int],
):
    image, row = ct.bid(0) // y.shape[1], ct.bid(0) % y.shape[1]
    column = ct.bid(1) * bw + ct.arange(bw, dtype=ct.int32)
    acc = ct.zeros((bw, bk), ct.float32)
    for r in range(w.shape[0]):
        for s in range(w.shape[1]):
            i, j = row + r - padding, column + s - padding
            for c in range(ct.cdiv(x.shape[3], bc)):
                channels = c * bc + ct.arange(bc, dtype=ct.int32)
                pixels = ct.gather(x, (image, i, j[:, None], channels[None, :]))
                filters = ct.load(w, (r, s, c, ct.bid(2)), (1, 1, bc, bk), padding_mode=ZERO)
                acc = ct.mma(pixels, filters.reshape((bc, bk)), acc)
    ct.store(y, (image, row, ct.bid(1), ct.bid(2)), acc.reshape((1, 1, bw, bk)))


@ct.kernel
def top_k(x, values, columns, k: ct.Constant[int], block: ct.Constant[int]):
    row, i = ct.bid(0), ct.arange(block, dtype=ct.int32)
    t = ct.load(x, (row, 0), (1, block), padding_mode=ct.PaddingMode.NEG_INF).reshape((block,))
    # cuTile does not have a sort.
    for position in range(k):
        column = ct.argmax(t)
        ct.store(values, (row, position), ct.max(t))
        ct.store(columns, (row, position), column)
        t = ct.where(i == column, -math.inf, t)


@ct.function
def sigmoid(t):
    return 1 / (1 + ct.exp(-t))


@ct.function
def dot(a, b):
    return ct.mma(a, b, ct.zeros((a.shape[0], b.shape[1]), ct.float32))


@ct.kernel
def mlp(x, gate, up, down, y, size: ct.Constant[int], bm: ct.Constant[int], bh: ct.Constant[int]):
    i = ct.bid(0)
    rows = ct.load(x, (i, 0), (bm, size), padding_mode=ZERO)
    acc = ct.zeros((bm, size), ct.float32)
    for h in range(ct.cdiv(gate.shape[1], bh)):
        g = dot(rows, ct.load(gate, (0, h), (size, bh), padding_mode=ZERO))
        hidden = g * sigmoid(g) * dot(rows, ct.load(up, (0, h), (size, bh), padding_mode=ZERO))
        acc = ct.mma(hidden.astype(x.dtype), ct.load(down, (h, 0), (bh, size), padding_mode=ZERO), acc)
    ct.store(y, (i, 0), acc)


@ct.kernel
def mlp_gradients(
    x,
    gate,
    up,
    down,
    dy,
    hidden,
    dgate,
    dup,
    size: ct.Constant[int],
    bm: ct.Constant[int],
    bh: ct.Constant[int],
):
    i, h = ct.bid(0), ct.bid(1)
    rows = ct.load(x, (i, 0), (bm, size), padding_mode=ZERO)
    g = dot(rows, ct.load(gate, (0, h), (size, bh), padding_mode=ZERO))
    u = dot(rows, ct.load(up, (0, h), (size, bh), padding_mode=ZERO))
    dy_rows = ct.load(dy, (i, 0), (bm, size), padding_mode=ZERO).astype(x.dtype)
    dh = dot(dy_rows, ct.load(down, (h, 0), (bh, size), padding_mode=ZERO).transpose())
    s = sigmoid(g)
    ct.store(hidden, (i, h), g * s * u)
    ct.store(dgate, (i, h), dh * u * s * (1 + g * (1 - s)))
    ct.store(dup, (i, h), dh * g * s)


def constraint(case: cases.Case, name: str) -> Any:
    """The facts of an argument, as cuTile's launcher derives them from a tensor of torch."""
    if name in case.constants:
        return compilation.ConstantConstraint(case.constants[name])
    if name in case.floats:
        return compilation.ScalarConstraint(ct.float32)
    dtype, *shape = case.arrays[name]
    rank = len(shape)
    strides = [math.prod(shape[axis + 1 :]) for axis in range(rank)]
    return compilation.ArrayConstraint(
        getattr(ct, dtype),
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=[None] * (rank - 1) + [1],
        stride_divisible_by=[math.gcd(stride, 16) for stride in strides],
        shape_divisible_by=[math.gcd(size, 16) for size in shape],
        base_addr_divisible_by=16,
    )


def compile_kernel(kernel: Any, case: cases.Case) -> None:
    names = inspect.signature(kernel._pyfunc).parameters
    signature = compilation.KernelSignature(
        [constraint(case, parameter) for parameter in names],
        compilation.CallingConvention.cutile_python_v1(),
    )
    code = io.BytesIO()
    compilation.export_kernel(kernel, [signature], code, gpu_code=cases.CHIP.rstrip("a"), output_format="cubin")
    assert code.getvalue()


def version() -> str:
    return f"cuTile {ct.__version__}, tileiras {importlib.metadata.version('nvidia-cuda-tileiras')}"
