# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of Pallas, as JAX printed them, on the emulated Hopper GPU against float64, and as code for the real one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from conftest import PALLAS
from helpers import Array
from jax_programs import run
from smalti import toolchain
from smalti.codegen import assemble

F16, F32, I8, I32 = np.float16, np.float32, np.int8, np.int32
BF16, FP8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
TF32 = "tf32"
LAST_BIT = {F16: 2.0**-11, F32: 2.0**-24, BF16: 2.0**-8}
"""The relative error of a rounding to nearest."""


def normal(*shape: int, dtype: Any = F16, scale: float = 1, seed: int = 0) -> Array:
    return (np.random.default_rng([seed, *shape]).standard_normal(shape) * scale).astype(dtype)


def integers(*shape: int, dtype: Any = I8) -> Array:
    return np.random.default_rng(shape).integers(-128, 128, shape).astype(dtype)


def tf32(values: Array) -> Array:
    """Without the bits that the tensor cores drop."""
    return (values.view(np.uint32) & 0xFFFFE000).view(np.float32)


def empty(*shape: int, dtype: Any = F16) -> Array:
    """Wrong in every element."""
    return np.full(shape, -1 if dtype in (I32, I8) else np.nan, dtype)


def wide(*arrays: Array) -> list[Array]:
    return [array.astype(np.float64) for array in arrays]


# ---------------------------------------------------------------------------------------------------------------------
# Matmuls
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Matmul:
    """A kernel that multiplies two matrices: their types, sizes, and what it does before and after."""

    sizes: tuple[int, int, int]
    a: Any = F16
    b: Any = F16
    out: Any = F16
    sums: Any = F32
    transposed: bool = False
    scale: float = 1

    def run(self, name: str, **emulation: Any) -> None:
        m, n, k = self.sizes
        a, b = (
            integers(*shape) if dtype is I8 else normal(*shape, dtype=F32 if dtype is TF32 else dtype, seed=seed)
            for seed, (dtype, shape) in enumerate(((self.a, (m, k)), (self.b, (n, k) if self.transposed else (k, n))))
        )
        out = empty(m, n, dtype=self.out)
        run(PALLAS / f"{name}.mlir", a, b, out, **emulation)
        used = wide(*((tf32(a), tf32(b)) if self.a is TF32 else (a, b)))
        left, right = used[0] * self.scale, used[1].T if self.transposed else used[1]
        wanted = left @ right
        if self.out is I32:
            np.testing.assert_array_equal(out, wanted)
            return
        # Sums are rounded once for each instruction, the result once more.
        bound = LAST_BIT[self.sums] * (k / 8) * (np.abs(left) @ np.abs(right)) + LAST_BIT[self.out] * np.abs(wanted)
        assert (np.abs(out.astype(np.float64) - wanted) <= bound).all()


MATMULS = {
    "wgmma_shared": Matmul((64, 128, 128)),
    "wgmma_short_rows": Matmul((64, 64, 32), out=F32),
    "wgmma_transposed": Matmul((64, 128, 128), transposed=True),
    "wgmma_registers": Matmul((64, 128, 128), BF16, BF16, F32, scale=2),
    "wgmma_fp8": Matmul((64, 128, 128), FP8, FP8, F32, transposed=True),
    "wgmma_mixed_types": Matmul((64, 128, 128), I8, BF16, F32),
    "wgmma_tf32": Matmul((64, 128, 64), TF32, TF32, F32, transposed=True),
    "wgmma_f16_sums": Matmul((64, 128, 64), sums=F16),
    "wgmma_int8": Matmul((64, 128, 128), I8, I8, I32, transposed=True),
    "small_matmul_cluster_n": Matmul((256, 512, 192)),
    "small_mixed_matmul": Matmul((128, 256, 192), I8, BF16, BF16),
}


@pytest.mark.parametrize("name", MATMULS)
def test_matmuls(name: str) -> None:
    MATMULS[name].run(name)


def test_matmuls_of_a_matmul() -> None:
    a, b, c, out = normal(64, 64), normal(64, 64, seed=1), normal(64, 128), empty(64, 128)
    run(PALLAS / "two_matmuls.mlir", a, b, c, out)
    left, middle, right = wide(a, b, c)
    wanted = (left @ middle).astype(np.float32).astype(F16).astype(np.float64) @ right
    np.testing.assert_allclose(out, wanted, rtol=2.0**-10, atol=0.1)


def test_softmax_of_a_matmul() -> None:
    a, b, out = normal(64, 64, scale=0.25), normal(64, 128), empty(64, 128)
    run(PALLAS / "wgmma_softmax.mlir", a, b, out)
    left, right = wide(a, b)
    np.testing.assert_allclose(out, softmax(left @ right), rtol=2e-3, atol=1e-6)


# ---------------------------------------------------------------------------------------------------------------------
# Copies
# ---------------------------------------------------------------------------------------------------------------------


def test_copies_to_both_blocks_of_a_cluster() -> None:
    x, out = normal(256, 128), empty(256, 128)
    for order in ("lowest-first", "highest-first"):
        out[...] = np.nan
        run(PALLAS / "collective_copy.mlir", x, out, order=order)
        np.testing.assert_array_equal(out, x)


def test_copies_that_add() -> None:
    x, out = normal(128, 128, dtype=F32), normal(128, 128, dtype=F32, seed=1)
    wanted = out + (x + 1)
    run(PALLAS / "copies_that_reduce.mlir", x, out, sanitize="thread")
    np.testing.assert_array_equal(out, wanted)


def test_prefetch() -> None:
    x, out = normal(64, 128, dtype=F32), empty(64, 128, dtype=F32)
    run(PALLAS / "prefetch.mlir", x, out)
    np.testing.assert_array_equal(out, x)


def test_more_values_than_registers() -> None:
    """A thread has 128 elements of each argument; see docs/passes/convert-mosaic-gpu-to-nvvm.md, "Order"."""
    y, x, out = normal(128, 128, dtype=F32), normal(128, 128, dtype=F32, seed=1), empty(128, 128, dtype=F32)
    run(PALLAS / "arc_tangent.mlir", y, x, out)
    np.testing.assert_allclose(out, np.arctan2(*wide(y, x)), rtol=0, atol=1e-6)


# ---------------------------------------------------------------------------------------------------------------------
# Matmuls of groups of rows
# ---------------------------------------------------------------------------------------------------------------------

# One ends in the middle of a tile of 64 rows, and one is small.
GROUPS = np.array([180, 12, 64], I32)


def ragged_dot(text: str, **emulation: Any) -> None:
    a, b, out = normal(256, 256), normal(3, 256, 128), empty(256, 128)
    run(text, GROUPS, a, b, out, **emulation)
    start = 0
    for group, rows in enumerate(GROUPS):
        left, right = wide(a[start : start + rows], b[group])
        np.testing.assert_allclose(out[start : start + rows], left @ right, rtol=2.0**-10, atol=1e-3)
        start += rows


def transposed_ragged_dot(text: str, **emulation: Any) -> None:
    a, b, out = normal(256, 128), normal(256, 128, seed=1), empty(3, 128, 128)
    ends = np.cumsum(GROUPS).astype(I32)
    starts = ends - GROUPS
    first = starts // 64 * 64
    blocks = (-(ends // -64) * 64 - first) // 64
    run(text, GROUPS, starts, ends, blocks, first, a, b, out, **emulation)
    for group, (start, end) in enumerate(zip(starts, ends, strict=True)):
        left, right = wide(a[start:end], b[start:end])
        np.testing.assert_allclose(out[group], left.T @ right, rtol=2.0**-10, atol=1e-3)


@pytest.mark.parametrize("dot", [ragged_dot, transposed_ragged_dot])
def test_ragged_dots(dot: Callable[..., None]) -> None:
    """JAX's kernel overwrites an operand that a `wgmma` may still read, as its loop has no wait. It is right if a
    `wgmma` completes immediately, and in all cases with a wait for all but the last one."""
    text = (PALLAS / f"small_{dot.__name__}.mlir").read_text()
    dot(text, copies="early")
    with pytest.raises(
        smalti.EmulationError, match=r"operand of wgmma\.mma_async was overwritten while the wgmma was in flight"
    ):
        dot(text)
    commit = "nvvm.wgmma.commit.group.sync.aligned\n"
    assert text.count(commit) == 1
    mended = text.replace(commit, f"{commit}nvvm.wgmma.wait.group.sync.aligned 1\n")
    dot(mended)
    dot(mended, order="highest-first")


# ---------------------------------------------------------------------------------------------------------------------
# Attention
# ---------------------------------------------------------------------------------------------------------------------


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@dataclass
class Attention:
    """A problem of two heads with 256 rows, and its solution in float64."""

    q: Array
    k: Array
    v: Array
    weights: Array
    out: Array
    sums: Array
    """Sums of the powers of two in the softmax, as their logarithms."""

    def __init__(self, *, causal: bool = False) -> None:
        self.q, self.k, self.v = (normal(1, 256, 2, 64, scale=0.4, seed=seed) for seed in range(3))
        q, k, v = wide(self.q, self.k, self.v)
        scores = np.einsum("bqhd,bkhd->bhqk", q, k)
        if causal:
            scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
        self.weights = softmax(scores)
        self.out = np.einsum("bhqk,bkhd->bqhd", self.weights, v)
        top = scores.max(axis=-1)
        self.sums = np.log2(np.e) * (top + np.log(np.exp(scores - top[..., None]).sum(axis=-1)))


def test_causal_attention() -> None:
    problem, out = Attention(causal=True), empty(1, 256, 2, 64)
    run(PALLAS / "small_attention_causal.mlir", problem.q, problem.k, problem.v, out)
    np.testing.assert_allclose(out, problem.out, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["small_attention_emitter", "small_attention_gradient"])
def test_attention_with_its_residuals(name: str) -> None:
    problem, out, sums = Attention(), empty(1, 256, 2, 64), empty(1, 2, 256, dtype=F32)
    run(PALLAS / f"{name}.mlir", problem.q, problem.k, problem.v, out, sums)
    np.testing.assert_allclose(out, problem.out, rtol=2e-3, atol=1e-3)
    np.testing.assert_allclose(sums, problem.sums, rtol=1e-5)


def test_gradients_of_attention() -> None:
    problem = Attention()
    change = normal(1, 256, 2, 64, seed=3)
    q, k, v, do = wide(problem.q, problem.k, problem.v, change)
    delta = np.einsum("bqhd,bqhd->bhq", problem.out, do)
    ds = problem.weights * (np.einsum("bqhd,bkhd->bhqk", do, v) - delta[..., None])
    wanted = {
        "dq": np.einsum("bhqk,bkhd->bqhd", ds, k),
        "dk": np.einsum("bhqk,bqhd->bkhd", ds, q),
        "dv": np.einsum("bhqk,bqhd->bkhd", problem.weights, do),
    }
    found = {name: empty(1, 256, 2, 64) for name in wanted}
    given = (
        problem.q,
        problem.k,
        problem.v,
        change,
        *(np.ascontiguousarray(part, F32) for part in (problem.sums, delta)),
    )
    run(PALLAS / "small_attention_gradient_2.mlir", *given, found["dq"])
    run(PALLAS / "small_attention_gradient_3.mlir", *given, found["dk"], found["dv"])
    for name, result in found.items():
        np.testing.assert_allclose(result, wanted[name], rtol=3e-3, atol=3e-3, err_msg=name)


# ---------------------------------------------------------------------------------------------------------------------
# Code
# ---------------------------------------------------------------------------------------------------------------------


def _is_for_hopper(path: Path) -> bool:
    text = path.read_text()
    return "mosaic_gpu.arch_major = 9 " in text and "gpu.launch " in text and ".inferred" not in path.name


KERNELS = sorted(path.stem for path in PALLAS.glob("*.mlir") if _is_for_hopper(path))


def test_kernels_are_those_of_the_folder() -> None:
    assert {*MATMULS, "pointwise", "row_softmax", "hopper_matmul", "ragged_dot", "prefetch"} <= {*KERNELS}
    assert not {name for name in KERNELS if "blackwell" in name or name == "every_op"}


@pytest.mark.parametrize("name", KERNELS)
def test_the_assembler_has_nothing_to_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No registers are spilled, no `wgmma` is serialized, and no fences are added (C7519)."""
    if toolchain.find_ptxas() is None:
        pytest.skip("there is no ptxas")
    logs: list[str] = []
    assembled = assemble.assemble_ptx

    def assemble_ptx(*arguments: Any) -> assemble.Cubin:
        cubin = assembled(*arguments)
        logs.append(cubin.log)
        return cubin

    monkeypatch.setattr(assemble, "assemble_ptx", assemble_ptx)
    resources = smalti.compile(PALLAS / f"{name}.mlir", target="sm_90a").resources
    (log,) = logs
    assert resources.spills == 0 and resources.stack_bytes == 0
    assert "Compiling entry function" in log and "serialized" not in log and "C7519" not in log, log
