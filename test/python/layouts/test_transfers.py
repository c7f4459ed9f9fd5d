# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution of transfer plans: the address of every element, and bank conflicts."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from smalti import layouts, targets
from smalti.layouts import SplatLayout, StridedLayout, TiledLayout, named_layout
from smalti.transfers import MemoryLayout, bank_cost, is_transfer_in_jax, plan_relayout, plan_transfer
from test_layout_transforms import random_reshape
from test_layouts import divisors
from transfer_simulator import Layout, Mismatch, addresses_of_elements, chip_layouts, execute, thread_addresses

NVIDIA = ["sm_80", "sm_90a", "sm_100a"]
AMD = ["gfx942", "gfx950", "gfx1201", "gfx1250"]


# --- the grid ---------------------------------------------------------------------------------------------------------


def tiled_memory(shape: list[int], width: int, bits: int, transposed: bool) -> MemoryLayout | None:
    """As matrix instructions read it: tiles of 8 rows as wide as the swizzle."""
    columns = width * 8 // bits
    tile = [columns, 8] if transposed else [8, columns]
    if any(size % t for size, t in zip(shape, tile, strict=True)):
        return None
    return MemoryLayout(shape, [1, shape[0]] if transposed else [shape[1], 1], tile, width)


def grid(chip: str) -> list[tuple[str, Layout, MemoryLayout, int]]:
    wave = targets.get(chip).wave_size
    cases: list[tuple[str, TiledLayout, int]] = []
    if wave == 32:
        for name in layouts.layout_names():
            if len(named_layout(name).tiling[0]) == 2:
                cases += [(name, named_layout(name), bits) for bits in (8, 16, 32)]
        cases.append(("WGMMA_UPCAST_4X", named_layout("WGMMA_UPCAST_4X"), 4))
        cases.append(("TMEM_NATIVE(8)", layouts.tmem_native(8), 32))
        pairs = TiledLayout([[16, 64], [16, 16], [4, 2]], warp_dims=[-5], lane_dims=[-3, -4], vector_dim=-2)
        cases.append(("pairs", pairs, 8))
    cases += [(name, layout, bits) for name, (layout, bits) in chip_layouts(chip).items()]
    result: list[tuple[str, Layout, MemoryLayout, int]] = []
    for name, layout, bits in cases:
        tile = layout.tiling[0]
        shape = [max(size, 64) for size in tile]
        memories = [MemoryLayout(shape), MemoryLayout(shape, [shape[1] + 16, 1]), MemoryLayout(shape, [1, shape[0]])]
        for width, transposed in itertools.product((16, 32, 64, 128), (False, True)):
            memory = tiled_memory(shape, width, bits, transposed)
            if memory is not None:
                memories.append(memory)
        result += [(name, layout, memory, bits) for memory in memories]
    for shape, vector, bits in (([64, 64], 4, 16), ([16, 8, 16], 2, 32), ([2048], 8, 8), ([64, 64], 1, 32)):
        result.append((f"strided{vector}", StridedLayout(shape, vector), MemoryLayout(shape), bits))
    padded = MemoryLayout([64, 64], [72, 1])
    result.append(("strided-padded", StridedLayout([64, 64], 4), padded, 16))
    tiled = tiled_memory([64, 64], 128, 16, False)
    assert tiled is not None
    result.append(("strided-tiled", StridedLayout([64, 64], 8), tiled, 16))
    return result


def describe(memory: MemoryLayout) -> str:
    order = "" if memory.strides == MemoryLayout(memory.shape).strides else f" strides {memory.strides}"
    return f"{memory.shape}{order} tile {memory.tile} swizzle {memory.swizzle_bytes}"


@pytest.mark.grid(3, cover=False)
@pytest.mark.parametrize("chip", NVIDIA + AMD)
@pytest.mark.parametrize("is_load", [True, False])
def test_every_plan_moves_every_element(chip: str, is_load: bool) -> None:
    kinds: set[str] = set()
    planned = 0
    cases = grid(chip)
    # Of chips that are alike, one goes through all.
    for name, layout, memory, bits in cases[:: 4 if chip in ("sm_80", "sm_90a", "gfx942") else 1]:
        text = ""
        for conflict_free in (False, True):
            where = f"{name}, {bits} bits, {describe(memory)}"
            try:
                plan = plan_transfer(layout, memory, bits, chip, is_load=is_load, conflict_free=conflict_free)
            except ValueError as error:
                assert conflict_free or bits < 8, where
                assert "every access pattern has bank conflicts" in str(error) or "would access the same byte" in str(
                    error
                ), where
                continue
            try:
                if str(plan) != text:
                    execute(plan, layout, memory, bits, chip, is_load)
            except Mismatch as error:
                raise AssertionError(f"{where}: {error}; {plan}") from error
            text = str(plan)
            if conflict_free:
                assert plan.conflicts == 0, where
            else:
                assert plan.stagger is None, where
            kinds.add(plan.accesses[0].kind)
            planned += 1
    assert planned > 40
    target = targets.get(chip)
    expected = {"vector"}
    if target.has_ldmatrix if is_load else target.has_stmatrix:
        expected |= {"matrix", "matrix_transposed"}
    if target.has_transposed_8bit_matrix:
        expected.add("matrix_transposed_8")
    if is_load and target.has_ldmatrix:
        expected.add("matrix_of_pairs")
    if is_load and target.transposed_reads:
        expected.add("transposed_read")
    assert kinds == expected


@pytest.mark.parametrize("chip", ["sm_90a", "gfx950", "gfx1250"])
@pytest.mark.parametrize("width", [16, 32, 64])
def test_a_wrong_swizzle_is_found(chip: str, width: int) -> None:
    """The executor detects mutated plans: a plan for one swizzle fails with another."""
    layout, bits = next(iter(chip_layouts(chip).values()))
    shape = [max(size, 64) for size in layout.tiling[0]]
    memory = tiled_memory(shape, 128, bits, False)
    wrong = MemoryLayout(shape, memory.strides, memory.tile, width) if memory else None
    assert memory is not None and wrong is not None
    execute(plan_transfer(layout, memory, bits, chip), layout, memory, bits, chip, True)
    with pytest.raises(Mismatch, match="not at its address"):
        execute(plan_transfer(layout, memory, bits, chip), layout, wrong, bits, chip, True)
    with pytest.raises(Mismatch):
        execute(plan_transfer(layout, wrong, bits, chip), layout, memory, bits, chip, True)


def test_a_wrong_layout_tile_or_kind_of_chip_is_found() -> None:
    memory = tiled_memory([64, 64], 128, 16, False)
    assert memory is not None
    plan = plan_transfer(named_layout("WGMMA"), memory, 16, "sm_90a")
    with pytest.raises(Mismatch, match="not at its address"):
        execute(plan, named_layout("WGMMA_TRANSPOSED"), memory, 16, "sm_90a", True)
    with pytest.raises(Mismatch, match="not at its address"):
        execute(plan, named_layout("WGMMA"), MemoryLayout([64, 64]), 16, "sm_90a", True)
    with pytest.raises(Mismatch, match="no such matrix instruction"):
        execute(plan, named_layout("WGMMA"), memory, 16, "gfx1201", True)


def random_problem(rng: random.Random, chip: str) -> tuple[TiledLayout, MemoryLayout, int]:
    """A vector of a known layout, seen through a reshape or a transpose, in memory of some order, tile and swizzle."""
    known = [(layout, bits) for layout, bits in chip_layouts(chip).values()]
    if targets.get(chip).wave_size == 32:
        known += [(named_layout(name), 16) for name in layouts.layout_names()]
    layout, _ = rng.choice(known)
    bits = rng.choice([4, 8, 16, 32, 64])
    shape = [size * rng.choice([1, 1, 2]) for size in layout.tiling[0]]
    if rng.random() < 0.3:
        shape.insert(0, rng.choice([1, 2, 3]))
    for _ in range(rng.randint(0, 2)):
        try:
            if rng.random() < 0.5:
                target = random_reshape(rng, shape)
                layout, shape = layout.reshape(shape, target), target
            else:
                permutation = rng.sample(range(len(shape)), len(shape))
                layout, shape = layout.transpose(permutation), [shape[dim] for dim in permutation]
        except ValueError:
            continue
    # The order of dimensions in memory; the outermost may have gaps.
    order = rng.sample(range(len(shape)), len(shape)) if rng.random() < 0.4 else list(range(len(shape)))
    strides, step = [0] * len(shape), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= shape[dim]
    tile: list[int] = []
    if rng.random() < 0.6:
        tile = [rng.choice([d for d in divisors(size) if d <= 128]) for size in shape[-rng.randint(1, len(shape)) :]]
    elif rng.random() < 0.3 and len(shape) > 1:
        strides[order[0]] += rng.choice([1, 4, 8]) if len(order) > 1 else 0
    return layout, MemoryLayout(shape, strides, tile, rng.choice([16, 32, 64, 128])), bits


@pytest.mark.grid(2)
@pytest.mark.parametrize("chip", ["sm_90a", "gfx950", "gfx1250"])
def test_random_problems(chip: str) -> None:
    rng = random.Random(chip)
    planned = 0
    reasons = (
        "every access pattern has bank conflicts",
        "would access the same byte",
        "one must divide the other",
    )
    for _ in range(150):
        try:
            layout, memory, bits = random_problem(rng, chip)
        except ValueError as error:
            assert "of the memory is not tiled and has stride" in str(error) or "must be a multiple of" in str(error)
            continue
        for is_load, conflict_free in itertools.product((True, False), repeat=2):
            try:
                plan = plan_transfer(layout, memory, bits, chip, is_load=is_load, conflict_free=conflict_free)
            except ValueError as error:
                assert any(reason in str(error) for reason in reasons), error
                continue
            try:
                execute(plan, layout, memory, bits, chip, is_load)
            except Mismatch as error:
                raise AssertionError(f"{layout}, {bits} bits, {describe(memory)}: {error}; {plan}") from error
            planned += 1
    assert planned > 50


# --- single plans -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "bits", "chip", "is_load", "transposed", "text"),
    [
        ("WGMMA", 16, "sm_90a", True, False, "16 matrix accesses x4 from 4 bases: 64 cycles, no conflicts"),
        ("WGMMA", 16, "sm_90a", False, False, "16 matrix accesses x4 from 4 bases: 64 cycles, no conflicts"),
        ("WGMMA", 16, "sm_80", False, False, "64 accesses of 4 bytes from 8 bases: 64 cycles, no conflicts"),
        ("WGMMA", 16, "sm_90a", True, True, "16 matrix accesses x4, transposed, from 1 base: 64 cycles, no conflicts"),
        (
            "WGMMA",
            32,
            "sm_90a",
            True,
            False,
            "64 accesses of 8 bytes from 4 bases, staggered by groups of 2 lanes: 128 cycles, no conflicts",
        ),
        ("WGMMA_8BIT", 8, "sm_90a", True, False, "8 matrix accesses x4 from 4 bases: 32 cycles, no conflicts"),
        (
            "WGMMA_8BIT",
            8,
            "sm_90a",
            True,
            True,
            "128 accesses of 1 bytes from 8 bases, staggered by groups of 2 lanes: 128 cycles, no conflicts",
        ),
        (
            "WGMMA_8BIT",
            8,
            "sm_100a",
            True,
            True,
            "8 matrix accesses of 16 bytes per lane, transposed, from 2 bases: 32 cycles, no conflicts",
        ),
    ],
)
def test_plans_for_the_accumulator(
    layout: str, bits: int, chip: str, is_load: bool, transposed: bool, text: str
) -> None:
    memory = tiled_memory([128, 128], 128, bits, transposed)
    assert memory is not None
    plan = plan_transfer(named_layout(layout), memory, bits, chip, is_load=is_load, conflict_free=True)
    assert str(plan) == text


@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("name", ["WGMMA", "TCGEN05", "WGMMA_8BIT"])
def test_addresses_are_constants_from_few_bases(name: str, bits: int, width: int) -> None:
    """Half of the 16-byte chunks of a row of a tile, or one base for each step of a row if rows are in the address."""
    memory = tiled_memory([128, 256], width, bits, False)
    assert memory is not None
    plan = plan_transfer(named_layout(name), memory, bits, "sm_90a")
    assert len(plan.bases) <= width // 8
    assert len(plan.accesses) >= 4 * len(plan.bases)


def test_a_splat_is_stored_and_never_loaded() -> None:
    memory = MemoryLayout([64, 64])
    plan = plan_transfer(SplatLayout([64, 64]), memory, 16, "sm_90a", is_load=False)
    written = set()
    for access in plan.accesses:
        assert access.pieces == []
        for first in thread_addresses(plan, access):
            written.update(range(int(first), int(first) + access.bytes))
    assert written == set(range(64 * 64 * 2))
    with pytest.raises(
        ValueError,
        match="the result of a load cannot have the splat layout, in which all elements are equal; use another layout",
    ):
        plan_transfer(SplatLayout([64, 64]), memory, 16, "sm_90a")


@pytest.mark.parametrize(
    ("layout", "memory", "bits", "message"),
    [
        (
            named_layout("WGMMA_TRANSPOSED"),
            MemoryLayout([64, 64]),
            32,
            "every access pattern has bank conflicts; the best is 32 accesses of 4 bytes from 1 base: 128 cycles, 96 of "
            "them conflicts: lanes 0 and 8 access different words of bank 0 (4-way conflict) at byte 0",
        ),
        (
            layouts.tmem_native(2),
            MemoryLayout([128, 64]),
            16,
            "every access pattern has bank conflicts; the best is 8 accesses of 16 bytes from 1 base: 256 cycles, 224 of "
            "them conflicts: lanes 0 and 1 access different words of bank 0 (8-way conflict) at byte 0",
        ),
        (
            named_layout("WGMMA"),
            MemoryLayout([60, 64]),
            16,
            "shape [60, 64] must be a multiple of the first tile of the layout, [64, 8], but 60 is not a multiple of 64",
        ),
        (
            named_layout("WGMMA"),
            MemoryLayout([192, 48], tile=[24, 48]),
            16,
            "the layout of the vector splits dimension 0 into parts of 16 elements, but the memory has tiles of 24; one must divide the other",
        ),
        (
            named_layout("WGMMA_TRANSPOSED"),
            MemoryLayout([64, 64]),
            4,
            "elements of 4 bits that one thread holds are not adjacent in memory, so two threads would access the same byte; use another layout",
        ),
        (
            layouts.wgmma(warps=2),
            MemoryLayout([32, 8]),
            3,
            "the elements of the memory have 3 bits; the width must be a power of two from 1 to 64",
        ),
    ],
)
def test_reason_of_a_missing_plan(layout: TiledLayout, memory: MemoryLayout, bits: int, message: str) -> None:
    with pytest.raises(ValueError) as error:
        plan_transfer(layout, memory, bits, "sm_90a", conflict_free=True)
    assert str(error.value) == message


def test_a_layout_of_other_waves_has_no_plan() -> None:
    with pytest.raises(ValueError) as error:
        plan_transfer(named_layout("WGMMA"), MemoryLayout([64, 64]), 16, "gfx942")
    assert str(error.value) == (
        "the layout is for 4 warps of 32 lanes, but the vector is held by 256 threads in warps of 64 lanes; use a layout "
        "for these threads"
    )
    with pytest.raises(ValueError, match="the target table does not describe the shared-memory banks of cpu"):
        plan_transfer(named_layout("WGMMA"), MemoryLayout([64, 64]), 16, "cpu")
    with pytest.raises(ValueError, match="unknown target 'sm_1'; known targets: "):
        plan_transfer(named_layout("WGMMA"), MemoryLayout([64, 64]), 16, "sm_1")


def test_positions_outside_of_a_plan() -> None:
    memory = MemoryLayout([64, 64])
    with pytest.raises(ValueError, match="the index has 1 entries, but the memory has 2 dimensions"):
        memory.bit_address([0], 16)
    plan = plan_transfer(named_layout("WGMMA"), memory, 16, "sm_90a")
    count = len(plan.accesses)
    with pytest.raises(ValueError, match=f"access {count} does not exist; the plan has {count} accesses"):
        plan.address(0, count)
    with pytest.raises(ValueError, match="thread 128 does not exist; the plan has 128 threads"):
        plan.address(128, 0)


def test_excessive_vectors_are_refused_quickly() -> None:
    with pytest.raises(ValueError) as error:
        plan_transfer(named_layout("WGMMA"), MemoryLayout([32768, 32768]), 32, "sm_90a")
    assert (
        str(error.value)
        == "the transfer needs 4194304 accesses per thread; at most 16384 are supported, so use more warps or a smaller vector"
    )
    assert not is_transfer_in_jax(named_layout("WGMMA"), MemoryLayout([32768, 32768]), 32)
    cost = plan_relayout(named_layout("WGMMA"), StridedLayout([32768, 32768], 2), [32768, 32768], 32, "sm_90a")
    assert cost.reason == (
        "the assignment of elements to threads in the two layouts repeats only after 1073741824 elements; "
        "at most 1048576 are supported, so use a smaller vector"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([64, 64], [1 << 40, 1]),
            "memory of shape [64, 64] and strides [1099511627776, 1] spans more than 2147483647 elements, the limit; use a smaller shape or smaller strides",
        ),
        (([64, 64], [64]), "memory of shape [64, 64] has 1 strides; one for each dimension is required"),
        (([64, 64], None, [8, 8, 8]), "tile [8, 8, 8] has more dimensions than memory of shape [64, 64]"),
        (([64, 0],), "the sizes of the memory must be positive, but are [64, 0]"),
        (([64, 64], [-64, 1]), "the strides of the memory must not be negative, but are [-64, 1]"),
        (([64, 64], None, [8, 48]), "tile [8, 48] does not divide memory of shape [64, 64]"),
        (([64, 64], None, [8, 64], 48), "the swizzle of the memory is 48 bytes; it must be 16, 32, 64 or 128"),
        (([64, 64], [128, 2], [8, 64]), "the innermost tiled dimension of the memory has stride 2; it must be 1"),
        (
            ([4, 64, 64], [1, 256, 4], [8, 64]),
            "dimension 0 of the memory is not tiled and has stride 1; it must be at least 256, the stride of tiled dimension 1, because untiled dimensions must be the outermost in memory",
        ),
        (
            ([64, 64], [72, 1], [8, 64]),
            "stride 72 of dimension 0 of the memory must be a multiple of 64, the elements that a tile spans in dimension 1",
        ),
    ],
)
def test_reason_of_invalid_memory(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError) as error:
        MemoryLayout(*arguments)
    assert str(error.value) == message


@pytest.mark.parametrize("bits", [4, 8, 16, 32])
def test_addresses_of_elements(bits: int) -> None:
    memories = [MemoryLayout([16, 32]), MemoryLayout([16, 32], [40, 1]), MemoryLayout([16, 32], [1, 16], [8, 8], 64)]
    memories += [MemoryLayout([4, 16, 32], None, [8, 16], width) for width in (16, 32, 128)]
    for memory in memories:
        expected = addresses_of_elements(
            tuple(memory.shape), tuple(memory.strides), tuple(memory.tile), memory.swizzle_bytes, bits
        )
        for number, index in enumerate(np.ndindex(*memory.shape)):
            assert memory.bit_address(list(index), bits) == expected[number] * bits


# --- what JAX takes ---------------------------------------------------------------------------------------------------


def test_layouts_that_jax_accepts() -> None:
    memory = tiled_memory([128, 128], 128, 16, False)
    transposed = tiled_memory([128, 128], 128, 16, True)
    assert memory is not None and transposed is not None
    assert is_transfer_in_jax(named_layout("WGMMA"), memory, 16)
    assert not is_transfer_in_jax(named_layout("WGMMA"), transposed, 16, "unoptimized")
    assert is_transfer_in_jax(named_layout("WGMMA_TRANSPOSED"), transposed, 16)
    row_major = MemoryLayout([128, 128])
    assert not is_transfer_in_jax(named_layout("WGMMA"), row_major, 16)
    assert is_transfer_in_jax(named_layout("WGMMA"), row_major, 16, "downgradable")
    assert not is_transfer_in_jax(layouts.tmem_native(2), memory, 16)
    assert is_transfer_in_jax(layouts.tmem_native(2), memory, 16, "unoptimized")
    assert is_transfer_in_jax(StridedLayout([128, 128], 2), row_major, 32)
    assert not is_transfer_in_jax(StridedLayout([128, 128], 2), memory, 32, "unoptimized")
    with pytest.raises(
        ValueError, match="unknown transfer mode 'fast'; it must be 'optimized', 'unoptimized' or 'downgradable'"
    ):
        is_transfer_in_jax(named_layout("WGMMA"), memory, 16, "fast")


# --- the bank model ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chip", "bytes_", "addresses", "cost"),
    [
        ("sm_80", 4, [4 * lane for lane in range(32)], (1, 0)),
        # All lanes read other words of one bank.
        ("sm_80", 4, [128 * lane for lane in range(32)], (32, 31)),
        # One word is read once.
        ("sm_80", 4, [64] * 32, (1, 0)),
        ("sm_80", 4, [128 * lane if lane < 3 else -1 for lane in range(32)], (3, 2)),
        # Four phases of eight lanes.
        ("sm_80", 16, [128 * lane for lane in range(32)], (32, 28)),
        ("gfx942", 16, [16 * lane for lane in range(64)], (8, 0)),
    ],
)
def test_bank_cost(chip: str, bytes_: int, addresses: list[int], cost: tuple[int, int]) -> None:
    assert bank_cost(chip, bytes_, True, addresses) == cost


def test_bank_cost_of_invalid_accesses() -> None:
    with pytest.raises(ValueError, match="33 addresses; a warp of sm_80 has 32 lanes"):
        bank_cost("sm_80", 4, True, [0] * 33)
    with pytest.raises(ValueError, match="address -2; it must be at least 0"):
        bank_cost("sm_80", 4, True, [0, -2])
    with pytest.raises(ValueError, match="cpu does not have banks"):
        bank_cost("cpu", 4, True, [0])
