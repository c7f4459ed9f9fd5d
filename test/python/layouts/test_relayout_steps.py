# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of relayouts, executed: complete results with the minimal number of shuffles."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from helpers import Array
from smalti import targets
from smalti.layouts import Replicated, TiledLayout
from smalti.transfers import RelayoutPlan, plan_relayout, plan_relayout_steps
from transfer_simulator import TWO_DIMENSIONAL, Layout, chip_layouts, execute, held_elements

LAYOUTS = TWO_DIMENSIONAL | {
    "lanes rotated": TiledLayout([[64, 8], [16, 8], [8, 8], [2, 8], [2]], [-9], [-2, -5, -3]),
    "warps repeated": TiledLayout([[8, 8], [2]], [Replicated(4)], [-3, -2]),
}
SHAPE = (128, 64)


def bytes_of_words(layout: Layout, shape: tuple[int, ...], bits: int, threads: int) -> Array:
    """[thread, register, byte] -> number of the byte of the vector (in eighths of an element's width, or more)."""
    held = held_elements(layout, shape, threads)
    if bits < 8:
        per_byte = 8 // bits
        grouped = held.reshape(*held.shape[:2], -1, per_byte)
        assert (grouped == grouped[..., :1] + np.arange(per_byte)).all()
        return grouped[..., 0] // per_byte
    size = bits // 8
    return (held[..., None] * size + np.arange(size)).reshape(*held.shape[:2], -1)


def pad_to_words(values: Array) -> Array:
    """[thread, register, word, byte], -1 if a word has no more bytes."""
    missing = -values.shape[2] % 4
    values = np.pad(values, ((0, 0), (0, 0), (0, missing)), constant_values=-1)
    return values.reshape(*values.shape[:2], -1, 4)


def execute_steps(plan: RelayoutPlan, source: Layout, result: Layout, shape: tuple[int, ...], bits: int) -> None:
    threads = len(plan.tables[0]) if plan.tables else 128
    before = pad_to_words(bytes_of_words(source, shape, bits, threads))
    after = pad_to_words(bytes_of_words(result, shape, bits, threads))
    assert before.shape[2] == plan.source_words and after.shape[2] == plan.result_words
    thread, lane = np.arange(threads), np.arange(threads) % 32
    seen = np.zeros(after.shape[1], np.int64)
    for sources, results in zip(plan.source_registers, plan.result_registers, strict=True):
        words = [before[:, register, word] for register in sources for word in range(plan.source_words)]
        for kind, a, b, table in plan.steps:
            taken = np.array(plan.tables[table])
            if kind == "select":
                assert set(taken.tolist()) <= {0, 1}
                words.append(np.where(taken[:, None] == 1, words[b], words[a]))
            elif kind == "permute":
                both = np.concatenate([words[a], words[b]], axis=1)
                selectors = (taken[:, None] >> (4 * np.arange(4))) & 15
                assert (selectors < 8).all()
                words.append(np.take_along_axis(both, selectors, axis=1))
            else:
                assert kind == "shuffle" and ((taken >= 0) & (taken < 32)).all()
                words.append(words[a][thread - lane + taken])
        assert len(plan.results) == len(results) * plan.result_words
        for index, register in enumerate(results):
            seen[register] += 1
            for word in range(plan.result_words):
                got, wanted = words[plan.results[index * plan.result_words + word]], after[:, register, word]
                assert (got == wanted)[wanted >= 0].all(), (register, word)
    assert (seen == 1).all()


@pytest.mark.grid(36)
@pytest.mark.parametrize(("source", "result"), list(itertools.permutations(LAYOUTS, 2)))
def test_every_byte_arrives(source: str, result: str) -> None:
    for bits in (4, 8, 16, 32, 64):
        cost = plan_relayout(LAYOUTS[source], LAYOUTS[result], list(SHAPE), bits, "sm_90a")
        try:
            plan = plan_relayout_steps(LAYOUTS[source], LAYOUTS[result], list(SHAPE), bits, "sm_90a")
        except ValueError as error:
            if cost.means == "impossible":
                assert str(error) == cost.reason
            else:
                assert bits == 4
                assert str(error) == (
                    "elements of 4 bits that share a byte in one layout do not share a byte in the other; use layouts that keep these elements together"
                )
            continue
        assert plan.cost.means == cost.means
        if cost.means == "shared_memory":
            assert plan.store is not None and plan.load is not None and plan.together >= 1
            assert (
                plan.unit_bytes * plan.together == cost.scratch_bytes <= targets.get("sm_90a").shared_memory_per_block
            )
            unit = tuple(plan.memory.shape)
            if unit == SHAPE:
                execute(plan.store, LAYOUTS[source], plan.memory, bits, "sm_90a", is_load=False)
                execute(plan.load, LAYOUTS[result], plan.memory, bits, "sm_90a", is_load=True)
            continue
        execute_steps(plan, LAYOUTS[source], LAYOUTS[result], SHAPE, bits)
        assert plan.cost.shuffles == sum(step[0] == "shuffle" for step in plan.steps) * len(plan.source_registers)
        assert plan.cost.moves == sum(step[0] != "shuffle" for step in plan.steps) * len(plan.source_registers)


@pytest.mark.parametrize(
    ("source", "result", "bits", "text"),
    [
        ("WGMMA", "WGMMA_TRANSPOSED", 16, "32 shuffles and 32 moves: 96 cycles"),
        ("WGMMA_TRANSPOSED", "WGMMA", 16, "32 shuffles and 32 moves: 96 cycles"),
        ("WGMMA_TRANSPOSED", "WGMMA", 32, "32 shuffles and 96 moves: 160 cycles"),
        ("WGMMA_UPCAST_2X", "WGMMA", 8, "16 shuffles and 32 moves: 64 cycles"),
        ("WGMMA_UPCAST_2X", "WGMMA", 16, "16 shuffles and 48 moves: 80 cycles"),
        ("WGMMA", "WGMMA_ACC_32BIT", 32, "0 moves: 0 cycles"),
        ("WGMMA_ACC_32BIT", "WGMMA", 16, "32 moves: 32 cycles"),
        ("WGMMA_8BIT", "WGMMA_UPCAST_2X", 8, "16 shuffles and 0 moves: 32 cycles"),
        # Lanes that exchange words in cycles of three are not pairs, and also need one shuffle per word.
        ("WGMMA", "lanes rotated", 16, "32 shuffles and 0 moves: 64 cycles"),
    ],
)
def test_costs_of_the_steps(source: str, result: str, bits: int, text: str) -> None:
    plan = plan_relayout_steps(LAYOUTS[source], LAYOUTS[result], list(SHAPE), bits, "sm_90a")
    assert str(plan.cost) == text


def test_shuffles_are_as_few_as_can_be() -> None:
    """The cost's shuffles are a lower bound."""
    at_bound = total = 0
    for source, result in itertools.permutations(LAYOUTS, 2):
        for bits in (8, 16, 32):
            cost = plan_relayout(LAYOUTS[source], LAYOUTS[result], list(SHAPE), bits, "sm_90a")
            if cost.means != "shuffles":
                continue
            plan = plan_relayout_steps(LAYOUTS[source], LAYOUTS[result], list(SHAPE), bits, "sm_90a")
            assert plan.cost.shuffles >= cost.shuffles
            total += 1
            at_bound += plan.cost.shuffles == cost.shuffles
    assert at_bound == total > 20


@pytest.mark.parametrize("chip", ["gfx942", "gfx1201"])
def test_amd_operands(chip: str) -> None:
    wave = targets.get(chip).wave_size
    executed = 0
    for (source, bits), (result, _) in itertools.permutations(chip_layouts(chip).values(), 2):
        shape = [math.lcm(a, b) for a, b in zip(source.tiling[0], result.tiling[0], strict=True)]
        plan = plan_relayout_steps(source, result, shape, bits, chip)
        if wave == 32 and plan.cost.means in ("registers", "shuffles"):
            execute_steps(plan, source, result, tuple(shape), bits)
            executed += 1
        elif plan.store is not None and plan.load is not None and list(plan.memory.shape) == shape:
            execute(plan.store, source, plan.memory, bits, chip, is_load=False)
            execute(plan.load, result, plan.memory, bits, chip, is_load=True)
            executed += 1
    assert executed
