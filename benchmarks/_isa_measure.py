# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of one kernel on one chip, from its machine code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import _isa_run
from _isa_code import MEMORY, Code, Loop, count, multiply_accumulates
from smalti import targets


def figures(code: Code, warps: int, blocks: Sequence[int], wave_size: int) -> dict[str, Any]:
    """Executed instructions of all warps of these blocks: all, by kind, of each loop, and by the width of accesses."""
    runs = [_isa_run.execute(code, warp, block, wave_size) for block in blocks for warp in range(warps)]
    total = [sum(run.executed[i] for run in runs) for i in range(len(code.instructions))]
    widths: dict[str, dict[str, int]] = {"global": defaultdict(int), "shared": defaultdict(int)}
    for instruction, times in zip(code.instructions, total, strict=True):
        if times and instruction.kind in MEMORY:
            name = f"{instruction.kind} {instruction.bytes or 'tile'}"
            widths[MEMORY[instruction.kind]][name] += times
    mmas = [(i, n) for i, n in zip(code.instructions, total, strict=True) if n and i.kind == "mma"]
    work = [multiply_accumulates(i) for i, _ in mmas]
    loops = []
    for loop in steady_loops(code, runs):
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
        "multiply-accumulates": None if None in work else sum(w * n for w, (_, n) in zip(work, mmas, strict=True) if w),
        "undecided": sum(run.undecided for run in runs),
    }


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


# Resident warps per SM (CUDA's programming guide, compute capabilities), or waves per CU or WGP, four SIMDs each (LLVM's
# AMDGPU backend, waves per SIMD).
_RESIDENT = (("sm_120", 48), ("sm_86", 48), ("sm_89", 48), ("sm_", 64), ("gfx9", 4 * 8), ("gfx", 4 * 16))


def occupancy(chip: str, registers: int, shared: int, warps: int) -> int:
    """Warps per SM, CU or WGP that registers, shared memory and the number of threads allow. Registers are allocated in
    groups of 8 per thread. Sizes that the target table does not have do not limit."""
    target = targets.get(chip)
    timing = target.timing
    per_block = -(-max(registers, 1) // 8) * 8 * target.wave_size * warps
    limits = [target.registers_per_unit // per_block] if target.registers_per_unit else []
    if shared:
        unit = (
            timing.shared_memory_per_unit
            if timing and timing.shared_memory_per_unit
            else target.shared_memory_per_block
        )
        reserved = (timing.shared_memory_reserved or 0) if timing else 0
        limits.append(unit // (shared + reserved) if unit > target.shared_memory_per_block else unit // shared)
    limits.append(next(number for prefix, number in _RESIDENT if chip.startswith(prefix)) // warps)
    return min(limits, default=0) * warps


def rates(found: dict[str, Any], is_matmul: bool, amount: float) -> dict[str, float | None]:
    """Executed instructions divided by what the blocks compute: `rate` of the whole kernel, `loop rate` of its loops.

    Without the MMAs for a matmul, and those of its loops divided by the multiply-accumulates of the MMAs in the loops.
    """
    mmas = found["kinds"].get("mma", 0)
    if not is_matmul:
        in_loops = sum(sum(loop["kinds"].values()) for loop in found["loops"])
        return {"rate": found["executed"] / amount, "loop rate": in_loops / amount if in_loops else None}
    counted = found.get("multiply-accumulates")
    with_mma = [loop for loop in found["loops"] if loop["mma"]]
    # A loop without MMAs belongs to a producer warp: its instructions feed the MMAs of the other loops.
    others = sum(sum(loop["kinds"].values()) - loop["mma"] for loop in found["loops"])
    share = sum(loop["mma"] for loop in with_mma) / mmas if mmas else 0
    return {
        "rate": (found["executed"] - mmas) / amount,
        "loop rate": others / (share * amount) if share else None,
        "MMA work": counted / 4096 / amount if counted else None,
    }
