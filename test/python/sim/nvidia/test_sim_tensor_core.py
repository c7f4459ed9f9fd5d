# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tcgen05` MMAs of every combination of types, against float64."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import PALLAS
from helpers import SHARED
from sim_programs import BARRIER, DONE, SYNC, barrier, program
from smalti import CompileError, sim
from smalti.sim import mutants

TMEM = "#mosaic_gpu.tmem"
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "tf32": 4, "f8E4M3FN": 1, "f8E5M2": 1, "i8": 1}


def mma_kernel(a: str, b: str, sums: str, times: int = 1, rows: int = 128, inner: int = 64, columns: int = 32) -> str:
    """`a @ b`, added up so many times, loaded with the largest of each row."""
    types = [f"{rows}x{inner}x{a}", f"{inner}x{columns}x{b}", f"{rows}x{columns}x{sums}"]
    left, right, accumulator = (
        f"memref<{types[0]}, {SHARED}>",
        f"memref<{types[1]}, {SHARED}>",
        f"memref<{types[2]}, {TMEM}>",
    )
    size = rows * inner * BYTES[a] + inner * columns * BYTES[b]
    text = barrier("b", 65528)
    text += f"""
      %d = mosaic_gpu.slice_smem 65520 : {DONE}
      %d_s = builtin.unrealized_conversion_cast %d : {DONE} to !llvm.struct<(ptr<3>, ptr<3>, i64)>
      %d_p = llvm.extractvalue %d_s[1] : !llvm.struct<(ptr<3>, ptr<3>, i64)>
      mosaic_gpu.initialize_barrier %d_p
          {{arrival_count = 1 : i64, num_barriers = 1 : i32, orders_tensor_core = true}} : !llvm.ptr<3>
      %where = mosaic_gpu.slice_smem 65516 : memref<i32, {SHARED}>
      %sum = mosaic_gpu.tmem_alloc smem_ptr(%where : memref<i32, {SHARED}>) -> {accumulator}
      gpu.barrier
      %x = mosaic_gpu.slice_smem 0 : {left}
      %y = mosaic_gpu.slice_smem 32768 : {right}
      mosaic_gpu.arrive_expect_tx barrier(%b : {BARRIER}) {size}
      mosaic_gpu.async_load %a0[%c0, %c0] [{rows}, {inner}] to %x barrier(%b)
          : memref<{types[0]}>[i32, i32] to {left}, {BARRIER}
      mosaic_gpu.async_load %a1[%c0, %c0] [{inner}, {columns}] to %y barrier(%b)
          : memref<{types[1]}>[i32, i32] to {right}, {BARRIER}
      mosaic_gpu.wait barrier(%b : {BARRIER}) parity(%false : i1)"""
    for number in range(times):
        text += f"""
      mosaic_gpu.tcgen05_mma accumulator(%sum : {accumulator}) a(%x : {left}) b(%y : {right})
          accumulate({"%true" if number else "%false"})"""
    text += f"""
      mosaic_gpu.tcgen05_commit_arrive %d : {DONE}
      mosaic_gpu.wait barrier(%d : {DONE}) parity(%false : i1)
      nvvm.tcgen05.fence <after>
      %v = mosaic_gpu.async_load_tmem %sum : {accumulator} -> vector<{types[2]}>
      nvvm.tcgen05.wait <load>
      mosaic_gpu.vector_store %v, %a2 : vector<{types[2]}>, memref<{types[2]}>{SYNC}
      mosaic_gpu.tmem_dealloc tmem_ref(%sum : {accumulator})"""
    return program(text, [f"memref<{ty}>" for ty in types]).replace("arch_major = 9", "arch_major = 10")


@pytest.mark.parametrize(
    ("a", "b", "sums"),
    [
        ("f16", "f16", "f32"),
        ("f16", "f16", "f16"),
        ("bf16", "bf16", "f32"),
        ("f32", "f32", "f32"),
        ("f8E4M3FN", "f8E4M3FN", "f32"),
        ("f8E5M2", "f8E5M2", "f16"),
        ("f8E4M3FN", "f8E5M2", "f32"),
        ("i8", "i8", "i32"),
    ],
)
def test_mmas_of_every_kind(a: str, b: str, sums: str) -> None:
    kernel = sim.simulate(mma_kernel(a, b, sums, times=2), "sim:sm_100a")
    x, y, z = kernel.random_arguments()
    kernel(x, y, z)
    left, right = x.astype(np.float64), y.astype(np.float64)
    if a == "f32":
        # The tensor core sees 19 bits of each number.
        left, right = (v.view(np.uint32) & np.uint32(0xFFFFE000) for v in (x, y))
        left, right = left.view(np.float32).astype(np.float64), right.view(np.float32).astype(np.float64)
    wanted = 2 * (left @ right)
    if sums == "i32":
        assert (z == wanted).all()
    else:
        assert np.abs(z - wanted).max() <= 4 * np.finfo(z.dtype).eps * np.abs(wanted).max()


def test_nan_and_infinity() -> None:
    kernel = sim.simulate(mma_kernel("f16", "f16", "f32"), "sim:sm_100a")
    x, y, z = kernel.random_arguments()
    x[3, 0], x[5, 1], y[:, 7], y[0, 8] = np.nan, np.inf, 0, -np.inf
    y[1, :7] = np.abs(y[1, :7]) + 1
    kernel(x, y, z)
    assert np.isnan(z[3]).all() and np.isnan(z[5, 7]) and (z[5, :7] == np.inf).all()
    assert not z[0, 7] and np.isinf(z[0, 8])


def scaled() -> sim.SimulatedKernel:
    return sim.simulate(PALLAS / "tensor_core_scaled.mlir", "sim:sm_100a")


def packed(scales: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Scales in the form in which JAX's programs take them."""
    rows, columns = scales.shape
    parts = scales.reshape(rows // 128, 4, 32, columns // 4, 4).transpose(0, 3, 2, 1, 4)
    return parts.reshape(rows // 128, columns // 4, 32, 16).astype(dtype)


def test_operands_with_scales() -> None:
    kernel = scaled()
    a, b, p, q, c = kernel.random_arguments()
    generator = np.random.default_rng(1)
    of_rows, of_columns = (2.0 ** generator.integers(-9, 9, (128, 4)) for _ in range(2))
    p[...], q[...] = packed(of_rows, p.dtype), packed(of_columns, q.dtype)
    kernel(a, b, p, q, c)
    wanted = (a.astype(np.float64) * np.repeat(of_rows, 32, 1)) @ (
        b.astype(np.float64) * np.repeat(of_columns, 32, 1)
    ).T
    assert (np.abs(c - wanted) <= np.finfo(np.float32).eps * np.abs(wanted)).all()


def test_a_nan_scale_makes_its_row_nan() -> None:
    kernel = scaled()
    a, b, p, q, c = kernel.random_arguments()
    of_rows = np.ones((128, 4))
    of_rows[9, 2] = np.nan
    p[...], q[...] = packed(of_rows, p.dtype), packed(np.ones((128, 4)), q.dtype)
    kernel(a, b, p, q, c)
    assert np.isnan(c[9]).all() and not np.isnan(np.delete(c, 9, 0)).any()


def test_mutants_of_a_scaled_mma_are_caught() -> None:
    kernel = scaled()
    outcomes = mutants.score(
        kernel, kernel.random_arguments(), kinds=("arrival removed", "expect_tx too small", "fence dropped")
    )
    assert [str(o) for o in outcomes if not o.caught] == []
    assert len(outcomes) >= 6


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("max", lambda x: x.max(1)),
        ("min", lambda x: x.min(1)),
        ("absmax", lambda x: abs(x).max(1)),
        ("absmin", lambda x: abs(x).min(1)),
    ],
)
def test_a_load_that_reduces_its_rows(kind: str, wanted: object) -> None:
    source = mma_kernel("f16", "f16", "f32")
    load = "%v = mosaic_gpu.async_load_tmem %sum : memref<128x32xf32, #mosaic_gpu.tmem> -> vector<128x32xf32>"
    assert load in source
    source = source.replace(
        load, load.replace("%v =", "%v, %r =").replace("%sum :", f"%sum reduce {kind} :") + ", vector<128xf32>"
    )
    source = source.replace(
        "mosaic_gpu.vector_store %v,",
        "%w = mosaic_gpu.broadcast_in_dim(%r : vector<128xf32>) "
        "{broadcast_dimensions = array<i64: 0>} -> vector<128x32xf32>\n      mosaic_gpu.vector_store %w,",
    )
    kernel = sim.simulate(source, "sim:sm_100a")
    x, y, z = kernel.random_arguments()
    kernel(x, y, z)
    plain = sim.simulate(mma_kernel("f16", "f16", "f32"), "sim:sm_100a")
    plain_result = np.zeros_like(z)
    plain(x, y, plain_result)
    assert (z == wanted(plain_result)[:, None]).all()  # type: ignore[operator]


def test_a_reduction_of_integers_is_refused() -> None:
    source = mma_kernel("i8", "i8", "i32").replace(
        "%v = mosaic_gpu.async_load_tmem %sum :", "%v, %r = mosaic_gpu.async_load_tmem %sum reduce max :"
    )
    source = source.replace("-> vector<128x32xi32>", "-> vector<128x32xi32>, vector<128xi32>")
    with pytest.raises(CompileError) as caught:
        sim.simulate(source, "sim:sm_100a")
    assert "'reduce' is supported only for f32" in caught.value.diagnostics[0].message


BEFORE, AFTER = "nvvm.tcgen05.fence <before>", "nvvm.tcgen05.fence <after>"


def two_warps(before: str = BEFORE, after: str = AFTER) -> str:
    """One MMA by warp 0, and another one into the same accumulator by warp 1."""
    source = mma_kernel("f16", "f16", "f32", times=2)
    first, _, rest = source.partition("      mosaic_gpu.tcgen05_mma ")
    commit = rest.index("      mosaic_gpu.wait barrier(%d")
    accumulator, left, right = (
        f"memref<{ty}>" for ty in (f"128x32xf32, {TMEM}", f"128x64xf16, {SHARED}", f"64x32xf16, {SHARED}")
    )
    multiply = f"mosaic_gpu.tcgen05_mma accumulator(%s : {accumulator}) a(%l : {left}) b(%r : {right}) accumulate"
    return f"""{first.replace("      gpu.barrier", barrier("q", 65504) + chr(10) + "      gpu.barrier", 1)}
      mosaic_gpu.warp_map (%s = %sum : {accumulator}, %l = %x : {left}, %r = %y : {right}, %h = %q : {BARRIER},
                           %e = %d : {DONE}) {{
        %no = arith.constant false
        %yes = arith.constant true
        %thread = gpu.thread_id x
        %size = arith.constant 32 : index
        %w = arith.divui %thread, %size : index
        %zero = arith.constant 0 : index
        %next = arith.constant 1 : index
        %is_zero = arith.cmpi eq, %w, %zero : index
        scf.if %is_zero {{
          {multiply}(%no)
          {before}
          mosaic_gpu.arrive %h : {BARRIER}
        }}
        %is_next = arith.cmpi eq, %w, %next : index
        scf.if %is_next {{
          mosaic_gpu.wait barrier(%h : {BARRIER}) parity(%no : i1)
          {after}
          {multiply}(%yes)
          mosaic_gpu.tcgen05_commit_arrive %e : {DONE}
        }}
      }}
{rest[commit:]}"""


@pytest.mark.parametrize("schedule", sim.SCHEDULES, ids=lambda s: f"{s.order}-{s.completion}")
def test_fences_order_the_mmas_of_two_threads(schedule: sim.Simulation) -> None:
    kernel = sim.simulate(two_warps(), "sim:sm_100a")
    x, y, z = kernel.random_arguments()
    kernel(x, y, z, simulation=schedule)
    wanted = 2 * (x.astype(np.float64) @ y.astype(np.float64))
    assert np.abs(z - wanted).max() <= 4 * np.finfo(np.float32).eps * np.abs(wanted).max()
    for broken in (two_warps(before=""), two_warps(after="")):
        kernel = sim.simulate(broken, "sim:sm_100a")
        found = kernel.find(x, y, z, simulation=schedule)
        assert found[0].kind == "race" and "of tensor memory; it is not ordered with another MMA" in found[0].message


def test_every_mutant_of_two_issuing_threads_is_caught() -> None:
    kernel = sim.simulate(two_warps(), "sim:sm_100a")
    outcomes = mutants.score(
        kernel, kernel.random_arguments(), kinds=("fence dropped", "wait removed", "phase flipped")
    )
    assert [str(o) for o in outcomes if not o.caught] == []
    assert [o.mutant.operation for o in outcomes].count("nvvm.tcgen05.fence") == 3


def scaled_by(scales: str, size: int) -> str:
    """The MMA with scales and operands of four bits: `a @ b.T`, with one scale for several elements along K."""
    text = (PALLAS / "tensor_core_scaled.mlir").read_text()
    groups = 128 // size // 4
    text = text.replace("f8E4M3FN", "f4E2M1FN").replace("f8E8M0FNU", scales)
    text = text.replace("1x1x32x16x", f"1x{groups}x32x16x").replace("128x4x", f"128x{4 * groups}x")
    text = text.replace("i64: 1, 1, 32, 16>", f"i64: 1, {groups}, 32, 16>")
    text = text.replace("!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384", "!SAME) 8192").replace(
        "!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 512", f"!SAME) {512 * groups}"
    )
    text = text.replace("!SAME", "!mosaic_gpu.barrier, #gpu.address_space<workgroup>>")
    # The second scales follow the first, in shared memory and in tensor memory.
    return text.replace("offset = 132", f"offset = {128 + 4 * groups}")


@pytest.mark.parametrize("scales", ["", "f8E8M0FNU", "f8E4M3FN"])
def test_random_scales_are_positive_numbers(scales: str) -> None:
    kernel = sim.simulate(scaled_by(scales, 16 if "E4M3" in scales else 32), "sim:sm_100a") if scales else scaled()
    a, b, p, q, c = kernel.random_arguments(seed=3)
    kernel(a, b, p, q, c)
    assert np.isfinite(c).all() and c.any() and len(np.unique(c)) > 1000
    for found in (p, q):
        assert (found.astype(np.float32) > 0).all() and len(np.unique(found.astype(np.float32))) > 4
    # Operands of this type have signs.
    assert scales or (a.astype(np.float32) < 0).any()


FOUR_BITS = [("f8E8M0FNU", 32), ("f8E4M3FN", 16)]
OF_CODES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
"""The numbers of `f4E2M1FN`."""


def numbers(data: np.ndarray) -> np.ndarray:
    """Those that bytes hold, two in each, the first in the low bits."""
    codes = np.stack([data.view(np.uint8) & 15, data.view(np.uint8) >> 4], -1)
    return OF_CODES[codes.reshape(len(data), -1)]


def random_scales(dtype: np.dtype, shape: tuple[int, int]) -> np.ndarray:
    generator = np.random.default_rng(2)
    found = 2.0 ** generator.integers(-6, 7, shape)
    return found if "e8m0" in dtype.name else found * generator.integers(8, 16, shape) / 8


@pytest.mark.parametrize(("scales", "size"), FOUR_BITS)
@pytest.mark.parametrize("completion", ["early", "late"])
def test_operands_of_four_bits(scales: str, size: int, completion: str) -> None:
    kernel = sim.simulate(scaled_by(scales, size), "sim:sm_100a")
    a, b, p, q, c = kernel.random_arguments()
    assert a.shape == b.shape == (128, 64) and set(range(256)) == set(a.view(np.uint8).ravel().tolist())
    of_rows, of_columns = random_scales(p.dtype, (128, 128 // size)), random_scales(p.dtype, (128, 128 // size))[::-1]
    p[...], q[...] = packed(of_rows, p.dtype), packed(of_columns, q.dtype)
    kernel(a, b, p, q, c, simulation=sim.Simulation(completion=completion))
    wanted = (numbers(a) * np.repeat(of_rows, size, 1)) @ (numbers(b) * np.repeat(of_columns, size, 1)).T
    assert wanted.any() and (np.abs(c - wanted) <= np.finfo(np.float32).eps * np.abs(wanted)).all()
    # A scale has no sign.
    if size == 16:
        of_columns[5, 3] = -1
        q[...] = packed(of_columns, q.dtype)
        kernel(a, b, p, q, c)
        assert np.isnan(c[:, 5]).all() and not np.isnan(np.delete(c, 5, 1)).any()


@pytest.mark.parametrize(("scales", "size"), FOUR_BITS)
def test_every_mutant_of_4_bit_operands_is_caught(scales: str, size: int) -> None:
    kernel = sim.simulate(scaled_by(scales, size), "sim:sm_100a")
    outcomes = mutants.score(
        kernel,
        kernel.random_arguments(),
        kinds=("wait removed", "arrival removed", "expect_tx too small", "fence dropped"),
    )
    assert [str(o) for o in outcomes if not o.caught] == []
    assert len(outcomes) >= 6


def test_accesses_of_packed_tiles_are_those_of_their_bytes() -> None:
    source = scaled_by("f8E8M0FNU", 32)
    wait = next(line for line in source.splitlines() if "nvvm.mbarrier.try_wait.parity %74" in line)
    kernel = sim.simulate(source.replace(wait, ""), "sim:sm_100a")
    found = kernel.find(*kernel.random_arguments())
    assert any(
        f.kind == "race"
        and "the MMA reads bytes [0, 8192) of shared memory; it is not ordered with the copy" in f.message
        for f in found
    )
    # Tiles of half a byte an element fit next to each other, and no closer.
    for offset, kinds in ((8192, []), (8176, ["race"])):
        close = source.replace('slice_smem"() <{offset = 16384', f'slice_smem"() <{{offset = {offset}')
        assert close != source
        kernel = sim.simulate(close, "sim:sm_100a")
        assert sorted({f.kind for f in kernel.find(*kernel.random_arguments())}) == kinds
    # A barrier counts the bytes.
    kernel = sim.simulate(source.replace(") 8192", ") 16384"), "sim:sm_100a")
    assert "transaction" in {f.kind for f in kernel.find(*kernel.random_arguments())}


def test_unsupported_4_bit_operands_are_refused() -> None:
    source = scaled_by("f8E8M0FNU", 32)
    for changed, message in (
        (scaled_by("f8E8M0FNU", 16), "the scales have types memref<128x8xf8E8M0FNU"),
        (scaled_by("f8E4M3FN", 32), "the scales have types memref<128x4xf8E4M3FN"),
        (
            source.replace("%transpose, %false", "%100, %false").replace(
                "strided<[1, 128]>, #gpu.address_space<workgroup>>, i1", "#gpu.address_space<workgroup>>, i1"
            ),
            "must have stride 1 along K",
        ),
        (
            source.replace("%false, %106, %108)", "%false)")
            .replace("1, 1, 1, 1, 1, 1, 0>}> : (memref<128x128xf32", "1, 1, 1, 1, 0, 0, 0>}> : (memref<128x128xf32")
            .replace(
                "i1, memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>, memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>)", "i1)"
            ),
            "has 0 scale operands",
        ),
    ):
        with pytest.raises(CompileError) as caught:
            sim.simulate(changed, "sim:sm_100a")
        assert message in str(caught.value)
