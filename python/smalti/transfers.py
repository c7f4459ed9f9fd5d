# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of transfers between registers and shared memory, and of relayouts between register layouts.

    memory = MemoryLayout([64, 64], tile=[8, 64], swizzle_bytes=128)
    plan = plan_transfer(named_layout("WGMMA"), memory, 16, "sm_90a", conflict_free=True)
    plan.address(thread=3, access=0)

A plan is data: the instruction and address of each access, and its bank conflicts on the chip. If no plan exists, the
functions raise a ValueError with the reason.
"""

from __future__ import annotations

from ._mlir_libs._smalti import (
    Access,
    MemoryLayout,
    RelayoutCost,
    RelayoutPlan,
    TransferPlan,
    bank_cost,
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
    "bank_cost",
    "is_transfer_in_jax",
    "plan_relayout",
    "plan_relayout_steps",
    "plan_transfer",
]
