# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`memref` and `llvm`: globals of a module: constants, shared memory, and AMD named barriers."""

from __future__ import annotations

import re
from typing import Any

from ..... import ir
from ....ops.globals import bytes_of, constant_of, of_name
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
        raise Unsupported(f"the global has type {ty}; it must be in global or shared memory")
    offset = tr.of_name(str(op.attributes["name"]), size)
    tr.uses(ty)

    def step(st: Any) -> None:
        st.v[result] = View(st.block.shared, offset, *view, begin=offset)

    return step


def _constant_global(op: Any, tr: ThreadTranslator, view: Any) -> Step:
    """Constants of a module in global memory."""
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    (result,) = tr.results(op)
    tr.constant(name, constant_of(op, name))

    def step(st: Any) -> None:
        st.v[result] = View(tr.constants[name], 0, *view)

    return step


_NAMED_BARRIERS = re.compile(r'!llvm\.(?:array<(\d+) x )?target<"amdgcn\.named\.barrier", 0>+')
_SHARED = 3


@operation("llvm.mlir.addressof")
def _address_of(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    name = ir.FlatSymbolRefAttr(op.attributes["global_name"]).value
    found = of_name(op, name, "llvm.mlir.global")
    if found is None:
        raise Unsupported(f"@{name} is not a global variable; only addresses of llvm.mlir.global are supported")
    ty = ir.TypeAttr(found.attributes["global_type"]).value
    barriers = _NAMED_BARRIERS.fullmatch(str(ty))
    if barriers:
        return _known(result, tr.named_barrier(name, int(barriers[1] or 1)))
    if attribute(found, "addr_space", 0) == _SHARED:
        size = layout_of(ty).size
        # A variable without a size is the launch's dynamic shared memory.
        return _known(result, tr.of_name(f"@{name}", size)) if size else _dynamic(result)
    if "constant" not in found.attributes or "value" not in found.attributes:
        raise Unsupported(
            f"@{name} is not a constant with a value; variables in global memory are not supported, pass an "
            "argument instead"
        )
    content: Any = found.attributes["value"]
    if not isinstance(content, (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr)):
        raise Unsupported(f"the value of @{name} is {content}; it must be an array of integers or floats")
    return _known(result, tr.constant(name, bytes_of(content, op)))


def _known(result: int, value: int) -> Step:
    def step(st: Any) -> None:
        st.v[result] = value

    return step


def _dynamic(result: int) -> Step:
    def step(st: Any) -> None:
        st.v[result] = st.block.dynamic_begin

    return step
