# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of one kernel on one chip, from its machine code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import _isa_run
from _isa_code import MEMORY, Code, Loop, count, multiply_accumulates
from smalti import targets
from smalti.transfers import bank_cost


def figures(code: Code, warps: int, blocks: Sequence[int], chip: str) -> dict[str, Any]:
    """Executed instructions of all warps of these blocks: all, by kind, of each loop, and by the width of accesses; and
    the bank conflicts of the loops."""
    wave_size = targets.get(chip).wave_size
    of_warps = {
        (block, warp): _isa_run.execute(code, warp, block, wave_size) for block in blocks for warp in range(warps)
    }
    runs = list(of_warps.values())
    total = [sum(run.executed[i] for run in runs) for i in range(len(code.instructions))]
    widths: dict[str, dict[str, int]] = {"global": defaultdict(int), "shared": defaultdict(int)}
    for instruction, times in zip(code.instructions, total, strict=True):
        if times and instruction.kind in MEMORY:
            name = f"{instruction.kind} {instruction.bytes or 'tile'}"
            widths[MEMORY[instruction.kind]][name] += times
    mmas = [(i, n) for i, n in zip(code.instructions, total, strict=True) if n and i.kind == "mma"]
    work = [multiply_accumulates(i) for i, _ in mmas]
    loops = []
    bodies = steady_loops(code, runs)
    for loop in bodies:
        iterations = [run.executed[loop.header] for run in runs]
        loops.append(
            {
                "first": loop.header,
                "iterations": sum(iterations),
                "warps": sum(n > 0 for n in iterations) / len(blocks),
                "kinds": count((code.instructions[i].kind, total[i]) for i in loop.body),
                "mma": sum(total[i] for i in loop.body if code.instructions[i].kind == "mma"),
            }
        )
    return {
        "text": len(code.instructions),
        "executed": sum(total),
        "kinds": count((instruction.kind, n) for instruction, n in zip(code.instructions, total, strict=True)),
        "loops": loops,
        "widths": {memory: dict(sorted(found.items())) for memory, found in widths.items()},
        "banks": bank_conflicts(code, of_warps, chip, bodies),
        "multiply-accumulates": None if None in work else sum(w * n for w, (_, n) in zip(work, mmas, strict=True) if w),
        "undecided": sum(run.undecided for run in runs),
    }


def bank_conflicts(
    code: Code, runs: Mapping[tuple[int, int], _isa_run.Counts], chip: str, bodies: Sequence[Loop]
) -> dict[str, int]:
    """Cycles that the shared memory takes for the accesses of all warps in these loops: all, and those due to
    bank conflicts, by the compiler's bank model. The runs are by block and warp. The addresses of the first iteration stand for all; `unknown` counts
    executed accesses whose addresses are unknown. A matrix load or store accesses rows of 16 bytes. Accesses without
    an address per lane are not counted: copies of TMA, copies to LDS, operands of `wgmma`."""
    copies = ("copy",) if code.vendor == "nvidia" else ()
    kinds = ("shared load", "shared store", *copies)
    rest = {
        i for loop in bodies for i in loop.body if code.instructions[i].kind in kinds and code.instructions[i].bytes
    }
    result = {"cycles": 0, "conflicts": 0, "unknown": 0}
    while rest:
        # The warp that executes the most of them; warps can have different code.
        block, warp = max(runs, key=lambda which: sum(runs[which].executed[i] > 0 for i in rest))
        wanted = {i for i in rest if runs[block, warp].executed[i]}
        if not wanted:
            break
        rest -= wanted
        addresses = _isa_run.shared_addresses(code, warp, block, targets.get(chip).wave_size, wanted)
        for i in sorted(wanted):
            instruction, times = code.instructions[i], sum(run.executed[i] for run in runs.values())
            result["unknown"] += 0 if i in addresses else times
            for part in addresses.get(i, []):
                bytes_ = instruction.bytes // len(addresses[i])
                if instruction.name.startswith(("LDSM", "STSM")):
                    # Lanes 8 n to 8 n + 7 have the addresses of the rows of matrix n.
                    part, bytes_ = part[: 2 * bytes_], 16
                cycles, conflicts = bank_cost(chip, bytes_, instruction.kind == "shared load", part)
                result["cycles"] += times * cycles
                result["conflicts"] += times * conflicts
    return result


def steady_loops(code: Code, runs: Sequence[_isa_run.Counts]) -> list[Loop]:
    """The loops that some warp repeats, and that do not have another such loop inside."""
    repeated = [
        loop for loop in code.loops if any(run.executed[loop.header] > run.entries.get(loop.header, 0) for run in runs)
    ]
    return [loop for loop in repeated if not any(other.body < loop.body for other in repeated)]


def loop_text(code: Code, first: int) -> list[str]:
    """The instructions of a loop, as text."""
    body = next((loop.body for loop in code.loops if loop.header == first), frozenset[int]())
    return [code.instructions[i].text for i in sorted(body)]
