# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cost of relayouts, against brute force over the elements."""

from __future__ import annotations

import functools
import itertools
import math

import pytest
from smalti import targets
from smalti.layouts import SplatLayout
from smalti.transfers import plan_relayout
from transfer_simulator import TWO_DIMENSIONAL, Layout, chip_layouts, held_elements

LAYOUTS = TWO_DIMENSIONAL
SHAPE = (128, 64)


@functools.cache
def replicas(layout: Layout) -> tuple[tuple[int, ...], ...]:
    """The threads that hold each element."""
    holders: list[list[int]] = [[] for _ in range(math.prod(SHAPE))]
    held = held_elements(layout, SHAPE, 128)
    for thread in range(128):
        for number in sorted(set(held[thread].reshape(-1).tolist())):
            holders[number].append(thread)
    return tuple(map(tuple, holders))


def where_from(source: Layout, result: Layout) -> str:
    """The nearest place from which every thread can get all that it needs."""
    holders, needed = replicas(source), held_elements(result, SHAPE, 128)
    means = "registers"
    for thread in range(128):
        for number in set(needed[thread].reshape(-1).tolist()):
            if thread in holders[number]:
                continue
            if all(holder // 32 != thread // 32 for holder in holders[number]):
                return "shared_memory"
            means = "shuffles"
    return means


def most_foreign_elements(source: Layout, result: Layout) -> int:
    """The most elements that a thread must get from others."""
    holders, needed = replicas(source), held_elements(result, SHAPE, 128)
    return max(
        sum(thread not in holders[number] for number in set(needed[thread].reshape(-1).tolist()))
        for thread in range(128)
    )


@pytest.mark.grid(71)
@pytest.mark.parametrize(("source", "result"), list(itertools.product(LAYOUTS, repeat=2)))
def test_means_are_the_nearest_or_cheaper(source: str, result: str) -> None:
    for bits in (8, 16, 32):
        cost = plan_relayout(LAYOUTS[source], LAYOUTS[result], list(SHAPE), bits, "sm_90a")
        if source == result:
            assert cost.means == "none" and cost.cycles == 0 and cost.is_implicit_in_jax
            continue
        nearest = where_from(LAYOUTS[source], LAYOUTS[result])
        if cost.means != nearest:
            # Shared memory is used if shuffles would cost more.
            assert (nearest, cost.means) == ("shuffles", "shared_memory")
        foreign = most_foreign_elements(LAYOUTS[source], LAYOUTS[result])
        if cost.means == "shuffles":
            assert cost.shuffles * 32 >= foreign * bits
            assert cost.cycles == 2 * cost.shuffles + cost.moves
        elif cost.means == "registers":
            assert foreign == 0 and cost.shuffles == 0 and cost.cycles == cost.moves
        else:
            assert cost.barriers == 2 and cost.scratch_bytes >= math.prod(SHAPE) * bits // 8
            assert cost.scratch_bytes <= targets.get("sm_90a").shared_memory_per_block
            assert cost.cycles > 40
        assert not cost.is_implicit_in_jax and cost.reason == ""


@pytest.mark.parametrize(
    ("source", "result", "bits", "text"),
    [
        # One shuffle for each pair of registers' halves, and one permutation of bytes.
        ("WGMMA", "WGMMA_TRANSPOSED", 16, "32 shuffles and 32 moves: 96 cycles"),
        ("WGMMA_TRANSPOSED", "WGMMA", 32, "32 shuffles and 96 moves: 160 cycles"),
        ("WGMMA_UPCAST_2X", "WGMMA", 8, "16 shuffles and 32 moves: 64 cycles"),
        # Registers of two words are two registers of one; in 16 bits they are joined.
        ("WGMMA", "WGMMA_ACC_32BIT", 32, "0 moves: 0 cycles"),
        ("TMEM_NATIVE(1)", "TMEM_NATIVE", 16, "32 moves: 32 cycles"),
        ("TMEM_NATIVE(8)", "TMEM_NATIVE", 16, "0 moves: 0 cycles"),
        (
            "WGMMA",
            "TCGEN05",
            16,
            "16384 bytes of shared memory, 2 barriers and 64 bank cycles (0 conflicts): 152 cycles",
        ),
    ],
)
def test_costs(source: str, result: str, bits: int, text: str) -> None:
    assert str(plan_relayout(LAYOUTS[source], LAYOUTS[result], list(SHAPE), bits, "sm_90a")) == text


def test_costs_grow_with_the_vector() -> None:
    for source, result in (("WGMMA", "WGMMA_TRANSPOSED"), ("WGMMA_UPCAST_2X", "WGMMA"), ("WGMMA", "WGMMA_ACC_32BIT")):
        small = plan_relayout(LAYOUTS[source], LAYOUTS[result], [64, 16], 16, "sm_90a")
        large = plan_relayout(LAYOUTS[source], LAYOUTS[result], [2, 128, 64], 16, "sm_90a")
        assert (large.shuffles, large.moves) == (16 * small.shuffles, 16 * small.moves)


def test_scratch_is_used_again_where_it_is_short() -> None:
    cost = plan_relayout(LAYOUTS["WGMMA"], LAYOUTS["TCGEN05"], [1024, 256], 32, "gfx1201")
    assert cost.means == "shared_memory"
    assert cost.scratch_bytes <= targets.get("gfx1201").shared_memory_per_block < 1024 * 256 * 4
    assert cost.barriers == 2 * -(-1024 * 256 * 4 // cost.scratch_bytes)


def test_splats() -> None:
    splat = SplatLayout(list(SHAPE))
    for layout in LAYOUTS.values():
        cost = plan_relayout(splat, layout, list(SHAPE), 16, "sm_90a")
        assert (cost.means, cost.cycles, cost.is_in_jax, cost.is_implicit_in_jax) == ("registers", 0, True, True)
        back = plan_relayout(layout, splat, list(SHAPE), 16, "sm_90a")
        assert (back.means, back.reason, back.is_in_jax) == (
            "impossible",
            "the splat layout holds one scalar for all elements, but elements of the vector may differ",
            False,
        )
    assert plan_relayout(splat, splat, list(SHAPE), 16, "sm_90a").means == "none"


@pytest.mark.parametrize(
    ("source", "result", "shape", "bits", "chip", "warps", "reason"),
    [
        (
            "WGMMA",
            "TCGEN05",
            [64, 64],
            16,
            "sm_90a",
            4,
            "shape [64, 64] must be a multiple of the first tile of the layout, [128, 8], but 64 is not a multiple of 128",
        ),
        (
            "WGMMA",
            "TCGEN05",
            [128, 64],
            12,
            "sm_90a",
            4,
            "the elements of the vector have 12 bits; the width must be a power of two from 1 to 64",
        ),
        (
            "WGMMA",
            "TCGEN05",
            [128, 64],
            16,
            "sm_90a",
            8,
            "the layout is for 4 warps of 32 lanes, but the vector is held by 256 threads in warps of 32 lanes; "
            "use a layout for these threads",
        ),
        (
            "WGMMA",
            "strided",
            [64, 64],
            16,
            "sm_90a",
            4,
            "the layout is for shape [128, 64], but the vector has shape [64, 64]; both must be equal",
        ),
        (
            "WGMMA_TRANSPOSED",
            "TCGEN05_TRANSPOSED",
            [128, 64],
            1,
            "sm_90a",
            4,
            "elements move between warps, which requires shared memory: elements of 1 bits that one thread holds are not "
            "adjacent in memory, so two threads would access the same byte; use another layout",
        ),
    ],
)
def test_reason_of_an_impossible_relayout(
    source: str, result: str, shape: list[int], bits: int, chip: str, warps: int, reason: str
) -> None:
    cost = plan_relayout(LAYOUTS[source], LAYOUTS[result], shape, bits, chip, warps)
    assert (cost.means, cost.reason) == ("impossible", reason)
    assert str(cost) == f"impossible: {reason}"


@pytest.mark.parametrize("chip", ["gfx942", "gfx950", "gfx1201", "gfx1250"])
def test_relayouts_between_amd_operands(chip: str) -> None:
    """The accumulator becomes an operand of the next matmul, as in attention."""
    possible = 0
    for (source, bits), (result, _) in itertools.product(chip_layouts(chip).values(), repeat=2):
        shape = [math.lcm(a, b) for a, b in zip(source.tiling[0], result.tiling[0], strict=True)]
        for width in {bits, 16}:
            cost = plan_relayout(source, result, shape, width, chip)
            assert cost.means != "impossible", cost.reason
            assert (cost.means == "none") == (source == result)
            possible += 1
    assert possible >= 12


def test_casts_that_jax_takes() -> None:
    taken = {
        (source, result, bits)
        for source, result in itertools.permutations(LAYOUTS, 2)
        for bits in (4, 8, 16, 32)
        if (cost := plan_relayout(LAYOUTS[source], LAYOUTS[result], list(SHAPE), bits, "sm_90a")).is_in_jax
        or cost.is_implicit_in_jax
    }
    every = (4, 8, 16, 32)
    pairs: dict[tuple[str, str], tuple[int, ...]] = {
        ("WGMMA", "WGMMA_TRANSPOSED"): every,
        ("WGMMA_TRANSPOSED", "WGMMA"): every,
        ("TCGEN05", "TCGEN05_TRANSPOSED"): every,
        ("TCGEN05_TRANSPOSED", "TCGEN05"): every,
        ("WGMMA_UPCAST_2X", "WGMMA"): (4, 8, 16),
        ("WGMMA_UPCAST_4X", "WGMMA_UPCAST_2X"): (4,),
        ("WGMMA_UPCAST_4X", "WGMMA"): (4,),
    }
    pairs |= dict.fromkeys(itertools.permutations(("TMEM_NATIVE", "TMEM_NATIVE(1)", "TMEM_NATIVE(8)"), 2), every)
    assert taken == {(*pair, bits) for pair, widths in pairs.items() for bits in widths}
