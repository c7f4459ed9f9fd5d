"""How vectors get from registers to shared memory, and from one layout in registers to another.

    memory = MemoryLayout([64, 64], tile=[8, 64], swizzle_bytes=128)
    plan = plan_transfer(named_layout("WGMMA"), memory, 16, "sm_90a", conflict_free=True)
    plan.address(thread=3, access=0)

A plan is data: what is moved by which instruction, from which address, and what the banks of the chip make of it. Where
there is none, a ValueError says why.
"""

from __future__ import annotations

from ._mlir_libs._smalti import (
    Access,
    MemoryLayout,
    RelayoutCost,
    RelayoutPlan,
    TransferPlan,
    is_transfer_in_jax,
    plan_relayout,
    plan_relayout_steps,
    plan_transfer,
)

__all__ = [
    "Access",
    "MemoryLayout",
    "RelayoutCost",
    "RelayoutPlan",
    "TransferPlan",
    "is_transfer_in_jax",
    "plan_relayout",
    "plan_relayout_steps",
    "plan_transfer",
]
