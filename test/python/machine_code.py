# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A reader of AMD and NVIDIA machine code for tests of pipelined loops."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(r"^(\.LBB\d+_\d+):")
_BRANCH = re.compile(r"\bs_cbranch\w*\s+(\.LBB\d+_\d+)")
_LOADS = re.compile(r"(?:vmcnt\(|s_wait_loadcnt(?:_dscnt)? 0x|s_wait_(?:async|tensor)cnt 0x)([0-9a-f]+)")

_ARITHMETIC = re.compile(r"v_(?:pk_|dual_)?(?:fma|fmac|add|mul|max|min)(?:_num)?_f")
_SASS_LABEL = re.compile(r"(\.L_x_\d+):")
_SASS_BRANCH = re.compile(r"\bBRA\b.*\((\.L_x_\d+)\)")
_SASS = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)([^;]*)")
_SASS_KINDS = {"LDS": "read", "LDSM": "read", "STS": "store", "BAR": "barrier", "LDG": "load", "LDGSTS": "copy"}


@dataclass(frozen=True)
class Step:
    """One instruction. Kinds: `load` and `copy` (to shared memory) of global memory, `mma`, `arithmetic`
    (of floats, one lane at a time), `store` and `read` of shared memory, `barrier` and `wait`. A `wait` for loads has
    the number that stays in flight."""

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
        return Step("mma")
    if name.startswith(("ds_store", "ds_write")):
        return Step("store")
    if name.startswith(("ds_load", "ds_read")):
        return Step("read")
    if name in ("s_barrier", "s_barrier_wait"):
        return Step("barrier")
    if _ARITHMETIC.match(name):
        return Step("arithmetic")
    return None


def _loops(assembly: str, label: re.Pattern[str] = _LABEL, branch_to: re.Pattern[str] = _BRANCH) -> list[range]:
    """The lines from a label to a branch back to it."""
    lines = assembly.splitlines()
    labels = {match[1]: i for i, line in enumerate(lines) if (match := label.match(line))}
    branches = [(branch[1], i) for i, line in enumerate(lines) if (branch := branch_to.search(line))]
    loops = [range(labels[to], i) for to, i in branches if labels.get(to, i + 1) <= i]
    assert loops, "the program has no loop"
    return loops


def _steps(assembly: str, lines: range) -> list[Step]:
    steps = (_step(line) for line in assembly.splitlines()[lines.start : lines.stop])
    return [step for step in steps if step and step.kind != "arithmetic"]


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


def _sass_steps(lines: list[str]) -> list[Step]:
    """The steps of SASS. The first instruction that reads a register which an LDG writes waits for that LDG."""
    steps: list[Step] = []
    loaded: list[set[int]] = []
    for line in lines:
        if not (match := _SASS.search(line)):
            continue
        name, _, suffixes = match[1].partition(".")
        registers = [int(number) for number in re.findall(r"\bR(\d+)\b", match[2])]
        # The operand of a wide store is named by its first register.
        read = set(registers if name.startswith("ST") else registers[1:])
        if any(written & read for written in loaded):
            loaded = [written for written in loaded if not written & read]
            steps.append(Step("wait", len(loaded)))
        if name == "LDG":
            width = next((bits // 32 for bits in (64, 128, 256) if str(bits) in suffixes.split(".")), 1)
            loaded.append(set(range(registers[0], registers[0] + width)))
        if name == "DEPBAR" and (left := re.search(r"SB0, (0x[0-9a-f]+)", match[2])):
            steps.append(Step("wait", int(left[1], 16)))
        elif name in ("HMMA", "IMMA", "DMMA", "QMMA", "HGMMA"):
            steps.append(Step("mma"))
        elif re.fullmatch("F(FMA|ADD|MUL|MNMX)2?", name):
            steps.append(Step("arithmetic"))
        elif name in _SASS_KINDS:
            steps.append(Step(_SASS_KINDS[name]))
    return steps


def overlapped(assembly: str, kind: str) -> float:
    """The part of a pipelined loop's `kind` of steps that runs while loads or copies of a later iteration are in
    flight. These are in flight after they are issued and before a wait covers all of them. The assembly is that of an
    AMD (GCN) or NVIDIA (SASS) chip."""
    lines = assembly.splitlines()
    if ".amdgcn_target" in assembly:
        bodies = [lines[loop.start : loop.stop] for loop in _loops(assembly)]
        loops = [[step for line in body * 2 if (step := _step(line))] for body in bodies]
    else:
        bodies = [lines[loop.start : loop.stop + 1] for loop in _loops(assembly, _SASS_LABEL, _SASS_BRANCH)]
        loops = [_sass_steps(body * 2) for body in bodies]
    parts = [0.0]
    for steps in loops:
        # The second of two iterations is the steady state.
        in_flight, during = 0, []
        for step in steps:
            if step.kind in ("load", "copy"):
                in_flight += 1
            elif step.kind == "wait":
                in_flight = min(in_flight, step.left)
            elif step.kind == kind:
                during.append(in_flight > 0)
        steady = during[len(during) // 2 :]
        parts.append(sum(steady) / len(steady) if steady else 0.0)
    return max(parts)
