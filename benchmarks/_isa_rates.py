# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures that follow from counted instructions: per amount of work, occupancy, and bounds of the loops' time."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from typing import Any

from _isa_code import KINDS
from smalti import targets, toolchain

# Resident warps per SM (CUDA's programming guide, compute capabilities), or waves per CU: those per SIMD (LLVM's AMDGPU
# backend) on its SIMDs, of which RDNA has two.
_RESIDENT = (
    ("sm_120", 48),
    ("sm_86", 48),
    ("sm_89", 48),
    ("sm_", 64),
    ("gfx9", 4 * 8),
    ("gfx125", 4 * 16),
    ("gfx", 2 * 16),
)


def occupancy(chip: str, registers: int, shared: int, warps: int) -> int:
    """Warps per SM or CU that registers, shared memory and the number of threads allow. Sizes that the target table does not
    have do not limit."""
    target = targets.get(chip)
    timing = target.timing
    # Registers per thread are allocated in groups (LLVM's AMDGPU backend; CUDA's occupancy calculator).
    group = 24 if chip.startswith(("gfx11", "gfx120")) else 16 if chip.startswith("gfx125") else 8
    per_block = -(-max(registers, 1) // group) * group * target.wave_size * warps
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


def rates(found: dict[str, Any], is_matmul: bool, amount: float) -> dict[str, Any]:
    """Executed instructions divided by what the blocks compute: `rate` of the whole kernel, `loop rate` of its loops.

    Without the MMAs for a matmul, and those of its loops divided by the multiply-accumulates of the MMAs in the loops.
    """
    mmas = found["kinds"].get("mma", 0)
    loops = found["loops"]
    in_loops = {kind: sum(loop["kinds"].get(kind, 0) for loop in loops) for kind in KINDS}
    if not is_matmul:
        executed = sum(in_loops.values())
        return {"rate": found["executed"] / amount, "loop rate": executed / amount if executed else None}
    counted = found.get("multiply-accumulates")
    # A loop without MMAs belongs to a producer warp: its instructions feed the MMAs of the other loops.
    others = sum(in_loops.values()) - in_loops["mma"]
    share = in_loops["mma"] / mmas if mmas else 0
    result: dict[str, Any] = {
        "rate": (found["executed"] - mmas) / amount,
        "loop rate": others / (share * amount) if share else None,
        "MMA work": counted / 4096 / amount if counted else None,
    }
    if share:
        result["loop kinds"] = {kind: number / (share * amount) for kind, number in in_loops.items() if number}
        banks = found.get("banks", {})
        result["bank cycles"], result["conflicts"] = (
            None if banks.get("unknown") or not banks else banks[name] / (share * amount)
            for name in ("cycles", "conflicts")
        )
    return result


# The instructions of AMD GPUs that one SIMD can issue in the same cycle are of different kinds and waves.
_ISSUED_TOGETHER = (
    ("mma", "float", "special", "convert", "integer", "move", "shuffle"),
    ("scalar",),
    ("load", "store", "copy", "atomic", "spill"),
    ("shared load", "shared store"),
    ("branch",),
)


def issue_bound(chip: str, type_: str, kinds: dict[str, float]) -> float | None:
    """The cycles in which one of the parts of an SM or CU issues these instructions, divided by those that its matrix unit takes
    for 4096 multiply-accumulates. Above 1, issue slots and not the matrix unit limit the speed. None if the rate is unknown.

    An NVIDIA SM part issues one instruction per cycle. A SIMD of an AMD GPU issues one of each kind per cycle, from
    different waves; on CDNA, a wave of 64 takes four cycles."""
    target = targets.get(chip)
    timing = target.timing
    known = None
    if timing:
        by_bits = {"tf32": timing.tf32_macs, "fp8": timing.eight_bit_macs, "i8": timing.eight_bit_macs}
        known = None if type_ == "f32" else by_bits.get(type_, timing.f16_macs)
    if known is None:
        names = {"fp8": ("f8E4M3FN", "f8E4M3FNUZ")}.get(type_, (type_,))
        found = [
            mma.macs_per_cycle or 0
            for mma in target.mmas
            if mma.kind != "fma" and mma.a in names and mma.accumulator in ("f32", "i32")
        ]
        known = max(found, default=0)
    if not known:
        return None
    if target.vendor == "nvidia":
        cycles = sum(kinds.values())
    else:
        cycles = max(sum(kinds.get(kind, 0) for kind in group) for group in _ISSUED_TOGETHER)
        cycles *= target.wave_size // 16 if target.wave_size == 64 else 1
    parts = 2 if chip.startswith(("gfx11", "gfx120")) else 4
    return cycles / (4096 * parts / known)


def mca_cycles(chip: str, lines: Sequence[str]) -> float | None:
    """The cycles of one iteration of a loop on an otherwise idle SIMD, as llvm-mca computes them; None where it cannot."""
    tool = toolchain.find_llvm_tool("llvm-mca")
    if tool is None or targets.get(chip).vendor != "amd":
        return None
    iterations = 20
    command = [tool.path, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}", f"-iterations={iterations}", "-"]
    text = "\n".join(lines) + "\n"
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=10)
    except subprocess.TimeoutExpired:
        # llvm-mca does not end on some loops.
        return None
    cycles = re.search(r"^Total Cycles:\s+(\d+)", done.stdout, re.MULTILINE)
    return int(cycles[1]) / iterations if cycles and not done.returncode else None
