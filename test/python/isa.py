"""Reads the assembly of AMD's chips as far as tests of pipelined loops need it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(r"^(\.LBB\d+_\d+):")
_BRANCH = re.compile(r"\bs_cbranch\w*\s+(\.LBB\d+_\d+)")
_LOADS = re.compile(r"(?:vmcnt\(|s_wait_loadcnt(?:_dscnt)? 0x|s_wait_asynccnt 0x)([0-9a-f]+)")


@dataclass(frozen=True)
class Step:
    """One instruction: `load` and `copy` (to LDS) of global memory, `product`, `store` and `read` of LDS, `barrier`, or
    `wait` for loads, with how many it leaves in flight."""

    kind: str
    left: int = -1


def _step(line: str) -> Step | None:
    words = line.split(";")[0].split()
    if not words:
        return None
    name = words[0]
    if (wait := _LOADS.search(line)) and name.startswith(("s_waitcnt", "s_wait_")):
        split = name != "s_waitcnt"
        number = int(wait[1], 16 if split else 10)
        return Step("wait", number >> 8 if "_dscnt" in name else number)
    if name.startswith(("buffer_load", "global_load", "flat_load")):
        return Step("copy" if "_lds" in name or words[-1] == "lds" else "load")
    if name.startswith(("v_mfma", "v_wmma")):
        return Step("product")
    if name.startswith(("ds_store", "ds_write")):
        return Step("store")
    if name.startswith(("ds_load", "ds_read")):
        return Step("read")
    if name in ("s_barrier", "s_barrier_wait"):
        return Step("barrier")
    return None


def loop_body(assembly: str) -> list[Step]:
    """The steps of the longest loop."""
    lines = assembly.splitlines()
    labels = {match[1]: i for i, line in enumerate(lines) if (match := _LABEL.match(line))}
    loops = []
    for end, line in enumerate(lines):
        branch = _BRANCH.search(line)
        if branch and labels.get(branch[1], end + 1) <= end:
            loops.append(lines[labels[branch[1]] : end])
    assert loops, "the program has no loop"
    return [step for line in max(loops, key=len) if (step := _step(line))]


def number(assembly: str, name: str) -> int:
    """A number of the kernel's metadata."""
    found = re.search(rf"^\s*(?:- )?\.{name}:\s+(\d+)$", assembly, re.MULTILINE)
    assert found, f"there is no .{name}"
    return int(found[1])
