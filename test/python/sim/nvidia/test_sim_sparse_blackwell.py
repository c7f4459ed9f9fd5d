# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sparse operands of `tcgen05` MMAs, and packed elements in tensor memory and registers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers import SHARED
from sim_programs import BARRIER, DONE, SYNC, barrier, program
from smalti import CompileError, sim
from smalti.sim import mutants

TMEM = "#mosaic_gpu.tmem"
BYTES = {"f16": 2, "bf16": 2, "f8E4M3FN": 1, "f8E5M2": 1, "i8": 1, "i2": 0.25, "f8E8M0FNU": 1, "f4E2M1FN": 0.5}
STORED, COLUMNS, ROWS = 128, 32, 128
"""Elements along K of the sparse operand, of 256."""

START = f"""
      %d = mosaic_gpu.slice_smem 131056 : {DONE}
      %d_s = builtin.unrealized_conversion_cast %d : {DONE} to !llvm.struct<(ptr<3>, ptr<3>, i64)>
      %d_p = llvm.extractvalue %d_s[1] : !llvm.struct<(ptr<3>, ptr<3>, i64)>
      mosaic_gpu.initialize_barrier %d_p
          {{arrival_count = 1 : i64, num_barriers = 1 : i32, orders_tensor_core = true}} : !llvm.ptr<3>
      %where = mosaic_gpu.slice_smem 131052 : memref<i32, {SHARED}>
      %all = mosaic_gpu.tmem_alloc smem_ptr(%where : memref<i32, {SHARED}>) -> memref<128x64xi32, {TMEM}>
      gpu.barrier"""
DONE_AND_READ = f"""
      mosaic_gpu.tcgen05_commit_arrive %d : {DONE}
      mosaic_gpu.wait barrier(%d : {DONE}) parity(%false : i1)
      nvvm.tcgen05.fence <after>"""
END = f"{SYNC}\n      mosaic_gpu.tmem_dealloc tmem_ref(%all : memref<128x64xi32, {TMEM}>)"


def tmem(name: str, offset: int, shape: str) -> str:
    return f"""
      %{name} = "mosaic_gpu.slice_tmem"(%all) <{{offset = {offset} : i32}}>
          : (memref<128x64xi32, {TMEM}>) -> memref<{shape}, {TMEM}>"""


def loads(shapes: list[str]) -> str:
    """All of the arguments, each to 32 KiB of shared memory, and the wait for them."""
    sizes = []
    text = ""
    for i, shape in enumerate(shapes):
        *sides, element = shape.split("x")
        sizes.append(int(np.prod([int(n) for n in sides]) * BYTES[element]))
        zeros, lengths = ", ".join(["%c0"] * len(sides)), ", ".join(sides)
        text += f"""
      %s{i} = mosaic_gpu.slice_smem {32768 * i if i < 3 else 98304 + 4096 * (i - 3)} : memref<{shape}, {SHARED}>
      mosaic_gpu.async_load %a{i}[{zeros}] [{lengths}] to %s{i} barrier(%b)
          : memref<{shape}>[{", ".join(["i32"] * len(sides))}] to memref<{shape}, {SHARED}>, {BARRIER}"""
    arrive = f"\n      mosaic_gpu.arrive_expect_tx barrier(%b : {BARRIER}) {sum(sizes)}"
    return f"{arrive}{text}\n      mosaic_gpu.wait barrier(%b : {BARRIER}) parity(%false : i1)"


def sparse(element: str, sums: str, scaled: bool = False) -> str:
    """`expanded(a) @ b` with `a2` as the metadata."""
    shapes = [f"128x{STORED}x{element}", f"{2 * STORED}x{COLUMNS}x{element}", f"1x{STORED // 64}x128x64xi2"]
    result = f"128x{COLUMNS}x{sums}"
    scales = ""
    text = barrier("b", 131064) + START + loads(shapes + ["1x1x32x16xf8E8M0FNU"] * (2 if scaled else 0))
    text += tmem("sum", 0, result) + tmem("m", 32, f"128x{STORED}xi2")
    text += f"""
      mosaic_gpu.async_store_sparse_metadata_smem_to_tmem %s2 to %m
          : memref<{shapes[2]}, {SHARED}> to memref<128x{STORED}xi2, {TMEM}>"""
    if scaled:
        for i, name in ((3, "p"), (4, "q")):
            text += tmem(name, 40 + 4 * i, "128x4xf8E8M0FNU")
            text += f"""
      mosaic_gpu.async_store_scales_smem_to_tmem %s{i} to %{name}
          : memref<1x1x32x16xf8E8M0FNU, {SHARED}> to memref<128x4xf8E8M0FNU, {TMEM}>"""
            scales += f" {'a' if name == 'p' else 'b'}_scale(%{name} : memref<128x4xf8E8M0FNU, {TMEM}>)"
    text += f"""
      mosaic_gpu.tcgen05_mma accumulator(%sum : memref<{result}, {TMEM}>) a(%s0 : memref<{shapes[0]}, {SHARED}>)
          b(%s1 : memref<{shapes[1]}, {SHARED}>) accumulate(%false){scales}
          a_sparse_metadata(%m : memref<128x{STORED}xi2, {TMEM}>){DONE_AND_READ}
      %v = mosaic_gpu.async_load_tmem %sum : memref<{result}, {TMEM}> -> vector<{result}>
      nvvm.tcgen05.wait <load>
      mosaic_gpu.vector_store %v, %a{5 if scaled else 3} : vector<{result}>, memref<{result}>{END}"""
    shapes += ["1x1x32x16xf8E8M0FNU"] * (2 if scaled else 0)
    source = program(text, [f"memref<{ty}>" for ty in (*shapes, result)], shared=131072)
    return source.replace("arch_major = 9", "arch_major = 10")


def drawn(seed: int = 0) -> np.ndarray:
    """The indices of two of each four elements in each row, in rising order."""
    generator = np.random.default_rng(seed)
    pairs = np.array([(a, b) for a in range(4) for b in range(a + 1, 4)])
    return pairs[generator.integers(0, 6, (ROWS, STORED // 2))]


def formatted(positions: np.ndarray, bits: int) -> np.ndarray:
    """As `jax.experimental.pallas.mosaic_gpu.format_tcgen05_sparse_metadata` has it, four to a byte."""
    k = STORED
    flat = positions.reshape(ROWS, k)
    if bits == 8:
        tiles = flat.reshape(1, 128, k // 64, 64).transpose(0, 2, 1, 3)
    else:
        tiles = flat.reshape(1, 8, 2, 8, k // 64, 4, 2, 8).transpose(0, 4, 1, 6, 3, 5, 2, 7)
    tiles = tiles.reshape(1, k // 64, 128, 16, 4).astype(np.uint8)
    return (tiles << np.array([0, 2, 4, 6], np.uint8)).sum(-1).astype(np.uint8).view(np.int8)


def dense(a: np.ndarray, positions: np.ndarray) -> np.ndarray:
    found = np.zeros((ROWS, STORED // 2, 4))
    for i in range(2):
        np.put_along_axis(
            found, positions[..., i : i + 1], a.astype(np.float64).reshape(ROWS, -1, 2)[..., i : i + 1], -1
        )
    return found.reshape(ROWS, -1)


KINDS = [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("f8E4M3FN", "f32"), ("f8E5M2", "f16"), ("i8", "i32")]


@pytest.mark.parametrize(("element", "sums"), KINDS)
@pytest.mark.parametrize("completion", ["early", "late"])
def test_sparse_mmas(element: str, sums: str, completion: str) -> None:
    kernel = sim.simulate(sparse(element, sums), "sim:sm_100a")
    a, b, metadata, c = kernel.random_arguments()
    positions = drawn()
    metadata[...] = formatted(positions, 8 * a.dtype.itemsize)
    kernel(a, b, metadata, c, simulation=sim.Simulation(completion=completion))
    wanted = dense(a, positions) @ b.astype(np.float64)
    if sums == "i32":
        assert (c == wanted).all()
    else:
        assert np.abs(c - wanted).max() <= 4 * np.finfo(c.dtype).eps * np.abs(wanted).max()


def test_a_sparse_operand_with_scales() -> None:
    """A scale is for 32 elements that are stored, and so for 64 along K."""
    kernel = sim.simulate(sparse("f8E4M3FN", "f32", scaled=True), "sim:sm_100a")
    a, b, metadata, p, q, c = kernel.random_arguments()
    positions = drawn(1)
    metadata[...] = formatted(positions, 8)
    generator = np.random.default_rng(1)
    of_rows, of_columns = (2.0 ** generator.integers(-9, 9, (128, 4)) for _ in range(2))
    of_rows[7, 3] = np.nan
    for scales, values in ((p, of_rows), (q, of_columns)):
        parts = values.reshape(1, 4, 32, 1, 4).transpose(0, 3, 2, 1, 4).reshape(1, 1, 32, 16)
        scales[...] = parts.astype(scales.dtype)
    assert p.view(np.uint8).max() == 0xFF
    kernel(a, b, metadata, p, q, c)
    wanted = (dense(a, positions) * np.repeat(of_rows, 64, 1)) @ (
        b.astype(np.float64) * np.repeat(of_columns[:COLUMNS], 64, 1).T
    )
    assert np.isnan(c[7]).all()
    c, wanted = np.delete(c, 7, 0), np.delete(wanted, 7, 0)
    assert (np.abs(c - wanted) <= 1e-6 * np.abs(wanted).max(1, keepdims=True)).all() and wanted.any()


def test_random_metadata_are_valid() -> None:
    kernel = sim.simulate(sparse("f8E4M3FN", "f32", scaled=True), "sim:sm_100a")
    arguments = kernel.random_arguments(seed=5)
    kernel(*arguments)
    assert np.isfinite(arguments[-1]).all() and len(np.unique(arguments[2])) == 36


@pytest.mark.parametrize(("element", "pair"), [("f16", (2, 2)), ("i8", (3, 1))])
def test_invalid_metadata(element: str, pair: tuple[int, int]) -> None:
    kernel = sim.simulate(sparse(element, "f32" if element == "f16" else "i32"), "sim:sm_100a")
    a, b, metadata, c = kernel.random_arguments()
    positions = drawn()
    positions[77, 40] = pair
    metadata[...] = formatted(positions, 8 * a.dtype.itemsize)
    (finding,) = kernel.find(a, b, metadata, c)
    assert finding.kind == "assertion" and finding.location is not None
    message = f"the sparsity metadata of row 77, columns 160 to 163, are {pair[0]} and {pair[1]}; the two indices must be increasing"
    assert finding.message == message


def test_mutants_of_a_sparse_mma_are_caught() -> None:
    kernel = sim.simulate(sparse("f16", "f32"), "sim:sm_100a")
    arguments = kernel.random_arguments()
    arguments[2][...] = formatted(drawn(), 16)
    kinds = ("wait removed", "arrival removed", "expect_tx too small", "fence dropped")
    outcomes = mutants.score(kernel, arguments, kinds=kinds)
    assert [str(o) for o in outcomes if not o.caught] == []
    assert len(outcomes) >= 4


def test_metadata_that_come_too_late_are_a_race() -> None:
    source = sparse("f16", "f32")
    source = source.replace("parity(%false : i1)", "parity(%true : i1)", 1)
    kernel = sim.simulate(source, "sim:sm_100a")
    found = kernel.find(*kernel.random_arguments())
    assert any("data race: the copy reads bytes [65536, 69632) of shared memory" in f.message for f in found)


def test_unsupported_sparse_operands_are_refused() -> None:
    source = sparse("f16", "f32").replace("xf16", "xf32").replace("slice_smem 32768", "slice_smem 65536")
    with pytest.raises(CompileError, match="the sparse operand has type memref<128x128xf32"):
        sim.simulate(source, "sim:sm_100a")


def through_tensor_memory() -> str:
    """Numbers of four bits from shared memory to tensor memory, and back through registers, once as they are and once
    as f32."""
    shape = "128x64xf4E2M1FN"
    text = barrier("b", 131064) + START + loads([shape]) + tmem("x", 0, shape) + tmem("y", 32, shape)
    text += f"""
      mosaic_gpu.async_store_smem_to_tmem %s0 to %x : memref<{shape}, {SHARED}> to memref<{shape}, {TMEM}>{DONE_AND_READ}
      %v = mosaic_gpu.async_load_tmem %x : memref<{shape}, {TMEM}> -> vector<{shape}>
      nvvm.tcgen05.wait <load>
      mosaic_gpu.async_store_tmem %v, %y : vector<{shape}>, memref<{shape}, {TMEM}>
      nvvm.tcgen05.wait <store>
      %w = mosaic_gpu.async_load_tmem %y : memref<{shape}, {TMEM}> -> vector<{shape}>
      nvvm.tcgen05.wait <load>
      %f = arith.extf %w : vector<{shape}> to vector<128x64xf32>
      mosaic_gpu.vector_store %f, %a1 : vector<128x64xf32>, memref<128x64xf32>
      %n = arith.negf %f : vector<128x64xf32>
      %h = arith.truncf %n : vector<128x64xf32> to vector<{shape}>
      mosaic_gpu.vector_store %h, %a2 : vector<{shape}>, memref<{shape}>{END}"""
    source = program(text, [f"memref<{ty}>" for ty in (shape, "128x64xf32", shape)], shared=131072)
    return source.replace("arch_major = 9", "arch_major = 10")


def test_numbers_of_four_bits_in_tensor_memory_and_registers() -> None:
    kernel = sim.simulate(through_tensor_memory(), "sim:sm_100a")
    x, y, z = kernel.random_arguments()
    kernel(x, y, z)
    codes = np.stack([x.view(np.uint8) & 15, x.view(np.uint8) >> 4], -1).reshape(128, 64)
    wanted: Any = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    assert set(range(16)) == set(codes.ravel().tolist())
    assert (y == wanted).all() and (np.signbit(y) == (codes > 7)).all()
    # The sign is the highest bit of each.
    assert (z.view(np.uint8) == x.view(np.uint8) ^ 0x88).all()
    outcomes = mutants.score(kernel, kernel.random_arguments(), kinds=("wait removed", "fence dropped"))
    assert outcomes and [str(o) for o in outcomes if not o.caught] == []
