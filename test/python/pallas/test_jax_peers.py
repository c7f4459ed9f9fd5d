# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stores to the shared memory of other blocks of a cluster, run on an emulated Hopper GPU against numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from conftest import PALLAS
from helpers import WGMMA
from jax_programs import BARRIER, barriers, memref, module, shared
from smalti import toolchain
from smalti.emulator import SCHEDULES

NAMES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i32": np.int32}
SWIZZLED = "[#mosaic_gpu.tile<[8, {}]>, #mosaic_gpu.swizzle<128 : i32>]"

# Every block of the cluster has started and has initialized its barriers.
MEET = """
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
"""
NUMBER = """
      %rank = gpu.cluster_block_id x
      %mine = arith.index_cast %rank : index to i32
      %false = arith.constant false
      %true = arith.constant true
"""


def load(element: str, name: str, rows: int, source: str) -> str:
    """The block's own rows of a memref of blocks of rows."""
    whole, vector = memref((4, rows, 64), element), f"vector<{rows}x64x{element}>"
    part = f"memref<{rows}x64x{element}, strided<[64, 1], offset: ?>>"
    return f"""
      {name}_at = memref.subview {source}[%rank, 0, 0] [1, {rows}, 64] [1, 1, 1] : {whole} to {part}
      {name}_loaded = mosaic_gpu.vector_load {name}_at {{optimized = false}} : {part} -> {vector}
      {name} = mosaic_gpu.layout_cast x({name}_loaded : {vector}) {{new_layout = {WGMMA}}}
"""


def store(element: str, name: str, rows: int, target: str) -> str:
    whole, vector = memref((4, rows, 64), element), f"vector<{rows}x64x{element}>"
    part = f"memref<{rows}x64x{element}, strided<[64, 1], offset: ?>>"
    return f"""
      {name}_to = memref.subview {target}[%rank, 0, 0] [1, {rows}, 64] [1, 1, 1] : {whole} to {part}
      mosaic_gpu.vector_store {name}, {name}_to : {vector}, {part}
"""


def next_block(added: int) -> str:
    return f"""
      %added = arith.constant {added} : i32
      %four = arith.constant 4 : i32
      %sum = arith.addi %mine, %added : i32
      %other = arith.remui %sum, %four : i32
"""


def values(element: str, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(3)
    if element == "i32":
        return rng.integers(-(2**31), 2**31, shape).astype(np.int32)
    return rng.standard_normal(shape).astype(NAMES[element])


def run_all(source: str | Path, wanted: np.ndarray, *arrays: np.ndarray) -> None:
    """In all orders, with early and late arrivals."""
    kernel = smalti.compile(source, target="emu:sm_90a")
    for schedule in SCHEDULES:
        out = np.full(wanted.shape, 77, wanted.dtype)
        kernel.launcher(*arrays, out, emulation=schedule)
        np.testing.assert_array_equal(out, wanted)


def test_a_store_of_jax() -> None:
    """Two blocks that send each other their rows."""
    x = np.random.default_rng(0).standard_normal((256, 128)).astype(np.float32)
    run_all(PALLAS / "store_to_a_peer.mlir", np.roll(x, 128, axis=0), x)


def test_instructions_of_a_store_of_jax() -> None:
    kernel = smalti.compile(PALLAS / "store_to_a_peer.mlir", target="sm_90a")
    ptx = kernel.asm["ptx"]
    # 128 x 128 elements; a thread has two adjacent ones.
    assert ptx.count("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32") == 64
    assert ptx.count("mapa.shared::cluster") == 2
    assert ptx.count("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64") == 1
    assert "mbarrier.try_wait.parity.acquire.cluster" in ptx
    if toolchain.find_ptxas():
        assert kernel.binary_format == "cubin" and kernel.resources.spills == 0


@pytest.mark.parametrize("element, rows", [("f16", 64), ("bf16", 128), ("f32", 64)])
@pytest.mark.parametrize("added", [1, 3])
def test_stores_to_swizzled_memory(element: str, rows: int, added: int) -> None:
    """A ring of four blocks."""
    to, vector = shared((rows, 64), element), f"vector<{rows}x64x{element}>"
    width = 128 * 8 // (16 if element != "f32" else 32)
    body = (
        barriers(offset=rows * 64 * 4)
        + MEET
        + NUMBER
        + load(element, "%x", rows, "%a0")
        + next_block(added)
        + f"""
      %s = mosaic_gpu.slice_smem 0 : {to}
      %t = mosaic_gpu.with_transforms %s {SWIZZLED.format(width)} : {to}
      mosaic_gpu.async_store_smem %x to %t barrier(%barrier0) block(x %other) {{optimized = false}}
          : {vector} to {to}, {BARRIER}
      mosaic_gpu.wait barrier(%barrier0 : {BARRIER}) parity(%false : i1)
      %y_loaded = mosaic_gpu.vector_load %t {{optimized = false}} : {to} -> {vector}
      %y = mosaic_gpu.layout_cast x(%y_loaded : {vector}) {{new_layout = {WGMMA}}}
"""
        + store(element, "%y", rows, "%a1")
    )
    shape = (4, rows, 64)
    source = module(
        [(shape, element), (shape, element)], body, grid=(4, 1, 1), cluster=4, shared_bytes=rows * 64 * 4 + 8
    )
    x = values(element, shape)
    run_all(source, np.roll(x, added, axis=0), x)


OPERATIONS = {
    0: np.add,
    1: lambda a, b: np.minimum(a.view(np.uint32), b.view(np.uint32)).view(np.int32),
    2: lambda a, b: np.maximum(a.view(np.uint32), b.view(np.uint32)).view(np.int32),
    3: np.bitwise_and,
    4: np.bitwise_or,
    5: np.bitwise_xor,
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_stores_that_combine(operation: int) -> None:
    """With what the other block has there."""
    to, vector = shared((64, 64), "i32"), "vector<64x64xi32>"
    body = (
        barriers(offset=64 * 64 * 4)
        + NUMBER
        + load("i32", "%x", 64, "%a0")
        + next_block(1)
        + f"""
      %s = mosaic_gpu.slice_smem 0 : {to}
      mosaic_gpu.vector_store %x, %s {{optimized = false}} : {vector}, {to}
"""
        + MEET
        + f"""
      mosaic_gpu.async_store_smem %x to %s barrier(%barrier0) block(x %other) {{atomic_type = {operation} : i32,
          optimized = false}} : {vector} to {to}, {BARRIER}
      mosaic_gpu.wait barrier(%barrier0 : {BARRIER}) parity(%false : i1)
      %y_loaded = mosaic_gpu.vector_load %s {{optimized = false}} : {to} -> {vector}
      %y = mosaic_gpu.layout_cast x(%y_loaded : {vector}) {{new_layout = {WGMMA}}}
"""
        + store("i32", "%y", 64, "%a1")
    )
    shape = (4, 64, 64)
    source = module([(shape, "i32"), (shape, "i32")], body, grid=(4, 1, 1), cluster=4, shared_bytes=64 * 64 * 4 + 8)
    x = values("i32", shape)
    run_all(source, OPERATIONS[operation](x, np.roll(x, 1, axis=0)), x)


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_references_to_other_blocks(element: str) -> None:
    """Plain stores and loads through a view of another block's shared memory, between barriers of the cluster."""
    rows = 64
    whole, vector = shared((2, rows, 64), element), f"vector<{rows}x64x{element}>"
    peers = f"memref<2x{rows}x64x{element}, #mosaic_gpu.smem_cluster>"
    part = f"memref<{rows}x64x{element}, strided<[64, 1], offset: {rows * 64}>, #mosaic_gpu.smem_cluster>"
    own = f"memref<{rows}x64x{element}, strided<[64, 1], offset: {rows * 64}>, #gpu.address_space<workgroup>>"
    body = (
        NUMBER
        + load(element, "%x", rows, "%a0")
        + next_block(1)
        + f"""
      %s = mosaic_gpu.slice_smem 0 : {whole}
      %p = mosaic_gpu.get_cluster_ref %s x(%other) : {whole} -> {peers}
      %v = memref.subview %p[1, 0, 0] [1, {rows}, 64] [1, 1, 1] : {peers} to {part}
"""
        + MEET
        + f"""
      mosaic_gpu.vector_store %x, %v {{optimized = false}} : {vector}, {part}
"""
        + MEET
        + f"""
      %o = memref.subview %s[1, 0, 0] [1, {rows}, 64] [1, 1, 1] : {whole} to {own}
      %y_loaded = mosaic_gpu.vector_load %o {{optimized = false}} : {own} -> {vector}
      %y = mosaic_gpu.layout_cast x(%y_loaded : {vector}) {{new_layout = {WGMMA}}}
      %z_loaded = mosaic_gpu.vector_load %v {{optimized = false}} : {part} -> {vector}
      %z = mosaic_gpu.layout_cast x(%z_loaded : {vector}) {{new_layout = {WGMMA}}}
      %w = arith.subf %z, %y : {vector}
"""
        + store(element, "%w", rows, "%a1")
        + MEET
    )
    shape = (4, rows, 64)
    source = module(
        [(shape, element), (shape, element)], body, grid=(4, 1, 1), cluster=4, shared_bytes=2 * rows * 64 * 4
    )
    x = values(element, shape)
    run_all(source, x - np.roll(x, 1, axis=0), x)
