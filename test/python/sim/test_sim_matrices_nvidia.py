"""`mma.sync`, `ldmatrix` and `stmatrix` of the simulator: against float64, and bit for bit against the emulator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import sim, targets

NUMBERS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "i8": np.int8,
}
PTX_TYPES = {"i8": "s8"}
TABLE = [mma for mma in targets.get("sm_90a").mmas if mma.kind == "mma_sync"]
PRODUCTS = sorted({(mma.m, mma.n, mma.k, mma.a, mma.accumulator) for mma in TABLE if mma.a in NUMBERS}, key=str)


def test_all_but_fp8_are_here() -> None:
    """Of those MLIR 22 has no operation: its `nvvm.mma.sync` takes no such type."""
    assert {mma.a for mma in TABLE if mma.a not in NUMBERS} == {"f8E4M3FN", "f8E5M2"}


def given(kind: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return rng.standard_normal(shape).astype(NUMBERS[kind])


def exact(kind: str, matrix: np.ndarray) -> np.ndarray:
    """What the tensor core sees, as float64."""
    if kind == "tf32":
        matrix = (matrix.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return matrix.astype(np.float64)


def place(matrix: np.ndarray, kind: str, of_a: bool) -> np.ndarray:
    """The registers of each lane as 32-bit words, by the figures of the PTX ISA for mma.m16n8k*: lane 4 * g + t has of A
    row g (registers 0 and 2) and g + 8 (1 and 3), of B column g; registers from the middle on are of the second half of k.
    """
    rows, k = matrix.shape if of_a else matrix.T.shape
    width = 4 // matrix.itemsize
    registers = rows * k * matrix.itemsize // 128
    words = np.empty((32, registers, width), matrix.dtype)
    for lane in range(32):
        g, t = divmod(lane, 4)
        for register in range(registers):
            half = register // 2 if of_a else register
            columns = half * 4 * width + t * width + np.arange(width)
            words[lane, register] = matrix[g + 8 * (register % 2), columns] if of_a else matrix[columns, g]
    return words.view(np.int32).reshape(32, registers)


def accumulators(matrix: np.ndarray) -> np.ndarray:
    """Lane 4 * g + t has the columns 2 * t and the next of row g, then of row g + 8."""
    return np.stack(
        [matrix[(x // 4) + 8 * (i // 2), 2 * (x % 4) + i % 2] for x in range(32) for i in range(4)]
    ).reshape(32, 4)


def product(m: int, n: int, k: int, kind: str, total: str) -> tuple[str, int, int]:
    """A kernel of a warp that multiplies registers which it loads."""
    width = 4 // np.dtype(NUMBERS[kind]).itemsize
    counts = m * k // width // 32, n * k // width // 32
    pair = kind == "f16"
    lines = []
    for name, count in zip("ab", counts, strict=True):
        for i in range(count):
            ty = f"memref<32x{count}xi32>"
            lines.append(f"%{name}w{i} = memref.load %{name}[%t, %i{i}] : {ty}")
            cast = f"%{name}{i} = llvm.bitcast %{name}w{i} : i32 to vector<2xf16>"
            lines.append(cast if pair else f"%{name}{i} = llvm.bitcast %{name}w{i} : i32 to i32")
    lines += [f"%c{i} = memref.load %c[%t, %i{i}] : memref<32x4x{total}>" for i in range(4)]
    operands = [", ".join(f"%{name}{i}" for i in range(count)) for name, count in zip("abc", (*counts, 4), strict=True)]
    types = (
        "" if pair else "".join(f", multiplicand{x}PtxType = #nvvm.mma_type<{PTX_TYPES.get(kind, kind)}>" for x in "AB")
    )
    overflow = ", intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>" if total == "i32" else ""
    register = "vector<2xf16>" if pair else "i32"
    struct = f"!llvm.struct<({', '.join([total] * 4)})>"
    lines.append(
        f"%d = nvvm.mma.sync A[{operands[0]}] B[{operands[1]}] C[{operands[2]}] {{layoutA = #nvvm.mma_layout<row>, "
        f"layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = {m}, n = {n}, k = {k}>{types}{overflow}}} "
        f": ({register}, {register}, {total}) -> {struct}"
    )
    for i in range(4):
        lines.append(f"%d{i} = llvm.extractvalue %d[{i}] : {struct}")
        lines.append(f"memref.store %d{i}, %o[%t, %i{i}] : memref<32x4x{total}>")
    arguments = (
        f"%a: memref<32x{counts[0]}xi32>, %b: memref<32x{counts[1]}xi32>, "
        f"%c: memref<32x4x{total}>, %o: memref<32x4x{total}>"
    )
    return kernel(arguments, lines), *counts


def kernel(arguments: str, lines: list[str]) -> str:
    body = "\n    ".join([f"%i{i} = arith.constant {i} : index" for i in range(8)] + lines)
    return f"""gpu.module @m {{
  gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %t = gpu.thread_id x
    {body}
    gpu.return
  }}
}}"""


@pytest.mark.parametrize(("m", "n", "k", "kind", "total"), PRODUCTS, ids=lambda x: str(x))
def test_products_of_the_target_table(m: int, n: int, k: int, kind: str, total: str) -> None:
    text, _, _ = product(m, n, k, kind, total)
    a, b = given(kind, (m, k), 1), given(kind, (k, n), 2)
    dtype = np.int32 if total == "i32" else np.float32
    c = (np.random.default_rng(3).standard_normal((m, n)) * 8).astype(dtype)
    wanted = accumulators(exact(kind, a) @ exact(kind, b) + c.astype(np.float64))
    words = place(a, kind, True), place(b, kind, False), accumulators(c)
    results = [np.zeros((32, 4), dtype) for _ in range(2)]
    sim.simulate(text, "sim:sm_90a")(*words, results[0])
    assert np.allclose(results[0], wanted, rtol=2e-7, atol=1e-6)
    smalti.compile(text, target="emu:sm_90a")(*words, results[1])
    assert results[0].tobytes() == results[1].tobytes()


def special(kind: str) -> np.ndarray:
    return np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, 1.0], NUMBERS[kind])


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32"])
def test_products_of_infinities(kind: str) -> None:
    k = 32 // np.dtype(NUMBERS[kind]).itemsize
    text, _, _ = product(16, 8, k, kind, "f32")
    a, b = given(kind, (16, k), 1), given(kind, (k, 8), 2)
    a[: len(special(kind)), 3] = special(kind)
    b[5, :6] = special(kind)
    c = np.full((16, 8), -0.0, np.float32)
    words = place(a, kind, True), place(b, kind, False), accumulators(c)
    results = [np.zeros((32, 4), np.float32) for _ in range(2)]
    for result, target in zip(results, ("sim:sm_90a", "emu:sm_90a"), strict=True):
        smalti.compile(text, target=target)(*words, result)
    with np.errstate(all="ignore"):
        wanted = accumulators(exact(kind, a) @ exact(kind, b))
    np.testing.assert_allclose(results[0], wanted, rtol=2e-7, atol=1e-6)
    np.testing.assert_array_equal(*results)


SHARED = "#gpu.address_space<workgroup>"


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(count: int, transposed: bool) -> None:
    ty = f"memref<{8 * count}x24xf16, {SHARED}>"
    rows = 8 * count
    text = kernel(
        f"%x: memref<{rows}x24xf16>, %o: memref<32x{count}x2xf16>",
        [
            f"%s = memref.alloc() : {ty}",
            f"%rows = arith.constant {rows} : index",
            "%in = arith.cmpi ult, %t, %rows : index",
            "%last = arith.subi %rows, %i1 : index",
            "%row = arith.minui %t, %last : index",
            "scf.if %in {",
            f"  %v = vector.load %x[%row, %i0] : memref<{rows}x24xf16>, vector<24xf16>",
            f"  vector.store %v, %s[%row, %i0] : {ty}, vector<24xf16>",
            "}",
            "gpu.barrier",
            "%eight = arith.constant 8 : index",
            f"%f = nvgpu.ldmatrix %s[%row, %eight] {{numTiles = {count} : i32, transpose = {str(transposed).lower()}}} "
            f": {ty} -> vector<{count}x2xf16>",
            f"vector.store %f, %o[%t, %i0, %i0] : memref<32x{count}x2xf16>, vector<{count}x2xf16>",
        ],
    )
    x = given("f16", (rows, 24), 5)
    out = np.zeros((32, count, 2), np.float16)
    sim.simulate(text, "sim:sm_80")(x, out)
    # PTX ISA: lane 4 * r + c has of each matrix the elements 2 * c and the next of row r, or of column r.
    for lane in range(32):
        r, c = divmod(lane, 4)
        for i in range(count):
            matrix = x[8 * i : 8 * i + 8, 8:16]
            matrix = matrix.T if transposed else matrix
            assert (out[lane, i] == matrix[r, 2 * c : 2 * c + 2]).all()


def test_ldmatrix_of_a_row_that_is_not_aligned() -> None:
    ty = f"memref<8x12xf16, {SHARED}>"
    text = kernel(
        "%o: memref<32x1x2xf16>",
        [
            f"%s = memref.alloc() : {ty}",
            "%zero = arith.constant dense<0.0> : vector<12xf16>",
            "%row = arith.remui %t, %eight : index",
            f"vector.store %zero, %s[%row, %i0] : {ty}, vector<12xf16>",
            "gpu.barrier",
            f"%f = nvgpu.ldmatrix %s[%row, %i0] {{numTiles = 1 : i32, transpose = false}} : {ty} -> vector<1x2xf16>",
            "vector.store %f, %o[%t, %i0, %i0] : memref<32x1x2xf16>, vector<1x2xf16>",
        ],
    ).replace("%row = arith.remui", "%eight = arith.constant 8 : index\n    %row = arith.remui")
    made = sim.simulate(text, "sim:sm_80")
    (finding,) = made.find(*made.random_arguments())
    assert finding.kind == "assertion" and finding.agent == "warp 0, lane 1"
    assert finding.message == "ldmatrix: the row at byte 24 of shared memory is not aligned to 16 bytes"
