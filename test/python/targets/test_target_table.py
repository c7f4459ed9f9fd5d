# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The chip table in Python."""

from __future__ import annotations

import json

import pytest
import smalti
from smalti import targets
from smalti._mlir_libs import _smalti


def test_the_first_chips_are_in_the_table() -> None:
    wanted = "sm_80 sm_89 sm_90a sm_100a sm_103a sm_120a sm_121a gfx90a gfx942 gfx950 gfx1100 gfx1201 gfx1250 cpu"
    assert set(wanted.split()) <= set(targets.names())


def test_no_fact_of_the_table_is_dropped() -> None:
    table = json.loads(_smalti.targets_json())
    assert targets.names() == [entry["name"] for entry in table]
    for entry in table:
        target = targets.get(entry["name"])
        for key in entry:
            assert hasattr(target, targets._snake(key)), key
        for mma, read in zip(entry.get("mmas", ()), target.mmas, strict=True):
            for key in ("m", "n", "k"):
                assert getattr(read, key) == mma[key]


def test_types_and_values() -> None:
    hopper = targets.get("sm_90a")
    assert hopper.vendor == "nvidia" and hopper.wave_size == 32 and hopper.is_gpu
    assert hopper.shared_memory_per_block == 232448
    assert targets.get("gfx942").wave_size == 64
    assert not targets.get("cpu").is_gpu
    assert targets.get(hopper) is hopper
    with pytest.raises(smalti.TargetError):
        targets.get("")


@pytest.mark.parametrize(
    ("capability", "target"),
    [
        ((8, 0), "sm_80"),
        ((8, 9), "sm_89"),
        ((9, 0), "sm_90a"),
        ((10, 0), "sm_100a"),
        ((12, 1), "sm_121a"),
        ((7, 0), None),
    ],
)
def test_best_target_for_a_gpu(capability: tuple[int, int], target: str | None) -> None:
    found = targets.for_compute_capability(*capability)
    assert (found.name if found else None) == target


def test_architecture_specific_code_runs_on_its_chip_only() -> None:
    assert targets.runs_on_compute_capability(targets.get("sm_90a"), 9, 0)
    assert not targets.runs_on_compute_capability(targets.get("sm_100a"), 10, 3)
    assert targets.runs_on_compute_capability(targets.get("sm_80"), 8, 9)
    assert not targets.runs_on_compute_capability(targets.get("sm_89"), 8, 0)
    assert not targets.runs_on_compute_capability(targets.get("gfx942"), 9, 4)
