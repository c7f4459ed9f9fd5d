"""Reads the assembly of AMD's chips as far as tests of pipelined loops need it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(r"^(\.LBB\d+_\d+):")
_BRANCH = re.compile(r"\bs_cbranch\w*\s+(\.LBB\d+_\d+)")
_LOADS = re.compile(r"(?:vmcnt\(|s_wait_loadcnt(?:_dscnt)? 0x|s_wait_(?:async|tensor)cnt 0x)([0-9a-f]+)")


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
    if name == "tensor_load_to_lds":
        return Step("copy")
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


def _loops(assembly: str) -> list[range]:
    """The lines from a label to a branch back to it."""
    lines = assembly.splitlines()
    labels = {match[1]: i for i, line in enumerate(lines) if (match := _LABEL.match(line))}
    branches = [(branch[1], i) for i, line in enumerate(lines) if (branch := _BRANCH.search(line))]
    loops = [range(labels[to], i) for to, i in branches if labels.get(to, i + 1) <= i]
    assert loops, "the program has no loop"
    return loops


def _steps(assembly: str, lines: range) -> list[Step]:
    return [step for line in assembly.splitlines()[lines.start : lines.stop] if (step := _step(line))]


def all_steps(assembly: str) -> list[Step]:
    """The steps of the program, in the order of its text."""
    return _steps(assembly, range(len(assembly.splitlines())))


def loop_body(assembly: str) -> list[Step]:
    """The steps of the longest loop."""
    return _steps(assembly, max(_loops(assembly), key=len))


def inner_loops(assembly: str) -> list[list[Step]]:
    """The steps of each loop that has no other one inside."""
    loops = _loops(assembly)

    def holds_another(loop: range) -> bool:
        return any(loop.start <= other.start and other.stop <= loop.stop and loop != other for other in loops)

    return [_steps(assembly, loop) for loop in loops if not holds_another(loop)]


def number(assembly: str, name: str) -> int:
    """A number of the kernel's metadata."""
    found = re.search(rf"^\s*(?:- )?\.{name}:\s+(\d+)$", assembly, re.MULTILINE)
    assert found, f"there is no .{name}"
    return int(found[1])
