# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of one AMDGPU intrinsic, with operands and results for each lane."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from smalti import emulator, targets

_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8}


def size_of(ty: str) -> int:
    """Bytes of a type in memory; an `i1` takes one, and so do the fields of a struct."""
    if ty.startswith("{"):
        return sum(size_of(field) for field in _fields(ty))
    if match := re.fullmatch(r"<(\d+) x (.+)>", ty):
        return int(match[1]) * size_of(match[2])
    if match := re.fullmatch(r"i(\d+)", ty):
        return max(int(match[1]) // 8, 1)
    return _BYTES[ty.split()[0]]


def _fields(ty: str) -> list[str]:
    return re.findall(r"<[^>]+>|[a-z][a-z0-9]*", ty)


def lanes(chip: str) -> int:
    return targets.get(chip).wave_size


def _mangled(ty: str) -> str:
    """How LLVM appends a type to a name."""
    if match := re.fullmatch(r"<(\d+) x (.+)>", ty):
        return f"v{match[1]}{_mangled(match[2])}"
    if match := re.fullmatch(r"ptr addrspace\((\d+)\)", ty):
        return f"p{match[1]}"
    return {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}.get(ty, ty)


def mangle(name: str, *types: str) -> str:
    return ".".join([name, *map(_mangled, types)])


Operand = tuple[str, "np.ndarray[Any, Any] | str | int"]
"""A type, and a row for each lane, or an immediate."""


def module(name: str, result: str | None, operands: Sequence[Operand], active: int | None = None) -> str:
    """A kernel that calls the intrinsic with what each lane finds in its arguments."""
    lines, values, parameters = [], [], []

    def place(index: int, ty: str) -> str:
        lines.append(f"  %at{index} = mul i32 %lane, {size_of(ty)}")
        lines.append(f"  %p{index} = getelementptr i8, ptr addrspace(1) %a{index}, i32 %at{index}")
        parameters.append(f"ptr addrspace(1) %a{index}")
        return f"%p{index}"

    for index, (ty, value) in enumerate(operands):
        if isinstance(value, (str, int)):
            values.append(f"{ty} {value}")
            continue
        address = place(index, ty)
        if ty == "i1":
            lines.append(f"  %b{index} = load i8, ptr addrspace(1) {address}, align 1")
            lines.append(f"  %v{index} = trunc i8 %b{index} to i1")
        elif ty.startswith("ptr addrspace(3)"):
            lines.append(f"  %b{index} = load i32, ptr addrspace(1) {address}, align 1")
            lines.append(f"  %v{index} = inttoptr i32 %b{index} to {ty}")
        else:
            lines.append(f"  %v{index} = load {ty}, ptr addrspace(1) {address}, align 1")
        values.append(f"{ty} %v{index}")
    call = f"call {result or 'void'} @{name}({', '.join(values)})"
    if result is None:
        lines.append(f"  {call}")
    else:
        lines.append(f"  %r = {call}")
        where = place(len(operands), result)
        fields = _fields(result) if result.startswith("{") else [result]
        offset = 0
        for i, field in enumerate(fields):
            value = "%r"
            if result.startswith("{"):
                value = f"%f{i}"
                lines.append(f"  {value} = extractvalue {result} %r, {i}")
            if field == "i1":
                lines.append(f"  %z{i} = zext i1 {value} to i8")
                value, field = f"%z{i}", "i8"
            lines.append(f"  %q{i} = getelementptr i8, ptr addrspace(1) {where}, i32 {offset}")
            lines.append(f"  store {field} {value}, ptr addrspace(1) %q{i}, align 1")
            offset += size_of(field)
    body = "\n".join(lines)
    if active is None:
        body = f"{body}\n  ret void"
    else:
        body = (
            f"  %mask = lshr i64 {active}, %lane64\n  %bit = trunc i64 %mask to i1\n"
            f"  br i1 %bit, label %on, label %off\non:\n{body}\n  br label %off\noff:\n  ret void"
        )
    types = ", ".join(ty for ty, _ in operands)
    return f"""target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare {result or "void"} @{name}({types})
define amdgpu_kernel void @k({", ".join(parameters)}) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %lane64 = zext i32 %lane to i64
{body}
}}
"""


def call(
    chip: str,
    name: str,
    result: str,
    *operands: Operand,
    dtype: Any = np.uint8,
    active: int | None = None,
    threads: int | None = None,
) -> np.ndarray[Any, Any]:
    """The results, a row for each lane; `active` has a bit for each active lane."""
    count = threads or lanes(chip)
    arrays = [np.ascontiguousarray(v).reshape(count, -1) for _, v in operands if isinstance(v, np.ndarray)]
    for (ty, _), array in zip([o for o in operands if isinstance(o[1], np.ndarray)], arrays, strict=True):
        assert array.nbytes == count * size_of(ty), (ty, array.shape, array.dtype)
    out = np.full((count, size_of(result)), 0xEE, np.uint8)
    made = emulator.load(module(name, result, operands, active), f"emu:{chip}")
    made.launch(1, count, *(a.view(np.uint8) for a in arrays), out)
    return out.view(dtype)
