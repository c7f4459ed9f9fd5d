# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of examples/python in Triton, for benchmarks/python_kernels.py.

They compute what the examples compute, for arrays of any sizes in row-major order, in tiles of the same sizes.
"""

# Only the Python of the peers has Triton.
# pyright: reportMissingImports=false

from __future__ import annotations

from typing import Any

import _python_kernels_cases as cases
import triton
import triton.language as tl
from _isa_triton import target_of
from triton.compiler import ASTSource

TYPES = {
    "float32": "*fp32",
    "float16": "*fp16",
    "float8_e4m3fn": "*fp8e4nv",
    "float8_e8m0fnu": "*u8",
    "uint8": "*i8",
    "int32": "*i32",
}


@triton.jit
def vector_add(x, y, out, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask) + tl.load(y + i, mask), mask)


@triton.jit
def softmax(x, y, n, block: tl.constexpr):
    i = tl.arange(0, block)
    row, mask = tl.program_id(0) * n + i, i < n
    t = tl.load(x + row, mask, other=-float("inf"))
    e = tl.exp(t - tl.max(t, 0))
    tl.store(y + row, e / tl.sum(e, 0), mask)


@triton.jit
def layer_norm(x, weight, bias, y, n, eps, block: tl.constexpr):
    row = tl.program_id(0) * n
    total = tl.zeros((block,), tl.float32)
    squares = tl.zeros((block,), tl.float32)
    for k in range(0, n, block):
        i = k + tl.arange(0, block)
        t = tl.load(x + row + i, i < n, other=0.0).to(tl.float32)
        total += t
        squares += t * t
    mean = tl.sum(total, 0) / n
    scale = tl.math.rsqrt(tl.sum(squares, 0) / n - mean * mean + eps)
    for k in range(0, n, block):
        i = k + tl.arange(0, block)
        mask = i < n
        t = (tl.load(x + row + i, mask, other=0.0).to(tl.float32) - mean) * scale
        tl.store(y + row + i, t * tl.load(weight + i, mask) + tl.load(bias + i, mask), mask)


@triton.jit
def window(x, i, j, rows, columns):
    return tl.load(x + i[:, None] * columns + j[None, :], (i[:, None] < rows) & (j[None, :] < columns), other=0.0)


@triton.jit
def store_window(x, i, j, rows, columns, t):
    tl.store(x + i[:, None] * columns + j[None, :], t, (i[:, None] < rows) & (j[None, :] < columns))


@triton.jit
def gelu(t):
    return 0.5 * t * (1 + tl.math.erf(t * 0.7071067811865476))


@triton.jit
def matmul(a, b, bias, residual, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    i = tl.program_id(0) * bm + tl.arange(0, bm)
    j = tl.program_id(1) * bn + tl.arange(0, bn)
    acc = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        d = start + tl.arange(0, bk)
        acc = tl.dot(window(a, i, d, m, k), window(b, d, j, k, n), acc)
    t = gelu(acc + tl.load(bias + j, j < n)[None, :])
    store_window(c, i, j, m, n, t + window(residual, i, j, m, n))


@triton.jit
def grouped_matmul(x, experts, weights, y, m, n, k, bn: tl.constexpr, bk: tl.constexpr):
    rows: tl.constexpr = 32
    i = tl.program_id(0) * rows + tl.arange(0, rows)
    j = tl.program_id(1) * bn + tl.arange(0, bn)
    w = weights + tl.load(experts + tl.program_id(0)).to(tl.int64) * k * n
    acc = tl.zeros((rows, bn), tl.float32)
    for start in range(0, k, bk):
        d = start + tl.arange(0, bk)
        acc = tl.dot(window(x, i, d, m, k), window(w, d, j, k, n), acc)
    store_window(y, i, j, m, n, acc)


@triton.jit
def attention(
    q,
    k,
    v,
    out,
    length,
    scale,
    size: tl.constexpr,
    causal: tl.constexpr,
    bm: tl.constexpr,
    bn: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64) * length * size
    i = tl.program_id(0) * bm + tl.arange(0, bm)
    d = tl.arange(0, size)
    queries = window(q + head, i, d, length, size)
    top = tl.full((bm,), -1e30, tl.float32)
    total = tl.zeros((bm,), tl.float32)
    acc = tl.zeros((bm, size), tl.float32)
    for start in range(0, tl.minimum(length, tl.program_id(0) * bm + bm) if causal else length, bn):
        j = start + tl.arange(0, bn)
        scores = tl.dot(queries, tl.trans(window(k + head, j, d, length, size))) * (scale * 1.4426950408889634)
        visible = j[None, :] < length
        if causal:
            visible = visible & (j[None, :] <= i[:, None])
        scores = tl.where(visible, scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None])
        old = tl.exp2(top - new)
        values = window(v + head, j, d, length, size)
        acc = tl.dot(p.to(values.dtype), values, acc * old[:, None])
        total = total * old + tl.sum(p, 1)
        top = new
    store_window(out + head, i, d, length, size, acc / total[:, None])


@triton.jit
def int4_matmul(a, b, scale, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    i = tl.program_id(0) * bm + tl.arange(0, bm)
    j = tl.program_id(1) * bn + tl.arange(0, bn)
    pair = tl.program_id(1) * (bn // 2) + tl.arange(0, bn // 2)
    acc = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        d = start + tl.arange(0, bk)
        pairs = window(b, d, pair, k, n // 2)
        right = tl.interleave((pairs << 4) >> 4, pairs >> 4)
        acc = tl.dot(window(a, i, d, m, k), right.to(a.dtype.element_ty), acc)
    store_window(c, i, j, m, n, acc * tl.load(scale + j, j < n)[None, :])


@triton.jit
def scaled_dot(a, a_scale, b, b_scale, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    i = tl.program_id(0) * bm + tl.arange(0, bm)
    j = tl.program_id(1) * bn + tl.arange(0, bn)
    acc = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        d, s = start + tl.arange(0, bk), start // 32 + tl.arange(0, bk // 32)
        left, left_scale = window(a, i, d, m, k), window(a_scale, i, s, m, k // 32)
        right, right_scale = window(b, d, j, k, n), tl.trans(window(b_scale, s, j, k // 32, n))
        acc = tl.dot_scaled(left, left_scale, "e4m3", right, right_scale, "e4m3", acc)
    store_window(c, i, j, m, n, acc)


@triton.jit
def histogram(x, bins, n, number: tl.constexpr, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    t = tl.load(x + i, i < n, other=-1)
    counts = tl.histogram(t, number, mask=(t >= 0) & (t < number))
    tl.atomic_add(bins + tl.arange(0, number), counts)


@triton.jit
def conv2d(
    x,
    w,
    y,
    height,
    width,
    inputs,
    outputs,
    r_size,
    s_size,
    padding: tl.constexpr,
    bw: tl.constexpr,
    bk: tl.constexpr,
    bc: tl.constexpr,
):
    image, row = tl.program_id(0) // height, tl.program_id(0) % height
    column = tl.program_id(1) * bw + tl.arange(0, bw)
    k = tl.program_id(2) * bk + tl.arange(0, bk)
    acc = tl.zeros((bw, bk), tl.float32)
    for r in range(r_size):
        for s in range(s_size):
            i = row + r - padding
            j = tl.where((i >= 0) & (i < height), column + s - padding, -1)
            line = x + (image * height + i) * width * inputs
            filters = w + (r * s_size + s) * inputs * outputs
            for start in range(0, inputs, bc):
                c = start + tl.arange(0, bc)
                mask = (j[:, None] >= 0) & (j[:, None] < width) & (c[None, :] < inputs)
                pixels = tl.load(line + j[:, None] * inputs + c[None, :], mask, other=0.0)
                acc = tl.dot(pixels, window(filters, c, k, inputs, outputs), acc)
    store_window(y + tl.program_id(0) * width * outputs, column, k, width, outputs, acc)


@triton.jit
def top_k(x, values, columns, n, k: tl.constexpr, block: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, block)
    t = tl.load(x + row * n + i, i < n, other=-float("inf"))
    # Triton sorts keys alone. The key has the order of the value, and then that of the column.
    bits = t.to(tl.int32, bitcast=True)
    order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    top = tl.topk((order.to(tl.int64) << 32) | (block - 1 - i).to(tl.int64), k)
    order = (top >> 32).to(tl.int32)
    bits = order ^ ((order >> 31) & 0x7FFFFFFF)
    to = row * k + tl.arange(0, k)
    tl.store(values + to, bits.to(tl.float32, bitcast=True))
    tl.store(columns + to, block - 1 - (top & 0xFFFFFFFF).to(tl.int32))


@triton.jit
def mlp(x, gate, up, down, y, m, n, size: tl.constexpr, bm: tl.constexpr, bh: tl.constexpr):
    i = tl.program_id(0) * bm + tl.arange(0, bm)
    d = tl.arange(0, size)
    rows = window(x, i, d, m, size)
    acc = tl.zeros((bm, size), tl.float32)
    for start in range(0, n, bh):
        h = start + tl.arange(0, bh)
        g = tl.dot(rows, window(gate, d, h, size, n))
        hidden = g * tl.sigmoid(g) * tl.dot(rows, window(up, d, h, size, n))
        acc = tl.dot(hidden.to(rows.dtype), window(down, h, d, n, size), acc)
    store_window(y, i, d, m, size, acc)


@triton.jit
def mlp_gradients(
    x,
    gate,
    up,
    down,
    dy,
    hidden,
    dgate,
    dup,
    m,
    n,
    size: tl.constexpr,
    bm: tl.constexpr,
    bh: tl.constexpr,
):
    i = tl.program_id(0) * bm + tl.arange(0, bm)
    h = tl.program_id(1) * bh + tl.arange(0, bh)
    d = tl.arange(0, size)
    rows = window(x, i, d, m, size)
    g = tl.dot(rows, window(gate, d, h, size, n))
    u = tl.dot(rows, window(up, d, h, size, n))
    dh = tl.dot(window(dy, i, d, m, size).to(rows.dtype), tl.trans(window(down, h, d, n, size)))
    s = tl.sigmoid(g)
    store_window(hidden, i, h, m, n, g * s * u)
    store_window(dgate, i, h, m, n, dh * u * s * (1 + g * (1 - s)))
    store_window(dup, i, h, m, n, dh * g * s)


def compile_kernel(kernel: Any, case: cases.Case) -> None:
    signature: dict[str, str] = {}
    constants: dict[str, Any] = {}
    aligned = {}
    for position, parameter in enumerate(kernel.arg_names):
        if parameter in case.constants:
            signature[parameter] = "constexpr"
            constants[parameter] = case.constants[parameter]
            continue
        if parameter in case.floats:
            signature[parameter] = "fp32"
            continue
        is_size = parameter in case.sizes and parameter not in case.arrays
        signature[parameter] = "i32" if is_size else TYPES[case.arrays[parameter][0]]
        if not is_size or case.sizes[parameter] % 16 == 0:
            aligned[(position,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constexprs=constants, attrs=aligned)
    compiled = triton.compile(source, target=target_of(cases.CHIP), options={"num_warps": case.warps})
    assert compiled.asm["cubin"]


def version() -> str:
    return f"Triton {triton.__version__}"
