# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block-level matmuls against float64: `mosaic_gpu.wgmma` of every type, `mosaic_gpu.mma` of the target table."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import OPERANDS, SHARED, gpu_kernel
from smalti import sim, targets

FLOATS = ("f8E4M3FN", "f8E5M2")
WGMMA = [
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("f32", "f32", "f32"),
    ("i8", "i8", "i32"),
]
WGMMA += [(a, b, sums) for a in FLOATS for b in FLOATS for sums in ("f32", "f16")]
NAMES = {"tf32": "f32"}


def given(ty: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if ty in ("i8", "i32"):
        limit = 128 if ty == "i8" else 2**31
        return rng.integers(-limit, limit, shape).astype(OPERANDS[ty])
    return rng.standard_normal(shape).astype(OPERANDS[ty])


def exact(ty: str, matrix: np.ndarray, tf32: bool) -> np.ndarray:
    """The operand values of the tensor core, as float64."""
    if ty == "f32" and tf32:
        matrix = (matrix.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return matrix.astype(np.float64)


def kernel(arguments: list[str], lines: list[str], threads: int) -> str:
    body = "\n    ".join(lines)
    named = ", ".join(f"%{name}: memref<{ty}>" for name, ty in zip("abco", arguments, strict=True))
    return gpu_kernel(
        named,
        f"""    %c0 = arith.constant 0 : index
    {body}""",
        threads,
    )


def check(text: str, chip: str, row: tuple[str, str, str], sizes: tuple[int, int, int], tf32: bool = True) -> None:
    """Runs a matmul of the given matrices."""
    of_a, of_b, total = row
    m, n, k = sizes
    a, b, c = given(of_a, (m, k), 1), given(of_b, (k, n), 2), given(total, (m, n), 3)
    out = np.zeros_like(c)
    sim.simulate(text, f"sim:{chip}")(a, b, c, out)
    wanted = exact(of_a, a, tf32) @ exact(of_b, b, tf32) + c.astype(np.float64)
    if total == "i32":
        assert (out == wanted.astype(np.int64).astype(np.int32)).all()
        return
    sums = np.abs(exact(of_a, a, tf32)) @ np.abs(exact(of_b, b, tf32)) + np.abs(c.astype(np.float64))
    # Sums are of float32 (of float64 if the operands are), in any order.
    eps = float(np.finfo(OPERANDS[total]).eps)
    assert (
        np.abs(out - wanted) <= eps / 2 * np.abs(wanted) * 1.01 + k * (2.0**-53 if of_a == "f64" else 2.0**-24) * sums
    ).all()
    assert out.any()


@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
@pytest.mark.parametrize("row", WGMMA, ids="-".join)
def test_wgmma_of_warpgroups(row: tuple[str, str, str], in_registers: bool) -> None:
    of_a, of_b, total = row
    m, n, k = 64, 24, 2 * 32 // np.dtype(OPERANDS[of_a]).itemsize
    types = [f"{m}x{k}x{of_a}", f"{k}x{n}x{of_b}", f"{m}x{n}x{total}", f"{m}x{n}x{total}"]
    shared = [f"memref<{ty}, {SHARED}>" for ty in types[:2]]
    lines = [f"%s{name} = mosaic_gpu.slice_smem {32768 * i} : {shared[i]}" for i, name in enumerate("ab")]
    for i, name in enumerate("ab"):
        lines += [
            f"%{name}v = mosaic_gpu.vector_load %{name} : memref<{types[i]}> -> vector<{types[i]}>",
            f"mosaic_gpu.vector_store %{name}v, %s{name} : vector<{types[i]}>, {shared[i]}",
        ]
    left = f"a(%av : vector<{types[0]}>)" if in_registers else f"a(%sa : {shared[0]})"
    lines += [
        "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}",
        "gpu.barrier",
        f"%cv = mosaic_gpu.vector_load %c : memref<{types[2]}> -> vector<{types[2]}>",
        "nvvm.wgmma.fence.aligned",
        f"%p = mosaic_gpu.wgmma accumulator(%cv : vector<{types[2]}>) {left} b(%sb : {shared[1]}) -> vector<{types[2]}>",
        "nvvm.wgmma.commit.group.sync.aligned",
        "nvvm.wgmma.wait.group.sync.aligned 0",
        f"mosaic_gpu.vector_store %p, %o : vector<{types[2]}>, memref<{types[2]}>",
    ]
    check(kernel(types, lines, 128), "sm_90a", row, (m, n, k))


def table() -> dict[tuple[str, str, str, int, int, int], str]:
    """The MMAs of the target table, each with the first NVIDIA chip that has it."""
    found: dict[tuple[str, str, str, int, int, int], str] = {}
    for chip in targets.all():
        if chip.vendor == "nvidia":
            for mma in chip.mmas:
                found.setdefault((mma.a, mma.b, mma.accumulator, mma.m, mma.n, mma.k), chip.name)
    return found


@pytest.mark.parametrize("row", table(), ids=lambda row: "-".join(map(str, row)))
def test_mmas_of_the_target_table(row: tuple[str, str, str, int, int, int]) -> None:
    of_a, of_b, total, m, n, k = row
    is_tf32 = of_a == "tf32"
    kinds = (NAMES.get(of_a, of_a), NAMES.get(of_b, of_b), total)
    shapes = [(2 * m, 2 * k), (2 * k, 2 * n), (2 * m, 2 * n)]
    types = ["x".join(map(str, (*shape, ty))) for shape, ty in zip(shapes, kinds, strict=True)]
    types.append(types[2])
    lines = [
        f"%{name}v = mosaic_gpu.vector_load %{name} : memref<{types[i]}> -> vector<{types[i]}>"
        for i, name in enumerate("abc")
    ]
    factors = " ".join(f"{name}(%{name}v : vector<{ty}>)" for name, ty in zip("ab", types, strict=False))
    more = " {allow_tf32}" if is_tf32 else ""
    lines += [
        f"%p = mosaic_gpu.mma accumulator(%cv : vector<{types[2]}>) {factors}{more} -> vector<{types[2]}>",
        f"mosaic_gpu.vector_store %p, %o : vector<{types[2]}>, memref<{types[2]}>",
    ]
    check(kernel(types, lines, 32), table()[row], kinds, (2 * m, 2 * n, 2 * k), is_tf32)
