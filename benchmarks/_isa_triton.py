# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of benchmarks/isa.py in Triton, and their compilation without a GPU.

The Python that has Triton executes this file. It reads jobs from standard input. For each it writes a line of
JSON: the PTX or AMD assembly, the shared memory in bytes, and the seconds; or the error. All sizes are constants, as
in our kernels, and pointers are multiples of 16 bytes.
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
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# Triton's compiler requires names in capitals for constants by convention only.
# ruff: noqa: N803


@triton.jit
def vector_add(x, y, z, N: tl.constexpr, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    valid = at < N
    tl.store(z + at, tl.load(x + at, mask=valid) + tl.load(y + at, mask=valid), mask=valid)


@triton.jit
def softmax(x, y, N: tl.constexpr, TILE: tl.constexpr):
    first = tl.program_id(0) * N
    column = tl.arange(0, TILE)
    valid = column < N
    row = tl.load(x + first + column, mask=valid, other=-float("inf")).to(tl.float32)
    e = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + first + column, (e / tl.sum(e, axis=0)).to(tl.float16), mask=valid)


@triton.jit
def layer_norm(x, weight, bias, y, N: tl.constexpr, TILE: tl.constexpr):
    first = tl.program_id(0) * N
    column = tl.arange(0, TILE)
    valid = column < N
    row = tl.load(x + first + column, mask=valid, other=0.0).to(tl.float32)
    mean = tl.sum(row, axis=0) / N
    centered = tl.where(valid, row - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / N
    scale = tl.math.rsqrt(variance + 1e-5)
    w = tl.load(weight + column, mask=valid, other=0.0).to(tl.float32)
    b = tl.load(bias + column, mask=valid, other=0.0).to(tl.float32)
    tl.store(y + first + column, (centered * scale * w + b).to(tl.float16), mask=valid)


@triton.jit
def rms_norm(x, weight, y, N: tl.constexpr, TILE: tl.constexpr):
    first = tl.program_id(0) * N
    column = tl.arange(0, TILE)
    valid = column < N
    row = tl.load(x + first + column, mask=valid, other=0.0).to(tl.float32)
    scale = tl.math.rsqrt(tl.sum(row * row, axis=0) / N + 1e-6)
    w = tl.load(weight + column, mask=valid, other=0.0).to(tl.float32)
    tl.store(y + first + column, (row * scale * w).to(tl.float16), mask=valid)


@triton.jit
def column_sum(x, y, M: tl.constexpr, N: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    row = tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, M, ROWS):
        at = start + row
        valid = (at[:, None] < M) & (column[None, :] < N)
        total += tl.load(x + at[:, None] * N + column[None, :], mask=valid, other=0.0)
    tl.store(y + column, tl.sum(total, axis=0), mask=column < N)


@triton.jit
def matmul_tile(
    a, b, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr
):
    tile = tl.program_id(0)
    columns: tl.constexpr = (N + TN - 1) // TN
    row = tile // columns * TM + tl.arange(0, TM)
    column = tile % columns * TN + tl.arange(0, TN)
    depth = tl.arange(0, TK)
    total = tl.zeros((TM, TN), tl.float32)
    for start in range(0, K, TK):
        k = start + depth
        left = tl.load(a + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * N + column[None, :], mask=(k[:, None] < K) & (column[None, :] < N), other=0.0)
        total = tl.dot(left, right, total)
    return total, row, column


@triton.jit
def matmul(
    a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr
):
    total, row, column = matmul_tile(a, b, M, N, K, TM, TN, TK)
    valid = (row[:, None] < M) & (column[None, :] < N)
    tl.store(c + row[:, None] * N + column[None, :], total.to(tl.float16), mask=valid)


@triton.jit
def matmul_gelu(
    a, b, bias, residual, c,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr,
):  # fmt: skip
    total, row, column = matmul_tile(a, b, M, N, K, TM, TN, TK)
    valid = (row[:, None] < M) & (column[None, :] < N)
    at = row[:, None] * N + column[None, :]
    x = total + tl.load(bias + column, mask=column < N, other=0.0).to(tl.float32)[None, :]
    gelu = 0.5 * x * (1.0 + tl.math.erf(x * 0.7071067811865476))
    tl.store(c + at, (gelu + tl.load(residual + at, mask=valid, other=0.0).to(tl.float32)).to(tl.float16), mask=valid)


@triton.jit
def matmul_grid(
    a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr,
    A_COLUMNS: tl.constexpr, B_COLUMNS: tl.constexpr, SPLITS: tl.constexpr, LENGTH: tl.constexpr, TF32: tl.constexpr,
):  # fmt: skip
    # Masks only where the tile does not divide the size.
    tile = tl.program_id(0)
    columns: tl.constexpr = (N + TN - 1) // TN
    tiles: tl.constexpr = (M + TM - 1) // TM * columns
    part = 0
    if SPLITS > 1:
        part = tile // tiles
        tile = tile % tiles
    row = tile // columns * TM + tl.arange(0, TM)
    column = tile % columns * TN + tl.arange(0, TN)
    depth = tl.arange(0, TK)
    a_row: tl.constexpr = 1 if A_COLUMNS else K
    a_column: tl.constexpr = M if A_COLUMNS else 1
    b_row: tl.constexpr = 1 if B_COLUMNS else N
    b_column: tl.constexpr = K if B_COLUMNS else 1
    start = part * LENGTH
    end = K
    if SPLITS > 1:
        end = tl.minimum(start + LENGTH, K)
    left_at = a + row[:, None] * a_row + (start + depth)[None, :] * a_column
    right_at = b + (start + depth)[:, None] * b_row + column[None, :] * b_column
    is_integer: tl.constexpr = a.dtype.element_ty == tl.int8
    kind: tl.constexpr = tl.int32 if is_integer else tl.float32
    total = tl.zeros((TM, TN), kind)
    for k in range(start, end, TK):
        if M % TM == 0 and K % TK == 0:
            left = tl.load(left_at)
        elif M % TM == 0:
            left = tl.load(left_at, mask=depth[None, :] < end - k, other=0)
        else:
            left = tl.load(left_at, mask=(row[:, None] < M) & (depth[None, :] < end - k), other=0)
        if N % TN == 0 and K % TK == 0:
            right = tl.load(right_at)
        elif N % TN == 0:
            right = tl.load(right_at, mask=depth[:, None] < end - k, other=0)
        else:
            right = tl.load(right_at, mask=(depth[:, None] < end - k) & (column[None, :] < N), other=0)
        total = tl.dot(left, right, total, input_precision="tf32" if TF32 else "ieee", out_dtype=kind)
        left_at += TK * a_column
        right_at += TK * b_row
    at = c + part * M * N + row[:, None] * N + column[None, :]
    if M % TM == 0 and N % TN == 0:
        tl.store(at, total.to(c.dtype.element_ty))
    else:
        tl.store(at, total.to(c.dtype.element_ty), mask=(row[:, None] < M) & (column[None, :] < N))


@triton.jit
def attention_step(
    q, k, v, top, total, out, row, start, T: tl.constexpr, D: tl.constexpr, KEYS: tl.constexpr, DIAGONAL: tl.constexpr
):
    key = start + tl.arange(0, KEYS)
    d = tl.arange(0, D)
    if DIAGONAL:
        keys = tl.load(k + key[:, None] * D + d[None, :], mask=key[:, None] < T, other=0.0)
        values = tl.load(v + key[:, None] * D + d[None, :], mask=key[:, None] < T, other=0.0)
    else:
        keys = tl.load(k + key[:, None] * D + d[None, :])
        values = tl.load(v + key[:, None] * D + d[None, :])
    # The exponential is one of base 2, as the scale of the scores includes log2(e).
    scores = tl.dot(q, tl.trans(keys)) * (1.4426950408889634 * D**-0.5)
    if DIAGONAL:
        scores = tl.where(key[None, :] <= row[:, None], scores, -float("inf"))
    new_top = tl.maximum(top, tl.max(scores, axis=1))
    p = tl.math.exp2(scores - new_top[:, None])
    old = tl.math.exp2(top - new_top)
    total = total * old + tl.sum(p, axis=1)
    out = tl.dot(p.to(tl.float16), values, out * old[:, None])
    return new_top, total, out


@triton.jit
def attention(q, k, v, o, T: tl.constexpr, D: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr):
    first = tl.program_id(0) * ROWS
    row = first + tl.arange(0, ROWS)
    d = tl.arange(0, D)
    at = row[:, None] * D + d[None, :]
    queries = tl.load(q + at, mask=row[:, None] < T, other=0.0)
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    out = tl.zeros((ROWS, D), tl.float32)
    # Keys before the first row of the tile need no mask.
    for start in range(0, first, KEYS):
        top, total, out = attention_step(queries, k, v, top, total, out, row, start, T, D, KEYS, False)
    for start in range(first, tl.minimum(first + ROWS, T), KEYS):
        top, total, out = attention_step(queries, k, v, top, total, out, row, start, T, D, KEYS, True)
    tl.store(o + at, (out / total[:, None]).to(tl.float16), mask=row[:, None] < T)


KERNELS: dict[str, Any] = {
    kernel.__name__: kernel
    for kernel in (vector_add, softmax, layer_norm, rms_norm, column_sum, matmul, matmul_gelu, matmul_grid, attention)
}


def target_of(chip: str) -> GPUTarget:
    """Triton's target: `sm_90a` is CUDA capability 90, and AMD's GFX10 and later have waves of 32."""
    if chip.startswith("sm_"):
        return GPUTarget("cuda", int(chip[3:].rstrip("af")), 32)
    return GPUTarget("hip", chip, 64 if chip.startswith("gfx9") else 32)


def compile_job(job: dict[str, Any]) -> dict[str, Any]:
    kernel = KERNELS[job["kernel"]]
    types = {"f16": "*fp16", "bf16": "*bf16", "f32": "*fp32", "i8": "*i8", "i32": "*i32"}
    types |= {"f8E4M3FN": "*fp8e4nv", "f8E4M3FNUZ": "*fp8e4b8"}
    pointers = dict(zip(kernel.arg_names, (types[name] for name in job["types"]), strict=False))
    signature = {name: pointers.get(name, "constexpr") for name in kernel.arg_names}
    aligned = {(kernel.arg_names.index(name),): [["tt.divisibility", 16]] for name in pointers}
    source = ASTSource(kernel, signature, constexprs=job["constants"], attrs=aligned)
    start = time.perf_counter()
    done = triton.compile(source, target=target_of(job["chip"]), options=job["options"])
    seconds = time.perf_counter() - start
    form = "ptx" if job["chip"].startswith("sm_") else "amdgcn"
    return {
        "assembly": done.asm[form],
        "cubin": done.asm["cubin"].hex() if form == "ptx" else None,
        "shared": done.metadata.shared,
        "warps": done.metadata.num_warps,
        "seconds": seconds,
    }


def main() -> None:
    for line in sys.stdin:
        try:
            result = compile_job(json.loads(line))
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    print(json.dumps({"version": triton.__version__}), flush=True)
    main()
