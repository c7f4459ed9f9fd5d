# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The targets of the fuzzer's kernels."""

from __future__ import annotations

from smalti import targets


def default_targets() -> list[str]:
    """The CPU, and one emulated chip for each kind of MMA and of wait."""
    chosen: dict[tuple[str, ...], str] = {}
    for target in targets.all():
        if target.is_gpu:
            chosen.setdefault((target.vendor, target.mmas[0].kind, target.barrier), targets.EMULATED + target.name)
    return ["cpu", *chosen.values()]
