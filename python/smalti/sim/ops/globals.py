# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constant globals of a module."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import ir
from ..machine.machine import Group
from ..machine.memory import Buffer, MemRef
from ..translation.translator import Step, Translator, Unsupported, operation
from . import conversions
from .memref import memory_type, static_layout


@operation("memref.get_global")
def _get_global(op: Any, translator: Translator) -> Step:
    (result,) = translator.results(op)
    ty = op.results[0].type
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    shape, strides = static_layout(ty)
    dtype = memory_type(ty)
    content = np.frombuffer(constant_of(op, name), np.uint8)
    if content.size != math.prod(shape) * dtype.itemsize:
        raise Unsupported.invalid(f"the initial value of @{name} does not have the size of its type, {ty}")
    buffer = Buffer(f"@{name}", content, dtype.itemsize, shared=False, read_only=True)
    memory = MemRef(buffer, 0, shape, tuple(step * dtype.itemsize for step in strides), dtype)

    def step(st: Group) -> None:
        st.v[result] = memory

    return step


def constant_of(op: Any, name: str) -> bytes:
    """The memory contents of the constant `memref.global` @name. Raises Unsupported if it is not a numeric constant."""
    found = of_name(op, name, "memref.global")
    content: Any = found.attributes["initial_value"] if found is not None and "constant" in found.attributes else None
    if not isinstance(content, (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr)):
        raise Unsupported(
            f"the op reads the global @{name}, which must be a constant with an initial value of integers or floats"
        )
    return bytes_of(content, op)


def bytes_of(content: Any, op: Any) -> bytes:
    """The memory contents of an elements attribute."""
    with op.location:
        vector = ir.VectorType.get(content.type.shape, content.type.element_type)
    return conversions.constant(content, vector).tobytes()


def of_name(op: Any, name: str, kind: str) -> Any:
    """The op of a kind that a symbol refers to; None if there is none."""
    parent = op.parent
    while parent is not None:
        found = next(_globals(parent, name, kind), None)
        if found is not None:
            return found
        parent = parent.parent
    return None


def _globals(parent: Any, name: str, kind: str) -> Iterator[Any]:
    for region in parent.operation.regions:
        for block in region:
            for op in block:
                if op.operation.name == kind and ir.StringAttr(op.attributes["sym_name"]).value == name:
                    yield op.operation
