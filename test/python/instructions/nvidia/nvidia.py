# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of single NVVM intrinsics, each in a kernel of its own, on operands per thread."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import smalti
from helpers import Array
from smalti import emulator

TARGET = "emu:sm_80"
"""The emulator runs each instruction for every chip; code generation or ptxas checks whether a chip has it."""
HEADER = 'target triple = "nvptx64-nvidia-cuda"\n'
LATE_AND_EARLY = tuple(s for s in emulator.SCHEDULES if s.order == emulator.SCHEDULES[0].order)


_NUMPY: dict[str, tuple[Any, int]] = {
    "i1": (np.uint8, 1),
    "i8": (np.uint8, 1),
    "i16": (np.uint16, 1),
    "i32": (np.uint32, 1),
    "i64": (np.uint64, 1),
    "half": (np.float16, 1),
    "bfloat": (np.uint16, 1),
    "float": (np.float32, 1),
    "double": (np.float64, 1),
    "<2 x half>": (np.float16, 2),
    "<2 x bfloat>": (np.uint16, 2),
}


def numpy_type(ty: str) -> np.dtype[Any]:
    return np.dtype(_NUMPY[ty][0])


def _stored(ty: str) -> tuple[np.dtype[Any], int]:
    dtype, count = _NUMPY[ty]
    return np.dtype(dtype), count


@dataclass(frozen=True)
class Call:
    """One intrinsic: its types, and for each operand what every thread gives, or an immediate."""

    results: tuple[str, ...]
    types: tuple[str, ...]
    operands: tuple[Array | str, ...]

    @property
    def threads(self) -> int:
        return next(len(o) for o in self.operands if isinstance(o, np.ndarray))


def call(results: str | Sequence[str], *operands: tuple[str, Array | str | int]) -> Call:
    made = (results,) if isinstance(results, str) else tuple(results)
    values = tuple(o if isinstance(o, (str, np.ndarray)) else str(o) for _, o in operands)
    return Call(made, tuple(ty for ty, _ in operands), values)


def _load(lines: list[str], at: str, index: int, ty: str) -> str:
    size = _stored(ty)[0].itemsize * _stored(ty)[1]
    lines.append(f"  %i{index} = getelementptr [{size} x i8], ptr {at}, i64 %thread")
    if ty == "i1":
        lines.append(f"  %b{index} = load i8, ptr %i{index}\n  %v{index} = trunc i8 %b{index} to i1")
    else:
        lines.append(f"  %v{index} = load {ty}, ptr %i{index}, align 1")
    return f"%v{index}"


def _store(lines: list[str], at: str, index: int, ty: str, value: str) -> None:
    size = _stored(ty)[0].itemsize * _stored(ty)[1]
    lines.append(f"  %o{index} = getelementptr [{size} x i8], ptr {at}, i64 %thread")
    if ty == "i1":
        lines.append(f"  %w{index} = zext i1 {value} to i8")
        ty, value = "i8", f"%w{index}"
    lines.append(f"  store {ty} {value}, ptr %o{index}, align 1")


def _callee(name: str) -> str:
    """How IR calls a name of the emulator's table."""
    if not name.startswith("asm:"):
        return f"@{name}"
    text = "".join(c if c.isprintable() and c not in '"\\' else f"\\{ord(c):02X}" for c in name[4:])
    return f'asm "{text}"'


def _kernel(symbol: str, name: str, made: Call) -> str:
    lines: list[str] = []
    values = []
    parameters = []
    for index, (ty, operand) in enumerate(zip(made.types, made.operands, strict=True)):
        if isinstance(operand, str):
            values.append(f"{ty} {operand}")
        else:
            parameters.append(f"ptr %a{index}")
            values.append(f"{ty} {_load(lines, f'%a{index}', index, ty)}")
    returned = made.results[0] if len(made.results) == 1 else f"{{ {', '.join(made.results)} }}"
    callee = _callee(name)
    if name.startswith("asm:"):
        letters = {"i64": "l", "float": "f", "double": "d", "i16": "h", "half": "h", "bfloat": "h"}
        outputs = [f"={letters.get(ty, 'r')}" for ty in made.results]
        callee += f', "{",".join(outputs + [letters.get(ty, "r") for ty in made.types])}"'
    lines.append(f"  %r = call {returned} {callee}({', '.join(values)})")
    for index, ty in enumerate(made.results):
        value = "%r"
        if len(made.results) > 1:
            value = f"%f{index}"
            lines.append(f"  {value} = extractvalue {returned} %r, {index}")
        parameters.append(f"ptr %out{index}")
        _store(lines, f"%out{index}", index, ty, value)
    body = "\n".join(lines)
    return f"""define ptx_kernel void @{symbol}({", ".join(parameters)}) {{
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %base = mul i32 %block, %size
  %thread32 = add i32 %base, %tid
  %thread = zext i32 %thread32 to i64
{body}
  ret void
}}
"""


def _declaration(name: str, made: Call) -> str:
    if name.startswith("asm:"):
        return ""
    returned = made.results[0] if len(made.results) == 1 else f"{{ {', '.join(made.results)} }}"
    return f"declare {returned} @{name}({', '.join(made.types)})\n"


_REGISTERS = "".join(f"declare i32 @llvm.nvvm.read.ptx.sreg.{r}()\n" for r in ("tid.x", "ctaid.x", "ntid.x"))


def run(calls: Mapping[str, Call]) -> dict[str, list[Array]]:
    """The results of each, one array per field: a row for each thread, 32 in a block."""
    text = HEADER
    for name, made in calls.items():
        declared = _declaration(name, made)
        text += declared if declared not in _REGISTERS else ""
    text += _REGISTERS
    for index, (name, made) in enumerate(calls.items()):
        text += _kernel(f"k{index}", name, made)
    module = emulator.load(text, TARGET)
    found: dict[str, list[Array]] = {}
    for index, (name, made) in enumerate(calls.items()):
        threads = made.threads
        inputs = []
        for ty, operand in zip(made.types, made.operands, strict=True):
            if isinstance(operand, np.ndarray):
                dtype, count = _stored(ty)
                raw = np.ascontiguousarray(operand)
                assert raw.nbytes == threads * dtype.itemsize * count, (name, ty, raw.shape, raw.dtype)
                inputs.append(raw.view(np.uint8).reshape(-1))
        outputs = []
        for ty in made.results:
            dtype, count = _stored(ty)
            shape = (threads, count) if count > 1 else (threads,)
            outputs.append(np.frombuffer(b"\xee" * (threads * dtype.itemsize * count), dtype).reshape(shape).copy())
        block = 32 if threads % 32 == 0 else threads
        module.launch(threads // block, block, *inputs, *outputs, kernel=f"k{index}")
        found[name] = outputs
    return found


def run_kernel(text: str, block: int | Sequence[int], *arguments: Any, grid: int = 1, **options: Any) -> None:
    """Runs the one kernel of a text without its header."""
    emulator.load(HEADER + text, TARGET).launch(grid, block, *arguments, **options)


def text(opcode: str, operands: int = 2) -> str:
    """A name for a statement of inline assembly with one result."""
    return f"asm:{opcode} {', '.join(f'${i}' for i in range(operands + 1))};"


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """The entries of the emulator's table for NVIDIA: without AMD's, and those of all devices."""
    executable = Path(smalti.__file__).parent / "_emulator" / "smalti-emulator"
    listed = subprocess.run([executable, "--list"], capture_output=True, text=True, check=True).stdout
    entries = [json.loads(line) for line in listed.splitlines()]
    return {
        e["name"]: e for e in entries if not re.match(r"llvm\.(?!nvvm\.)|\*?__ockl_|smalti\.amdgcn\.|asm:v_", e["name"])
    }


_OF_THE_REWRITER = re.compile(
    r"(mov|setp|selp|bra|add|sub|mul|mad|addc|subc|madc|and|or|xor|not|sh[lr]|cvta|lop3)(?!.*\.b?f)(\.|$)|setp|selp"
    r"|cvt\.[su]\d+\.[su]\d+$"
)
"""Statements that become code of LLVM's."""


def opcodes(name: str) -> set[str]:
    """The table entries of a string of inline assembly (`asm:...`); any other name is returned unchanged."""
    if not name.startswith("asm:") or ";" not in name:
        return {name}
    statements = re.split(r"[;{}\n]|\bLAB_WAIT:|\bDONE:", re.sub(r"\{[^{};]*\}", "", name[4:]))
    found = {re.sub(r"^@!?\S+\s+", "", s.strip()).split()[0] for s in statements if s.strip()}
    return {f"asm:{opcode}" for opcode in found if not opcode.startswith(".") and not _OF_THE_REWRITER.match(opcode)}


def seeded(name: str) -> np.random.Generator:
    """Numbers that are the same in every run, and others for every name."""
    return np.random.default_rng([ord(c) for c in name])
