# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The processor of this machine, for keys of code that it runs: other machines may share a cache."""

from __future__ import annotations

import functools
import platform
from pathlib import Path

_IDENTITY = {
    *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features"),
}
"""Lines of /proc/cpuinfo that are equal on machines with the same processor; others are frequencies and core numbers."""


@functools.cache
def host_processor() -> str:
    """The architecture, and what Linux reports about the processor. Without it, the name of the machine."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.node()}"
    # Cores may differ.
    found = sorted({line for line in lines if line.partition(":")[0].strip() in _IDENTITY})
    return "\n".join([platform.machine(), *found])
