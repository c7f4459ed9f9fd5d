# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in the style of IREE's pipelines for any GPU: against numpy and the emulator, and every mutant."""

from __future__ import annotations

import dataclasses

import iree_upstream_programs as programs
import numpy as np
import pytest
import smalti
from helpers import random
from smalti import sim
from smalti.sim import mutants

OWN = sim.Simulation(explicit_barriers=True)
"""IREE distributes the iterations of scf.forall across threads without a barrier after them."""
CHIPS = ("sm_80", "gfx942")


def check(text: str, chip: str, arrays: list[np.ndarray], wanted: np.ndarray, emulates: bool) -> None:
    kernel, outs = sim.simulate(text, f"sim:{chip}"), []
    for how in (OWN, dataclasses.replace(sim.SCHEDULES[-1], explicit_barriers=True)):
        outs.append(np.full_like(wanted, np.nan, np.float32))
        kernel(*arrays, outs[-1], simulation=how)
    np.testing.assert_allclose(outs[0], wanted, rtol=1e-5, atol=1e-5)
    assert outs[0].tobytes() == outs[1].tobytes()
    if emulates:
        out = np.full_like(wanted, np.nan, np.float32)
        smalti.compile(text, target=f"emu:{chip}")(*arrays, out)
        np.testing.assert_allclose(out, outs[0], rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("chip", CHIPS)
def test_mmas_of_shared_tiles(chip: str) -> None:
    a, b = random(32, 24), random(24, 48, seed=1)
    check(programs.matmul(32, 48, 24), chip, [a, b], a.astype(np.float64) @ b.astype(np.float64), False)


def convolved(images: np.ndarray, filters: np.ndarray, how: programs.Convolution) -> np.ndarray:
    found = np.zeros(how.out)
    _, h, w, _ = how.out
    for y in range(how.window):
        for x in range(how.window):
            found += images[:, y : y + h, x : x + w].astype(np.float64) @ filters[y, x].astype(np.float64)
    return found


@pytest.mark.parametrize("chip", CHIPS)
def test_convolutions_as_implicit_matmuls(chip: str) -> None:
    how = programs.Convolution(2, 6, 10, 8, 16)
    images, filters = random(2, 6, 10, 8), random(3, 3, 8, 16, seed=1)
    check(programs.convolution(how), chip, [images, filters], convolved(images, filters, how), False)


@pytest.mark.parametrize(("chip", "size"), [("sm_80", 32), ("gfx942", 64)])
def test_softmax(chip: str, size: int) -> None:
    x = random(3, 1024)
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    check(programs.softmax(3, 1024, size), chip, [x], powers / powers.sum(1, keepdims=True), True)


@pytest.mark.parametrize(("chip", "shuffles"), [("sm_80", True), ("gfx942", True), ("sm_90a", False)])
def test_attention(chip: str, shuffles: bool) -> None:
    q, k, v = random(2, 8, 32), random(2, 96, 32, seed=1), random(2, 96, 32, seed=2)
    scores = np.einsum("hqd,hkd->hqk", q.astype(np.float64), k) * np.float32(0.25503)
    powers = np.exp2(scores - scores.max(2, keepdims=True))
    wanted = np.einsum("hqk,hkd->hqd", powers / powers.sum(2, keepdims=True), v)
    check(programs.attention(2, 8, 96, 64 if chip == "gfx942" else 32, shuffles), chip, [q, k, v], wanted, shuffles)


MUTANTS = {
    "matmul": (programs.matmul(16, 16, 24), [(16, 24), (24, 16), (16, 16)], 2),
    "convolution": (
        programs.convolution(programs.Convolution(1, 6, 6, 8, 16)),
        [(1, 6, 6, 8), (3, 3, 8, 16), (1, 4, 4, 16)],
        2,
    ),
    "softmax": (programs.softmax(1, 256, 32), [(1, 256), (1, 256)], 2),
    "attention": (programs.attention(1, 4, 96), [(1, 4, 32), (1, 96, 32), (1, 96, 32), (1, 4, 32)], 2),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name: str) -> None:
    text, shapes, count = MUTANTS[name]
    kernel = sim.simulate(text, "sim:sm_80")
    arrays = [random(*shape, seed=i) for i, shape in enumerate(shapes)]
    schedules = [dataclasses.replace(mutants.SCHEDULES[0], explicit_barriers=True)]
    outcomes = mutants.score(kernel, arrays, schedules=schedules)
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    assert [outcome.mutant.kind for outcome in outcomes] == ["barrier removed"] * count
