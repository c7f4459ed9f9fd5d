# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`memref` and `llvm`: globals of a module: constants, shared memory, and AMD named barriers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..... import ir
from ....ops import conversions
from ....ops.memref import memory_space
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.memory import View
from ..arithmetic.llvm_types import layout_of
from .memref import allocation


@operation("memref.get_global")
def _get_global(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    ty = op.results[0].type
    size, view = allocation(ty)
    if memory_space(ty) == "global":
        return _constant_global(op, tr, view)
    if memory_space(ty) != "shared":
        raise Unsupported(f"a global of {ty}")
    offset = tr.of_name(str(op.attributes["name"]), size)
    tr.uses(ty)

    def step(st: Any) -> None:
        st.v[result] = View(st.block.shared, offset, *view, begin=offset)

    return step


def _constant_global(op: Any, tr: ThreadTranslator, view: Any) -> Step:
    """Constants of a module in global memory."""
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    found = of_name(op, name, "memref.global")
    content: Any = found.attributes["initial_value"] if found is not None and "constant" in found.attributes else None
    if not isinstance(content, (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr)):
        raise Unsupported(f"the global @{name}, which is not a constant with a numeric initializer")
    (result,) = tr.results(op)
    tr.constant(name, _bytes(content, op))

    def step(st: Any) -> None:
        st.v[result] = View(tr.constants[name], 0, *view)

    return step


def _bytes(content: Any, op: Any) -> bytes:
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


_NAMED_BARRIERS = re.compile(r'!llvm\.(?:array<(\d+) x )?target<"amdgcn\.named\.barrier", 0>+')
_SHARED = 3


@operation("llvm.mlir.addressof")
def _address_of(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    name = ir.FlatSymbolRefAttr(op.attributes["global_name"]).value
    found = of_name(op, name, "llvm.mlir.global")
    if found is None:
        raise Unsupported(f"the address of @{name}, which is not a global")
    ty = ir.TypeAttr(found.attributes["global_type"]).value
    barriers = _NAMED_BARRIERS.fullmatch(str(ty))
    if barriers:
        return _known(result, tr.named_barrier(name, int(barriers[1] or 1)))
    if attribute(found, "addr_space", 0) == _SHARED:
        size = layout_of(ty).size
        # A variable without a size is the launch's dynamic shared memory.
        return _known(result, tr.of_name(f"@{name}", size)) if size else _dynamic(result)
    if "constant" not in found.attributes or "value" not in found.attributes:
        raise Unsupported(f"the address of @{name}, which is not a constant")
    content: Any = found.attributes["value"]
    if not isinstance(content, (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr)):
        raise Unsupported(f"the address of @{name}, whose value is {content}")
    return _known(result, tr.constant(name, _bytes(content, op)))


def _known(result: int, value: int) -> Step:
    def step(st: Any) -> None:
        st.v[result] = value

    return step


def _dynamic(result: int) -> Step:
    def step(st: Any) -> None:
        st.v[result] = st.block.dynamic_begin

    return step
