# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assembly of pipelined loops: loads in flight during computation, waits that leave copies in flight, no spills."""

from __future__ import annotations

import itertools
import re

import pytest
import smalti
from machine_code import Step, loop_body, number, overlapped
from smalti import targets, toolchain
from test_gpu_numerics import matmul
from thread_kernels import GROUPS, REGISTERS, kernel

AMD = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"]
ROWS = {"rows of 16 bytes": (512, 256, 1024), "rows of 8 bytes": (500, 260, 1012)}
TILE = (128, 128, 64)


def assembly(target: str, rows: str, tile: tuple[int, int, int] = TILE, **options: object) -> str:
    source = matmul(ROWS[rows], tile, start="zero")
    return smalti.compile(source, target=target, **options).asm["gcn"]


NVIDIA = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]


def machine_code(compiled: smalti.Kernel, target: str) -> str:
    if target in AMD:
        return compiled.asm["gcn"]
    if not (toolchain.find_ptxas() and toolchain.find_nvdisasm()):
        pytest.skip("needs ptxas and nvdisasm (tools/requirements-nvidia.txt)")
    return compiled.asm["sass"]


def kinds(steps: list[Step]) -> list[str]:
    return [step.kind for step in steps]


# Reads into registers.


@pytest.mark.grid(6)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("target", AMD)
def test_prefetches_are_issued_first_and_waited_for_last(target: str, rows: str) -> None:
    body = loop_body(assembly(target, rows, copies="registers"))
    order = kinds(body)
    first_load = order.index("load")
    last_load = len(order) - 1 - order[::-1].index("load")
    assert last_load < order.index("mma") and last_load < order.index("read")
    # No wait for a load precedes the last read of LDS, and no store is issued earlier.
    last_read = len(order) - 1 - order[::-1].index("read")
    assert last_read < order.index("store")
    assert [step for step in body[first_load:last_read] if step.kind == "wait"] == []
    assert order[last_load : order.index("store")].count("mma") >= order.count("mma") // 4


@pytest.mark.grid(2)
@pytest.mark.parametrize("target", AMD)
def test_three_stages_wait_after_the_mmas(target: str) -> None:
    order = kinds(loop_body(assembly(target, "rows of 16 bytes", (128, 128, 32), copies="registers", stages=3)))
    # LLVM unrolls some of the loops.
    iterations = [list(run) for is_barrier, run in itertools.groupby(order, "barrier".__eq__) if not is_barrier]
    assert iterations
    for iteration in iterations:
        after = iteration[len(iteration) - iteration[::-1].index("mma") :]
        for kind in ("wait", "store", "load"):
            assert after.count(kind) == iteration.count(kind) > 0


@pytest.mark.grid(10)
@pytest.mark.parametrize("slots, stages", [(1, 2), (2, 2), (3, 3)])
@pytest.mark.parametrize("target", [*AMD, *NVIDIA])
def test_float_arithmetic_runs_while_the_next_tile_loads(target: str, slots: int, stages: int) -> None:
    compiled = smalti.compile(kernel(REGISTERS), target=target, depth=slots, stages=stages)
    assert overlapped(machine_code(compiled, target), "arithmetic") >= 0.8


@pytest.mark.grid(10)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("target", [*AMD, *NVIDIA])
def test_matmuls_run_while_the_next_tile_loads(target: str, rows: str) -> None:
    rows_, columns, depth = ROWS[rows]
    # ptxas unrolls short loops entirely.
    source = matmul((rows_, columns, depth if target in AMD else 8 * depth), TILE, start="zero")
    compiled = smalti.compile(source, target=target, copies="registers", matmul="mma")
    assert overlapped(machine_code(compiled, target), "mma") >= (0.9 if target in AMD else 0.5)


@pytest.mark.grid(3)
@pytest.mark.parametrize("target", AMD)
def test_the_hint_is_optional(target: str) -> None:
    held, free = (assembly(target, "rows of 8 bytes", copies="registers", hold_loads=hold) for hold in (True, False))
    assert held != free
    assert number(held, "vgpr_spill_count") <= number(free, "vgpr_spill_count")


# Copies to LDS.


@pytest.mark.grid(7)
@pytest.mark.parametrize("stages", [3, 4])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950", "gfx1250"])
def test_copies_stay_in_flight(target: str, rows: str, stages: int) -> None:
    # The largest tile of which that many slots fit.
    limit = targets.get(target).shared_memory_per_block
    size = next(size for size in (128, 64) if stages * 256 * size <= limit)
    body = loop_body(assembly(target, rows, (size, size, 64), copies="async", stages=stages, depth=stages))
    order = kinds(body)
    copies = order.count("copy")
    assert copies and "load" not in order and "store" not in order
    waits = [step.left for step in body if step.kind == "wait"]
    # One wait, for the oldest of the groups in flight, before the one barrier.
    assert waits == [min((stages - 2) * copies, 63)]
    assert order.index("wait") < order.index("barrier") < order.index("copy")
    assert order.count("barrier") == 1


@pytest.mark.parametrize("target", ["gfx950", "gfx1250"])
def test_copies_are_as_wide_as_rows_allow(target: str) -> None:
    wide = assembly(target, "rows of 16 bytes", copies="async")
    assert re.search(r"(load_dwordx4 .* lds|load_async_to_lds_b128)", wide)
    narrow = assembly(target, "rows of 8 bytes", copies="async")
    assert re.search(r"(load_dword .* lds|load_async_to_lds_b64)", narrow)


@pytest.mark.grid(3, cover=False)
@pytest.mark.parametrize("copies", ["registers", "async"])
@pytest.mark.parametrize("target", AMD)
def test_pipelining_spills_nothing(target: str, copies: str) -> None:
    for rows in ROWS:
        plain = assembly(target, rows, copies=copies, stages=1, depth=1)
        pipelined = assembly(target, rows, copies=copies)
        for spilled in ("vgpr_spill_count", "sgpr_spill_count"):
            assert number(pipelined, spilled) <= number(plain, spilled)


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("target", GROUPS.chips)
def test_float_arithmetic_runs_while_groups_are_copied(target: str, stages: int) -> None:
    compiled = smalti.compile(kernel(GROUPS), target=target, depth=stages, stages=stages)
    assert overlapped(machine_code(compiled, target), "arithmetic") >= 0.8


@pytest.mark.grid(4)
@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("target", NVIDIA)
def test_matmuls_run_while_groups_are_copied(target: str, stages: int) -> None:
    source = matmul((512, 256, 8192), TILE, start="zero")
    compiled = smalti.compile(source, target=target, stages=stages, depth=stages, copies="async", matmul="mma")
    assert overlapped(machine_code(compiled, target), "mma") >= 0.9


# NVIDIA.


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_wait_groups_count_exactly(target: str, stages: int) -> None:
    source = matmul((128, 128, 512), (64, 64, 32), start="zero")
    ptx = smalti.compile(source, target=target, stages=stages, depth=stages, matmul="mma").asm["ptx"]
    label = re.search(r"^\$L__BB0_\d+:", ptx, re.MULTILINE)
    assert label
    before, after = ptx[: label.start()], ptx[label.start() :]
    assert before.count("cp.async.commit_group") == stages - 1
    assert not re.findall(r"cp\.async\.wait_group", before)
    waits = [int(count) for count in re.findall(r"cp\.async\.wait_group\s+(\d+)", after)]
    # The loop leaves all but the oldest group in flight; after it there is one fewer from step to step.
    assert waits == [stages - 2, *range(stages - 2, -1, -1)]
