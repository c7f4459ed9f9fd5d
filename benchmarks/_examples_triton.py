# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of examples/ in Triton, and the seconds that Triton takes to compile them.

The Python that has Triton executes this file. It reads jobs from standard input, and writes the seconds of each, or the
error, as a line of JSON. Sizes in capitals are constants. The other sizes are constants for the static form of an example,
and arguments for the dynamic form.
"""

# Only the Python of the peers has Triton.
# pyright: reportMissingImports=false

from __future__ import annotations

import json
import sys
import time
from typing import Any

import triton
import triton.language as tl
from _isa_triton import target_of
from triton.compiler import ASTSource

# Triton's compiler requires names in capitals for constants by convention only.
# ruff: noqa: N803


@triton.jit
def softmax(x, y, n, TILE: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, TILE)
    valid = tl.arange(0, TILE) < n
    row = tl.load(x + at, mask=valid, other=-float("inf"))
    e = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + at, e / tl.sum(e, axis=0), mask=valid)


@triton.jit
def softmax_dynamic(x, y, n, TILE: tl.constexpr):
    first = tl.program_id(0) * n
    top, total = -3.0e38, 0.0
    for start in range(0, n, TILE):
        column = start + tl.arange(0, TILE)
        row = tl.load(x + first + column, mask=column < n, other=-float("inf"))
        new = tl.maximum(top, tl.max(row, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(row - new), axis=0)
        top = new
    for start in range(0, n, TILE):
        column = start + tl.arange(0, TILE)
        row = tl.load(x + first + column, mask=column < n)
        tl.store(y + first + column, tl.exp(row - top) / total, mask=column < n)


@triton.jit
def layer_norm(x, weight, bias, y, n, TILE: tl.constexpr):
    column = tl.arange(0, TILE)
    at = tl.program_id(0) * n + column
    valid = column < n
    row = tl.load(x + at, mask=valid, other=0.0)
    mean = tl.sum(row, axis=0) / n
    centered = tl.where(valid, row - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n
    w = tl.load(weight + column, mask=valid, other=0.0)
    b = tl.load(bias + column, mask=valid, other=0.0)
    tl.store(y + at, centered * tl.math.rsqrt(variance + 1e-5) * w + b, mask=valid)


@triton.jit
def rms_norm(x, weight, y, m, n, ROWS: tl.constexpr, TILE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, TILE)
    valid = (row[:, None] < m) & (column[None, :] < n)
    at = row[:, None] * n + column[None, :]
    t = tl.load(x + at, mask=valid, other=0.0).to(tl.float32)
    scale = tl.math.rsqrt(tl.sum(t * t, axis=1) / n + 1e-5)
    w = tl.load(weight + column, mask=column < n, other=0.0)
    tl.store(y + at, (t * scale[:, None] * w[None, :]).to(tl.float16), mask=valid)


@triton.jit
def cumulative_sum(x, y, n, TILE: tl.constexpr):
    first = tl.program_id(0) * n
    before = 0.0
    for start in range(0, n, TILE):
        column = start + tl.arange(0, TILE)
        t = tl.load(x + first + column, mask=column < n, other=0.0)
        tl.store(y + first + column, tl.cumsum(t, axis=0) + before, mask=column < n)
        before += tl.sum(t, axis=0)


@triton.jit
def histogram(x, bins, n, TILE: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    t = tl.load(x + at, mask=at < n, other=-1)
    counts = tl.histogram(t, BINS, mask=(t >= 0) & (t < BINS))
    tl.atomic_add(bins + tl.arange(0, BINS), counts)


@triton.jit
def embedding_gradient(token, gradient, table, n, rows, TILE: tl.constexpr, D: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    d = tl.arange(0, D)
    t = tl.load(token + at, mask=at < n, other=-1)
    g = tl.load(gradient + at[:, None] * D + d[None, :], mask=at[:, None] < n)
    tl.atomic_add(table + t[:, None] * D + d[None, :], g, mask=(t[:, None] >= 0) & (t[:, None] < rows))


@triton.jit
def top_k(x, values, columns, n, TILE: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, TILE)
    t = tl.load(x + row * n + column, mask=column < n, other=-float("inf"))
    # Triton sorts keys alone. The key has the order of the value, and then that of the column.
    bits = t.to(tl.int32, bitcast=True)
    order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    top = tl.topk((order.to(tl.int64) << 32) | (TILE - 1 - column).to(tl.int64), K)
    order = (top >> 32).to(tl.int32)
    bits = order ^ ((order >> 31) & 0x7FFFFFFF)
    tl.store(values + row * K + tl.arange(0, K), bits.to(tl.float32, bitcast=True))
    tl.store(columns + row * K + tl.arange(0, K), TILE - 1 - (top & 0xFFFFFFFF).to(tl.int32))


@triton.jit
def dot_of_windows(a, b, m, n, k, row, column, first, last, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    total = tl.zeros((TM, TN), tl.float32)
    for start in range(first, last, TK):
        depth = start + tl.arange(0, TK)
        left = tl.load(a + row[:, None] * k + depth[None, :], mask=(row[:, None] < m) & (depth[None, :] < k), other=0.0)
        right = tl.load(
            b + depth[:, None] * n + column[None, :], mask=(depth[:, None] < k) & (column[None, :] < n), other=0.0
        )
        total = tl.dot(left, right, total)
    return total


@triton.jit
def matmul_epilogue(a, b, bias, residual, c, m, n, k, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    row = tl.program_id(0) * TM + tl.arange(0, TM)
    column = tl.program_id(1) * TN + tl.arange(0, TN)
    total = dot_of_windows(a, b, m, n, k, row, column, 0, k, TM, TN, TK)
    valid = (row[:, None] < m) & (column[None, :] < n)
    at = row[:, None] * n + column[None, :]
    x = total + tl.load(bias + column, mask=column < n, other=0.0)[None, :]
    gelu = 0.5 * x * (1.0 + tl.math.erf(x * 0.70710678))
    tl.store(c + at, gelu + tl.load(residual + at, mask=valid, other=0.0), mask=valid)


@triton.jit
def split_k(a, b, c, m, n, k, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0) * TM + tl.arange(0, TM)
    column = tl.arange(0, TN)
    length = tl.cdiv(k, PARTS * TK) * TK
    first = tl.program_id(1) * length
    total = dot_of_windows(a, b, m, n, k, row, column, first, tl.minimum(first + length, k), TM, TN, TK)
    valid = (row[:, None] < m) & (column[None, :] < n)
    tl.atomic_add(c + row[:, None] * n + column[None, :], total, mask=valid)


@triton.jit
def grouped_matmul(x, expert, weights, y, m, TM: tl.constexpr, D: tl.constexpr):
    tile = tl.program_id(0)
    row = tile * TM + tl.arange(0, TM)
    d = tl.arange(0, D)
    number = tl.load(expert + tile)
    at = row[:, None] * D + d[None, :]
    left = tl.load(x + at, mask=row[:, None] < m, other=0.0)
    right = tl.load(weights + number * (D * D) + d[:, None] * D + d[None, :])
    tl.store(y + at, tl.dot(left, right), mask=row[:, None] < m)


@triton.jit
def int4_matmul(a, b, scale, c, m, k, TM: tl.constexpr, N: tl.constexpr, TK: tl.constexpr):
    row = tl.program_id(0) * TM + tl.arange(0, TM)
    column = tl.arange(0, N)
    total = tl.zeros((TM, N), tl.float32)
    for start in range(0, k, TK):
        depth = start + tl.arange(0, TK)
        left = tl.load(a + row[:, None] * k + depth[None, :], mask=(row[:, None] < m) & (depth[None, :] < k), other=0.0)
        pairs = tl.load(b + depth[:, None] * (N // 2) + tl.arange(0, N // 2)[None, :], mask=depth[:, None] < k, other=0)
        right = tl.interleave((pairs << 4) >> 4, pairs >> 4)
        total = tl.dot(left, right.to(tl.float16), total)
    total *= tl.load(scale + column)[None, :]
    tl.store(c + row[:, None] * N + column[None, :], total, mask=row[:, None] < m)


@triton.jit
def mlp(x, w1, b1, w2, b2, y, m, hidden, TM: tl.constexpr, D: tl.constexpr, TH: tl.constexpr):
    row = tl.program_id(0) * TM + tl.arange(0, TM)
    d = tl.arange(0, D)
    at = row[:, None] * D + d[None, :]
    left = tl.load(x + at, mask=row[:, None] < m, other=0.0)
    total = tl.zeros((TM, D), tl.float32)
    for start in range(0, hidden, TH):
        h = start + tl.arange(0, TH)
        first = tl.load(w1 + d[:, None] * hidden + h[None, :], mask=h[None, :] < hidden, other=0.0)
        values = tl.dot(left, first) + tl.load(b1 + h, mask=h < hidden, other=0.0)[None, :]
        values = tl.maximum(values, 0.0).to(tl.float16)
        second = tl.load(w2 + h[:, None] * D + d[None, :], mask=h[:, None] < hidden, other=0.0)
        total = tl.dot(values, second, total)
    tl.store(y + at, total + tl.load(b2 + d)[None, :], mask=row[:, None] < m)


@triton.jit
def quantized(t, AXIS: tl.constexpr):
    """Elements in f8E4M3FN, and the codes of their scales."""
    exponent = tl.max(tl.abs(t), axis=AXIS).to(tl.int32, bitcast=True) >> 23
    code = tl.maximum(exponent - 8, 0)
    factor = ((254 - code) << 23).to(tl.float32, bitcast=True)
    return (t * tl.expand_dims(factor, AXIS)).to(tl.float8e4nv), code.to(tl.uint8)


@triton.jit
def mxfp8_matmul(a, b, c, m, n, k, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    row = tl.program_id(0) * TM + tl.arange(0, TM)
    column = tl.program_id(1) * TN + tl.arange(0, TN)
    total = tl.zeros((TM, TN), tl.float32)
    for start in range(0, k, TK):
        depth = start + tl.arange(0, TK)
        left = tl.load(a + row[:, None] * k + depth[None, :], mask=(row[:, None] < m) & (depth[None, :] < k), other=0.0)
        right = tl.load(
            b + depth[:, None] * n + column[None, :], mask=(depth[:, None] < k) & (column[None, :] < n), other=0.0
        )
        left, left_scale = quantized(left, 1)
        right, right_scale = quantized(right, 0)
        left_scale, right_scale = left_scale[:, None], right_scale[:, None]
        total = tl.dot_scaled(left, left_scale, "e4m3", right, right_scale, "e4m3", total)
    valid = (row[:, None] < m) & (column[None, :] < n)
    tl.store(c + row[:, None] * n + column[None, :], total, mask=valid)


@triton.jit
def attention(q, k, v, o, queries, keys, ROWS: tl.constexpr, KEYS: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, D)
    at = row[:, None] * D + d[None, :]
    query = tl.load(q + at, mask=row[:, None] < queries, other=0.0)
    top = tl.full((ROWS,), -1.0e30, tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    out = tl.zeros((ROWS, D), tl.float32)
    for start in range(0, keys, KEYS):
        key = start + tl.arange(0, KEYS)
        kt = tl.load(k + key[:, None] * D + d[None, :], mask=key[:, None] < keys, other=0.0)
        vt = tl.load(v + key[:, None] * D + d[None, :], mask=key[:, None] < keys, other=0.0)
        scores = tl.where(key[None, :] < keys, tl.dot(query, tl.trans(kt)) * 0.125, -float("inf"))
        new = tl.maximum(top, tl.max(scores, axis=1))
        p = tl.exp(scores - new[:, None])
        old = tl.exp(top - new)
        total = total * old + tl.sum(p, axis=1)
        out = tl.dot(p.to(tl.float16), vt, out * old[:, None])
        top = new
    tl.store(o + at, out / total[:, None], mask=row[:, None] < queries)


@triton.jit
def attention_backward(
    q, k, v, do, lse, delta, dq, dk, dv, queries, keys, ROWS: tl.constexpr, KEYS: tl.constexpr, D: tl.constexpr
):
    key = tl.program_id(0) * KEYS + tl.arange(0, KEYS)
    d = tl.arange(0, D)
    there = key[:, None] * D + d[None, :]
    kt = tl.load(k + there, mask=key[:, None] < keys, other=0.0)
    vt = tl.load(v + there, mask=key[:, None] < keys, other=0.0)
    dkt = tl.zeros((KEYS, D), tl.float32)
    dvt = tl.zeros((KEYS, D), tl.float32)
    for start in range(0, queries, ROWS):
        row = start + tl.arange(0, ROWS)
        at = row[:, None] * D + d[None, :]
        valid = row[:, None] < queries
        qt = tl.load(q + at, mask=valid, other=0.0)
        dot = tl.load(do + at, mask=valid, other=0.0)
        top = tl.load(lse + row, mask=row < queries, other=0.0)
        mean = tl.load(delta + row, mask=row < queries, other=0.0)
        p = tl.exp(tl.dot(qt, tl.trans(kt)) * 0.125 - top[:, None])
        p = tl.where(valid & (key[None, :] < keys), p, 0.0)
        dvt = tl.dot(tl.trans(p.to(tl.float16)), dot, dvt)
        ds = (p * (tl.dot(dot, tl.trans(vt)) - mean[:, None]) * 0.125).to(tl.float16)
        dkt = tl.dot(tl.trans(ds), qt, dkt)
        tl.atomic_add(dq + at, tl.dot(ds, kt), mask=valid)
    tl.store(dk + there, dkt, mask=key[:, None] < keys)
    tl.store(dv + there, dvt, mask=key[:, None] < keys)


HALF, FLOAT, INT, BYTE = "*fp16", "*fp32", "*i32", "*i8"
_MATMUL = {"TM": 64, "TN": 64, "TK": 32}
_ATTENTION = {"ROWS": 64, "KEYS": 64, "D": 64}

# The kernel, the types of its pointers, its constants, and the sizes that are arguments of the dynamic form.
KERNELS: dict[str, tuple[Any, tuple[str, ...], dict[str, int], dict[str, int]]] = {
    "softmax": (softmax, (FLOAT, FLOAT), {"TILE": 1024}, {"n": 1000}),
    "softmax_long_rows": (softmax, (FLOAT, FLOAT), {"TILE": 16384}, {"n": 16000}),
    "layer_norm": (layer_norm, (FLOAT, FLOAT, FLOAT, FLOAT), {"TILE": 1024}, {"n": 768}),
    "rms_norm": (rms_norm, (HALF, FLOAT, HALF), {"ROWS": 8, "TILE": 512}, {"m": 13, "n": 500}),
    "cumulative_sum": (cumulative_sum, (FLOAT, FLOAT), {"TILE": 512}, {"n": 1200}),
    "histogram": (histogram, (INT, INT), {"TILE": 256, "BINS": 64}, {"n": 3000}),
    "embedding_gradient": (embedding_gradient, (INT, FLOAT, FLOAT), {"TILE": 16, "D": 64}, {"n": 50, "rows": 100}),
    "top_k": (top_k, (FLOAT, FLOAT, INT), {"TILE": 256, "K": 8}, {"n": 256}),
    "matmul_epilogue": (matmul_epilogue, (HALF, HALF, FLOAT, FLOAT, FLOAT), _MATMUL, {"m": 200, "n": 104, "k": 136}),
    "split_k": (split_k, (HALF, HALF, FLOAT), _MATMUL | {"PARTS": 4}, {"m": 128, "n": 64, "k": 512}),
    "grouped_matmul": (grouped_matmul, (HALF, INT, HALF, FLOAT), {"TM": 32, "D": 64}, {"m": 96}),
    "int4_matmul": (int4_matmul, (HALF, BYTE, FLOAT, FLOAT), {"TM": 64, "N": 64, "TK": 32}, {"m": 64, "k": 128}),
    "mlp": (mlp, (HALF, HALF, FLOAT, HALF, FLOAT, FLOAT), {"TM": 32, "D": 64, "TH": 64}, {"m": 128, "hidden": 256}),
    "mxfp8_matmul": (mxfp8_matmul, (FLOAT, FLOAT, FLOAT), {"TM": 32, "TN": 32, "TK": 32}, {"m": 64, "n": 64, "k": 256}),
    "attention": (attention, (HALF, HALF, HALF, FLOAT), _ATTENTION, {"queries": 200, "keys": 150}),
    "attention_backward": (
        *(attention_backward, (HALF, HALF, HALF, HALF, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT)),
        *(_ATTENTION | {"ROWS": 32}, {"queries": 200, "keys": 150}),
    ),
}


def seconds_of(job: dict[str, Any]) -> float:
    name = job["example"].removesuffix("_dynamic")
    is_dynamic = name != job["example"]
    kernel, types, constants, sizes = KERNELS[name]
    if job["example"] == "softmax_dynamic":
        kernel = softmax_dynamic
    pointers = dict(zip(kernel.arg_names, types, strict=False))
    integers = dict.fromkeys(sizes, "i32") if is_dynamic else {}
    signature = {argument: (pointers | integers).get(argument, "constexpr") for argument in kernel.arg_names}
    aligned = {(kernel.arg_names.index(argument),): [["tt.divisibility", 16]] for argument in pointers}
    source = ASTSource(kernel, signature, constexprs=constants if is_dynamic else constants | sizes, attrs=aligned)
    start = time.perf_counter()
    triton.compile(source, target=target_of(job["chip"]), options=job["options"])
    return time.perf_counter() - start


def main() -> None:
    for line in sys.stdin:
        try:
            result: dict[str, Any] = {"seconds": round(seconds_of(json.loads(line)), 3)}
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
