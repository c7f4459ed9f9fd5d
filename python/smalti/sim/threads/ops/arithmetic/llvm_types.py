# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory layout of `llvm` types in the data layouts of GPUs: naturally aligned scalars, structs with padding unless packed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..... import ir
from ....translation.translator import Unsupported
from ...execution.lanes import dtype_of
from ...execution.memory import NAMED_BARRIER_BYTES

NAMED_BARRIER = '!llvm.target<"amdgcn.named.barrier", 0>'
_POINTER_BYTES = {3: 4, 5: 4}
"""Pointer sizes by address space; others have 8 bytes."""


@dataclass(frozen=True)
class Layout:
    """The memory layout of a type."""

    size: int
    alignment: int
    stride: int = 0
    """The stride between array elements."""
    fields: tuple[tuple[int, Layout], ...] = ()
    """The offset of each struct member; for an array the layout of its element."""

    def at(self, index: int) -> tuple[int, Layout]:
        """The offset of an element."""
        if self.stride:
            return index * self.stride, self.fields[0][1]
        if not 0 <= index < len(self.fields):
            raise Unsupported.invalid(
                f"the op accesses struct member {index}; the struct has {len(self.fields)} members"
            )
        return self.fields[index]


def layout_of(ty: Any) -> Layout:
    """The memory layout of a type."""
    text = str(ty)
    found = _aggregate(text.removeprefix("!llvm."), ty)
    if found is not None:
        return found
    if text == NAMED_BARRIER:
        return Layout(NAMED_BARRIER_BYTES, NAMED_BARRIER_BYTES)
    if text.startswith("!llvm.ptr"):
        space = re.search(r"<(\d+)>", text)
        size = _POINTER_BYTES.get(int(space[1]) if space else 0, 8)
        return Layout(size, size)
    dtype = dtype_of(ty)
    if dtype is None:
        raise Unsupported.wrong_type("the memory", ty)
    if isinstance(ty, ir.VectorType):
        size = dtype.itemsize
        for extent in ty.shape:
            size *= extent
        whole = 1 << (size - 1).bit_length()
        return Layout(whole, whole, dtype.itemsize, ((0, layout_of(ty.element_type)),))
    return Layout(dtype.itemsize, dtype.itemsize)


def _aggregate(text: str, ty: Any) -> Layout | None:
    array = re.fullmatch(r"array<(\d+) x (.*)>", text, re.DOTALL)
    if array:
        element = layout_of(_parse(array[2], ty))
        return Layout(int(array[1]) * element.size, element.alignment, element.size, ((0, element),))
    struct = re.fullmatch(r"struct<(?:\"[^\"]*\", )?(packed )?\((.*)\)>", text, re.DOTALL)
    if not struct:
        return None
    fields, end, most = [], 0, 1
    for part in _split(struct[2]):
        member = layout_of(_parse(part, ty))
        alignment = 1 if struct[1] else member.alignment
        end = -(-end // alignment) * alignment
        fields.append((end, member))
        end, most = end + member.size, max(most, alignment)
    return Layout(-(-end // most) * most, most, 0, tuple(fields))


def _parse(text: str, ty: Any) -> Any:
    """A nested type, in which the prefix `!llvm.` is dropped."""
    text = text.strip()
    if text.split("<")[0] in ("array", "struct", "ptr", "target"):
        text = f"!llvm.{text}"
    return ir.Type.parse(text, ty.context)


def _split(text: str) -> list[str]:
    """The members of a struct."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]] if text.strip() else []
