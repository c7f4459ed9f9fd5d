# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written pipelines with subtle synchronization: race-free ones without findings in every schedule, and mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from pipeline_programs import (
    BEGIN,
    DONE,
    LATER,
    MEET,
    OWN,
    PROXY,
    RELEASE,
    RELEASE_OTHER,
    SYNC,
    WAIT_EMPTY,
    WAIT_FULL,
    apart,
    in_turn,
    multicast,
    persistent,
)
from smalti import sim

SOME = (sim.SCHEDULES[0], sim.SCHEDULES[3], sim.SCHEDULES[6], sim.SCHEDULES[9])


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(1).integers(-9, 9, shape).astype(np.float32)


TILES, ROWS, TURNS, SLOT = numbers((5, 3, 64)), numbers((5, 64)), numbers((2, 3, 128)), numbers((3, 256))
OF_TILES, OF_ROWS = TILES.sum(1)[:, ::-1], np.stack([ROWS.sum(0)[::-1]] * 2)
OF_TURNS = TURNS.sum(1)[:, ::-1]

SOUND = {
    "tiles": (persistent(), "sm_90a", TILES, OF_TILES),
    "tiles, two results on their way": (persistent(out=2), "sm_90a", TILES, OF_TILES),
    "tiles, three, one block": (persistent(out=3, grid=1), "sm_90a", TILES, OF_TILES),
    # The reads are complete, and no other agent has to see the writes before the kernel ends.
    "tiles, the last wait for reads": (
        persistent().replace(DONE, "nvvm.cp.async.bulk.wait_group 0 {read}"),
        "sm_90a",
        TILES,
        OF_TILES,
    ),
    "a cluster": (multicast(), "sm_90a", ROWS, OF_ROWS),
    "a cluster, three slots": (multicast(slots=3), "sm_90a", ROWS, OF_ROWS),
    "groups in turn": (in_turn(), "sm_90a", TURNS, OF_TURNS),
    "groups apart": (apart(), "gfx942", SLOT, SLOT),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_pipelines(name: str) -> None:
    text, chip, x, wanted = SOUND[name]
    made = sim.simulate(text, f"sim:{chip}")
    for schedule in sim.SCHEDULES:
        y = np.zeros(wanted.shape, np.float32)
        made(x, y, simulation=schedule)
        assert (y == wanted).all(), schedule


def changed(text: str, old: str, new: str = "") -> str:
    assert old in text
    return text.replace(old, new, 1)


WAIT_READ = "nvvm.cp.async.bulk.wait_group 0 {read}"
MISTAKES = {
    "tiles, a ring that starts again": (persistent(restart=True), "sm_90a", {"barrier", "race", "deadlock"}),
    "tiles, no wait for reads": (changed(persistent(), WAIT_READ), "sm_90a", {"race"}),
    "tiles, one that waits for reads": (changed(persistent(), MEET + " // the buffer is free"), "sm_90a", {"race"}),
    "tiles, one result too many": (
        changed(persistent(out=2, grid=1), "group 1 {read}", "group 2 {read}"),
        "sm_90a",
        {"race"},
    ),
    "tiles, no proxy fence": (changed(persistent(), PROXY), "sm_90a", {"missing-fence"}),
    "tiles, no last wait": (changed(persistent(), DONE), "sm_90a", {"leak"}),
    "tiles, no wait for a full slot": (changed(persistent(), WAIT_FULL), "sm_90a", {"race"}),
    "tiles, no wait for an empty slot": (changed(persistent(), WAIT_EMPTY), "sm_90a", {"race"}),
    "tiles, no release": (changed(persistent(), RELEASE), "sm_90a", {"deadlock"}),
    "a cluster, releases of its own": (changed(multicast(empty=64), RELEASE_OTHER), "sm_90a", {"race"}),
    "a cluster, the other's bytes": (multicast(size=128), "sm_90a", {"transaction"}),
    "a cluster, blocks that begin": (changed(multicast(), SYNC + " // begin", "gpu.barrier"), "sm_90a", {"barrier"}),
    "a cluster, blocks that end": (changed(multicast(), SYNC + " // end"), "sm_90a", {"leak"}),
    "groups in turn, who begins": (changed(in_turn(), BEGIN), "sm_90a", {"deadlock"}),
    "groups in turn, no barrier of their own": (changed(in_turn(), OWN), "sm_90a", {"race"}),
    "groups in turn, one number": (
        changed(in_turn(), "%is0, %i1, %i2", "%is0, %i1, %i1"),
        "sm_90a",
        {"barrier", "deadlock"},
    ),
    "groups apart, together": (changed(apart(), LATER), "gfx942", {"race"}),
    "groups apart, no wait": (
        changed(apart(), "amdgpu.memory_counter_wait ds(0) // written"),
        "gfx942",
        {"race"},
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_found_in_every_order(name: str) -> None:
    text, chip, wanted = MISTAKES[name]
    made = sim.simulate(text, f"sim:{chip}")
    for schedule in SOME:
        found = made.find(*made.random_arguments(), simulation=schedule)
        assert {finding.kind for finding in found} & wanted, (schedule, [str(finding) for finding in found])
        assert all(finding.location is not None and finding.hint for finding in found)
