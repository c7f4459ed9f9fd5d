# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures that follow from counted instructions: per unit of work, occupancy, and bounds of the loops' time."""

from __future__ import annotations

from typing import Any

from smalti import targets

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
